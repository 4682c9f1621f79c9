//! What sensitive fields held, kept for the session and found again in any text and several spellings (security B3).
//!
//! A value is looked for with case, white space and separators aside, as it stands and as an address, a page's source or
//! JSON would write it. A page of one site is only searched for the values of that site: a page of another could
//! print guesses and see which of them is masked.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use unicode_normalization::UnicodeNormalization as _;
use zeroize::Zeroizing;

use super::normalise::is_ignored;
use super::values::{find_values, is_separator};
use crate::domain::secret::{Secret, Secrets};
use crate::domain::site::Origin;

/// One fixed length for whatever is masked.
pub const MASK: &str = "••••••••";

/// A value of this many characters is found wherever it stands, also in the middle of a word.
const LONG: usize = 6;
/// A shorter one where no letter goes on before or after it: a password "test" is not in "latest".
const SHORT: usize = 4;
/// The shortest, such as a security code, only where it is all that a text says.
const LEAST: usize = 3;
/// A text of this length may have been cut, and a value with it: then its beginning at the end of the text counts.
const CUT: usize = 60;
/// How many values of one site are kept. Past them nothing of that site's text is told.
const MOST: usize = 1_500;
/// How many tokens of hidden inputs.
const PASSING: usize = 128;

/// How a value must stand in a text to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    Anywhere,
    AsWord,
    Alone,
}

struct Needle {
    plain: Zeroizing<String>,
    stands: Stands,
}

/// What was learnt of one site.
#[derive(Default)]
struct Learnt {
    values: Vec<Secret>,
    /// Tokens of hidden inputs: each page has new ones, so the oldest go.
    passing: Vec<Secret>,
    needles: Vec<Needle>,
    overfull: bool,
}

fn has(list: &[Secret], value: &Secret) -> bool {
    list.iter().any(|known| known.expose() == value.expose())
}

impl Learnt {
    fn knows(&self, value: &Secret) -> bool {
        has(&self.values, value) || has(&self.passing, value)
    }

    fn keep(&mut self, value: Secret) {
        if has(&self.values, &value) {
            return;
        }
        if self.values.len() >= MOST {
            self.overfull = true;
            return;
        }
        self.seek(&value);
        self.values.push(value);
    }

    fn seek(&mut self, value: &Secret) {
        let signs = signs(value.expose());
        for text in std::iter::once(folded(&signs)).chain(every_escape(&signs).map(|s| folded(&s)))
        {
            let stands = match text.chars().count() {
                LONG.. => Stands::Anywhere,
                SHORT.. => Stands::AsWord,
                LEAST.. => Stands::Alone,
                _ => continue,
            };
            // A row of dots or stars is what hides a value, not a value.
            let says_something = text.chars().any(char::is_alphanumeric)
                || text.chars().any(|c| !text.starts_with(c));
            if says_something && self.needles.iter().all(|known| *known.plain != text) {
                self.needles.push(Needle {
                    plain: Zeroizing::new(text),
                    stands,
                });
            }
        }
    }
}

/// What the sensitive fields of a session held, by site. It prints nothing and cannot be copied out but to its own site.
#[derive(Default)]
pub struct Known(Mutex<HashMap<String, Arc<Learnt>>>);

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Known")
    }
}

/// The site that values belong to: whatever shares a renderer's process may know them anyway.
fn owner(origin: &Origin) -> String {
    match origin {
        Origin::Site(site) => {
            let host = site.host();
            host.registrable()
                .map_or_else(|| host.to_string(), str::to_owned)
        }
        Origin::Blank | Origin::Opaque => String::new(),
    }
}

impl Known {
    /// Takes over what a page of this origin held.
    pub fn learn(&self, origin: &Origin, held: Secrets) {
        let (values, passing, overfull) = held.into_parts();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.entry(owner(origin)).or_default();
        let news = |values: &[Secret]| values.iter().any(|value| !known.knows(value));
        if !news(&values) && !news(&passing) && (known.overfull || !overfull) {
            return;
        }
        let again = |list: &[Secret]| -> Vec<Secret> {
            let copies = list.iter().map(|value| value.expose().to_owned());
            copies.map(Secret::new).collect()
        };
        let mut next = Learnt {
            overfull: known.overfull || overfull,
            ..Learnt::default()
        };
        let mut tokens = again(&known.passing);
        let fresh: Vec<Secret> = passing
            .into_iter()
            .filter(|value| !has(&tokens, value))
            .collect();
        tokens.extend(fresh);
        next.passing = tokens.split_off(tokens.len().saturating_sub(PASSING));
        for token in again(&next.passing) {
            next.seek(&token);
        }
        let old = again(&known.values);
        old.into_iter()
            .chain(values)
            .for_each(|value| next.keep(value));
        *known = Arc::new(next);
    }

