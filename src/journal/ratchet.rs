//! The key that signs entries: it moves forward with each one, and nobody can turn it back.
//!
//! Entry i is signed with a key derived from `k_i`; then `k_i` becomes `k_(i+1)` and is wiped. Whoever takes over a
//! running server therefore gets no key of an entry already written, so it cannot rewrite one (security J2).

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::chain::Unsigned;
use crate::domain::digest::Digest;
use crate::error::{Code, Fault};

const MAC_LABEL: &[u8] = b"countersign journal v1 mac";
const NEXT_LABEL: &[u8] = b"countersign journal v1 next";

/// The key of the entry to be written next. Wiped when it moves on and when dropped.
pub(super) struct Ratchet(Zeroizing<[u8; 32]>);

impl Ratchet {
    /// A new random key: the first of a segment.
    pub(super) fn begin() -> Result<Self, Fault> {
        let mut key = Zeroizing::new([0_u8; 32]);
        getrandom::fill(key.as_mut_slice()).map_err(|e| {
            Fault::new(
                Code::JournalNotWritable,
                "no randomness for the journal's key",
            )
            .because(e)
        })?;
        Ok(Self(key))
    }

    /// The key as the first entry of its segment states it, 64 hexadecimal digits.
    pub(super) fn from_hex(text: &str) -> Option<Self> {
        Digest::from_hex(text).map(|key| Self(Zeroizing::new(*key.as_bytes())))
    }

    /// The key for the first entry of its segment. It goes into the encrypted payload and nowhere else.
    pub(super) fn to_hex(&self) -> Zeroizing<String> {
        Zeroizing::new(Digest::from_bytes(*self.0).hex())
    }

    /// The MAC of one entry under the present key.
    pub(super) fn sign(&self, entry: &Unsigned<'_>) -> Digest {
        let key = hmac(&self.0, |mac| mac.update(MAC_LABEL));
        Digest::from_bytes(*hmac(&key, |mac| entry.feed(|part| mac.update(part))))
    }

    /// Moves on to the next entry's key and wipes the present one.
    pub(super) fn advance(&mut self) {
        self.0 = hmac(&self.0, |mac| mac.update(NEXT_LABEL));
    }
}

/// HMAC-SHA-256 under a 32-byte key.
fn hmac(key: &[u8; 32], feed: impl FnOnce(&mut Hmac<Sha256>)) -> Zeroizing<[u8; 32]> {
    // A key shorter than the block is filled up with zeros by definition; doing it here leaves no error to handle.
    let mut block = Zeroizing::new([0_u8; 64]);
    block
        .iter_mut()
        .zip(key)
        .for_each(|(slot, byte)| *slot = *byte);
    let mut mac = Hmac::<Sha256>::new((&*block).into());
    feed(&mut mac);
    Zeroizing::new(mac.finalize().into_bytes().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use static_assertions::assert_not_impl_any;

    assert_not_impl_any!(Ratchet: Clone, Copy, std::fmt::Debug, serde::Serialize);

    #[test]
    fn hmac_is_the_standard_one() {
        // RFC 4231, test case 1, its 20-byte key filled up with zeros as the definition does.
        let mut key = [0_u8; 32];
        key[..20].fill(0x0b);
        let mac = hmac(&key, |mac| mac.update(b"Hi There"));
        assert_eq!(
            Digest::from_bytes(*mac).hex(),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
    }

    #[test]
    fn each_entry_has_another_key_and_a_key_read_back_signs_alike() {
        let mut ratchet = Ratchet::begin().unwrap();
        let mut copy = Ratchet::from_hex(&ratchet.to_hex()).unwrap();
        let entry = Unsigned {
            sequence: 1,
            previous: &Digest::of(b""),
            payload: b"x",
        };
        let first = ratchet.sign(&entry);
        assert_eq!(first, copy.sign(&entry));
        ratchet.advance();
        assert_ne!(first, ratchet.sign(&entry));
        copy.advance();
        assert_eq!(copy.sign(&entry), ratchet.sign(&entry));
    }
}
