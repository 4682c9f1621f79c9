//! The basic dialog: what it can be trusted with, tested on the real one.

use std::time::{Duration, Instant};

use countersign::confirm::protocol::{BASIC_WAKE, Progress};
use countersign::domain::question::{Ending, Means};
use rustix::process::{Pid, Signal, getpgid, kill_process, test_kill_process_group};

use super::scene::{Scene, TITLE, question, question_for};
use crate::support::x::until;

/// Where the dialog's Allow lies: pixels left of and above the lower right corner.
const ALLOW_AT: (i32, i32) = (228, 24);

fn allow(scene: &Scene, id: &str) -> (i32, i32) {
    let place = scene.screen.place(id);
    (
        place.left + place.width - ALLOW_AT.0,
        place.top + place.height - ALLOW_AT.1,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_on_allow_after_its_time_allows() {
    let scene = Scene::basic();
    let mut open = scene.ask(question());
    open.reach(Progress::Shown).await;
    let started = tokio::time::Instant::now();
    let id = scene.screen.window(TITLE);
    let allow = allow(&scene, &id);
    // The duration itself is what is tested.
    tokio::time::sleep_until(started + BASIC_WAKE + Duration::from_millis(100)).await;
    scene.screen.click(allow);
    let asked = open.ended().await;
    assert_eq!((asked.ending, asked.means), (Ending::Allowed, Means::Basic));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_before_its_time_is_refused() {
    let scene = Scene::basic();
    assert_eq!(scene.window.means().await, Means::Basic);
    for _ in 0..20 {
        let began = Instant::now();
        let open = scene.ask(question());
        let id = scene.screen.window(TITLE);
        scene.screen.click(allow(&scene, &id));
        let asked = open.ended().await;
        if began.elapsed() < BASIC_WAKE {
            assert_eq!(asked.ending, Ending::Crashed);
            return;
        }
    }
    panic!("this machine never showed the dialog within {BASIC_WAKE:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn enter_space_escape_and_closing_deny() {
    let scene = Scene::basic();
    for key in ["Return", "space", "Escape", "alt+F4"] {
        let (open, _) = scene.asked_and_focused(question()).await;
        scene.screen.keys(&[key]);
        let asked = open.ended().await;
        assert_eq!(
            (asked.ending, asked.means),
            (Ending::Denied, Means::Basic),
            "{key}"
        );
    }
    let (open, id) = scene.asked_and_focused(question()).await;
    scene.screen.close(&id);
    assert_eq!(open.ending().await, Ending::Denied);
}

#[tokio::test(flavor = "multi_thread")]
async fn held_keys_deny() {
    let scene = Scene::basic();
    for key in ["space", "Return"] {
        let (open, _) = scene.asked_and_focused(question()).await;
        scene.screen.xdotool(&["keydown", key]);
        let ending = open.ending().await;
        scene.screen.xdotool(&["keyup", key]);
        assert_eq!(ending, Ending::Denied, "{key}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_dialog_denies_and_a_killed_child_leaves_none() {
    let scene = Scene::basic();
    let (open, id) = scene.asked_and_focused(question()).await;
    let zenity = Pid::from_raw(scene.screen.owner(&id)).unwrap();
    kill_process(zenity, Signal::KILL).unwrap();
    // rfd cannot tell a killed dialog from a closed one.
    assert_eq!(open.ending().await, Ending::Denied);

    let (open, id) = scene.asked_and_focused(question()).await;
    let zenity = Pid::from_raw(scene.screen.owner(&id)).unwrap();
    let child = getpgid(Some(zenity)).unwrap();
    assert_ne!(child, zenity);
    kill_process(child, Signal::KILL).unwrap();
    assert_eq!(open.ending().await, Ending::Crashed);
    until("the dialog is gone", || {
        scene.screen.windows(TITLE).is_empty()
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn timeout_and_withdrawal_leave_no_dialog() {
    let scene = Scene::basic();
    let (open, id) = scene
        .asked_and_focused(question_for(Duration::from_secs(5)))
        .await;
    let zenity = Pid::from_raw(scene.screen.owner(&id)).unwrap();
    let group = getpgid(Some(zenity)).unwrap();
    assert_eq!(open.ending().await, Ending::Timeout);
    until("the dialog is gone", || {
        scene.screen.windows(TITLE).is_empty()
    });

    let (mut open, _) = scene.asked_and_focused(question()).await;
    open.withdraw();
    assert_eq!(open.ending().await, Ending::Cancelled);
    until("the dialog is gone", || {
        scene.screen.windows(TITLE).is_empty()
    });
    until("the group is gone", || {
        test_kill_process_group(group).is_err()
    });
}
