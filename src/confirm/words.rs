//! The window's words: sentences of ours, and values of the live page as [`Shown`] text with caps.

use std::time::Duration;

use crate::domain::action::Action;
use crate::domain::digest::Digest;
use crate::domain::lock::LockClass;
use crate::domain::question::{Fact, Question};
use crate::domain::site::{Host, Scheme, Site};
use crate::domain::text::{Shown, Untrusted};

use super::alphabet::{Alphabets, alphabets};
use super::protocol::MOST_FACTS;

/// The most characters of one fact.
pub const LONGEST_VALUE: usize = 160;
/// The most characters of the model's words.
pub const LONGEST_SAYING: usize = 200;
/// The most characters of the host before its registrable part; the front is cut, for the end says more.
pub const LONGEST_PREFIX: usize = 40;
/// What stands for a value that could not be read with certainty (security C3).
pub const UNKNOWN: &str = "unknown (could not be read)";

/// One thing read from the live page; `None` where it could not be read with certainty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// A constant of ours.
    pub label: &'static str,
    /// What was read.
    pub value: Option<Untrusted>,
    /// Critical facts are never scrolled out of sight or left out.
    pub critical: bool,
}

/// What a question is made of.
#[derive(Debug, Clone)]
pub struct Matter<'a> {
    /// The class that locked the action.
    pub class: LockClass,
    /// The action.
    pub action: &'a Action,
    /// The site of the frame that the action is for.
    pub site: &'a Site,
    /// What was read, in the order in which it is shown.
    pub facts: Vec<Read>,
    /// The model's words, if it gave any.
    pub model_says: Option<Untrusted>,
    /// The journal's number of the `asked` entry.
    pub journal_number: u64,
    /// The digest the answer is bound to.
    pub digest: Digest,
    /// How long the person has.
    pub deadline: Duration,
}

/// More critical facts than a window can show: the action must be refused, for a part of it would be out of sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyFacts;

impl std::fmt::Display for TooManyFacts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "more than {MOST_FACTS} critical facts do not fit a window"
        )
    }
}

impl std::error::Error for TooManyFacts {}

/// Builds the question.
///
/// # Errors
/// [`TooManyFacts`] where the critical facts alone do not fit.
pub fn question(matter: Matter<'_>) -> Result<Question, TooManyFacts> {
    let (prefix, registrable) = split(matter.site.host());
    Ok(Question {
        class: matter.class,
        headline: headline(matter.class, matter.action),
        host_prefix: Shown::escape(&prefix, LONGEST_PREFIX + 1),
        host_registrable: Shown::escape(&registrable, 255),
        host_note: note(matter.site),
        facts: facts(&matter.facts)?,
        model_says: matter
            .model_says
            .filter(|words| !words.is_blank())
            .map(|words| words.shown(LONGEST_SAYING)),
        journal_number: matter.journal_number,
        digest: matter.digest,
        deadline: matter.deadline,
    })
}

/// The facts as shown. Where there are too many, ordinary ones give way and their number is stated.
fn facts(read: &[Read]) -> Result<Vec<Fact>, TooManyFacts> {
    let critical = read.iter().filter(|fact| fact.critical).count();
    let over = read.len() > MOST_FACTS;
    let room = MOST_FACTS - usize::from(over);
    if critical > room {
        return Err(TooManyFacts);
    }
    let mut ordinary = room - critical;
    let mut left_out = 0_usize;
    let mut shown = Vec::new();
    for fact in read {
        if !fact.critical {
            if ordinary == 0 {
                left_out += 1;
                continue;
            }
            ordinary -= 1;
        }
        shown.push(Fact {
            label: fact.label,
            value: match &fact.value {
                Some(value) if value.is_blank() => Shown::ours("(empty)"),
                Some(value) => value.shown(LONGEST_VALUE),
                None => Shown::ours(UNKNOWN),
            },
            critical: fact.critical,
        });
    }
    if left_out > 0 {
        shown.push(Fact {
            label: "Not shown",
            value: Shown::escape(&format!("{left_out} further details"), LONGEST_VALUE),
            critical: false,
        });
    }
    Ok(shown)
}

