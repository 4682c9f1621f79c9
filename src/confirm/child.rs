//! One process per question, in a group of its own and with a scrubbed environment, that never outlives its owner here.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::process::Stdio;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::task::{JoinHandle, spawn_blocking};

/// What a window needs to find its display, language and screen reader; nothing else is handed down.
const HANDED_DOWN: [&str; 8] = [
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "LANG",
    "LANGUAGE",
    "HOME",
];

/// The environment of every window's process, taken once.
#[derive(Debug, Clone, Default)]
pub struct Surroundings(Vec<(OsString, OsString)>);

impl Surroundings {
    /// What this process was started with.
    #[must_use]
    pub fn of_this_process() -> Self {
        Self::among(std::env::vars_os())
    }

    /// The same choice out of the variables given.
    #[must_use]
    pub fn among(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut kept: Vec<(OsString, OsString)> = variables
            .into_iter()
            .filter(|(name, value)| handed_down(name, value))
            .collect();
        if !has_a_bus(&kept) {
            // The libraries would start one of their own, which would outlive the window.
            kept.push(("DBUS_SESSION_BUS_ADDRESS".into(), "disabled:".into()));
        }
        kept.push(("PATH".into(), "/usr/bin:/bin".into()));
        // A small still window gains nothing from a graphics driver, and drivers fail in more ways.
        kept.push(("GSK_RENDERER".into(), "cairo".into()));
        Self(kept)
    }

    /// True where some display is named at all.
    #[must_use]
    pub fn name_a_display(&self) -> bool {
        self.0.iter().any(|(name, value)| {
            (name == "DISPLAY" || name == "WAYLAND_DISPLAY") && !value.is_empty()
        })
    }
}

/// True where the session has a bus: by its address, or at the usual place. A screen reader is reached over it.
fn has_a_bus(kept: &[(OsString, OsString)]) -> bool {
    let value = |name: &str| kept.iter().find(|(n, _)| n == name).map(|(_, value)| value);
    value("DBUS_SESSION_BUS_ADDRESS").is_some_and(|address| !address.is_empty())
        || value("XDG_RUNTIME_DIR").is_some_and(|folder| {
            std::fs::metadata(Path::new(folder).join("bus"))
                .is_ok_and(|found| found.file_type().is_socket())
        })
}

fn handed_down(name: &OsStr, value: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    // The desktop's scale is a number; anything else in that variable is not handed down.
    let scale = name == "GDK_SCALE" && matches!(value.to_str(), Some("1" | "2" | "3" | "4"));
    HANDED_DOWN.contains(&name) || name.starts_with("LC_") || scale
}

/// A running process and its group. Dropping it kills the group.
#[derive(Debug)]
pub(super) struct Group {
    leader: Option<Child>,
    pid: Pid,
    exit: Option<JoinHandle<Option<i32>>>,
    reaped: bool,
}

/// What the process gets and gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pipes {
    /// A question on standard input, an answer on standard output.
    Talk,
    /// Neither.
    Silent,
}

