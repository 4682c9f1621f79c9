//! Turns a text as a page wrote it into the letters a person would read, so that words can be compared.
//!
//! A text gets several readings. The plain one undoes what does not change how a word looks or sounds: compatibility
//! forms (full-width, circled, styled letters), case, accents, characters without width. The lookalike one also reads
//! letters of other scripts, `0` and `1` as the Latin letters they pass for. A word counts as found if any reading has it.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};
use unicode_segmentation::UnicodeSegmentation as _;

/// By which letters a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Alphabet {
    /// Each letter is itself.
    Plain,
    /// A letter is the Latin one it looks like.
    Lookalike,
}

/// One way of reading a text: its letters in a row without gaps, and where its words begin and end. Numbers and
/// punctuation only separate words. Since the gaps are gone, "P a y  n o w", "paynow" and "pay now" are one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    letters: Vec<char>,
    /// `edges[i]` is true where a word begins or ends before letter `i`; one longer than `letters`.
    edges: Vec<bool>,
    words: usize,
    after_single: bool,
}

impl Reading {
    fn of(folded: &str) -> Self {
        let mut reading = Self {
            letters: Vec::with_capacity(folded.len()),
            edges: vec![true],
            words: 0,
            after_single: false,
        };
        for word in folded.unicode_words() {
            let mut pieces = word
                .split(|c: char| !is_letter(c))
                .filter(|piece| !piece.is_empty())
                .peekable();
            let possessive = word.ends_with("'s") && word.chars().count() > 3;
            while let Some(piece) = pieces.next() {
                // "Apple's end" must not read as "send".
                if possessive && pieces.peek().is_none() {
                    break;
                }
                reading.push(piece);
            }
        }
        reading
    }

    fn push(&mut self, word: &str) {
        // Letters set apart are one word to the eye.
        let single = word.chars().nth(1).is_none();
        if !(single && self.after_single) {
            self.words += 1;
        }
        self.after_single = single;
        for letter in word.chars() {
            self.letters.push(letter);
            self.edges.push(false);
        }
        if let Some(last) = self.edges.last_mut() {
            *last = true;
        }
    }

    pub(super) fn letters(&self) -> &[char] {
        &self.letters
    }

    /// True where a word begins or ends before this letter (or after the last one).
    pub(super) fn is_edge(&self, at: usize) -> bool {
        self.edges.get(at).copied().unwrap_or(false)
    }

    pub(super) fn words(&self) -> usize {
        self.words
    }
}

/// All readings of one text.
#[derive(Debug, Clone)]
pub(super) struct Readings(Vec<(Alphabet, Reading)>);

impl Readings {
    /// The readings of a label, a heading or any other running text.
    pub(super) fn of_text(text: &str) -> Self {
        let mut all = Self(Vec::with_capacity(2));
        all.add(text);
        if let Some(turned) = as_displayed(text) {
            all.add(&turned);
        }
        all
    }

    /// The readings of a name in code or of a part of an address: `cardNumber`, `card_number`, `delete-item`.
    pub(super) fn of_name(name: &str) -> Self {
        Self::of_text(&split_camel_case(name))
    }

