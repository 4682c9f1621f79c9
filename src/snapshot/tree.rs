//! Writes a look as compact lines: marks and text in reading order, page text only inside quotes (security B1).
//!
//! The grammar of a line: `# "heading"`, `"text"`, `[7] role "words" state…`, `[7] role named "name" state…` where no words can
//! be seen, `(hidden "text")`, `[frame not read]`, `[frame of ORIGIN]` to `[frame ends]` around what a listed frame of another
//! site says, `(12 more rows below)`; several of them on one line where they stand in one block or one table row. A page
//! cannot write a line, a mark or a quote: everything of its own is between quotes, with quotes, backslashes and invisible
//! characters escaped.

use url::Url;

use super::number::Numbers;
use super::shelf::{Known, Remembered};
use crate::browser::probe::{
    ControlState, ElementKey, Far, FarKeys, FarPrint, Item, Look, Print, Rect, Seen, Side,
};
use crate::domain::mark::Mark;
use crate::domain::site::Origin;
use crate::domain::text::Shown;

/// A look, numbered and written down.
#[derive(Debug, Default)]
pub struct Composed {
    /// What is in sight, in reading order.
    pub near: Vec<Line>,
    /// The same as it is told.
    pub told: Vec<String>,
    /// Where each mark is, in CSS pixels.
    pub boxes: Vec<(Mark, Rect)>,
}

/// The longest name of a mark, in characters.
const NAME: usize = 160;
/// The longest value that is shown.
const VALUE: usize = 200;
/// The longest run of text on one line.
const RUN: usize = 2_000;

/// One line: what stands in one block, or in one row of a table.
#[derive(Debug, Clone, Default)]
pub struct Line {
    block: u64,
    heading: u8,
    side: Option<Side>,
    parts: Vec<Part>,
}

/// A part of a line. Texts are as the page wrote them.
#[derive(Debug, Clone)]
enum Part {
    Words(String),
    Hidden(String),
    Mark(Box<Marked>),
    Rows(usize, Side),
    Blocked,
    /// Where a frame of another site begins, or ends.
    Edge(Option<Origin>),
    /// The border of two cells.
    Cell,
}

/// An element that can be acted on, as it is told.
#[derive(Debug, Clone)]
pub struct Marked {
    remembered: Remembered,
    /// The role a person would say.
    role: String,
    /// What of its words can be seen.
    words: String,
    /// What it is called, where that says something else.
    name: String,
    /// Where it leads, as it is shown.
    link: Option<String>,
    state: ControlState,
}

/// Numbers and writes a look. `clean` masks what is sensitive in what is told; what is remembered for the checks stays as
/// it was read.
pub fn compose(look: &Look, numbers: &mut Numbers, clean: impl Fn(&str) -> String) -> Composed {
    let mut boxes = Vec::new();
    let mut lines = Lines::default();
    let page = &look.walked.url;
    for item in &look.walked.items {
        match item {
            Item::Text { b, s, h, c } => lines.words(At(*b, *h, *c, None), s),
            Item::Hidden { b, s } => lines.part(At(*b, 0, None, None), Part::Hidden(s.clone())),
            Item::Blocked { b, .. } => lines.part(At(*b, 0, None, None), Part::Blocked),
            Item::Rows { b, n, o } => lines.part(At(*b, 0, None, None), Part::Rows(*n, *o)),
            Item::Edge { b, origin } => {
                lines.part(At(*b, 0, None, None), Part::Edge(origin.clone()));
            }
            Item::Mark {
                b,
                n,
                r,
                f,
                v,
                s,
                h,
                c,
            } => {
                let Some(seen) = look.elements.get(*n) else {
                    continue;
                };
                boxes.push((numbers.mark(&seen.key), *r));
                let marked = Part::Mark(Box::new(in_sight(seen, f, v, s, page, &clean)));
                lines.part(At(*b, *h, *c, None), marked);
            }
        }
    }
    let near = lines.end();
    let told = near
        .iter()
        .map(|line| line.told(|marked| numbers.mark(marked.key())))
        .collect();
    Composed { near, told, boxes }
}

