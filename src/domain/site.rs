//! Sites and addresses, parsed once at the door into one canonical form (security U1, U3).
//!
//! Whatever is compared, listed or handed to the browser is the serialisation of these types, never the text that came in.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};
use url::Url;

use super::text::Untrusted;

/// The two schemes a page may come by. `http` is allowed only for hosts that the profile lists with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// `http`
    Http,
    /// `https`
    Https,
}

impl Scheme {
    /// The scheme's spelling in a URL.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The port a URL means when it names none.
    #[must_use]
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// A host in canonical form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// A name in ASCII (A-label) form, lower case, without trailing dot.
    Name(String),
    /// An IPv4 address.
    V4(Ipv4Addr),
    /// An IPv6 address.
    V6(Ipv6Addr),
}

impl Host {
    /// The part a person registers and trusts (`bank.test` of `login.bank.test`), where the public-suffix list knows one.
    #[must_use]
    pub fn registrable(&self) -> Option<&str> {
        match self {
            Self::Name(name) => psl::domain_str(name),
            Self::V4(_) | Self::V6(_) => None,
        }
    }

    /// Loopback, private, link-local and other addresses that are not on the public internet, and names that mean them.
    #[must_use]
    pub fn is_private(&self) -> bool {
        match self {
            Self::Name(name) => {
                name == "localhost" || name.ends_with(".localhost") || name.ends_with(".local")
            }
            Self::V4(ip) => private_v4(*ip),
            Self::V6(ip) => {
                let head = ip.segments()[0];
                ip.is_loopback()
                    || ip.is_unspecified()
                    || ip.is_multicast()
                    || (head & 0xfe00) == 0xfc00
                    || (head & 0xffc0) == 0xfe80
                    || ip.to_ipv4().is_some_and(private_v4)
            }
        }
    }
}

fn private_v4(ip: Ipv4Addr) -> bool {
    let [a, b, ..] = ip.octets();
    ip.is_loopback()
        || ip.is_private()
        || ip.is_link_local()
        || ip.is_unspecified()
        || ip.is_broadcast()
        || ip.is_multicast()
        || a == 0
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (18..20).contains(&b))
        || a >= 240
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::V4(ip) => write!(f, "{ip}"),
            Self::V6(ip) => write!(f, "[{ip}]"),
        }
    }
}

/// Scheme, host and port: what decides.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Site {
    scheme: Scheme,
    host: Host,
    port: u16,
}

impl Site {
    /// Reads an origin as a profile or the browser spells it, `https://host` or `https://host:port`, with nothing after it.
    ///
    /// # Errors
    /// Where the text is no such origin, or spells one in a way that is not its canonical form.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let address = Address::parse(text)?;
        if address.url.path() != "/"
            || address.url.query().is_some()
            || address.url.fragment().is_some()
        {
            return Err(AddressError::NotAnOrigin);
        }
        Ok(address.site)
    }

    /// The scheme.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The host.
    #[must_use]
    pub const fn host(&self) -> &Host {
        &self.host
    }

    /// The port, also where it is the scheme's default.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.as_str(), self.host)?;
        if self.port == self.scheme.default_port() {
            Ok(())
        } else {
            write!(f, ":{}", self.port)
        }
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Site({self})")
    }
}

impl From<Site> for String {
    fn from(site: Site) -> Self {
        site.to_string()
    }
}

impl TryFrom<String> for Site {
    type Error = AddressError;

    fn try_from(text: String) -> Result<Self, AddressError> {
        Self::parse(&text)
    }
}

/// The security origin of a frame as the browser states it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A site of the web.
    Site(Site),
    /// Our own empty page, before anything was loaded.
    Blank,
    /// Anything else: sandboxed, `data:`, `file:`, an error page. Never actionable.
    Opaque,
}

impl Origin {
    /// Reads what the browser reports for an execution context.
    #[must_use]
    pub fn from_browser(text: &str) -> Self {
        Site::parse(text).map_or(Self::Opaque, Self::Site)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Site(site) => site.fmt(f),
            Self::Blank => f.write_str("about:blank"),
            Self::Opaque => f.write_str("(no origin)"),
        }
    }
}

