//! Killed processes, torn tails, full disks and failed fsyncs.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use proptest::prelude::*;

use super::super::recover;
use super::*;

/// Set for a child that is this test binary again.
const CHILD: &str = "COUNTERSIGN_JOURNAL_TEST_CHILD";

/// The child's half: appends until it is killed, or until an append fails, and says what was acknowledged.
/// Without the variable it is a test that has nothing to do.
#[test]
fn child_appends_until_the_end() {
    let Ok(how) = std::env::var(CHILD) else {
        return;
    };
    let (identity, path) = how.split_once(' ').unwrap();
    let recipient = Identity::parse(identity).unwrap().recipient();
    let mut out = std::io::stdout().lock();
    let mut say = |text: String| {
        // Not println: the test harness would keep it.
        out.write_all(format!("\n@{text}\n").as_bytes()).unwrap();
        out.flush().unwrap();
    };
    let mut journal = Journal::open(
        Directory::open(path.as_ref()).unwrap(),
        recipient,
        opening(),
    )
    .unwrap();
    say(format!("{}:{}", journal.head().0, journal.head().1));
    for round in 0_u32.. {
        if round % 3 == 0
            && let Err(fault) = journal.seal(SealKind::Before, &[7; 2000])
        {
            say(format!("seal {}", fault.code()));
        }
        match journal.append(&if round % 2 == 0 { intent(None) } else { look() }) {
            Ok(receipt) => say(receipt.to_string()),
            Err(fault) => {
                say(format!("fault {}", fault.code()));
                for again in [journal.append(&look()), journal.heartbeat()] {
                    say(format!("again {}", again.unwrap_err().code()));
                }
                say(format!(
                    "sealing {}",
                    journal.seal(SealKind::After, b"x").unwrap_err().code()
                ));
                say(format!(
                    "closing {}",
                    journal.close(Closing::Fault).unwrap_err().code()
                ));
                return;
            }
        }
    }
}

const CHILD_TEST: [&str; 4] = [
    "--exact",
    "journal::tests::crash::child_appends_until_the_end",
    "--nocapture",
    "--test-threads=1",
];

