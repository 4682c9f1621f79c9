//! Waits, within bounds and by events, for what a gesture started: a load, or the page coming to rest.

use std::time::Duration;

use super::perform::{Done, End, FieldAfter, Outcome, Settles};
use crate::browser::probe::{ElementKey, Page};
use crate::browser::targets::Note;
use crate::domain::mark::TabId;
use crate::error::Code;
use crate::journal::CallRecord;

/// Nothing changed for this long: the page rests.
const QUIET: Duration = Duration::from_millis(60);
/// A page that never rests is not waited for any longer.
const RESTLESS: Duration = Duration::from_millis(800);
/// The longest wait for a load.
const LOAD: Duration = Duration::from_secs(8);

/// A gesture whose consequences were waited for.
#[derive(Debug)]
#[must_use = "a settled gesture is captured"]
pub struct Settled {
    sequence: u64,
    call: CallRecord,
    locked: bool,
    page: Option<Page>,
    outcome: Outcome,
    field: Option<FieldAfter>,
    covered_by: Option<ElementKey>,
    notes: Vec<Note>,
    pending: bool,
    moved_on: bool,
}

/// Waits for what was started.
pub async fn settle(done: Done) -> Settled {
    let Done {
        sequence,
        call,
        locked,
        page,
        loads_before,
        end,
    } = done;
    let End {
        outcome,
        field,
        covered_by,
        settles,
    } = end;
    let mut pending = false;
    let mut moved_on = false;
    let mut outcome = outcome;
    if let Some(page) = &page {
        pending = match settles {
            Settles::Nothing => false,
            Settles::Page => rest(page, loads_before).await,
            Settles::Load => load(page).await,
        };
        moved_on = page.info().is_ok_and(|info| info.loads > loads_before);
        if settles == Settles::Load && outcome == Outcome::Done && page.info().is_err() {
            outcome = Outcome::Unknown(Code::TabClosed.into());
        }
    }
    let notes = page.as_ref().map(Page::take_notes).unwrap_or_default();
    Settled {
        sequence,
        call,
        locked,
        page,
        outcome,
        field,
        covered_by,
        notes,
        pending,
        moved_on,
    }
}

/// True where something is still pending.
async fn rest(page: &Page, loads_before: u64) -> bool {
    // The document may go away while it is waited for; that is news, not a failure.
    let rested = page.rest(QUIET, RESTLESS).await;
    match page.info() {
        Ok(info) if rested.is_err() || info.loading || info.loads > loads_before => {
            load(page).await
        }
        Ok(_) | Err(_) => false,
    }
}

async fn load(page: &Page) -> bool {
    match page.until(LOAD, |info| !info.loading).await {
        Ok(true) => {
            let _ = page.rest(QUIET, RESTLESS).await;
            false
        }
        Ok(false) => true,
        Err(_) => false,
    }
}

/// What the later rooms read of a settled gesture.
#[derive(Debug)]
pub struct Parts {
    /// The journal's number of the intent.
    pub sequence: u64,
    /// The call as the journal has it.
    pub call: CallRecord,
    /// Whether a person had allowed it.
    pub locked: bool,
    /// The page, where there is one still.
    pub page: Option<Page>,
    /// What came of it.
    pub outcome: Outcome,
    /// How a field was left.
    pub field: Option<FieldAfter>,
    /// What lay over the element.
    pub covered_by: Option<ElementKey>,
    /// What happened beside it.
    pub notes: Vec<Note>,
    /// Whether a load is still under way.
    pub pending: bool,
    /// Whether another document is there now.
    pub moved_on: bool,
}

impl Settled {
    /// The tab that was acted on, where there is one still.
    #[must_use]
    pub fn tab(&self) -> Option<TabId> {
        self.page.as_ref().map(Page::id)
    }

    /// Takes it apart, for the capture.
    #[must_use]
    pub fn into_parts(self) -> Parts {
        Parts {
            sequence: self.sequence,
            call: self.call,
            locked: self.locked,
            page: self.page,
            outcome: self.outcome,
            field: self.field,
            covered_by: self.covered_by,
            notes: self.notes,
            pending: self.pending,
            moved_on: self.moved_on,
        }
    }
}
