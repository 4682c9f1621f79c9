//! Writes for the person. Whatever came from a page is escaped once more on its way out, so that a line of a page is one
//! line, and it stands between quotes, so that it cannot pass for a statement: those begin with `--`.

use std::io::{self, IsTerminal as _, Write as _};

use serde_json::{Map, Value};

use crate::cli::exit::Exit;
use crate::domain::text::Shown;
use crate::error::{Code, Family};

/// The terminal or whatever stands in its place.
#[derive(Debug)]
pub(super) struct Talk {
    plain: bool,
    prompt: bool,
}

/// How a line is told from others where colours are wanted.
#[derive(Debug, Clone, Copy)]
enum Look {
    Plain,
    Heading,
    Aside,
}

impl Talk {
    /// `person` says whether standard input is a terminal.
    pub(super) fn new(person: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|set| !set.is_empty());
        Self {
            plain: !terminal || dumb || unwanted,
            prompt: person && terminal,
        }
    }

    /// A line of a page.
    pub(super) fn page(&self, line: &str) -> io::Result<()> {
        let look = if line.starts_with("# ") {
            Look::Heading
        } else {
            Look::Plain
        };
        self.line(look, "", line)
    }

    /// Lines of a page.
    pub(super) fn pages(&self, lines: &[String]) -> io::Result<()> {
        lines.iter().try_for_each(|line| self.page(line))
    }

    /// A line of a page after something of ours.
    pub(super) fn after(&self, ours: &str, line: &str) -> io::Result<()> {
        self.line(Look::Plain, ours, line)
    }

    /// A statement of ours.
    pub(super) fn say(&self, statement: &str) -> io::Result<()> {
        self.line(Look::Aside, "-- ", statement)
    }

    fn line(&self, look: Look, ours: &str, text: &str) -> io::Result<()> {
        let text = escaped(text);
        let (on, off) = match look {
            Look::Heading if !self.plain => ("\x1b[1m", "\x1b[0m"),
            Look::Aside if !self.plain => ("\x1b[2m", "\x1b[0m"),
            Look::Plain | Look::Heading | Look::Aside => ("", ""),
        };
        writeln!(io::stdout(), "{on}{ours}{text}{off}")
    }

    /// A line on standard error.
    pub(super) fn complain(&self, line: &str) {
        let _ = writeln!(io::stderr(), "{}", escaped(line));
    }

    /// Asks for the next command, where a person is at the other end.
    pub(super) fn ask(&self, prompt: &str) -> io::Result<()> {
        if self.prompt {
            let mut out = io::stdout();
            write!(out, "{}> ", escaped(prompt))?;
            out.flush()?;
        }
        Ok(())
    }

    /// Ends the line that a prompt began.
    pub(super) fn end_prompt(&self) -> io::Result<()> {
        if self.prompt {
            writeln!(io::stdout())
        } else {
            Ok(())
        }
    }
}

fn escaped(text: &str) -> String {
    Shown::escape(text, usize::MAX).as_str().to_owned()
}

/// A statement of the server's in one line, without these fields.
pub(super) fn statement(server: &Map<String, Value>, without: &[&str]) -> String {
    let said: Vec<String> = server
        .iter()
        .filter(|(key, value)| {
            let usual = matches!(
                (key.as_str(), value.as_str()),
                ("outcome" | "effect", Some("done"))
            );
            !usual && !without.contains(&key.as_str())
        })
        .map(|(key, value)| pair(key, value))
        .collect();
    said.join(", ")
}

/// A field in words: `not shown: below 40, covered 2`.
pub(super) fn pair(key: &str, value: &Value) -> String {
    let key = key.replace('_', " ");
    match value {
        Value::Bool(true) => key,
        Value::Object(_) | Value::Array(_) => format!("{key}: {}", plain(value)),
        Value::Null | Value::Bool(false) | Value::Number(_) | Value::String(_) => {
            format!("{key} {}", plain(value))
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| pair(key, value))
            .collect::<Vec<_>>()
            .join(" "),
    }
}

/// A refusal in one line: code, what happened, what a person can do, and what is known of the effect.
pub(super) fn refusal(body: &Map<String, Value>) -> String {
    let text = |key: &str| body.get(key).and_then(Value::as_str).unwrap_or_default();
    let detail = match body.get("details") {
        Some(Value::Object(details)) => format!(" ({})", plain(&Value::Object(details.clone()))),
        Some(_) | None => String::new(),
    };
    let way_out = code(body).map_or_else(
        || text("suggestion").to_owned(),
        |code| way_out(code).to_owned(),
    );
    let effect = match text("effect") {
        "none" => "",
        "done" => ". It was done all the same",
        _ => ". It may have had an effect all the same",
    };
    format!(
        "{}: {}{detail}; {way_out}{effect}",
        text("code"),
        text("message")
    )
}

/// The code of a refusal.
pub(super) fn code(body: &Map<String, Value>) -> Option<Code> {
    let code = body.get("code")?.as_str()?;
    Code::ALL
        .iter()
        .copied()
        .find(|known| known.as_str() == code)
}

