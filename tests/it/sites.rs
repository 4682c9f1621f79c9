//! Off the list nothing is reached, by whatever way; a site off the list counts every document that is asked of it.

use serde_json::{Value, json};

use crate::gesture::room::{BANK, EVIL, Room, SHOP, refused};
use crate::support::PATIENCE;
use crate::support::client::Reply;
use crate::support::site::Answer;
use crate::support::x::Screen;

/// The hits at the site that is off the list.
fn hits(room: &Room) -> usize {
    room.site.requests_to(EVIL).len()
}

/// How often a tab is looked at before what it should tell counts as not told.
const PATIENT: usize = 100;
const NOT_OPENED: &str = "tab_not_opened";
const UNKNOWN_TAB: &str = "A107";

/// The events that a reply tells.
fn events(reply: &Reply) -> Vec<Value> {
    let events = &reply.0["structuredContent"]["server"]["events"];
    events.as_array().cloned().unwrap_or_default()
}

fn named(reply: &Reply, name: &str) -> Option<Value> {
    events(reply)
        .iter()
        .find_map(|event| event.get(name))
        .cloned()
}

/// Looks until the tab tells an event of this name, and returns it. An event is told once: it may be in the first reply.
fn event(room: &mut Room, tab: &Value, first: Option<&Reply>, name: &str) -> Value {
    if let Some(told) = first.and_then(|reply| named(reply, name)) {
        return told;
    }
    for _ in 0..PATIENT {
        let reply = room.patiently("observe", json!({"tab": tab, "image": false}));
        if let Some(told) = named(&reply, name) {
            return told;
        }
    }
    panic!("no event {name} in tab {tab}; at first: {first:?}");
}

#[test]
fn an_address_off_the_list_is_refused_before_anything_is_sent() {
    let mut room = Room::new();
    let tab = room.open("/", "<p>Here");
    for path in ["/", "/effect/gone"] {
        let url = room.site.url(EVIL, path);
        refused(&room.patiently("open_tab", json!({"url": url})), "S301");
        refused(
            &room.patiently("navigate", json!({"tab": tab, "url": url})),
            "S301",
        );
    }
    let port = room.site.port();
    let near = [
        format!("http://{SHOP}.{EVIL}:{port}/"),
        format!("http://not{SHOP}:{port}/"),
        format!("http://{SHOP}:1/"),
        format!("https://{SHOP}:{port}/"),
        "https://127.0.0.1/".to_owned(),
    ];
    for url in near {
        refused(
            &room.patiently("navigate", json!({"tab": tab, "url": url})),
            "S301",
        );
    }
    for url in [
        "javascript:location='http://evil.test/'",
        "data:text/html,<p>hello",
        "file:///etc/passwd",
        "blob:http://shop.test/1",
        "view-source:http://shop.test/",
        "chrome://version/",
        "devtools://devtools/bundled/inspector.html",
        "about:blank",
        &format!("http://{EVIL}@{SHOP}:{port}/"),
    ] {
        refused(&room.patiently("open_tab", json!({"url": url})), "S302");
        refused(
            &room.patiently("navigate", json!({"tab": tab, "url": url})),
            "S302",
        );
    }
    assert_eq!(hits(&room), 0);
    assert!(room.look(&tab).says("Here"));
}

#[test]
fn a_redirect_off_the_list_stops_at_the_hop() {
    let mut room = Room::new();
    for status in [301, 302, 303, 307, 308] {
        room.site.answer(&format!("/to-{status}"), move |_| {
            Answer::redirect(status, "http://evil.test:{{port}}/effect/gone")
        });
        // Over a listed site on the way, too.
        room.site.answer(&format!("/far-{status}"), move |_| {
            Answer::redirect(
                status,
                &format!("http://bank.test:{{{{port}}}}/to-{status}"),
            )
        });
        for path in ["to", "far"] {
            let url = room.site.url(SHOP, &format!("/{path}-{status}"));
            let reply = room.patiently("open_tab", json!({"url": url}));
            let refusal = reply.refusal();
            assert_eq!(refusal["code"], "S306", "{path} {status}: {refusal}");
        }
    }
    // The benign twin.
    room.site.answer("/near", |_| {
        Answer::redirect(302, "http://bank.test:{{port}}/plain.html")
    });
    let tab = room.go("/near");
    assert!(room.look(&tab).says("Nothing special"));
    assert_eq!(hits(&room), 0);
}

