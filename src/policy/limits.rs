//! The numbers that bound a session: one table of defaults and ceilings (contract.md, "Numbers"), and the checked values.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The key in the profile's `[limits]`.
    pub key: &'static str,
    /// What applies where the profile says nothing.
    pub default: f64,
    /// The least that may be set.
    pub least: f64,
    /// The most that may be set; equal to the default where a profile can only lower it.
    pub ceiling: f64,
    /// Whether only whole numbers make sense.
    pub whole: bool,
    /// Unit and meaning, in words.
    pub meaning: &'static str,
}

/// How often something may happen: a bucket that holds `burst` and is refilled steadily.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// How many are added a second; above zero.
    pub per_second: f64,
    /// How many the bucket holds; at least one.
    pub burst: u32,
}

macro_rules! limits {
    ($($name:ident: $kind:ident, $default:literal, $least:literal, $ceiling:literal, $meaning:literal;)*) => {
        /// Every number a profile can set.
        pub const BOUNDS: &[Bound] = &[$(Bound {
            key: stringify!($name), default: $default, least: $least, ceiling: $ceiling,
            whole: limits!(@whole $kind), meaning: $meaning,
        }),*];

        /// `[limits]` as written; see [`BOUNDS`].
        #[derive(Debug, Default, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(rename = "Limits")]
        pub(super) struct RawLimits {
            $(#[schemars(with = "Option<f64>")] pub(super) $name: Option<Spanned<f64>>,)*
        }

        /// The checked numbers.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        pub struct Limits { $($name: f64,)* }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl RawLimits {
            /// Checks every number against its bounds; `wrong` is told of each that is outside.
            pub(super) fn check(&self, mut wrong: impl FnMut(&Bound, &Spanned<f64>)) -> Limits {
                let mut limits = Limits::default();
                let mut bounds = BOUNDS.iter();
                $(if let (Some(bound), Some(value)) = (bounds.next(), &self.$name) {
                    if bound.admits(*value.get_ref()) {
                        limits.$name = *value.get_ref();
                    } else {
                        wrong(bound, value);
                    }
                })*
                limits
            }
        }

        impl Limits {
            $(limits!(@getter $kind $name $meaning);)*
        }
    };
    (@whole rate) => { false };
    (@whole $other:ident) => { true };
    (@getter rate $name:ident $meaning:literal) => {};
    (@getter burst $name:ident $meaning:literal) => {};
    (@getter count $name:ident $meaning:literal) => {
        #[doc = $meaning]
        #[must_use]
        pub const fn $name(&self) -> u32 { self.$name as u32 }
    };
    (@getter seconds $name:ident $meaning:literal) => {
        #[doc = $meaning]
        #[must_use]
        pub const fn $name(&self) -> Duration { Duration::from_secs(self.$name as u64) }
    };
    (@getter bytes $name:ident $meaning:literal) => {
        #[doc = $meaning]
        #[must_use]
        pub const fn $name(&self) -> u64 { self.$name as u64 }
    };
}

