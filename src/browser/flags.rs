//! The flags that take a browser's protection away; a browser that was started with one is refused (security D3).
//!
//! Arguments are read as Chromium reads them: a flag begins with one dash or two, white space around it does not count,
//! and after `--` there are no flags. What follows `--` is checked all the same.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

use super::reason::refuse;
use crate::error::{Code, Refusal};

/// Whether the profile lets the browser run without its sandbox (containers, tests).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoSandbox {
    /// A browser without its sandbox is refused.
    Refused,
    /// The operator's profile says that it may.
    Allowed,
}

/// When a flag of the table counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Always, whatever its value.
    Always,
    /// Unless the profile allows running without the sandbox.
    Sandbox,
    /// Where it has a value: Debian's launcher passes some of them empty.
    WithValue,
    /// Where its value is not a literal loopback address.
    NotLoopback,
    /// Where its value names one of these features, spelled in any case.
    Naming(&'static [&'static str]),
    /// Where its value is not one of these.
    OtherThan(&'static [&'static str]),
    /// Where its value names a place outside the system's own `/usr/share/`, which only root can write.
    OutsideSystem,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag {
    /// The flag without its dashes.
    pub name: &'static str,
    /// When it counts.
    pub when: When,
    /// What it takes away; the constant reason of the refusal.
    pub why: &'static str,
}

const ISOLATION: &[&str] = &[
    "IsolateOrigins",
    "site-per-process",
    "SitePerProcess",
    "IsolateSandboxedIframes",
    "StrictSiteIsolation",
    "OriginKeyedProcessesByDefault",
    "LocalNetworkAccessChecks",
];

macro_rules! table {
    ($( $name:literal $when:expr, $why:literal; )*) => {
        /// The table. Each row's `why` is what the refusal says.
        pub const TABLE: &[Flag] = &[$( Flag { name: $name, when: $when, why: concat!("--", $name, ": ", $why) } ),*];
    };
}

table! {
    // The port itself.
    "remote-allow-origins" When::WithValue, "a web page could open the debugging port";
    "remote-debugging-address" When::NotLoopback, "the debugging port would be open to other machines";
    "remote-debugging-pipe" When::Always, "somebody else holds a debugging pipe to the browser";
    "remote-debugging-targets" When::Always, "the debugging port would offer targets of other kinds";
    "custom-devtools-frontend" When::Always, "the developer tools would come from elsewhere";
    // What keeps sites apart.
    "disable-web-security" When::Always, "sites could read each other";
    "disable-site-isolation-trials" When::Always, "sites would share processes";
    "disable-site-isolation-for-policy" When::Always, "sites would share processes";
    "disable-features" When::Naming(ISOLATION), "the features named here keep sites apart";
    "enable-blink-features" When::Naming(&["MojoJS"]), "pages could speak to the browser's own services";
    "disable-blink-features" When::Naming(&["LocalNetworkAccess"]), "pages could reach the local network";
    "allow-file-access-from-files" When::Always, "pages could read files";
    "disable-kill-after-bad-ipc" When::Always, "a page's process that lies would live on";
    // Certificates and encryption.
    "ignore-certificate-errors" When::Always, "anybody on the network could pose as any site";
    "ignore-certificate-errors-spki-list" When::WithValue, "whoever has these keys could pose as any site";
    "allow-insecure-localhost" When::Always, "certificate errors would be passed over";
    "allow-running-insecure-content" When::Always, "secure pages could load insecure scripts";
    "unsafely-treat-insecure-origin-as-secure" When::WithValue, "insecure sites would count as secure";
    "ssl-key-log-file" When::WithValue, "the keys of every connection would be written to a file";
    "net-log-capture-mode" When::OtherThan(&["Default"]), "cookies and passwords would be written to a log";
    // The sandbox, and what would run instead of the browser's own processes.
    "no-sandbox" When::Sandbox, "pages would run without the sandbox";
    "disable-setuid-sandbox" When::Sandbox, "pages could run without the sandbox";
    "disable-namespace-sandbox" When::Sandbox, "pages could run without the sandbox";
    "disable-seccomp-filter-sandbox" When::Sandbox, "pages would run without the system-call filter";
    "disable-gpu-sandbox" When::Sandbox, "the graphics process would run without the sandbox";
    "no-zygote" When::Sandbox, "pages would run without the sandbox";
    "no-zygote-sandbox" When::Sandbox, "pages would start from an open process";
    "allow-sandbox-debugging" When::Sandbox, "sandboxed processes could be looked into";
    "single-process" When::Always, "pages would run inside the browser's own process";
    "in-process-gpu" When::Always, "the graphics code would run inside the browser's own process";
    "renderer-cmd-prefix" When::Always, "another program would run in place of page processes";
    "utility-cmd-prefix" When::Always, "another program would run in place of helper processes";
    "gpu-launcher" When::Always, "another program would run in place of the graphics process";
    "browser-subprocess-path" When::Always, "another program would run in place of the browser's processes";
    // Extensions and consent.
    "load-extension" When::OutsideSystem, "an extension that was not installed would see every page";
    "enable-unsafe-extension-debugging" When::Always, "extensions could be put in through the debugging port";
    "silent-debugger-extension-api" When::Always, "an extension could drive pages unseen";
    "extensions-on-chrome-urls" When::Always, "extensions could act on the browser's own pages";
    "allowlisted-extension-id" When::WithValue, "an extension would get rights of the browser's own";
    "use-fake-ui-for-media-stream" When::Always, "camera and microphone would be given without asking";
    "auto-accept-camera-and-microphone-capture" When::Always, "camera and microphone would be given without asking";
    "auto-select-desktop-capture-source" When::Always, "the screen would be given without asking";
    "auto-accept-this-tab-capture" When::Always, "the tab would be recorded without asking";
}

