//! What a sensitive field held is shown nowhere: planted values, in every place and spelling, in text and in pixels.

use image::RgbaImage;
use serde_json::{Value, json};

use crate::gesture::room::{BANK, Room};

/// What is planted in sensitive fields. Nothing else on these pages has its parts.
const CANARY: &str = "kanarie7Q<9\"zt&x";
/// Parts of it that are looked for in whatever leaves.
const PARTS: [&str; 6] = ["kan", "arie", "7q", "zt&x", "zt\\u0026", "%22zt"];

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// Puts the planted value where a page has `{V}`, as its source must have it; `{E}` in an address.
fn planted(html: &str) -> String {
    let encoded: String = url::form_urlencoded::byte_serialize(CANARY.as_bytes()).collect();
    html.replace("{V}", &escaped(CANARY))
        .replace("{E}", &encoded)
}

/// A password field with the planted value, out of the way of what is looked at.
const FIELD: &str = "<p><label>Code word <input id=f type=password value='{V}'></label></p>";
/// Red and large, at a place of its own.
const RED: &str =
    "position:absolute;left:300px;top:300px;color:#f00;font:bold 30px/40px sans-serif;";

/// The parts of the planted value that are in a text.
fn found(text: &str) -> Vec<&'static str> {
    let lower = text.to_lowercase();
    PARTS
        .into_iter()
        .filter(|part| lower.contains(part))
        .collect()
}

/// Nothing that the server wrote has the planted value; a picture's base64 may have its shorter parts by chance.
fn assert_not_written(room: &Room) {
    let output = String::from_utf8(room.client.output()).unwrap();
    let written = output.to_lowercase();
    for part in ["kanarie", "arie7q", "7q<9", "zt\\u0026x"] {
        assert!(!written.contains(part), "{part}");
    }
}

fn red(picture: &RgbaImage) -> usize {
    picture
        .pixels()
        .filter(|p| p[0] > 200 && p[1] < 60 && p[2] < 60)
        .count()
}

/// How much of a box around the red words is covered, in pixels. The box is given in CSS pixels.
fn covered(picture: &RgbaImage, scale: f64) -> usize {
    let at = |place: f64| (place * scale) as u32;
    let mut count = 0;
    for y in at(280.0)..at(520.0) {
        for x in at(280.0)..at(1000.0).min(picture.width()) {
            let p = picture.get_pixel(x, y);
            let shade = (60..=92).contains(&p[0]) && p[0] == p[1];
            count += usize::from(shade && p[2].wrapping_sub(p[0]).abs_diff(8) <= 2);
        }
    }
    count
}

fn scale(picture: &RgbaImage) -> f64 {
    f64::from(picture.width()) / 1280.0
}

/// Looks at a page with picture and says what is wrong with it, if anything is.
fn wrong(room: &mut Room, tab: &Value, name: &str) -> Option<String> {
    let (seen, picture) = room.picture(tab);
    picture
        .save(crate::support::pictures().join(format!("masks-{name}.png")))
        .unwrap();
    let told = format!("{}\n{}\n{}", seen.text(), seen.page, seen.server);
    let parts = found(&told);
    let (red, covered) = (red(&picture), covered(&picture, scale(&picture)));
    (!parts.is_empty() || red > 0 || covered < 100).then(|| {
        format!(
            "{parts:?} told, {red} red, {covered} covered: {:#?}",
            seen.lines
        )
    })
}