    /// The values of an origin's site as an argument of the page script, to be handed back to a page of that site, so that its picture is masked too.
    #[must_use]
    pub fn of(&self, origin: &Origin) -> Value {
        let learnt = self.learnt(origin);
        let list = |values: &[Secret]| -> Vec<Value> {
            values.iter().map(|value| json!(value.expose())).collect()
        };
        json!({"values": list(&learnt.values), "passing": list(&learnt.passing)})
    }

    /// What cleans the text of a page of this origin.
    #[must_use]
    pub fn on(&self, origin: &Origin) -> Cleaner {
        Cleaner(vec![self.learnt(origin)])
    }

    /// What cleans a text that several pages may have written.
    #[must_use]
    pub fn among(&self, origins: &[Origin]) -> Cleaner {
        let mut owners: Vec<String> = origins.iter().map(owner).collect();
        owners.sort_unstable();
        owners.dedup();
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Cleaner(
            owners
                .iter()
                .filter_map(|owner| all.get(owner))
                .map(Arc::clone)
                .collect(),
        )
    }

    /// What cleans a text that belongs to no page: of every value of the session.
    #[must_use]
    pub fn everywhere(&self) -> Cleaner {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Cleaner(all.values().map(Arc::clone).collect())
    }

    fn learnt(&self, origin: &Origin) -> Arc<Learnt> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&owner(origin)).map(Arc::clone).unwrap_or_default()
    }
}

/// Masks, in any text, the numbers of cards and accounts, and what sensitive fields held.
#[derive(Default)]
pub struct Cleaner(Vec<Arc<Learnt>>);

impl fmt::Debug for Cleaner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cleaner")
    }
}

impl Cleaner {
    /// The text with a mask in place of whatever is sensitive in it.
    #[must_use]
    pub fn clean(&self, text: &str) -> String {
        if self.keeps_all_back() {
            return if text.trim().is_empty() {
                text.to_owned()
            } else {
                MASK.to_owned()
            };
        }
        let mut out = text.to_owned();
        // What stands apart once a mask stands between was not found together with it.
        loop {
            let mut spans = self.found(&out);
            spans.extend(find_values(&out));
            if out.chars().count() >= CUT {
                spans.extend(self.cut_off(&out));
            }
            if spans.is_empty() {
                return out;
            }
            out = masked(&out, merged(spans));
        }
    }

    /// The same for texts that stand one after another, as they are read: a value may begin in one and end in another.
    #[must_use]
    pub fn clean_all(&self, texts: &[&str]) -> Vec<String> {
        let each = || texts.iter().map(|text| self.clean(text)).collect();
        if self.keeps_all_back() || self.0.iter().all(|learnt| learnt.needles.is_empty()) {
            return each();
        }
        let spans = self.across(texts);
        if spans.is_empty() {
            return each();
        }
        let parted = parted(texts, &merged(spans));
        parted.iter().map(|text| self.clean(text)).collect()
    }

    /// Numbers of cards and accounts that begin in one of these texts of one line and end in another.
    #[must_use]
    pub fn clean_line(texts: &[&str]) -> Vec<String> {
        parted(texts, &find_values(&texts.concat()))
    }

    /// Where nothing can be told apart any more, nothing is told.
    fn keeps_all_back(&self) -> bool {
        self.0.iter().any(|learnt| learnt.overfull)
    }

    fn across(&self, texts: &[&str]) -> Vec<Range<usize>> {
        let mut edges = vec![0];
        for text in texts {
            edges.push(edges.last().copied().unwrap_or_default() + text.len());
        }
        self.search(&texts.concat(), &edges)
    }

    fn found(&self, text: &str) -> Vec<Range<usize>> {
        self.search(text, &[0, text.len()])
    }

