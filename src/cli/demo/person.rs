//! Who answers the window: the person at the screen, or on a virtual screen a stand-in with a pointer.
//!
//! The stand-in does what a hand does: it moves the pointer of the screen and presses its button. No program of ours
//! listens to it in any other way.

use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::process::Command;
use tokio::time::{Instant, sleep, timeout};

use super::story::Broken;
use crate::confirm::protocol::{ALLOW_AT, WAKE};

/// The window's title, as a pattern of the whole of it.
const TITLE: &str = "^countersign asks you$";
/// How long anything on the screen may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// What a person takes to read, after which Allow is awake for certain.
const READING: Duration = Duration::from_millis(700);

/// Who is at the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Person {
    /// A person.
    There,
    /// Nobody: a pointer is moved by xdotool.
    StandIn,
}

impl Person {
    /// How long a window waits in the demo: a person has to read it.
    pub(super) const fn deadline_seconds(self) -> u32 {
        match self {
            Self::There => 30,
            Self::StandIn => 10,
        }
    }

    /// Waits until the window is seen; `None` where a person is there, who sees it better.
    pub(super) async fn sees_window(self) -> Result<Option<String>, Broken> {
        if self == Self::There {
            return Ok(None);
        }
        let end = Instant::now() + PATIENCE;
        // The search gives up where any window of the screen is destroyed during it: then it is begun again.
        while Instant::now() < end {
            let search = ["search", "--sync", "--onlyvisible", "--name", TITLE];
            let left = end.saturating_duration_since(Instant::now());
            let Ok(found) = timeout(left, run("xdotool", &search)).await else {
                break;
            };
            let text = String::from_utf8_lossy(&found?.stdout).into_owned();
            if let Some(first) = text.lines().next() {
                return Ok(Some(first.to_owned()));
            }
        }
        Err(Broken::new("the window did not come up"))
    }

    /// Reads the window, then moves the pointer to Allow and presses its button. Nothing outside the window's process
    /// is told when Allow wakes, so this waits as a person does.
    pub(super) async fn allows(self, window: Option<&str>) -> Result<(), Broken> {
        let Some(window) = window else {
            return Ok(());
        };
        sleep(WAKE + READING).await;
        let info = run("xwininfo", &["-id", window]).await?;
        let text = String::from_utf8_lossy(&info.stdout).into_owned();
        let of = |name: &str| -> Result<i32, Broken> {
            text.lines()
                .find_map(|line| line.trim().strip_prefix(name))
                .and_then(|value| value.trim().parse().ok())
                .ok_or_else(|| Broken::new("the window has no place on the screen"))
        };
        let scale = scale();
        let x = of("Absolute upper-left X:")? + of("Width:")? - ALLOW_AT.0 * scale;
        let y = of("Absolute upper-left Y:")? + of("Height:")? - ALLOW_AT.1 * scale;
        let (x, y) = (x.to_string(), y.to_string());
        let pressed = run("xdotool", &["mousemove", &x, &y, "click", "1"]).await?;
        if pressed.status.success() {
            Ok(())
        } else {
            Err(Broken::new("the pointer could not be moved"))
        }
    }

    /// A picture of the window alone, since what was typed stands on the page beside it: where the screen is the demo's
    /// own and a program for it is installed.
    pub(super) async fn picture(self, window: Option<&str>, path: &Path) -> bool {
        let (Self::StandIn, Some(window), Some(path)) = (self, window, path.to_str()) else {
            return false;
        };
        run("import", &["-window", window, path])
            .await
            .is_ok_and(|output| output.status.success())
    }
}

/// The desktop's scale, as the window takes it.
fn scale() -> i32 {
    std::env::var("GDK_SCALE")
        .ok()
        .and_then(|scale| scale.parse().ok())
        .filter(|scale| (1..=4).contains(scale))
        .unwrap_or(1)
}

async fn run(program: &str, arguments: &[&str]) -> Result<Output, Broken> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    output
        .await
        .map_err(|error| Broken::new(format!("{program} could not be run")).because(error))
}
