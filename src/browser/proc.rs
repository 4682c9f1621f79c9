//! Reads what the kernel says about TCP sockets and processes; nothing here decides.
//!
//! Everything is read strictly: a table that does not parse is an error, never an empty table.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

/// The most bytes of a command line that are read: the kernel's own limit for one argument list.
const COMMAND_LINE_CAP: u64 = 2 * 1024 * 1024;
/// The most bytes of one small /proc file that are read.
const SMALL_CAP: u64 = 64 * 1024;
/// The most bytes of a socket table that are read: some 200,000 sockets.
const TABLE_CAP: u64 = 32 * 1024 * 1024;

/// A process id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pid(u32);

impl Pid {
    /// Takes a number that is a process id.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// This process.
    #[must_use]
    pub fn own() -> Self {
        Self(std::process::id())
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    fn file(self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.0))
    }
}

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// When a process started, in clock ticks since the machine did. With the pid it names one process for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Started(u64);

/// The state of a TCP socket, as far as anything here asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Connected (01).
    Established,
    /// Waiting for connections (0A).
    Listening,
    /// Over, kept by the kernel alone (06 and 07).
    Over,
    /// Half open or half closed (the other states).
    Passing,
}

/// One row of the kernel's TCP tables. IPv4 addresses mapped into IPv6 are given as IPv4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Socket {
    /// Our side's address.
    pub local: SocketAddr,
    /// The other side's address.
    pub remote: SocketAddr,
    /// The state.
    pub state: State,
    /// The user id of whoever made it.
    pub uid: u32,
    /// The socket's inode; 0 while or once no process holds it.
    pub inode: u64,
}

/// All TCP sockets of this network namespace, IPv4 and IPv6.
///
/// # Errors
/// Where a table cannot be read or has a row that does not parse.
pub fn sockets() -> io::Result<Vec<Socket>> {
    let mut all = parse_table(&read_text("/proc/net/tcp", TABLE_CAP)?)?;
    match read_text("/proc/net/tcp6", TABLE_CAP) {
        Ok(text) => all.extend(parse_table(&text)?),
        // A kernel without IPv6 has no such table, and no such sockets.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    Ok(all)
}

fn parse_table(text: &str) -> io::Result<Vec<Socket>> {
    text.lines()
        .skip(1)
        .map(|line| parse_row(line).ok_or_else(|| malformed("a row of the socket table")))
        .collect()
}

/// `sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …`
fn parse_row(line: &str) -> Option<Socket> {
    let mut fields = line.split_ascii_whitespace();
    let _slot = fields.next()?;
    let local = parse_address(fields.next()?)?;
    let remote = parse_address(fields.next()?)?;
    let state = match fields.next()? {
        "01" => State::Established,
        "0A" => State::Listening,
        "06" | "07" => State::Over,
        "02" | "03" | "04" | "05" | "08" | "09" | "0B" | "0C" => State::Passing,
        _unknown => return None,
    };
    let mut fields = fields.skip(3);
    let uid = fields.next()?.parse().ok()?;
    let _timeout = fields.next()?;
    let inode = fields.next()?.parse().ok()?;
    Some(Socket {
        local,
        remote,
        state,
        uid,
        inode,
    })
}

/// `0100007F:9001`: each 32-bit word of the address in the machine's byte order, the port as a plain number.
fn parse_address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    if !address.is_ascii() || port.len() != 4 {
        return None;
    }
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |from: usize| -> Option<[u8; 4]> {
        let digits = address.get(from..from.checked_add(8)?)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    let ip = match address.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let mut bytes = [0_u8; 16];
            for (index, slot) in bytes.chunks_exact_mut(4).enumerate() {
                slot.copy_from_slice(&word(index.checked_mul(8)?)?);
            }
            IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical()
        }
        _other => return None,
    };
    Some(SocketAddr::new(ip, port))
}

/// Which processes hold each of these sockets, as far as this user may look. Processes of other users, and those that
/// ended meanwhile, are passed over: a socket with no holder here is nobody's we know.
///
/// # Errors
/// Where the list of processes itself cannot be read.
pub fn holders(inodes: &BTreeSet<u64>) -> io::Result<BTreeMap<u64, Vec<Pid>>> {
    let mut found: BTreeMap<u64, Vec<Pid>> = BTreeMap::new();
    if inodes.is_empty() {
        return Ok(found);
    }
    for entry in fs::read_dir("/proc")? {
        let Some(pid) = entry?
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
            .map(Pid::new)
        else {
            continue;
        };
        let Ok(descriptors) = fs::read_dir(pid.file("fd")) else {
            continue;
        };
        let mut held = BTreeSet::new();
        for descriptor in descriptors.flatten() {
            if let Ok(link) = fs::read_link(descriptor.path())
                && let Some(inode) = link.to_str().and_then(socket_inode)
                && inodes.contains(&inode)
            {
                held.insert(inode);
            }
        }
        for inode in held {
            found.entry(inode).or_default().push(pid);
        }
    }
    Ok(found)
}

