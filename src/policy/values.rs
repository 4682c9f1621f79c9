//! Finds card numbers and IBANs in any text, as spans, so that they are masked wherever they stand (security B3).

use std::ops::Range;

use super::amount::digit;
use super::normalise::is_ignored;
use super::sensitive::Sensitive;

/// Card numbers have this many digits (ISO/IEC 7812).
const CARD_DIGITS: Range<usize> = 13..20;
/// Between two characters of a number may stand this many separators.
const WIDEST_GAP: usize = 3;

/// The spans of card numbers and IBANs in a text, in order and apart from each other. Each lies on character boundaries.
#[must_use]
pub fn find_values(text: &str) -> Vec<Range<usize>> {
    let signs = signs(text);
    let mut spans = cards(&signs);
    spans.extend(ibans(&signs));
    merged(spans)
}

/// A letter or digit of the text: its bytes, its plain form, and whether it follows the one before without a wide gap.
struct Sign {
    at: Range<usize>,
    /// An ASCII digit or capital letter.
    plain: char,
    /// How many separators stand before it, or `None` where something other than separators does.
    gap: Option<usize>,
}

impl Sign {
    fn digit(&self) -> Option<u32> {
        self.plain.to_digit(10)
    }

    fn joins(&self) -> bool {
        self.gap.is_some_and(|gap| gap <= WIDEST_GAP)
    }
}

fn signs(text: &str) -> Vec<Sign> {
    let mut signs = Vec::new();
    let mut gap = None;
    for (start, c) in text.char_indices() {
        let plain = digit(c)
            .and_then(|value| char::from_digit(value, 10))
            .or_else(|| plain_letter(c));
        match plain {
            Some(plain) => {
                signs.push(Sign {
                    at: start..start + c.len_utf8(),
                    plain,
                    gap,
                });
                gap = Some(0);
            }
            None if is_ignored(c) => {}
            None if is_separator(c) => gap = gap.map(|width| width + 1),
            None => gap = None,
        }
    }
    signs
}

fn plain_letter(c: char) -> Option<char> {
    match c {
        'a'..='z' | 'A'..='Z' => Some(c.to_ascii_uppercase()),
        '\u{ff21}'..='\u{ff3a}' => char::from_u32(u32::from(c) - 0xff21 + 0x41),
        '\u{ff41}'..='\u{ff5a}' => char::from_u32(u32::from(c) - 0xff41 + 0x41),
        _ => None,
    }
}

pub(super) fn is_separator(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '-' | '.' | '_' | '/' | '·' | '•' | '\u{2010}'..='\u{2015}' | '\u{2212}'
        )
}

/// A run of digits with separators between groups. A card number begins and ends where groups do; "4111 1111 1111 1111 123" is a
/// card number with its security code behind it.
fn cards(signs: &[Sign]) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    for start in 0..signs.len() {
        let Some(run) = signs.get(start..) else { break };
        if !begins_group(signs, start) {
            continue;
        }
        let digits: Vec<u32> = run
            .iter()
            .enumerate()
            .map_while(|(at, sign)| sign.digit().filter(|_| at == 0 || sign.joins()))
            .take(CARD_DIGITS.end)
            .collect();
        // The longest that fits; shorter ones lie inside it.
        let longest = CARD_DIGITS.rev().find(|length| {
            digits
                .get(..*length)
                .is_some_and(|number| ends_group(signs, start + length) && is_card(number))
        });
        if let Some(length) = longest {
            spans.extend(span(run, length));
        }
    }
    spans
}

fn begins_group(signs: &[Sign], at: usize) -> bool {
    let here = signs.get(at);
    let before = at.checked_sub(1).and_then(|at| signs.get(at));
    here.is_some_and(|sign| {
        sign.digit().is_some()
            && (sign.gap != Some(0) || before.is_none_or(|b| b.digit().is_none()))
    })
}

fn ends_group(signs: &[Sign], end: usize) -> bool {
    signs
        .get(end)
        .is_none_or(|next| next.gap != Some(0) || next.digit().is_none())
}

fn is_card(digits: &[u32]) -> bool {
    let varied = digits.iter().any(|d| Some(d) != digits.first());
    varied && luhn(digits)
}

/// The check of ISO/IEC 7812: every second digit from the right doubled, digits of the sum of all a multiple of ten.
fn luhn(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| match (place % 2, digit * 2) {
            (0, _) => *digit,
            (_, doubled) if doubled > 9 => doubled - 9,
            (_, doubled) => doubled,
        })
        .sum();
    sum.is_multiple_of(10)
}

fn ibans(signs: &[Sign]) -> Vec<Range<usize>> {
    let Ok(table) = Sensitive::shipped() else {
        // Nothing starts with a broken table; see `Sensitive::shipped`.
        return Vec::new();
    };
    let mut spans = Vec::new();
    for start in 0..signs.len() {
        let Some(run) = signs.get(start..) else { break };
        let [a, b, c, d, ..] = run else { break };
        let shaped = a.digit().is_none()
            && b.digit().is_none()
            && c.digit().is_some()
            && d.digit().is_some()
            && [b, c, d].iter().all(|sign| sign.joins());
        if !shaped {
            continue;
        }
        let country = String::from_iter([a.plain, b.plain]);
        let Some(length) = table.iban_length(&country) else {
            continue;
        };
        let whole = run
            .get(..length)
            .filter(|signs| signs.iter().skip(1).all(Sign::joins));
        if whole.is_some_and(is_iban) {
            spans.extend(span(run, length));
        }
    }
    spans
}

