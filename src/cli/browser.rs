//! `countersign browser`: starts the dedicated profile on a free loopback port, waits until it can be trusted, and never
//! ends or replaces one that runs.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, inotify};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::exit::Exit;
use super::places::Places;
use super::setup::{absolute, reason, shown};
use crate::browser::directory::{PrivateDirectory, shell_word};
use crate::browser::endpoint::{self, Endpoint, Wanted};
use crate::browser::{flags, owner, program};
use crate::domain::site::Address;
use crate::domain::text::Shown;
use crate::error::{Code, Refusal};

/// What a person types.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show the command line instead of running it
    #[arg(long)]
    pub print: bool,
    /// Where setup put everything, if not in the usual directories
    #[arg(long, value_name = "DIRECTORY", value_parser = absolute)]
    pub home: Option<PathBuf>,
    /// Flags and addresses for the browser, after `--`; those that take its protection away are refused
    #[arg(last = true, value_name = "FOR THE BROWSER")]
    pub extra: Vec<OsString>,
}

/// How long the browser may take to open its port.
const DEADLINE: Duration = Duration::from_secs(30);
/// What the browser says while it starts, for the person alone.
const LOG: &str = "countersign-start.log";
/// The most of that which is shown, in bytes.
const LOG_SHOWN: u64 = 2_000;

/// What every start sets, besides the profile directory, and why.
pub const FLAGS: &[(&str, &str)] = &[
    // A free port of the browser's own choice: only then does it write the file that names port and id.
    (
        "--remote-debugging-port=0",
        "the port, chosen free by the browser, on 127.0.0.1",
    ),
    (
        "--no-first-run",
        "no welcome pages in front of the first log-in",
    ),
    (
        "--no-default-browser-check",
        "the dedicated profile is not to become the default browser",
    ),
    (
        "--enable-features=LocalNetworkAccessChecks",
        "a page may not reach this machine or its network unasked (security U7)",
    ),
    (
        "--disable-features=Prerender2,MediaRouter,OptimizationHints",
        "no page is loaded before it is asked for (U7); no search for cast devices on the network; no hints about visited \
         pages from a server",
    ),
    ("--no-pings", "no audit pings when a link is followed"),
    (
        "--disable-domain-reliability",
        "no reports about connections to the vendor",
    ),
    (
        "--disable-sync",
        "what is done here stays in this profile, on this machine",
    ),
    (
        "--disable-search-engine-choice-screen",
        "no question in front of the first log-in",
    ),
];

/// Variables that reach into the browser unseen by its command line, so they are not handed on.
pub const NOT_HANDED_ON: &[(&str, &str)] = &[
    (
        "CHROMIUM_FLAGS",
        "Debian's launcher adds it to the command line",
    ),
    (
        "CHROMIUM_USER_FLAGS",
        "other launchers add it to the command line",
    ),
    ("CHROME_USER_DATA_DIR", "it names another profile directory"),
    ("CHROME_DEVEL_SANDBOX", "it names another sandbox helper"),
    (
        "SSLKEYLOGFILE",
        "it writes the keys of every connection to a file",
    ),
    ("LD_PRELOAD", "it puts code into the browser"),
    ("LD_AUDIT", "it puts code into the browser"),
    (
        "GOOGLE_CHROME_PIPE",
        "it belongs to another program's start",
    ),
];

/// What will be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Launch {
    /// Puts the command line together.
    ///
    /// # Errors
    /// A sentence for the person where no allowed browser is installed or an extra argument is not one to give.
    pub fn new(wanted: &Wanted, extra: &[OsString]) -> Result<Self, String> {
        let program = program::to_start(&wanted.executables).ok_or_else(|| {
            "none of the browser programs that the profile allows is installed; on Debian: sudo apt install chromium"
                .to_owned()
        })?;
        check_extra(wanted, extra)?;
        let mut directory = OsString::from("--user-data-dir=");
        directory.push(&wanted.profile_dir);
        let mut arguments = vec![directory];
        arguments.extend(FLAGS.iter().map(|(flag, _)| OsString::from(flag)));
        arguments.extend(extra.iter().cloned());
        if !extra.iter().any(|argument| is_address(argument)) {
            // The page for new tabs would be fetched from the search engine.
            arguments.push("about:blank".into());
        }
        Ok(Self { program, arguments })
    }

    /// The command line as a shell takes it.
    #[must_use]
    pub fn line(&self) -> String {
        std::iter::once(self.program.as_os_str())
            .chain(self.arguments.iter().map(OsString::as_os_str))
            .map(shell_word)
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn is_headless(&self) -> bool {
        self.arguments
            .iter()
            .filter_map(flags::given)
            .any(|given| given.name == b"headless")
    }

    fn spawn(&self, log: File) -> io::Result<Child> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .current_dir("/")
            // A group of its own: what the terminal sends to this program (Ctrl-C, hang-up) does not reach it.
            .process_group(0);
        for (name, _) in NOT_HANDED_ON {
            command.env_remove(name);
        }
        command.spawn()
    }
}

