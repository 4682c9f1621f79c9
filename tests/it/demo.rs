//! The demo's story, asserted: a shop and a bank, a person's own browser, a real window on a screen, and effects
//! counted at the sites' server. And what is typed in it, looked for in everything that leaves the server.

use std::fs;
use std::path::Path;
use std::time::Duration;

use countersign::cli::demo::site::{BANK, DemoSite, OFF_LIST, SHOP};
use countersign::confirm::protocol::{ALLOW_AT, DENY_AT, WAKE};
use serde_json::{Value, json};

use crate::support::browser::Browser;
use crate::support::client::{Client, Reply};
use crate::support::home::Home;
use crate::support::x::{PATIENCE, Screen};

const TITLE: &str = "countersign asks you";
/// What nobody answers in the story, in seconds: long enough that a busy machine still shows the window.
const DEADLINE: u32 = 10;

/// Everything that runs, and the client's tab. Fields end in this order.
struct Walk {
    client: Client,
    _browser: Browser,
    home: Home,
    screen: Screen,
    site: DemoSite,
    _runtime: tokio::runtime::Runtime,
    receipts: Vec<String>,
    pictures: Vec<(String, Vec<u8>)>,
    /// The lines of the last look, and its snapshot.
    lines: Vec<String>,
    snapshot: Value,
    tab: Value,
}

/// How the person answers.
#[derive(Clone, Copy, PartialEq)]
enum Hand {
    Away,
    Allows,
    Denies,
}

