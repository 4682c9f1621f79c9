//! What one session holds: the connection, the shelf, the budget, the journal, and whom to ask.

use std::future::Future;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use crate::browser::Browser;
use crate::browser::endpoint::{self, Wanted};
use crate::browser::probe::{Budget as Looking, Facts};
use crate::domain::action::{Action, Destination};
use crate::domain::epoch::Generation;
use crate::domain::lock::LockClass;
use crate::domain::mark::{SnapshotId, TabId};
use crate::domain::question::{Ending, Means};
use crate::domain::site::{Address, Origin};
use crate::domain::tier::Tier;
use crate::error::{Code, Fault, Refusal};
use crate::gate::admit::Budget;
use crate::gate::aim::{Sight, Wants, tab_of};
use crate::gate::consent::{Ask, Windows};
use crate::gate::lock::Held;
use crate::journal::{
    CallRecord, Closing, Entry, Journal, Peer, Receipt, SealKind, Sealed, Sight as PeerSight, line,
};
use crate::policy::echo::Known;
use crate::policy::lock::Locks;
use crate::policy::profile::{HiddenText, Profile, SiteDecision};
use crate::reply::capture::{self, Captured, Picture};
use crate::reply::redact::{self, Redacted};
use crate::reply::reply::Reply;
use crate::snapshot::number::Numbers;
use crate::snapshot::shelf::Shelf;

/// How long an action waits for the end of the one before it.
const TURN: Duration = Duration::from_secs(2);

/// What a session is made of.
#[derive(Debug)]
pub struct Setting<A> {
    /// The operator's profile.
    pub profile: Arc<Profile>,
    /// The floor and the operator's own locks.
    pub locks: Locks,
    /// The table of sensitive fields, as the page-side script takes it.
    pub table: Value,
    /// Where the operator's browser is looked for.
    pub wanted: Wanted,
    /// Whom to ask.
    pub asker: A,
    /// The tools a suggestion may name.
    pub tools: Vec<&'static str>,
}

/// One session: one client, one connection to the browser at a time.
#[derive(Debug)]
pub struct Session<A>(Arc<Inner<A>>);

/// The parts of a session.
#[derive(Debug)]
pub struct Inner<A> {
    setting: Setting<A>,
    name: String,
    journal: Mutex<Journal>,
    budget: Mutex<Budget>,
    windows: Mutex<Windows>,
    shelf: Mutex<Shelf>,
    numbers: Mutex<Numbers>,
    known: Arc<Known>,
    link: tokio::sync::Mutex<Link>,
    turn: Arc<tokio::sync::Semaphore>,
    ending: CancellationToken,
    foreign: AtomicBool,
}

#[derive(Debug)]
struct Link {
    browser: Option<Browser>,
    generation: Generation,
    tabs: u32,
}

impl<A> Deref for Session<A> {
    type Target = Inner<A>;

    fn deref(&self) -> &Inner<A> {
        &self.0
    }
}

