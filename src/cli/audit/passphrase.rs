//! The passphrase, from a terminal or a file, and the identity it opens.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use zeroize::Zeroizing;

use super::{Archive, PassphraseArgs};
use crate::domain::secret::Secret;
use crate::error::Fault;
use crate::journal::{Directory, Identity};

pub(super) fn identity(archive: Archive<'_>, args: &PassphraseArgs) -> Result<Identity, Fault> {
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

pub(in crate::cli) fn passphrase_from(path: &Path) -> Result<Secret, Fault> {
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
