//! The whole line, in its one order.

use std::time::Instant;

use countersign::browser::Browser;
use countersign::browser::probe::{Budget as Looking, Facts};
use countersign::domain::question::{Means, Question};
use countersign::error::Refusal;
use countersign::gate::admit::{self, Budget, Call};
use countersign::gate::aim::{self, Sight};
use countersign::gate::consent::{self, Ask};
use countersign::gate::lock::{self, Route, Ticket};
use countersign::gate::{clear, identity, site};
use countersign::gesture::perform::perform;
use countersign::gesture::settle::settle;
use countersign::journal::{Entry, Journal, line};
use countersign::policy::echo::Known;
use countersign::policy::lock::Locks;
use countersign::policy::profile::Profile;
use countersign::reply::capture::{self, Picture};
use countersign::reply::redact;
use countersign::reply::reply::Reply;
use countersign::snapshot::number::Numbers;
use countersign::snapshot::shelf::Shelf;

#[allow(clippy::too_many_arguments)]
pub(super) async fn line(
    call: Call,
    budget: &mut Budget,
    shelf: &mut Shelf,
    numbers: &mut Numbers,
    profile: &Profile,
    locks: &Locks,
    journal: &mut Journal,
    browser: &Browser,
    whom: &impl Ask,
    question: Question,
    ticket: Ticket,
    one: Facts,
    two: Facts,
    looking: Looking,
    known: &Known,
) -> Result<Reply, Refusal> {
    let table = serde_json::Value::Null;
    let admitted = admit::check(call, budget, Instant::now())?;
    let aimed = aim::check(admitted, shelf, Sight::default())?;
    let same = identity::check(aimed, one)?;
    let on_site = site::check(same, profile)?;
    let cleared = match lock::decide(on_site, locks, ticket) {
        Route::Free(cleared) => cleared,
        Route::Locked(held) => {
            let recorded = line::asked(journal, held, None, Means::Window, str::to_owned)?;
            let answer = consent::ask(recorded, question, whom, std::future::pending()).await;
            let (_, opened) = line::answered(journal, answer)?;
            let (same, consent) = identity::recheck(opened?, two)?;
            clear::locked(site::check(same, profile)?, consent, Instant::now())?
        }
    };
    let written = line::intent(journal, cleared, None, str::to_owned)?;
    let done = perform(written, browser, &table, &Default::default()).await;
    let captured = capture::after(settle(done).await, looking, &table, Picture::Wanted).await;
    let redacted = redact::outcome(captured, 1_000, numbers, shelf, None, known);
    let entry = Entry::Outcome(redacted.entry().cloned().expect("a gesture has an outcome"));
    let receipt = journal.append(&entry)?;
    Ok(Reply::new(redacted, &receipt, |_| true))
}
