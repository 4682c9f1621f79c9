//! The directory: ours alone, one writer, no links followed; captures beside the journal.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::*;

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn refusal(scratch: &Scratch) -> String {
    let fault = Directory::open(&scratch.path())
        .and_then(|directory| Journal::open(directory, scratch.identity().recipient(), opening()))
        .err()
        .unwrap();
    assert_eq!(fault.code(), Code::JournalNotWritable);
    fault.to_string()
}

#[test]
fn everything_made_is_ours_alone() {
    let scratch = Scratch::new();
    let mut journal = scratch.open();
    journal.seal(SealKind::Before, b"png").unwrap();
    let mut seen = 0;
    for entry in std::fs::read_dir(scratch.path())
        .unwrap()
        .chain(std::fs::read_dir(scratch.path().join("captures")).unwrap())
    {
        let path = entry.unwrap().path();
        assert_eq!(
            mode(&path),
            if path.is_dir() { 0o700 } else { 0o600 },
            "{}",
            path.display()
        );
        seen += 1;
    }
    assert_eq!(seen, 4, "journal, lock, captures and one capture");
}

#[test]
fn a_second_writer_is_refused_until_the_first_is_gone() {
    let scratch = Scratch::new();
    let first = scratch.open();
    let length = scratch.bytes().len();
    let refused = scratch.try_open().err().unwrap();
    assert!(
        refused.to_string().contains("another countersign"),
        "{refused}"
    );
    assert_eq!(
        scratch.bytes().len(),
        length,
        "the refused one wrote nothing"
    );
    drop(first);
    scratch.open();
    assert!(scratch.verify(&[]).is_sound());
}

#[test]
fn links_are_not_followed() {
    let scratch = Scratch::new();
    let elsewhere = scratch.root.path().join("elsewhere");
    std::fs::write(&elsewhere, "untouched").unwrap();
    chmod(&elsewhere, 0o600);

    symlink(&elsewhere, scratch.file()).unwrap();
    assert!(refusal(&scratch).contains("is a link"));
    std::fs::remove_file(scratch.file()).unwrap();

    std::fs::hard_link(&elsewhere, scratch.file()).unwrap();
    assert!(refusal(&scratch).contains("second name"));
    std::fs::remove_file(scratch.file()).unwrap();

    let lock = scratch.path().join("writer.lock");
    std::fs::remove_file(&lock).unwrap();
    symlink(&elsewhere, &lock).unwrap();
    assert!(refusal(&scratch).contains("is a link"));
    std::fs::remove_file(&lock).unwrap();

    let captures = scratch.path().join("captures");
    std::fs::remove_dir(&captures).unwrap();
    symlink(scratch.root.path(), &captures).unwrap();
    assert!(refusal(&scratch).contains("is a link"));
    std::fs::remove_file(&captures).unwrap();

    assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "untouched");

    let real = scratch.root.path().join("real");
    std::fs::rename(scratch.path(), &real).unwrap();
    symlink(&real, scratch.path()).unwrap();
    assert!(refusal(&scratch).contains("is a link"));
}

#[test]
fn wrong_modes_are_refused_with_the_way_out() {
    let scratch = Scratch::new();
    scratch.open().close(Closing::EndOfInput).unwrap();
    for (path, bad, good) in [
        (scratch.path(), 0o755, 0o700),
        (scratch.path(), 0o770, 0o700),
        (scratch.path().join("captures"), 0o701, 0o700),
        (scratch.file(), 0o640, 0o600),
        (scratch.file(), 0o606, 0o600),
        (scratch.path().join("writer.lock"), 0o644, 0o600),
    ] {
        chmod(&path, bad);
        let said = refusal(&scratch);
        assert!(said.contains("run chmod"), "{said}");
        chmod(&path, good);
    }
    scratch.open();
}

#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.file()).unwrap();
    refusal(&scratch);
    std::fs::remove_dir(scratch.file()).unwrap();
    // A fifo would hold whoever opens it.
    rustix::fs::mknodat(
        rustix::fs::CWD,
        scratch.file(),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    assert!(refusal(&scratch).contains("no regular file"));
}

#[test]
fn another_users_directory_is_refused() {
    if !rustix::process::geteuid().is_root() {
        // An ordinary user cannot give a directory away; / belongs to root.
        let said = Directory::open(Path::new("/")).err().unwrap().to_string();
        assert!(said.contains("belongs to another user"), "{said}");
        return;
    }
    let scratch = Scratch::new();
    std::os::unix::fs::chown(scratch.path(), Some(65_534), None).unwrap();
    assert!(refusal(&scratch).contains("belongs to another user"));
}

#[test]
fn the_journal_stays_where_its_handle_is() {
    let scratch = Scratch::new();
    let mut journal = scratch.open();
    let moved = scratch.root.path().join("moved");
    std::fs::rename(scratch.path(), &moved).unwrap();
    Directory::create(&scratch.path()).unwrap();
    let receipt = journal.append(&look()).unwrap();
    let sealed = journal.seal(SealKind::After, b"png").unwrap();
    assert!(moved.join("captures").join(sealed.name().as_str()).exists());
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
    let report = verify_directory(
        &Directory::open(&moved).unwrap(),
        Some(&scratch.identity()),
        &[anchor(&receipt)],
    )
    .unwrap();
    assert!(report.is_sound(), "{report}");
}

