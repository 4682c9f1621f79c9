//! Clients that nobody here wrote complete a session: the Python MCP SDK's, and the MCP Inspector's command lines.
//!
//! The scripts in `tests/clients/` speak for themselves; here stands what they cannot know: what the site saw.

use std::process::Command;

use crate::support::home::Home;
use crate::support::site::Site;
use crate::support::{program, tree};

/// Runs one client's script through a whole session, and counts at the site what it did.
fn session(script: impl FnOnce(&Home) -> Command) {
    let site = Site::start();
    let home = Home::for_sites(&[site.origin("notes.test")]);
    let _browser = home.browser();
    let mut client = script(&home);
    client
        .arg(site.url("notes.test", "/note.html"))
        .arg(site.url("evil.test", "/effect/off-list"));
    if client.get_program().to_string_lossy().contains("python") {
        client.arg("--");
    }
    let output = client
        .arg(program("countersign"))
        .arg("serve")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    eprintln!("{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        output.status.success(),
        "the client ended with {}",
        output.status
    );
    assert!(said.ends_with("session over\n"));

    assert_eq!(site.count("note"), 1, "one click, one note");
    let posted = site.wait_for_request("/effect/note");
    assert_eq!(posted.body, "note=Buy+oat+milk");
    assert!(
        site.requests_to("evil.test").is_empty(),
        "nothing reached the site off the list"
    );
    let passphrase = home.passphrase_file();
    let passphrase = passphrase.to_str().unwrap();
    let verified = home.run_well(&["audit", "verify", "--passphrase-file", passphrase]);
    assert!(verified.starts_with("Sound: "), "{verified}");
}

/// A command with nothing of the caller's environment but what an ordinary login gives.
fn plain(home: &Home, program: std::path::PathBuf) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", "/usr/bin:/bin")
        .env("LANG", "C.UTF-8")
        .env("TMPDIR", home.path());
    if let Some(run) = std::env::var_os("COUNTERSIGN_RUN") {
        command.env("COUNTERSIGN_RUN", run);
    }
    command
}

fn python(home: &Home, mode: &str) -> Command {
    let mut command = plain(home, tree().join(".venv/bin/python"));
    command
        .arg(tree().join("tests/clients/python_sdk.py"))
        .args(["--mode", mode]);
    command
}

#[test]
fn python_sdk_with_the_handshake() {
    session(|home| python(home, "legacy"));
}

#[test]
fn python_sdk_choosing_the_revision_itself() {
    session(|home| python(home, "auto"));
}

#[test]
fn inspector() {
    session(|home| plain(home, tree().join("tests/clients/inspector.sh")));
}
