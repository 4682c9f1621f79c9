//! What a session may do and how much of it: tiers, strict arguments, rates, caps, windows, peers; and every reply's receipt.

use std::net::TcpStream;

use serde_json::{Value, json};

use super::scene::{
    Scene, answer_within, as_it_is, audit, endings, entries, limit, named, verified,
};
use crate::support::PATIENCE;
use crate::support::client::{Client, Reply};
use crate::support::home::Home;

fn home(edit: impl FnOnce(String) -> String) -> Home {
    let home = Home::for_sites(&["https://shop.example".to_owned()]);
    home.edit_profile(edit);
    home
}

#[test]
fn a_tool_of_a_tier_that_no_site_grants_does_not_exist() {
    let all = [
        "status",
        "list_tabs",
        "observe",
        "find",
        "read",
        "wait_for",
        "open_tab",
        "navigate",
        "close_tab",
        "click",
        "fill",
        "select_option",
        "press_key",
        "scroll",
    ];
    for (tiers, count) in [("\"read\"", 6), ("\"read\", \"navigate\"", 9)] {
        let home = home(|text| text.replace("\"read\", \"navigate\", \"act\"", tiers));
        let mut client = home.connect();
        assert_eq!(client.tools(), all[..count]);
        for absent in &all[count..] {
            let id = client.begin_call(absent, json!({}));
            let reply = client.wait(id, PATIENCE);
            assert_eq!(reply["error"]["code"], -32602, "{absent}: {reply}");
        }
        // A suggestion names only what is there.
        let refusal = client.call("observe", json!({"tab": "t1"})).refusal();
        for absent in &all[count..] {
            assert!(
                !refusal["suggestion"].as_str().unwrap().contains(absent),
                "{refusal}"
            );
        }
        assert_eq!(client.finish().code(), Some(0));
    }
    let home = home(as_it_is);
    let mut client = home.connect();
    assert_eq!(client.tools(), all);
    let status = client.call("status", json!({})).server();
    assert_eq!(
        status["sites"],
        json!([{"site": "https://shop.example", "tiers": ["read", "navigate", "act"]}])
    );
    assert_eq!(
        (&status["actions_left"], &status["navigations_left"]),
        (&json!(600), &json!(200))
    );
    client.finish();
}

#[test]
fn arguments_are_taken_strictly() {
    let home = home(as_it_is);
    let mut client = home.connect();
    for (tool, arguments) in [
        ("status", json!({"extra": 1})),
        ("observe", json!({"tab": "t1", "extra": 1})),
        ("observe", json!({})),
        ("observe", json!({"tab": 1})),
        (
            "open_tab",
            json!({"url": "https://shop.example/", "script": "alert(1)"}),
        ),
        ("click", json!({"snapshot_id": "s1", "mark": -1})),
        (
            "click",
            json!({"snapshot_id": "s1", "mark": 1, "x": 5, "y": 5}),
        ),
        ("press_key", json!({"snapshot_id": "s1", "key": "Hyper+q"})),
        ("scroll", json!({"tab": "t1", "direction": "sideways"})),
        ("wait_for", json!({"tab": "t1"})),
        (
            "wait_for",
            json!({"tab": "t1", "text": "x", "timeout": 1e9}),
        ),
    ] {
        let refusal = client.call(tool, arguments.clone()).refusal();
        assert_eq!(refusal["code"], "A101", "{tool} {arguments}: {refusal}");
        assert_eq!(refusal["effect"], "none");
    }
    assert_eq!(client.finish().code(), Some(0));
}

#[test]
fn rates_and_caps_are_kept_also_for_what_is_refused_later() {
    let home = home(|text| {
        let text = limit(text, "reads_burst = 2\nreads_per_second = 0.01");
        limit(text, "actions_per_session = 1\nnavigations_per_session = 2")
    });
    let mut client = home.connect();
    let mut code = |tool: &str, arguments: Value| client.call(tool, arguments).refusal();
    let read = json!({"tab": "t1"});
    assert_eq!(code("observe", read.clone())["code"], "B901");
    assert_eq!(code("observe", read.clone())["code"], "B901");
    let limited = code("observe", read);
    assert_eq!(
        (&limited["code"], &limited["retryable"]),
        (&json!("A102"), &json!(true))
    );
    let wait = limited["details"]["retry_after_ms"].as_u64().unwrap();
    assert!((1..=100_000).contains(&wait), "{limited}");
    let open = json!({"url": "https://shop.example/"});
    assert_eq!(code("open_tab", open.clone())["code"], "B901");
    assert_eq!(code("open_tab", open.clone())["code"], "B901");
    assert_eq!(code("open_tab", open)["code"], "A104");
    let click = json!({"snapshot_id": "s1", "mark": 1});
    assert_eq!(code("click", click.clone())["code"], "B901");
    assert_eq!(code("click", click)["code"], "A103");
    client.finish();
}

#[test]
fn tabs_are_counted_and_listed_and_a_closed_one_makes_room() {
    let scene = Scene::without_a_person(|text| limit(text, "open_tabs = 1"));
    let mut client = scene.home.connect();
    let opened = scene.open(&mut client, "/basket?q=private#part");
    let tab = opened.server()["tab"].clone();
    assert_eq!(scene.open(&mut client, "/basket").code(), "A105");
    let listed = client.call("list_tabs", json!({}));
    let origin = scene.site.origin("shop.test");
    assert_eq!(
        listed.server()["tabs"],
        json!([{"tab": tab, "origin": origin, "readable": true, "loading": false}])
    );
    // Neither query nor fragment, and no tab of the person's (the browser began with one).
    assert_eq!(
        listed.page(),
        json!({tab.as_str().unwrap(): {"url": scene.site.url("shop.test", "/basket")}})
    );
    client.call("close_tab", json!({"tab": tab})).server();
    assert_eq!(client.call("observe", json!({"tab": tab})).code(), "A107");
    scene.open(&mut client, "/basket").server();
    assert_eq!(client.finish().code(), Some(0));
}

