//! Between the look and the click the page changes: another node, another label, something on top.

use super::room::{EVIL, Room, refused};

/// A harmless button, one that changes the page, and what it does.
fn page(change: &str) -> String {
    format!(
        "<div id=box><button id=b onclick=\"fetch('/effect/right')\">Next page</button></div>
        <p><button id=c>Change it</button></p>
        <script>
        const b = document.getElementById('b'), box = document.getElementById('box');
        const other = () => {{
            const n = document.createElement('button');
            n.textContent = 'Next page';
            n.onclick = () => fetch('/effect/wrong');
            return n;
        }};
        document.getElementById('c').onclick = () => {{ {change}; fetch('/effect/changed') }};
        </script>"
    )
}

/// The benign twin: a change elsewhere stops nothing.
#[test]
fn a_page_that_changes_elsewhere_is_clicked() {
    let mut room = Room::new();
    let seen = room.show(
        "/",
        &page("document.body.append(document.createElement('hr'))"),
    );
    assert_eq!(
        room.click(&seen, "\"Change it\"").server()["outcome"],
        "done"
    );
    assert_eq!(
        room.click(&seen, "\"Next page\"").server()["outcome"],
        "done"
    );
    room.site.wait_for("right", 1);
    assert_eq!(room.site.count("right"), 1);
}

#[test]
fn a_swapped_node_is_stale_although_it_looks_the_same() {
    let mut room = Room::new();
    for change in ["b.replaceWith(other())", "b.remove()", "b.hidden = true"] {
        let seen = room.show("/", &page(change));
        room.click(&seen, "\"Change it\"").server();
        let reply = room.click(&seen, "\"Next page\"");
        let code = if change == "b.hidden = true" {
            // The same node, whose text nobody can see any more.
            "M204"
        } else {
            "M203"
        };
        refused(&reply, code);
    }
    assert_eq!(room.site.count("wrong") + room.site.count("right"), 0);
}

#[test]
fn a_changed_label_is_noticed_whatever_part_of_it_changed() {
    let mut room = Room::new();
    for change in [
        "b.textContent = 'Next'",
        "b.setAttribute('aria-label', 'Pay 5000')",
        "b.setAttribute('role', 'link')",
        "const f = document.createElement('form'); f.action = '/effect/wrong'; box.append(f); f.append(b)",
    ] {
        let seen = room.show("/", &page(change));
        room.click(&seen, "\"Change it\"").server();
        let reply = room.click(&seen, "\"Next page\"");
        let refusal = reply.refusal();
        let code = if change.starts_with("const") {
            "M203"
        } else {
            "M204"
        };
        assert_eq!(refusal["code"], code, "{change}: {refusal}");
        assert_eq!(refusal["effect"], "none", "{change}: {refusal}");
    }
    assert_eq!(room.site.count("wrong") + room.site.count("right"), 0);
}

/// The change comes with the gesture itself: with the pointer's arrival, or with the first event of the press.
#[test]
fn a_change_during_the_gesture_is_noticed_too() {
    let mut room = Room::new();
    let seen = room.show(
        "/arrive",
        "<button id=b onpointerover=\"this.textContent = 'Pay 5000'\" onclick=\"fetch('/effect/wrong')\">Next page</button>",
    );
    refused(&room.click(&seen, "\"Next page\""), "M204");

    let seen = room.show(
        "/press",
        "<button id=b onpointerdown=\"const n = document.createElement('button'); n.textContent = 'Next page'; n.onmousedown = n.onmouseup = n.onclick = () => fetch('/effect/wrong'); this.replaceWith(n)\" onclick=\"fetch('/effect/wrong')\">Next page</button>",
    );
    let reply = room.click(&seen, "\"Next page\"");
    let refusal = reply.refusal();
    assert_eq!(refusal["code"], "G501", "{refusal}");
    assert_eq!(refusal["effect"], "possible", "{refusal}");
    assert_eq!(room.site.count("wrong"), 0);
}

