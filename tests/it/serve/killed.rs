//! Kill -9 at each point of a locked action: no effect without a durable intent, and a journal that verifies.

use std::os::unix::process::ExitStatusExt as _;

use countersign::checkpoint::POINTS;
use serde_json::{Value, json};

use super::scene::{Scene, as_it_is, entries, named, pay, verified};
use crate::support::PATIENCE;
use crate::support::client::Client;

/// What opening a tab passes as well, so that the click is the second to come there.
const ALSO_WHEN_OPENING: [&str; 5] = ["admitted", "aimed", "intent", "settled", "captured"];

fn before(point: &str, other: &str) -> bool {
    let place = |name| POINTS.iter().position(|at| *at == name).unwrap();
    place(point) < place(other)
}

fn killed_at(points: &[&'static str]) {
    let scene = Scene::with_a_person(as_it_is);
    for point in points {
        let effect = format!("paid-{point}");
        scene.site.page("/basket", &pay(&effect));
        let times = if ALSO_WHEN_OPENING.contains(point) {
            2
        } else {
            1
        };
        let mut command = scene.home.command(&["serve"]);
        command.env("COUNTERSIGN_DEBUG_KILL_AT", format!("{point}:{times}"));
        // It starts on the journal that the killed one before it left.
        let mut client = Client::connect(command);
        let opened = scene.open(&mut client, "/basket");
        client.begin_call("click", named(&opened, "Pay now"));
        if !before(point, "answered") {
            scene.allow();
        }
        assert_eq!(client.wait_end(PATIENCE).signal(), Some(9), "{point}");
        scene.no_window();

        let report = verified(&scene.home, &[]);
        let all = entries(&scene.home);
        let begun = all
            .iter()
            .rposition(|entry| entry["kind"] == "started")
            .unwrap();
        let clicks = |kind: &str| {
            let of_this = all.iter().skip(begun).filter(|entry| entry["kind"] == kind);
            of_this
                .filter(|entry| entry.to_string().contains("\"click\""))
                .count()
        };
        let intended = clicks("intent");
        assert_eq!(
            intended,
            usize::from(!before(point, "intent")),
            "{point}: {all:#?}"
        );
        let open: Vec<&Value> = report["notices"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|notice| notice["effect"] == json!("possible"))
            .collect();
        // One for every kill so far that came after an intent.
        let so_far = points.iter().take_while(|at| *at != point).chain([point]);
        let expected = so_far.filter(|at| !before(at, "intent")).count();
        assert_eq!(open.len(), expected, "{point}: {report:#}");
        if !before(point, "settled") {
            // Here the form was on its way when the server died: it did happen, and the intent was there first.
            scene.site.wait_for(&effect, 1);
        }
    }
    // A server without any of this serves on the same journal, and sees the page: whatever was under way has ended.
    let mut client = scene.home.connect();
    scene.open(&mut client, "/basket").server();
    assert_eq!(client.finish().code(), Some(0));
    verified(&scene.home, &[]);
    for point in points {
        let count = scene.site.count(&format!("paid-{point}"));
        if before(point, "pressed") {
            assert_eq!(count, 0, "{point}");
        } else {
            assert!(count <= 1, "{point}: {count}");
        }
    }
}

#[test]
fn before_anything_is_asked() {
    killed_at(&POINTS[..3]);
}

#[test]
fn while_a_person_is_asked_and_after_the_answer() {
    killed_at(&POINTS[3..6]);
}

#[test]
fn from_the_intent_to_the_press() {
    killed_at(&POINTS[6..9]);
}

#[test]
fn after_the_release() {
    killed_at(&POINTS[9..]);
}
