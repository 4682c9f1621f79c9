//! The arguments of each tool: strict, capped, and parsed into the domain's types before anything else happens.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::domain::action::{Action, Destination, Direction, Named, Typed};
use crate::domain::key::Chord;
use crate::domain::lock::LockClass;
use crate::domain::mark::{Mark, SnapshotId, TabId};
use crate::domain::site::{Address, AddressError};
use crate::domain::text::Untrusted;
use crate::error::{Code, Detail, Refusal};
use crate::flow::look::{Observe, Question, Wanted};
use crate::gate::admit::Call;
use crate::reply::capture::Picture;
use crate::snapshot::find::{Op, Query};

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

/// `open_tab`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenTab {
    /// Absolute address on a listed site.
    url: String,
}

/// `navigate`: exactly one of `url` and `to`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Navigate {
    tab: TabId,
    /// Absolute address on a listed site.
    url: Option<String>,
    to: Option<Move>,
}

/// A move without an address.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Move {
    /// One back.
    Back,
    /// One forward.
    Forward,
    /// The same again.
    Reload,
}

/// `close_tab`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloseTab {
    tab: TabId,
}

/// `observe`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObserveTab {
    tab: TabId,
    /// Also return the picture (default true).
    image: Option<bool>,
    /// Return only what changed since this snapshot.
    since: Option<SnapshotId>,
}

/// `find`: at least one of `text` and `role`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindIn {
    snapshot_id: SnapshotId,
    /// Words to look for.
    text: Option<String>,
    /// A role as observe lists it, such as link, button, textbox.
    role: Option<String>,
    /// What is nearest to this mark comes first.
    near: Option<Mark>,
}

/// `read`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadIn {
    snapshot_id: SnapshotId,
    op: Reading,
    /// From this mark on.
    at: Option<Mark>,
    /// The deepest heading of an outline, 1 to 6 (default 3).
    depth: Option<u8>,
    /// Where the reply before left off, or a line number of an outline.
    cursor: Option<u32>,
}

/// What `read` shows.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// Headings.
    Outline,
    /// Everything.
    Text,
    /// Links.
    Links,
    /// The next table.
    Table,
    /// Fields.
    Fields,
}

/// `click`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Click {
    snapshot_id: SnapshotId,
    mark: Mark,
    /// What this is for; can only add a lock.
    intent: Option<LockClass>,
}

/// `fill`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fill {
    snapshot_id: SnapshotId,
    mark: Mark,
    /// Replaces what the field holds.
    text: String,
    /// What this is for; can only add a lock.
    intent: Option<LockClass>,
}

/// `select_option`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectOption {
    snapshot_id: SnapshotId,
    mark: Mark,
    /// Labels or values of the options to choose.
    options: Vec<String>,
    /// What this is for; can only add a lock.
    intent: Option<LockClass>,
}

/// `press_key`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PressKey {
    snapshot_id: SnapshotId,
    /// The element to press it on; without it, the marked element that has the focus.
    mark: Option<Mark>,
    /// A key or chord such as Enter, Tab, ArrowDown, Control+a.
    key: String,
    /// What this is for; can only add a lock.
    intent: Option<LockClass>,
}

/// `scroll`: a tab, or an element of a snapshot.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scroll {
    tab: Option<TabId>,
    snapshot_id: Option<SnapshotId>,
    mark: Option<Mark>,
    direction: Towards,
    /// How many screens, 1 to 20 (default 1).
    screens: Option<u8>,
}

/// A direction.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Towards {
    /// Up.
    Up,
    /// Down.
    Down,
    /// Left.
    Left,
    /// Right.
    Right,
}

/// `wait_for`: exactly one of `text`, `gone` and `loaded`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitFor {
    tab: TabId,
    /// Until this text is visible.
    text: Option<String>,
    /// Until this text is not visible.
    gone: Option<String>,
    /// Until nothing loads any more.
    loaded: Option<bool>,
    /// Seconds, 0 to look once (default 10).
    timeout: Option<f64>,
}

/// The longest text that is waited for, and the longest label of an option.
const LONGEST: usize = 1_000;
/// The most options of one call.
const OPTIONS: usize = 100;