/// The host before its registrable part, and that part; the whole host where there is none.
fn split(host: &Host) -> (String, String) {
    let whole = host.to_string();
    let registrable = host.registrable().unwrap_or(&whole);
    let prefix = whole.strip_suffix(registrable).unwrap_or_default();
    let over = prefix.chars().count().saturating_sub(LONGEST_PREFIX);
    let prefix = if over > 0 {
        let end: String = prefix.chars().skip(over).collect();
        format!("\u{2026}{end}")
    } else {
        prefix.to_owned()
    };
    (prefix, registrable.to_owned())
}

/// What is unusual about a site: no encryption, another port, a private address, letters that may deceive.
fn note(site: &Site) -> Shown {
    let mut notes = Vec::new();
    // The gravest first: what comes last is what a small window cuts.
    match alphabets(site.host()) {
        Alphabets::Ascii => {}
        Alphabets::One => {
            notes.push("a name in letters outside ASCII, shown in its coded form".to_owned());
        }
        Alphabets::Mixed => {
            notes.push("CAUTION: this name mixes alphabets, often to look like another".to_owned());
        }
        Alphabets::Unreadable => notes.push("CAUTION: this name cannot be decoded".to_owned()),
    }
    match site.scheme() {
        Scheme::Https => {}
        Scheme::Http => notes.push("http: not encrypted".to_owned()),
    }
    if site.port() != site.scheme().default_port() {
        notes.push(format!("port {}", site.port()));
    }
    if site.host().is_private() {
        notes.push("an address on this computer or its network".to_owned());
    }
    Shown::escape(&notes.join("; "), 240)
}

/// The class as a person calls it.
#[must_use]
pub const fn title(class: LockClass) -> &'static str {
    match class {
        LockClass::Payment => "Payment",
        LockClass::Deletion => "Deletion",
        LockClass::Secret => "Password or key",
        LockClass::Grant => "Access",
        LockClass::Legal => "Agreement",
        LockClass::Account => "Account",
        LockClass::Send => "Message",
        LockClass::Upload => "Upload",
        LockClass::CrossSite => "From one site to another",
        LockClass::PageDialog => "The page's own question",
        LockClass::Credential => "Stored credential",
    }
}

/// One sentence for each pair of gesture and class, put together at compile time.
macro_rules! sentences {
    ($class:expr, $gesture:literal) => {
        match $class {
            LockClass::Payment => concat!(
                "The assistant wants to ",
                $gesture,
                ". This may move money."
            ),
            LockClass::Deletion => concat!(
                "The assistant wants to ",
                $gesture,
                ". This may delete something for good."
            ),
            LockClass::Secret => concat!(
                "The assistant wants to ",
                $gesture,
                ". This may change a password or key."
            ),
            LockClass::Grant => concat!(
                "The assistant wants to ",
                $gesture,
                ". This may give somebody access."
            ),
            LockClass::Legal => concat!(
                "The assistant wants to ",
                $gesture,
                ". This may bind you to something."
            ),
            LockClass::Account => concat!(
                "The assistant wants to ",
                $gesture,
                ". This may close or change an account."
            ),
            LockClass::Send => concat!(
                "The assistant wants to ",
                $gesture,
                ". This may send something in your name."
            ),
            LockClass::Upload => concat!(
                "The assistant wants to ",
                $gesture,
                ". This may send a file of yours away."
            ),
            LockClass::CrossSite => concat!(
                "The assistant wants to ",
                $gesture,
                ". This takes data from one site to another."
            ),
            LockClass::PageDialog => concat!(
                "The assistant wants to ",
                $gesture,
                ". This answers a question of the page."
            ),
            LockClass::Credential => concat!(
                "The assistant wants to ",
                $gesture,
                ". This uses a stored credential."
            ),
        }
    };
}

