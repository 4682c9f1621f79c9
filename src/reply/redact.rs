//! The only exit for anything a page wrote: text is scrubbed of card and account numbers, pictures are masked already,
//! and what the server says is kept apart from what the page says (security B1, B3).

use std::collections::HashMap;

use base64::Engine as _;
use serde_json::{Map, Value, json};

use super::capture::{Capture, Captured, Taken};
use crate::browser::probe::{Counts, Item, Look};
use crate::browser::targets::Note;
use crate::domain::digest::Digest;
use crate::domain::mark::{Mark, SnapshotId, TabId};
use crate::domain::text::Untrusted;
use crate::error::{Detail, Effect, Refusal};
use crate::gesture::perform::Outcome;
use crate::gesture::settle::Parts;
use crate::journal::{CallRecord, Outcome as OutcomeEntry, Sealed};
use crate::policy::echo::{Cleaner, Known, MASK};
use crate::snapshot::number::Numbers;
use crate::snapshot::shelf::{Shelf, Snapshot};
use crate::snapshot::tree::{Composed, compose, quote};

/// What may leave: nothing else becomes a reply.
#[derive(Debug)]
#[must_use = "what is redacted is written to the journal, then replied"]
pub struct Redacted {
    pub(super) server: Map<String, Value>,
    pub(super) page: Map<String, Value>,
    pub(super) image: Option<Vec<u8>>,
    pub(super) refusal: Option<Refusal>,
    entry: Option<OutcomeEntry>,
}

/// A text without card and account numbers. What else is sensitive is known to a [`Cleaner`] alone.
#[must_use]
pub fn scrub(text: &str) -> String {
    Cleaner::default().clean(text)
}

/// Which lines of a look are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Telling {
    /// All of them.
    Whole,
    /// Only what differs from this snapshot.
    Since(SnapshotId),
}

/// Redacts a look that was asked for.
#[allow(
    clippy::too_many_arguments,
    reason = "what a look is told from, and what it is told with"
)]
pub fn look(
    capture: Capture,
    tab: TabId,
    telling: Telling,
    text_limit: usize,
    numbers: &mut Numbers,
    shelf: &mut Shelf,
    notes: Vec<Note>,
    known: &Known,
) -> (Redacted, SnapshotId, Option<Digest>) {
    let mut server = Map::new();
    let mut page = Map::new();
    server.insert("tab".to_owned(), json!(tab));
    server.insert("outcome".to_owned(), json!("done"));
    let (id, image) = put(
        capture,
        tab,
        telling,
        text_limit,
        numbers,
        shelf,
        &mut server,
        &mut page,
    );
    tell_notes(notes, known, true, &mut server, &mut page);
    let digest = image.as_deref().map(Digest::of);
    (
        Redacted {
            server,
            page,
            image,
            refusal: None,
            entry: None,
        },
        id,
        digest,
    )
}

