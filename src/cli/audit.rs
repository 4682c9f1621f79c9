//! `countersign audit`: read and verify the journal. The only place where the auditor's identity is opened.

pub(super) mod passphrase;
mod print;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;

use self::passphrase::identity;
use self::print::{full, json_line, summary, wall};
use super::exit::Exit;
use crate::domain::text::Shown;
use crate::error::Fault;
use crate::journal::{
    self, Anchor, Directory, Identity, Line, Piece, Record, Unreadable, verify_directory,
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
        Exit::Ok
    } else {
        Exit::CheckFailed
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
    let (mut exit, mut place) = (Exit::Ok, 0_u64);
    while let Some(piece) = journal::next(&mut lines)? {
        place += 1;
        let entry = match read_piece(&piece, &identity) {
            Ok(record) => record,
            Err(None) => break,
            Err(Some(why)) => {
                exit = Exit::CheckFailed;
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
                return Ok(Exit::CheckFailed);
            }
        };
        if args.json {
            json_line(out, &record)?;
        } else {
            out.write_all(full(&record, &line, bytes).as_bytes())
                .map_err(not_written)?;
        }
        return Ok(Exit::Ok);
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

fn not_written(error: io::Error) -> Fault {
    Fault::internal("the output cannot be written").because(error)
}
