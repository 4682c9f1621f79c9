//! A directory by handle: every file of the journal is reached through it, by a plain name and without following a link.
//!
//! A path is used once, to open the handle. After that nothing is named by an absolute path, so nobody who can rename
//! a parent directory can move the journal under a running server (security J4).

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::error::{Code, Fault};

const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
const LOCK: FileName = FileName::constant("writer.lock");

/// The name of one file in a [`Directory`]: lower-case letters, digits, `.`, `-` and `_`, beginning with a letter or
/// digit. It cannot name a parent, a hidden file or anything outside.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FileName(Cow<'static, str>);

impl FileName {
    /// A name of ours.
    #[must_use]
    pub const fn constant(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// Reads a name.
    ///
    /// # Errors
    /// Where it holds any other character, begins otherwise, or has more than 128 characters.
    pub fn parse(name: &str) -> Result<Self, &'static str> {
        let first = name
            .bytes()
            .next()
            .is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        let rest = name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b".-_".contains(&b));
        if first && rest && name.len() <= 128 {
            Ok(Self(Cow::Owned(name.to_owned())))
        } else {
            Err("expected a plain file name")
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<FileName> for String {
    fn from(name: FileName) -> Self {
        name.0.into_owned()
    }
}

impl TryFrom<String> for FileName {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        Self::parse(&name)
    }
}

/// An open directory that is ours alone: owner us, mode 0700.
#[derive(Debug)]
pub struct Directory {
    handle: OwnedFd,
    /// For messages to the operator only.
    shown: PathBuf,
}

/// The right to write, held by one process at a time and let go when dropped.
#[derive(Debug)]
#[must_use]
pub struct WriterLock(OwnedFd);

impl Drop for WriterLock {
    fn drop(&mut self) {
        // Said outright: closing alone would leave the lock with a child that was forked and has not yet started its program.
        // Where this fails, closing does it.
        let _ = rustix::fs::flock(&self.0, FlockOperation::Unlock);
    }
}

impl Directory {
    /// Opens a directory. Its last component may not be a link.
    ///
    /// # Errors
    /// Where it is missing, a link, somebody else's, or open to others.
    pub fn open(path: &Path) -> Result<Self, Fault> {
        Self::take(
            rustix::fs::open(path, directory_flags(), Mode::empty()),
            path.to_owned(),
        )
    }

    /// Opens a directory, making it (but no parent of it) where it is missing.
    ///
    /// # Errors
    /// As [`Directory::open`], or where it cannot be made.
    pub fn create(path: &Path) -> Result<Self, Fault> {
        match rustix::fs::mkdir(path, Mode::from_raw_mode(DIRECTORY_MODE)) {
            Ok(()) | Err(Errno::EXIST) => Self::open(path),
            Err(error) => Err(fault(path, "cannot be made").because(error)),
        }
    }

    /// Opens a directory inside this one, making it where it is missing.
    ///
    /// # Errors
    /// As [`Directory::create`].
    pub fn subdirectory(&self, name: &FileName) -> Result<Self, Fault> {
        let shown = self.shown.join(name.as_str());
        match rustix::fs::mkdirat(
            &self.handle,
            name.as_str(),
            Mode::from_raw_mode(DIRECTORY_MODE),
        ) {
            Ok(()) => self.sync()?,
            Err(Errno::EXIST) => {}
            Err(error) => return Err(fault(&shown, "cannot be made").because(error)),
        }
        self.existing_subdirectory(name)
    }

    /// Opens a directory inside this one that must be there.
    ///
    /// # Errors
    /// As [`Directory::open`].
    pub fn existing_subdirectory(&self, name: &FileName) -> Result<Self, Fault> {
        Self::take(
            rustix::fs::openat(
                &self.handle,
                name.as_str(),
                directory_flags(),
                Mode::empty(),
            ),
            self.shown.join(name.as_str()),
        )
    }

    fn take(opened: rustix::io::Result<OwnedFd>, shown: PathBuf) -> Result<Self, Fault> {
        let handle = opened.map_err(|error| match error {
            Errno::LOOP | Errno::NOTDIR => fault(
                &shown,
                "is a link or no directory; put a real directory there",
            ),
            error => fault(&shown, "cannot be opened").because(error),
        })?;
        let stat = rustix::fs::fstat(&handle)
            .map_err(|e| fault(&shown, "cannot be examined").because(e))?;
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            return Err(fault(&shown, "belongs to another user"));
        }
        if stat.st_mode & 0o7777 != DIRECTORY_MODE {
            return Err(fault(&shown, "is open to others; run chmod 700 on it"));
        }
        Ok(Self { handle, shown })
    }

    /// Whether files can be made here now.
    ///
    /// # Errors
    /// Where they cannot, with the way out.
    pub fn writable(&self) -> Result<(), Fault> {
        use rustix::fs::{Access, AtFlags, accessat};
        accessat(
            &self.handle,
            ".",
            Access::WRITE_OK | Access::EXEC_OK,
            AtFlags::EACCESS,
        )
        .map_err(|error| fault(&self.shown, "cannot be written").because(error))
    }

