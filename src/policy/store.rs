//! Reads the profile from disk and writes it: only from a place that nobody else can change, and never half.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::problem::Problems;
use super::profile::Profile;

/// A profile is at most this long, in bytes.
const LONGEST: u64 = 262_144;

/// Why a profile could not be read or written. The path is for the operator; no client sees it.
#[derive(Debug)]
pub struct StoreError {
    path: PathBuf,
    why: Why,
}

/// What stands in the way.
#[derive(Debug)]
pub enum Why {
    /// Nothing is there.
    Missing,
    /// The last part of the path is a symbolic link.
    Symlink,
    /// It is not a regular file, or not a directory, where it should be.
    WrongKind,
    /// It belongs to another user.
    Owner(u32),
    /// Others can write to it.
    Writable(u32),
    /// It is longer than 262,144 bytes.
    TooLong,
    /// It is not UTF-8.
    NotText,
    /// Something is there already.
    Exists,
    /// The profile is malformed.
    Malformed(Problems),
    /// The system refused.
    System(io::Error),
}

impl StoreError {
    fn new(path: &Path, why: Why) -> Self {
        Self {
            path: path.to_owned(),
            why,
        }
    }

    /// What stands in the way.
    #[must_use]
    pub const fn why(&self) -> &Why {
        &self.why
    }

    /// The file or directory it is about.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.why {
            Why::Missing => write!(f, "{path} is not there; run countersign setup"),
            Why::Symlink => write!(f, "{path} is a symbolic link; put the file itself there"),
            Why::WrongKind => write!(
                f,
                "{path} is not a plain file in a plain directory; move it away"
            ),
            Why::Owner(owner) => write!(
                f,
                "{path} belongs to user {owner}; run: sudo chown \"$USER\" '{path}'"
            ),
            Why::Writable(mode) => {
                write!(
                    f,
                    "{path} can be changed by others (mode {mode:04o}); run: chmod go-w '{path}'"
                )
            }
            Why::TooLong => write!(f, "{path} is longer than 262,144 bytes; list fewer sites"),
            Why::NotText => write!(f, "{path} is not UTF-8; save it as UTF-8"),
            Why::Exists => write!(f, "{path} exists already; it was left as it is"),
            Why::Malformed(problems) => write!(f, "{path} is malformed:\n{problems}"),
            Why::System(error) => write!(f, "{path}: {error}"),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.why {
            Why::Malformed(problems) => Some(problems),
            Why::System(error) => Some(error),
            Why::Missing
            | Why::Symlink
            | Why::WrongKind
            | Why::Owner(_)
            | Why::Writable(_)
            | Why::TooLong
            | Why::NotText
            | Why::Exists => None,
        }
    }
}

/// What to do where a file exists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Leave it and refuse.
    Keep,
    /// Put the new one in its place.
    Replace,
}

/// Reads and checks the profile.
///
/// # Errors
/// Where the file or a directory above it is not ours alone, or the profile is malformed: nothing then means "all".
pub fn load(path: &Path) -> Result<Profile, StoreError> {
    let text = read(path)?;
    Profile::parse(&text).map_err(|problems| StoreError::new(path, Why::Malformed(problems)))
}

/// Reads a file's text after checking that nobody else could have written it.
///
/// # Errors
/// See [`Why`].
pub fn read(path: &Path) -> Result<String, StoreError> {
    let (directory, name) = checked_parent(path)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::openat(&directory, name, flags, Mode::empty())
        .map_err(|errno| StoreError::new(path, refused(errno)))?;
    check(path, &file, FileType::RegularFile, Trust::Ours)?;
    let mut bytes = Vec::new();
    File::from(file)
        .take(LONGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| StoreError::new(path, Why::System(error)))?;
    if bytes.len() as u64 > LONGEST {
        return Err(StoreError::new(path, Why::TooLong));
    }
    String::from_utf8(bytes).map_err(|_| StoreError::new(path, Why::NotText))
}

/// Writes a file whole or not at all: a new file beside it, made durable, then renamed. Mode 0600.
///
/// # Errors
/// See [`Why`]; where it fails, the old file is as it was.
pub fn write(path: &Path, text: &str, existing: Existing) -> Result<(), StoreError> {
    let (directory, name) = checked_parent(path)?;
    let system = |errno: Errno| StoreError::new(path, refused(errno));
    let mut nonce = [0_u8; 8];
    getrandom::fill(&mut nonce)
        .map_err(|error| StoreError::new(path, Why::System(io::Error::other(error.to_string()))))?;
    let temporary = format!(".new-{:016x}", u64::from_be_bytes(nonce));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&directory, &temporary, flags, Mode::RUSR | Mode::WUSR)
        .map_err(system)?;
    let written = (|| {
        let mut file = File::from(file);
        file.write_all(text.as_bytes())
            .and_then(|()| file.sync_all())
            .map_err(|error| StoreError::new(path, Why::System(error)))?;
        let rename = match existing {
            Existing::Keep => RenameFlags::NOREPLACE,
            Existing::Replace => RenameFlags::empty(),
        };
        rustix::fs::renameat_with(&directory, &temporary, &directory, name, rename)
            .map_err(system)?;
        rustix::fs::fsync(&directory).map_err(system)
    })();
    if written.is_err() {
        // After a rename there is nothing under this name any more, and the error stays the one to tell.
        let _ = rustix::fs::unlinkat(&directory, &temporary, AtFlags::empty());
    }
    written
}

