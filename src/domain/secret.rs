//! Values that must not be printed, copied or left in memory.

use serde::Deserialize;
use zeroize::Zeroizing;

/// A text that is wiped on drop and has neither Debug, Serialize nor Clone.
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes the text over.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// The one way to the text; the name makes every use easy to find.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// Secrets that came together, such as all that the fields of a page held. Read from outside, written nowhere.
#[derive(Deserialize)]
#[serde(from = "Handed")]
pub struct Secrets {
    all: Vec<Secret>,
    passing: Vec<Secret>,
    overfull: bool,
}

#[derive(Deserialize)]
struct Handed {
    values: Vec<String>,
    passing: Vec<String>,
    overfull: bool,
}

impl From<Handed> for Secrets {
    fn from(handed: Handed) -> Self {
        Self {
            all: handed.values.into_iter().map(Secret::new).collect(),
            passing: handed.passing.into_iter().map(Secret::new).collect(),
            overfull: handed.overfull,
        }
    }
}

impl Secrets {
    /// These, and no more than these.
    #[must_use]
    pub fn new(values: Vec<String>) -> Self {
        Self {
            all: values.into_iter().map(Secret::new).collect(),
            passing: Vec::new(),
            overfull: false,
        }
    }

    /// Some that each page has anew, such as tokens of its forms.
    #[must_use]
    pub fn passing(values: Vec<String>) -> Self {
        Self {
            passing: values.into_iter().map(Secret::new).collect(),
            ..Self::new(Vec::new())
        }
    }

    /// The secrets, those that pass, and whether there were more than could be kept.
    #[must_use]
    pub fn into_parts(self) -> (Vec<Secret>, Vec<Secret>, bool) {
        (self.all, self.passing, self.overfull)
    }
}

#[cfg(test)]
mod tests {
    use super::{Secret, Secrets};
    use static_assertions::assert_not_impl_any;

    assert_not_impl_any!(Secrets: Clone, std::fmt::Debug, serde::Serialize, std::fmt::Display);
    assert_not_impl_any!(Secret: Clone, std::fmt::Debug, serde::Serialize, std::fmt::Display);
}