/// A whole web address in canonical form, without user-info.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Address {
    url: Url,
    site: Site,
}

/// The longest address that is taken.
const LONGEST_ADDRESS: usize = 8_192;

impl Address {
    /// Parses as a browser would, then refuses what a person could be misled by.
    ///
    /// # Errors
    /// See [`AddressError`]; each says what to change.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        if text.len() > LONGEST_ADDRESS {
            return Err(AddressError::TooLong);
        }
        if text.chars().any(|c| c.is_control() || c.is_whitespace()) || text.contains('\\') {
            return Err(AddressError::Characters);
        }
        let url = Url::parse(text).map_err(|_| AddressError::Malformed)?;
        let scheme = match url.scheme() {
            "https" => Scheme::Https,
            "http" => Scheme::Http,
            _ => return Err(AddressError::Scheme),
        };
        // `https:bank.test` and `https:///bank.test` parse to a host; a person does not write them.
        let spelt = text.get(scheme.as_str().len()..).unwrap_or_default();
        if !spelt.starts_with("://") || spelt.starts_with(":///") {
            return Err(AddressError::Malformed);
        }
        if !url.username().is_empty() || url.password().is_some() || authority(spelt).contains('@')
        {
            return Err(AddressError::UserInfo);
        }
        let port = url
            .port_or_known_default()
            .filter(|port| *port != 0)
            .ok_or(AddressError::Malformed)?;
        let host = match url.host() {
            Some(url::Host::Ipv4(ip)) => {
                if !authority_host(spelt).eq(&ip.to_string()) {
                    return Err(AddressError::IpSpelling);
                }
                Host::V4(ip)
            }
            Some(url::Host::Ipv6(ip)) => Host::V6(ip),
            Some(url::Host::Domain(name)) => {
                let name = name.to_ascii_lowercase();
                let whole = !name.is_empty() && name.len() <= 253 && !name.contains("%");
                if !whole
                    || name
                        .split('.')
                        .any(|label| label.is_empty() || label.len() > 63)
                {
                    return Err(AddressError::Host);
                }
                Host::Name(name)
            }
            None => return Err(AddressError::Host),
        };
        Ok(Self {
            site: Site { scheme, host, port },
            url,
        })
    }

    /// Scheme, host and port.
    #[must_use]
    pub const fn site(&self) -> &Site {
        &self.site
    }

    /// Our serialisation: the one the browser is given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// The parsed form.
    #[must_use]
    pub const fn url(&self) -> &Url {
        &self.url
    }

    /// Path and query, for matching words; still untrusted.
    #[must_use]
    pub fn path_and_query(&self) -> Untrusted {
        let query = self
            .url
            .query()
            .map(|q| format!("?{q}"))
            .unwrap_or_default();
        Untrusted::new(format!("{}{query}", self.url.path()))
    }
}

fn authority(after_scheme: &str) -> &str {
    let rest = after_scheme.trim_start_matches([':', '/']);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

fn authority_host(after_scheme: &str) -> &str {
    authority(after_scheme)
        .split(':')
        .next()
        .unwrap_or_default()
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({})", self.url)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.url.as_str())
    }
}

/// Why a text is no address that countersign takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressError {
    /// Neither `https` nor `http`.
    Scheme,
    /// Not a URL.
    Malformed,
    /// A name or password before the host.
    UserInfo,
    /// An empty label, a trailing dot, or no host at all.
    Host,
    /// An IP address in octal, hexadecimal, decimal or shortened form.
    IpSpelling,
    /// White space, a control character or a backslash.
    Characters,
    /// An origin has no path, query or fragment.
    NotAnOrigin,
    /// Over 8,192 bytes.
    TooLong,
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scheme => "only https (and http, for hosts listed so) is allowed",
            Self::Malformed => "this is not an absolute URL such as https://example.org/",
            Self::UserInfo => "a URL with a user name or password before the host is not allowed",
            Self::Host => "the host is missing, or has an empty label or a trailing dot",
            Self::IpSpelling => "an IP address must be spelt in its plain dotted form",
            Self::Characters => {
                "a URL must not hold white space, control characters or backslashes"
            }
            Self::NotAnOrigin => {
                "an origin has no path, query or fragment: write https://host or https://host:port"
            }
            Self::TooLong => "the URL is longer than 8,192 bytes",
        })
    }
}

