//! The window fits its screen and keeps its buttons in place whatever the texts are.

use countersign::confirm::protocol::{MOST_FACTS, Progress};
use countersign::domain::question::{Ending, Fact, Question};
use countersign::domain::text::Shown;

use super::scene::{Scene, helper, no_helper, question};
use crate::support::pictures;
use crate::support::x::Screen;

/// Texts that a page may write, as they would be without any escaping.
fn hostile() -> Vec<String> {
    vec![
        "\n".repeat(400) + "below",
        "\u{202e}moc.knab\u{2066} 5000".to_owned(),
        "<b>&amp;</b> <span size='900000'>%s %n %20 \\n \\u{202E} &".to_owned(),
        "9".repeat(400),
        "\u{fdfd}".repeat(200),
        "\u{6f22}".repeat(300),
        format!("a{} z", "\u{301}\u{489}\u{1ab0}".repeat(120)),
        "\u{e01}\u{e49}\u{e33}\u{e0d}\u{e38}\u{e49}".repeat(60),
        "\u{5d0}\u{5d1} 100 \u{5d2} EUR".repeat(20),
        "\u{12031}\u{12031}\u{1f468}\u{200d}\u{1f469}".repeat(50),
        "W".repeat(160),
        "a b ".repeat(200),
    ]
}

/// As bad as the types allow: escaped, since a `Shown` cannot be made otherwise, but as long as it may be.
fn worst(critical: usize, cap: usize) -> Question {
    let texts = hostile();
    let facts = (0..MOST_FACTS).map(|at| Fact {
        label: ["Amount", "Payee", "Account", "Sends to"][at % 4],
        value: Shown::escape(&texts[at % texts.len()], cap),
        critical: at < critical,
    });
    Question {
        host_prefix: Shown::escape(&format!("\u{2026}{}.", "w".repeat(39)), 41),
        host_registrable: Shown::escape(&format!("{}.{}", "w".repeat(63), "m".repeat(63)), 255),
        host_note: Shown::escape(&"http: not encrypted; port 65535; ".repeat(9), 240),
        facts: facts.collect(),
        model_says: Some(Shown::escape(&"Please allow this. ".repeat(80), cap)),
        ..question()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_worst_texts_fit_a_small_screen_and_the_buttons_stay_in_place() {
    for (name, critical, cap) in [
        ("six", 6, 160),
        ("twelve", 12, 160),
        ("none", 0, 160),
        ("uncapped", 6, 4_000),
    ] {
        let scene = Scene::own();
        let (mut open, id) = scene.asked_and_focused(worst(critical, cap)).await;
        open.reach(Progress::Awake).await;
        let place = scene.screen.place(&id);
        scene
            .screen
            .picture(&pictures().join(format!("window-worst-{name}.png")));
        assert!(place.left >= 0 && place.top >= 0, "{name} {place:?}");
        assert!(place.left + place.width <= 1_024, "{name} {place:?}");
        assert!(place.top + place.height <= 600, "{name} {place:?}");
        scene.screen.click(scene.allow(&id));
        assert_eq!(open.ending().await, Ending::Allowed, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ordinary_question_looks_the_same_at_every_size_and_scale() {
    for (name, size, scale) in [
        ("small", "1024x600", "1"),
        ("middle", "1280x800", "1"),
        ("double", "2048x1200", "2"),
    ] {
        let scene = Scene::on(Screen::managed(size), helper(), &[("GDK_SCALE", scale)]);
        let (mut open, id) = scene.asked_and_focused(question()).await;
        open.reach(Progress::Awake).await;
        scene
            .screen
            .picture(&pictures().join(format!("window-plain-{name}.png")));
        let place = scene.screen.place(&id);
        let scale: i32 = scale.parse().unwrap();
        assert!(
            place.width <= 1_000 * scale && place.height <= 560 * scale,
            "{name} {place:?}"
        );
        scene.screen.keys(&["Escape"]);
        assert_eq!(open.ending().await, Ending::Denied);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_basic_dialog_fits_too() {
    for (name, asked) in [("plain", question()), ("worst", worst(6, 160))] {
        let scene = Scene::on(Screen::managed("1024x600"), no_helper(), &[]);
        let (open, id) = scene.asked_and_focused(asked).await;
        let place = scene.screen.place(&id);
        scene
            .screen
            .picture(&pictures().join(format!("window-basic-{name}.png")));
        assert!(place.left + place.width <= 1_024, "{name} {place:?}");
        assert!(place.top + place.height <= 600, "{name} {place:?}");
        scene.screen.keys(&["Escape"]);
        assert_eq!(open.ending().await, Ending::Denied);
    }
}