    fn add(&mut self, text: &str) {
        for alphabet in [Alphabet::Plain, Alphabet::Lookalike] {
            let reading = read(text, alphabet);
            if !reading.letters.is_empty() {
                self.0.push((alphabet, reading));
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Alphabet, &Reading)> {
        self.0
            .iter()
            .map(|(alphabet, reading)| (*alphabet, reading))
    }
}

/// Reads a text by one alphabet.
pub(super) fn read(text: &str, alphabet: Alphabet) -> Reading {
    Reading::of(&fold(text, alphabet))
}

/// The same text in the letters words are compared by; what separates words stays.
fn fold(text: &str, alphabet: Alphabet) -> String {
    let mut out = String::with_capacity(text.len());
    let mut base_folds = false;
    let mut letters = text.nfkd().filter(|c| !is_ignored(*c)).peekable();
    let mut before = None;
    while let Some(c) = letters.next() {
        if is_mark(c) {
            // A mark over a Latin or Greek letter is an accent; elsewhere (й, vowel signs) it is part of the letter.
            if !base_folds {
                out.push(c);
            }
            continue;
        }
        let next = letters.peek().copied();
        let touches_letter = |c: Option<char>| c.is_some_and(char::is_alphabetic);
        let start = out.len();
        match alphabet {
            Alphabet::Plain => fold_plain(c, &mut out),
            Alphabet::Lookalike if matches!(c, '0' | '1') => {
                let inside = touches_letter(before) || touches_letter(next);
                out.push(match (inside, c) {
                    (true, '0') => 'o',
                    (true, _) => 'l',
                    (false, other) => other,
                });
            }
            Alphabet::Lookalike => fold_lookalike(c, &mut out),
        }
        base_folds = out
            .get(start..)
            .and_then(|new| new.chars().last())
            .is_some_and(folds_accents);
        before = Some(c);
    }
    if alphabet == Alphabet::Lookalike {
        // At body sizes "rn" passes for "m". Patterns are folded by this same function.
        out = out.replace("rn", "m");
    }
    out
}

fn fold_plain(c: char, out: &mut String) {
    match c {
        c if c.is_ascii_graphic() => out.push(c.to_ascii_lowercase()),
        'ß' | 'ẞ' => out.push_str("ss"),
        'æ' | 'Æ' => out.push_str("ae"),
        'œ' | 'Œ' => out.push_str("oe"),
        'þ' | 'Þ' => out.push_str("th"),
        'ø' | 'Ø' => out.push('o'),
        'đ' | 'Đ' | 'ð' | 'Ð' => out.push('d'),
        'ł' | 'Ł' => out.push('l'),
        'ħ' | 'Ħ' => out.push('h'),
        'ŧ' | 'Ŧ' => out.push('t'),
        'ı' => out.push('i'),
        '\u{2018}' | '\u{2019}' | '\u{2b9}' | '\u{2bb}' | '\u{2bc}' => out.push('\''),
        // Letters drawn as symbols that NFKD leaves alone: flags' letters, negative circles and squares.
        '\u{1f1e6}'..='\u{1f1ff}' => out.push(nth_letter(c, 0x1f1e6)),
        '\u{1f150}'..='\u{1f169}' => out.push(nth_letter(c, 0x1f150)),
        '\u{1f170}'..='\u{1f189}' => out.push(nth_letter(c, 0x1f170)),
        c if c.is_control() || c.general_category() == GeneralCategory::PrivateUse => out.push(' '),
        c => out.extend(c.to_lowercase()),
    }
}

fn nth_letter(c: char, first: u32) -> char {
    let n = u32::from(c).saturating_sub(first) % 26;
    char::from_u32(u32::from('a') + n).unwrap_or(' ')
}

fn fold_lookalike(c: char, out: &mut String) {
    let latin = if c.is_ascii() {
        c.to_ascii_lowercase()
    } else if let Some(own) = lookalike(c) {
        own
    } else {
        return fold_plain(c, out);
    };
    // I, l and 1 are one shape in many faces.
    out.push(if latin == 'i' { 'l' } else { latin });
}

/// The Latin letter a letter of another script passes for. Small capitals and a few common pairs first, since the
/// Unicode table answers those with other non-Latin letters; then that table (UTS 39).
fn lookalike(c: char) -> Option<char> {
    Some(match c {
        'в' | 'ʙ' | 'β' | 'Β' | 'ᏼ' => 'b',
        'ᴄ' | 'ϲ' | 'с' | 'С' => 'c',
        'ᴅ' | 'ԁ' => 'd',
        'ᴇ' | 'е' | 'ё' | 'Ε' | 'ε' | 'є' | 'ҽ' => 'e',
        'ꜰ' => 'f',
        'ɡ' | 'ɢ' | 'ց' => 'g',
        'н' | 'Н' | 'ʜ' | 'Η' | 'һ' => 'h',
        'ɪ' | 'і' | 'І' | 'ι' | 'Ι' | 'ı' | 'ӏ' | 'Ӏ' => 'i',
        'ᴊ' | 'ј' => 'j',
        'к' | 'К' | 'ᴋ' | 'κ' | 'Κ' => 'k',
        'ʟ' => 'l',
        'м' | 'М' | 'ᴍ' | 'Μ' => 'm',
        'ɴ' | 'Ν' | 'η' | 'п' | 'ո' => 'n',
        'о' | 'О' | 'ο' | 'Ο' | 'ᴏ' | 'օ' | 'σ' => 'o',
        'р' | 'Р' | 'ρ' | 'Ρ' | 'ᴘ' => 'p',
        'г' | 'ʀ' => 'r',
        'ѕ' | 'ꜱ' => 's',
        'т' | 'Т' | 'ᴛ' | 'τ' | 'Τ' => 't',
        'υ' | 'ᴜ' | 'ս' | 'μ' | 'µ' => 'u',
        'ν' | 'ᴠ' | 'ѵ' => 'v',
        'ω' | 'ᴡ' | 'ԝ' | 'ѡ' | 'ш' => 'w',
        'х' | 'Х' | 'χ' | 'Χ' => 'x',
        'у' | 'У' | 'ү' | 'γ' | 'Υ' | 'ʏ' => 'y',
        'ᴢ' | 'Ζ' => 'z',
        'а' | 'А' | 'α' | 'Α' | 'ᴀ' | 'ɑ' => 'a',
        c => {
            let lower = c.to_lowercase().next().unwrap_or(c);
            latin_skeleton(lower).or_else(|| latin_skeleton(c))?
        }
    })
}

fn latin_skeleton(c: char) -> Option<char> {
    let text = c.to_string();
    let mut skeleton = unicode_security::skeleton(&text).filter(|c| !is_mark(*c));
    match (skeleton.next(), skeleton.next()) {
        (Some(one), None) if one.is_ascii_alphabetic() => Some(one.to_ascii_lowercase()),
        _ => None,
    }
}

/// Text that a right-to-left override turns round, in the order the eye meets it.
fn as_displayed(text: &str) -> Option<String> {
    const OVERRIDE: char = '\u{202e}';
    const ENDS: [char; 3] = ['\u{202c}', '\u{2029}', '\n'];
    text.contains(OVERRIDE).then(|| {
        let mut pieces = text.split(OVERRIDE);
        let mut out = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (turned, rest) = piece.split_at(piece.find(ENDS).unwrap_or(piece.len()));
            out.extend(turned.chars().rev());
            out.push_str(rest);
        }
        out
    })
}

/// Puts a space where a name in code begins a new word.
pub(super) fn split_camel_case(name: &str) -> Cow<'_, str> {
    if !name.chars().any(char::is_uppercase) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len() + 8);
    let mut before: Option<char> = None;
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let after_lower = before.is_some_and(char::is_lowercase);
        let ends_acronym = before.is_some_and(char::is_uppercase)
            && chars.peek().copied().is_some_and(char::is_lowercase);
        if c.is_uppercase() && (after_lower || ends_acronym) {
            out.push(' ');
        }
        out.push(c);
        before = Some(c);
    }
    Cow::Owned(out)
}