    /// The spans of every value, in each spelling. A word also begins and ends at an edge.
    fn search(&self, text: &str, edges: &[usize]) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        if self.0.iter().all(|learnt| learnt.needles.is_empty()) {
            return spans;
        }
        for stream in spellings(text) {
            for needle in self.0.iter().flat_map(|learnt| &learnt.needles) {
                stream.find(needle, edges, &mut spans);
            }
        }
        spans
    }

    /// The beginning of a value at the end of a text that may have been cut there.
    fn cut_off(&self, text: &str) -> Option<Range<usize>> {
        if self.0.iter().all(|learnt| learnt.needles.is_empty()) {
            return None;
        }
        let end = Stream::of(&signs(text));
        let longest = |needle: &Needle| {
            let starts = needle.plain.char_indices().skip(SHORT).map(|(at, _)| at);
            starts
                .filter_map(|at| needle.plain.get(..at))
                .filter(|beginning| end.text.ends_with(beginning))
                .map(str::len)
                .max()
        };
        let needles = self.0.iter().flat_map(|learnt| &learnt.needles);
        let length = needles
            .filter(|needle| needle.stands == Stands::Anywhere)
            .filter_map(longest)
            .max()?;
        let first = end.at.get(end.text.len() - length)?;
        Some(first.start..text.len())
    }
}

/// One character of a text as it is read, and where it stands.
#[derive(Clone)]
struct Sign {
    c: char,
    at: Range<usize>,
}

/// What no value holds: a mask parts what stands before it from what stands after.
const BARRIER: char = '\0';

fn signs(text: &str) -> Vec<Sign> {
    let mut out = Vec::with_capacity(text.len());
    let mut skip = 0;
    for (at, c) in text.char_indices() {
        if at < skip {
            continue;
        }
        if text.get(at..).is_some_and(|rest| rest.starts_with(MASK)) {
            skip = at + MASK.len();
            out.push(Sign {
                c: BARRIER,
                at: at..skip,
            });
        } else {
            let c = if c == BARRIER { ' ' } else { c };
            out.push(Sign {
                c,
                at: at..at + c.len_utf8(),
            });
        }
    }
    out
}

/// The letters that count, each folded.
fn fold(c: char) -> impl Iterator<Item = char> {
    let counts = c == BARRIER || !(c.is_whitespace() || c.is_control() || is_separator(c));
    let lower = Some(c)
        .filter(|c| counts && !is_ignored(*c))
        .into_iter()
        .nfkd()
        .flat_map(char::to_lowercase);
    lower.filter(|c| !c.is_whitespace())
}

fn folded(signs: &[Sign]) -> String {
    signs.iter().flat_map(|sign| fold(sign.c)).collect()
}

/// A text as it is searched: folded, and for each byte where it comes from.
struct Stream {
    text: Zeroizing<String>,
    at: Vec<Range<usize>>,
}

impl Stream {
    fn of(signs: &[Sign]) -> Self {
        let mut text = Zeroizing::new(String::with_capacity(signs.len()));
        let mut at = Vec::with_capacity(signs.len());
        for sign in signs {
            for c in fold(sign.c) {
                text.push(c);
                at.extend(std::iter::repeat_n(sign.at.clone(), c.len_utf8()));
            }
        }
        Self { text, at }
    }

    fn find(&self, needle: &Needle, edges: &[usize], spans: &mut Vec<Range<usize>>) {
        let (length, one) = (
            needle.plain.len(),
            needle.plain.chars().next().map_or(1, char::len_utf8),
        );
        let mut from = 0;
        while let Some(found) = self
            .text
            .get(from..)
            .and_then(|t| t.find(needle.plain.as_str()))
        {
            let (start, end) = (from + found, from + found + length);
            let stands = match needle.stands {
                Stands::Anywhere => true,
                Stands::AsWord => self.parts(start, edges) && self.parts(end, edges),
                Stands::Alone => self.edge(start, edges) && self.edge(end, edges),
            };
            if let (true, Some(first), Some(last)) =
                (stands, self.at.get(start), self.at.get(end - 1))
            {
                spans.push(first.start..last.end);
            }
            from = if stands { end } else { start + one };
        }
    }

