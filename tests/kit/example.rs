//! The examples as programs.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use http::Uri;

/// An example, built as this test is. Cargo is asked once: it has done so already, unless it was told to build this test
/// alone.
pub(crate) fn example(name: &str) -> PathBuf {
    static BUILT: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    built.entry(name.to_owned()).or_insert_with(|| build(name)).clone()
}

fn build(name: &str) -> PathBuf {
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

/// A `reverse_proxy`, or another example that prints its address as that does, which ends with the test.
pub(crate) struct Proxy {
    pub(crate) process: Child,
    pub(crate) endpoint: Uri,
}

impl Proxy {
    /// Starts it with these flags, on a free port. Blocks until it is ready.
    pub(crate) fn start(flags: &[&str]) -> Self {
        Self::start_example("reverse_proxy", flags)
    }

    /// Starts this example.
    pub(crate) fn start_example(name: &str, flags: &[&str]) -> Self {
        let mut command = Command::new(example(name));
        command.args(["--listen", "127.0.0.1:0"]).args(flags);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the example runs");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("it tells its address");
        let address = line.split_whitespace().last().expect("an address");
        Self { process, endpoint: address.parse().expect("a URI") }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
