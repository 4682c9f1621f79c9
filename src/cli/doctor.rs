//! `countersign doctor`: looks at everything the server will need, and gives the way out for each thing that is missing.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Serialize;

use super::browser::directory_way_out;
use super::exit::Exit;
use super::harden::Level;
use super::places::Places;
use super::setup::{absolute, reason, shown};
use crate::browser::directory::{DirectoryFault, PrivateDirectory};
use crate::browser::endpoint::{self, Endpoint, NoSandbox, Wanted};
use crate::browser::{owner, program};
use crate::error::{Code, Refusal};

/// What a person types.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// One JSON object instead of lines for people
    #[arg(long)]
    pub json: bool,
    /// Where setup put everything, if not in the usual directories
    #[arg(long, value_name = "DIRECTORY", value_parser = absolute)]
    pub home: Option<PathBuf>,
}

/// How one thing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// In order.
    Ok,
    /// Works, but less well than it should.
    Warn,
    /// Stops the server from acting.
    Fail,
}

impl State {
    const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok  ",
            Self::Warn => "warn",
            Self::Fail => "FAIL",
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    name: &'static str,
    state: State,
    what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    way_out: Option<String>,
}

impl Check {
    /// Something that is in order.
    #[must_use]
    pub fn ok(name: &'static str, what: impl Into<String>) -> Self {
        Self::new(name, State::Ok, what.into(), None)
    }

    /// Something that works, but less well than it should.
    #[must_use]
    pub fn warn(name: &'static str, what: impl Into<String>, way_out: impl Into<String>) -> Self {
        Self::new(name, State::Warn, what.into(), Some(way_out.into()))
    }

    /// Something that stops the server from acting.
    #[must_use]
    pub fn fail(name: &'static str, what: impl Into<String>, way_out: impl Into<String>) -> Self {
        Self::new(name, State::Fail, what.into(), Some(way_out.into()))
    }

    fn new(name: &'static str, state: State, what: String, way_out: Option<String>) -> Self {
        Self {
            name,
            state,
            what,
            way_out,
        }
    }

    /// What was looked at.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// How it stands.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    /// What to do about it.
    #[must_use]
    pub fn way_out(&self) -> Option<&str> {
        self.way_out.as_deref()
    }
}

#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    checks: &'a [Check],
}

/// Looks at everything this file knows: user, process, session, directories, program, sandbox, display and browser.
/// What other rooms know (the profile, the journal, the means of asking) the caller adds as checks of its own before
/// [`print`].
///
/// `wanted` is what the profile says; where the profile cannot be read, its own check (from the caller) says so, and
/// the browser is looked for in the usual place.
pub async fn look(places: &Places, wanted: Option<&Wanted>, level: Level) -> Vec<Check> {
    let usual = Wanted {
        profile_dir: places.browser.clone(),
        executables: program::default_executables(),
        no_sandbox: NoSandbox::Refused,
    };
    let wanted = wanted.unwrap_or(&usual);
    let mut all = vec![not_root(), hardened(level)];
    all.push(session(|name| std::env::var_os(name)));
    all.extend(directories(places, wanted));
    all.push(installed(wanted));
    all.push(sandbox(wanted.no_sandbox));
    all.push(display(&Displays::of_session()));
    all.push(running(places, wanted, &endpoint::find(wanted).await));
    all
}

/// Prints the checks in their order; the exit is [`Exit::CheckFailed`] where one failed.
///
/// # Errors
/// Where `out` cannot be written.
pub fn print(
    args: &Args,
    places: &Places,
    checks: &[Check],
    out: &mut dyn Write,
) -> io::Result<Exit> {
    let failed = checks.iter().any(|check| check.state == State::Fail);
    if args.json {
        let report = Report {
            ok: !failed,
            checks,
        };
        serde_json::to_writer(&mut *out, &report)?;
        writeln!(out)?;
    } else {
        for check in checks {
            writeln!(
                out,
                "{}  {}: {}",
                check.state.word(),
                check.name,
                check.what
            )?;
            if let Some(way_out) = &check.way_out {
                writeln!(out, "      -> {way_out}")?;
            }
        }
        if failed {
            writeln!(
                out,
                "\nSomething is missing. Mend what says FAIL, from the top, then type: {}",
                places.command("doctor")
            )?;
        } else {
            writeln!(out, "\nEverything the server needs is there.")?;
        }
    }
    Ok(if failed { Exit::CheckFailed } else { Exit::Ok })
}

