//! The few bytes that pass between the server and the process that shows a question: one line in, at most three out.
//!
//! Standard input carries one JSON line, [`Put`], and stays open: its end means that the asker is gone. Standard output
//! carries, in this order and nothing else, `shown`, `awake` and one answer, each bound to the nonce of this one
//! question; the answer is bound to the question's digest too, and counts only with the exit code that belongs to it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::question::{Ending, Question};

/// The version of this protocol. Both sides come from one build; a leftover helper of another build is refused.
const VERSION: u8 = 1;

/// The argument that makes the helper say by its exit code (0) that it can open the display and speaks this protocol.
pub const PROBE: &str = "--probe=1";

/// Where the middle of the helper's Allow button lies: pixels left of and above the window's lower right corner, at scale 1.
pub const ALLOW_AT: (i32, i32) = (83, 32);

/// The same for Deny.
pub const DENY_AT: (i32, i32) = (215, 32);

/// The longest question line in bytes that a window reads.
pub const LONGEST_QUESTION: usize = 64 * 1024;

/// The most bytes of output that are read; every allowed transcript is shorter.
pub const LONGEST_OUTPUT: usize = 512;

/// The most facts a window has room for.
pub const MOST_FACTS: usize = 12;

/// The longest registrable domain that is always shown whole: two labels of the greatest length, more than any real one.
pub const LONGEST_DOMAIN: usize = 130;

/// The longest label of ours that is always shown whole.
pub const LONGEST_LABEL: usize = 18;

/// How long Allow sleeps after the window of our own was drawn.
pub const WAKE: Duration = Duration::from_millis(1_000);

/// How long an Allow of the basic dialog is refused after its program was started.
pub const BASIC_WAKE: Duration = Duration::from_millis(1_500);

/// One fact as it travels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Our label.
    pub label: String,
    /// The escaped value.
    pub value: String,
    /// Never scrolled out of sight or left out.
    pub critical: bool,
}

/// The question as it travels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Put {
    version: u8,
    nonce: String,
    digest: String,
    /// The lock class as a person calls it.
    pub class: String,
    /// What would happen, in one sentence of ours.
    pub headline: String,
    /// The host before its registrable part, possibly empty.
    pub host_prefix: String,
    /// The registrable domain, or the whole host.
    pub host_registrable: String,
    /// Scheme, port and alphabet where they are unusual, possibly empty.
    pub host_note: String,
    /// What was read from the page.
    pub facts: Vec<Line>,
    /// The model's words.
    pub model_says: Option<String>,
    /// The journal's number of this question.
    pub journal_number: u64,
    /// How long the person has, in milliseconds.
    pub milliseconds: u64,
}

/// A question that cannot be put: too many facts, or too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unfit;

impl std::fmt::Display for Unfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the question does not fit the window's protocol")
    }
}

impl std::error::Error for Unfit {}

impl Put {
    /// Binds a question to a nonce; `time` is how long the person has.
    ///
    /// # Errors
    /// Where a part that must be seen whole has no room in a window.
    pub fn new(question: &Question, nonce: [u8; 32], time: Duration) -> Result<Self, Unfit> {
        let facts = question.facts.iter().map(|fact| Line {
            label: fact.label.to_owned(),
            value: fact.value.to_string(),
            critical: fact.critical,
        });
        let put = Self {
            version: VERSION,
            nonce: crate::domain::digest::Digest::from_bytes(nonce).hex(),
            digest: question.digest.hex(),
            class: super::words::title(question.class).to_owned(),
            headline: question.headline.to_owned(),
            host_prefix: question.host_prefix.to_string(),
            host_registrable: question.host_registrable.to_string(),
            host_note: question.host_note.to_string(),
            facts: facts.collect(),
            model_says: question.model_says.as_ref().map(ToString::to_string),
            journal_number: question.journal_number,
            milliseconds: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
        };
        if put.fits() { Ok(put) } else { Err(Unfit) }
    }

    /// True where every part that must be seen whole has room.
    fn fits(&self) -> bool {
        self.facts.len() <= MOST_FACTS
            && self.host_registrable.chars().count() <= LONGEST_DOMAIN
            && self
                .facts
                .iter()
                .all(|fact| fact.label.chars().count() <= LONGEST_LABEL)
    }

    /// The line for the window's standard input.
    ///
    /// # Errors
    /// Where it is longer than a window reads.
    pub fn to_line(&self) -> Result<String, Unfit> {
        let mut line = serde_json::to_string(self).map_err(|_| Unfit)?;
        line.push('\n');
        if line.len() > LONGEST_QUESTION {
            return Err(Unfit);
        }
        Ok(line)
    }

