//! What lies out of sight: counted, found, read and acted on; and how large the answers are.

use serde_json::{Value, json};

use crate::gesture::room::{Room, SHOP, Seen, refused};
use crate::support::client::Reply;
use crate::support::pages;

/// Opens a whole page of the shop's.
fn shown(room: &mut Room, html: &str) -> Seen {
    room.site.page(&format!("{SHOP}/"), html);
    let tab = room.go("/");
    room.look(&tab)
}

fn lines(reply: &Reply) -> Vec<String> {
    let text = &reply.page()["text"];
    let lines = text.as_array().map(Vec::as_slice).unwrap_or_default();
    lines
        .iter()
        .map(|line| line.as_str().unwrap().to_owned())
        .collect()
}

/// Asks a stored snapshot.
fn ask(room: &mut Room, seen: &Seen, tool: &str, mut arguments: Value) -> Reply {
    arguments["snapshot_id"] = seen.snapshot.clone();
    room.patiently(tool, arguments)
}

/// The bytes of a reply's text, as the client gets it.
fn size(reply: &Reply) -> usize {
    reply.0["content"][0]["text"].as_str().unwrap().len()
}

#[test]
fn a_look_is_small_and_a_difference_is_smaller() {
    for (name, html, most) in [
        ("form", pages::form(), 2_000),
        ("articles", pages::articles(), 8_000),
        ("orders", pages::orders(), 24_000),
    ] {
        let mut room = Room::new();
        room.site.page(&format!("{SHOP}/"), &html);
        let tab = room.go("/");
        let whole = room.patiently("observe", json!({"tab": tab, "image": false}));
        let seen = room.look(&tab);
        assert!(
            size(&whole) <= most,
            "{name}: {} bytes: {}",
            size(&whole),
            whole.0
        );
        room.click(&seen, "\"Show one more\"");
        let since = room.patiently(
            "observe",
            json!({"tab": tab, "image": false, "since": seen.snapshot}),
        );
        assert!(
            size(&since) * 5 <= most,
            "{name}: {} of {most}: {}",
            size(&since),
            since.0
        );
        assert!(
            since.page()["changed"].to_string().contains("shown 1"),
            "{}",
            since.0
        );
    }
}

#[test]
fn what_is_out_of_sight_is_counted_found_and_pressed() {
    let mut room = Room::new();
    let seen = room.show(
        "/",
        "<h1>Inbox</h1><p>first words</p><div style='height:3000px'></div>
         <h2>Archive</h2><ul><li>Letter one <button onclick=\"fetch('/effect/one')\">Open</button>
         <li>Letter two <button onclick=\"fetch('/effect/two')\">Open</button></ul>
         <p>Card 4111 1111 1111 1111</p><p style='opacity:0'>nobody sees this</p><p style='color:#fff'>nor this</p>",
    );
    assert!(!seen.says("Letter"), "{:#?}", seen.lines);
    assert!(
        seen.server["not_shown"]["below"].as_u64().unwrap() >= 5,
        "{}",
        seen.server
    );

    let found = ask(
        &mut room,
        &seen,
        "find",
        json!({"text": "letter TWO", "role": "button"}),
    );
    let told = lines(&found);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("(below) \"Letter two\" ["), "{told:?}");
    let now = Seen {
        lines: told,
        ..seen.clone()
    };
    let done = room.click(&now, "\"Open\"");
    assert!(!done.is_refusal(), "{}", done.0);
    room.site.wait_for("two", 1);
    assert_eq!(room.site.count("one"), 0);

    for never in ["nobody sees", "nor this", "4111"] {
        let found = ask(&mut room, &seen, "find", json!({"text": never}));
        assert_eq!(found.server()["found"], 0, "{never}: {}", found.0);
    }
    let all = ask(&mut room, &seen, "read", json!({"op": "text"}));
    assert!(
        lines(&all).iter().any(|line| line.contains("Card ••••")),
        "{}",
        all.0
    );
    assert!(!all.0.to_string().contains("nobody sees"), "{}", all.0);
}