fn child(scratch: &Scratch, command: &mut Command) -> Child {
    command
        .env(
            CHILD,
            format!("{} {}", scratch.identity, scratch.path().display()),
        )
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn said(line: std::io::Result<String>) -> Option<String> {
    line.unwrap().strip_prefix('@').map(str::to_owned)
}

#[test]
fn kill_9_at_any_instant_loses_no_acknowledged_entry() {
    let scratch = Scratch::new();
    let mut acknowledged: Vec<Anchor> = Vec::new();
    for round in 0..24_u64 {
        let mut process = child(
            &scratch,
            Command::new(std::env::current_exe().unwrap()).args(CHILD_TEST),
        );
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        // From the very start of the child to some dozens of entries in, and then a moment that is never the same.
        let (wanted, mut seen) = (round * 2 % 17, 0);
        while seen < wanted {
            if let Some(receipt) = said(lines.next().unwrap()) {
                acknowledged.push(receipt.parse().unwrap());
                seen += 1;
            }
        }
        let mut moment = [0_u8; 2];
        getrandom::fill(&mut moment).unwrap();
        (0..u64::from(u16::from_le_bytes(moment)) * 4).for_each(|n| {
            std::hint::black_box(n);
        });
        process.kill().unwrap();
        process.wait().unwrap();
        // What it said before it died, and we had not read yet, was acknowledged too.
        acknowledged.extend(
            lines
                .filter_map(said)
                .map(|receipt| receipt.parse::<Anchor>().unwrap()),
        );

        let report = scratch_report(&scratch, &acknowledged);
        assert!(report.is_sound(), "round {round}: {report}");
    }
    assert!(acknowledged.len() > 24, "{}", acknowledged.len());
    let last = scratch.open();
    assert!(last.head().0 > acknowledged.last().unwrap().sequence);
    let report = scratch.verify(&acknowledged);
    assert!(report.is_sound(), "{report}");
    assert!(report.segments > 20);
}

/// A child killed before its first write leaves no journal at all.
fn scratch_report(scratch: &Scratch, receipts: &[Anchor]) -> Report {
    if scratch.file().exists() {
        scratch.verify(receipts)
    } else {
        assert!(receipts.is_empty());
        verify(std::io::empty(), &Request::default()).unwrap()
    }
}

#[test]
fn a_write_that_fails_is_the_last_one() {
    let scratch = Scratch::new();
    // A real limit on the size of files, in a child of its own; the signal that comes with it is ignored, so that the
    // write fails as it does on a full disk: in the middle of a line.
    let script = "trap '' XFSZ; ulimit -f 20; exec \"$0\" \"$@\"";
    let mut process = child(
        &scratch,
        Command::new("/bin/sh")
            .args(["-c", script])
            .arg(std::env::current_exe().unwrap())
            .args(CHILD_TEST),
    );
    let said: Vec<String> = BufReader::new(process.stdout.take().unwrap())
        .lines()
        .filter_map(said)
        .collect();
    assert!(process.wait().unwrap().success());
    let (receipts, faults): (Vec<_>, Vec<_>) =
        said.into_iter().partition(|line| line.contains(':'));
    assert_eq!(
        faults,
        [
            "fault J701",
            "again J702",
            "again J702",
            "sealing J702",
            "closing J702"
        ]
    );
    let receipts: Vec<Anchor> = receipts
        .iter()
        .map(|receipt| receipt.parse().unwrap())
        .collect();
    assert!(receipts.len() > 3);

    let report = scratch.verify(&receipts);
    assert!(report.is_sound(), "{report}");
    assert!(
        report
            .notices
            .iter()
            .any(|n| matches!(n, Notice::UnfinishedTail { .. })),
        "{report}"
    );
    assert_eq!(report.entries, receipts.len() as u64);

    let mut journal = scratch.open();
    let receipt = journal.append(&look()).unwrap();
    assert!(
        scratch
            .verify(&[receipts, vec![anchor(&receipt)]].concat())
            .is_sound()
    );
}

#[test]
fn an_fsync_that_fails_is_final() {
    let scratch = Scratch::new();
    let mut journal = scratch.open();
    let head = journal.head();
    // The write goes through and the fsync fails, as the kernel does it: a pipe takes bytes and cannot be synced.
    journal.break_fsync();
    let first = journal.append(&intent(None)).unwrap_err();
    assert_eq!(first.code(), Code::JournalNotWritable, "{first}");
    assert_eq!(journal.head(), head, "what was not durable does not count");
    assert_eq!(
        journal.append(&look()).unwrap_err().code(),
        Code::JournalEnded
    );
    assert_eq!(journal.heartbeat().unwrap_err().code(), Code::JournalEnded);
    assert_eq!(
        journal.seal(SealKind::Before, b"x").unwrap_err().code(),
        Code::JournalEnded
    );
    assert_eq!(
        journal.close(Closing::Fault).unwrap_err().code(),
        Code::JournalEnded
    );
}

#[test]
fn a_capture_that_cannot_be_written_ends_the_journal() {
    let scratch = Scratch::new();
    let mut journal = scratch.open();
    let name = format!("{}-000001-before.age", journal.session());
    std::fs::write(scratch.path().join("captures").join(name), "in the way").unwrap();
    assert_eq!(
        journal.seal(SealKind::Before, b"png").unwrap_err().code(),
        Code::JournalNotWritable
    );
    assert_eq!(
        journal.append(&look()).unwrap_err().code(),
        Code::JournalEnded
    );
}

/// A journal of some entries with `tail` after them.
fn torn(tail: &[u8]) -> (Scratch, Vec<Anchor>) {
    let scratch = Scratch::new();
    let mut journal = scratch.open();
    let anchors = vec![
        anchor(&journal.append(&look()).unwrap()),
        anchor(&journal.append(&intent(None)).unwrap()),
    ];
    drop(journal);
    std::fs::OpenOptions::new()
        .append(true)
        .open(scratch.file())
        .unwrap()
        .write_all(tail)
        .unwrap();
    (scratch, anchors)
}

fn kept_files(scratch: &Scratch) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(scratch.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("torn-"))
        .collect();
    names.sort();
    names
}

#[test]
fn a_torn_tail_is_kept_recorded_and_does_not_stop_the_start() {
    let half = {
        let scratch = Scratch::new();
        write_story(&scratch);
        scratch.bytes()[..700].to_vec()
    };
    for tail in [
        b"{".to_vec(),
        half.clone(),
        vec![0; 70_000],
        b"junk\nmore junk\n".to_vec(),
        [half, b"\n".to_vec()].concat(),
    ] {
        let (scratch, anchors) = torn(&tail);
        let before = scratch.bytes();
        let journal = scratch.open();
        let [name] = kept_files(&scratch).try_into().unwrap();
        assert!(
            name.starts_with("torn-4-") && name.ends_with(".kept"),
            "{name}"
        );
        let whole = before.len() - tail.len();
        assert_eq!(
            scratch.bytes()[..whole],
            before[..whole],
            "whole entries stay"
        );
        assert_eq!(std::fs::read(scratch.path().join(&name)).unwrap(), tail);
        assert_eq!(journal.head().0, 5);
        let records = scratch.records();
        assert_eq!(
            records[4].entry,
            Body::Own(Own::Recovered(Recovered {
                kept: FileName::parse(&name).unwrap(),
                sha256: Digest::of(&tail),
                bytes: tail.len() as u64
            }))
        );
        let report = scratch.verify(&anchors);
        assert!(report.is_sound(), "{report}");
        assert!(
            report
                .notices
                .iter()
                .any(|n| matches!(n, Notice::Recovered { at: 5, .. })),
            "{report}"
        );
        drop(journal);

        // The next start has nothing left to record.
        scratch.open();
        assert_eq!(kept_files(&scratch), std::slice::from_ref(&name));
        std::fs::remove_file(scratch.path().join(&name)).unwrap();
        assert_eq!(scratch.verify(&anchors).damage[0].damage, Damage::Missing);
    }
}

