//! Knows where everything is kept: the XDG directories of the person, or one directory that holds all (`--home`).

use std::fmt;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

use crate::browser::directory::{DirectoryFault, PrivateDirectory, shell_word};
use crate::journal::FileName;

/// The journal's directory, inside the state directory.
pub const JOURNAL: FileName = FileName::constant("journal");

/// The three directories, each 0700 and the operator's alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The profile and the journal's recipients.
    pub config: PathBuf,
    /// The journal, captures and the command file.
    pub state: PathBuf,
    /// The dedicated browser profile.
    pub browser: PathBuf,
    /// The directory that holds all three, where they are not the person's usual ones.
    pub home: Option<PathBuf>,
}

impl Places {
    /// The usual ones: `$XDG_CONFIG_HOME`, `$XDG_STATE_HOME` and `$XDG_DATA_HOME`, each with `countersign` below it.
    ///
    /// # Errors
    /// Where this user has no home directory.
    pub fn usual() -> Result<Self, NoHome> {
        let base = etcetera::choose_base_strategy().map_err(|_| NoHome)?;
        let state = base.state_dir().ok_or(NoHome)?;
        Ok(Self {
            config: base.config_dir().join("countersign"),
            state: state.join("countersign"),
            browser: base.data_dir().join("countersign").join("browser"),
            home: None,
        })
    }

    /// All below one directory.
    #[must_use]
    pub fn below(home: &Path) -> Self {
        Self {
            config: home.join("config"),
            state: home.join("state"),
            browser: home.join("browser"),
            home: Some(home.to_owned()),
        }
    }

    /// The usual ones, or those below the directory that the command line names.
    ///
    /// # Errors
    /// Where none is named and this user has no home directory.
    pub fn of(home: Option<&Path>) -> Result<Self, NoHome> {
        home.map_or_else(Self::usual, |home| Ok(Self::below(home)))
    }

    /// Each directory with its name for people.
    #[must_use]
    pub fn named(&self) -> [(&'static str, &Path); 3] {
        [
            ("configuration", &self.config),
            ("state", &self.state),
            ("browser profile", &self.browser),
        ]
    }

    /// The journal's directory.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.state.join(JOURNAL.as_str())
    }

    /// The profile's file.
    #[must_use]
    pub fn profile(&self) -> PathBuf {
        self.config.join("profile.toml")
    }

    /// The arguments that name these places again: empty for the usual ones.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        self.home.as_ref().map_or_else(Vec::new, |home| {
            vec!["--home".to_owned(), home.to_string_lossy().into_owned()]
        })
    }

    /// A command of this program that uses these places, as a person types it.
    #[must_use]
    pub fn command(&self, command: &str) -> String {
        let mut words = vec![format!("countersign {command}")];
        if let Some(home) = &self.home {
            words.push(format!("--home {}", shell_word(home.as_os_str())));
        }
        words.join(" ")
    }
}

/// This user has no home directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoHome;

impl fmt::Display for NoHome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this user has no home directory; set HOME, or name a directory with --home")
    }
}

impl std::error::Error for NoHome {}

/// What became of a directory that had to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prepared {
    /// It was there and is fit.
    Kept,
    /// It was made, with mode 0700.
    Made,
}

/// Makes a directory and what is missing above it, all with mode 0700; leaves one that is there as it is.
///
/// # Errors
/// Where what is there is not fit, or it cannot be made.
pub fn prepare(path: &Path) -> Result<Prepared, DirectoryFault> {
    match PrivateDirectory::open(path) {
        Ok(_) => return Ok(Prepared::Kept),
        Err(DirectoryFault::Missing) => {}
        Err(fault) => return Err(fault),
    }
    let failed = |error: io::Error| DirectoryFault::Unreadable(error.kind());
    DirBuilder::new()
        .mode(0o700)
        .recursive(true)
        .create(path)
        .map_err(failed)?;
    PrivateDirectory::open(path).map(|_| Prepared::Made)
}

/// Makes a directory of its own for a trial, in memory where the session has such a place (`$XDG_RUNTIME_DIR`).
///
/// # Errors
/// Where it cannot be made.
pub fn temporary() -> io::Result<PathBuf> {
    let base = std::env::var_os("XDG_RUNTIME_DIR")
        .map(PathBuf::from)
        .filter(|dir| dir.is_absolute() && PrivateDirectory::open(dir).is_ok())
        .unwrap_or_else(std::env::temp_dir);
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
    let path = base.join(format!("countersign-{:016x}", u64::from_ne_bytes(random)));
    // Not recursive: a directory that somebody else made first is an error, not ours.
    DirBuilder::new().mode(0o700).create(&path)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_missing_directory_is_made_private_and_kept_afterwards() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("a/b/c");
        assert_eq!(prepare(&path), Ok(Prepared::Made));
        assert_eq!(prepare(&path), Ok(Prepared::Kept));
        for made in ["a", "a/b", "a/b/c"] {
            let mode = fs::metadata(scratch.path().join(made))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o700, "{made}");
        }
    }

    #[test]
    fn a_loose_directory_is_named_and_left_alone() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("state");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(prepare(&path), Err(DirectoryFault::Mode(0o755)));
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
    }

    #[test]
    fn two_trials_do_not_meet() {
        let (one, two) = (temporary().unwrap(), temporary().unwrap());
        assert_ne!(one, two);
        for path in [one, two] {
            PrivateDirectory::open(&path).unwrap();
            fs::remove_dir(path).unwrap();
        }
    }
}
