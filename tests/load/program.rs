//! The load that `tests/load/run` puts on the example `reverse_proxy`: a server, many clients, and what they watch.
//!
//! Server and clients are this process, the proxy is its child: what one side did and the other side saw is compared,
//! and the proxy's memory and open files are its own. Everything is on 127.0.0.1, and bounded.

#![allow(missing_docs, clippy::unwrap_used)]

mod client;
mod process;
mod restart;
mod steady;
mod streams;
mod upstream;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

#[derive(Parser)]
pub struct Options {
    /// The example `reverse_proxy`.
    #[arg(long)]
    pub proxy: PathBuf,
    /// The example `bare_proxy`.
    #[arg(long)]
    pub bare: PathBuf,
    /// Event streams that are open at once.
    #[arg(long, default_value_t = 10_000)]
    pub streams: usize,
    /// Seconds of the steady part.
    #[arg(long, default_value_t = 60)]
    pub seconds: u64,
    /// Requests a second in the steady part.
    #[arg(long, default_value_t = 200)]
    pub rate: u32,
    /// Event streams that are open in the steady part.
    #[arg(long, default_value_t = 500)]
    pub held: u64,
    /// Times that the proxy is replaced under traffic.
    #[arg(long, default_value_t = 4)]
    pub restarts: usize,
    /// One part alone.
    #[arg(long)]
    pub only: Option<Part>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    Streams,
    Steady,
    Restart,
}

/// What a part says of itself, and whether it held.
#[derive(Default)]
pub struct Report {
    held: usize,
    broken: usize,
}

impl Report {
    /// Prints a figure that nothing depends on.
    pub fn tell(&self, what: &str, figure: impl std::fmt::Display) {
        println!("      {what}: {figure}");
    }

    /// Prints what must hold, and remembers whether it did.
    pub fn check(&mut self, holds: bool, what: impl std::fmt::Display) {
        let (word, count) = if holds { ("ok  ", &mut self.held) } else { ("FAIL", &mut self.broken) };
        *count += 1;
        println!("{word}  {what}");
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let options = Options::parse();
    let wanted = |part| options.only.is_none_or(|only| only == part);
    let mut report = Report::default();
    if wanted(Part::Streams) {
        streams::run(&options, &mut report).await;
    }
    if wanted(Part::Restart) {
        restart::run(&options, &mut report).await;
    }
    if wanted(Part::Steady) {
        steady::run(&options, &mut report).await;
    }
    println!("\n{} passed, {} failed", report.held, report.broken);
    if report.broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
