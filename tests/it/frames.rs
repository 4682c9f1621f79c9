//! Frames of other sites: listed ones are read and acted in as if they were the page, all others stay shut.

#![allow(clippy::nonminimal_bool, reason = "reads as the sentence it checks")]

use std::time::{Duration, Instant};

use image::RgbaImage;
use serde_json::json;

use crate::gesture::room::{BANK, EVIL, Room, Seen, refused};

/// Another origin on the shop's own site: its frames share the shop's process.
const SISTER: &str = "x.shop.test";
/// One more listed site.
const CLUB: &str = "club.test";

/// A session for which [`SISTER`] and [`CLUB`] are listed as well.
fn room() -> Room {
    Room::edited(&|text| {
        let start = "http://shop.test:";
        let at = text.find(start).unwrap() + start.len();
        let port: String = text[at..]
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        [SISTER, CLUB].iter().fold(text, |text, host| {
            format!("{text}\n[[site]]\norigin = \"http://{host}:{port}\"\ntiers = [\"read\", \"navigate\", \"act\"]\n")
        })
    })
}

/// A document of a frame.
fn html(body: &str) -> String {
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Frame</title><body style='margin:0;font:16px sans-serif'>{body}"
    )
}

fn frame(host: &str, path: &str, more: &str) -> String {
    format!("<iframe src='http://{host}:{{{{port}}}}{path}' {more}></iframe>")
}

/// How many pixels are (nearly) pure red.
fn red(picture: &RgbaImage) -> usize {
    picture
        .pixels()
        .filter(|p| p[0] > 230 && p[1] < 40 && p[2] < 40)
        .count()
}

fn not_read(seen: &Seen) -> u64 {
    seen.server["not_shown"]["frames_not_read"]
        .as_u64()
        .unwrap_or(0)
}

const RED: &str = "<div style='background:#f00;width:60px;height:40px'></div>";

#[test]
fn listed_frames_are_read_shown_and_clicked() {
    let mut room = room();
    for host in [BANK, SISTER] {
        room.site.page(
            &format!("{host}/pay"),
            &html(&format!(
                "<h2>Inside {host}</h2>{RED}<p><button onclick=\"fetch('/effect/{host}')\">Press {host}</button><p>After"
            )),
        );
    }
    let frames = [
        frame(
            BANK,
            "/pay",
            "width=400 height=220 style='border:7px solid;padding:5px 9px'",
        ),
        frame(
            SISTER,
            "/pay",
            "width=400 height=220 style='margin-left:33px;border:0'",
        ),
    ];
    let seen = room.open("/", &format!("<h1>Above</h1>{}<p>Below", frames.concat()));
    let (seen, picture) = room.picture(&seen);
    picture
        .save(crate::support::pictures().join("frames.png"))
        .unwrap();
    for host in [BANK, SISTER] {
        let origin = room.site.origin(host);
        for words in [
            format!("# \"Inside {host}\""),
            format!("[frame of {origin}]"),
        ] {
            assert!(seen.says(&words), "{words} in {:#?}", seen.lines);
        }
    }
    assert_eq!(not_read(&seen), 0, "{}", seen.server);
    assert!(seen.says("Above") && seen.says("Below"));
    // Two boxes of 60 by 40, at whatever scale the picture has.
    assert!(red(&picture) > 3_000, "{}", red(&picture));
    for host in [BANK, SISTER] {
        let now = room.look(&seen.tab);
        let reply = room.click(&now, &format!("\"Press {host}\""));
        assert_eq!(reply.server()["outcome"], "done", "{}", reply.0);
        room.site.wait_for(host, 1);
    }
    assert_eq!(room.site.count(BANK), 1);
    // The same node has the same number as long as its document lives.
    let again = room.look(&seen.tab);
    for host in [BANK, SISTER] {
        let label = format!("\"Press {host}\"");
        assert_eq!(seen.mark(&label), again.mark(&label));
    }
}

