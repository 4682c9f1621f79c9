//! Tells whether a directory is this user's alone: its owner, its mode, no link, and nobody above it who could swap it.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// A directory that was found to be ours alone, held open so that what is read in it is read in it.
#[derive(Debug)]
pub struct PrivateDirectory {
    handle: File,
    canonical: PathBuf,
}

impl PrivateDirectory {
    /// Opens a directory and looks at the handle, not at the name.
    ///
    /// # Errors
    /// Says what makes the directory unfit.
    pub fn open(path: &Path) -> Result<Self, DirectoryFault> {
        let handle = open_directory(path)?;
        let found = handle.metadata().map_err(unreadable)?;
        if found.uid() != rustix::process::geteuid().as_raw() {
            return Err(DirectoryFault::NotOurs);
        }
        if found.mode() & 0o777 != 0o700 {
            return Err(DirectoryFault::Mode(found.mode() & 0o777));
        }
        let canonical = fs::canonicalize(path).map_err(unreadable)?;
        let named = fs::symlink_metadata(&canonical).map_err(unreadable)?;
        if (named.dev(), named.ino()) != (found.dev(), found.ino()) {
            return Err(DirectoryFault::Link);
        }
        for above in canonical.ancestors().skip(1) {
            if !is_safe_above(&fs::symlink_metadata(above).map_err(unreadable)?) {
                return Err(DirectoryFault::OpenAbove(above.to_owned()));
            }
        }
        Ok(Self { handle, canonical })
    }

    /// The directory's path without links.
    #[must_use]
    pub fn canonical(&self) -> &Path {
        &self.canonical
    }

    /// True where a path leads to this very directory.
    #[must_use]
    pub fn is(&self, other: &Path) -> bool {
        let (Ok(ours), Ok(theirs)) = (self.handle.metadata(), fs::metadata(other)) else {
            return false;
        };
        (ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino())
    }

    /// Opens a file directly in the directory, for reading, following no link and waiting for nobody.
    pub(super) fn open_file(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.handle, name, flags, Mode::empty())?.into())
    }
}

impl AsFd for PrivateDirectory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

fn open_directory(path: &Path) -> Result<File, DirectoryFault> {
    // `a/b/` and `a/b/.` would follow a link at b; the components as Path counts them do not end so.
    let path: PathBuf = path.components().collect();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::open(&path, flags, Mode::empty()) {
        Ok(handle) => Ok(handle.into()),
        Err(rustix::io::Errno::NOENT) => Err(DirectoryFault::Missing),
        Err(error @ (rustix::io::Errno::NOTDIR | rustix::io::Errno::LOOP)) => {
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_symlink() => Err(DirectoryFault::Link),
                Ok(_) => Err(DirectoryFault::NotADirectory),
                Err(_) => Err(unreadable(error.into())),
            }
        }
        Err(rustix::io::Errno::ACCESS)
            if fs::symlink_metadata(&path)
                .is_ok_and(|found| found.uid() != rustix::process::geteuid().as_raw()) =>
        {
            Err(DirectoryFault::NotOurs)
        }
        Err(error) => Err(unreadable(error.into())),
    }
}

/// Nobody but root and this user may be able to rename what lies below: by owning the directory, or by a right to write
/// it. A sticky directory (/tmp) keeps others from renaming what is not theirs. The user's own group may write (the
/// umask 002 of some systems), as that group is the user alone there.
fn is_safe_above(found: &fs::Metadata) -> bool {
    let ours = rustix::process::geteuid().as_raw();
    let our_group = rustix::process::getegid().as_raw();
    let owned = found.uid() == 0 || found.uid() == ours;
    let sticky = found.mode() & 0o1000 != 0;
    let others = found.mode() & 0o002 != 0;
    let strangers = found.mode() & 0o020 != 0 && found.gid() != our_group && found.gid() != 0;
    owned && (sticky || !(others || strangers))
}

fn unreadable(error: io::Error) -> DirectoryFault {
    if error.kind() == io::ErrorKind::NotFound {
        DirectoryFault::Missing
    } else {
        DirectoryFault::Unreadable(error.kind())
    }
}

/// What makes a directory unfit to hold anything private.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DirectoryFault {
    /// There is none.
    Missing,
    /// The name is a symbolic link.
    Link,
    /// The name is something else.
    NotADirectory,
    /// Another user owns it.
    NotOurs,
    /// Its permission bits are these, not 0700.
    Mode(u32),
    /// This directory above it belongs to, or can be written by, somebody else.
    OpenAbove(PathBuf),
    /// It cannot be looked at.
    Unreadable(io::ErrorKind),
}