fn socket_inode(link: &str) -> Option<u64> {
    link.strip_prefix("socket:[")?
        .strip_suffix(']')?
        .parse()
        .ok()
}

/// The program a process runs, as the kernel names it (with ` (deleted)` at the end once the file is gone).
///
/// # Errors
/// Where the process is gone or another user's.
pub fn executable(pid: Pid) -> io::Result<PathBuf> {
    fs::read_link(pid.file("exe"))
}

/// Device and inode of the program a process runs: the file itself, whatever its name says.
///
/// # Errors
/// Where the process is gone or another user's.
pub fn executable_file(pid: Pid) -> io::Result<fs::Metadata> {
    fs::metadata(pid.file("exe"))
}

/// What a process shows as its command line, without the program's own name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// The arguments it was started with, each as it was given.
    Given(Vec<OsString>),
    /// One line that the program wrote over them, cut before each word that begins with a dash. Chromium does so on a
    /// desktop (it joins its arguments by spaces), so where one ends is not certain: a value may be followed by pages to
    /// open, and what looks like a flag may be part of a value.
    Rewritten(Vec<OsString>),
}

impl CommandLine {
    /// What may be an argument: in a rewritten line rather too many flags than too few.
    #[must_use]
    pub fn arguments(&self) -> &[OsString] {
        match self {
            Self::Given(arguments) | Self::Rewritten(arguments) => arguments,
        }
    }
}

/// A process's command line.
///
/// # Errors
/// Where the process is gone, the line is longer than the kernel's limit, does not end as one does, or is rewritten and
/// names another program than the one that runs.
pub fn command_line(pid: Pid) -> io::Result<CommandLine> {
    let bytes = read_capped(pid.file("cmdline"), COMMAND_LINE_CAP)?;
    let program = executable(pid)?;
    parse_command_line(bytes, program.as_os_str().as_bytes())
        .ok_or_else(|| malformed("a command line"))
}

fn parse_command_line(mut bytes: Vec<u8>, program: &[u8]) -> Option<CommandLine> {
    if bytes.pop()? != 0 {
        return None;
    }
    if !bytes.contains(&0) && bytes.contains(&b' ') {
        let line = bytes.strip_prefix(program)?.strip_prefix(b" ")?;
        return Some(CommandLine::Rewritten(cut(line)));
    }
    let arguments = bytes.split(|byte| *byte == 0).skip(1);
    Some(CommandLine::Given(
        arguments
            .map(|argument| OsString::from_vec(argument.to_vec()))
            .collect(),
    ))
}

/// Cuts a line before each word that begins with a dash. A flag with a value keeps what stands between it and the next
/// one; a flag without a value takes none.
fn cut(line: &[u8]) -> Vec<OsString> {
    let mut arguments = Vec::new();
    let mut rest = line.trim_ascii();
    while !rest.is_empty() {
        let next = rest
            .windows(2)
            .position(|pair| matches!(pair, [gap, b'-'] if gap.is_ascii_whitespace()));
        let (segment, after) = match next {
            Some(gap) => rest.split_at(gap + 1),
            None => (rest, &[][..]),
        };
        rest = after;
        let segment = segment.trim_ascii();
        let word = segment
            .split(u8::is_ascii_whitespace)
            .next()
            .unwrap_or_default();
        let whole = word.contains(&b'=') || !word.starts_with(b"-");
        arguments.push(OsString::from_vec(
            if whole { segment } else { word }.to_vec(),
        ));
    }
    arguments
}

/// The four user ids of a process: real, effective, saved, file system.
///
/// # Errors
/// Where the process is gone or its status does not parse.
pub fn user_ids(pid: Pid) -> io::Result<[u32; 4]> {
    let text = read_text(pid.file("status"), SMALL_CAP)?;
    parse_user_ids(&text).ok_or_else(|| malformed("a process status"))
}

fn parse_user_ids(status: &str) -> Option<[u32; 4]> {
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    let ids: Vec<u32> = line
        .split_ascii_whitespace()
        .map(|id| id.parse().ok())
        .collect::<Option<_>>()?;
    ids.try_into().ok()
}

/// When a process started.
///
/// # Errors
/// Where the process is gone or its status does not parse.
pub fn started(pid: Pid) -> io::Result<Started> {
    let text = read_text(pid.file("stat"), SMALL_CAP)?;
    parse_started(&text).ok_or_else(|| malformed("a process status"))
}

/// Field 22. The second field is the program's name in brackets, and the name may hold brackets and spaces.
fn parse_started(stat: &str) -> Option<Started> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace()
        .nth(19)?
        .parse()
        .ok()
        .map(Started)
}

fn read_text(path: impl Into<PathBuf>, cap: u64) -> io::Result<String> {
    // A process may call itself anything, so names in /proc need not be UTF-8; no field that is read is a name.
    Ok(String::from_utf8_lossy(&read_capped(path.into(), cap)?).into_owned())
}

