//! Which program may show a question: a file that nobody but the person and root could have put there or changed.

use std::fmt;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Why a way of asking cannot be used. The text is for the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// No such file.
    Missing,
    /// Not a regular file.
    NotAFile,
    /// The file, or a directory above it, belongs to somebody else.
    Owner,
    /// The file, or a directory above it, can be changed by its group or by everybody.
    Writable,
    /// The program cannot be run; most often a library is missing.
    DoesNotRun,
    /// The program runs but cannot open a display.
    NoDisplay,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "its program is not installed",
            Self::NotAFile => "its program is not a regular file",
            Self::Owner => "its program, or a directory above it, belongs to another user",
            Self::Writable => {
                "its program, or a directory above it, can be changed by others (chmod go-w)"
            }
            Self::DoesNotRun => "its program does not run (a library may be missing)",
            Self::NoDisplay => "it cannot open the display",
        })
    }
}

impl std::error::Error for Obstacle {}

const GROUP_OR_OTHERS_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// Resolves the program's path and checks the file and every directory above it.
pub(super) fn check(path: &Path) -> Result<PathBuf, Obstacle> {
    let path = fs::canonicalize(path).map_err(|_| Obstacle::Missing)?;
    let file = fs::symlink_metadata(&path).map_err(|_| Obstacle::Missing)?;
    if !file.is_file() {
        return Err(Obstacle::NotAFile);
    }
    ours(&file)?;
    if file.mode() & GROUP_OR_OTHERS_WRITE != 0 {
        return Err(Obstacle::Writable);
    }
    for directory in path.ancestors().skip(1) {
        let directory = fs::symlink_metadata(directory).map_err(|_| Obstacle::Missing)?;
        ours(&directory)?;
        // In a sticky directory (/tmp) others can add files but not replace this one.
        if directory.mode() & GROUP_OR_OTHERS_WRITE != 0 && directory.mode() & STICKY == 0 {
            return Err(Obstacle::Writable);
        }
    }
    Ok(path)
}

fn ours(metadata: &Metadata) -> Result<(), Obstacle> {
    let me = rustix::process::geteuid().as_raw();
    if metadata.uid() == me || metadata.uid() == 0 {
        Ok(())
    } else {
        Err(Obstacle::Owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn file(directory: &Path, name: &str, mode: u32) -> PathBuf {
        let path = directory.join(name);
        fs::write(&path, "x").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn what_others_can_change_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let here = fs::canonicalize(directory.path()).unwrap();
        let good = file(&here, "good", 0o755);
        assert_eq!(check(&good), Ok(good.clone()));
        assert_eq!(check(&file(&here, "group", 0o775)), Err(Obstacle::Writable));
        assert_eq!(
            check(&file(&here, "others", 0o757)),
            Err(Obstacle::Writable)
        );
        assert_eq!(check(&here.join("absent")), Err(Obstacle::Missing));
        assert_eq!(check(&here), Err(Obstacle::NotAFile));

        symlink(&good, here.join("link")).unwrap();
        assert_eq!(check(&here.join("link")), Ok(good.clone()));

        fs::set_permissions(&here, fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(check(&good), Err(Obstacle::Writable));
        fs::set_permissions(&here, fs::Permissions::from_mode(0o1777)).unwrap();
        assert_eq!(check(&good), Ok(good));
    }

    #[test]
    fn what_belongs_to_another_user_is_refused() {
        if !rustix::process::geteuid().is_root() {
            return; // only root can give a file away; the run as root covers it
        }
        let directory = tempfile::tempdir().unwrap();
        let path = file(directory.path(), "theirs", 0o755);
        std::os::unix::fs::chown(&path, Some(65_534), None).unwrap();
        assert_eq!(check(&path), Err(Obstacle::Owner));
    }
}
