//! The person's answer: who may be asked, how often, and what an answer allows.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::time::{Duration, Instant};

use crate::domain::digest::Digest;
use crate::domain::lock::LockClass;
use crate::domain::question::{Ending, Means, Question};
use crate::error::{Code, Refusal};

use super::admit::Call;
use super::aim::{Arm, Wants};
use super::lock::{Held, Ticket, wanted};

/// Whoever can put a question to the person. Implemented by the window alone.
pub trait Ask: Send + Sync {
    /// By what means a question would be put now.
    fn means(&self) -> impl Future<Output = Means> + Send;

    /// Puts the question and waits for its end. `withdrawn` completes when the caller goes away: the window then
    /// closes and the ending is [`Ending::Cancelled`]. Anything uncertain is an ending that refuses.
    fn ask(
        &self,
        question: Question,
        withdrawn: impl Future<Output = ()> + Send,
    ) -> impl Future<Output = Asked> + Send;
}

/// How a question ended, and by what means it was put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// The end.
    pub ending: Ending,
    /// The means.
    pub means: Means,
}

/// A held action whose question is durable in the journal. Implemented by the journal's own proof alone.
pub trait OnRecord {
    /// The journal's number of the question.
    fn sequence(&self) -> u64;
    /// The held action.
    fn into_held(self) -> Held;
}

/// How often a person may be asked: one window at a time, few unanswered or refused ones (security C9).
#[derive(Debug, Default)]
pub struct Windows {
    open: bool,
    /// When windows ended without leave, lately.
    lately: VecDeque<Instant>,
    in_all: u32,
    refusals: HashMap<LockClass, u32>,
}

/// The span in which at most [`LATELY`] windows may end without leave.
const SPAN: Duration = Duration::from_secs(600);
/// How many explicit refusals of one class end that class for the session.
const REFUSALS: u32 = 2;

impl Windows {
    /// May this class be asked about now? `lately` windows may end without leave in the span, `most` in all. Counts the
    /// window as open.
    ///
    /// # Errors
    /// Where a window is open, too many went unanswered, or the class was refused twice.
    pub fn open(
        &mut self,
        class: LockClass,
        (lately, most): (u32, u32),
        now: Instant,
    ) -> Result<(), Refusal> {
        if self
            .refusals
            .get(&class)
            .is_some_and(|times| *times >= REFUSALS)
        {
            return Err(Code::ClassRefused.into());
        }
        if self.open {
            return Err(Code::AnotherQuestion.into());
        }
        while self
            .lately
            .front()
            .is_some_and(|then| now.saturating_duration_since(*then) > SPAN)
        {
            self.lately.pop_front();
        }
        if self.lately.len() >= lately as usize || self.in_all >= most {
            return Err(Code::TooManyWindows.into());
        }
        self.open = true;
        Ok(())
    }

    /// The window ended.
    pub fn ended(&mut self, class: LockClass, ending: Ending, now: Instant) {
        self.open = false;
        match ending {
            Ending::Allowed => {}
            Ending::Denied => {
                *self.refusals.entry(class).or_default() += 1;
                self.left(now);
            }
            Ending::Timeout | Ending::Cancelled | Ending::Undeliverable | Ending::Crashed => {
                self.left(now)
            }
        }
    }

    /// The classes that stay refused.
    #[must_use]
    pub fn refused(&self) -> Vec<LockClass> {
        LockClass::ALL
            .into_iter()
            .filter(|class| self.refusals.get(class).is_some_and(|n| *n >= REFUSALS))
            .collect()
    }

    fn left(&mut self, now: Instant) {
        self.lately.push_back(now);
        self.in_all = self.in_all.saturating_add(1);
    }
}

/// An answer that is not yet in the journal. Only `journal::answered` opens it.
#[derive(Debug)]
#[must_use = "an answer goes to the journal before it counts"]
pub struct Answer {
    held: Held,
    sequence: u64,
    asked: Asked,
    waited: Duration,
}

/// A person said yes to exactly this, and nothing else; the evidence of before is given up.
#[derive(Debug)]
#[must_use = "an answer is good for one gesture, after a second look"]
pub struct Consented {
    call: Call,
    arm: Arm,
    consent: Consent,
}

