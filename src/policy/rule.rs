//! A site rule of the profile: one exact origin, or the subdomains of a registered name (security U2).

use std::fmt;

use serde::{Serialize, Serializer};

use crate::domain::site::{AddressError, Host, Scheme, Site};

/// Which sites an entry of the profile speaks of. There is no other way to one than [`SiteRule::parse`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SiteRule(Extent);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Extent {
    /// This origin alone.
    Exact(Site),
    /// Every public host below this one, with the same scheme and port; not the host itself.
    Below(Site),
}

impl SiteRule {
    /// Reads `https://host`, `https://host:port` or `https://*.host`.
    ///
    /// # Errors
    /// See [`RuleError`]; each says what to write instead.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let Some((scheme, rest)) = text.split_once("://*.") else {
            return if text.contains('*') {
                Err(RuleError::Star)
            } else {
                Site::parse(text)
                    .map(|site| Self(Extent::Exact(site)))
                    .map_err(RuleError::Address)
            };
        };
        if rest.contains('*') {
            return Err(RuleError::Star);
        }
        let base = Site::parse(&format!("{scheme}://{rest}")).map_err(RuleError::Address)?;
        match base.host() {
            Host::V4(_) | Host::V6(_) => return Err(RuleError::StarBeforeAddress),
            Host::Name(_) => {}
        }
        if base.host().is_private() {
            return Err(RuleError::StarBeforePrivate);
        }
        if base.host().registrable().is_none() {
            return Err(RuleError::StarBeforeSuffix(base.host().to_string()));
        }
        Ok(Self(Extent::Below(base)))
    }

    /// Whether the rule speaks of this site.
    #[must_use]
    pub fn covers(&self, site: &Site) -> bool {
        match &self.0 {
            Extent::Exact(exact) => exact == site,
            Extent::Below(base) => {
                base.scheme() == site.scheme()
                    && base.port() == site.port()
                    && !site.host().is_private()
                    && is_below(site.host(), base.host())
            }
        }
    }

    /// How narrow the rule is: of two that cover a site, the greater one decides.
    pub(super) fn narrowness(&self) -> usize {
        match &self.0 {
            Extent::Exact(_) => usize::MAX,
            Extent::Below(base) => base.host().to_string().len(),
        }
    }

    /// Whether pages may come without encryption.
    #[must_use]
    pub fn is_plain_http(&self) -> bool {
        let (Extent::Exact(site) | Extent::Below(site)) = &self.0;
        site.scheme() == Scheme::Http
    }
}

fn is_below(host: &Host, base: &Host) -> bool {
    match (host, base) {
        (Host::Name(host), Host::Name(base)) => host
            .strip_suffix(base.as_str())
            .and_then(|front| front.strip_suffix('.'))
            .is_some_and(|labels| !labels.is_empty()),
        (Host::Name(_) | Host::V4(_) | Host::V6(_), _) => false,
    }
}

impl fmt::Display for SiteRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Extent::Exact(site) => site.fmt(f),
            Extent::Below(base) => {
                let spelt = base.to_string();
                let scheme = base.scheme().as_str();
                let rest = spelt
                    .strip_prefix(scheme)
                    .and_then(|rest| rest.strip_prefix("://"));
                write!(f, "{scheme}://*.{}", rest.unwrap_or_default())
            }
        }
    }
}

impl Serialize for SiteRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Why a text is no site rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleError {
    /// Not an origin.
    Address(AddressError),
    /// `*` anywhere but as the first label.
    Star,
    /// `*.` before an IP address.
    StarBeforeAddress,
    /// `*.` before a name that means this machine or this network.
    StarBeforePrivate,
    /// `*.` before a public suffix, which would cover strangers' sites.
    StarBeforeSuffix(String),
}

impl RuleError {
    /// What to write instead.
    #[must_use]
    pub fn instead(&self) -> String {
        match self {
            Self::Address(_) => "write an origin such as https://bank.example or https://bank.example:8443".into(),
            Self::Star => "`*` may only be the first label: write https://*.bank.example; there is no rule for all sites".into(),
            Self::StarBeforeAddress | Self::StarBeforePrivate => {
                "write each such host as an entry of its own, such as http://localhost:8080".into()
            }
            Self::StarBeforeSuffix(suffix) => format!("write a registered name, such as https://*.example.{suffix}"),
        }
    }
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(error) => error.fmt(f),
            Self::Star => f.write_str("`*` stands in the wrong place"),
            Self::StarBeforeAddress => f.write_str("an IP address has no subdomains"),
            Self::StarBeforePrivate => {
                f.write_str("a wildcard never covers hosts of this machine or this network")
            }
            Self::StarBeforeSuffix(suffix) => {
                write!(f, "`{suffix}` is a public suffix, shared by strangers")
            }
        }
    }
}

