//! The journal's keys: a public recipient the server writes to, and the auditor's identity behind a passphrase.
//!
//! The server reads the recipient only. The identity lies in an ordinary age file with a passphrase and is opened by
//! `audit` alone (security J1).

use std::io::{Read as _, Write as _};
use std::iter;

use age::secrecy::{ExposeSecret as _, SecretString};
use age::x25519;
use zeroize::Zeroizing;

use super::directory::{Directory, FileName};
use crate::domain::secret::Secret;
use crate::error::{Code, Fault};

/// The public key, one line.
pub const RECIPIENT_FILE: FileName = FileName::constant("journal-recipient.txt");
/// The auditor's identity, an age file with a passphrase.
pub const IDENTITY_FILE: FileName = FileName::constant("journal-identity.age");

const LONGEST_KEY_FILE: u64 = 16 * 1024;

/// Whom the journal is written to: a public key. Nothing leads from here to an identity.
pub struct Recipient(x25519::Recipient);

impl Recipient {
    /// Reads the public key.
    ///
    /// # Errors
    /// Where the file is missing, unsafe or holds anything but one key.
    pub fn read(directory: &Directory) -> Result<Self, Fault> {
        let bytes = directory
            .read(&RECIPIENT_FILE, LONGEST_KEY_FILE)?
            .ok_or_else(|| directory.fault(&RECIPIENT_FILE, "is missing; run countersign setup"))?;
        std::str::from_utf8(&bytes)
            .ok()
            .and_then(|text| text.strip_suffix('\n').unwrap_or(text).parse().ok())
            .map(Self)
            .ok_or_else(|| {
                directory.fault(
                    &RECIPIENT_FILE,
                    "holds no age recipient; run countersign setup",
                )
            })
    }

    /// Encrypts to the auditor.
    pub(super) fn encrypt(&self, plaintext: &[u8]) -> Result<Vec<u8>, Fault> {
        age::encrypt(&self.0, plaintext).map_err(|e| {
            Fault::new(Code::JournalNotWritable, "an entry cannot be encrypted").because(e)
        })
    }
}

impl std::fmt::Display for Recipient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// How much work a guess of the passphrase costs: scrypt with N = 2 to this power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkFactor(u8);

impl WorkFactor {
    /// What `setup` uses: 256 MiB of memory and about a second a guess.
    pub const STANDARD: Self = Self(18);
    /// The most that is opened: 4 GiB of memory. A file that asks for more is refused.
    const MOST: u8 = 22;

    /// A factor from 1 to 22. Anything below [`WorkFactor::STANDARD`] is for tests.
    #[must_use]
    pub const fn new(log_n: u8) -> Option<Self> {
        if log_n >= 1 && log_n <= Self::MOST {
            Some(Self(log_n))
        } else {
            None
        }
    }
}

/// Makes the auditor's identity, writes it behind the passphrase, and writes the public key for the server. For `setup`.
///
/// # Errors
/// Where the passphrase is blank, keys are there already (they are never replaced), or nothing can be written.
pub fn generate(
    directory: &Directory,
    passphrase: &Secret,
    work: WorkFactor,
) -> Result<Recipient, Fault> {
    if passphrase.expose().trim().is_empty() {
        return Err(Fault::internal("the passphrase of the journal is blank"));
    }
    for file in [&IDENTITY_FILE, &RECIPIENT_FILE] {
        if directory.open_existing(file)?.is_some() {
            return Err(directory.fault(
                file,
                "is there already; the journal's keys are never replaced",
            ));
        }
    }
    let identity = x25519::Identity::generate();
    let recipient = identity.to_public();
    let text = Zeroizing::new(format!(
        "# public key: {recipient}\n{}\n",
        identity.to_string().expose_secret()
    ));
    // The identity first: a recipient without one would make entries that nobody can read.
    directory.write_new(&IDENTITY_FILE, &wrap(text.as_bytes(), passphrase, work)?)?;
    directory.write_new(&RECIPIENT_FILE, format!("{recipient}\n").as_bytes())?;
    Ok(Recipient(recipient))
}

fn wrap(plaintext: &[u8], passphrase: &Secret, work: WorkFactor) -> Result<Vec<u8>, Fault> {
    let failed =
        |e: std::io::Error| Fault::internal("the journal's identity cannot be wrapped").because(e);
    let mut recipient =
        age::scrypt::Recipient::new(SecretString::from(passphrase.expose().to_owned()));
    recipient.set_work_factor(work.0);
    let encryptor = age::Encryptor::with_recipients(iter::once(&recipient as &dyn age::Recipient))
        .map_err(|e| Fault::internal("the journal's identity cannot be wrapped").because(e))?;
    let mut out = Vec::new();
    let mut writer = encryptor.wrap_output(&mut out).map_err(failed)?;
    writer.write_all(plaintext).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(out)
}

/// The auditor's identity, opened. For `audit` alone.
pub struct Identity(x25519::Identity);

/// Why a payload stays closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unopened {
    /// It was written to another key.
    AnotherKey,
    /// It is no whole age file.
    Damaged,
}

