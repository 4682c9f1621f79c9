//! The tests' own tools work: a tool that accepts everything would make every other test worthless.

use std::time::Duration;

use crate::support::browser::{Browser, arguments_of};
use crate::support::client::{Client, Message, message};
use crate::support::site::{Answer, Site};
use crate::support::tree;

#[test]
fn a_browser_of_our_own_reaches_the_site_under_its_test_hosts() {
    let site = Site::start();
    site.page(
        "bank.test/",
        r#"<!doctype html><title>Bank</title><img src="http://shop.test:{{port}}/effect/seen">"#,
    );
    site.answer("/leave", |_| {
        Answer::redirect(302, "http://evil.test:{{port}}/effect/gone")
    });
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("profile");
    let browser = Browser::start(&profile, None, &[&site.url("bank.test", "/")]);
    assert!(browser.port() > 0 && browser.id_path().starts_with("/devtools/browser/"));
    site.wait_for("seen", 1);
    assert_eq!(site.requests_to("shop.test").len(), 1);
    assert_eq!(site.requests_to("shop.test")[0].path, "/effect/seen");
    assert_eq!(site.count("gone"), 0);

    browser.open_as_person(&site.url("bank.test", "/leave"));
    site.wait_for("gone", 1);
    assert_eq!(site.wait_for_request("/effect/gone").host, "evil.test");

    let arguments = arguments_of(browser.pid());
    assert!(
        arguments.iter().all(|a| a != "--no-sandbox"),
        "{arguments:?}"
    );
}

#[test]
fn pages_come_from_the_tree_and_from_nowhere_else() {
    let site = Site::start();
    let get = |path: &str| {
        use std::io::{Read as _, Write as _};
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", site.port())).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: x.test\r\nconnection: close\r\n\r\n"
        )
        .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    };
    assert!(tree().join("tests/pages/plain.html").is_file());
    assert!(get("/plain.html").contains("Nothing special"));
    for path in [
        "/../Cargo.toml",
        "/..%2fCargo.html",
        "/.html",
        "/none.html",
        "/plain",
    ] {
        assert!(get(path).starts_with("HTTP/1.1 404"), "{path}");
    }
}

#[test]
fn one_line_is_one_message() {
    let kind = |line: &str| {
        message(line.as_bytes()).map(|m| match m {
            Message::Reply(..) => "reply",
            Message::Notification(_) => "notification",
            Message::Request(_) => "request",
        })
    };
    assert_eq!(
        kind("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"),
        Ok("reply")
    );
    assert_eq!(
        kind("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}\n"),
        Ok("reply")
    );
    assert_eq!(
        kind("{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n"),
        Ok("notification")
    );
    assert_eq!(
        kind("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}\n"),
        Ok("request")
    );
    for bad in [
        "hello\n",
        "\n",
        "[]\n",
        "{}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}\n",
        "{\"jsonrpc\":\"1.0\",\"method\":\"x\"}\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"x\"} {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n",
    ] {
        assert!(kind(bad).is_err(), "{bad:?}");
    }
}

/// A shell stands in for a server here, since what is under test is the client's own strictness.
fn shell(script: &str) -> Client {
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", script]);
    Client::start(command)
}

#[test]
#[should_panic(expected = "not JSON")]
fn a_line_beside_the_protocol_fails_the_test() {
    shell("echo starting").wait_end(Duration::from_secs(10));
}

#[test]
#[should_panic(expected = "no end of line")]
fn half_a_line_fails_the_test() {
    shell(r#"printf '{"jsonrpc":"2.0","method":"x"}'"#).wait_end(Duration::from_secs(10));
}

#[test]
#[should_panic(expected = "still there")]
fn a_server_that_does_not_end_fails_the_test() {
    shell("exec sleep 60").finish();
}

#[test]
fn a_conversation_goes_both_ways() {
    let mut client = shell(
        r#"read line; echo '{"jsonrpc":"2.0","method":"notifications/progress","params":{}}'
           echo '{"jsonrpc":"2.0","id":1,"result":{"heard":true}}'; read line; exit 7"#,
    );
    let result = client.request("ping", serde_json::json!({}));
    assert_eq!(result["heard"], true);
    client.notification("notifications/progress");
    client.close_input();
    assert_eq!(client.wait_end(Duration::from_secs(10)).code(), Some(7));
}
