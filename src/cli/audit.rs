//! `countersign audit`: read and verify the journal. The only place where the auditor's identity is opened.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;
use zeroize::Zeroizing;

use super::exit::Exit;
use crate::domain::secret::Secret;
use crate::domain::text::Shown;
use crate::error::Fault;
use crate::journal::{
    self, Anchor, Body, CallRecord, Directory, Entry, Identity, Line, Own, Piece, Record, Sealed,
    Unreadable, verify_directory,
};

/// What to do with the journal.
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// List the entries, one line each.
    List(ListArgs),
    /// Show one entry in full.
    Show(ShowArgs),
    /// Check that nothing was changed, dropped, reordered or added.
    Verify(VerifyArgs),
}

/// Where the passphrase comes from.
#[derive(Debug, Args)]
pub struct PassphraseArgs {
    /// Read the passphrase from the first line of this file instead of the terminal (/dev/fd/N for a descriptor).
    #[arg(long, value_name = "FILE")]
    pub passphrase_file: Option<PathBuf>,
}

/// Arguments of `audit list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// The first entry to list.
    #[arg(long, value_name = "N")]
    pub from: Option<u64>,
    /// The last entry to list.
    #[arg(long, value_name = "N")]
    pub to: Option<u64>,
    /// Only entries of this kind (asked, answered, intent, outcome, refused, read, …).
    #[arg(long)]
    pub kind: Option<String>,
    /// One JSON object a line.
    #[arg(long)]
    pub json: bool,
    /// The passphrase.
    #[command(flatten)]
    pub passphrase: PassphraseArgs,
}

/// Arguments of `audit show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The entry's number.
    #[arg(value_name = "N")]
    pub sequence: u64,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
    /// The passphrase.
    #[command(flatten)]
    pub passphrase: PassphraseArgs,
}

/// Arguments of `audit verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Check form, numbers and links only; this needs no passphrase.
    #[arg(long)]
    pub chain_only: bool,
    /// A receipt from a reply (SEQUENCE:HASH) that the journal must contain. May be given more than once.
    #[arg(long, value_name = "RECEIPT")]
    pub receipt: Vec<Anchor>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
    /// The passphrase.
    #[command(flatten)]
    pub passphrase: PassphraseArgs,
}

/// Where journal and keys are.
#[derive(Debug, Clone, Copy)]
pub struct Archive<'a> {
    /// The journal's directory.
    pub journal: &'a Path,
    /// The directory of the journal's keys.
    pub keys: &'a Path,
}

/// Runs one command. What cannot be opened is said on `err`, everything else goes to `out`.
pub fn run(
    command: &AuditCommand,
    archive: Archive<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Exit {
    let result = match command {
        AuditCommand::List(args) => list(args, archive, out),
        AuditCommand::Show(args) => show(args, archive, out),
        AuditCommand::Verify(args) => verify(args, archive, out),
    };
    result.unwrap_or_else(|fault| {
        // Where not even stderr takes it, the exit code still tells.
        let _ = writeln!(
            err,
            "countersign: {}",
            Shown::escape(&fault.to_string(), 2_000)
        );
        Exit::CannotOpen
    })
}

/// `audit verify`.
///
/// # Errors
/// Where journal, identity or passphrase cannot be opened, or `out` not written.
pub fn verify(args: &VerifyArgs, archive: Archive<'_>, out: &mut dyn Write) -> Result<Exit, Fault> {
    let directory = Directory::open(archive.journal)?;
    let identity = if args.chain_only {
        None
    } else {
        Some(identity(archive, &args.passphrase)?)
    };
    let report = verify_directory(&directory, identity.as_ref(), &args.receipt)?;
    if args.json {
        #[derive(Serialize)]
        struct Form<'a> {
            sound: bool,
            #[serde(flatten)]
            report: &'a journal::Report,
            limits: String,
        }
        json_line(
            out,
            &Form {
                sound: report.is_sound(),
                limits: report.limits(),
                report: &report,
            },
        )?;
    } else {
        write!(out, "{report}").map_err(not_written)?;
    }
    Ok(if report.is_sound() {
        Exit::Done
    } else {
        Exit::VerificationFailed
    })
}

