//! The reader against the slow twin and `serde_json`: what is JSON, and what its strings say.
#![no_main]

#[path = "../../tests/json/oracle.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod oracle;

use libfuzzer_sys::fuzz_target;
use tower_mcp_apps::json::{Depth, Error, Kind, Reader};

fn skip(text: &[u8]) -> Result<(), Error> {
    let mut reader = Reader::new(text);
    reader.skip()?;
    reader.end()
}

fn walk(text: &[u8]) -> Result<(), Error> {
    let mut reader = Reader::new(text);
    value(&mut reader)?;
    reader.end()
}

fn value(reader: &mut Reader<'_>) -> Result<(), Error> {
    match reader.peek()? {
        Kind::Object => {
            reader.enter_object()?;
            while let Some(key) = reader.member()? {
                let _ = key.decode();
                value(reader)?;
            }
        }
        Kind::Array => {
            reader.enter_array()?;
            while reader.element()? {
                value(reader)?;
            }
        }
        Kind::String => {
            let text = reader.string()?;
            let literal = text.span().of(reader.source());
            let decoded = text.decode().ok();
            // It knows no lone surrogates.
            assert_eq!(decoded.as_deref(), serde_json::from_slice::<String>(literal).ok().as_deref());
            let units = oracle::units(literal);
            assert_eq!(decoded.map(|text| text.encode_utf16().collect::<Vec<_>>()), String::from_utf16(&units).ok().map(|_| units));
        }
        _ => drop(reader.skip()?),
    }
    Ok(())
}

fuzz_target!(|text: &[u8]| {
    let skipped = skip(text);
    assert_eq!(skipped, walk(text));
    assert_eq!(skipped.is_ok(), oracle::parse(text, Depth::default().get()).is_some(), "{skipped:?}");
    // It refuses some valid texts: deep ones, lone surrogates, huge numbers.
    if serde_json::from_slice::<serde_json::Value>(text).is_ok() {
        assert_eq!(skipped, Ok(()));
    }
    if let Err(error) = skipped {
        assert!(error.offset() <= text.len());
    }
});
