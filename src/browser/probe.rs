//! Reads pages: the whole look, and the facts of one element. [`Facts`] are made here and nowhere else.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use base64::Engine as _;
use futures_util::future::join_all;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::methods::Observe;
use super::script::{self, Argument, Script};
use super::targets::{Hub, Note, TabInfo, World};
use super::wire::{CALL, SessionId, WireError};
use crate::domain::digest::Digest;
use crate::domain::epoch::Generation;
use crate::domain::mark::TabId;
use crate::domain::secret::Secrets;
use crate::domain::site::{Address, Origin};
use crate::domain::text::Untrusted;
use crate::error::{Code, Fault, Refusal};
use crate::policy::echo::Cleaner;

/// The objects of one look are dropped together.
const GROUP: &str = "countersign";

/// Which node of which document of which connection: what a mark stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ElementKey {
    generation: Generation,
    tab: TabId,
    world: String,
    serial: u64,
    backend: i64,
}

impl ElementKey {
    /// The tab the node is in.
    #[must_use]
    pub const fn tab(&self) -> TabId {
        self.tab
    }

    pub(in crate::browser) const fn backend(&self) -> i64 {
        self.backend
    }
}

/// What identifies an element to a person, as it was read: if any of it changes, it is not what was named.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Default)]
#[serde(default)]
pub struct Print {
    /// Local name of the element.
    pub tag: String,
    /// Its `type`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its `role` attribute.
    pub role: String,
    /// The text a person reads in it.
    pub text: String,
    /// Labels that are attributes: aria-label, title, alt, placeholder, name.
    pub label: String,
    /// Where a link leads.
    pub href: String,
    /// Where its form posts to.
    pub action: String,
    /// How its form is sent.
    pub verb: String,
    /// Which window it opens in.
    pub target: String,
    /// The world's number of its parent: a node moved to another parent is not where it was.
    pub parent: u64,
    /// The world's number of the node.
    pub serial: u64,
}

/// The state of a control. Values of sensitive fields never leave the page: they arrive masked.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct ControlState {
    /// The value, masked where sensitive.
    pub value: Option<String>,
    /// Whether the field is sensitive.
    pub masked: bool,
    /// Checked or pressed.
    pub checked: Option<bool>,
    /// Expanded.
    pub expanded: Option<bool>,
    /// Selected.
    pub selected: Option<bool>,
    /// Pressed.
    pub pressed: Option<bool>,
    /// Cannot be used.
    pub disabled: bool,
    /// Cannot be written.
    pub readonly: bool,
    /// Must be filled.
    pub required: bool,
    /// Refused by the page.
    pub invalid: bool,
    /// Has the focus.
    pub focused: bool,
    /// A rich text field.
    pub editable: bool,
    /// More than one option may be chosen.
    pub multiple: bool,
    /// The first options of a select.
    pub options: Vec<String>,
    /// How many there are.
    pub option_count: usize,
}

/// A rectangle in CSS pixels of the viewport: left, top, width, height.
pub type Rect = [f64; 4];

/// The viewport of a look, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct View {
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
    /// Device pixels per CSS pixel.
    pub dpr: f64,
    /// Scrolled from the left.
    pub scroll_x: f64,
    /// Scrolled from the top.
    pub scroll_y: f64,
    /// Width of the page.
    pub page_w: f64,
    /// Height of the page.
    pub page_h: f64,
}

/// What was withheld or lies out of sight, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(default)]
pub struct Counts {
    /// Hidden from a person.
    pub hidden: usize,
    /// Covered by something else.
    pub covered: usize,
    /// Above the viewport.
    pub above: usize,
    /// Below it.
    pub below: usize,
    /// To its left.
    pub left: usize,
    /// To its right.
    pub right: usize,
    /// Left out because the budget was used up.
    pub omitted: usize,
    /// Frames that are not read.
    pub frames: usize,
}