/// `audit list`.
///
/// # Errors
/// Where journal, identity or passphrase cannot be opened, or `out` not written.
pub fn list(args: &ListArgs, archive: Archive<'_>, out: &mut dyn Write) -> Result<Exit, Fault> {
    let directory = Directory::open(archive.journal)?;
    let mut lines = journal::open(&directory)?;
    let identity = identity(archive, &args.passphrase)?;
    let (mut exit, mut place) = (Exit::Done, 0_u64);
    while let Some(piece) = journal::next(&mut lines)? {
        place += 1;
        let entry = match read_piece(&piece, &identity) {
            Ok(record) => record,
            Err(None) => break,
            Err(Some(why)) => {
                exit = Exit::VerificationFailed;
                if !args.json {
                    writeln!(out, "line {place}: cannot be read: {why}").map_err(not_written)?;
                }
                continue;
            }
        };
        let wanted = args.from.is_none_or(|from| entry.seq >= from)
            && args.to.is_none_or(|to| entry.seq <= to)
            && args
                .kind
                .as_deref()
                .is_none_or(|kind| kind == entry.entry.kind());
        if !wanted {
            continue;
        }
        if args.json {
            json_line(out, &entry)?;
        } else {
            writeln!(
                out,
                "{:>6}  {}  {:<9}  {}",
                entry.seq,
                wall(&entry),
                entry.entry.kind(),
                summary(&entry.entry)
            )
            .map_err(not_written)?;
        }
    }
    if !args.json {
        writeln!(out, "(listed, not verified: run countersign audit verify)")
            .map_err(not_written)?;
    }
    Ok(exit)
}

/// `audit show N`.
///
/// # Errors
/// Where journal, identity or passphrase cannot be opened, there is no such entry, or `out` not written.
pub fn show(args: &ShowArgs, archive: Archive<'_>, out: &mut dyn Write) -> Result<Exit, Fault> {
    let directory = Directory::open(archive.journal)?;
    let mut lines = journal::open(&directory)?;
    let identity = identity(archive, &args.passphrase)?;
    while let Some(piece) = journal::next(&mut lines)? {
        let Piece::Whole(bytes) = &piece else {
            continue;
        };
        let Some(line) = Line::parse(bytes)
            .ok()
            .filter(|line| line.sequence == args.sequence)
        else {
            continue;
        };
        let record = match journal::record(&line, &identity) {
            Ok(record) => record,
            Err(why) => {
                writeln!(out, "entry {}: cannot be read: {why}", args.sequence)
                    .map_err(not_written)?;
                return Ok(Exit::VerificationFailed);
            }
        };
        if args.json {
            json_line(out, &record)?;
        } else {
            out.write_all(full(&record, &line, bytes).as_bytes())
                .map_err(not_written)?;
        }
        return Ok(Exit::Done);
    }
    Err(Fault::internal(format!(
        "the journal has no entry {}",
        args.sequence
    )))
}

fn read_piece(piece: &Piece, identity: &Identity) -> Result<Record, Option<Unreadable>> {
    match piece {
        Piece::Whole(bytes) => Line::parse(bytes)
            .map_err(Unreadable::Line)
            .and_then(|line| journal::record(&line, identity))
            .map_err(Some),
        Piece::TooLong => Err(Some(Unreadable::Line(journal::NotALine::Form))),
        Piece::Unfinished(_) => Err(None),
    }
}

/// One line about an entry. Whatever a page wrote is escaped and cut.
fn summary(body: &Body) -> String {
    match body {
        Body::Entry(Entry::Asked(asked)) => format!(
            "{} ({}), by {}",
            call(&asked.call),
            asked.class,
            asked.means.name()
        ),
        Body::Entry(Entry::Answered(answered)) => format!(
            "{} after {} ms, by {} (question {})",
            answered.ending,
            answered.waited_ms,
            answered.means.name(),
            answered.asked
        ),
        Body::Entry(Entry::Intent(intent)) => {
            let by = intent
                .answered
                .map(|n| format!(" (allowed by {n})"))
                .unwrap_or_default();
            format!("{}{by}", call(&intent.call))
        }
        Body::Entry(Entry::Outcome(outcome)) => {
            let code = outcome
                .code
                .as_ref()
                .map(|code| format!(", {}", code.as_str()))
                .unwrap_or_default();
            format!(
                "{}, effect {}{code} (intent {})",
                short(&outcome.outcome),
                outcome.effect.name(),
                outcome.intent
            )
        }
        Body::Entry(Entry::Refused(refused)) => {
            format!(
                "{} {}, effect {}",
                refused.code.as_str(),
                call(&refused.call),
                refused.effect.name()
            )
        }
        Body::Entry(Entry::Read(look)) => format!(
            "{} {} {} {}",
            short(&look.tool),
            look.tab,
            look.snapshot,
            look.site
        ),
        Body::Entry(Entry::Peer(peer)) => {
            let program = peer.program.as_deref().map(short).unwrap_or_default();
            format!(
                "foreign program on the browser's port: {:?} {program}",
                peer.sight
            )
            .to_lowercase()
        }
        Body::Own(Own::Started(started)) => match &started.continues {
            Some(anchor) => format!("after entry {}", anchor.sequence),
            None => "the first start".to_owned(),
        },
        Body::Own(Own::Recovered(recovered)) => format!(
            "{} unfinished bytes kept in {}",
            recovered.bytes, recovered.kept
        ),
        Body::Own(Own::Heartbeat(_)) => String::new(),
        Body::Own(Own::Closed(closed)) => format!("{:?}", closed.reason),
    }
}

