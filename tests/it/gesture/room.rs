//! A site, a home, a browser and a session in one, for tests about pages.

use serde_json::{Value, json};

use crate::support::browser::Browser;
use crate::support::client::{Client, Reply};
use crate::support::home::Home;
use crate::support::site::Site;

/// The site that the session works on.
pub(crate) const SHOP: &str = "shop.test";
/// Another listed site.
pub(crate) const BANK: &str = "bank.test";
/// One that is not on the list.
pub(crate) const EVIL: &str = "evil.test";

/// A running session. The fields drop in this order: the client ends before the browser.
pub(crate) struct Room {
    pub(crate) client: Client,
    pub(crate) browser: Browser,
    pub(crate) home: Home,
    pub(crate) site: Site,
}

/// What one observation said.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) tab: Value,
    pub(crate) snapshot: Value,
    pub(crate) lines: Vec<String>,
    pub(crate) server: Value,
    pub(crate) page: Value,
}

impl Room {
    /// A session for [`SHOP`] and [`BANK`] on a browser without a screen.
    pub(crate) fn new() -> Self {
        Self::with(&[])
    }

    /// The same with more arguments for the browser.
    pub(crate) fn with(arguments: &[&str]) -> Self {
        Self::build(None, arguments, &|text| text)
    }

    /// The same with the operator's profile changed by hand.
    pub(crate) fn edited(edit: &dyn Fn(String) -> String) -> Self {
        Self::build(None, &[], edit)
    }

    /// The same with the browser on a display; the server has none.
    pub(crate) fn on(display: &str) -> Self {
        Self::build(Some(display), &[], &|text| text)
    }

    /// The same with a browser that downloads into a folder of the home, which is returned.
    pub(crate) fn downloading() -> (Self, std::path::PathBuf) {
        let mut folder = None;
        let room = Self::prepared(None, &[], &|text| text, &mut |home| {
            let downloads = home.path().join("Downloads");
            let settings = home.browser_profile().join("Default");
            std::fs::create_dir(&downloads).unwrap();
            std::fs::create_dir_all(&settings).unwrap();
            let preferences =
                json!({"download": {"default_directory": downloads, "prompt_for_download": false}});
            std::fs::write(settings.join("Preferences"), preferences.to_string()).unwrap();
            folder = Some(downloads);
        });
        (room, folder.unwrap())
    }

    fn build(display: Option<&str>, arguments: &[&str], edit: &dyn Fn(String) -> String) -> Self {
        Self::prepared(display, arguments, edit, &mut |_| {})
    }

    fn prepared(
        display: Option<&str>,
        arguments: &[&str],
        edit: &dyn Fn(String) -> String,
        prepare: &mut dyn FnMut(&Home),
    ) -> Self {
        let site = Site::start();
        let home = Home::for_sites(&[site.origin(SHOP), site.origin(BANK)]);
        home.edit_profile(|text| {
            let limits = "[limits]\nactions_per_second = 20\nactions_per_session = 5000\nnavigations_per_session = 2000\nopen_tabs = 32\n";
            edit(text.replacen("[limits]\n", limits, 1))
        });
        prepare(&home);
        let browser = Browser::start(&home.browser_profile(), display, arguments);
        let client = home.connect();
        Self {
            client,
            browser,
            home,
            site,
        }
    }

    /// Opens a page of the shop's, given as its body.
    pub(crate) fn open(&mut self, path: &str, body: &str) -> Value {
        let html = format!(
            "<!doctype html><html lang=en><meta charset=utf-8><title>Shop</title><body style='font:18px sans-serif'>{body}"
        );
        self.site.page(&format!("{SHOP}{path}"), &html);
        self.go(path)
    }

    /// Opens an address of the shop's in a tab of its own.
    pub(crate) fn go(&mut self, path: &str) -> Value {
        let url = self.site.url(SHOP, path);
        self.patiently("open_tab", json!({"url": url})).server()["tab"].clone()
    }

    /// Opens a page and looks at it.
    pub(crate) fn show(&mut self, path: &str, body: &str) -> Seen {
        let tab = self.open(path, body);
        self.look(&tab)
    }

