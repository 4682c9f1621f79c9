//! Reads the words of an address: path, query and fragment, decoded and cut into short names.

use std::borrow::Cow;

use super::normalise::{Readings, split_camel_case};

/// A part of an address with more words than this is a title ("how-to-delete-cookies"), not a command.
const MOST_WORDS: usize = 3;
/// Percent-encoding is undone this often: servers decode once, gateways before them once more.
const DECODED_AT_MOST: usize = 3;
/// Values of these parameters are what somebody searched for.
const SEARCHES: [&str; 6] = ["q", "query", "search", "term", "keyword", "keywords"];

/// The readings of an address, given whole or from its path on. Words that stand in neighbouring parts belong together
/// (`/payment/confirm`); a long part stands between them.
pub(super) fn readings_of_address(address: &str) -> Vec<Readings> {
    let mut runs = vec![String::new()];
    for part in parts(after_host(address)) {
        let words = split_camel_case(&part)
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.chars().any(char::is_alphabetic))
            .collect::<Vec<_>>()
            .join(" ");
        if words.split(' ').count() > MOST_WORDS {
            runs.push(String::new());
        } else if let Some(run) = runs.last_mut() {
            run.push(' ');
            run.push_str(&words);
        }
    }
    runs.retain(|run| !run.trim().is_empty());
    runs.iter().map(|run| Readings::of_text(run)).collect()
}

/// Segments of the path, names and values of the query and the fragment.
fn parts(path: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for piece in path.split(['/', '?', '#', '&', ';', ',', '!']) {
        match piece.split_once('=') {
            None => parts.push(decoded(piece)),
            Some((name, value)) => {
                let name = decoded(name);
                let searched = SEARCHES.contains(&name.to_lowercase().as_str());
                parts.push(name);
                if !searched {
                    // A value may hold an address of its own.
                    let value = decoded(value);
                    parts.extend(value.split(['/', '?', '#', '&', '=']).map(str::to_owned));
                }
            }
        }
    }
    parts
}

fn after_host(address: &str) -> &str {
    let lower_start = address.get(..8).unwrap_or(address).to_ascii_lowercase();
    let after_scheme = if lower_start.starts_with("https://") || lower_start.starts_with("http://")
    {
        address.split_once("://").map(|(_, rest)| rest)
    } else {
        address.strip_prefix("//")
    };
    match after_scheme {
        None => address,
        Some(rest) => rest
            .find(['/', '?', '#'])
            .and_then(|at| rest.get(at..))
            .unwrap_or_default(),
    }
}

fn decoded(text: &str) -> String {
    let mut text = Cow::Borrowed(text);
    for _ in 0..DECODED_AT_MOST {
        if !text.contains('%') {
            break;
        }
        text = Cow::Owned(percent_decoded(&text));
    }
    text.replace('+', " ")
}

fn percent_decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.as_bytes();
    while let Some((first, rest)) = bytes.split_first() {
        let hex = |byte: &u8| char::from(*byte).to_digit(16);
        let value = match (first, rest) {
            (b'%', [high, low, ..]) => hex(high).zip(hex(low)).map(|(h, l)| h * 16 + l),
            _ => None,
        };
        match value.and_then(|value| u8::try_from(value).ok()) {
            Some(byte) => {
                out.push(byte);
                bytes = rest.get(2..).unwrap_or_default();
            }
            None => {
                out.push(*first);
                bytes = rest;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::normalise::Alphabet;
    use super::*;
    use proptest::prelude::*;

    fn rows(address: &str) -> Vec<String> {
        readings_of_address(address)
            .iter()
            .map(|readings| {
                let (_, reading) = readings
                    .iter()
                    .find(|(a, _)| *a == Alphabet::Plain)
                    .unwrap();
                reading.letters().iter().collect()
            })
            .collect()
    }

    #[test]
    fn what_is_read_of_an_address() {
        for (address, want) in [
            (
                "https://pay.example.test/items/12/confirmDelete",
                vec!["itemsconfirmdelete"],
            ),
            ("/payment/confirm?id=7", vec!["paymentconfirmid"]),
            ("/p%61y", vec!["pay"]),
            ("/%2570ay", vec!["pay"]),
            ("/a/how-to-delete-cookies/b", vec!["a", "b"]),
            ("/search?q=delete", vec!["searchq"]),
            ("/x?do=delete_item#/confirm", vec!["xdodeleteitemconfirm"]),
            ("/go?next=%2Faccount%2Fclose", vec!["gonextaccountclose"]),
            ("HTTPS://delete.test", vec![]),
            ("//delete.test/x", vec!["x"]),
        ] {
            assert_eq!(rows(address), want, "{address}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_read_as_an_address(text in any::<String>()) {
            let _ = readings_of_address(&text);
        }
    }
}
