//! The only exit for anything a page wrote: text is scrubbed of card and account numbers, pictures are masked already,
//! and what the server says is kept apart from what the page says (security B1, B3).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use base64::Engine as _;
use serde_json::{Map, Value, json};

use super::capture::{Capture, Captured, Taken};
use crate::browser::probe::Counts;
use crate::browser::targets::Note;
use crate::domain::digest::Digest;
use crate::domain::mark::{Mark, SnapshotId, TabId};
use crate::domain::text::Untrusted;
use crate::error::{Detail, Effect, Refusal};
use crate::gesture::perform::Outcome;
use crate::gesture::settle::Parts;
use crate::journal::{CallRecord, Outcome as OutcomeEntry, Sealed};
use crate::policy::echo::{Cleaner, Known, MASK};
use crate::snapshot::find::{Hit, Shown};
use crate::snapshot::number::Numbers;
use crate::snapshot::shelf::{Remembered, Shelf, Snapshot};
use crate::snapshot::tree::{Composed, Line, Marked, compose, quote, whole};

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

/// Redacts what was found in a stored snapshot, line by line, as far as it fits. Elements that were out of sight get
/// their numbers now.
#[allow(
    clippy::too_many_arguments,
    reason = "what it is told from, and what it is told with"
)]
pub fn found(
    hits: &[Hit<'_>],
    id: SnapshotId,
    tab: TabId,
    text_limit: usize,
    cursors: bool,
    cleaner: &Cleaner,
    numbers: &mut Numbers,
    shelf: &mut Shelf,
) -> Redacted {
    let mut server = Map::new();
    let (mut lines, mut used, mut next) = (Vec::new(), 0, None);
    for hit in hits {
        let mut given: Vec<&Marked> = Vec::new();
        let line = {
            let mut mark = |marked: &Marked| numbers.mark(marked.key());
            match &hit.shown {
                Shown::Whole => {
                    given.extend(hit.line.marked());
                    hit.line.told(mark)
                }
                Shown::Heading(below) => {
                    given.extend(hit.line.marked());
                    format!("{} {} ({below} lines)", hit.place, hit.line.told(mark))
                }
                Shown::Elements(some) => {
                    given.extend(some.iter().copied());
                    let told: Vec<String> = some
                        .iter()
                        .map(|marked| marked.told(mark(marked)))
                        .collect();
                    format!("{}{}", hit.line.side(), told.join(" "))
                }
            }
        };
        let line = cleaner.clean(&line);
        used += line.len() + 4;
        if used > text_limit && !lines.is_empty() {
            next = Some(hit.place);
            break;
        }
        for marked in given {
            let mark = numbers.mark(marked.key());
            shelf.remember(id, mark, marked.remembered().clone());
        }
        lines.push(line);
    }
    server.insert("tab".to_owned(), json!(tab));
    server.insert("outcome".to_owned(), json!("done"));
    server.insert("snapshot_id".to_owned(), json!(id));
    server.insert("found".to_owned(), json!(hits.len()));
    if let Some(next) = next {
        server.insert("shown".to_owned(), json!(lines.len()));
        if cursors {
            server.insert("cursor".to_owned(), json!(next));
        }
    }
    let mut page = Map::new();
    if !lines.is_empty() {
        page.insert("text".to_owned(), json!(lines));
    }
    statement(server, page)
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
            let told = ["changed", "added", "text"];
            let lists = told.iter().filter_map(|name| page.get(*name)?.as_array());
            changes = lists
                .flatten()
                .filter_map(Value::as_str)
                .take(40)
                .map(without_values)
                .collect();
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
    let mut composed = compose(&look, numbers, |text| cleaner.clean(text));
    let in_an_address: String = MASK.bytes().map(|byte| format!("%{byte:02X}")).collect();
    for line in &mut composed.told {
        *line = cleaner.clean(&line.replace(&in_an_address, MASK));
    }
    let marks: BTreeMap<Mark, Remembered> = composed
        .near
        .iter()
        .flat_map(Line::marked)
        .map(|marked| (numbers.mark(marked.key()), marked.remembered().clone()))
        .collect();
    let id = shelf.next_id();
    server.insert("snapshot_id".to_owned(), json!(id));
    out_of_sight(&look.walked.counts, server);
    if look.walked.ready != "complete" {
        server.insert("loading".to_owned(), json!(true));
    }
    let title = quote(&cleaner.clean(&look.walked.title), 200);
    let old = match telling {
        Telling::Whole => None,
        Telling::Since(id) => shelf.get(id),
    };
    // What is as it was is not told again.
    if old.is_none_or(|old| old.origin != look.origin) {
        server.insert("origin".to_owned(), json!(look.origin.to_string()));
    }
    if old.is_none_or(|old| old.title != title) {
        page.insert("title".to_owned(), json!(title));
    }
    if old.is_none_or(|old| old.url != look.walked.url) {
        page.insert("url".to_owned(), json!(address(&look.walked.url, &cleaner)));
    }
    match old {
        None => {
            server.insert("marks".to_owned(), json!(marks.len()));
            let (lines, cut) = fit(&composed.told, text_limit);
            if cut > 0 {
                server.insert("lines_left_out".to_owned(), json!(cut));
                let next = composed.near.get(lines.len()).map(Line::block);
                let all = whole(&composed.near, &look.far, &look.keys(), &look.walked.url);
                let place = all
                    .ok()
                    .and_then(|all| all.iter().position(|line| Some(line.block()) == next));
                // Where `read` goes on.
                if let Some(place) = place {
                    server.insert("cursor".to_owned(), json!(place));
                }
            }
            page.insert("text".to_owned(), json!(lines));
        }
        Some(old) => {
            let told = Difference::of(old, &composed, &cleaner, numbers);
            let (changed, cut) = fit(&told.changed, text_limit);
            let used: usize = changed.iter().map(|line| line.len() + 4).sum();
            let (added, more) = fit(&told.added, text_limit.saturating_sub(used));
            let (removed, _) = fit(&told.removed, text_limit / 4);
            if cut + more > 0 {
                server.insert("lines_left_out".to_owned(), json!(cut + more));
            }
            for (name, lines) in [("changed", changed), ("added", added), ("removed", removed)] {
                if !lines.is_empty() {
                    page.insert(name.to_owned(), json!(lines));
                }
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
        marks,
        lines: composed.told,
        near: composed.near,
        title,
        far: look.far.clone(),
        keys: look.keys(),
        origins: look.origins(),
        url: look.walked.url,
        origin: look.origin,
    });
    (id, image)
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

/// What a look has that the one before had not.
#[derive(Debug, Default)]
struct Difference {
    /// Lines of elements that were there, as they are now.
    changed: Vec<String>,
    /// Lines that are new.
    added: Vec<String>,
    /// Lines that are gone.
    removed: Vec<String>,
}

impl Difference {
    fn of(old: &Snapshot, new: &Composed, cleaner: &Cleaner, numbers: &Numbers) -> Self {
        // What was told before it was known to be sensitive is not told again as something that is gone.
        let lines: Vec<String> = old.lines.iter().map(|line| cleaner.clean(line)).collect();
        let (added, removed) = difference(&lines, &new.told);
        let marks = |lines: &[Line], place: &usize| -> BTreeSet<Mark> {
            let marked = lines.get(*place).into_iter().flat_map(Line::marked);
            marked
                .filter_map(|marked| numbers.known(marked.key()))
                .collect()
        };
        let was: Vec<BTreeSet<Mark>> = removed.iter().map(|at| marks(&old.near, at)).collect();
        let mut out = Self::default();
        let mut taken = vec![false; removed.len()];
        for at in &added {
            let now = marks(&new.near, at);
            let before = was.iter().position(|was| !was.is_disjoint(&now));
            let list = match before {
                Some(place) => {
                    if let Some(taken) = taken.get_mut(place) {
                        *taken = true;
                    }
                    &mut out.changed
                }
                None => &mut out.added,
            };
            list.extend(new.told.get(*at).cloned());
        }
        for (at, taken) in removed.iter().zip(taken) {
            if !taken {
                out.removed.extend(lines.get(*at).cloned());
            }
        }
        out
    }
}

/// Which lines are new and which are gone, as multisets: a page that only reorders its lines has changed nothing.
fn difference(old: &[String], new: &[String]) -> (Vec<usize>, Vec<usize>) {
    let mut count: HashMap<&str, i64> = HashMap::new();
    for line in old {
        *count.entry(line).or_default() += 1;
    }
    let mut added = Vec::new();
    for (place, line) in new.iter().enumerate() {
        let left = count.entry(line).or_default();
        *left -= 1;
        if *left < 0 {
            added.push(place);
        }
    }
    let mut removed = Vec::new();
    for (place, line) in old.iter().enumerate() {
        if let Some(left) = count.get_mut(line.as_str())
            && *left > 0
        {
            *left -= 1;
            removed.push(place);
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
            for at in removed.iter().rev() { back.remove(*at); }
            back.extend(added.iter().map(|at| new[*at].clone()));
            let mut want = new.clone();
            back.sort(); want.sort();
            prop_assert_eq!(back, want);
        }
    }
}