/// Makes a directory of ours, mode 0700, with what is missing above it, and checks the whole way.
///
/// # Errors
/// Where a part of the way is not ours or root's, or others can change it.
pub fn make_directory(path: &Path) -> Result<(), StoreError> {
    let mut missing = Vec::new();
    let mut there = path;
    while !there.exists() {
        missing.push(there);
        there = there
            .parent()
            .ok_or_else(|| StoreError::new(path, Why::Missing))?;
    }
    walk(there)?;
    for directory in missing.into_iter().rev() {
        match rustix::fs::mkdirat(CWD, directory, Mode::RWXU) {
            // Somebody else of ours was quicker; the walk below checks what is there.
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(StoreError::new(directory, refused(errno))),
        }
    }
    let directory = walk(path)?;
    check(path, &directory, FileType::Directory, Trust::Ours)
}

fn checked_parent(path: &Path) -> Result<(OwnedFd, &std::ffi::OsStr), StoreError> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(StoreError::new(path, Why::WrongKind));
    };
    let directory = walk(parent)?;
    check(parent, &directory, FileType::Directory, Trust::Ours)?;
    Ok((directory, name))
}

/// Whose a thing may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// Ours alone; nobody else may write.
    Ours,
    /// Ours or root's; others may write only where they cannot rename what is not theirs (a sticky directory of root's).
    OnTheWay,
}

/// Opens a directory step by step from the root, each step checked on the handle that the next one starts from. Links on the way
/// (`/home` may be one) are resolved first; what they resolve to is what gets checked.
fn walk(path: &Path) -> Result<OwnedFd, StoreError> {
    let real = std::fs::canonicalize(path).map_err(|error| {
        let why = if error.kind() == io::ErrorKind::NotFound {
            Why::Missing
        } else {
            Why::System(error)
        };
        StoreError::new(path, why)
    })?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = PathBuf::from("/");
    let mut directory = rustix::fs::openat(CWD, "/", flags, Mode::empty())
        .map_err(|errno| StoreError::new(&at, refused(errno)))?;
    check(&at, &directory, FileType::Directory, Trust::OnTheWay)?;
    for part in real.components() {
        let Component::Normal(name) = part else {
            continue;
        };
        at.push(name);
        directory = rustix::fs::openat(&directory, name, flags, Mode::empty())
            .map_err(|errno| StoreError::new(&at, refused(errno)))?;
        check(&at, &directory, FileType::Directory, Trust::OnTheWay)?;
    }
    Ok(directory)
}

fn check(path: &Path, handle: &OwnedFd, kind: FileType, trust: Trust) -> Result<(), StoreError> {
    let stat = rustix::fs::fstat(handle).map_err(|errno| StoreError::new(path, refused(errno)))?;
    if FileType::from_raw_mode(stat.st_mode) != kind {
        return Err(StoreError::new(path, Why::WrongKind));
    }
    let ours = stat.st_uid == rustix::process::geteuid().as_raw();
    let root = stat.st_uid == 0;
    let others_write = stat.st_mode & 0o022 != 0;
    let sticky = stat.st_mode & 0o1000 != 0;
    let (owned, tolerated) = match trust {
        Trust::Ours => (ours, false),
        Trust::OnTheWay => (ours || root, sticky && root),
    };
    if !owned {
        return Err(StoreError::new(path, Why::Owner(stat.st_uid)));
    }
    if others_write && !tolerated {
        return Err(StoreError::new(path, Why::Writable(stat.st_mode & 0o7777)));
    }
    Ok(())
}

