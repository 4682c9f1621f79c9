//! A virtual X server of one's own, with or without a window manager, and real key and pointer input on it.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long anything on the screen may take before a test fails. Generous: the machine may be busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A running X server. Ended on drop, also where a test fails.
pub(crate) struct Screen {
    server: Child,
    manager: Option<Child>,
    display: String,
}

/// Where a window is, in pixels of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) left: i32,
    pub(crate) top: i32,
    pub(crate) width: i32,
    pub(crate) height: i32,
}

impl Screen {
    /// A screen with a window manager.
    pub(crate) fn managed(size: &str) -> Self {
        let mut screen = Self::bare(size);
        // The manager announces itself by this property of the root window.
        let announced = screen.spy();
        screen.manager = Some(
            screen
                .command("openbox")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("openbox is installed"),
        );
        announced.until(|line| line.starts_with("_NET_SUPPORTING_WM_CHECK(WINDOW)"));
        screen
    }

    /// A screen without one.
    pub(crate) fn bare(size: &str) -> Self {
        Self::start(None, size)
    }

    /// A screen under a name such as `:7`.
    pub(crate) fn named(display: &str, size: &str) -> Self {
        Self::start(Some(display), size)
    }

    fn start(display: Option<&str>, size: &str) -> Self {
        let mut server = Command::new("Xvfb")
            .args(display)
            .args(["-displayfd", "1", "-nolisten", "tcp", "-noreset"])
            .args(["-screen", "0", &format!("{size}x24")])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb is installed");
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap())
            .read_line(&mut number)
            .unwrap();
        assert!(!number.trim().is_empty(), "Xvfb did not start");
        Self {
            server,
            manager: None,
            display: format!(":{}", number.trim()),
        }
    }

    /// Its name for `DISPLAY`.
    pub(crate) fn display(&self) -> &str {
        &self.display
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("DISPLAY", &self.display).stdin(Stdio::null());
        command
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        self.command(program).args(arguments).output().unwrap()
    }

    /// Runs xdotool, which must succeed.
    pub(crate) fn xdotool(&self, arguments: &[&str]) -> String {
        let output = self.run("xdotool", arguments);
        assert!(output.status.success(), "xdotool {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// The visible windows with this exact title.
    pub(crate) fn windows(&self, title: &str) -> Vec<String> {
        let output = self.run(
            "xdotool",
            &["search", "--onlyvisible", "--name", &format!("^{title}$")],
        );
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits for a visible window with this exact title.
    pub(crate) fn window(&self, title: &str) -> String {
        let name = format!("^{title}$");
        let sync = [
            "5",
            "xdotool",
            "search",
            "--sync",
            "--onlyvisible",
            "--name",
            &name,
        ];
        let end = Instant::now() + PATIENCE;
        // The search gives up where any window of the screen is destroyed during it: then it is begun again.
        while Instant::now() < end {
            let text = String::from_utf8(self.run("timeout", &sync).stdout).unwrap();
            if let Some(first) = text.lines().next() {
                return first.to_owned();
            }
        }
        panic!("no window {title:?}");
    }

    /// Where a window is.
    pub(crate) fn place(&self, window: &str) -> Place {
        self.place_if_there(window).expect("the window is there")
    }

    /// Where a window is, unless it is gone.
    pub(crate) fn place_if_there(&self, window: &str) -> Option<Place> {
        // xdotool is wrong about windows that a manager has put into a frame.
        let output = self.run("xwininfo", &["-id", window]);
        let text = String::from_utf8(output.stdout).unwrap();
        let of = |name: &str| {
            let line = text
                .lines()
                .find_map(|line| line.trim().strip_prefix(name))?;
            line.trim().parse().ok()
        };
        Some(Place {
            left: of("Absolute upper-left X:")?,
            top: of("Absolute upper-left Y:")?,
            width: of("Width:")?,
            height: of("Height:")?,
        })
    }

    /// Moves the pointer and presses and releases its primary button there.
    pub(crate) fn click(&self, (x, y): (i32, i32)) {
        self.xdotool(&["mousemove", &x.to_string(), &y.to_string(), "click", "1"]);
    }

    /// Presses and releases keys, one after the other, as the window with the focus gets them.
    pub(crate) fn keys(&self, keys: &[&str]) {
        let mut arguments = vec!["key", "--delay", "30"];
        arguments.extend(keys);
        self.xdotool(&arguments);
    }

    /// Waits until a window has the keyboard.
    pub(crate) fn focused(&self, window: &str) {
        if self.manager.is_some() {
            let number: u64 = window.parse().unwrap();
            let wanted = format!("_NET_ACTIVE_WINDOW(WINDOW): window id # {number:#x}");
            self.spy().until(|line| line == wanted);
        } else {
            // Without a manager no property tells it.
            until("the window has the keyboard", || {
                self.xdotool(&["getwindowfocus"]) == window
            });
        }
    }

    /// Presses the close button in the frame that the window manager drew.
    pub(crate) fn close(&self, window: &str) {
        assert!(self.manager.is_some());
        let place = self.place(window);
        self.click((place.left + place.width - 9, place.top - 9));
    }

    /// The process that a window says it belongs to.
    pub(crate) fn owner(&self, window: &str) -> i32 {
        self.xdotool(&["getwindowpid", window]).parse().unwrap()
    }

    /// Writes a picture of the whole screen.
    pub(crate) fn picture(&self, path: &Path) {
        let path = path.to_str().unwrap();
        let output = self.run("import", &["-window", "root", path]);
        assert!(output.status.success(), "{output:?}");
    }

    /// All properties of the root window: one that does not exist yet cannot be watched by its name.
    fn spy(&self) -> Spy {
        let mut child = self
            .command("xprop")
            .args(["-root", "-spy"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("xprop is installed");
        let output = child.stdout.take().unwrap();
        let (send, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Spy { child, lines }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        for child in self.manager.iter_mut().chain([&mut self.server]) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The root window's properties, now and at each change, as events.
struct Spy {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Spy {
    fn until(&self, wanted: impl Fn(&str) -> bool) {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left).expect("the property changes");
            if wanted(&line) {
                return;
            }
        }
    }
}

impl Drop for Spy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for something that has no event to wait for.
pub(crate) fn until(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