/// The check of ISO 13616: country and check digits moved to the end, letters as 10 to 35, the whole modulo 97 is one.
fn is_iban(signs: &[Sign]) -> bool {
    let (head, rest) = signs.split_at(signs.len().min(4));
    rest.iter()
        .chain(head)
        .filter_map(|sign| sign.plain.to_digit(36))
        .fold(0, |sum, value| {
            let shift = if value > 9 { 100 } else { 10 };
            (sum * shift + value) % 97
        })
        == 1
}

fn span(run: &[Sign], length: usize) -> Option<Range<usize>> {
    let first = run.first()?;
    let last = run.get(length.checked_sub(1)?)?;
    Some(first.at.start..last.at.end)
}

fn merged(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.sort_by_key(|span| (span.start, span.end));
    let mut out: Vec<Range<usize>> = Vec::with_capacity(spans.len());
    for span in spans {
        match out.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            Some(_) | None => out.push(span),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<&str> {
        find_values(text)
            .into_iter()
            .map(|span| &text[span])
            .collect()
    }

    #[test]
    fn values_in_running_text() {
        for (text, want) in [
            ("4111 1111 1111 1111", vec!["4111 1111 1111 1111"]),
            ("card: 4111-1111-1111-1111!", vec!["4111-1111-1111-1111"]),
            ("x4111111111111111y", vec!["4111111111111111"]),
            ("4111 1111 1111 1111 123", vec!["4111 1111 1111 1111"]),
            (
                "378282246310005 and 5555555555554444",
                vec!["378282246310005", "5555555555554444"],
            ),
            (
                "４１１１ １１１１ １１１１ １１１１",
                vec!["４１１１ １１１１ １１１１ １１１１"],
            ),
            (
                "4111\u{200b}1111\u{200b}11111111",
                vec!["4111\u{200b}1111\u{200b}11111111"],
            ),
            (
                "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
                vec!["4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"],
            ),
            ("4111 1111 1111 1112", vec![]),
            ("0000 0000 0000 0000", vec![]),
            (
                "DE89 3704 0044 0532 0130 00",
                vec!["DE89 3704 0044 0532 0130 00"],
            ),
            (
                "IBAN:gb82west12345698765432.",
                vec!["gb82west12345698765432"],
            ),
            ("NO9386011117947", vec!["NO9386011117947"]),
            ("DE89 3704 0044 0532 0130 02", vec![]),
            ("DE89 3704 0044", vec![]),
            ("order 12345", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(found(text), want, "{text}");
        }
    }

    fn with_luhn(mut digits: Vec<u32>) -> Vec<u32> {
        digits.push(0);
        let check = (0..10).find(|check| {
            if let Some(last) = digits.last_mut() {
                *last = *check;
            }
            luhn(&digits)
        });
        *digits.last_mut().unwrap() = check.unwrap();
        digits
    }

    fn grouped(signs: &str, size: usize, separator: &str) -> String {
        let all: Vec<char> = signs.chars().collect();
        all.chunks(size)
            .map(|group| group.iter().collect::<String>())
            .collect::<Vec<_>>()
            .join(separator)
    }

    fn iban(country: &str, length: usize, seed: &[u8]) -> String {
        let body: String = seed
            .iter()
            .cycle()
            .take(length - 4)
            .map(|b| {
                char::from_digit(u32::from(*b) % 36, 36)
                    .unwrap()
                    .to_ascii_uppercase()
            })
            .collect();
        (2..99)
            .map(|check| format!("{country}{check:02}{body}"))
            .find(|candidate| is_iban(&signs(candidate)))
            .unwrap()
    }

    const SEPARATORS: [&str; 5] = ["", " ", "-", "\u{a0}", " - "];

    proptest! {
        #[test]
        fn every_card_number_is_found(
            digits in proptest::collection::vec(0_u32..10, 12..19),
            size in 1_usize..7, separator in proptest::sample::select(SEPARATORS.to_vec()),
        ) {
            prop_assume!(digits.iter().any(|d| Some(d) != digits.first()));
            let number: String = with_luhn(digits).iter().map(|d| char::from_digit(*d, 10).unwrap()).collect();
            let text = grouped(&number, size, separator);
            let whole = format!("card: {text}, thanks");
            prop_assert_eq!(found(&whole), vec![text.as_str()]);
        }

        #[test]
        fn one_changed_digit_is_no_card(digits in proptest::collection::vec(0_u32..10, 15), at in 0_usize..16, by in 1_u32..10) {
            let mut number = with_luhn(digits);
            number[at] = (number[at] + by) % 10;
            prop_assert!(!luhn(&number));
        }

        #[test]
        fn every_iban_is_found(which in any::<proptest::sample::Index>(), seed in proptest::collection::vec(any::<u8>(), 1..30), separator in proptest::sample::select(SEPARATORS.to_vec())) {
            let countries: Vec<(&str, usize)> = Sensitive::shipped().unwrap().iban_countries().collect();
            let (country, length) = countries[which.index(countries.len())];
            let text = grouped(&iban(country, length, &seed), 4, separator);
            prop_assert!(find_values(&format!("({text})")).iter().any(|span| span.start <= 1 && span.end > text.len()), "{}", text);
        }

        #[test]
        fn spans_lie_on_boundaries_and_apart(text in "\\PC{0,40}|[0-9 DEGB\u{200b}\u{ff11}-]{0,60}") {
            let mut last = 0;
            for span in find_values(&text) {
                prop_assert!(text.get(span.clone()).is_some());
                prop_assert!(span.start >= last);
                last = span.end;
            }
        }
    }
}
