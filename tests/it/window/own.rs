//! The window of our own: every key, click and accident refuses; one deliberate click, or one deliberate typing, allows.

use std::time::{Duration, Instant};

use countersign::confirm::protocol::{Progress, WAKE};
use countersign::domain::question::{Ending, Means};
use rustix::process::{Pid, Signal, kill_process};

use super::scene::{Scene, TITLE, helper, question, question_for};
use crate::support::x::{Screen, until};

#[tokio::test(flavor = "multi_thread")]
async fn a_click_after_waking_allows() {
    let scene = Scene::own();
    let (mut open, id) = scene.asked_and_focused(question()).await;
    open.reach(Progress::Awake).await;
    scene.screen.click(scene.allow(&id));
    let asked = open.ended().await;
    assert_eq!(
        (asked.ending, asked.means),
        (Ending::Allowed, Means::Window)
    );
    until("the window is gone", || {
        scene.screen.windows(TITLE).is_empty()
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_on_deny_denies() {
    let scene = Scene::own();
    let (open, id) = scene.asked_and_focused(question()).await;
    scene.screen.click(scene.deny(&id));
    assert_eq!(open.ending().await, Ending::Denied);
}

#[tokio::test(flavor = "multi_thread")]
async fn early_clicks_do_nothing_and_a_later_one_allows() {
    let scene = Scene::own();
    let before = Instant::now();
    let (mut open, id) = scene.asked_and_focused(question()).await;
    let allow = scene.allow(&id);
    for _ in 0..3 {
        scene.screen.click(allow);
    }
    open.reach(Progress::Awake).await;
    assert!(before.elapsed() >= WAKE);
    assert!(open.is_open());
    scene.screen.click(allow);
    assert_eq!(open.ending().await, Ending::Allowed);
}

#[tokio::test(flavor = "multi_thread")]
async fn allow_wakes_no_sooner_than_a_second_after_the_window_is_up() {
    let scene = Scene::own();
    for _ in 0..5 {
        let (mut open, _) = {
            let mut open = scene.ask(question());
            open.reach(Progress::Shown).await;
            (open, ())
        };
        let shown = Instant::now();
        open.reach(Progress::Awake).await;
        // Both instants are of this side of the pipe; the first may have been noticed a little late.
        assert!(
            shown.elapsed() >= WAKE - Duration::from_millis(150),
            "{:?}",
            shown.elapsed()
        );
        open.withdraw();
        assert_eq!(open.ending().await, Ending::Cancelled);
    }
}

/// The helper is stopped over the end of its sleep: the waking and the click are both due when it goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_click_made_asleep_and_handled_late_does_nothing() {
    let scene = Scene::own();
    for _ in 0..3 {
        let (mut open, id) = scene.asked_and_focused(question()).await;
        let shown = Instant::now();
        let pid = Pid::from_raw(scene.screen.owner(&id)).unwrap();
        let allow = scene.allow(&id);
        kill_process(pid, Signal::STOP).unwrap();
        scene.screen.click(allow);
        let stopped_in_time = shown.elapsed() < WAKE;
        tokio::time::sleep(WAKE + Duration::from_millis(300)).await; // the duration is what is tested
        kill_process(pid, Signal::CONT).unwrap();
        if !stopped_in_time {
            open.withdraw();
            open.ended().await;
            continue;
        }
        open.reach(Progress::Awake).await;
        scene.deny_if_there(&id);
        assert_eq!(open.ending().await, Ending::Denied);
        return;
    }
    panic!("this machine never clicked within {WAKE:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_that_comes_back_sleeps_again() {
    let scene = Scene::own();
    for _ in 0..5 {
        let (mut open, id) = scene.asked_and_focused(question()).await;
        open.reach(Progress::Awake).await;
        let allow = scene.allow(&id);
        scene.screen.xdotool(&["windowminimize", &id]);
        until("it is out of sight", || {
            scene.screen.windows(TITLE).is_empty()
        });
        let back = Instant::now();
        scene.screen.xdotool(&["windowactivate", &id]);
        scene.screen.window(TITLE);
        scene.screen.focused(&id);
        scene.screen.click(allow);
        let asleep = back.elapsed() < WAKE;
        scene.deny_if_there(&id);
        let ending = open.ending().await;
        if asleep {
            assert_eq!(ending, Ending::Denied);
            return;
        }
    }
    panic!("this machine never clicked within {WAKE:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_whole_primary_press_on_allow_counts() {
    let scene = Scene::own();
    let (mut open, id) = scene.asked_and_focused(question()).await;
    let (x, y) = scene.allow(&id);
    let (on_x, on_y) = (x.to_string(), y.to_string());
    let on = ["mousemove", &on_x, &on_y];
    let off_y = (y - 120).to_string();
    let off = ["mousemove", &on_x, &off_y];
    let screen = &scene.screen;
    // Pressed while asleep, released awake.
    screen.xdotool(&[&on[..], &["mousedown", "1"]].concat());
    open.reach(Progress::Awake).await;
    screen.xdotool(&["mouseup", "1"]);
    // Pressed on it, released elsewhere; and the other way round.
    screen.xdotool(&[&on[..], &["mousedown", "1"], &off[..], &["mouseup", "1"]].concat());
    screen.xdotool(&[&off[..], &["mousedown", "1"], &on[..], &["mouseup", "1"]].concat());
    // Other buttons and the wheel.
    for button in ["2", "3", "4", "5"] {
        screen.xdotool(&[&on[..], &["click", button]].concat());
    }
    scene.deny_if_there(&id);
    assert_eq!(open.ending().await, Ending::Denied);
}

#[tokio::test(flavor = "multi_thread")]
async fn enter_space_and_escape_deny_asleep_and_awake() {
    let scene = Scene::own();
    for key in [
        "Return", "KP_Enter", "space", "KP_Space", "Escape", "alt+F4",
    ] {
        for stage in [Progress::Shown, Progress::Awake] {
            let (mut open, _) = scene.asked_and_focused(question()).await;
            open.reach(stage).await;
            scene.screen.keys(&[key]);
            assert_eq!(open.ending().await, Ending::Denied, "{key} {stage:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn held_keys_never_allow() {
    let scene = Scene::own();
    for key in ["space", "Return"] {
        // Held since before the window came up.
        scene.screen.xdotool(&["keydown", key]);
        let open = scene.ask(question_for(Duration::from_secs(5)));
        let ending = open.ending().await;
        scene.screen.xdotool(&["keyup", key]);
        assert!(
            matches!(ending, Ending::Denied | Ending::Timeout),
            "{key} {ending}"
        );
        // Pressed in the window and held over the waking.
        let (open, _) = scene.asked_and_focused(question()).await;
        scene.screen.xdotool(&["keydown", key]);
        let ending = open.ending().await;
        scene.screen.xdotool(&["keyup", key]);
        assert_eq!(ending, Ending::Denied, "{key}");
    }
    // Held on the switch of the keyboard's way, and a held Tab that goes round and round.
    for (before, key) in [("shift+Tab", "space"), ("Tab", "Tab")] {
        let (mut open, id) = scene.asked_and_focused(question()).await;
        open.reach(Progress::Awake).await;
        scene.screen.keys(&[before]);
        scene.screen.xdotool(&["keydown", key]);
        tokio::time::sleep(Duration::from_secs(2)).await; // the holding is what is tested
        scene.screen.xdotool(&["keyup", key]);
        assert!(open.is_open());
        scene.screen.click(scene.deny(&id));
        assert_eq!(open.ending().await, Ending::Denied, "{before} {key}");
    }
}

/// All sequences of at most three of five keys. One that has ended the question is not continued.
#[tokio::test(flavor = "multi_thread")]
async fn no_short_sequence_of_keys_allows() {
    const KEYS: [&str; 5] = ["Tab", "shift+Tab", "Return", "space", "Escape"];
    let scene = Scene::own();
    let mut unfinished: Vec<Vec<&str>> = vec![Vec::new()];
    let (mut tried, mut ended_early) = (0, 0);
    while let Some(start) = unfinished.pop() {
        for key in KEYS {
            let keys = [start.as_slice(), &[key]].concat();
            let (mut open, id) = scene.asked_and_focused(question()).await;
            open.reach(Progress::Awake).await;
            scene.screen.keys(&keys);
            scene.deny_if_there(&id);
            assert_eq!(open.ending().await, Ending::Denied, "{keys:?}");
            tried += 1;
            // Only Tab and Shift+Tab surely leave the window open, and Space where it only switches or scrolls.
            let refuses = matches!(key, "Return" | "Escape") || keys.as_slice() == ["space"];
            if refuses {
                ended_early += 1;
            } else if keys.len() < 3 {
                unfinished.push(keys);
            }
        }
    }
    assert_eq!((tried, ended_early), (45, 19));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_keyboards_own_way_takes_a_switch_a_word_and_a_button() {
    let scene = Scene::own();
    let screen = &scene.screen;
    for (word, wanted) in [
        ("ALLOW", Ending::Allowed),
        ("ALLO", Ending::Denied),
        ("ALLOWED", Ending::Denied),
    ] {
        let (mut open, id) = scene.asked_and_focused(question()).await;
        open.reach(Progress::Awake).await;
        screen.keys(&["shift+Tab", "space"]);
        screen.xdotool(&["type", "--delay", "30", word]);
        screen.keys(&["Return", "Tab", "space"]);
        if wanted == Ending::Denied {
            scene.deny_if_there(&id);
        }
        assert_eq!(open.ending().await, wanted, "{word}");
    }
    // The same while asleep does nothing of the kind.
    let (open, id) = scene.asked_and_focused(question()).await;
    screen.keys(&["shift+Tab", "space"]);
    screen.xdotool(&["type", "--delay", "10", "ALLOW"]);
    screen.keys(&["Tab"]);
    scene.deny_if_there(&id);
    assert_eq!(open.ending().await, Ending::Denied);
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_destroying_and_disconnecting_refuse() {
    let scene = Scene::own();
    let (open, id) = scene.asked_and_focused(question()).await;
    scene.screen.close(&id);
    assert_eq!(open.ending().await, Ending::Denied);

    let (open, id) = scene.asked_and_focused(question()).await;
    scene.screen.xdotool(&["windowkill", &id]);
    assert_eq!(open.ending().await, Ending::Crashed);

    let (open, id) = scene
        .asked_and_focused(question_for(Duration::from_secs(5)))
        .await;
    scene.screen.xdotool(&["windowclose", &id]); // another client destroys it
    assert_ne!(open.ending().await, Ending::Allowed);
}

#[tokio::test(flavor = "multi_thread")]
async fn killing_the_helper_is_a_crash() {
    let scene = Scene::own();
    for signal in [Signal::KILL, Signal::TERM, Signal::ABORT, Signal::HUP] {
        let (open, id) = scene.asked_and_focused(question()).await;
        let pid = Pid::from_raw(scene.screen.owner(&id)).unwrap();
        kill_process(pid, signal).unwrap();
        assert_eq!(open.ending().await, Ending::Crashed, "{signal:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_helper_does_not_outlast_the_deadline() {
    let scene = Scene::own();
    let (open, id) = scene
        .asked_and_focused(question_for(Duration::from_secs(4)))
        .await;
    let pid = Pid::from_raw(scene.screen.owner(&id)).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    assert_eq!(open.ending().await, Ending::Timeout);
    until("the helper is gone", || {
        rustix::process::test_kill_process(pid).is_err()
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn timeout_withdrawal_and_a_dropped_future_leave_no_window() {
    let scene = Scene::own();
    let began = Instant::now();
    let (open, _) = scene
        .asked_and_focused(question_for(Duration::from_secs(4)))
        .await;
    assert_eq!(open.ending().await, Ending::Timeout);
    assert!(began.elapsed() >= Duration::from_secs(4));
    until("the window is gone", || {
        scene.screen.windows(TITLE).is_empty()
    });

    let (mut open, id) = scene.asked_and_focused(question()).await;
    let pid = Pid::from_raw(scene.screen.owner(&id)).unwrap();
    open.withdraw();
    assert_eq!(open.ending().await, Ending::Cancelled);
    until("the window is gone", || {
        scene.screen.windows(TITLE).is_empty()
    });
    until("the helper is gone", || {
        rustix::process::test_kill_process(pid).is_err()
    });

    let (open, id) = scene.asked_and_focused(question()).await;
    let pid = Pid::from_raw(scene.screen.owner(&id)).unwrap();
    open.drop_it();
    until("the window is gone", || {
        scene.screen.windows(TITLE).is_empty()
    });
    until("the helper is gone", || {
        rustix::process::test_kill_process(pid).is_err()
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_window_manager_it_has_the_keyboard_and_works() {
    let scene = Scene::on(Screen::bare("1024x600"), helper(), &[]);
    for key in ["Return", "space", "Escape"] {
        let (open, _) = scene.asked_and_focused(question()).await;
        scene.screen.keys(&[key]);
        assert_eq!(open.ending().await, Ending::Denied, "{key}");
    }
    let (mut open, id) = scene.asked_and_focused(question()).await;
    scene.screen.click(scene.allow(&id));
    open.reach(Progress::Awake).await;
    assert!(open.is_open());
    scene.screen.click(scene.allow(&id));
    assert_eq!(open.ending().await, Ending::Allowed);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_display_is_undeliverable_and_tried_again_for_the_next_question() {
    // A name that no other test's screen takes while this one's is gone.
    let display = format!(":{}", 1_000 + std::process::id() % 30_000);
    let screen = Screen::named(&display, "1024x600");
    let scene = Scene::on(screen, helper(), &[]);
    let (open, _) = scene.asked_and_focused(question()).await;
    let Scene { screen, window } = scene;
    drop(screen);
    assert_eq!(open.ending().await, Ending::Crashed);

    let asked = super::scene::open(&window, question()).ended().await;
    assert_eq!(asked.ending, Ending::Undeliverable);
    let asked = super::scene::open(&window, question()).ended().await;
    assert_eq!(
        (asked.ending, asked.means),
        (Ending::Undeliverable, Means::Nothing)
    );

    let screen = Screen::named(&display, "1024x600");
    let scene = Scene { screen, window };
    let (open, _) = scene.asked_and_focused(question()).await;
    scene.screen.keys(&["Escape"]);
    let asked = open.ended().await;
    assert_eq!((asked.ending, asked.means), (Ending::Denied, Means::Window));
}