/// The ways in which a page shows a value again.
fn echoes() -> Vec<(&'static str, String)> {
    let red = |inner: &str| format!("<div style='{RED}'>{inner}</div>");
    let root = |mode: &str| {
        format!(
            "<div id=h></div><script>document.getElementById('h').attachShadow({{mode: '{mode}'}}).innerHTML = `<div style='{RED}'>{{V}}</div>`</script>"
        )
    };
    vec![
        ("span", red("<span style='color:#000'>Your code word: </span><span>{V}</span>")),
        ("inline-parts", red("<b>kan</b><i>arie7Q</i><u>&lt;9&quot;zt</u>&amp;x")),
        ("parts-with-a-link", red("kan<a href='#x' style='color:#f00'>arie7Q</a>&lt;9&quot;zt&amp;x")),
        ("cells", format!("<table style='{RED}'><tr><td>kanarie7Q</td><td>&lt;9&quot;zt&amp;x</td></tr></table>")),
        ("letters", format!("<div style='{RED}display:flex;gap:4px'>{}</div>", CANARY.chars().map(|c| format!("<div>{}</div>", escaped(&c.to_string()))).collect::<String>())),
        ("lines", red("<p>kanarie7Q</p><p>&lt;9&quot;zt&amp;x</p>")),
        ("toast", "<script>const t = document.createElement('div'); t.style.cssText = `R`; t.textContent = 'Saved: ' + document.getElementById('f').value; document.body.append(t)</script>".replace('R', RED)),
        ("output", red("<output>{V}</output>")),
        ("other-field", format!("<input aria-label=Note value='{{V}}' style='{RED}width:400px'>")),
        ("two-fields", format!("<div style='{RED}'><input aria-label=Note value='kanarie7Q' style='font:inherit;color:inherit;width:200px'><input aria-label=More value='&lt;9&quot;zt&amp;x' style='font:inherit;color:inherit;width:200px'></div>")),
        ("textarea", format!("<textarea aria-label=Note style='{RED}width:400px'>Note {{V}}</textarea>")),
        ("option", format!("<select aria-label=Choice style='{RED}width:400px'><option>{{V}}</option><option>Other</option></select>")),
        ("list-box", format!("<select aria-label=Choice size=4 style='{RED}width:400px'><option>Other</option><option>{{V}}</option></select>")),
        ("placeholder", format!("<style>#n::placeholder {{ color:#f00 }}</style><input id=n placeholder='{{V}}' style='{RED}width:400px'>")),
        ("button", format!("<input type=submit value='Use {{V}}' style='{RED}'>")),
        ("editable", format!("<div contenteditable aria-label=Note style='{RED}'>Note {{V}}</div>")),
        ("generated", format!("<style>#g::before {{ content: attr(data-x) }}</style><div id=g data-x='{{V}}' style='{RED}'></div>")),
        ("upper-case", red("{V}").replace("{V}", &escaped(&CANARY.to_uppercase()))),
        ("spaced", red(&escaped(&CANARY.chars().map(|c| format!("{c} ")).collect::<String>()))),
        ("hyphens", red(&escaped("kana-rie7-Q<9\"-zt&x"))),
        ("in-an-address", red("/reset?p={E}")),
        ("as-source", red(&escaped(&escaped(CANARY)))),
        ("as-json", red(&escaped("{\"p\":\"kanarie7Q<9\\\"zt&x\"}"))),
        ("validation", "<input id=n type=email value='{V}'><div id=m style='R'></div><script>document.getElementById('m').textContent = document.getElementById('n').validationMessage</script>".replace('R', RED)),
        ("svg", format!("<svg width=600 height=60 style='{RED}'><text y=40 fill='#f00'>{{V}}</text></svg>")),
        ("open-root", root("open")),
        ("closed-root", root("closed")),
        ("frame", format!("<iframe style='position:absolute;inset:0;width:1000px;height:500px;border:0' srcdoc=\"<div style='{RED}'>{}</div>\"></iframe>", escaped(&escaped(CANARY)))),
        ("bent-frame", format!("<iframe style='position:absolute;inset:0;width:1000px;height:500px;border:0;transform:scale(.9)' srcdoc=\"<div style='{RED}'>{}</div>\"></iframe>", escaped(&escaped(CANARY)))),
        ("shadow", format!("<div style='{RED}text-shadow:20px 20px 0 #f00'>{{V}}</div>")),
        ("alt", format!("<img src='data:,' alt='{{V}}' style='{RED}width:400px;height:60px'>")),
        // Red is the value alone, in the middle of one long text.
        ("in-a-long-text", format!("<style>::highlight(v) {{{{ color:#f00 }}}}</style><p id=l style='{RED}color:#000;width:700px'>{}{{V}}{}</p><script>
            const t = document.getElementById('l').firstChild, r = new Range(), at = t.data.indexOf('kanarie');
            r.setStart(t, at); r.setEnd(t, at + 16); CSS.highlights.set('v', new Highlight(r));</script>", "lorem ".repeat(24), " ipsum".repeat(24)).replace("{{", "{").replace("}}", "}")),
        ("turned", format!("<div style='{RED}transform:rotate(8deg)'>{{V}}</div>")),
        ("zoomed", "<div style='zoom:1.5'><div style='position:absolute;left:200px;top:200px;color:#f00;font:bold 20px sans-serif'>{V}</div></div>".to_owned()),
    ]
}

#[test]
fn a_value_shown_again_is_masked_in_text_and_picture() {
    let mut room = Room::new();
    let mut faults = Vec::new();
    for (name, html) in echoes() {
        let tab = room.open(&format!("/{name}"), &planted(&format!("{FIELD}{html}")));
        if let Some(fault) = wrong(&mut room, &tab, name) {
            faults.push(format!("{name}: {fault}"));
        }
        room.patiently("close_tab", json!({"tab": tab}));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_not_written(&room);
}

/// The benign twin: without a sensitive field that holds it, the same words are told and shown.
#[test]
fn what_no_sensitive_field_held_is_told_and_shown() {
    let mut room = Room::new();
    for (name, html) in echoes() {
        // A shadow that far off is another text; the others show what they show.
        let tab = room.open(
            &format!("/{name}"),
            &planted(&format!(
                "<p><label>Town <input id=f value='{{V}}'></label></p>{html}"
            )),
        );
        let (seen, picture) = room.picture(&tab);
        assert!(red(&picture) > 50 || name == "alt", "{name}");
        assert!(!found(&seen.text()).is_empty(), "{name}: {:#?}", seen.lines);
        room.patiently("close_tab", json!({"tab": tab}));
    }
}

fn at_scale(factor: &str) {
    let mut room = Room::with(&[&format!("--force-device-scale-factor={factor}")]);
    let ways = [
        ("plain", format!("<div style='{RED}'>{{V}}</div>")),
        (
            "scaled",
            format!("<div style='{RED}transform:scale(1.3)'>{{V}}</div>"),
        ),
        (
            "turned",
            format!("<div style='{RED}transform:rotate(-12deg)'>{{V}}</div>"),
        ),
        (
            "page-zoom",
            format!("<style>html {{ zoom:1.25 }}</style><div style='{RED}'>{{V}}</div>"),
        ),
        (
            "zoomed",
            format!(
                "<div style='zoom:.8'><div style='{RED}left:400px;top:400px'>{{V}}</div></div>"
            ),
        ),
        (
            "field",
            format!("<input aria-label=Note value='{{V}}' style='{RED}width:400px;zoom:1.1'>"),
        ),
    ];
    let mut faults = Vec::new();
    for (name, html) in ways {
        let tab = room.open(&format!("/{name}"), &planted(&format!("{FIELD}{html}")));
        faults.extend(
            wrong(&mut room, &tab, &format!("{name}-{factor}")).map(|f| format!("{name}: {f}")),
        );
        room.patiently("close_tab", json!({"tab": tab}));
    }
    assert!(faults.is_empty(), "at {factor}: {}", faults.join("\n"));
}

#[test]
fn at_one_device_pixel_the_masks_of_shown_values_fit() {
    at_scale("1");
}

#[test]
fn at_one_and_a_half_device_pixels_the_masks_of_shown_values_fit() {
    at_scale("1.5");
}

#[test]
fn at_two_device_pixels_the_masks_of_shown_values_fit() {
    at_scale("2");
}

/// Once held, always: the field emptied, removed, its form replaced, another document, another tab; another site knows nothing.
#[test]
fn a_value_stays_masked_when_its_field_is_gone() {
    let mut room = Room::new();
    let show = format!(
        "const s = document.createElement('div'); s.style.cssText = '{RED}'; s.textContent = v; document.body.append(s)"
    );
    let mut faults = Vec::new();
    for (name, gone) in [
        ("emptied", "f.value = ''"),
        ("removed", "f.remove()"),
        ("replaced", "document.querySelector('p').innerHTML = 'Done'"),
        ("flipped", "f.type = 'text'; f.value = ''"),
    ] {
        let body = planted(&format!(
            "{FIELD}<button onclick=\"const f = document.getElementById('f'), v = f.value; {gone}; {show}\">Next page</button>"
        ));
        let seen = room.show(&format!("/{name}"), &body);
        let reply = room.click(&seen, "\"Next page\"");
        let parts = found(&reply.0.to_string());
        if !parts.is_empty() {
            faults.push(format!("{name}: {parts:?} in {}", reply.0));
        }
        faults.extend(wrong(&mut room, &seen.tab, name).map(|fault| format!("{name}: {fault}")));
        room.patiently("close_tab", json!({"tab": seen.tab}));
    }
    let plain = planted(&format!("<h1>Welcome</h1><div style='{RED}'>{{V}}</div>"));
    let tab = room.open("/later", &plain);
    faults.extend(wrong(&mut room, &tab, "later").map(|fault| format!("later: {fault}")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // Another site's page could print guesses and see which is masked.
    room.site.page(&format!("{BANK}/plain"), &plain);
    let url = room.site.url(BANK, "/plain");
    let other = room.patiently("open_tab", json!({"url": url})).server()["tab"].clone();
    let (seen, picture) = room.picture(&other);
    assert!(
        seen.says("kanarie7Q") && red(&picture) > 50,
        "{:#?}",
        seen.lines
    );
}

/// What was drawn as dots is a secret when it is drawn as letters, whatever element draws it.
#[test]
fn what_was_drawn_as_dots_stays_masked_when_it_is_shown() {
    let mut room = Room::new();
    let mut faults = Vec::new();
    for (name, html) in [
        (
            "words",
            "<div id=s style='R-webkit-text-security:disc'>{V}</div>",
        ),
        (
            "words-below",
            "<div id=s style='-webkit-text-security:circle'><p style='R'>{V}</p></div>",
        ),
        (
            "field",
            "<input id=s aria-label=Note value='{V}' style='R-webkit-text-security:square'>",
        ),
        (
            "field-below",
            "<div id=s style='-webkit-text-security:disc'><textarea aria-label=Note style='R-webkit-text-security:inherit;width:400px'>{V}</textarea></div>",
        ),
        (
            "editable",
            "<div id=s contenteditable aria-label=Note style='R-webkit-text-security:disc'>{V}</div>",
        ),
    ] {
        let body = planted(&format!("{html}<p><button onclick=\"document.getElementById('s').style.webkitTextSecurity = 'none'\">Next page</button>").replace('R', RED));
        let seen = room.show(&format!("/{name}"), &body);
        room.click(&seen, "\"Next page\"").server();
        faults.extend(
            wrong(&mut room, &seen.tab, &format!("dots-{name}"))
                .map(|fault| format!("{name}: {fault}")),
        );
        room.patiently("close_tab", json!({"tab": seen.tab}));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What is typed and taken away between two looks is known all the same.
#[test]
fn a_value_that_came_and_went_between_two_looks_is_masked() {
    let mut room = Room::new();
    for (i, script) in [
        "f.oninput = () => { s.textContent = f.value; if (f.value.length > 14) f.value = '' }",
        "f.oninput = () => { s.textContent = f.value; if (f.value.length > 14) f.remove() }",
        "f.onchange = f.oninput = () => { s.textContent = f.value; f.type = 'text'; f.form.reset() }",
    ]
    .iter()
    .enumerate()
    {
        let seen = room.show(
            &format!("/{i}"),
            &format!("<form><label>Code word <input id=f type=password></label></form><div id=s style='{RED}'></div><script>const f = document.getElementById('f'), s = document.getElementById('s'); {script}</script>"),
        );
        let reply = room.fill(&seen, "\"Code word\"", CANARY);
        assert_eq!(found(&reply.0.to_string()), [""; 0], "{script}: {}", reply.0);
        let fault = wrong(&mut room, &seen.tab, &format!("came-and-went-{i}"));
        assert!(fault.is_none(), "{script}: {fault:?}");
    }
}

/// Names, titles, addresses, dialogs, options, what a field then holds, changes; the journal and the diagnostics.
#[test]
fn a_value_is_in_no_name_title_address_dialog_refusal_journal_or_log() {
    let mut room =
        Room::edited(&|text| text.replacen("typed_text = \"length\"", "typed_text = \"full\"", 1));
    let body = planted(&format!(
        "{FIELD}<title>{{V}} - Shop</title>
        <p><button aria-label='{{V}}'><svg width=20 height=20><rect width=20 height=20 /></svg></button>
        <button title='Show {{V}}' aria-label='Icon'><svg width=20 height=20><rect width=20 height=20 /></svg></button>
        <a href='/reset/{{E}}/now'>Reset</a> <a href='/reset/{{E}}'><img src='data:,' alt='{{V}}' width=30 height=20></a>
        <p><label>{{V}} <input aria-description='{{V}}'></label>
        <p><div role=slider tabindex=0 aria-label=Volume aria-valuetext='{{V}}' style='width:90px;height:20px;background:#ccc'></div>
        <p><label>Copy <input id=c oninput=\"this.value = document.getElementById('f').value\"></label>
        <p><label>Choice <select><option value='{{V}}'>{{V}}</option><option>Other</option></select></label>
        <p><button onclick=\"alert('It is ' + document.getElementById('f').value)\">Tell</button>
        <button onclick=\"document.title = document.getElementById('f').value; history.pushState(0, '', '/at/' + encodeURIComponent(document.getElementById('f').value) + '#' + document.getElementById('f').value)\">Name</button>
        <button onclick=\"this.parentNode.append(' now ' + document.getElementById('f').value)\">Add</button>"
    ));
    let tab = room.open("/", &body);
    let (seen, _) = room.picture(&tab);
    let mut replies = vec![format!("{}{}{}", seen.text(), seen.page, seen.server)];
    let copied = room.fill(&seen, "\"Copy\"", "plain words");
    replies.push(copied.0.to_string());
    let seen = room.look(&tab);
    assert!(seen.says("\"Copy\" = \"••••••••\""), "{:#?}", seen.lines);
    for label in ["\"Tell\"", "\"Name\"", "\"Add\""] {
        let now = room.look(&tab);
        let reply = room.click(&now, label);
        replies.push(reply.0.to_string());
        assert!(!reply.is_refusal(), "{label}: {}", reply.0);
        if label == "\"Tell\"" {
            assert_eq!(reply.page()["dialogs"], json!(["\"It is ••••••••\""]));
        }
    }
    let now = room.look(&tab);
    assert!(now.says("now ••••••••"), "{:#?}", now.lines);
    assert!(
        now.page["url"].as_str().unwrap().contains("/at/••••••••"),
        "{}",
        now.page
    );
    assert!(
        now.page["title"].as_str().unwrap().contains("••••••••"),
        "{}",
        now.page
    );
    let unknown = room.select(&now, "\"Choice\"", &["No such"]);
    assert!(
        unknown.is_refusal() && unknown.0.to_string().contains("••••••••"),
        "{}",
        unknown.0
    );
    replies.push(unknown.0.to_string());
    // The value itself as what is filled, where it is not sensitive: the journal keeps that in full.
    replies.push(room.fill(&now, "\"Copy\"", CANARY).0.to_string());
    for tool in ["list_tabs", "status"] {
        replies.push(room.patiently(tool, json!({})).0.to_string());
    }
    let now = room.look(&tab);
    let reply = room.click(&now, "named \"••••••••\"");
    assert!(!reply.is_refusal(), "{}", reply.0);
    replies.push(reply.0.to_string());
    for reply in &replies {
        assert_eq!(found(reply), [""; 0], "{reply}");
    }
    let met = |room: &mut Room, text: &str| {
        let waited = json!({"tab": tab, "text": text, "timeout": 0});
        room.patiently("wait_for", waited).server()["met"] == true
    };
    assert!(met(&mut room, "Reset"));
    for guess in [CANARY, "kanarie", "kan", "now k"] {
        assert!(!met(&mut room, guess), "{guess}");
    }
    let journal = journal(&room);
    assert!(
        journal.contains("\"element\"") && journal.contains("plain words"),
        "{journal}"
    );
    assert_eq!(found(&journal), [""; 0], "{journal}");
    let log =
        std::fs::read_to_string(room.home.state().join("diagnostics.log")).unwrap_or_default();
    assert_eq!(found(&log), [""; 0], "{log}");
    assert_eq!(found(&room.client.errors()), [""; 0]);
    assert_not_written(&room);
}

/// Everything that the journal holds, opened.
fn journal(room: &Room) -> String {
    let passphrase = room.home.passphrase_file();
    let passphrase = passphrase.to_str().unwrap();
    room.home
        .run_well(&["audit", "list", "--json", "--passphrase-file", passphrase])
}

/// What was told before it was sensitive is not told again as a line that is gone.
#[test]
fn a_value_that_becomes_sensitive_is_not_told_as_gone() {
    let mut room = Room::new();
    let seen = room.show(
        "/",
        &planted("<p>It is {V}</p><label>Word <input id=f value='{V}'></label><button onclick=\"document.getElementById('f').type = 'password'\">Next page</button>"),
    );
    assert!(seen.says("kanarie7Q"));
    let reply = room.click(&seen, "\"Next page\"");
    assert_eq!(found(&reply.0.to_string()), [""; 0], "{}", reply.0);
    let since = json!({"tab": seen.tab, "since": seen.snapshot});
    let reply = room.patiently("observe", since);
    assert_eq!(found(&reply.page().to_string()), [""; 0], "{}", reply.0);
}

/// A code with a box for each sign is one value; short ones count where they stand alone or as a word.
#[test]
fn short_values_and_codes_in_boxes_are_masked_where_they_stand_alone() {
    let mut room = Room::new();
    let boxes: String = "493817"
        .chars()
        .map(|c| {
            format!("<input autocomplete=one-time-code maxlength=1 value={c} style='width:20px'>")
        })
        .collect();
    let seen = room.show(
        "/",
        &format!("<form>{boxes}</form><form><input autocomplete=cc-csc value=731><input autocomplete=cc-name value='Alice Smith'></form>
        <form><label>PIN <input value=5826></label></form>
        <p>Code 493817 is right</p><p>ref493817x</p><p>731</p><p>Room 731</p><p>PIN 5826</p><p>Order 958264</p><p>Hello Alice Smith</p>"),
    );
    for never in ["493817", "\"731\"", "PIN 5826"] {
        assert!(!seen.says(never), "{never}: {:#?}", seen.lines);
    }
    for told in [
        "Code •••••••• is right",
        "Room 731",
        "Order 958264",
        "Hello Alice Smith",
    ] {
        assert!(seen.says(told), "{told}: {:#?}", seen.lines);
    }
}

/// Of hidden inputs only what looks like a token counts: ids, prices and names rightly stand on the page.
#[test]
fn tokens_of_hidden_inputs_are_masked_and_plain_ids_are_not() {
    let mut room = Room::new();
    let token = "tK3n9fQ2xL7vB8pZ";
    let plain = [
        "SKU-12345678",
        "Blue widget 2000",
        "4029357733",
        "19.99",
        "/orders/2027/list",
        "blue-widget-2000-xl",
        "en-US",
    ];
    let hidden: String = plain
        .iter()
        .chain(&[token])
        .map(|value| format!("<input type=hidden value='{value}'><p>Shown {value}</p>"))
        .collect();
    let seen = room.show("/", &hidden);
    assert!(!seen.says("tK3n9"), "{:#?}", seen.lines);
    for value in plain {
        assert!(
            seen.says(&format!("Shown {value}")),
            "{value}: {:#?}",
            seen.lines
        );
    }
}

/// The number of a card or account in several elements of one line; not the numbers of a table.
#[test]
fn numbers_of_cards_and_accounts_in_pieces_are_masked_in_text_and_picture() {
    let mut room = Room::new();
    let red_on = |inner: &str| format!("<div style='{RED}width:700px'>{inner}</div>");
    let mut faults = Vec::new();
    for (name, html) in [
        ("inline", red_on("<span>4111</span><span>1111</span><span>1111</span><span>1111</span>")),
        ("spaced", red_on("<span>4111 11</span> <b>11 1111</b> <i>1111</i>")),
        ("nodes", red_on("<p id=p></p><script>for (const t of ['4111 ', '1111 ', '1111 ', '1111']) document.getElementById('p').append(t)</script>")),
        ("link", red_on("4111 1111 <a href=#x style='color:#f00'>1111 1111</a>")),
        ("iban", red_on("<b>DE89</b> <span>3704</span> <span>0044</span> <span>0532</span> <span>0130</span> <span>00</span>")),
        ("letters", red_on("<b>GB82</b> <span>WEST</span> <span>1234</span> <span>5698</span> <span>7654</span> <span>32</span>")),
        ("fields", red_on(&["4111", "1111", "1111", "1111"].map(|n| format!("<input aria-label=Part value={n} style='font:inherit;color:#f00;width:90px'>")).concat())),
    ] {
        let tab = room.open(&format!("/{name}"), &html);
        let (seen, picture) = room.picture(&tab);
        picture.save(crate::support::pictures().join(format!("masks-number-{name}.png"))).unwrap();
        let told = ["4111", "1111", "3704", "0532", "5698"].iter().any(|part| seen.text().contains(part));
        let (red, covered) = (red(&picture), covered(&picture, scale(&picture)));
        if told || red > 0 || covered < 100 {
            faults.push(format!("{name}: {red} red, {covered} covered, {:#?}", seen.lines));
        }
        room.patiently("close_tab", json!({"tab": tab}));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let table = format!(
        "<table style='{RED}'><tr><td>4111</td><td>1111</td><td>1111</td><td>1111</td></tr></table>"
    );
    let tab = room.open("/table", &table);
    let (seen, picture) = room.picture(&tab);
    assert!(seen.says("4111") && red(&picture) > 50, "{:#?}", seen.lines);
}

/// What a person is asked about, as it goes on record.
#[test]
fn a_value_is_in_no_question() {
    let mut room = Room::new();
    let seen = room.show(
        "/",
        &planted(&format!("{FIELD}<ul><li>Item {{V}} <form action='/effect/{{E}}'><legend>{{V}}</legend><label>{{V}} <input name=x value='{{V}}'></label><button>Delete account</button></form></ul>")),
    );
    let reply = room.click(&seen, "\"Delete account\"");
    assert!(reply.is_refusal(), "{}", reply.0);
    assert_eq!(found(&reply.0.to_string()), [""; 0]);
    let journal = journal(&room);
    assert!(
        journal.contains("\"facts\"") && journal.contains("Delete account"),
        "{journal}"
    );
    assert_eq!(found(&journal), [""; 0], "{journal}");
}
