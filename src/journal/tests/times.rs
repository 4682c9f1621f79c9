//! Gaps, clock steps, and what entries say of each other.

use std::sync::{Arc, Mutex};

use time::{Duration, OffsetDateTime};

use super::*;

/// A clock that a test sets.
#[derive(Clone)]
pub(super) struct Hands(Arc<Mutex<Stamp>>);

impl Hands {
    pub(super) fn new() -> Self {
        let wall = OffsetDateTime::from_unix_timestamp(1_790_000_000).unwrap();
        Self(Arc::new(Mutex::new(Stamp {
            wall,
            monotonic_ms: 5_000_000,
            boot: "boot-1".to_owned(),
        })))
    }

    pub(super) fn clock(&self) -> Clock {
        let hands = self.clone();
        Box::new(move || hands.0.lock().unwrap().clone())
    }

    pub(super) fn pass(&self, wall_ms: i64, monotonic_ms: i64) {
        let mut stamp = self.0.lock().unwrap();
        stamp.wall += Duration::milliseconds(wall_ms);
        stamp.monotonic_ms = stamp.monotonic_ms.checked_add_signed(monotonic_ms).unwrap();
    }

    fn boot(&self, boot: &str) {
        self.0.lock().unwrap().boot = boot.to_owned();
    }
}

/// One session: an entry after each passage of time, then the closing one.
fn session(steps: &[(i64, i64)]) -> Report {
    let (scratch, hands) = (Scratch::new(), Hands::new());
    let mut journal = scratch.open_with(hands.clock());
    for (wall, monotonic) in steps {
        hands.pass(*wall, *monotonic);
        journal.heartbeat().unwrap();
    }
    journal.close(Closing::Signal).unwrap();
    scratch.verify(&[])
}

const MINUTE: i64 = 60_000;

#[test]
fn heartbeats_in_time_are_no_gap_and_a_missing_one_is() {
    let beat = HEARTBEAT_EVERY.as_millis() as i64;
    assert!(HEARTBEAT_EVERY < HEARTBEAT_LIMIT);
    assert_eq!(session(&[(beat, beat), (beat, beat)]).notices, []);
    assert_eq!(session(&[(15 * MINUTE, 15 * MINUTE)]).notices, []);
    let report = session(&[(MINUTE, MINUTE), (15 * MINUTE + 1, 15 * MINUTE + 1)]);
    assert_eq!(
        report.notices,
        [Notice::Gap {
            at: 3,
            silent_ms: 900_001
        }]
    );
    assert!(
        report.is_sound()
            && report
                .to_string()
                .contains("nothing was written for 15 min 0 s"),
        "{report}"
    );
}

#[test]
fn clock_steps_are_told_from_sleep_and_from_small_drift() {
    assert_eq!(session(&[(1_500, 1_000), (900, 1_000)]).notices, []);
    // Set back by an hour, within what passes between two entries, and by a hair.
    assert_eq!(
        session(&[(MINUTE - 3_600_000, MINUTE)]).notices,
        [Notice::ClockBack {
            at: 2,
            by_ms: 3_600_000
        }]
    );
    assert_eq!(
        session(&[(MINUTE - 5_000, MINUTE)]).notices,
        [Notice::ClockBack {
            at: 2,
            by_ms: 5_000
        }]
    );
    assert_eq!(
        session(&[(-1, 0)]).notices,
        [Notice::ClockBack { at: 2, by_ms: 1 }]
    );
    // Eight hours asleep: the monotonic clock stood still, so it is no gap.
    assert_eq!(
        session(&[(8 * 3_600_000, MINUTE)]).notices,
        [Notice::ClockAhead {
            at: 2,
            by_ms: 8 * 3_600_000 - 60_000
        }]
    );
}

#[test]
fn a_monotonic_clock_that_goes_back_is_a_lie() {
    let report = session(&[(MINUTE, MINUTE), (MINUTE, -1)]);
    assert_eq!(report.problem.unwrap().name(), "inconsistent at 3");
}

#[test]
fn a_boot_that_changes_within_a_session_is_a_lie() {
    let (scratch, hands) = (Scratch::new(), Hands::new());
    let mut journal = scratch.open_with(hands.clock());
    hands.boot("boot-2");
    journal.heartbeat().unwrap();
    assert_eq!(
        scratch.verify(&[]).problem.unwrap().name(),
        "inconsistent at 2"
    );
}