/// One thing in reading order.
#[derive(Debug, Clone, Deserialize)]
#[allow(clippy::large_enum_variant, reason = "most items are marks")]
#[serde(tag = "k")]
pub enum Item {
    /// A run of text.
    #[serde(rename = "t")]
    Text {
        /// The block it belongs to: runs of one block are read as one line.
        b: u64,
        /// The words.
        s: String,
        /// Heading level, 0 for none.
        #[serde(default)]
        h: u8,
        /// The table cell it is in.
        #[serde(default)]
        c: Option<u64>,
    },
    /// An element that can be acted on.
    #[serde(rename = "m")]
    Mark {
        /// Its block.
        b: u64,
        /// Its place in the list of elements.
        n: usize,
        /// Its visible rectangle.
        r: Rect,
        /// What identifies it.
        f: Print,
        /// What of its words a person can see.
        #[serde(default)]
        v: String,
        /// Its state.
        s: ControlState,
        /// Heading level, 0 for none.
        #[serde(default)]
        h: u8,
        /// The table cell it is in.
        #[serde(default)]
        c: Option<u64>,
    },
    /// Text that a person could not see: only where the profile wants it marked instead of withheld.
    #[serde(rename = "h")]
    Hidden {
        /// Its block.
        b: u64,
        /// The words.
        s: String,
    },
    /// A frame that is not read.
    #[serde(rename = "f")]
    Blocked {
        /// Its block.
        b: u64,
        /// Its visible rectangle.
        r: Rect,
    },
}

/// What the walk returns.
#[derive(Debug, Clone, Deserialize)]
pub struct Walked {
    /// The document's address.
    pub url: String,
    /// Its title.
    pub title: String,
    /// The viewport.
    pub view: View,
    /// Everything seen, in reading order.
    pub items: Vec<Item>,
    /// Everything else, counted.
    pub counts: Counts,
    /// What must be covered in the picture.
    pub masks: Vec<Rect>,
    /// `loading`, `interactive` or `complete`.
    pub ready: String,
}

/// An element of a look with what only the browser knows of it.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Which node it is.
    pub key: ElementKey,
    /// Its role in the accessibility tree.
    pub role: String,
    /// Its accessible name.
    pub name: Untrusted,
}

/// A whole look.
#[derive(Debug, Clone)]
pub struct Look {
    /// The origin of the top document.
    pub origin: Origin,
    /// What the walk found.
    pub walked: Walked,
    /// Its elements, in the order of their numbers.
    pub elements: Vec<Seen>,
}

/// Where things are at one instant; equal before and after a capture, or the capture is taken again.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Geometry {
    masks: Vec<Rect>,
    whole: bool,
    steady: bool,
    marks: Vec<[i64; 4]>,
    scroll: [f64; 2],
    view: [f64; 3],
}

impl Geometry {
    /// What must be covered.
    #[must_use]
    pub fn masks(&self) -> &[Rect] {
        &self.masks
    }

    /// Whether the whole page was searched for what must be covered.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.whole
    }

    /// Whether nothing that must be covered is animated or drawn elsewhere than where it is.
    #[must_use]
    pub const fn is_steady(&self) -> bool {
        self.steady
    }
}

/// A field of the form around an element, for the person's window.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FilledField {
    /// Its label.
    pub label: String,
    /// Its value, masked where sensitive.
    pub value: String,
    /// Whether it is sensitive.
    #[serde(default)]
    pub masked: bool,
    /// The last four characters of a long sensitive number, for the person's window alone.
    #[serde(default)]
    pub ending: String,
}

/// One option of a list: what a person reads and what is sent.
#[derive(Debug, Clone, Deserialize)]
pub struct OptionFacts {
    /// What a person reads.
    pub label: String,
    /// What is sent.
    pub value: String,
}

/// Everything that a form would send, sensitive values too, as a digest under a key of this process: it can be compared
/// and nothing else. What could not be read whole is equal to nothing, not even to itself read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contents(Digest);

impl Contents {
    fn of(text: Option<String>) -> Self {
        static KEY: LazyLock<[u8; 32]> = LazyLock::new(random);
        let Some(text) = text.map(Zeroizing::new) else {
            return Self(Digest::from_bytes(random()));
        };
        let bytes = Zeroizing::new([KEY.as_slice(), text.as_bytes()].concat());
        Self(Digest::of(&bytes))
    }

    /// The digest, in hexadecimal digits.
    #[must_use]
    pub fn hex(self) -> String {
        self.0.hex()
    }
}

/// Fresh random bytes. Without any, an answer is bound to a value nobody can foresee from outside the process either.
fn random() -> [u8; 32] {
    let mut bytes = [0; 32];
    if getrandom::fill(&mut bytes).is_err() {
        let now = format!("{:?}", std::time::Instant::now());
        bytes = *Digest::of(now.as_bytes()).as_bytes();
    }
    bytes
}

