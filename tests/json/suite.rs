//! JSONTestSuite: `y_` files are accepted, `n_` files refused, `i_` files are free; by `skip` and by a walk alike.

use std::{fs, path::Path};

use tower_mcp_apps::json::{Error, Kind, Reader};

pub(crate) fn skip(text: &[u8]) -> Result<(), Error> {
    let mut reader = Reader::new(text);
    reader.skip()?;
    reader.end()
}

pub(crate) fn walk(text: &[u8]) -> Result<(), Error> {
    let mut reader = Reader::new(text);
    walk_value(&mut reader)?;
    reader.end()
}

fn walk_value(reader: &mut Reader<'_>) -> Result<(), Error> {
    match reader.peek()? {
        Kind::Object => {
            reader.enter_object()?;
            while reader.member()?.is_some() {
                walk_value(reader)?;
            }
        }
        Kind::Array => {
            reader.enter_array()?;
            while reader.element()? {
                walk_value(reader)?;
            }
        }
        Kind::String => drop(reader.string()?),
        _ => drop(reader.skip()?),
    }
    Ok(())
}

#[test]
fn every_file_is_judged_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/json/test_parsing");
    let mut judged = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let text = fs::read(&path).unwrap();
        let (skipped, walked) = (skip(&text), walk(&text));
        assert_eq!(skipped, walked, "{name}");
        match name.split_once('_') {
            Some(("y", _)) => assert_eq!(skipped, Ok(()), "{name}"),
            Some(("n", _)) => assert!(skipped.is_err(), "{name}"),
            Some(("i", _)) => {}
            _ => panic!("{name} is not of the suite"),
        }
        judged += 1;
    }
    assert_eq!(judged, 318);
}