impl<A: Ask + 'static> Session<A> {
    /// A session on an open journal.
    #[must_use]
    pub fn new(setting: Setting<A>, journal: Journal) -> Self {
        let now = Instant::now();
        Self(Arc::new(Inner {
            name: journal.session().as_str().to_owned(),
            budget: Mutex::new(Budget::new(setting.profile.limits(), now)),
            windows: Mutex::default(),
            shelf: Mutex::default(),
            numbers: Mutex::default(),
            known: Arc::default(),
            link: tokio::sync::Mutex::new(Link {
                browser: None,
                generation: Generation::FIRST,
                tabs: 0,
            }),
            turn: Arc::new(tokio::sync::Semaphore::new(1)),
            ending: CancellationToken::new(),
            foreign: AtomicBool::new(false),
            journal: Mutex::new(journal),
            setting,
        }))
    }

    /// Another handle on the same session, for a task of its own.
    #[must_use]
    pub fn share(&self) -> Self {
        Self(Arc::clone(&self.0))
    }

    // ---- what the line reads ----------------------------------------------------------------------------------------

    pub(super) fn now(&self) -> Instant {
        Instant::now()
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The operator's profile.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.setting.profile
    }

    pub(super) fn locks(&self) -> &Locks {
        &self.setting.locks
    }

    pub(super) fn table(&self) -> &Value {
        &self.setting.table
    }

    pub(super) fn asker(&self) -> &A {
        &self.setting.asker
    }

    /// By what means the person is asked.
    pub async fn means(&self) -> Means {
        self.setting.asker.means().await
    }

    pub(super) fn deadline(&self) -> Duration {
        self.setting.profile.confirm().deadline()
    }

    pub(super) fn looking(&self) -> Looking {
        let limits = self.setting.profile.limits();
        Looking {
            marks: limits.marks() as usize,
            text: 3 * self.text_limit(),
            nodes: 60_000,
            far: 1 << 20,
            hits: 1_500,
            hidden: self.profile().hidden_text() == HiddenText::Mark,
        }
    }

    pub(super) fn text_limit(&self) -> usize {
        self.setting.profile.limits().reply_bytes() as usize
    }

    pub(super) fn picture_after(&self) -> Picture {
        Picture::Wanted
    }

    /// What is left of the budget: actions and navigations.
    #[must_use]
    pub fn left(&self) -> (u32, u32) {
        self.budget().left()
    }

    /// The classes that were refused twice.
    #[must_use]
    pub fn refused_classes(&self) -> Vec<LockClass> {
        held(&self.windows).refused()
    }

    /// Whether another program was seen on the browser's port.
    #[must_use]
    pub fn foreign_peer(&self) -> bool {
        self.foreign.load(Ordering::Acquire)
    }

    pub(super) fn budget(&self) -> MutexGuard<'_, Budget> {
        held(&self.budget)
    }

    pub(super) fn shelf(&self) -> MutexGuard<'_, Shelf> {
        held(&self.shelf)
    }

    /// What sensitive fields held in this session.
    #[must_use]
    pub fn known(&self) -> &Known {
        &self.known
    }

    /// A text for the journal: clean of all that is known.
    pub(super) fn clean(&self, text: &str) -> String {
        self.known.everywhere().clean(text)
    }

    pub(super) fn numbers(&self) -> MutexGuard<'_, Numbers> {
        held(&self.numbers)
    }

    // ---- the browser ------------------------------------------------------------------------------------------------

    /// One action at a time. The next one waits a little for the one before it, such as a withdrawn one on its way out.
    pub(super) async fn turn(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        tokio::select! {
            biased;
            () = self.ending.cancelled() => Err(Code::Stopping.into()),
            turn = tokio::time::timeout(TURN, Arc::clone(&self.turn).acquire_owned()) => match turn {
                Ok(Ok(permit)) => Ok(permit),
                Ok(Err(_)) => Err(Code::Stopping.into()),
                Err(_) => Err(Code::ActionUnderWay.into()),
            },
        }
    }

    /// The connection: the one that stands, or a new one after the full owner check. A new one is a new generation,
    /// and what was seen over the old one is void (security D8).
    ///
    /// # Errors
    /// Where the operator's browser is not there or is not the operator's.
    pub async fn browser(&self) -> Result<Browser, Refusal> {
        let mut link = self.link.lock().await;
        if let Some(browser) = link.browser.clone() {
            if !browser.is_lost() {
                return Ok(browser);
            }
            link.tabs = browser.last_tab();
            link.generation = browser.generation().next();
            link.browser = None;
            self.shelf().clear();
            self.numbers().forget(|_| true);
            return Err(Code::ConnectionLost.into());
        }
        let found = endpoint::find(&self.setting.wanted).await?;
        let browser = Browser::attach(
            found,
            Arc::clone(&self.setting.profile),
            Arc::clone(&self.known),
            link.generation,
            link.tabs,
        )
        .await?;
        link.browser = Some(browser.clone());
        Ok(browser)
    }

    /// Which snapshot an action names.
    pub(super) fn snapshot_of(&self, action: &Action) -> Option<SnapshotId> {
        match action {
            Action::Click(named)
            | Action::Fill(named, _)
            | Action::Select(named, _)
            | Action::PressOn(named, _)
            | Action::ScrollIn(named, ..) => Some(named.snapshot),
            Action::Press(snapshot, _) => Some(*snapshot),
            Action::Scroll(..) | Action::Open(_) | Action::Navigate(..) | Action::Close(_) => None,
        }
    }

    /// What aiming needs beside the shelf.
    pub(super) async fn sight(&self, browser: &Browser, action: &Action) -> Result<Sight, Refusal> {
        if let Action::Open(_) = action
            && browser.tabs().len() >= self.profile().limits().open_tabs() as usize
        {
            return Err(Code::TooManyTabs.into());
        }
        let tab = tab_of(action, &self.shelf())?;
        let Some(tab) = tab else {
            return Ok(Sight::default());
        };
        let page = browser.page(tab)?;
        let mut sight = Sight::default();
        match action {
            Action::Press(..) => sight.focused = page.focused().await?,
            Action::Navigate(_, Destination::Back) => sight.step = page.history_step(-1).await?,
            Action::Navigate(_, Destination::Forward) => sight.step = page.history_step(1).await?,
            Action::Navigate(_, Destination::Reload) => {
                sight.here = Address::parse(page.info()?.url.raw()).ok()
            }
            Action::Navigate(_, Destination::Address(_))
            | Action::Click(_)
            | Action::Fill(..)
            | Action::Select(..)
            | Action::PressOn(..)
            | Action::ScrollIn(..)
            | Action::Scroll(..)
            | Action::Open(_)
            | Action::Close(_) => {}
        }
        Ok(sight)
    }

    /// Reads the facts a check wants.
    pub(super) async fn read(&self, browser: &Browser, wants: Wants<'_>) -> Result<Facts, Refusal> {
        match wants {
            Wants::Element(key, pressing) => {
                browser
                    .page(key.tab())?
                    .facts(key, self.table(), pressing)
                    .await
            }
            Wants::Tab(tab) => browser.page(tab)?.tab_facts(),
            Wants::Nothing => Ok(Facts::Nothing),
        }
    }

    /// Another program on the port stops whatever is locked (security D4).
    pub(super) fn alone_on_the_port(&self, browser: &Browser) -> Result<(), Refusal> {
        let peers = browser.endpoint().peers(&[browser.local()])?;
        let Some(peer) = peers.first() else {
            return if self.foreign_peer() {
                Err(Code::ForeignPeer.into())
            } else {
                Ok(())
            };
        };
        if !self.foreign.swap(true, Ordering::AcqRel) {
            let seen = Peer {
                sight: PeerSight::Seen,
                pid: peer.pid.map(crate::browser::proc::Pid::number),
                program: peer
                    .executable
                    .as_ref()
                    .map(|path| path.display().to_string()),
            };
            let _ = self.journal().append(&Entry::Peer(seen))?;
        }
        Err(Code::ForeignPeer.into())
    }

    /// Looks for other programs on the port, where there is a connection. What is seen is journalled and told by `status`.
    pub async fn watch_port(&self) {
        let standing = self.link.lock().await.browser.clone();
        if let Some(browser) = standing.filter(|browser| !browser.is_lost())
            && let Err(refusal) = self.alone_on_the_port(&browser)
        {
            tracing::warn!("{refusal}");
        }
    }

    // ---- the person -------------------------------------------------------------------------------------------------

    /// Opens the count for one window.
    pub(super) fn window(&self, class: LockClass) -> Result<Window<'_, A>, Refusal> {
        let limits = self.profile().limits();
        held(&self.windows).open(
            class,
            (limits.windows_unanswered(), limits.windows_per_session()),
            self.now(),
        )?;
        Ok(Window {
            session: self,
            class,
            ending: Ending::Cancelled,
        })
    }

    /// Completes when the caller or the client goes away.
    pub(super) fn withdrawn(
        &self,
        cancelled: &CancellationToken,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (cancelled, ending) = (cancelled.clone(), self.ending.clone());
        async move {
            tokio::select! {
                () = cancelled.cancelled() => {}
                () = ending.cancelled() => {}
            }
        }
    }

    // ---- the journal ------------------------------------------------------------------------------------------------

    pub(super) fn journal(&self) -> MutexGuard<'_, Journal> {
        held(&self.journal)
    }

    /// The page as it is, sealed, before a person is asked.
    pub(super) async fn seal_before(
        &self,
        browser: &Browser,
        held: &Held,
    ) -> Result<Option<Sealed>, Refusal> {
        let Some(element) = held.element() else {
            return Ok(None);
        };
        let page = browser.page(element.key().tab())?;
        let seen = capture::look(&page, self.looking(), self.table(), Picture::Wanted).await?;
        match seen.sealable() {
            Some(png) => Ok(Some(self.journal().seal(SealKind::Before, &png)?)),
            None => Ok(None),
        }
    }

    /// The page as it is afterwards, sealed. A failure ends the journal; the outcome is attempted all the same.
    pub(super) fn seal_after(&self, captured: &Captured) -> Option<Sealed> {
        let png = captured.seen().and_then(capture::Capture::sealable)?;
        match self.journal().seal(SealKind::After, &png) {
            Ok(sealed) => Some(sealed),
            Err(fault) => {
                tracing::error!("a capture could not be sealed: {fault}");
                None
            }
        }
    }

    /// What is seen after a gesture must be on the list like any other reading.
    pub(super) fn only_listed(&self, browser: &Browser, captured: Captured) -> Captured {
        let Some(seen) = captured.seen() else {
            return captured;
        };
        let readable = match seen.origin() {
            Origin::Site(site) => self.profile().decide(site, Tier::Read) == SiteDecision::Granted,
            Origin::Blank | Origin::Opaque => false,
        };
        let same = captured
            .tab()
            .and_then(|tab| browser.page(tab).ok())
            .and_then(|page| page.info().ok());
        if readable && same.is_some_and(|info| info.origin == *seen.origin()) {
            return captured;
        }
        captured.unseen(Code::OffList.into())
    }

    pub(super) fn redact(&self, captured: Captured, after: Option<Sealed>) -> Redacted {
        let (mut numbers, mut shelf) = (self.numbers(), self.shelf());
        redact::outcome(
            captured,
            self.text_limit(),
            &mut numbers,
            &mut shelf,
            after,
            &self.known,
        )
    }

    /// Writes an outcome down and replies.
    pub(super) fn outcome(&self, redacted: Redacted) -> Reply {
        let Some(entry) = redacted.entry().cloned() else {
            return self.broken(&Fault::internal("an outcome without an entry"));
        };
        let effect = entry.effect;
        match self.journal().append(&Entry::Outcome(entry)) {
            Ok(receipt) => super::act::told(redacted, &receipt, |tool| self.registered(tool)),
            // Something was done and could not be written: the model is told what is known of it.
            Err(fault) => {
                tracing::error!("an outcome could not be written: {fault}");
                Reply::without_receipt(Refusal::new(fault.code()).having(effect), |tool| {
                    self.registered(tool)
                })
            }
        }
    }

    /// Writes an entry down and replies.
    pub(super) fn on_record(&self, redacted: Redacted, entry: &Entry) -> Result<Reply, Refusal> {
        let receipt = self.journal().append(entry)?;
        Ok(Reply::new(redacted, &receipt, |tool| self.registered(tool)))
    }

    /// A statement of the server that reads no page: its receipt is that of the last entry.
    #[must_use]
    pub fn state(&self, redacted: Redacted) -> Reply {
        match self.journal().receipt() {
            Ok(receipt) => Reply::new(redacted, &receipt, |tool| self.registered(tool)),
            Err(fault) => self.broken(&fault),
        }
    }

    /// Writes a refusal down and replies.
    #[must_use]
    pub fn refuse(&self, call: CallRecord, refusal: Refusal) -> Reply {
        let written: Result<Receipt, Fault> =
            line::refused(&mut self.journal(), call.clone(), &refusal, None);
        match written {
            Ok(receipt) => {
                let redacted = redact::refusal(refusal, &call, &self.known.everywhere());
                Reply::new(redacted, &receipt, |tool| self.registered(tool))
            }
            Err(fault) => self.broken(&fault),
        }
    }

    fn broken(&self, fault: &Fault) -> Reply {
        tracing::error!("{fault}");
        Reply::without_receipt(Refusal::new(fault.code()), |tool| self.registered(tool))
    }

    fn registered(&self, tool: &str) -> bool {
        self.setting.tools.contains(&tool)
    }

    /// A sign of life for the journal.
    pub fn heartbeat(&self) {
        if let Err(fault) = self.journal().heartbeat() {
            tracing::error!("no sign of life could be written: {fault}");
        }
    }

    /// Begins nothing new, waits for what is under way, and closes the journal.
    pub async fn end(&self, why: Closing, within: Duration) {
        self.ending.cancel();
        let _ = tokio::time::timeout(within, self.turn.acquire()).await;
        if let Err(fault) = self.journal().close(why) {
            tracing::error!("the journal could not be closed: {fault}");
        }
    }

    /// The tabs of the session, where there is a connection.
    ///
    /// # Errors
    /// As [`Session::browser`].
    pub async fn tabs(&self) -> Result<Vec<(TabId, Origin, String, bool)>, Refusal> {
        let browser = self.browser().await?;
        Ok(browser
            .tabs()
            .into_iter()
            .map(|tab| (tab.id, tab.origin, tab.url.raw().to_owned(), tab.loading))
            .collect())
    }
}

/// An open window; however it ends, it is counted.
#[derive(Debug)]
pub(super) struct Window<'a, A: Ask + 'static> {
    session: &'a Session<A>,
    class: LockClass,
    ending: Ending,
}

impl<A: Ask + 'static> Window<'_, A> {
    /// How it ended.
    pub(super) fn ended(mut self, ending: Ending) {
        self.ending = ending;
    }
}

impl<A: Ask + 'static> Drop for Window<'_, A> {
    fn drop(&mut self) {
        held(&self.session.windows).ended(self.class, self.ending, Instant::now());
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while it was held broke one call; what it guards is whole between calls.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
