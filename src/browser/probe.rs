//! Reads pages: the whole look, and the facts of one element. [`Facts`] are made here and nowhere else.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use base64::Engine as _;
use futures_util::future::join_all;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::frames::{Part, ReadFrame};
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
pub(in crate::browser) const GROUP: &str = "countersign";

/// How many frames deep the focus is followed.
const FOCUS_DEPTH: usize = 16;

/// How deep closed shadow roots are followed into each other.
const DEPTH: usize = 8;

/// Which node of which document of which connection: what a mark stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ElementKey {
    generation: Generation,
    tab: TabId,
    world: String,
    serial: u64,
}

impl ElementKey {
    /// The tab the node is in.
    #[must_use]
    pub const fn tab(&self) -> TabId {
        self.tab
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

/// On which side of the view something lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Above it.
    Above,
    /// Below it.
    Below,
    /// To its left.
    Left,
    /// To its right.
    Right,
}

impl Side {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Above => "above",
            Self::Below => "below",
            Self::Left => "left",
            Self::Right => "right",
        }
    }
}

/// One thing out of sight, judged by its style alone: there are no pixels to look at.
#[derive(Debug, Clone, Deserialize)]
#[allow(clippy::large_enum_variant, reason = "parsed when it is asked for")]
#[serde(tag = "k")]
pub enum Far {
    /// A run of text.
    #[serde(rename = "t")]
    Text {
        /// Its block.
        b: u64,
        /// The words.
        s: String,
        /// Heading level, 0 for none.
        #[serde(default)]
        h: u8,
        /// The table cell it is in.
        #[serde(default)]
        c: Option<u64>,
        /// Where.
        o: Side,
    },
    /// An element that can be acted on once it is in sight.
    #[serde(rename = "e")]
    Element {
        /// Its block.
        b: u64,
        /// What it is known again by.
        #[serde(flatten)]
        f: FarPrint,
        /// Its words.
        #[serde(default)]
        v: String,
        /// What it is called, where it has no words.
        #[serde(default)]
        n: String,
        /// Its state, of a field and what opens or is checked.
        #[serde(default)]
        s: ControlState,
        /// Heading level, 0 for none.
        #[serde(default)]
        h: u8,
        /// The table cell it is in.
        #[serde(default)]
        c: Option<u64>,
        /// Where.
        o: Side,
    },
}

/// What an element that was out of sight is known again by. All its words count, also those that cannot be seen.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FarPrint {
    /// The world's number of the node.
    #[serde(rename = "q")]
    pub serial: u64,
    /// The world's number of its parent.
    #[serde(rename = "p")]
    pub parent: u64,
    /// Local name of the element.
    #[serde(rename = "g")]
    pub tag: String,
    /// Its `type`.
    #[serde(rename = "y", default)]
    pub kind: String,
    /// Its `role` attribute.
    #[serde(rename = "l", default)]
    pub role: String,
    /// Where a link leads.
    #[serde(rename = "u", default)]
    pub href: String,
    /// All its words, where they are others than those that can be seen.
    #[serde(rename = "x", default)]
    pub content: Option<String>,
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
    /// More rows or items of the list that stands here, out of sight.
    #[serde(rename = "r")]
    Rows {
        /// Its block.
        b: u64,
        /// How many.
        n: usize,
        /// On which side.
        o: Side,
    },
    /// A frame that is not read.
    #[serde(rename = "f")]
    Blocked {
        /// Its block.
        b: u64,
        /// Its visible rectangle.
        r: Rect,
        /// Its world's number of the frame element.
        #[serde(default)]
        e: u64,
        /// Where its document lies, if that can be said: then it may be read in a world of its own.
        #[serde(default)]
        p: Option<Place>,
        /// Which of the worlds of this look it stands in; 0 is the top document's.
        #[serde(skip)]
        within: usize,
    },
    /// Where the document of a frame of another site begins or ends.
    #[serde(skip)]
    Edge {
        /// Its block.
        b: u64,
        /// The origin whose document begins; `None` where it ends.
        origin: Option<Origin>,
    },
}