    /// Reads the line in the window's process.
    ///
    /// # Errors
    /// Where it is not exactly such a question.
    pub fn from_line(line: &str) -> Result<Self, Unfit> {
        let put: Self = serde_json::from_str(line).map_err(|_| Unfit)?;
        let fit =
            put.version == VERSION && put.nonce.len() == 64 && put.digest.len() == 64 && put.fits();
        if fit { Ok(put) } else { Err(Unfit) }
    }

    /// How long the person has.
    #[must_use]
    pub const fn time(&self) -> Duration {
        Duration::from_millis(self.milliseconds)
    }

    /// The exact line a window says, newline included.
    #[must_use]
    pub fn line(&self, word: Word) -> String {
        let (nonce, digest) = (&self.nonce, &self.digest);
        match word {
            Word::Shown => format!("shown {nonce}\n"),
            Word::Awake => format!("awake {nonce}\n"),
            Word::Allow => format!("allow {nonce} {digest}\n"),
            Word::Deny => format!("deny {nonce} {digest}\n"),
        }
    }

    /// How far the output so far has come; `None` where it is no beginning of anything a window may say.
    #[must_use]
    pub fn follow(&self, output: &[u8]) -> Option<Progress> {
        let transcripts: [&[Word]; 4] = [
            &[Word::Shown, Word::Awake, Word::Allow],
            &[Word::Shown, Word::Awake, Word::Deny],
            &[Word::Shown, Word::Deny],
            &[Word::Deny],
        ];
        transcripts
            .iter()
            .filter_map(|words| self.along(words, output))
            .max()
    }

    fn along(&self, words: &[Word], output: &[u8]) -> Option<Progress> {
        let mut rest = output;
        let mut progress = Progress::Nothing;
        for word in words {
            let line = self.line(*word);
            match rest.strip_prefix(line.as_bytes()) {
                Some(after) => rest = after,
                None if line.as_bytes().starts_with(rest) => return Some(progress),
                None => return None,
            }
            progress = match word {
                Word::Shown => Progress::Shown,
                Word::Awake => Progress::Awake,
                Word::Allow => Progress::Allow,
                Word::Deny => Progress::Deny,
            };
        }
        rest.is_empty().then_some(progress)
    }

    /// What a finished process has answered: its whole output and its exit code (`None` where a signal ended it).
    #[must_use]
    pub fn judge(&self, output: &[u8], code: Option<i32>) -> Ending {
        let complete = self
            .follow(output)
            .filter(|_| output.is_empty() || output.ends_with(b"\n"));
        let exit = code.and_then(Exit::from_code);
        match (complete, exit) {
            (Some(Progress::Allow), Some(Exit::Allowed)) => Ending::Allowed,
            (Some(Progress::Deny), Some(Exit::Denied)) => Ending::Denied,
            (Some(Progress::Nothing), Some(Exit::NoDisplay)) => Ending::Undeliverable,
            (Some(Progress::Shown | Progress::Awake), Some(Exit::Expired)) => Ending::Timeout,
            (Some(Progress::Nothing), Some(Exit::Expired)) => Ending::Undeliverable,
            (
                Some(_) | None,
                Some(
                    Exit::Allowed
                    | Exit::Denied
                    | Exit::NoDisplay
                    | Exit::Expired
                    | Exit::Unreadable
                    | Exit::TooFast,
                )
                | None,
            ) => Ending::Crashed,
        }
    }
}

/// What a window may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// It is on the screen.
    Shown,
    /// Allow can be chosen from now on.
    Awake,
    /// The person allows.
    Allow,
    /// The person refuses.
    Deny,
}

/// How far a window has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Progress {
    /// Nothing was heard of it.
    Nothing,
    /// It is on the screen.
    Shown,
    /// Allow can be chosen.
    Awake,
    /// It said no.
    Deny,
    /// It said yes.
    Allow,
}

/// How the window's process ends. None of these is a code that a loader, a shell or a toolkit uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With the allow line.
    Allowed,
    /// With the deny line.
    Denied,
    /// No display could be opened, or the dialog could not be started.
    NoDisplay,
    /// The question could not be read.
    Unreadable,
    /// Nobody answered in time.
    Expired,
    /// The basic dialog was allowed faster than a person reads.
    TooFast,
}

impl Exit {
    /// The process's exit code.
    #[must_use]
    pub const fn code(self) -> i32 {
        match self {
            Self::Allowed => 80,
            Self::Denied => 81,
            Self::NoDisplay => 82,
            Self::Unreadable => 83,
            Self::Expired => 84,
            Self::TooFast => 85,
        }
    }

