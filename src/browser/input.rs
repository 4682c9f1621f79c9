//! What acts on a page. The gesture room alone imports this file (layer test), and it holds a `Written` when it does.

use std::time::Duration;

use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Browser;
use super::frames::cross;
use super::methods::{Method, Protect, methods};
use super::probe::{ControlState, ElementKey, Handle, Page, Rect, Step};
use super::script::{self, Argument};
use super::targets::{GuardReport, Landed, World};
use super::wire::{CALL, WireError};
use crate::domain::action::Direction;
use crate::domain::key::{Chord, Key, Modifier};
use crate::domain::mark::TabId;
use crate::domain::site::Address;
use crate::domain::text::Untrusted;
use crate::error::{Code, Fault, Refusal};

methods! {
    /// What acts.
    enum Act {
        /// The pointer.
        Mouse = "Input.dispatchMouseEvent" { r#type: &'static str, x: f64, y: f64, button: &'static str, buttons: u8, click_count: u8 }
        /// A key.
        Key = "Input.dispatchKeyEvent" { r#type: &'static str, key: &'a str, code: &'a str, text: Option<&'a str>, windows_virtual_key_code: u16, modifiers: u8 }
        /// The focus.
        Focus = "DOM.focus" { object_id: &'a str }
        /// To an address.
        Navigate = "Page.navigate" { url: &'a str }
        /// To an entry of the history.
        HistoryEntry = "Page.navigateToHistoryEntry" { entry_id: i64 }
        /// A tab of our own, in a window of its own so that it draws in the background.
        Create = "Target.createTarget" { url: &'static str, new_window: bool, background: bool }
    }
}

/// The acting methods, for the generated table.
pub(in crate::browser) const ACTING: &[&str] = Act::NAMES;

/// A point of the top viewport, in CSS pixels, that was hit-tested to be on the target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    x: f64,
    y: f64,
}

/// What hit-testing an element found.
#[derive(Debug, Clone, PartialEq)]
pub enum Hit {
    /// The element is at this point.
    At(Point),
    /// Something else is; its key where it is an element of this document.
    Covered(Option<ElementKey>),
    /// The element is out of sight.
    OutOfSight,
}

impl GuardReport {
    /// Whether this event reached the target.
    #[must_use]
    pub fn saw(&self, event: &str) -> bool {
        self.passed.iter().any(|passed| passed == event)
    }

    /// Whether this event was stopped.
    fn halted(&self, event: &str) -> bool {
        self.stopped.iter().any(|stopped| stopped == event)
    }

    /// Whether a guard saw where the press or the key went, be it to the target or not. Where none did, it went to a
    /// frame without a guard.
    fn knows(&self) -> bool {
        let begins = ["pointerdown", "mousedown", "keydown"];
        begins
            .iter()
            .any(|event| self.saw(event) || self.halted(event))
    }
}

/// The armed guards of a tab. Documents are held until [`Armed::finish`].
#[derive(Debug)]
#[must_use]
pub struct Armed<'a> {
    page: &'a Page,
    worlds: Vec<World>,
    open: bool,
    pressed: bool,
}

/// How a field was left.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Held {
    /// Whether it holds exactly what was wanted.
    pub same: bool,
    /// Its length in characters.
    #[serde(default)]
    pub length: usize,
    /// What it holds, unless it is sensitive.
    #[serde(default)]
    pub value: Option<String>,
}

/// What came of entering text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Entered {
    /// It went into the element.
    Entered,
    /// The page cancelled the entry when told of it: it refused the text, or entered it by itself.
    Taken,
    /// The element had not the focus; nothing was entered.
    Lost,
    /// The page was told of the text, and moved the focus or the caret away before it was entered; nothing was entered.
    Stolen,
}

/// Whether options can be chosen, and which there are.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Default)]
#[serde(default)]
pub struct Choice {
    /// Every wanted option names exactly one that can be chosen.
    pub fits: bool,
    /// One names none.
    pub unknown: bool,
    /// One names several.
    pub ambiguous: bool,
    /// One is disabled.
    pub disabled: bool,
    /// Several are wanted where one is allowed.
    pub single: bool,
    /// Label and value of each.
    pub list: Vec<(String, String)>,
}

impl Page {
    async fn act(&self, act: &Act<'_>) -> Result<Value, Refusal> {
        self.act_within(act, CALL)
            .await
            .map_err(|error| self.refusal(&error))
    }

    async fn act_within(&self, act: &impl Method, within: Duration) -> Result<Value, WireError> {
        self.hub.wire.call(Some(&self.session), act, within).await
    }

    /// Brings an element into view, through the frames around it, then lets two drawn frames pass.
    ///
    /// # Errors
    /// Where the tab or the node is gone.
    pub async fn bring_into_view(&self, handle: &Handle) -> Result<(), Refusal> {
        self.scrolled_to(handle).await?;
        self.frames_drawn().await?;
        let owners = self.owners(&handle.world).await?;
        // A frame brings what is in it into the view of the frames around it, where it can; where not, they are moved too.
        if !owners.is_empty() && self.hit_test(handle).await? == Hit::OutOfSight {
            for owner in owners.iter().rev() {
                self.scrolled_to(owner).await?;
            }
            self.scrolled_to(handle).await?;
            self.frames_drawn().await?;
        }
        Ok(())
    }

    async fn scrolled_to(&self, handle: &Handle) -> Result<(), Refusal> {
        let into = script::INTO_VIEW;
        let _: bool = self
            .value(&handle.world, into, Some(handle), Vec::new())
            .await?;
        Ok(())
    }

    /// Waits until two frames have been drawn.
    ///
    /// # Errors
    /// Where the tab is gone or does not draw.
    pub async fn frames_drawn(&self) -> Result<(), Refusal> {
        let world = self.world()?;
        let _: bool = self.value(&world, script::FRAMES, None, Vec::new()).await?;
        Ok(())
    }

    /// Hit-tests an element through shadow roots and frames: in its own document first, then in every document around it,
    /// where the frame itself must be what is hit.
    ///
    /// # Errors
    /// Where the tab or the node is gone.
    pub async fn hit_test(&self, handle: &Handle) -> Result<Hit, Refusal> {
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Found {
            x: Option<f64>,
            y: Option<f64>,
            covered: bool,
        }
        #[derive(Deserialize)]
        struct On {
            at: bool,
            #[serde(default)]
            covered: bool,
        }
        let owners = self.owners(&handle.world).await?;
        // Where each viewport lies in the document around it, and what of the innermost is in sight of all of them.
        let mut places: Vec<Rect> = Vec::new();
        for owner in &owners {
            let place = self
                .value::<Option<Rect>>(&owner.world, script::FRAME_PLACE, Some(owner), Vec::new())
                .await?;
            // Turned, scaled, cut or closed to the pointer: where anything in it is cannot be said.
            match place {
                Some(place) => places.push(place),
                None => return Ok(Hit::Covered(None)),
            }
        }
        let mut sight: Option<Rect> = None;
        for (owner, [x, y, w, h]) in owners.iter().zip(&places).rev() {
            let own: Rect = self
                .value(&owner.world, script::VIEWPORT, None, Vec::new())
                .await?;
            let around = match sight {
                Some(sight) => cross(sight, own),
                None => Some(own),
            };
            let Some(inner) = around.and_then(|around| cross(around, [*x, *y, *w, *h])) else {
                return Ok(Hit::OutOfSight);
            };
            sight = Some([inner[0] - x, inner[1] - y, inner[2], inner[3]]);
        }
        let arguments = vec![Argument::Value(json!(sight))];
        let found: Found = self
            .value(&handle.world, script::POINT, Some(handle), arguments)
            .await?;
        let (Some(mut x), Some(mut y)) = (found.x, found.y) else {
            return if found.covered {
                self.cover(&handle.world).await
            } else {
                Ok(Hit::OutOfSight)
            };
        };
        for (owner, [left, top, ..]) in owners.iter().zip(&places) {
            (x, y) = (x + left, y + top);
            let arguments = vec![Argument::Value(json!(x)), Argument::Value(json!(y))];
            let on: On = self
                .value(&owner.world, script::FRAME_AT, Some(owner), arguments)
                .await?;
            if !on.at {
                return if on.covered {
                    self.cover(&owner.world).await
                } else {
                    Ok(Hit::OutOfSight)
                };
            }
        }
        Ok(Hit::At(Point { x, y }))
    }

    /// What the last hit-test of a document found over what was wanted.
    async fn cover(&self, world: &World) -> Result<Hit, Refusal> {
        let Some(cover) = self.object(world, script::COVER, None, Vec::new()).await? else {
            return Ok(Hit::Covered(None));
        };
        let serial: u64 = self
            .value(world, script::SERIAL, Some(&cover), Vec::new())
            .await?;
        Ok(Hit::Covered(Some(self.element_key(world, serial))))
    }

    /// Arms the guard in every frame and begins to hold documents.
    ///
    /// # Errors
    /// [`Code::GuardNotLive`] where the target's own frame cannot be guarded.
    pub async fn arm<'a>(
        &'a self,
        handle: &Handle,
        pressing: Option<&str>,
    ) -> Result<Armed<'a>, Refusal> {
        let owner = self
            .object(&handle.world, script::FRAME_OWNER, Some(handle), Vec::new())
            .await?;
        let (own, target) = match owner {
            None => (handle.world.clone(), handle.clone()),
            Some(owner) => {
                let frame = self
                    .describe(&owner)
                    .await?
                    .frame_id
                    .ok_or(Code::GuardNotLive)?;
                let world = self
                    .hub
                    .frame_world(self.tab, &frame)
                    .ok_or(Code::GuardNotLive)?;
                let backend = self.describe(handle).await?.backend();
                let target = self.resolve(backend, &world).await?;
                (world, target)
            }
        };
        self.watch_new_tabs().await?;
        self.hub.hold(self.tab);
        let nonce = nonce()?;
        self.hub.watch(self.tab, &nonce);
        let frames = self.hub.frames(self.tab);
        let worlds: Vec<World> = frames.into_iter().filter_map(|(_, world)| world).collect();
        let mut armed = Armed {
            page: self,
            worlds,
            open: true,
            pressed: false,
        };
        let others = armed
            .worlds
            .iter()
            .filter(|world| world.unique != own.unique);
        let empty = join_all(others.map(|world| {
            let nonce = &nonce;
            async move {
                let arguments = vec![Argument::Value(json!(nonce))];
                let armed = self.value::<bool>(world, script::ARM_EMPTY, None, arguments);
                tokio::time::timeout(ARMING, armed).await
            }
        }));
        let arguments = vec![
            Argument::Value(json!(nonce)),
            Argument::Value(json!(pressing)),
        ];
        // Frames whose guard is not live, or that do not answer, stay dangerous only through what they ask for, and that is held.
        let (live, _) = tokio::join!(
            self.value::<bool>(&own, script::ARM, Some(&target), arguments),
            empty
        );
        match live {
            Ok(true) => Ok(armed),
            Ok(false) | Err(_) => {
                armed.finish(Landed::Astray).await;
                Err(Code::GuardNotLive.into())
            }
        }
    }

    /// A page may open tabs for some seconds after a gesture: none begins before the browser holds what they ask for.
    async fn watch_new_tabs(&self) -> Result<(), Refusal> {
        let watching = self.hub.watch_new_tabs().await;
        watching.map_err(|error| self.refusal(&error))
    }

    /// Moves the pointer.
    ///
    /// # Errors
    /// Where the tab is gone or silent.
    pub async fn pointer_to(&self, at: Point) -> Result<(), Refusal> {
        self.act(&mouse("mouseMoved", at, "none", 0, 0))
            .await
            .map(drop)
    }

    /// Presses the primary button.
    ///
    /// # Errors
    /// Where the tab is gone or silent; the effect is then not known.
    pub async fn press(&self, at: Point) -> Result<(), Refusal> {
        self.watch_new_tabs().await?;
        self.act(&mouse("mousePressed", at, "left", 1, 1))
            .await
            .map(drop)
    }

    /// Releases it.
    ///
    /// # Errors
    /// Where the tab is gone or silent; the effect is then not known.
    pub async fn release_button(&self, at: Point) -> Result<(), Refusal> {
        self.act(&mouse("mouseReleased", at, "left", 0, 1))
            .await
            .map(drop)
    }

    /// Gives an element the focus and says whether it has it.
    ///
    /// # Errors
    /// Where the tab or the node is gone.
    pub async fn focus(&self, handle: &Handle) -> Result<bool, Refusal> {
        let focus = Act::Focus {
            object_id: &handle.object,
        };
        let session = &handle.world.session;
        match self
            .hub
            .wire
            .call::<Value>(Some(session), &focus, CALL)
            .await
        {
            Ok(_) => {}
            // "Element is not focusable".
            Err(WireError::Refused(..)) => return Ok(false),
            Err(error) => return Err(self.refusal(&error)),
        }
        // That a frame in another process has the focus is told to the frames around it a moment later.
        for _ in 0..FOCUSING {
            if self.has_focus(handle).await? {
                return Ok(true);
            }
            if self.owners(&handle.world).await?.is_empty() {
                return Ok(false);
            }
            self.frames_drawn().await?;
        }
        Ok(false)
    }

    /// Whether an element has the focus: in its document, and each frame around it in its own.
    ///
    /// # Errors
    /// Where the tab or the node is gone.
    pub async fn has_focus(&self, handle: &Handle) -> Result<bool, Refusal> {
        let own: bool = self
            .value(&handle.world, script::HAS_FOCUS, Some(handle), Vec::new())
            .await?;
        if !own {
            return Ok(false);
        }
        for owner in self.owners(&handle.world).await? {
            let holds: bool = self
                .value(&owner.world, script::HOLDS_FOCUS, Some(&owner), Vec::new())
                .await?;
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Enters text into an element that has the focus, in place of everything it holds or of what is selected there.
    /// Look and entry are one step: nothing of the page runs between them, and no other element can get the text.
    ///
    /// # Errors
    /// Where the tab or the node is gone or silent; the effect is then not known.
    pub async fn enter(
        &self,
        handle: &Handle,
        text: &str,
        everything: bool,
    ) -> Result<Entered, Refusal> {
        let arguments = vec![
            Argument::Value(json!(text)),
            Argument::Value(json!(everything)),
        ];
        self.value(&handle.world, script::ENTER, Some(handle), arguments)
            .await
    }

    /// Presses and releases a key with its modifiers.
    ///
    /// # Errors
    /// Where the tab is gone or silent.
    pub async fn press_key(&self, chord: &Chord) -> Result<(), Refusal> {
        self.watch_new_tabs().await?;
        let modifiers = chord
            .modifiers()
            .iter()
            .fold(0, |bits, modifier| bits | modifier.bit());
        let strong = chord
            .modifiers()
            .iter()
            .any(|modifier| *modifier != Modifier::Shift);
        let mut own = [0_u8; 4];
        let (key, code, virtual_code, text) = match chord.key() {
            Key::Named(named) => {
                let key = if named.key == "Space" { " " } else { named.key };
                (key, named.code.to_owned(), named.virtual_code, named.text)
            }
            Key::Char(c) => {
                let text: &str = c.encode_utf8(&mut own);
                let upper = c.to_ascii_uppercase();
                let code = match c {
                    'a'..='z' | 'A'..='Z' => format!("Key{upper}"),
                    '0'..='9' => format!("Digit{c}"),
                    _ => String::new(),
                };
                let virtual_code = if c.is_ascii_alphanumeric() {
                    upper as u16
                } else {
                    0
                };
                (text, code, virtual_code, text)
            }
        };
        let text = (!text.is_empty() && !strong).then_some(text);
        let event = |r#type| Act::Key {
            r#type,
            key,
            code: &code,
            text,
            windows_virtual_key_code: virtual_code,
            modifiers,
        };
        self.act(&event(if text.is_some() {
            "keyDown"
        } else {
            "rawKeyDown"
        }))
        .await?;
        self.act(&Act::Key {
            r#type: "keyUp",
            key,
            code: &code,
            text: None,
            windows_virtual_key_code: virtual_code,
            modifiers,
        })
        .await
        .map(drop)
    }

    /// Whether a field holds exactly this text.
    ///
    /// # Errors
    /// Where the tab or the node is gone.
    pub async fn holds(&self, handle: &Handle, text: &str) -> Result<Held, Refusal> {
        self.handed(
            &handle.world,
            script::HOLDS,
            Some(handle),
            vec![Argument::Value(json!(text))],
        )
        .await
    }

    /// Sets a field that has no text to type into: dates, times, colours, ranges.
    ///
    /// # Errors
    /// Where the tab or the node is gone.
    pub async fn set_value(&self, handle: &Handle, text: &str) -> Result<Held, Refusal> {
        self.handed(
            &handle.world,
            script::SET_VALUE,
            Some(handle),
            vec![Argument::Value(json!(text))],
        )
        .await
    }

    /// Whether options of a select can be chosen; touches nothing.
    ///
    /// # Errors
    /// Where the tab or the node is gone.
    pub async fn can_choose(
        &self,
        handle: &Handle,
        options: &[Untrusted],
    ) -> Result<Choice, Refusal> {
        let wanted = options
            .iter()
            .map(|option| Argument::Value(json!(option.raw())))
            .collect();
        self.handed(&handle.world, script::CAN_CHOOSE, Some(handle), wanted)
            .await
    }

    /// Chooses options of a select.
    ///
    /// # Errors
    /// Where the tab or the node is gone.
    pub async fn choose(&self, handle: &Handle, options: &[Untrusted]) -> Result<Held, Refusal> {
        let wanted = options
            .iter()
            .map(|option| Argument::Value(json!(option.raw())))
            .collect();
        self.handed(&handle.world, script::CHOOSE, Some(handle), wanted)
            .await
    }

    /// Scrolls the box around an element, or the page; says whether anything moved.
    ///
    /// # Errors
    /// Where the tab or the node is gone.
    pub async fn scroll(
        &self,
        handle: Option<&Handle>,
        direction: Direction,
        screens: u8,
    ) -> Result<bool, Refusal> {
        #[derive(Deserialize)]
        struct Moved {
            moved: bool,
        }
        let n = f64::from(screens);
        let (dx, dy) = match direction {
            Direction::Up => (0.0, -n),
            Direction::Down => (0.0, n),
            Direction::Left => (-n, 0.0),
            Direction::Right => (n, 0.0),
        };
        let world = match handle {
            Some(handle) => handle.world.clone(),
            None => self.world()?,
        };
        let arguments = vec![Argument::Value(json!(dx)), Argument::Value(json!(dy))];
        let script = if handle.is_some() {
            script::SCROLL
        } else {
            script::SCROLL_PAGE
        };
        let moved: Moved = self.value(&world, script, handle, arguments).await?;
        self.frames_drawn().await?;
        Ok(moved.moved)
    }

    /// Sends the tab to an address; returns once the document is committed, or says that it is still on its way.
    ///
    /// # Errors
    /// [`Code::DepartureStopped`] where it led off the list, [`Code::LoadFailed`] where nothing came.
    pub async fn go(&self, address: &Address) -> Result<Went, Refusal> {
        match self
            .act_within(
                &Act::Navigate {
                    url: address.as_str(),
                },
                CALL,
            )
            .await
        {
            Ok(answer) => match answer.get("errorText").and_then(Value::as_str) {
                None => Ok(Went::Committed),
                Some("net::ERR_ABORTED")
                    if answer.get("isDownload").and_then(Value::as_bool) == Some(true) =>
                {
                    Ok(Went::Download)
                }
                Some("net::ERR_ABORTED") => Ok(Went::Stopped),
                Some(_) => Err(Code::LoadFailed.into()),
            },
            Err(WireError::Timeout(_)) => Ok(Went::OnItsWay),
            Err(error) => Err(self.refusal(&error)),
        }
    }

    /// Goes to an entry of the history.
    ///
    /// # Errors
    /// Where the tab is gone or silent.
    pub async fn step(&self, step: &Step) -> Result<(), Refusal> {
        self.act(&Act::HistoryEntry {
            entry_id: step.entry(),
        })
        .await
        .map(drop)
    }

    /// Closes the tab.
    ///
    /// # Errors
    /// Where the connection is gone.
    pub async fn close(&self) -> Result<(), Refusal> {
        let (_, target) = self.hub.session(self.tab).ok_or(Code::TabClosed)?;
        let close = Protect::CloseTarget { target_id: &target };
        self.hub
            .wire
            .call::<Value>(None, &close, CALL)
            .await
            .map_err(|error| self.refusal(&error))?;
        let _ = self.hub.until(self.tab, CALL, |_| false).await;
        Ok(())
    }
}

