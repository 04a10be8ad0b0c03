//! A proxy as a process: how it starts and stops, its memory and its open files.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use http::Uri;
use tokio::time;

/// What a deployer may ask of the proxy, all at once. Records go where they take no room.
pub const FULL_STACK: [&str; 14] = [
    "--flat-key",
    "both",
    "--openai-keys",
    "--strip-ui-for-text-clients",
    "--allow-connect",
    "https://api.example.com",
    "--allow-resource",
    "https://*.example.com",
    "--on-violation",
    "restrict",
    "--audit",
    "/dev/null",
    "--audience",
    "auto",
];

pub struct Proxy {
    child: Child,
    pub url: Uri,
}

impl Proxy {
    /// Starts `program` before `upstream`, and waits until it is ready.
    pub fn start(program: &Path, listen: SocketAddr, upstream: &Uri, flags: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args(["--listen", &listen.to_string(), "--upstream", &upstream.to_string()]).args(flags);
        // Connections that clients break, and upstreams that die, are what the load is about.
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.split_whitespace().last().unwrap_or_else(|| panic!("{} does not start", program.display()));
        Self { url: url.parse().unwrap(), child }
    }

    /// Bytes that are resident.
    pub fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        resident.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }

    /// How many files, sockets among them, are open.
    pub fn files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// Asks it to stop, as a deployment does.
    pub fn terminate(&self) {
        Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
    }

    /// Whether it ended by itself and well, within this time.
    pub async fn ended(&mut self, within: Duration) -> bool {
        let end = time::Instant::now() + within;
        while time::Instant::now() < end {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.success();
            }
            time::sleep(Duration::from_millis(20)).await;
        }
        false
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks again and again, for at most this time, whether something holds.
pub async fn becomes(within: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let end = time::Instant::now() + within;
    loop {
        if holds() {
            return true;
        }
        if time::Instant::now() >= end {
            return false;
        }
        time::sleep(Duration::from_millis(20)).await;
    }
}