impl FindIn {
    /// The parsed question.
    ///
    /// # Errors
    /// Where nothing is looked for, or what is looked for is too long.
    pub fn parse(self) -> Result<(SnapshotId, Question), Refusal> {
        let text = self.text.filter(|text| !text.trim().is_empty());
        if text.is_none() && self.role.is_none() {
            return Err(argument("text", "give text or role"));
        }
        for given in [&text, &self.role].into_iter().flatten() {
            if given.chars().count() > LONGEST {
                return Err(argument("text", "at most 1000 characters"));
            }
        }
        let query = Query {
            text,
            role: self.role,
            near: self.near,
        };
        Ok((self.snapshot_id, Question::Find(query)))
    }
}

impl ReadIn {
    /// The parsed question.
    ///
    /// # Errors
    /// Where both places are given, or the depth is none.
    pub fn parse(self) -> Result<(SnapshotId, Question), Refusal> {
        if self.at.is_some() && self.cursor.is_some() {
            return Err(argument("cursor", "give at most one of at and cursor"));
        }
        let depth = self.depth.unwrap_or(3);
        if !(1..=6).contains(&depth) {
            return Err(argument("depth", "1 to 6"));
        }
        let op = match self.op {
            Reading::Outline => Op::Outline,
            Reading::Text => Op::Text,
            Reading::Links => Op::Links,
            Reading::Table => Op::Table,
            Reading::Fields => Op::Fields,
        };
        let question = Question::Read {
            op,
            at: self.at,
            cursor: self.cursor.map(|cursor| cursor as usize),
            depth,
        };
        Ok((self.snapshot_id, question))
    }
}

impl OpenTab {
    /// The parsed call.
    ///
    /// # Errors
    /// Where the address is none that may be opened.
    pub fn parse(self) -> Result<Call, Refusal> {
        Ok(free(Action::Open(address(&self.url)?)))
    }
}

impl Navigate {
    /// The parsed call.
    ///
    /// # Errors
    /// Where not exactly one destination is given.
    pub fn parse(self) -> Result<Call, Refusal> {
        let destination = match (self.url, self.to) {
            (Some(url), None) => Destination::Address(address(&url)?),
            (None, Some(Move::Back)) => Destination::Back,
            (None, Some(Move::Forward)) => Destination::Forward,
            (None, Some(Move::Reload)) => Destination::Reload,
            (Some(_), Some(_)) | (None, None) => {
                return Err(argument("url", "give exactly one of url and to"));
            }
        };
        Ok(free(Action::Navigate(self.tab, destination)))
    }
}

impl CloseTab {
    /// The parsed call.
    #[must_use]
    pub fn parse(self) -> Call {
        free(Action::Close(self.tab))
    }
}

impl ObserveTab {
    /// What is to be looked at.
    #[must_use]
    pub fn parse(self) -> Observe {
        let picture = if self.image.unwrap_or(true) {
            Picture::Wanted
        } else {
            Picture::NotWanted
        };
        Observe {
            tab: self.tab,
            picture,
            since: self.since,
        }
    }
}

impl Click {
    /// The parsed call.
    #[must_use]
    pub fn parse(self) -> Call {
        Call {
            action: Action::Click(named(self.snapshot_id, self.mark)),
            intent: self.intent,
        }
    }
}

impl Fill {
    /// The parsed call.
    #[must_use]
    pub fn parse(self) -> Call {
        let action = Action::Fill(named(self.snapshot_id, self.mark), Typed::new(self.text));
        Call {
            action,
            intent: self.intent,
        }
    }
}

impl SelectOption {
    /// The parsed call.
    ///
    /// # Errors
    /// Where there are too many options, or one is too long.
    pub fn parse(self) -> Result<Call, Refusal> {
        if self.options.len() > OPTIONS
            || self
                .options
                .iter()
                .any(|option| option.chars().count() > LONGEST)
        {
            return Err(argument(
                "options",
                "at most 100 options of at most 1,000 characters",
            ));
        }
        let options = self.options.into_iter().map(Untrusted::new).collect();
        Ok(Call {
            action: Action::Select(named(self.snapshot_id, self.mark), options),
            intent: self.intent,
        })
    }
}