/// How long after an event was dispatched the guards may take to tell of it.
const TELLING: Duration = Duration::from_secs(1);

/// How many drawn frames the focus of a frame in another process may take to be known around it.
const FOCUSING: usize = 10;

/// How long another frame of the tab may take to arm its guard. One that takes longer counts as one without.
const ARMING: Duration = Duration::from_secs(1);

/// How long after a press that no guard saw what it asks for is still held.
const STRAGGLING: Duration = Duration::from_millis(1_500);

impl Armed<'_> {
    /// A press or a key is about to be dispatched: from now on, what goes astray is waited for.
    pub fn pressing(&mut self) {
        self.pressed = true;
    }

    /// What all guards have told, once one of them let this event pass or stopped anything.
    pub async fn report(&self, event: &str) -> GuardReport {
        self.told(TELLING, |told| !told.stopped.is_empty() || told.saw(event))
            .await
    }

    /// What all guards have told, once one of them let this event pass or stopped it: what came before it is told then.
    pub async fn report_to(&self, event: &str) -> GuardReport {
        self.told(TELLING, |told| told.saw(event) || told.halted(event))
            .await
    }

    async fn told(&self, within: Duration, enough: impl Fn(&GuardReport) -> bool) -> GuardReport {
        self.page.hub.told(self.page.tab, within, enough).await
    }

    /// Lets held documents go on to the site check, or refuses them, and puts the guards to rest. What was let go on may
    /// end the document, and nothing can be asked of it until then: the guards are not waited for.
    pub async fn finish(&mut self, landed: Landed) {
        let page = self.page.clone();
        if self.pressed
            && landed == Landed::Astray
            && !self.told(Duration::ZERO, |_| true).await.knows()
        {
            // The first may be somebody else's; one more is waited for.
            page.hub.stragglers(page.tab, STRAGGLING).await;
            page.hub.stragglers(page.tab, STRAGGLING / 4).await;
        }
        self.open = false;
        page.hub.release(page.tab, landed);
        let worlds = std::mem::take(&mut self.worlds);
        let rest = async move {
            let disarm = worlds
                .iter()
                .map(|world| page.value::<bool>(world, script::DISARM, None, Vec::new()));
            join_all(disarm).await;
        };
        match landed {
            Landed::OnTarget => drop(tokio::spawn(rest)),
            // A frame that does not answer keeps nobody waiting.
            Landed::Astray => drop(tokio::time::timeout(ARMING, rest).await),
        }
    }
}

