//! Writes a look as compact lines: marks and text in reading order, page text only inside quotes (security B1).
//!
//! The grammar of a line: `# "heading"`, `"text"`, `[7] role "words" state…`, `[7] role named "name" state…` where no words can
//! be seen, `(hidden "text")`, `[frame not read]`, `[frame of ORIGIN]` to `[frame ends]` around what a listed frame of another
//! site says; several of them on one
//! line where they stand in one block or one table row. A page cannot write a line, a mark or a quote: everything of
//! its own is between quotes, with quotes, backslashes and invisible characters escaped.

use std::collections::BTreeMap;

use url::Url;

use super::number::Numbers;
use super::shelf::Remembered;
use crate::browser::probe::{ControlState, Item, Look, Print, Rect, Seen};
use crate::domain::mark::Mark;
use crate::domain::text::Shown;

/// A look, numbered and written down.
#[derive(Debug, Default)]
pub struct Composed {
    /// The lines for the model.
    pub lines: Vec<String>,
    /// What each mark stands for.
    pub marks: BTreeMap<Mark, Remembered>,
    /// Where each mark is, in CSS pixels.
    pub boxes: Vec<(Mark, Rect)>,
}

/// The longest name of a mark, in characters.
const NAME: usize = 160;
/// The longest value that is shown.
const VALUE: usize = 200;
/// The longest run of text on one line.
const RUN: usize = 2_000;

/// Numbers and writes a look.
#[must_use]
pub fn compose(look: &Look, numbers: &mut Numbers) -> Composed {
    let mut out = Composed::default();
    let mut line = Line::default();
    let mut block = u64::MAX;
    for item in &look.walked.items {
        let (own, cell) = match item {
            Item::Text { b, c, .. } | Item::Mark { b, c, .. } => (*b, *c),
            Item::Hidden { b, .. } | Item::Blocked { b, .. } | Item::Edge { b, .. } => (*b, None),
        };
        if own != block {
            line.end(&mut out.lines);
            block = own;
        }
        line.cell(cell);
        match item {
            Item::Text { s, h, .. } => line.text(s, *h),
            Item::Hidden { s, .. } => line.piece(format!("(hidden {})", quote(s, RUN))),
            Item::Blocked { .. } => line.piece("[frame not read]".to_owned()),
            Item::Edge { origin, .. } => line.piece(match origin {
                Some(origin) => format!("[frame of {origin}]"),
                None => "[frame ends]".to_owned(),
            }),
            Item::Mark {
                n, r, f, v, s, h, ..
            } => {
                let Some(seen) = look.elements.get(*n) else {
                    continue;
                };
                let mark = numbers.mark(&seen.key);
                if *h > 0 {
                    line.heading();
                }
                line.piece(describe(mark, seen, f, v, s, &look.walked.url));
                out.boxes.push((mark, *r));
                out.marks.insert(
                    mark,
                    Remembered {
                        key: seen.key.clone(),
                        print: f.clone(),
                        role: seen.role.clone(),
                        name: seen.name.clone(),
                    },
                );
            }
        }
    }
    line.end(&mut out.lines);
    out
}

/// Text of a page between quotes that it cannot close.
#[must_use]
pub fn quote(text: &str, most: usize) -> String {
    let plain = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", Shown::escape(&plain, most))
}

#[derive(Default)]
struct Line {
    pieces: Vec<String>,
    run: String,
    cell: Option<u64>,
    heading: bool,
}

impl Line {
    fn text(&mut self, words: &str, heading: u8) {
        self.heading |= heading > 0;
        self.run.push_str(words);
    }

    fn heading(&mut self) {
        self.heading = true;
    }

    fn flush(&mut self) {
        if !self.run.trim().is_empty() {
            self.pieces.push(quote(&std::mem::take(&mut self.run), RUN));
        }
    }

    fn piece(&mut self, piece: String) {
        self.flush();
        self.pieces.push(piece);
    }

    fn cell(&mut self, cell: Option<u64>) {
        if cell != self.cell {
            self.flush();
            if self.cell.is_some() && cell.is_some() && !self.pieces.is_empty() {
                self.pieces.push("|".to_owned());
            }
            self.cell = cell;
        }
    }

    fn end(&mut self, lines: &mut Vec<String>) {
        self.flush();
        if !self.pieces.is_empty() {
            let start = if self.heading { "# " } else { "" };
            lines.push(format!("{start}{}", self.pieces.join(" ")));
        }
        *self = Self::default();
    }
}

/// The role a person would say.
fn role<'a>(seen: &'a Seen, print: &'a Print) -> &'a str {
    match seen.role.as_str() {
        "" | "generic" | "none" | "StaticText" | "LabelText" | "paragraph" | "GenericContainer"
        | "Ignored" | "image" | "img" | "LayoutTable" => match print.tag.as_str() {
            "input" => print.kind.as_str(),
            "label" => "label",
            _ => "clickable",
        },
        "DisclosureTriangle" => "disclosure",
        "ComboBoxSelect" | "comboBoxSelect" | "MenuListPopup" => "combobox",
        "PopUpButton" => "menu button",
        "Date" | "InputTime" | "DateTime" | "ColorWell" => print.kind.as_str(),
        "textbox" if print.kind == "password" => "password",
        other => other,
    }
}

fn describe(
    mark: Mark,
    seen: &Seen,
    print: &Print,
    visible: &str,
    state: &ControlState,
    page: &str,
) -> String {
    let mut out = format!("[{mark}] {}", role(seen, print));
    let mut say = |piece: &str| {
        out.push(' ');
        out.push_str(piece);
    };
    let name = seen.name.raw().trim();
    // What can be seen goes before what is only said to be there (security B2).
    if !visible.is_empty() {
        say(&quote(visible, NAME));
        if !name.is_empty() && !alike(name, visible) {
            say("(named otherwise)");
        }
    } else if !name.is_empty() {
        say(&format!("named {}", quote(name, NAME)));
    } else if !print.label.is_empty() {
        say(&format!("named {}", quote(&print.label, NAME)));
    }
    if !print.href.is_empty() {
        say(&format!("-> {}", quote(&link(&print.href, page), NAME)));
    }
    if let Some(value) = &state.value {
        if state.masked {
            say(if value.is_empty() {
                "= empty (masked)"
            } else {
                "= masked"
            });
        } else {
            say(&format!("= {}", quote(value, VALUE)));
        }
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
        say(&format!("options: {}{rest}", some.join(", ")));
    }
    for (is, word) in [
        (state.checked, "checked"),
        (state.expanded, "expanded"),
        (state.selected, "selected"),
        (state.pressed, "pressed"),
    ] {
        match is {
            Some(true) => say(word),
            Some(false) => say(&format!("not {word}")),
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
            say(word);
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