impl Default for Contents {
    fn default() -> Self {
        Self::of(None)
    }
}

impl<'de> Deserialize<'de> for Contents {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::<String>::deserialize(deserializer).map(Self::of)
    }
}

#[derive(Debug, Clone, Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct RawFacts {
    gone: bool,
    print: Print,
    state: ControlState,
    visible: bool,
    effect: Option<Print>,
    effect_state: Option<ControlState>,
    submits: bool,
    form_heading: String,
    section_heading: String,
    around: String,
    page: String,
    filled: Vec<FilledField>,
    field_count: usize,
    dialog: String,
    object: String,
    contents: Contents,
    options: Vec<OptionFacts>,
    is_field: bool,
    card: bool,
    new_password: bool,
    code: bool,
    account: bool,
    url: String,
    origins: Vec<String>,
    key: String,
}

/// Facts read from the live page at one instant. Only this room makes them; they cannot be copied or built elsewhere.
#[derive(Debug)]
#[must_use]
pub enum Facts {
    /// Of one element.
    Element(Box<ElementFacts>),
    /// Of a tab.
    Tab(TabFacts),
    /// Of nothing: an address to be opened has no node yet.
    Nothing,
}

/// Facts of one element.
#[derive(Debug)]
#[must_use]
pub struct ElementFacts {
    key: ElementKey,
    raw: RawFacts,
    role: String,
    name: Untrusted,
    origins: Vec<Origin>,
    top: Origin,
}

impl ElementFacts {
    /// Which node was read.
    #[must_use]
    pub const fn key(&self) -> &ElementKey {
        &self.key
    }

    /// What identifies it now.
    #[must_use]
    pub const fn print(&self) -> &Print {
        &self.raw.print
    }

    /// Its state.
    #[must_use]
    pub const fn state(&self) -> &ControlState {
        &self.raw.state
    }

    /// Its role in the accessibility tree.
    #[must_use]
    pub fn role(&self) -> &str {
        &self.role
    }

    /// Its accessible name.
    #[must_use]
    pub const fn name(&self) -> &Untrusted {
        &self.name
    }

    /// Whether a person could see it.
    #[must_use]
    pub const fn visible(&self) -> bool {
        self.raw.visible
    }

    /// What the gesture amounts to, where that is another element: a label's control, a form's default button.
    #[must_use]
    pub const fn effect(&self) -> Option<&Print> {
        self.raw.effect.as_ref()
    }

    /// The state of that other element.
    #[must_use]
    pub const fn effect_state(&self) -> Option<&ControlState> {
        self.raw.effect_state.as_ref()
    }

    /// Whether the gesture submits a form.
    #[must_use]
    pub const fn submits(&self) -> bool {
        self.raw.submits
    }

    /// The heading of the form around it.
    #[must_use]
    pub fn form_heading(&self) -> &str {
        &self.raw.form_heading
    }

    /// The nearest heading before it.
    #[must_use]
    pub fn section_heading(&self) -> &str {
        &self.raw.section_heading
    }

    /// The visible text of the form or section around it, sensitive values masked.
    #[must_use]
    pub fn around(&self) -> &str {
        &self.raw.around
    }

    /// The document's title.
    #[must_use]
    pub fn page_title(&self) -> &str {
        &self.raw.page
    }

    /// The visible fields of the form, masked where sensitive.
    #[must_use]
    pub fn filled(&self) -> &[FilledField] {
        &self.raw.filled
    }

    /// How many visible fields the form has.
    #[must_use]
    pub const fn field_count(&self) -> usize {
        self.raw.field_count
    }

    /// What the dialog around it says, sensitive values masked.
    #[must_use]
    pub fn dialog(&self) -> &str {
        &self.raw.dialog
    }

    /// What the row, list item or dialog around it says, sensitive values masked.
    #[must_use]
    pub fn object(&self) -> &str {
        &self.raw.object
    }

    /// What the form would send, and the thing it is about.
    #[must_use]
    pub const fn contents(&self) -> Contents {
        self.raw.contents
    }

    /// The options of a list.
    #[must_use]
    pub fn options(&self) -> &[OptionFacts] {
        &self.raw.options
    }

    /// Whether the gesture goes to a field or what stands for one, and not to something that is pressed.
    #[must_use]
    pub const fn is_field(&self) -> bool {
        self.raw.is_field
    }

