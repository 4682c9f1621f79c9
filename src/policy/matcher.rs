//! The one matcher for all word patterns: many patterns compiled into one graph of letters.
//!
//! Gaps between words are not compared, so that letters split by spaces and words run together are found as well; a find
//! begins and ends where words do. The cost of a text is its length times the few paths that are open at a time.

use super::normalise::{Alphabet, Reading, Readings};
use super::pattern::{Bounds, Item, Pattern};

/// Many patterns, compiled once; each find names the number its pattern was added with.
#[derive(Debug, Default)]
pub(super) struct Matcher {
    /// The caller's number and the bounds of each branch.
    branches: Vec<(usize, Bounds)>,
    /// Per alphabet, branches that begin where a word does, and those that may begin anywhere.
    graphs: [Graph; 4],
}

/// A graph whose steps are letters. Alternatives meet again in one node, so its size is that of the patterns as written.
#[derive(Debug)]
struct Graph {
    nodes: Vec<Node>,
}

#[derive(Debug, Default)]
struct Node {
    /// By letter.
    steps: Vec<(char, usize)>,
    /// Reached without a letter.
    free: Vec<usize>,
    /// Branches that are complete here.
    accepts: Vec<usize>,
}

const ROOT: usize = 0;

impl Default for Graph {
    fn default() -> Self {
        Self {
            nodes: vec![Node::default()],
        }
    }
}

impl Graph {
    fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    fn new_node(&mut self) -> usize {
        self.nodes.push(Node::default());
        self.nodes.len() - 1
    }

    /// Adds a sequence that begins at a node; answers the node where it ends.
    fn add_sequence(&mut self, mut from: usize, items: &[Item], alphabet: Alphabet) -> usize {
        for item in items {
            let end = self.new_node();
            match item {
                Item::Word(spellings) => {
                    for spelling in spellings {
                        let last = self.add_letters(from, spelling.letters(alphabet));
                        self.add_free(last, end);
                    }
                }
                Item::OneOf(sequences) => {
                    for sequence in sequences {
                        let last = self.add_sequence(from, sequence, alphabet);
                        self.add_free(last, end);
                    }
                }
            }
            from = end;
        }
        from
    }

    /// Words that begin at one node share their first letters.
    fn add_letters(&mut self, from: usize, letters: &[char]) -> usize {
        let mut at = from;
        for letter in letters {
            let known = self.nodes.get(at).and_then(|node| node.step(*letter));
            at = match known {
                Some(next) => next,
                None => {
                    let next = self.new_node();
                    if let Some(node) = self.nodes.get_mut(at) {
                        node.steps.push((*letter, next));
                    }
                    next
                }
            };
        }
        at
    }

    fn add_free(&mut self, from: usize, to: usize) {
        if let Some(node) = self.nodes.get_mut(from)
            && from != to
            && !node.free.contains(&to)
        {
            node.free.push(to);
        }
    }

    /// Adds a node, and what can be reached from it without a letter, to a set.
    fn reach(&self, node: usize, set: &mut Vec<usize>) {
        if set.contains(&node) {
            return;
        }
        set.push(node);
        for free in self
            .nodes
            .get(node)
            .map(|node| &node.free)
            .into_iter()
            .flatten()
        {
            self.reach(*free, set);
        }
    }
}

impl Node {
    fn step(&self, letter: char) -> Option<usize> {
        let found = self.steps.iter().find(|(by, _)| *by == letter);
        found.map(|(_, to)| *to)
    }
}

const fn which(alphabet: Alphabet, open_beginning: bool) -> usize {
    match (alphabet, open_beginning) {
        (Alphabet::Plain, false) => 0,
        (Alphabet::Plain, true) => 1,
        (Alphabet::Lookalike, false) => 2,
        (Alphabet::Lookalike, true) => 3,
    }
}

