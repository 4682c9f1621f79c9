//! The operator's profile in checked form: which sites, which tiers, which numbers. Nothing in it can lower the floor.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limits::Limits;
use super::lock::OwnLock;
use super::parse;
use super::problem::Problems;
use super::rule::SiteRule;
use crate::domain::digest::Digest;
use crate::domain::site::{Origin, Site};
use crate::domain::tier::Tier;

/// Chromium and Chrome as Debian, Ubuntu and Fedora install them: the programs that run, and the scripts that start them.
pub const USUAL_EXECUTABLES: [&str; 9] = [
    "/usr/bin/chromium",
    "/usr/lib/chromium/chromium",
    "/usr/bin/chromium-browser",
    "/usr/lib/chromium-browser/chromium-browser",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/usr/bin/google-chrome",
    "/usr/bin/google-chrome-stable",
    "/opt/google/chrome/google-chrome",
    "/opt/google/chrome/chrome",
];

/// The longest a window may wait for the person, in seconds.
pub const LONGEST_DEADLINE: u64 = 90;

/// How typed text is journalled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TypedText {
    /// As length and kind.
    #[default]
    Length,
    /// In full, unless the field is sensitive.
    Full,
}

/// What becomes of text that a person could not see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HiddenText {
    /// It is left out and counted.
    #[default]
    Withhold,
    /// It is given, marked as hidden.
    Mark,
}

/// One listed site, or group of sites, and what may be done there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SiteEntry {
    pub(super) origin: SiteRule,
    pub(super) tiers: BTreeSet<Tier>,
}

impl SiteEntry {
    /// Which sites.
    #[must_use]
    pub const fn rule(&self) -> &SiteRule {
        &self.origin
    }

    /// What may be done there.
    #[must_use]
    pub const fn tiers(&self) -> &BTreeSet<Tier> {
        &self.tiers
    }
}

/// What the profile says about the browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Browser {
    pub(super) profile_dir: Option<PathBuf>,
    pub(super) executables: Vec<PathBuf>,
    pub(super) allow_no_sandbox: bool,
}

impl Browser {
    /// The browser's own profile directory, absolute; `None` means the one in the data directory.
    #[must_use]
    pub fn profile_dir(&self) -> Option<&Path> {
        self.profile_dir.as_deref()
    }

    /// The programs that may run as the operator's browser, absolute.
    #[must_use]
    pub fn executables(&self) -> &[PathBuf] {
        &self.executables
    }

    /// Whether `--no-sandbox` is tolerated (containers, tests).
    #[must_use]
    pub const fn allows_no_sandbox(&self) -> bool {
        self.allow_no_sandbox
    }
}

/// What the profile says about the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Confirm {
    pub(super) deadline_seconds: u64,
}

impl Confirm {
    /// How long a window waits for the person before it counts as refused.
    #[must_use]
    pub const fn deadline(&self) -> Duration {
        Duration::from_secs(self.deadline_seconds)
    }
}

/// What the list says about one site and one tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum SiteDecision {
    /// Listed, with this tier.
    Granted,
    /// Listed, without this tier.
    TierNotGranted,
    /// Not listed.
    NotListed,
}

/// A checked profile. There is no other way to one than [`Profile::parse`].
#[derive(Debug, Clone)]
pub struct Profile {
    pub(super) sites: Vec<SiteEntry>,
    pub(super) browser: Browser,
    pub(super) limits: Limits,
    pub(super) confirm: Confirm,
    pub(super) locks: Vec<OwnLock>,
    pub(super) typed_text: TypedText,
    pub(super) hidden_text: HiddenText,
    pub(super) digest: Digest,
}

impl Profile {
    /// Parses and checks a profile's TOML.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its place and what to write instead. An empty list of sites is wrong.
    pub fn parse(text: &str) -> Result<Self, Problems> {
        parse::profile(text)
    }

    /// Whether this tier is granted on this site. Of several entries that cover it, the narrowest alone decides.
    pub fn decide(&self, site: &Site, tier: Tier) -> SiteDecision {
        match self.entry_for(site) {
            None => SiteDecision::NotListed,
            Some(entry) if entry.tiers.contains(&tier) => SiteDecision::Granted,
            Some(_) => SiteDecision::TierNotGranted,
        }
    }

    /// The same for a frame's origin. An origin that is no site of the web is never listed.
    pub fn decide_origin(&self, origin: &Origin, tier: Tier) -> SiteDecision {
        match origin {
            Origin::Site(site) => self.decide(site, tier),
            Origin::Blank | Origin::Opaque => SiteDecision::NotListed,
        }
    }

    /// The entry that decides about a site.
    #[must_use]
    pub fn entry_for(&self, site: &Site) -> Option<&SiteEntry> {
        self.sites
            .iter()
            .filter(|entry| entry.origin.covers(site))
            .max_by_key(|entry| entry.origin.narrowness())
    }