    /// Whether the form has card fields.
    #[must_use]
    pub const fn has_card_fields(&self) -> bool {
        self.raw.card
    }

    /// Whether the form sets a new password.
    #[must_use]
    pub const fn sets_password(&self) -> bool {
        self.raw.new_password
    }

    /// Whether the form asks for a one-time code.
    #[must_use]
    pub const fn asks_code(&self) -> bool {
        self.raw.code
    }

    /// Whether the form names an account.
    #[must_use]
    pub const fn names_account(&self) -> bool {
        self.raw.account
    }

    /// The address of the element's document.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.raw.url
    }

    /// The element's access key, if any.
    #[must_use]
    pub fn access_key(&self) -> &str {
        &self.raw.key
    }

    /// The origins of the element's frame and of every frame around it, innermost first.
    #[must_use]
    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// The origin of the top document as the browser states it.
    #[must_use]
    pub const fn top(&self) -> &Origin {
        &self.top
    }
}

/// Facts of a tab.
#[derive(Debug)]
#[must_use]
pub struct TabFacts {
    generation: Generation,
    info: TabInfo,
}

impl TabFacts {
    /// The tab.
    #[must_use]
    pub const fn tab(&self) -> TabId {
        self.info.id
    }

    /// Which connection it was read over.
    #[must_use]
    pub const fn generation(&self) -> Generation {
        self.generation
    }

    /// The origin of its document.
    #[must_use]
    pub const fn origin(&self) -> &Origin {
        &self.info.origin
    }

    /// Its address, as page text.
    #[must_use]
    pub const fn url(&self) -> &Untrusted {
        &self.info.url
    }

    /// Whether it has crashed.
    #[must_use]
    pub const fn crashed(&self) -> bool {
        self.info.crashed
    }

    /// Which document it shows.
    #[must_use]
    pub const fn document(&self) -> Option<&crate::domain::epoch::DocumentId> {
        self.info.document.as_ref()
    }
}

/// An object of the page's isolated world, for one call.
#[derive(Debug, Clone)]
pub struct Handle(pub(in crate::browser) String);

/// One tab of the session, for reading.
#[derive(Debug, Clone)]
pub struct Page {
    pub(in crate::browser) hub: Arc<Hub>,
    pub(in crate::browser) tab: TabId,
    pub(in crate::browser) session: SessionId,
}

/// The budget of a walk.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Most marks.
    pub marks: usize,
    /// Most characters of text.
    pub text: usize,
    /// Most nodes visited.
    pub nodes: usize,
    /// Most points that are hit-tested: on a page of one huge paragraph each costs a search through all of it.
    pub hits: usize,
    /// Whether text that a person could not see is given, marked, instead of withheld.
    pub hidden: bool,
}

impl Page {
    /// The tab's name.
    #[must_use]
    pub const fn id(&self) -> TabId {
        self.tab
    }

    /// What is known of the tab without asking the page.
    ///
    /// # Errors
    /// [`Code::TabClosed`] where it is gone.
    pub fn info(&self) -> Result<TabInfo, Refusal> {
        self.hub.tab(self.tab).ok_or_else(|| Code::TabClosed.into())
    }

    /// What cleans the text of a document of this origin.
    #[must_use]
    pub fn cleaner(&self, origin: &Origin) -> Cleaner {
        self.hub.known.on(origin)
    }

    /// The notes of the tab, told once.
    #[must_use]
    pub fn take_notes(&self) -> Vec<Note> {
        self.hub.take_notes(self.tab)
    }

    /// Whether such a note is waiting.
    #[must_use]
    pub fn has_note(&self, wanted: impl Fn(&Note) -> bool) -> bool {
        self.hub.has_note(self.tab, wanted)
    }

    /// Waits for a state of the tab; `Ok(false)` when the time is up.
    ///
    /// # Errors
    /// [`Code::TabClosed`] where it is gone.
    pub async fn until(
        &self,
        within: Duration,
        wanted: impl Fn(&TabInfo) -> bool,
    ) -> Result<bool, Refusal> {
        self.hub
            .until(self.tab, within, wanted)
            .await
            .ok_or_else(|| Code::TabClosed.into())
    }

    /// Facts of the tab itself.
    ///
    /// # Errors
    /// [`Code::TabClosed`] where it is gone.
    pub fn tab_facts(&self) -> Result<Facts, Refusal> {
        Ok(Facts::Tab(TabFacts {
            generation: self.hub.generation,
            info: self.info()?,
        }))
    }

