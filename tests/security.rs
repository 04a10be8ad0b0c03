//! Every test that `SECURITY.md` names exists, and every promise there names one.

use std::fs;
use std::path::Path;

fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Whether a source has a test of this name: a function below an attribute that says so.
fn has_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let is_named = |line: &str| {
        let signature = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ");
        signature.and_then(|rest| rest.strip_prefix(name)).is_some_and(|rest| rest.starts_with('('))
    };
    let is_test = |attribute: &&str| attribute.starts_with("#[test]") || attribute.starts_with("#[tokio::test");
    (0..lines.len()).filter(|at| is_named(lines[*at])).any(|at| {
        let above = lines[..at].iter().rev().take_while(|line| line.starts_with("#[") || line.starts_with("//"));
        above.copied().any(|line| is_test(&line))
    })
}

/// The text between backticks.
fn quoted(paragraph: &str) -> impl Iterator<Item = &str> {
    paragraph.split('`').skip(1).step_by(2)
}

#[test]
fn every_test_that_the_threat_model_names_exists() {
    let security = text("SECURITY.md");
    let held: Vec<&str> = security.split("\n\n").filter(|paragraph| paragraph.starts_with("Held by ")).collect();
    for paragraph in &held {
        let mut names = Vec::new();
        for word in quoted(paragraph) {
            // A program is a test of its own.
            if word.contains('/') && !word.ends_with(".rs") {
                assert!(!text(word).is_empty(), "{word}");
                continue;
            }
            if !word.ends_with(".rs") {
                names.push(word);
                continue;
            }
            assert!(!names.is_empty(), "{word} stands behind no test");
            let source = text(word);
            for name in names.drain(..) {
                assert!(has_test(&source, name), "{word} has no test {name}");
            }
        }
        assert!(names.is_empty(), "{names:?} stand in front of no file");
    }
    assert!(held.len() > 20, "the paragraphs are found");
}

#[test]
fn every_promise_of_the_threat_model_names_a_test() {
    let security = text("SECURITY.md");
    let (_, promises) = security.split_once("\n## A hidden tool is called\n").expect("the first promise");
    let (promises, _) = promises.split_once("\n## What no layer here does\n").expect("the end");
    for chapter in format!("\n{promises}").split("\n## ") {
        let mut sections = chapter.split("\n### ");
        let intro = sections.next().unwrap_or_default();
        let mut sections: Vec<&str> = sections.collect();
        if sections.is_empty() {
            sections.push(intro);
        }
        for section in sections {
            let title = section.lines().next().unwrap_or_default();
            assert!(section.contains("\n\nHeld by `"), "{title:?} is held by nothing");
        }
    }
}
