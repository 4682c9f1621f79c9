//! What is put to the person, whatever the control that does it, and what an answer is good for.

use serde_json::json;

use crate::gesture::room::{Room, Seen};
use crate::serve::scene::{Scene, as_it_is, endings, named};
use crate::support::client::Reply;

/// Nobody can be asked here, so what is locked is refused; what is not would be done.
#[track_caller]
fn locked(room: &Room, reply: &Reply, what: &str) {
    let code = reply.is_refusal().then(|| reply.code());
    assert!(
        code.as_deref().is_some_and(|code| code.starts_with('L')),
        "{what}: {}",
        reply.0
    );
    assert_eq!(room.site.count("done"), 0, "{what}");
}

/// A form that counts what it is sent, with these controls.
fn form(controls: &str) -> String {
    format!("<form method=post action=/effect/done>{controls}</form>")
}

const CARD: &str = "<label>Card number <input name=n autocomplete=cc-number></label>";
/// Sends the form that the control is in.
const SENDS: &str = "closest('form').submit()";
/// Does something by a script alone.
const DOES: &str = "fetch('/effect/done', {method: 'POST'})";

#[test]
fn a_payment_is_asked_for_whatever_carries_it_out() {
    let mut room = Room::new();
    let image =
        "<img alt='Pay now' width=60 height=20 src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>";
    type Way = fn(&mut Room, &Seen) -> Reply;
    let click: Way = |room, seen| room.click(seen, "press me");
    let enter: Way = |room, seen| room.press(seen, "textbox \"Note\"", "Enter");
    let note = "<label>Note <input name=note></label>";
    let ways: Vec<(&str, String, Way)> = vec![
        (
            "Enter, and the default button is a picture",
            form(&format!("{note}<button>{image}</button>")),
            enter,
        ),
        (
            "Enter, and the default button is named elsewhere",
            format!(
                "<span id=t>Pay now</span>{}",
                form(&format!("{note}<button aria-labelledby=t>x</button>"))
            ),
            enter,
        ),
        (
            "a plain button in a form with card fields",
            form(&format!(
                "{CARD}<button type=button onclick=\"{SENDS}\">press me</button>"
            )),
            click,
        ),
        (
            "a link in a form with card fields",
            form(&format!(
                "{CARD}<a href=#x onclick=\"{SENDS}\">press me</a>"
            )),
            click,
        ),
        (
            "yes to an amount in a dialog",
            format!(
                "<dialog open><p>Send 500 EUR to Bob?</p><button onclick=\"{DOES}\">Yes</button></dialog>"
            ),
            |room, seen| room.click(seen, "\"Yes\""),
        ),
        (
            "OK in a dialog that deletes",
            format!(
                "<div role=alertdialog aria-label='Delete all photos?'><button onclick=\"{DOES}\">OK</button></div>"
            ),
            |room, seen| room.click(seen, "\"OK\""),
        ),
        (
            "a key in a list",
            form(&format!(
                "<label>Action <select name=a onchange=\"{SENDS}\"><option>Choose<option>Delete account</select></label>"
            )),
            |room, seen| room.press(seen, "combobox \"Action\"", "ArrowDown"),
        ),
        (
            "an option by what it sends",
            form(&format!(
                "<label>Action <select name=a onchange=\"{SENDS}\"><option>Choose<option value=x>Delete account</select></label>"
            )),
            |room, seen| room.select(seen, "combobox \"Action\"", &["x"]),
        ),
        (
            "a list that is itself the question",
            form(&format!(
                "<label>Delete account <select name=a onchange=\"{SENDS}\"><option>No<option>Yes</select></label>"
            )),
            |room, seen| room.select(seen, "combobox \"Delete account\"", &["Yes"]),
        ),
    ];
    for (at, (what, page, act)) in ways.into_iter().enumerate() {
        let seen = room.show(&format!("/way-{at}"), &page);
        let reply = act(&mut room, &seen);
        locked(&room, &reply, what);
    }
    // What is none of that is done: the server is not merely refusing everything.
    let seen = room.show(
        "/plain",
        &form(&format!("{note}<button>Save the note</button>")),
    );
    room.click(&seen, "Save the note").server();
    room.site.wait_for("done", 1);
}

