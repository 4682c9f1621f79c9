//! Finds amounts of money with their currency in running text, as spans of the text as shown. An amount stays text: nothing
//! here turns it into a number, since `1.234` is not the same sum everywhere.

use std::ops::Range;

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};

/// Codes of ISO 4217 and of common coins. They count in capitals only: "3 try" is no sum.
const CODES: &[&str] = &[
    "AED", "ARS", "AUD", "BDT", "BGN", "BHD", "BRL", "BYN", "CAD", "CHF", "CLP", "CNY", "COP",
    "CRC", "CZK", "DKK", "DOP", "DZD", "EGP", "EUR", "GBP", "GEL", "GHS", "HKD", "HUF", "IDR",
    "ILS", "INR", "IRR", "ISK", "JOD", "JPY", "KES", "KRW", "KWD", "KZT", "LKR", "MAD", "MDL",
    "MKD", "MXN", "MYR", "NGN", "NOK", "NZD", "OMR", "PEN", "PHP", "PKR", "PLN", "QAR", "RON",
    "RSD", "RUB", "SAR", "SEK", "SGD", "THB", "TND", "TRY", "TWD", "TZS", "UAH", "UGX", "USD",
    "UYU", "UZS", "VND", "ZAR", "BTC", "ETH", "USDT", "USDC", "TL", "RMB",
];
/// The words people use, in lower case.
const WORDS: &[&str] = &[
    "us$",
    "au$",
    "ca$",
    "hk$",
    "nz$",
    "mx$",
    "a$",
    "c$",
    "s$",
    "r$",
    "nt$",
    "cn¥",
    "jp¥",
    "eur",
    "usd",
    "gbp",
    "chf",
    "euro",
    "euros",
    "dollar",
    "dollars",
    "pound",
    "pounds",
    "pence",
    "cent",
    "cents",
    "franken",
    "francs",
    "franc",
    "fr",
    "sfr",
    "kr",
    "kronen",
    "kronor",
    "kroner",
    "kč",
    "zł",
    "złotych",
    "ft",
    "lei",
    "leu",
    "лв",
    "лева",
    "руб",
    "рублей",
    "грн",
    "lira",
    "yen",
    "yuan",
    "元",
    "円",
    "원",
    "pesos",
    "peso",
    "reais",
    "rupees",
    "rs",
    "pfund",
    "quid",
    "bucks",
];
/// The longest currency word, in characters.
const LONGEST_CURRENCY: usize = 8;
/// White space allowed between a number and its currency, in characters.
const WIDEST_GAP: usize = 2;

/// The spans of all amounts in a text, in order and apart from each other. Each lies on character boundaries.
#[must_use]
pub fn find_amounts(text: &str) -> Vec<Range<usize>> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let offset = |at: usize| chars.get(at).map_or(text.len(), |(offset, _)| *offset);
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let Some(end) = number_at(&chars, at) else {
            at += 1;
            continue;
        };
        let before = currency_before(&chars, at);
        let after = currency_after(&chars, end);
        if before.is_some() || after.is_some() {
            let start = signed(&chars, before.unwrap_or(at));
            let span = offset(start)..offset(after.unwrap_or(end));
            match found.last_mut() {
                // "5 € 7 €": one currency sign can touch two numbers.
                Some(last) if last.end > span.start => last.end = last.end.max(span.end),
                Some(_) | None => found.push(span),
            }
        }
        at = end;
    }
    found
}

/// The digits of an amount as a person would type them, for the typed challenge: `€ 1.234,50` is `123450`.
#[must_use]
pub fn digits_of(amount: &str) -> String {
    amount
        .chars()
        .filter_map(digit)
        .filter_map(|value| char::from_digit(value, 10))
        .collect()
}

/// The value of a decimal digit of the scripts that prices come in: ASCII, full-width, Arabic-Indic, Devanagari.
pub(super) fn digit(c: char) -> Option<u32> {
    let zero = match c {
        '0'..='9' => '0',
        '\u{ff10}'..='\u{ff19}' => '\u{ff10}',
        '\u{660}'..='\u{669}' => '\u{660}',
        '\u{6f0}'..='\u{6f9}' => '\u{6f0}',
        '\u{966}'..='\u{96f}' => '\u{966}',
        _ => return None,
    };
    u32::from(c).checked_sub(u32::from(zero))
}

type Chars<'a> = &'a [(usize, char)];

fn char_at(chars: Chars<'_>, at: usize) -> Option<char> {
    chars.get(at).map(|(_, c)| *c)
}

fn digit_at(chars: Chars<'_>, at: usize) -> bool {
    char_at(chars, at).and_then(digit).is_some()
}

/// A number that begins here (and not in the middle of another): its end.
fn number_at(chars: Chars<'_>, start: usize) -> Option<usize> {
    if !digit_at(chars, start) {
        return None;
    }
    let mut at = start;
    loop {
        while digit_at(chars, at) {
            at += 1;
        }
        // A separator belongs to the number where digits follow; a space only before a group of exactly three.
        let joins = match char_at(chars, at) {
            Some('.' | ',' | '\'' | '\u{2019}' | '\u{66b}' | '\u{66c}') => digit_at(chars, at + 1),
            Some(' ' | '\u{a0}' | '\u{202f}' | '\u{2009}') => {
                (1..=3).all(|step| digit_at(chars, at + step)) && !digit_at(chars, at + 4)
            }
            Some(_) | None => false,
        };
        if !joins {
            break;
        }
        at += 1;
    }
    // "1'000.–", "5,-": a dash in place of the cents.
    if matches!(char_at(chars, at), Some('.' | ','))
        && matches!(char_at(chars, at + 1), Some('-' | '–' | '—' | '―'))
    {
        at += 2;
    }
    Some(at)
}