    /// Whether this place is the beginning or end of a text: nothing that counts stands between.
    fn edge(&self, place: usize, edges: &[usize]) -> bool {
        let before = place.checked_sub(1).and_then(|at| self.at.get(at));
        let after = self.at.get(place);
        let from = before.map_or(0, |sign| sign.end);
        let to = after.map_or(usize::MAX, |sign| sign.start);
        before.is_none() || after.is_none() || edges.iter().any(|edge| (from..=to).contains(edge))
    }

    /// Whether a word can end here and another begin.
    fn parts(&self, place: usize, edges: &[usize]) -> bool {
        let text = self.text.as_str();
        let before = text.get(..place).and_then(|text| text.chars().next_back());
        let after = text.get(place..).and_then(|text| text.chars().next());
        let (Some(before), Some(after)) = (before, after) else {
            return true;
        };
        let goes_on = (before.is_alphabetic() && after.is_alphabetic())
            || (before.is_numeric() && after.is_numeric());
        let joined = match (
            place.checked_sub(1).and_then(|at| self.at.get(at)),
            self.at.get(place),
        ) {
            (Some(a), Some(b)) => a.end >= b.start,
            _ => false,
        };
        !(goes_on && joined) || self.edge(place, edges)
    }
}

/// The text as it stands, and as it reads once what addresses, sources or JSON escape is undone, also twice over.
fn spellings(text: &str) -> Vec<Stream> {
    let plain = signs(text);
    let mut streams = vec![Stream::of(&plain)];
    let mut add = |signs: Option<Vec<Sign>>| {
        if let Some(signs) = &signs {
            streams.push(Stream::of(signs));
        }
        signs
    };
    for undo in [percent, form, source, json] {
        let _ = add(unescaped(&plain, &[undo]));
    }
    let mut signs = Some(plain);
    for _ in 0..3 {
        signs = add(signs.and_then(|signs| every_escape(&signs)));
    }
    streams
}

fn every_escape(signs: &[Sign]) -> Option<Vec<Sign>> {
    unescaped(signs, &[percent, source, json])
}

/// Reads one escape at the start of the signs: what it means, and how many signs it takes.
type Undo = fn(&[Sign]) -> Option<(String, usize)>;

/// The signs with escapes undone; `None` where there are none.
fn unescaped(signs: &[Sign], undo: &[Undo]) -> Option<Vec<Sign>> {
    let mut out = Vec::with_capacity(signs.len());
    let (mut at, mut any) = (0, false);
    while let Some(rest) = signs.get(at..).filter(|rest| !rest.is_empty()) {
        match undo.iter().find_map(|undo| undo(rest)) {
            Some((meant, taken)) if taken > 0 => {
                let last = rest.get(taken - 1).or_else(|| rest.last());
                if let (Some(first), Some(last)) = (rest.first(), last) {
                    let span = first.at.start..last.at.end;
                    out.extend(meant.chars().map(|c| Sign {
                        c,
                        at: span.clone(),
                    }));
                }
                any = true;
                at += taken;
            }
            Some(_) | None => {
                out.extend(rest.first().cloned());
                at += 1;
            }
        }
    }
    any.then_some(out)
}

fn hex(signs: &[Sign]) -> Option<u32> {
    signs.iter().try_fold(0_u32, |sum, sign| {
        sum.checked_mul(16)?.checked_add(sign.c.to_digit(16)?)
    })
}

fn letter(signs: &[Sign], at: usize) -> Option<char> {
    signs.get(at).map(|sign| sign.c)
}

/// `%41`, and the several of one letter beyond ASCII.
fn percent(signs: &[Sign]) -> Option<(String, usize)> {
    let byte = |at: usize| {
        (letter(signs, at)? == '%')
            .then(|| hex(signs.get(at + 1..at + 3)?))
            .flatten()
            .and_then(|value| u8::try_from(value).ok())
    };
    let first = byte(0)?;
    let mut bytes = vec![first];
    while bytes.len() < 4 && std::str::from_utf8(&bytes).is_err() {
        match byte(bytes.len() * 3) {
            Some(next) => bytes.push(next),
            None => break,
        }
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) => Some((text.to_owned(), bytes.len() * 3)),
        // An older encoding: the byte is the letter.
        Err(_) => Some((char::from(first).to_string(), 3)),
    }
}

