//! What is wrong with a profile: every problem with its place and what to write instead.

use std::fmt;
use std::ops::Range;

use crate::domain::text::Shown;

/// At most this many problems are told at once.
const MOST: usize = 50;
/// Text quoted from the profile is cut at this many characters.
const QUOTED: usize = 120;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    line: Option<usize>,
    column: Option<usize>,
    what: String,
    instead: String,
}

impl Problem {
    /// The line, from 1, where one place is wrong rather than the whole.
    #[must_use]
    pub const fn line(&self) -> Option<usize> {
        self.line
    }

    /// The column in characters, from 1.
    #[must_use]
    pub const fn column(&self) -> Option<usize> {
        self.column
    }

    /// What is wrong.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.what
    }

    /// What to write instead.
    #[must_use]
    pub fn instead(&self) -> &str {
        &self.instead
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, "line {line}, column {column}: ")?;
        }
        write!(f, "{}; {}", self.what, self.instead)
    }
}

/// Everything that is wrong with one profile, in the order of its text; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    pub(super) fn one(what: impl Into<String>, instead: impl Into<String>) -> Self {
        Self(vec![Problem {
            line: None,
            column: None,
            what: what.into(),
            instead: instead.into(),
        }])
    }

    /// The problems.
    #[must_use]
    pub fn all(&self) -> &[Problem] {
        &self.0
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Gathers problems while a text is checked.
pub(super) struct Collector<'a> {
    text: &'a str,
    found: Vec<(usize, Problem)>,
}

impl<'a> Collector<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self {
            text,
            found: Vec::new(),
        }
    }

    /// A problem at a place of the text.
    pub(super) fn at(
        &mut self,
        span: Range<usize>,
        what: impl Into<String>,
        instead: impl Into<String>,
    ) {
        let (line, column) = self.place(span.start);
        self.found.push((
            span.start,
            Problem {
                line: Some(line),
                column: Some(column),
                what: what.into(),
                instead: instead.into(),
            },
        ));
    }

    /// A problem of the whole.
    pub(super) fn whole(&mut self, what: impl Into<String>, instead: impl Into<String>) {
        self.found.push((
            usize::MAX,
            Problem {
                line: None,
                column: None,
                what: what.into(),
                instead: instead.into(),
            },
        ));
    }

    /// Ends the check: `Ok` where nothing was found.
    pub(super) fn finish(mut self) -> Result<(), Problems> {
        if self.found.is_empty() {
            return Ok(());
        }
        self.found.sort_by_key(|(at, _)| *at);
        self.found.truncate(MOST);
        Err(Problems(
            self.found.into_iter().map(|(_, problem)| problem).collect(),
        ))
    }

    fn place(&self, offset: usize) -> (usize, usize) {
        let before = self
            .text
            .char_indices()
            .take_while(|(at, _)| *at < offset)
            .map(|(_, c)| c);
        before.fold((1, 1), |(line, column), c| match c {
            '\n' => (line + 1, 1),
            _ => (line, column + 1),
        })
    }
}

/// Text of the profile for a message: it may hold anything, and goes to a terminal.
pub(super) fn quoted(text: &str) -> String {
    format!("`{}`", Shown::escape(text, QUOTED).as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters() {
        let mut collector = Collector::new("äb\ncd");
        collector.at(4..5, "later", "x");
        collector.at(2..3, "first", "x");
        collector.whole("last", "x");
        let problems = collector.finish().unwrap_err();
        let places: Vec<_> = problems
            .all()
            .iter()
            .map(|p| (p.what(), p.line(), p.column()))
            .collect();
        assert_eq!(
            places,
            [
                ("first", Some(1), Some(2)),
                ("later", Some(2), Some(1)),
                ("last", None, None)
            ]
        );
        assert_eq!(quoted("a\u{202e}b"), "`a\\u{202E}b`");
        assert!(Collector::new("").finish().is_ok());
    }
}
