//! What goes in comes out, and nothing typed goes in.

use proptest::prelude::*;

use super::*;
use crate::domain::action::{Action, Named, Typed};
use crate::domain::key::Chord;
use crate::domain::text::Untrusted;

use static_assertions::assert_not_impl_any;

assert_not_impl_any!(Receipt: Clone, Copy, Default, serde::de::DeserializeOwned);
assert_not_impl_any!(Journal: Clone);
static_assertions::assert_impl_all!(Journal: Send);

#[test]
fn a_story_is_read_back_in_order_and_verifies() {
    let scratch = Scratch::new();
    let anchors = write_story(&scratch);
    let kinds: Vec<&str> = scratch
        .records()
        .iter()
        .map(|record| record.entry.kind())
        .collect();
    assert_eq!(
        kinds,
        [
            "started",
            "read",
            "asked",
            "answered",
            "intent",
            "outcome",
            "refused",
            "heartbeat",
            "closed",
            "started",
            "read",
            "intent",
            "outcome"
        ]
    );
    let report = scratch.verify(&anchors);
    assert!(report.is_sound(), "{report}");
    assert_eq!((report.entries, report.segments), (13, 2));
    assert_eq!(report.head, anchors.last().copied());
    assert_eq!(
        report.notices,
        [Notice::NotClosed {
            from: 10,
            last: 13,
            newest: true
        }]
    );
}

#[test]
fn only_four_fields_are_in_clear() {
    let scratch = Scratch::new();
    write_story(&scratch);
    let text = String::from_utf8(scratch.bytes()).unwrap();
    for line in text.lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let names: Vec<&String> = value.as_object().unwrap().keys().collect();
        assert_eq!(names, ["mac", "payload", "prev", "seq", "v"]);
    }
    // Words with a character that neither base64 nor hexadecimal digits have, so that chance cannot spell them.
    for word in [
        "bank.test",
        "\"click",
        "Pay 12",
        "\"asked",
        "\"started",
        "countersign test",
        "2026-",
        "boot\"",
    ] {
        assert!(!text.contains(word), "{word} is in clear");
    }
}

#[test]
fn the_first_key_of_a_segment_is_never_in_a_record() {
    let scratch = Scratch::new();
    write_story(&scratch);
    for record in scratch.records() {
        assert!(!serde_json::to_string(&record).unwrap().contains("\"key\""));
    }
}

#[test]
fn what_is_typed_is_in_no_record() {
    let named = Named {
        snapshot: SnapshotId::new(1),
        mark: Mark::new(3),
    };
    let canary = "hunter2-canary";
    let typed = Typed::new(canary.to_owned());
    let digest = typed.digest().hex();
    let fill = serde_json::to_string(&CallRecord::of(&Action::Fill(named, typed))).unwrap();
    assert!(!fill.contains(canary) && !fill.contains(&digest), "{fill}");
    assert!(
        fill.contains(r#""payload":{"length":14,"class":"words"}"#),
        "{fill}"
    );

    let select = serde_json::to_string(&CallRecord::of(&Action::Select(
        named,
        vec![Untrusted::new(canary)],
    )))
    .unwrap();
    assert!(
        !select.contains(canary) && select.contains(r#""options_count":1"#),
        "{select}"
    );

    // Keys pressed one after another are typed text as well.
    for (chord, want) in [
        ("h", "character"),
        ("Shift+H", "character"),
        ("Enter", "Enter"),
        ("Control+a", "Control+a"),
    ] {
        let record = CallRecord::of(&Action::PressOn(named, Chord::parse(chord).unwrap()));
        assert_eq!(record.key.as_deref(), Some(want));
    }

    // Every field by name: a new one that could hold text has to be argued for here.
    let CallRecord {
        tool: _,
        tab: _,
        site: _,
        frame_site: _,
        mark: _,
        element: _,
        payload,
        key: _,
        options_count: _,
        intent: _,
    } = CallRecord::of(&Action::Click(named));
    assert_eq!(payload, None);
    // The text of a fill is set by `line` alone, where the profile asks for it and the field is not sensitive.
    let PayloadRecord {
        length: _,
        class: _,
        text: _,
    } = PayloadRecord {
        length: 0,
        class: String::new(),
        text: None,
    };
}

#[test]
fn an_entry_of_an_unknown_kind_or_field_is_not_read() {
    let known = serde_json::to_value(Body::Entry(refused())).unwrap();
    assert!(serde_json::from_value::<Body>(known.clone()).is_ok());
    let mut more = known.clone();
    more["extra"] = 1.into();
    assert!(serde_json::from_value::<Body>(more).is_err());
    let mut other = known;
    other["kind"] = "rumour".into();
    assert!(serde_json::from_value::<Body>(other).is_err());
}

#[test]
fn an_entry_too_long_for_a_line_is_refused_and_ends_nothing() {
    let scratch = Scratch::new();
    let mut journal = scratch.open();
    let before = scratch.bytes();
    let long = Entry::Outcome(Outcome {
        intent: 2,
        outcome: "x".repeat(1 << 20),
        effect: Effect::Done,
        code: None,
        changes: Vec::new(),
        after: None,
    });
    assert_eq!(
        journal.append(&long).unwrap_err().code(),
        Code::JournalNotWritable
    );
    assert_eq!(scratch.bytes(), before);
    let receipt = journal.append(&look()).unwrap();
    assert_eq!(receipt.sequence(), 2);
    assert!(scratch.verify(&[anchor(&receipt)]).is_sound());
}

fn entries() -> impl Strategy<Value = Entry> {
    let call = (
        any::<String>(),
        any::<u32>(),
        any::<Option<(String, String)>>(),
        any::<Option<u64>>(),
    )
        .prop_map(|(tool, mark, element, options_count)| CallRecord {
            mark: Some(Mark::new(mark)),
            element: element.map(|(role, name)| ElementRecord { role, name }),
            options_count,
            ..CallRecord::new(tool)
        });
    let facts = prop::collection::vec(any::<(String, String)>(), 0..6);
    prop_oneof![
        (
            call.clone(),
            facts,
            prop::sample::select(&LockClass::ALL[..])
        )
            .prop_map(|(call, facts, class)| Entry::Asked(Asked {
                call,
                class,
                facts,
                digest: Digest::of(b"q"),
                before: None,
                means: Means::Basic
            })),
        (call.clone(), prop::sample::select(Code::ALL)).prop_map(|(call, code)| Entry::Refused(
            Refused {
                call,
                code: code.into(),
                effect: Effect::Possible,
                asked: None
            }
        )),
        (call, any::<u32>()).prop_map(|(call, snapshot)| Entry::Intent(Intent {
            call,
            answered: None,
            before: None,
            snapshot: Some(SnapshotId::new(snapshot))
        })),
        (any::<Option<u32>>(), any::<Option<String>>()).prop_map(|(pid, program)| Entry::Peer(
            Peer {
                sight: Sight::Seen,
                pid,
                program
            }
        )),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_entry_round_trips(entries in prop::collection::vec(entries(), 1..6)) {
        let scratch = Scratch::new();
        let mut journal = scratch.open();
        let receipts: Vec<Anchor> = entries.iter().map(|entry| anchor(&journal.append(entry).unwrap())).collect();
        let read: Vec<Body> = scratch.records().into_iter().skip(1).map(|record| record.entry).collect();
        let written: Vec<Body> = entries.into_iter().map(Body::Entry).collect();
        prop_assert_eq!(read, written);
        prop_assert!(scratch.verify(&receipts).is_sound());
    }
}
