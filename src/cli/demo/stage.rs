//! What the demo starts, and its end: the site, a home of its own, the browser, the server with its client.

use std::fs;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::client::Client;
use super::site::{BANK, DemoSite, SHOP};
use super::story::Broken;
use crate::browser::directory::PrivateDirectory;
use crate::browser::owner;
use crate::cli::places::{self, Places};

/// How long a person would wait for the two log-ins.
const LOG_IN: Duration = Duration::from_secs(30);
/// How long the browser may take to close.
const CLOSING: Timespec = Timespec {
    tv_sec: 5,
    tv_nsec: 0,
};
/// How long `countersign browser` may take, with room to spare: it has a deadline of its own.
const STARTING: Duration = Duration::from_secs(60);

/// What is running.
pub(super) struct Stage {
    program: PathBuf,
    home: PathBuf,
    pub(super) site: DemoSite,
    pub(super) client: Option<Client>,
    /// `countersign browser`, until it has ended: only then is it known what it left running.
    starting: Option<Child>,
}

impl Stage {
    /// The site, and an empty home that only this user can enter.
    pub(super) async fn new() -> Result<Self, Broken> {
        let program = std::env::current_exe()
            .map_err(|error| Broken::new("this program cannot be found again").because(error))?;
        let site = DemoSite::start()
            .await
            .map_err(|fault| Broken::new(fault.to_string()))?;
        let home = places::temporary()
            .map_err(|error| Broken::new("no temporary directory can be made").because(error))?;
        Ok(Self {
            program,
            home,
            site,
            client: None,
            starting: None,
        })
    }

    fn places(&self) -> Places {
        Places::below(&self.home)
    }

    fn passphrase_file(&self) -> PathBuf {
        self.home.join("passphrase")
    }

