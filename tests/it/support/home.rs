//! A fresh home of an operator: directories, profile and keys as the real `countersign setup` makes them.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::browser::Browser;
use super::client::Client;
use super::program;

/// The passphrase of every test's auditor. It protects nothing.
pub(crate) const PASSPHRASE: &str = "a passphrase for tests alone";

/// A home directory with all that the product keeps in it. Removed on drop.
pub(crate) struct Home {
    root: tempfile::TempDir,
    display: Option<String>,
}

impl Home {
    /// An empty one: nothing is set up.
    pub(crate) fn empty() -> Self {
        let root = tempfile::Builder::new()
            .prefix("home.")
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir()
            .unwrap();
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(root.path().join("passphrase"))
            .unwrap();
        writeln!(file, "{PASSPHRASE}").unwrap();
        Self {
            root,
            display: None,
        }
    }

    /// One set up by the real `countersign setup` for these origins, with the default tiers.
    pub(crate) fn for_sites(origins: &[String]) -> Self {
        let home = Self::empty();
        let mut setup = home.command(&["setup"]);
        for origin in origins {
            setup.args(["--site", origin]);
        }
        setup.arg("--passphrase-file").arg(home.passphrase_file());
        let output = setup.output().unwrap();
        assert!(output.status.success(), "setup: {}", text(&output));
        home
    }

    /// The same home, shown windows on this display, such as `:7`.
    pub(crate) fn on(mut self, display: &str) -> Self {
        self.display = Some(display.to_owned());
        self
    }

    /// The directory itself.
    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }

    /// The file with [`PASSPHRASE`].
    pub(crate) fn passphrase_file(&self) -> PathBuf {
        self.path().join("passphrase")
    }

    /// The operator's profile.
    pub(crate) fn profile_file(&self) -> PathBuf {
        self.path().join(".config/countersign/profile.toml")
    }

    /// Where journal and captures lie.
    pub(crate) fn state(&self) -> PathBuf {
        self.path().join(".local/state/countersign")
    }

    /// The dedicated browser profile.
    pub(crate) fn browser_profile(&self) -> PathBuf {
        self.path().join(".local/share/countersign/browser")
    }

    /// Changes the operator's profile by hand, as an operator would.
    pub(crate) fn edit_profile(&self, edit: impl FnOnce(String) -> String) {
        let text = fs::read_to_string(self.profile_file()).unwrap();
        fs::write(self.profile_file(), edit(text)).unwrap();
    }

    /// Runs the dedicated browser, without a screen.
    pub(crate) fn browser(&self) -> Browser {
        Browser::headless(&self.browser_profile())
    }

    /// `countersign` with arguments, in this home and with nothing else of the caller's environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program("countersign"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.path())
            .env("PATH", "/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .current_dir(self.path())
            .stdin(Stdio::null());
        for kept in ["COUNTERSIGN_RUN", "XDG_RUNTIME_DIR"] {
            if let Some(value) = std::env::var_os(kept) {
                command.env(kept, value);
            }
        }
        if let Some(display) = &self.display {
            command.env("DISPLAY", display);
        }
        command
    }

    /// Runs `countersign` to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs it; it must succeed. Returns its standard output.
    pub(crate) fn run_well(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// A client connected to `countersign serve`.
    pub(crate) fn connect(&self) -> Client {
        Client::connect(self.command(&["serve"]))
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Ok(log) = fs::read_to_string(self.state().join("diagnostics.log"))
        {
            eprintln!("diagnostics of the server:\n{log}");
        }
    }
}

fn text(output: &Output) -> String {
    format!(
        "{}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