fn currency_after(chars: Chars<'_>, end: usize) -> Option<usize> {
    let start = skip_gap(chars, end);
    if char_at(chars, start).is_some_and(is_sign) {
        return Some(start + 1);
    }
    let mut stop = start;
    while stop - start <= LONGEST_CURRENCY && char_at(chars, stop).is_some_and(is_currency_letter) {
        stop += 1;
    }
    is_currency(chars, start, stop).then_some(stop)
}

fn currency_before(chars: Chars<'_>, start: usize) -> Option<usize> {
    let end = skip_gap_back(chars, start);
    let mut begin = end;
    while end - begin <= LONGEST_CURRENCY
        && begin
            .checked_sub(1)
            .and_then(|at| char_at(chars, at))
            .is_some_and(is_currency_letter)
    {
        begin -= 1;
    }
    if is_currency(chars, begin, end) {
        return Some(begin);
    }
    // "Fr. 12" and "Rs. 500" carry a full stop.
    let stopped = end
        .checked_sub(1)
        .filter(|at| char_at(chars, *at) == Some('.'));
    if let Some(stop) = stopped {
        let mut begin = stop;
        while stop - begin <= LONGEST_CURRENCY
            && begin
                .checked_sub(1)
                .and_then(|at| char_at(chars, at))
                .is_some_and(is_currency_letter)
        {
            begin -= 1;
        }
        if is_currency(chars, begin, stop) {
            return Some(begin);
        }
    }
    end.checked_sub(1)
        .filter(|at| char_at(chars, *at).is_some_and(is_sign))
}

fn skip_gap(chars: Chars<'_>, from: usize) -> usize {
    let mut at = from;
    while at < from + WIDEST_GAP && char_at(chars, at).is_some_and(char::is_whitespace) {
        at += 1;
    }
    at
}

fn skip_gap_back(chars: Chars<'_>, from: usize) -> usize {
    let mut at = from;
    for _ in 0..WIDEST_GAP {
        match at.checked_sub(1) {
            Some(before) if char_at(chars, before).is_some_and(char::is_whitespace) => at = before,
            Some(_) | None => break,
        }
    }
    at
}

/// A minus before the amount belongs to it.
fn signed(chars: Chars<'_>, start: usize) -> usize {
    match start.checked_sub(1) {
        Some(before) if matches!(char_at(chars, before), Some('-' | '−' | '+')) => before,
        Some(_) | None => start,
    }
}

fn is_sign(c: char) -> bool {
    c.general_category() == GeneralCategory::CurrencySymbol
}

fn is_currency_letter(c: char) -> bool {
    c.is_alphabetic() || is_sign(c)
}

fn is_currency(chars: Chars<'_>, start: usize, end: usize) -> bool {
    let word: String = chars
        .get(start..end)
        .unwrap_or_default()
        .iter()
        .map(|(_, c)| *c)
        .collect();
    CODES.contains(&word.as_str())
        || WORDS.contains(&word.to_lowercase().as_str())
        || (word.chars().count() == 1 && word.chars().all(is_sign))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn amounts_as_shown() {
        for (text, want) in [
            ("Total € 1.234,56 today", vec!["€ 1.234,56"]),
            ("5,00 €", vec!["5,00 €"]),
            ("USD 12.00", vec!["USD 12.00"]),
            ("US$12", vec!["US$12"]),
            ("CHF 1'000.–", vec!["CHF 1'000.–"]),
            ("12 kr", vec!["12 kr"]),
            ("¥5000", vec!["¥5000"]),
            ("-5.00 EUR", vec!["-5.00 EUR"]),
            ("1 234,50 zł", vec!["1 234,50 zł"]),
            ("Fr. 12.50", vec!["Fr. 12.50"]),
            ("£3 and £4.50", vec!["£3", "£4.50"]),
            ("５００円", vec!["５００円"]),
            ("12 dollars", vec!["12 dollars"]),
            ("Room 12, floor 3", vec![]),
            ("12 krakens", vec![]),
            ("3 try", vec![]),
            ("2024-01-01", vec![]),
            ("€", vec![]),
        ] {
            let found: Vec<&str> = find_amounts(text)
                .into_iter()
                .map(|span| &text[span])
                .collect();
            assert_eq!(found, want, "{text}");
        }
        assert_eq!(digits_of("€ 1.234,50"), "123450");
        assert_eq!(digits_of("５００円"), "500");
    }

    proptest! {
        #[test]
        fn spans_lie_on_boundaries_and_apart(text in any::<String>()) {
            check(&text)?;
        }

        #[test]
        fn money_like_text_too(text in "[0-9€$ .,'k-r\u{2019}\u{a0}円-]{0,30}") {
            check(&text)?;
        }
    }

    fn check(text: &str) -> Result<(), TestCaseError> {
        let mut last = 0;
        for span in find_amounts(text) {
            prop_assert!(
                text.get(span.clone())
                    .is_some_and(|amount| !digits_of(amount).is_empty())
            );
            prop_assert!(span.start >= last);
            last = span.end;
        }
        Ok(())
    }
}
