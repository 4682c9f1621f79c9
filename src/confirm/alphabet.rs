//! Whether a host's coded labels stand for letters of one alphabet or mix several (security C6).

use unicode_script::{Script, UnicodeScript as _};

use crate::domain::site::Host;

/// What the labels of a host are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Alphabets {
    /// Plain ASCII, or an address.
    Ascii,
    /// Coded labels, each in one alphabet.
    One,
    /// A coded label that mixes alphabets.
    Mixed,
    /// A coded label that stands for nothing.
    Unreadable,
}

/// Alphabets that belong together in one language's writing (the "highly restrictive" sets of Unicode's UTS 39).
const TOGETHER: [&[Script]; 3] = [
    &[
        Script::Latin,
        Script::Han,
        Script::Hiragana,
        Script::Katakana,
    ],
    &[Script::Latin, Script::Han, Script::Bopomofo],
    &[Script::Latin, Script::Han, Script::Hangul],
];

/// The worst of a host's labels.
pub(super) fn alphabets(host: &Host) -> Alphabets {
    match host {
        Host::V4(_) | Host::V6(_) => Alphabets::Ascii,
        Host::Name(name) => name
            .split('.')
            .map(of_label)
            .max()
            .unwrap_or(Alphabets::Ascii),
    }
}

fn of_label(label: &str) -> Alphabets {
    if !label.starts_with("xn--") {
        return Alphabets::Ascii;
    }
    let (decoded, outcome) = idna::domain_to_unicode(label);
    if outcome.is_err() || decoded.is_ascii() {
        return Alphabets::Unreadable;
    }
    let alone = decoded
        .chars()
        .flat_map(|c| c.script_extension().iter())
        .any(|script| written_in(&decoded, &[script]));
    if alone
        || TOGETHER
            .iter()
            .any(|together| written_in(&decoded, together))
    {
        Alphabets::One
    } else {
        Alphabets::Mixed
    }
}

fn written_in(label: &str, scripts: &[Script]) -> bool {
    label.chars().all(|c| {
        let own = c.script_extension();
        own.is_common()
            || own.is_inherited()
            || scripts.iter().any(|script| own.contains_script(*script))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::site::Site;

    #[test]
    fn a_name_that_mixes_alphabets_is_told_from_one_that_does_not() {
        for (name, want) in [
            ("bank.example", Alphabets::Ascii),
            ("b\u{fc}cher.example", Alphabets::One),
            (
                "\u{43f}\u{440}\u{438}\u{43c}\u{435}\u{440}.example",
                Alphabets::One,
            ),
            ("\u{65e5}\u{672c}\u{306e}\u{30c6}a.example", Alphabets::One),
            ("\u{d55c}\u{ad6d}bank.example", Alphabets::One),
            ("p\u{430}ypal.example", Alphabets::Mixed),
            ("\u{3b1}lpha.example", Alphabets::Mixed),
            ("\u{5d0}\u{430}.example", Alphabets::Mixed),
        ] {
            // The bidi rule refuses some mixes at the door, before anybody is asked.
            if let Ok(site) = Site::parse(&format!("https://{name}")) {
                assert_eq!(alphabets(site.host()), want, "{name}");
            } else {
                assert_eq!(want, Alphabets::Mixed);
            }
        }
        let bad = Host::Name("xn--a-9999999.example".to_owned());
        assert_eq!(alphabets(&bad), Alphabets::Unreadable);
    }
}