    /// Takes the one right to write here.
    ///
    /// # Errors
    /// Where another process holds it.
    pub fn lock(&self) -> Result<WriterLock, Fault> {
        let file = self.open_or_create(&LOCK)?;
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|error| {
            match error {
                Errno::WOULDBLOCK => fault(
                    &self.shown,
                    "is being written by another countersign; only one may serve at a time",
                ),
                error => fault(&self.shown, "cannot be locked").because(error),
            }
        })?;
        Ok(WriterLock(file.into()))
    }

    /// Opens a file for reading and appending, making it where it is missing; a new file's name is durable on return.
    pub(super) fn open_or_create(&self, name: &FileName) -> Result<File, Fault> {
        let flags = OFlags::RDWR | OFlags::APPEND;
        match self.open_file(name, flags) {
            Ok(file) => Ok(file),
            Err(NotOpened::Missing) => {
                let file = self
                    .open_file(name, flags | OFlags::CREATE | OFlags::EXCL)
                    .map_err(|e| self.explain(name, e))?;
                self.sync()?;
                Ok(file)
            }
            Err(other) => Err(self.explain(name, other)),
        }
    }

    /// Opens a file for reading; `None` where there is none.
    pub(super) fn open_existing(&self, name: &FileName) -> Result<Option<File>, Fault> {
        match self.open_file(name, OFlags::RDONLY) {
            Ok(file) => Ok(Some(file)),
            Err(NotOpened::Missing) => Ok(None),
            Err(other) => Err(self.explain(name, other)),
        }
    }

    /// Reads a whole file of at most `most` bytes; `None` where there is none.
    pub(super) fn read(&self, name: &FileName, most: u64) -> Result<Option<Vec<u8>>, Fault> {
        let Some(file) = self.open_existing(name)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        file.take(most.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|e| fault(&self.shown.join(name.as_str()), "cannot be read").because(e))?;
        if bytes.len() as u64 > most {
            return Err(fault(
                &self.shown.join(name.as_str()),
                "is longer than such a file can be",
            ));
        }
        Ok(Some(bytes))
    }

    /// Makes a new file with this content. On return content and name are durable; a file of that name is never replaced.
    pub(super) fn write_new(&self, name: &FileName, bytes: &[u8]) -> Result<(), Fault> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        self.write_durably(name, flags, bytes)
    }

    /// Makes or overwrites a file. Only for copies whose original is still in place.
    pub(super) fn write_over(&self, name: &FileName, bytes: &[u8]) -> Result<(), Fault> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        self.write_durably(name, flags, bytes)
    }

    fn write_durably(&self, name: &FileName, flags: OFlags, bytes: &[u8]) -> Result<(), Fault> {
        let mut file = self
            .open_file(name, flags)
            .map_err(|e| self.explain(name, e))?;
        file.write_all(bytes)
            .and_then(|()| file.sync_all())
            .map_err(|e| fault(&self.shown.join(name.as_str()), "cannot be written").because(e))?;
        self.sync()
    }

    /// Gives a file another name, durably.
    pub(super) fn rename(&self, from: &FileName, to: &FileName) -> Result<(), Fault> {
        rustix::fs::renameat(&self.handle, from.as_str(), &self.handle, to.as_str())
            .map_err(|e| fault(&self.shown.join(from.as_str()), "cannot be renamed").because(e))?;
        self.sync()
    }

    /// The names here that are [`FileName`]s, sorted.
    pub(super) fn names(&self) -> Result<Vec<FileName>, Fault> {
        let failed = |e| fault(&self.shown, "cannot be listed").because(e);
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.handle).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if let Some(name) = entry
                .file_name()
                .to_str()
                .ok()
                .and_then(|n| FileName::parse(n).ok())
            {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// What a name refers to now, without following a link.
    pub(super) fn stat(&self, name: &FileName) -> Result<Stat, Fault> {
        rustix::fs::statat(&self.handle, name.as_str(), AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|e| fault(&self.shown.join(name.as_str()), "cannot be examined").because(e))
    }

    /// Makes the names in this directory durable.
    fn sync(&self) -> Result<(), Fault> {
        rustix::fs::fsync(&self.handle)
            .map_err(|e| fault(&self.shown, "cannot be made durable").because(e))
    }

    fn open_file(&self, name: &FileName, flags: OFlags) -> Result<File, NotOpened> {
        // NONBLOCK: a fifo put in our place must not hold us; for a regular file it means nothing.
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let handle = rustix::fs::openat(
            &self.handle,
            name.as_str(),
            flags,
            Mode::from_raw_mode(FILE_MODE),
        )
        .map_err(|error| match error {
            Errno::NOENT => NotOpened::Missing,
            Errno::LOOP => NotOpened::Unsafe("is a link; put the real file there"),
            error => NotOpened::System(error),
        })?;
        let stat = rustix::fs::fstat(&handle).map_err(NotOpened::System)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(NotOpened::Unsafe("is no regular file"));
        }
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            return Err(NotOpened::Unsafe("belongs to another user"));
        }
        if stat.st_mode & 0o7777 != FILE_MODE {
            return Err(NotOpened::Unsafe("is open to others; run chmod 600 on it"));
        }
        if stat.st_nlink != 1 {
            return Err(NotOpened::Unsafe("has a second name; remove the hard link"));
        }
        Ok(File::from(handle))
    }

    fn explain(&self, name: &FileName, why: NotOpened) -> Fault {
        let shown = self.shown.join(name.as_str());
        match why {
            NotOpened::Missing => fault(&shown, "is missing"),
            NotOpened::Unsafe(what) => fault(&shown, what),
            NotOpened::System(error) => fault(&shown, "cannot be opened").because(error),
        }
    }

    pub(super) fn fault(&self, name: &FileName, what: &str) -> Fault {
        fault(&self.shown.join(name.as_str()), what)
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

enum NotOpened {
    Missing,
    Unsafe(&'static str),
    System(Errno),
}

fn directory_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

fn fault(path: &Path, what: &str) -> Fault {
    Fault::new(
        Code::JournalNotWritable,
        format!("{} {what}", path.display()),
    )
}
