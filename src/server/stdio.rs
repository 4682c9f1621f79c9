//! Standard output for protocol lines and nothing else; standard input by whole, sane lines (security P1, P2, P4).
//!
//! The library drops what it cannot parse without a word, so lines are looked at here first: one that is no message gets
//! the protocol's own error, and the session goes on.

use std::os::fd::OwnedFd;

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWriteExt as _, DuplexStream};
use tokio::sync::mpsc;
use tokio_util::bytes::BytesMut;
use tokio_util::codec::{Decoder, FramedRead, LinesCodec};
use tokio_util::sync::CancellationToken;

use crate::error::Fault;

/// The longest line taken (security P2: 1 MiB).
const LONGEST_LINE: usize = 1 << 20;
/// How deep a message may nest.
const DEEPEST: usize = 32;

/// The descriptor that protocol lines are written to. Whoever else writes to standard output writes to standard error.
#[derive(Debug)]
pub struct Output(OwnedFd);

/// Takes standard output for the protocol: the descriptor is kept here and 1 points elsewhere from now on.
///
/// # Errors
/// Where the descriptors cannot be duplicated.
pub fn claim() -> Result<Output, Fault> {
    let broken = |error: rustix::io::Errno| {
        Fault::internal("standard output cannot be claimed").because(error)
    };
    let kept = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3).map_err(broken)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr()).map_err(broken)?;
    Ok(Output(kept))
}

/// The two ends the protocol library is given.
#[derive(Debug)]
pub struct Ends {
    /// What it reads: sane lines.
    pub input: DuplexStream,
    /// What it writes.
    pub output: DuplexStream,
    /// Cancelled at the end of input. The library would first wait for the calls under way, and one of them may be
    /// waiting for a person.
    pub ended: CancellationToken,
}

/// Starts the reader and the writer. `input` is standard input.
pub fn start(
    input: impl AsyncRead + Send + Unpin + 'static,
    output: Output,
) -> (Ends, tokio::task::JoinHandle<()>) {
    let (to_library, library_input) = tokio::io::duplex(64 * 1024);
    let (library_output, from_library) = tokio::io::duplex(64 * 1024);
    let (lines, written) = mpsc::channel(64);
    let ended = CancellationToken::new();
    let at_the_end = ended.clone().drop_guard();
    let reader = read(input, to_library, lines.clone());
    tokio::spawn(async move {
        reader.await;
        drop(at_the_end);
    });
    tokio::spawn(forward(from_library, lines));
    let writer = tokio::task::spawn_blocking(move || write(output, written));
    (
        Ends {
            input: library_input,
            output: library_output,
            ended,
        },
        writer,
    )
}

async fn read(
    input: impl AsyncRead + Unpin,
    mut to_library: DuplexStream,
    errors: mpsc::Sender<String>,
) {
    let mut lines = FramedRead::new(input, Lines::default());
    // A broken pipe is an end like any other.
    while let Some(Ok(line)) = lines.next().await {
        let refused = match line {
            Line::Whole(line) if line.trim().is_empty() => continue,
            Line::Whole(line) => match sane(&line) {
                Ok(()) => {
                    if to_library
                        .write_all(format!("{line}\n").as_bytes())
                        .await
                        .is_err()
                    {
                        break;
                    }
                    continue;
                }
                Err(refused) => refused,
            },
            Line::TooLong => error(&Value::Null, -32700, "the line is longer than 1 MiB"),
            Line::NotText => error(&Value::Null, -32700, "the line is not UTF-8"),
        };
        if errors.send(refused).await.is_err() {
            break;
        }
    }
    // Dropping our end tells the library that the client is gone.
}

/// One line of input. What is wrong with one is no error of the stream: the next line is read all the same. (The stream
/// of a codec that returns an error ends there.)
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Whole(String),
    /// Longer than [`LONGEST_LINE`]; what is left of it is passed over.
    TooLong,
    NotText,
}

/// Cuts input into lines and never holds more than one of the longest.
#[derive(Debug, Default)]
struct Lines {
    /// How much of the buffer is known to hold no end of line.
    looked_at: usize,
    passing_over: bool,
}

impl Lines {
    fn line(&mut self, bytes: &[u8]) -> Option<Line> {
        self.looked_at = 0;
        if std::mem::take(&mut self.passing_over) {
            return None;
        }
        if bytes.len() > LONGEST_LINE {
            return Some(Line::TooLong);
        }
        Some(std::str::from_utf8(bytes).map_or(Line::NotText, |text| Line::Whole(text.to_owned())))
    }
}