impl Identity {
    /// Opens the identity with its passphrase.
    ///
    /// # Errors
    /// Where the file is missing, unsafe or damaged, or the passphrase is another one.
    pub fn open(directory: &Directory, passphrase: &Secret) -> Result<Self, Fault> {
        let file = directory
            .read(&IDENTITY_FILE, LONGEST_KEY_FILE)?
            .ok_or_else(|| {
                directory.fault(
                    &IDENTITY_FILE,
                    "is missing; without it the journal cannot be read",
                )
            })?;
        let mut key =
            age::scrypt::Identity::new(SecretString::from(passphrase.expose().to_owned()));
        key.set_max_work_factor(WorkFactor::MOST);
        let text = decrypt(&key, &file).map_err(|error| {
            if matches!(
                error,
                age::DecryptError::DecryptionFailed | age::DecryptError::KeyDecryptionFailed
            ) {
                directory.fault(&IDENTITY_FILE, "does not open with this passphrase")
            } else {
                directory
                    .fault(&IDENTITY_FILE, "cannot be opened")
                    .because(error)
            }
        })?;
        std::str::from_utf8(&text)
            .ok()
            .and_then(|text| text.lines().find(|line| !line.starts_with('#')))
            .and_then(|line| Self::parse(line).ok())
            .ok_or_else(|| directory.fault(&IDENTITY_FILE, "holds no age identity"))
    }

    /// Reads an identity as `age-keygen` spells it.
    ///
    /// # Errors
    /// Where the text is none.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        text.parse().map(Self)
    }

    /// The public key that belongs to it.
    #[must_use]
    pub fn recipient(&self) -> Recipient {
        Recipient(self.0.to_public())
    }

    /// Opens one payload.
    pub(super) fn decrypt(&self, payload: &[u8]) -> Result<Zeroizing<Vec<u8>>, Unopened> {
        decrypt(&self.0, payload).map_err(|error| {
            if matches!(error, age::DecryptError::NoMatchingKeys) {
                Unopened::AnotherKey
            } else {
                Unopened::Damaged
            }
        })
    }
}

fn decrypt(
    identity: &dyn age::Identity,
    file: &[u8],
) -> Result<Zeroizing<Vec<u8>>, age::DecryptError> {
    let mut reader = age::Decryptor::new_buffered(file)?.decrypt(iter::once(identity))?;
    // Room for all of it at once: growing would leave copies behind.
    let mut plaintext = Zeroizing::new(Vec::with_capacity(file.len()));
    reader.read_to_end(&mut plaintext)?;
    Ok(plaintext)
}

#[cfg(test)]
mod tests {
    use super::*;
    use static_assertions::assert_not_impl_any;
    use std::os::unix::fs::PermissionsExt as _;

    assert_not_impl_any!(Identity: Clone, Copy, std::fmt::Debug, serde::Serialize);

    fn quick() -> WorkFactor {
        WorkFactor::new(2).unwrap()
    }

    fn directory() -> (tempfile::TempDir, Directory) {
        let scratch = tempfile::tempdir().unwrap();
        let directory = Directory::create(&scratch.path().join("keys")).unwrap();
        (scratch, directory)
    }

    #[test]
    fn the_passphrase_opens_what_was_generated_and_another_does_not() {
        let (scratch, directory) = directory();
        let made = generate(
            &directory,
            &Secret::new("correct horse".to_owned()),
            quick(),
        )
        .unwrap();
        let recipient = Recipient::read(&directory).unwrap();
        assert_eq!(made.to_string(), recipient.to_string());

        let identity =
            Identity::open(&directory, &Secret::new("correct horse".to_owned())).unwrap();
        let sealed = recipient.encrypt(b"hello").unwrap();
        assert_eq!(identity.decrypt(&sealed).unwrap().as_slice(), b"hello");
        let other = Identity(x25519::Identity::generate());
        assert_eq!(other.decrypt(&sealed).unwrap_err(), Unopened::AnotherKey);

        let wrong = Identity::open(&directory, &Secret::new("wrong horse".to_owned()))
            .err()
            .unwrap();
        assert!(
            wrong
                .to_string()
                .contains("does not open with this passphrase"),
            "{wrong}"
        );
        for name in [IDENTITY_FILE, RECIPIENT_FILE] {
            let mode = std::fs::metadata(scratch.path().join("keys").join(name.as_str()))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o7777, 0o600);
        }
    }

    #[test]
    fn keys_are_never_replaced_and_a_blank_passphrase_is_refused() {
        let (_scratch, directory) = directory();
        assert!(generate(&directory, &Secret::new("  ".to_owned()), quick()).is_err());
        let first = generate(&directory, &Secret::new("a".to_owned()), quick()).unwrap();
        assert!(generate(&directory, &Secret::new("b".to_owned()), quick()).is_err());
        assert_eq!(
            Recipient::read(&directory).unwrap().to_string(),
            first.to_string()
        );
    }

    #[test]
    fn the_identity_file_holds_no_key_in_clear() {
        let (scratch, directory) = directory();
        generate(
            &directory,
            &Secret::new("correct horse".to_owned()),
            quick(),
        )
        .unwrap();
        let file = std::fs::read(scratch.path().join("keys").join(IDENTITY_FILE.as_str())).unwrap();
        assert!(file.starts_with(b"age-encryption.org/v1\n-> scrypt "));
        let text = String::from_utf8_lossy(&file);
        assert!(!text.contains("AGE-SECRET-KEY") && !text.contains("correct horse"));
    }

    #[test]
    fn a_recipient_file_that_is_none_is_refused() {
        let (_scratch, directory) = directory();
        assert!(Recipient::read(&directory).is_err());
        directory
            .write_new(&RECIPIENT_FILE, b"age1nonsense\n")
            .unwrap();
        assert!(
            Recipient::read(&directory)
                .err()
                .unwrap()
                .to_string()
                .contains("no age recipient")
        );
    }
}
