//! The floor: shipped words that lock an action whatever the operator's profile says. Every entry carries examples, and
//! loading fails if one of them fails.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::OnceLock;

use serde::Deserialize;

use super::address::readings_of_address;
use super::matcher::Matcher;
use super::normalise::Readings;
use super::pattern::{Pattern, PatternError};
use crate::domain::lock::LockClass;

/// The shipped vocabulary, one file a language.
const SHIPPED: [(&str, &str); 4] = [
    ("en.toml", include_str!("../../policy/locks/en.toml")),
    ("fr.toml", include_str!("../../policy/locks/fr.toml")),
    ("de.toml", include_str!("../../policy/locks/de.toml")),
    ("es.toml", include_str!("../../policy/locks/es.toml")),
];

/// The classes that words can decide. The others follow from what happens, not from what is written on a button.
pub(super) const WORD_CLASSES: [LockClass; 8] = [
    LockClass::Payment,
    LockClass::Deletion,
    LockClass::Secret,
    LockClass::Grant,
    LockClass::Legal,
    LockClass::Account,
    LockClass::Send,
    LockClass::Upload,
];

/// Where an entry's words are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// The visible text or name of the target, and the text of a chosen option.
    Label,
    /// The heading of the form, dialog or section around the target.
    Heading,
    /// The path and query of a link, a form's action or a navigation.
    Href,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    language: String,
    free: Vec<String>,
    free_addresses: Vec<String>,
    lock: Vec<RawLock>,
    confirm: Vec<RawConfirm>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLock {
    class: LockClass,
    pattern: String,
    why: String,
    #[serde(rename = "where")]
    places: Vec<Place>,
    most_words: Option<usize>,
    #[serde(rename = "match")]
    matches: Vec<String>,
    not_match: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawConfirm {
    pattern: String,
    #[serde(rename = "match")]
    matches: Vec<String>,
    not_match: Vec<String>,
}

/// One entry of the vocabulary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    class: LockClass,
    pattern: String,
    why: String,
    language: String,
    places: BTreeSet<Place>,
    most_words: Option<usize>,
}

impl Entry {
    /// The class the entry locks as.
    #[must_use]
    pub const fn class(&self) -> LockClass {
        self.class
    }

    /// The pattern as the file spells it.
    #[must_use]
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Why these words lock, for the operator.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }

    /// The language of the file, as a two-letter code.
    #[must_use]
    pub fn language(&self) -> &str {
        &self.language
    }

    fn looks_at(&self, place: Place, words: usize) -> bool {
        self.places.contains(&place) && self.most_words.is_none_or(|most| words <= most)
    }
}

/// The compiled vocabulary.
#[derive(Debug)]
pub struct Floor {
    entries: Vec<Entry>,
    matcher: Matcher,
    confirm: Matcher,
}

impl Floor {
    /// The shipped vocabulary, compiled and checked against its examples once per process.
    ///
    /// # Errors
    /// Where an example fails: a build that shipped it must not run.
    pub fn shipped() -> Result<&'static Self, &'static FloorError> {
        static SHIPPED_FLOOR: OnceLock<Result<Floor, FloorError>> = OnceLock::new();
        SHIPPED_FLOOR.get_or_init(|| Self::load(&SHIPPED)).as_ref()
    }