/// Redacts what a gesture left.
pub fn outcome(
    captured: Captured,
    text_limit: usize,
    numbers: &mut Numbers,
    shelf: &mut Shelf,
    after: Option<Sealed>,
    known: &Known,
) -> Redacted {
    let Captured { parts, after: seen } = captured;
    let Parts {
        sequence,
        call: _,
        locked,
        page: tab,
        outcome,
        field,
        covered_by,
        notes,
        pending,
        moved_on,
    } = parts;
    let mut server = Map::new();
    let mut page = Map::new();
    let (name, refusal) = match outcome {
        Outcome::Done => ("done", None),
        Outcome::Refused(refusal) => ("refused", Some(refusal)),
        Outcome::Unknown(refusal) => ("unknown", Some(refusal)),
    };
    let effect = refusal.as_ref().map_or(Effect::Done, Refusal::effect);
    server.insert("outcome".to_owned(), json!(name));
    server.insert("effect".to_owned(), json!(effect));
    if locked {
        server.insert("allowed_by".to_owned(), json!("person"));
    }
    if pending {
        server.insert(
            "pending".to_owned(),
            json!("the page is still loading; call wait_for or observe"),
        );
    }
    let cleaner = match (&seen, &tab) {
        (Ok(capture), Some(_)) => known.on(capture.origin()),
        (Ok(_) | Err(_), _) => known.everywhere(),
    };
    let refusal = refusal
        .map(|refusal| cleaned(refusal, &cleaner))
        .map(
            |refusal| match covered_by.and_then(|key| numbers.known(&key)) {
                Some(mark) => refusal.with(Detail::CoveredBy(mark)),
                None => refusal,
            },
        );
    if let Some(field) = field {
        server.insert("field_holds_it".to_owned(), json!(field.same));
        if let Some(value) = field.value {
            page.insert(
                "field".to_owned(),
                json!(quote(&cleaner.clean(&value), 400)),
            );
        }
    }
    let mut changes = Vec::new();
    let looked = seen.is_ok();
    match (seen, &tab) {
        (Ok(mut capture), Some(tab)) => {
            // The picture is sealed with the journal; a model that wants one observes.
            capture.picture = Taken::NotWanted;
            let since = shelf
                .newest(tab.id())
                .map(|snapshot| snapshot.id)
                .filter(|_| !moved_on);
            let telling = since.map_or(Telling::Whole, Telling::Since);
            server.insert("tab".to_owned(), json!(tab.id()));
            put(
                capture,
                tab.id(),
                telling,
                text_limit,
                numbers,
                shelf,
                &mut server,
                &mut page,
            );
            if let Some(Value::Array(lines)) = page.get("added").or_else(|| page.get("text")) {
                changes = lines
                    .iter()
                    .filter_map(Value::as_str)
                    .take(40)
                    .map(without_values)
                    .collect();
            }
        }
        (Err(why), Some(tab)) => {
            server.insert("tab".to_owned(), json!(tab.id()));
            server.insert("not_seen_after".to_owned(), json!(why.code().message()));
        }
        (Ok(_) | Err(_), None) => {}
    }
    tell_notes(notes, known, looked, &mut server, &mut page);
    let entry = OutcomeEntry {
        intent: sequence,
        outcome: name.to_owned(),
        effect,
        code: refusal.as_ref().map(|refusal| refusal.code().into()),
        changes,
        after,
    };
    Redacted {
        server,
        page,
        image: None,
        refusal,
        entry: Some(entry),
    }
}

/// Redacts a refusal that came before any gesture.
pub fn refusal(refusal: Refusal, call: &CallRecord, cleaner: &Cleaner) -> Redacted {
    let refusal = cleaned(refusal, cleaner);
    let mut server = Map::new();
    if let Some(tab) = call.tab {
        server.insert("tab".to_owned(), json!(tab));
    }
    server.insert("outcome".to_owned(), json!("refused"));
    server.insert("effect".to_owned(), json!(refusal.effect()));
    Redacted {
        server,
        page: Map::new(),
        image: None,
        refusal: Some(refusal),
        entry: None,
    }
}

/// What the server says of itself: constants, numbers and sites, nothing of a page but addresses as data.
pub fn statement(server: Map<String, Value>, page: Map<String, Value>) -> Redacted {
    Redacted {
        server,
        page,
        image: None,
        refusal: None,
        entry: None,
    }
}

impl Redacted {
    /// The journal's entry of the outcome, where a gesture was made.
    #[must_use]
    pub const fn entry(&self) -> Option<&OutcomeEntry> {
        self.entry.as_ref()
    }

    /// Adds a statement of the server.
    pub fn say(&mut self, key: &str, value: Value) {
        self.server.insert(key.to_owned(), value);
    }
}