impl Group {
    /// Starts a program by its absolute path.
    pub(super) fn spawn(
        program: &Path,
        arguments: &[&str],
        surroundings: &Surroundings,
        pipes: Pipes,
    ) -> io::Result<Self> {
        let (input, output) = match pipes {
            Pipes::Talk => (Stdio::piped(), Stdio::piped()),
            Pipes::Silent => (Stdio::null(), Stdio::null()),
        };
        let leader = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(surroundings.0.iter().map(|(name, value)| (name, value)))
            .current_dir("/")
            .stdin(input)
            .stdout(output)
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let pid = leader
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw)
            .ok_or_else(|| io::Error::other("the process has no id"))?;
        // It looks without reaping, so that the group's number still belongs to this group when the rest of it is
        // killed. The thread ends with the process, which is killed with this value at the latest.
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let exit = spawn_blocking(move || {
            let status = waitid(WaitId::Pid(pid), look).ok().flatten()?;
            status.exit_status()
        });
        Ok(Self {
            leader: Some(leader),
            pid,
            exit: Some(exit),
            reaped: false,
        })
    }

    /// The process's pipes, once.
    pub(super) fn pipes(
        &mut self,
    ) -> Option<(tokio::process::ChildStdin, tokio::process::ChildStdout)> {
        let leader = self.leader.as_mut()?;
        Some((leader.stdin.take()?, leader.stdout.take()?))
    }

    /// Waits for the process's end, ends what is left of its group and gives the exit code; `None` for a signal.
    pub(super) async fn ended(&mut self) -> Option<i32> {
        let code = match &mut self.exit {
            Some(exit) => exit.await.ok().flatten(),
            None => None,
        };
        self.exit = None;
        self.end().await;
        code
    }

    /// Kills the group and waits until its leader is gone.
    pub(super) async fn end(&mut self) {
        if !self.reaped {
            self.kill();
            if let Some(leader) = &mut self.leader {
                let _ = leader.wait().await;
            }
            self.reaped = true;
        }
    }

    fn kill(&self) {
        let _ = kill_process_group(self.pid, Signal::KILL);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.reaped {
            return;
        }
        self.kill();
        // Reaped in passing, where there still is a runtime to do it.
        if let (Some(mut leader), Ok(runtime)) = (self.leader.take(), Handle::try_current()) {
            runtime.spawn(async move {
                let _ = leader.wait().await;
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(of: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        of.iter()
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect()
    }

    #[test]
    fn nothing_that_steers_a_library_is_handed_down() {
        let kept = Surroundings::among(pairs(&[
            ("DISPLAY", ":9"),
            ("LC_ALL", "C"),
            ("PATH", "/home/me/bin"),
            ("LD_PRELOAD", "/tmp/x.so"),
            ("G_MESSAGES_DEBUG", "all"),
            ("GTK_MODULES", "x"),
            ("GTK_THEME", "x"),
            ("GDK_BACKEND", "broadway"),
            ("GDK_SCALE", "2;x"),
            ("GIO_EXTRA_MODULES", "/tmp"),
            ("XDG_DATA_DIRS", "/tmp"),
        ]));
        let mut names: Vec<_> = kept
            .0
            .iter()
            .filter_map(|(name, _)| name.to_str())
            .collect();
        names.sort_unstable();
        assert_eq!(
            names,
            [
                "DBUS_SESSION_BUS_ADDRESS",
                "DISPLAY",
                "GSK_RENDERER",
                "LC_ALL",
                "PATH"
            ]
        );
        assert!(kept.0.contains(&("PATH".into(), "/usr/bin:/bin".into())));
        assert!(kept.name_a_display());
        assert!(!Surroundings::among(pairs(&[("DISPLAY", "")])).name_a_display());
    }

    #[test]
    fn a_bus_is_handed_down_and_never_made() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = folder.path().to_str().unwrap();
        let bus = |of: &[(&str, &str)]| {
            let kept = Surroundings::among(pairs(of)).0;
            let found = kept
                .into_iter()
                .find(|(name, _)| name == "DBUS_SESSION_BUS_ADDRESS");
            found.map(|(_, value)| value.into_string().unwrap())
        };
        let disabled = Some("disabled:".to_owned());
        assert_eq!(bus(&[]), disabled);
        assert_eq!(bus(&[("XDG_RUNTIME_DIR", runtime)]), disabled);
        let given = ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/x");
        assert_eq!(bus(&[given]).as_deref(), Some(given.1));
        let _listener = std::os::unix::net::UnixListener::bind(folder.path().join("bus")).unwrap();
        assert_eq!(bus(&[("XDG_RUNTIME_DIR", runtime)]), None);
    }

    fn shell(script: &str) -> Group {
        let none = Surroundings::default();
        Group::spawn(Path::new("/bin/sh"), &["-c", script], &none, Pipes::Talk).unwrap()
    }

    /// True once no process of the group is left; a zombie that init has not reaped yet still counts as one.
    async fn gone(pid: Pid) -> bool {
        for _ in 0..500 {
            if rustix::process::test_kill_process_group(pid).is_err() {
                return true;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        false
    }

    #[tokio::test]
    async fn the_exit_code_is_told_and_the_rest_of_the_group_killed() {
        let mut group = shell("/bin/sleep 600 </dev/null >/dev/null & exit 80");
        let pid = group.pid;
        assert_eq!(group.ended().await, Some(80));
        assert!(gone(pid).await);
        assert_eq!(shell("kill -9 $$").ended().await, None);
    }

    #[tokio::test]
    async fn a_dropped_group_leaves_no_process() {
        let mut group = shell("/bin/sleep 600 & echo up; wait");
        let (_input, mut output) = group.pipes().unwrap();
        let mut word = [0; 3];
        tokio::io::AsyncReadExt::read_exact(&mut output, &mut word)
            .await
            .unwrap();
        let pid = group.pid;
        drop(group);
        assert!(gone(pid).await);
    }
}