impl std::error::Error for RuleError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn covers(rule: &str, site: &str) -> bool {
        SiteRule::parse(rule)
            .unwrap()
            .covers(&Site::parse(site).unwrap())
    }

    #[test]
    fn what_a_rule_covers() {
        for (rule, site, want) in [
            ("https://bank.test", "https://bank.test", true),
            ("https://Bank.Test:443/", "https://bank.test", true),
            ("https://bank.test", "http://bank.test", false),
            ("https://bank.test", "https://bank.test:8443", false),
            ("https://bank.test", "https://www.bank.test", false),
            ("https://*.bank.test", "https://www.bank.test", true),
            ("https://*.bank.test", "https://a.b.bank.test", true),
            ("https://*.bank.test", "https://bank.test", false),
            ("https://*.bank.test", "https://evilbank.test", false),
            ("https://*.bank.test", "https://bank.test.evil.test", false),
            ("https://*.bank.test", "http://www.bank.test", false),
            (
                "https://*.bank.test:8443",
                "https://www.bank.test:8443",
                true,
            ),
            ("https://*.bank.test:8443", "https://www.bank.test", false),
            (
                "https://*.example.co.uk",
                "https://shop.example.co.uk",
                true,
            ),
            (
                "https://*.bücher.example",
                "https://www.xn--bcher-kva.example",
                true,
            ),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080", true),
        ] {
            assert_eq!(covers(rule, site), want, "{rule} {site}");
        }
    }

    #[test]
    fn what_is_no_rule() {
        use RuleError as E;
        for (text, want) in [
            ("*", E::Star),
            ("https://*", E::Star),
            ("*://bank.test", E::Star),
            ("https://www.*.test", E::Star),
            ("https://*bank.test", E::Star),
            ("https://*.*.test", E::Star),
            ("https://*.127.0.0.1", E::StarBeforeAddress),
            ("http://*.[::1]", E::StarBeforeAddress),
            ("http://*.localhost", E::StarBeforePrivate),
            ("http://*.printer.local", E::StarBeforePrivate),
            ("https://*.co.uk", E::StarBeforeSuffix("co.uk".into())),
            ("https://*.com", E::StarBeforeSuffix("com".into())),
            (
                "https://*.github.io",
                E::StarBeforeSuffix("github.io".into()),
            ),
            ("https://*.test", E::StarBeforeSuffix("test".into())),
            ("bank.test", E::Address(AddressError::Malformed)),
            ("ftp://bank.test", E::Address(AddressError::Scheme)),
            (
                "https://bank.test/login",
                E::Address(AddressError::NotAnOrigin),
            ),
            (
                "https://*.bank.test/login",
                E::Address(AddressError::NotAnOrigin),
            ),
            ("https://me@bank.test", E::Address(AddressError::UserInfo)),
            ("javascript://*.bank.test", E::Address(AddressError::Scheme)),
        ] {
            assert_eq!(SiteRule::parse(text), Err(want), "{text}");
        }
    }

    #[test]
    fn even_a_wildcard_that_cannot_be_written_covers_no_private_host() {
        for (base, host) in [
            ("http://printer.local", "http://a.printer.local"),
            ("http://localhost", "http://a.localhost"),
        ] {
            let base = Site::parse(base).unwrap();
            let host = Site::parse(host).unwrap();
            assert!(is_below(host.host(), base.host()));
            assert!(!SiteRule(Extent::Below(base)).covers(&host));
        }
    }

    #[test]
    fn a_rule_is_shown_as_it_can_be_written() {
        for text in [
            "https://bank.test",
            "https://*.bank.test:8443",
            "http://*.bank.test",
            "http://[::1]:9",
        ] {
            assert_eq!(SiteRule::parse(text).unwrap().to_string(), text);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_rule_or_an_error(text in "(https?://)?(\\*\\.)?[ -~é]{0,30}") {
            if let Ok(rule) = SiteRule::parse(&text) {
                prop_assert_eq!(SiteRule::parse(&rule.to_string()), Ok(rule));
            }
        }

        #[test]
        fn a_wildcard_covers_only_what_ends_in_it(host in "[a-z.-]{1,30}") {
            if let Ok(site) = Site::parse(&format!("https://{host}")) {
                let covered = covers("https://*.bank.test", &site.to_string());
                prop_assert_eq!(covered, host.ends_with(".bank.test"));
            }
        }
    }
}