impl DirectoryFault {
    /// What the operator can type or do about it.
    #[must_use]
    pub fn way_out(&self, path: &Path) -> String {
        let path = shell_word(path.as_os_str());
        match self {
            Self::Missing => "countersign setup".to_owned(),
            Self::Link => format!("name the directory itself, not the link {path}"),
            Self::NotADirectory => format!("move {path} away, then: countersign setup"),
            Self::NotOurs => format!("sudo chown -R \"$(id -un)\" {path}"),
            Self::Mode(_) => format!("chmod 0700 {path}"),
            Self::OpenAbove(above) => format!("chmod go-w {}", shell_word(above.as_os_str())),
            Self::Unreadable(_) => format!("ls -ld {path}"),
        }
    }
}

impl fmt::Display for DirectoryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("it does not exist"),
            Self::Link => f.write_str("it is a symbolic link"),
            Self::NotADirectory => f.write_str("it is not a directory"),
            Self::NotOurs => f.write_str("it belongs to another user"),
            Self::Mode(mode) => write!(f, "its mode is {mode:04o}, it must be 0700"),
            Self::OpenAbove(above) => write!(
                f,
                "other users can change {}, which is above it",
                shell_word(above.as_os_str())
            ),
            Self::Unreadable(kind) => write!(f, "it cannot be read: {kind}"),
        }
    }
}

impl std::error::Error for DirectoryFault {}

/// A word as a shell would need it typed; what cannot be shown as it is comes escaped, so a path cannot draw on a
/// terminal.
#[must_use]
pub fn shell_word(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,~".contains(c);
    if !text.is_empty() && !text.starts_with('~') && text.chars().all(plain) {
        return text.into_owned();
    }
    if text.chars().any(char::is_control) {
        return format!("$'{}'", text.escape_default());
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn chmod(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_private_directory_opens_and_every_other_is_named() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("profile");
        fs::create_dir(&dir).unwrap();
        chmod(&dir, 0o700);
        let open = PrivateDirectory::open(&dir).unwrap();
        assert!(open.is(&dir));
        assert!(!open.is(scratch.path()));

        for mode in [0o755, 0o750, 0o701, 0o710, 0o500, 0o777] {
            chmod(&dir, mode);
            assert_eq!(
                PrivateDirectory::open(&dir).unwrap_err(),
                DirectoryFault::Mode(mode)
            );
        }
        chmod(&dir, 0o700);

        let link = scratch.path().join("link");
        symlink(&dir, &link).unwrap();
        for name in [link.clone(), link.join(""), link.join(".")] {
            assert_eq!(
                PrivateDirectory::open(&name).unwrap_err(),
                DirectoryFault::Link,
                "{name:?}"
            );
        }
        let file = scratch.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(
            PrivateDirectory::open(&file).unwrap_err(),
            DirectoryFault::NotADirectory
        );
        assert_eq!(
            PrivateDirectory::open(&scratch.path().join("none")).unwrap_err(),
            DirectoryFault::Missing
        );
    }

    #[test]
    fn a_directory_above_that_others_can_write_is_refused_unless_sticky() {
        let scratch = tempfile::tempdir().unwrap();
        let above = scratch.path().join("above");
        let dir = above.join("profile");
        fs::create_dir_all(&dir).unwrap();
        chmod(&dir, 0o700);
        chmod(&above, 0o777);
        assert!(matches!(
            PrivateDirectory::open(&dir).unwrap_err(),
            DirectoryFault::OpenAbove(_)
        ));
        chmod(&above, 0o1777);
        PrivateDirectory::open(&dir).unwrap();
    }

    #[test]
    fn another_users_directory_is_refused() {
        // "/" is never this test's alone: it is root's with mode 0755, or another user's.
        let fault = PrivateDirectory::open(Path::new("/")).unwrap_err();
        if rustix::process::geteuid().is_root() {
            assert!(matches!(fault, DirectoryFault::Mode(_)));
        } else {
            assert_eq!(fault, DirectoryFault::NotOurs);
        }
    }

    #[test]
    fn a_path_is_shown_as_a_shell_takes_it() {
        assert_eq!(shell_word(OsStr::new("/a/b-c")), "/a/b-c");
        assert_eq!(shell_word(OsStr::new("/a b")), "'/a b'");
        assert_eq!(shell_word(OsStr::new("it's")), r"'it'\''s'");
        assert!(!shell_word(OsStr::new("a\u{1b}[2J")).contains('\u{1b}'));
    }
}
