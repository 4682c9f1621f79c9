//! The straight line of a reading: admitted, on a listed site, looked at, still that site, redacted, on record, replied.

use std::time::{Duration, Instant};

use super::session::Session;
use crate::domain::mark::{Mark, SnapshotId, TabId};
use crate::domain::text::Untrusted;
use crate::error::{Code, Fault, Refusal};
use crate::gate::consent::Ask;
use crate::gate::{admit, site};
use crate::journal::{CallRecord, Entry, Look};
use crate::reply::capture::{self, Picture};
use crate::reply::redact::{self, Telling};
use crate::reply::reply::Reply;
use crate::snapshot::find::{self, Op, Query};
use crate::snapshot::tree;

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

/// What is asked of a stored snapshot.
#[derive(Debug, Clone)]
pub enum Question {
    /// Where something is.
    Find(Query),
    /// What a part of it says.
    Read {
        /// Which part.
        op: Op,
        /// From the line of this mark on.
        at: Option<Mark>,
        /// From this line on.
        cursor: Option<usize>,
        /// The deepest heading of an outline.
        depth: u8,
    },
}

impl Question {
    const fn tool(&self) -> &'static str {
        match self {
            Self::Find(_) => "find",
            Self::Read { .. } => "read",
        }
    }
}

/// Answers from a stored snapshot. Nothing is asked of the page.
pub fn stored<A: Ask + 'static>(
    session: &Session<A>,
    id: SnapshotId,
    question: &Question,
) -> Reply {
    match answered(session, id, question) {
        Ok(reply) => reply,
        Err(refusal) => session.refuse(CallRecord::new(question.tool()), refusal),
    }
}

fn answered<A: Ask + 'static>(
    session: &Session<A>,
    id: SnapshotId,
    question: &Question,
) -> Result<Reply, Refusal> {
    let admitted = admit::check_look(&mut session.budget(), session.now())?;
    let (mut numbers, mut shelf) = (session.numbers(), session.shelf());
    let snapshot = shelf.get(id).ok_or(Code::UnknownSnapshot)?;
    let (tab, origin) = (snapshot.tab, snapshot.origin.clone());
    let readable = site::check_stored(admitted, tab, &origin, session.profile())?;
    let lines = tree::whole(&snapshot.near, &snapshot.far, &snapshot.keys, &snapshot.url)
        .map_err(|error| Fault::internal("a stored snapshot cannot be read").because(error))?;
    // With all that is known by now: it may have been learnt after the snapshot.
    let cleaner = session.known().among(&snapshot.origins);
    let clean = |text: &str| cleaner.clean(text);
    let lines: Vec<tree::Line> = lines.iter().map(|line| line.cleaned(&clean)).collect();
    let numbered = |marked: &tree::Marked| numbers.known(marked.key());
    let known = |mark: Mark| {
        if snapshot.marks.contains_key(&mark) {
            Ok(())
        } else {
            Err(Refusal::new(Code::UnknownMark))
        }
    };
    let hits = match question {
        Question::Find(query) => {
            query.near.map_or(Ok(()), known)?;
            find::find(&lines, query, clean, numbered)
        }
        Question::Read {
            op,
            at,
            cursor,
            depth,
        } => {
            at.map_or(Ok(()), known)?;
            let from = at.and_then(|mark| find::place_of(&lines, mark, numbered));
            find::read(&lines, *op, from.or(*cursor).unwrap_or(0), *depth)
        }
    };
    let redacted = redact::found(
        &hits,
        id,
        tab,
        session.text_limit(),
        matches!(question, Question::Read { .. }),
        &cleaner,
        &mut numbers,
        &mut shelf,
    );
    drop((numbers, shelf));
    let look = Look {
        tool: question.tool().to_owned(),
        tab,
        snapshot: id,
        site: readable.site().clone(),
        image: None,
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