impl Drop for Armed<'_> {
    /// A gesture that was cut short: what was held is refused.
    fn drop(&mut self) {
        if self.open {
            self.page.hub.release(self.page.tab, Landed::Astray);
        }
    }
}

/// How a navigation answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Went {
    /// The document is there.
    Committed,
    /// Nothing came yet.
    OnItsWay,
    /// It was stopped.
    Stopped,
    /// It is a download, which is not granted here.
    Download,
}

/// Opens a tab of our own on our empty page.
///
/// # Errors
/// Where the connection is gone or the tab does not appear.
pub async fn open_tab(browser: &Browser) -> Result<TabId, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Created {
        target_id: String,
    }
    let hub = browser.hub();
    let expected = hub.expect_tab();
    let create = Act::Create {
        url: "about:blank",
        new_window: true,
        background: true,
    };
    let lost = |error: WireError| match error {
        WireError::Lost => Refusal::new(Code::ConnectionLost),
        WireError::Timeout(_) => Refusal::new(Code::NoAnswer),
        WireError::Refused(..) | WireError::Malformed(_) => {
            Fault::internal("a tab could not be opened")
                .because(error)
                .into()
        }
    };
    let created: Created = hub.wire.call(None, &create, CALL).await.map_err(lost)?;
    hub.claim(expected, &created.target_id).await.map_err(lost)
}

/// Whether a field is written by setting its value rather than by typing.
#[must_use]
pub fn is_set_not_typed(kind: &str, state: &ControlState) -> bool {
    !state.editable
        && matches!(
            kind,
            "date" | "time" | "datetime-local" | "month" | "week" | "color" | "range"
        )
}

const fn mouse(
    r#type: &'static str,
    at: Point,
    button: &'static str,
    buttons: u8,
    click_count: u8,
) -> Act<'static> {
    Act::Mouse {
        r#type,
        x: at.x,
        y: at.y,
        button,
        buttons,
        click_count,
    }
}

/// A name no page can know, for the guard's proof that it runs.
fn nonce() -> Result<String, Fault> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| Fault::internal("no randomness").because(error))?;
    Ok(crate::domain::digest::Digest::of(&bytes).hex())
}
