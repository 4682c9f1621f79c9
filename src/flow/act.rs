//! The straight line of an action. Each arrow takes the proof before it and returns the next; a check that is left out
//! does not compile. Read top to bottom: this is the product.

use tokio_util::sync::CancellationToken;

use super::session::Session;
use crate::checkpoint::reached;
use crate::confirm::words::{self, Matter, Read};
use crate::domain::question::Question;
use crate::domain::text::Untrusted;
use crate::error::{Code, Effect, Refusal};
use crate::gate::admit::{self, Call};
use crate::gate::clear::Cleared;
use crate::gate::consent::{self, Ask};
use crate::gate::lock::{self, Held, Route, Ticket};
use crate::gate::{aim, clear, identity, site};
use crate::gesture::perform::perform;
use crate::gesture::settle::settle;
use crate::journal::{CallRecord, line};
use crate::reply::reply::Reply;
use crate::reply::{capture, redact};

/// Does what a call asks for, if every check and, where it is locked, the person lets it.
pub async fn act<A: Ask + 'static>(
    session: &Session<A>,
    call: Call,
    cancelled: &CancellationToken,
) -> Reply {
    let record = CallRecord::of(&call.action).meant(call.intent);
    match clear(session, call, cancelled).await {
        Ok(done) => done,
        Err(refusal) => session.refuse(record, refusal),
    }
}

async fn clear<A: Ask + 'static>(
    session: &Session<A>,
    call: Call,
    cancelled: &CancellationToken,
) -> Result<Reply, Refusal> {
    let admitted = admit::check(call, &mut session.budget(), session.now())?;
    reached("admitted");
    let turn = session.turn().await?;
    let browser = session.browser().await?;
    let snapshot = session.snapshot_of(admitted.action());
    let sight = session.sight(&browser, admitted.action()).await?;
    let aimed = aim::check(admitted, &session.shelf(), sight)?;
    reached("aimed");
    let facts = session.read(&browser, aimed.wants()).await?;
    let same = identity::check(aimed, facts)?;
    let on_site = site::check(same, session.profile())?;
    let ticket = Ticket::new(session.name(), session.now(), session.deadline())?;
    let cleared = match lock::decide(on_site, session.locks(), ticket) {
        Route::Free(cleared) => cleared,
        Route::Locked(held) => answered(session, &browser, held, cancelled).await?,
    };
    let written = line::intent(&mut session.journal(), cleared, snapshot, |text| {
        session.clean(text)
    })?;
    reached("intent");
    // The intent is durable: what follows runs in a task of its own, so that nothing is left half-way.
    let (session, cancelled) = (session.share(), cancelled.clone());
    let work = tokio::spawn(async move {
        let _turn = turn;
        let done = perform(written, &browser, session.table(), &cancelled).await;
        let settled = settle(done).await;
        reached("settled");
        let captured = capture::after(
            settled,
            session.looking(),
            session.table(),
            session.picture_after(),
        )
        .await;
        let captured = session.only_listed(&browser, captured);
        let sealed = session.seal_after(&captured);
        reached("captured");
        let redacted = session.redact(captured, sealed);
        session.outcome(redacted)
    });
    // A panic after the intent: nobody knows how far it came.
    work.await
        .map_err(|_| Refusal::new(Code::Internal).having(Effect::Possible))
}

/// Locked: on record, then the person, then on record again, then a second look.
async fn answered<A: Ask + 'static>(
    session: &Session<A>,
    browser: &crate::browser::Browser,
    held: Held,
    cancelled: &CancellationToken,
) -> Result<Cleared, Refusal> {
    reached("held");
    session.alone_on_the_port(browser)?;
    let window = session.window(held.class())?;
    let before = session.seal_before(browser, &held).await?;
    let means = session.means().await;
    let recorded = line::asked(&mut session.journal(), held, before, means, |text| {
        session.clean(text)
    })?;
    reached("asked");
    let question = question(&recorded, session)?;
    let answer = consent::ask(
        recorded,
        question,
        session.asker(),
        session.withdrawn(cancelled),
    )
    .await;
    window.ended(answer.asked().ending);
    let (_, opened) = line::answered(&mut session.journal(), answer)?;
    reached("answered");
    let consented = opened?;
    let facts = session.read(browser, consented.wants()).await?;
    let (same, consent) = identity::recheck(consented, facts)?;
    let on_site = site::check(same, session.profile())?;
    reached("second-look");
    clear::locked(on_site, consent, session.now())
}

/// The window's text: from the fresh facts and the request, and in one quoted field what the model said it is for.
fn question<A: Ask + 'static>(
    recorded: &line::Recorded,
    session: &Session<A>,
) -> Result<Question, Refusal> {
    let held = recorded.held();
    let cleaner = held
        .element()
        .map(|facts| session.known().on(facts.top()))
        .unwrap_or_default();
    let facts = held.facts().iter().map(|fact| {
        let value = fact.in_the_window.as_ref().or(fact.value.as_ref());
        // An amount is what the person decides by: a page that also puts it into a password field does not hide it.
        let plain = ["Action", "Amounts shown", "More fields", "Tab"].contains(&fact.label);
        let clean = |text: &Untrusted| {
            if plain {
                text.clone()
            } else {
                Untrusted::new(cleaner.clean(text.raw()))
            }
        };
        Read {
            label: fact.label,
            value: value.map(clean),
            critical: fact.critical,
        }
    });
    words::question(Matter {
        class: held.class(),
        action: held.action(),
        site: held.site().ok_or(Code::OpaqueOrigin)?,
        facts: facts.collect(),
        model_says: held.intent().map(|intent| Untrusted::new(intent.name())),
        journal_number: recorded.number(),
        digest: held.digest(),
        deadline: session.deadline(),
    })
    // What does not fit a window cannot be judged in one.
    .map_err(|_| Code::Undeliverable.into())
}

/// What an outcome is told as; the journal first.
pub(super) fn told(
    redacted: redact::Redacted,
    receipt: &crate::journal::Receipt,
    known: impl Fn(&str) -> bool,
) -> Reply {
    Reply::new(redacted, receipt, known)
}
