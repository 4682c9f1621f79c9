//! The operator's first hour, command by command.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::scene::{audit, doctor, entries, named, pay, verified};
use crate::support::home::Home;
use crate::support::site::Site;
use crate::support::x::Screen;

#[test]
fn from_setup_to_the_journal() {
    let site = Site::start();
    site.page("/pay", &pay("paid"));
    let screen = Screen::bare("1024x600");
    let home = Home::empty().on(screen.display());
    let passphrase = home.passphrase_file();
    let passphrase = passphrase.to_str().unwrap();
    let origin = site.origin("shop.test");

    // Before: everything says what is missing, and that it is setup.
    let before = home.run(&["serve"]);
    assert_eq!(before.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&before.stderr).contains("countersign setup"));
    assert_eq!(
        home.run(&["setup"]).status.code(),
        Some(2),
        "no site, no setup"
    );

    let said = home.run_well(&["setup", "--site", &origin, "--passphrase-file", passphrase]);
    assert!(said.trim_end().ends_with("countersign browser"), "{said}");
    let (from, to) = (said.find('{').unwrap(), said.rfind('}').unwrap());
    let entry: Value = serde_json::from_str(&said[from..=to]).unwrap();
    assert_eq!(entry["mcpServers"]["countersign"]["args"], json!(["serve"]));
    for directory in [
        home.state(),
        home.browser_profile(),
        home.state().join("journal"),
    ] {
        let mode = fs::metadata(&directory).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{}", directory.display());
    }

    assert!(home.run_well(&["policy", "check"]).contains("is fine"));
    let shown = home.run_well(&["policy", "show"]);
    assert!(
        shown.contains(&origin) && shown.contains("payments"),
        "{shown}"
    );

    let _browser = home.browser();
    let mut client = home.connect();
    let opened = client.call("open_tab", json!({"url": site.url("shop.test", "/pay")}));
    let mut field = named(&opened, "Your note");
    field["text"] = json!("hello");
    client.call("fill", field).server();
    assert_eq!(client.finish().code(), Some(0));

    let report = doctor(&home, "browser");
    assert_eq!(report["state"], "ok", "{report}");
    let all = home.run(&["doctor", "--json"]);
    assert_eq!(
        all.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&all.stdout)
    );

    let kinds: Vec<String> = entries(&home)
        .iter()
        .map(|entry| entry["kind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        kinds,
        [
            "started", "intent", "outcome", "intent", "outcome", "closed"
        ]
    );
    let shown = audit(&home, &["show", "4"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("fill") && shown.contains(&origin), "{shown}");
    assert!(
        !shown.contains("hello"),
        "what was typed is not kept: {shown}"
    );
    verified(&home, &[]);
    let missing = audit(&home, &["show", "99"]);
    assert_eq!(missing.status.code(), Some(4));
}

#[test]
fn setup_again_changes_nothing() {
    let home = Home::for_sites(&["https://shop.example".to_owned()]);
    let config = home.profile_file().parent().unwrap().to_owned();
    let read = || {
        let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(&config)
            .unwrap()
            .map(|entry| {
                let path = entry.unwrap().path();
                (path.display().to_string(), fs::read(&path).unwrap())
            })
            .collect();
        files.sort();
        files
    };
    let before = read();
    assert!(before.len() >= 3, "profile, identity, recipient");
    let passphrase = home.passphrase_file();
    let again = home.run_well(&[
        "setup",
        "--site",
        "https://other.example",
        "--passphrase-file",
        passphrase.to_str().unwrap(),
    ]);
    assert!(
        again.contains("were not added") && again.contains("countersign policy check"),
        "{again}"
    );
    assert_eq!(read(), before);
}