fn refused(errno: Errno) -> Why {
    match errno {
        Errno::NOENT => Why::Missing,
        Errno::LOOP | Errno::MLINK => Why::Symlink,
        Errno::NOTDIR | Errno::ISDIR => Why::WrongKind,
        Errno::EXIST => Why::Exists,
        other => Why::System(other.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    const GOOD: &str = "version = 1\n[[site]]\norigin = \"https://a.test\"\n";

    struct Room {
        _scratch: tempfile::TempDir,
        directory: PathBuf,
        file: PathBuf,
    }

    fn room() -> Room {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("config/countersign");
        make_directory(&directory).unwrap();
        let file = directory.join("profile.toml");
        Room {
            _scratch: scratch,
            directory,
            file,
        }
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_was_written_is_read_and_nobody_else_can() {
        let room = room();
        write(&room.file, GOOD, Existing::Keep).unwrap();
        assert_eq!(read(&room.file).unwrap(), GOOD);
        assert_eq!(load(&room.file).unwrap().sites().len(), 1);
        assert_eq!(mode(&room.file), 0o600);
        assert_eq!(mode(&room.directory), 0o700);
        assert_eq!(mode(room.directory.parent().unwrap()), 0o700);
        assert_eq!(fs::read_dir(&room.directory).unwrap().count(), 1);
    }

    #[test]
    fn an_existing_file_is_kept_unless_replaced() {
        let room = room();
        write(&room.file, GOOD, Existing::Keep).unwrap();
        let error = write(&room.file, "other", Existing::Keep).unwrap_err();
        assert!(matches!(error.why(), Why::Exists), "{error}");
        assert_eq!(read(&room.file).unwrap(), GOOD);
        write(&room.file, "other", Existing::Replace).unwrap();
        assert_eq!(read(&room.file).unwrap(), "other");
        assert_eq!(fs::read_dir(&room.directory).unwrap().count(), 1);
    }

    #[test]
    fn what_others_can_change_is_refused() {
        let room = room();
        write(&room.file, GOOD, Existing::Keep).unwrap();
        for bad in [0o620, 0o602, 0o666] {
            set(&room.file, bad);
            assert!(matches!(read(&room.file).unwrap_err().why(), Why::Writable(m) if *m == bad));
        }
        set(&room.file, 0o644);
        read(&room.file).unwrap();
        for directory in [room.directory.as_path(), room.directory.parent().unwrap()] {
            for bad in [0o770, 0o707] {
                set(directory, bad);
                let error = read(&room.file).unwrap_err();
                assert!(matches!(error.why(), Why::Writable(_)), "{error}");
                assert_eq!(error.path(), fs::canonicalize(directory).unwrap());
                assert!(write(&room.file, GOOD, Existing::Replace).is_err());
            }
            set(directory, 0o700);
        }
        read(&room.file).unwrap();
    }

    #[test]
    fn a_sticky_directory_that_is_not_roots_is_refused() {
        let room = room();
        write(&room.file, GOOD, Existing::Keep).unwrap();
        set(&room.directory, 0o1777);
        assert!(matches!(
            read(&room.file).unwrap_err().why(),
            Why::Writable(0o1777)
        ));
    }

    #[test]
    fn links_and_other_kinds_are_refused() {
        let room = room();
        let real = room.directory.join("real.toml");
        write(&real, GOOD, Existing::Keep).unwrap();
        symlink(&real, &room.file).unwrap();
        assert!(matches!(read(&room.file).unwrap_err().why(), Why::Symlink));
        fs::remove_file(&room.file).unwrap();
        assert!(matches!(read(&room.file).unwrap_err().why(), Why::Missing));
        fs::create_dir(&room.file).unwrap();
        assert!(matches!(
            read(&room.file).unwrap_err().why(),
            Why::WrongKind
        ));
        fs::remove_dir(&room.file).unwrap();
        rustix::fs::mknodat(CWD, &room.file, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        // A pipe without a writer would hang an open that blocks.
        assert!(matches!(
            read(&room.file).unwrap_err().why(),
            Why::WrongKind
        ));
    }

    #[test]
    fn a_link_on_the_way_leads_to_the_checked_place() {
        let room = room();
        write(&room.file, GOOD, Existing::Keep).unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let link = scratch.path().join("link");
        symlink(&room.directory, &link).unwrap();
        read(&link.join("profile.toml")).unwrap();
        set(&room.directory, 0o777);
        assert!(matches!(
            read(&link.join("profile.toml")).unwrap_err().why(),
            Why::Writable(_)
        ));
    }

    #[test]
    fn what_belongs_to_another_user_is_refused() {
        // Root's own files are another user's for an ordinary user; root itself can give a file away.
        if rustix::process::geteuid().is_root() {
            let room = room();
            write(&room.file, GOOD, Existing::Keep).unwrap();
            std::os::unix::fs::chown(&room.file, Some(65_534), None).unwrap();
            assert!(matches!(
                read(&room.file).unwrap_err().why(),
                Why::Owner(65_534)
            ));
            std::os::unix::fs::chown(&room.file, Some(0), None).unwrap();
            std::os::unix::fs::chown(&room.directory, Some(65_534), None).unwrap();
            assert!(matches!(
                read(&room.file).unwrap_err().why(),
                Why::Owner(65_534)
            ));
        } else {
            assert!(matches!(
                read(Path::new("/etc/passwd")).unwrap_err().why(),
                Why::Owner(0)
            ));
        }
    }

    #[test]
    fn unreadable_text_is_refused() {
        let room = room();
        fs::write(&room.file, [0xff, 0xfe]).unwrap();
        set(&room.file, 0o600);
        assert!(matches!(read(&room.file).unwrap_err().why(), Why::NotText));
        fs::write(&room.file, "#".repeat(262_145)).unwrap();
        assert!(matches!(read(&room.file).unwrap_err().why(), Why::TooLong));
        fs::write(&room.file, "").unwrap();
        assert!(matches!(
            load(&room.file).unwrap_err().why(),
            Why::Malformed(_)
        ));
    }
}