#[test]
fn a_frame_is_read_only_if_it_and_all_around_it_are_listed() {
    let mut room = room();
    let leaf = html(&format!(
        "{RED}<p>planted words<p><button onclick=\"fetch('/effect/leaf')\">Leaf</button>"
    ));
    for host in [BANK, SISTER, CLUB, EVIL] {
        room.site.page(&format!("{host}/leaf"), &leaf);
        for inner in [SISTER, CLUB, EVIL, "shop.test"] {
            let inside = frame(inner, "/leaf", "width=300 height=150 style='border:0'");
            room.site.page(
                &format!("{host}/{inner}"),
                &html(&format!("<p>Middle {host}{inside}")),
            );
        }
    }
    room.site.page("shop.test/leaf", &leaf);
    let size = "width=500 height=300";
    // Listed inside listed, in every mixture of processes, and back to the top's own origin.
    for (outer, inner) in [
        (BANK, SISTER),
        (BANK, CLUB),
        (SISTER, CLUB),
        (BANK, "shop.test"),
        (SISTER, "shop.test"),
    ] {
        let before = room.site.count("leaf");
        let body = frame(outer, &format!("/{inner}"), size);
        let tab = room.open(&format!("/{outer}-{inner}"), &body);
        let (seen, picture) = room.picture(&tab);
        let wanted = format!("\"Middle {outer}");
        assert!(
            seen.says(&wanted) && seen.says("planted words") && not_read(&seen) == 0,
            "{outer} {inner}: {:#?}",
            seen.lines
        );
        assert!(red(&picture) > 1_000, "{outer} {inner}");
        let reply = room.click(&seen, "\"Leaf\"");
        assert_eq!(
            reply.server()["outcome"],
            "done",
            "{outer} {inner}: {}",
            reply.0
        );
        room.site.wait_for("leaf", before + 1);
    }
    // Not listed inside listed: the outer part alone. Listed inside not listed: nothing.
    for (outer, inner, middle) in [
        (BANK, EVIL, true),
        (SISTER, EVIL, true),
        (EVIL, CLUB, false),
        (EVIL, "shop.test", false),
    ] {
        let body = frame(outer, &format!("/{inner}"), size);
        let tab = room.open(&format!("/{outer}-{inner}"), &body);
        room.site
            .wait_until_requested(|seen| seen.host == inner && seen.path == "/leaf");
        let (seen, picture) = room.picture(&tab);
        assert_eq!(
            seen.says("Middle"),
            middle,
            "{outer} {inner}: {:#?}",
            seen.lines
        );
        assert!(
            !seen.says("planted") && seen.find("Leaf").is_none(),
            "{outer} {inner}: {:#?}",
            seen.lines
        );
        assert!(seen.says("[frame not read]"));
        assert_eq!(not_read(&seen), 1, "{outer} {inner}");
        assert_eq!(red(&picture), 0, "{outer} {inner}");
    }
}

#[test]
fn a_sandboxed_frame_is_what_its_origin_says() {
    let mut room = room();
    room.site.page(
        &format!("{BANK}/pay"),
        &html(&format!("{RED}<p>Inside words")),
    );
    let size = "width=300 height=150";
    for (sandbox, read) in [
        ("allow-scripts allow-same-origin", true),
        ("allow-scripts", false),
        ("", false),
    ] {
        let body = frame(BANK, "/pay", &format!("{size} sandbox='{sandbox}'"));
        let tab = room.open(&format!("/{}", sandbox.len()), &body);
        let (seen, picture) = room.picture(&tab);
        assert_eq!(
            seen.says("Inside words"),
            read,
            "{sandbox}: {:#?}",
            seen.lines
        );
        assert_eq!(not_read(&seen), u64::from(!read), "{sandbox}");
        assert_eq!(red(&picture) > 0, read, "{sandbox}");
    }
}