    /// The end a code stands for.
    #[must_use]
    pub fn from_code(code: i32) -> Option<Self> {
        [
            Self::Allowed,
            Self::Denied,
            Self::NoDisplay,
            Self::Unreadable,
            Self::Expired,
            Self::TooFast,
        ]
        .into_iter()
        .find(|exit| exit.code() == code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::digest::Digest;
    use crate::domain::lock::LockClass;
    use crate::domain::question::Fact;
    use crate::domain::text::Shown;
    use proptest::prelude::*;

    fn put(nonce: u8) -> Put {
        Put::new(&question(1), [nonce; 32], Duration::from_secs(9)).unwrap()
    }

    fn question(facts: usize) -> Question {
        Question {
            class: LockClass::Payment,
            headline: "h",
            host_prefix: Shown::default(),
            host_registrable: Shown::ours("bank.test"),
            host_note: Shown::default(),
            facts: vec![
                Fact {
                    label: "Amount",
                    value: Shown::ours("5"),
                    critical: true
                };
                facts
            ],
            model_says: None,
            journal_number: 1,
            digest: Digest::of(b"q"),
            deadline: Duration::from_secs(9),
        }
    }

    fn said(put: &Put, words: &[Word]) -> Vec<u8> {
        words
            .iter()
            .flat_map(|word| put.line(*word).into_bytes())
            .collect()
    }

    #[test]
    fn the_question_comes_back_as_it_went() {
        let put = put(7);
        assert_eq!(Put::from_line(put.to_line().unwrap().trim_end()), Ok(put));
        assert_eq!(Put::from_line("{}"), Err(Unfit));
        assert_eq!(
            Put::new(&question(MOST_FACTS + 1), [0; 32], WAKE),
            Err(Unfit)
        );
    }

    #[test]
    fn only_the_whole_transcript_with_its_code_allows() {
        use Word::{Allow, Awake, Deny, Shown};
        let put = put(1);
        let yes = said(&put, &[Shown, Awake, Allow]);
        assert_eq!(put.judge(&yes, Some(80)), Ending::Allowed);
        for code in (-1..256).filter(|code| *code != 80) {
            assert_eq!(put.judge(&yes, Some(code)), Ending::Crashed, "{code}");
        }
        assert_eq!(put.judge(&yes, None), Ending::Crashed);
        for words in [
            &[Allow][..],
            &[Shown, Allow],
            &[Awake, Allow],
            &[Shown, Awake, Allow, Allow],
            &[Shown, Awake, Deny, Allow],
            &[Shown, Awake, Allow, Deny],
            &[Shown, Shown, Awake, Allow],
            &[Shown, Awake],
        ] {
            assert_eq!(
                put.judge(&said(&put, words), Some(80)),
                Ending::Crashed,
                "{words:?}"
            );
        }
        let other = super::tests::put(2);
        let stale = said(&other, &[Shown, Awake, Allow]);
        assert_eq!(put.judge(&stale, Some(80)), Ending::Crashed);
        for words in [&[Deny][..], &[Shown, Deny], &[Shown, Awake, Deny]] {
            assert_eq!(put.judge(&said(&put, words), Some(81)), Ending::Denied);
            assert_eq!(put.judge(&said(&put, words), Some(80)), Ending::Crashed);
        }
        assert_eq!(put.judge(b"", Some(82)), Ending::Undeliverable);
        assert_eq!(put.judge(b"", Some(0)), Ending::Crashed);
        assert_eq!(put.judge(b"", Some(127)), Ending::Crashed);
    }

    #[test]
    fn progress_is_followed_byte_by_byte() {
        let put = put(3);
        let all = said(&put, &[Word::Shown, Word::Awake, Word::Allow]);
        let mut last = Progress::Nothing;
        for end in 0..=all.len() {
            let now = put.follow(&all[..end]).unwrap();
            assert!(now >= last);
            last = now;
            if end < all.len() {
                assert_ne!(put.judge(&all[..end], Some(80)), Ending::Allowed);
            }
        }
        assert_eq!(last, Progress::Allow);
        assert_eq!(put.follow(b"GLib-DEBUG: hello\n"), None);
    }

    proptest! {
        #[test]
        fn a_flipped_dropped_or_added_byte_never_allows(at in 0_usize..400, byte in any::<u8>(), how in 0_u8..3) {
            let put = put(4);
            let good = said(&put, &[Word::Shown, Word::Awake, Word::Allow]);
            let mut bad = good.clone();
            let at = at % bad.len();
            match how {
                0 => bad[at] = byte,
                1 => { bad.remove(at); }
                _ => bad.insert(at, byte),
            }
            prop_assume!(bad != good);
            prop_assert_eq!(put.judge(&bad, Some(80)), Ending::Crashed);
        }

        #[test]
        fn any_output_with_any_code_is_no_allow(output in proptest::collection::vec(any::<u8>(), 0..300), code in any::<Option<i32>>()) {
            prop_assert_ne!(put(5).judge(&output, code), Ending::Allowed);
        }
    }
}