#[test]
fn a_crash_between_the_steps_of_recovery_loses_nothing() {
    // After the copy and before the cut: the tail is there twice.
    let (scratch, anchors) = torn(b"half a li");
    let tail = Digest::of(b"half a li");
    let stem = format!("torn-4-{}", &tail.hex()[..16]);
    std::fs::write(scratch.path().join(format!("{stem}.part")), "half").unwrap();
    std::fs::set_permissions(
        scratch.path().join(format!("{stem}.part")),
        std::os::unix::fs::PermissionsExt::from_mode(0o600),
    )
    .unwrap();
    std::fs::write(scratch.path().join(format!("{stem}.new")), "half a li").unwrap();
    std::fs::set_permissions(
        scratch.path().join(format!("{stem}.new")),
        std::os::unix::fs::PermissionsExt::from_mode(0o600),
    )
    .unwrap();
    drop(scratch.open());
    assert_eq!(kept_files(&scratch), [format!("{stem}.kept")]);
    assert!(scratch.verify(&anchors).is_sound());

    // After the cut and before the entry: only the file tells.
    let (scratch, anchors) = torn(b"half a li");
    {
        let directory = scratch.directory();
        let file = directory.open_or_create(&JOURNAL_FILE).unwrap();
        recover::cut(&directory, &file).unwrap();
    }
    assert_eq!(kept_files(&scratch), [format!("{stem}.new")]);
    drop(scratch.open());
    assert_eq!(kept_files(&scratch), [format!("{stem}.kept")]);
    assert!(
        scratch
            .records()
            .iter()
            .any(|record| record.entry.kind() == "recovered")
    );
    assert!(scratch.verify(&anchors).is_sound());

    // After the entry and before the last rename: the verifier finds the file, and the next start records it again.
    std::fs::rename(
        scratch.path().join(format!("{stem}.kept")),
        scratch.path().join(format!("{stem}.new")),
    )
    .unwrap();
    assert!(scratch.verify(&anchors).is_sound());
    drop(scratch.open());
    assert_eq!(kept_files(&scratch), [format!("{stem}.kept")]);
    assert!(scratch.verify(&anchors).is_sound());
}

#[test]
fn a_file_that_is_no_journal_at_all_is_kept_whole() {
    let scratch = Scratch::new();
    let junk = "not a journal\n".repeat(40_000);
    std::fs::write(scratch.file(), &junk).unwrap();
    std::fs::set_permissions(
        scratch.file(),
        std::os::unix::fs::PermissionsExt::from_mode(0o600),
    )
    .unwrap();
    drop(scratch.open());
    let [name] = kept_files(&scratch).try_into().unwrap();
    assert_eq!(
        std::fs::read_to_string(scratch.path().join(name)).unwrap(),
        junk
    );
    let report = scratch.verify(&[]);
    assert!(report.is_sound() && report.entries == 2, "{report}");
}

#[test]
fn damage_further_up_is_left_for_the_verifier() {
    let (scratch, anchors) = torn(b"");
    let mut bytes = scratch.bytes();
    bytes[5] = b'9';
    std::fs::write(scratch.file(), &bytes).unwrap();
    drop(scratch.open());
    assert!(kept_files(&scratch).is_empty());
    assert_eq!(scratch.verify(&anchors).problem.unwrap().at(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn cut_at_any_byte_the_journal_opens_and_goes_on(keep in any::<prop::sample::Index>()) {
        let scratch = Scratch::new();
        let anchors = write_story(&scratch);
        let bytes = scratch.bytes();
        let length = keep.index(bytes.len() + 1);
        std::fs::OpenOptions::new().write(true).open(scratch.file()).unwrap().set_len(length as u64).unwrap();
        let whole = bytes[..length].iter().filter(|b| **b == b'\n').count();
        let kept = bytes[..length].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let mut journal = scratch.open();
        let receipt = anchor(&journal.append(&look()).unwrap());
        let report = scratch.verify(&[&anchors[..whole], &[receipt]].concat());
        prop_assert!(report.is_sound(), "{}", report);
        let torn: Vec<u8> = kept_files(&scratch).iter().flat_map(|name| std::fs::read(scratch.path().join(name)).unwrap()).collect();
        prop_assert_eq!(&torn[..], &bytes[kept..length]);
    }
}
