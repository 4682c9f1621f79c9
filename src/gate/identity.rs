//! Identity: the thing named is the thing that is there now, says the same, and can take this action.

use crate::browser::probe::{ControlState, ElementFacts, Facts, Print, Step, TabFacts};
use crate::domain::action::Action;
use crate::domain::site::Address;
use crate::error::{Code, Detail, Refusal};
use crate::snapshot::shelf::{Known, Remembered};

use super::admit::Call;
use super::aim::{Aimed, Arm};
use super::consent::{Consent, Consented};

/// What was found to be the same, with the facts it was found by.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "made once a call")]
pub(super) enum Same {
    /// The marked element.
    Element(Box<Remembered>, Box<ElementFacts>),
    /// The tab: ours and alive.
    Tab(TabFacts),
    /// An address for a new tab.
    Opened(Address),
    /// An address for a tab that is ours and alive.
    Sent(TabFacts, Address, Option<Step>),
}

/// The thing named is still the same.
#[derive(Debug)]
#[must_use = "the same node may be on another site: check it"]
pub struct SameNode {
    call: Call,
    same: Same,
}

impl SameNode {
    pub(super) fn into_parts(self) -> (Call, Same) {
        (self.call, self.same)
    }
}

/// Compares what was named with what was read.
///
/// # Errors
/// [`Code::Stale`], [`Code::Changed`], and what says that the element cannot take the action.
pub fn check(aimed: Aimed, facts: Facts) -> Result<SameNode, Refusal> {
    let (call, arm) = aimed.into_parts();
    let same = compare(&call.action, arm, facts)?;
    Ok(SameNode { call, same })
}

/// The second look, after a person has answered: the same rule on new facts.
///
/// # Errors
/// As [`check`].
pub fn recheck(consented: Consented, facts: Facts) -> Result<(SameNode, Consent), Refusal> {
    let (call, arm, consent) = consented.into_parts();
    let same = compare(&call.action, arm, facts)?;
    Ok((SameNode { call, same }, consent))
}

fn compare(action: &Action, arm: Arm, facts: Facts) -> Result<Same, Refusal> {
    match (arm, facts) {
        (Arm::Element(remembered), Facts::Element(facts)) => {
            if remembered.key != *facts.key() {
                return Err(Code::Stale.into());
            }
            same_print(&remembered, &facts)?;
            fits(action, &facts)?;
            Ok(Same::Element(remembered, facts))
        }
        (Arm::Tab(tab), Facts::Tab(facts)) if facts.tab() == tab => Ok(Same::Tab(facts)),
        (Arm::Sent(tab, address, step), Facts::Tab(facts)) if facts.tab() == tab => {
            if facts.crashed() {
                return Err(Code::TabCrashed.into());
            }
            Ok(Same::Sent(facts, address, step))
        }
        (Arm::Opened(address), Facts::Nothing) => Ok(Same::Opened(address)),
        // Facts of another thing than the one named prove nothing about it.
        (
            Arm::Element(_) | Arm::Tab(_) | Arm::Opened(_) | Arm::Sent(..),
            Facts::Element(_) | Facts::Tab(_) | Facts::Nothing,
        ) => Err(Code::Stale.into()),
    }
}

fn same_print(remembered: &Remembered, facts: &ElementFacts) -> Result<(), Refusal> {
    let is: &Print = facts.print();
    let (serial, parent) = match &remembered.known {
        Known::Seen { print, .. } => (print.serial, print.parent),
        Known::Far { print, .. } => (print.serial, print.parent),
    };
    if serial != is.serial || parent != is.parent {
        return Err(Code::Stale.into());
    }
    let same = match &remembered.known {
        Known::Seen { print, role, name } => {
            // A name is part of the identity where nothing visible says what the element is.
            let named_alike = !print.text.is_empty() || name == facts.name();
            print == is && role == facts.role() && named_alike
        }
        Known::Far { print, words } => {
            let content = print.content.as_ref().unwrap_or(words);
            print.tag == is.tag
                && print.kind == is.kind
                && print.role == is.role
                && print.href == is.href
                && content == facts.content()
        }
    };
    if same {
        Ok(())
    } else {
        Err(Code::Changed.into())
    }
}

/// Refuses, before anything is touched, what the element cannot take.
fn fits(action: &Action, facts: &ElementFacts) -> Result<(), Refusal> {
    let (print, state) = (facts.print(), facts.state());
    let unusable = state.disabled || facts.effect_state().is_some_and(|effect| effect.disabled);
    match action {
        Action::Click(_) => {
            if !facts.visible() {
                return Err(Code::NotVisible.into());
            }
            if unusable {
                return Err(Code::Disabled.into());
            }
            // Its list opens outside the page, where nothing is marked.
            if print.tag == "select" && state.option_count > 0 && !state.multiple
                || print.kind == "file"
            {
                return Err(Code::WrongKind.into());
            }
        }
        Action::Fill(..) => {
            let choice = matches!(
                print.kind.as_str(),
                "checkbox" | "radio" | "submit" | "button" | "reset" | "image" | "file" | "hidden"
            );
            let field =
                (print.tag == "input" && !choice) || print.tag == "textarea" || state.editable;
            if !field {
                return Err(Code::WrongKind.into());
            }
            if !facts.visible() {
                return Err(Code::NotVisible.into());
            }
            if state.disabled || state.readonly {
                return Err(Code::Disabled.into());
            }
        }
        Action::Select(..) => {
            if print.tag != "select" {
                return Err(Code::WrongKind.into());
            }
            if state.disabled {
                return Err(Code::Disabled.into());
            }
        }
        Action::PressOn(_, chord) | Action::Press(_, chord) => {
            if unusable {
                return Err(Code::Disabled.into());
            }
            // With Shift, what is pressed opens in a window of its own; only in a text is it no press.
            if chord.is_modified_press() && !is_text(print, state) {
                return Err(Refusal::new(Code::ArgumentsInvalid).with(Detail::Argument(
                    "key",
                    "Enter or Space without a modifier, unless in a text of several lines",
                )));
            }
        }
        Action::ScrollIn(..)
        | Action::Scroll(..)
        | Action::Open(_)
        | Action::Navigate(..)
        | Action::Close(_) => {}
    }
    Ok(())
}

/// Whether Enter is a new line there and Space a space.
fn is_text(print: &Print, state: &ControlState) -> bool {
    let presses = matches!(
        print.tag.as_str(),
        "a" | "area" | "button" | "input" | "select" | "summary" | "label"
    );
    print.tag == "textarea" || state.editable && !presses
}
