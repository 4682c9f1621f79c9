//! Whatever is changed, dropped, swapped, repeated or cut is named at the first bad entry.

use std::io::Cursor;
use std::sync::OnceLock;

use proptest::prelude::*;

use super::*;

struct Story {
    bytes: Vec<u8>,
    anchors: Vec<Anchor>,
    identity: String,
}

fn story() -> &'static Story {
    static STORY: OnceLock<Story> = OnceLock::new();
    STORY.get_or_init(|| {
        let scratch = Scratch::new();
        let anchors = write_story(&scratch);
        Story {
            bytes: scratch.bytes(),
            anchors,
            identity: scratch.identity.clone(),
        }
    })
}

fn lines() -> Vec<Vec<u8>> {
    story()
        .bytes
        .split_inclusive(|b| *b == b'\n')
        .map(<[u8]>::to_vec)
        .collect()
}

fn full(bytes: &[u8]) -> Report {
    let identity = Identity::parse(&story().identity).unwrap();
    verify(
        Cursor::new(bytes),
        &Request {
            identity: Some(&identity),
            directory: None,
            receipts: &story().anchors,
        },
    )
    .unwrap()
}

fn chain_only(bytes: &[u8]) -> Report {
    verify(
        Cursor::new(bytes),
        &Request {
            identity: None,
            directory: None,
            receipts: &[],
        },
    )
    .unwrap()
}

fn line_of(position: usize) -> u64 {
    1 + story().bytes[..position]
        .iter()
        .filter(|b| **b == b'\n')
        .count() as u64
}