impl Walk {
    fn begin() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let site = runtime.block_on(DemoSite::start()).unwrap();
        let screen = Screen::managed("1280x960");
        let home = Home::for_sites(&[site.origin(SHOP), site.origin(BANK)]).on(screen.display());
        home.edit_profile(|text| {
            text.replace(
                "deadline_seconds = 90",
                &format!("deadline_seconds = {DEADLINE}"),
            )
            .replace("# actions_per_session = 600", "actions_per_second = 20")
        });
        // The person logs in to both, in tabs of their own.
        let log_in = [SHOP, BANK].map(|host| format!("{}/session", site.origin(host)));
        let browser = Browser::start(
            &home.browser_profile(),
            Some(screen.display()),
            &[&log_in[0], &log_in[1]],
        );
        assert!(runtime.block_on(site.signed_in(PATIENCE)));
        let client = home.connect();
        Self {
            client,
            _browser: browser,
            home,
            screen,
            site,
            _runtime: runtime,
            receipts: Vec::new(),
            pictures: Vec::new(),
            lines: Vec::new(),
            snapshot: Value::Null,
            tab: Value::Null,
        }
    }

    /// A call; waited for and made again where the server asks for a slower pace.
    fn call(&mut self, tool: &str, arguments: &Value) -> Reply {
        loop {
            let reply = self.client.call(tool, arguments.clone());
            match reply.0["structuredContent"]["details"]["retry_after_ms"].as_u64() {
                Some(pause) => std::thread::sleep(Duration::from_millis(pause)),
                None => return self.keep(tool, reply),
            }
        }
    }

    fn keep(&mut self, tool: &str, reply: Reply) -> Reply {
        let receipt = &reply.0["structuredContent"]["server"]["receipt"];
        self.receipts
            .push(receipt.as_str().expect("every reply has one").to_owned());
        if let Some((kind, bytes)) = reply.image() {
            assert_eq!(kind, "image/png");
            self.pictures.push((tool.to_owned(), bytes));
        }
        reply
    }

    fn open(&mut self, host: &str, path: &str) {
        let url = format!("{}{path}", self.site.origin(host));
        let opened = self.call("open_tab", &json!({"url": url}));
        self.tab = opened.server()["tab"].clone();
        self.look();
    }

    /// Observes once the page has loaded.
    fn look(&mut self) {
        let tab = self.tab.clone();
        self.call("wait_for", &json!({"tab": tab, "loaded": true}))
            .server();
        let seen = self.call("observe", &json!({"tab": tab}));
        self.snapshot = seen.server()["snapshot_id"].clone();
        let page = seen.page();
        let lines = page["text"].as_array().unwrap();
        self.lines = lines
            .iter()
            .map(|line| line.as_str().unwrap().to_owned())
            .collect();
    }

    /// Scrolls down until a control is in sight.
    fn find(&mut self, control: &str) {
        for _ in 0..3 {
            if self.shows(&format!("] {control}")) {
                return;
            }
            let tab = self.tab.clone();
            self.call("scroll", &json!({"tab": tab, "direction": "down"}))
                .server();
            self.look();
        }
    }

    fn shows(&self, text: &str) -> bool {
        self.lines.iter().any(|line| line.contains(text))
    }

    /// The number of the mark that is written so, and the rest of its line.
    fn marked(&self, written: &str) -> (u64, String) {
        let found = self.lines.iter().find_map(|line| {
            let (before, after) = line.split_once(&format!("] {written}"))?;
            let number = before.rsplit_once('[')?.1.parse().ok()?;
            Some((number, after.to_owned()))
        });
        found.unwrap_or_else(|| panic!("no {written} in {:#?}", self.lines))
    }

    fn named(&self, written: &str) -> Value {
        json!({"snapshot_id": self.snapshot, "mark": self.marked(written).0})
    }

    fn fill(&mut self, field: &str, text: &str) {
        let mut arguments = self.named(field);
        arguments["text"] = json!(text);
        let server = self.call("fill", &arguments).server();
        assert_eq!(server["field_holds_it"], true, "{field}: {server}");
    }

    fn choose(&mut self, field: &str, option: &str) {
        let mut arguments = self.named(field);
        arguments["options"] = json!([option]);
        self.call("select_option", &arguments).server();
    }

    /// Clicks what nothing locks, and looks.
    fn click(&mut self, control: &str) {
        self.find(control);
        let arguments = self.named(control);
        let server = self.call("click", &arguments).server();
        assert_eq!(server.get("allowed_by"), None, "{control} is free");
        self.look();
    }

    /// Clicks what is locked, with the person at the window.
    fn ask(&mut self, control: &str, hand: Hand) -> Reply {
        self.find(control);
        let arguments = self.named(control);
        self.ask_for("click", arguments, hand)
    }

    /// Opens what is locked by its very address.
    fn open_allowed(&mut self, host: &str, path: &str) {
        let url = format!("{}{path}", self.site.origin(host));
        let opened = self
            .ask_for("open_tab", json!({"url": url}), Hand::Allows)
            .server();
        assert_eq!(opened["allowed_by"], "person");
        self.tab = opened["tab"].clone();
        self.look();
    }

    fn ask_for(&mut self, tool: &str, arguments: Value, hand: Hand) -> Reply {
        let id = self.client.begin_call(tool, arguments);
        let window = self.screen.window(TITLE);
        let at = match hand {
            Hand::Away => None,
            Hand::Allows => Some(ALLOW_AT),
            Hand::Denies => Some(DENY_AT),
        };
        if let Some((right, up)) = at {
            // Nothing outside the window's own process is told when it wakes.
            std::thread::sleep(WAKE + Duration::from_millis(500));
            let place = self.screen.place(&window);
            self.screen.click((
                place.left + place.width - right,
                place.top + place.height - up,
            ));
        }
        let reply = self.client.wait_call(id, PATIENCE);
        assert!(self.screen.windows(TITLE).is_empty(), "the window has gone");
        self.keep(tool, reply)
    }

    fn audit(&self, words: &[&str]) -> String {
        let file = self.home.passphrase_file();
        let mut all = vec!["audit"];
        all.extend(words);
        all.extend(["--passphrase-file", file.to_str().unwrap()]);
        self.home.run_well(&all)
    }

    /// From the shop's list to its payment form, card filled in.
    fn up_to_payment(&mut self, card: &str, code: &str) {
        self.open(SHOP, "/");
        assert!(self.shows("Anna Berger"), "the person's own session");
        self.fill("searchbox \"Search the shop\"", "linen");
        self.click("button \"Search\"");
        self.click("link \"Linen shirt");
        self.choose("combobox \"Size\"", "M");
        self.click("button \"Add to basket\"");
        assert_eq!(self.site.counters().baskets, 1);
        self.click("link \"Go to checkout\"");
        self.fill("textbox \"Full name\"", "Anna Berger");
        self.fill("textbox \"Street and number\"", "Mill Lane 2");
        self.fill("textbox \"Postcode\"", "10115");
        self.fill("textbox \"City\"", "Berlin");
        self.choose("combobox \"Country\"", "Germany");
        self.click("button \"Continue to payment\"");
        self.fill("textbox \"Name on card\"", "Anna Berger");
        self.fill("textbox \"Card number\"", card);
        self.fill("textbox \"Expiry (MM/YY)\"", "12/30");
        self.fill("textbox \"Security code\"", code);
        self.look();
    }
}

