//! Fields and keys: what is typed arrives where it was meant and nowhere else. The site says what arrived.

use serde_json::{Value, json};

use super::room::{BANK, Room, Seen, refused};

/// A button that tells the site what every field holds.
const TELL: &str = "<p><button type=button id=tell>Show values</button></p><script>
    let more = () => ({});
    document.getElementById('tell').onclick = () => {
        const all = {};
        for (const f of document.querySelectorAll('input,textarea,select')) all[f.id] = f.type === 'checkbox' ? f.checked : f.value;
        for (const f of document.querySelectorAll('[contenteditable]')) all[f.id] = f.innerText;
        Object.assign(all, more());
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
    room.fill(&now, "textbox named \"Free\"", "漢字 😀 free")
        .server();
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
        if reply.is_refusal() {
            assert!(
                ["G504", "G506"].contains(&reply.code().as_str()),
                "{how}: {}",
                reply.0
            );
        } else {
            // `select` is told in a task of its own: the theft may come when all has been entered where it belongs.
            assert!(how.starts_with("onselect"), "{how}: {}", reply.0);
            assert_eq!(reply.server()["field_holds_it"], true, "{}", reply.0);
        }
        assert_eq!(values(&mut room, &seen)["pw"], "", "{how}");
    }
}

/// Everywhere else that text could land: beside the target, in a field that cannot be seen into, in frames of the same
/// site with and without scripts, and in a frame of another site, which tells its own server.
const ELSEWHERE: &str = "<p><label>Code word <input id=pw type=password value=mine></label>
    <div id=side contenteditable role=textbox aria-label=Side>mine</div><div id=host></div>
    <iframe id=near srcdoc='<input id=x value=mine>'></iframe>
    <iframe id=mute sandbox=allow-same-origin srcdoc='<input id=x value=mine>'></iframe>
    <iframe id=bank src='http://bank.test:{{port}}/listens'></iframe>
    <script>
    const id = (name) => document.getElementById(name), note = id('note'), free = id('free');
    const root = id('host').attachShadow({mode: 'closed'});
    root.innerHTML = '<label>Within <input id=within value=before></label><input id=other value=mine aria-label=Other>';
    const within = root.getElementById('within'), other = root.getElementById('other'), pw = id('pw');
    const inner = (frame) => id(frame).contentDocument.getElementById('x');
    const places = {
        pw: () => { pw.focus(); pw.select() },
        side: () => getSelection().selectAllChildren(id('side')),
        other: () => { other.focus(); other.select() },
        near: () => { inner('near').focus(); inner('near').select() },
        mute: () => { inner('mute').focus(); inner('mute').select() },
        bank: () => id('bank').contentWindow.focus(),
    };
    more = () => ({
        free: free.innerText, side: id('side').innerText, within: within.value, other: other.value, pw: pw.value,
        near: inner('near').value, mute: inner('mute').value,
    });
    </script>";

/// A frame of another site that puts its field under the focus as soon as it gets it.
const LISTENS: &str = "<!doctype html><input id=x><script>
    const x = document.getElementById('x');
    addEventListener('focus', () => x.focus());
    x.addEventListener('input', () => fetch('/effect/wrong', {method: 'POST', keepalive: true}));
    </script>";

