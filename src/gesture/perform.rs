//! Performs a written intent. The only way to here is [`Written`]; whatever happens, a [`Done`] comes back, so that the
//! outcome is always attempted.

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{click, field, travel};
use crate::browser::Browser;
use crate::browser::probe::{ElementFacts, ElementKey, Facts, Handle, Page};
use crate::domain::action::{Action, Typed};
use crate::domain::mark::TabId;
use crate::error::{Code, Effect, Refusal};
use crate::gate::clear::Upon;
use crate::journal::{CallRecord, Written};

/// What came of a gesture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was done, and seen to be done.
    Done,
    /// It was not done; the refusal says why, and what is known about effects.
    Refused(Refusal),
    /// It may have been done.
    Unknown(Refusal),
}

/// How a field was left, for the reply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldAfter {
    /// It holds exactly what was wanted.
    pub same: bool,
    /// What it holds, unless it is sensitive.
    pub value: Option<String>,
}

/// A gesture that is over.
#[derive(Debug)]
#[must_use = "a gesture's outcome goes to the journal"]
pub struct Done {
    pub(super) sequence: u64,
    pub(super) call: CallRecord,
    pub(super) locked: bool,
    pub(super) page: Option<Page>,
    pub(super) loads_before: u64,
    pub(super) end: End,
}

/// What a gesture leaves to say.
#[derive(Debug)]
pub(super) struct End {
    pub(super) outcome: Outcome,
    pub(super) field: Option<FieldAfter>,
    pub(super) covered_by: Option<ElementKey>,
    pub(super) settles: Settles,
}

/// What there is to wait for afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settles {
    /// Nothing was begun.
    Nothing,
    /// The page may react.
    Page,
    /// A document loads.
    Load,
}

impl End {
    pub(super) const fn done() -> Self {
        Self {
            outcome: Outcome::Done,
            field: None,
            covered_by: None,
            settles: Settles::Page,
        }
    }

    pub(super) const fn refused(refusal: Refusal) -> Self {
        Self {
            outcome: Outcome::Refused(refusal),
            field: None,
            covered_by: None,
            settles: Settles::Nothing,
        }
    }

    pub(super) const fn unknown(refusal: Refusal) -> Self {
        let refusal = refusal.having(Effect::Possible);
        Self {
            outcome: Outcome::Unknown(refusal),
            field: None,
            covered_by: None,
            settles: Settles::Page,
        }
    }

    pub(super) const fn loading(mut self) -> Self {
        self.settles = Settles::Load;
        self
    }
}

/// The parts of a gesture that the kinds share.
pub(super) struct Hand<'a> {
    pub(super) page: &'a Page,
    pub(super) facts: &'a ElementFacts,
    pub(super) table: &'a Value,
    /// Cancelled until the press; from then on the gesture is carried to its end.
    pub(super) cancelled: &'a CancellationToken,
}

/// Performs the intent.
pub async fn perform(
    written: Written,
    browser: &Browser,
    table: &Value,
    cancelled: &CancellationToken,
) -> Done {
    let cleared = written.cleared();
    let (page, end) = match cleared.target() {
        Upon::Element(facts) => match browser.page(facts.key().tab()) {
            Ok(page) => {
                let before = page.info().map(|info| info.loads).unwrap_or_default();
                let hand = Hand {
                    page: &page,
                    facts,
                    table,
                    cancelled,
                };
                let end = on_element(&hand, cleared.action()).await;
                return finish(written, Some(page), before, end);
            }
            Err(refusal) => (None, End::refused(refusal)),
        },
        Upon::Tab(tab) => match (browser.page(tab), cleared.action()) {
            (Ok(page), Action::Close(_)) => {
                let end = page
                    .close()
                    .await
                    .map_or_else(End::unknown, |()| End::done());
                (
                    None,
                    End {
                        settles: Settles::Nothing,
                        ..end
                    },
                )
            }
            (Ok(page), Action::Scroll(_, direction, screens)) => {
                let end = moved(page.scroll(None, *direction, *screens).await);
                (Some(page), end)
            }
            (Ok(_), action) => (None, misfit(action)),
            (Err(refusal), _) => (None, End::refused(refusal)),
        },
        Upon::Opened(address) => travel::open(browser, address).await,
        Upon::Sent(tab, address, step) => match browser.page(tab) {
            Ok(page) => {
                let before = page.info().map(|info| info.loads).unwrap_or_default();
                let end = travel::send(&page, address, step).await;
                return finish(written, Some(page), before, end);
            }
            Err(refusal) => (None, End::refused(refusal)),
        },
    };
    finish(written, page, 0, end)
}

