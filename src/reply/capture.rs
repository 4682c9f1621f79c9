//! Looks at a page: the walk, and a picture taken so that its masks fit it.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::redact::scrub;
use crate::browser::probe::{Budget, Item, Look, Moment, Page, Rect};
use crate::domain::text::Untrusted;
use crate::error::{Code, Refusal};
use crate::gesture::settle::{Parts, Settled};
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
    let mut look = page.look(budget, table).await?;
    if picture == Picture::NotWanted {
        return Ok(Capture {
            look,
            picture: Taken::NotWanted,
        });
    }
    let began = Instant::now();
    for attempt in 0..TRIES {
        if attempt > 0 {
            if began.elapsed() > PATIENCE {
                break;
            }
            look = page.look(budget, table).await?;
        }
        let before = page.geometry(&look, Moment::Before).await?;
        if !before.is_whole() {
            return Ok(Capture {
                look,
                picture: Taken::Withheld(
                    "the page is too large to be searched for what must be masked",
                ),
            });
        }
        if !before.is_steady() {
            continue;
        }
        let png = match page.screenshot().await {
            Ok(png) => png,
            Err(refusal) if refusal.code() == Code::CaptureFailed => {
                return Ok(Capture {
                    look,
                    picture: Taken::Withheld("no picture could be taken"),
                });
            }
            Err(refusal) => return Err(refusal),
        };
        let after = page.geometry(&look, Moment::After).await?;
        if before != after {
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
        return Ok(Capture {
            look,
            picture: Taken::Masked(masked),
        });
    }
    Ok(Capture {
        look,
        picture: Taken::Withheld(
            "the page kept moving, or draws a field that must be masked elsewhere than where it is, so its masks could not be placed",
        ),
    })
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

impl Capture {
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
                Item::Hidden { .. } | Item::Blocked { .. } | Item::Edge { .. } => Vec::new(),
            })
            .collect();
        bare(&scrub(&all.join(" "))).contains(&bare(text.raw()))
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