/// What a page does to move the focus, and from where: the field that is written is `it`.
fn thieves(on: &str) -> Vec<(String, String)> {
    let at = |event: &str, place: &str| {
        (
            format!("{event} to {place}"),
            format!("{on}.addEventListener('{event}', places.{place})"),
        )
    };
    vec![
        at("focus", "near"),
        at("beforeinput", "pw"),
        at("beforeinput", "side"),
        at("beforeinput", "other"),
        at("beforeinput", "near"),
        at("beforeinput", "mute"),
        at("beforeinput", "bank"),
        at("textInput", "pw"),
        at("input", "bank"),
        (
            "selectionchange".into(),
            "document.addEventListener('selectionchange', places.pw)".into(),
        ),
        (
            "timer".into(),
            "setInterval(() => document.activeElement === document.body || places.mute(), 0)"
                .into(),
        ),
        (
            "message".into(),
            "const c = new MessageChannel(); let n = 0;
            c.port1.onmessage = () => { if (n++ % 2) places.pw(); else {on}.focus(); c.port2.postMessage(0) };
            c.port2.postMessage(0)"
                .replace("{on}", on),
        ),
        (
            "frame".into(),
            "const f = () => { places.bank(); requestAnimationFrame(f) }; requestAnimationFrame(f)"
                .into(),
        ),
        (
            "mutation".into(),
            format!(
                "new MutationObserver(places.pw).observe({on}.getRootNode(), {{subtree: true, childList: true, characterData: true}})"
            ),
        ),
        (
            "removed".into(),
            format!("{on}.addEventListener('beforeinput', () => {{ {on}.remove(); places.pw() }})"),
        ),
        (
            "swapped".into(),
            format!("{on}.addEventListener('beforeinput', () => {{ {on}.replaceWith(pw); places.pw() }})"),
        ),
        (
            "hidden".into(),
            format!("{on}.addEventListener('beforeinput', () => {on}.style.display = 'none')"),
        ),
    ]
}

/// Fills one field under thefts. Nothing else changes, and the reply is true about the field itself.
fn nothing_lands_elsewhere(on: &str, label: &str, thefts: &[&str]) {
    let mut room = Room::new();
    room.site.page(&format!("{BANK}/listens"), LISTENS);
    let long = "typed ".repeat(150);
    let (mut stopped, mut done) = (0, 0);
    for (i, (how, script)) in thieves(on).into_iter().enumerate() {
        if !(thefts.is_empty() || thefts.contains(&how.as_str())) {
            continue;
        }
        let seen = room.show(
            &format!("/{i}"),
            &format!(
                "<p><label>Note <input id=note value=before></label>
                <div id=free contenteditable role=textbox aria-label=Free>before</div>
                {TELL}{ELSEWHERE}<script>{script}</script>"
            ),
        );
        let reply = room.fill(&seen, label, &long);
        let held = values(&mut room, &seen);
        for place in ["pw", "side", "other", "near", "mute"] {
            assert_eq!(held[place], "mine", "{how}: {place}: {}", reply.0);
        }
        assert_eq!(room.site.count("wrong"), 0, "{how}: {}", reply.0);
        let is = held[on].as_str().unwrap_or_default();
        if reply.is_refusal() {
            stopped += 1;
            let refusal = reply.refusal();
            assert!(
                refusal["effect"] != "none" || is == "before",
                "{how}: {refusal}: {is:?}"
            );
        } else {
            done += 1;
            assert_eq!(is.trim_end(), long.trim_end(), "{how}: {}", reply.0);
        }
    }
    // Else nothing was tried.
    let all = stopped + done;
    assert!(stopped > all / 2, "{stopped} of {all} stopped");
}

#[test]
fn whatever_moves_the_focus_an_input_s_text_lands_nowhere_else() {
    nothing_lands_elsewhere("note", "\"Note\"", &[]);
}

#[test]
fn whatever_moves_the_focus_an_editable_s_text_lands_nowhere_else() {
    let thefts = [
        "beforeinput to side",
        "beforeinput to pw",
        "beforeinput to bank",
        "mutation",
        "removed",
    ];
    nothing_lands_elsewhere("free", "textbox named \"Free\"", &thefts);
}

#[test]
fn whatever_moves_the_focus_text_for_a_closed_tree_lands_nowhere_else() {
    let thefts = [
        "beforeinput to other",
        "beforeinput to pw",
        "message",
        "swapped",
    ];
    nothing_lands_elsewhere("within", "\"Within\"", &thefts);
}