#[test]
fn a_page_does_not_leave_for_a_site_off_the_list() {
    let mut room = Room::new();
    let to = "http://evil.test:{{port}}/effect/gone";
    let ways = [
        format!("<a href='{to}'>Next page</a>"),
        format!("<button onclick=\"location = '{to}'\">Next page</button>"),
        format!("<button onclick=\"location.replace('{to}')\">Next page</button>"),
        format!("<button onclick=\"setTimeout(() => location = '{to}', 30)\">Next page</button>"),
        format!("<a href=\"javascript:location = '{to}'\">Next page</a>"),
        format!("<form action='{to}'><button>Next page</button></form>"),
        format!(
            "<form method=post action='{to}'><input name=a value=b><button>Next page</button></form>"
        ),
        format!(
            "<button onclick=\"const m = document.createElement('meta'); m.httpEquiv = 'refresh'; m.content = '0; {to}'; document.head.append(m)\">Next page</button>"
        ),
    ];
    for (i, way) in ways.iter().enumerate() {
        let seen = room.show(&format!("/{i}"), &format!("<h1>Here {i}</h1>{way}"));
        let reply = room.click(&seen, "\"Next page\"");
        let told = event(&mut room, &seen.tab, Some(&reply), "departure_stopped");
        assert_eq!(told, json!(room.site.origin(EVIL)), "{way}");
        assert!(
            room.look(&seen.tab).says(&format!("Here {i}")),
            "the tab stayed: {way}"
        );
        assert_eq!(hits(&room), 0, "{way}");
        room.patiently("close_tab", json!({"tab": seen.tab}))
            .server();
    }
    // At once, with nobody's click.
    for (i, head) in [
        format!("<meta http-equiv=refresh content='0; {to}'>"),
        format!("<meta http-equiv=refresh content='1; {to}'>"),
        format!("<script>location = '{to}'</script>"),
        format!("<script>onload = () => location = '{to}'</script>"),
    ]
    .iter()
    .enumerate()
    {
        let path = format!("/at-once-{i}");
        room.site
            .page(&path, &format!("<!doctype html><h1>Here</h1>{head}"));
        let url = room.site.url(SHOP, &path);
        // An event is told once: it may be in this very reply.
        let reply = room.patiently("open_tab", json!({"url": url}));
        let tab = reply.server()["tab"].clone();
        let told = event(&mut room, &tab, Some(&reply), "departure_stopped");
        assert_eq!(told, json!(room.site.origin(EVIL)), "{head}");
        assert!(
            room.look(&tab).says("Here") && hits(&room) == 0,
            "the tab stayed: {head}"
        );
    }
}

/// What a page opens with a click. In an inline handler a bare `open` is `document.open`, hence `window.open`.
fn ways_to_open(to: &str) -> Vec<String> {
    let button = |script: &str| format!("<button onclick=\"{script}\">Next page</button>");
    vec![
        button(&format!("window.open('{to}')")),
        button(&format!("window.open('{to}', '', 'noopener')")),
        button(&format!("window.open('{to}', '', 'noreferrer')")),
        button(&format!(
            "window.open('{to}', '', 'popup,width=300,height=300')"
        )),
        button(&format!(
            "const w = window.open('about:blank'); w.location = '{to}'"
        )),
        button(&format!(
            "const w = window.open(''); setTimeout(() => w.location = '{to}', 100)"
        )),
        button(&format!("setTimeout(() => window.open('{to}'), 100)")),
        format!("<a target=_blank href='{to}'>Next page</a>"),
        format!("<a target=_blank rel=opener href='{to}'>Next page</a>"),
        format!("<a target=_blank rel=noreferrer href='{to}'>Next page</a>"),
        format!("<form target=_blank method=post action='{to}'><button>Next page</button></form>"),
        // From a frame inside.
        format!(
            "<iframe srcdoc=\"<button onclick=&quot;window.open('{to}')&quot;>Next page</button>\"></iframe>"
        ),
    ]
}

