//! What is missing or wrong around the server: each a clear refusal or end with the way out, the same in `doctor`.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::{Value, json};

use super::scene::{Scene, as_it_is, doctor, entries, named, verified};
use crate::support::browser::Browser;
use crate::support::client::Client;
use crate::support::home::Home;
use crate::support::program;

fn home() -> Home {
    Home::for_sites(&["https://shop.example".to_owned()])
}

/// What a client is told: by `status`, which always answers, and by a tool that needs the browser.
fn told(home: &Home) -> String {
    let mut client = home.connect();
    let browser = client.call("status", json!({})).server()["browser"].clone();
    assert_eq!(browser["connected"], false, "{browser}");
    let refusal = client
        .call("open_tab", json!({"url": "https://shop.example/"}))
        .refusal();
    assert_eq!(refusal["code"], browser["code"]);
    assert_eq!(refusal["effect"], "none");
    assert!(refusal["details"]["reason"].is_string(), "{refusal}");
    let suggestion = refusal["suggestion"].as_str().unwrap();
    assert!(suggestion.contains("countersign"), "{suggestion}");
    assert_eq!(client.finish().code(), Some(0));
    refusal["code"].as_str().unwrap().to_owned()
}

fn way_out(check: &Value) -> &str {
    assert_ne!(check["state"], "ok", "{check}");
    check["way_out"]
        .as_str()
        .unwrap_or_else(|| panic!("no way out in {check}"))
}

#[test]
fn no_browser_and_a_port_file_left_over() {
    let home = home();
    assert_eq!(told(&home), "B901");
    assert!(way_out(&doctor(&home, "browser")).contains("countersign browser"));
    home.browser().kill();
    assert_eq!(told(&home), "B902");
    assert!(way_out(&doctor(&home, "browser")).contains("countersign browser"));
}

#[test]
fn a_browser_on_another_profile() {
    let (home, elsewhere) = (home(), tempfile::tempdir().unwrap());
    let other = Browser::headless(&elsewhere.path().join("profile"));
    fs::copy(
        other.profile().join("DevToolsActivePort"),
        home.browser_profile().join("DevToolsActivePort"),
    )
    .unwrap();
    assert_eq!(told(&home), "B904");
    way_out(&doctor(&home, "browser"));
}

#[test]
fn a_listener_that_is_no_browser() {
    let home = home();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let id = "4b257bf6-2153-43d6-876f-205eef7921df";
    fs::write(
        home.browser_profile().join("DevToolsActivePort"),
        format!("{port}\n/devtools/browser/{id}"),
    )
    .unwrap();
    assert_eq!(told(&home), "B903");
    way_out(&doctor(&home, "browser"));
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "something was said to it");
}