/// A page that writes in its own way, as rich editors do, is told before anything is entered, and what it cancels is
/// not entered.
#[test]
fn a_page_that_writes_by_itself_is_told_first() {
    let mut room = Room::new();
    let seen = room.show(
        "/",
        &format!(
            "<p><label>Own <input id=own value=before></label><p><label>Digits <input id=digits value=1></label>
            <div id=free contenteditable role=textbox aria-label=Free>before</div>{TELL}<script>
            const of = (name) => document.getElementById(name);
            of('own').addEventListener('beforeinput', (e) => {{ e.preventDefault(); of('own').value = '<' + e.data + '>' }});
            of('digits').addEventListener('beforeinput', (e) => {{ if (/[^0-9]/.test(e.data)) e.preventDefault() }});
            of('free').addEventListener('beforeinput', (e) => {{
                const [range] = e.getTargetRanges();
                e.preventDefault();
                of('free').textContent = range.startContainer.textContent + '|' + e.data;
            }});
            </script>"
        ),
    );
    let refusal = room.fill(&seen, "\"Own\"", "new").refusal();
    assert_eq!(
        (&refusal["code"], &refusal["effect"]),
        (&json!("G506"), &json!("done"))
    );
    let now = room.look(&seen.tab);
    room.fill(&now, "\"Digits\"", "23").server();
    let now = room.look(&seen.tab);
    room.fill(&now, "\"Digits\"", "two").refusal();
    let now = room.look(&seen.tab);
    room.fill(&now, "textbox named \"Free\"", "new").refusal();
    let held = values(&mut room, &seen);
    assert_eq!(held["own"], "<new>");
    assert_eq!(held["digits"], "23");
    assert_eq!(held["free"], "before|new");
}

/// A key whose focus is moved by its own handlers writes and erases nothing elsewhere.
#[test]
fn a_key_writes_and_erases_nothing_elsewhere() {
    let mut room = Room::new();
    room.site.page(&format!("{BANK}/listens"), LISTENS);
    let all = ["keydown", "keypress", "beforeinput", "textInput"];
    let targets = [
        ("note", "\"Note\"", &all[..3]),
        ("free", "textbox named \"Free\"", &all[..]),
        ("within", "\"Within\"", &all[2..3]),
    ];
    for (on, label, events) in targets {
        let mut landed = 0;
        for key in ["x", "Backspace"] {
            for event in events {
                // Backspace makes neither of these.
                if key == "Backspace" && ["keypress", "textInput"].contains(event) {
                    continue;
                }
                let seen = room.show(
                    &format!("/{on}-{key}-{event}"),
                    &format!(
                        "<p><label>Note <input id=note value=before></label>
                        <div id=free contenteditable role=textbox aria-label=Free>before</div>
                        {TELL}{ELSEWHERE}<script>
                        if ({on} === free) getSelection().collapse(free, 1); else {on}.setSelectionRange(6, 6);
                        {on}.addEventListener('{event}', places.pw);
                        {on}.addEventListener('{event}', places.other);
                        </script>"
                    ),
                );
                let reply = room.press(&seen, label, key);
                let held = values(&mut room, &seen);
                let how = format!("{key} on {on}, moved at {event}: {}", reply.0);
                for place in ["pw", "side", "other", "near", "mute"] {
                    assert_eq!(held[place], "mine", "{how}");
                }
                if reply.is_refusal() {
                    assert_eq!(held[on], "before", "{how}");
                } else {
                    landed += 1;
                    assert_ne!(held[on], "before", "{how}");
                }
            }
        }
        assert!(
            landed <= 1,
            "{on}: only what the page does not see is let pass"
        );
    }
}