#[test]
fn secrets_in_a_listed_frame_are_masked_in_text_and_pixels() {
    let mut room = room();
    // Red letters on white: any of them in the picture is a leak.
    let field = "<input type=password value=planted-secret style='width:200px;height:40px;border:0;padding:0;color:#f00;font:30px sans-serif'>";
    let number = "<p style='color:#f00;font:30px sans-serif'>4111 1111 1111 1111</p>";
    for host in [BANK, SISTER] {
        room.site.page(
            &format!("{host}/pay"),
            &html(&format!("<p>Secrets{field}{number}")),
        );
        room.site.page(
            &format!("{host}/around"),
            &html(&frame(
                CLUB,
                "/pay",
                "width=450 height=200 style='border:0'",
            )),
        );
    }
    room.site.page(
        &format!("{CLUB}/pay"),
        &html(&format!("<p>Secrets{field}{number}")),
    );
    for host in [BANK, SISTER] {
        for path in ["/pay", "/around"] {
            let body = frame(
                host,
                path,
                "width=460 height=220 style='position:absolute;left:120px;top:90px;border:3px solid'",
            );
            let tab = room.open(&format!("/secrets-{}", host.len() + path.len()), &body);
            let (seen, picture) = room.picture(&tab);
            picture
                .save(crate::support::pictures().join(format!("frame-secret-{host}.png")))
                .unwrap();
            assert!(
                seen.says("Secrets") && seen.says("= masked"),
                "{:#?}",
                seen.lines
            );
            assert!(
                !seen.says("planted-secret") && !seen.says("4111"),
                "{:#?}",
                seen.lines
            );
            assert_eq!(red(&picture), 0, "{host}{path}");
        }
    }
    let output = String::from_utf8(room.client.output()).unwrap();
    assert!(!output.contains("planted-secret"));
}

#[test]
fn nodes_that_are_numbered_alike_in_two_frames_are_two_marks() {
    let mut room = room();
    for host in [BANK, CLUB] {
        room.site.page(
            &format!("{host}/pay"),
            &html("<button onclick=\"fetch('/effect/' + location.hostname)\">Same words</button>"),
        );
    }
    let size = "width=300 height=80";
    let body = format!(
        "{}<p>{}",
        frame(BANK, "/pay", size),
        frame(CLUB, "/pay", size)
    );
    let seen = room.show("/", &body);
    let marks: Vec<u64> = seen
        .lines
        .iter()
        .filter(|line| line.contains("\"Same words\""))
        .map(|line| {
            let (number, _) = line[1..].split_once(']').unwrap();
            number.parse().unwrap()
        })
        .collect();
    assert_eq!(marks.len(), 2, "{:#?}", seen.lines);
    assert_ne!(marks[0], marks[1]);
    for (mark, host, other) in [(marks[1], CLUB, BANK), (marks[0], BANK, CLUB)] {
        let before = room.site.count(other);
        let arguments = json!({"snapshot_id": seen.snapshot, "mark": mark});
        let reply = room.patiently("click", arguments);
        assert_eq!(reply.server()["outcome"], "done", "{}", reply.0);
        room.site.wait_for(host, 1);
        assert_eq!(room.site.count(other), before);
    }
}