/// Reads what was out of sight as lines, and puts them among those in sight, in reading order.
///
/// # Errors
/// Where it is not what the walk promises.
pub fn whole(
    near: &[Line],
    far: &str,
    keys: &FarKeys,
    page: &str,
) -> Result<Vec<Line>, serde_json::Error> {
    let mut lines = Lines::default();
    for item in serde_json::from_str::<Vec<Far>>(far)? {
        match item {
            Far::Text { b, s, h, c, o } => {
                lines.words(At(b, h, c, Some(o)), uncut(&s, FAR_TEXT));
            }
            Far::Element {
                b,
                f,
                v,
                n,
                s,
                h,
                c,
                o,
            } => {
                let marked = out_of_sight(keys.key(&f), f, v, n, s, page);
                lines.part(At(b, h, c, Some(o)), Part::Mark(Box::new(marked)));
            }
        }
    }
    // With everything there, nothing is said of what is not.
    let says = |line: &&Line| !line.parts.iter().all(|part| matches!(part, Part::Rows(..)));
    let mut all: Vec<Line> = near.iter().filter(says).cloned().collect();
    all.extend(lines.end());
    all.sort_by_key(|line| line.block);
    Ok(all)
}

impl Line {
    /// Where it lies, where it is out of sight: `(below) `.
    #[must_use]
    pub fn side(&self) -> String {
        let side = self.side.map(|side| format!("({}) ", side.word()));
        side.unwrap_or_default()
    }

    /// The line as it is told; `mark` gives each element its number.
    pub fn told(&self, mut mark: impl FnMut(&Marked) -> Mark) -> String {
        let mut out = self.side();
        if self.heading > 0 {
            out.push_str("# ");
        }
        for (place, part) in self.parts.iter().enumerate() {
            if place > 0 {
                out.push(' ');
            }
            match part {
                Part::Words(words) => out.push_str(&quote(words, RUN)),
                Part::Hidden(words) => out.push_str(&format!("(hidden {})", quote(words, RUN))),
                Part::Mark(marked) => out.push_str(&marked.told(mark(marked))),
                Part::Rows(1, side) => out.push_str(&format!("(1 more row {})", side.word())),
                Part::Rows(n, side) => out.push_str(&format!("({n} more rows {})", side.word())),
                Part::Blocked => out.push_str("[frame not read]"),
                Part::Edge(Some(origin)) => out.push_str(&format!("[frame of {origin}]")),
                Part::Edge(None) => out.push_str("[frame ends]"),
                Part::Cell => out.push('|'),
            }
        }
        out
    }

    /// Its elements.
    pub fn marked(&self) -> impl Iterator<Item = &Marked> {
        self.parts.iter().filter_map(|part| match part {
            Part::Mark(marked) => Some(&**marked),
            Part::Words(_)
            | Part::Hidden(_)
            | Part::Rows(..)
            | Part::Blocked
            | Part::Edge(_)
            | Part::Cell => None,
        })
    }

    /// The same line with everything that is told of it cleaned, before any of it is cut.
    #[must_use]
    pub fn cleaned(&self, clean: &impl Fn(&str) -> String) -> Self {
        let part = |part: &Part| match part {
            Part::Words(words) => Part::Words(clean(words)),
            Part::Hidden(words) => Part::Hidden(clean(words)),
            Part::Mark(marked) => Part::Mark(Box::new(marked.cleaned(clean))),
            Part::Rows(..) | Part::Blocked | Part::Edge(_) | Part::Cell => part.clone(),
        };
        Self {
            parts: self.parts.iter().map(part).collect(),
            ..*self
        }
    }

    /// Its words as a person reads them, names and values too.
    #[must_use]
    pub fn plain(&self) -> String {
        let mut out: Vec<String> = Vec::new();
        for part in &self.parts {
            match part {
                Part::Words(words) => out.push(words.clone()),
                Part::Mark(marked) => out.push(marked.plain()),
                Part::Hidden(_) | Part::Rows(..) | Part::Blocked | Part::Edge(_) | Part::Cell => {}
            }
        }
        out.join(" ")
    }

    /// Its place in reading order; what stands in one block shares it.
    #[must_use]
    pub const fn block(&self) -> u64 {
        self.block
    }

    /// Its level, where it is a heading; 0 where it is none.
    #[must_use]
    pub const fn heading(&self) -> u8 {
        self.heading
    }

    /// Whether it is a row of a table.
    #[must_use]
    pub fn is_row(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Cell))
    }
}