/// Letters whose marks are accents.
fn folds_accents(c: char) -> bool {
    matches!(c, 'a'..='z' | '\u{c0}'..='\u{3ff}' | '\u{1d00}'..='\u{1dbf}' | '\u{1e00}'..='\u{1fff}')
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() || is_mark(c)
}

fn is_mark(c: char) -> bool {
    !c.is_ascii()
        && matches!(
            c.general_category(),
            GeneralCategory::NonspacingMark
                | GeneralCategory::EnclosingMark
                | GeneralCategory::SpacingMark
        )
}

/// Characters that take no room: they never part a word.
pub(super) fn is_ignored(c: char) -> bool {
    !c.is_ascii()
        && (c.general_category() == GeneralCategory::Format
            || matches!(c,
                '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
                | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2065}'
                | '\u{fe00}'..='\u{fe0f}' | '\u{fff0}'..='\u{fff8}' | '\u{e0000}'..='\u{e0fff}'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(text: &str, alphabet: Alphabet) -> String {
        read(text, alphabet).letters().iter().collect()
    }

    #[test]
    fn what_does_not_change_a_word_is_undone() {
        for (text, want) in [
            ("Pay now", "paynow"),
            ("ＰＡＹ　ＮＯＷ", "paynow"),
            ("ⓟⓐⓨ 𝗻𝗼𝘄", "paynow"),
            ("🅿🅰🆈", "pay"),
            ("pa\u{200b}y\u{ad} n\u{fe0f}ow", "paynow"),
            ("P a y  n o w", "paynow"),
            ("p\u{301}\u{302}\u{303}a\u{30a}y", "pay"),
            ("Löschen", "loschen"),
            ("Straße", "strasse"),
            ("Créer l’accès", "creerlacces"),
            ("año", "ano"),
            ("йод", "и\u{306}од"),
            ("Pay €12.50, now!", "paynow"),
        ] {
            assert_eq!(row(text, Alphabet::Plain), want, "{text}");
        }
    }

    #[test]
    fn other_scripts_read_as_the_letters_they_pass_for() {
        let want = row("pay now delete", Alphabet::Lookalike);
        for text in [
            "рау now delete",
            "ΡΑΥ ΝΟW DΕLΕΤΕ",
            "ᴘᴀʏ ɴᴏᴡ ᴅᴇʟᴇᴛᴇ",
            "pay n0w de1ete",
            "pay now deIete",
            "Рау ոօԝ dеlеtе",
        ] {
            assert_eq!(row(text, Alphabet::Lookalike), want, "{text}");
        }
    }

    #[test]
    fn an_override_is_read_as_displayed() {
        let readings = Readings::of_text("\u{202e}won yap\u{202c}!");
        assert!(
            readings
                .iter()
                .any(|(_, r)| r.letters().iter().collect::<String>() == "paynow")
        );
    }

    #[test]
    fn words_have_edges() {
        let reading = read("Apple's end", Alphabet::Plain);
        assert_eq!(reading.letters().iter().collect::<String>(), "appleend");
        assert!(reading.is_edge(0) && reading.is_edge(5) && reading.is_edge(8));
        assert!(!reading.is_edge(1) && !reading.is_edge(9));
        assert_eq!(reading.words(), 2);
        assert_eq!(read("P a y now", Alphabet::Plain).words(), 2);
        assert_eq!(
            split_camel_case("confirmDeleteURLNow"),
            "confirm Delete URL Now"
        );
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in any::<String>()) {
            for (_, reading) in Readings::of_text(&text).iter() {
                prop_assert_eq!(reading.edges.len(), reading.letters.len() + 1);
                prop_assert!(reading.is_edge(reading.letters().len()));
            }
            let _ = Readings::of_name(&text);
        }

        #[test]
        fn case_and_width_make_no_difference(text in "[a-z ]{0,30}") {
            let wide: String = text.chars().map(|c| match c {
                'a'..='z' => char::from_u32(u32::from(c) - 0x61 + 0xff41).unwrap(),
                c => c,
            }).collect();
            prop_assert_eq!(row(&text, Alphabet::Plain), row(&text.to_uppercase(), Alphabet::Plain));
            prop_assert_eq!(row(&text, Alphabet::Plain), row(&wide, Alphabet::Plain));
        }
    }
}