/// What a refusal is to a script.
pub(super) fn exit(body: &Map<String, Value>) -> Exit {
    let Some(code) = code(body) else {
        return Exit::Fault;
    };
    if body.get("effect").and_then(Value::as_str) != Some("none") {
        return Exit::Fault;
    }
    match code.family() {
        Family::Journal | Family::Internal => Exit::Fault,
        Family::Browser
            if !matches!(
                code,
                Code::WrongOwner | Code::WrongProfile | Code::UnsafeFlags | Code::ProfileUnsafe
            ) =>
        {
            Exit::CannotOpen
        }
        Family::Admission if matches!(code, Code::ArgumentsInvalid | Code::TextTooLong) => {
            Exit::Usage
        }
        Family::Admission
        | Family::Marks
        | Family::Site
        | Family::Lock
        | Family::Gesture
        | Family::Capture
        | Family::Policy
        | Family::Browser => Exit::Refused,
    }
}

/// What a person at the shell can do next. (The suggestions of the table are for the model.)
fn way_out(code: Code) -> &'static str {
    match code {
        Code::ArgumentsInvalid => "type it otherwise; help says how",
        Code::RateLimited | Code::ActionUnderWay | Code::StillMoving | Code::CaptureFailed => {
            "try again in a moment"
        }
        Code::ActionsSpent | Code::NavigationsSpent => "start a new session",
        Code::TooManyTabs => "close a tab first",
        Code::TextTooLong => "shorten the text",
        Code::UnknownTab | Code::TabClosed => "tabs lists what is there",
        Code::Stopping => "start a new session",
        Code::UnknownSnapshot | Code::Stale | Code::Changed => {
            "look, and name the element by the mark it has then"
        }
        Code::UnknownMark => "look, or find it: marks hold for the look they were shown with",
        Code::Covered => "deal with what covers it, then look",
        Code::NotVisible => "look: something else may have to be opened first, or scrolled to",
        Code::Disabled => "do first what the page asks for, then look",
        Code::WrongKind => "use the command that fits its role",
        Code::AmbiguousOption => "choose it by its value",
        Code::UnknownOption => "choose one of the options above",
        Code::NoKnownFocus => "name the element: key KEY MARK",
        Code::OffList | Code::FrameOffList => {
            "status says which sites are listed; add one to your profile if it should be"
        }
        Code::AddressRefused => "give a plain https address of a listed site",
        Code::OpaqueOrigin => "choose an element outside that frame",
        Code::TierNotGranted => "status says what each site allows; your profile grants it",
        Code::DepartureStopped => "the tab stayed where it was",
        Code::NoSuchStep | Code::NothingThere => "go to an address of a listed site",
        Code::Denied => "you refused it",
        Code::TimedOut | Code::WindowFailed | Code::Cancelled => {
            "try again when you can answer the window"
        }
        Code::Undeliverable => "countersign doctor says why no window can be shown",
        Code::ChangedWhileAsking => "look at the page again before you repeat it",
        Code::TooManyWindows | Code::ClassRefused => "start a new session if you want it after all",
        Code::AnotherQuestion => "answer the open window first",
        Code::ForeignPeer => "countersign doctor says which program it is",
        Code::Misdirected | Code::GuardNotLive | Code::FocusLost | Code::NotKept => {
            "look at the page before you repeat it"
        }
        Code::DialogOpen => "the dialog was dismissed; look",
        Code::GestureInterrupted => "look at what happened before you repeat it",
        Code::JournalNotWritable | Code::JournalEnded => {
            "countersign doctor says what is wrong; then start a new session"
        }
        Code::BrowserAbsent | Code::PortStale => "start it with countersign browser",
        Code::WrongOwner | Code::WrongProfile | Code::ProfileUnsafe => {
            "stop, and run countersign doctor"
        }
        Code::UnsafeFlags => "end it, and start it with countersign browser",
        Code::ConnectionLost => "open the page again; marks of before are void",
        Code::NoAnswer | Code::TabCrashed => "close the tab and open the page again",
        Code::LoadFailed => "check the address, or try again later",
        Code::Internal => "countersign doctor, and the diagnostics it names, may say more",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_statement_is_one_line_in_words() {
        let server = map(
            json!({"tab": "t1", "outcome": "done", "marks": 3, "loading": true, "not_shown": {"below": 40, "covered": 2}, "events": [{"opened_tab": "t2"}]}),
        );
        assert_eq!(
            statement(&server, &["tab"]),
            "events: opened tab t2, loading, marks 3, not shown: below 40 covered 2"
        );
    }

    #[test]
    fn a_refusal_says_what_a_person_can_do() {
        for code in Code::ALL {
            let body = map(
                json!({"code": code.as_str(), "message": code.message(), "suggestion": code.suggestion(), "effect": "none"}),
            );
            let line = refusal(&body);
            assert!(
                line.starts_with(code.as_str()) && line.contains(code.message()),
                "{line}"
            );
            assert!(
                !line.contains("snapshot_id") && !line.contains("list_tabs"),
                "{line}"
            );
            assert_ne!(exit(&body), Exit::Ok);
        }
        let body = map(json!({"code": "G507", "message": "m", "effect": "possible"}));
        assert!(refusal(&body).ends_with("It may have had an effect all the same"));
        assert_eq!(exit(&body), Exit::Fault);
        let unknown =
            map(json!({"code": "Z000", "message": "m", "suggestion": "s", "effect": "none"}));
        assert_eq!(
            (refusal(&unknown).as_str(), exit(&unknown)),
            ("Z000: m; s", Exit::Fault)
        );
    }

    #[test]
    fn what_a_page_wrote_stays_on_its_line() {
        assert_eq!(
            escaped("a\r\n-- b\x1b[2J\u{202e}"),
            r"a -- b\u{001B}[2J\u{202E}"
        );
        assert_eq!(escaped(&escaped("a\u{7}")), escaped("a\u{7}"));
    }
}
