//! Records as lines of JSON at the end of a file, written by a thread of their own.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use tower_mcp_apps::audit::{Background, Record};

#[cfg(test)]
mod tests;

/// How long the end of the program waits for what is not written yet.
const PATIENCE: Duration = Duration::from_secs(2);

/// The log in this file. What is there stays.
pub(crate) fn open(path: &Path) -> io::Result<Background> {
    let file = File::options().create(true).append(true).open(path)?;
    Background::new(move |record: &Record| {
        let mut line = record.to_json();
        line.push(b'\n');
        // In one write, so that lines stay whole where several proxies share the file.
        if let Err(error) = (&file).write_all(&line) {
            eprintln!("audit: a record is lost: {error}");
        }
    })
}

/// Waits for what is not written yet, and says what never will be.
pub(crate) fn close(log: &Background) {
    if !log.flush(PATIENCE) {
        eprintln!("audit: the last records are lost, the file was too slow");
    }
    if log.lost() > 0 {
        eprintln!("audit: {} records are lost, the file was too slow", log.lost());
    }
}
