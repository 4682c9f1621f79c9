//! A Chromium of one's own on a profile of one's own, with its sandbox on.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read as _, Write as _};
use std::mem::MaybeUninit;
use std::net::TcpStream;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::PATIENCE;

const PORT_FILE: &str = "DevToolsActivePort";

/// A running browser. Dropping it ends its process group.
pub(crate) struct Browser {
    process: Child,
    profile: PathBuf,
    display: Option<String>,
    port: u16,
    id_path: String,
}

impl Browser {
    /// Starts it without a screen.
    pub(crate) fn headless(profile: &Path) -> Self {
        Self::start(profile, None, &[])
    }

    /// Starts it on a profile directory, which is made 0700 where it is missing, on a display such as `:7` or without
    /// one, with more arguments. Every `*.test` host is this machine. Returns when the port is open.
    pub(crate) fn start(profile: &Path, display: Option<&str>, more: &[&str]) -> Self {
        if !profile.exists() {
            fs::DirBuilder::new()
                .mode(0o700)
                .recursive(true)
                .create(profile)
                .unwrap();
        }
        fs::set_permissions(profile, fs::Permissions::from_mode(0o700)).unwrap();
        let _ = fs::remove_file(profile.join(PORT_FILE));
        let events = inotify::init(inotify::CreateFlags::CLOEXEC).unwrap();
        inotify::add_watch(
            &events,
            profile,
            inotify::WatchFlags::CLOSE_WRITE | inotify::WatchFlags::MOVED_TO,
        )
        .unwrap();

        let mut command = Command::new("chromium");
        command
            .arg(format!("--user-data-dir={}", profile.display()))
            .args([
                "--remote-debugging-port=0",
                "--no-first-run",
                "--no-default-browser-check",
                "--password-store=basic",
                "--disable-background-networking",
                "--disable-component-update",
                "--host-resolver-rules=MAP *.test 127.0.0.1",
                "--window-size=1280,900",
                "--lang=en-GB",
            ])
            .args(more)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        match display {
            Some(display) => {
                command
                    .env("DISPLAY", display)
                    // Without a bus it would start one of its own, which would outlive it.
                    .env("DBUS_SESSION_BUS_ADDRESS", "disabled:")
                    .arg("--ozone-platform=x11")
                    .arg("--disable-gpu");
            }
            None => {
                command.env_remove("DISPLAY").arg("--headless=new");
            }
        }
        if !more.iter().any(|argument| argument.contains("://")) {
            command.arg("about:blank");
        }
        let process = command.spawn().expect("chromium is installed");
        let mut browser = Self {
            process,
            profile: profile.to_owned(),
            display: display.map(str::to_owned),
            port: 0,
            id_path: String::new(),
        };
        browser.wait_for_port(&events);
        // Nobody reads its diagnostics after the start; a full pipe must not stop it.
        let mut noise = browser.process.stderr.take().unwrap();
        std::thread::spawn(move || std::io::copy(&mut noise, &mut std::io::sink()));
        browser
    }

    fn wait_for_port(&mut self, events: &rustix::fd::OwnedFd) {
        let end = Instant::now() + PATIENCE;
        let ended = pidfd_open(self.pid(), PidfdFlags::empty()).unwrap();
        let mut buffer = [MaybeUninit::uninit(); 4096];
        loop {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "the browser opened no port");
            let mut ready = [
                PollFd::new(events, PollFlags::IN),
                PollFd::new(&ended, PollFlags::IN),
            ];
            let timeout = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap(),
                tv_nsec: i64::from(left.subsec_nanos()),
            };
            poll(&mut ready, Some(&timeout)).unwrap();
            if ready[1].revents().contains(PollFlags::IN) {
                let mut said = String::new();
                let _ = self
                    .process
                    .stderr
                    .take()
                    .unwrap()
                    .read_to_string(&mut said);
                panic!("the browser ended at once: {said}");
            }
            if !ready[0].revents().contains(PollFlags::IN) {
                continue;
            }
            let mut reader = inotify::Reader::new(events, &mut buffer);
            loop {
                let event = reader.next().unwrap();
                let name = event.file_name().map(|name| name.to_bytes().to_vec());
                if name.as_deref() == Some(PORT_FILE.as_bytes()) {
                    let text = fs::read_to_string(self.profile.join(PORT_FILE)).unwrap();
                    let (port, path) = text.split_once('\n').unwrap();
                    self.port = port.parse().unwrap();
                    self.id_path = path.trim().to_owned();
                    return;
                }
                if reader.is_buffer_empty() {
                    break;
                }
            }
        }
    }

    /// Its process, which leads a group of its own.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    /// The debugging port.
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// The path of the browser's own endpoint, `/devtools/browser/…`.
    pub(crate) fn id_path(&self) -> &str {
        &self.id_path
    }

    /// Its profile directory.
    pub(crate) fn profile(&self) -> &Path {
        &self.profile
    }

    /// Opens an address in a tab of the person's. On a display, as from a shell: a second start on the same profile
    /// hands it over. Without one the browser takes no second start, so the port is asked: for that moment the test
    /// is a foreign peer of the port (security D4).
    pub(crate) fn open_as_person(&self, address: &str) {
        let Some(display) = &self.display else {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
            let path: String = url::form_urlencoded::byte_serialize(address.as_bytes()).collect();
            write!(
                stream,
                "PUT /json/new?{path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nconnection: close\r\n\r\n",
                self.port
            )
            .unwrap();
            let mut start = [0; 12];
            stream.read_exact(&mut start).unwrap();
            assert_eq!(&start, b"HTTP/1.1 200", "the browser opened a tab");
            return;
        };
        let status = Command::new("chromium")
            .env("DISPLAY", display)
            .env("DBUS_SESSION_BUS_ADDRESS", "disabled:")
            .arg(format!("--user-data-dir={}", self.profile.display()))
            .arg(address)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success(), "the running browser took the address");
    }

    /// Ends it as a crash does: no farewell, the port file stays.
    pub(crate) fn kill(&mut self) {
        let _ = kill_process_group(self.pid(), Signal::KILL);
        let _ = self.process.wait();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The arguments a running process was started with.
pub(crate) fn arguments_of(pid: Pid) -> Vec<String> {
    let text = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap();
    text.split(|byte| *byte == 0)
        .filter(|part| !part.is_empty())
        .map(|part| {
            use std::os::unix::ffi::OsStrExt as _;
            OsStr::from_bytes(part).to_string_lossy().into_owned()
        })
        .collect()
}
