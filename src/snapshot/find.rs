//! Searches and reads a stored snapshot: nothing here touches the page.

use super::tree::{Line, Marked};
use crate::domain::mark::Mark;

/// What `find` looks for; every given part must fit.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// Words, white space and case aside.
    pub text: Option<String>,
    /// A role as `observe` lists it.
    pub role: Option<String>,
    /// What is nearest to this mark comes first.
    pub near: Option<Mark>,
}

/// What `read` shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Headings, with how many lines stand below each.
    Outline,
    /// Everything.
    Text,
    /// Links and where they lead.
    Links,
    /// The rows of one table.
    Table,
    /// Fields and what they hold.
    Fields,
}

/// One line of an answer: which line of the snapshot it is, and what of it is shown.
#[derive(Debug, Clone)]
pub struct Hit<'a> {
    /// The line's number in the snapshot.
    pub place: usize,
    /// The line.
    pub line: &'a Line,
    /// What of it.
    pub shown: Shown<'a>,
}

/// What of a line is shown.
#[derive(Debug, Clone)]
pub enum Shown<'a> {
    /// All of it.
    Whole,
    /// These elements alone.
    Elements(Vec<&'a Marked>),
    /// It is a heading, with so many lines below it.
    Heading(usize),
}

/// White space and case aside.
#[must_use]
pub fn bare(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

/// The lines that fit. `plain` says what a line's words are, as far as they may be searched; `numbered` which mark an
/// element has.
pub fn find<'a>(
    lines: &'a [Line],
    query: &Query,
    plain: impl Fn(&str) -> String,
    numbered: impl Fn(&Marked) -> Option<Mark>,
) -> Vec<Hit<'a>> {
    let text = query.text.as_deref().map(bare);
    let mut hits: Vec<Hit<'a>> = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let says = |words: &str| {
            text.as_ref()
                .is_none_or(|text| bare(&plain(words)).contains(text))
        };
        let shown = match &query.role {
            None => says(&line.plain()).then_some(Shown::Whole),
            Some(role) => {
                let of_role = |marked: &&Marked| marked.role().eq_ignore_ascii_case(role);
                let fit: Vec<&Marked> = line.marked().filter(of_role).collect();
                let own: Vec<&Marked> = fit
                    .iter()
                    .copied()
                    .filter(|marked| says(&marked.plain()))
                    .collect();
                // A row that says it, with such an element in it: the element is what was looked for.
                match (own.is_empty(), fit.is_empty()) {
                    (false, _) => Some(Shown::Elements(own)),
                    (true, false) if says(&line.plain()) => Some(Shown::Whole),
                    (true, _) => None,
                }
            }
        };
        if let Some(shown) = shown {
            hits.push(Hit { place, line, shown });
        }
    }
    if let Some(near) = query.near {
        let has = |line: &Line| line.marked().any(|marked| numbered(marked) == Some(near));
        if let Some(here) = lines.iter().position(has) {
            hits.sort_by_key(|hit| hit.place.abs_diff(here));
        }
    }
    hits
}

/// What `read` shows of the lines from `from` on; an outline goes down to level `depth`.
#[must_use]
pub fn read(lines: &[Line], op: Op, from: usize, depth: u8) -> Vec<Hit<'_>> {
    let rest = || lines.iter().enumerate().skip(from);
    let hit = |(place, line), shown| Hit { place, line, shown };
    let elements = |wanted: fn(&Marked) -> bool| {
        rest()
            .filter_map(|(place, line)| {
                let some: Vec<&Marked> = line.marked().filter(|marked| wanted(marked)).collect();
                (!some.is_empty()).then(|| hit((place, line), Shown::Elements(some)))
            })
            .collect()
    };
    match op {
        Op::Text => rest().map(|found| hit(found, Shown::Whole)).collect(),
        Op::Outline => rest()
            .filter(|(_, line)| (1..=depth).contains(&line.heading()))
            .map(|(place, line)| {
                let below = lines.iter().skip(place + 1);
                let count = below
                    .take_while(|next| next.heading() == 0 || next.heading() > line.heading())
                    .count();
                hit((place, line), Shown::Heading(count))
            })
            .collect(),
        Op::Table => rest()
            .skip_while(|(_, line)| !line.is_row())
            .take_while(|(_, line)| line.is_row())
            .map(|found| hit(found, Shown::Whole))
            .collect(),
        Op::Links => elements(Marked::is_link),
        Op::Fields => elements(Marked::is_field),
    }
}

/// The line that holds a mark.
pub fn place_of(
    lines: &[Line],
    mark: Mark,
    numbered: impl Fn(&Marked) -> Option<Mark>,
) -> Option<usize> {
    lines
        .iter()
        .position(|line| line.marked().any(|marked| numbered(marked) == Some(mark)))
}
