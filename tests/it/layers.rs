//! Imports run one way. This file holds the table; an import against it fails here.

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms in the order in which they may name each other: only what stands on an earlier line.
const ORDER: &[&[&str]] = &[
    &["domain"],
    &["error"],
    &["checkpoint"],
    &["policy"],
    &["browser"],
    &["snapshot"],
    &["gate"],
    &["confirm", "journal", "vault"],
    &["gesture"],
    &["reply"],
    &["flow"],
    &["server"],
    &["cli"],
];

/// Libraries that one room alone may name.
const LIBRARIES: &[(&str, &[&str])] = &[
    ("rmcp", &["server", "cli/serve.rs", "cli/demo"]),
    ("rfd", &["confirm"]),
    ("gtk4", &["confirm/helper"]),
    ("gtk", &["confirm/helper"]),
    ("age", &["journal", "vault"]),
    ("image", &["snapshot/draw.rs"]),
    ("tokio_tungstenite", &["browser/wire.rs"]),
    ("axum", &["cli/demo"]),
    ("clap", &["cli"]),
    ("psl", &["domain/site.rs", "policy"]),
];

/// What the gate, which decides, must not know: it waits for nothing but the person.
const GATE_KNOWS_NOT: &[&str] = &[
    "tokio",
    "rmcp",
    "rfd",
    "tokio_tungstenite",
    "age",
    "serde_json",
];

fn tree() -> PathBuf {
    crate::support::tree()
}

fn sources(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// A file's own code: without comments, strings' contents do not matter here, and without its unit tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text
        .split("#[cfg(test)]\nmod tests")
        .next()
        .unwrap()
        .to_owned();
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn rank(room: &str) -> Option<usize> {
    ORDER.iter().position(|rooms| rooms.contains(&room))
}

fn every_file() -> Vec<(String, String)> {
    let root = tree().join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 60, "the sources are not where they should be");
    files
        .into_iter()
        .map(|path| {
            (
                path.strip_prefix(&root)
                    .unwrap()
                    .to_string_lossy()
                    .into_owned(),
                code(&path),
            )
        })
        .collect()
}

/// The paths after `crate::` in a text, including those of grouped imports on one line.
fn named(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        let rest = &text[at + 7..];
        if let Some(group) = rest.strip_prefix('{') {
            let end = group.find('}').unwrap_or(group.len());
            out.extend(group[..end].split(',').map(|one| one.trim().to_owned()));
        } else {
            let path: String = rest
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_' || *c == ':')
                .collect();
            out.push(path);
        }
    }
    out
}

#[test]
fn imports_run_one_way() {
    let mut wrong = Vec::new();
    for (file, text) in every_file() {
        let room = file.split('/').next().unwrap();
        let Some(own) = rank(room) else { continue };
        for path in named(&text) {
            let target = path.split("::").next().unwrap();
            let Some(other) = rank(target) else { continue };
            if target != room && other >= own {
                wrong.push(format!("{file}: {path}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_gate_names_facts_and_shelf_alone() {
    for (file, text) in every_file()
        .into_iter()
        .filter(|(file, _)| file.starts_with("gate/"))
    {
        for path in named(&text) {
            let fine = !(path.starts_with("browser") || path.starts_with("snapshot"))
                || path.starts_with("browser::probe")
                || path.starts_with("snapshot::shelf");
            assert!(fine, "{file}: {path}");
        }
        for library in GATE_KNOWS_NOT {
            assert!(
                !text.contains(&format!("{library}::")),
                "{file} names {library}"
            );
        }
    }
}

#[test]
fn what_acts_is_named_by_the_gesture_alone() {
    for (file, text) in every_file() {
        let names = named(&text)
            .iter()
            .any(|path| path.starts_with("browser::input"));
        assert!(
            !names || file.starts_with("gesture/"),
            "{file} names browser::input"
        );
    }
}

#[test]
fn libraries_keep_to_their_rooms() {
    for (file, text) in every_file() {
        for (library, rooms) in LIBRARIES {
            let names = text.contains(&format!("use {library}::"))
                || text.contains(&format!(" {library}::"))
                || text.contains(&format!("({library}::"))
                || text.contains(&format!("<{library}::"));
            assert!(
                !names || rooms.iter().any(|room| file.starts_with(room)),
                "{file} names {library}"
            );
        }
    }
}

#[test]
fn an_answer_is_opened_and_a_question_recorded_by_the_journal_alone() {
    for (file, text) in every_file() {
        if file == "journal/line.rs" {
            continue;
        }
        assert!(!text.contains(".opened("), "{file} opens an answer");
        assert!(
            !text.contains("impl OnRecord for"),
            "{file} records a question"
        );
    }
}

#[test]
fn proofs_have_private_fields_and_no_copies() {
    let proofs = [
        ("gate/admit.rs", "Admitted"),
        ("gate/aim.rs", "Aimed"),
        ("gate/identity.rs", "SameNode"),
        ("gate/site.rs", "OnSite"),
        ("gate/lock.rs", "Held"),
        ("gate/consent.rs", "Consented"),
        ("gate/consent.rs", "Consent"),
        ("gate/consent.rs", "Answer"),
        ("gate/clear.rs", "Cleared"),
        ("journal/line.rs", "Recorded"),
        ("journal/line.rs", "Written"),
        ("journal/writer.rs", "Receipt"),
        ("gesture/settle.rs", "Settled"),
        ("reply/redact.rs", "Redacted"),
        ("browser/probe.rs", "ElementFacts"),
    ];
    let files = every_file();
    for (file, proof) in proofs {
        let text = &files.iter().find(|(name, _)| name == file).unwrap().1;
        let at = text
            .find(&format!("pub struct {proof} "))
            .or_else(|| text.find(&format!("pub struct {proof}(")))
            .unwrap_or_else(|| panic!("{file} has no {proof}"));
        let end = at + text[at..].find(['}', ';']).unwrap();
        let body = &text[at + 10..end];
        assert!(
            !body.contains("pub(crate)") && !body.contains("pub "),
            "{proof} has a public field:\n{body}"
        );
        let before = &text[at.saturating_sub(200)..at];
        let derive = before.rfind("#[derive").map_or("", |d| &before[d..]);
        for copy in ["Clone", "Copy", "Default", "Deserialize"] {
            assert!(!derive.contains(copy), "{proof} derives {copy}");
        }
    }
}

#[test]
fn unsafe_code_is_nowhere_or_in_the_one_allowed_module() {
    let allowed: Vec<String> = every_file()
        .into_iter()
        .filter(|(_, text)| text.contains("allow(unsafe_code") || text.contains("unsafe {"))
        .map(|(file, _)| file)
        .collect();
    assert!(allowed.len() <= 1, "{allowed:?}");
}
