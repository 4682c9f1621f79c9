//! What the browser has open and is ours: tabs, their frames, sessions and isolated worlds, kept by the browser's events.
//!
//! Only tabs that the server opened, or that such a tab opened, are ever attached; every other target is let go at once
//! (security U6, U9). Documents are held at request stage and refused where they are off the operator's list (U5).

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use super::methods::{Observe, Protect};
use super::script::{BINDING, LIBRARY, WORLD};
use super::wire::{CALL, Event, SessionId, Wire, WireError};
use crate::domain::epoch::{DocumentId, Generation};
use crate::domain::mark::TabId;
use crate::domain::site::{Address, Origin, Site};
use crate::domain::text::Untrusted;
use crate::domain::tier::Tier;
use crate::policy::echo::Known;
use crate::policy::profile::{Profile, SiteDecision};

/// What happened in a tab beside what was asked: told to the model with the next reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The page raised a dialog; it was dismissed.
    Dialog {
        /// `alert`, `confirm`, `prompt` or `beforeunload`.
        kind: &'static str,
        /// What it said.
        text: Untrusted,
        /// The origin of the tab's document then.
        origin: Origin,
    },
    /// The page tried to load a document off the list; nothing left the browser.
    DepartureStopped(Option<Site>),
    /// The page opened a tab.
    Opened(TabId),
    /// The page opened more tabs than the profile allows, or one off the list; it was closed before its first request.
    OpenRefused(Option<Site>),
    /// A document was held back because no guarded click had asked for it.
    Held,
    /// The page asked for a file; the chooser was kept shut.
    FileChooser,
    /// A download began and was cancelled: none is granted.
    DownloadStopped(Option<Site>),
    /// The tab crashed.
    Crashed,
}

/// One isolated world of one frame.
#[derive(Debug, Clone)]
pub(in crate::browser) struct World {
    /// The session that can run in it.
    pub(in crate::browser) session: SessionId,
    /// The protocol's number, for resolving nodes.
    pub(in crate::browser) number: i64,
    /// The browser's unique name of it: it never names another document.
    pub(in crate::browser) unique: String,
    /// The security origin of the frame.
    pub(in crate::browser) origin: Origin,
}

#[derive(Debug)]
struct Frame {
    parent: Option<String>,
    document: Option<DocumentId>,
    url: String,
}

/// A held request: of a session of ours, or one that the browser as a whole held (`None`).
#[derive(Debug, Clone)]
struct Paused {
    session: Option<SessionId>,
    request: String,
}

/// A tab that a page of ours asked for without an opener: by a click with a modifier or the middle button, be it made
/// by a script. The browser begins its first request at once, whether or not its target is paused (measured).
#[derive(Debug)]
struct Asked {
    by: TabId,
    at: Instant,
    /// Whether it is an address that is requested: `blob:` and `about:` never are.
    requested: bool,
}

/// How long after a gesture the browser as a whole holds documents: a page may open tabs for five seconds after one
/// (transient activation), and no longer.
const WATCH: Duration = Duration::from_secs(6);

/// Frames deeper than this are not read.
const DEEPEST: usize = 16;

/// How long what a page asked for is remembered, and a new target without opener is kept until its request is seen.
const REMEMBERED: Duration = Duration::from_secs(5);
const UNDECIDED: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct Tab {
    id: TabId,
    target: String,
    session: SessionId,
    frames: HashMap<String, Frame>,
    worlds: HashMap<String, World>,
    children: HashMap<SessionId, String>,
    notes: Vec<Note>,
    loading: bool,
    crashed: bool,
    ready: bool,
    committed: bool,
    refused: bool,
    loads: u64,
    /// How often a frame came or showed another document.
    frame_changes: u64,
    opener: Option<TabId>,
    /// Opened without an opener: its first request is held by the browser as a whole alone.
    stray: bool,
    hold: Option<Vec<Paused>>,
    watched: Watched,
    /// How many nodes the process of each world held when its elements were asked for closed shadow roots.
    asked_at: HashMap<String, u64>,
}

/// What the guards of all frames of a tab saw.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GuardReport {
    /// Events that were stopped because they were not the target's, by name.
    pub stopped: Vec<String>,
    /// Events that reached the target, by name.
    pub passed: Vec<String>,
}

/// What the guards of a tab have told since they were armed with this nonce.
#[derive(Debug, Default)]
struct Watched {
    nonce: String,
    report: GuardReport,
}

#[derive(Deserialize)]
struct Told {
    nonce: String,
    passed: bool,
    r#type: String,
}

impl Tab {
    fn world(&self) -> Option<&World> {
        self.worlds.get(&self.target)
    }

    /// Whether it is set up, and not about to be closed again.
    const fn is_ours(&self) -> bool {
        self.ready && !self.refused
    }

    /// Whether a frame, by its name, is the tab's own or lies in it.
    fn has_frame(&self, name: &String) -> bool {
        self.target == *name
            || self.frames.contains_key(name)
            || self.children.values().any(|child| child == name)
    }

    fn origin(&self) -> Origin {
        let main = self.frames.get(&self.target);
        if main.is_none_or(|frame| {
            frame.url.is_empty() || (frame.url == "about:blank" && self.opener.is_none())
        }) {
            return Origin::Blank;
        }
        self.world()
            .map_or(Origin::Opaque, |world| world.origin.clone())
    }
}

/// What may be known of a tab without asking the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TabInfo {
    /// Its name in this session.
    pub id: TabId,
    /// The security origin of its document.
    pub origin: Origin,
    /// The document's address, as page text.
    pub url: Untrusted,
    /// Whether a load is under way.
    pub loading: bool,
    /// Whether it has crashed.
    pub crashed: bool,
    /// The tab that opened it.
    pub opener: Option<TabId>,
    /// Which document it shows.
    pub document: Option<DocumentId>,
    /// How many documents have been committed in it.
    pub loads: u64,
}

