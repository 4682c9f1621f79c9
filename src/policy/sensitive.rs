//! Decides which form fields are sensitive, from one shipped table that the page script uses as well.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::lock::FormFacts;
use super::matcher::Matcher;
use super::normalise::Readings;
use super::pattern::{Pattern, PatternError};

const SHIPPED: &str = include_str!("../../policy/sensitive.toml");

/// What a sensitive field holds. Declared strictest first: where several apply, the first one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sensitivity {
    /// A password that is being set.
    NewPassword,
    /// A password.
    Password,
    /// A one-time code.
    OneTimeCode,
    /// A card's number, security code or expiry.
    Card,
    /// A personal identification number.
    Pin,
    /// A key, token, recovery code or secret answer.
    Secret,
    /// An IBAN or account number.
    Account,
    /// A number a state gave to a person.
    Identity,
    /// Whatever it holds, the page draws it as dots.
    Concealed,
    /// A hidden input.
    Hidden,
}

impl Sensitivity {
    /// The name in masks, in the page script's table and in the journal.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NewPassword => "new_password",
            Self::Password => "password",
            Self::OneTimeCode => "one_time_code",
            Self::Card => "card",
            Self::Pin => "pin",
            Self::Secret => "secret",
            Self::Account => "account",
            Self::Identity => "identity",
            Self::Concealed => "concealed",
            Self::Hidden => "hidden",
        }
    }
}