/// What is left open: a key, unlike text, goes to what has the focus when it comes, and a frame without scripts has no
/// guard. A page can move the focus there between look and key. That the key may have landed is always said.
#[test]
fn a_key_that_falls_into_a_frame_without_scripts_is_said_to_be_possible() {
    let mut room = Room::new();
    room.site.page(&format!("{BANK}/listens"), LISTENS);
    let seen = room.show(
        "/",
        &format!(
            "<p><label>Note <input id=note value=before></label>
            <div id=free contenteditable role=textbox aria-label=Free>before</div>{TELL}{ELSEWHERE}<script>
            const c = new MessageChannel(); let n = 0;
            c.port1.onmessage = () => {{ if (n++ % 2) inner('mute').focus(); else note.focus(); c.port2.postMessage(0) }};
            onload = () => c.port2.postMessage(0);
            </script>"
        ),
    );
    let (mut done, mut possible, mut nothing) = (0, 0, 0);
    // Most keys find the focus elsewhere and are not pressed: it goes on until some were.
    for calls in 0..200 {
        if calls >= 8 && done + possible > 0 {
            break;
        }
        let reply = room.press(&seen, "\"Note\"", "x");
        if !reply.is_refusal() {
            done += 1;
        } else if reply.refusal()["effect"] == "none" {
            nothing += 1;
        } else {
            possible += 1;
        }
    }
    let held = values(&mut room, &seen);
    let keys = |place: &str| held[place].as_str().unwrap().matches('x').count();
    let said = format!("{done} done, {possible} possible, {nothing} nothing: {held}");
    println!("{said}");
    assert!(keys("note") >= done, "{said}");
    assert!(keys("note") + keys("mute") <= done + possible, "{said}");
    assert_eq!(
        (&held["pw"], &held["side"]),
        (&json!("mine"), &json!("mine")),
        "{said}"
    );
    assert!(done + possible > 0, "{said}");
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
    let now = room.look(&seen.tab);
    room.press(&now, "checkbox", "Tab").server();
    let now = room.look(&seen.tab);
    assert!(now.says("\"Next page\" focused"), "{:#?}", now.lines);
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

/// A link or a form that is pressed with a modifier opens in a window of its own; the clipboard carries a masked value
/// from one field into another.
#[test]
fn no_chord_opens_elsewhere_or_uses_the_clipboard() {
    let mut room = Room::new();
    let seen = room.show(
        "/",
        &format!(
            "<a href='/effect/link' id=l>Further on</a><form action='/effect/sent'><input aria-label=Town id=t><button>Send</button></form>
            <textarea aria-label=Note id=n></textarea>
            <label>API secret <input id=s name=api_secret value=planted></label> <label>Search <input id=q></label>{TELL}"
        ),
    );
    for mark in [
        "\"Further on\"",
        "\"Send\"",
        "named \"Town\"",
        "named \"Note\"",
    ] {
        for key in [
            "Control+Enter",
            "Alt+Enter",
            "Control+Shift+Enter",
            "Control+Space",
        ] {
            refused(&room.press(&seen, mark, key), "A101");
        }
    }
    for mark in ["\"Further on\"", "\"Send\"", "named \"Town\""] {
        for key in ["Shift+Enter", "Shift+Space"] {
            let reply = room.press(&seen, mark, key);
            refused(&reply, "A101");
            assert_eq!(reply.refusal()["details"]["argument"], "key");
        }
    }
    // The benign twin: a new line, and a link that is followed where it is.
    room.fill(&seen, "named \"Note\"", "one").server();
    let now = room.look(&seen.tab);
    room.press(&now, "named \"Note\"", "Shift+Enter").server();
    assert_eq!(values(&mut room, &seen)["n"], "one\n");

    let now = room.look(&seen.tab);
    room.press(&now, "\"API secret\"", "Control+a").server();
    for key in [
        "Control+c",
        "Control+x",
        "Shift+Delete",
        "Control+Insert",
        "Control+Shift+c",
        "Alt+Control+c",
    ] {
        refused(&room.press(&now, "\"API secret\"", key), "A101");
    }
    for key in ["Control+v", "Control+Shift+v", "Shift+Insert"] {
        refused(&room.press(&now, "\"Search\"", key), "A101");
    }
    assert_eq!(room.site.count("link") + room.site.count("sent"), 0);
    assert_eq!(
        room.patiently("list_tabs", json!({})).server()["tabs"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
}