#[test]
fn a_profile_directory_that_others_can_enter() {
    let home = home();
    let _browser = home.browser();
    fs::set_permissions(home.browser_profile(), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(told(&home), "B911");
    assert!(way_out(&doctor(&home, "browser profile")).contains("chmod"));
}

#[test]
fn a_browser_that_comes_and_goes_while_serving() {
    let scene = Scene::without_a_person(as_it_is);
    let Scene {
        mut browser,
        home,
        site,
        ..
    } = scene;
    let mut client = home.connect();
    let url = json!({"url": site.url("shop.test", "/pay")});
    let opened = client.call("open_tab", url.clone());
    let old = named(&opened, "Pay now");
    browser.kill();
    // The loss is said once, and what was seen over the lost connection is void.
    let codes: Vec<String> = (0..3)
        .map(|_| client.call("list_tabs", json!({})).code())
        .collect();
    assert_eq!(codes, ["B906", "B902", "B902"]);
    let _again = home.browser();
    assert_eq!(
        client.call("status", json!({})).server()["browser"]["connected"],
        true
    );
    assert_eq!(client.call("click", old).code(), "M201");
    client.call("open_tab", url).server();
    assert_eq!(client.finish().code(), Some(0));
    assert_eq!(site.count("paid"), 0);
}

#[test]
fn no_display() {
    let scene = Scene::without_a_person(as_it_is);
    let mut client = scene.home.connect();
    assert_eq!(client.call("status", json!({})).server()["asks_by"], "none");
    let id = scene.begin_to_pay(&mut client);
    let refusal = client.wait_call(id, crate::support::PATIENCE).refusal();
    assert_eq!(
        (&refusal["code"], &refusal["effect"]),
        (&json!("L404"), &json!("none"))
    );
    assert!(
        refusal["suggestion"]
            .as_str()
            .unwrap()
            .contains("countersign doctor")
    );
    assert_eq!(super::scene::endings(&scene.home), ["undeliverable"]);
    assert!(way_out(&doctor(&scene.home, "display")).contains("DISPLAY"));
    assert!(way_out(&doctor(&scene.home, "window")).contains("DISPLAY"));
    assert_eq!(scene.site.count("paid"), 0);
}

/// A server that must not start: its exit code and what it says on standard error.
fn stopped(home: &Home) -> (Option<i32>, String) {
    let output = home.run(&["serve"]);
    assert!(
        output.stdout.is_empty(),
        "standard output is the protocol's"
    );
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn a_profile_that_is_not_as_it_must_be() {
    let home = home();
    let sound = fs::read_to_string(home.profile_file()).unwrap();
    for (text, word) in [
        (format!("bogus = 1\n{sound}"), "bogus"),
        (
            sound.replace("https://shop.example", "shop.example"),
            "shop.example",
        ),
        (
            sound.replace("https://shop.example", "https://*.co.uk"),
            "co.uk",
        ),
        ("version = 1\n".to_owned(), "site"),
        (String::new(), "version"),
        ("= not toml".to_owned(), "line 1"),
    ] {
        fs::write(home.profile_file(), &text).unwrap();
        let (code, said) = stopped(&home);
        assert_eq!(code, Some(2), "{said}");
        assert!(
            said.starts_with("countersign: ") && said.contains("profile.toml"),
            "{said}"
        );
        assert!(said.contains(word), "{word}: {said}");
        assert!(way_out(&doctor(&home, "profile")).contains("countersign policy check"));
        let checked = home.run(&["policy", "check"]);
        assert_eq!(checked.status.code(), Some(3), "{checked:?}");
        assert!(
            String::from_utf8_lossy(&checked.stdout).contains(word),
            "{checked:?}"
        );
    }
    fs::write(home.profile_file(), &sound).unwrap();
    fs::set_permissions(home.profile_file(), fs::Permissions::from_mode(0o666)).unwrap();
    let (code, said) = stopped(&home);
    assert_eq!(code, Some(2));
    assert!(said.contains("chmod go-w"), "{said}");
    fs::remove_file(home.profile_file()).unwrap();
    let (code, said) = stopped(&home);
    assert_eq!(code, Some(2));
    assert!(said.contains("countersign setup"), "{said}");
}

#[test]
fn a_journal_that_cannot_be_written_stops_the_start() {
    let home = home();
    let journal = home.state().join("journal");
    let chmod = |mode| fs::set_permissions(&journal, fs::Permissions::from_mode(mode)).unwrap();
    for mode in [0o500, 0o755] {
        chmod(mode);
        let (code, said) = stopped(&home);
        assert_eq!(code, Some(4), "{said}");
        assert!(
            said.contains("journal") && said.contains("countersign doctor"),
            "{said}"
        );
        way_out(&doctor(&home, "journal"));
    }
    chmod(0o700);
    fs::remove_dir_all(&journal).unwrap();
    fs::write(&journal, "not a directory").unwrap();
    let (code, said) = stopped(&home);
    assert_eq!(code, Some(4), "{said}");
    way_out(&doctor(&home, "journal"));
    fs::remove_file(&journal).unwrap();
    let key = fs::read_dir(home.profile_file().parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().contains("recipient"))
        .unwrap();
    fs::remove_file(key).unwrap();
    let (code, said) = stopped(&home);
    assert_eq!(code, Some(4), "{said}");
    assert!(way_out(&doctor(&home, "journal key")).contains("countersign setup"));
}

#[test]
fn two_servers_do_not_share_a_journal() {
    let home = home();
    let client = home.connect();
    let (code, said) = stopped(&home);
    assert_eq!(code, Some(4));
    assert!(said.contains("only one may serve"), "{said}");
    assert_eq!(client.finish().code(), Some(0));
    verified(&home, &[]);
}

/// A file system that is full, as a limit on the size of files that the server inherits.
#[test]
fn a_journal_that_fills_up_ends_all_action_and_loses_nothing() {
    let home = home();
    let plain = home.command(&["serve"]);
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", "trap '' XFSZ; ulimit -f 24; exec \"$0\" serve"])
        .arg(program("countersign"))
        .env_clear()
        .envs(
            plain
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(home.path());
    let mut client = Client::connect(command);
    let mut receipts = Vec::new();
    let failed = (0..100).find_map(|_| {
        let refusal = client.call("list_tabs", json!({})).refusal();
        let code = refusal["code"].as_str().unwrap().to_owned();
        if code == "B901" {
            receipts.push(refusal["server"]["receipt"].as_str().unwrap().to_owned());
            return None;
        }
        (code != "A102").then_some(refusal)
    });
    let refusal = failed.expect("the limit is reached");
    assert!(
        ["J701", "J702"].contains(&refusal["code"].as_str().unwrap()),
        "{refusal}"
    );
    assert!(receipts.len() > 2, "{receipts:?}");
    // A failed write is final.
    let after = client
        .call("open_tab", json!({"url": "https://shop.example/"}))
        .refusal();
    assert_eq!(after["code"], "J702", "{after}");
    assert_eq!(client.finish().code(), Some(0));

    // Every entry that was acknowledged is there, and the next server goes on after it.
    let mut next = home.connect();
    assert_eq!(next.call("status", json!({})).server()["outcome"], "done");
    assert_eq!(next.finish().code(), Some(0));
    for receipt in &receipts {
        verified(&home, &["--receipt", receipt]);
    }
    assert!(entries(&home).len() > receipts.len());
}