#[test]
fn the_story_of_the_demo() {
    let mut walk = Walk::begin();
    walk.up_to_payment("4111 1111 1111 1111", "123");

    let refused = walk.ask("button \"Pay 42.50", Hand::Away);
    assert_eq!(refused.code(), "L402");
    assert_eq!(refused.refusal()["effect"], "none");
    assert_eq!(walk.site.counters().payments, 0, "nobody answered");

    walk.look();
    let denied = walk.ask("button \"Pay 42.50", Hand::Denies);
    assert_eq!(denied.code(), "L401");
    assert_eq!(walk.site.counters().payments, 0, "the person refused");

    walk.look();
    let allowed = walk.ask("button \"Pay 42.50", Hand::Allows).server();
    assert_eq!(allowed["allowed_by"], "person");
    assert_eq!(allowed["outcome"], "done");
    assert_eq!(walk.site.counters().payments, 1, "the person allowed one");
    walk.look();
    assert!(walk.shows("LL-2041"), "{:#?}", walk.lines);

    let track = walk.named("link \"Track a parcel\"");
    let stopped = walk.call("click", &track);
    assert!(
        stopped.0.to_string().contains("departure_stopped") || stopped.code() == "S306",
        "{}",
        stopped.0
    );
    let address = format!("{}/parcel-prize", walk.site.origin(OFF_LIST));
    assert_eq!(
        walk.call("open_tab", &json!({"url": address})).code(),
        "S301"
    );
    let partner = format!("{}/partner", walk.site.origin(SHOP));
    let tab = walk.tab.clone();
    let redirected = walk.call("navigate", &json!({"tab": tab, "url": partner}));
    assert!(redirected.is_refusal(), "{}", redirected.0);
    let counters = walk.site.counters();
    assert_eq!((counters.offlist, counters.payments), (0, 1));

    walk.client.close_input();
    assert!(walk.client.wait_end(Duration::from_secs(5)).success());
    let list = walk.audit(&["list"]);
    for (kind, times) in [("asked", 3), ("answered", 3)] {
        let lines = list
            .lines()
            .filter(|line| line.split_whitespace().any(|word| word == kind));
        assert_eq!(lines.count(), times, "{kind} in {list}");
    }
    let last = walk.receipts.last().unwrap().clone();
    walk.audit(&["verify", "--receipt", &last]);
    // A receipt that this journal never gave.
    let other = last.replace(|c: char| c.is_ascii_hexdigit() && c != ':', "0");
    let file = walk.home.passphrase_file();
    let output = walk.home.run(&[
        "audit",
        "verify",
        "--receipt",
        &other,
        "--passphrase-file",
        file.to_str().unwrap(),
    ]);
    assert!(!output.status.success(), "{output:?}");
}