impl PressKey {
    /// The parsed call.
    ///
    /// # Errors
    /// Where the text names no key that can be pressed.
    pub fn parse(self) -> Result<Call, Refusal> {
        let chord = Chord::parse(&self.key).map_err(|_| {
            argument("key", "a named key (Enter, Tab, Escape, ArrowDown…), a character, or a chord such as Control+a; not one that commands the browser or the clipboard, nor Enter or Space with Control or Alt: press them alone")
        })?;
        let action = match self.mark {
            Some(mark) => Action::PressOn(named(self.snapshot_id, mark), chord),
            None => Action::Press(self.snapshot_id, chord),
        };
        Ok(Call {
            action,
            intent: self.intent,
        })
    }
}

impl Scroll {
    /// The parsed call.
    ///
    /// # Errors
    /// Where it names neither a tab nor an element, or both.
    pub fn parse(self) -> Result<Call, Refusal> {
        let direction = match self.direction {
            Towards::Up => Direction::Up,
            Towards::Down => Direction::Down,
            Towards::Left => Direction::Left,
            Towards::Right => Direction::Right,
        };
        let screens = self.screens.unwrap_or(1);
        if !(1..=20).contains(&screens) {
            return Err(argument("screens", "a whole number from 1 to 20"));
        }
        let action = match (self.tab, self.snapshot_id, self.mark) {
            (Some(tab), None, None) => Action::Scroll(tab, direction, screens),
            (None, Some(snapshot), Some(mark)) => {
                Action::ScrollIn(named(snapshot, mark), direction, screens)
            }
            (Some(_) | None, Some(_) | None, Some(_) | None) => {
                return Err(argument("tab", "give either tab, or snapshot_id and mark"));
            }
        };
        Ok(free(action))
    }
}

impl WaitFor {
    /// The tab, what is waited for, and how long; `most` is the profile's limit, `usual` its default.
    ///
    /// # Errors
    /// Where not exactly one thing is waited for, or the time is out of range.
    pub fn parse(self, usual: Duration) -> Result<(TabId, Wanted, Duration), Refusal> {
        let wanted = match (self.text, self.gone, self.loaded) {
            (Some(text), None, None) => Wanted::Text(waited_text(text)?),
            (None, Some(text), None) => Wanted::NoText(waited_text(text)?),
            (None, None, Some(true)) => Wanted::Loaded,
            (Some(_) | None, Some(_) | None, Some(_) | None) => {
                return Err(argument(
                    "text",
                    "give exactly one of text, gone and loaded: true",
                ));
            }
        };
        let within = match self.timeout {
            None => usual,
            Some(seconds)
                if seconds.is_finite() && seconds >= 0.0 && seconds <= usual.as_secs_f64() =>
            {
                Duration::from_secs_f64(seconds)
            }
            Some(_) => {
                return Err(argument(
                    "timeout",
                    "seconds, from 0 to the profile's limit (10 by default)",
                ));
            }
        };
        Ok((self.tab, wanted, within))
    }
}

fn waited_text(text: String) -> Result<Untrusted, Refusal> {
    let text = Untrusted::new(text);
    if text.is_blank() || text.raw().chars().count() > LONGEST {
        return Err(argument("text", "1 to 1,000 characters"));
    }
    Ok(text)
}

const fn named(snapshot: SnapshotId, mark: Mark) -> Named {
    Named { snapshot, mark }
}

const fn free(action: Action) -> Call {
    Call {
        action,
        intent: None,
    }
}

fn address(text: &str) -> Result<Address, Refusal> {
    Address::parse(text).map_err(|error| {
        let why = match error {
            AddressError::Scheme => "only https, and http where it is listed so",
            AddressError::Malformed => "it is not an absolute URL such as https://example.org/",
            AddressError::UserInfo => "it holds a user name or password",
            AddressError::Host => "its host is missing or malformed",
            AddressError::IpSpelling => "its IP address is not spelt plainly",
            AddressError::Characters => "it holds white space, control characters or backslashes",
            AddressError::NotAnOrigin => "it is not an origin",
            AddressError::TooLong => "it is too long",
        };
        Refusal::new(Code::AddressRefused).with(Detail::Reason(why))
    })
}

fn argument(name: &'static str, what: &'static str) -> Refusal {
    Refusal::new(Code::ArgumentsInvalid).with(Detail::Argument(name, what))
}
