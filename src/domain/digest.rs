//! A SHA-256 digest and the one way to build it from several fields without ambiguity.

use std::fmt;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// 32 bytes of SHA-256. Compared in constant time.
#[derive(Clone, Copy, Eq)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of one run of bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Takes bytes that already are a SHA-256 digest.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The raw bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// 64 lowercase hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        use fmt::Write as _;
        self.0
            .iter()
            .fold(String::with_capacity(64), |mut out, byte| {
                let _ = write!(out, "{byte:02x}");
                out
            })
    }

    /// Reads 64 lowercase hexadecimal digits; anything else is `None`.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        if bytes.len() != 64 || !bytes.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return None;
        }
        let mut out = [0_u8; 32];
        for (slot, pair) in out.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *slot = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self(out))
    }
}

impl PartialEq for Digest {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
    }
}

/// Builds a digest over named fields. Each field is written with its length, so that no two different
/// lists of fields hash alike ("ab","c" is not "a","bc").
#[must_use]
pub struct Canonical(Sha256);

impl Canonical {
    /// Starts a digest for one purpose; the purpose is hashed first, so digests of different purposes never meet.
    pub fn new(purpose: &str) -> Self {
        Self(Sha256::new()).field("purpose", purpose)
    }

    /// Adds one field.
    pub fn field(mut self, name: &str, value: &str) -> Self {
        for part in [name, value] {
            self.0.update((part.len() as u64).to_be_bytes());
            self.0.update(part.as_bytes());
        }
        self
    }

    /// Adds a field that may be absent; absence differs from the empty string.
    pub fn optional(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.field(name, &format!("some:{value}")),
            None => self.field(name, "none"),
        }
    }

    /// Adds a list, with its length.
    pub fn list<'a>(mut self, name: &str, values: impl IntoIterator<Item = &'a str>) -> Self {
        let values: Vec<&str> = values.into_iter().collect();
        self = self.field(name, &values.len().to_string());
        for value in values {
            self = self.field("item", value);
        }
        self
    }

    /// Ends the digest.
    #[must_use]
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_run_into_each_other() {
        let one = Canonical::new("t").field("ab", "c").finish();
        let two = Canonical::new("t").field("a", "bc").finish();
        assert_ne!(one, two);
        let none = Canonical::new("t").optional("x", None).finish();
        let empty = Canonical::new("t").optional("x", Some("")).finish();
        assert_ne!(none, empty);
    }

    #[test]
    fn hex_round_trips_and_refuses_other_forms() {
        let digest = Digest::of(b"countersign");
        assert_eq!(Digest::from_hex(&digest.hex()), Some(digest));
        assert_eq!(Digest::from_hex(&digest.hex().to_uppercase()), None);
        assert_eq!(Digest::from_hex("00"), None);
    }
}