#[derive(Debug, Default)]
struct State {
    tabs: HashMap<TabId, Tab>,
    sessions: HashMap<SessionId, TabId>,
    unclaimed: HashMap<String, SessionId>,
    creating: usize,
    /// What pages of ours asked to open without an opener, by address.
    asked: HashMap<String, Asked>,
    /// New targets without opener, until their first request says whose they are.
    undecided: HashMap<String, SessionId>,
    watch_until: Option<Instant>,
    next_tab: u32,
}

/// What is shared by the event reader and the callers of one connection.
#[derive(Debug)]
pub(in crate::browser) struct Hub {
    /// The connection.
    pub(in crate::browser) wire: Wire,
    /// Which connection it is.
    pub(in crate::browser) generation: Generation,
    /// What sensitive fields held in this session.
    pub(in crate::browser) known: Arc<Known>,
    profile: Arc<Profile>,
    state: Mutex<State>,
    version: watch::Sender<u64>,
    /// Whether the browser as a whole holds documents.
    watching: tokio::sync::Mutex<bool>,
}

impl State {
    /// What pages of ours asked for, in tabs without an opener, a moment ago.
    fn asked(&mut self) -> &HashMap<String, Asked> {
        self.asked
            .retain(|_, asked| asked.at.elapsed() < REMEMBERED);
        &self.asked
    }

    /// Which of our tabs asked for this address so.
    fn who_asked(&mut self, url: &str) -> Option<TabId> {
        self.asked().get(asked_key(url)).map(|asked| asked.by)
    }

    /// Whether anything is under way that only the hold of the whole browser holds.
    fn needs_watching(&self) -> bool {
        let tabs = self.tabs.values();
        let mut open = tabs.filter(|tab| {
            tab.hold.is_some() || (tab.stray && !tab.refused && !(tab.ready && tab.committed))
        });
        open.next().is_some() || !self.undecided.is_empty()
    }
}

impl Hub {
    /// Starts to watch the browser's targets.
    pub(in crate::browser) async fn start(
        wire: Wire,
        events: mpsc::Receiver<Event>,
        profile: Arc<Profile>,
        known: Arc<Known>,
        generation: Generation,
        next_tab: u32,
    ) -> Result<Arc<Self>, WireError> {
        let hub = Arc::new(Self {
            wire,
            generation,
            known,
            profile,
            state: Mutex::new(State {
                next_tab,
                ..State::default()
            }),
            version: watch::Sender::new(0),
            watching: tokio::sync::Mutex::new(false),
        });
        tokio::spawn(read_events(Arc::clone(&hub), events));
        let only_pages = json!([{"type": "page"}]);
        let attach = Observe::AutoAttach {
            auto_attach: true,
            wait_for_debugger_on_start: true,
            flatten: true,
            filter: only_pages,
        };
        hub.wire.call::<Value>(None, &attach, CALL).await?;
        Ok(hub)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.version
            .send_modify(|version| *version = version.wrapping_add(1));
    }

    /// Waits until `look` finds something in the state, or the connection is lost, or the time is up.
    async fn wait_for<T>(
        &self,
        within: Duration,
        mut look: impl FnMut(&mut State) -> Option<T>,
    ) -> Option<T> {
        let mut version = self.version.subscribe();
        let wait = async {
            loop {
                version.borrow_and_update();
                if let Some(found) = look(&mut self.state()) {
                    return Some(found);
                }
                tokio::select! {
                    changed = version.changed() => if changed.is_err() { return None },
                    () = self.wire.lost() => return None,
                }
            }
        };
        tokio::time::timeout(within, wait).await.ok().flatten()
    }

    // ---- what callers ask -------------------------------------------------------------------------------------------

    /// The session's tabs, in the order they were opened.
    pub(in crate::browser) fn tabs(&self) -> Vec<TabInfo> {
        let state = self.state();
        let mut tabs: Vec<TabInfo> = state
            .tabs
            .values()
            .filter(|tab| tab.is_ours())
            .map(info)
            .collect();
        tabs.sort_by_key(|tab| tab.id);
        tabs
    }

    /// The number the next tab will have.
    pub(in crate::browser) fn next_tab(&self) -> u32 {
        self.state().next_tab
    }

    /// One tab.
    pub(in crate::browser) fn tab(&self, id: TabId) -> Option<TabInfo> {
        self.state()
            .tabs
            .get(&id)
            .filter(|tab| tab.is_ours())
            .map(info)
    }

    /// The session and target of a tab.
    pub(in crate::browser) fn session(&self, id: TabId) -> Option<(SessionId, String)> {
        self.state()
            .tabs
            .get(&id)
            .map(|tab| (tab.session.clone(), tab.target.clone()))
    }

    /// The isolated world of the top document.
    pub(in crate::browser) fn world(&self, id: TabId) -> Option<World> {
        self.state()
            .tabs
            .get(&id)
            .and_then(|tab| tab.world().cloned())
    }

    /// The isolated world of one frame.
    pub(in crate::browser) fn frame_world(&self, id: TabId, frame: &str) -> Option<World> {
        self.state()
            .tabs
            .get(&id)
            .and_then(|tab| tab.worlds.get(frame).cloned())
    }

    /// A frame and every frame around it, innermost first, each with its world; `None` where one of them has none.
    /// It is the browser's own account: no page has a part in it.
    pub(in crate::browser) fn chain(&self, id: TabId, frame: &str) -> Option<Vec<(String, World)>> {
        let state = self.state();
        let tab = state.tabs.get(&id)?;
        let mut chain = Vec::new();
        let mut name = frame;
        while chain.len() < DEEPEST {
            chain.push((name.to_owned(), tab.worlds.get(name)?.clone()));
            if name == tab.target {
                return Some(chain);
            }
            name = tab.frames.get(name)?.parent.as_deref()?;
        }
        None
    }

