//! Word patterns of the shipped vocabulary and of the operator's own locks: their grammar.
//!
//! A pattern is a few words: `(place|submit) (your|the|) order`. Parentheses hold alternatives, an empty alternative or a
//! `?` after a word or group makes it optional, `^` and `$` tie the pattern to the beginning and end of the text, and `*` at either end of
//! the pattern lets the first or last word go on (`lösch*`, for compounds). Where one pair of parentheses holds the whole
//! pattern, each alternative has ends of its own: `(^share$|share with)`.

use std::fmt;

use super::normalise::{Alphabet, read};

/// A pattern is at most this long, in bytes.
const LONGEST: usize = 2_000;
/// Parentheses may hold parentheses this deep.
const DEEPEST: usize = 4;
/// A pattern that may go on in the middle of a word needs this many letters, or it would find itself everywhere.
const SHORTEST_OPEN: usize = 4;

/// A parsed pattern.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pub(super) branches: Vec<Branch>,
}

/// One alternative of the whole pattern, with its ends.
#[derive(Debug, Clone)]
pub(super) struct Branch {
    pub(super) items: Vec<Item>,
    pub(super) bounds: Bounds,
}

/// What ties a branch to the text around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) at_beginning: bool,
    pub(super) at_end: bool,
    pub(super) open_beginning: bool,
    pub(super) open_end: bool,
}

/// A part of a branch.
#[derive(Debug, Clone)]
pub(super) enum Item {
    /// A word, in each way it is spelt.
    Word(Vec<Spelling>),
    /// One of several sequences; an empty one makes the item optional.
    OneOf(Vec<Vec<Item>>),
}

/// The letters of a word as each reading of a text would have them.
#[derive(Debug, Clone)]
pub(super) struct Spelling {
    plain: Vec<char>,
    lookalike: Vec<char>,
}

impl Spelling {
    fn of(word: &str) -> Self {
        let letters = |alphabet| read(word, alphabet).letters().to_vec();
        Self {
            plain: letters(Alphabet::Plain),
            lookalike: letters(Alphabet::Lookalike),
        }
    }

    pub(super) fn letters(&self, alphabet: Alphabet) -> &[char] {
        match alphabet {
            Alphabet::Plain => &self.plain,
            Alphabet::Lookalike => &self.lookalike,
        }
    }
}

impl Pattern {
    /// Parses a pattern.
    pub(super) fn parse(text: &str) -> Result<Self, PatternError> {
        if text.len() > LONGEST {
            return Err(PatternError::TooLong);
        }
        let branches = alternatives_of_the_whole(text.trim())
            .into_iter()
            .map(Branch::parse)
            .collect::<Result<_, _>>()?;
        Ok(Self { branches })
    }

    /// The pattern as the source of a regular expression that JavaScript and Rust read alike, for a text in small letters
    /// without marks.
    pub(super) fn expression(&self) -> String {
        let branches: Vec<String> = self.branches.iter().map(Branch::expression).collect();
        branches.join("|")
    }
}

/// The alternatives of a pattern that is one pair of parentheses, otherwise the pattern itself.
fn alternatives_of_the_whole(text: &str) -> Vec<&str> {
    let Some(inner) = text
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
    else {
        return vec![text];
    };
    let mut depth = 0_usize;
    let mut cuts = Vec::new();
    for (at, c) in inner.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return vec![text],
            ')' => depth -= 1,
            '|' if depth == 0 => cuts.push(at),
            _ => {}
        }
    }
    let mut start = 0;
    let mut branches = Vec::new();
    for cut in cuts.into_iter().chain([inner.len()]) {
        branches.push(inner.get(start..cut).unwrap_or_default().trim());
        start = cut + 1;
    }
    branches
}

impl Branch {
    fn parse(text: &str) -> Result<Self, PatternError> {
        let mut rest = text;
        let mut strip = |mark: char, front: bool| {
            let found = if front {
                rest.strip_prefix(mark)
            } else {
                rest.strip_suffix(mark)
            };
            rest = found.unwrap_or(rest);
            found.is_some()
        };
        let bounds = Bounds {
            at_beginning: strip('^', true),
            at_end: strip('$', false),
            open_beginning: strip('*', true),
            open_end: strip('*', false),
        };
        let mut parser = Parser {
            chars: rest.chars().collect(),
            at: 0,
        };
        let items = parser.sequence(0)?;
        if parser.at < parser.chars.len() {
            return Err(PatternError::Unbalanced);
        }
        let shortest = shortest_sequence(&items);
        if shortest == 0 {
            return Err(PatternError::Empty);
        }
        if (bounds.open_beginning || bounds.open_end) && shortest < SHORTEST_OPEN {
            return Err(PatternError::TooOpen);
        }
        Ok(Self { items, bounds })
    }