#[test]
fn a_covered_button_is_refused_and_the_cover_is_named() {
    let mut room = Room::new();
    let seen = room.show(
        "/",
        &page("const n = other(); n.textContent = 'Accept all'; n.style = 'position:fixed;inset:0 0 50% 0'; document.body.append(n)"),
    );
    let reply = room.click(&seen, "\"Change it\"");
    reply.server();
    let after = room.look(&seen.tab);
    assert_eq!(
        after.find("\"Next page\""),
        None,
        "what is covered has no mark"
    );
    let cover = after.mark("\"Accept all\"");
    let reply = room.click(&seen, "\"Next page\"");
    refused(&reply, "M205");
    assert_eq!(reply.refusal()["details"]["covered_by"], cover);
    assert_eq!(room.site.count("wrong") + room.site.count("right"), 0);
}

/// A cover that lets the pointer through covers nothing: the press reaches the button.
#[test]
fn a_cover_that_the_pointer_passes_stops_nothing() {
    let mut room = Room::new();
    let seen = room.show(
        "/",
        &page("const n = document.createElement('div'); n.style = 'position:fixed;inset:0;pointer-events:none'; document.body.append(n)"),
    );
    room.click(&seen, "\"Change it\"").server();
    room.click(&seen, "\"Next page\"").server();
    room.site.wait_for("right", 1);
}

/// A mark whose middle is another control, with what the click must do: nothing, or this effect.
const INNER: [(&str, &str, &str); 12] = [
    (
        "an unseen submit over a button",
        "\"Show details\"",
        "<div role=button tabindex=0 style='position:relative;width:300px;height:60px'>Show details<input type=submit form=f value='Pay 99' style='position:absolute;inset:0;width:100%;height:100%;opacity:0'></div>",
    ),
    (
        "a submit that fills a link",
        "\"Details\"",
        "<a href='#x' style='display:inline-block;position:relative;width:300px;height:60px'>Details<input type=submit form=f value='Pay 99' style='position:absolute;inset:0;width:100%;height:100%;opacity:0'></a>",
    ),
    (
        "a submit in the label of another field",
        "\"Town\"",
        "<input id=t style='width:1px;height:1px;padding:0;border:0'><label for=t style='display:block;position:relative;width:300px;height:60px'>Town<input type=submit form=f value='Pay 99' style='position:absolute;inset:0;width:100%;height:100%;opacity:0'></label>",
    ),
    (
        "a submit in a summary",
        "\"More\"",
        "<details><summary style='position:relative;width:300px;height:60px'>More<button form=f aria-label=Pay style='position:absolute;inset:0;width:100%;height:100%;opacity:0'></button></summary>x</details>",
    ),
    (
        "a button in a text that can be written",
        "named \"Note\"",
        "<div contenteditable aria-label=Note style='position:relative;width:300px;height:60px'>note<button form=f contenteditable=false style='position:absolute;inset:0;width:100%;height:100%;opacity:0'>Pay</button></div>",
    ),
    (
        "a part with a role",
        "\"Show details\"",
        "<div tabindex=0 style='position:relative;width:300px;height:60px'>Show details<span role=button onclick=\"fetch('/effect/paid')\" style='position:absolute;inset:0;opacity:0'>Pay</span></div>",
    ),
    (
        "a part that listens",
        "\"Show details\"",
        "<div tabindex=0 style='position:relative;width:300px;height:60px'>Show details<span onclick=\"fetch('/effect/paid')\" style='position:absolute;inset:0;opacity:0'>Pay</span></div>",
    ),
    (
        "a link in the label of a box",
        "\"Agree\"",
        "<label style='display:block;position:relative;width:300px;height:60px'><input type=checkbox style='width:1px;height:1px'>Agree<a href='/effect/paid' style='position:absolute;inset:0;opacity:0'>x</a></label>",
    ),
    (
        "a label of a submit",
        "\"Show details\"",
        "<div tabindex=0 style='position:relative;width:300px;height:60px'>Show details<label for=s style='position:absolute;inset:0;opacity:0'>x</label></div>",
    ),
    (
        "an open shadow root",
        "\"Show details\"",
        "<div tabindex=0 style='position:relative;width:300px;height:60px'>Show details<span id=h></span></div><script>document.getElementById('h').attachShadow({mode:'open'}).innerHTML = `<button onclick=\"fetch('/effect/paid')\" style='position:absolute;inset:0;width:100%;height:100%;opacity:0'>Pay</button>`</script>",
    ),
    (
        "a closed shadow root",
        "\"Show details\"",
        "<div tabindex=0 style='position:relative;width:300px;height:60px'>Show details<span id=h></span></div><script>document.getElementById('h').attachShadow({mode:'closed'}).innerHTML = `<button onclick=\"fetch('/effect/paid')\" style='position:absolute;inset:0;width:100%;height:100%;opacity:0'>Pay</button>`</script>",
    ),
    (
        "a slot in a button of a closed root",
        "clickable",
        "<div tabindex=0 id=h style='width:300px'>Show details</div><script>document.getElementById('h').attachShadow({mode:'closed'}).innerHTML = `<button onclick=\"fetch('/effect/paid')\" style='display:block;width:100%;height:60px;padding:0;border:0'><slot></slot></button>`</script>",
    ),
];
const FORM: &str = "<form id=f action='/effect/paid' method=post><input name=q value=v><button id=s style='position:absolute;left:600px'>Send</button></form>";