    /// The frame whose document's world has this name, with every frame around it.
    pub(in crate::browser) fn chain_of(
        &self,
        id: TabId,
        world: &str,
    ) -> Option<Vec<(String, World)>> {
        let frame = {
            let state = self.state();
            let worlds = &state.tabs.get(&id)?.worlds;
            let (frame, _) = worlds.iter().find(|(_, known)| known.unique == world)?;
            frame.clone()
        };
        self.chain(id, &frame)
    }

    /// The worlds of all frames whose documents may be read: listed, and every frame around them.
    pub(in crate::browser) fn readable(&self, id: TabId) -> Vec<World> {
        let frames = self.frames(id).into_iter();
        let chains = frames.filter_map(|(frame, _)| self.chain(id, &frame));
        chains
            .filter(|chain| self.is_readable(chain))
            .filter_map(|chain| chain.into_iter().next().map(|(_, world)| world))
            .collect()
    }

    /// Whether every origin of a chain is listed for reading (security U4).
    pub(in crate::browser) fn is_readable(&self, chain: &[(String, World)]) -> bool {
        let granted = |origin| self.profile.decide_origin(origin, Tier::Read);
        let mut origins = chain.iter().map(|(_, world)| &world.origin);
        !chain.is_empty() && origins.all(|origin| granted(origin) == SiteDecision::Granted)
    }

    /// How often a frame of a tab came or showed another document.
    pub(in crate::browser) fn frame_changes(&self, id: TabId) -> u64 {
        let state = self.state();
        state.tabs.get(&id).map_or(0, |tab| tab.frame_changes)
    }

    /// Every frame of a tab, with its world where it has one.
    pub(in crate::browser) fn frames(&self, id: TabId) -> Vec<(String, Option<World>)> {
        let state = self.state();
        let Some(tab) = state.tabs.get(&id) else {
            return Vec::new();
        };
        let names: HashSet<&String> = tab.frames.keys().chain(tab.children.values()).collect();
        names
            .into_iter()
            .map(|name| (name.clone(), tab.worlds.get(name).cloned()))
            .collect()
    }

    /// Whether this world's process held as many nodes when its elements were asked last as it does now, and remembers
    /// that they are asked now.
    pub(in crate::browser) fn asked_at(&self, id: TabId, world: &str, nodes: Option<u64>) -> bool {
        let mut state = self.state();
        let Some(tab) = state.tabs.get_mut(&id) else {
            return false;
        };
        let known: HashSet<String> = tab.worlds.values().map(|w| w.unique.clone()).collect();
        tab.asked_at.retain(|world, _| known.contains(world));
        match nodes {
            Some(nodes) => tab.asked_at.insert(world.to_owned(), nodes) == Some(nodes),
            None => {
                tab.asked_at.remove(world);
                false
            }
        }
    }

    /// Takes the notes of a tab; they are told once.
    pub(in crate::browser) fn take_notes(&self, id: TabId) -> Vec<Note> {
        self.state()
            .tabs
            .get_mut(&id)
            .map(|tab| std::mem::take(&mut tab.notes))
            .unwrap_or_default()
    }

    /// Whether a note of this kind is waiting, without taking it.
    pub(in crate::browser) fn has_note(&self, id: TabId, wanted: impl Fn(&Note) -> bool) -> bool {
        self.state()
            .tabs
            .get(&id)
            .is_some_and(|tab| tab.notes.iter().any(wanted))
    }

    /// Waits until a tab satisfies `wanted`, or is gone (`None`), or the time is up (`Some(false)`).
    pub(in crate::browser) async fn until(
        &self,
        id: TabId,
        within: Duration,
        wanted: impl Fn(&TabInfo) -> bool,
    ) -> Option<bool> {
        let found = self.wait_for(within, |state| match state.tabs.get(&id) {
            None => Some(None),
            Some(tab) if wanted(&info(tab)) => Some(Some(true)),
            Some(_) => None,
        });
        match found.await {
            Some(end) => end,
            None => self.tab(id).map(|_| false),
        }
    }

    /// Starts to listen to the guards of a tab under a fresh nonce.
    pub(in crate::browser) fn watch(&self, id: TabId, nonce: &str) {
        if let Some(tab) = self.state().tabs.get_mut(&id) {
            tab.watched = Watched {
                nonce: nonce.to_owned(),
                ..Watched::default()
            };
        }
    }

    /// What the guards told, as soon as it is enough, or the time is up.
    pub(in crate::browser) async fn told(
        &self,
        id: TabId,
        within: Duration,
        enough: impl Fn(&GuardReport) -> bool,
    ) -> GuardReport {
        let report = |state: &State| {
            let tab = state.tabs.get(&id);
            tab.map(|tab| tab.watched.report.clone())
                .unwrap_or_default()
        };
        let seen = self.wait_for(within, |state| Some(report(state)).filter(&enough));
        match seen.await {
            Some(seen) => seen,
            None => report(&self.state()),
        }
    }

    // ---- tabs that a page opens without an opener -------------------------------------------------------------------

    /// Before a gesture: from now until a page may open no more tabs, the browser as a whole holds every document, since
    /// a tab without an opener asks for its first before anything can be set on it. What is not ours goes on at once,
    /// unread but for its address.
    pub(in crate::browser) async fn watch_new_tabs(self: &Arc<Self>) -> Result<(), WireError> {
        let mut watching = self.watching.lock().await;
        self.state().watch_until = Some(Instant::now() + WATCH);
        if *watching {
            return Ok(());
        }
        let patterns = json!([{"resourceType": "Document", "requestStage": "Request"}]);
        let hold = Observe::FetchEnable { patterns };
        self.wire.call::<Value>(None, &hold, CALL).await?;
        *watching = true;
        let hub = Arc::clone(self);
        tokio::spawn(async move { hub.stop_watching().await });
        Ok(())
    }