    fn expression(&self) -> String {
        let bound = |open: bool, tied: bool, end: &str| match (tied, open) {
            (true, _) => end.to_owned(),
            (false, true) => String::new(),
            (false, false) => format!("(?:[^a-z]|{end})"),
        };
        format!(
            "{}{}{}",
            bound(self.bounds.open_beginning, self.bounds.at_beginning, "^"),
            sequence_expression(&self.items),
            bound(self.bounds.open_end, self.bounds.at_end, "$"),
        )
    }
}

fn sequence_expression(items: &[Item]) -> String {
    const GAP: &str = "[^a-z]*";
    items
        .iter()
        .map(|item| {
            let alternatives: Vec<String> = match item {
                Item::Word(spellings) => spellings
                    .iter()
                    .map(|spelling| spelling.plain.iter().collect::<String>() + GAP)
                    .collect(),
                Item::OneOf(sequences) => {
                    sequences.iter().map(|s| sequence_expression(s)).collect()
                }
            };
            format!("(?:{})", alternatives.join("|"))
        })
        .collect()
}

/// The fewest letters a sequence stands for.
fn shortest_sequence(items: &[Item]) -> usize {
    items
        .iter()
        .map(|item| match item {
            Item::Word(spellings) => spellings.iter().map(|s| s.plain.len()).min(),
            Item::OneOf(sequences) => sequences.iter().map(|s| shortest_sequence(s)).min(),
        })
        .map(Option::unwrap_or_default)
        .sum()
}

struct Parser {
    chars: Vec<char>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    /// Words and groups up to `|`, `)` or the end.
    fn sequence(&mut self, depth: usize) -> Result<Vec<Item>, PatternError> {
        let mut items = Vec::new();
        loop {
            let item = match self.peek() {
                None | Some('|' | ')') => return Ok(items),
                Some(c) if c.is_whitespace() => {
                    self.at += 1;
                    continue;
                }
                Some('(') => self.group(depth)?,
                Some(_) => self.word()?,
            };
            if self.peek() == Some('?') {
                self.at += 1;
                items.push(Item::OneOf(vec![vec![item], Vec::new()]));
            } else {
                items.push(item);
            }
        }
    }

    fn group(&mut self, depth: usize) -> Result<Item, PatternError> {
        if depth >= DEEPEST {
            return Err(PatternError::TooDeep);
        }
        let mut sequences = Vec::new();
        loop {
            self.at += 1;
            sequences.push(self.sequence(depth + 1)?);
            match self.peek() {
                Some('|') => {}
                Some(')') => {
                    self.at += 1;
                    return Ok(Item::OneOf(sequences));
                }
                Some(_) | None => return Err(PatternError::Unbalanced),
            }
        }
    }

    fn word(&mut self) -> Result<Item, PatternError> {
        let mut word = String::new();
        while let Some(c) = self.peek() {
            match c {
                '(' | ')' | '|' | '?' => break,
                c if c.is_whitespace() => break,
                '*' | '^' | '$' => return Err(PatternError::Misplaced(c)),
                c => word.push(c),
            }
            self.at += 1;
        }
        let spellings: Vec<Spelling> = with_umlauts(&word)
            .iter()
            .map(|w| Spelling::of(w))
            .collect();
        if spellings.iter().all(|spelling| !spelling.plain.is_empty()) {
            Ok(Item::Word(spellings))
        } else {
            Err(PatternError::NoLetters)
        }
    }
}

/// German writes ä also as ae: both spellings are looked for.
fn with_umlauts(word: &str) -> Vec<String> {
    let spelt_out: String = word
        .chars()
        .map(|c| match c {
            'ä' => "ae".to_owned(),
            'ö' => "oe".to_owned(),
            'ü' => "ue".to_owned(),
            c => c.to_string(),
        })
        .collect();
    if spelt_out == word {
        vec![spelt_out]
    } else {
        vec![word.to_owned(), spelt_out]
    }
}

/// Why a pattern cannot be used; says what to write instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternError {
    /// Nothing to look for, or an alternative without any word.
    Empty,
    /// A word without a letter.
    NoLetters,
    /// A parenthesis without its partner, or `|` outside parentheses.
    Unbalanced,
    /// `*`, `^` or `$` in the middle.
    Misplaced(char),
    /// `*` beside fewer than four letters.
    TooOpen,
    /// Parentheses deeper than four.
    TooDeep,
    /// Over 2,000 bytes.
    TooLong,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str(
                "the pattern may match nothing at all; write at least one word that must be there",
            ),
            Self::NoLetters => f.write_str(
                "a word has no letters; numbers and punctuation are not compared, so leave it out",
            ),
            Self::Unbalanced => f.write_str(
                "write alternatives in one pair of parentheses, such as (buy|order) now",
            ),
            Self::Misplaced(c) => write!(
                f,
                "`{c}` may stand only at the beginning or the end of the whole pattern or of one of its alternatives"
            ),
            Self::TooOpen => f.write_str("a pattern with `*` needs at least four letters"),
            Self::TooDeep => f.write_str("parentheses go four deep at most; write two patterns"),
            Self::TooLong => f.write_str("a pattern has at most 2,000 bytes; write two patterns"),
        }
    }
}

impl std::error::Error for PatternError {}