#[test]
fn fields_in_a_listed_frame_are_filled_chosen_and_sent() {
    let mut room = room();
    for host in [BANK, SISTER] {
        let body = "<form action='/effect/sent' method=get><label>Town <input name=town value=Bonn></label>
            <label>Size <select name=size><option value=s>Small<option value=l>Large</select></label>
            <label>Day <input type=date name=day></label></form>";
        room.site.page(&format!("{host}/form"), &html(body));
        let tab = room.open(
            &format!("/{host}"),
            &format!(
                "<div style='height:1500px'>Far up</div><p>{}",
                frame(host, "/form", "width=500 height=200")
            ),
        );
        // The frame is out of sight at first.
        let seen = room.look(&tab);
        assert!(!seen.says("Town"), "{:#?}", seen.lines);
        let scrolled = json!({"tab": tab, "direction": "down", "screens": 3});
        room.patiently("scroll", scrolled).server();
        let seen = room.look(&tab);
        // And it is brought there again where it has gone.
        let back = json!({"tab": tab, "direction": "up", "screens": 3});
        room.patiently("scroll", back).server();
        let reply = room.fill(&seen, "textbox \"Town\"", "Ulm \u{1f3e0}");
        assert_eq!(reply.server()["field_holds_it"], true, "{}", reply.0);
        let reply = room.select(&seen, "combobox \"Size\"", &["Large"]);
        assert_eq!(reply.server()["outcome"], "done", "{}", reply.0);
        let reply = room.fill(&seen, "date \"Day\"", "2031-05-06");
        assert_eq!(reply.server()["field_holds_it"], true, "{}", reply.0);
        let reply = room.press(&seen, "textbox \"Town\"", "Enter");
        assert_eq!(reply.server()["outcome"], "done", "{}", reply.0);
        room.site
            .wait_until_requested(|seen| seen.host == host && seen.path == "/effect/sent");
        let sent = room.site.requests_to(host);
        let sent = sent
            .iter()
            .find(|seen| seen.path == "/effect/sent")
            .unwrap();
        assert_eq!(sent.query, "town=Ulm+%F0%9F%8F%A0&size=l&day=2031-05-06");
    }
}

#[test]
fn what_lies_over_a_frame_hides_what_is_in_it() {
    let mut room = room();
    let inside = "<p style='margin:0;height:40px'>First words</p><p style='margin:0;height:40px'>planted words</p><p style='margin:0;height:40px'><button onclick=\"fetch('/effect/last')\">Last words</button></p>";
    for host in [BANK, SISTER] {
        room.site.page(&format!("{host}/pay"), &html(inside));
        let sheet = |style: &str| {
            let inner = frame(
                host,
                "/pay",
                "width=300 height=130 style='border:0;position:absolute;left:0;top:0'",
            );
            format!(
                "<div style='position:relative;height:150px'>{inner}<div id=sheet style='position:absolute;left:0;width:300px;{style}'></div></div><button onclick=\"document.getElementById('sheet').style.cssText = 'position:absolute;left:0;top:0;width:300px;height:130px'\">Next page</button>"
            )
        };
        let seen = room.show(
            &format!("/{host}"),
            &sheet("top:40px;height:40px;background:#ccc"),
        );
        assert!(
            seen.says("First words") && seen.says("\"Last words\"") && !seen.says("planted"),
            "{:#?}",
            seen.lines
        );
        assert_eq!(seen.server["not_shown"]["covered"], 1, "{}", seen.server);
        // Something that lets the eye through, but no press.
        room.click(&seen, "\"Next page\"").server();
        let reply = room.click(&seen, "\"Last words\"");
        refused(&reply, "M205");
        let now = room.look(&seen.tab);
        assert!(now.says("planted words"), "{:#?}", now.lines);
        assert!(now.find("\"Last words\"").is_none(), "{:#?}", now.lines);
    }
    assert_eq!(room.site.count("last"), 0);
}

#[test]
fn a_frame_that_is_turned_scaled_or_cut_stays_shut() {
    let mut room = room();
    room.site.page(
        &format!("{BANK}/pay"),
        &html(&format!("{RED}<p>planted words")),
    );
    for (i, style) in [
        "transform:rotate(5deg)",
        "transform:scale(.8)",
        "zoom:1.5",
        "scale:1.2",
        "clip-path:circle(40%)",
        "perspective:100px",
    ]
    .iter()
    .enumerate()
    {
        let body = format!(
            "<div style='{style}'>{}</div>",
            frame(BANK, "/pay", "width=300 height=150")
        );
        let tab = room.open(&format!("/{i}"), &body);
        let (seen, picture) = room.picture(&tab);
        assert!(!seen.says("planted"), "{style}: {:#?}", seen.lines);
        assert_eq!((not_read(&seen), red(&picture)), (1, 0), "{style}");
    }
    // The benign twin: moved, but straight.
    let body = format!(
        "<div style='position:absolute;left:50%;top:50%;transform:translate(-50%,-50%)'>{}</div>",
        frame(BANK, "/pay", "width=300 height=150")
    );
    let seen = room.show("/straight", &body);
    assert!(seen.says("planted words"), "{:#?}", seen.lines);
}