#[test]
fn a_journal_moved_cut_or_written_by_another_ends_the_session() {
    type Meddling = fn(&Scratch);
    let meddlings: [(&str, Meddling); 4] = [
        ("moved", |s| {
            std::fs::rename(s.file(), s.path().join("old")).unwrap()
        }),
        ("replaced", |s| {
            std::fs::rename(s.file(), s.path().join("old")).unwrap();
            std::fs::copy(s.path().join("old"), s.file()).unwrap();
        }),
        ("cut", |s| {
            std::fs::OpenOptions::new()
                .write(true)
                .open(s.file())
                .unwrap()
                .set_len(10)
                .unwrap()
        }),
        ("written", |s| {
            use std::io::Write as _;
            std::fs::OpenOptions::new()
                .append(true)
                .open(s.file())
                .unwrap()
                .write_all(b"x")
                .unwrap();
        }),
    ];
    for (name, meddle) in meddlings {
        let scratch = Scratch::new();
        let mut journal = scratch.open();
        meddle(&scratch);
        assert_eq!(
            journal.append(&look()).unwrap_err().code(),
            Code::JournalNotWritable,
            "{name}"
        );
        assert_eq!(
            journal.append(&look()).unwrap_err().code(),
            Code::JournalEnded,
            "{name}"
        );
    }
}

#[test]
fn a_capture_is_an_age_file_that_the_entry_names_by_hash() {
    let scratch = Scratch::new();
    let mut journal = scratch.open();
    let (before, after) = (
        journal.seal(SealKind::Before, b"before").unwrap(),
        journal.seal(SealKind::After, b"after").unwrap(),
    );
    let unnamed = journal.seal(SealKind::After, b"never named").unwrap();
    let Entry::Asked(question) = asked() else {
        unreachable!()
    };
    let question = Asked {
        before: Some(before.clone()),
        ..question
    };
    journal.append(&Entry::Asked(question)).unwrap();
    journal.append(&answered(2, Ending::Allowed)).unwrap();
    journal
        .append(&Entry::Intent(Intent {
            call: click(),
            answered: Some(3),
            before: Some(before.clone()),
            snapshot: None,
        }))
        .unwrap();
    journal
        .append(&Entry::Outcome(Outcome {
            intent: 4,
            outcome: "done".to_owned(),
            effect: Effect::Done,
            code: None,
            changes: Vec::new(),
            after: Some(after.clone()),
        }))
        .unwrap();
    journal.close(Closing::EndOfInput).unwrap();

    let file = |sealed: &Sealed| scratch.path().join("captures").join(sealed.name().as_str());
    let bytes = std::fs::read(file(&before)).unwrap();
    assert_eq!(
        (Digest::of(&bytes), bytes.len() as u64),
        (*before.sha256(), before.bytes())
    );
    assert!(bytes.starts_with(b"age-encryption.org/v1\n"));
    assert_eq!(
        scratch.identity().decrypt(&bytes).unwrap().as_slice(),
        b"before"
    );

    let report = scratch.verify(&[]);
    assert!(report.is_sound(), "{report}");
    assert_eq!(report.files_sound, 2);
    assert_eq!(report.notices, [Notice::UnnamedCaptures { count: 1 }]);
    std::fs::remove_file(file(&unnamed)).unwrap();

    let mut changed = bytes.clone();
    *changed.last_mut().unwrap() ^= 1;
    std::fs::write(file(&before), &changed).unwrap();
    std::fs::remove_file(file(&after)).unwrap();
    let report = scratch.verify(&[]);
    assert!(!report.is_sound());
    let damage: Vec<(u64, Damage)> = report.damage.iter().map(|d| (d.at, d.damage)).collect();
    assert_eq!(
        damage,
        [
            (2, Damage::Changed),
            (4, Damage::Changed),
            (5, Damage::Missing)
        ]
    );

    std::fs::write(file(&before), &bytes).unwrap();
    std::fs::remove_file(file(&before)).unwrap();
    symlink("/etc/hostname", file(&before)).unwrap();
    assert_eq!(scratch.verify(&[]).damage[0].damage, Damage::Unreadable);
}

#[test]
fn a_file_name_cannot_lead_outside() {
    for bad in [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "/etc/passwd",
        ".hidden",
        "-x",
        "A",
        "a b",
        "a\0b",
        "ä",
        &"a".repeat(129),
    ] {
        assert!(FileName::parse(bad).is_err(), "{bad:?}");
        assert!(
            serde_json::from_value::<FileName>(bad.into()).is_err(),
            "{bad:?}"
        );
    }
    assert_eq!(
        FileName::parse("torn-3-00ff.kept").unwrap().as_str(),
        "torn-3-00ff.kept"
    );
}
