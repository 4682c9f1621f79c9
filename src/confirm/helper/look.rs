//! How the window looks: a fixed layout that fits a screen of 1024x600 whatever its texts are.

use std::cell::Cell;
use std::time::Duration;

use countersign::confirm::protocol::{LONGEST_DOMAIN, Line, Put};
use countersign::domain::text::Shown;
use gtk4::pango;
use gtk4::prelude::*;
use gtk4::{
    Align, Box as Row, Builder, Button, CheckButton, Entry, Grid, Label, ScrolledWindow, Stack,
    TextDirection, Widget, Window,
};

/// The fixed part, with what a screen reader is told about it.
const FRAME: &str = include_str!("window.ui");
/// The width of the column of our labels, in pixels at scale 1.
const NAMES: i32 = 150;
/// The most characters of any foreign text; questions come with tighter caps of their own.
const LONGEST: usize = 240;
/// The most characters of a host's front that are shown.
const LONGEST_FRONT: usize = 41;
/// Up to so many critical facts get two lines each; more get one, so that the buttons stay on the screen.
const ROOMY: usize = 6;
/// With more critical facts than this, what scrolls gets one line.
const AIRY: usize = 4;
/// A text of ASCII no longer than this is surely one line.
const ONE_LINE: usize = 84;
/// The height of a line, and of the space around the details, in pixels at scale 1.
const LINE: i32 = 20;
const AROUND: i32 = 6;

/// The parts of the window that something happens to.
pub(crate) struct Look {
    pub(crate) window: Window,
    pub(crate) deny: Button,
    pub(crate) allow: Button,
    pub(crate) keyboard: CheckButton,
    pub(crate) word: Entry,
    pub(crate) confirm: Button,
    keyboard_way: Stack,
    remaining: Label,
    critical: Vec<(Label, Line)>,
    details: Grid,
    details_frame: ScrolledWindow,
    completed: Cell<bool>,
}

impl Look {
    /// Builds the window; `None` where the toolkit cannot read its own frame.
    pub(crate) fn build(put: &Put) -> Option<Self> {
        // A page in a right-to-left language must not turn the window around.
        Widget::set_default_direction(TextDirection::Ltr);
        let frame = Builder::from_string(FRAME);
        let label = |id: &str| frame.object::<Label>(id);
        label("class")?.set_text(&ours(&put.class));
        label("number")?.set_text(&format!("Journal no. {}", put.journal_number));
        label("headline")?.set_text(&ours(&put.headline));
        show_host(&label("host")?, put);
        show_or_hide(&label("note")?, &put.host_note);

        let facts: Grid = frame.object("facts")?;
        let details: Grid = frame.object("details")?;
        let many = put.facts.iter().filter(|fact| fact.critical).count();
        let lines = if many <= ROOMY { 2 } else { 1 };
        facts.set_row_spacing(if many <= ROOMY { 2 } else { 0 });
        let mut critical = Vec::new();
        for fact in &put.facts {
            if fact.critical {
                let text = value(&fact.value, lines);
                text.add_css_class("critical");
                add_row(&facts, &fact.label, &text);
                critical.push((text, fact.clone()));
            } else {
                add_row(&details, &fact.label, &value(&fact.value, 8));
            }
        }
        facts.set_visible(!critical.is_empty());
        let details_frame: ScrolledWindow = frame.object("details_frame")?;
        let ordinary: Vec<&str> = put
            .facts
            .iter()
            .filter(|fact| !fact.critical)
            .map(|fact| fact.value.as_str())
            .collect();
        details_frame.set_visible(!ordinary.is_empty());
        set_height(&details_frame, many, &ordinary, AROUND);

        let said = put.model_says.as_deref();
        frame
            .object::<Row>("model_field")?
            .set_visible(said.is_some());
        let said = said.unwrap_or_default();
        let model = label("model")?;
        model.set_text(&format!("\u{201c}{}\u{201d}", foreign(said)));
        unbroken(&model);
        set_height(&frame.object("model_frame")?, many, &[said], 0);

        Some(Self {
            window: frame.object("window")?,
            deny: frame.object("deny")?,
            allow: frame.object("allow")?,
            keyboard: frame.object("keyboard")?,
            word: frame.object("word")?,
            confirm: frame.object("confirm")?,
            keyboard_way: frame.object("keyboard_way")?,
            remaining: label("remaining")?,
            critical,
            details,
            details_frame,
            completed: Cell::new(false),
        })
    }

    /// Wakes both ways to allow, or puts them to sleep.
    pub(crate) fn set_awake(&self, awake: bool) {
        self.allow.set_sensitive(awake);
        self.keyboard.set_sensitive(awake);
        if !awake {
            self.keyboard.set_active(false);
        }
    }

    /// Shows or hides the word's field. Its room is always kept, so that no button moves.
    pub(crate) fn show_keyboard_way(&self, on: bool) {
        self.word.set_text("");
        self.confirm.set_sensitive(false);
        self.keyboard_way
            .set_visible_child_name(if on { "on" } else { "off" });
        if on {
            self.word.grab_focus();
        }
    }

