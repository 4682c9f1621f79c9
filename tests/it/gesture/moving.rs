//! A frame of another site that moves under the pointer while a harmless button is clicked: nothing in it is ever
//! clicked. The modes are the spike's four, one whose frame comes at the press itself, and a frame without scripts.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::{Value, json};

use super::room::{BANK, Room, SHOP};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// The frame lies elsewhere and rests.
    Calm,
    /// It comes and goes by a timer.
    Timer,
    /// It comes and goes by an animation of the compositor's.
    Css,
    /// It comes when the pointer moves.
    Move,
    /// It comes when the button goes down, to get the release.
    Down,
}

/// What one run counted.
#[derive(Debug, Default)]
struct Tally {
    calls: u64,
    done: u64,
    unknown: u64,
    codes: BTreeMap<String, u64>,
}

/// The shop's page: a harmless button, and the bank's frame above it by turns.
fn attack(mode: Mode, frame: &str) -> String {
    let style = if mode == Mode::Css {
        "#i{animation:k 37ms steps(1) infinite}"
    } else {
        ""
    };
    let script = match mode {
        Mode::Timer => "setInterval(() => { Math.random() < .5 ? on() : off() }, 4)",
        Mode::Move => {
            "addEventListener('pointermove', () => { on(); setTimeout(off, 60 * Math.random()) }, true)"
        }
        Mode::Down => "addEventListener('pointerdown', () => { on(); setTimeout(off, 60) }, true)",
        Mode::Calm | Mode::Css => "",
    };
    format!(
        "<!doctype html><html lang=en><title>Shop</title>
        <style>@keyframes k{{0%,49.9%{{left:90px}}50%,100%{{left:600px}}}}{style}</style>
        <body style='margin:0'>
        <button id=t style='position:absolute;left:100px;top:100px;width:120px;height:40px'>Next page</button>
        {frame}
        <script>
        const i = document.getElementById('i'), t = document.getElementById('t');
        const on = () => {{ i.style.left = '90px' }}, off = () => {{ i.style.left = '600px' }};
        t.addEventListener('click', () => fetch('/effect/right', {{method: 'POST', keepalive: true}}));
        {script}
        </script>"
    )
}

const PLACE: &str =
    "style='position:absolute;left:600px;top:90px;width:300px;height:80px;border:0;z-index:9'";