#[test]
fn a_control_inside_is_not_pressed_by_a_click_on_what_is_around_it() {
    let mut room = Room::new();
    let mut wrong = Vec::new();
    for (i, (what, mark, html)) in INNER.iter().enumerate() {
        let seen = room.show(&format!("/{i}"), &format!("{FORM}{html}"));
        let reply = room.click(&seen, mark);
        // A summary is named by all that is in it, "Pay 99" too: the lock comes first, and nobody can be asked here.
        let code = if *what == "a submit in a summary" {
            "L404"
        } else {
            "M205"
        };
        if !reply.is_refusal() || reply.code() != code || room.site.count("paid") > 0 {
            wrong.push((*what, reply.0.clone(), seen.lines.clone()));
        }
        room.patiently("close_tab", serde_json::json!({"tab": seen.tab}));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(room.site.count("paid"), 0);
}

/// Where the middle is a control with a mark of its own and the rest is free, the rest is pressed; and the control is
/// there to be pressed by its own mark.
#[test]
fn around_a_control_inside_there_may_be_room() {
    let mut room = Room::new();
    let html = "<div tabindex=0 onclick=\"event.target.closest('button') ? 0 : fetch('/effect/around')\" style='width:500px;height:200px;position:relative'>many words of a card<form action='/effect/paid' method=post style='position:absolute;left:100px;top:60px'><button style='width:300px;height:80px'>Buy 99.00</button></form></div>
        <div tabindex=0 style='width:300px;height:60px;position:relative'>Filled<button onclick=\"fetch('/effect/inner')\" style='position:absolute;inset:0;width:100%;height:100%'>Inner twin</button></div>";
    let seen = room.show("/", html);
    room.click(&seen, "\"many words").server();
    room.site.wait_for("around", 1);
    let reply = room.click(&seen, "clickable \"Inner twin\"");
    if reply.is_refusal() {
        refused(&reply, "M205");
        assert_eq!(
            reply.refusal()["details"]["covered_by"],
            seen.mark("button \"Inner twin\"")
        );
    } else {
        panic!("{}", reply.0);
    }
    room.click(&seen, "button \"Inner twin\"").server();
    room.site.wait_for("inner", 1);
    assert_eq!(room.site.count("paid"), 0);
}

/// The benign twins: whatever a button, link, label or field is made of, it is pressed.
#[test]
fn what_a_control_is_made_of_is_the_control() {
    let mut room = Room::new();
    let seen = room.show(
        "/",
        "<button onclick=\"fetch('/effect/e1')\"><svg width=60 height=30><rect width=60 height=30 /></svg><span>Alpha</span></button>
        <a href='#x' onclick=\"fetch('/effect/e2')\"><b>Bravo</b> <img alt='' width=30 height=30></a>
        <label onclick=\"event.target.tagName == 'INPUT' && fetch('/effect/e3')\">Charlie <input type=checkbox style='opacity:0.02;width:1px;height:1px'></label>
        <label style='position:relative;display:inline-block'><input type=checkbox aria-label=Delta onchange=\"fetch('/effect/e4')\"><span style='position:absolute;inset:0;background:#8888'></span></label>
        <details ontoggle=\"fetch('/effect/e5')\"><summary><i>Echo</i></summary>x</details>
        <x-b id=o onclick=\"fetch('/effect/e6')\">Foxtrot</x-b>
        <x-b id=c onclick=\"fetch('/effect/e7')\">Golf</x-b>
        <a href='#y' onclick=\"fetch('/effect/e8')\"><div role=button tabindex=0>Hotel</div></a>
        <script>for (const [id, mode] of [['o', 'open'], ['c', 'closed']]) document.getElementById(id).attachShadow({mode}).innerHTML = '<button><slot></slot></button>'</script>",
    );
    for (i, mark) in [
        "\"Alpha\"",
        "\"Bravo\"",
        "\"Charlie\"",
        "named \"Delta\"",
        "\"Echo\"",
        "\"Foxtrot\"",
        "\"Golf\"",
        "button \"Hotel\"",
    ]
    .iter()
    .enumerate()
    {
        let now = room.look(&seen.tab);
        let reply = room.click(&now, mark);
        assert!(!reply.is_refusal(), "{mark}: {} {:#?}", reply.0, now.lines);
        room.site.wait_for(&format!("e{}", i + 1), 1);
    }
}

/// The control comes between the look and the press: with the pointer, or with the first event.
#[test]
fn a_control_that_comes_inside_under_the_pointer_is_not_pressed() {
    let mut room = Room::new();
    for (i, event) in ["pointerover", "pointerdown", "mousedown", "mouseup"]
        .iter()
        .enumerate()
    {
        let html = format!(
            "{FORM}<div id=w role=button tabindex=0 style='position:relative;width:300px;height:60px'>Show details</div><script>
            const w = document.getElementById('w');
            w.addEventListener('{event}', () => {{
                const b = document.createElement('input');
                b.type = 'submit'; b.setAttribute('form', 'f'); b.value = '';
                b.style = 'position:absolute;inset:0;width:100%;height:100%;opacity:0';
                w.append(b);
                if ('{event}' !== 'pointerover') w.setPointerCapture?.(1);
            }}, {{once: true}});</script>"
        );
        let seen = room.show(&format!("/{i}"), &html);
        let reply = room.click(&seen, "\"Show details\"");
        assert_eq!(room.site.count("paid"), 0, "{event}: {}", reply.0);
        room.patiently("close_tab", serde_json::json!({"tab": seen.tab}));
    }
}

/// A page that has been clicked makes up a click with a modifier on a link or a submit: that would open a tab of its own.
#[test]
fn no_made_up_click_opens_a_tab() {
    let mut room = Room::new();
    let mut n = 0;
    for kind in ["cancelable: true", "cancelable: false", "bubbles: false"] {
        for (target, how) in [
            ("l", "ctrlKey: true"),
            ("l", "shiftKey: true"),
            ("i", "button: 1"),
            ("b", "ctrlKey: true"),
        ] {
            n += 1;
            let html = format!(
                "<a id=l href='http://{EVIL}:{{{{port}}}}/effect/wrong'>x<i id=i>y</i></a><form action='http://{EVIL}:{{{{port}}}}/effect/wrong'><button id=b>z</button></form>
                <button onclick=\"{target}.dispatchEvent(new MouseEvent('click', {{bubbles: true, cancelable: true, composed: true, {kind}, {how}}})); setTimeout(() => fetch('/effect/right' + l.hasAttribute('href')))\">Next page</button>"
            );
            let seen = room.show(&format!("/{n}"), &html);
            room.click(&seen, "\"Next page\"").server();
            room.site.wait_for("righttrue", n);
            room.patiently("close_tab", serde_json::json!({"tab": seen.tab}));
            assert_eq!(room.site.count("wrong"), 0, "{kind}, {target}, {how}");
        }
    }
    assert!(room.site.requests_to(EVIL).is_empty());
}

/// Words that a page selects and copies in a click would be on the clipboard of everything else.
#[test]
fn a_clicked_page_copies_nothing() {
    let mut room = Room::new();
    let seen = room.show(
        "/",
        "<input id=s value=planted><button id=b>Next page</button><script>
        for (const type of ['copy', 'cut', 'paste']) addEventListener(type, () => fetch('/effect/wrong'), true);
        document.getElementById('b').onclick = () => {
            s.focus(); s.select();
            document.execCommand('copy'); document.execCommand('cut'); document.execCommand('paste');
            fetch('/effect/right' + (s.value === 'planted'));
        }</script>",
    );
    room.click(&seen, "\"Next page\"").server();
    room.site.wait_for("righttrue", 1);
    assert_eq!(room.site.count("wrong"), 0);
}