impl Marked {
    /// Which node it is.
    #[must_use]
    pub const fn key(&self) -> &ElementKey {
        &self.remembered.key
    }

    /// What it is known again by.
    #[must_use]
    pub const fn remembered(&self) -> &Remembered {
        &self.remembered
    }

    /// The role a person would say.
    #[must_use]
    pub fn role(&self) -> &str {
        &self.role
    }

    fn cleaned(&self, clean: &impl Fn(&str) -> String) -> Self {
        let mut state = self.state.clone();
        for text in state.value.iter_mut().chain(&mut state.options) {
            *text = clean(text);
        }
        Self {
            remembered: self.remembered.clone(),
            role: self.role.clone(),
            words: clean(&self.words),
            name: clean(&self.name),
            link: self.link.as_deref().map(clean),
            state,
        }
    }

    /// What it says, is called and holds.
    #[must_use]
    pub fn plain(&self) -> String {
        let value = self.state.value.as_deref().unwrap_or_default();
        [self.words.as_str(), self.name.as_str(), value].join(" ")
    }

    /// Whether it leads somewhere.
    #[must_use]
    pub const fn is_link(&self) -> bool {
        self.link.is_some()
    }

    /// Whether it is filled, chosen or checked.
    #[must_use]
    pub const fn is_field(&self) -> bool {
        let state = &self.state;
        state.value.is_some() || state.checked.is_some() || state.masked
    }

    /// The element as it is told.
    #[must_use]
    pub fn told(&self, mark: Mark) -> String {
        let mut out = format!("[{mark}] {}", self.role);
        let mut say = |piece: &str| {
            out.push(' ');
            out.push_str(piece);
        };
        // What can be seen goes before what is only said to be there (security B2).
        if !self.words.is_empty() {
            say(&quote(&self.words, NAME));
            if !self.name.is_empty() && !alike(&self.name, &self.words) {
                say("(named otherwise)");
            }
        } else if !self.name.is_empty() {
            say(&format!("named {}", quote(&self.name, NAME)));
        }
        if let Some(link) = &self.link {
            say(&format!("-> {}", quote(link, NAME)));
        }
        for piece in states(&self.state) {
            say(&piece);
        }
        out
    }
}

/// Text of a page between quotes that it cannot close.
#[must_use]
pub fn quote(text: &str, most: usize) -> String {
    let plain = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", Shown::escape(&plain, most))
}

/// Where a part stands: its block, its heading's level, its cell, and on which side of the view.
#[derive(Clone, Copy)]
struct At(u64, u8, Option<u64>, Option<Side>);

/// Gathers parts into lines.
#[derive(Default)]
struct Lines {
    done: Vec<Line>,
    line: Line,
    run: String,
    cell: Option<u64>,
}

impl Lines {
    fn words(&mut self, at: At, words: &str) {
        self.at(at);
        self.run.push_str(words);
    }

    fn part(&mut self, at: At, part: Part) {
        self.at(at);
        // A field says its own label.
        if let Part::Mark(marked) = &part
            && marked.is_field()
            && self.run.trim() == marked.words
        {
            self.run.clear();
        }
        self.flush();
        self.line.parts.push(part);
    }

    fn at(&mut self, At(block, heading, cell, side): At) {
        if block != self.line.block {
            self.end_line();
            self.line.block = block;
        }
        if cell != self.cell {
            self.flush();
            if self.cell.is_some() && cell.is_some() && !self.line.parts.is_empty() {
                self.line.parts.push(Part::Cell);
            }
            self.cell = cell;
        }
        self.line.side = side;
        self.line.heading = self.line.heading.max(heading);
    }

    fn flush(&mut self) {
        let run = std::mem::take(&mut self.run);
        if !run.trim().is_empty() {
            self.line.parts.push(Part::Words(run));
        }
    }

    fn end_line(&mut self) {
        self.flush();
        self.cell = None;
        let line = std::mem::take(&mut self.line);
        if !line.parts.is_empty() {
            self.done.push(line);
        }
    }

    fn end(mut self) -> Vec<Line> {
        self.end_line();
        self.done
    }
}