limits! {
    reads_per_second: rate, 20.0, 0.01, 20.0, "reading calls a second";
    reads_burst: burst, 40.0, 1.0, 40.0, "reading calls at once";
    actions_per_second: rate, 2.0, 0.01, 20.0, "actions a second";
    actions_burst: burst, 5.0, 1.0, 5.0, "actions at once";
    actions_per_session: count, 600.0, 0.0, 5_000.0, "actions in a session";
    navigations_per_second: rate, 1.0, 0.01, 1.0, "navigations a second";
    navigations_burst: burst, 5.0, 1.0, 5.0, "navigations at once";
    navigations_per_session: count, 200.0, 0.0, 2_000.0, "navigations in a session";
    open_tabs: count, 8.0, 1.0, 32.0, "tabs of the session open at a time";
    windows_unanswered: count, 5.0, 1.0, 5.0, "windows left unanswered or denied in 10 minutes";
    windows_per_session: count, 20.0, 1.0, 60.0, "windows left unanswered or denied in a session";
    operator_seconds: seconds, 900.0, 1.0, 900.0, "seconds ask_operator waits for the person";
    reply_bytes: bytes, 24_576.0, 1_024.0, 65_536.0, "bytes of text a reply carries";
    marks: count, 250.0, 1.0, 1_000.0, "marks in one snapshot";
    snapshots_per_tab: count, 16.0, 1.0, 16.0, "snapshots kept for each tab";
    typed_characters: count, 10_000.0, 1.0, 10_000.0, "characters typed by one call";
    wait_seconds: seconds, 10.0, 1.0, 60.0, "seconds wait_for may wait";
    call_seconds: seconds, 10.0, 1.0, 10.0, "seconds one call to the browser may take";
    download_bytes: bytes, 104_857_600.0, 1.0, 1_073_741_824.0, "bytes of one download";
    upload_bytes: bytes, 104_857_600.0, 1.0, 1_073_741_824.0, "bytes of one upload";
}

/// Over how long `windows_unanswered` is counted.
pub const WINDOWS_PERIOD: Duration = Duration::from_secs(600);

impl Bound {
    fn admits(&self, value: f64) -> bool {
        value.is_finite()
            && value >= self.least
            && value <= self.ceiling
            && !(self.whole && value.fract() != 0.0)
    }
}

impl Limits {
    /// How often the model may read.
    #[must_use]
    pub const fn reads(&self) -> Rate {
        rate(self.reads_per_second, self.reads_burst)
    }

    /// How often the model may act.
    #[must_use]
    pub const fn actions(&self) -> Rate {
        rate(self.actions_per_second, self.actions_burst)
    }

    /// How often the model may navigate.
    #[must_use]
    pub const fn navigations(&self) -> Rate {
        rate(self.navigations_per_second, self.navigations_burst)
    }
}

const fn rate(per_second: f64, burst: f64) -> Rate {
    Rate {
        per_second,
        burst: burst as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_lie_within_their_bounds() {
        for bound in BOUNDS {
            assert!(bound.admits(bound.default), "{}", bound.key);
            assert!(
                bound.admits(bound.ceiling) && bound.admits(bound.least),
                "{}",
                bound.key
            );
            assert!(
                !bound.admits(bound.ceiling + 1.0) && !bound.admits(f64::NAN),
                "{}",
                bound.key
            );
            assert!(
                !bound.admits(-1.0) && !bound.admits(f64::INFINITY),
                "{}",
                bound.key
            );
        }
    }

    #[test]
    fn defaults_are_those_of_the_contract() {
        let limits = Limits::default();
        assert_eq!(
            limits.reads(),
            Rate {
                per_second: 20.0,
                burst: 40
            }
        );
        assert_eq!(
            limits.actions(),
            Rate {
                per_second: 2.0,
                burst: 5
            }
        );
        assert_eq!(
            limits.navigations(),
            Rate {
                per_second: 1.0,
                burst: 5
            }
        );
        assert_eq!(
            (
                limits.actions_per_session(),
                limits.navigations_per_session()
            ),
            (600, 200)
        );
        assert_eq!(
            (
                limits.open_tabs(),
                limits.marks(),
                limits.snapshots_per_tab()
            ),
            (8, 250, 16)
        );
        assert_eq!(
            (limits.windows_unanswered(), limits.windows_per_session()),
            (5, 20)
        );
        assert_eq!(
            (limits.reply_bytes(), limits.typed_characters()),
            (24 * 1024, 10_000)
        );
        assert_eq!(limits.wait_seconds(), Duration::from_secs(10));
        assert_eq!(limits.call_seconds(), Duration::from_secs(10));
        assert_eq!(limits.operator_seconds(), Duration::from_secs(15 * 60));
        assert_eq!(
            (limits.download_bytes(), limits.upload_bytes()),
            (100 << 20, 100 << 20)
        );
    }
}
