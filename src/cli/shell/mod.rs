//! `countersign shell`: a person drives the same server that a client gets, and sees what a model sees. Every command that
//! reads or acts is a call of a tool, with the same arguments, checks, locks, caps and journal.

/// A line as a command.
mod command;
/// What the person types, and signals.
mod ears;
/// What each command does.
mod perform;
/// Where the person stands in a snapshot.
mod place;
/// What the person is told.
mod talk;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::exit::Exit;
use super::places::{self, Places};
use super::serve::{self, ENDING, Watches};
use super::setup::absolute;
use crate::confirm::window::Window;
use crate::error::Code;
use crate::journal::Closing;
use crate::server::Handler;
use ears::{Ears, Heard, Stop};
use place::Place;
use talk::Talk;

/// How a person starts it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where setup put everything, if not in the usual directories
    #[arg(long, value_name = "DIRECTORY", value_parser = absolute)]
    pub home: Option<PathBuf>,
    /// End at the first command that does not go well (for scripts)
    #[arg(short = 'e', long)]
    pub stop_at_first: bool,
}

/// After this long a person is told that a call is still under way: a window may be waiting for them.
const STILL: Duration = Duration::from_secs(2);
/// How often a call that came too fast is made again.
const AGAIN: usize = 20;

/// Why a command did not go well.
#[derive(Debug)]
enum Trouble {
    /// It is no command, or not typed as it should be.
    Usage(String),
    /// A check said no: the reply's body.
    Refused(Map<String, Value>),
    /// No site grants the tool.
    NotGranted,
    /// What was waited or looked for is not there.
    NotMet(&'static str),
    /// What it works on does not exist.
    Missing(String),
    /// The person withdrew it.
    Withdrawn,
    /// The session ends.
    End(Closing),
    /// Nobody listens any more, or a file cannot be written.
    Io(io::Error),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What is known of a tab.
#[derive(Debug, Default)]
struct Tab {
    /// Its newest snapshot.
    snapshot: Option<String>,
    origin: String,
    url: String,
    /// The heading that was entered; none is the whole page.
    place: Option<Place>,
}

/// A reply, taken apart.
#[derive(Debug)]
struct Told {
    server: Map<String, Value>,
    page: Map<String, Value>,
    /// The picture, in base64.
    image: Option<String>,
}

impl Told {
    /// Lines of the page.
    fn lines(&self, name: &str) -> Vec<String> {
        let list = self.page.get(name).and_then(Value::as_array);
        let lines = list.map(Vec::as_slice).unwrap_or_default();
        lines
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    }

    fn number(&self, name: &str) -> Option<usize> {
        let number = self.server.get(name)?.as_u64()?;
        usize::try_from(number).ok()
    }
}

/// A session with a person.
struct Shell {
    handler: Handler<Window>,
    ears: Ears,
    talk: Talk,
    /// Whether a terminal is at the other end.
    person: bool,
    tabs: BTreeMap<String, Tab>,
    tab: Option<String>,
    /// A folder for pictures, which goes with the shell.
    pictures: Option<PathBuf>,
    receipt: Option<String>,
}

/// Runs until the input ends, `quit`, or a signal. For a script the exit code says whether every command went well: it is
/// that of the first that did not.
///
/// # Errors
/// Where standard output cannot be written.
pub async fn run(args: &Args, places: &Places) -> io::Result<Exit> {
    let session = match serve::open(places) {
        Ok(session) => session,
        Err(exit) => return Ok(exit),
    };
    let person = io::stdin().is_terminal();
    let watches = Watches::over(&session);
    let mut shell = Shell {
        handler: Handler::new(session.share()),
        ears: Ears::open(person)?,
        talk: Talk::new(person),
        person,
        tabs: BTreeMap::new(),
        tab: None,
        pictures: None,
        receipt: None,
    };
    let (why, exit) = shell.commands(args.stop_at_first).await;
    drop(watches);
    session.end(why, ENDING).await;
    if let Some(folder) = &shell.pictures {
        let _ = std::fs::remove_dir_all(folder);
    }
    let exit = exit?;
    if let Some(receipt) = &shell.receipt {
        shell.talk.say(&format!("the last receipt is {receipt}"))?;
    }
    Ok(exit)
}

impl Shell {
    /// One command after the other.
    async fn commands(&mut self, stop_at_first: bool) -> (Closing, io::Result<Exit>) {
        let mut exit = Exit::Ok;
        if self.person
            && let Err(error) = self
                .talk
                .say("help lists the commands, quit ends the session")
        {
            return (Closing::EndOfInput, Err(error));
        }
        loop {
            let trouble = match self.next().await {
                Ok(()) => continue,
                Err(Trouble::End(Closing::Signal)) if !self.person => {
                    // What is left of a script was not run.
                    return (
                        Closing::Signal,
                        Ok(if exit == Exit::Ok { Exit::Fault } else { exit }),
                    );
                }
                Err(Trouble::End(why)) => return (why, Ok(exit)),
                Err(Trouble::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                    return (Closing::EndOfInput, Err(error));
                }
                Err(trouble) => trouble,
            };
            let code = self.complain(&trouble);
            if !self.person && exit == Exit::Ok {
                exit = code;
            }
            if !self.person && stop_at_first {
                return (Closing::Operator, Ok(exit));
            }
        }
    }

    async fn next(&mut self) -> Result<(), Trouble> {
        self.talk.ask(&self.prompt())?;
        let line = loop {
            match self.ears.line().await {
                Ok(Heard::Line(line)) => break line,
                Ok(Heard::Unfit(why)) => return Err(Trouble::Usage(why.to_owned())),
                Ok(Heard::End) => {
                    self.talk.end_prompt()?;
                    return Err(Trouble::End(Closing::EndOfInput));
                }
                Err(Stop::Session) => return Err(Trouble::End(Closing::Signal)),
                Err(Stop::Call) => {
                    // The terminal dropped what was typed of the line.
                    self.talk.end_prompt()?;
                    self.talk.ask(&self.prompt())?;
                }
            }
        };
        match command::parse(&line).map_err(Trouble::Usage)? {
            Some(command) => self.perform(command).await,
            None => Ok(()),
        }
    }

    /// Says what did not go well, and what it is to a script.
    fn complain(&self, trouble: &Trouble) -> Exit {
        let (line, exit) = match trouble {
            Trouble::Usage(why) => (why.clone(), Exit::Usage),
            Trouble::Refused(body) => (talk::refusal(body), talk::exit(body)),
            Trouble::NotGranted => (
                "your profile grants this to no site; countersign policy show says what it grants"
                    .to_owned(),
                Exit::Refused,
            ),
            Trouble::NotMet(what) => ((*what).to_owned(), Exit::CheckFailed),
            Trouble::Missing(what) => (what.clone(), Exit::CannotOpen),
            Trouble::Withdrawn => {
                // The terminal stands behind its `^C`.
                let _ = self.talk.end_prompt();
                ("withdrawn".to_owned(), Exit::Fault)
            }
            Trouble::End(_) => return Exit::Ok,
            Trouble::Io(error) => (error.to_string(), Exit::CannotOpen),
        };
        self.talk.complain(&line);
        exit
    }

    /// Which page, which snapshot, which heading.
    fn prompt(&self) -> String {
        let Some(tab) = self.tab.as_ref().and_then(|tab| self.tabs.get(tab)) else {
            return "countersign".to_owned();
        };
        let mut prompt = match tab.origin.split_once("://") {
            Some((_, host)) => host.to_owned(),
            None if tab.origin.is_empty() => "(no page)".to_owned(),
            None => tab.origin.clone(),
        };
        if let Some(snapshot) = &tab.snapshot {
            prompt.push_str(&format!(" {snapshot}"));
        }
        if let Some(words) = tab
            .place
            .as_ref()
            .and_then(|place| place.heading.path.last())
        {
            prompt.push_str(&format!(" {}", crate::snapshot::tree::quote(words, 24)));
        }
        prompt
    }

    /// Calls a tool as a client would. A call that comes faster than the profile allows waits as long as it is told to.
    async fn call(&mut self, tool: &str, arguments: Value) -> Result<Told, Trouble> {
        let mut tries = 0;
        loop {
            let cancelled = CancellationToken::new();
            let Some(mut begun) = self.handler.begin(tool, arguments.clone(), cancelled) else {
                return Err(Trouble::NotGranted);
            };
            let mut told = !self.person;
            let reply = loop {
                tokio::select! {
                    reply = begun.reply() => break reply,
                    stop = self.ears.stopped() => {
                        let over = begun.withdraw();
                        match stop {
                            Stop::Session => return Err(Trouble::End(Closing::Signal)),
                            Stop::Call if over => return Err(Trouble::Withdrawn),
                            Stop::Call => {}
                        }
                    }
                    () = tokio::time::sleep(STILL), if !told => {
                        told = true;
                        self.talk.say("still under way; a window may be waiting for your answer, and Ctrl-C withdraws it")?;
                    }
                }
            };
            let Value::Object(mut body) = reply.body().clone() else {
                return Err(Trouble::Missing("an empty reply".to_owned()));
            };
            if reply.is_refusal()
                && talk::code(&body) == Some(Code::RateLimited)
                && tries < AGAIN
                && let Some(ms) = body
                    .get("details")
                    .and_then(|details| details.get("retry_after_ms"))
                    .and_then(Value::as_u64)
            {
                tries += 1;
                tokio::select! {
                    () = tokio::time::sleep(Duration::from_millis(ms)) => continue,
                    stop = self.ears.stopped() => return Err(match stop {
                        Stop::Session => Trouble::End(Closing::Signal),
                        Stop::Call => Trouble::Withdrawn,
                    }),
                }
            }
            let mut part = |name: &str| match body.remove(name) {
                Some(Value::Object(part)) => part,
                Some(_) | None => Map::new(),
            };
            let mut told = Told {
                server: part("server"),
                page: part("page_content"),
                image: reply.image().map(str::to_owned),
            };
            self.note(&told, talk::code(&body));
            if !reply.is_refusal() {
                return Ok(told);
            }
            told.server
                .retain(|key, _| !matches!(key.as_str(), "outcome" | "effect"));
            // Where the page was looked at all the same, what it says now comes first.
            if told.server.contains_key("snapshot_id") || !told.page.is_empty() {
                self.show_changes(&told)?;
            }
            return Err(Trouble::Refused(body));
        }
    }

    /// Remembers what a reply says of its tab.
    fn note(&mut self, told: &Told, code: Option<Code>) {
        let text = |map: &Map<String, Value>, key: &str| Some(map.get(key)?.as_str()?.to_owned());
        if let Some(receipt) = text(&told.server, "receipt") {
            self.receipt = Some(receipt);
        }
        if matches!(
            code,
            Some(Code::ConnectionLost | Code::BrowserAbsent | Code::PortStale)
        ) {
            // Tabs and marks of before mean nothing any more.
            self.tabs.clear();
            self.tab = None;
            return;
        }
        let Some(id) = text(&told.server, "tab") else {
            return;
        };
        if matches!(code, Some(Code::TabClosed | Code::UnknownTab)) {
            self.forget(&id);
            return;
        }
        let tab = self.tabs.entry(id).or_default();
        if let Some(snapshot) = text(&told.server, "snapshot_id") {
            tab.snapshot = Some(snapshot);
        }
        if let Some(origin) = text(&told.server, "origin") {
            tab.origin = origin;
        }
        if let Some(url) = text(&told.page, "url") {
            tab.url = url;
        }
    }

    /// A tab that is not there any more; the newest of those left takes its place.
    fn forget(&mut self, id: &str) {
        self.tabs.remove(id);
        if self.tab.as_deref() == Some(id) {
            self.tab = self
                .tabs
                .keys()
                .max_by_key(|id| (id.len(), (*id).clone()))
                .cloned();
        }
    }

    /// The folder for pictures of this session.
    fn folder(&mut self) -> io::Result<PathBuf> {
        if let Some(folder) = &self.pictures {
            return Ok(folder.clone());
        }
        let folder = places::temporary()?;
        self.pictures = Some(folder.clone());
        Ok(folder)
    }
}