#[test]
fn a_mark_that_was_out_of_sight_names_the_node_it_was_found_on() {
    let mut room = Room::new();
    let seen = room.show(
        "/",
        "<div style='height:3000px'></div><ul id=u><li><button onclick=\"fetch('/effect/one')\">Keep one</button>
         <li><button onclick=\"fetch('/effect/two')\">Keep two</button></ul>
         <button id=b onclick=\"document.querySelectorAll('li button')[0].textContent = 'Something else'\" style='position:fixed;top:0'>Change</button>
         <button onclick=\"u.append(u.firstElementChild.cloneNode(true)); u.firstElementChild.remove()\" style='position:fixed;top:40px'>Replace</button>",
    );
    let found = ask(
        &mut room,
        &seen,
        "find",
        json!({"role": "button", "text": "keep one"}),
    );
    let first = Seen {
        lines: lines(&found),
        ..seen.clone()
    };
    let done = room.click(&seen, "\"Change\"");
    assert!(!done.is_refusal(), "{}", done.0);
    refused(&room.click(&first, "\"Keep one\""), "M204");
    let done = room.click(&seen, "\"Replace\"");
    assert!(!done.is_refusal(), "{}", done.0);
    refused(&room.click(&first, "\"Keep one\""), "M203");
    assert_eq!(room.site.count("one"), 0);
}

#[test]
fn a_page_of_twenty_thousand_nodes_is_found_and_read_to_its_end() {
    let mut room = Room::new();
    let seen = shown(&mut room, &pages::orders());
    let found = ask(
        &mut room,
        &seen,
        "find",
        json!({"text": "order 2859", "role": "link"}),
    );
    assert_eq!(lines(&found).len(), 1, "{}", found.0);
    assert!(
        lines(&found)[0].ends_with("link \"Order 2859\" -> \"/order/2859\""),
        "{}",
        found.0
    );
    let near = seen.mark("\"Order 3\"");
    let found = ask(
        &mut room,
        &seen,
        "find",
        json!({"text": "order 1", "role": "link", "near": near}),
    );
    assert!(lines(&found)[0].contains("\"Order 1\""), "{}", found.0);

    let outline = ask(&mut room, &seen, "read", json!({"op": "outline"}));
    let orders = lines(&outline)
        .into_iter()
        .find(|line| line.contains("# \"Orders\""))
        .unwrap();
    assert!(orders.ends_with("(2861 lines)"), "{orders}");
    let mut cursor: u64 = orders.split(' ').next().unwrap().parse().unwrap();
    let mut rows = Vec::new();
    for _ in 0..40 {
        let table = ask(
            &mut room,
            &seen,
            "read",
            json!({"op": "table", "cursor": cursor}),
        );
        rows.extend(lines(&table));
        match table.server()["cursor"].as_u64() {
            Some(next) => cursor = next,
            None => break,
        }
    }
    assert_eq!(rows.len(), 2_861);
    assert!(
        rows[0].contains("\"No\" | \"Order\" | \"Customer\" | \"Amount\" | \"State\""),
        "{}",
        rows[0]
    );
    assert!(
        rows[2_860].contains("\"2859\" | [") && rows[2_860].contains("\"paid\""),
        "{}",
        rows[2_860]
    );
    let links = ask(&mut room, &seen, "read", json!({"op": "links"}));
    assert_eq!(links.server()["found"], 2_861, "{}", links.server());
}

#[test]
fn a_link_that_runs_over_two_lines_has_its_mark_on_its_words() {
    let mut room = Room::new();
    let tab = room.open(
        "/",
        "<div style='width:300px;font:20px monospace'>0123456789 01234 <a href='javascript:void(fetch(\"/effect/wrapped\"))'>abc defghij</a> 01234567</div>",
    );
    let (seen, picture) = room.picture(&tab);
    let link = seen.mark("\"abc defghij\"");
    assert!(link > 0 && picture.width() > 300);
    let done = room.click(&seen, "\"abc defghij\"");
    assert!(!done.is_refusal(), "{}", done.0);
    room.site.wait_for("wrapped", 1);
}