    /// A command of this program in the demo's home.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(words)
            .arg("--home")
            .arg(&self.home)
            .stdin(Stdio::null());
        command
    }

    async fn output(&self, mut command: Command, what: &str) -> Result<Output, Broken> {
        let output = command.kill_on_drop(true).output().await;
        let output = output
            .map_err(|error| Broken::new(format!("{what} could not be run")).because(error))?;
        if output.status.success() {
            return Ok(output);
        }
        let said = [output.stdout, output.stderr].concat();
        Err(Broken::new(format!("{what} failed")).because(String::from_utf8_lossy(&said).trim()))
    }

    /// `countersign setup` for the two sites, then the profile edited as an operator would: a shorter wait for answers.
    pub(super) async fn set_up(&self, deadline_seconds: u32) -> Result<(), Broken> {
        let wrong =
            |error: std::io::Error| Broken::new("the profile cannot be edited").because(error);
        let mut random = [0_u8; 16];
        getrandom::fill(&mut random)
            .map_err(|error| Broken::new("no random bytes").because(error))?;
        fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(self.passphrase_file())
            .and_then(|mut file| writeln!(file, "{:032x}", u128::from_ne_bytes(random)))
            .map_err(|error| Broken::new("the passphrase cannot be written").because(error))?;
        let mut setup = self.command(&["setup"]);
        for host in [SHOP, BANK] {
            setup.args(["--site", &self.site.origin(host)]);
        }
        setup.arg("--passphrase-file").arg(self.passphrase_file());
        self.output(setup, "countersign setup").await?;
        let profile = self.places().profile();
        let text = fs::read_to_string(&profile).map_err(wrong)?;
        let edited = text.replace(
            "deadline_seconds = 90",
            &format!("deadline_seconds = {deadline_seconds}"),
        );
        if edited == text {
            return Err(Broken::new("the starter profile names no deadline"));
        }
        fs::write(&profile, edited).map_err(wrong)
    }

    /// `countersign browser`, with the addresses at which the person is logged in to both sites.
    pub(super) async fn browse(&mut self) -> Result<(), Broken> {
        let mut command = self.command(&["browser"]);
        command
            .arg("--")
            .arg("--host-resolver-rules=MAP *.test 127.0.0.1")
            .args(["--window-size=1180,820", "--lang=en-GB"])
            .arg("--password-store=basic");
        if let Some(scale) = std::env::var("GDK_SCALE").ok().filter(|scale| scale != "1") {
            // The browser takes the desktop's scale from the desktop's settings, which a virtual screen has not.
            command.arg(format!("--force-device-scale-factor={scale}"));
        }
        for host in [SHOP, BANK] {
            command.arg(format!("{}/session", self.site.origin(host)));
        }
        let child = command
            // Ctrl-C at the terminal is for the demo; a half-started browser could not be found and ended.
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| Broken::new("countersign browser could not be run").because(error))?;
        let child = self.starting.insert(child);
        let (mut out, mut err) = (String::new(), String::new());
        if let (Some(mut stdout), Some(mut stderr)) = (child.stdout.take(), child.stderr.take()) {
            use tokio::io::AsyncReadExt as _;
            let _ = tokio::join!(
                stdout.read_to_string(&mut out),
                stderr.read_to_string(&mut err)
            );
        }
        let status = child.wait().await;
        self.starting = None;
        let status =
            status.map_err(|error| Broken::new("countersign browser was lost").because(error))?;
        if !status.success() {
            return Err(
                Broken::new("the browser did not start").because(format!("{out}{err}").trim())
            );
        }
        if self.site.signed_in(LOG_IN).await {
            Ok(())
        } else {
            Err(Broken::new("the browser did not log in to the sites"))
        }
    }

    /// Starts the server with a client on it.
    pub(super) async fn connect(&mut self) -> Result<&mut Client, Broken> {
        let client = Client::start(&self.program, &self.home).await?;
        Ok(self.client.insert(client))
    }

    /// The client of the session.
    pub(super) fn client(&mut self) -> Result<&mut Client, Broken> {
        self.client
            .as_mut()
            .ok_or_else(|| Broken::new("the session is over"))
    }

    /// Ends the session.
    pub(super) async fn disconnect(&mut self) -> Result<(), Broken> {
        match self.client.take() {
            Some(client) => client.end().await,
            None => Ok(()),
        }
    }

    /// `countersign audit`, with the passphrase.
    pub(super) async fn audit(&self, words: &[&str]) -> Result<String, Broken> {
        let mut command = self.command(&["audit"]);
        command
            .args(words)
            .arg("--passphrase-file")
            .arg(self.passphrase_file());
        let output = self.output(command, "countersign audit").await?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Ends all that was started, in order: the server, the browser, the site, the home.
    pub(super) async fn end(mut self) -> Result<(), Broken> {
        let client = self.disconnect().await;
        if let Some(mut child) = self.starting.take()
            && timeout(STARTING, child.wait()).await.is_err()
        {
            let _ = child.kill().await;
        }
        let browser = match PrivateDirectory::open(&self.places().browser) {
            Ok(directory) => {
                let pid = owner::open_in(&directory).map(|pid| pid.number());
                close(pid.and_then(|pid| Pid::from_raw(pid.cast_signed()))).await
            }
            Err(_) => Ok(()),
        };
        self.site.stop().await;
        let home = fs::remove_dir_all(&self.home)
            .map_err(|error| Broken::new("the temporary directory stays").because(error));
        client.and(browser).and(home)
    }
}

/// Asks the browser of this run to close, and ends it where it does not.
async fn close(browser: Option<Pid>) -> Result<(), Broken> {
    let Some(pid) = browser else {
        return Ok(());
    };
    let lost = |errno: Errno| Broken::new("the browser cannot be ended").because(errno);
    let handle = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(handle) => handle,
        Err(Errno::SRCH) => return Ok(()),
        Err(errno) => return Err(lost(errno)),
    };
    let _ = kill_process(pid, Signal::TERM);
    let handle = match ends(handle).await {
        None => return Ok(()),
        Some(handle) => handle,
    };
    // It leads a group of its own (`countersign browser` starts it so).
    kill_process_group(pid, Signal::KILL).map_err(lost)?;
    match ends(handle).await {
        None => Ok(()),
        Some(_) => Err(Broken::new("the browser does not end")),
    }
}

/// Waits for the end of a process; gives its handle back where it takes too long.
async fn ends(handle: OwnedFd) -> Option<OwnedFd> {
    let waited = tokio::task::spawn_blocking(move || {
        let mut ready = [PollFd::new(&handle, PollFlags::IN)];
        let ended = poll(&mut ready, Some(&CLOSING)).is_ok_and(|count| count > 0);
        (!ended).then_some(handle)
    });
    waited.await.ok().flatten()
}