#[test]
fn a_frame_that_left_for_another_document_is_refused() {
    let mut room = room();
    for host in [BANK, SISTER] {
        for to in [EVIL, CLUB, "shop.test"] {
            let name = format!("{host}-{to}");
            let button = format!("<button onclick=\"fetch('/effect/{name}')\">Press</button>");
            let arrived = format!("{button}<script>fetch('/effect/arrived-{name}')</script>");
            room.site
                .page(&format!("{host}/{name}"), &html(&button))
                .page(&format!("{to}/{name}-other"), &html(&arrived));
            let body = format!(
                "{}<p><button onclick=\"document.querySelector('iframe').src = 'http://{to}:{{{{port}}}}/{name}-other'\">Next page</button>",
                frame(host, &format!("/{name}"), "width=300 height=100")
            );
            let seen = room.show(&format!("/{name}"), &body);
            let mark = seen.mark("\"Press\"");
            room.click(&seen, "\"Next page\"").server();
            room.site.wait_for(&format!("arrived-{name}"), 1);
            let arguments = json!({"snapshot_id": seen.snapshot, "mark": mark});
            refused(&room.patiently("click", arguments), "M203");
            assert_eq!(room.site.count(&name), 0);
            // What is listed is read anew, and can be clicked.
            let now = room.look(&seen.tab);
            assert_eq!(
                now.find("\"Press\"").is_some(),
                to != EVIL,
                "{name}: {:#?}",
                now.lines
            );
            if to != EVIL {
                let reply = room.click(&now, "\"Press\"");
                assert_eq!(reply.server()["outcome"], "done", "{name}: {}", reply.0);
                room.site.wait_for(&name, 1);
            }
        }
    }
}

#[test]
fn a_frame_that_never_answers_holds_nobody_up() {
    let mut room = room();
    room.site.page(
        &format!("{BANK}/busy"),
        &html(&format!("{RED}<p>planted words<script>onload = () => setTimeout(() => {{ const x = new XMLHttpRequest(); x.open('GET', '/effect/busy', false); x.send(); for (;;); }})</script>")),
    );
    room.site
        .page(&format!("{CLUB}/pay"), &html("<p>Other words"));
    let size = "width=300 height=100";
    let body = format!(
        "<h1>Above</h1>{}{}<button onclick=\"fetch('/effect/next')\">Next page</button>",
        frame(BANK, "/busy", size),
        frame(CLUB, "/pay", size)
    );
    let tab = room.open("/", &body);
    room.site.wait_for("busy", 1);
    let began = Instant::now();
    let (seen, picture) = room.picture(&tab);
    assert!(
        began.elapsed() < Duration::from_secs(12),
        "{:?}",
        began.elapsed()
    );
    assert!(
        seen.says("Above") && seen.says("Other words") && !seen.says("planted"),
        "{:#?}",
        seen.lines
    );
    assert_eq!((not_read(&seen), red(&picture)), (1, 0));
    let reply = room.click(&seen, "\"Next page\"");
    assert_eq!(reply.server()["outcome"], "done", "{}", reply.0);
    room.site.wait_for("next", 1);
}

#[test]
fn the_tier_of_a_frame_is_its_own_site_s() {
    let mut room = Room::edited(&|text| {
        let (before, bank) = text.split_once("http://bank.test").unwrap();
        format!(
            "{before}http://bank.test{}",
            bank.replacen(", \"act\"", "", 1)
        )
    });
    room.site.page(
        &format!("{BANK}/pay"),
        &html("<button onclick=\"fetch('/effect/wrong')\">Press</button>"),
    );
    let seen = room.show("/", &frame(BANK, "/pay", "width=300 height=100"));
    let reply = room.click(&seen, "\"Press\"");
    refused(&reply, "S305");
    assert_eq!(room.site.count("wrong"), 0);
}