fn not_root() -> Check {
    if rustix::process::geteuid().is_root() {
        Check::fail(
            "user",
            "this is root; the browser and the server belong to an ordinary user",
            "log in as the person whose browser it is",
        )
    } else {
        Check::ok("user", "an ordinary user")
    }
}

fn hardened(level: Level) -> Check {
    match level {
        Level::Full => Check::ok("process", level.to_string()),
        Level::Partial(_) => Check::warn(
            "process",
            level.to_string(),
            "mount /proc, as every ordinary system does",
        ),
    }
}

/// The variables of the XDG base directories: a relative one does not count, so that things would not be where one looks.
fn session(variable: impl Fn(&str) -> Option<OsString>) -> Check {
    let name = "session";
    let set = |name: &str| {
        variable(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let relative: Vec<&str> = [
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "XDG_DATA_HOME",
        "XDG_RUNTIME_DIR",
    ]
    .into_iter()
    .filter(|name| set(name).is_some_and(|path| path.is_relative()))
    .collect();
    if !relative.is_empty() {
        let what = format!(
            "not an absolute path, so passed over: {}",
            relative.join(", ")
        );
        return Check::warn(name, what, format!("unset {}", relative.join(" ")));
    }
    match set("XDG_RUNTIME_DIR").map(|path| PrivateDirectory::open(&path)) {
        Some(Ok(_)) => Check::ok(name, "the XDG directories are in order"),
        Some(Err(fault)) => Check::warn(
            name,
            format!("the directory that XDG_RUNTIME_DIR names is not fit: {fault}"),
            "log in anew, or unset XDG_RUNTIME_DIR",
        ),
        None => Check::warn(
            name,
            "XDG_RUNTIME_DIR is not set, so a trial (setup --temporary) is kept on disk",
            "log in to a desktop session or through systemd",
        ),
    }
}

fn directories(places: &Places, wanted: &Wanted) -> Vec<Check> {
    let look = |name: &'static str, path: &Path| match PrivateDirectory::open(path) {
        Ok(_) => Check::ok(name, shown(path).as_str()),
        Err(fault) => {
            let way_out = if fault == DirectoryFault::Missing {
                places.command("setup --site https://…")
            } else {
                fault.way_out(path)
            };
            Check::fail(name, format!("{}: {fault}", shown(path)), way_out)
        }
    };
    let mut all = vec![
        look("configuration directory", &places.config),
        look("state directory", &places.state),
    ];
    let name = "browser profile";
    all.push(match owner::directory(&wanted.profile_dir) {
        Ok(found) => Check::ok(name, shown(found.canonical()).as_str()),
        Err(refusal) => Check::fail(
            name,
            format!("{}: {}", shown(&wanted.profile_dir), reason(&refusal)),
            directory_way_out(&wanted.profile_dir),
        ),
    });
    all
}

fn installed(wanted: &Wanted) -> Check {
    let name = "browser program";
    match program::to_start(&wanted.executables) {
        Some(path) => Check::ok(name, shown(&path).as_str()),
        None => Check::fail(
            name,
            "none of the programs that the profile allows is installed",
            "on Debian: sudo apt install chromium",
        ),
    }
}

/// Whether the browser can keep its sandbox: by namespaces an ordinary user may make, or by its set-uid helper.
fn sandbox(no_sandbox: NoSandbox) -> Check {
    let name = "browser sandbox";
    match no_sandbox {
        NoSandbox::Allowed => {
            return Check::warn(
                name,
                "the profile lets the browser run without it",
                "remove no_sandbox from the profile, unless this is a container or a test",
            );
        }
        NoSandbox::Refused => {}
    }
    if helper_is_set_uid() {
        return Check::ok(name, "the set-uid helper is installed");
    }
    let number = |path: &str| -> Option<u64> { fs::read_to_string(path).ok()?.trim().parse().ok() };
    if number("/proc/sys/user/max_user_namespaces") == Some(0) {
        let way_out = "sudo sysctl user.max_user_namespaces=15000";
        return Check::fail(name, "the kernel gives nobody user namespaces", way_out);
    }
    if number("/proc/sys/kernel/unprivileged_userns_clone") == Some(0) {
        let way_out = "sudo sysctl kernel.unprivileged_userns_clone=1";
        return Check::fail(
            name,
            "the kernel gives ordinary users no namespaces",
            way_out,
        );
    }
    match try_namespace() {
        Some(true) => Check::ok(name, "user namespaces work"),
        Some(false) => Check::warn(
            name,
            "a user namespace could not be made in a trial",
            "if the browser says \"No usable sandbox\", give its program an AppArmor profile with userns, or install its \
             set-uid helper",
        ),
        None => Check::ok(
            name,
            "the kernel allows user namespaces (not tried: unshare is not installed)",
        ),
    }
}

fn helper_is_set_uid() -> bool {
    [
        "/usr/lib/chromium/chrome-sandbox",
        "/opt/google/chrome/chrome-sandbox",
    ]
    .iter()
    .any(|path| fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o4000 != 0))
}