    /// The same once more: a gesture goes on.
    pub(in crate::browser) fn watch_on(&self) {
        if let Some(until) = &mut self.state().watch_until {
            *until = Instant::now() + WATCH;
        }
    }

    async fn stop_watching(self: Arc<Self>) {
        loop {
            let until = self.state().watch_until.unwrap_or_else(Instant::now);
            tokio::select! {
                () = tokio::time::sleep_until(until.into()) => {}
                () = self.wire.lost() => return,
            }
            let mut watching = self.watching.lock().await;
            {
                let mut state = self.state();
                if state
                    .watch_until
                    .is_some_and(|until| until > Instant::now())
                {
                    continue;
                }
                if state.needs_watching() {
                    state.watch_until = Some(Instant::now() + UNDECIDED);
                    continue;
                }
                state.watch_until = None;
            }
            *watching = false;
            let end = Observe::FetchDisable {};
            let _ = self.wire.call::<Value>(None, &end, CALL).await;
            return;
        }
    }

    // ---- the press window -------------------------------------------------------------------------------------------

    /// From now on every document this tab asks for is held, until [`Hub::release`].
    pub(in crate::browser) fn hold(&self, id: TabId) {
        if let Some(tab) = self.state().tabs.get_mut(&id) {
            tab.hold.get_or_insert_with(Vec::new);
        }
    }

    /// After a press went astray: waits until something is held, or the time is up. What a press in an unguarded frame asks
    /// for is asked a moment after the button came up.
    pub(in crate::browser) async fn stragglers(&self, id: TabId, within: Duration) {
        let held = |state: &State| {
            let tabs = state
                .tabs
                .values()
                .filter(|tab| tab.id == id || tab.opener == Some(id));
            tabs.filter_map(|tab| tab.hold.as_ref())
                .map(Vec::len)
                .sum::<usize>()
        };
        let before = held(&self.state());
        let _ = self
            .wait_for(within, |state| (held(state) > before).then_some(()))
            .await;
    }

    /// Ends the hold: what was asked for meanwhile goes on to the site check, or is refused where the press went astray.
    pub(in crate::browser) fn release(self: &Arc<Self>, id: TabId, landed: Landed) {
        self.watch_on();
        let paused: Vec<Paused> = {
            let mut state = self.state();
            let held = state
                .tabs
                .values_mut()
                .filter(|tab| tab.id == id || tab.opener == Some(id));
            held.filter_map(|tab| tab.hold.take()).flatten().collect()
        };
        for request in paused {
            match landed {
                Landed::OnTarget => self.go_on(request),
                Landed::Astray => {
                    if let Some(tab) = self.state().tabs.get_mut(&id) {
                        tab.notes.push(Note::Held);
                    }
                    self.fail(request);
                }
            }
        }
    }

    // ---- tabs of our own --------------------------------------------------------------------------------------------

    /// Says that a tab of our own is about to be created, so that the target that appears is not taken for the person's.
    pub(in crate::browser) fn expect_tab(self: &Arc<Self>) -> Expected {
        self.state().creating += 1;
        Expected {
            hub: Arc::clone(self),
        }
    }

    /// Takes over the target that was created, sets it up and lets it run.
    pub(in crate::browser) async fn claim(
        self: &Arc<Self>,
        expected: Expected,
        target: &str,
    ) -> Result<TabId, WireError> {
        let session = self
            .wait_for(CALL, |state| state.unclaimed.remove(target))
            .await
            .ok_or(WireError::Timeout("Target.attachedToTarget"))?;
        drop(expected);
        let id = self.register(target, &session, None, false);
        if let Err(error) = self.set_up(id, &session).await {
            // Half set up, it is of no use to anybody.
            self.close(target.to_owned());
            return Err(error);
        }
        Ok(id)
    }

    fn register(
        &self,
        target: &str,
        session: &SessionId,
        opener: Option<TabId>,
        stray: bool,
    ) -> TabId {
        let mut state = self.state();
        state.next_tab += 1;
        let id = TabId::new(state.next_tab);
        // What a press opens is held as long as what it loads.
        let held = opener
            .and_then(|opener| state.tabs.get(&opener))
            .is_some_and(|opener| opener.hold.is_some());
        state.sessions.insert(session.clone(), id);
        state.tabs.insert(
            id,
            Tab {
                id,
                target: target.to_owned(),
                session: session.clone(),
                frames: HashMap::from([(
                    target.to_owned(),
                    Frame {
                        parent: None,
                        document: None,
                        url: String::new(),
                    },
                )]),
                worlds: HashMap::new(),
                children: HashMap::new(),
                notes: Vec::new(),
                loading: false,
                crashed: false,
                ready: false,
                committed: false,
                refused: false,
                loads: 0,
                frame_changes: 0,
                opener,
                stray,
                hold: held.then(Vec::new),
                watched: Watched::default(),
                asked_at: HashMap::new(),
            },
        );
        id
    }

