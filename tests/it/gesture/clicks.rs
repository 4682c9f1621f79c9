//! Between the look and the click the page changes: another node, another label, something on top.

use super::room::{Room, refused};

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
