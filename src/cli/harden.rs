//! The first thing in main: what the process gives up before it does anything (security H1).

use std::ffi::OsString;
use std::fmt;

use rustix::fs::Mode;
use rustix::process::{DumpableBehavior, Resource, Rlimit};

/// Whether the command line asks to run as root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// Root is refused.
    Refused,
    /// The operator typed `--allow-root`.
    Allowed,
}

/// Whether what this process starts may gain privileges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privileges {
    /// Nothing may: the rule.
    Given,
    /// Programs that are started may: `browser` alone, and `demo`, which starts it, since Chromium's set-uid sandbox helper needs it where the
    /// kernel gives ordinary users no namespaces, and a browser without its sandbox is the worse choice.
    Kept,
}

/// What the command line says about hardening, read before it is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// About root.
    pub root: Root,
    /// About privileges.
    pub privileges: Privileges,
}

impl Asked {
    /// Reads the arguments (without the program's own name). What follows `--` belongs to somebody else.
    #[must_use]
    pub fn from_arguments(arguments: impl IntoIterator<Item = OsString>) -> Self {
        let ours: Vec<OsString> = arguments
            .into_iter()
            .take_while(|argument| argument != "--")
            .collect();
        let named = |word: &str| ours.iter().any(|argument| argument == word);
        Self {
            root: if named("--allow-root") {
                Root::Allowed
            } else {
                Root::Refused
            },
            privileges: if ours
                .first()
                .is_some_and(|command| command == "browser" || command == "demo")
            {
                Privileges::Kept
            } else {
                Privileges::Given
            },
        }
    }
}

/// How far hardening came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Everything holds.
    Full,
    /// All but this.
    Partial(&'static str),
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("full"),
            Self::Partial(missing) => write!(f, "partial ({missing})"),
        }
    }
}

/// Why the process must not go on.
#[derive(Debug)]
pub enum HardenError {
    /// It runs as root, and nobody asked for that.
    Root,
    /// The kernel refused this step.
    Step(&'static str, rustix::io::Errno),
}

impl fmt::Display for HardenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str(
                "countersign does not run as root: what it guards is one person's browser. Run it as that person \
                 (or with --allow-root, if you know why)",
            ),
            Self::Step(step, error) => write!(f, "{step}: {error}"),
        }
    }
}

impl std::error::Error for HardenError {}

/// Gives up what is not needed. To be called while there is one thread and nothing is open but the standard streams:
/// it closes every other descriptor.
///
/// # Errors
/// Where the process runs as root unasked, or the kernel refuses a step; nothing else may then be done.
pub fn harden(asked: Asked) -> Result<Level, HardenError> {
    let root = rustix::process::getuid().is_root() || rustix::process::geteuid().is_root();
    match (root, asked.root) {
        (true, Root::Refused) => return Err(HardenError::Root),
        (true, Root::Allowed) | (false, Root::Refused | Root::Allowed) => {}
    }
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    rustix::process::setrlimit(Resource::Core, none)
        .map_err(|error| HardenError::Step("no core files", error))?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| HardenError::Step("not readable by other processes", error))?;
    match asked.privileges {
        Privileges::Given => rustix::thread::set_no_new_privs(true)
            .map_err(|error| HardenError::Step("no new privileges", error))?,
        Privileges::Kept => {}
    }
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    match stray::close() {
        Ok(()) => Ok(Level::Full),
        Err(_) => Ok(Level::Partial(
            "descriptors that were handed down stay open",
        )),
    }
}

/// The crate's one module with unsafe code: a descriptor that nobody here opened has no owner to close it safely.
#[allow(unsafe_code)]
mod stray {
    use std::io;
    use std::os::fd::RawFd;
    use std::path::Path;

    /// Closes every descriptor above the standard streams, so that a client's files and sockets do not reach the
    /// browser, the window or the journal's helpers.
    pub(super) fn close() -> io::Result<()> {
        let open: Vec<RawFd> = std::fs::read_dir("/proc/self/fd")?
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter(|descriptor| *descriptor > 2)
            .collect();
        // The list names the descriptor it was read through, which is closed by now.
        let stray = open
            .into_iter()
            .filter(|descriptor| Path::new(&format!("/proc/self/fd/{descriptor}")).is_symlink());
        for descriptor in stray {
            // SAFETY: main calls this before anything else, with one thread: no Rust value owns a descriptor above 2.
            unsafe { rustix::io::close(descriptor) };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Asked {
        Asked::from_arguments(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn what_follows_two_dashes_is_not_ours() {
        assert_eq!(asked("serve").root, Root::Refused);
        assert_eq!(asked("serve --allow-root").root, Root::Allowed);
        assert_eq!(asked("browser -- --allow-root").root, Root::Refused);
        assert_eq!(asked("serve --allow-root=x").root, Root::Refused);
    }

    #[test]
    fn only_the_launcher_keeps_privileges() {
        assert_eq!(asked("browser").privileges, Privileges::Kept);
        for line in [
            "serve",
            "serve browser",
            "--home browser serve",
            "doctor",
            "",
            "-- browser",
        ] {
            assert_eq!(asked(line).privileges, Privileges::Given, "{line}");
        }
    }
}
