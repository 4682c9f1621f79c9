//! tests/vectors/journal: journals that state their own expected result.
//!
//! A vector begins with `expect:`, `identity:` and perhaps `receipt:`, `depth:` and `comment:` lines, then an empty line,
//! then the journal as it is.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use super::super::ratchet::Ratchet;
use super::tamper::relink;
use super::times::Hands;
use super::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/journal")
}

/// What a report says, in the words of a vector.
fn verdict(report: &Report) -> String {
    if let Some(problem) = &report.problem {
        return problem.name();
    }
    for state in &report.receipts {
        match state {
            AnchorState::Found { .. } => {}
            AnchorState::Differs { receipt } => {
                return format!("another entry at {}", receipt.sequence);
            }
            AnchorState::Absent { receipt } => {
                return format!("receipt {} absent", receipt.sequence);
            }
        }
    }
    let mut text = format!("sound with {} entries", report.entries);
    for notice in &report.notices {
        let _ = match notice {
            Notice::UnfinishedTail { after, .. } => write!(text, ", unfinished tail after {after}"),
            Notice::OpenIntent { at, .. } => write!(text, ", open intent at {at}"),
            Notice::Gap { at, .. } => write!(text, ", gap at {at}"),
            Notice::ClockBack { at, .. } => write!(text, ", clock back at {at}"),
            Notice::ClockAhead { at, .. } => write!(text, ", clock ahead at {at}"),
            Notice::Recovered { at, .. } => write!(text, ", recovered at {at}"),
            Notice::NotClosed { from, .. } => write!(text, ", not closed from {from}"),
            Notice::UnnamedCaptures { count } => write!(text, ", {count} unnamed captures"),
        };
    }
    text
}

#[test]
fn every_vector_gives_what_it_states() {
    let mut words = BTreeSet::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let split = bytes
            .windows(2)
            .position(|two| two == b"\n\n")
            .unwrap_or_else(|| panic!("{}", path.display()));
        let (head, journal) = (
            std::str::from_utf8(&bytes[..split]).unwrap(),
            &bytes[split + 2..],
        );
        let (mut expect, mut identity, mut receipts, mut deep) = (None, None, Vec::new(), true);
        for line in head.lines() {
            match line
                .split_once(": ")
                .unwrap_or_else(|| panic!("{}: {line}", path.display()))
            {
                ("expect", text) => expect = Some(text),
                ("identity", text) => identity = Some(Identity::parse(text).unwrap()),
                ("receipt", text) => receipts.push(text.parse::<Anchor>().unwrap()),
                ("depth", "chain") => deep = false,
                ("comment", _) => {}
                other => panic!("{}: {other:?}", path.display()),
            }
        }
        let (expect, identity) = (expect.unwrap(), identity.unwrap());
        let request = Request {
            identity: deep.then_some(&identity),
            directory: None,
            receipts: &receipts,
        };
        let report = verify(Cursor::new(journal), &request).unwrap();
        assert_eq!(verdict(&report), expect, "{}", path.display());
        words.insert(expect.split(" at ").next().unwrap().to_owned());
    }
    for word in [
        "malformed",
        "unknown version",
        "broken sequence",
        "broken link",
        "wrong mac",
        "no segment",
        "unreadable payload",
        "inconsistent",
        "another entry",
    ] {
        assert!(words.contains(word), "no vector expects {word}");
    }
}

