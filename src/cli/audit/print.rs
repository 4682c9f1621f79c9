//! Entries for people's eyes and for scripts: whatever a page wrote is escaped here.

use std::fmt::Write as _;
use std::io::Write;

use serde::Serialize;

use super::not_written;
use crate::domain::text::Shown;
use crate::error::Fault;
use crate::journal::{self, Anchor, Body, CallRecord, Entry, Line, Own, Record, Sealed};

/// One line about an entry. Whatever a page wrote is escaped and cut.
pub(super) fn summary(body: &Body) -> String {
    match body {
        Body::Entry(Entry::Asked(asked)) => format!(
            "{} ({}), by {}",
            call(&asked.call),
            asked.class,
            asked.means.name()
        ),
        Body::Entry(Entry::Answered(answered)) => format!(
            "{} after {} ms, by {} (question {})",
            answered.ending,
            answered.waited_ms,
            answered.means.name(),
            answered.asked
        ),
        Body::Entry(Entry::Intent(intent)) => {
            let by = intent
                .answered
                .map(|n| format!(" (allowed by {n})"))
                .unwrap_or_default();
            format!("{}{by}", call(&intent.call))
        }
        Body::Entry(Entry::Outcome(outcome)) => {
            let code = outcome
                .code
                .as_ref()
                .map(|code| format!(", {}", code.as_str()))
                .unwrap_or_default();
            format!(
                "{}, effect {}{code} (intent {})",
                short(&outcome.outcome),
                outcome.effect.name(),
                outcome.intent
            )
        }
        Body::Entry(Entry::Refused(refused)) => {
            format!(
                "{} {}, effect {}",
                refused.code.as_str(),
                call(&refused.call),
                refused.effect.name()
            )
        }
        Body::Entry(Entry::Read(look)) => format!(
            "{} {} {} {}",
            short(&look.tool),
            look.tab,
            look.snapshot,
            look.site
        ),
        Body::Entry(Entry::Peer(peer)) => {
            let program = peer.program.as_deref().map(short).unwrap_or_default();
            format!(
                "foreign program on the browser's port: {:?} {program}",
                peer.sight
            )
            .to_lowercase()
        }
        Body::Own(Own::Started(started)) => match &started.continues {
            Some(anchor) => format!("after entry {}", anchor.sequence),
            None => "the first start".to_owned(),
        },
        Body::Own(Own::Recovered(recovered)) => format!(
            "{} unfinished bytes kept in {}",
            recovered.bytes, recovered.kept
        ),
        Body::Own(Own::Heartbeat(_)) => String::new(),
        Body::Own(Own::Closed(closed)) => format!("{:?}", closed.reason),
    }
}

fn call(call: &CallRecord) -> String {
    let mut out = short(&call.tool);
    let mut add = |word: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = write!(out, " {word}{value}");
        }
    };
    add("", call.tab.map(|tab| tab.to_string()));
    add("mark ", call.mark.map(|mark| mark.to_string()));
    add(
        "",
        call.element
            .as_ref()
            .map(|e| format!("{} “{}”", short(&e.role), short(&e.name))),
    );
    add("on ", call.site.as_ref().map(ToString::to_string));
    add(
        "in a frame of ",
        call.frame_site.as_ref().map(ToString::to_string),
    );
    add(
        "",
        call.payload
            .as_ref()
            .map(|p| format!("{} characters ({})", p.length, short(&p.class))),
    );
    add("key ", call.key.as_deref().map(short));
    add("options: ", call.options_count.map(|n| n.to_string()));
    add("meant as ", call.intent.map(|class| class.to_string()));
    out
}

/// One entry in full, a field a line.
pub(super) fn full(record: &Record, line: &Line, bytes: &[u8]) -> String {
    let mut rows: Vec<(String, String)> = vec![
        ("entry".to_owned(), record.seq.to_string()),
        ("kind".to_owned(), record.entry.kind().to_owned()),
        ("time".to_owned(), wall(record)),
        ("session".to_owned(), record.session.to_string()),
        ("profile".to_owned(), record.profile.to_string()),
        ("program".to_owned(), short(&record.program)),
    ];
    if let Ok(value) = serde_json::to_value(&record.entry) {
        flatten("", &value, &mut rows);
    }
    for sealed in record.entry.sealed() {
        rows.push(("sealed file".to_owned(), sealed_path(sealed)));
    }
    rows.push(("before it".to_owned(), line.previous.to_string()));
    rows.push((
        "receipt".to_owned(),
        Anchor {
            sequence: record.seq,
            head: journal::hash(bytes),
        }
        .to_string(),
    ));
    rows.iter().fold(String::new(), |mut out, (name, value)| {
        let _ = writeln!(out, "{name:<24} {value}");
        out
    })
}

fn sealed_path(sealed: &Sealed) -> String {
    format!(
        "{}/{}, {} bytes",
        journal::CAPTURES,
        sealed.name(),
        sealed.bytes()
    )
}

fn flatten(path: &str, value: &serde_json::Value, rows: &mut Vec<(String, String)>) {
    let below = |name: &str| {
        if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}.{name}")
        }
    };
    match value {
        serde_json::Value::Object(map) => {
            for (name, value) in map
                .iter()
                .filter(|(name, _)| !(path.is_empty() && *name == "kind"))
            {
                flatten(&below(name), value, rows);
            }
        }
        serde_json::Value::Array(items) => match items.as_slice() {
            // A fact of the window: its label and its value.
            [
                serde_json::Value::String(label),
                serde_json::Value::String(value),
            ] => {
                rows.push((
                    path.to_owned(),
                    format!("{}: {}", short(label), Shown::escape(value, 2_000)),
                ));
            }
            items => {
                for (at, value) in items.iter().enumerate() {
                    flatten(&below(&(at + 1).to_string()), value, rows);
                }
            }
        },
        serde_json::Value::String(text) => {
            rows.push((path.to_owned(), Shown::escape(text, 2_000).to_string()))
        }
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {
            rows.push((path.to_owned(), value.to_string()));
        }
    }
}

fn short(text: &str) -> String {
    Shown::escape(text, 120).to_string()
}

pub(super) fn wall(record: &Record) -> String {
    // RFC 3339, always to the millisecond: columns stay in line.
    const FORM: &[time::format_description::BorrowedFormatItem<'_>] = time::macros::format_description!(
        "[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z"
    );
    let wall = record.time.wall.to_offset(time::UtcOffset::UTC);
    wall.format(FORM).unwrap_or_else(|_| "(no time)".to_owned())
}

/// Writes JSON on one line in ASCII: what a page wrote must not drive the terminal it is shown on.
pub(super) fn json_line(out: &mut dyn Write, value: &impl Serialize) -> Result<(), Fault> {
    let text = serde_json::to_string(value)
        .map_err(|e| Fault::internal("the result cannot be written as JSON").because(e))?;
    let mut ascii = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        // Outside ASCII, and DEL, only occur inside JSON strings, where an escape means the same.
        if c.is_ascii() && c != '\u{7f}' {
            ascii.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(ascii, "\\u{unit:04x}");
            }
        }
    }
    ascii.push('\n');
    out.write_all(ascii.as_bytes()).map_err(not_written)
}
