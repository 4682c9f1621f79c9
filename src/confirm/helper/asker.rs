//! Reads the one question and ends this process at once when the asker's end of the pipe closes.

use std::io::{BufRead as _, BufReader, Read as _, Stdin};

use countersign::confirm::protocol::{LONGEST_QUESTION, Put};
use rustix::process::{Signal, getpid, kill_process};

/// The question; `None` where standard input holds no whole and exact one.
pub(crate) fn question() -> Option<Put> {
    let mut input = BufReader::new(std::io::stdin());
    let mut line = String::new();
    input
        .by_ref()
        .take(LONGEST_QUESTION as u64)
        .read_line(&mut line)
        .ok()?;
    let put = Put::from_line(line.strip_suffix('\n')?).ok()?;
    end_with(input);
    Some(put)
}

/// Anything that comes after the question, its end included, ends the window without an answer.
fn end_with(mut input: BufReader<Stdin>) {
    std::thread::spawn(move || {
        let _ = input.read(&mut [0]);
        // Not an exit: the toolkit runs in another thread, and its handlers must not hold this up.
        let _ = kill_process(getpid(), Signal::KILL);
    });
}