#[test]
fn text_longer_than_the_profile_allows_is_refused_whole() {
    let scene = Scene::without_a_person(|text| limit(text, "typed_characters = 5"));
    let mut client = scene.home.connect();
    let mut field = named(&scene.open(&mut client, "/basket"), "Your note");
    field["text"] = json!("123456");
    assert_eq!(client.call("fill", field.clone()).code(), "A106");
    field["text"] = json!("12345");
    assert_eq!(client.call("fill", field).server()["outcome"], "done");
    client.finish();
}

fn pays(scene: &Scene, client: &mut Client, opened: &Reply, answer: impl FnOnce()) -> String {
    let id = client.begin_call("click", named(opened, "Pay now"));
    answer();
    let code = client.wait_call(id, PATIENCE).code();
    assert_eq!(scene.site.count("paid"), 0);
    code
}

#[test]
fn windows_that_nobody_answers_come_to_an_end() {
    let scene = Scene::with_a_person(answer_within(3));
    let mut client = scene.home.connect();
    let opened = scene.open(&mut client, "/basket");
    for _ in 0..5 {
        assert_eq!(
            pays(&scene, &mut client, &opened, || drop(scene.window())),
            "L402"
        );
        scene.no_window();
    }
    assert_eq!(pays(&scene, &mut client, &opened, || ()), "L407");
    assert_eq!(client.finish().code(), Some(0));
    assert_eq!(endings(&scene.home), ["timeout"; 5]);
}

#[test]
fn a_profile_can_allow_fewer_windows() {
    let scene = Scene::without_a_person(|text| limit(text, "windows_unanswered = 1"));
    let mut client = scene.home.connect();
    let opened = scene.open(&mut client, "/basket");
    assert_eq!(pays(&scene, &mut client, &opened, || ()), "L404");
    assert_eq!(pays(&scene, &mut client, &opened, || ()), "L407");
    client.finish();
}

#[test]
fn two_refusals_of_a_class_end_it_for_the_session() {
    let scene = Scene::with_a_person(as_it_is);
    let mut client = scene.home.connect();
    let opened = scene.open(&mut client, "/basket");
    for _ in 0..2 {
        assert_eq!(pays(&scene, &mut client, &opened, || scene.deny()), "L401");
    }
    assert_eq!(pays(&scene, &mut client, &opened, || ()), "L408");
    let status = client.call("status", json!({})).server();
    assert_eq!(status["refused_classes"], json!(["payment"]));
    client.finish();
    assert_eq!(endings(&scene.home), ["denied", "denied"]);
}

#[test]
fn another_program_on_the_port_stops_what_is_locked_and_nothing_else() {
    let scene = Scene::with_a_person(as_it_is);
    let mut client = scene.home.connect();
    let opened = scene.open(&mut client, "/basket");
    let stranger = TcpStream::connect(("127.0.0.1", scene.browser.port())).unwrap();
    assert_eq!(pays(&scene, &mut client, &opened, || ()), "L410");
    // It stays so after the stranger is gone: only the operator clears it.
    drop(stranger);
    assert_eq!(pays(&scene, &mut client, &opened, || ()), "L410");
    let status = client.call("status", json!({})).server();
    assert!(status["foreign_peer"].is_string(), "{status}");
    let mut field = named(&opened, "Your note");
    field["text"] = json!("hello");
    assert_eq!(client.call("fill", field).server()["outcome"], "done");
    client.finish();
    let all = entries(&scene.home);
    let seen = all.iter().filter(|entry| entry["kind"] == "peer").count();
    assert_eq!(seen, 1, "{all:#?}");
    assert!(endings(&scene.home).is_empty());
}

#[test]
fn every_reply_carries_a_receipt_that_the_journal_bears_out() {
    let scene = Scene::without_a_person(as_it_is);
    let mut client = scene.home.connect();
    let mut replies = vec![client.call("status", json!({}))];
    let opened = scene.open(&mut client, "/basket");
    let tab = opened.server()["tab"].clone();
    replies.push(client.call("observe", json!({"tab": tab})));
    let mut field = named(&opened, "Your note");
    field["text"] = json!("hello");
    replies.push(client.call("fill", field));
    replies.push(client.call("click", named(&opened, "Pay now"))); // refused: nobody can be asked
    replies.push(client.call(
        "wait_for",
        json!({"tab": tab, "text": "Basket", "timeout": 0}),
    ));
    replies.push(client.call("list_tabs", json!({})));
    replies.push(client.call("observe", json!({"tab": tab, "extra": 1}))); // refused: strict
    replies.push(client.call("close_tab", json!({"tab": tab})));
    replies.push(opened);
    assert_eq!(client.finish().code(), Some(0));
    let receipts: Vec<String> = replies
        .iter()
        .map(|reply| {
            let server = &reply.0["structuredContent"]["server"];
            server["receipt"]
                .as_str()
                .unwrap_or_else(|| panic!("{}", reply.0))
                .to_owned()
        })
        .collect();
    let mut arguments = Vec::new();
    for receipt in &receipts {
        arguments.extend(["--receipt", receipt]);
    }
    verified(&scene.home, &arguments);
    // A receipt that is not of this journal is named.
    let forged = format!("2:{}", "0".repeat(64));
    let output = audit(&scene.home, &["verify", "--receipt", &forged]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
}
