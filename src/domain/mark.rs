//! Names the server gives: tabs, snapshots and marks. All are numbers of this session, never the browser's ids.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! number {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(u32);

        impl $name {
            /// Wraps the number.
            #[must_use]
            pub const fn new(number: u32) -> Self {
                Self(number)
            }

            /// The bare number.
            #[must_use]
            pub const fn number(self) -> u32 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string", "pattern": concat!("^", $prefix, "(0|[1-9][0-9]*)$")})
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.to_string()
            }
        }

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                text.strip_prefix($prefix)
                    .filter(|rest| !rest.starts_with('+') && (*rest == "0" || !rest.starts_with('0')))
                    .and_then(|rest| rest.parse().ok())
                    .map(Self)
                    .ok_or_else(|| concat!("expected ", $prefix, " and a number, for example ", $prefix, "1").to_owned())
            }
        }
    };
}

number!(
    /// A tab the server opened, or one that such a tab opened: `t1`.
    TabId, "t"
);
number!(
    /// One look at one tab: `s1`.
    SnapshotId, "s"
);

/// The number drawn beside an element. It belongs to one node of one document for the session and is never given to another.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Mark(u32);

impl Mark {
    /// Wraps the number.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The bare number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling_per_number() {
        assert_eq!(TabId::try_from("t12".to_owned()), Ok(TabId::new(12)));
        for bad in ["12", "t", "t-1", "t+1", "t01", "T1", "t1 ", "s1"] {
            assert!(TabId::try_from(bad.to_owned()).is_err(), "{bad}");
        }
        assert_eq!(SnapshotId::new(3).to_string(), "s3");
    }
}