fn is_address(argument: &OsStr) -> bool {
    argument
        .to_str()
        .is_some_and(|text| Address::parse(text).is_ok())
}

/// Extra arguments are flags of the form `--name` or `--name=value`, or addresses of pages, and nothing that this
/// program sets itself: to Chromium the last flag of a name would win.
fn check_extra(wanted: &Wanted, extra: &[OsString]) -> Result<(), String> {
    const LAUNCHERS_OWN: &[&[u8]] = &[b"user-data-dir", b"temp-profile", b"debug", b"help"];
    for argument in extra {
        let name = Shown::escape(&argument.to_string_lossy(), 80);
        let Some(given) = flags::given(argument) else {
            if is_address(argument) {
                continue;
            }
            return Err(format!(
                "{name} is neither a flag nor the address of a page"
            ));
        };
        if !argument.as_encoded_bytes().starts_with(b"--") {
            return Err(format!("write {name} with two dashes"));
        }
        let set = FLAGS
            .iter()
            .map(|(flag, _)| OsString::from(flag))
            .any(|flag| flags::given(&flag).is_some_and(|ours| ours.name == given.name));
        if set || LAUNCHERS_OWN.contains(&given.name) {
            return Err(format!(
                "{name} cannot be given: countersign sets it itself"
            ));
        }
    }
    flags::check(extra, wanted.no_sandbox)
        .map_err(|refusal| format!("refused: {}", reason(&refusal)))
}

/// Starts the browser, or says that it runs. What a person reads goes to `out`, what stops them to `err`.
///
/// # Errors
/// Where `out` or `err` cannot be written.
pub async fn run(
    args: &Args,
    wanted: &Wanted,
    places: &Places,
    out: &mut (dyn Write + Send),
    err: &mut (dyn Write + Send),
) -> io::Result<Exit> {
    let launch = match Launch::new(wanted, &args.extra) {
        Ok(launch) => launch,
        Err(sentence) => {
            writeln!(err, "{sentence}")?;
            return Ok(Exit::Refused);
        }
    };
    if args.print {
        writeln!(out, "{}", launch.line())?;
        return Ok(Exit::Ok);
    }
    let directory = match owner::directory(&wanted.profile_dir) {
        Ok(directory) => directory,
        Err(refusal) => {
            writeln!(err, "{}: {}.", shown(&wanted.profile_dir), reason(&refusal))?;
            writeln!(err, "    {}", directory_way_out(&wanted.profile_dir))?;
            return Ok(if refusal.code() == Code::BrowserAbsent {
                Exit::CannotOpen
            } else {
                Exit::Refused
            });
        }
    };
    match standing(wanted, &directory).await {
        Standing::Runs(endpoint) => {
            writeln!(
                out,
                "The browser is already running (process {}, 127.0.0.1:{}). Nothing to do.",
                endpoint.pid(),
                endpoint.port()
            )?;
            return Ok(Exit::Ok);
        }
        Standing::InTheWay(refusal) => {
            writeln!(
                err,
                "A browser already has this profile open, but it cannot be used: {}.",
                reason(&refusal)
            )?;
            writeln!(
                err,
                "Close its windows, then type: {}",
                places.command("browser")
            )?;
            return Ok(Exit::Refused);
        }
        Standing::Unfit(refusal) => {
            writeln!(err, "{}: {}.", refusal.code(), reason(&refusal))?;
            writeln!(err, "    {}", places.command("doctor"))?;
            return Ok(Exit::Refused);
        }
        Standing::Free => {}
    }
    let display = ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if !display && !launch.is_headless() {
        writeln!(
            err,
            "There is no display: neither DISPLAY nor WAYLAND_DISPLAY is set. Type this in a desktop session."
        )?;
        return Ok(Exit::CannotOpen);
    }
    writeln!(out, "Starting {}", shown(&launch.program))?;
    writeln!(
        out,
        "on the dedicated profile {}",
        shown(directory.canonical())
    )?;
    out.flush()?;
    match start(&launch, wanted, &directory).await {
        Ok(Start::Up(endpoint)) => {
            writeln!(
                out,
                "It runs as process {} and listens on 127.0.0.1:{}; it was checked to be yours.",
                endpoint.pid(),
                endpoint.port()
            )?;
            writeln!(out, "\nLog in to your sites in its window. Then type:\n")?;
            writeln!(out, "    {}", places.command("doctor"))?;
            Ok(Exit::Ok)
        }
        Ok(Start::Refused(refusal)) => {
            writeln!(
                err,
                "It started, but {}: {}.",
                refusal.code(),
                reason(&refusal)
            )?;
            writeln!(
                err,
                "Close its windows, then type: {}",
                places.command("doctor")
            )?;
            Ok(Exit::Refused)
        }
        Ok(Start::Ended(status)) => {
            writeln!(
                err,
                "The browser ended before it opened its port ({status})."
            )?;
            last_words(&directory, err)?;
            Ok(Exit::CannotOpen)
        }
        Ok(Start::TooSlow(refusal)) => {
            writeln!(
                err,
                "The browser did not open its port within {} s ({}). It was left running.",
                DEADLINE.as_secs(),
                reason(&refusal)
            )?;
            last_words(&directory, err)?;
            Ok(Exit::CannotOpen)
        }
        Err(error) => {
            writeln!(err, "The browser cannot be started: {error}")?;
            Ok(Exit::Fault)
        }
    }
}