/// What a check of the chain alone may name for a change in entry `at`: the entry, or the one whose link to it breaks.
/// The last entry's payload and MAC have nothing after them that names them.
fn chain_names(report: &Report, at: u64, last: u64) {
    match report.problem {
        Some(problem) => assert!(
            problem.at() == at || problem.at() == at + 1,
            "{problem} for a change at {at}"
        ),
        None => {
            assert_eq!(at, last);
            assert!(
                report.limits().contains("the last entry's content"),
                "{}",
                report.limits()
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn any_changed_byte_is_named_at_its_entry(position in 0..story().bytes.len(), change in 1_u8..) {
        let mut bytes = story().bytes.clone();
        bytes[position] ^= change;
        let last = lines().len() as u64;
        let report = full(&bytes);
        prop_assert!(!report.is_sound());
        if position + 1 == bytes.len() {
            // The last newline: what is left is an unfinished line, and the receipt shows the loss.
            prop_assert_eq!(&report.problem, &None);
            let tail = report.notices.iter().any(|n| matches!(n, Notice::UnfinishedTail { after: 12, .. }));
            prop_assert!(tail, "the tail is not named");
            prop_assert_eq!(report.receipts[12], AnchorState::Absent { receipt: story().anchors[12] });
        } else {
            let problem = report.problem.unwrap();
            prop_assert_eq!(problem.at(), line_of(position), "{}", problem);
            prop_assert_eq!(report.entries, problem.at() - 1);
            chain_names(&chain_only(&bytes), line_of(position), last);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]
    #[test]
    fn a_cut_anywhere_keeps_the_whole_entries_and_breaks_the_receipts(length in 0..story().bytes.len()) {
        let report = full(&story().bytes[..length]);
        let whole = line_of(length) - 1;
        prop_assert_eq!(report.entries, whole);
        prop_assert_eq!(&report.problem, &None);
        prop_assert!(!report.is_sound());
        for (at, state) in report.receipts.iter().enumerate() {
            let found = matches!(state, AnchorState::Found { .. });
            prop_assert_eq!(found, (at as u64) < whole);
        }
        let tail = report.notices.iter().any(|n| matches!(n, Notice::UnfinishedTail { after, .. } if *after == whole));
        prop_assert_eq!(tail, length > 0 && story().bytes[length - 1] != b'\n');
        let unanchored = chain_only(&story().bytes[..length]);
        prop_assert!(unanchored.is_sound());
        prop_assert!(unanchored.limits().contains(&format!("removed after entry {whole}")), "{}", unanchored.limits());
    }
}

#[test]
fn a_line_cut_short_in_the_middle_is_named() {
    for at in 0..lines().len() {
        for cut in [1, 2, 70, 300] {
            let mut lines = lines();
            let keep = lines[at].len() - 1 - cut;
            lines[at].truncate(keep);
            lines[at].push(b'\n');
            for report in [full(&lines.concat()), chain_only(&lines.concat())] {
                assert_eq!(
                    report.problem,
                    Some(Problem::Malformed { at: at as u64 + 1 })
                );
            }
        }
    }
}

#[test]
fn a_dropped_entry_is_named() {
    let count = lines().len();
    for at in 0..count {
        let mut lines = lines();
        lines.remove(at);
        let (report, bare) = (full(&lines.concat()), chain_only(&lines.concat()));
        assert!(!report.is_sound());
        if at + 1 < count {
            let want = Problem::Sequence {
                at: at as u64 + 1,
                found: at as u64 + 2,
            };
            assert_eq!((report.problem, bare.problem), (Some(want), Some(want)));
        } else {
            assert_eq!(report.problem, None);
            assert!(matches!(report.receipts[at], AnchorState::Absent { .. }));
        }
    }
}

#[test]
fn swapped_and_repeated_entries_are_named() {
    let count = lines().len();
    for one in 0..count {
        for other in one + 1..count {
            let mut swapped = lines();
            swapped.swap(one, other);
            let want = Problem::Sequence {
                at: one as u64 + 1,
                found: other as u64 + 1,
            };
            assert_eq!(full(&swapped.concat()).problem, Some(want));
            assert_eq!(chain_only(&swapped.concat()).problem, Some(want));
        }
        let mut repeated = lines();
        repeated.insert(one, repeated[one].clone());
        let want = Problem::Sequence {
            at: one as u64 + 2,
            found: one as u64 + 1,
        };
        assert_eq!(full(&repeated.concat()).problem, Some(want));
    }
}

/// Someone who holds the public key, but no ratchet key, writes an entry and every link after it anew.
#[test]
fn a_forged_entry_with_good_links_is_named_by_its_mac() {
    let identity = Identity::parse(&story().identity).unwrap();
    let mut parsed: Vec<Line> = lines()
        .iter()
        .map(|line| Line::parse(&line[..line.len() - 1]).unwrap())
        .collect();
    let record = record(&parsed[6], &identity).unwrap();
    let forged = Record {
        entry: Body::Entry(look()),
        ..record
    };
    parsed[6].payload = identity
        .recipient()
        .encrypt(&serde_json::to_vec(&forged).unwrap())
        .unwrap();
    let bytes = relink(&mut parsed);
    assert_eq!(full(&bytes).problem, Some(Problem::Mac { at: 7 }));
    // The chain alone cannot see it, and says so; a receipt from after the change does.
    assert_eq!(chain_only(&bytes).problem, None);
    let anchored = verify(
        Cursor::new(&bytes),
        &Request {
            receipts: &story().anchors[9..10],
            ..Request::default()
        },
    )
    .unwrap();
    assert_eq!(
        anchored.receipts,
        [AnchorState::Differs {
            receipt: story().anchors[9]
        }]
    );
}

/// The same with an entry of their own between two sessions, signed with a key of their own.
#[test]
fn a_start_of_ones_own_in_the_middle_breaks_what_follows() {
    let identity = Identity::parse(&story().identity).unwrap();
    let mut parsed: Vec<Line> = lines()
        .iter()
        .map(|line| Line::parse(&line[..line.len() - 1]).unwrap())
        .collect();
    // The second session's entries are taken for the forger's segment, whose key they cannot have.
    let ratchet = super::super::ratchet::Ratchet::begin().unwrap();
    let record = record(&parsed[9], &identity).unwrap();
    let mut value = serde_json::to_value(&record).unwrap();
    value["key"] = ratchet.to_hex().as_str().into();
    parsed[9].payload = identity
        .recipient()
        .encrypt(&serde_json::to_vec(&value).unwrap())
        .unwrap();
    parsed[9].mac = ratchet.sign(&parsed[9].unsigned());
    let bytes = relink(&mut parsed);
    assert_eq!(full(&bytes).problem, Some(Problem::Mac { at: 11 }));
}

#[test]
fn an_entry_moved_from_another_journal_is_named() {
    let other = Scratch::new();
    write_story(&other);
    let mut mixed = lines();
    let foreign: Vec<Vec<u8>> = other
        .bytes()
        .split_inclusive(|b| *b == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    mixed[4] = foreign[4].clone();
    assert_eq!(full(&mixed.concat()).problem, Some(Problem::Link { at: 5 }));
}

#[test]
fn another_identity_opens_nothing() {
    let identity = Identity::parse(&new_identity()).unwrap();
    let report = verify(
        Cursor::new(&story().bytes),
        &Request {
            identity: Some(&identity),
            ..Request::default()
        },
    )
    .unwrap();
    assert_eq!(report.problem, Some(Problem::Payload { at: 1 }));
    assert!(
        report
            .to_string()
            .contains("is this the identity of this journal?")
    );
}

#[test]
fn a_line_too_long_to_be_one_is_named_and_not_held() {
    let mut bytes = lines()[..3].concat();
    bytes.extend(vec![b'x'; 5 << 20]);
    let unfinished = chain_only(&bytes);
    assert_eq!(
        unfinished.notices,
        [Notice::UnfinishedTail {
            after: 3,
            bytes: 5 << 20
        }]
    );
    bytes.push(b'\n');
    assert_eq!(
        chain_only(&bytes).problem,
        Some(Problem::Malformed { at: 4 })
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn foreign_lines_and_payloads_are_named_and_never_panic(junk in prop::collection::vec(any::<u8>(), 0..600), plain in any::<String>(), field in "[a-z]{1,8}") {
        let start = lines()[0].clone();
        let after = [&start[..], &junk[..], b"\n"].concat();
        prop_assert!(full(&after).problem.is_some() && chain_only(&after).problem.is_some());

        // Whoever holds the public key can have any plaintext decrypted.
        let identity = Identity::parse(&story().identity).unwrap();
        for plaintext in [plain.clone(), format!("{{\"{field}\":{plain:?}}}"), "[".repeat(5_000)] {
            let payload = identity.recipient().encrypt(plaintext.as_bytes()).unwrap();
            let line = Line { sequence: 2, previous: hash(&start[..start.len() - 1]), mac: Digest::of(b""), payload };
            let forged = [&start[..], line.format().as_bytes(), b"\n"].concat();
            prop_assert_eq!(full(&forged).problem, Some(Problem::Mac { at: 2 }));
        }
    }
}

/// Writes every link anew, as far as hashes go; MACs stay as they are.
pub(super) fn relink(lines: &mut [Line]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut previous = Digest::from_bytes([0; 32]);
    for line in lines {
        line.previous = previous;
        let text = line.format();
        previous = hash(text.as_bytes());
        out.extend_from_slice(text.as_bytes());
        out.push(b'\n');
    }
    out
}
