//! Reads `DevToolsActivePort`: the port and the browser id that the browser writes when it opens its port.

use std::fmt;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;

use super::directory::PrivateDirectory;
use super::reason::{self, refuse};
use crate::error::{Code, Refusal};

/// The file's name in the profile directory.
pub(super) const NAME: &str = "DevToolsActivePort";
/// The longest file the browser can have written: five digits, a line end, 18 + 36 characters and a line end.
const CAP: u64 = 61;
const PATH: &str = "/devtools/browser/";

/// The id one run of the browser gives itself: a UUID in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserId(String);

impl BrowserId {
    /// Reads 8-4-4-4-12 lowercase hexadecimal digits; anything else is `None`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let groups: Vec<&str> = text.split('-').collect();
        let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
        let digits = |group: &&str| {
            group
                .bytes()
                .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        };
        (lengths == [8, 4, 4, 4, 12] && groups.iter().all(digits)).then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for BrowserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the file says. It may be left over from a browser that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PortFile {
    pub(super) port: u16,
    pub(super) id: BrowserId,
}

impl PortFile {
    /// Reads the file in a directory that is ours alone.
    pub(super) fn read(directory: &PrivateDirectory) -> Result<Self, Refusal> {
        let unreadable = |_| refuse(Code::ProfileUnsafe, reason::PORT_FILE_UNREADABLE);
        let mut file = directory.open_file(NAME).map_err(|error| {
            if error.kind() == std::io::ErrorKind::NotFound {
                refuse(Code::BrowserAbsent, reason::NO_PORT_FILE)
            } else if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
                refuse(Code::ProfileUnsafe, reason::PORT_FILE_LINK)
            } else {
                unreadable(error)
            }
        })?;
        let found = file.metadata().map_err(unreadable)?;
        if !found.is_file() {
            return Err(refuse(Code::ProfileUnsafe, reason::PORT_FILE_KIND));
        }
        if found.uid() != rustix::process::geteuid().as_raw() || found.mode() & 0o022 != 0 {
            return Err(refuse(Code::ProfileUnsafe, reason::PORT_FILE_OWNER));
        }
        let mut bytes = Vec::new();
        (&mut file)
            .take(CAP + 1)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        std::str::from_utf8(&bytes)
            .ok()
            .and_then(Self::parse)
            .ok_or_else(|| refuse(Code::ProfileUnsafe, reason::PORT_FILE_FORM))
    }

    /// The port in plain decimal, a line end, the path with the id, and at most one more line end.
    fn parse(text: &str) -> Option<Self> {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let (port, path) = text.split_once('\n')?;
        let number: u16 = port.parse().ok()?;
        if number == 0 || number.to_string() != port {
            return None;
        }
        Some(Self {
            port: number,
            id: BrowserId::parse(path.strip_prefix(PATH)?)?,
        })
    }
}

/// The one address the websocket is opened at, and the one the live browser must name (security D1).
pub(super) fn websocket_url(port: u16, id: &BrowserId) -> String {
    format!("ws://127.0.0.1:{port}{PATH}{id}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Detail;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    const GOOD: &str = "36865\n/devtools/browser/4b257bf6-2153-43d6-876f-205eef7921df";

    #[test]
    fn what_the_browser_writes_is_read() {
        let file = PortFile::parse(GOOD).unwrap();
        assert_eq!(
            websocket_url(file.port, &file.id),
            "ws://127.0.0.1:36865/devtools/browser/4b257bf6-2153-43d6-876f-205eef7921df"
        );
        assert_eq!(PortFile::parse(&format!("{GOOD}\n")), Some(file));
        assert!(GOOD.len() < usize::try_from(CAP).unwrap());
        assert_eq!(
            format!("65535\n{PATH}{}\n", "0".repeat(36)).len() as u64,
            CAP
        );
    }

    #[test]
    fn nothing_else_is_read() {
        for bad in [
            "",
            "36865",
            "36865\n",
            "0\n/devtools/browser/4b257bf6-2153-43d6-876f-205eef7921df",
            "036865\n/devtools/browser/4b257bf6-2153-43d6-876f-205eef7921df",
            "+3686\n/devtools/browser/4b257bf6-2153-43d6-876f-205eef7921df",
            "99999\n/devtools/browser/4b257bf6-2153-43d6-876f-205eef7921df",
            " 36865\n/devtools/browser/4b257bf6-2153-43d6-876f-205eef7921df",
            "36865\r\n/devtools/browser/4b257bf6-2153-43d6-876f-205eef7921df",
            "36865\n/devtools/page/4b257bf6-2153-43d6-876f-205eef7921df",
            "36865\n/devtools/browser/4B257bf6-2153-43d6-876f-205eef7921df",
            "36865\n/devtools/browser/4b257bf621532-3d6-876f-205eef7921df",
            "36865\n/devtools/browser/4b257bf6-2153-43d6-876f-205eef7921df\n\n",
            "36865\n/devtools/browser/4b257bf6-2153-43d6-876f-205eef7921d@",
        ] {
            assert_eq!(PortFile::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_link_a_pipe_a_long_or_a_shared_file_is_refused() {
        let scratch = tempfile::tempdir().unwrap();
        fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let directory = PrivateDirectory::open(scratch.path()).unwrap();
        let path = scratch.path().join(NAME);
        let refused = |code: Code, why: &'static str| {
            let refusal = PortFile::read(&directory).unwrap_err();
            assert_eq!(refusal.code(), code);
            assert_eq!(refusal.detail(), Some(&Detail::Reason(why)));
        };
        refused(Code::BrowserAbsent, reason::NO_PORT_FILE);

        let elsewhere = scratch.path().join("elsewhere");
        fs::write(&elsewhere, GOOD).unwrap();
        symlink(&elsewhere, &path).unwrap();
        refused(Code::ProfileUnsafe, reason::PORT_FILE_LINK);
        fs::remove_file(&path).unwrap();

        // A pipe nobody writes to must not hold the reader.
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &path,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        refused(Code::ProfileUnsafe, reason::PORT_FILE_KIND);
        fs::remove_file(&path).unwrap();

        fs::write(&path, format!("{GOOD}{}", "\n".repeat(10_000))).unwrap();
        refused(Code::ProfileUnsafe, reason::PORT_FILE_FORM);
        fs::write(&path, GOOD).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
        refused(Code::ProfileUnsafe, reason::PORT_FILE_OWNER);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(PortFile::read(&directory).unwrap().port, 36865);
    }

    proptest::proptest! {
        #[test]
        fn what_is_read_is_what_was_written(text in "\\PC{0,70}|[0-9]{1,6}\n/devtools/browser/[0-9a-f-]{36}") {
            if let Some(file) = PortFile::parse(&text) {
                proptest::prop_assert_eq!(format!("{}\n{PATH}{}", file.port, file.id), text);
            }
        }
    }
}
