//! The basic dialog: rfd in a process of its own, where the window of our own or its libraries are missing.
//!
//! rfd runs the desktop's `zenity`. Of the ways to lay out its buttons only one was measured safe: three buttons, of
//! which the first (Deny) has the focus, the middle one (Allow) is an extra button, and the last (Close) is what Escape,
//! closing and killing the dialog amount to. It is weaker than the window of our own: Allow can be reached with Tab,
//! it looks awake from the start, and a killed dialog cannot be told from a closed one.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rfd::{MessageButtons, MessageDialog, MessageDialogResult, MessageLevel};
use rustix::process::{Signal, getpgrp, getpid, kill_process_group};

use super::program::{self, Obstacle};
use super::protocol::{BASIC_WAKE, Exit, LONGEST_QUESTION, Put, Word};

/// The hidden subcommand of the server's program that runs [`run_child`].
pub const SUBCOMMAND: &str = "ask-basic";

const TITLE: &str = "countersign asks you";
const DENY: &str = "Deny";
const ALLOW: &str = "Allow";
const CLOSE: &str = "Close";

/// Room in columns; see [`columns`].
const COLUMNS: usize = 84;
/// The most lines that facts take together, so that the buttons stay on a screen of 1024x600.
const FACT_LINES: usize = 12;
/// Up to so many critical facts get two lines each; more get one.
const ROOMY: usize = 4;

/// The dialog's program, at the only places where it is looked for.
pub(super) fn dialog_program() -> Result<PathBuf, Obstacle> {
    // These are the directories of the PATH that the dialog's process gets.
    let mut found = Err(Obstacle::Missing);
    for place in ["/usr/bin/zenity", "/bin/zenity"] {
        found = program::check(place.as_ref());
        if found != Err(Obstacle::Missing) {
            break;
        }
    }
    found
}

/// The body of `countersign ask-basic`: reads one question, shows it, says the answer and returns the exit code.
/// Useless to anybody but its parent, since an answer is bound to the parent's nonce.
#[must_use]
pub fn run_child() -> i32 {
    // To leave no dialog behind it kills its own group, so it must be the group's leader.
    if getpgrp() != getpid() {
        return Exit::Unreadable.code();
    }
    let mut input = BufReader::new(std::io::stdin());
    let mut line = String::new();
    let read = input
        .by_ref()
        .take(LONGEST_QUESTION as u64)
        .read_line(&mut line);
    let put = match read.map(|_| Put::from_line(line.trim_end_matches('\n'))) {
        Ok(Ok(put)) if line.ends_with('\n') => put,
        Ok(Ok(_) | Err(_)) | Err(_) => return Exit::Unreadable.code(),
    };
    end_with_the_asker(input);
    end_at(put.time());

    say(&put, Word::Shown);
    let began = Instant::now();
    let answer = MessageDialog::new()
        .set_level(MessageLevel::Warning)
        .set_title(TITLE)
        .set_description(text(&put))
        .set_buttons(MessageButtons::YesNoCancelCustom(
            DENY.to_owned(),
            ALLOW.to_owned(),
            CLOSE.to_owned(),
        ))
        .show();
    match answer {
        MessageDialogResult::Custom(label) if label == ALLOW => {
            if began.elapsed() < BASIC_WAKE {
                return Exit::TooFast.code();
            }
            say(&put, Word::Awake);
            say(&put, Word::Allow);
            Exit::Allowed.code()
        }
        MessageDialogResult::Custom(_) | MessageDialogResult::Yes | MessageDialogResult::No => {
            say(&put, Word::Deny);
            Exit::Denied.code()
        }
        // What rfd answers where the dialog's program could not be run.
        MessageDialogResult::Cancel | MessageDialogResult::Ok => Exit::NoDisplay.code(),
    }
}

fn say(put: &Put, word: Word) {
    let mut out = std::io::stdout().lock();
    // A failed write leaves the transcript short, which the asker takes for a crash.
    let _ = out
        .write_all(put.line(word).as_bytes())
        .and_then(|()| out.flush());
}

/// Kills the group as soon as the asker's end of the pipe closes, or says anything more.
fn end_with_the_asker(mut input: BufReader<std::io::Stdin>) {
    std::thread::spawn(move || {
        let _ = input.read(&mut [0]);
        end_group();
    });
}