#[test]
fn a_role_or_a_kind_that_is_none_is_not_told() {
    let mut room = Room::new();
    let odd = "const odd = document.createElementNS('urn:odd', 'input'); odd.textContent = 'odd ' + id;
         odd.setAttribute('type', 'spoken-9'); odd.setAttribute('tabindex', '0'); odd.setAttribute('onclick', '1');";
    let seen = room.show(
        "/",
        &format!(
            "<div id=near></div><div style='height:3000px'></div><div id=far></div>
             <button role='spoken-1[9]button\"Pay\"'>one</button><button role='spoken-2 LINK spoken-3'>two</button>
             <script>for (const id of ['near', 'far']) {{ {odd} document.getElementById(id).append(odd) }}</script>"
        ),
    );
    let all = ask(&mut room, &seen, "read", json!({"op": "text"}));
    let told = lines(&all);
    assert!(
        told.iter().any(|line| line.contains("] button \"one\" [")),
        "{told:#?}"
    );
    assert!(
        told.iter().any(|line| line.ends_with("link \"two\"")),
        "{told:#?}"
    );
    assert!(
        told.iter()
            .any(|line| line.ends_with("clickable \"odd near\"")),
        "{told:#?}"
    );
    assert!(!all.0.to_string().contains("spoken"), "{told:#?}");
    // Nor does it stop a press on what holds it.
    let seen = room.show(
        "/in",
        "<button id=b onclick=\"fetch('/effect/held')\"></button>
         <script>const odd = document.createElementNS('urn:odd', 'input'); odd.textContent = 'Held'; b.append(odd)</script>",
    );
    let done = room.click(&seen, "\"Held\"");
    assert!(!done.is_refusal(), "{}", done.0);
    room.site.wait_for("held", 1);
}

/// A page that is larger than any look: what was read is told, what was not is counted, and it goes on answering.
#[test]
fn a_page_of_a_hundred_thousand_nodes_is_bounded_and_counted() {
    let mut room = Room::new();
    let seen = room.show(
        "/",
        "<h1>Long</h1><div id=all></div><script>
        const one = '<p>Line <b>of</b> <i>many</i> <a href=/x>there</a></p>';
        document.getElementById('all').innerHTML = one.repeat(25000);
        </script>",
    );
    assert!(seen.says("\"Long\""), "{:#?}", seen.lines);
    let not_shown = &seen.server["not_shown"];
    assert!(not_shown["below"].as_u64().unwrap() > 10_000, "{not_shown}");
    assert!(
        not_shown["left_out"].as_u64().unwrap() > 1_000,
        "{not_shown}"
    );
    let kilobytes = std::fs::read_to_string(format!(
        "/proc/{}/status",
        room.client.pid().as_raw_nonzero()
    ))
    .unwrap()
    .lines()
    .find_map(|line| {
        line.strip_prefix("VmHWM:")?
            .trim()
            .strip_suffix(" kB")?
            .parse::<u64>()
            .ok()
    })
    .unwrap();
    assert!(kilobytes < 200 * 1024, "{kilobytes} kB at most");
}

/// A page that changes without end is looked at all the same.
#[test]
fn endless_changes_do_not_stall_a_look() {
    let mut room = Room::new();
    let seen = room.show(
        "/",
        "<p>Steady words</p><ul id=list></ul><script>
        let n = 0;
        setInterval(() => { const li = document.createElement('li'); li.textContent = 'entry ' + n++; list.prepend(li); if (n > 200) list.lastChild.remove(); }, 1);
        (function spin() { list.dataset.n = n; requestAnimationFrame(spin); })();
        </script>",
    );
    assert!(seen.says("Steady words"), "{:#?}", seen.lines);
    let (again, _) = room.picture_or_not(&seen.tab);
    assert!(again.says("Steady words"), "{:#?}", again.lines);
}
