//! How types of other rooms are written in an entry: codes, digests and effects.

use serde::{Deserialize, Serialize};

use crate::domain::digest::Digest;
use crate::error::{Code, Effect};

/// A code as it stands in the journal: a letter and three digits. Codes of newer versions are read as well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CodeName(String);

impl CodeName {
    /// The code.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Code> for CodeName {
    fn from(code: Code) -> Self {
        Self(code.as_str().to_owned())
    }
}

impl From<CodeName> for String {
    fn from(code: CodeName) -> Self {
        code.0
    }
}

impl TryFrom<String> for CodeName {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.as_bytes() {
            [b'A'..=b'Z', digits @ ..]
                if digits.len() == 3 && digits.iter().all(u8::is_ascii_digit) =>
            {
                Ok(Self(text))
            }
            _other => Err("expected a letter and three digits"),
        }
    }
}

pub(super) mod hex {
    use super::Digest;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(in crate::journal) fn serialize<S: Serializer>(
        digest: &Digest,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        out.serialize_str(&digest.hex())
    }

    pub(in crate::journal) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Digest, D::Error> {
        let text = String::deserialize(from)?;
        Digest::from_hex(&text)
            .ok_or_else(|| D::Error::custom("expected 64 lower-case hexadecimal digits"))
    }
}

pub(super) mod optional_hex {
    use super::{Digest, hex};
    use serde::{Deserialize, Deserializer, Serializer};

    #[derive(Deserialize)]
    struct Wrapped(#[serde(with = "hex")] Digest);

    pub(in crate::journal) fn serialize<S: Serializer>(
        digest: &Option<Digest>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        match digest {
            Some(digest) => hex::serialize(digest, out),
            None => out.serialize_none(),
        }
    }

    pub(in crate::journal) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Digest>, D::Error> {
        Ok(Option::<Wrapped>::deserialize(from)?.map(|Wrapped(digest)| digest))
    }
}

pub(super) mod effect {
    use super::Effect;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer, de::Error as _};

    pub(in crate::journal) fn serialize<S: Serializer>(
        effect: &Effect,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        effect.serialize(out)
    }

    pub(in crate::journal) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Effect, D::Error> {
        let text = String::deserialize(from)?;
        [Effect::None, Effect::Possible, Effect::Done]
            .into_iter()
            .find(|effect| effect.name() == text)
            .ok_or_else(|| D::Error::custom("expected none, possible or done"))
    }
}