#[test]
fn what_a_page_opens_off_the_list_never_loads() {
    let mut room = Room::new();
    let ways = ways_to_open("http://evil.test:{{port}}/effect/gone");
    for (i, way) in ways.iter().enumerate() {
        let seen = room.show(&format!("/{i}"), way);
        let reply = room.click(&seen, "\"Next page\"");
        assert!(!reply.is_refusal(), "{way}: {}", reply.0);
        // What was not opened is told where it was asked for: in this tab, or in one that it had opened.
        let told = named(&reply, NOT_OPENED).or_else(|| {
            (0..PATIENT).find_map(|_| {
                tabs(&mut room).iter().find_map(|listed| {
                    assert_ne!(listed["origin"], json!(room.site.origin(EVIL)), "{way}");
                    let tab = json!({"tab": listed["tab"], "image": false});
                    named(&room.patiently("observe", tab), NOT_OPENED)
                })
            })
        });
        let told = told.unwrap_or_else(|| panic!("nothing is told: {way}: {}", reply.0));
        assert_eq!(told, json!(room.site.origin(EVIL)), "{way}");
        for listed in tabs(&mut room) {
            room.patiently("close_tab", json!({"tab": listed["tab"]}));
        }
        assert_eq!(hits(&room), 0, "{way}");
    }
}

/// The tabs of the session.
fn tabs(room: &mut Room) -> Vec<Value> {
    let server = room.patiently("list_tabs", json!({})).server();
    server["tabs"].as_array().unwrap().clone()
}

/// Shows a page that opens the plain one in a tab; the new tab, once it shows that.
fn opens(room: &mut Room, at: usize, way: &str) -> Value {
    let seen = room.show(&format!("/{at}"), way);
    let reply = room.click(&seen, "\"Next page\"");
    let opened = event(room, &seen.tab, Some(&reply), "opened_tab");
    let reply = room.patiently(
        "wait_for",
        json!({"tab": opened, "text": "Nothing special"}),
    );
    assert_eq!(reply.server()["met"], true, "{way}");
    opened
}

fn close_all(room: &mut Room) {
    for listed in tabs(room) {
        room.patiently("close_tab", json!({"tab": listed["tab"]}))
            .server();
    }
}

#[test]
fn what_a_page_opens_on_the_list_becomes_a_tab() {
    let mut room = Room::new();
    let ways = ways_to_open(&format!("http://{BANK}:{{{{port}}}}/plain.html"));
    for (i, way) in ways.iter().enumerate() {
        let opened = opens(&mut room, i, way);
        let listed = tabs(&mut room);
        assert!(listed.iter().any(|tab| tab["tab"] == opened), "{way}");
        close_all(&mut room);
    }
}

/// Makes a button that opens a tab without an opener, as a click with a modifier does, from what is in no document.
fn apart(make: &str, event: &str) -> String {
    format!(
        "<script>function go() {{ const made = (() => {{ {make} }})(); made.dispatchEvent(new MouseEvent('click', {{bubbles: true, cancelable: true, {event}}})); }}</script>"
    )
}

/// As [`apart`], an anchor.
fn link_apart(to: &str, event: &str) -> String {
    apart(
        &format!("const a = document.createElement('a'); a.href = '{to}'; return a;"),
        event,
    )
}

const GO: &str = "<button onclick=\"go()\">Next page</button>";
const LATE: &str = "<button onclick=\"setTimeout(go, 1500)\">Next page</button>";