fn finish(written: Written, page: Option<Page>, loads_before: u64, end: End) -> Done {
    let locked = written.cleared().answered().is_some();
    Done {
        sequence: written.sequence(),
        call: written.call().clone(),
        locked,
        page,
        loads_before,
        end,
    }
}

async fn on_element(hand: &Hand<'_>, action: &Action) -> End {
    let end = match action {
        Action::Click(_) => click::click(hand).await,
        Action::Fill(_, text) => field::fill(hand, text).await,
        Action::Select(_, options) => field::select(hand, options).await,
        Action::PressOn(_, chord) | Action::Press(_, chord) => field::press(hand, chord).await,
        Action::ScrollIn(_, direction, screens) => match hand.handle().await {
            Ok(handle) => Ok(moved(
                hand.page.scroll(Some(&handle), *direction, *screens).await,
            )),
            Err(refusal) => Err(refusal),
        },
        Action::Scroll(..) | Action::Open(_) | Action::Navigate(..) | Action::Close(_) => {
            Ok(misfit(action))
        }
    };
    end.unwrap_or_else(End::refused)
}

/// An action whose target is of another kind than the gate let through cannot come here; if it does, nothing is done.
fn misfit(_action: &Action) -> End {
    End::refused(Code::Internal.into())
}

fn moved(result: Result<bool, Refusal>) -> End {
    match result {
        Ok(true) => End::done(),
        Ok(false) => End {
            settles: Settles::Nothing,
            ..End::done()
        },
        Err(refusal) => End::unknown(refusal),
    }
}

impl Hand<'_> {
    /// The element, found again.
    pub(super) async fn handle(&self) -> Result<Handle, Refusal> {
        self.page.handle(self.facts.key()).await
    }

    /// Reads the fingerprint once more after scrolling and moving, and compares it with the cleared one.
    pub(super) async fn still_the_same(&self, pressing: Option<&str>) -> Result<(), Refusal> {
        match self
            .page
            .facts(self.facts.key(), self.table, pressing)
            .await?
        {
            Facts::Element(now) => {
                let same = now.print() == self.facts.print()
                    && now.effect() == self.facts.effect()
                    && now.origins() == self.facts.origins()
                    && now.top() == self.facts.top()
                    && now.submits() == self.facts.submits();
                if !same {
                    return Err(Code::Changed.into());
                }
                if now.state().disabled {
                    return Err(Code::Disabled.into());
                }
                Ok(())
            }
            Facts::Tab(_) | Facts::Nothing => Err(Code::Stale.into()),
        }
    }

    pub(super) fn not_cancelled(&self) -> Result<(), Refusal> {
        if self.cancelled.is_cancelled() {
            Err(Code::Cancelled.into())
        } else {
            Ok(())
        }
    }
}

impl Done {
    /// The tab that was acted on or opened, where there is one still.
    #[must_use]
    pub fn tab(&self) -> Option<TabId> {
        self.page.as_ref().map(Page::id)
    }
}

/// Splits a text into pieces that are typed one after the other, on character boundaries. No text is one empty piece.
pub(super) fn pieces(text: &Typed) -> Vec<String> {
    if text.expose().is_empty() {
        return vec![String::new()];
    }
    let characters: Vec<char> = text.expose().chars().collect();
    characters
        .chunks(400)
        .map(|piece| piece.iter().collect())
        .collect()
}