fn read_capped(path: PathBuf, cap: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = File::open(path)?
        .take(cap.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if u64::try_from(read).is_ok_and(|read| read <= cap) {
        Ok(bytes)
    } else {
        Err(malformed("a file longer than it may be"))
    }
}

fn malformed(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    const HEAD: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

    #[test]
    fn rows_of_both_tables_parse() {
        let v4 = format!(
            "{HEAD}   3: 0100007F:9001 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 20232 1 00000000e1d4ee73 100 0 0 10 0\n"
        );
        let all = parse_table(&v4).unwrap();
        assert_eq!(all[0].local, "127.0.0.1:36865".parse().unwrap());
        assert_eq!(
            (all[0].state, all[0].uid, all[0].inode),
            (State::Listening, 1001, 20232)
        );
        let v6 = format!(
            "{HEAD}   0: 00000000000000000000000001000000:1F90 0000000000000000FFFF00000100007F:A9B4 01 00000000:00000000 00:00000000 00000000     0        0 7 1 0 100 0 0 10 0\n"
        );
        let all = parse_table(&v6).unwrap();
        assert_eq!(all[0].local, "[::1]:8080".parse().unwrap());
        assert_eq!(all[0].remote, "127.0.0.1:43444".parse().unwrap());
    }

    #[test]
    fn a_table_with_one_bad_row_is_no_table() {
        for row in [
            "3: 0100007F:9001",
            "3: 0100007G:9001 00000000:0000 0A 0:0 0:0 0 1001 0 20232 1",
            "3: 0100007F:19001 00000000:0000 0A 0:0 0:0 0 1001 0 20232 1",
            "3: 0100007F:9001 00000000:0000 FF 0:0 0:0 0 1001 0 20232 1",
            "3: 0100007F:9001 00000000:0000 0A 0:0 0:0 0 1001 0 x 1",
            "3: é100007:9001 00000000:0000 0A 0:0 0:0 0 1001 0 20232 1",
        ] {
            assert!(parse_table(&format!("{HEAD}{row}\n")).is_err(), "{row}");
        }
    }

    #[test]
    fn the_live_table_names_our_own_listener_and_its_holder() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let row = sockets()
            .unwrap()
            .into_iter()
            .find(|socket| socket.local == address && socket.state == State::Listening)
            .expect("our listener is in the table");
        assert_eq!(row.uid, rustix::process::geteuid().as_raw());
        let held = holders(&BTreeSet::from([row.inode])).unwrap();
        assert_eq!(held[&row.inode], [Pid::own()]);
    }

    #[test]
    fn a_start_time_is_read_past_any_name() {
        let mut fields: Vec<String> = (4..=52).map(|n| n.to_string()).collect();
        fields.insert(0, "S".to_owned());
        let stat = format!("42 (a) 1 2 (b) {}", fields.join(" "));
        assert_eq!(parse_started(&stat), Some(Started(22)));
        assert_eq!(parse_started("42 (a) S 1"), None);
        assert_eq!(started(Pid::own()).unwrap(), started(Pid::own()).unwrap());
    }

    #[test]
    fn arguments_end_where_the_kernel_says() {
        let given = |list: &[&str]| Some(CommandLine::Given(list.iter().map(Into::into).collect()));
        let parse = |bytes: &[u8]| parse_command_line(bytes.to_vec(), b"/usr/lib/a");
        assert_eq!(parse(b"a\0--b=c d\0\0"), given(&["--b=c d", ""]));
        assert_eq!(parse(b"a\0"), given(&[]));
        assert_eq!(parse(b"rewritten title"), None);
        assert_eq!(parse(b""), None);
    }

    #[test]
    fn a_rewritten_line_hides_no_flag() {
        let parse = |line: &str| {
            let bytes = format!("{line}\0").into_bytes();
            parse_command_line(bytes, b"/usr/lib/chromium/chromium")
        };
        let line = parse(
            "/usr/lib/chromium/chromium --load-extension --disable-features=A, B --user-data-dir=/home/me/a b \t-no-sandbox http://x.test/ about:blank",
        );
        let expected = [
            "--load-extension",
            "--disable-features=A, B",
            "--user-data-dir=/home/me/a b",
            "-no-sandbox",
        ];
        assert_eq!(
            line,
            Some(CommandLine::Rewritten(
                expected.iter().map(Into::into).collect()
            ))
        );
        // Another program's name in front is another program's line.
        assert_eq!(parse("/usr/lib/chromium/other --a"), None);
        assert_eq!(parse("chromium --a"), None);
    }

    #[test]
    fn the_four_user_ids_are_read_or_nothing_is() {
        assert_eq!(
            parse_user_ids("Name:\tx\nUid:\t1\t2\t3\t4\n"),
            Some([1, 2, 3, 4])
        );
        assert_eq!(parse_user_ids("Uid:\t1\t2\t3\n"), None);
        assert_eq!(parse_user_ids("Name:\tUid\n"), None);
    }

    proptest::proptest! {
        #[test]
        fn no_table_row_line_or_status_panics(text in ".{0,200}") {
            let _ = parse_row(&text);
            let _ = parse_address(&text);
            let _ = parse_started(&text);
            let _ = parse_user_ids(&text);
            let _ = parse_command_line(format!("/a {text}\0").into_bytes(), b"/a");
        }
    }
}
