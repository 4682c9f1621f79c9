//! Standard output is the protocol's alone, whatever happens; every ending is in order and on record.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use super::scene::{Scene, answer_within, as_it_is, endings, entries, verified};
use crate::support::client::Client;
use crate::support::home::Home;

/// The end of a session (security P4), on a machine that may be busy with other tests.
const ENDING: Duration = Duration::from_secs(2);

fn home() -> Home {
    Home::for_sites(&["https://shop.example".to_owned()])
}

#[test]
fn lines_that_are_no_messages_get_errors_and_the_session_goes_on() {
    let home = home();
    let mut client = home.connect();
    let long = format!("{}\n", "x".repeat((1 << 20) + 1));
    for (line, code) in [
        (b"nonsense\n".as_slice(), -32700),
        (b"\xff\xfe\n", -32700),
        (long.as_bytes(), -32700),
        (b"[]\n", -32600),
        (b"{\"jsonrpc\":\"1.0\",\"method\":\"ping\"}\n", -32600),
    ] {
        client.send_bytes(line);
        let error = client.stray_reply();
        assert_eq!(error["error"]["code"], code, "{error}");
        assert_eq!(client.call("status", json!({})).server()["outcome"], "done");
    }
    // One with an id is answered under it.
    for (id, params) in [
        (9001_u64, "[".repeat(40) + &"]".repeat(40)),
        (9002, "3".to_owned()),
    ] {
        client.send_bytes(
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\",\"params\":{params}}}\n"
            )
            .as_bytes(),
        );
        let error = client.wait(id, Duration::from_secs(10));
        assert_eq!(error["error"]["code"], -32600, "{error}");
    }
    assert_eq!(client.call("status", json!({})).server()["outcome"], "done");
    assert_eq!(client.finish().code(), Some(0));
    verified(&home, &[]);
}

#[test]
fn a_panic_is_a_refusal_and_the_session_goes_on() {
    let home = home();
    let mut command = home.command(&["serve"]);
    command.env("COUNTERSIGN_DEBUG_PANIC_AT", "list_tabs");
    let mut client = Client::connect(command);
    let refusal = client.call("list_tabs", json!({})).refusal();
    assert_eq!(
        (&refusal["code"], &refusal["effect"]),
        (&json!("X999"), &json!("possible"))
    );
    assert!(client.errors().contains("forced at list_tabs"));
    assert_eq!(client.call("status", json!({})).server()["outcome"], "done");
    assert_eq!(client.finish().code(), Some(0));
    verified(&home, &[]);
}

#[test]
fn a_panic_after_the_intent_says_that_there_may_be_an_effect() {
    let scene = Scene::without_a_person(as_it_is);
    let mut command = scene.home.command(&["serve"]);
    command.env("COUNTERSIGN_DEBUG_PANIC_AT", "settled");
    let mut client = Client::connect(command);
    let refusal = scene.open(&mut client, "/basket").refusal();
    assert_eq!(
        (&refusal["code"], &refusal["effect"]),
        (&json!("X999"), &json!("possible"))
    );
    // The next action is not stopped by the one that broke.
    scene.open(&mut client, "/basket").server();
    assert_eq!(client.finish().code(), Some(0));
    let report = verified(&scene.home, &[]);
    assert!(
        report["notices"].to_string().contains("possible"),
        "{report}"
    );
}

#[test]
fn a_signal_closes_the_window_and_the_journal() {
    let scene = Scene::with_a_person(as_it_is);
    let mut client = scene.home.connect();
    scene.begin_to_pay(&mut client);
    scene.window();
    client.signal(Signal::TERM);
    assert_eq!(client.wait_end(ENDING).code(), Some(0));
    scene.no_window();
    assert_eq!(endings(&scene.home), ["cancelled"]);
    let all = entries(&scene.home);
    let last = all.last().unwrap();
    assert_eq!(last["kind"], "closed", "{last}");
    assert!(last.to_string().contains("signal"), "{last}");
    verified(&scene.home, &[]);
    assert_eq!(scene.site.count("paid"), 0);
}

#[test]
fn the_end_of_input_closes_the_window_and_the_journal() {
    let scene = Scene::with_a_person(as_it_is);
    let mut client = scene.home.connect();
    scene.begin_to_pay(&mut client);
    scene.window();
    client.close_input();
    assert_eq!(client.wait_end(ENDING).code(), Some(0));
    scene.no_window();
    assert_eq!(endings(&scene.home), ["cancelled"]);
    assert_eq!(entries(&scene.home).last().unwrap()["kind"], "closed");
    verified(&scene.home, &[]);
    assert_eq!(scene.site.count("paid"), 0);
}

#[test]
fn a_call_that_is_withdrawn_closes_its_window_and_the_session_goes_on() {
    let scene = Scene::with_a_person(as_it_is);
    let mut client = scene.home.connect();
    let id = scene.begin_to_pay(&mut client);
    scene.window();
    client.cancel(id);
    scene.no_window();
    // The next action waits for the end of this one, if it must.
    let opened = scene.open(&mut client, "/basket");
    assert_eq!(opened.server()["outcome"], "done");
    assert_eq!(client.finish().code(), Some(0));
    assert_eq!(endings(&scene.home), ["cancelled"]);
    verified(&scene.home, &[]);
    assert_eq!(scene.site.count("paid"), 0);
}

#[test]
fn while_a_person_is_asked_the_client_hears_of_it_every_five_seconds() {
    let scene = Scene::with_a_person(answer_within(60));
    let mut client = scene.home.connect();
    let id = scene.begin_to_pay(&mut client);
    let begun = Instant::now();
    scene.window();
    for _ in 0..2 {
        let note = client.notification("notifications/progress");
        assert_eq!(note["params"]["progressToken"], id, "{note}");
    }
    let waited = begun.elapsed();
    assert!(waited > Duration::from_secs(8), "{waited:?}");
    scene.deny();
    let refusal = client.wait_call(id, Duration::from_secs(20)).refusal();
    assert_eq!(
        (&refusal["code"], &refusal["effect"]),
        (&json!("L401"), &json!("none"))
    );
    client.finish();
    assert_eq!(endings(&scene.home), ["denied"]);
}