    /// The whole look: the walk beside the browser's own numbers, roles and names.
    ///
    /// # Errors
    /// Where the tab is gone, silent or shows nothing that can be read.
    pub async fn look(&self, budget: Budget, table: &Value) -> Result<Look, Refusal> {
        let world = self.world()?;
        let closed = self.closed_roots(&world).await?;
        let limits = json!({"marks": budget.marks, "text": budget.text, "nodes": budget.nodes, "hits": budget.hits, "hidden": budget.hidden});
        let mut arguments = vec![
            Argument::Value(limits),
            Argument::Value(table.clone()),
            Argument::Value(self.hub.known.of(&world.origin)),
        ];
        arguments.extend(closed.iter().map(|root| Argument::ObjectId(root)));
        let walked: Walked = self.handed(&world, script::WALK, None, arguments).await?;
        let handles = self.list(&world, script::LOOKED).await?;
        let serials = walked.items.iter().filter_map(|item| match item {
            Item::Mark { n, f, .. } => Some((*n, f.serial)),
            Item::Text { .. } | Item::Hidden { .. } | Item::Blocked { .. } => None,
        });
        let mut by_place = vec![0_u64; handles.len()];
        for (place, serial) in serials {
            if let Some(slot) = by_place.get_mut(place) {
                *slot = serial;
            }
        }
        let elements = join_all(
            handles
                .iter()
                .zip(by_place)
                .map(|(handle, serial)| self.seen(&world, handle, serial)),
        )
        .await
        .into_iter()
        .collect::<Result<Vec<Seen>, Refusal>>()?;
        self.release().await;
        if self.world()?.unique != world.unique {
            return Err(Code::Stale.into());
        }
        Ok(Look {
            origin: self.info()?.origin,
            walked,
            elements,
        })
    }

    /// Where marks and masks are now.
    ///
    /// # Errors
    /// As [`Page::look`].
    pub async fn geometry(&self) -> Result<Geometry, Refusal> {
        let world = self.world()?;
        self.value(&world, script::GEOMETRY, None, Vec::new()).await
    }

    /// The visible part of the page as PNG bytes, at device scale.
    ///
    /// # Errors
    /// [`Code::CaptureFailed`] where the browser gives none.
    pub async fn screenshot(&self) -> Result<Vec<u8>, Refusal> {
        #[derive(Deserialize)]
        struct Shot {
            data: String,
        }
        let shoot = Observe::Screenshot {
            format: "png",
            optimize_for_speed: true,
            capture_beyond_viewport: false,
        };
        let shot: Shot = self.wire(&shoot, CALL).await.map_err(|refusal| {
            if matches!(refusal.code(), Code::NoAnswer | Code::Internal) {
                Refusal::new(Code::CaptureFailed)
            } else {
                refusal
            }
        })?;
        base64::engine::general_purpose::STANDARD
            .decode(shot.data)
            .map_err(|_| Code::CaptureFailed.into())
    }

    /// The remembered element as an object of its document's world.
    ///
    /// # Errors
    /// [`Code::Stale`] where the document or the node is not there any more.
    pub async fn handle(&self, key: &ElementKey) -> Result<Handle, Refusal> {
        let world = self.world()?;
        if key.generation != self.hub.generation || key.tab != self.tab || key.world != world.unique
        {
            return Err(Code::Stale.into());
        }
        let object = self
            .object(
                &world,
                script::BY_SERIAL,
                None,
                vec![Argument::Value(json!(key.serial))],
            )
            .await?
            .ok_or(Code::Stale)?;
        if self.backend(&object).await? != key.backend {
            return Err(Code::Stale.into());
        }
        Ok(Handle(object))
    }

    /// Reads the facts of a remembered element. `key` names the key that is about to be pressed on it, if any.
    ///
    /// # Errors
    /// [`Code::Stale`] where the node is not there any more.
    pub async fn facts(
        &self,
        key: &ElementKey,
        table: &Value,
        pressing: Option<&str>,
    ) -> Result<Facts, Refusal> {
        let handle = self.handle(key).await?;
        self.facts_of(key.clone(), &handle, table, pressing).await
    }

