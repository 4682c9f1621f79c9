//! Verification: walks the journal from its first entry and names the first bad one.
//!
//! Without the identity it checks form, numbers and links. With it also who wrote each entry (the MAC under the
//! segment's key), what the entries say of each other, the clocks, and the sealed files.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

use super::chain::{self, Anchor, Line, NOTHING_BEFORE, NotALine};
use super::directory::{Directory, FileName};
use super::entry::{Body, Entry, Own, Record, Recovered};
use super::keys::Identity;
use super::ratchet::Ratchet;
use super::read::{self, Opened, Piece};
use super::recover;
use super::report::{AnchorState, Depth, FileDamage, Notice, Problem, Report};
use super::seal::{self, CAPTURES, Damage, Sealed};
use super::stamp::Stamp;
use super::writer::HEARTBEAT_LIMIT;
use crate::domain::question::Ending;
use crate::error::Fault;

/// A drift between the two clocks below this, in milliseconds, is not a step.
const CLOCK_TOLERANCE_MS: i128 = 2_000;

/// What to verify with.
#[derive(Default)]
pub struct Request<'a> {
    /// The auditor's identity, for a full check.
    pub identity: Option<&'a Identity>,
    /// The journal's directory, for the files that entries name. Only with the identity.
    pub directory: Option<&'a Directory>,
    /// Receipts that the journal must contain.
    pub receipts: &'a [Anchor],
}

/// Verifies the journal of a directory.
///
/// # Errors
/// Where the journal cannot be read at all. What is wrong with its content is in the report.
pub fn verify_directory(
    directory: &Directory,
    identity: Option<&Identity>,
    receipts: &[Anchor],
) -> Result<Report, Fault> {
    verify(
        read::open(directory)?,
        &Request {
            identity,
            directory: Some(directory),
            receipts,
        },
    )
}

/// Verifies lines.
///
/// # Errors
/// Where reading fails. What is wrong with the content is in the report.
pub fn verify(mut lines: impl BufRead, request: &Request<'_>) -> Result<Report, Fault> {
    let mut walk = Walk::new(request);
    while let Some(piece) = read::next(&mut lines)? {
        if let Err(problem) = walk.piece(&piece) {
            walk.problem = Some(problem);
            break;
        }
    }
    walk.finish()
}

struct Walk<'a> {
    request: &'a Request<'a>,
    head: Option<Anchor>,
    segment: Option<Segment>,
    segments: u64,
    /// Files named by entries that were compared and hold.
    files: BTreeSet<FileName>,
    files_sound: u64,
    problem: Option<Problem>,
    damage: Vec<FileDamage>,
    notices: Vec<Notice>,
    found: Vec<Option<bool>>,
}

/// One run of a server.
struct Segment {
    ratchet: Ratchet,
    from: u64,
    last: Record,
    closed: bool,
    /// Questions without an answer yet, and answers that no intent used yet, by the answer's number.
    questions: BTreeSet<u64>,
    answers: BTreeMap<u64, Ending>,
    intents: BTreeSet<u64>,
}

impl<'a> Walk<'a> {
    fn new(request: &'a Request<'a>) -> Self {
        Self {
            request,
            head: None,
            segment: None,
            segments: 0,
            files: BTreeSet::new(),
            files_sound: 0,
            problem: None,
            damage: Vec::new(),
            notices: Vec::new(),
            found: vec![None; request.receipts.len()],
        }
    }

    fn piece(&mut self, piece: &Piece) -> Result<(), Problem> {
        let at = self.head.map_or(1, |head| head.sequence.saturating_add(1));
        let bytes = match piece {
            Piece::Whole(bytes) => bytes,
            Piece::TooLong => return Err(Problem::Malformed { at }),
            Piece::Unfinished(bytes) => {
                self.notices.push(Notice::UnfinishedTail {
                    after: at - 1,
                    bytes: *bytes,
                });
                return Ok(());
            }
        };
        let line = Line::parse(bytes).map_err(|why| match why {
            NotALine::Version(found) => Problem::Version { at, found },
            NotALine::Form => Problem::Malformed { at },
        })?;
        if line.sequence != at {
            return Err(Problem::Sequence {
                at,
                found: line.sequence,
            });
        }
        if line.previous != self.head.map_or(NOTHING_BEFORE, |head| head.head) {
            return Err(Problem::Link { at });
        }
        if let Some(identity) = self.request.identity {
            self.entry(&line, read::open_entry(&line, identity).ok())?;
        }
        let head = Anchor {
            sequence: at,
            head: chain::hash(bytes),
        };
        self.head = Some(head);
        for (receipt, found) in self.request.receipts.iter().zip(&mut self.found) {
            if receipt.sequence == at {
                *found = Some(*receipt == head);
            }
        }
        Ok(())
    }