    /// Compiles files, given as name and text, and checks every example.
    ///
    /// # Errors
    /// The first entry that is malformed or whose examples fail.
    pub fn load(files: &[(&str, &str)]) -> Result<Self, FloorError> {
        let (floor, errors) = Self::examine(files);
        match errors.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(floor),
        }
    }

    /// Compiles what can be compiled, and tells of everything that is wrong.
    fn examine(files: &[(&str, &str)]) -> (Self, Vec<FloorError>) {
        let mut floor = Self {
            entries: Vec::new(),
            matcher: Matcher::default(),
            confirm: Matcher::default(),
        };
        let mut errors = Vec::new();
        let mut free = Vec::new();
        for (name, text) in files {
            let raw: RawFile = match toml::from_str(text) {
                Ok(raw) => raw,
                Err(error) => {
                    let message = error.message().to_owned();
                    errors.push(FloorError::new(name, "", Wrong::Malformed(message)));
                    continue;
                }
            };
            for lock in &raw.lock {
                if let Err(wrong) = floor.add_lock(&raw.language, lock) {
                    errors.push(FloorError::new(name, &lock.pattern, wrong));
                }
            }
            for confirm in &raw.confirm {
                if let Err(wrong) = floor.add_confirm(confirm) {
                    errors.push(FloorError::new(name, &confirm.pattern, wrong));
                }
            }
            let labels = raw.free.into_iter().map(|text| (Place::Label, text));
            let addresses = raw
                .free_addresses
                .into_iter()
                .map(|text| (Place::Href, text));
            free.extend(
                labels
                    .chain(addresses)
                    .map(|(place, text)| (*name, place, text)),
            );
        }
        // Ordinary words stay free in every language's vocabulary, not only in their own.
        for (name, place, text) in free {
            for entry in floor.find(place, &text) {
                let wrong = Wrong::LocksFree(text.clone());
                errors.push(FloorError::new(name, entry.pattern(), wrong));
            }
        }
        (floor, errors)
    }

    /// All entries.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entries whose words are in this text, each once, strictest class first.
    #[must_use]
    pub fn find(&self, place: Place, text: &str) -> Vec<&Entry> {
        let mut numbers = BTreeSet::new();
        for readings in readings_for(place, text) {
            self.matcher.find(&readings, |number, words| {
                if self
                    .entries
                    .get(number)
                    .is_some_and(|entry| entry.looks_at(place, words))
                {
                    numbers.insert(number);
                }
            });
        }
        let mut found: Vec<&Entry> = numbers
            .into_iter()
            .filter_map(|number| self.entries.get(number))
            .collect();
        found.sort_by_key(|entry| entry.class);
        found
    }

    /// True where a label is one that answers a question put above it: "Yes", "Confirm", "OK", "Continue".
    #[must_use]
    pub fn confirms(&self, label: &str) -> bool {
        let mut hit = false;
        self.confirm
            .find(&Readings::of_text(label), |_, _| hit = true);
        hit
    }

    fn add_lock(&mut self, language: &str, raw: &RawLock) -> Result<(), Wrong> {
        let places: BTreeSet<Place> = raw.places.iter().copied().collect();
        if places.is_empty() || (places.contains(&Place::Href) && places.len() > 1) {
            return Err(Wrong::Places);
        }
        if !WORD_CLASSES.contains(&raw.class) {
            return Err(Wrong::Class);
        }
        if raw.why.trim().is_empty() || raw.matches.is_empty() || raw.not_match.is_empty() {
            return Err(Wrong::Incomplete);
        }
        let pattern = Pattern::parse(&raw.pattern).map_err(Wrong::Pattern)?;
        let entry = Entry {
            class: raw.class,
            pattern: raw.pattern.clone(),
            why: raw.why.clone(),
            language: language.to_owned(),
            places: places.clone(),
            most_words: raw.most_words,
        };
        let mut alone = Matcher::default();
        alone.add(0, &pattern);
        let finds = |text: &str| {
            places.iter().any(|place| {
                let mut hit = false;
                for readings in readings_for(*place, text) {
                    alone.find(&readings, |_, words| hit |= entry.looks_at(*place, words));
                }
                hit
            })
        };
        check_examples(&raw.matches, &raw.not_match, finds)?;
        self.matcher.add(self.entries.len(), &pattern);
        self.entries.push(entry);
        Ok(())
    }

    fn add_confirm(&mut self, raw: &RawConfirm) -> Result<(), Wrong> {
        if raw.matches.is_empty() || raw.not_match.is_empty() {
            return Err(Wrong::Incomplete);
        }
        let pattern = Pattern::parse(&raw.pattern).map_err(Wrong::Pattern)?;
        let mut alone = Matcher::default();
        alone.add(0, &pattern);
        check_examples(&raw.matches, &raw.not_match, |text| {
            let mut hit = false;
            alone.find(&Readings::of_text(text), |_, _| hit = true);
            hit
        })?;
        self.confirm.add(0, &pattern);
        Ok(())
    }
}

fn readings_for(place: Place, text: &str) -> Vec<Readings> {
    match place {
        Place::Label | Place::Heading => vec![Readings::of_text(text)],
        Place::Href => readings_of_address(text),
    }
}

fn check_examples(
    matches: &[String],
    not_match: &[String],
    finds: impl Fn(&str) -> bool,
) -> Result<(), Wrong> {
    if let Some(missed) = matches.iter().find(|text| !finds(text)) {
        return Err(Wrong::Misses(missed.clone()));
    }
    match not_match.iter().find(|text| finds(text)) {
        Some(text) => Err(Wrong::Finds(text.clone())),
        None => Ok(()),
    }
}

/// What is wrong with an entry of a vocabulary file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrong {
    /// The file is no TOML of the expected form.
    Malformed(String),
    /// The pattern cannot be parsed.
    Pattern(PatternError),
    /// `where` is empty, or mixes `href` with words people read.
    Places,
    /// The class is not one that words decide.
    Class,
    /// `why`, `match` or `not_match` is empty.
    Incomplete,
    /// An example that must match does not.
    Misses(String),
    /// An example that must not match does.
    Finds(String),
    /// An ordinary text that must stay free is locked by this entry.
    LocksFree(String),
}

/// A vocabulary that must not be used: file, entry, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FloorError {
    file: String,
    pattern: String,
    wrong: Wrong,
}

impl FloorError {
    fn new(file: &str, pattern: &str, wrong: Wrong) -> Self {
        Self {
            file: file.to_owned(),
            pattern: pattern.to_owned(),
            wrong,
        }
    }

    /// What is wrong.
    #[must_use]
    pub const fn wrong(&self) -> &Wrong {
        &self.wrong
    }
}