fn call(call: &CallRecord) -> String {
    let mut out = short(&call.tool);
    let mut add = |word: &str, value: Option<String>| {
        if let Some(value) = value {
            let _ = write!(out, " {word}{value}");
        }
    };
    add("", call.tab.map(|tab| tab.to_string()));
    add("mark ", call.mark.map(|mark| mark.to_string()));
    add(
        "",
        call.element
            .as_ref()
            .map(|e| format!("{} “{}”", short(&e.role), short(&e.name))),
    );
    add("on ", call.site.as_ref().map(ToString::to_string));
    add(
        "in a frame of ",
        call.frame_site.as_ref().map(ToString::to_string),
    );
    add(
        "",
        call.payload
            .as_ref()
            .map(|p| format!("{} characters ({})", p.length, short(&p.class))),
    );
    add("key ", call.key.as_deref().map(short));
    add("options: ", call.options_count.map(|n| n.to_string()));
    add("meant as ", call.intent.map(|class| class.to_string()));
    out
}

/// One entry in full, a field a line.
fn full(record: &Record, line: &Line, bytes: &[u8]) -> String {
    let mut rows: Vec<(String, String)> = vec![
        ("entry".to_owned(), record.seq.to_string()),
        ("kind".to_owned(), record.entry.kind().to_owned()),
        ("time".to_owned(), wall(record)),
        ("session".to_owned(), record.session.to_string()),
        ("profile".to_owned(), record.profile.to_string()),
        ("program".to_owned(), short(&record.program)),
    ];
    if let Ok(value) = serde_json::to_value(&record.entry) {
        flatten("", &value, &mut rows);
    }
    for sealed in record.entry.sealed() {
        rows.push(("sealed file".to_owned(), sealed_path(sealed)));
    }
    rows.push(("before it".to_owned(), line.previous.to_string()));
    rows.push((
        "receipt".to_owned(),
        Anchor {
            sequence: record.seq,
            head: journal::hash(bytes),
        }
        .to_string(),
    ));
    rows.iter().fold(String::new(), |mut out, (name, value)| {
        let _ = writeln!(out, "{name:<24} {value}");
        out
    })
}

fn sealed_path(sealed: &Sealed) -> String {
    format!(
        "{}/{}, {} bytes",
        journal::CAPTURES,
        sealed.name(),
        sealed.bytes()
    )
}

fn flatten(path: &str, value: &serde_json::Value, rows: &mut Vec<(String, String)>) {
    let below = |name: &str| {
        if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}.{name}")
        }
    };
    match value {
        serde_json::Value::Object(map) => {
            for (name, value) in map
                .iter()
                .filter(|(name, _)| !(path.is_empty() && *name == "kind"))
            {
                flatten(&below(name), value, rows);
            }
        }
        serde_json::Value::Array(items) => match items.as_slice() {
            // A fact of the window: its label and its value.
            [
                serde_json::Value::String(label),
                serde_json::Value::String(value),
            ] => {
                rows.push((
                    path.to_owned(),
                    format!("{}: {}", short(label), Shown::escape(value, 2_000)),
                ));
            }
            items => {
                for (at, value) in items.iter().enumerate() {
                    flatten(&below(&(at + 1).to_string()), value, rows);
                }
            }
        },
        serde_json::Value::String(text) => {
            rows.push((path.to_owned(), Shown::escape(text, 2_000).to_string()))
        }
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {
            rows.push((path.to_owned(), value.to_string()));
        }
    }
}

fn short(text: &str) -> String {
    Shown::escape(text, 120).to_string()
}

fn wall(record: &Record) -> String {
    record
        .time
        .wall
        .format(&time::format_description::well_known::Rfc3339)
        .unwrap_or_else(|_| "(no time)".to_owned())
}