    /// Everything a session needs before its page may run: events, the world, the request hold, frames of other processes.
    async fn set_up(self: &Arc<Self>, id: TabId, session: &SessionId) -> Result<(), WireError> {
        let (top, opened) = self
            .state()
            .tabs
            .get(&id)
            .map(|tab| (tab.session == *session, tab.opener.is_some()))
            .unwrap_or_default();
        let on = Some(session);
        let wire = &self.wire;
        let mut calls = vec![
            Observe::PageEnable {},
            Observe::RuntimeEnable {},
            Observe::AddBinding {
                name: BINDING,
                execution_context_name: WORLD,
            },
            Observe::DomEnable {},
            Observe::FetchEnable {
                patterns: json!([{"resourceType": "Document", "requestStage": "Request"}, {"resourceType": "Ping", "requestStage": "Request"}]),
            },
            Observe::InstallWorld {
                source: LIBRARY,
                world_name: WORLD,
                run_immediately: true,
            },
            Observe::AutoAttach {
                auto_attach: true,
                wait_for_debugger_on_start: true,
                flatten: true,
                filter: json!([{"type": "iframe"}]),
            },
            Observe::LifecycleEvents { enabled: true },
        ];
        if top {
            calls.extend([
                Observe::InspectorEnable {},
                Observe::FocusEmulation { enabled: true },
                Observe::StartScreencast {
                    format: "jpeg",
                    quality: 1,
                    max_width: 16,
                    max_height: 16,
                    every_nth_frame: 1_000,
                },
            ]);
        }
        let mut answers = Vec::new();
        for call in &calls {
            answers.push(wire.begin(on, call, CALL).await?);
        }
        if top {
            let chooser = Protect::InterceptFileChooser { enabled: true };
            answers.push(wire.begin(on, &chooser, CALL).await?);
        }
        // A popup without opener has no renderer until its first request is under way, so its renderer answers only once it
        // runs. The browser takes calls in the order they were sent: all of this holds before the first request (measured).
        if !(top && opened) {
            try_join_all(answers.drain(..)).await?;
        }
        answers.push(wire.begin(on, &Observe::RunIfWaiting {}, CALL).await?);
        try_join_all(answers).await?;
        if top {
            if let Some(tab) = self.state().tabs.get_mut(&id) {
                tab.ready = true;
            }
            self.changed();
        }
        Ok(())
    }

    fn let_go(self: &Arc<Self>, session: SessionId, waiting: bool) {
        let hub = Arc::clone(self);
        tokio::spawn(async move {
            if waiting {
                let _ = hub
                    .wire
                    .call::<Value>(Some(&session), &Observe::RunIfWaiting {}, CALL)
                    .await;
            }
            let detach = Observe::Detach {
                session_id: session.as_str(),
            };
            let _ = hub.wire.call::<Value>(None, &detach, CALL).await;
        });
    }

    fn close(self: &Arc<Self>, target: String) {
        let hub = Arc::clone(self);
        tokio::spawn(async move {
            let _ = hub
                .wire
                .call::<Value>(None, &Protect::CloseTarget { target_id: &target }, CALL)
                .await;
        });
    }

    fn go_on(self: &Arc<Self>, paused: Paused) {
        let hub = Arc::clone(self);
        tokio::spawn(async move {
            let go = Observe::FetchContinue {
                request_id: &paused.request,
            };
            let _ = hub
                .wire
                .call::<Value>(paused.session.as_ref(), &go, CALL)
                .await;
        });
    }

    fn fail(self: &Arc<Self>, paused: Paused) {
        let hub = Arc::clone(self);
        tokio::spawn(async move {
            let no = Protect::FetchFail {
                request_id: &paused.request,
                error_reason: "Aborted",
            };
            let _ = hub
                .wire
                .call::<Value>(paused.session.as_ref(), &no, CALL)
                .await;
        });
    }

    // ---- what the browser says --------------------------------------------------------------------------------------

    fn attached(self: &Arc<Self>, parent: Option<&SessionId>, event: Attached) {
        let session = SessionId::new(&event.session_id);
        let info = event.target_info;
        if let Some(parent) = parent {
            let Some(id) = self.state().sessions.get(parent).copied() else {
                return self.let_go(session, event.waiting_for_debugger);
            };
            {
                let mut state = self.state();
                state.sessions.insert(session.clone(), id);
                if let Some(tab) = state.tabs.get_mut(&id) {
                    tab.children.insert(session.clone(), info.target_id);
                }
            }
            let hub = Arc::clone(self);
            tokio::spawn(async move {
                if let Err(error) = hub.set_up(id, &session).await {
                    tracing::warn!("a frame could not be set up: {error}");
                }
                hub.changed();
            });
            return;
        }
        if info.kind != "page" {
            return self.let_go(session, event.waiting_for_debugger);
        }
        // The opener is named as a target or as a frame; either may be an inner frame of a tab of ours.
        let opener = {
            let state = self.state();
            [&info.opener_id, &info.opener_frame_id]
                .into_iter()
                .flatten()
                .find_map(|opener| state.tabs.values().find(|tab| tab.has_frame(opener)))
                .map(|tab| tab.id)
        };
        match opener {
            Some(opener) => {
                let _ = self.adopt_popup(opener, &session, info.target_id, false);
            }
            None if event.waiting_for_debugger && self.state().creating > 0 => {
                self.state().unclaimed.insert(info.target_id, session);
                self.changed();
            }
            None if event.waiting_for_debugger => self.whose(session, info.target_id),
            None => self.let_go(session, false),
        }
    }

