//! Fields and keys: what is typed arrives where it was meant and nowhere else. The site says what arrived.

use serde_json::{Value, json};

use super::room::{Room, Seen, refused};

/// A button that tells the site what every field holds.
const TELL: &str = "<p><button type=button id=tell>Show values</button></p><script>
    document.getElementById('tell').onclick = () => {
        const all = {};
        for (const f of document.querySelectorAll('input,textarea,select')) all[f.id] = f.type === 'checkbox' ? f.checked : f.value;
        for (const f of document.querySelectorAll('[contenteditable]')) all[f.id] = f.innerText;
        fetch('/effect/told', {method: 'POST', body: JSON.stringify(all)});
    };
    </script>";

/// What the fields hold, as the site was told.
fn values(room: &mut Room, seen: &Seen) -> Value {
    let before = room.site.count("told");
    let now = room.look(&seen.tab);
    room.click(&now, "\"Show values\"").server();
    room.site.wait_for("told", before + 1);
    let all = room.site.requests();
    let told = all.iter().rfind(|seen| seen.path == "/effect/told");
    serde_json::from_str(&told.unwrap().body).unwrap()
}

#[test]
fn what_is_typed_is_what_the_field_holds() {
    let mut room = Room::new();
    let seen = room.show(
        "/",
        &format!(
            "<p><label>Line <input id=line value=before></label><p><label>Area <textarea id=area>before</textarea></label>
            <div id=free contenteditable role=textbox aria-label=Free style='border:1px solid;min-height:30px'>before</div>
            <p><label>Day <input id=day type=date value=2020-01-01></label>{TELL}"
        ),
    );
    let long = "0123456789".repeat(150);
    let texts = [
        "plain",
        "e\u{301} é 😀 👩‍👩‍👧 🇩🇪",
        "שלום עולם",
        "العربية ١٢٣",
        "漢字かな 한국어",
        "\u{1d54f}\u{10ffff}",
        "<b>&amp; \"quotes\" \\n",
        &long,
        "",
    ];
    for text in texts {
        for (label, id) in [("\"Line\"", "line"), ("\"Area\"", "area")] {
            let now = room.look(&seen.tab);
            let reply = room.fill(&now, label, text);
            assert_eq!(reply.server()["field_holds_it"], json!(true), "{text:?}");
            assert_eq!(values(&mut room, &seen)[id], json!(text), "{label}");
        }
    }
    let now = room.look(&seen.tab);
    room.fill(&now, "\"Area\"", "one\ntwo\n\nfour").server();
    room.fill(&now, "textbox \"Free\"", "漢字 😀 free").server();
    room.fill(&now, "\"Day\"", "2024-02-29").server();
    let held = values(&mut room, &seen);
    assert_eq!(held["area"], "one\ntwo\n\nfour");
    assert_eq!(held["free"].as_str().unwrap().trim_end(), "漢字 😀 free");
    assert_eq!(held["day"], "2024-02-29");
}

#[test]
fn a_field_that_keeps_less_is_said_to() {
    let mut room = Room::new();
    let seen = room.show(
        "/",
        &format!(
            "<p><label>Short <input id=short maxlength=5></label>
            <p><label>Upper <input id=upper oninput='this.value = this.value.toUpperCase()'></label>
            <p><label>Day <input id=day type=date value=2020-01-01></label>{TELL}"
        ),
    );
    for (label, text, id, held) in [
        ("\"Short\"", "1234567", "short", "12345"),
        ("\"Upper\"", "abc", "upper", "ABC"),
        ("\"Day\"", "30 February", "day", ""),
    ] {
        let now = room.look(&seen.tab);
        let refusal = room.fill(&now, label, text).refusal();
        assert_eq!(refusal["code"], "G506", "{refusal}");
        assert_eq!(refusal["effect"], "done", "{refusal}");
        assert_eq!(values(&mut room, &seen)[id], json!(held));
    }
}

#[test]
fn what_cannot_be_written_stays_untouched() {
    let mut room = Room::new();
    let seen = room.show(
        "/",
        &format!(
            "<p><label>Fixed <input id=fixed readonly value=before></label>
            <p><label>Off <input id=off disabled value=before></label>
            <fieldset disabled><label>Within <textarea id=within>before</textarea></label></fieldset>{TELL}"
        ),
    );
    for label in ["\"Fixed\"", "\"Off\"", "\"Within\""] {
        refused(&room.fill(&seen, label, "after"), "M207");
    }
    refused(&room.fill(&seen, "\"Show values\"", "after"), "M208");
    let held = values(&mut room, &seen);
    assert_eq!(
        held,
        json!({"fixed": "before", "off": "before", "within": "before"})
    );
}

/// The page moves the focus to its password field; nothing that was typed gets there.
#[test]
fn a_stolen_focus_gets_nothing() {
    nothing_reaches_the_other_field(&[
        format!("onfocus=\"{THEFT}\""),
        format!("onfocus=\"setTimeout(() => {THEFT})\""),
        format!("oninput=\"{THEFT}\""),
    ]);
}