/// Where a frame's document lies in the top document.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Place {
    /// Its viewport.
    pub view: Rect,
    /// What of it is in sight.
    pub clip: Rect,
    /// Boxes that something lies over, each with 1 where it is something that is drawn.
    pub covers: Vec<[f64; 5]>,
    /// How much is left of it by the opacity of what is around it.
    pub opacity: f64,
}

/// What is left of a walk's budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
pub struct Left {
    /// Characters of text.
    pub text: usize,
    /// Hit-tests.
    pub hits: usize,
    /// Nodes.
    pub nodes: usize,
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
    /// Where everything in this document was when it was read, where a picture is wanted and no frame is still to be read.
    #[serde(default)]
    pub(in crate::browser) geometry: Option<Part>,
    /// How many marks there are.
    marks: usize,
    /// How many elements in sight might have a closed shadow root and were never asked.
    hosts: usize,
    /// What it left of its budget.
    #[serde(default)]
    pub left: Left,
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
    /// What is out of sight, as it came: [`Far`] in reading order.
    pub far: Arc<str>,
    pub(in crate::browser) world: String,
    pub(in crate::browser) generation: Generation,
    pub(in crate::browser) tab: TabId,
    /// The frames of other sites that were read, outer ones first.
    pub(in crate::browser) frames: Vec<ReadFrame>,
}

impl Look {
    /// The origins of all documents that were read.
    #[must_use]
    pub fn origins(&self) -> Vec<Origin> {
        let frames = self.frames.iter().map(ReadFrame::origin);
        std::iter::once(&self.origin)
            .chain(frames)
            .cloned()
            .collect()
    }

    /// The key of an element out of sight.
    #[must_use]
    pub fn keys(&self) -> FarKeys {
        FarKeys {
            generation: self.generation,
            tab: self.tab,
            world: self.world.clone(),
        }
    }
}

/// Makes the keys of elements of one look that were out of sight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FarKeys {
    generation: Generation,
    tab: TabId,
    world: String,
}

impl FarKeys {
    /// The key of one of them.
    #[must_use]
    pub fn key(&self, print: &FarPrint) -> ElementKey {
        ElementKey {
            generation: self.generation,
            tab: self.tab,
            world: self.world.clone(),
            serial: print.serial,
        }
    }
}

/// A walk of one document whose elements the browser has not been asked about yet.
#[derive(Debug)]
#[must_use]
pub(in crate::browser) struct Walk {
    pub(in crate::browser) world: World,
    pub(in crate::browser) walked: Walked,
    pub(in crate::browser) far: Arc<str>,
    handles: Vec<Handle>,
}

/// Where things are at one instant; equal before and after a capture, or the capture is taken again.
#[derive(Debug, Clone, PartialEq)]
pub struct Geometry {
    pub(in crate::browser) masks: Vec<Rect>,
    pub(in crate::browser) whole: bool,
    pub(in crate::browser) steady: bool,
    /// What each document said, the top one first; `None` for a frame that could not be asked and is covered.
    pub(in crate::browser) parts: Vec<Option<Part>>,
    /// How often a frame came or went in this tab.
    pub(in crate::browser) changes: u64,
}

