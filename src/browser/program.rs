//! Knows browser programs: the file that really runs, and the launcher that starts it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// One browser as a distribution or vendor installs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Program {
    /// What a person starts: often a shell script that adds the distribution's flags and then becomes `runs`.
    pub launcher: &'static str,
    /// The program that `/proc/<pid>/exe` then names.
    pub runs: &'static str,
}

/// The browsers that are known without the profile naming them. Chromium comes first: it is the one that is tested.
pub const KNOWN: &[Program] = &[
    Program {
        launcher: "/usr/bin/chromium",
        runs: "/usr/lib/chromium/chromium", // Debian, Arch
    },
    Program {
        launcher: "/usr/bin/chromium-browser",
        runs: "/usr/lib64/chromium-browser/chromium-browser", // Fedora
    },
    Program {
        launcher: "/usr/bin/chromium-browser",
        runs: "/usr/lib/chromium/chromium", // Alpine
    },
    Program {
        launcher: "/usr/bin/google-chrome-stable",
        runs: "/opt/google/chrome/chrome",
    },
];

/// The programs that are allowed where the profile names none.
#[must_use]
pub fn default_executables() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = KNOWN.iter().map(|known| known.runs.into()).collect();
    all.dedup();
    all
}

/// The file that really runs when this one is started: where a profile names a known launcher, the program behind it.
#[must_use]
pub fn that_runs(named: &Path) -> PathBuf {
    KNOWN
        .iter()
        .find(|known| Path::new(known.launcher) == named && is_program(Path::new(known.runs)))
        .map_or_else(|| named.to_owned(), |known| known.runs.into())
}

/// What to start so that one of these programs runs: its launcher where one is known, which brings the distribution's
/// own flags (shared memory, keys), else the program itself. `None` where none is installed.
#[must_use]
pub fn to_start(allowed: &[PathBuf]) -> Option<PathBuf> {
    allowed
        .iter()
        .map(|named| that_runs(named))
        .find(|program| is_program(program))
        .map(|program| {
            KNOWN
                .iter()
                .find(|known| {
                    Path::new(known.runs) == program && is_program(Path::new(known.launcher))
                })
                .map_or(program, |known| known.launcher.into())
        })
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_stands_for_what_it_runs() {
        // These tests run where Debian's Chromium is installed, as every browser test here does.
        assert_eq!(
            that_runs(Path::new("/usr/bin/chromium")),
            Path::new("/usr/lib/chromium/chromium")
        );
        assert_eq!(
            to_start(&default_executables()).unwrap(),
            Path::new("/usr/bin/chromium")
        );
        assert_eq!(to_start(&["/bin/sh".into()]).unwrap(), Path::new("/bin/sh"));
        assert_eq!(to_start(&["/nowhere/chromium".into()]), None);
        assert_eq!(to_start(&["/etc/passwd".into()]), None);
    }
}