pub(super) fn directory_way_out(path: &Path) -> String {
    match PrivateDirectory::open(path) {
        Err(fault) => fault.way_out(path),
        Ok(_) => format!(
            "name another directory than {} in the profile",
            shell_word(path.as_os_str())
        ),
    }
}

/// How things stand before anything is started.
enum Standing {
    /// The operator's browser runs.
    Runs(Endpoint),
    /// A browser has the profile open, and cannot be used.
    InTheWay(Refusal),
    /// Something is wrong that a start would not mend.
    Unfit(Refusal),
    /// No browser has the profile open.
    Free,
}

async fn standing(wanted: &Wanted, directory: &PrivateDirectory) -> Standing {
    let refusal = match endpoint::find(wanted).await {
        Ok(endpoint) => return Standing::Runs(endpoint),
        Err(refusal) => refusal,
    };
    if owner::open_in(directory).is_some() {
        return Standing::InTheWay(refusal);
    }
    // Left over from a browser that ended; the port may be somebody else's by now. A start writes a new file.
    let left_over = matches!(
        refusal.code(),
        Code::BrowserAbsent | Code::PortStale | Code::WrongOwner | Code::WrongProfile
    );
    if left_over {
        Standing::Free
    } else {
        Standing::Unfit(refusal)
    }
}

/// How a start ended.
enum Start {
    /// It runs and is the operator's.
    Up(Endpoint),
    /// It runs and cannot be used.
    Refused(Refusal),
    /// It ended.
    Ended(ExitStatus),
    /// It did not come up in time.
    TooSlow(Refusal),
}

async fn start(
    launch: &Launch,
    wanted: &Wanted,
    directory: &PrivateDirectory,
) -> io::Result<Start> {
    prefer_no_preloading(directory)?;
    // Watched before the start, so that no event is missed.
    let watch = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC)?;
    let events = inotify::WatchFlags::CLOSE_WRITE | inotify::WatchFlags::MOVED_TO;
    inotify::add_watch(&watch, directory.canonical(), events)?;
    let mut child = launch.spawn(log_file(directory)?)?;
    let ended = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
    let until = Instant::now() + DEADLINE;
    loop {
        // The thread has nothing else to do, so it waits here for whichever comes first.
        let event = wait(&watch, &ended, until)?;
        let found = match event {
            Event::Ended => return Ok(Start::Ended(child.wait()?)),
            Event::PortFile | Event::Late => endpoint::find(wanted).await,
        };
        let refusal = match found {
            Ok(endpoint) => return Ok(Start::Up(endpoint)),
            Err(refusal) => refusal,
        };
        let not_yet = matches!(
            refusal.code(),
            Code::BrowserAbsent | Code::PortStale | Code::NoAnswer
        );
        match (not_yet, event) {
            (true, Event::Late) => return Ok(Start::TooSlow(refusal)),
            (true, Event::PortFile | Event::Ended) => {}
            (false, Event::Late | Event::PortFile | Event::Ended) => {
                return Ok(Start::Refused(refusal));
            }
        }
    }
}

/// What a start waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// The browser has written its port file.
    PortFile,
    /// The browser has ended.
    Ended,
    /// The deadline has passed.
    Late,
}

