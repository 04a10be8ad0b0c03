//! The examples as programs.

use std::path::PathBuf;
use std::process::Command;

/// An example, built as this test is. Cargo has done so already, unless it was told to build this test alone.
pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test is a file");
    let profile = test.ancestors().nth(2).expect("it lies in deps");
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--example", name, "--target-dir"]);
    build.arg(profile.parent().expect("a target directory"));
    if profile.ends_with("release") {
        build.arg("--release");
    }
    let built = build.current_dir(env!("CARGO_MANIFEST_DIR")).status().expect("Cargo runs");
    assert!(built.success(), "the example does not build");
    profile.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}