/// A click with a modifier, which a page can make by a script, opens a tab that names no opener.
#[test]
fn what_a_page_opens_without_an_opener_off_the_list_never_loads() {
    let mut room = Room::new();
    let to = "http://evil.test:{{port}}/effect/gone";
    room.site.answer("/hop", |_| {
        Answer::redirect(307, "http://evil.test:{{port}}/effect/gone")
    });
    let ctrl = "ctrlKey: true";
    // The way, and whether what was asked for has a site to tell; nothing is told where the page's own guard stops the click.
    let ways = [
        (link_apart(to, ctrl) + GO, Some(true)),
        (link_apart(to, ctrl) + LATE, Some(true)),
        (link_apart(to, "shiftKey: true") + GO, Some(true)),
        (
            link_apart(to, "metaKey: true, ctrlKey: true, shiftKey: true") + GO,
            Some(true),
        ),
        (link_apart("/hop", ctrl) + GO, Some(true)),
        (
            apart(
                &format!(
                    "const f = document.createElement('form'); f.method = 'post'; f.action = '{to}'; f.innerHTML = '<input name=a value=b><button></button>'; f.hidden = true; document.body.append(f); return f.querySelector('button');"
                ),
                ctrl,
            ) + GO,
            None,
        ),
        (
            apart(
                &format!(
                    "const a = document.createElement('a'); a.href = URL.createObjectURL(new Blob(['<script>location = `{to}`<', '/script>'], {{type: 'text/html'}})); return a;"
                ),
                ctrl,
            ) + GO,
            Some(false),
        ),
    ];
    for (i, (way, tells)) in ways.iter().enumerate() {
        let seen = room.show(&format!("/{i}"), way);
        let reply = room.click(&seen, "\"Next page\"");
        assert!(!reply.is_refusal(), "{way}: {}", reply.0);
        if let Some(with_site) = tells {
            let told = event(&mut room, &seen.tab, Some(&reply), NOT_OPENED);
            if *with_site {
                assert_eq!(told, json!(room.site.origin(EVIL)), "{way}");
            }
        }
        assert_eq!(hits(&room), 0, "{way}");
        assert_eq!(tabs(&mut room).len(), 1, "{way}");
        room.patiently("close_tab", json!({"tab": seen.tab}))
            .server();
    }
    // By a key of our own, and by a middle click on what is in the document.
    let seen = room.show("/key", &format!("<a href='{to}'>Next page</a>"));
    room.press(&seen, "\"Next page\"", "Control+Enter");
    let seen = room.show(
        "/aux",
        &format!("<a id=a href='{to}'>Off</a><button onclick=\"document.getElementById('a').dispatchEvent(new MouseEvent('click', {{button: 1, bubbles: true, cancelable: true}}))\">Next page</button>"),
    );
    room.click(&seen, "\"Next page\"");
    // Whatever left before this left for the same site.
    room.show("/last", "<p>Last");
    assert_eq!(hits(&room), 0);
}

#[test]
fn what_a_page_opens_without_an_opener_on_the_list_becomes_a_tab() {
    let mut room = Room::new();
    let to = format!("http://{BANK}:{{{{port}}}}/there");
    let further = format!("http://{EVIL}:{{{{port}}}}/effect/gone");
    room.site.page(
        "/there",
        &format!("<p>Nothing special<p><a href='{further}'>Off</a>"),
    );
    for (i, way) in [
        link_apart(&to, "ctrlKey: true") + GO,
        link_apart(&to, "shiftKey: true") + LATE,
    ]
    .iter()
    .enumerate()
    {
        let opened = opens(&mut room, i, way);
        // It is held to the list like any other.
        let there = room.look(&opened);
        let reply = room.click(&there, "\"Off\"");
        event(&mut room, &opened, Some(&reply), "departure_stopped");
        close_all(&mut room);
    }
    assert_eq!(hits(&room), 0);
}

/// While a page asks for tabs, whether it gets them or not, what the person opens stays the person's.
#[test]
fn the_person_s_tab_is_left_alone_while_a_page_asks_for_tabs() {
    let mut room = Room::new();
    room.site.page(
        "/private",
        "<p>planted-text<script>setInterval(() => fetch('/effect/alive'), 50)</script>",
    );
    let to = format!("http://{EVIL}:{{{{port}}}}/effect/gone");
    let blob = "const b = document.createElement('a'); b.href = 'blob:' + location.origin + '/none'; b.dispatchEvent(new MouseEvent('click', {ctrlKey: true}));";
    let seen = room.show(
        "/",
        &(link_apart(&to, "ctrlKey: true")
            + &format!("<button onclick=\"go(); setInterval(() => {{ go(); {blob} }}, 100)\">Next page</button>")),
    );
    room.click(&seen, "\"Next page\"");
    for n in 0..3 {
        let address = room.site.url(SHOP, &format!("/private?{n}"));
        room.browser.open_as_person(&address);
        room.site
            .wait_until_requested(|seen| seen.path == "/private" && seen.query == n.to_string());
        let alive = room.site.count("alive");
        room.site.wait_for("alive", alive + 3);
        assert_eq!(tabs(&mut room).len(), 1);
        room.click(&seen, "\"Next page\"");
    }
    assert_eq!(hits(&room), 0);
    let output = String::from_utf8(room.client.output()).unwrap();
    assert!(!output.contains("planted"), "the person's page was read");
}