#[allow(
    clippy::too_many_arguments,
    reason = "the one place where a look becomes text"
)]
fn put(
    capture: Capture,
    tab: TabId,
    telling: Telling,
    text_limit: usize,
    numbers: &mut Numbers,
    shelf: &mut Shelf,
    server: &mut Map<String, Value>,
    page: &mut Map<String, Value>,
) -> (SnapshotId, Option<Vec<u8>>) {
    let Capture {
        look,
        picture,
        cleaner,
    } = capture;
    let composed = written(&look, &cleaner, numbers);
    let id = shelf.next_id();
    server.insert("origin".to_owned(), json!(look.origin.to_string()));
    server.insert("snapshot_id".to_owned(), json!(id));
    server.insert("marks".to_owned(), json!(composed.marks.len()));
    out_of_sight(&look.walked.counts, server);
    if look.walked.ready != "complete" {
        server.insert("loading".to_owned(), json!(true));
    }
    page.insert(
        "title".to_owned(),
        json!(quote(&cleaner.clean(&look.walked.title), 200)),
    );
    page.insert("url".to_owned(), json!(address(&look.walked.url, &cleaner)));
    let old = match telling {
        Telling::Whole => None,
        // What was told before it was known to be sensitive is not told again as something that is gone.
        Telling::Since(id) => shelf.get(id).map(|snapshot| {
            let lines = snapshot.lines.iter();
            lines.map(|line| cleaner.clean(line)).collect::<Vec<_>>()
        }),
    };
    match old {
        None => {
            let (lines, cut) = fit(&composed.lines, text_limit);
            page.insert("text".to_owned(), json!(lines));
            if cut > 0 {
                server.insert("lines_left_out".to_owned(), json!(cut));
            }
        }
        Some(old) => {
            let (added, removed) = difference(&old, &composed.lines);
            let (added, cut) = fit(&added, text_limit);
            server.insert(
                "changes".to_owned(),
                json!({"added": added.len() + cut, "removed": removed.len()}),
            );
            if cut > 0 {
                server.insert("lines_left_out".to_owned(), json!(cut));
            }
            if !added.is_empty() {
                page.insert("added".to_owned(), json!(added));
            }
            let (removed, _) = fit(&removed, text_limit / 4);
            if !removed.is_empty() {
                page.insert("removed".to_owned(), json!(removed));
            }
        }
    }
    let image = match picture {
        Taken::NotWanted => None,
        Taken::Withheld(why) => {
            server.insert("image_withheld".to_owned(), json!(why));
            None
        }
        Taken::Masked(masked) => masked.marked(&composed.boxes, id.number()).ok(),
    };
    shelf.put(Snapshot {
        id,
        tab,
        origin: look.origin,
        marks: composed.marks,
        lines: composed.lines,
    });
    (id, image)
}

/// Numbers and writes a look of which nothing sensitive is left. What was remembered for the checks alone stays as it was read.
fn written(look: &Look, cleaner: &Cleaner, numbers: &mut Numbers) -> Composed {
    let mut shown = look.clone();
    for item in &mut shown.walked.items {
        if let Item::Mark { f, .. } = item {
            for text in [&mut f.text, &mut f.label, &mut f.href, &mut f.action] {
                *text = cleaner.clean(text);
            }
        }
    }
    for seen in &mut shown.elements {
        seen.name = Untrusted::new(cleaner.clean(seen.name.raw()));
    }
    let mut composed = compose(&shown, numbers);
    let prints: HashMap<_, _> = look
        .walked
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Mark { n, f, .. } => look.elements.get(*n).map(|seen| (&seen.key, (f, seen))),
            Item::Text { .. } | Item::Hidden { .. } | Item::Blocked { .. } => None,
        })
        .collect();
    for remembered in composed.marks.values_mut() {
        if let Some((print, seen)) = prints.get(&remembered.key) {
            remembered.print = (*print).clone();
            remembered.name = seen.name.clone();
        }
    }
    let in_an_address: String = MASK.bytes().map(|byte| format!("%{byte:02X}")).collect();
    for line in &mut composed.lines {
        *line = cleaner.clean(&line.replace(&in_an_address, MASK));
    }
    composed
}

/// A refusal whose details are clean.
fn cleaned(refusal: Refusal, cleaner: &Cleaner) -> Refusal {
    let Some(Detail::Options(list)) = refusal.detail() else {
        return refusal;
    };
    let clean = |text: &Untrusted| Untrusted::new(cleaner.clean(text.raw()));
    let list = list
        .iter()
        .map(|(label, value)| (clean(label), clean(value)))
        .collect();
    refusal.with(Detail::Options(list))
}

