//! What a call asks for, parsed: no text in here "should be" something else.

use std::fmt;

use super::digest::Digest;
use super::key::Chord;
use super::lock::LockClass;
use super::mark::{Mark, SnapshotId, TabId};
use super::site::Address;
use super::text::Untrusted;
use super::tier::Tier;

/// Text the model wants typed. Its Debug shows the length alone; the journal gets length and class (security J8).
#[derive(Clone, PartialEq, Eq)]
pub struct Typed(String);

impl Typed {
    /// Takes the text over.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The text itself, for the gesture and for comparison.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Length in characters (code points).
    #[must_use]
    pub fn length(&self) -> usize {
        self.0.chars().count()
    }

    /// The digest a person's answer is bound to.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.0.as_bytes())
    }

    /// What kind of text it is, for the journal: never the text.
    #[must_use]
    pub fn class(&self) -> &'static str {
        let text = self.0.trim();
        if text.is_empty() {
            "empty"
        } else if text.chars().all(|c| c.is_ascii_digit()) {
            "digits"
        } else if text
            .chars()
            .all(|c| c.is_ascii_digit() || " .,-+/:()€$£".contains(c))
        {
            "number"
        } else if text.contains('@') && !text.contains(char::is_whitespace) {
            "address"
        } else if text.contains('\n') {
            "lines"
        } else {
            "words"
        }
    }
}

impl fmt::Debug for Typed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Typed({} characters)", self.length())
    }
}

/// Which way to scroll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Towards the start of the page.
    Up,
    /// Towards the end of the page.
    Down,
    /// To the left.
    Left,
    /// To the right.
    Right,
}

impl Direction {
    /// The name in arguments and in the journal.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Left => "left",
            Self::Right => "right",
        }
    }
}

/// Where a tab is to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// To an address.
    Address(Address),
    /// One entry back in the tab's history.
    Back,
    /// One entry forward.
    Forward,
    /// The same document again.
    Reload,
}

/// The element a call names: a mark of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// The look the mark was read from.
    pub snapshot: SnapshotId,
    /// The mark.
    pub mark: Mark,
}

/// What a tool call asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Press and release the primary button on an element.
    Click(Named),
    /// Replace a field's content.
    Fill(Named, Typed),
    /// Choose options of a select by their labels or values.
    Select(Named, Vec<Untrusted>),
    /// Press a key on an element.
    PressOn(Named, Chord),
    /// Press a key on what has the focus, which must be a known element of the snapshot.
    Press(SnapshotId, Chord),
    /// Scroll an element's nearest scrolling box.
    ScrollIn(Named, Direction, u8),
    /// Scroll a tab's page.
    Scroll(TabId, Direction, u8),
    /// Open a tab on an address.
    Open(Address),
    /// Move a tab.
    Navigate(TabId, Destination),
    /// Close a tab of the session.
    Close(TabId),
}

impl Action {
    /// The name in the journal and in the window.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Click(_) => "click",
            Self::Fill(..) => "fill",
            Self::Select(..) => "select_option",
            Self::PressOn(..) | Self::Press(..) => "press_key",
            Self::ScrollIn(..) | Self::Scroll(..) => "scroll",
            Self::Open(_) => "open_tab",
            Self::Navigate(..) => "navigate",
            Self::Close(_) => "close_tab",
        }
    }

    /// The tier the action belongs to.
    #[must_use]
    pub const fn tier(&self) -> Tier {
        match self {
            Self::Click(_)
            | Self::Fill(..)
            | Self::Select(..)
            | Self::PressOn(..)
            | Self::Press(..)
            | Self::ScrollIn(..)
            | Self::Scroll(..) => Tier::Act,
            Self::Open(_) | Self::Navigate(..) | Self::Close(_) => Tier::Navigate,
        }
    }

    /// What the action carries besides its target, in a canonical form for digests: typed text only as its digest.
    #[must_use]
    pub fn payload(&self) -> String {
        match self {
            Self::Click(_) | Self::Close(_) => String::new(),
            Self::Fill(_, text) => text.digest().hex(),
            Self::Select(_, options) => {
                let all: Vec<String> = options
                    .iter()
                    .map(|o| Digest::of(o.raw().as_bytes()).hex())
                    .collect();
                all.join(",")
            }
            Self::PressOn(_, chord) | Self::Press(_, chord) => chord.to_string(),
            Self::ScrollIn(_, direction, pages) | Self::Scroll(_, direction, pages) => {
                format!("{} {pages}", direction.name())
            }
            Self::Open(address) => address.to_string(),
            Self::Navigate(_, destination) => match destination {
                Destination::Address(address) => address.to_string(),
                Destination::Back => "back".to_owned(),
                Destination::Forward => "forward".to_owned(),
                Destination::Reload => "reload".to_owned(),
            },
        }
    }
}

/// What the model says the action is for. It can only add a lock, never remove one.
pub type Intent = LockClass;
