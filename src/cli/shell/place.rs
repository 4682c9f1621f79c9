//! Where a person stands in a snapshot: the whole page, or the lines below one of its headings. It reads the lines as they
//! were told; what a page wrote in them stands between quotes, so everything else is ours.

use crate::snapshot::find::bare;

/// A heading of the outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Heading {
    /// Its line.
    pub(super) line: usize,
    /// The last line below it.
    pub(super) last: usize,
    /// It as it was told, where it lies included.
    pub(super) told: String,
    /// The words of the headings around it, and its own last.
    pub(super) path: Vec<String>,
}

/// A heading that was entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The snapshot whose lines these are.
    pub(super) snapshot: String,
    /// The heading.
    pub(super) heading: Heading,
    /// How many headings before it have the same path.
    nth: usize,
}

impl Place {
    pub(super) fn at(heading: &Heading, all: &[Heading], snapshot: &str) -> Self {
        let before = all.iter().take_while(|one| one.line < heading.line);
        Self {
            snapshot: snapshot.to_owned(),
            nth: before.filter(|one| one.path == heading.path).count(),
            heading: heading.clone(),
        }
    }

    /// The same place in another snapshot, where there is one.
    pub(super) fn again(&self, all: &[Heading], snapshot: &str) -> Option<Self> {
        let mut alike = all.iter().filter(|one| one.path == self.heading.path);
        Some(Self {
            snapshot: snapshot.to_owned(),
            nth: self.nth,
            heading: alike.nth(self.nth)?.clone(),
        })
    }
}

/// The headings of an outline: `12 # "Orders" (40 lines)`.
pub(super) fn headings(lines: &[String]) -> Vec<Heading> {
    let mut around: Vec<(usize, String)> = Vec::new();
    lines
        .iter()
        .filter_map(|told| {
            let (line, rest) = told.split_once(' ')?;
            let (told, count) = rest.rsplit_once(" (")?;
            let line: usize = line.parse().ok()?;
            let count: usize = count.split(' ').next()?.parse().ok()?;
            around.retain(|(last, _)| *last >= line);
            around.push((line + count, words(told)));
            Some(Heading {
                line,
                last: line + count,
                told: told.to_owned(),
                path: around.iter().map(|(_, words)| words.clone()).collect(),
            })
        })
        .collect()
}

/// The heading that a person means: by its line, or by its words; below `within` first, the exact words first.
pub(super) fn meant<'a>(
    all: &'a [Heading],
    wanted: &str,
    within: Option<&Heading>,
) -> Option<&'a Heading> {
    let number = wanted.strip_prefix(':').unwrap_or(wanted);
    if let Ok(line) = number.parse::<usize>()
        && let Some(found) = all.iter().find(|one| one.line == line)
    {
        return Some(found);
    }
    let wanted = bare(wanted);
    let own = |one: &Heading| one.path.last().map(|own| bare(own)).unwrap_or_default();
    let exact = |one: &&Heading| own(one) == wanted;
    let part = |one: &&Heading| own(one).contains(&wanted);
    let inside = |one: &&Heading| {
        within.is_none_or(|within| one.line > within.line && one.last <= within.last)
    };
    all.iter()
        .find(|one| inside(one) && exact(one))
        .or_else(|| all.iter().find(|one| inside(one) && part(one)))
        .or_else(|| all.iter().find(exact))
        .or_else(|| all.iter().find(part))
}

/// A line in two: what we wrote, and the texts of the page.
fn parted(told: &str) -> (String, Vec<String>) {
    let (mut ours, mut texts) = (String::new(), Vec::new());
    let mut open: Option<String> = None;
    let mut chars = told.chars();
    while let Some(c) = chars.next() {
        match (&mut open, c) {
            (Some(text), '\\') => text.extend(chars.next()),
            (Some(_), '"') => texts.extend(open.take()),
            (Some(text), _) => text.push(c),
            (None, '"') => open = Some(String::new()),
            (None, _) => ours.push(c),
        }
    }
    texts.extend(open);
    (ours, texts)
}

/// The page's words of a line.
pub(super) fn words(told: &str) -> String {
    parted(told).1.join(" ")
}

/// Whether a line says this, white space and case aside.
pub(super) fn says(told: &str, wanted: &str) -> bool {
    bare(&words(told)).contains(&bare(wanted))
}

/// The line without where it lies; `None` where it is in sight.
fn out_of_sight(told: &str) -> Option<&str> {
    ["(above) ", "(below) ", "(left) ", "(right) "]
        .iter()
        .find_map(|side| told.strip_prefix(side))
}

/// Whether a line is in sight.
pub(super) fn in_sight(told: &str) -> bool {
    out_of_sight(told).is_none()
}

/// Whether a line is a heading.
pub(super) fn is_heading(told: &str) -> bool {
    out_of_sight(told).unwrap_or(told).starts_with("# ")
}

/// Whether something on a line can be acted on.
pub(super) fn has_mark(told: &str) -> bool {
    let (ours, _) = parted(told);
    ours.split('[').skip(1).any(|rest| {
        rest.split_once(']').is_some_and(|(number, _)| {
            !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline() -> Vec<Heading> {
        let told = [
            r##"0 # "Shop" (99 lines)"##,
            r##"3 # "Orders" (10 lines)"##,
            r##"5 (below) # "Open" (4 lines)"##,
            r##"20 (below) # [7] link "Old \"x\" (3 lines)" -> "/old" (30 lines)"##,
            r##"25 (below) # "Open" (4 lines)"##,
        ];
        headings(&told.map(str::to_owned))
    }

    #[test]
    fn an_outline_is_read_as_a_tree() {
        let all = outline();
        let paths: Vec<String> = all.iter().map(|one| one.path.join("/")).collect();
        let old = r#"Shop/Old "x" (3 lines) /old"#;
        assert_eq!(
            paths,
            [
                "Shop",
                "Shop/Orders",
                "Shop/Orders/Open",
                old,
                &format!("{old}/Open")
            ]
        );
        assert_eq!((all[3].line, all[3].last), (20, 50));
    }

    #[test]
    fn words_mean_what_is_nearest() {
        let all = outline();
        let line = |wanted, within: Option<usize>| {
            meant(&all, wanted, within.map(|at| &all[at])).map(|one| one.line)
        };
        assert_eq!(line("open", None), Some(5));
        assert_eq!(line("OPEN", Some(3)), Some(25));
        assert_eq!(line(":3", Some(3)), Some(3));
        assert_eq!(line("20", None), Some(20));
        assert_eq!(line("old", None), Some(20));
        assert_eq!(line("nothing", None), None);
    }

    #[test]
    fn a_place_is_found_again_or_not() {
        let all = outline();
        let place = Place::at(&all[4], &all, "s1");
        let moved: Vec<Heading> = all[3..].to_vec();
        let again = place.again(&moved, "s2").unwrap();
        assert_eq!((again.heading.line, again.snapshot.as_str()), (25, "s2"));
        assert_eq!(place.again(&all[..3], "s2"), None);
    }

    #[test]
    fn what_a_page_wrote_is_not_taken_for_ours() {
        assert!(has_mark(r#""Letter" [12] button "Open""#));
        assert!(!has_mark(r#""x\" [12] button""#));
        assert!(!has_mark("[frame not read]"));
        assert!(is_heading(r##"(below) # "A""##) && !is_heading(r##""# A""##));
        assert!(in_sight(r#""(below) x""#) && !in_sight(r#"(below) "x""#));
        assert!(says(r#""Letter" [1] button "Open it""#, "letter  OPEN"));
        assert!(!says(r#"[1] button "Open""#, "button"));
    }
}