/// The page changes once its server says so, and tells that it has.
fn page(content: &str, change: &str) -> String {
    format!(
        "<!doctype html><title>Shop</title><h1>Account</h1>{content}<script>
        const look = setInterval(async () => {{
            if ((await (await fetch('/signal')).text()) !== 'now') return;
            clearInterval(look);
            {change};
            fetch('/effect/changed', {{method: 'POST'}});
        }}, 50);
        </script>"
    )
}

#[test]
fn an_answer_is_void_when_what_would_be_done_is_another_thing() {
    let to = |value: &str| {
        format!("<form method=post action=/effect/done>{value}<button>Pay now</button></form>")
    };
    let many: String = (0..40)
        .map(|i| format!("<input name=f{i} value={i} style='width:40px'>"))
        .collect();
    let rows = "<ul><li><span id=row>Spam offer</span> <button aria-label='Delete' \
        onclick=\"fetch('/effect/done', {method: 'POST'})\">x</button></ul>";
    let cases = [
        (
            "a hidden field",
            to("<input type=hidden id=a name=to value=bob>"),
            "document.getElementById('a').value = 'mallory'",
            "Pay now",
        ),
        (
            "a masked field",
            to(
                "<label>IBAN of payee <input id=a name=iban value='DE89370400440532013000'></label>",
            ),
            "document.getElementById('a').value = 'FR1420041010050500013M02606'",
            "Pay now",
        ),
        (
            "a field far down a long form",
            to(&many),
            "document.querySelector('[name=f39]').value = 'mallory'",
            "Pay now",
        ),
        (
            "the row that a button belongs to",
            rows.to_owned(),
            "document.getElementById('row').textContent = 'Boss contract'",
            "x",
        ),
    ];
    let scene = Scene::with_a_person(as_it_is);
    for (at, (what, content, change, control)) in cases.iter().enumerate() {
        let path = format!("/case-{at}");
        scene.site.page("/signal", "wait");
        scene.site.page(&path, &page(content, change));
        // A session each: two refusals of one kind would close the next one.
        let mut client = scene.home.connect();
        let opened = scene.open(&mut client, &path);
        let id = client.begin_call("click", named(&opened, control));
        scene.window();
        let picture = crate::support::pictures().join(format!("asked-{at}.png"));
        scene.screen().picture(&picture);
        scene.site.page("/signal", "now");
        scene.site.wait_for("changed", at as u64 + 1);
        scene.allow();
        let refusal = client.wait_call(id, crate::support::PATIENCE).refusal();
        assert_eq!(
            (&refusal["code"], &refusal["effect"]),
            (&json!("L406"), &json!("none")),
            "{what}: {refusal}"
        );
        client.finish();
        assert_eq!(scene.site.count("done"), 0, "{what}");
    }
    assert_eq!(endings(&scene.home), ["allowed"; 4]);
}

#[test]
fn a_masked_value_is_not_guessed_by_waiting_for_it() {
    let mut room = Room::new();
    let seen = room.show(
        "/",
        "<p>Your card is ready</p><p>Card 4539 1488 0343 6467</p><a href=#x>Account DE89 3704 0044 0532 0130 00</a>
        <p><span>4539 1488</span> <span>0343 6467</span>",
    );
    assert!(!seen.text().contains("4539"), "{}", seen.text());
    let mut met = |text: &str| {
        let arguments = json!({"tab": seen.tab, "text": text, "timeout": 0});
        room.patiently("wait_for", arguments).server()["met"] == true
    };
    assert!(met("your card"));
    for guess in [
        "card 4539",
        "card 4",
        "4539 1488",
        "DE89 3704",
        "account de89",
    ] {
        assert!(!met(guess), "{guess}");
    }
}