/// What is typed, as it must never be seen again.
const CARD: &str = "4539 1488 0343 6467";
const SECURITY_CODE: &str = "9z#8";
const IBAN: &str = "FR14 2004 1010 0505 0001 3M02 606";
const PASSWORD: &str = "Canary-in-the-coal-mine!";
const ONE_TIME: &str = "Q7-XK4";

#[test]
fn nothing_secret_that_is_typed_in_the_demo_leaves_the_server() {
    let mut walk = Walk::begin();
    walk.up_to_payment(CARD, SECURITY_CODE);
    let card_form = walk.pictures.last().unwrap().1.clone();
    for field in [
        "Name on card",
        "Card number",
        "Expiry (MM/YY)",
        "Security code",
    ] {
        let (_, rest) = walk.marked(&format!("textbox \"{field}\""));
        assert!(rest.starts_with(" = masked"), "{field}{rest}");
    }
    // An answer that asks for it by name gets nothing either.
    let tab = walk.tab.clone();
    let asked = json!({"tab": tab, "text": CARD, "timeout": 0});
    let found = walk.call("wait_for", &asked).server();
    assert_eq!(found["met"], false);
    assert_eq!(walk.ask("button \"Pay 42.50", Hand::Denies).code(), "L401");

    walk.open_allowed(BANK, "/transfer");
    walk.fill("textbox \"Payee\"", "Bo Lind");
    walk.fill("textbox \"IBAN\"", IBAN);
    walk.fill("textbox \"Amount in €\"", "120");
    walk.fill("textbox \"Reference\"", "rent");
    walk.look();
    let onward = walk.ask("button \"Continue\"", Hand::Allows).server();
    assert_eq!(onward["allowed_by"], "person");
    walk.look();
    walk.fill("password \"Online banking password\"", PASSWORD);
    walk.fill("textbox \"One-time code from your phone\"", ONE_TIME);
    walk.look();
    let code_form = walk.pictures.last().unwrap().1.clone();
    assert_eq!(
        walk.ask("button \"Transfer 120.00", Hand::Denies).code(),
        "L401"
    );
    // Refusals that have the secret as their argument, and one about a site whose address holds it.
    let mut wrong = walk.named("button \"Transfer 120.00");
    wrong["text"] = json!(PASSWORD);
    assert!(walk.call("fill", &wrong).is_refusal());
    let address = format!("{}/?code={PASSWORD}", walk.site.origin(OFF_LIST));
    assert!(walk.call("open_tab", &json!({"url": address})).is_refusal());
    let counters = walk.site.counters();
    assert_eq!((counters.payments, counters.transfers), (0, 0));

    walk.client.close_input();
    assert!(walk.client.wait_end(Duration::from_secs(5)).success());

    // Pictures: each field is under a mask, as is the account that the bank shows again, and the mask is whole.
    for (picture, fields) in [(&card_form, 4), (&code_form, 3)] {
        let masks = masks(picture);
        assert_eq!(masks.len(), fields, "{masks:?}");
    }

    // Text: everything that the server wrote, anywhere.
    let list = walk.audit(&["list", "--json"]);
    assert!(list.lines().count() > 40);
    let mut heard = vec![
        ("the protocol".to_owned(), walk.client.output()),
        ("stderr".to_owned(), walk.client.errors().into_bytes()),
        ("audit list".to_owned(), walk.audit(&["list"]).into_bytes()),
        ("audit list --json".to_owned(), list.clone().into_bytes()),
    ];
    // Each line of the list is an entry whole; shown for people it is written out once more.
    let last = list.lines().count().to_string();
    let shown = walk.audit(&["show", &last, "--json"]);
    let (shown, listed): (Value, Value) = (
        serde_json::from_str(&shown).unwrap(),
        serde_json::from_str(list.lines().last().unwrap()).unwrap(),
    );
    assert_eq!(shown, listed);
    collect(&walk.home.state(), &mut heard);
    let names = heard
        .iter()
        .map(|(name, _)| name.clone())
        .collect::<Vec<_>>();
    assert!(
        names.len() > 30,
        "journal, captures and diagnostics: {names:?}"
    );
    heard.push(("names of files".to_owned(), names.join("\n").into_bytes()));
    let sought: Vec<String> = [CARD, SECURITY_CODE, IBAN, PASSWORD, ONE_TIME]
        .into_iter()
        .flat_map(forms)
        .map(|form| regex::escape(&form))
        .collect();
    let sought = regex::bytes::Regex::new(&sought.join("|")).unwrap();
    for (place, bytes) in &heard {
        if let Some(found) = sought.find(bytes) {
            let around = &bytes[found.start().saturating_sub(200)..found.end()];
            panic!("in {place}: {}", String::from_utf8_lossy(around));
        }
    }
    // The search finds what is there.
    assert!(
        heard
            .iter()
            .any(|(_, bytes)| String::from_utf8_lossy(bytes).contains("Bo Lind"))
    );
}

