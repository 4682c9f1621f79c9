//! Aiming: which remembered thing a call names. A mark is looked up in its snapshot and never found again by role, name or place.

use crate::browser::probe::{ElementKey, Step};
use crate::domain::action::{Action, Destination, Named};
use crate::domain::mark::{SnapshotId, TabId};
use crate::domain::site::Address;
use crate::error::{Code, Refusal};
use crate::snapshot::shelf::{Remembered, Shelf};

use super::admit::{Admitted, Call};

/// What a call is aimed at. Each arm has its own identity and site check; none skips one.
#[derive(Debug)]
pub(super) enum Arm {
    /// A marked element.
    Element(Box<Remembered>),
    /// A tab of the session.
    Tab(TabId),
    /// An address for a new tab.
    Opened(Address),
    /// An address for a tab of the session, with the step of its history where it is one.
    Sent(TabId, Address, Option<Step>),
}

/// A call that knows what it is aimed at.
#[derive(Debug)]
#[must_use = "an aimed call must pass the identity check"]
pub struct Aimed {
    call: Call,
    arm: Arm,
}

/// What aiming needs to know of the page beside the shelf; read by the probe.
#[derive(Debug, Default)]
pub struct Sight {
    /// What has the focus.
    pub focused: Option<ElementKey>,
    /// The step of the tab's history that back or forward would take.
    pub step: Option<Step>,
    /// Where the tab is now, for loading it again.
    pub here: Option<Address>,
}

/// Which tab a call is about, if it names one that exists on the shelf.
///
/// # Errors
/// [`Code::UnknownSnapshot`] where the snapshot is not kept.
pub fn tab_of(action: &Action, shelf: &Shelf) -> Result<Option<TabId>, Refusal> {
    let of = |id: SnapshotId| {
        shelf
            .get(id)
            .map(|snapshot| Some(snapshot.tab))
            .ok_or(Code::UnknownSnapshot.into())
    };
    match action {
        Action::Click(named)
        | Action::Fill(named, _)
        | Action::Select(named, _)
        | Action::PressOn(named, _)
        | Action::ScrollIn(named, ..) => of(named.snapshot),
        Action::Press(snapshot, _) => of(*snapshot),
        Action::Scroll(tab, ..) | Action::Navigate(tab, _) | Action::Close(tab) => Ok(Some(*tab)),
        Action::Open(_) => Ok(None),
    }
}

/// Aims a call.
///
/// # Errors
/// Where the snapshot or the mark is not known, the focus is on nothing known, or there is nowhere to go.
pub fn check(admitted: Admitted, shelf: &Shelf, sight: Sight) -> Result<Aimed, Refusal> {
    let call = admitted.into_call();
    let arm = match &call.action {
        Action::Click(named)
        | Action::Fill(named, _)
        | Action::Select(named, _)
        | Action::PressOn(named, _)
        | Action::ScrollIn(named, ..) => Arm::Element(Box::new(find(shelf, *named)?)),
        Action::Press(snapshot, _) => {
            let snapshot = shelf.get(*snapshot).ok_or(Code::UnknownSnapshot)?;
            let focused = sight.focused.ok_or(Code::NoKnownFocus)?;
            let known = snapshot
                .marks
                .values()
                .find(|remembered| remembered.key == focused);
            Arm::Element(Box::new(known.cloned().ok_or(Code::NoKnownFocus)?))
        }
        Action::Scroll(tab, ..) | Action::Close(tab) => Arm::Tab(*tab),
        Action::Open(address) => Arm::Opened(address.clone()),
        Action::Navigate(tab, Destination::Address(address)) => {
            Arm::Sent(*tab, address.clone(), None)
        }
        Action::Navigate(tab, Destination::Reload) => {
            Arm::Sent(*tab, sight.here.ok_or(Code::NothingThere)?, None)
        }
        Action::Navigate(tab, Destination::Back | Destination::Forward) => {
            let step = sight.step.ok_or(Code::NoSuchStep)?;
            Arm::Sent(*tab, step.address.clone(), Some(step))
        }
    };
    Ok(Aimed { call, arm })
}

fn find(shelf: &Shelf, named: Named) -> Result<Remembered, Refusal> {
    let snapshot = shelf.get(named.snapshot).ok_or(Code::UnknownSnapshot)?;
    snapshot
        .marks
        .get(&named.mark)
        .cloned()
        .ok_or_else(|| Code::UnknownMark.into())
}

/// What must be read from the browser before the identity check.
#[derive(Debug)]
pub enum Wants<'a> {
    /// Facts of this element; the key to be pressed on it, if any.
    Element(&'a ElementKey, Option<&'static str>),
    /// Facts of this tab.
    Tab(TabId),
    /// Nothing.
    Nothing,
}

pub(super) fn wants<'a>(call: &Call, arm: &'a Arm) -> Wants<'a> {
    match arm {
        Arm::Element(remembered) => Wants::Element(&remembered.key, pressing(&call.action)),
        Arm::Tab(tab) | Arm::Sent(tab, ..) => Wants::Tab(*tab),
        Arm::Opened(_) => Wants::Nothing,
    }
}

/// The kind of key press, as far as it changes what the gesture amounts to.
fn pressing(action: &Action) -> Option<&'static str> {
    match action {
        Action::PressOn(_, chord) | Action::Press(_, chord) if chord.is_enter() => Some("enter"),
        Action::PressOn(..) | Action::Press(..) => Some("key"),
        Action::Click(_)
        | Action::Fill(..)
        | Action::Select(..)
        | Action::ScrollIn(..)
        | Action::Scroll(..)
        | Action::Open(_)
        | Action::Navigate(..)
        | Action::Close(_) => None,
    }
}

impl Aimed {
    pub(super) fn into_parts(self) -> (Call, Arm) {
        (self.call, self.arm)
    }

    /// What must be read before the identity check.
    #[must_use]
    pub fn wants(&self) -> Wants<'_> {
        wants(&self.call, &self.arm)
    }
}