/// Kills the group a little after the deadline, for the case that the asker is stopped and cannot.
fn end_at(time: Duration) {
    std::thread::spawn(move || {
        std::thread::sleep(time + Duration::from_secs(2));
        end_group();
    });
}

fn end_group() {
    let _ = kill_process_group(getpgrp(), Signal::KILL);
}

/// The dialog's whole text, in lines that fit a small screen whatever the page wrote.
fn text(put: &Put) -> String {
    let mut lines = vec![put.headline.clone()];
    lines.push(format!("Site: {}", value(&put.host_registrable, 4)));
    if !put.host_prefix.is_empty() {
        lines.push(format!("Subdomain: {}", value(&put.host_prefix, 1)));
    }
    if !put.host_note.is_empty() {
        lines.push(value(&put.host_note, 2));
    }
    facts(put, &mut lines);
    if let Some(words) = &put.model_says {
        let words = value(words, 2);
        lines.push(format!(
            "The assistant says (not checked): \u{201c}{words}\u{201d}"
        ));
    }
    lines.push(format!(
        "Journal no. {}. Without an answer this is refused in {} s.",
        put.journal_number,
        put.milliseconds / 1_000
    ));
    // rfd passes --no-markup, so the text is taken as it is: no markup, no escapes, no format (measured).
    lines.join("\n")
}

/// All critical facts, and as many others as there is room for; what is left out is counted.
fn facts(put: &Put, lines: &mut Vec<String>) {
    let (critical, others): (Vec<_>, Vec<_>) = put.facts.iter().partition(|fact| fact.critical);
    let each = if critical.len() <= ROOMY { 2 } else { 1 };
    let room = FACT_LINES.saturating_sub(critical.len() * each);
    for fact in &critical {
        lines.push(format!("{}: {}", fact.label, value(&fact.value, each)));
    }
    let shown = if others.len() > room {
        room.saturating_sub(1)
    } else {
        others.len()
    };
    for fact in others.iter().take(shown) {
        lines.push(format!("{}: {}", fact.label, value(&fact.value, 1)));
    }
    let left_out = others.len() - shown;
    if left_out > 0 {
        lines.push(format!("({left_out} further details are not shown here.)"));
    }
}

/// One foreign value: broken into lines of [`COLUMNS`], cut after `most`, and kept from reordering its neighbours.
fn value(text: &str, most: usize) -> String {
    let mut out = String::from("\u{2066}");
    let (mut column, mut line) = (0, 1);
    for c in text.chars() {
        let (piece, width) = columns(c);
        if column + width > COLUMNS {
            if line == most {
                out.push('\u{2026}');
                break;
            }
            out.push('\n');
            (column, line) = (0, line + 1);
        }
        out.push_str(&piece);
        column += width;
    }
    out.push('\u{2069}');
    out
}

/// A character and the room it takes at most. The dialog cannot be kept from growing with its text, so what may be drawn
/// wider or taller than a letter of the common scripts is spelt out.
fn columns(c: char) -> (String, usize) {
    match c {
        'm' | 'w' | 'A'..='Z' | '@' | '%' | '&' => (c.to_string(), 2),
        // Marks that are drawn over what stands before them.
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' => spelt(c),
        ' '..='~' => (c.to_string(), 1),
        '\u{a0}'..='\u{6ff}'
        | '\u{2010}'..='\u{2026}'
        | '\u{20a0}'..='\u{20bf}'
        | '\u{3001}'..='\u{30ff}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}' => (c.to_string(), 2),
        _ => spelt(c),
    }
}

fn spelt(c: char) -> (String, usize) {
    let spelt = format!("\\u{{{:04X}}}", u32::from(c));
    let width = spelt.len();
    (spelt, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stays_in_its_lines_and_its_direction() {
        let shown = value(&"x".repeat(1_000), 2);
        assert_eq!(shown.lines().count(), 2);
        assert!(shown.ends_with("\u{2026}\u{2069}"));
        assert_eq!(value("e\u{489}", 2), "\u{2066}e\\u{0489}\u{2069}");
        assert_eq!(value("\u{5d0}b", 2), "\u{2066}\u{5d0}b\u{2069}");
        assert_eq!(
            value("a\n\u{fdfd}", 1),
            "\u{2066}a\\u{000A}\\u{FDFD}\u{2069}"
        );
        for line in value(&"W".repeat(1_000), 2).lines() {
            assert!(line.chars().count() <= COLUMNS / 2 + 2);
        }
    }
}
