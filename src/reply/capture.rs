//! Looks at a page: the walk, and a picture taken so that its masks fit it.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::browser::probe::{Budget, Item, Look, Moment, Page, Rect};
use crate::domain::text::Untrusted;
use crate::error::{Code, Refusal};
use crate::gesture::settle::{Parts, Settled};
use crate::policy::echo::Cleaner;
use crate::snapshot::draw::Masked;

/// Whether a picture is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Picture {
    /// Take one.
    Wanted,
    /// The text is enough.
    NotWanted,
}

/// What became of the picture.
#[derive(Debug)]
pub enum Taken {
    /// It was not asked for.
    NotWanted,
    /// It is masked.
    Masked(Masked),
    /// It could not be taken so that its masks fit; it is withheld, and the reply says so.
    Withheld(&'static str),
}

/// A look with its picture. Only [`super::redact`] lets anything of it out.
#[derive(Debug)]
#[must_use = "a capture is redacted"]
pub struct Capture {
    pub(super) look: Look,
    pub(super) picture: Taken,
    pub(super) cleaner: Cleaner,
}

/// A settled gesture with the page as it is now, if it could be seen.
#[derive(Debug)]
#[must_use = "a capture is redacted"]
pub struct Captured {
    pub(super) parts: Parts,
    pub(super) after: Result<Capture, Refusal>,
}

/// How often a picture is taken again because the page moved meanwhile.
const TRIES: usize = 3;

/// After this long none is taken again: a page that is that slow would hold its caller up.
const PATIENCE: Duration = Duration::from_secs(6);

/// Takes a look. The geometry is read before and after the picture: if anything moved, all of it is taken again, and in
/// the end rather no picture than one whose masks do not fit (security B3).
///
/// # Errors
/// Where the page cannot be read.
pub async fn look(
    page: &Page,
    budget: Budget,
    table: &Value,
    picture: Picture,
) -> Result<Capture, Refusal> {
    if picture == Picture::NotWanted {
        let look = page.look(budget, table).await?;
        return Ok(Capture::of(page, look, Taken::NotWanted));
    }
    let began = Instant::now();
    let mut last = None;
    for attempt in 0..TRIES {
        if attempt > 0 && began.elapsed() > PATIENCE {
            break;
        }
        // The browser is asked for names while it draws.
        let (look, before, shot) = page.look_and_draw(budget, table).await?;
        if !before.is_whole() {
            let why = "the page is too large to be searched for what must be masked";
            return Ok(Capture::of(page, look, Taken::Withheld(why)));
        }
        if !before.is_steady() {
            last = Some(look);
            continue;
        }
        let png = match shot {
            Ok(png) => png,
            Err(refusal) if refusal.code() == Code::CaptureFailed => {
                let why = "no picture could be taken";
                return Ok(Capture::of(page, look, Taken::Withheld(why)));
            }
            Err(refusal) => return Err(refusal),
        };
        let after = page.geometry(&look, Moment::After).await?;
        if before != after {
            last = Some(look);
            continue;
        }
        let masks: Vec<Rect> = look
            .walked
            .masks
            .iter()
            .chain(before.masks())
            .copied()
            .collect();
        let masked = Masked::cover(&png, look.walked.view.w, &masks)?;
        return Ok(Capture::of(page, look, Taken::Masked(masked)));
    }
    let look = last.ok_or(Code::CaptureFailed)?;
    let why = "the page kept moving, or draws a field that must be masked elsewhere than where it is, so its masks could not be placed";
    Ok(Capture::of(page, look, Taken::Withheld(why)))
}

/// Captures what a gesture left. A failure is carried inside: the outcome is written all the same.
pub async fn after(settled: Settled, budget: Budget, table: &Value, picture: Picture) -> Captured {
    let parts = settled.into_parts();
    let after = match &parts.page {
        Some(page) => look(page, budget, table, picture).await,
        None => Err(Code::TabClosed.into()),
    };
    Captured { parts, after }
}

/// Masks what is sensitive in what was read, before any of it is cut or written down. What a person reads as one text may
/// be many: a value may begin in one of them and end in another.
fn cleaned(items: &mut [Item], cleaner: &Cleaner) {
    // Numbers of cards and accounts, in what stands on one line; in fields, where they have one for each group of digits.
    for line in items.chunk_by_mut(|a, b| place(a) == place(b)) {
        let mut words: Vec<&mut String> = Vec::new();
        let mut values: Vec<&mut String> = Vec::new();
        for item in line {
            match item {
                Item::Text { s, .. } => words.push(s),
                Item::Mark { v, s, .. } => {
                    words.push(v);
                    values.extend(s.value.as_mut().filter(|value| is_group(value)));
                }
                Item::Hidden { .. }
                | Item::Rows { .. }
                | Item::Blocked { .. }
                | Item::Edge { .. } => {}
            }
        }
        replace(words, Cleaner::clean_line);
        replace(values, Cleaner::clean_line);
    }
    let mut texts: Vec<&mut String> = Vec::new();
    for item in items {
        match item {
            Item::Text { s, .. } | Item::Hidden { s, .. } => texts.push(s),
            Item::Mark { v, s, .. } => {
                texts.push(v);
                texts.extend(s.value.as_mut());
                for option in &mut s.options {
                    *option = cleaner.clean(option);
                }
            }
            Item::Rows { .. } | Item::Blocked { .. } | Item::Edge { .. } => {}
        }
    }
    replace(texts, |texts| cleaner.clean_all(texts));
}

fn replace(texts: Vec<&mut String>, clean: impl Fn(&[&str]) -> Vec<String>) {
    let read: Vec<&str> = texts.iter().map(|text| text.as_str()).collect();
    let cleaned = clean(&read);
    for (text, cleaned) in texts.into_iter().zip(cleaned) {
        *text = cleaned;
    }
}

/// The line, and the table cell in it.
const fn place(item: &Item) -> (u64, Option<u64>) {
    match item {
        Item::Text { b, c, .. } | Item::Mark { b, c, .. } => (*b, *c),
        Item::Hidden { b, .. }
        | Item::Rows { b, .. }
        | Item::Blocked { b, .. }
        | Item::Edge { b, .. } => (*b, None),
    }
}

fn is_group(value: &str) -> bool {
    (2..=6).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_digit())
}

