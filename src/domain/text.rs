//! Text a page wrote, and the escaped form of it that people are shown.

use std::fmt;

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};

/// Text that came from a page, a model or a client. It is data: never a name, a format or a statement of ours.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Untrusted(String);

impl Untrusted {
    /// Takes text over from outside.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The raw text, for comparing, hashing and matching.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// True where there is nothing but white space.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }

    /// The form for a person's eyes: see [`Shown`].
    #[must_use]
    pub fn shown(&self, most: usize) -> Shown {
        Shown::escape(&self.0, most)
    }
}

impl fmt::Debug for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Untrusted({:?})", self.0)
    }
}

/// Text that is safe to lay before a person: bidi controls, C0 and C1, zero-width and tag characters are visible
/// escapes (`\u{202E}`), white space is collapsed, combining marks are limited, and the length is capped (security C5).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Shown(String);

/// How many combining marks may follow one base character before the rest is escaped ("zalgo" text draws over its neighbours).
const COMBINING_IN_A_ROW: usize = 3;

impl Shown {
    /// A constant of our own.
    #[must_use]
    pub fn ours(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    /// Escapes foreign text and caps it at `most` characters; a cut is shown by `…` and the count of what is missing.
    #[must_use]
    pub fn escape(text: &str, most: usize) -> Self {
        let mut out = String::new();
        let (mut shown, mut combining, mut pending_space, mut left_out) =
            (0_usize, 0_usize, false, 0_usize);
        for c in text.chars() {
            if left_out > 0 {
                left_out += 1;
                continue;
            }
            if is_blank(c) {
                pending_space = !out.is_empty();
                continue;
            }
            let mark = is_combining(c);
            combining = if mark { combining + 1 } else { 0 };
            let piece = if is_unsafe(c) || combining > COMBINING_IN_A_ROW {
                format!("\\u{{{:04X}}}", u32::from(c))
            } else {
                c.to_string()
            };
            let width = piece.chars().count() + usize::from(pending_space);
            if shown + width > most {
                left_out = 1;
                continue;
            }
            if std::mem::take(&mut pending_space) {
                out.push(' ');
            }
            out.push_str(&piece);
            shown += width;
        }
        if left_out > 0 {
            out.push_str(&format!("… (+{left_out})"));
        }
        Self(out)
    }

    /// The escaped text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True where nothing is left to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_blank(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t'
            | '\n'
            | '\r'
            | '\u{b}'
            | '\u{c}'
            | '\u{85}'
            | '\u{a0}'
            | '\u{2028}'
            | '\u{2029}'
    ) || c.general_category() == GeneralCategory::SpaceSeparator
}

fn is_combining(c: char) -> bool {
    matches!(
        c.general_category(),
        GeneralCategory::NonspacingMark
            | GeneralCategory::EnclosingMark
            | GeneralCategory::SpacingMark
    )
}

/// Characters that would change how their neighbours look, or would not be seen at all.
fn is_unsafe(c: char) -> bool {
    matches!(
        c.general_category(),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::PrivateUse
            | GeneralCategory::Unassigned
            | GeneralCategory::Surrogate
    ) || matches!(c,
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' // fillers: letters by category, blank by sight
        | '\u{034f}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}' // variation selectors and tags
        | '\u{fff9}'..='\u{fffd}' | '\u{2800}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_reorders_or_hides_is_spelt_out() {
        let cases = [
            ("evil\u{202e}moc.knab", r"evil\u{202E}moc.knab"),
            ("a\u{200b}b\u{feff}", r"a\u{200B}b\u{FEFF}"),
            ("a\n\n\n  b\t", "a b"),
            ("\u{7}bell\u{9b}31m", r"\u{0007}bell\u{009B}31m"),
            ("tag\u{e0041}", r"tag\u{E0041}"),
            ("soft\u{ad}hyphen", r"soft\u{00AD}hyphen"),
            ("Crème brûlée 5,00 €", "Crème brûlée 5,00 €"),
            ("שלום", "שלום"),
        ];
        for (raw, want) in cases {
            assert_eq!(Shown::escape(raw, 200).as_str(), want);
        }
    }

    #[test]
    fn long_text_is_cut_and_says_by_how_much() {
        assert_eq!(Shown::escape("abcdef", 4).as_str(), "abcd… (+2)");
        assert_eq!(Shown::escape(&"\n".repeat(400), 10).as_str(), "");
        let zalgo = format!("a{}", "\u{301}".repeat(50));
        assert!(Shown::escape(&zalgo, 1000).as_str().contains(r"\u{0301}"));
    }

    proptest! {
        #[test]
        fn nothing_unsafe_survives(text in any::<String>(), most in 0_usize..200) {
            let shown = Shown::escape(&text, most);
            prop_assert!(shown.as_str().chars().all(|c| c == ' ' || (!is_unsafe(c) && !is_blank(c))));
            prop_assert!(shown.as_str().chars().count() <= most + 24);
        }
    }
}