fn in_sight(
    seen: &Seen,
    print: &Print,
    visible: &str,
    state: &ControlState,
    page: &str,
    clean: &impl Fn(&str) -> String,
) -> Marked {
    let name = seen.name.raw().trim();
    let name = if name.is_empty() && visible.is_empty() {
        print.label.clone()
    } else {
        name.to_owned()
    };
    Marked {
        role: role(&seen.role, &print.tag, &print.kind).to_owned(),
        words: visible.to_owned(),
        name: clean(&name),
        link: (!print.href.is_empty()).then(|| link(&clean(&print.href), page)),
        state: state.clone(),
        remembered: Remembered {
            key: seen.key.clone(),
            known: Known::Seen {
                print: print.clone(),
                role: seen.role.clone(),
                name: seen.name.clone(),
            },
        },
    }
}

/// What is out of sight the browser was not asked about: its own tag and `role` say what it is.
fn out_of_sight(
    key: ElementKey,
    print: FarPrint,
    words: String,
    name: String,
    state: ControlState,
    page: &str,
) -> Marked {
    // As a browser does it: the first role that is one. Words of the page's own would stand outside quotes.
    let stated = print
        .role
        .split_whitespace()
        .find_map(|stated| ROLES.iter().find(|role| role.eq_ignore_ascii_case(stated)))
        .copied()
        .unwrap_or_default();
    let native = match (print.tag.as_str(), print.kind.as_str()) {
        ("a" | "area", _) => "link",
        ("button", _) | ("input", "submit" | "button" | "reset" | "image") => "button",
        ("input", "checkbox") => "checkbox",
        ("input", "radio") => "radio",
        ("input", "range") => "slider",
        ("input", "number") => "spinbutton",
        ("input", "search") => "searchbox",
        ("input", "text" | "email" | "tel" | "url" | "password") | ("textarea", _) => "textbox",
        ("select", _) if state.multiple => "listbox",
        ("select", _) => "combobox",
        ("summary", _) => "disclosure",
        (_, _) if state.editable => "textbox",
        (_, _) => "",
    };
    let said = if stated.is_empty() { native } else { stated };
    Marked {
        role: role(said, &print.tag, &print.kind).to_owned(),
        link: (!print.href.is_empty()).then(|| link(&print.href, page)),
        remembered: Remembered {
            key,
            known: Known::Far {
                print,
                words: words.clone(),
            },
        },
        words: uncut(&words, FAR_WORDS).to_owned(),
        name: uncut(&name, FAR_NAME).to_owned(),
        state,
    }
}

/// Where the page script cuts texts that are out of sight, in UTF-16 units.
const FAR_TEXT: usize = 4_000;
const FAR_WORDS: usize = 400;
const FAR_NAME: usize = 400;
/// The longest value that is known to be sensitive.
const LONGEST_VALUE: usize = 256;

/// A text without its end, where that was cut: half of a sensitive value could stand there, and nobody would know it.
fn uncut(text: &str, most: usize) -> &str {
    if text.encode_utf16().count() < most {
        return text;
    }
    let kept = most.saturating_sub(LONGEST_VALUE);
    text.char_indices()
        .nth(kept)
        .map_or(text, |(end, _)| text.get(..end).unwrap_or_default())
}

/// The roles that a page can give an element to act on.
const ROLES: [&str; 33] = [
    "button",
    "cell",
    "checkbox",
    "columnheader",
    "combobox",
    "grid",
    "gridcell",
    "heading",
    "link",
    "listbox",
    "listitem",
    "menu",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "progressbar",
    "radio",
    "radiogroup",
    "row",
    "rowheader",
    "scrollbar",
    "searchbox",
    "separator",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "tablist",
    "textbox",
    "toolbar",
    "tree",
    "treeitem",
];

/// The kinds that a field can have; an element of another language than HTML says of itself what it likes.
const KINDS: [&str; 22] = [
    "button",
    "checkbox",
    "color",
    "date",
    "datetime-local",
    "email",
    "file",
    "hidden",
    "image",
    "month",
    "number",
    "password",
    "radio",
    "range",
    "reset",
    "search",
    "submit",
    "tel",
    "text",
    "time",
    "url",
    "week",
];