fn try_namespace() -> Option<bool> {
    let status = Command::new("/usr/bin/unshare")
        .args(["--user", "--map-root-user", "/bin/true"])
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.ok().map(|status| status.success())
}

/// What the session says about its display.
#[derive(Debug, Default)]
struct Displays {
    wayland: Option<PathBuf>,
    x11: Option<String>,
}

impl Displays {
    fn of_session() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let wayland = set("WAYLAND_DISPLAY").map(PathBuf::from).and_then(|name| {
            if name.is_absolute() {
                Some(name)
            } else {
                set("XDG_RUNTIME_DIR").map(|dir| PathBuf::from(dir).join(name))
            }
        });
        Self {
            wayland,
            x11: set("DISPLAY").and_then(|value| value.into_string().ok()),
        }
    }
}

/// Where an X server of this name listens.
#[derive(Debug, PartialEq, Eq)]
enum XServer {
    Local(u16),
    Remote(String, u16),
}

/// Reads `:1`, `unix:1.0`, `host:10.0`.
fn parse_display(text: &str) -> Option<XServer> {
    let (host, rest) = text.rsplit_once(':')?;
    let number: u16 = rest.split('.').next()?.parse().ok()?;
    match host {
        "" | "unix" => Some(XServer::Local(number)),
        host => Some(XServer::Remote(host.to_owned(), number.checked_add(6000)?)),
    }
}

fn connects_to_x(server: &XServer) -> bool {
    match server {
        XServer::Local(number) => {
            let path = format!("/tmp/.X11-unix/X{number}");
            UnixStream::connect(&path).is_ok()
                || UnixAddress::from_abstract_name(&path)
                    .is_ok_and(|address| UnixStream::connect_addr(&address).is_ok())
        }
        XServer::Remote(host, port) => (host.as_str(), *port)
            .to_socket_addrs()
            .into_iter()
            .flatten()
            .any(|address| TcpStream::connect_timeout(&address, Duration::from_secs(2)).is_ok()),
    }
}

fn display(session: &Displays) -> Check {
    let name = "display";
    let way_out = "start the client from a desktop session, so that DISPLAY or WAYLAND_DISPLAY reaches countersign; \
                   without one every locked action is refused";
    if session
        .wayland
        .as_ref()
        .is_some_and(|path| UnixStream::connect(path).is_ok())
    {
        return Check::ok(name, "a Wayland compositor answers");
    }
    let Some(text) = &session.x11 else {
        let what = if session.wayland.is_some() {
            "the Wayland compositor that WAYLAND_DISPLAY names does not answer"
        } else {
            "neither DISPLAY nor WAYLAND_DISPLAY is set"
        };
        return Check::fail(name, what, way_out);
    };
    match parse_display(text) {
        Some(server) if connects_to_x(&server) => Check::ok(name, "an X server answers"),
        Some(_) => Check::fail(
            name,
            "the X server that DISPLAY names does not answer",
            way_out,
        ),
        None => Check::fail(name, "DISPLAY does not name an X server", way_out),
    }
}

