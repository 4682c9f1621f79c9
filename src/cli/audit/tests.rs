//! The auditor's commands, run as a command line.

use std::path::{Path, PathBuf};

use super::passphrase::passphrase_from;
use super::*;
use crate::domain::digest::Digest;
use crate::domain::secret::Secret;
use crate::error::{Code, Effect};
use crate::journal::{
    CallRecord, Closing, Entry, Journal, Opening, Outcome, Recipient, Record, Refused, SessionId,
    WorkFactor, generate,
};
use clap::Parser;
use std::os::unix::fs::PermissionsExt as _;

const PASSPHRASE: &str = "correct horse battery";

#[derive(Parser)]
struct Command {
    #[command(subcommand)]
    command: AuditCommand,
}

struct House {
    root: tempfile::TempDir,
    receipts: Vec<String>,
}

impl House {
    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Runs a command line; gives exit, stdout and stderr.
    fn run(&self, line: &str) -> (Exit, String, String) {
        let command = Command::try_parse_from(std::iter::once("audit").chain(line.split(' ')))
            .unwrap()
            .command;
        let (journal, keys) = (self.path("journal"), self.path("keys"));
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let exit = run(
            &command,
            Archive {
                journal: &journal,
                keys: &keys,
            },
            &mut out,
            &mut err,
        );
        (
            exit,
            String::from_utf8(out).unwrap(),
            String::from_utf8(err).unwrap(),
        )
    }

    fn with_passphrase(&self, line: &str) -> (Exit, String, String) {
        self.run(&format!(
            "{line} --passphrase-file {}",
            self.path("passphrase").display()
        ))
    }
}

fn private(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

fn house() -> House {
    let mut house = House {
        root: tempfile::tempdir().unwrap(),
        receipts: Vec::new(),
    };
    private(
        &house.path("passphrase"),
        &format!("{PASSPHRASE}\nsecond line\n"),
    );
    let keys = Directory::create(&house.path("keys")).unwrap();
    generate(
        &keys,
        &Secret::new(PASSPHRASE.to_owned()),
        WorkFactor::new(2).unwrap(),
    )
    .unwrap();
    let opening = Opening {
        session: SessionId::generate().unwrap(),
        profile: Digest::of(b"p"),
        program: "countersign test".to_owned(),
    };
    let directory = Directory::create(&house.path("journal")).unwrap();
    let mut journal = Journal::open(directory, Recipient::read(&keys).unwrap(), opening).unwrap();
    let nasty = "Pay\u{202e}\u{1b}[2J\nentry 9 forged \u{9b}31m";
    let refused = Entry::Refused(Refused {
        call: CallRecord::new("click").element("button", nasty),
        code: Code::Denied.into(),
        effect: Effect::None,
        asked: None,
    });
    house
        .receipts
        .push(journal.append(&refused).unwrap().to_string());
    let outcome = Entry::Intent(journal::Intent {
        call: CallRecord::new("scroll"),
        answered: None,
        before: None,
        snapshot: None,
    });
    house
        .receipts
        .push(journal.append(&outcome).unwrap().to_string());
    let done = Entry::Outcome(Outcome {
        intent: 3,
        outcome: "done".to_owned(),
        effect: Effect::Done,
        code: None,
        changes: Vec::new(),
        after: None,
    });
    house
        .receipts
        .push(journal.append(&done).unwrap().to_string());
    house
        .receipts
        .push(journal.close(Closing::EndOfInput).unwrap().to_string());
    house
}

#[test]
fn list_shows_a_line_an_entry_and_escapes_what_the_page_wrote() {
    let house = house();
    let (exit, out, err) = house.with_passphrase("list");
    assert_eq!((exit, err.as_str()), (Exit::Ok, ""));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 6, "{out}");
    assert!(
        lines[0].contains("started") && lines[0].contains("the first start"),
        "{out}"
    );
    assert!(
        lines[1].contains(r"Pay\u{202E}\u{001B}[2J entry 9 forged \u{009B}31m")
            && lines[1].contains("L401"),
        "{out}"
    );
    assert!(lines[3].contains("done, effect done (intent 3)"), "{out}");
    assert!(!out.contains('\u{1b}') && !out.contains('\u{202e}'));

    let (_, some, _) = house.with_passphrase("list --from 3 --to 4");
    assert_eq!(some.lines().count(), 3, "{some}");
    let (_, kind, _) = house.with_passphrase("list --kind refused");
    assert_eq!(kind.lines().count(), 2, "{kind}");
    let (_, json, _) = house.with_passphrase("list --json");
    assert!(json.is_ascii() && !json.contains('\u{1b}'));
    let records: Vec<Record> = json
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(records.len(), 5);
}