/// The role a person would say.
fn role<'a>(role: &'a str, tag: &'a str, kind: &'a str) -> &'a str {
    let kind = if KINDS.contains(&kind) {
        kind
    } else {
        "clickable"
    };
    match role {
        "" | "generic" | "none" | "StaticText" | "LabelText" | "paragraph" | "GenericContainer"
        | "Ignored" | "image" | "img" | "LayoutTable" => match tag {
            "input" => kind,
            "label" => "label",
            _ => "clickable",
        },
        "DisclosureTriangle" => "disclosure",
        "ComboBoxSelect" | "comboBoxSelect" | "MenuListPopup" => "combobox",
        "PopUpButton" => "menu button",
        "Date" | "InputTime" | "DateTime" | "ColorWell" => kind,
        "textbox" if kind == "password" => "password",
        other => other,
    }
}

/// What a control holds and how it stands.
fn states(state: &ControlState) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(value) = &state.value {
        out.push(match (state.masked, value.is_empty()) {
            (true, true) => "= empty (masked)".to_owned(),
            (true, false) => "= masked".to_owned(),
            (false, _) => format!("= {}", quote(value, VALUE)),
        });
    }
    if state.option_count > 0 {
        let some: Vec<String> = state
            .options
            .iter()
            .take(12)
            .map(|option| quote(option, 60))
            .collect();
        let more = state.option_count.saturating_sub(some.len());
        let rest = if more > 0 {
            format!(", {more} more")
        } else {
            String::new()
        };
        out.push(format!("options: {}{rest}", some.join(", ")));
    }
    for (is, word) in [
        (state.checked, "checked"),
        (state.expanded, "expanded"),
        (state.selected, "selected"),
        (state.pressed, "pressed"),
    ] {
        match is {
            Some(true) => out.push(word.to_owned()),
            Some(false) => out.push(format!("not {word}")),
            None => {}
        }
    }
    for (is, word) in [
        (state.disabled, "disabled"),
        (state.readonly, "read-only"),
        (state.required, "required"),
        (state.invalid, "invalid"),
        (state.multiple, "multiple"),
        (state.focused, "focused"),
    ] {
        if is {
            out.push(word.to_owned());
        }
    }
    out
}

/// Whether a name says the same as the visible text, give or take white space and case.
fn alike(name: &str, text: &str) -> bool {
    let bare = |s: &str| {
        s.chars()
            .filter(|c| !c.is_whitespace())
            .flat_map(char::to_lowercase)
            .collect::<String>()
    };
    let (name, text) = (bare(name), bare(text));
    name.contains(&text) || text.contains(&name)
}

/// A link as a person needs it: the path on the same site, else the host with it; no credentials, no query values.
fn link(href: &str, page: &str) -> String {
    let Ok(url) = Url::parse(href) else {
        return "(unreadable)".to_owned();
    };
    if !matches!(url.scheme(), "http" | "https") {
        return format!("{}:", url.scheme());
    }
    let same = Url::parse(page).is_ok_and(|page| page.origin() == url.origin());
    let mut out = if same {
        String::new()
    } else {
        format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default())
    };
    if let (false, Some(port)) = (same, url.port()) {
        out.push_str(&format!(":{port}"));
    }
    out.push_str(url.path());
    if url.query().is_some() {
        out.push_str("?…");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_page_cannot_close_its_quotes() {
        assert_eq!(
            quote(r#"x" [9] button "Pay"#, 100),
            r#""x\" [9] button \"Pay""#
        );
        assert_eq!(quote("a\n[1] button", 100), r#""a [1] button""#);
        assert_eq!(quote("\u{202e}evil", 100), r#""\u{202E}evil""#);
        assert_eq!(quote(r"\", 100), r#""\\""#);
    }

    #[test]
    fn links_carry_no_credentials_and_no_query_values() {
        assert_eq!(
            link("https://u:p@bank.test/a?token=1#x", "https://bank.test/"),
            "/a?…"
        );
        assert_eq!(
            link("https://u:p@other.test:8443/a", "https://bank.test/"),
            "https://other.test:8443/a"
        );
        assert_eq!(
            link("javascript:alert(1)", "https://bank.test/"),
            "javascript:"
        );
    }

    proptest! {
        #[test]
        fn a_quoted_text_has_two_quotes_and_one_line(text in any::<String>()) {
            let quoted = quote(&text, 80);
            let inner = &quoted[1..quoted.len() - 1];
            let mut escaped = false;
            for c in inner.chars() {
                prop_assert!(c != '\n' && c != '\r');
                prop_assert!(escaped || c != '"', "{quoted}");
                escaped = c == '\\' && !escaped;
            }
        }
    }
}