/// Every event of the pointer counts at the bank, not only the click.
const PAY: &str = "<!doctype html><html lang=en><title>Bank</title><body style='margin:0'>
    <button style='width:300px;height:80px'>PAY 5000</button><script>
    for (const name of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'])
        addEventListener(name, () => fetch('/effect/wrong-' + name, {method: 'POST', keepalive: true}));
    </script>";

/// No script at all: a press posts the form.
const FORM: &str = "<!doctype html><html lang=en><title>Bank</title><body style='margin:0'>
    <form method=post action='/effect/wrong-post'><button style='width:300px;height:80px'>PAY 5000</button></form>";

/// Clicks `count` times and says what came of it.
fn run(room: &mut Room, mode: Mode, sandboxed: bool, count: u64) -> Tally {
    room.site.page(&format!("{BANK}/pay"), PAY);
    room.site.page(&format!("{BANK}/form"), FORM);
    let frame = if sandboxed {
        format!(
            "<iframe id=i sandbox='allow-forms' src='http://{BANK}:{{{{port}}}}/form' {PLACE}></iframe>"
        )
    } else {
        format!("<iframe id=i src='http://{BANK}:{{{{port}}}}/pay' {PLACE}></iframe>")
    };
    let path = format!("/{mode:?}-{sandboxed}");
    room.site
        .page(&format!("{SHOP}{path}"), &attack(mode, &frame));
    let tab = room.go(&path);
    let name = if sandboxed { "/form" } else { "/pay" };
    let _ = room.site.wait_for_request(name);

    let mut tally = Tally::default();
    let (mut snapshot, mut mark) = find(room, &tab);
    while tally.calls < count {
        let reply = room.patiently("click", json!({"snapshot_id": snapshot, "mark": mark}));
        let body = reply.0["structuredContent"].clone();
        if reply.is_refusal() {
            let code = reply.code();
            if code == "M201" || code == "M202" {
                (snapshot, mark) = find(room, &tab);
                continue;
            }
            *tally.codes.entry(code).or_default() += 1;
            if body["effect"] != "none" {
                tally.unknown += 1;
            }
        } else {
            tally.done += 1;
        }
        tally.calls += 1;
        if body["server"]["snapshot_id"].is_number() || body["server"]["snapshot_id"].is_string() {
            snapshot = body["server"]["snapshot_id"].clone();
        }
    }
    tally
}

/// The button's mark, looked for until it is uncovered at the moment of the look.
fn find(room: &mut Room, tab: &Value) -> (Value, u64) {
    for _ in 0..200 {
        let seen = room.look(tab);
        if let Some(mark) = seen.find("\"Next page\"") {
            return (seen.snapshot, mark);
        }
    }
    panic!("the button is never uncovered");
}

fn hold(mode: Mode, sandboxed: bool, count: u64, soak: bool) {
    let mut room = Room::new();
    let began = Instant::now();
    let tally = run(&mut room, mode, sandboxed, count);
    let seconds = began.elapsed().as_secs_f64();
    if tally.done > 0 {
        room.site.wait_for("right", tally.done);
    }
    let right = room.site.count("right");
    let effects = room.site.effects();
    let wrong: u64 = effects
        .iter()
        .filter(|(name, _)| name.starts_with("wrong"))
        .map(|(_, count)| count)
        .sum();
    let kind = if sandboxed {
        "frame without scripts, "
    } else {
        ""
    };
    let said = format!(
        "{kind}{mode:?}: {} clicks, {} landed, refused {:?}, wrong {wrong}, {seconds:.0} s",
        tally.calls, tally.done, tally.codes
    );
    if soak {
        println!("soak: moving frame: {said}");
    } else {
        println!("{said}");
    }
    assert_eq!(wrong, 0, "{effects:?}: {said}");
    // What is said to be done was done, and nothing was done that was said to be undone.
    assert!(
        (tally.done..=tally.done + tally.unknown).contains(&right),
        "the button was clicked {right} times: {said}"
    );
    if mode == Mode::Calm {
        assert_eq!(tally.done, count, "{said}");
    }
}

#[test]
fn a_calm_frame_beside_the_button_stops_nothing() {
    hold(Mode::Calm, false, 100, false);
}

#[test]
fn a_frame_moved_by_a_timer_gets_nothing() {
    hold(Mode::Timer, false, 100, false);
}

#[test]
fn a_frame_moved_by_an_animation_gets_nothing() {
    hold(Mode::Css, false, 100, false);
}

#[test]
fn a_frame_that_comes_with_the_pointer_gets_nothing() {
    hold(Mode::Move, false, 100, false);
}

#[test]
fn a_frame_that_comes_at_the_press_gets_nothing() {
    hold(Mode::Down, false, 30, false);
}

#[test]
fn a_frame_without_scripts_moved_by_a_timer_posts_nothing() {
    hold(Mode::Timer, true, 100, false);
}

#[test]
fn a_frame_without_scripts_moved_by_an_animation_posts_nothing() {
    hold(Mode::Css, true, 100, false);
}

#[test]
fn a_calm_frame_without_scripts_stops_nothing() {
    hold(Mode::Calm, true, 20, false);
}

#[test]
#[ignore = "long: make soak"]
fn soak_moving_frames() {
    for mode in [Mode::Calm, Mode::Timer, Mode::Css, Mode::Move, Mode::Down] {
        for sandboxed in [false, true] {
            hold(mode, sandboxed, 300, true);
        }
    }
}