/// One flag as it stands in an argument list.
#[derive(Debug, PartialEq, Eq)]
pub struct Given<'a> {
    /// The name without dashes.
    pub name: &'a [u8],
    /// What follows the first `=`; empty where nothing does.
    pub value: &'a [u8],
}

/// Reads one argument; `None` where it is not a flag.
#[must_use]
pub fn given(argument: &OsString) -> Option<Given<'_>> {
    let text = argument.as_bytes().trim_ascii();
    let body = text
        .strip_prefix(b"--")
        .or_else(|| text.strip_prefix(b"-"))?;
    if body.is_empty() {
        return None;
    }
    let mut parts = body.splitn(2, |byte| *byte == b'=');
    Some(Given {
        name: parts.next().unwrap_or_default(),
        value: parts.next().unwrap_or_default(),
    })
}

/// Looks through an argument list (without the program's own name).
///
/// # Errors
/// [`Code::UnsafeFlags`] with the row's reason for the first flag that takes protection away.
pub fn check(arguments: &[OsString], no_sandbox: NoSandbox) -> Result<(), Refusal> {
    for given in arguments.iter().filter_map(given) {
        let rows = TABLE.iter().filter(|row| row.name.as_bytes() == given.name);
        for row in rows {
            if counts(row.when, given.value, no_sandbox) {
                return Err(refuse(Code::UnsafeFlags, row.why));
            }
        }
    }
    Ok(())
}

fn counts(when: When, value: &[u8], no_sandbox: NoSandbox) -> bool {
    match when {
        When::Always => true,
        When::Sandbox => match no_sandbox {
            NoSandbox::Refused => true,
            NoSandbox::Allowed => false,
        },
        When::WithValue => !value.is_empty(),
        When::NotLoopback => !is_loopback(value),
        When::Naming(names) => names.iter().any(|name| contains(value, name.as_bytes())),
        When::OtherThan(names) => !names.iter().any(|name| name.as_bytes() == value),
        When::OutsideSystem => value
            .split(|byte| *byte == b',')
            .map(<[u8]>::trim_ascii)
            .any(|path| {
                !path.is_empty() && (!path.starts_with(b"/usr/share/") || contains(path, b"/../"))
            }),
    }
}

