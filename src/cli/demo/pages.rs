//! The demo's pages: templates of `assets/demo/`, filled and translated.

use super::goods::Language;

macro_rules! template {
    ($name:literal) => {
        include_str!(concat!("../../../assets/demo/", $name))
    };
}

pub(super) const STYLE: &str = template!("style.css");
pub(super) const SHOP: &str = template!("shop.html");
pub(super) const LIST: &str = template!("shop-list.html");
pub(super) const ITEM: &str = template!("shop-item.html");
pub(super) const PRODUCT: &str = template!("shop-product.html");
pub(super) const SIZES: &str = template!("shop-sizes.html");
pub(super) const BASKET: &str = template!("shop-basket.html");
pub(super) const LINE: &str = template!("shop-line.html");
pub(super) const SUM: &str = template!("shop-sum.html");
pub(super) const CHECKOUT: &str = template!("shop-checkout.html");
pub(super) const PAYMENT: &str = template!("shop-payment.html");
pub(super) const THANKS: &str = template!("shop-thanks.html");
pub(super) const BANK: &str = template!("bank.html");
pub(super) const OVERVIEW: &str = template!("bank-overview.html");
pub(super) const TRANSFER: &str = template!("bank-transfer.html");
pub(super) const REVIEW: &str = template!("bank-review.html");
pub(super) const SENT: &str = template!("bank-done.html");
pub(super) const OFF_LIST: &str = template!("off-list.html");
const WORDS: &str = template!("words.txt");

/// A value for a place in a template.
pub(super) enum Value {
    /// Escaped when it is put in.
    Text(String),
    /// Put in as it is: a filled template, or a picture.
    Html(String),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// Fills `{{place}}` (escaped), `{{{place}}}` (as it is) and `[[word]]` (translated) in one pass, so that a value is
/// never read as a template. A place without a value stays empty.
pub(super) fn fill(template: &str, language: Language, values: &[(&str, Value)]) -> String {
    let mut out = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some(at) = rest.find(['{', '[']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let place = [("{{{", "}}}"), ("{{", "}}"), ("[[", "]]")]
            .into_iter()
            .find_map(|(open, close)| {
                let (name, after) = from.strip_prefix(open)?.split_once(close)?;
                Some((open, name, after))
            });
        let Some((open, name, after)) = place else {
            let mut chars = from.chars();
            out.extend(chars.next());
            rest = chars.as_str();
            continue;
        };
        if open == "[[" {
            out.push_str(&escape(word(name, language)));
        } else {
            match values.iter().find(|(key, _)| *key == name) {
                Some((_, Value::Html(html))) if open == "{{{" => out.push_str(html),
                Some((_, Value::Text(text) | Value::Html(text))) => out.push_str(&escape(text)),
                None => {}
            }
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A word of `words.txt`; the key itself where there is none (a test holds that there is one).
pub(super) fn word(key: &str, language: Language) -> &str {
    for line in WORDS.lines() {
        let mut columns = line.split(" | ");
        if columns.next() == Some(key) {
            let column = match language {
                Language::English => columns.next(),
                Language::German => columns.nth(1),
            };
            return column.unwrap_or(key);
        }
    }
    key
}

/// Escapes text for HTML content and double-quoted attributes.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_never_a_template() {
        let values = [
            ("a", Value::from("<b>{{c}} [[shop]]\"")),
            ("c", Value::from("no")),
        ];
        assert_eq!(
            fill("{{a}}{x} [ {{{a}}} {{none}}", Language::English, &values),
            "&lt;b&gt;{{c}} [[shop]]&quot;{x} [ &lt;b&gt;{{c}} [[shop]]&quot; "
        );
    }

    #[test]
    fn every_word_has_two_languages_and_every_template_knows_its_words() {
        for line in WORDS.lines().filter(|line| !line.starts_with('#')) {
            assert_eq!(
                line.split(" | ")
                    .filter(|part| !part.trim().is_empty())
                    .count(),
                3,
                "{line}"
            );
        }
        for template in [
            SHOP, LIST, ITEM, PRODUCT, SIZES, BASKET, LINE, SUM, CHECKOUT, PAYMENT, THANKS,
        ] {
            for (at, _) in template.match_indices("[[") {
                let key = template[at + 2..].split("]]").next().unwrap();
                assert!(
                    WORDS
                        .lines()
                        .any(|line| line.split(" | ").next() == Some(key)),
                    "no word {key}"
                );
            }
        }
    }
}