/// What would happen, in words of ours.
#[must_use]
pub const fn headline(class: LockClass, action: &Action) -> &'static str {
    match action {
        Action::Click(_) => sentences!(class, "click"),
        Action::Fill(..) => sentences!(class, "fill in a field"),
        Action::Select(..) => sentences!(class, "choose an option"),
        Action::PressOn(..) | Action::Press(..) => sentences!(class, "press a key"),
        Action::ScrollIn(..) | Action::Scroll(..) => sentences!(class, "scroll"),
        Action::Open(_) => sentences!(class, "open an address"),
        Action::Navigate(..) => sentences!(class, "go to another page"),
        Action::Close(_) => sentences!(class, "close a tab"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::site::Address;

    fn ask(site: &str, facts: Vec<Read>) -> Result<Question, TooManyFacts> {
        question(Matter {
            class: LockClass::Payment,
            action: &Action::Open(Address::parse("https://bank.test/").unwrap()),
            site: &Site::parse(site).unwrap(),
            facts,
            model_says: Some(Untrusted::new(" \n ")),
            journal_number: 1,
            digest: Digest::of(b""),
            deadline: Duration::from_secs(90),
        })
    }

    fn read(critical: bool) -> Read {
        Read {
            label: "Amount",
            value: Some(Untrusted::new("5")),
            critical,
        }
    }

    #[test]
    fn the_registrable_domain_is_set_apart() {
        for (site, prefix, registrable, note) in [
            ("https://login.bank.test", "login.", "bank.test", ""),
            ("https://bank.co.uk", "", "bank.co.uk", ""),
            (
                "http://127.0.0.1:8080",
                "",
                "127.0.0.1",
                "http: not encrypted; port 8080; an address on this computer or its network",
            ),
            (
                "https://bank.test.login.secure-account-verification-of-the-day.evil.example",
                "\u{2026}.secure-account-verification-of-the-day.",
                "evil.example",
                "",
            ),
            (
                "https://xn--bcher-kva.example",
                "",
                "xn--bcher-kva.example",
                "a name in letters outside ASCII, shown in its coded form",
            ),
        ] {
            let asked = ask(site, Vec::new()).unwrap();
            let got = (
                asked.host_prefix.as_str(),
                asked.host_registrable.as_str(),
                asked.host_note.as_str(),
            );
            assert_eq!(got, (prefix, registrable, note), "{site}");
        }
        let mixed = ask("https://b\u{430}nk.example", Vec::new()).unwrap();
        assert!(mixed.host_registrable.as_str().starts_with("xn--"));
        assert!(mixed.host_note.as_str().contains("mixes alphabets"));
    }

    #[test]
    fn what_was_not_read_is_said_in_words() {
        let mut unread = read(true);
        unread.value = None;
        let mut empty = read(true);
        empty.value = Some(Untrusted::new("\n"));
        let asked = ask("https://bank.test", vec![unread, empty]).unwrap();
        let values: Vec<_> = asked.facts.iter().map(|f| f.value.as_str()).collect();
        assert_eq!(values, [UNKNOWN, "(empty)"]);
        assert_eq!(asked.model_says, None);
    }

    #[test]
    fn ordinary_facts_give_way_and_critical_ones_never() {
        let many: Vec<_> = (0..30).map(|at| read(at % 3 == 0)).collect();
        let asked = ask("https://bank.test", many).unwrap();
        assert_eq!(asked.facts.len(), MOST_FACTS);
        assert_eq!(asked.facts.iter().filter(|f| f.critical).count(), 10);
        assert_eq!(
            asked.facts.last().unwrap().value.as_str(),
            "19 further details"
        );
        assert!(ask("https://bank.test", vec![read(true); MOST_FACTS]).is_ok());
        assert_eq!(
            ask("https://bank.test", vec![read(true); MOST_FACTS + 1]),
            Err(TooManyFacts)
        );
    }

    #[test]
    fn every_class_and_gesture_has_one_short_sentence() {
        let action = Action::Open(Address::parse("https://bank.test/").unwrap());
        for class in LockClass::ALL {
            let sentence = headline(class, &action);
            assert!(sentence.starts_with("The assistant wants to open an address. This "));
            assert!(
                sentence.len() < 100 && !title(class).is_empty(),
                "{sentence}"
            );
        }
    }
}
