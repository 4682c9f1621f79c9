//! What SECURITY.md and docs/attacks.md promise is tested by tests that exist: each `room::test_name` in them is looked
//! up in the sources, and no row of the table of attacks is without one.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::tree;

/// Every test of the sources as `room::name`, once for each folder and file on the way to it.
fn tests_there_are() -> BTreeSet<String> {
    let root = tree();
    let mut found = BTreeSet::new();
    for folder in ["src", "tests/it"] {
        walk(&root.join(folder), &mut Vec::new(), &mut found);
    }
    for folder in ["compile_fail", "compile_pass"] {
        for entry in fs::read_dir(root.join("tests").join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|end| end == "rs") {
                let name = path.file_stem().unwrap().to_string_lossy();
                found.insert(format!("{folder}::{name}"));
            }
        }
    }
    found
}

fn walk(folder: &Path, rooms: &mut Vec<String>, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        rooms.push(path.file_stem().unwrap().to_string_lossy().into_owned());
        if path.is_dir() {
            walk(&path, rooms, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            for name in tests_of(&fs::read_to_string(&path).unwrap()) {
                found.extend(rooms.iter().map(|room| format!("{room}::{name}")));
            }
        }
        rooms.pop();
    }
}

/// The functions that carry a test attribute.
fn tests_of(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut test = false;
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            test = true;
        } else if let Some(rest) = line
            .strip_prefix("async fn ")
            .or_else(|| line.strip_prefix("fn "))
        {
            if std::mem::take(&mut test) {
                names.push(rest.split(['(', '<']).next().unwrap().to_owned());
            }
        } else if line.is_empty() || line.starts_with('}') {
            test = false;
        }
    }
    names
}

/// What stands in backticks and has the form `room::test_name`.
fn named(text: &str) -> Vec<String> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|quoted| {
            quoted.contains("::")
                && quoted
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == ':')
        })
        .map(str::to_owned)
        .collect()
}

fn missing(text: &str) -> Vec<String> {
    let there_are = tests_there_are();
    named(text)
        .into_iter()
        .filter(|name| !there_are.contains(name))
        .collect()
}

#[test]
fn every_known_attack_names_a_test_that_exists() {
    let text = fs::read_to_string(tree().join("docs/attacks.md")).unwrap();
    let mut rows = 0;
    for row in text.lines().filter(|line| line.starts_with("| ")) {
        let mut cells = row.trim_matches('|').split(" | ");
        let (Some(attack), Some(_happens), Some(tests), None) =
            (cells.next(), cells.next(), cells.next(), cells.next())
        else {
            panic!("not three cells: {row}");
        };
        if attack.trim() == "attack" {
            continue;
        }
        rows += 1;
        assert!(!named(tests).is_empty(), "no test covers: {attack}");
    }
    assert!(rows > 40, "the table is not where it should be");
    assert_eq!(missing(&text), Vec::<String>::new(), "no such tests");
}

#[test]
fn every_test_that_the_security_document_names_exists() {
    let text = fs::read_to_string(tree().join("SECURITY.md")).unwrap();
    assert!(named(&text).len() > 40, "it names its tests");
    assert_eq!(missing(&text), Vec::<String>::new(), "no such tests");
}

#[test]
fn a_test_that_is_not_there_is_missed() {
    let text = "`attacks::a_test_that_is_not_there_is_missed` `attacks::tests_of` `compile_fail::skip_site` \
                `layers::a_test_that_is_not_there_is_missed` `compile_fail::skip_nothing`";
    assert_eq!(
        missing(text),
        [
            "attacks::tests_of",
            "layers::a_test_that_is_not_there_is_missed",
            "compile_fail::skip_nothing"
        ]
    );
}