/// A frame off the list shows itself, but no form is sent there, straight or over a listed site.
#[test]
fn nothing_is_posted_into_a_frame_off_the_list() {
    let mut room = Room::new();
    room.site.answer("/hop", |_| {
        Answer::redirect(307, "http://evil.test:{{port}}/effect/gone")
    });
    let form = |action: &str| {
        format!(
            "<iframe name=inside srcdoc='<p>Inside'></iframe><form target=inside method=post action='{action}'><input name=a value=b><button>Next page</button></form>"
        )
    };
    for (i, action) in ["http://evil.test:{{port}}/effect/gone", "/hop"]
        .iter()
        .enumerate()
    {
        let seen = room.show(&format!("/{i}"), &form(action));
        let reply = room.click(&seen, "\"Next page\"");
        let told = event(&mut room, &seen.tab, Some(&reply), "departure_stopped");
        assert_eq!(told, json!(room.site.origin(EVIL)), "{action}");
        assert_eq!(hits(&room), 0, "{action}");
    }
    // The benign twins: posting into a listed frame, and a frame off the list that merely loads.
    let seen = room.show("/near", &form("http://bank.test:{{port}}/effect/near"));
    room.click(&seen, "\"Next page\"");
    room.site.wait_for("near", 1);
    room.show(
        "/framed",
        "<iframe src='http://evil.test:{{port}}/effect/framed'></iframe>",
    );
    room.site.wait_for("framed", 1);
}

/// Everything below a folder that a download could be, finished or not.
fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// No download is granted: one that a page of ours begins is cancelled and told, and no file is left.
#[test]
fn a_download_is_cancelled_and_told() {
    let (mut room, folder) = Room::downloading();
    let attached = |body: &'static [u8]| {
        move |_: &crate::support::site::Seen| {
            let headers = [
                ("content-type", "application/octet-stream"),
                ("content-disposition", "attachment; filename=planted.bin"),
            ];
            let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
            Answer::Raw(200, headers.to_vec(), body.to_vec())
        }
    };
    room.site.answer("/attachment", attached(b"planted"));
    room.site.answer("/large", attached(&[b'x'; 1 << 20]));
    for (i, way) in [
        "<button onclick=\"const a = document.createElement('a'); a.download = 'planted.txt'; a.href = window.URL.createObjectURL(new Blob(['planted'])); a.click()\">Next page</button>",
        "<a href=/attachment>Next page</a>",
        "<a href=/large>Next page</a>",
        "<a target=_blank href=/attachment>Next page</a>",
        "<a download=planted.html href=/plain.html>Next page</a>",
        "<iframe name=inside></iframe><a target=inside href=/attachment>Next page</a>",
    ]
    .iter()
    .enumerate()
    {
        let seen = room.show(&format!("/{i}"), way);
        let reply = room.click(&seen, "\"Next page\"");
        let told = named(&reply, "download_stopped").or_else(|| {
            (0..PATIENT).find_map(|_| {
                tabs(&mut room).iter().find_map(|listed| {
                    let tab = json!({"tab": listed["tab"], "image": false});
                    named(&room.patiently("observe", tab), "download_stopped")
                })
            })
        });
        assert!(told.is_some(), "nothing is told: {way}: {}", reply.0);
        for listed in tabs(&mut room) {
            room.patiently("close_tab", json!({"tab": listed["tab"]}));
        }
    }
    assert_eq!(files(&folder), Vec::<std::path::PathBuf>::new());
    // The person's own go on: finished, or waiting for the person's word.
    room.browser
        .open_as_person(&room.site.url(SHOP, "/attachment"));
    let end = std::time::Instant::now() + PATIENCE;
    while files(&folder).is_empty() {
        assert!(
            std::time::Instant::now() < end,
            "the person's download came"
        );
        std::thread::yield_now();
    }
}