/// What is known of one form field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Field<'a> {
    /// The `type` of the input, or the element's name.
    pub kind: &'a str,
    /// The `autocomplete` attribute.
    pub autocomplete: &'a str,
    /// Name, id, label, placeholder and accessible name, whichever there are.
    pub names: Vec<&'a str>,
    /// True where `-webkit-text-security` draws the text as dots.
    pub text_security: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTable {
    types: BTreeMap<String, Sensitivity>,
    autocomplete: BTreeMap<String, Sensitivity>,
    autocomplete_prefixes: BTreeMap<String, Sensitivity>,
    words: Vec<RawWords>,
    iban: BTreeMap<String, usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawWords {
    kind: Sensitivity,
    pattern: String,
    #[serde(rename = "match")]
    matches: Vec<String>,
    not_match: Vec<String>,
}

/// The compiled table.
#[derive(Debug)]
pub struct Sensitive {
    types: BTreeMap<String, Sensitivity>,
    autocomplete: BTreeMap<String, Sensitivity>,
    autocomplete_prefixes: BTreeMap<String, Sensitivity>,
    kinds: Vec<Sensitivity>,
    expressions: Vec<(Sensitivity, String)>,
    matcher: Matcher,
    iban: BTreeMap<String, usize>,
}

impl Sensitive {
    /// The shipped table, compiled and checked against its examples once per process.
    ///
    /// # Errors
    /// Where the table is malformed or an example fails: a build that shipped it must not run.
    pub fn shipped() -> Result<&'static Self, &'static TableError> {
        static TABLE: OnceLock<Result<Sensitive, TableError>> = OnceLock::new();
        TABLE.get_or_init(|| Self::load(SHIPPED)).as_ref()
    }

    /// Compiles a table and checks its examples.
    ///
    /// # Errors
    /// The first entry that is malformed or whose examples fail.
    pub fn load(text: &str) -> Result<Self, TableError> {
        let raw: RawTable = toml::from_str(text)
            .map_err(|error| TableError::Malformed(error.message().to_owned()))?;
        let mut table = Self {
            types: raw.types,
            autocomplete: raw.autocomplete,
            autocomplete_prefixes: raw.autocomplete_prefixes,
            kinds: Vec::new(),
            expressions: Vec::new(),
            matcher: Matcher::default(),
            iban: raw.iban,
        };
        for words in raw.words {
            let pattern = Pattern::parse(&words.pattern)
                .map_err(|error| TableError::Pattern(words.kind, error))?;
            let mut alone = Matcher::default();
            alone.add(0, &pattern);
            let finds = |text: &String| {
                let mut hit = false;
                alone.find(&Readings::of_name(text), |_, _| hit = true);
                hit
            };
            if let Some(text) = words.matches.iter().find(|text| !finds(text)) {
                return Err(TableError::Misses(words.kind, text.clone()));
            }
            if let Some(text) = words.not_match.iter().find(|text| finds(text)) {
                return Err(TableError::Finds(words.kind, text.clone()));
            }
            if words.matches.is_empty() || words.not_match.is_empty() {
                return Err(TableError::NoExamples(words.kind));
            }
            table.matcher.add(table.kinds.len(), &pattern);
            table.kinds.push(words.kind);
            table.expressions.push((words.kind, pattern.expression()));
        }
        Ok(table)
    }

    /// What makes this field sensitive, or `None` for a plain one.
    #[must_use]
    pub fn judge(&self, field: &Field<'_>) -> Option<Sensitivity> {
        let mut strictest: Option<Sensitivity> = None;
        let mut add = |kind: Sensitivity| {
            strictest = Some(strictest.map_or(kind, |known| known.min(kind)));
        };
        if let Some(kind) = self.types.get(&field.kind.trim().to_lowercase()) {
            add(*kind);
        }
        for token in field.autocomplete.split_whitespace().map(str::to_lowercase) {
            if let Some(kind) = self.autocomplete.get(&token) {
                add(*kind);
            }
            for (prefix, kind) in &self.autocomplete_prefixes {
                if token.starts_with(prefix.as_str()) {
                    add(*kind);
                }
            }
        }
        for name in &field.names {
            self.matcher.find(&Readings::of_name(name), |number, _| {
                if let Some(kind) = self.kinds.get(number) {
                    add(*kind);
                }
            });
        }
        if field.text_security {
            add(Sensitivity::Concealed);
        }
        strictest
    }

    /// The same table for the page script: `types` and `autocomplete` map a lower-case word to a kind,
    /// `autocomplete_prefixes` likewise for beginnings, `words` is a list of `{kind, expression}`. An expression is the source of a
    /// JavaScript regular expression. It expects a text prepared in this order: a space before a capital that follows a small
    /// letter, NFKD, marks and format characters removed, lower case, `ß` as `ss`, `æ` as `ae`, `œ` as `oe`, `ø` as `o`.
    #[must_use]
    pub fn script_argument(&self) -> Value {
        let words: Vec<Value> = self
            .expressions
            .iter()
            .map(|(kind, expression)| json!({"kind": kind.name(), "expression": expression}))
            .collect();
        json!({
            "types": self.types,
            "autocomplete": self.autocomplete,
            "autocomplete_prefixes": self.autocomplete_prefixes,
            "concealed": Sensitivity::Concealed.name(),
            "words": words,
        })
    }

    pub(super) fn iban_length(&self, country: &str) -> Option<usize> {
        self.iban.get(country).copied()
    }

    #[cfg(test)]
    pub(super) fn iban_countries(&self) -> impl Iterator<Item = (&str, usize)> {
        self.iban
            .iter()
            .map(|(country, length)| (country.as_str(), *length))
    }
}

/// What the sensitive fields of one form say about sending it. `amount` tells whether the form shows or takes an amount of money.
#[must_use]
pub fn form_facts(fields: &[Sensitivity], amount: bool) -> FormFacts {
    let has = |kind| fields.contains(&kind);
    let passwords = fields
        .iter()
        .filter(|kind| matches!(kind, Sensitivity::Password | Sensitivity::NewPassword))
        .count();
    FormFacts {
        card_fields: has(Sensitivity::Card),
        new_password: has(Sensitivity::NewPassword) || passwords >= 2,
        one_time_code: has(Sensitivity::OneTimeCode),
        account_number: has(Sensitivity::Account),
        amount,
    }
}

/// A table that must not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableError {
    /// No TOML of the expected form.
    Malformed(String),
    /// A pattern cannot be parsed.
    Pattern(Sensitivity, PatternError),
    /// An example that must match does not.
    Misses(Sensitivity, String),
    /// An example that must not match does.
    Finds(Sensitivity, String),
    /// An entry without examples.
    NoExamples(Sensitivity),
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("policy/sensitive.toml")?;
        match self {
            Self::Malformed(message) => write!(f, ": {message}"),
            Self::Pattern(kind, error) => write!(f, ", {}: {error}", kind.name()),
            Self::Misses(kind, text) => {
                write!(f, ", {}: does not match its example `{text}`", kind.name())
            }
            Self::Finds(kind, text) => {
                write!(f, ", {}: matches `{text}`, which it must not", kind.name())
            }
            Self::NoExamples(kind) => write!(
                f,
                ", {}: `match` and `not_match` must each say something",
                kind.name()
            ),
        }
    }
}