/// The yes itself.
#[derive(Debug)]
#[must_use]
pub struct Consent {
    ticket: Ticket,
    digest: Digest,
    answered: u64,
}

/// Puts the question. What is asked is already in the journal.
pub async fn ask(
    recorded: impl OnRecord,
    question: Question,
    whom: &impl Ask,
    withdrawn: impl Future<Output = ()> + Send,
) -> Answer {
    let sequence = recorded.sequence();
    let held = recorded.into_held();
    let begun = Instant::now();
    // A question about anything else than what is held is no question about it.
    let asked = if question.digest == held.digest() {
        whom.ask(question, withdrawn).await
    } else {
        Asked {
            ending: Ending::Crashed,
            means: Means::Nothing,
        }
    };
    Answer {
        held,
        sequence,
        asked,
        waited: begun.elapsed(),
    }
}

impl Answer {
    /// How it ended.
    #[must_use]
    pub const fn asked(&self) -> Asked {
        self.asked
    }

    /// The journal's number of the question.
    #[must_use]
    pub const fn sequence(&self) -> u64 {
        self.sequence
    }

    /// How long the person took.
    #[must_use]
    pub const fn waited(&self) -> Duration {
        self.waited
    }

    /// Opens the answer; called by the journal, once the answer is durable as entry `answered`.
    ///
    /// # Errors
    /// Every ending but a yes is a refusal of its own name.
    pub fn opened(self, answered: u64) -> Result<Consented, Refusal> {
        let code = match self.asked.ending {
            Ending::Allowed => {
                let (call, arm, ticket, digest) = self.held.give_up();
                return Ok(Consented {
                    call,
                    arm,
                    consent: Consent {
                        ticket,
                        digest,
                        answered,
                    },
                });
            }
            Ending::Denied => Code::Denied,
            Ending::Timeout => Code::TimedOut,
            Ending::Cancelled => Code::Cancelled,
            Ending::Undeliverable => Code::Undeliverable,
            Ending::Crashed => Code::WindowFailed,
        };
        Err(code.into())
    }
}

impl Consented {
    /// What the second look must read.
    #[must_use]
    pub fn wants(&self) -> Wants<'_> {
        wanted(&self.call, &self.arm)
    }

    pub(super) fn into_parts(self) -> (Call, Arm, Consent) {
        (self.call, self.arm, self.consent)
    }
}

impl Consent {
    pub(super) fn into_parts(self) -> (Ticket, Digest, u64) {
        (self.ticket, self.digest, self.answered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_few() {
        let mut windows = Windows::default();
        let now = Instant::now();
        windows.open(LockClass::Payment, (5, 20), now).unwrap();
        assert_eq!(
            windows
                .open(LockClass::Payment, (5, 20), now)
                .unwrap_err()
                .code(),
            Code::AnotherQuestion
        );
        for _ in 0..5 {
            windows.ended(LockClass::Payment, Ending::Timeout, now);
            let _ = windows.open(LockClass::Payment, (5, 20), now);
        }
        windows.open = false;
        assert_eq!(
            windows
                .open(LockClass::Payment, (5, 20), now)
                .unwrap_err()
                .code(),
            Code::TooManyWindows
        );
        let later = now + SPAN + Duration::from_secs(1);
        windows.open(LockClass::Payment, (5, 20), later).unwrap();
        windows.ended(LockClass::Payment, Ending::Denied, later);
        windows.open(LockClass::Payment, (5, 20), later).unwrap();
        windows.ended(LockClass::Payment, Ending::Denied, later);
        assert_eq!(
            windows
                .open(LockClass::Payment, (5, 20), later)
                .unwrap_err()
                .code(),
            Code::ClassRefused
        );
        assert_eq!(windows.refused(), [LockClass::Payment]);
        assert!(windows.open(LockClass::Deletion, (5, 20), later).is_ok());
        windows.ended(LockClass::Deletion, Ending::Allowed, later);
        assert_eq!(
            windows
                .open(LockClass::Deletion, (5, 7), later)
                .unwrap_err()
                .code(),
            Code::TooManyWindows
        );
    }
}