impl Matcher {
    /// Adds a pattern under a number of the caller's.
    pub(super) fn add(&mut self, number: usize, pattern: &Pattern) {
        for branch in &pattern.branches {
            let index = self.branches.len();
            self.branches.push((number, branch.bounds));
            for alphabet in [Alphabet::Plain, Alphabet::Lookalike] {
                let Some(graph) = self
                    .graphs
                    .get_mut(which(alphabet, branch.bounds.open_beginning))
                else {
                    continue;
                };
                let end = graph.add_sequence(ROOT, &branch.items, alphabet);
                if let Some(node) = graph.nodes.get_mut(end) {
                    node.accepts.push(index);
                }
            }
        }
    }

    /// Calls `found` with the number of each pattern that is in any of the readings, and how many words that reading has.
    /// A number may come more than once.
    pub(super) fn find(&self, readings: &Readings, mut found: impl FnMut(usize, usize)) {
        for (alphabet, reading) in readings.iter() {
            for open_beginning in [false, true] {
                let graph = self.graphs.get(which(alphabet, open_beginning));
                if let Some(graph) = graph.filter(|graph| !graph.is_empty()) {
                    self.walk(graph, reading, open_beginning, &mut found);
                }
            }
        }
    }

    fn walk(
        &self,
        graph: &Graph,
        reading: &Reading,
        open_beginning: bool,
        found: &mut impl FnMut(usize, usize),
    ) {
        let letters = reading.letters();
        let mut start_set = Vec::new();
        graph.reach(ROOT, &mut start_set);
        let (mut here, mut next) = (Vec::new(), Vec::new());
        for start in 0..letters.len() {
            if !open_beginning && !reading.is_edge(start) {
                continue;
            }
            here.clone_from(&start_set);
            for (at, letter) in letters.iter().enumerate().skip(start) {
                next.clear();
                for node in here.iter().filter_map(|node| graph.nodes.get(*node)) {
                    if let Some(to) = node.step(*letter) {
                        graph.reach(to, &mut next);
                    }
                }
                std::mem::swap(&mut here, &mut next);
                if here.is_empty() {
                    break;
                }
                self.accept(graph, reading, &here, start, at + 1, found);
            }
        }
    }