    /// A new target without opener: the person's, unless a page of ours asked for a tab a moment ago. Then its first
    /// request, which is held, says whose it is; one that asks for nothing is the person's as well, unless what the page
    /// asked for is something that is never requested.
    fn whose(self: &Arc<Self>, session: SessionId, target: String) {
        {
            let mut state = self.state();
            if state.asked().is_empty() || state.watch_until.is_none() {
                drop(state);
                return self.let_go(session, true);
            }
            state.undecided.insert(target.clone(), session);
        }
        let hub = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(UNDECIDED).await;
            if !hub.state().undecided.contains_key(&target) {
                return;
            }
            let ask = Observe::TargetInfo { target_id: &target };
            let info: Result<Value, _> = hub.wire.call(None, &ask, CALL).await;
            let url = info.as_ref().ok().and_then(|info| {
                let url = info.pointer("/targetInfo/url").and_then(Value::as_str);
                url.filter(|url| !url.is_empty())
            });
            let (session, refused) = {
                let mut state = hub.state();
                let Some(session) = state.undecided.remove(&target) else {
                    return;
                };
                let mut asked = state.asked.iter().filter(|(_, asked)| !asked.requested);
                // One that shows nothing yet is taken for what was asked for.
                let found = asked.find(|(key, _)| url.is_none_or(|url| asked_key(url) == **key));
                let by = found.map(|(_, asked)| asked.by);
                if let Some(tab) = by.and_then(|by| state.tabs.get_mut(&by)) {
                    tab.notes.push(Note::OpenRefused(None));
                }
                (session, by.is_some())
            };
            if refused {
                hub.close(target);
                hub.changed();
            } else {
                hub.let_go(session, true);
            }
        });
    }

    /// A document that the browser as a whole held. What a session of ours holds was held there before.
    fn request_anywhere(self: &Arc<Self>, event: RequestPaused) {
        let paused = Paused {
            session: None,
            request: event.request_id.clone(),
        };
        let frame = event.frame_id.clone();
        let (ours, session, by) = {
            let mut state = self.state();
            let mut tabs = state.tabs.values();
            let ours = tabs.find(|tab| tab.has_frame(&frame));
            let ours = ours.map(|tab| (tab.id, tab.stray && tab.target == frame));
            let by = if ours.is_none() {
                state.who_asked(&event.request.url)
            } else {
                None
            };
            // One that comes while we open a tab of our own waits among those.
            let session = match by {
                Some(_) => {
                    let undecided = state.undecided.remove(&frame);
                    undecided.or_else(|| state.unclaimed.remove(&frame))
                }
                None => state.undecided.remove(&frame),
            };
            (ours, session, by)
        };
        match (ours, by) {
            (Some((id, true)), _) => self.judge(id, paused, &event),
            (Some((_, false)), _) => self.go_on(paused),
            (None, Some(by)) => match session {
                Some(session) => match self.adopt_popup(by, &session, frame, true) {
                    Some(id) => self.judge(id, paused, &event),
                    None => self.fail(paused),
                },
                // Let go already: too late to take it over, in time to stop it.
                None => {
                    let site = Address::parse(strip_fragment(&event.request.url)).ok();
                    if let Some(tab) = self.state().tabs.get_mut(&by) {
                        let site = site.map(|address| address.site().clone());
                        tab.notes.push(Note::OpenRefused(site));
                    }
                    self.fail(paused);
                    self.close(frame);
                    self.changed();
                }
            },
            (None, None) => {
                if let Some(session) = session {
                    self.let_go(session, true);
                }
                self.go_on(paused);
            }
        }
    }

    fn adopt_popup(
        self: &Arc<Self>,
        opener: TabId,
        session: &SessionId,
        target: String,
        stray: bool,
    ) -> Option<TabId> {
        let most = self.profile.limits().open_tabs();
        let full = self.state().tabs.len() >= most as usize;
        if full {
            if let Some(tab) = self.state().tabs.get_mut(&opener) {
                tab.notes.push(Note::OpenRefused(None));
            }
            self.close(target);
            return None;
        }
        let id = self.register(&target, session, Some(opener), stray);
        let hub = Arc::clone(self);
        let session = session.clone();
        tokio::spawn(async move {
            // One that is closed meanwhile answers nothing any more.
            let set_up = tokio::select! {
                set_up = hub.set_up(id, &session) => set_up,
                None = hub.until(id, CALL, |_| false) => return,
            };
            match set_up {
                Ok(()) => {
                    let mut state = hub.state();
                    // One that is being closed again was never opened, as far as the model goes.
                    let stays = state.tabs.get(&id).is_some_and(|tab| !tab.refused);
                    if let Some(tab) = state.tabs.get_mut(&opener).filter(|_| stays) {
                        tab.notes.push(Note::Opened(id));
                    }
                }
                Err(error) => {
                    tracing::warn!("a tab that a page opened could not be set up: {error}");
                    hub.close(target);
                }
            }
            hub.changed();
        });
        Some(id)
    }

    fn gone(&self, session: &SessionId) {
        let mut state = self.state();
        if let Some(id) = state.sessions.remove(session) {
            let whole = state
                .tabs
                .get(&id)
                .is_some_and(|tab| tab.session == *session);
            if whole {
                state.tabs.remove(&id);
                state.sessions.retain(|_, tab| *tab != id);
            } else if let Some(tab) = state.tabs.get_mut(&id) {
                // Its frame may live on in the process of the frame around it, with a world that is there already.
                tab.children.remove(session);
                tab.worlds.retain(|_, world| world.session != *session);
            }
        }
        drop(state);
        self.changed();
    }

    /// A document was asked for: of the top frame only from listed sites, of an inner frame from the web at large (U7).
    fn request(self: &Arc<Self>, session: &SessionId, event: RequestPaused) {
        let paused = Paused {
            session: Some(session.clone()),
            request: event.request_id.clone(),
        };
        let Some(id) = self.state().sessions.get(session).copied() else {
            return self.fail(paused);
        };
        self.judge(id, paused, &event);
    }

    fn judge(self: &Arc<Self>, id: TabId, paused: Paused, event: &RequestPaused) {
        let parsed = Address::parse(strip_fragment(&event.request.url)).ok();
        let mut state = self.state();
        let Some(tab) = state.tabs.get_mut(&id) else {
            drop(state);
            return self.fail(paused);
        };
        let top = event.frame_id == tab.target && event.resource_type == "Document";
        let allowed = match (&parsed, top) {
            (None, _) => false,
            (Some(address), true) => match self.profile.decide(address.site(), Tier::Read) {
                SiteDecision::Granted | SiteDecision::TierNotGranted => true,
                SiteDecision::NotListed => false,
            },
            // A frame off the list may show itself, but nothing is sent there by a form, at whatever hop (U7).
            (Some(address), false) if parsed_is_page(&event.resource_type) => {
                event.request.method == "GET"
                    || self.profile.decide(address.site(), Tier::Read) != SiteDecision::NotListed
            }
            (Some(_), false) => true,
        };
        if !allowed {
            let site = parsed.map(|address| address.site().clone());
            let unborn = tab.opener.filter(|_| top && !tab.committed);
            if top || parsed_is_page(&event.resource_type) {
                tab.notes.push(Note::DepartureStopped(site.clone()));
            }
            let target = tab.target.clone();
            if let Some(opener) = unborn {
                tab.refused = true;
                if let Some(opener) = state.tabs.get_mut(&opener) {
                    opener.notes.retain(|note| *note != Note::Opened(id));
                    opener.notes.push(Note::OpenRefused(site));
                }
                drop(state);
                self.close(target);
            } else {
                drop(state);
            }
            self.fail(paused);
            return self.changed();
        }
        if let Some(held) = &mut tab.hold {
            held.push(paused);
            drop(state);
            return self.changed();
        }
        drop(state);
        self.go_on(paused);
    }

    fn on_event(self: &Arc<Self>, event: Event) {
        let session = event.session.as_deref().map(SessionId::new);
        match (event.method.as_str(), &session) {
            ("Target.attachedToTarget", parent) => {
                if let Ok(attached) = serde_json::from_value(event.params) {
                    self.attached(parent.as_ref(), attached);
                }
            }
            ("Target.detachedFromTarget", _) => {
                if let Some(gone) = event.params.get("sessionId").and_then(Value::as_str) {
                    self.gone(&SessionId::new(gone));
                }
            }
            ("Fetch.requestPaused", None) => match serde_json::from_value(event.params) {
                Ok(paused) => self.request_anywhere(paused),
                Err(_) => tracing::warn!("a held request could not be read and stays held"),
            },
            ("Fetch.requestPaused", Some(session)) => match serde_json::from_value(event.params) {
                Ok(paused) => self.request(session, paused),
                Err(_) => tracing::warn!("a held request could not be read and stays held"),
            },
            ("Page.javascriptDialogOpening", Some(session)) => self.dialog(session, &event.params),
            ("Page.screencastFrame", Some(session)) => {
                let number = event
                    .params
                    .get("sessionId")
                    .and_then(Value::as_i64)
                    .unwrap_or_default();
                let (hub, session) = (Arc::clone(self), session.clone());
                tokio::spawn(async move {
                    let ack = Observe::ScreencastAck { session_id: number };
                    let _ = hub.wire.call::<Value>(Some(&session), &ack, CALL).await;
                });
            }
            (name, Some(session)) => {
                self.page_event(name, session, event.params);
                self.changed();
            }
            (_, None) => {}
        }
    }

    fn dialog(self: &Arc<Self>, session: &SessionId, params: &Value) {
        let text = params
            .get("message")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let kind = match params.get("type").and_then(Value::as_str) {
            Some("alert") => "alert",
            Some("confirm") => "confirm",
            Some("prompt") => "prompt",
            Some("beforeunload") => "beforeunload",
            Some(_) | None => "dialog",
        };
        {
            let mut state = self.state();
            let id = state.sessions.get(session).copied();
            if let Some(tab) = id.and_then(|id| state.tabs.get_mut(&id)) {
                let origin = tab.origin();
                tab.notes.push(Note::Dialog {
                    kind,
                    text: Untrusted::new(text),
                    origin,
                });
            }
        }
        let (hub, session) = (Arc::clone(self), session.clone());
        tokio::spawn(async move {
            let no = Protect::DismissDialog { accept: false };
            let _ = hub.wire.call::<Value>(Some(&session), &no, CALL).await;
            hub.changed();
        });
    }

    fn page_event(self: &Arc<Self>, name: &str, session: &SessionId, params: Value) {
        let mut state = self.state();
        let Some(id) = state.sessions.get(session).copied() else {
            return;
        };
        let Some(tab) = state.tabs.get_mut(&id) else {
            return;
        };
        let text = |key: &str| {
            params
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        match name {
            "Runtime.executionContextCreated" => {
                let context = params.get("context").unwrap_or(&Value::Null);
                let read = |key: &str| context.get(key).and_then(Value::as_str).unwrap_or_default();
                let frame = context
                    .pointer("/auxData/frameId")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                if read("name") == WORLD && !frame.is_empty() {
                    tab.worlds.insert(
                        frame.to_owned(),
                        World {
                            session: session.clone(),
                            number: context
                                .get("id")
                                .and_then(Value::as_i64)
                                .unwrap_or_default(),
                            unique: read("uniqueId").to_owned(),
                            origin: Origin::from_browser(read("origin")),
                        },
                    );
                }
            }
            "Runtime.bindingCalled" if text("name") == BINDING => {
                if let Ok(told) = serde_json::from_str::<Told>(&text("payload"))
                    && told.nonce == tab.watched.nonce
                {
                    if told.passed {
                        tab.watched.report.passed.push(told.r#type);
                    } else {
                        tab.watched.report.stopped.push(told.r#type);
                    }
                }
            }
            "Runtime.executionContextDestroyed" => {
                let gone = text("executionContextUniqueId");
                tab.worlds.retain(|_, world| world.unique != gone);
            }
            "Runtime.executionContextsCleared" => {
                tab.worlds.retain(|_, world| world.session != *session)
            }
            "Page.frameAttached" => {
                tab.frame_changes += 1;
                let frame = Frame {
                    parent: Some(text("parentFrameId")),
                    document: None,
                    url: String::new(),
                };
                tab.frames.insert(text("frameId"), frame);
            }
            "Page.frameNavigated" => {
                let frame = params.get("frame").unwrap_or(&Value::Null);
                let read = |key: &str| frame.get(key).and_then(Value::as_str).map(str::to_owned);
                let Some(frame_id) = read("id") else { return };
                let top = frame_id == tab.target;
                let url = format!(
                    "{}{}",
                    read("url").unwrap_or_default(),
                    read("urlFragment").unwrap_or_default()
                );
                if top {
                    tab.loads += 1;
                    tab.committed = tab.committed || url != "about:blank";
                }
                tab.frame_changes += 1;
                // The session of a frame in a process of its own need not know the frame around it; a frame never changes it.
                let known = tab
                    .frames
                    .get(&frame_id)
                    .and_then(|frame| frame.parent.clone());
                let parent = read("parentId").or(known);
                tab.frames.insert(
                    frame_id,
                    Frame {
                        parent,
                        document: read("loaderId").map(DocumentId::new),
                        url,
                    },
                );
            }
            "Page.frameRequestedNavigation"
                if matches!(text("disposition").as_str(), "newTab" | "newWindow") =>
            {
                let url = text("url");
                let key = asked_key(&url).to_owned();
                let asked = Asked {
                    by: id,
                    at: Instant::now(),
                    requested: key.len() < strip_fragment(&url).len(),
                };
                state.asked.insert(key, asked);
            }
            "Page.navigatedWithinDocument" => {
                if let Some(frame) = tab.frames.get_mut(&text("frameId")) {
                    frame.url = text("url");
                }
            }
            "Page.frameDetached"
                if params.get("reason").and_then(Value::as_str) != Some("swap") =>
            {
                remove_frame(tab, &text("frameId"));
            }
            "Page.frameStartedLoading" if text("frameId") == tab.target => tab.loading = true,
            "Page.frameStoppedLoading" if text("frameId") == tab.target => tab.loading = false,
            "Page.downloadWillBegin" => {
                let from = Address::parse(strip_fragment(&text("url"))).ok();
                let note = Note::DownloadStopped(from.map(|address| address.site().clone()));
                // A tab that was opened for a download closes again at once.
                let teller = tab.opener.filter(|_| !tab.committed).unwrap_or(id);
                if let Some(tab) = state.tabs.get_mut(&teller)
                    && !tab.notes.contains(&note)
                {
                    tab.notes.push(note);
                }
                let (hub, guid) = (Arc::clone(self), text("guid"));
                tokio::spawn(async move {
                    let no = Protect::CancelDownload { guid: &guid };
                    if let Err(error) = hub.wire.call::<Value>(None, &no, CALL).await {
                        tracing::warn!("a download could not be cancelled: {error}");
                    }
                });
            }
            "Page.fileChooserOpened" => tab.notes.push(Note::FileChooser),
            "Inspector.targetCrashed" => {
                tab.crashed = true;
                tab.notes.push(Note::Crashed);
            }
            "Inspector.targetReloadedAfterCrash" => tab.crashed = false,
            _other => {}
        }
    }
}

/// Where a press ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Landed {
    /// The guard saw it on the target.
    OnTarget,
    /// It did not.
    Astray,
}

/// While one of these lives, a new page without opener is kept for [`Hub::claim`]; then the rest are let go.
#[derive(Debug)]
pub(in crate::browser) struct Expected {
    hub: Arc<Hub>,
}

impl Drop for Expected {
    fn drop(&mut self) {
        let others: Vec<(String, SessionId)> = {
            let mut state = self.hub.state();
            state.creating = state.creating.saturating_sub(1);
            if state.creating > 0 {
                Vec::new()
            } else {
                state.unclaimed.drain().collect()
            }
        };
        for (target, session) in others {
            self.hub.whose(session, target);
        }
    }
}

fn info(tab: &Tab) -> TabInfo {
    let main = tab.frames.get(&tab.target);
    TabInfo {
        id: tab.id,
        origin: tab.origin(),
        url: Untrusted::new(main.map(|frame| frame.url.clone()).unwrap_or_default()),
        loading: tab.loading,
        crashed: tab.crashed,
        opener: tab.opener,
        document: main.and_then(|frame| frame.document.clone()),
        loads: tab.loads,
    }
}

fn remove_frame(tab: &mut Tab, frame: &str) {
    let mut gone = vec![frame.to_owned()];
    while let Some(name) = gone.pop() {
        tab.frames.remove(&name);
        tab.worlds.remove(&name);
        gone.extend(
            tab.frames
                .iter()
                .filter(|(_, inner)| inner.parent.as_deref() == Some(name.as_str()))
                .map(|(inner, _)| inner.clone()),
        );
    }
}

fn parsed_is_page(kind: &str) -> bool {
    kind == "Document"
}

/// An address as it is remembered: without the fragment, and without the scheme, which the browser may upgrade.
fn asked_key(url: &str) -> &str {
    let url = strip_fragment(url);
    url.strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"))
        .unwrap_or(url)
}

fn strip_fragment(url: &str) -> &str {
    url.split('#').next().unwrap_or_default()
}

async fn read_events(hub: Arc<Hub>, mut events: mpsc::Receiver<Event>) {
    while let Some(event) = events.recv().await {
        hub.on_event(event);
    }
    hub.state().tabs.clear();
    hub.changed();
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attached {
    session_id: String,
    target_info: TargetInfo,
    #[serde(default)]
    waiting_for_debugger: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetInfo {
    target_id: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    opener_id: Option<String>,
    #[serde(default)]
    opener_frame_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestPaused {
    request_id: String,
    #[serde(default)]
    frame_id: String,
    #[serde(default)]
    resource_type: String,
    request: Request,
}

#[derive(Deserialize)]
struct Request {
    url: String,
    #[serde(default)]
    method: String,
}