impl Decoder for Lines {
    type Item = Line;
    type Error = std::io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<Line>, Self::Error> {
        loop {
            let fresh = buffer.get(self.looked_at..).unwrap_or_default();
            if let Some(end) = fresh.iter().position(|byte| *byte == b'\n') {
                let bytes = buffer.split_to(self.looked_at + end + 1);
                let bytes = bytes.strip_suffix(b"\n").unwrap_or_default();
                match self.line(bytes) {
                    Some(line) => return Ok(Some(line)),
                    None => continue,
                }
            }
            self.looked_at = buffer.len();
            if self.passing_over || buffer.len() > LONGEST_LINE {
                let told = std::mem::replace(&mut self.passing_over, true);
                buffer.clear();
                self.looked_at = 0;
                return Ok((!told).then_some(Line::TooLong));
            }
            return Ok(None);
        }
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> Result<Option<Line>, Self::Error> {
        if let Some(line) = self.decode(buffer)? {
            return Ok(Some(line));
        }
        let rest = buffer.split();
        Ok(if rest.is_empty() {
            None
        } else {
            self.line(&rest)
        })
    }
}

/// Whether a line is one message; else the error to answer it with.
fn sane(line: &str) -> Result<(), String> {
    let value: Value = serde_json::from_str(line)
        .map_err(|_| error(&Value::Null, -32700, "the line is not JSON"))?;
    let id = value
        .get("id")
        .filter(|id| id.is_string() || id.is_number())
        .cloned()
        .unwrap_or(Value::Null);
    if depth(&value) > DEEPEST {
        return Err(error(&id, -32600, "the message nests too deeply"));
    }
    let message = value.get("jsonrpc").and_then(Value::as_str) == Some("2.0")
        && (value.get("method").is_some_and(Value::is_string)
            || (value.get("id").is_some()
                && (value.get("result").is_some() || value.get("error").is_some())))
        && value
            .get("params")
            .is_none_or(|params| params.is_object() || params.is_array());
    if message {
        Ok(())
    } else {
        Err(error(&id, -32600, "the line is not a JSON-RPC 2.0 message"))
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn error(id: &Value, code: i64, message: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}).to_string()
}

async fn forward(from_library: DuplexStream, lines: mpsc::Sender<String>) {
    let mut from_library = FramedRead::new(from_library, LinesCodec::new());
    while let Some(Ok(line)) = from_library.next().await {
        if lines.send(line).await.is_err() {
            break;
        }
    }
}

/// One writer: a line is whole or it is not there.
fn write(output: Output, mut lines: mpsc::Receiver<String>) {
    use std::io::Write as _;
    let mut out = std::fs::File::from(output.0);
    while let Some(line) = lines.blocking_recv() {
        if out.write_all(format!("{line}\n").as_bytes()).is_err() {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_message_gets_an_error_with_its_id() {
        for (line, code) in [
            ("nonsense", -32700),
            ("[]", -32600),
            (r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":7}"#, -32600),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"x","params":3}"#,
                -32600,
            ),
        ] {
            let refused: Value = serde_json::from_str(&sane(line).unwrap_err()).unwrap();
            assert_eq!(refused["error"]["code"], code, "{line}");
        }
        assert!(sane(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).is_ok());
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":9,"method":"x","params":{}{}}}"#,
            "[".repeat(40),
            "]".repeat(40)
        );
        let refused: Value = serde_json::from_str(&sane(&deep).unwrap_err()).unwrap();
        assert_eq!(refused["id"], 9);
    }

    #[tokio::test]
    async fn a_bad_line_is_told_and_the_next_one_is_read() {
        let long = "x".repeat(LONGEST_LINE + 1);
        let longest = "y".repeat(LONGEST_LINE);
        let mut input = Vec::new();
        for part in [
            b"one\n".as_slice(),
            b"\xff\n",
            b"two\n",
            long.as_bytes(),
            long.as_bytes(),
            b"\n\nthree\n",
            longest.as_bytes(),
            b"\nlast",
        ] {
            input.extend_from_slice(part);
        }
        let lines: Vec<Line> = FramedRead::new(input.as_slice(), Lines::default())
            .map(Result::unwrap)
            .collect()
            .await;
        let whole = |text: &str| Line::Whole(text.to_owned());
        assert_eq!(
            lines,
            [
                whole("one"),
                Line::NotText,
                whole("two"),
                Line::TooLong,
                whole(""),
                whole("three"),
                whole(&longest),
                whole("last"),
            ]
        );
    }

    proptest! {
        #[test]
        fn any_line_is_sane_or_answered_by_one_line(line in any::<String>()) {
            if let Err(answer) = sane(&line) {
                prop_assert!(!answer.contains('\n'));
                prop_assert!(serde_json::from_str::<Value>(&answer).is_ok());
            }
        }
    }
}