    pub(crate) fn has_focus(&self, widget: &impl IsA<Widget>) -> bool {
        gtk4::prelude::GtkWindowExt::focus(&self.window).is_some_and(|focus| {
            &focus == widget.upcast_ref::<Widget>() || focus.is_ancestor(widget)
        })
    }

    /// States how long is left.
    pub(crate) fn count_down(&self, left: Duration) {
        let seconds = left.as_millis().div_ceil(1_000);
        let text = format!("Without an answer refused in {seconds} s  \u{b7}");
        if self.remaining.text() != text {
            self.remaining.set_text(&text);
        }
    }

    /// A critical value that is too wide for its lines is cut visibly, and stands in full among the details.
    pub(crate) fn show_what_was_cut(&self) {
        if self.completed.replace(true) {
            return;
        }
        for (label, fact) in &self.critical {
            if label.layout().is_ellipsized() {
                let name = format!("{} (all)", fact.label);
                add_row(&self.details, &name, &value(&fact.value, 8));
                self.details_frame.set_visible(true);
            }
        }
    }
}

/// Foreign text for a label: escaped and capped again, and kept from reordering what stands around it.
fn foreign(text: &str) -> String {
    format!("\u{2066}{}\u{2069}", Shown::escape(text, LONGEST))
}

/// A sentence of ours. It comes from the same build, yet is treated no better.
fn ours(text: &str) -> String {
    Shown::escape(text, LONGEST).to_string()
}

fn show_or_hide(label: &Label, text: &str) {
    label.set_visible(!text.is_empty());
    label.set_text(&foreign(text));
    unbroken(label);
}

/// The host, its registrable part set apart in bold.
fn show_host(label: &Label, put: &Put) {
    let over = put
        .host_prefix
        .chars()
        .count()
        .saturating_sub(LONGEST_FRONT);
    let end: String = put.host_prefix.chars().skip(over).collect();
    let front = Shown::escape(&end, LONGEST_FRONT).to_string();
    let domain = Shown::escape(&put.host_registrable, LONGEST_DOMAIN).to_string();
    let opening = "\u{2066}";
    label.set_text(&format!("{opening}{front}{domain}\u{2069}"));

    let front_ends = u32::try_from(opening.len() + front.len()).unwrap_or(u32::MAX);
    let attributes = pango::AttrList::new();
    let mut dim = pango::AttrInt::new_foreground_alpha(0xa000);
    dim.set_end_index(front_ends);
    attributes.insert(dim);
    let mut bold = pango::AttrInt::new_weight(pango::Weight::Bold);
    bold.set_start_index(front_ends);
    attributes.insert(bold);
    attributes.insert(pango::AttrInt::new_insert_hyphens(false));
    label.set_attributes(Some(&attributes));
}

/// A label for foreign text in at most `lines` lines.
fn value(text: &str, lines: i32) -> Label {
    let label = Label::new(Some(&foreign(text)));
    label.add_css_class("value");
    label.set_xalign(0.0);
    label.set_wrap(true);
    label.set_wrap_mode(pango::WrapMode::WordChar);
    label.set_lines(lines);
    label.set_ellipsize(pango::EllipsizeMode::End);
    label.set_hexpand(true);
    // Its width comes from the column, never from its text.
    label.set_max_width_chars(1);
    unbroken(&label);
    // Glyphs taller than the line are clipped, so that they cannot be drawn over another line.
    label.set_overflow(gtk4::Overflow::Hidden);
    label
}

/// A line that breaks within a word gets no hyphen, which could be taken for a part of it.
fn unbroken(label: &Label) {
    let attributes = pango::AttrList::new();
    attributes.insert(pango::AttrInt::new_insert_hyphens(false));
    label.set_attributes(Some(&attributes));
}

/// The height of a box that scrolls: its texts', up to one line where there is much that is critical, and to two lines
/// more for each critical fact fewer.
fn set_height(frame: &ScrolledWindow, critical: usize, texts: &[&str], around: i32) {
    let one_line = |text: &&str| text.is_ascii() && text.len() <= ONE_LINE;
    let wanted: usize = texts
        .iter()
        .map(|text| if one_line(text) { 1 } else { 2 })
        .sum();
    let most = if critical > AIRY {
        1
    } else {
        2 + 2 * (AIRY - critical)
    };
    let lines = i32::try_from(wanted.clamp(1, most)).unwrap_or(1);
    frame.set_size_request(-1, lines * LINE + around);
}

/// Adds a label of ours and a value below the rows that are there.
fn add_row(grid: &Grid, name: &str, value: &Label) {
    let label = Label::new(Some(&ours(name)));
    label.add_css_class("name");
    label.set_xalign(0.0);
    label.set_valign(Align::Start);
    label.set_size_request(NAMES, -1);
    label.set_ellipsize(pango::EllipsizeMode::End);
    let mut row = 0;
    while grid.child_at(0, row).is_some() {
        row += 1;
    }
    grid.attach(&label, 0, row, 1, 1);
    grid.attach(value, 1, row, 1, 1);
}
