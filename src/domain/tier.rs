//! What kind of power a tool has; the profile grants tiers, per site where wanted.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The four tiers, weakest first.
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
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Look, never touch.
    Read,
    /// Open, move and close the session's own tabs.
    Navigate,
    /// Click, type, choose.
    Act,
    /// Bring files in and out.
    Transfer,
}

impl Tier {
    /// All tiers, weakest first.
    pub const ALL: [Self; 4] = [Self::Read, Self::Navigate, Self::Act, Self::Transfer];

    /// The name a profile uses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Navigate => "navigate",
            Self::Act => "act",
            Self::Transfer => "transfer",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