/// Whatever a frame does while its picture is taken: what must be covered is in no picture.
#[test]
fn a_frame_that_moves_or_leaves_while_its_picture_is_taken_leaks_nothing() {
    let mut room = room();
    let secret = "<input type=password value=planted style='width:200px;height:60px;border:0;padding:0;color:#f00;background:#f00'>";
    for host in [BANK, SISTER] {
        room.site
            .page(&format!("{host}/secret"), &html(secret))
            .page(&format!("{host}/plain"), &html("<p>Plain"));
        room.site.page(
            &format!("{EVIL}/red"),
            &html("<body style='background:#f00'>planted"),
        );
        let still = frame(
            host,
            "/secret",
            "width=300 height=100 style='position:absolute;left:20px;top:80px;border:0'",
        );
        let moving = format!(
            "{still}<script>let n = 0; setInterval(() => {{ document.querySelector('iframe').style.left = 20 + 300 * (++n % 3) + 'px'; }}, 7)</script>"
        );
        let leaving = format!(
            "{still}<script>let n = 0; const f = document.querySelector('iframe'); setInterval(() => {{ f.src = ++n % 2 ? 'http://{EVIL}:{{{{port}}}}/red' : 'http://{host}:{{{{port}}}}/plain'; }}, 150)</script>"
        );
        let coming = format!(
            "<p>Here<script>let n = 0; setInterval(() => {{ document.querySelector('iframe')?.remove(); const f = document.createElement('iframe'); f.src = 'http://' + (++n % 2 ? '{EVIL}' : '{host}') + ':{{{{port}}}}/' + (n % 2 ? 'red' : 'secret'); document.body.append(f); }}, 400)</script>"
        );
        for (i, body) in [moving, leaving, coming].iter().enumerate() {
            let tab = room.open(&format!("/{}-{i}", host.len()), body);
            for _ in 0..4 {
                let reply = room.patiently("observe", json!({"tab": tab, "image": true}));
                let server = reply.server();
                assert!(
                    !reply.page().to_string().contains("planted"),
                    "{}",
                    reply.page()
                );
                match reply.image() {
                    Some((_, bytes)) => {
                        let picture = image::load_from_memory(&bytes).unwrap().into_rgb8();
                        let red = picture
                            .pixels()
                            .filter(|p| p[0] > 230 && p[1] < 40 && p[2] < 40);
                        assert_eq!(red.count(), 0, "{host} {i}");
                    }
                    None => assert!(server["image_withheld"].is_string(), "{server}"),
                }
            }
            room.patiently("close_tab", json!({"tab": tab}));
        }
    }
}

#[test]
fn the_focus_the_wait_and_the_lock_reach_into_a_listed_frame() {
    let mut room = room();
    for host in [BANK, SISTER] {
        let body = "<form action='/effect/sent' onsubmit=\"event.preventDefault(); fetch('/effect/sent'); setTimeout(() => document.body.append('Words that come late'), 700)\"><input aria-label=Town></form><button onclick=\"fetch('/effect/paid')\">Pay now</button>";
        room.site.page(&format!("{host}/inner"), &html(body));
        let before = room.site.count("sent");
        let seen = room.show(
            &format!("/{}", host.len()),
            &frame(host, "/inner", "width=400 height=100"),
        );
        room.fill(&seen, "\"Town\"", "Ulm").server();
        // Without a mark: on what has the focus, which is in the frame.
        let arguments = json!({"snapshot_id": seen.snapshot, "key": "Enter"});
        let reply = room.patiently("press_key", arguments);
        assert_eq!(reply.server()["outcome"], "done", "{}", reply.0);
        room.site.wait_for("sent", before + 1);
        let wanted = json!({"tab": seen.tab, "text": "words that come late", "timeout": 10});
        assert_eq!(room.patiently("wait_for", wanted).server()["met"], true);
        // What is locked on a page is locked in a frame; here nobody can be asked.
        refused(&room.click(&seen, "\"Pay now\""), "L404");
    }
    assert_eq!(room.site.count("paid"), 0);
}
