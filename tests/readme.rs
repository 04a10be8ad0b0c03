//! The README shows what the example `wrap_server` prints, and `tests/README.md` has a place for each test.

mod kit;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use kit::example::example;

#[test]
fn the_readme_shows_what_the_example_prints() {
    let mut process = Command::new(example("wrap_server")).stdout(Stdio::piped()).spawn().expect("it runs");
    let printed = BufReader::new(process.stdout.take().expect("a pipe")).lines().map(|line| line.expect("text"));
    let printed: Vec<_> = printed.take_while(|line| !line.starts_with("Serving both")).collect();
    process.kill().expect("it serves until it is told to stop");
    process.wait().expect("it ends");

    let tables: Vec<_> = printed.split(String::is_empty).filter(|table| table.len() > 2).collect();
    let [text, apps] = tables[..] else { panic!("two tables: {printed:?}") };
    assert!(text[0].starts_with("A text client sees"));
    let readme = include_str!("../README.md");
    assert!(readme.contains(&format!("```text\n{}\n```", apps.join("\n"))), "{}", apps.join("\n"));
    // "A client without MCP Apps sees the plain server, without `account_overview`."
    for row in &text[1..] {
        let columns: Vec<_> = row.split("  ").map(str::trim).filter(|column| !column.is_empty()).collect();
        let [what, bare, wrapped] = columns[..] else { panic!("three columns: {row}") };
        let expected = if what == "account_overview" { "not listed" } else { bare };
        assert_eq!(wrapped, expected, "{what}");
    }
}

#[test]
fn each_test_is_told_of() {
    let told = include_str!("README.md");
    for entry in Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").read_dir().expect("a folder") {
        let name = entry.expect("an entry").file_name().into_string().expect("text");
        // The second is what proptest leaves where a property failed.
        let is_no_test = ["README.md", "proptest-regressions"].contains(&name.as_str());
        assert!(is_no_test || told.contains(&format!("`tests/{name}")), "tests/{name}");
    }
}