fn running(places: &Places, wanted: &Wanted, found: &Result<Endpoint, Refusal>) -> Check {
    let name = "browser";
    let refusal = match found {
        Ok(endpoint) => match endpoint.peers(&[]) {
            Ok(peers) if peers.is_empty() => {
                let what = format!(
                    "it is yours (process {}, 127.0.0.1:{})",
                    endpoint.pid(),
                    endpoint.port()
                );
                return Check::ok(name, what);
            }
            Ok(peers) => {
                let list: Vec<String> = peers.iter().map(ToString::to_string).collect();
                return Check::warn(
                    name,
                    format!(
                        "it is yours, and others are connected to its port: {}",
                        list.join("; ")
                    ),
                    "a running server of yours is one of them; end whatever else you do not know",
                );
            }
            Err(fault) => return Check::fail(name, fault.to_string(), "mount /proc"),
        },
        Err(refusal) => refusal,
    };
    let code = refusal.code();
    let way_out = if matches!(code, Code::BrowserAbsent | Code::PortStale) {
        match owner::directory(&wanted.profile_dir) {
            Ok(directory) if owner::open_in(&directory).is_some() => format!(
                "the profile is open in a browser without the port: close its windows, then type: {}",
                places.command("browser")
            ),
            Ok(_) => places.command("browser"),
            Err(_) => places.command("setup --site https://…"),
        }
    } else if code == Code::NoAnswer {
        "look whether the browser's window still reacts, then try again".to_owned()
    } else if code == Code::ProfileUnsafe {
        directory_way_out(&wanted.profile_dir)
    } else {
        // WrongOwner, WrongProfile, UnsafeFlags: what runs must go first.
        format!(
            "close every window on the dedicated profile, then type: {}",
            places.command("browser")
        )
    };
    let what = format!("{}: {}", refusal.code(), reason(refusal));
    Check::fail(name, what, way_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn displays_are_read_as_x_reads_them() {
        assert_eq!(parse_display(":1"), Some(XServer::Local(1)));
        assert_eq!(parse_display("unix:12.3"), Some(XServer::Local(12)));
        assert_eq!(
            parse_display("localhost:10.0"),
            Some(XServer::Remote("localhost".to_owned(), 6010))
        );
        for bad in ["", "1", ":", ":x", ":99999", "host:60000"] {
            assert_eq!(parse_display(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_display_counts_when_it_answers() {
        let scratch = tempfile::tempdir().unwrap();
        let socket = scratch.path().join("wayland-7");
        let session = Displays {
            wayland: Some(socket.clone()),
            x11: None,
        };
        assert_eq!(display(&session).state(), State::Fail);
        let listener = UnixListener::bind(&socket).unwrap();
        assert_eq!(display(&session).state(), State::Ok);
        drop(listener);
        assert_eq!(display(&session).state(), State::Fail);
        assert_eq!(display(&Displays::default()).state(), State::Fail);
        let unused = Displays {
            wayland: None,
            x11: Some(":64123".to_owned()),
        };
        assert_eq!(display(&unused).state(), State::Fail);
    }

    #[test]
    fn the_session_is_judged_by_its_variables() {
        let private = tempfile::tempdir().unwrap();
        fs::set_permissions(private.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let judged = |runtime: Option<&Path>, config: &str| {
            session(|name| match name {
                "XDG_RUNTIME_DIR" => runtime.map(OsString::from),
                "XDG_CONFIG_HOME" => Some(config.into()),
                _unset => None,
            })
            .state()
        };
        assert_eq!(judged(Some(private.path()), ""), State::Ok);
        assert_eq!(judged(Some(private.path()), "relative"), State::Warn);
        assert_eq!(judged(Some(Path::new("/")), "/a"), State::Warn);
        assert_eq!(judged(None, "/a"), State::Warn);
    }

    #[test]
    fn the_report_says_whether_all_is_well() {
        let places = Places::below(Path::new("/h"));
        let args = |json| Args { json, home: None };
        let good = [Check::ok("a", "x"), Check::warn("b", "y", "z")];
        let bad = [Check::ok("a", "x"), Check::fail("b", "y", "z")];
        let mut out = Vec::new();
        assert_eq!(
            print(&args(true), &places, &good, &mut out).unwrap(),
            Exit::Ok
        );
        let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(
            value,
            serde_json::json!({"ok": true, "checks": [
                {"name": "a", "state": "ok", "what": "x"},
                {"name": "b", "state": "warn", "what": "y", "way_out": "z"},
            ]})
        );
        let mut out = Vec::new();
        assert_eq!(
            print(&args(false), &places, &bad, &mut out).unwrap(),
            Exit::CheckFailed
        );
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("FAIL  b: y\n      -> z\n"));
        assert!(text.contains("countersign doctor --home /h"));
    }

    #[tokio::test]
    async fn nothing_set_up_fails_with_a_way_out_for_each() {
        let scratch = tempfile::tempdir().unwrap();
        let places = Places::below(&scratch.path().join("home"));
        let all = look(&places, None, Level::Full).await;
        for name in [
            "configuration directory",
            "state directory",
            "browser profile",
            "browser",
        ] {
            let check = all.iter().find(|check| check.name() == name).unwrap();
            assert_eq!(check.state(), State::Fail, "{name}");
            assert!(
                check.way_out().unwrap().contains("countersign"),
                "{check:?}"
            );
        }
        assert!(!scratch.path().join("home").exists(), "doctor only looks");
    }
}