/// Writes the vectors anew: `cargo test --lib write_the_vectors -- --ignored`. Only for a new version of the form, since
/// vectors that are kept show that old journals can still be read.
#[test]
#[ignore = "writes files of the project"]
fn write_the_vectors() {
    let scratch = Scratch::new();
    // A clock of the test's own: a vector says nothing of the machine that made it.
    let hands = Hands::new();
    let anchors = write_story_in(|| scratch.open_with(hands.clock()));
    let whole = scratch.bytes();
    let lines: Vec<Vec<u8>> = whole
        .split_inclusive(|b| *b == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    let parsed = || -> Vec<Line> {
        lines
            .iter()
            .map(|line| Line::parse(&line[..line.len() - 1]).unwrap())
            .collect()
    };
    let write = |name: &str, comment: &str, expect: &str, more: &str, journal: &[u8]| {
        let head = format!(
            "expect: {expect}\ncomment: {comment}\nidentity: {}\n{more}\n",
            scratch.identity
        );
        std::fs::write(
            folder().join(format!("{name}.jsonl")),
            [head.as_bytes(), journal].concat(),
        )
        .unwrap();
    };
    let open_end = "not closed from 10";
    let receipt = |at: usize| format!("receipt: {}\n", anchors[at - 1]);

    write(
        "sound",
        "two sessions",
        &format!("sound with 13 entries, {open_end}"),
        &receipt(13),
        &whole,
    );
    write(
        "sound-chain",
        "the same without the identity",
        "sound with 13 entries",
        "depth: chain\n",
        &whole,
    );
    write("empty", "no entry at all", "sound with 0 entries", "", b"");
    write(
        "torn",
        "cut in the middle of entry 9",
        "sound with 8 entries, unfinished tail after 8, not closed from 1",
        "",
        &whole[..lines[..8].concat().len() + 40],
    );
    write(
        "cut",
        "entries 12 and 13 removed: only the receipt shows it",
        "receipt 13 absent",
        &receipt(13),
        &lines[..11].concat(),
    );
    write(
        "open-intent",
        "killed between intent and outcome",
        "sound with 12 entries, open intent at 12, not closed from 10",
        "",
        &lines[..12].concat(),
    );
    write(
        "dropped",
        "entry 5 removed",
        "broken sequence at 5",
        "",
        &[&lines[..4], &lines[5..]].concat().concat(),
    );
    let mut swapped = lines.clone();
    swapped.swap(3, 4);
    write(
        "swapped",
        "entries 4 and 5 changed places",
        "broken sequence at 4",
        "",
        &swapped.concat(),
    );
    write(
        "repeated",
        "entry 3 stands there twice",
        "broken sequence at 4",
        "depth: chain\n",
        &[&lines[..3], &lines[2..]].concat().concat(),
    );

    let mut link = parsed();
    link[3].previous = Digest::of(b"elsewhere");
    let text: Vec<u8> = link
        .iter()
        .flat_map(|line| format!("{}\n", line.format()).into_bytes())
        .collect();
    write(
        "link",
        "entry 4 names another entry before it",
        "broken link at 4",
        "depth: chain\n",
        &text,
    );

    let mut mac = parsed();
    mac[5].mac = Digest::of(b"guess");
    write(
        "mac",
        "entry 6 has another MAC, and every link after it was written anew",
        "wrong mac at 6",
        "",
        &relink(&mut mac),
    );
    let mut mac = parsed();
    mac[5].mac = Digest::of(b"guess");
    write(
        "mac-receipt",
        "the same, shown by a receipt without the identity",
        "another entry at 8",
        &format!("depth: chain\n{}", receipt(8)),
        &relink(&mut mac),
    );
    let mut payload = parsed();
    *payload[6].payload.last_mut().unwrap() ^= 1;
    write(
        "payload",
        "one bit of the payload of entry 7 is another, links written anew",
        "wrong mac at 7",
        "",
        &relink(&mut payload),
    );

    let mut space = lines.clone();
    space[1].insert(1, b' ');
    write(
        "space",
        "entry 2 says the same in other bytes",
        "malformed at 2",
        "depth: chain\n",
        &space.concat(),
    );
    let later = String::from_utf8(lines[2].clone())
        .unwrap()
        .replace("{\"v\":1,", "{\"v\":2,");
    write(
        "version",
        "entry 3 says version 2",
        "unknown version at 3",
        "",
        &[&lines[..2], &[later.into_bytes()], &lines[3..]]
            .concat()
            .concat(),
    );

    // From here on the writer's own key is needed, which a test can have.
    let signed = |records: &[(Record, Option<&Ratchet>)], ratchet: &mut Ratchet| -> Vec<u8> {
        let (mut out, mut previous) = (Vec::new(), Digest::from_bytes([0; 32]));
        for (at, (record, key)) in records.iter().enumerate() {
            let mut value = serde_json::to_value(record).unwrap();
            if let Some(key) = key {
                value["key"] = key.to_hex().as_str().into();
            }
            let payload = scratch
                .identity()
                .recipient()
                .encrypt(&serde_json::to_vec(&value).unwrap())
                .unwrap();
            let mut line = Line {
                sequence: at as u64 + 1,
                previous,
                mac: previous,
                payload,
            };
            line.mac = ratchet.sign(&line.unsigned());
            ratchet.advance();
            let text = line.format();
            previous = hash(text.as_bytes());
            out.extend_from_slice(format!("{text}\n").as_bytes());
        }
        out
    };
    let records = scratch.records();
    let first = Ratchet::begin().unwrap();
    let again = || Ratchet::from_hex(&first.to_hex()).unwrap();
    let at = |place: u64, from: usize| Record {
        seq: place,
        ..records[from].clone()
    };
    write(
        "no-segment",
        "the journal begins with a look, not with a start",
        "no segment at 1",
        "",
        &signed(&[(at(1, 1), None)], &mut again()),
    );
    write(
        "place",
        "the payload of entry 2 says that it is entry 3",
        "inconsistent at 2",
        "",
        &signed(&[(at(1, 0), Some(&first)), (at(3, 1), None)], &mut again()),
    );
    write(
        "after-close",
        "an entry after the closing one",
        "inconsistent at 3",
        "",
        &signed(
            &[(at(1, 0), Some(&first)), (at(2, 8), None), (at(3, 1), None)],
            &mut again(),
        ),
    );
    let denied = Record {
        entry: Body::Entry(answered(2, Ending::Denied)),
        ..at(3, 3)
    };
    let acted = Record {
        entry: Body::Entry(intent(Some(3))),
        ..at(4, 4)
    };
    let story = [
        (at(1, 0), Some(&first)),
        (at(2, 2), None),
        (denied, None),
        (acted, None),
    ];
    write(
        "denied",
        "an action that rests on a refused answer",
        "inconsistent at 4",
        "",
        &signed(&story, &mut again()),
    );
    let mut late = at(2, 1);
    late.time.monotonic_ms += 16 * 60_000;
    late.time.wall += time::Duration::minutes(16);
    let story = [(at(1, 0), Some(&first)), (late, None)];
    write(
        "gap",
        "sixteen minutes of silence",
        "sound with 2 entries, gap at 2, not closed from 1",
        "",
        &signed(&story, &mut again()),
    );
    let mut back = at(2, 1);
    back.time.wall -= time::Duration::hours(1);
    let story = [(at(1, 0), Some(&first)), (back, None)];
    write(
        "clock",
        "the wall clock was set back an hour",
        "sound with 2 entries, clock back at 2, not closed from 1",
        "",
        &signed(&story, &mut again()),
    );

    let other = Identity::parse(&new_identity()).unwrap();
    let mut foreign = again();
    let mut text = signed(&[(at(1, 0), Some(&first))], &mut foreign);
    let payload = other.recipient().encrypt(b"{}").unwrap();
    let mut line = Line {
        sequence: 2,
        previous: hash(&text[..text.len() - 1]),
        mac: Digest::of(b""),
        payload,
    };
    line.mac = foreign.sign(&line.unsigned());
    text.extend_from_slice(format!("{}\n", line.format()).as_bytes());
    write(
        "other-key",
        "entry 2 is signed by the server, but written to another key",
        "unreadable payload at 2",
        "",
        &text,
    );
}