/// A tab that the page opened empty is the session's own, and what the page writes there is the page's.
#[test]
fn an_empty_tab_of_a_page_is_the_page_s_own() {
    let mut room = Room::new();
    let seen = room.show(
        "/",
        &format!(
            "<template id=t><p>planted<p><a target=_blank href='http://{EVIL}:{{{{port}}}}/effect/gone'>Off</a><p><a target=_blank href='http://{BANK}:{{{{port}}}}/plain.html'>On</a></template>
            <button onclick=\"window.open('about:blank').document.write(document.getElementById('t').innerHTML)\">Next page</button>"
        ),
    );
    let reply = room.click(&seen, "\"Next page\"");
    let opened = event(&mut room, &seen.tab, Some(&reply), "opened_tab");
    let there = room.look(&opened);
    assert_eq!(there.server["origin"], json!(room.site.origin(SHOP)));
    assert!(there.says("planted"), "{:#?}", there.lines);
    // What it opens in turn is held to the list as well, also when the first tab is gone.
    room.patiently("close_tab", json!({"tab": seen.tab}))
        .server();
    let reply = room.click(&there, "\"Off\"");
    let told = event(&mut room, &opened, Some(&reply), NOT_OPENED);
    assert_eq!(told, json!(room.site.origin(EVIL)));
    let there = room.look(&opened);
    let reply = room.click(&there, "\"On\"");
    let further = event(&mut room, &opened, Some(&reply), "opened_tab");
    let reply = room.patiently(
        "wait_for",
        json!({"tab": further, "text": "Nothing special"}),
    );
    assert_eq!(reply.server()["met"], true);
    assert_eq!(tabs(&mut room).len(), 2);
    assert_eq!(hits(&room), 0);
}

/// The person's tab: never listed, never read, and it goes on working.
fn beside_the_person(mut room: Room) {
    let html = "<title>planted-title</title><p>planted-text<script>setInterval(() => fetch('/effect/alive'), 50)</script>";
    room.site.page("/private", html);
    let ours = room.open(
        "/",
        "<h1>Ours</h1><button onclick=\"open('about:blank')\">Next page</button>",
    );
    room.browser
        .open_as_person(&room.site.url(SHOP, "/private"));
    room.site.wait_for("alive", 1);
    let listed = tabs(&mut room);
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["tab"], ours);
    // Nor is one that the person opens while the session opens one.
    room.site.page("/second", "<h1>Second</h1>");
    for n in 0..3 {
        let address = room.site.url(SHOP, &format!("/private?{n}"));
        let url = room.site.url(SHOP, "/second");
        let call = room.client.begin_call("open_tab", json!({"url": url}));
        room.browser.open_as_person(&address);
        let opened = room.client.wait_call(call, PATIENCE).server()["tab"].clone();
        room.site
            .wait_until_requested(|seen| seen.path == "/private" && seen.query == n.to_string());
        assert!(room.look(&opened).says("Second"));
        let listed = tabs(&mut room);
        assert_eq!(listed.len(), 2, "{listed:?}");
        room.patiently("close_tab", json!({"tab": opened})).server();
    }
    for tab in (0..12).map(|number| json!(format!("t{number}"))) {
        if tab == ours {
            continue;
        }
        for tool in ["observe", "close_tab"] {
            let reply = room.patiently(tool, json!({"tab": tab}));
            assert_eq!(reply.code(), UNKNOWN_TAB, "{tool} {tab}");
        }
    }
    assert!(room.look(&ours).says("Ours"));
    room.patiently("close_tab", json!({"tab": ours})).server();
    let alive = room.site.count("alive");
    room.site.wait_for("alive", alive + 3);
    let output = String::from_utf8(room.client.output()).unwrap();
    assert!(!output.contains("planted"), "the person's page was read");
}

#[test]
fn the_person_s_tab_is_left_alone() {
    beside_the_person(Room::new());
}

#[test]
fn the_person_s_tab_is_left_alone_on_a_desktop() {
    let screen = Screen::managed("1280x960");
    beside_the_person(Room::on(screen.display()));
}