    /// Tells of the branches that are complete between two places of a reading.
    fn accept(
        &self,
        graph: &Graph,
        reading: &Reading,
        nodes: &[usize],
        start: usize,
        end: usize,
        found: &mut impl FnMut(usize, usize),
    ) {
        let complete = nodes
            .iter()
            .filter_map(|node| graph.nodes.get(*node))
            .flat_map(|node| &node.accepts)
            .filter_map(|index| self.branches.get(*index));
        for (number, bounds) in complete {
            let begins = !bounds.at_beginning || start == 0;
            let ends = (bounds.open_end || reading.is_edge(end))
                && (!bounds.at_end || end == reading.letters().len());
            if begins && ends {
                found(*number, reading.words());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pattern::PatternError;
    use super::*;
    use proptest::prelude::*;

    fn finds(pattern: &str, text: &str) -> bool {
        let mut matcher = Matcher::default();
        matcher.add(7, &Pattern::parse(pattern).unwrap());
        let mut hit = false;
        matcher.find(&Readings::of_text(text), |number, _| {
            assert_eq!(number, 7);
            hit = true;
        });
        hit
    }

    #[test]
    fn what_a_pattern_finds() {
        for (pattern, text, want) in [
            ("pay now", "Pay now!", true),
            ("pay now", "P a y  n o w", true),
            ("pay now", "PayNow", true),
            ("pay now", "Pay €5.00 now", true),
            ("pay now", "repay now", false),
            ("pay now", "Pay nowhere", false),
            ("pay", "stop a year", false),
            ("(place|submit) (your|the|) order", "Submit order", true),
            ("(place|submit) (your|the|) order", "Place your order", true),
            ("(place|submit) (your|the|) order", "Place an order", false),
            ("delete my? account", "Delete account", true),
            ("^share$", "Share", true),
            ("^share$", "Share price", false),
            ("lösch*", "Löschung", true),
            ("lösch*", "Loeschen", true),
            ("lösch*", "Auslöschen", false),
            ("*überweisung", "Auslandsüberweisung", true),
            ("*überweisung", "Überweisungen", false),
            ("send", "Apple's end", false),
            ("(^share$|share with|*teilung)", "Share", true),
            ("(^share$|share with|*teilung)", "Share price", false),
            ("(^share$|share with|*teilung)", "Share with Al", true),
            ("(^share$|share with|*teilung)", "Mitteilung", true),
            ("(buy|order) (now|here)", "Order here", true),
            (
                "(make|take) (a (new|) |the )(photo|note (now|))",
                "Take a note",
                true,
            ),
            (
                "(make|take) (a (new|) |the )(photo|note (now|))",
                "Make the photo",
                true,
            ),
            (
                "(make|take) (a (new|) |the )(photo|note (now|))",
                "Make photo",
                false,
            ),
        ] {
            assert_eq!(finds(pattern, text), want, "{pattern} in {text}");
        }
    }

    #[test]
    fn what_is_no_pattern() {
        use PatternError as E;
        for (text, want) in [
            ("", E::Empty),
            ("pay?", E::Empty),
            ("(pay|)", E::Empty),
            ("12", E::NoLetters),
            ("(pay", E::Unbalanced),
            ("pay)", E::Unbalanced),
            ("pay|buy", E::Unbalanced),
            ("pa*y", E::Misplaced('*')),
            ("pay*", E::TooOpen),
            ("((((((a))))))", E::TooDeep),
        ] {
            assert_eq!(Pattern::parse(text).map(|_| ()), Err(want), "{text}");
        }
        assert_eq!(
            Pattern::parse(&"a".repeat(2_001)).map(|_| ()),
            Err(E::TooLong)
        );
    }

    fn disguise(c: char, how: u8) -> String {
        const SAME: &[(char, &str)] = &[
            ('a', "а"),
            ('c', "с"),
            ('e', "е"),
            ('i', "і"),
            ('o', "ο"),
            ('p', "р"),
            ('s', "ѕ"),
            ('x', "х"),
            ('y', "у"),
            ('n', "ո"),
            ('d', "ԁ"),
            ('h', "һ"),
            ('j', "ј"),
            ('w', "ԝ"),
            ('l', "ӏ"),
            ('g', "ɡ"),
            ('v', "ν"),
        ];
        match how {
            0 => c.to_uppercase().collect(),
            1 => format!("{c}\u{200b}"),
            2 => format!("\u{2060}{c}\u{ad}"),
            3 if c.is_ascii_lowercase() => char::from_u32(u32::from(c) - 0x61 + 0xff41)
                .unwrap()
                .to_string(),
            4 => SAME
                .iter()
                .find(|(from, _)| *from == c)
                .map_or_else(|| c.to_string(), |(_, to)| (*to).to_owned()),
            5 => format!("{c} "),
            6 => format!("{c}\u{301}"),
            _ => c.to_string(),
        }
    }

    proptest! {
        #[test]
        fn no_disguise_hides_a_word(how in proptest::collection::vec(0_u8..8, 40)) {
            for pattern in ["pay now", "delete account", "transfer ownership", "confirm purchase", "subscribe", "invite member"] {
                let text: String = pattern.chars().zip(how.iter()).map(|(c, how)| disguise(c, *how)).collect();
                prop_assert!(finds(pattern, &text), "{pattern} hidden as {text:?}");
            }
        }

        #[test]
        fn any_text_is_a_pattern_or_an_error(pattern in any::<String>(), text in any::<String>()) {
            if let Ok(parsed) = Pattern::parse(&pattern) {
                let mut matcher = Matcher::default();
                matcher.add(0, &parsed);
                matcher.find(&Readings::of_text(&text), |_, _| {});
            }
            let _ = Pattern::parse(&format!("({pattern}|(a|{pattern}))?"));
        }

        #[test]
        fn a_plain_pattern_finds_itself(text in "[a-zäöüéñ]{1,12}( [a-zäöüéñ]{1,12}){0,4}") {
            prop_assert!(finds(&text, &text));
        }
    }
}