/// Writes JSON on one line in ASCII: what a page wrote must not drive the terminal it is shown on.
fn json_line(out: &mut dyn Write, value: &impl Serialize) -> Result<(), Fault> {
    let text = serde_json::to_string(value)
        .map_err(|e| Fault::internal("the result cannot be written as JSON").because(e))?;
    let mut ascii = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        // Outside ASCII, and DEL, only occur inside JSON strings, where an escape means the same.
        if c.is_ascii() && c != '\u{7f}' {
            ascii.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(ascii, "\\u{unit:04x}");
            }
        }
    }
    ascii.push('\n');
    out.write_all(ascii.as_bytes()).map_err(not_written)
}

fn identity(archive: Archive<'_>, args: &PassphraseArgs) -> Result<Identity, Fault> {
    let keys = Directory::open(archive.keys)?;
    let passphrase = match &args.passphrase_file {
        Some(path) => passphrase_from(path)?,
        None => rpassword::prompt_password("Passphrase of the journal: ")
            .map(Secret::new)
            .map_err(|e| {
                Fault::internal("no passphrase from the terminal; use --passphrase-file").because(e)
            })?,
    };
    Identity::open(&keys, &passphrase)
}

/// The longest passphrase, in bytes.
const LONGEST_PASSPHRASE: u64 = 4_096;

fn passphrase_from(path: &Path) -> Result<Secret, Fault> {
    let failed = |e: io::Error| Fault::internal("the passphrase file cannot be read").because(e);
    let file = File::open(path).map_err(failed)?;
    let about = file.metadata().map_err(failed)?;
    if about.is_file() && about.mode() & 0o077 != 0 {
        return Err(Fault::internal(
            "the passphrase file is open to others; run chmod 600 on it",
        ));
    }
    let mut line = Zeroizing::new(Vec::with_capacity(LONGEST_PASSPHRASE as usize + 1));
    BufReader::with_capacity(1, file)
        .take(LONGEST_PASSPHRASE)
        .read_until(b'\n', &mut line)
        .map_err(failed)?;
    let text = std::str::from_utf8(&line)
        .map_err(|_| Fault::internal("the passphrase file is not text"))?;
    let text = text.strip_suffix('\n').unwrap_or(text);
    Ok(Secret::new(
        text.strip_suffix('\r').unwrap_or(text).to_owned(),
    ))
}

fn not_written(error: io::Error) -> Fault {
    Fault::internal("the output cannot be written").because(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::digest::Digest;
    use crate::error::{Code, Effect};
    use crate::journal::{
        CallRecord, Closing, Journal, Opening, Outcome, Recipient, Refused, SessionId, WorkFactor,
        generate,
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
        let mut journal =
            Journal::open(directory, Recipient::read(&keys).unwrap(), opening).unwrap();
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
        assert_eq!((exit, err.as_str()), (Exit::Done, ""));
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
        assert_eq!(exit, Exit::Done);
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
        assert_eq!(exit, Exit::Done);
        assert!(out.starts_with("Sound: 5 entries in 1 sessions"), "{out}");
        assert!(
            out.contains("removed after entry 5") && out.contains("No receipt was given"),
            "{out}"
        );
        let (exit, out, _) =
            house.with_passphrase(&format!("verify --receipt {}", house.receipts[3]));
        assert!(
            exit == Exit::Done && out.contains("A receipt vouches for everything up to entry 5"),
            "{out}"
        );
        let (exit, out, _) = house.run("verify --chain-only");
        assert!(
            exit == Exit::Done && out.contains("Without the identity"),
            "{out}"
        );
        let (exit, out, _) = house.run("verify --chain-only --json");
        let value: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert!(
            exit == Exit::Done
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
            assert_eq!(exit, Exit::VerificationFailed);
            assert!(out.contains("broken sequence at 3"), "{out}");
        }
        assert_eq!(house.with_passphrase("verify").0, Exit::VerificationFailed);

        std::fs::write(&file, format!("{}\n", lines[..2].join("\n"))).unwrap();
        assert_eq!(house.with_passphrase("verify").0, Exit::Done);
        let (exit, out, _) = house.run(&format!(
            "verify --chain-only --receipt {}",
            house.receipts[3]
        ));
        assert!(
            exit == Exit::VerificationFailed && out.contains("its end was removed"),
            "{out}"
        );

        std::fs::write(&file, format!("{}\nnonsense\n{}\n", lines[0], lines[1])).unwrap();
        let (exit, out, _) = house.with_passphrase("list");
        assert!(
            exit == Exit::VerificationFailed
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
}