/// The same, and a plus sign for a space.
fn form(signs: &[Sign]) -> Option<(String, usize)> {
    if letter(signs, 0)? == '+' {
        return Some((" ".to_owned(), 1));
    }
    percent(signs)
}

/// `&amp;`, `&#38;`, `&#x26;`.
fn source(signs: &[Sign]) -> Option<(String, usize)> {
    if letter(signs, 0)? != '&' {
        return None;
    }
    let end = signs.iter().take(10).position(|sign| sign.c == ';')?;
    let name: String = signs.get(1..end)?.iter().map(|sign| sign.c).collect();
    let number = |digits: &str, radix| {
        u32::from_str_radix(digits, radix)
            .ok()
            .and_then(char::from_u32)
    };
    let meant = match name.as_str() {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        other => {
            let digits = other.strip_prefix('#')?;
            match digits.strip_prefix(['x', 'X']) {
                Some(digits) => number(digits, 16)?,
                None => number(digits, 10)?,
            }
        }
    };
    Some((meant.to_string(), end + 1))
}

/// `\"`, `\n`, `\u0041`, `\u{41}`, `\x41`.
fn json(signs: &[Sign]) -> Option<(String, usize)> {
    if letter(signs, 0)? != '\\' {
        return None;
    }
    let unit = |at: usize| {
        (letter(signs, at)? == '\\' && letter(signs, at + 1)? == 'u')
            .then(|| hex(signs.get(at + 2..at + 6)?))
            .flatten()
    };
    let (meant, taken) = match letter(signs, 1)? {
        'b' | 'f' | 'n' | 'r' | 't' => (' ', 2),
        'x' => (char::from_u32(hex(signs.get(2..4)?)?)?, 4),
        'u' if letter(signs, 2) == Some('{') => {
            let end = signs.iter().take(12).position(|sign| sign.c == '}')?;
            (char::from_u32(hex(signs.get(3..end)?)?)?, end + 1)
        }
        'u' => {
            let first = unit(0)?;
            match (char::from_u32(first), unit(6)) {
                (Some(c), _) => (c, 6),
                (None, Some(second)) if (0xdc00..0xe000).contains(&second) => {
                    let high = first.checked_sub(0xd800)?;
                    let c = 0x1_0000 + high * 0x400 + (second - 0xdc00);
                    (char::from_u32(c)?, 12)
                }
                (None, _) => return None,
            }
        }
        c if !c.is_alphanumeric() => (c, 2),
        _ => return None,
    };
    Some((meant.to_string(), taken))
}