impl std::error::Error for AddressError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn canonical_form() {
        let cases = [
            ("https://Bank.Test/a?b#c", "https://bank.test"),
            ("https://bank.test:443/", "https://bank.test"),
            ("http://bank.test:8080", "http://bank.test:8080"),
            ("https://bücher.example/", "https://xn--bcher-kva.example"),
            ("http://127.0.0.1:9/", "http://127.0.0.1:9"),
            ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]"),
            ("https://ＢＡＮＫ.test/", "https://bank.test"),
        ];
        for (text, want) in cases {
            let address = Address::parse(text).unwrap();
            assert_eq!(address.site().to_string(), want, "{text}");
            assert_eq!(Site::parse(want).unwrap(), *address.site());
        }
    }

    #[test]
    fn refused_forms() {
        use AddressError as E;
        let cases = [
            ("javascript:alert(1)", E::Scheme),
            ("data:text/html,x", E::Scheme),
            ("blob:https://bank.test/1", E::Scheme),
            ("file:///etc/passwd", E::Scheme),
            ("view-source:https://bank.test/", E::Scheme),
            ("chrome://settings", E::Scheme),
            ("about:blank", E::Scheme),
            ("https://user@bank.test/", E::UserInfo),
            ("https://@bank.test/", E::UserInfo),
            ("https://bank.test@evil.test/", E::UserInfo),
            ("https://bank.test./", E::Host),
            ("https://bank..test/", E::Host),
            ("https://bank.test\\@evil.test/", E::Characters),
            ("https://bank.test/\n", E::Characters),
            (" https://bank.test/", E::Characters),
            ("http://0x7f000001/", E::IpSpelling),
            ("http://2130706433/", E::IpSpelling),
            ("http://127.1/", E::IpSpelling),
            ("http://0177.0.0.1/", E::IpSpelling),
            ("https:bank.test", E::Malformed),
            ("https:///bank.test", E::Malformed),
            ("bank.test", E::Malformed),
            ("https://bank.test:0/", E::Malformed),
        ];
        for (text, want) in cases {
            assert_eq!(
                Address::parse(text).map(|a| a.to_string()),
                Err(want),
                "{text}"
            );
        }
        assert_eq!(Site::parse("https://bank.test/path"), Err(E::NotAnOrigin));
    }

    #[test]
    fn private_hosts() {
        for text in [
            "http://127.0.0.1",
            "http://10.1.2.3",
            "http://[::1]",
            "http://[fd00::1]",
            "http://[::ffff:10.0.0.1]",
            "http://localhost",
            "http://169.254.169.254",
            "http://100.64.0.1",
        ] {
            assert!(Site::parse(text).unwrap().host().is_private(), "{text}");
        }
        for text in [
            "https://bank.test",
            "http://8.8.8.8",
            "http://[2606:4700::1]",
        ] {
            assert!(!Site::parse(text).unwrap().host().is_private(), "{text}");
        }
    }

    #[test]
    fn registrable_domain_is_none_for_addresses() {
        assert_eq!(
            Site::parse("http://127.0.0.1")
                .unwrap()
                .host()
                .registrable(),
            None
        );
        assert_eq!(
            Site::parse("https://a.b.example.co.uk")
                .unwrap()
                .host()
                .registrable(),
            Some("example.co.uk")
        );
    }

    proptest! {
        #[test]
        fn an_accepted_address_is_its_own_canonical_form(text in "https?://[ -~é]{1,40}") {
            if let Ok(address) = Address::parse(&text) {
                let again = Address::parse(address.as_str()).unwrap();
                prop_assert_eq!(&again, &address);
                prop_assert_eq!(Site::parse(&address.site().to_string()).unwrap(), address.site().clone());
            }
        }
    }
}
