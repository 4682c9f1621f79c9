//! Clearance: all proofs joined. From here on the journal comes first, then the gesture.

use std::time::Instant;

use crate::browser::probe::ElementFacts;
use crate::domain::action::Action;
use crate::domain::lock::LockClass;
use crate::domain::mark::TabId;
use crate::domain::site::{Address, Site};
use crate::error::{Code, Refusal};

use super::consent::Consent;
use super::identity::Same;
use super::lock;
use super::site::OnSite;

/// An action that passed every check, and a person's answer where one was needed.
#[derive(Debug)]
#[must_use = "a cleared action goes to the journal"]
pub struct Cleared {
    on: OnSite,
    answered: Option<u64>,
}

/// What a cleared action is done to.
#[derive(Debug)]
pub enum Upon<'a> {
    /// An element.
    Element(&'a ElementFacts),
    /// A tab.
    Tab(TabId),
    /// A new tab on this address.
    Opened(&'a Address),
    /// A tab of the session is sent to this address.
    Sent(TabId, &'a Address, Option<&'a crate::browser::probe::Step>),
}

pub(super) const fn free(on: OnSite) -> Cleared {
    Cleared { on, answered: None }
}

/// Joins the second look with the person's answer.
///
/// # Errors
/// [`Code::ChangedWhileAsking`] where anything the person was shown is different now, or the answer is too old.
pub fn locked(on: OnSite, consent: Consent, now: Instant) -> Result<Cleared, Refusal> {
    let (ticket, digest, answered) = consent.into_parts();
    if ticket.expired(now) || lock::digest(&on, &ticket) != digest {
        return Err(Code::ChangedWhileAsking.into());
    }
    Ok(Cleared {
        on,
        answered: Some(answered),
    })
}

impl Cleared {
    /// The action.
    #[must_use]
    pub const fn action(&self) -> &Action {
        &self.on.call().action
    }

    /// What the model says it is for.
    #[must_use]
    pub const fn intent(&self) -> Option<LockClass> {
        self.on.call().intent
    }

    /// The site.
    #[must_use]
    pub const fn site(&self) -> Option<&Site> {
        self.on.site()
    }

    /// The journal's number of the person's answer, where there was one.
    #[must_use]
    pub const fn answered(&self) -> Option<u64> {
        self.answered
    }

    /// What it is done to.
    #[must_use]
    pub fn target(&self) -> Upon<'_> {
        match self.on.same() {
            Same::Element(_, facts) => Upon::Element(facts),
            Same::Tab(facts) => Upon::Tab(facts.tab()),
            Same::Opened(address) => Upon::Opened(address),
            Same::Sent(facts, address, step) => Upon::Sent(facts.tab(), address, step.as_ref()),
        }
    }
}
