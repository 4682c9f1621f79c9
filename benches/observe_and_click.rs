//! Observe and click through the real server, against the same work asked raw on the wire.
//!
//! Both go to one headless Chromium, each on a tab of its own, on the same three pages. `observe` goes over stdio through
//! every check, the masks, the marks and the journal. `raw look` is what a tool without them would ask for: one plain
//! walk with rectangles and hit-tests, the browser's own numbers, roles and names pipelined, and where a picture is
//! wanted one screenshot, read and encoded once. `raw press` is the bare mouse press and release, without a hit-test, a
//! guard or a wait for what it started. Since a click's reply carries the next look, it is compared with `raw press`
//! followed by `raw look` as well. The ratios are of medians, printed at the end, with the bytes of each answer.

#![allow(
    unreachable_pub,
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout
)]

#[path = "../tests/it/support/mod.rs"]
mod support;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use base64::Engine as _;
use criterion::{Criterion, SamplingMode};
use futures_util::{SinkExt as _, StreamExt as _};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use support::browser::Browser;
use support::client::Client;
use support::home::Home;
use support::pages::{self, BUTTON};
use support::site::Site;

const HOST: &str = "bench.test";

// ---- raw on the wire ------------------------------------------------------------------------------------------------

type Socket = WebSocketStream<TcpStream>;

/// A plain walk: what is in the view, its words, and what can be acted on where a hit-test finds it.
const RAW: &str = "globalThis.raw = { found: [], walk() {
    const ACTS = 'a[href],button,input,select,textarea,summary,[role=button],[role=link],[onclick],[tabindex]';
    const out = [];
    raw.found = [];
    for (const el of document.querySelectorAll('body *')) {
        const r = el.getBoundingClientRect();
        if (r.width === 0 || r.bottom <= 0 || r.top >= innerHeight || r.right <= 0 || r.left >= innerWidth) continue;
        const style = getComputedStyle(el);
        if (style.visibility !== 'visible' || style.opacity === '0') continue;
        let words = '';
        for (const child of el.childNodes) if (child.nodeType === 3) words += child.data;
        let mark;
        if (el.matches(ACTS)) {
            const hit = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
            if (hit && el.contains(hit)) mark = raw.found.push(el);
        }
        if (mark || words.trim()) out.push({ mark, tag: el.localName, words: words.trim(), value: el.value, box: [r.x, r.y, r.width, r.height] });
    }
    return out;
} };";

/// Reads a picture and encodes it once; the number of bytes.
fn encoded_once(data: &str) -> usize {
    let png = base64::engine::general_purpose::STANDARD
        .decode(data)
        .unwrap();
    let picture = image::load_from_memory(&png).unwrap().into_rgb8();
    let mut out = Vec::new();
    PngEncoder::new_with_quality(&mut out, CompressionType::Fast, FilterType::Sub)
        .write_image(
            &picture,
            picture.width(),
            picture.height(),
            ExtendedColorType::Rgb8,
        )
        .unwrap();
    out.len()
}

/// A client of the debugging port with no checks at all, on a tab of its own.
struct Raw {
    runtime: tokio::runtime::Runtime,
    wire: Wire,
    world: String,
    at: (f64, f64),
}

struct Wire {
    socket: Socket,
    next: u64,
    session: Option<String>,
    events: Vec<Value>,
}

