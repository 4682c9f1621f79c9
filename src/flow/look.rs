//! The straight line of a reading: admitted, on a listed site, looked at, still that site, redacted, on record, replied.

use std::time::{Duration, Instant};

use super::session::Session;
use crate::domain::mark::{SnapshotId, TabId};
use crate::domain::text::Untrusted;
use crate::error::{Code, Refusal};
use crate::gate::consent::Ask;
use crate::gate::{admit, site};
use crate::journal::{CallRecord, Entry, Look};
use crate::reply::capture::{self, Picture};
use crate::reply::redact::{self, Telling};
use crate::reply::reply::Reply;

/// What `observe` asks for.
#[derive(Debug, Clone, Copy)]
pub struct Observe {
    /// The tab.
    pub tab: TabId,
    /// Whether a picture is wanted.
    pub picture: Picture,
    /// The snapshot to tell differences from.
    pub since: Option<SnapshotId>,
}

/// Looks at a tab.
pub async fn observe<A: Ask + 'static>(session: &Session<A>, wanted: Observe) -> Reply {
    match seen(session, wanted).await {
        Ok(reply) => reply,
        Err(refusal) => session.refuse(CallRecord::new("observe").in_tab(wanted.tab), refusal),
    }
}

async fn seen<A: Ask + 'static>(session: &Session<A>, wanted: Observe) -> Result<Reply, Refusal> {
    let admitted = admit::check_look(&mut session.budget(), session.now())?;
    let browser = session.browser().await?;
    let page = browser.page(wanted.tab)?;
    let readable = site::check_look(admitted, &page.tab_facts()?, session.profile())?;
    let telling = match wanted.since {
        None => Telling::Whole,
        Some(id) => match session.shelf().get(id) {
            Some(snapshot) if snapshot.tab == wanted.tab => Telling::Since(id),
            Some(_) | None => return Err(Code::UnknownSnapshot.into()),
        },
    };
    let capture = capture::look(&page, session.looking(), session.table(), wanted.picture).await?;
    site::same_site(&readable, capture.origin())?;
    let notes = page.take_notes();
    let (redacted, snapshot, image) = {
        let (mut numbers, mut shelf) = (session.numbers(), session.shelf());
        redact::look(
            capture,
            wanted.tab,
            telling,
            session.text_limit(),
            &mut numbers,
            &mut shelf,
            notes,
            session.known(),
        )
    };
    let look = Look {
        tool: "observe".to_owned(),
        tab: readable.tab(),
        snapshot,
        site: readable.site().clone(),
        image,
    };
    session.on_record(redacted, &Entry::Read(look))
}

/// What `wait_for` waits for.
#[derive(Debug, Clone)]
pub enum Wanted {
    /// Visible text.
    Text(Untrusted),
    /// That this text is not visible any more.
    NoText(Untrusted),
    /// That nothing loads.
    Loaded,
}

/// Waits until a tab shows what is wanted, at most `within`; with zero it only looks once.
pub async fn wait_for<A: Ask + 'static>(
    session: &Session<A>,
    tab: TabId,
    wanted: Wanted,
    within: Duration,
) -> Reply {
    match awaited(session, tab, wanted, within).await {
        Ok(reply) => reply,
        Err(refusal) => session.refuse(CallRecord::new("wait_for").in_tab(tab), refusal),
    }
}

async fn awaited<A: Ask + 'static>(
    session: &Session<A>,
    tab: TabId,
    wanted: Wanted,
    within: Duration,
) -> Result<Reply, Refusal> {
    let admitted = admit::check_look(&mut session.budget(), session.now())?;
    let browser = session.browser().await?;
    let page = browser.page(tab)?;
    let mut readable = site::check_look(admitted, &page.tab_facts()?, session.profile());
    let until = Instant::now() + within;
    let (met, readable, capture) = loop {
        let left = until.saturating_duration_since(Instant::now());
        let looked = match &readable {
            Ok(_) => {
                capture::look(
                    &page,
                    session.looking(),
                    session.table(),
                    Picture::NotWanted,
                )
                .await
            }
            Err(refusal) => Err(refusal.clone()),
        };
        match (looked, readable) {
            (Ok(capture), Ok(on)) if site::same_site(&on, capture.origin()).is_ok() => {
                let met = meets(&capture, &wanted)
                    && !(matches!(wanted, Wanted::Loaded) && page.info()?.loading);
                if met || left.is_zero() {
                    break (met, on, capture);
                }
                // A change of the document, or its end, wakes us.
                let _ = page.change(left).await;
            }
            (Err(refusal), _) if left.is_zero() || !passing(&refusal) => return Err(refusal),
            (Ok(_) | Err(_), _) => {
                let loads = page.info()?.loads;
                let _ = page
                    .until(left.min(Duration::from_millis(500)), |info| {
                        info.loads != loads || !info.loading
                    })
                    .await?;
            }
        }
        let again = admit::check_look(&mut session.budget(), session.now());
        readable = match again {
            Ok(again) => site::check_look(again, &page.tab_facts()?, session.profile()),
            Err(refusal) => {
                let pause = match refusal.detail() {
                    Some(crate::error::Detail::RetryAfterMs(ms)) => Duration::from_millis(*ms),
                    Some(_) | None => return Err(refusal),
                };
                tokio::time::sleep(pause).await;
                site::check_look(
                    admit::check_look(&mut session.budget(), session.now())?,
                    &page.tab_facts()?,
                    session.profile(),
                )
            }
        };
    };
    let notes = page.take_notes();
    let telling = session
        .shelf()
        .newest(tab)
        .map_or(Telling::Whole, |snapshot| Telling::Since(snapshot.id));
    let (mut redacted, snapshot, image) = {
        let (mut numbers, mut shelf) = (session.numbers(), session.shelf());
        redact::look(
            capture,
            tab,
            telling,
            session.text_limit(),
            &mut numbers,
            &mut shelf,
            notes,
            session.known(),
        )
    };
    redacted.say("met", serde_json::json!(met));
    let site = readable.site().clone();
    session.on_record(
        redacted,
        &Entry::Read(Look {
            tool: "wait_for".to_owned(),
            tab,
            snapshot,
            site,
            image,
        }),
    )
}

/// A refusal that a load under way can lift.
fn passing(refusal: &Refusal) -> bool {
    matches!(
        refusal.code(),
        Code::Stale | Code::NothingThere | Code::OpaqueOrigin | Code::ConnectionLost
    )
}

fn meets(capture: &capture::Capture, wanted: &Wanted) -> bool {
    match wanted {
        Wanted::Text(text) => capture.shows(text),
        Wanted::NoText(text) => !capture.shows(text),
        Wanted::Loaded => capture.is_complete(),
    }
}