/// When geometry is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Before a picture: from now on what moves is noticed.
    Before,
    /// After it.
    After,
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
    content: String,
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

    /// All its words now, seen or not.
    #[must_use]
    pub fn content(&self) -> &str {
        &self.raw.content
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

/// An object of an isolated world, for one call.
#[derive(Debug, Clone)]
pub struct Handle {
    pub(in crate::browser) object: String,
    pub(in crate::browser) world: World,
}

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
    /// Most bytes of what is out of sight.
    pub far: usize,
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

    /// What cleans the text of documents of these origins.
    #[must_use]
    pub fn cleaner(&self, origins: &[Origin]) -> Cleaner {
        self.hub.known.among(origins)
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

    /// One walk of one document; with `picture`, it also says where everything is, for [`Page::geometry`] to be compared with.
    pub(in crate::browser) async fn walk(
        &self,
        world: &World,
        budget: Budget,
        table: &Value,
        place: Option<&Place>,
        picture: bool,
    ) -> Result<Walk, Refusal> {
        #[derive(Deserialize)]
        struct Texts {
            near: String,
            far: String,
        }
        let limits = json!({
            "marks": budget.marks, "text": budget.text, "nodes": budget.nodes, "hits": budget.hits,
            "hidden": budget.hidden, "far": budget.far, "picture": picture, "place": place,
        });
        let mut closed = Vec::new();
        for _ in 0..DEPTH {
            let mut arguments = vec![
                Argument::Value(limits.clone()),
                Argument::Value(table.clone()),
                Argument::Value(self.hub.known.of(&world.origin)),
            ];
            arguments.extend(
                closed
                    .iter()
                    .map(|root: &Handle| Argument::ObjectId(&root.object)),
            );
            let (count, texts) = tokio::join!(
                self.node_count(world),
                self.handed::<Texts>(world, script::WALK, None, arguments)
            );
            let texts = texts?;
            let walked: Walked = serde_json::from_str(&texts.near).map_err(|error| {
                Fault::internal("the walk's answer was not as promised").because(error)
            })?;
            let mut handles = self.list(world, script::LOOKED).await?;
            let hosts = handles.split_off(walked.marks.min(handles.len()));
            // Where the process holds as many nodes as when they were asked, none of them has got a root since.
            let asked = self.hub.asked_at(self.tab, &world.unique, count);
            let ask = if asked { walked.hosts } else { hosts.len() };
            let hosts = hosts.get(..ask.min(hosts.len())).unwrap_or_default();
            closed = self.closed_roots(world, hosts).await?;
            if closed.is_empty() {
                return Ok(Walk {
                    world: world.clone(),
                    walked,
                    far: texts.far.into(),
                    handles,
                });
            }
        }
        // Roots in roots beyond any use: what is in them stays unread, and so does the page.
        Err(Code::NothingThere.into())
    }

    /// Asks the browser for the role and name of each mark of a walk.
    pub(in crate::browser) async fn named(&self, walk: &Walk) -> Result<Vec<Seen>, Refusal> {
        let Walk {
            world,
            walked,
            handles,
            ..
        } = walk;
        let mut by_place = vec![0_u64; handles.len()];
        for item in &walked.items {
            if let Item::Mark { n, f, .. } = item
                && let Some(slot) = by_place.get_mut(*n)
            {
                *slot = f.serial;
            }
        }
        let elements = join_all(
            handles
                .iter()
                .zip(by_place)
                .map(|(handle, serial)| self.seen(handle, serial)),
        )
        .await
        .into_iter()
        .collect::<Result<Vec<Seen>, Refusal>>()?;
        self.release(world).await;
        Ok(elements)
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
        if self.info()?.crashed {
            return Err(Code::TabCrashed.into());
        }
        if key.generation != self.hub.generation || key.tab != self.tab {
            return Err(Code::Stale.into());
        }
        // The document is the one of then, in whatever frame: a world's name never comes back.
        let chain = self.hub.chain_of(self.tab, &key.world).ok_or(Code::Stale)?;
        let (_, world) = chain.into_iter().next().ok_or(Code::Stale)?;
        let handle = self
            .object(
                &world,
                script::BY_SERIAL,
                None,
                vec![Argument::Value(json!(key.serial))],
            )
            .await?
            .ok_or(Code::Stale)?;
        Ok(handle)
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
        let top = self.world()?.origin;
        let arguments = vec![
            Argument::Value(table.clone()),
            Argument::Value(json!(pressing)),
        ];
        let (raw, accessible) = tokio::join!(
            self.handed::<RawFacts>(&handle.world, script::FACTS, Some(handle), arguments),
            self.accessible(handle)
        );
        let (raw, (role, name)) = (raw?, accessible?);
        if raw.gone {
            return Err(Code::Stale.into());
        }
        // The frames around this world's document as the browser states them, whatever the page says.
        let chain = self.hub.chain_of(self.tab, &key.world).ok_or(Code::Stale)?;
        let mut origins: Vec<Origin> = raw
            .origins
            .iter()
            .map(|origin| Origin::from_browser(origin))
            .collect();
        if origins.last() != Some(&handle.world.origin) {
            return Err(Code::OpaqueOrigin.into());
        }
        origins.extend(chain.into_iter().skip(1).map(|(_, world)| world.origin));
        Ok(Facts::Element(Box::new(ElementFacts {
            key,
            raw,
            role,
            name,
            origins,
            top,
        })))
    }

    /// The number of what has the focus, in whatever readable frame it is.
    ///
    /// # Errors
    /// As [`Page::look`].
    pub async fn focused(&self) -> Result<Option<ElementKey>, Refusal> {
        let mut world = self.world()?;
        for _ in 0..FOCUS_DEPTH {
            let found = self.object(&world, script::FOCUSED, None, Vec::new());
            let Some(handle) = found.await? else {
                return Ok(None);
            };
            let described = self.describe(&handle).await?;
            let inner = described.frame_id.as_deref();
            if let Some(inner) = inner.and_then(|frame| self.readable_frame(frame))
                && inner.unique != world.unique
            {
                world = inner;
                continue;
            }
            let serial: u64 = self
                .value(&world, script::SERIAL, Some(&handle), Vec::new())
                .await?;
            return Ok(Some(self.element_key(&world, serial)));
        }
        Ok(None)
    }

    /// Waits for the next change of the page, in any of its readable documents, at most `within`.
    ///
    /// # Errors
    /// As [`Page::look`].
    pub async fn change(&self, within: Duration) -> Result<bool, Refusal> {
        let top = self.world()?;
        let ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        let changed = |world: World| async move {
            let arguments = vec![Argument::Value(json!(ms))];
            let call = self.function(&world, script::CHANGED, None, arguments, true, true);
            self.wire_on::<Returned<bool>>(&world.session, &call, within + CALL)
                .await
                .map(|returned| returned.result.value)
        };
        let own = changed(top.clone());
        let worlds = self.frames_beside(&top);
        if worlds.is_empty() {
            return own.await;
        }
        let frames = worlds.into_iter().map(|world| Box::pin(changed(world)));
        let frames = futures_util::future::select_ok(frames);
        tokio::select! {
            own = own => own,
            // A frame in which nothing came, or that ended, says nothing of the rest.
            Ok((true, _)) = frames => Ok(true),
        }
    }

    /// Waits until the page has not changed for `quiet`, at most `most`. A frame that does not answer is not waited for.
    ///
    /// # Errors
    /// As [`Page::look`].
    pub async fn rest(&self, quiet: Duration, most: Duration) -> Result<u64, Refusal> {
        let top = self.world()?;
        let ms = |d: Duration| json!(u64::try_from(d.as_millis()).unwrap_or(u64::MAX));
        let rested = |world: World| async move {
            let arguments = vec![Argument::Value(ms(quiet)), Argument::Value(ms(most))];
            let call = self.function(&world, script::REST, None, arguments, true, true);
            self.wire_on::<Returned<u64>>(&world.session, &call, most + CALL)
                .await
                .map(|returned| returned.result.value)
        };
        let frames = self.frames_beside(&top).into_iter().map(rested);
        let frames = tokio::time::timeout(most + quiet, join_all(frames));
        tokio::join!(rested(top.clone()), frames).0
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

    pub(in crate::browser) fn element_key(&self, world: &World, serial: u64) -> ElementKey {
        ElementKey {
            generation: self.hub.generation,
            tab: self.tab,
            world: world.unique.clone(),
            serial,
        }
    }

    async fn seen(&self, handle: &Handle, serial: u64) -> Result<Seen, Refusal> {
        let (role, name) = self.accessible(handle).await?;
        Ok(Seen {
            key: self.element_key(&handle.world, serial),
            role,
            name,
        })
    }

    pub(in crate::browser) async fn describe(&self, handle: &Handle) -> Result<Described, Refusal> {
        let describe = Observe::DescribeNode {
            object_id: &handle.object,
            depth: 0,
        };
        let described: Describe = self.wire_on(&handle.world.session, &describe, CALL).await?;
        Ok(described.node)
    }

    /// Role and name by the browser's own reckoning. (`Accessibility.queryAXTree` would be cheaper in a very long paragraph, but
    /// has no answer until the document has loaded.)
    async fn accessible(&self, handle: &Handle) -> Result<(String, Untrusted), Refusal> {
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
            object_id: &handle.object,
            fetch_relatives: false,
        };
        let tree: Tree = self.wire_on(&handle.world.session, &ask, CALL).await?;
        let node = tree.nodes.into_iter().next().unwrap_or_default();
        let text = |value: &AxValue| value.value.as_str().unwrap_or_default().to_owned();
        Ok((text(&node.role), Untrusted::new(text(&node.name))))
    }

    /// How many nodes the page's process holds; `None` where it does not say.
    async fn node_count(&self, world: &World) -> Option<u64> {
        #[derive(Deserialize)]
        struct Counters {
            nodes: u64,
        }
        let counters = self
            .wire_on::<Counters>(&world.session, &Observe::NodeCount {}, CALL)
            .await;
        counters.ok().map(|counters| counters.nodes)
    }

    /// The closed shadow roots of these elements, as objects of the world. A walk cannot see them.
    async fn closed_roots(&self, world: &World, hosts: &[Handle]) -> Result<Vec<Handle>, Refusal> {
        let described = join_all(hosts.iter().map(|host| self.describe(host))).await;
        let closed = described
            .into_iter()
            // One that is gone meanwhile has none.
            .filter_map(Result::ok)
            .flat_map(|node| node.shadow_roots)
            .filter(|root| root.shadow_root_type == "closed");
        let resolved = join_all(closed.map(|root| self.resolve(root.backend_node_id, world))).await;
        // A root inside a frame of another document cannot be brought into this world and is left out.
        Ok(resolved.into_iter().filter_map(Result::ok).collect())
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
    ) -> Result<Option<Handle>, Refusal> {
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
        Ok(returned.result.object_id.map(|object| Handle {
            object,
            world: world.clone(),
        }))
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
            .wire_on(
                &world.session,
                &Observe::Properties {
                    object_id: &list.object,
                    own_properties: true,
                },
                CALL,
            )
            .await?;
        let mut placed: Vec<(usize, Handle)> = members
            .result
            .into_iter()
            .filter_map(|member| {
                let handle = Handle {
                    object: member.value?.object_id?,
                    world: world.clone(),
                };
                Some((member.name.parse().ok()?, handle))
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
            object_id: this.map(|handle| handle.object.as_str()),
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

    async fn release(&self, world: &World) {
        let release = Observe::ReleaseGroup {
            object_group: GROUP,
        };
        let _ = self.wire_on::<Value>(&world.session, &release, CALL).await;
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
                        | "DOM.getFrameOwner"
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
    #[serde(default)]
    shadow_roots: Vec<ShadowRoot>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShadowRoot {
    backend_node_id: i64,
    #[serde(default)]
    shadow_root_type: String,
}

impl Described {
    /// The browser's number of the node.
    pub(in crate::browser) const fn backend(&self) -> i64 {
        self.backend_node_id
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::browser) struct Object {
    #[serde(default)]
    pub(in crate::browser) object_id: Option<String>,
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