impl std::error::Error for TableError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization as _;

    fn table() -> &'static Sensitive {
        Sensitive::shipped().unwrap()
    }

    fn field<'a>(kind: &'a str, autocomplete: &'a str, names: &[&'a str]) -> Field<'a> {
        Field {
            kind,
            autocomplete,
            names: names.to_vec(),
            text_security: false,
        }
    }

    #[test]
    fn fields_are_judged() {
        use Sensitivity as S;
        for (field, want) in [
            (field("password", "", &[]), Some(S::Password)),
            (field("PASSWORD", "new-password", &[]), Some(S::NewPassword)),
            (
                field("password", "", &["Confirm password"]),
                Some(S::NewPassword),
            ),
            (
                field("text", "section-a billing CC-Number", &[]),
                Some(S::Card),
            ),
            (field("text", "one-time-code", &[]), Some(S::OneTimeCode)),
            (field("hidden", "", &["csrf"]), Some(S::Hidden)),
            (field("text", "", &["userPassword"]), Some(S::Password)),
            (field("text", "", &["txt1", "Kаrtennummer"]), Some(S::Card)),
            (field("tel", "", &["cvv2"]), Some(S::Card)),
            (field("text", "", &["P I N"]), Some(S::Pin)),
            (field("text", "", &["Empfänger-IBAN"]), Some(S::Account)),
            (field("text", "", &["q", "Search"]), None),
            (field("text", "name", &["Full name", "Postal code"]), None),
            (field("email", "email", &["E-Mail"]), None),
        ] {
            assert_eq!(table().judge(&field), want, "{field:?}");
        }
        let dots = Field {
            text_security: true,
            ..field("text", "", &["note"])
        };
        assert_eq!(table().judge(&dots), Some(S::Concealed));
    }

    #[test]
    fn a_form_says_what_sending_it_means() {
        use Sensitivity as S;
        assert!(form_facts(&[S::Password, S::Password], false).new_password);
        assert!(!form_facts(&[S::Password], false).new_password);
        assert!(form_facts(&[S::NewPassword], false).new_password);
        assert!(form_facts(&[S::Card], false).card_fields);
        let transfer = form_facts(&[S::Account, S::OneTimeCode], true);
        assert!(transfer.account_number && transfer.one_time_code && transfer.amount);
    }

    /// The preparation that `script_argument` asks of the script.
    fn prepared(text: &str) -> String {
        super::super::normalise::split_camel_case(text)
            .nfkd()
            .filter(|c| !unicode_normalization::char::is_combining_mark(*c))
            .flat_map(char::to_lowercase)
            .collect::<String>()
            .replace('ß', "ss")
    }

    #[test]
    fn the_script_gets_the_same_table() {
        let argument = table().script_argument();
        assert_eq!(argument["types"]["password"], "password");
        assert_eq!(argument["autocomplete_prefixes"]["cc-"], "card");
        let raw: RawTable = toml::from_str(SHIPPED).unwrap();
        let words = argument["words"].as_array().unwrap();
        assert_eq!(words.len(), raw.words.len());
        for (entry, word) in raw.words.iter().zip(words) {
            let source = word["expression"].as_str().unwrap();
            assert!(
                !source.contains("(?i)") && !source.contains("\\p"),
                "not plain JavaScript: {source}"
            );
            let expression = regex::Regex::new(source).unwrap();
            for text in &entry.matches {
                assert!(
                    expression.is_match(&prepared(text)),
                    "{} in {text}",
                    entry.pattern
                );
            }
            for text in &entry.not_match {
                assert!(
                    !expression.is_match(&prepared(text)),
                    "{} in {text}",
                    entry.pattern
                );
            }
        }
    }

    #[test]
    fn a_failing_example_stops_loading() {
        let broken = SHIPPED.replace("\"Shipping\"", "\"PIN\"");
        assert_eq!(
            Sensitive::load(&broken).map(|_| ()),
            Err(TableError::Finds(Sensitivity::Pin, "PIN".into()))
        );
        let broken = SHIPPED.replace("\"Geheimzahl\"", "\"Zahl\"");
        assert_eq!(
            Sensitive::load(&broken).map(|_| ()),
            Err(TableError::Misses(Sensitivity::Pin, "Zahl".into()))
        );
        assert!(Sensitive::load("surprise = 1").is_err());
    }

    proptest! {
        #[test]
        fn any_field_can_be_judged(kind in any::<String>(), autocomplete in any::<String>(), name in any::<String>()) {
            let _ = table().judge(&field(&kind, &autocomplete, &[&name]));
        }

        #[test]
        fn a_second_name_never_clears_a_field(name in any::<String>()) {
            prop_assert!(table().judge(&field("text", "", &["Card number", &name])).is_some());
            prop_assert!(table().judge(&field("text", &name, &["otp"])).is_some());
        }
    }
}
