//! Starts what the tests look at, and ends it again by its id, also when a test fails.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::mem::MaybeUninit;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use countersign::browser::directory::PrivateDirectory;
use countersign::browser::endpoint::{NoSandbox, Wanted};
use countersign::browser::{owner, program};
use countersign::error::{Code, Detail, Refusal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify;
use rustix::process::{Pid, Signal, kill_process_group};

pub const CHROMIUM: &str = "/usr/bin/chromium";
/// Long, as these tests share two cores with builds.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// A scratch directory that is this user's alone, as a profile directory must be.
pub struct Private(tempfile::TempDir);

impl Private {
    pub fn new() -> Self {
        assert!(
            !rustix::process::geteuid().is_root(),
            "these tests start a sandboxed browser: run them as an ordinary user"
        );
        let dir = tempfile::Builder::new().prefix("cs-").tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
        Self(dir)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn port_file(&self) -> PathBuf {
        self.path().join("DevToolsActivePort")
    }

    pub fn wanted(&self) -> Wanted {
        Wanted {
            profile_dir: self.path().to_owned(),
            executables: program::default_executables(),
            no_sandbox: NoSandbox::Refused,
        }
    }
}

/// A process group that ends with the test.
pub struct Running(Child);

impl Running {
    /// Starts a program in a group of its own.
    pub fn spawn(command: &mut Command) -> Self {
        Self(command.process_group(0).spawn().unwrap())
    }

    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// The first line it prints: the event that says it is up.
    pub fn first_line(&mut self) -> String {
        let mut line = String::new();
        BufReader::new(self.0.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        line.trim_end().to_owned()
    }

    /// Kills the group and waits for its leader.
    pub fn end(mut self) {
        self.kill();
    }

    fn kill(&mut self) {
        end_group(self.0.id());
        let _ = self.0.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Ends a process group that this test started.
fn end_group(leader: u32) {
    if let Some(pid) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

/// Ends the browser that the product started on a profile directory, whatever became of the test: the profile's own lock
/// names it, and it leads a group of its own.
pub struct EndsWithTest(pub PathBuf);

impl Drop for EndsWithTest {
    fn drop(&mut self) {
        if let Ok(directory) = PrivateDirectory::open(&self.0)
            && let Some(pid) = owner::open_in(&directory)
        {
            end_group(pid.number());
        }
    }
}

/// Starts the real browser, headless, on a profile directory, and waits until it has written its port file.
pub fn chromium(dir: &Path, extra: &[&str]) -> Running {
    let watch =
        inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC).unwrap();
    inotify::add_watch(&watch, dir, inotify::WatchFlags::CLOSE_WRITE).unwrap();
    let port = if extra
        .iter()
        .any(|flag| flag.starts_with("--remote-debugging-port"))
    {
        vec![]
    } else {
        vec!["--remote-debugging-port=0"]
    };
    // Headless takes one page only.
    let page = if extra.iter().all(|flag| flag.starts_with('-')) {
        vec!["about:blank"]
    } else {
        vec![]
    };
    let running = Running::spawn(
        Command::new(CHROMIUM)
            .arg(format!("--user-data-dir={}", dir.display()))
            .args(["--headless=new", "--no-first-run"])
            .args(port)
            .args(extra)
            .args(page)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null()),
    );
    let until = Instant::now() + PATIENCE;
    let mut space = [MaybeUninit::uninit(); 4096];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        assert!(!left.is_zero(), "the browser did not open its port");
        let left = Timespec::try_from(left).unwrap();
        poll(&mut [PollFd::new(&watch, PollFlags::IN)], Some(&left)).unwrap();
        let mut events = inotify::Reader::new(&watch, &mut space);
        while let Ok(event) = events.next() {
            if event
                .file_name()
                .is_some_and(|name| name.to_bytes() == b"DevToolsActivePort")
            {
                return running;
            }
        }
    }
}

/// A stand-in that opens a port, writes the port file and answers `/json/version`, under any command line: so that every
/// flag and every kind of holder is seen through the kernel's tables, also those a real browser would not start with.
pub struct StandIn {
    _running: Running,
    pub program: PathBuf,
}

const STAND_IN: &str = r#"
use IO::Socket::INET; use strict;
my ($dir) = map { /^--user-data-dir=(.*)/ ? $1 : () } @ARGV;
$dir = $ENV{STAND_IN_DIR} if $ENV{STAND_IN_DIR};
my $s = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 9) or die;
my $p = $s->sockport; my $id = '4b257bf6-2153-43d6-876f-205eef7921df';
open(my $f, '>', "$dir/DevToolsActivePort") or die; print $f "$p\n/devtools/browser/$id"; close $f;
$id = $ENV{STAND_IN_ID} if $ENV{STAND_IN_ID};
my $worker = $ENV{STAND_IN_FORK} ? fork() : undef;
if ($ENV{STAND_IN_FORK} && !$worker) { select(undef, undef, undef, undef); exit }
$| = 1; print "up\n";
while (my $c = $s->accept) {
  if ($ENV{STAND_IN_PASS}) {
    pipe(my $r, my $w); my $k = fork();
    if (!$k) { close $s; close $w; <$r>; } else { close $c; close $r; print $w "go\n"; close $w; next }
  }
  my $r = ''; while (defined(my $l = <$c>)) { last if $l =~ /^\r?\n/ }
  my $b = "{\"webSocketDebuggerUrl\":\"ws://127.0.0.1:$p/devtools/browser/$id\"}";
  print $c "HTTP/1.1 200 OK\r\nContent-Length: " . length($b) . "\r\n\r\n$b"; $c->flush;
  <$c> if $ENV{STAND_IN_PASS}; close $c;
}
"#;

impl StandIn {
    pub fn start(program: &Path, dir: &Path, flags: &[&str], env: &[(&str, &str)]) -> Self {
        let mut running = Running::spawn(
            Command::new(program)
                .args(["-e", STAND_IN, "--"])
                .args(flags)
                .env("STAND_IN_DIR", dir)
                .envs(env.iter().copied())
                .stdin(Stdio::null())
                .stdout(Stdio::piped()),
        );
        assert_eq!(running.first_line(), "up");
        Self {
            _running: running,
            program: program.to_owned(),
        }
    }

    pub fn wanted(&self, dir: &Private) -> Wanted {
        Wanted {
            executables: vec![self.program.clone()],
            ..dir.wanted()
        }
    }
}

pub const PERL: &str = "/usr/bin/perl";

/// The code and the constant reason of a refusal.
pub fn why(refusal: &Refusal) -> (Code, &'static str) {
    match refusal.detail() {
        Some(Detail::Reason(why)) => (refusal.code(), why),
        other => panic!("{refusal}: {other:?}"),
    }
}

/// Runs one ignored test of this file in a process of its own, where it may change what belongs to the process.
pub fn in_a_process_of_its_own<'a>(
    test: &str,
    env: impl IntoIterator<Item = (&'a str, &'a OsStr)>,
) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            test,
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .envs(env)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The line of a child's output that begins with this word, without it. (libtest prints its own words before it.)
pub fn said(output: &Output, word: &str) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    let mark = format!("{word}=");
    text.lines()
        .find_map(|line| line.split_once(&mark))
        .map(|(_, rest)| rest.trim_end().to_owned())
        .unwrap_or_else(|| {
            panic!(
                "no {word} in: {text}\n{}",
                String::from_utf8_lossy(&output.stderr)
            )
        })
}