impl Wire {
    async fn connect(browser: &Browser) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", browser.port()))
            .await
            .unwrap();
        stream.set_nodelay(true).unwrap();
        let config = WebSocketConfig::default()
            .max_message_size(Some(96 << 20))
            .max_frame_size(Some(96 << 20));
        let url = format!("ws://127.0.0.1:{}{}", browser.port(), browser.id_path());
        let (socket, _) = client_async_with_config(url, stream, Some(config))
            .await
            .unwrap();
        Self {
            socket,
            next: 0,
            session: None,
            events: Vec::new(),
        }
    }

    async fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let mut message = json!({"id": self.next, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.socket
            .send(Message::text(message.to_string()))
            .await
            .unwrap();
        self.next
    }

    async fn hear(&mut self) -> Value {
        loop {
            let message = tokio::time::timeout(support::PATIENCE, self.socket.next())
                .await
                .expect("the browser is silent")
                .expect("the browser is there")
                .unwrap();
            if let Message::Text(text) = message {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    /// Sends all calls, then waits for all answers.
    async fn pipeline(&mut self, calls: &[(&str, Value)]) -> Vec<Value> {
        let mut places = HashMap::new();
        for (place, (method, params)) in calls.iter().enumerate() {
            places.insert(self.send(method, params).await, place);
        }
        let mut answers = vec![Value::Null; calls.len()];
        while !places.is_empty() {
            let mut message = self.hear().await;
            let Some(id) = message["id"].as_u64() else {
                self.events.push(message);
                continue;
            };
            if let Some(place) = places.remove(&id) {
                assert!(
                    message.get("error").is_none(),
                    "{}: {message}",
                    calls[place].0
                );
                answers[place] = message["result"].take();
            }
        }
        answers
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        self.pipeline(&[(method, params)]).await.remove(0)
    }

    async fn event<T>(&mut self, found: impl Fn(&Value) -> Option<T>) -> T {
        loop {
            if let Some(found) = self.events.drain(..).find_map(|event| found(&event)) {
                return found;
            }
            let message = self.hear().await;
            self.events.push(message);
        }
    }
}

impl Raw {
    fn open(browser: &Browser, url: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let (wire, world, at) = runtime.block_on(async {
            let mut wire = Wire::connect(browser).await;
            let made = json!({"url": "about:blank", "newWindow": true, "background": true});
            let target = wire.call("Target.createTarget", made).await["targetId"].clone();
            let attach = json!({"targetId": target, "flatten": true});
            let session = wire.call("Target.attachToTarget", attach).await["sessionId"].clone();
            wire.session = session.as_str().map(str::to_owned);
            // The set-up of a tab of the server's, so that both draw alike in the background.
            wire.pipeline(&[
                ("Page.enable", json!({})),
                ("Runtime.enable", json!({})),
                ("DOM.enable", json!({})),
                ("Emulation.setFocusEmulationEnabled", json!({"enabled": true})),
                (
                    "Page.startScreencast",
                    json!({"format": "jpeg", "quality": 1, "maxWidth": 16, "maxHeight": 16, "everyNthFrame": 1000}),
                ),
                (
                    "Page.addScriptToEvaluateOnNewDocument",
                    json!({"source": RAW, "worldName": "raw"}),
                ),
            ])
            .await;
            wire.call("Page.navigate", json!({"url": url})).await;
            let world = wire
                .event(|event| {
                    let context = &event["params"]["context"];
                    (event["method"] == "Runtime.executionContextCreated"
                        && context["name"] == "raw"
                        && context["origin"] != "://")
                        .then(|| context["uniqueId"].as_str().unwrap().to_owned())
                })
                .await;
            let where_is = json!({"expression": "new Promise(done => { const there = () => { const r = more.getBoundingClientRect(); done([r.x + r.width / 2, r.y + r.height / 2]); }; document.readyState === 'complete' ? there() : addEventListener('load', there); })", "awaitPromise": true, "returnByValue": true});
            let at = wire.call("Runtime.evaluate", where_is).await["result"]["value"].take();
            (wire, world, (at[0].as_f64().unwrap(), at[1].as_f64().unwrap()))
        });
        Self {
            runtime,
            wire,
            world,
            at,
        }
    }

    /// The walk, what the browser alone knows of each element, and a picture. Returns the number of elements.
    fn look(&mut self, picture: bool) -> usize {
        let Self {
            runtime,
            wire,
            world,
            ..
        } = self;
        runtime.block_on(async {
            let function = |text: &str, by_value: bool| {
                json!({
                    "functionDeclaration": text, "uniqueContextId": world, "returnByValue": by_value,
                    "objectGroup": "bench", "silent": true
                })
            };
            let walked = wire
                .call("Runtime.callFunctionOn", function("function() { return raw.walk(); }", true))
                .await;
            let list = wire
                .call("Runtime.callFunctionOn", function("function() { return raw.found; }", false))
                .await;
            let members = json!({"objectId": list["result"]["objectId"], "ownProperties": true});
            let members = wire.call("Runtime.getProperties", members).await;
            let describe: Vec<(&str, Value)> = members["result"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|member| member["name"].as_str().unwrap().parse::<usize>().is_ok())
                .map(|member| {
                    let object = &member["value"]["objectId"];
                    ("DOM.describeNode", json!({"objectId": object, "depth": 0}))
                })
                .collect();
            let described = wire.pipeline(&describe).await;
            let mut calls: Vec<(&str, Value)> = described
                .iter()
                .map(|node| {
                    let number = &node["node"]["backendNodeId"];
                    (
                        "Accessibility.getPartialAXTree",
                        json!({"backendNodeId": number, "fetchRelatives": false}),
                    )
                })
                .collect();
            let marks = calls.len();
            if picture {
                let shoot = json!({"format": "png", "optimizeForSpeed": true, "captureBeyondViewport": false});
                calls.push(("Page.captureScreenshot", shoot));
            }
            let mut answers = wire.pipeline(&calls).await;
            wire.call("Runtime.releaseObjectGroup", json!({"objectGroup": "bench"}))
                .await;
            assert!(!walked["result"]["value"].as_array().unwrap().is_empty());
            if picture {
                let shot = answers.pop().unwrap();
                assert!(encoded_once(shot["data"].as_str().unwrap()) > 1_000);
            }
            marks
        })
    }

    /// The bare press and release.
    fn press(&mut self) {
        let (x, y) = self.at;
        let event = |kind: &str, buttons: u8| {
            let params = json!({"type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1});
            ("Input.dispatchMouseEvent", params)
        };
        self.runtime.block_on(
            self.wire
                .pipeline(&[event("mousePressed", 1), event("mouseReleased", 0)]),
        );
    }

    fn shown(&mut self) -> String {
        let read = json!({"expression": "told.value", "returnByValue": true});
        let told = self
            .runtime
            .block_on(self.wire.call("Runtime.evaluate", read));
        told["result"]["value"].as_str().unwrap().to_owned()
    }
}

// ---- through the server ---------------------------------------------------------------------------------------------

/// A client of the real server, with a tab on a page.
struct Ours {
    client: Client,
    tab: Value,
    snapshot: Value,
    mark: u64,
}

impl Ours {
    fn open(home: &Home, url: &str) -> Self {
        let mut client = home.connect();
        let opened = client.call("open_tab", json!({"url": url}));
        let tab = opened.server()["tab"].clone();
        let seen = client.call("observe", json!({"tab": tab}));
        let mark = mark(&seen.page()).expect("the button has a mark");
        Self {
            snapshot: seen.server()["snapshot_id"].clone(),
            client,
            tab,
            mark,
        }
    }

    /// Looks; returns the bytes of the answer's text.
    fn observe(&mut self, picture: bool) -> usize {
        let seen = self
            .client
            .call("observe", json!({"tab": self.tab, "image": picture}));
        assert_eq!(
            seen.image().is_some(),
            picture,
            "a look without a picture is another work"
        );
        self.snapshot = seen.server()["snapshot_id"].clone();
        seen.0["content"][0]["text"].as_str().unwrap().len()
    }

    fn click(&mut self) {
        let done = self.client.call(
            "click",
            json!({"snapshot_id": self.snapshot, "mark": self.mark}),
        );
        assert_eq!(done.server()["outcome"], "done");
        self.snapshot = done.server()["snapshot_id"].clone();
    }
}

/// The mark of the button: `[3] button "Show one more"`.
fn mark(page: &Value) -> Option<u64> {
    match page {
        Value::String(text) => text
            .lines()
            .find(|line| line.contains(BUTTON))
            .and_then(|line| line.split_once('['))
            .and_then(|(_, rest)| rest.split_once(']'))
            .and_then(|(number, _)| number.parse().ok()),
        Value::Array(all) => all.iter().find_map(mark),
        Value::Object(all) => all.values().find_map(mark),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

// ---- the measurement ------------------------------------------------------------------------------------------------

/// The pause before each call, which is not measured.
const PAUSE: Duration = Duration::from_millis(60);

/// Measures with criterion, and returns the median of all single times.
fn measure(criterion: &mut Criterion, page: &str, name: &str, mut work: impl FnMut()) -> Duration {
    let mut all = Vec::new();
    let mut group = criterion.benchmark_group(page);
    group.sampling_mode(SamplingMode::Flat);
    group.bench_function(name, |bencher| {
        bencher.iter_custom(|times| {
            (0..times)
                .map(|_| {
                    // Between the calls: a session may read so often in a second and no more.
                    std::thread::sleep(PAUSE);
                    let began = Instant::now();
                    work();
                    let took = began.elapsed();
                    all.push(took);
                    took
                })
                .sum()
        });
    });
    group.finish();
    assert!(!all.is_empty(), "{page}/{name} was not measured");
    all.sort();
    all[all.len() / 2]
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3));
    let site = Site::start();
    let home = Home::for_sites(&[site.origin(HOST)]);
    home.edit_profile(|text| {
        text.replace(
            "[limits]",
            "[limits]\nactions_per_second = 20\nactions_per_session = 5000",
        )
    });
    let browser = home.browser();
    let mut lines = Vec::new();
    for (page, html) in [
        ("form of 20 fields", pages::form()),
        ("1,500 nodes", pages::articles()),
        ("20,000 nodes", pages::orders()),
    ] {
        site.page("/", &html);
        let url = site.url(HOST, "/");
        let mut raw = Raw::open(&browser, &url);
        let mut ours = Ours::open(&home, &url);
        let mut bytes = 0;

        let read = measure(&mut criterion, page, "raw look, text", || {
            raw.look(false);
        });
        let told = measure(&mut criterion, page, "observe, text", || {
            bytes = ours.observe(false);
        });
        let looked = measure(&mut criterion, page, "raw look", || {
            raw.look(true);
        });
        let observed = measure(&mut criterion, page, "observe", || {
            ours.observe(true);
        });
        let mut presses = 0;
        let pressed = measure(&mut criterion, page, "raw press", || {
            raw.press();
            presses += 1;
        });
        let both = measure(&mut criterion, page, "raw press and look", || {
            raw.press();
            presses += 1;
            raw.look(true);
        });
        let mut clicks = 0;
        let clicked = measure(&mut criterion, page, "click", || {
            ours.click();
            clicks += 1;
        });

        // Every press and every click had its effect: fast work that does nothing is no work.
        assert_eq!(raw.shown(), format!("shown {presses}"));
        let seen = ours.client.call("observe", json!({"tab": ours.tab}));
        assert!(
            seen.page().to_string().contains(&format!("shown {clicks}")),
            "{clicks} clicks: {}",
            seen.page()
        );
        assert!(ours.client.finish().success());

        let marks = raw.look(false);
        lines.push(format!("text of observe: {bytes} bytes ({page})"));
        for (what, ours, against, raw) in [
            ("observe, text", told, "look, text", read),
            ("observe", observed, "look", looked),
            ("click", clicked, "press", pressed),
            ("click", clicked, "press and look", both),
        ] {
            let ratio = ours.as_secs_f64() / raw.as_secs_f64();
            lines.push(format!(
                "ratio {what}/raw {against}: {ratio:.2} ({:.1} ms against {:.1} ms; {page}, {marks} marks)",
                ours.as_secs_f64() * 1_000.0,
                raw.as_secs_f64() * 1_000.0,
            ));
        }
    }
    criterion.final_summary();
    println!();
    for line in lines {
        println!("{line}");
    }
}
