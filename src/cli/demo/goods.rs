//! What the demo's shop sells, what is in the basket, and money in cents.

use std::fmt::Write as _;

/// An amount in euro cents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Cents(pub(super) u32);

/// The language of a page; the bank speaks English alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    English,
    German,
}

impl Language {
    /// What stands before every path of the shop in this language.
    pub(super) const fn base(self) -> &'static str {
        match self {
            Self::English => "",
            Self::German => "/de",
        }
    }

    pub(super) const fn other(self) -> Self {
        match self {
            Self::English => Self::German,
            Self::German => Self::English,
        }
    }
}

impl Cents {
    /// `1,234.50 €` or `1.234,50 €`.
    pub(super) fn shown(self, language: Language) -> String {
        let (group, point) = match language {
            Language::English => (',', '.'),
            Language::German => ('.', ','),
        };
        let whole = (self.0 / 100).to_string();
        let mut text = String::new();
        for (at, digit) in whole.chars().enumerate() {
            if at > 0 && (whole.len() - at).is_multiple_of(3) {
                text.push(group);
            }
            text.push(digit);
        }
        let _ = write!(text, "{point}{:02} €", self.0 % 100);
        text
    }

    /// Reads `120`, `120.5`, `120,50` or `1,200.00`: what people type into an amount field. At most 100,000 €.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_end_matches('€').trim_end();
        let (whole, cents) = match text.rfind(['.', ',']) {
            Some(at) if text.len() - at <= 3 => (text.get(..at)?, text.get(at + 1..)?),
            Some(_) | None => (text, ""),
        };
        let whole: String = whole.chars().filter(|c| !matches!(c, '.' | ',')).collect();
        let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        if whole.is_empty() || whole.len() > 6 || !digits(&whole) || !digits(cents) {
            return None;
        }
        let cents: u32 = format!("{cents:0<2}").parse().ok()?;
        let all = whole.parse::<u32>().ok()? * 100 + cents;
        (1..=10_000_000).contains(&all).then_some(Self(all))
    }
}

/// One thing on sale. Its name and text are in `words.txt` under its id.
pub(super) struct Product {
    pub(super) id: &'static str,
    pub(super) price: Cents,
    pub(super) sizes: bool,
    pub(super) tint: &'static str,
    pub(super) picture: &'static str,
}

macro_rules! products {
    ($($id:literal $price:literal $sizes:literal $tint:literal;)*) => {
        /// Everything on sale, in the order of the list.
        pub(super) static PRODUCTS: &[Product] = &[$(Product {
            id: $id,
            price: Cents($price),
            sizes: $sizes,
            tint: $tint,
            picture: include_str!(concat!("../../../assets/demo/pictures/", $id, ".svg")),
        }),*];
    };
}

products! {
    "linen-shirt" 3860 true "#e4ecf1";
    "wool-blanket" 8900 false "#f5e9e0";
    "stoneware-mug" 1850 false "#e6eee6";
    "desk-lamp" 6400 false "#f3e9dd";
    "field-notebook" 1420 false "#ece9dd";
    "merino-socks" 1990 true "#ece6f1";
}

impl Product {
    pub(super) fn named(id: &str) -> Option<&'static Self> {
        PRODUCTS.iter().find(|product| product.id == id)
    }
}

/// One line of the basket.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) product: &'static Product,
    /// `S`, `M` or `L` where the product has sizes.
    pub(super) size: Option<&'static str>,
    pub(super) quantity: u32,
}

impl Line {
    pub(super) const fn price(&self) -> Cents {
        Cents(self.product.price.0 * self.quantity)
    }
}

/// How it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Delivery {
    #[default]
    Standard,
    Express,
}

impl Delivery {
    pub(super) const fn price(self) -> Cents {
        match self {
            Self::Standard => Cents(390),
            Self::Express => Cents(790),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_reads_back_as_it_is_shown() {
        assert_eq!(Cents(4250).shown(Language::English), "42.50 €");
        assert_eq!(Cents(123_456_705).shown(Language::German), "1.234.567,05 €");
        for cents in [1, 99, 100, 4250, 99_999, 100_000, 1_234_567, 10_000_000] {
            for language in [Language::English, Language::German] {
                assert_eq!(
                    Cents::parse(&Cents(cents).shown(language)),
                    Some(Cents(cents))
                );
            }
        }
        assert_eq!(Cents::parse("120"), Some(Cents(12_000)));
        assert_eq!(Cents::parse("120,5"), Some(Cents(12_050)));
        for bad in [
            "",
            "0",
            "-1",
            "1e3",
            "12.345.6x",
            "x",
            "999999999",
            ".",
            "€",
        ] {
            assert_eq!(Cents::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_demo_pays_42_50() {
        let shirt = Product::named("linen-shirt").unwrap();
        assert_eq!(shirt.price.0 + Delivery::Standard.price().0, 4250);
    }
}