    async fn facts_of(
        &self,
        key: ElementKey,
        handle: &Handle,
        table: &Value,
        pressing: Option<&str>,
    ) -> Result<Facts, Refusal> {
        let world = self.world()?;
        let arguments = vec![
            Argument::Value(table.clone()),
            Argument::Value(json!(pressing)),
        ];
        let (raw, accessible) = tokio::join!(
            self.handed::<RawFacts>(&world, script::FACTS, Some(handle), arguments),
            self.accessible(key.backend)
        );
        let (raw, (role, name)) = (raw?, accessible?);
        if raw.gone {
            return Err(Code::Stale.into());
        }
        let origins = raw
            .origins
            .iter()
            .map(|origin| Origin::from_browser(origin))
            .collect();
        Ok(Facts::Element(Box::new(ElementFacts {
            key,
            raw,
            role,
            name,
            origins,
            top: world.origin,
        })))
    }

    /// The number of what has the focus, if the focus is on an element of this document.
    ///
    /// # Errors
    /// As [`Page::look`].
    pub async fn focused(&self) -> Result<Option<ElementKey>, Refusal> {
        let world = self.world()?;
        let Some(object) = self
            .object(&world, script::FOCUSED, None, Vec::new())
            .await?
        else {
            return Ok(None);
        };
        let handle = Handle(object);
        let serial: u64 = self
            .value(&world, script::SERIAL, Some(&handle), Vec::new())
            .await?;
        let backend = self.backend(&handle.0).await?;
        Ok(Some(self.element_key(&world, serial, backend)))
    }

    /// Waits for the next change of the document, at most `within`.
    ///
    /// # Errors
    /// As [`Page::look`].
    pub async fn change(&self, within: Duration) -> Result<bool, Refusal> {
        let world = self.world()?;
        let ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        let call = self.function(
            &world,
            script::CHANGED,
            None,
            vec![Argument::Value(json!(ms))],
            true,
            true,
        );
        self.wire::<Returned<bool>>(&call, within + CALL)
            .await
            .map(|returned| returned.result.value)
    }

    /// Waits until the document has not changed for `quiet`, at most `most`.
    ///
    /// # Errors
    /// As [`Page::look`].
    pub async fn rest(&self, quiet: Duration, most: Duration) -> Result<u64, Refusal> {
        let world = self.world()?;
        let ms =
            |d: Duration| Argument::Value(json!(u64::try_from(d.as_millis()).unwrap_or(u64::MAX)));
        let call = self.function(
            &world,
            script::REST,
            None,
            vec![ms(quiet), ms(most)],
            true,
            true,
        );
        self.wire::<Returned<u64>>(&call, most + CALL)
            .await
            .map(|returned| returned.result.value)
    }