/// The ways in which a value could be written.
fn forms(secret: &str) -> Vec<String> {
    use base64::Engine as _;
    let bare: String = secret.chars().filter(|c| *c != ' ').collect();
    let mut forms = vec![secret.to_owned(), bare.clone()];
    for text in [secret, &bare] {
        forms.push(url::form_urlencoded::byte_serialize(text.as_bytes()).collect());
        forms.push(text.bytes().map(|byte| format!("{byte:02x}")).collect());
        if text.len() > 5 {
            let plain = base64::engine::general_purpose::STANDARD_NO_PAD.encode(text);
            forms.push(plain);
        }
    }
    forms
}

/// All files below a directory, with their bytes.
fn collect(folder: &Path, into: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, into);
        } else {
            let bytes = fs::read(&path).unwrap();
            into.push((path.display().to_string(), bytes));
        }
    }
}

/// The masks in a picture, as width and height: runs of rows that hold nothing but the mask's two shades, but for what
/// a mark draws over its edge.
fn masks(png: &[u8]) -> Vec<(u32, u32)> {
    let picture = image::load_from_memory(png).unwrap().into_rgb8();
    let (width, height) = picture.dimensions();
    let is_mask = |x: u32, y: u32| matches!(picture.get_pixel(x, y).0, [64, 64, 72] | [88, 88, 96]);
    let mut seen = vec![false; (width * height) as usize];
    let mut found = Vec::new();
    for y in 0..height {
        for x in 0..width {
            if seen[(y * width + x) as usize] || !is_mask(x, y) {
                continue;
            }
            // All pixels of this mask, by their neighbours.
            let (mut left, mut top, mut right, mut bottom, mut count) = (x, y, x, y, 0_u32);
            let mut next = vec![(x, y)];
            seen[(y * width + x) as usize] = true;
            while let Some((x, y)) = next.pop() {
                count += 1;
                (left, right) = (left.min(x), right.max(x));
                (top, bottom) = (top.min(y), bottom.max(y));
                for (x, y) in [
                    (x.wrapping_sub(1), y),
                    (x + 1, y),
                    (x, y.wrapping_sub(1)),
                    (x, y + 1),
                ] {
                    if x < width && y < height && is_mask(x, y) && !seen[(y * width + x) as usize] {
                        seen[(y * width + x) as usize] = true;
                        next.push((x, y));
                    }
                }
            }
            let (w, h) = (right - left + 1, bottom - top + 1);
            // Slivers that a mark's plate cut off are part of the mask beside them.
            if count > 400 {
                assert!(
                    f64::from(count) > 0.9 * f64::from(w) * f64::from(h),
                    "a mask of {w}×{h} has holes: {count}"
                );
                found.push((w, h));
            }
        }
    }
    found
}