#[test]
fn a_new_session_may_have_another_boot_and_a_pause_but_not_an_earlier_wall_clock() {
    let (scratch, hands) = (Scratch::new(), Hands::new());
    scratch
        .open_with(hands.clock())
        .close(Closing::Signal)
        .unwrap();
    hands.boot("boot-2");
    hands.pass(86_400_000, -4_999_000);
    scratch
        .open_with(hands.clock())
        .close(Closing::Signal)
        .unwrap();
    assert_eq!(scratch.verify(&[]).notices, []);
    hands.pass(-3_600_000, 1);
    scratch
        .open_with(hands.clock())
        .close(Closing::Signal)
        .unwrap();
    assert_eq!(
        scratch.verify(&[]).notices,
        [Notice::ClockBack {
            at: 5,
            by_ms: 3_600_000
        }]
    );
}

/// Appends entries to one open session and verifies.
fn written(entries: &[Entry]) -> Report {
    let scratch = Scratch::new();
    let mut journal = scratch.open();
    for entry in entries {
        journal.append(entry).unwrap();
    }
    journal.close(Closing::EndOfInput).unwrap();
    scratch.verify(&[])
}

#[test]
fn an_intent_without_outcome_may_have_been_done() {
    let report = written(&[intent(None), look()]);
    assert!(report.is_sound());
    assert_eq!(
        report.notices,
        [Notice::OpenIntent {
            at: 2,
            effect: "possible"
        }]
    );
    assert!(report.to_string().contains("effect: possible"));
    assert_eq!(written(&[intent(None), outcome(2)]).notices, []);
}

#[test]
fn an_action_rests_on_one_answer_that_allowed_it_and_is_used_once() {
    let allowed = [
        asked(),
        answered(2, Ending::Allowed),
        intent(Some(3)),
        outcome(4),
    ];
    assert!(written(&allowed).is_sound());

    for ending in [
        Ending::Denied,
        Ending::Timeout,
        Ending::Cancelled,
        Ending::Undeliverable,
        Ending::Crashed,
    ] {
        let report = written(&[asked(), answered(2, ending), intent(Some(3))]);
        assert_eq!(
            report.problem.unwrap().name(),
            "inconsistent at 4",
            "{ending}"
        );
        assert!(written(&[asked(), answered(2, ending), refused()]).is_sound());
    }
    let twice = [
        asked(),
        answered(2, Ending::Allowed),
        intent(Some(3)),
        intent(Some(3)),
    ];
    assert_eq!(written(&twice).problem.unwrap().at(), 5);
    assert_eq!(
        written(&[asked(), intent(Some(2))]).problem.unwrap().at(),
        3
    );
    assert_eq!(
        written(&[answered(2, Ending::Allowed)])
            .problem
            .unwrap()
            .at(),
        2
    );
    assert_eq!(
        written(&[
            asked(),
            answered(2, Ending::Denied),
            answered(2, Ending::Allowed)
        ])
        .problem
        .unwrap()
        .at(),
        4
    );
    assert_eq!(written(&[outcome(1)]).problem.unwrap().at(), 2);
    assert_eq!(
        written(&[intent(None), outcome(2), outcome(2)])
            .problem
            .unwrap()
            .at(),
        4
    );
}

#[test]
fn an_answer_does_not_outlive_its_session() {
    let scratch = Scratch::new();
    let mut journal = scratch.open();
    journal.append(&asked()).unwrap();
    journal.append(&answered(2, Ending::Allowed)).unwrap();
    drop(journal);
    scratch.open().append(&intent(Some(3))).unwrap();
    let report = scratch.verify(&[]);
    assert_eq!(report.problem.unwrap().name(), "inconsistent at 5");
}

#[test]
fn a_session_that_was_not_closed_is_named() {
    let scratch = Scratch::new();
    let mut journal = scratch.open();
    journal.append(&intent(None)).unwrap();
    drop(journal);
    scratch.open().close(Closing::EndOfInput).unwrap();
    assert_eq!(
        scratch.verify(&[]).notices,
        [
            Notice::OpenIntent {
                at: 2,
                effect: "possible"
            },
            Notice::NotClosed {
                from: 1,
                last: 2,
                newest: false
            }
        ]
    );
}