    fn entry(&mut self, line: &Line, opened: Option<Opened>) -> Result<(), Problem> {
        let at = line.sequence;
        let (record, key) = match opened {
            Some(Opened { record, key }) => (Some(record), key),
            None => (None, None),
        };
        // A `started` entry is signed with the key it brings; all others with the key that came down to them.
        if let Some(ratchet) = key {
            let record = record.ok_or(Problem::Payload { at })?;
            return self.begin(line, record, ratchet);
        }
        let Some(segment) = &mut self.segment else {
            return Err(if record.is_some() {
                Problem::NoSegment { at }
            } else {
                Problem::Payload { at }
            });
        };
        if segment.ratchet.sign(&line.unsigned()) != line.mac {
            return Err(Problem::Mac { at });
        }
        segment.ratchet.advance();
        let record = record.ok_or(Problem::Payload { at })?;
        if segment.closed {
            return Err(Problem::Inconsistent {
                at,
                what: "it comes after the closing entry of its session",
            });
        }
        let last = &segment.last;
        if record.v != chain::FORMAT || record.seq != at {
            return Err(Problem::Inconsistent {
                at,
                what: "its payload was written for another place",
            });
        }
        if (&record.session, &record.time.boot) != (&last.session, &last.time.boot) {
            return Err(Problem::Inconsistent {
                at,
                what: "it names another session or boot than the start of its session",
            });
        }
        compare_clocks(at, &last.time, &record.time, &mut self.notices)?;
        segment.follow(at, &record.entry)?;
        self.compare_files(at, &record.entry);
        segment_mut(&mut self.segment, record);
        Ok(())
    }

    fn begin(&mut self, line: &Line, record: Record, mut ratchet: Ratchet) -> Result<(), Problem> {
        let at = line.sequence;
        if ratchet.sign(&line.unsigned()) != line.mac {
            return Err(Problem::Mac { at });
        }
        ratchet.advance();
        let Body::Own(Own::Started(started)) = &record.entry else {
            return Err(Problem::Payload { at });
        };
        if record.v != chain::FORMAT || record.seq != at || started.continues != self.head {
            return Err(Problem::Inconsistent {
                at,
                what: "this start was written for another place",
            });
        }
        if let Some(before) = &self.segment {
            // Between runs there is no monotonic clock to compare with, unless the boot is the same.
            let by = millis(&before.last.time) - millis(&record.time);
            if by > 0 {
                self.notices.push(Notice::ClockBack {
                    at,
                    by_ms: clamp(by),
                });
            }
        }
        self.end_segment(false);
        self.segments += 1;
        self.segment = Some(Segment {
            ratchet,
            from: at,
            last: record,
            closed: false,
            questions: BTreeSet::new(),
            answers: BTreeMap::new(),
            intents: BTreeSet::new(),
        });
        Ok(())
    }

    fn end_segment(&mut self, newest: bool) {
        let Some(segment) = self.segment.take() else {
            return;
        };
        for at in segment.intents {
            self.notices.push(Notice::OpenIntent {
                at,
                effect: "possible",
            });
        }
        if !segment.closed {
            self.notices.push(Notice::NotClosed {
                from: segment.from,
                last: segment.last.seq,
                newest,
            });
        }
    }

    fn compare_files(&mut self, at: u64, body: &Body) {
        let Some(directory) = self.request.directory else {
            return;
        };
        if let Body::Own(Own::Recovered(Recovered {
            kept,
            sha256,
            bytes,
        })) = body
        {
            self.notices.push(Notice::Recovered {
                at,
                bytes: *bytes,
                file: kept.clone(),
            });
            let mut result = seal::compare(directory, kept, sha256, *bytes);
            if result == Err(Damage::Missing)
                && let Some(new) = recover::name_before_rename(kept)
            {
                result = seal::compare(directory, &new, sha256, *bytes);
            }
            self.note_file(at, kept, result);
        }
        let named: Vec<&Sealed> = body.sealed().collect();
        if named.is_empty() {
            return;
        }
        let captures = directory.existing_subdirectory(&CAPTURES);
        for sealed in named {
            let result = match &captures {
                Ok(captures) => {
                    seal::compare(captures, sealed.name(), sealed.sha256(), sealed.bytes())
                }
                Err(_) => Err(Damage::Missing),
            };
            self.note_file(at, sealed.name(), result);
        }
    }