/// A line without what its fields hold: the journal keeps what was typed by its length alone (security J8). Page text stands
/// between quotes that it cannot close, so an equals sign outside of them is ours.
fn without_values(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let (mut quoted, mut escaped, mut value, mut length) = (false, false, false, 0_usize);
    for c in line.chars() {
        match c {
            '"' if !escaped && quoted && value => {
                out.push_str(&format!("({length} characters)"));
                (quoted, value) = (false, false);
                continue;
            }
            '"' if !escaped && !quoted => {
                quoted = true;
                value = out.ends_with(" = ");
                length = 0;
                if value {
                    continue;
                }
            }
            '"' if !escaped => quoted = false,
            _ => {}
        }
        escaped = quoted && c == '\\' && !escaped;
        if value {
            length += usize::from(!escaped);
        } else {
            out.push(c);
        }
    }
    out
}

fn out_of_sight(counts: &Counts, server: &mut Map<String, Value>) {
    let said: Map<String, Value> = [
        ("above", counts.above),
        ("below", counts.below),
        ("left", counts.left),
        ("right", counts.right),
        ("hidden_from_people", counts.hidden),
        ("covered", counts.covered),
        ("left_out", counts.omitted),
        ("frames_not_read", counts.frames),
    ]
    .into_iter()
    .filter(|(_, count)| *count > 0)
    .map(|(name, count)| (name.to_owned(), json!(count)))
    .collect();
    if !said.is_empty() {
        server.insert("not_shown".to_owned(), Value::Object(said));
    }
}

/// Path of an address; values of its query stay inside.
fn address(url: &str, cleaner: &Cleaner) -> String {
    match url::Url::parse(url) {
        Ok(mut parsed) => {
            let query = parsed.query().is_some();
            let _ = parsed.set_username("");
            let _ = parsed.set_password(None);
            parsed.set_query(None);
            parsed.set_fragment(None);
            let plain = cleaner.clean(parsed.as_str());
            if query { format!("{plain}?…") } else { plain }
        }
        Err(_) => "(unreadable)".to_owned(),
    }
}

/// As many lines as fit, and how many do not.
fn fit(lines: &[String], limit: usize) -> (Vec<String>, usize) {
    let mut used = 0;
    let mut out = Vec::new();
    for line in lines {
        used += line.len() + 4;
        if used > limit {
            break;
        }
        out.push(line.clone());
    }
    let left = lines.len() - out.len();
    (out, left)
}

/// Lines that are new and lines that are gone, as multisets: a page that only reorders its lines has changed nothing.
fn difference(old: &[String], new: &[String]) -> (Vec<String>, Vec<String>) {
    let mut count: HashMap<&str, i64> = HashMap::new();
    for line in old {
        *count.entry(line).or_default() += 1;
    }
    let mut added = Vec::new();
    for line in new {
        let left = count.entry(line).or_default();
        *left -= 1;
        if *left < 0 {
            added.push(line.clone());
        }
    }
    let mut removed = Vec::new();
    for line in old {
        if let Some(left) = count.get_mut(line.as_str())
            && *left > 0
        {
            *left -= 1;
            removed.push(line.clone());
        }
    }
    (added, removed)
}