/// The same where the page moves the focus while the text is being entered.
#[test]
fn a_focus_stolen_in_mid_insertion_gets_nothing() {
    nothing_reaches_the_other_field(&[
        format!("onbeforeinput=\"{THEFT}\""),
        format!("onselect=\"{THEFT}\""),
        format!("oninput=\"setInterval(() => {THEFT}, 1)\""),
    ]);
}

const THEFT: &str = "document.getElementById('pw').focus()";

fn nothing_reaches_the_other_field(ways: &[String]) {
    let mut room = Room::new();
    let long = "typed ".repeat(300);
    for (i, how) in ways.iter().enumerate() {
        let seen = room.show(
            &format!("/{i}"),
            &format!(
                "<p><label>Note <input id=note value=before {how}></label>
                <p><label>Code word <input id=pw type=password></label>{TELL}"
            ),
        );
        let reply = room.fill(&seen, "\"Note\"", &long);
        assert!(reply.is_refusal(), "{how}: {}", reply.0);
        assert!(
            ["G504", "G506"].contains(&reply.code().as_str()),
            "{how}: {}",
            reply.0
        );
        assert_eq!(values(&mut room, &seen)["pw"], "", "{how}");
    }
}

#[test]
fn options_are_chosen_by_label_or_value_and_only_where_it_is_clear() {
    let mut room = Room::new();
    let seen = room.show(
        "/",
        &format!(
            "<label>Size <select id=size><option value=s>Small<option value=m>Medium<option value=x1>Twice<option value=x2>Twice<option value=n disabled>None</select></label>{TELL}"
        ),
    );
    for (wanted, held) in [("Medium", "m"), ("s", "s"), ("x2", "x2")] {
        let now = room.look(&seen.tab);
        room.select(&now, "combobox", &[wanted]).server();
        assert_eq!(values(&mut room, &seen)["size"], held);
    }
    for (wanted, code) in [("Twice", "M209"), ("Huge", "M210"), ("None", "M207")] {
        let now = room.look(&seen.tab);
        let reply = room.select(&now, "combobox", &[wanted]);
        refused(&reply, code);
        let options = reply.0["structuredContent"]["page_content"]["options"].clone();
        assert_eq!(options.as_array().unwrap().len(), 5, "{options}");
    }
    let now = room.look(&seen.tab);
    assert!(room.select(&now, "combobox", &["s", "m"]).is_refusal());
    assert_eq!(values(&mut room, &seen)["size"], "x2");
}

#[test]
fn enter_counts_as_the_button_it_amounts_to() {
    let mut room = Room::new();
    let form = |button: &str, effect: &str| {
        format!(
            "<form method=post action=/effect/{effect}><label>Note <input name=note></label><button>{button}</button></form>"
        )
    };
    let seen = room.show("/one", &form("Pay now", "paid"));
    refused(&room.press(&seen, "\"Note\"", "Enter"), "L404");
    refused(&room.press(&seen, "\"Pay now\"", "Enter"), "L404");
    refused(&room.press(&seen, "\"Pay now\"", "Space"), "L404");
    refused(&room.click(&seen, "\"Pay now\""), "L404");
    assert_eq!(room.site.count("paid"), 0);

    let seen = room.show("/two", &form("Keep note", "kept"));
    let reply = room.press(&seen, "\"Note\"", "Enter");
    assert_eq!(reply.server()["outcome"], "done");
    room.site.wait_for("kept", 1);
    assert_eq!(room.site.count("kept"), 1);
    assert_eq!(room.site.count("paid"), 0);
}

#[test]
fn keys_do_what_a_person_s_do_and_none_commands_the_browser() {
    let mut room = Room::new();
    let seen = room.show(
        "/",
        &format!(
            "<label><input type=checkbox id=agree> Large print</label><p><button onclick=\"fetch('/effect/pressed')\">Next page</button>{TELL}"
        ),
    );
    room.click(&seen, "checkbox").server();
    assert_eq!(values(&mut room, &seen)["agree"], true);
    let now = room.look(&seen.tab);
    room.press(&now, "checkbox", "Space").server();
    assert_eq!(values(&mut room, &seen)["agree"], false);
    let now = room.look(&seen.tab);
    room.press(&now, "\"Next page\"", "Space").server();
    room.site.wait_for("pressed", 1);
    let now = room.look(&seen.tab);
    room.press(&now, "\"Next page\"", "Enter").server();
    room.site.wait_for("pressed", 2);
    for key in [
        "Control+w",
        "Control+t",
        "Control+Shift+n",
        "Alt+F4",
        "F12",
        "Alt+ArrowLeft",
    ] {
        refused(&room.press(&seen, "\"Next page\"", key), "A101");
    }
    assert_eq!(room.site.count("pressed"), 2);
}