fn is_loopback(value: &[u8]) -> bool {
    std::str::from_utf8(value)
        .ok()
        .and_then(|text| text.parse::<std::net::IpAddr>().ok())
        .is_some_and(|ip| ip.is_loopback())
}

fn contains(value: &[u8], name: &[u8]) -> bool {
    value
        .windows(name.len())
        .any(|part| part.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Detail;

    fn verdict(argument: &str, no_sandbox: NoSandbox) -> Result<(), Refusal> {
        check(&[argument.into()], no_sandbox)
    }

    /// A value that counts, and one that does not (where there is one).
    fn examples(when: When) -> (String, Option<&'static str>) {
        match when {
            When::Always => (String::new(), None),
            When::Sandbox => (String::new(), None),
            When::WithValue => ("=*".to_owned(), Some("=")),
            When::NotLoopback => ("=0.0.0.0".to_owned(), Some("=127.0.0.1")),
            When::Naming(names) => (
                format!("=A,{}<trial", names[0].to_ascii_uppercase()),
                Some("=Translate"),
            ),
            When::OtherThan(_) => ("=IncludeSensitive".to_owned(), Some("=Default")),
            When::OutsideSystem => (
                "=/usr/share/a,/home/me/x".to_owned(),
                Some("=/usr/share/chromium/extensions/a"),
            ),
        }
    }

    #[test]
    fn every_row_refuses_in_every_spelling_chromium_takes() {
        for row in TABLE {
            let (bad, good) = examples(row.when);
            for prefix in ["--", "-", " --", "\t-"] {
                let refusal = verdict(&format!("{prefix}{}{bad}", row.name), NoSandbox::Refused)
                    .expect_err(row.name);
                assert_eq!(refusal.code(), Code::UnsafeFlags);
                assert_eq!(refusal.detail(), Some(&Detail::Reason(row.why)));
            }
            if let Some(good) = good {
                verdict(&format!("--{}{good}", row.name), NoSandbox::Refused).expect(row.name);
            }
        }
    }

    #[test]
    fn the_profile_lifts_the_sandbox_rows_and_no_other() {
        for row in TABLE {
            let (bad, _) = examples(row.when);
            let lifted = verdict(&format!("--{}{bad}", row.name), NoSandbox::Allowed).is_ok();
            assert_eq!(lifted, row.when == When::Sandbox, "{}", row.name);
        }
    }

    #[test]
    fn every_isolation_feature_is_seen_among_others() {
        for feature in ISOLATION {
            verdict(
                &format!("--disable-features=Translate,{feature}"),
                NoSandbox::Allowed,
            )
            .expect_err(feature);
        }
    }

    #[test]
    fn what_the_launcher_of_debian_adds_is_fine() {
        let given: Vec<OsString> = [
            "--show-component-extension-options",
            "--enable-gpu-rasterization",
            "--no-default-browser-check",
            "--disable-pings",
            "--media-router=0",
            "--disable-dev-shm-usage",
            "--enable-remote-extensions",
            "--load-extension=",
            "about:blank",
            "no-sandbox",
            "-",
            "--",
        ]
        .into_iter()
        .map(Into::into)
        .collect();
        check(&given, NoSandbox::Refused).unwrap();
    }

    #[test]
    fn an_extension_path_that_climbs_out_is_refused() {
        for path in ["/usr/share/../../home/x", "relative", "/usr/shared/x"] {
            verdict(&format!("--load-extension={path}"), NoSandbox::Allowed).expect_err(path);
        }
    }

    #[test]
    fn a_later_flag_is_seen_as_well() {
        check(
            &["--a".into(), "--".into(), "--no-sandbox".into()],
            NoSandbox::Refused,
        )
        .expect_err("what follows -- is checked all the same");
    }

    proptest::proptest! {
        #[test]
        fn no_argument_panics(bytes in proptest::collection::vec(0_u8..=255, 0..80)) {
            use std::os::unix::ffi::OsStringExt as _;
            let _ = check(&[OsString::from_vec(bytes)], NoSandbox::Refused);
        }
    }
}