    /// Whether any site grants this tier: a tool of a tier that none grants is not registered.
    #[must_use]
    pub fn grants_anywhere(&self, tier: Tier) -> bool {
        self.sites.iter().any(|entry| entry.tiers.contains(&tier))
    }

    /// The listed sites in the profile's order.
    #[must_use]
    pub fn sites(&self) -> &[SiteEntry] {
        &self.sites
    }

    /// The browser.
    #[must_use]
    pub const fn browser(&self) -> &Browser {
        &self.browser
    }

    /// The numbers.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The window.
    #[must_use]
    pub const fn confirm(&self) -> &Confirm {
        &self.confirm
    }

    /// The operator's own locks.
    #[must_use]
    pub fn locks(&self) -> &[OwnLock] {
        &self.locks
    }

    /// How typed text is journalled.
    #[must_use]
    pub const fn typed_text(&self) -> TypedText {
        self.typed_text
    }

    /// What becomes of text that a person could not see.
    #[must_use]
    pub const fn hidden_text(&self) -> HiddenText {
        self.hidden_text
    }

    /// The digest of what the profile means: comments, spacing and the order of entries do not change it.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }
}

impl fmt::Display for SiteEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tiers: Vec<&str> = self.tiers.iter().map(|tier| tier.name()).collect();
        write!(f, "{}: {}", self.origin, tiers.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(text: &str) -> Site {
        Site::parse(text).unwrap()
    }

    #[test]
    fn the_narrowest_entry_decides() {
        let profile = Profile::parse(
            r#"
            version = 1
            [[site]]
            origin = "https://*.bank.test"
            tiers = ["read", "navigate", "act", "transfer"]
            [[site]]
            origin = "https://*.eu.bank.test"
            [[site]]
            origin = "https://pay.bank.test"
            tiers = ["read"]
            [[site]]
            origin = "http://127.0.0.1:8080"
            "#,
        )
        .unwrap();
        use SiteDecision as D;
        for (origin, tier, want) in [
            ("https://www.bank.test", Tier::Transfer, D::Granted),
            ("https://a.eu.bank.test", Tier::Act, D::Granted),
            ("https://a.eu.bank.test", Tier::Transfer, D::TierNotGranted),
            ("https://pay.bank.test", Tier::Read, D::Granted),
            ("https://pay.bank.test", Tier::Act, D::TierNotGranted),
            ("https://bank.test", Tier::Read, D::NotListed),
            ("http://127.0.0.1:8080", Tier::Act, D::Granted),
            ("http://127.0.0.1:8081", Tier::Read, D::NotListed),
            ("http://www.bank.test", Tier::Read, D::NotListed),
        ] {
            assert_eq!(profile.decide(&site(origin), tier), want, "{origin} {tier}");
            assert_eq!(
                profile.decide_origin(&Origin::Site(site(origin)), tier),
                want
            );
        }
        for tier in Tier::ALL {
            assert_eq!(profile.decide_origin(&Origin::Opaque, tier), D::NotListed);
            assert_eq!(profile.decide_origin(&Origin::Blank, tier), D::NotListed);
            assert!(profile.grants_anywhere(tier));
        }
        assert_eq!(profile.sites().len(), 4);
        assert_eq!(
            profile.sites()[1].to_string(),
            "https://*.eu.bank.test: read, navigate, act"
        );
    }

    #[test]
    fn tiers_that_nobody_grants() {
        let profile = Profile::parse(
            "version = 1\n[[site]]\norigin = \"https://a.test\"\ntiers = [\"read\"]\n",
        )
        .unwrap();
        assert!(profile.grants_anywhere(Tier::Read));
        assert!(!profile.grants_anywhere(Tier::Act));
        assert!(!profile.grants_anywhere(Tier::Transfer));
    }

    #[test]
    fn the_digest_follows_the_meaning() {
        let one = Profile::parse("version = 1\n[[site]]\norigin = \"https://a.test\"\n[[site]]\norigin = \"https://b.test\"\n").unwrap();
        let same = Profile::parse("# note\nversion=1\n[[site]]\norigin='https://B.test/'\ntiers=['act','read','navigate']\n[[site]]\norigin='https://a.test:443'\n[limits]\nmarks=250\n").unwrap();
        assert_eq!(one.digest(), same.digest());
        for change in [
            "[limits]\nmarks = 249\n",
            "[confirm]\ndeadline_seconds = 60\n",
            "[journal]\ntyped_text = \"full\"\n",
            "[text]\nhidden = \"mark\"\n",
            "[browser]\nallow_no_sandbox = true\n",
            "[browser]\nprofile_dir = \"/x/y\"\n",
            "[[lock]]\nclass = \"legal\"\nwords = [\"x y\"]\n",
            "[[site]]\norigin = \"https://c.test\"\n",
        ] {
            let other = Profile::parse(&format!("version = 1\n[[site]]\norigin = \"https://a.test\"\n[[site]]\norigin = \"https://b.test\"\n{change}")).unwrap();
            assert_ne!(one.digest(), other.digest(), "{change}");
        }
    }
}
