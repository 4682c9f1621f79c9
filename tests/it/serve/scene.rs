//! A home, a browser, a site with a payment, and where it is wanted a screen with a person.

use std::process::Output;

use countersign::confirm::protocol::{ALLOW_AT, DENY_AT};
use serde_json::{Value, json};

use crate::support::browser::Browser;
use crate::support::client::{Client, Reply};
use crate::support::home::Home;
use crate::support::site::Site;
use crate::support::x::{Screen, until};

/// The title of the window that asks.
const TITLE: &str = "countersign asks you";

/// A site with a page that pays, a home for it, and its browser.
pub(crate) struct Scene {
    // Fields end in this order: the browser before the home it writes to.
    pub(crate) browser: Browser,
    pub(crate) home: Home,
    pub(crate) site: Site,
    screen: Option<Screen>,
}

impl Scene {
    /// Without a display: nobody can be asked.
    pub(crate) fn without_a_person(edit: impl FnOnce(String) -> String) -> Self {
        Self::new(None, edit)
    }

    /// With a screen on which the window appears.
    pub(crate) fn with_a_person(edit: impl FnOnce(String) -> String) -> Self {
        Self::new(Some(Screen::managed("1024x600")), edit)
    }

    fn new(screen: Option<Screen>, edit: impl FnOnce(String) -> String) -> Self {
        let site = Site::start();
        site.page("/pay", &pay("paid"));
        let mut home = Home::for_sites(&[site.origin("shop.test")]);
        home.edit_profile(edit);
        if let Some(screen) = &screen {
            home = home.on(screen.display());
        }
        Self {
            browser: home.browser(),
            home,
            site,
            screen,
        }
    }

    /// The screen.
    pub(crate) fn screen(&self) -> &Screen {
        self.screen.as_ref().unwrap()
    }

    /// Opens a page of the shop.
    pub(crate) fn open(&self, client: &mut Client, path: &str) -> Reply {
        client.call("open_tab", json!({"url": self.site.url("shop.test", path)}))
    }

    /// Opens the payment and begins the click that pays; the request's id.
    pub(crate) fn begin_to_pay(&self, client: &mut Client) -> u64 {
        let opened = self.open(client, "/pay");
        client.begin_call("click", named(&opened, "Pay now"))
    }

    /// Waits for the window that asks.
    pub(crate) fn window(&self) -> String {
        let screen = self.screen();
        let id = screen.window(TITLE);
        screen.focused(&id);
        id
    }

    /// Allows what the open window asks. Until it is awake it takes no click, so it is clicked until it is gone.
    pub(crate) fn allow(&self) {
        self.click_away(ALLOW_AT);
    }

    /// Denies it.
    pub(crate) fn deny(&self) {
        self.click_away(DENY_AT);
    }

    fn click_away(&self, (x, y): (i32, i32)) {
        let (screen, id) = (self.screen(), self.window());
        until("the window takes the click", || {
            let Some(place) = screen.place_if_there(&id) else {
                return true;
            };
            screen.click((place.left + place.width - x, place.top + place.height - y));
            false
        });
    }

    /// Waits until no window asks any more.
    pub(crate) fn no_window(&self) {
        until("the window is gone", || {
            self.screen().windows(TITLE).is_empty()
        });
    }
}

/// A page with a payment whose effect is counted under this name.
pub(crate) fn pay(effect: &str) -> String {
    format!(
        "<!doctype html><title>Shop</title><h1>Basket</h1><p>Total EUR 249.00</p>\
         <form action=/effect/{effect} method=post><label>Your note <input name=note></label>\
         <p><button>Pay now</button></form>"
    )
}

/// The arguments that name an element of a reply by its name.
pub(crate) fn named(reply: &Reply, name: &str) -> Value {
    let page = reply.page();
    let lines = page["text"].as_array().unwrap();
    let mark = lines.iter().find_map(|line| mark(line.as_str()?, name));
    let mark = mark.unwrap_or_else(|| panic!("no {name:?} in {page}"));
    json!({"snapshot_id": reply.server()["snapshot_id"], "mark": mark})
}

/// The mark in `[3] button "Pay now"`.
fn mark(line: &str, name: &str) -> Option<u64> {
    let before = line
        .split_once(&format!(" \"{name}\""))
        .map(|(before, _)| before);
    let (number, _role) = before?.rsplit_once('[')?.1.split_once("] ")?;
    number.parse().ok()
}

/// Runs `countersign audit` with the passphrase.
pub(crate) fn audit(home: &Home, arguments: &[&str]) -> Output {
    let passphrase = home.passphrase_file();
    let mut all = vec!["audit"];
    all.extend(arguments);
    all.extend(["--passphrase-file", passphrase.to_str().unwrap()]);
    home.run(&all)
}

/// What `audit verify --json` says; the journal must be sound.
pub(crate) fn verified(home: &Home, more: &[&str]) -> Value {
    let mut arguments = vec!["verify", "--json"];
    arguments.extend(more);
    let output = audit(home, &arguments);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{report}");
    assert_eq!(report["sound"], true, "{report}");
    report
}

/// The entries of the journal.
pub(crate) fn entries(home: &Home) -> Vec<Value> {
    let output = audit(home, &["list", "--json"]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["entry"].take())
        .inspect(|entry| assert!(entry["kind"].is_string(), "{entry}"))
        .collect()
}

/// How the questions of the journal ended, in order.
pub(crate) fn endings(home: &Home) -> Vec<String> {
    let all = entries(home);
    all.iter()
        .filter(|entry| entry["kind"] == "answered")
        .map(|entry| {
            entry["ending"]
                .as_str()
                .unwrap_or_else(|| panic!("{entry}"))
                .to_owned()
        })
        .collect()
}

/// One check of `doctor --json`.
pub(crate) fn doctor(home: &Home, name: &str) -> Value {
    let output = home.run(&["doctor", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.success(), report["ok"] == true, "{report}");
    let checks = report["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == name);
    check
        .unwrap_or_else(|| panic!("no {name} in {report}"))
        .clone()
}

/// The profile as setup made it.
pub(crate) fn as_it_is(text: String) -> String {
    text
}

/// The profile with a shorter time to answer.
pub(crate) fn answer_within(seconds: u32) -> impl FnOnce(String) -> String {
    move |text| {
        let changed = text.replace(
            "deadline_seconds = 90",
            &format!("deadline_seconds = {seconds}"),
        );
        assert_ne!(changed, text);
        changed
    }
}

/// The profile with one more limit.
pub(crate) fn limit(text: String, line: &str) -> String {
    let changed = text.replace("[limits]\n", &format!("[limits]\n{line}\n"));
    assert_ne!(changed, text);
    changed
}
