//! The journal's proofs on the straight line: asked before the person, answered before it counts, intent before the gesture.

use crate::browser::probe::ElementFacts;
use crate::domain::action::Action;
use crate::domain::lock::LockClass;
use crate::domain::mark::SnapshotId;
use crate::domain::question::Means;
use crate::domain::site::{Origin, Site};
use crate::error::{Fault, Refusal};
use crate::gate::clear::{Cleared, Upon};
use crate::gate::consent::{Answer, Consented, OnRecord};
use crate::gate::lock::Held;
use crate::policy::profile::TypedText;

use super::call::CallRecord;
use super::entry::{Answered, Asked, Entry, Intent, Refused};
use super::seal::Sealed;
use super::writer::{Journal, Receipt};

/// A held action whose question is durable.
#[derive(Debug)]
#[must_use = "a recorded question is put to the person"]
pub struct Recorded {
    held: Held,
    sequence: u64,
}

impl OnRecord for Recorded {
    fn sequence(&self) -> u64 {
        self.sequence
    }

    fn into_held(self) -> Held {
        self.held
    }
}

impl Recorded {
    /// The held action.
    pub const fn held(&self) -> &Held {
        &self.held
    }

    /// The journal's number of the question.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.sequence
    }
}

/// A cleared action whose intent is durable. Only this makes a gesture.
#[derive(Debug)]
#[must_use = "a written intent is performed, and its outcome is written"]
pub struct Written {
    cleared: Cleared,
    sequence: u64,
    call: CallRecord,
}

impl Written {
    /// The cleared action.
    pub const fn cleared(&self) -> &Cleared {
        &self.cleared
    }

    /// The journal's number of the intent.
    #[must_use]
    pub const fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The call as the journal has it.
    #[must_use]
    pub const fn call(&self) -> &CallRecord {
        &self.call
    }
}

/// Writes a question down before it is put (security J3, C2).
///
/// # Errors
/// Where the journal cannot be written: then nobody is asked.
pub fn asked(
    journal: &mut Journal,
    held: Held,
    before: Option<Sealed>,
    means: Means,
    clean: impl Fn(&str) -> String,
) -> Result<Recorded, Fault> {
    let call = record(
        journal.typed_text(),
        held.action(),
        held.intent(),
        held.site(),
        held.element(),
        &clean,
    );
    let facts = held
        .facts()
        .iter()
        .map(|fact| {
            let value = fact
                .value
                .as_ref()
                .map_or_else(|| "unknown".to_owned(), |value| clean(value.raw()));
            (fact.label.to_owned(), value)
        })
        .collect();
    let entry = Entry::Asked(Asked {
        call,
        class: held.class(),
        facts,
        digest: held.digest(),
        before,
        means,
    });
    let receipt = journal.append(&entry)?;
    Ok(Recorded {
        sequence: receipt.sequence(),
        held,
    })
}

/// Writes down how a question ended; only then does a yes count.
///
/// # Errors
/// Where the journal cannot be written: then even a yes is void.
pub fn answered(
    journal: &mut Journal,
    answer: Answer,
) -> Result<(Receipt, Result<Consented, Refusal>), Fault> {
    let waited_ms = u64::try_from(answer.waited().as_millis()).unwrap_or(u64::MAX);
    let asked = answer.asked();
    let entry = Entry::Answered(Answered {
        asked: answer.sequence(),
        ending: asked.ending,
        means: asked.means,
        waited_ms,
    });
    let receipt = journal.append(&entry)?;
    let opened = answer.opened(receipt.sequence());
    Ok((receipt, opened))
}

/// Writes an intent: durable before anything happens in the browser (security J3).
///
/// # Errors
/// Where the journal cannot be written: then nothing is done.
pub fn intent(
    journal: &mut Journal,
    cleared: Cleared,
    snapshot: Option<SnapshotId>,
    clean: impl Fn(&str) -> String,
) -> Result<Written, Fault> {
    let element = match cleared.target() {
        Upon::Element(facts) => Some(facts),
        Upon::Tab(_) | Upon::Opened(_) | Upon::Sent(..) => None,
    };
    let call = record(
        journal.typed_text(),
        cleared.action(),
        cleared.intent(),
        cleared.site(),
        element,
        &clean,
    );
    let entry = Entry::Intent(Intent {
        call: call.clone(),
        answered: cleared.answered(),
        before: None,
        snapshot,
    });
    let receipt = journal.append(&entry)?;
    Ok(Written {
        sequence: receipt.sequence(),
        cleared,
        call,
    })
}

/// Writes a refusal down; it has a receipt too.
///
/// # Errors
/// Where the journal cannot be written.
pub fn refused(
    journal: &mut Journal,
    call: CallRecord,
    refusal: &Refusal,
    asked: Option<u64>,
) -> Result<Receipt, Fault> {
    journal.append(&Entry::Refused(Refused {
        call,
        code: refusal.code().into(),
        effect: refusal.effect(),
        asked,
    }))
}

fn record(
    typed: TypedText,
    action: &Action,
    intent: Option<LockClass>,
    site: Option<&Site>,
    element: Option<&ElementFacts>,
    clean: &impl Fn(&str) -> String,
) -> CallRecord {
    let mut call = CallRecord::of(action).meant(intent);
    if let Some(site) = site {
        call = call.on(site.clone());
    }
    if let Some(facts) = element {
        if let (TypedText::Full, Action::Fill(_, text), Some(payload), false) =
            (typed, action, &mut call.payload, facts.state().masked)
        {
            payload.text = Some(clean(text.expose()));
        }
        let print = facts.print();
        let name = if print.text.is_empty() {
            facts.name().raw()
        } else {
            print.text.as_str()
        };
        call = call
            .in_tab(facts.key().tab())
            .element(facts.role(), clean(name));
        if let (Some(own), Origin::Site(top)) = (site, facts.top())
            && own != top
        {
            call = call.on(top.clone()).within(own.clone());
        }
    }
    call
}