    /// Looks at a tab, without a picture.
    pub(crate) fn look(&mut self, tab: &Value) -> Seen {
        self.seen(tab, false).0
    }

    /// Looks at a tab, with the picture decoded.
    pub(crate) fn picture(&mut self, tab: &Value) -> (Seen, image::RgbaImage) {
        let (seen, reply) = self.seen(tab, true);
        let (kind, bytes) = reply.image().expect("a picture");
        assert_eq!(kind, "image/png");
        let picture = image::load_from_memory(&bytes).unwrap().into_rgba8();
        (seen, picture)
    }

    /// Looks at a tab with a picture, which may be withheld.
    pub(crate) fn picture_or_not(&mut self, tab: &Value) -> (Seen, Reply) {
        self.seen(tab, true)
    }

    fn seen(&mut self, tab: &Value, image: bool) -> (Seen, Reply) {
        let reply = self.patiently("observe", json!({"tab": tab, "image": image}));
        let (server, page) = (reply.server(), reply.page());
        let lines = page["text"].as_array().unwrap();
        let seen = Seen {
            tab: tab.clone(),
            snapshot: server["snapshot_id"].clone(),
            lines: lines
                .iter()
                .map(|l| l.as_str().unwrap().to_owned())
                .collect(),
            server,
            page,
        };
        (seen, reply)
    }

    /// Clicks a mark of an observation.
    pub(crate) fn click(&mut self, seen: &Seen, needle: &str) -> Reply {
        let arguments = json!({"snapshot_id": seen.snapshot, "mark": seen.mark(needle)});
        self.patiently("click", arguments)
    }

    /// Fills one.
    pub(crate) fn fill(&mut self, seen: &Seen, needle: &str, text: &str) -> Reply {
        let arguments =
            json!({"snapshot_id": seen.snapshot, "mark": seen.mark(needle), "text": text});
        self.patiently("fill", arguments)
    }

    /// Chooses options of one.
    pub(crate) fn select(&mut self, seen: &Seen, needle: &str, options: &[&str]) -> Reply {
        let arguments =
            json!({"snapshot_id": seen.snapshot, "mark": seen.mark(needle), "options": options});
        self.patiently("select_option", arguments)
    }

    /// Presses a key on one.
    pub(crate) fn press(&mut self, seen: &Seen, needle: &str, key: &str) -> Reply {
        let arguments =
            json!({"snapshot_id": seen.snapshot, "mark": seen.mark(needle), "key": key});
        self.patiently("press_key", arguments)
    }

    /// Calls a tool; where the rate is spent, waits as long as the reply says and calls again.
    pub(crate) fn patiently(&mut self, tool: &str, arguments: Value) -> Reply {
        loop {
            let reply = self.client.call(tool, arguments.clone());
            if !(reply.is_refusal() && reply.code() == "A102") {
                return reply;
            }
            let ms = reply.refusal()["details"]["retry_after_ms"].as_u64();
            std::thread::sleep(std::time::Duration::from_millis(ms.unwrap()));
        }
    }
}

impl Seen {
    /// The number of the mark that stands nearest before `needle`.
    pub(crate) fn mark(&self, needle: &str) -> u64 {
        self.find(needle)
            .unwrap_or_else(|| panic!("no mark {needle:?} in {:#?}", self.lines))
    }

    /// The same, unless there is none.
    pub(crate) fn find(&self, needle: &str) -> Option<u64> {
        self.lines
            .iter()
            .flat_map(|line| {
                line.match_indices(needle)
                    .map(move |(at, _)| line[..at].rsplit_once('['))
            })
            .flatten()
            .find_map(|(_, mark)| mark.split_once(']')?.0.parse().ok())
    }

    /// All lines as one text.
    pub(crate) fn text(&self) -> String {
        self.lines.join("\n")
    }

    /// Whether any line has this.
    pub(crate) fn says(&self, needle: &str) -> bool {
        self.lines.iter().any(|line| line.contains(needle))
    }
}

/// The code of a call that must have been refused with nothing done.
#[track_caller]
pub(crate) fn refused(reply: &Reply, code: &str) {
    let refusal = reply.refusal();
    assert_eq!(refusal["code"], code, "{refusal}");
    assert_eq!(refusal["effect"], "none", "{refusal}");
}