fn masked(text: &str, spans: Vec<Range<usize>>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for span in spans {
        out.push_str(text.get(at..span.start).unwrap_or_default());
        out.push_str(MASK);
        at = span.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// The texts with a mask where a span of all of them together begins, and nothing where it goes on.
fn parted(texts: &[&str], spans: &[Range<usize>]) -> Vec<String> {
    let mut begin = 0;
    texts
        .iter()
        .map(|text| {
            let (mut out, mut at, end) = (String::new(), begin, begin + text.len());
            for span in spans.iter().filter(|s| s.start < end && s.end > begin) {
                out.push_str(
                    text.get(at - begin..span.start.max(at) - begin)
                        .unwrap_or_default(),
                );
                out.push_str(MASK);
                at = span.end.min(end);
            }
            out.push_str(text.get(at - begin..).unwrap_or_default());
            begin = end;
            out
        })
        .collect()
}

fn merged(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.sort_by_key(|span| (span.start, span.end));
    let mut out: Vec<Range<usize>> = Vec::with_capacity(spans.len());
    for span in spans {
        match out.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            Some(_) | None => out.push(span),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use static_assertions::assert_not_impl_any;

    assert_not_impl_any!(Known: Clone, serde::Serialize, fmt::Display);
    assert_not_impl_any!(Cleaner: Clone, serde::Serialize, fmt::Display);

    fn page(site: &str) -> Origin {
        Origin::from_browser(site)
    }

    fn knowing(values: &[&str]) -> Cleaner {
        let known = Known::default();
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        known.learn(&page("https://bank.test"), Secrets::new(values));
        known.everywhere()
    }

    fn clean(value: &str, text: &str) -> String {
        knowing(&[value]).clean(text)
    }

    #[test]
    fn a_value_is_found_in_every_spelling() {
        for (value, text, want) in [
            ("hunter2!x", "It is hunter2!x.", "It is ••••••••."),
            ("hunter2!x", "HUNTER2!X", MASK),
            ("hunter2!x", "h u n t e r 2 ! x", MASK),
            ("hunter2!x", "hunter\u{200b}2!x", MASK),
            ("hunter2!x", "ｈｕｎｔｅｒ２！ｘ", MASK),
            ("hunter2!x", "/a?p=hunter2%21x#b", "/a?p=••••••••#b"),
            ("hunter2!x", "%68unter2%21x", MASK),
            ("hunter2!x", "%2568unter2%2521x", MASK),
            ("a&b<c\"d'e", "a&amp;b&lt;c&quot;d&#39;e", MASK),
            ("a&b<c\"d'e", "a&#x26;b&#60;c&#x22;d&apos;e", MASK),
            (
                "a\"b\\c/d e",
                r#"{"p":"a\"b\\c\/d e"}"#,
                r#"{"p":"••••••••"}"#,
            ),
            ("pass wörd", "pass+w%C3%B6rd", MASK),
            ("pass+word%20", "pass%2Bword%2520", MASK),
            ("größer12", "gr\\u00f6\\u00DFer12", MASK),
            ("größer12", "gro\u{308}ßer12", MASK),
            ("😀😁😂🤣😃😄", "\\ud83d\\ude00😁😂🤣😃😄", MASK),
            ("4929 1234", "4929-1234", MASK),
            ("a%41\"bcd", r#"a%41\"bcd"#, MASK),
            ("493817", "ref493817x", "ref••••••••x"),
            ("4938", "PIN4938, 14938, 49381", "PIN••••••••, 14938, 49381"),
            ("test", "the latest test", "the latest ••••••••"),
            ("123", "123", MASK),
            ("123", "Room 123", "Room 123"),
            ("12", "12", "12"),
            ("••••••••", "a •••••••• b", "a •••••••• b"),
            ("********", "a ******** b", "a ******** b"),
        ] {
            assert_eq!(clean(value, text), want, "{value} in {text}");
        }
    }

    #[test]
    fn a_value_in_several_texts_is_found_in_all_of_them() {
        let cleaner = knowing(&["hunter2!x", "4938"]);
        assert_eq!(
            cleaner.clean_all(&["It is hun", "ter", "2!x now", "then"]),
            ["It is ••••••••", MASK, "•••••••• now", "then"]
        );
        assert_eq!(cleaner.clean_all(&["4", "9", "3", "8"]), [MASK; 4]);
        assert_eq!(cleaner.clean_all(&["1493", "82"]), ["1493", "82"]);
        assert_eq!(
            Cleaner::clean_line(&["Card 4111 1111", " 1111", " 1111 ok"]),
            ["Card ••••••••", MASK, "•••••••• ok"]
        );
        assert_eq!(
            Cleaner::clean_line(&["Card 4111", "1112"]),
            ["Card 4111", "1112"]
        );
    }

    #[test]
    fn a_text_that_was_cut_ends_before_its_value() {
        let long = "x".repeat(CUT);
        for (end, want) in [("hunt", MASK), ("hunter2!", MASK), ("hun", "hun")] {
            assert_eq!(
                clean("hunter2!x", &format!("{long} {end}")),
                format!("{long} {want}")
            );
        }
        assert_eq!(clean("hunter2!x", "We hunt"), "We hunt");
    }

    #[test]
    fn values_stay_with_their_site_and_are_all_kept_or_nothing_is_told() {
        let known = Known::default();
        let here = page("https://login.bank.co.uk");
        let held = |values: Vec<String>| Secrets::new(values);
        known.learn(&here, held(vec!["hunter2!x".to_owned()]));
        known.learn(
            &page("https://www.bank.co.uk:444"),
            held(vec!["4938".to_owned()]),
        );
        assert_eq!(
            known.on(&here).clean("hunter2!x 4938"),
            format!("{MASK} {MASK}")
        );
        for other in ["https://shop.co.uk", "null", "http://127.0.0.1"] {
            assert_eq!(known.on(&page(other)).clean("hunter2!x"), "hunter2!x");
            assert_eq!(known.of(&page(other))["values"], json!([]));
        }
        assert_eq!(known.everywhere().clean("hunter2!x"), MASK);
        // Tokens come and go; values stay until there are too many.
        let tokens = |from: usize| {
            (from..from + PASSING)
                .map(|n| format!("token-{n:04}"))
                .collect()
        };
        known.learn(&here, Secrets::passing(tokens(0)));
        known.learn(&here, Secrets::passing(tokens(PASSING)));
        assert_eq!(
            known.on(&here).clean("token-0200 hunter2!x"),
            format!("{MASK} {MASK}")
        );
        assert_eq!(known.on(&here).clean("token-0001"), "token-0001");
        let many = (0..MOST).map(|n| format!("value-{n}")).collect();
        known.learn(&here, held(many));
        assert_eq!(known.on(&here).clean("anything"), MASK);
        assert_eq!(
            known.on(&page("https://shop.co.uk")).clean("anything"),
            "anything"
        );
    }

    fn percent_all(text: &str) -> String {
        text.bytes().map(|byte| format!("%{byte:02X}")).collect()
    }

    fn entity_all(text: &str) -> String {
        text.chars()
            .map(|c| format!("&#{};", u32::from(c)))
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

        #[test]
        fn a_value_never_leaves(
            value in "[!-~äöüéЖ😀]{6,24}", before in "[ -~ß]{0,12}", after in "[ -~ß]{0,12}", spell in 0..9_usize,
        ) {
            prop_assume!(folded(&signs(&value)).chars().count() >= LONG);
            let spelt = match spell {
                0 => value.clone(),
                1 => value.to_uppercase(),
                2 => percent_all(&value),
                3 => url::form_urlencoded::byte_serialize(value.as_bytes()).collect(),
                4 => entity_all(&value),
                5 => serde_json::to_string(&value).map(|s| s[1..s.len() - 1].to_owned()).unwrap(),
                6 => value.chars().map(|c| format!("{c} ")).collect(),
                7 => value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;"),
                _ => value.chars().map(|c| format!("{c}\u{200b}-")).collect(),
            };
            let cleaner = knowing(&[&value]);
            let text = format!("{before} {spelt} {after}");
            let out = cleaner.clean(&text);
            prop_assert!(out.contains(MASK), "{value:?} in {text:?}: {out:?}");
            prop_assert!(!out.contains(&value) && !out.contains(&spelt), "{out:?}");
            prop_assert!(!folded(&signs(&out)).contains(&folded(&signs(&value))), "{out:?}");
            prop_assert_eq!(cleaner.clean(&out), out);
        }

        #[test]
        fn wherever_it_is_cut_in_pieces_it_is_masked(value in "[a-z0-9!#]{6,20}", cuts in proptest::collection::vec(0..20_usize, 0..6)) {
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut < value.len()).chain([0, value.len()]).collect();
            cuts.sort_unstable();
            let pieces: Vec<&str> = cuts.windows(2).map(|w| &value[w[0]..w[1]]).collect();
            let mut texts = vec!["before "];
            texts.extend(&pieces);
            texts.push(" after");
            let out = knowing(&[&value]).clean_all(&texts).concat();
            prop_assert_eq!(out.replace('•', ""), "before  after");
        }

        #[test]
        fn cleaning_twice_changes_nothing_more(values in proptest::collection::vec("[a-c0-2%&;\\\\ ]{3,9}", 1..4), text in "[a-c0-2%&;\\\\ •x]{0,90}") {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            let cleaner = knowing(&values);
            let once = cleaner.clean(&text);
            prop_assert_eq!(cleaner.clean(&once), once);
        }

        #[test]
        fn other_text_is_left_alone(text in "[a-m ,.:()äß\n]{0,200}") {
            prop_assert_eq!(clean("zyxwvu-998877", &text), text);
        }

        #[test]
        fn no_text_breaks_it(value in any::<String>(), text in any::<String>(), other in any::<String>()) {
            let cleaner = knowing(&[&value, &other]);
            let _ = cleaner.clean(&text);
            prop_assert_eq!(cleaner.clean_all(&[&text, &other, &value]).len(), 3);
        }
    }
}