#[test]
fn show_gives_one_entry_with_its_receipt() {
    let house = house();
    let (exit, out, _) = house.with_passphrase("show 2");
    assert_eq!(exit, Exit::Ok);
    assert!(
        out.contains(&house.receipts[0]) && out.contains("call.element.name"),
        "{out}"
    );
    assert!(
        out.contains(r"\u{202E}") && !out.contains('\u{202e}'),
        "{out}"
    );
    let (_, started, _) = house.with_passphrase("show 1 --json");
    assert!(
        started.contains("\"started\"") && !started.contains("\"key\""),
        "{started}"
    );
    let (exit, _, err) = house.with_passphrase("show 99");
    assert!(
        exit == Exit::CannotOpen && err.contains("no entry 99"),
        "{err}"
    );
}

#[test]
fn verify_says_what_holds_and_what_cannot_be_known() {
    let house = house();
    let (exit, out, _) = house.with_passphrase("verify");
    assert_eq!(exit, Exit::Ok);
    assert!(out.starts_with("Sound: 5 entries in 1 sessions"), "{out}");
    assert!(
        out.contains("removed after entry 5") && out.contains("No receipt was given"),
        "{out}"
    );
    let (exit, out, _) = house.with_passphrase(&format!("verify --receipt {}", house.receipts[3]));
    assert!(
        exit == Exit::Ok && out.contains("A receipt vouches for everything up to entry 5"),
        "{out}"
    );
    let (exit, out, _) = house.run("verify --chain-only");
    assert!(
        exit == Exit::Ok && out.contains("Without the identity"),
        "{out}"
    );
    let (exit, out, _) = house.run("verify --chain-only --json");
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(
        exit == Exit::Ok
            && value["sound"] == true
            && value["entries"] == 5
            && value["depth"] == "chain",
        "{out}"
    );
}

#[test]
fn a_damaged_journal_is_exit_3_and_says_where() {
    let house = house();
    let file = house.path("journal/journal.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    std::fs::write(
        &file,
        format!("{}\n", [lines[0], lines[1], lines[3], lines[4]].join("\n")),
    )
    .unwrap();
    for line in ["verify --chain-only", "verify --chain-only --json"] {
        let (exit, out, _) = house.run(line);
        assert_eq!(exit, Exit::CheckFailed);
        assert!(out.contains("broken sequence at 3"), "{out}");
    }
    assert_eq!(house.with_passphrase("verify").0, Exit::CheckFailed);

    std::fs::write(&file, format!("{}\n", lines[..2].join("\n"))).unwrap();
    assert_eq!(house.with_passphrase("verify").0, Exit::Ok);
    let (exit, out, _) = house.run(&format!(
        "verify --chain-only --receipt {}",
        house.receipts[3]
    ));
    assert!(
        exit == Exit::CheckFailed && out.contains("its end was removed"),
        "{out}"
    );

    std::fs::write(&file, format!("{}\nnonsense\n{}\n", lines[0], lines[1])).unwrap();
    let (exit, out, _) = house.with_passphrase("list");
    assert!(
        exit == Exit::CheckFailed
            && out.contains("line 2: cannot be read")
            && out.contains("refused"),
        "{out}"
    );
}

#[test]
fn what_cannot_be_opened_is_exit_4_with_a_reason() {
    let house = house();
    private(&house.path("passphrase"), "wrong");
    let (exit, out, err) = house.with_passphrase("verify");
    assert_eq!((exit, out.as_str()), (Exit::CannotOpen, ""));
    assert!(err.contains("does not open with this passphrase"), "{err}");

    std::fs::set_permissions(
        house.path("passphrase"),
        std::fs::Permissions::from_mode(0o640),
    )
    .unwrap();
    let (exit, _, err) = house.with_passphrase("list");
    assert!(
        exit == Exit::CannotOpen && err.contains("chmod 600"),
        "{err}"
    );

    std::fs::remove_file(house.path("journal/journal.jsonl")).unwrap();
    let (exit, _, err) = house.run("verify --chain-only");
    assert!(
        exit == Exit::CannotOpen && err.contains("is missing"),
        "{err}"
    );
    std::fs::set_permissions(
        house.path("journal"),
        std::fs::Permissions::from_mode(0o750),
    )
    .unwrap();
    assert_eq!(house.run("verify --chain-only").0, Exit::CannotOpen);
}

#[test]
fn the_passphrase_may_come_by_a_descriptor() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(b"by pipe\r\nmore").unwrap();
    drop(writer);
    let path = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
    assert_eq!(
        passphrase_from(Path::new(&path)).unwrap().expose(),
        "by pipe"
    );
}

#[test]
fn a_receipt_that_is_none_is_refused_at_the_door() {
    assert!(Command::try_parse_from(["audit", "verify", "--receipt", "12"]).is_err());
    assert!(
        Command::try_parse_from([
            "audit",
            "verify",
            "--receipt",
            &format!("0:{}", "a".repeat(64))
        ])
        .is_err()
    );
}
