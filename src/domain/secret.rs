//! Values that must not be printed, copied or left in memory.

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

#[cfg(test)]
mod tests {
    use super::Secret;
    use static_assertions::assert_not_impl_any;

    assert_not_impl_any!(Secret: Clone, std::fmt::Debug, serde::Serialize, std::fmt::Display);
}