    /// The address one step back or forward in the tab's own history, and the step itself.
    ///
    /// # Errors
    /// Where the tab is gone, or the entry is no address.
    pub async fn history_step(&self, by: i64) -> Result<Option<Step>, Refusal> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct History {
            current_index: i64,
            entries: Vec<Entry>,
        }
        #[derive(Deserialize)]
        struct Entry {
            id: i64,
            url: String,
        }
        let history: History = self.wire(&Observe::History {}, CALL).await?;
        let wanted = usize::try_from(history.current_index + by).ok();
        let entry = wanted.and_then(|index| history.entries.into_iter().nth(index));
        Ok(entry.and_then(|entry| {
            Some(Step {
                entry: entry.id,
                address: Address::parse(&entry.url).ok()?,
            })
        }))
    }

    // ---- the calls underneath -------------------------------------------------------------------------------------------

    pub(in crate::browser) fn world(&self) -> Result<World, Refusal> {
        let info = self.info()?;
        if info.crashed {
            return Err(Code::TabCrashed.into());
        }
        self.hub
            .world(self.tab)
            .ok_or_else(|| Code::NothingThere.into())
    }

    pub(in crate::browser) fn element_key(
        &self,
        world: &World,
        serial: u64,
        backend: i64,
    ) -> ElementKey {
        ElementKey {
            generation: self.hub.generation,
            tab: self.tab,
            world: world.unique.clone(),
            serial,
            backend,
        }
    }

    async fn seen(&self, world: &World, handle: &Handle, serial: u64) -> Result<Seen, Refusal> {
        let backend = self.backend(&handle.0).await?;
        let (role, name) = self.accessible(backend).await?;
        Ok(Seen {
            key: self.element_key(world, serial, backend),
            role,
            name,
        })
    }

    async fn backend(&self, object: &str) -> Result<i64, Refusal> {
        Ok(self.describe(object).await?.backend_node_id)
    }

    pub(in crate::browser) async fn describe(&self, object: &str) -> Result<Described, Refusal> {
        let described: Describe = self
            .wire(
                &Observe::DescribeNode {
                    object_id: object,
                    depth: 0,
                },
                CALL,
            )
            .await?;
        Ok(described.node)
    }

    /// Role and name by the browser's own reckoning. (`Accessibility.queryAXTree` would be cheaper in a very long paragraph, but
    /// has no answer until the document has loaded.)
    async fn accessible(&self, backend: i64) -> Result<(String, Untrusted), Refusal> {
        #[derive(Deserialize)]
        struct Tree {
            nodes: Vec<AxNode>,
        }
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct AxNode {
            role: AxValue,
            name: AxValue,
        }
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct AxValue {
            value: Value,
        }
        let ask = Observe::PartialTree {
            backend_node_id: backend,
            fetch_relatives: false,
        };
        let tree: Tree = self.wire(&ask, CALL).await?;
        let node = tree.nodes.into_iter().next().unwrap_or_default();
        let text = |value: &AxValue| value.value.as_str().unwrap_or_default().to_owned();
        Ok((text(&node.role), Untrusted::new(text(&node.name))))
    }

    async fn closed_roots(&self, world: &World) -> Result<Vec<String>, Refusal> {
        #[derive(Deserialize)]
        struct Flat {
            nodes: Vec<FlatNode>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct FlatNode {
            backend_node_id: i64,
            #[serde(default)]
            shadow_root_type: Option<String>,
            #[serde(default)]
            shadow_roots: Vec<FlatNode>,
        }
        #[derive(Deserialize)]
        struct Resolved {
            object: Object,
        }
        let flat: Flat = self
            .wire(
                &Observe::FlatDocument {
                    depth: -1,
                    pierce: true,
                },
                CALL,
            )
            .await?;
        let closed = flat
            .nodes
            .into_iter()
            .flat_map(|node| node.shadow_roots)
            .filter(|root| root.shadow_root_type.as_deref() == Some("closed"));
        let resolved = join_all(closed.map(|node| async move {
            let resolve = Observe::ResolveNode {
                backend_node_id: node.backend_node_id,
                execution_context_id: world.number,
                object_group: GROUP,
            };
            // A root inside a frame of another document cannot be brought into this world and is left out.
            self.wire::<Resolved>(&resolve, CALL)
                .await
                .ok()
                .and_then(|resolved| resolved.object.object_id)
        }));
        Ok(resolved.await.into_iter().flatten().collect())
    }

    /// Calls a constant function and reads its value.
    pub(in crate::browser) async fn value<T: DeserializeOwned>(
        &self,
        world: &World,
        script: Script,
        this: Option<&Handle>,
        arguments: Vec<Argument<'_>>,
    ) -> Result<T, Refusal> {
        let call = self.function(world, script, this, arguments, true, true);
        Ok(self
            .wire_on::<Returned<T>>(&world.session, &call, CALL)
            .await?
            .result
            .value)
    }

    /// The same for what also hands over what the page's sensitive fields held: that is kept before anything of the
    /// answer can leave, and it is no part of the answer.
    pub(in crate::browser) async fn handed<T: DeserializeOwned>(
        &self,
        world: &World,
        script: Script,
        this: Option<&Handle>,
        arguments: Vec<Argument<'_>>,
    ) -> Result<T, Refusal> {
        let handed: Handed<T> = self.value(world, script, this, arguments).await?;
        self.hub.known.learn(&world.origin, handed.held);
        Ok(handed.read)
    }

    /// Calls a constant function and keeps the object it returns; `None` for null.
    pub(in crate::browser) async fn object(
        &self,
        world: &World,
        script: Script,
        this: Option<&Handle>,
        arguments: Vec<Argument<'_>>,
    ) -> Result<Option<String>, Refusal> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct ReturnedObject {
            result: Object,
            #[serde(default)]
            exception_details: Option<Value>,
        }
        let call = self.function(world, script, this, arguments, false, false);
        let returned = self
            .wire_on::<ReturnedObject>(&world.session, &call, CALL)
            .await?;
        if returned.exception_details.is_some() {
            return Err(Fault::internal("a script of ours failed in the page").into());
        }
        Ok(returned.result.object_id)
    }

    async fn list(&self, world: &World, script: Script) -> Result<Vec<Handle>, Refusal> {
        #[derive(Deserialize)]
        struct Members {
            result: Vec<Member>,
        }
        #[derive(Deserialize)]
        struct Member {
            name: String,
            #[serde(default)]
            value: Option<Object>,
        }
        let list = self
            .object(world, script, None, Vec::new())
            .await?
            .ok_or_else(|| Fault::internal("no list"))?;
        let members: Members = self
            .wire(
                &Observe::Properties {
                    object_id: &list,
                    own_properties: true,
                },
                CALL,
            )
            .await?;
        let mut placed: Vec<(usize, Handle)> = members
            .result
            .into_iter()
            .filter_map(|member| {
                Some((member.name.parse().ok()?, Handle(member.value?.object_id?)))
            })
            .collect();
        placed.sort_by_key(|(place, _)| *place);
        Ok(placed.into_iter().map(|(_, handle)| handle).collect())
    }

    pub(in crate::browser) fn function<'a>(
        &self,
        world: &'a World,
        script: Script,
        this: Option<&'a Handle>,
        arguments: Vec<Argument<'a>>,
        by_value: bool,
        wait: bool,
    ) -> Observe<'a> {
        Observe::CallFunction {
            function_declaration: script.text(),
            object_id: this.map(|handle| handle.0.as_str()),
            unique_context_id: if this.is_some() {
                None
            } else {
                Some(world.unique.as_str())
            },
            arguments,
            return_by_value: by_value,
            await_promise: wait,
            object_group: GROUP,
            silent: true,
        }
    }

    pub(in crate::browser) async fn release(&self) {
        let _ = self
            .wire::<Value>(
                &Observe::ReleaseGroup {
                    object_group: GROUP,
                },
                CALL,
            )
            .await;
    }

    async fn wire<T: DeserializeOwned>(
        &self,
        method: &Observe<'_>,
        within: Duration,
    ) -> Result<T, Refusal> {
        self.wire_on(&self.session, method, within).await
    }

    pub(in crate::browser) async fn wire_on<T: DeserializeOwned>(
        &self,
        session: &SessionId,
        method: &Observe<'_>,
        within: Duration,
    ) -> Result<T, Refusal> {
        self.hub
            .wire
            .call(Some(session), method, within)
            .await
            .map_err(|error| self.refusal(&error))
    }

    /// What a failed call means for the caller.
    pub(in crate::browser) fn refusal(&self, error: &WireError) -> Refusal {
        match error {
            WireError::Lost => Code::ConnectionLost.into(),
            WireError::Timeout(_) => Code::NoAnswer.into(),
            WireError::Malformed(_) => {
                Fault::internal("an answer of the browser was not as promised")
                    .because(error.clone())
                    .into()
            }
            WireError::Refused(method, _) => {
                if self.hub.tab(self.tab).is_none() {
                    return Code::TabClosed.into();
                }
                // A document that went away while it was read, or a node that did.
                if matches!(
                    *method,
                    "DOM.describeNode"
                        | "Runtime.callFunctionOn"
                        | "Runtime.getProperties"
                        | "Accessibility.getPartialAXTree"
                        | "DOM.resolveNode"
                ) {
                    tracing::debug!("{error}");
                    return Code::Stale.into();
                }
                Fault::internal("a call to the browser failed")
                    .because(error.clone())
                    .into()
            }
        }
    }
}

/// A step in a tab's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    entry: i64,
    /// Where it leads.
    pub address: Address,
}

impl Step {
    pub(in crate::browser) const fn entry(&self) -> i64 {
        self.entry
    }
}

#[derive(Debug, Deserialize)]
struct Describe {
    node: Described,
}

/// A node's own number and the frame it holds.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::browser) struct Described {
    backend_node_id: i64,
    #[serde(default)]
    pub(in crate::browser) frame_id: Option<String>,
}

impl Described {
    /// The browser's number of the node.
    pub(in crate::browser) const fn backend(&self) -> i64 {
        self.backend_node_id
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Object {
    #[serde(default)]
    object_id: Option<String>,
}

#[derive(Deserialize)]
struct Returned<T> {
    result: ByValue<T>,
}

#[derive(Deserialize)]
struct Handed<T> {
    read: T,
    held: Secrets,
}

#[derive(Deserialize)]
struct ByValue<T> {
    value: T,
}