/// Tells what happened beside a call. What a dialog said is told only where the page could be looked at after it: what its
/// fields held by then is known from that look.
fn tell_notes(
    notes: Vec<Note>,
    known: &Known,
    looked: bool,
    server: &mut Map<String, Value>,
    page: &mut Map<String, Value>,
) {
    let mut events: Vec<Value> = Vec::new();
    let mut said: Vec<Value> = Vec::new();
    let site = |site: Option<crate::domain::site::Site>| site.map(|site| site.to_string());
    for note in notes {
        match note {
            Note::Dialog { kind, text, origin } => {
                events.push(json!({"dialog_dismissed": kind}));
                let text = if looked {
                    known.on(&origin).clean(text.raw())
                } else {
                    MASK.to_owned()
                };
                said.push(json!(quote(&text, 300)));
            }
            Note::DepartureStopped(to) => events.push(json!({"departure_stopped": site(to)})),
            Note::Opened(tab) => events.push(json!({"opened_tab": tab})),
            Note::OpenRefused(to) => events.push(json!({"tab_not_opened": site(to)})),
            Note::DownloadStopped(from) => events.push(json!({"download_stopped": site(from)})),
            Note::Held => events.push(json!({"request_not_sent": true})),
            Note::FileChooser => events.push(json!({"file_chooser_kept_shut": true})),
            Note::Crashed => events.push(json!({"crashed": true})),
        }
    }
    if !events.is_empty() {
        server.insert("events".to_owned(), Value::Array(events));
    }
    if !said.is_empty() {
        page.insert("dialogs".to_owned(), Value::Array(said));
    }
}

/// What a refusal adds, as the reply has it: `details` of the server, and options as page content.
pub(super) fn detail(detail: Option<&Detail>, page: &mut Map<String, Value>) -> Option<Value> {
    let options = |list: &[(Untrusted, Untrusted)]| -> Vec<Value> {
        list.iter()
            .map(|(label, value)| json!({"label": quote(&scrub(label.raw()), 120), "value": quote(&scrub(value.raw()), 120)}))
            .collect()
    };
    match detail? {
        Detail::Argument(name, what) => Some(json!({"argument": name, "expected": what})),
        Detail::RetryAfterMs(ms) => Some(json!({"retry_after_ms": ms})),
        Detail::CoveredBy(mark) => Some(json!({"covered_by": Mark::number(*mark)})),
        Detail::Site(site) => Some(json!({"site": site.to_string()})),
        Detail::Reason(why) => Some(json!({"reason": why})),
        Detail::Options(list) => {
            page.insert("options".to_owned(), Value::Array(options(list)));
            None
        }
    }
}

/// The image as the protocol carries it.
pub(super) fn encoded(image: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(image)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_of_cards_and_accounts_do_not_leave() {
        assert_eq!(
            scrub("card 4111 1111 1111 1111 ok"),
            format!("card {MASK} ok")
        );
        assert_eq!(scrub("DE89 3704 0044 0532 0130 00"), MASK);
        assert_eq!(scrub("order 1234567"), "order 1234567");
    }

    #[test]
    fn the_journal_is_told_how_long_a_value_is_and_no_more() {
        for (line, want) in [
            (
                r#"[1] textbox "Town" = "Ulm" focused"#,
                r#"[1] textbox "Town" = (3 characters) focused"#,
            ),
            (
                r#"[1] textbox "a = \"b\"" = "x\"y\\" [2] button "c""#,
                r#"[1] textbox "a = \"b\"" = (4 characters) [2] button "c""#,
            ),
            (
                r#"[1] textbox = "" required"#,
                "[1] textbox = (0 characters) required",
            ),
            (
                r#""1 + 1 = " [2] password "p" = masked"#,
                r#""1 + 1 = " [2] password "p" = masked"#,
            ),
        ] {
            assert_eq!(without_values(line), want);
        }
    }

    #[test]
    fn addresses_leave_without_credentials_and_query_values() {
        assert_eq!(
            address(
                "https://u:p@bank.test/a?token=s3cret#frag",
                &Cleaner::default()
            ),
            "https://bank.test/a?…"
        );
    }

    proptest! {
        #[test]
        fn a_difference_says_what_turns_the_old_into_the_new(old in proptest::collection::vec("[a-c]", 0..8), new in proptest::collection::vec("[a-c]", 0..8)) {
            let (added, removed) = difference(&old, &new);
            let mut back: Vec<String> = old.clone();
            for line in &removed { let at = back.iter().position(|l| l == line).unwrap(); back.remove(at); }
            back.extend(added);
            let mut want = new.clone();
            back.sort(); want.sort();
            prop_assert_eq!(back, want);
        }
    }
}