impl fmt::Display for FloorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "policy/locks/{}", self.file)?;
        if !self.pattern.is_empty() {
            write!(f, ", entry `{}`", self.pattern)?;
        }
        match &self.wrong {
            Wrong::Malformed(message) => write!(f, ": {message}"),
            Wrong::Pattern(error) => write!(f, ": {error}"),
            Wrong::Places => f.write_str(": `where` needs label, heading or both, or href alone"),
            Wrong::Class => f.write_str(": words cannot decide this class"),
            Wrong::Incomplete => {
                f.write_str(": `why`, `match` and `not_match` must each say something")
            }
            Wrong::Misses(text) => write!(f, " does not match its example `{text}`"),
            Wrong::Finds(text) => write!(f, " matches `{text}`, which it must not"),
            Wrong::LocksFree(text) => write!(f, " locks `{text}`, which must stay free"),
        }
    }
}

impl std::error::Error for FloorError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shipped() -> &'static Floor {
        Floor::shipped().unwrap()
    }

    #[test]
    fn every_shipped_example_holds() {
        let (floor, errors) = Floor::examine(&SHIPPED);
        let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert!(told.is_empty(), "{}", told.join("\n"));
        for language in ["en", "fr", "de", "es"] {
            for class in WORD_CLASSES {
                assert!(
                    floor
                        .entries()
                        .iter()
                        .any(|e| e.class() == class && e.language() == language),
                    "no {class} in {language}"
                );
            }
        }
    }

    const FILE: &str = r#"
        language = "xx"
        free = ["Save"]
        free_addresses = ["/list"]
        [[lock]]
        class = "payment"
        pattern = "zap (it|now)"
        why = "it zaps"
        where = ["label"]
        match = ["Zap it"]
        not_match = ["Zapper"]
        [[confirm]]
        pattern = "^aye$"
        match = ["Aye"]
        not_match = ["Eye"]
    "#;

    fn wrong_with(from: &str, to: &str) -> Wrong {
        assert!(FILE.contains(from));
        let text = FILE.replacen(from, to, 1);
        Floor::load(&[("xx.toml", &text)])
            .unwrap_err()
            .wrong()
            .clone()
    }

    #[test]
    fn a_failing_example_stops_loading() {
        Floor::load(&[("xx.toml", FILE)]).unwrap();
        assert_eq!(
            wrong_with("\"Zap it\"", "\"Zapper\""),
            Wrong::Misses("Zapper".into())
        );
        assert_eq!(
            wrong_with("\"Zapper\"", "\"Z a p  n o w\""),
            Wrong::Finds("Z a p  n o w".into())
        );
        assert_eq!(
            wrong_with("\"Save\"", "\"Please zap it\""),
            Wrong::LocksFree("Please zap it".into())
        );
        assert_eq!(wrong_with("\"it zaps\"", "\" \""), Wrong::Incomplete);
        assert_eq!(
            wrong_with("not_match = [\"Zapper\"]", "not_match = []"),
            Wrong::Incomplete
        );
        assert_eq!(wrong_with("[\"label\"]", "[]"), Wrong::Places);
        assert_eq!(
            wrong_with("[\"label\"]", "[\"label\", \"href\"]"),
            Wrong::Places
        );
        assert_eq!(wrong_with("\"payment\"", "\"credential\""), Wrong::Class);
        assert_eq!(
            wrong_with("zap (it|now)", "zap (it"),
            Wrong::Pattern(PatternError::Unbalanced)
        );
        assert_eq!(wrong_with("\"Eye\"", "\"aye\""), Wrong::Finds("aye".into()));
        assert!(matches!(wrong_with("why", "reason"), Wrong::Malformed(_)));
    }

    /// Labels gathered apart from the vocabulary: `+` must lock, `-` must stay free.
    #[test]
    fn labels_of_real_interfaces() {
        let mut wrong = Vec::new();
        let labels = include_str!("floor/labels.txt")
            .lines()
            .filter(|line| !line.starts_with('#'));
        for line in labels {
            let (sign, text) = line.split_once(' ').unwrap();
            let found = shipped().find(Place::Label, text);
            match (sign, found.first()) {
                ("+", Some(_)) | ("-", None) => {}
                ("+", None) => wrong.push(format!("{text} is free")),
                ("-", Some(entry)) => {
                    wrong.push(format!("{text} is locked by {}", entry.pattern()))
                }
                _ => panic!("{line}"),
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn words_of_assent() {
        for label in [
            "Yes",
            "Continue",
            "Ja",
            "Oui, continuer",
            "Sí",
            "O K",
            "Confirm €5",
        ] {
            assert!(shipped().confirms(label), "{label}");
        }
        for label in ["No", "Cancel", "Continue shopping", "Details", ""] {
            assert!(!shipped().confirms(label), "{label}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_looked_through(text in any::<String>(), long in "[a-z äé]{0,300}") {
            for place in [Place::Label, Place::Heading, Place::Href] {
                let _ = shipped().find(place, &text);
                let _ = shipped().find(place, &long);
            }
            let _ = shipped().confirms(&text);
        }

        #[test]
        fn whatever_stands_around_it_a_word_still_locks(before in "[a-z]{0,6}", after in "[a-z]{0,6}") {
            let text = format!("{before}, pay now! {after}");
            prop_assert!(!shipped().find(Place::Label, &text).is_empty());
        }
    }
}