    fn note_file(&mut self, at: u64, name: &FileName, result: Result<(), Damage>) {
        // A capture that two entries name (the question and the intent after it) counts once.
        let first_time = self.files.insert(name.clone());
        match result {
            Ok(()) => self.files_sound += u64::from(first_time),
            Err(damage) => self.damage.push(FileDamage {
                at,
                file: name.clone(),
                damage,
            }),
        }
    }

    fn finish(mut self) -> Result<Report, Fault> {
        self.end_segment(true);
        if let (Some(_), Some(directory), None) =
            (self.request.identity, self.request.directory, &self.problem)
            && let Ok(captures) = directory.existing_subdirectory(&CAPTURES)
        {
            let count = captures
                .names()?
                .iter()
                .filter(|name| !self.files.contains(*name))
                .count() as u64;
            if count > 0 {
                self.notices.push(Notice::UnnamedCaptures { count });
            }
        }
        let receipts = self
            .request
            .receipts
            .iter()
            .zip(&self.found)
            .map(|(receipt, found)| match found {
                Some(true) => AnchorState::Found { receipt: *receipt },
                Some(false) => AnchorState::Differs { receipt: *receipt },
                None => AnchorState::Absent { receipt: *receipt },
            })
            .collect();
        Ok(Report {
            depth: if self.request.identity.is_some() {
                Depth::Full
            } else {
                Depth::Chain
            },
            entries: self.head.map_or(0, |head| head.sequence),
            head: self.head,
            segments: self.segments,
            files_sound: self.files_sound,
            problem: self.problem,
            damage: self.damage,
            notices: self.notices,
            receipts,
        })
    }
}

fn segment_mut(segment: &mut Option<Segment>, record: Record) {
    if let Some(segment) = segment {
        segment.last = record;
    }
}

impl Segment {
    /// What entries say of each other: an answer belongs to a question, an action to an answer that allowed it.
    fn follow(&mut self, at: u64, body: &Body) -> Result<(), Problem> {
        let wrong = |what| Err(Problem::Inconsistent { at, what });
        match body {
            Body::Entry(Entry::Asked(_)) => {
                self.questions.insert(at);
            }
            Body::Entry(Entry::Answered(answered)) => {
                if !self.questions.remove(&answered.asked) {
                    return wrong("this answer names no open question");
                }
                self.answers.insert(at, answered.ending);
            }
            Body::Entry(Entry::Intent(intent)) => {
                if let Some(answer) = intent.answered {
                    match self.answers.remove(&answer) {
                        Some(Ending::Allowed) => {}
                        Some(
                            Ending::Denied
                            | Ending::Timeout
                            | Ending::Cancelled
                            | Ending::Undeliverable
                            | Ending::Crashed,
                        ) => {
                            return wrong("this action rests on an answer that did not allow it");
                        }
                        None => {
                            return wrong("this action rests on no answer, or on one already used");
                        }
                    }
                }
                self.intents.insert(at);
            }
            Body::Entry(Entry::Outcome(outcome)) => {
                if !self.intents.remove(&outcome.intent) {
                    return wrong("this outcome names no open intent");
                }
            }
            Body::Own(Own::Started(_)) => return wrong("a start of a server without a key"),
            Body::Own(Own::Closed(_)) => self.closed = true,
            Body::Own(Own::Recovered(_) | Own::Heartbeat(_))
            | Body::Entry(Entry::Refused(_) | Entry::Read(_) | Entry::Peer(_)) => {}
        }
        Ok(())
    }
}

/// Compares the clocks of two entries of one session.
fn compare_clocks(
    at: u64,
    before: &Stamp,
    now: &Stamp,
    notices: &mut Vec<Notice>,
) -> Result<(), Problem> {
    let Some(monotonic) = now.monotonic_ms.checked_sub(before.monotonic_ms) else {
        return Err(Problem::Inconsistent {
            at,
            what: "its monotonic time is before that of the entry before it",
        });
    };
    if u128::from(monotonic) > HEARTBEAT_LIMIT.as_millis() {
        notices.push(Notice::Gap {
            at,
            silent_ms: monotonic,
        });
    }
    let wall = millis(now) - millis(before);
    let drift = wall - i128::from(monotonic);
    if wall < 0 || drift < -CLOCK_TOLERANCE_MS {
        notices.push(Notice::ClockBack {
            at,
            by_ms: clamp(-drift),
        });
    } else if drift > CLOCK_TOLERANCE_MS {
        notices.push(Notice::ClockAhead {
            at,
            by_ms: clamp(drift),
        });
    }
    Ok(())
}

fn millis(stamp: &Stamp) -> i128 {
    stamp.wall.unix_timestamp_nanos() / 1_000_000
}

fn clamp(ms: i128) -> u64 {
    u64::try_from(ms).unwrap_or(u64::MAX)
}