impl Capture {
    /// Cleaned with all that is known once the page was read.
    fn of(page: &Page, mut look: Look, picture: Taken) -> Self {
        let cleaner = page.cleaner(&look.origins());
        cleaned(&mut look.walked.items, &cleaner);
        Self {
            look,
            picture,
            cleaner,
        }
    }

    /// The origin that was read.
    #[must_use]
    pub const fn origin(&self) -> &crate::domain::site::Origin {
        &self.look.origin
    }

    /// Whether the page shows this text, white space and case aside, in its text or in the words of a mark. What a look
    /// would mask is not there: nobody can guess at it piece by piece.
    #[must_use]
    pub fn shows(&self, text: &Untrusted) -> bool {
        let bare = |text: &str| {
            text.split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .to_lowercase()
        };
        let all: Vec<&str> = self
            .look
            .walked
            .items
            .iter()
            .flat_map(|item| match item {
                Item::Text { s, .. } => vec![s.as_str()],
                Item::Mark { v, s, .. } => {
                    vec![v.as_str(), s.value.as_deref().unwrap_or_default()]
                }
                Item::Hidden { .. }
                | Item::Rows { .. }
                | Item::Blocked { .. }
                | Item::Edge { .. } => Vec::new(),
            })
            .collect();
        bare(&self.cleaner.clean(&all.join(" "))).contains(&bare(text.raw()))
    }

    /// Whether the document has loaded.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.look.walked.ready == "complete"
    }

    /// The masked picture at full scale, to be sealed.
    #[must_use]
    pub fn sealable(&self) -> Option<Vec<u8>> {
        match &self.picture {
            Taken::Masked(masked) => masked.png().ok(),
            Taken::NotWanted | Taken::Withheld(_) => None,
        }
    }
}

impl Captured {
    /// The page as it is now, where it could be seen.
    #[must_use]
    pub fn seen(&self) -> Option<&Capture> {
        self.after.as_ref().ok()
    }

    /// Drops what was seen: it is not from a site that may be read.
    pub fn unseen(self, refusal: Refusal) -> Self {
        Self {
            parts: self.parts,
            after: Err(refusal),
        }
    }

    /// The tab, where there is one still.
    #[must_use]
    pub fn tab(&self) -> Option<crate::domain::mark::TabId> {
        self.parts.page.as_ref().map(Page::id)
    }
}