fn wait(watch: &OwnedFd, ended: &OwnedFd, until: Instant) -> io::Result<Event> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
        let mut both = [
            PollFd::new(watch, PollFlags::IN),
            PollFd::new(ended, PollFlags::IN),
        ];
        match poll(&mut both, Some(&timeout)) {
            Ok(0) => return Ok(Event::Late),
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let [watched, process] = both;
        if process.revents().contains(PollFlags::IN) {
            return Ok(Event::Ended);
        }
        if watched.revents().contains(PollFlags::IN) && port_file_written(watch)? {
            return Ok(Event::PortFile);
        }
    }
}

/// Reads the events that have come, and says whether the port file was among them.
fn port_file_written(watch: &OwnedFd) -> io::Result<bool> {
    let mut space = [MaybeUninit::uninit(); 4096];
    let mut events = inotify::Reader::new(watch, &mut space);
    let mut seen = false;
    loop {
        match events.next() {
            Ok(event) => {
                seen |= event
                    .file_name()
                    .is_some_and(|name| name.to_bytes() == b"DevToolsActivePort");
            }
            Err(rustix::io::Errno::WOULDBLOCK) => return Ok(seen),
            Err(error) => return Err(error.into()),
        }
    }
}

/// A new profile begins with preloading off (security U7); one that was used keeps what the person chose.
fn prefer_no_preloading(directory: &PrivateDirectory) -> io::Result<()> {
    const TEXT: &str = r#"{"net":{"network_prediction_options":2}}"#;
    let inner = match rustix::fs::mkdirat(directory, "Default", Mode::RWXU) {
        Ok(()) => rustix::fs::openat(
            directory,
            "Default",
            OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
        )?,
        Err(rustix::io::Errno::EXIST) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    File::from(rustix::fs::openat(inner, "Preferences", flags, mode)?).write_all(TEXT.as_bytes())
}

fn log_file(directory: &PrivateDirectory) -> io::Result<File> {
    let flags =
        OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    Ok(rustix::fs::openat(directory, LOG, flags, mode)?.into())
}

fn last_words(directory: &PrivateDirectory, err: &mut (dyn Write + Send)) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(log) = rustix::fs::openat(directory, LOG, flags, Mode::empty()) else {
        return Ok(());
    };
    let mut log = File::from(log);
    let length = log.metadata()?.len();
    log.seek(SeekFrom::Start(length.saturating_sub(LOG_SHOWN)))?;
    let mut bytes = Vec::new();
    log.take(LOG_SHOWN).read_to_end(&mut bytes)?;
    for line in String::from_utf8_lossy(&bytes).lines() {
        writeln!(err, "    {}", Shown::escape(line, 300))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::browser::endpoint::NoSandbox;

    fn wanted() -> Wanted {
        Wanted {
            profile_dir: "/home/a person/browser".into(),
            executables: program::default_executables(),
            no_sandbox: NoSandbox::Refused,
        }
    }

    fn launch(extra: &[&str]) -> Result<Launch, String> {
        let extra: Vec<OsString> = extra.iter().map(OsString::from).collect();
        Launch::new(&wanted(), &extra)
    }

    #[test]
    fn the_line_shown_is_the_line_run() {
        let line = launch(&[]).unwrap().line();
        assert!(line.starts_with(
            "/usr/bin/chromium '--user-data-dir=/home/a person/browser' --remote-debugging-port=0 "
        ));
        assert!(line.ends_with(" about:blank"));
    }

    #[test]
    fn what_is_set_passes_the_check_that_every_browser_passes() {
        flags::check(&launch(&[]).unwrap().arguments, NoSandbox::Refused).unwrap();
    }

    #[test]
    fn extra_arguments_are_flags_and_pages_that_take_nothing_away() {
        launch(&["--headless=new", "https://bank.example/login"]).unwrap();
        assert!(
            !launch(&["https://bank.example/"])
                .unwrap()
                .line()
                .contains("about:blank")
        );
        for bad in [
            "--no-sandbox",
            "--remote-allow-origins=*",
            "--user-data-dir=/tmp/x",
            "--remote-debugging-port=9222",
            "--enable-features=X",
            "--temp-profile",
            "--debug",
            "-g",
            "-headless",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "bank.example",
            "--",
            "",
        ] {
            assert!(launch(&[bad]).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_new_profile_begins_without_preloading_and_a_used_one_is_left_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let scratch = tempfile::tempdir().unwrap();
        std::fs::set_permissions(scratch.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        let directory = PrivateDirectory::open(scratch.path()).unwrap();
        prefer_no_preloading(&directory).unwrap();
        let path = scratch.path().join("Default/Preferences");
        let text = std::fs::read_to_string(&path).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["net"]["network_prediction_options"], 2);
        std::fs::write(&path, "{}").unwrap();
        prefer_no_preloading(&directory).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}");
    }
}
