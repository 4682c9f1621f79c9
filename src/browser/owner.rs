//! Finds out whose browser listens on a port, and refuses any but the operator's (security D2, D3).

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::directory::{DirectoryFault, PrivateDirectory};
use super::endpoint::Wanted;
use super::flags;
use super::proc::{self, CommandLine, Pid, Socket, Started, State};
use super::program;
use super::reason::{self, refuse};
use crate::error::{Code, Refusal};

/// The process that listens on the port and passed every check.
#[derive(Debug)]
pub(super) struct Owner {
    pub(super) pid: Pid,
    pub(super) started: Started,
}

/// Opens the profile directory, and refuses one that is not the operator's alone or is a browser's everyday one.
///
/// # Errors
/// [`Code::BrowserAbsent`] where there is none yet, [`Code::ProfileUnsafe`] otherwise.
pub fn directory(path: &Path) -> Result<PrivateDirectory, Refusal> {
    let opened = PrivateDirectory::open(path).map_err(|fault| {
        let (code, why) = match fault {
            DirectoryFault::Missing => (Code::BrowserAbsent, reason::NO_DIRECTORY),
            DirectoryFault::Link => (Code::ProfileUnsafe, reason::LINK),
            DirectoryFault::NotADirectory => (Code::ProfileUnsafe, reason::NOT_A_DIRECTORY),
            DirectoryFault::NotOurs => (Code::ProfileUnsafe, reason::NOT_OURS),
            DirectoryFault::Mode(_) => (Code::ProfileUnsafe, reason::OPEN_MODE),
            DirectoryFault::OpenAbove(_) => (Code::ProfileUnsafe, reason::OPEN_ABOVE),
            DirectoryFault::Unreadable(_) => (Code::ProfileUnsafe, reason::DIRECTORY_UNREADABLE),
        };
        refuse(code, why)
    })?;
    if everyday_profiles()
        .iter()
        .any(|everyday| overlaps(&opened, everyday))
    {
        return Err(refuse(Code::ProfileUnsafe, reason::DEFAULT_PROFILE));
    }
    Ok(opened)
}

/// True where the directory is this everyday one, lies in it, or holds it; links on either side do not hide it.
fn overlaps(opened: &PrivateDirectory, everyday: &Path) -> bool {
    let real = std::fs::canonicalize(everyday).unwrap_or_else(|_| everyday.to_owned());
    let ours = opened.canonical();
    opened.is(everyday) || ours.starts_with(&real) || real.starts_with(ours)
}

/// Where browsers keep a person's everyday profile, below the configuration directory.
const EVERYDAY: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-beta",
    "google-chrome-unstable",
    "google-chrome-for-testing",
    "BraveSoftware",
    "microsoft-edge",
    "vivaldi",
    "opera",
    "thorium",
    "ungoogled-chromium",
];
/// The same below the home directory, for packages that have a home of their own.
const EVERYDAY_AT_HOME: &[&str] = &[
    "snap/chromium",
    ".var/app/org.chromium.Chromium",
    ".var/app/com.google.Chrome",
    ".var/app/com.brave.Browser",
];

fn everyday_profiles() -> Vec<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    // The environment comes from whoever started us, so the home that the system knows counts as well.
    let homes: BTreeSet<PathBuf> = [std::env::home_dir(), home_in_passwd()]
        .into_iter()
        .flatten()
        .filter(|home| home.is_absolute() && home != Path::new("/"))
        .collect();
    let mut bases: Vec<PathBuf> = homes.iter().map(|home| home.join(".config")).collect();
    bases.extend(
        ["XDG_CONFIG_HOME", "CHROME_CONFIG_HOME"]
            .iter()
            .filter_map(|name| set(name).map(PathBuf::from)),
    );
    let mut all: Vec<PathBuf> = bases
        .iter()
        .flat_map(|base| EVERYDAY.iter().map(move |name| base.join(name)))
        .collect();
    all.extend(
        homes
            .iter()
            .flat_map(|home| EVERYDAY_AT_HOME.iter().map(move |name| home.join(name))),
    );
    all.extend(set("CHROME_USER_DATA_DIR").map(PathBuf::from));
    all
}

fn home_in_passwd() -> Option<PathBuf> {
    let uid = rustix::process::getuid().as_raw().to_string();
    let text = std::fs::read("/etc/passwd").ok()?;
    text.split(|byte| *byte == b'\n').find_map(|line| {
        let mut fields = line.split(|byte| *byte == b':');
        (fields.nth(2)? == uid.as_bytes()).then_some(())?;
        let home = fields.nth(2)?;
        (!home.is_empty()).then(|| PathBuf::from(OsString::from_vec(home.to_vec())))
    })
}

/// Finds the one process that listens on this port and checks everything about it.
pub(super) fn check(
    wanted: &Wanted,
    directory: &PrivateDirectory,
    port: u16,
) -> Result<Owner, Refusal> {
    let all = proc::sockets().map_err(|_| refuse(Code::WrongOwner, reason::TABLE_UNREADABLE))?;
    let listener = listener(&all, port)?;
    let pid = only_holder(listener.inode)?;
    let unreadable = |error: io::Error| {
        if error.kind() == io::ErrorKind::NotFound {
            refuse(Code::PortStale, reason::ENDED)
        } else {
            refuse(Code::WrongOwner, reason::PROCESS_UNREADABLE)
        }
    };
    let started = proc::started(pid).map_err(unreadable)?;
    let ours = rustix::process::geteuid().as_raw();
    if proc::user_ids(pid).map_err(unreadable)? != [ours; 4] {
        return Err(refuse(Code::WrongOwner, reason::OTHER_USER));
    }
    check_program(pid, &wanted.executables)?;
    let line = proc::command_line(pid).map_err(unreadable)?;
    check_profile(&line, directory)?;
    // What a rewritten line says of the directory, the browser's own lock in it must say too.
    if matches!(line, CommandLine::Rewritten(_)) && locked_by(directory) != Some(pid) {
        return Err(refuse(Code::WrongProfile, reason::NOT_LOCKED));
    }
    flags::check(line.arguments(), wanted.no_sandbox)?;
    // What was read belongs to one process only if it is still that one.
    if proc::started(pid).map_err(unreadable)? != started {
        return Err(refuse(Code::PortStale, reason::ENDED));
    }
    Ok(Owner { pid, started })
}

/// The process that has this profile open, port or no port: the one that the profile's own lock names, if it still runs
/// on this directory.
#[must_use]
pub fn open_in(directory: &PrivateDirectory) -> Option<Pid> {
    let pid = locked_by(directory)?;
    let line = proc::command_line(pid).ok()?;
    check_profile(&line, directory).ok()?;
    Some(pid)
}

/// The process that Chromium's own lock names: a link to `host-pid`.
fn locked_by(directory: &PrivateDirectory) -> Option<Pid> {
    let link = rustix::fs::readlinkat(directory, "SingletonLock", Vec::new()).ok()?;
    let pid = link.to_str().ok()?.rsplit_once('-')?.1.parse().ok()?;
    Some(Pid::new(pid))
}

/// The one socket that listens on the port, on 127.0.0.1 exactly, made by this user.
fn listener(all: &[Socket], port: u16) -> Result<Socket, Refusal> {
    let mut listening = all
        .iter()
        .copied()
        .filter(|socket| socket.state == State::Listening && socket.local.port() == port);
    let one = listening
        .next()
        .ok_or_else(|| refuse(Code::PortStale, reason::NO_LISTENER))?;
    let rest: Vec<Socket> = listening.collect();
    if std::iter::once(&one)
        .chain(&rest)
        .any(|socket| socket.local.ip().is_unspecified())
    {
        return Err(refuse(Code::WrongOwner, reason::WILDCARD));
    }
    if !rest.is_empty() {
        return Err(refuse(Code::WrongOwner, reason::SEVERAL_LISTENERS));
    }
    if one.local.ip() != IpAddr::V4(Ipv4Addr::LOCALHOST) {
        return Err(refuse(Code::WrongOwner, reason::OTHER_LOOPBACK));
    }
    if one.uid != rustix::process::geteuid().as_raw() {
        return Err(refuse(Code::WrongOwner, reason::OTHER_USER));
    }
    Ok(one)
}

fn only_holder(inode: u64) -> Result<Pid, Refusal> {
    let held = proc::holders(&BTreeSet::from([inode]))
        .map_err(|_| refuse(Code::WrongOwner, reason::TABLE_UNREADABLE))?;
    match held.get(&inode).map(Vec::as_slice) {
        Some([pid]) => Ok(*pid),
        Some([]) | None => Err(refuse(Code::WrongOwner, reason::NO_HOLDER)),
        Some([_, _, ..]) => Err(refuse(Code::WrongOwner, reason::SEVERAL_HOLDERS)),
    }
}

/// The program that runs is one of the allowed files: the same device and inode, not only the same name.
fn check_program(pid: Pid, allowed: &[PathBuf]) -> Result<(), Refusal> {
    let unreadable = |_| refuse(Code::WrongOwner, reason::PROCESS_UNREADABLE);
    let name = proc::executable(pid).map_err(unreadable)?;
    let allowed: Vec<PathBuf> = allowed
        .iter()
        .filter_map(|path| std::fs::canonicalize(program::that_runs(path)).ok())
        .collect();
    if allowed.is_empty() {
        return Err(refuse(Code::WrongOwner, reason::NO_ALLOWED_PROGRAM));
    }
    if name.as_os_str().as_bytes().ends_with(b" (deleted)") {
        return Err(refuse(Code::WrongOwner, reason::REPLACED_PROGRAM));
    }
    let runs = proc::executable_file(pid).map_err(unreadable)?;
    let same = allowed.iter().any(|path| {
        *path == name
            && std::fs::metadata(path)
                .is_ok_and(|file| (file.dev(), file.ino()) == (runs.dev(), runs.ino()))
    });
    if !same {
        return Err(refuse(Code::WrongOwner, reason::OTHER_PROGRAM));
    }
    let ours = rustix::process::geteuid().as_raw();
    if (runs.uid() != 0 && runs.uid() != ours) || runs.mode() & 0o022 != 0 {
        return Err(refuse(Code::WrongOwner, reason::PROGRAM_OPEN));
    }
    Ok(())
}

/// The command line names one profile directory, and it is ours.
fn check_profile(line: &CommandLine, directory: &PrivateDirectory) -> Result<(), Refusal> {
    let mut named = line
        .arguments()
        .iter()
        .filter_map(flags::given)
        .filter(|given| given.name == b"user-data-dir")
        .map(|given| given.value);
    let wrong = |why| Err(refuse(Code::WrongProfile, why));
    let Some(value) = named.next() else {
        return wrong(reason::NO_USER_DATA_DIR);
    };
    if named.next().is_some() {
        return wrong(reason::SEVERAL_USER_DATA_DIRS);
    }
    if !value.starts_with(b"/") {
        return wrong(reason::RELATIVE_USER_DATA_DIR);
    }
    let mut there = match line {
        CommandLine::Given(_) => vec![path(value)],
        CommandLine::Rewritten(_) => paths_in_front(value),
    }
    .into_iter();
    match (there.next(), there.next()) {
        (Some(path), None) => {
            let canonical = std::fs::canonicalize(path);
            if canonical.is_ok_and(|canonical| canonical == directory.canonical())
                && directory.is(path)
            {
                return Ok(());
            }
            wrong(reason::OTHER_USER_DATA_DIR)
        }
        (Some(_), Some(_)) => wrong(reason::SEVERAL_USER_DATA_DIRS),
        (None, _) => wrong(reason::OTHER_USER_DATA_DIR),
    }
}

fn path(bytes: &[u8]) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// Where a value may be followed by other words: each beginning of it, up to a space, that is there on disk.
fn paths_in_front(value: &[u8]) -> Vec<&Path> {
    let spaces = value.iter().enumerate().filter(|(_, byte)| **byte == b' ');
    let ends = spaces.map(|(at, _)| at).chain([value.len()]);
    ends.filter_map(|end| value.get(..end))
        .map(path)
        .filter(|path| path.symlink_metadata().is_ok())
        .collect()
}

/// Checks that the socket the browser accepted from `local` belongs to this process, and that it is still the same one.
pub(super) fn confirm(owner: &Owner, port: u16, local: SocketAddr) -> Result<(), Refusal> {
    let wrong = |why| refuse(Code::WrongOwner, why);
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let all = proc::sockets().map_err(|_| wrong(reason::TABLE_UNREADABLE))?;
    let accepted = all
        .iter()
        .find(|socket| {
            socket.state == State::Established && socket.local == server && socket.remote == local
        })
        .filter(|socket| socket.inode != 0)
        .ok_or_else(|| wrong(reason::NOT_ACCEPTED))?;
    if accepted.uid != rustix::process::geteuid().as_raw() {
        return Err(wrong(reason::OTHER_USER));
    }
    if only_holder(accepted.inode)? != owner.pid {
        return Err(wrong(reason::OTHER_PROCESS));
    }
    let now = proc::started(owner.pid).map_err(|_| wrong(reason::RESTARTED))?;
    if now != owner.started {
        return Err(wrong(reason::RESTARTED));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Detail;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn why(refusal: &Refusal) -> (Code, &'static str) {
        match refusal.detail() {
            Some(Detail::Reason(why)) => (refusal.code(), why),
            other => panic!("{other:?}"),
        }
    }

    fn private(path: &Path) {
        fs::create_dir_all(path).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
    }

    #[test]
    fn the_everyday_profile_is_refused_around_and_behind_links() {
        let scratch = tempfile::tempdir().unwrap();
        let everyday = scratch.path().join("config/chromium");
        let other = scratch.path().join("other");
        private(&everyday);
        private(&everyday.join("Default"));
        private(&other);
        let link = scratch.path().join("link");
        symlink(&everyday, &link).unwrap();
        let opened = |path: &Path| PrivateDirectory::open(path).unwrap();
        assert!(overlaps(&opened(&everyday), &everyday));
        assert!(overlaps(&opened(&everyday), &link));
        assert!(overlaps(&opened(&everyday.join("Default")), &link));
        private(&scratch.path().join("config"));
        assert!(overlaps(&opened(&scratch.path().join("config")), &everyday));
        assert!(!overlaps(&opened(&other), &everyday));
        assert!(!overlaps(&opened(&other), &scratch.path().join("none")));
    }

    #[test]
    fn the_home_of_the_system_counts_whatever_the_environment_says() {
        let home = home_in_passwd().expect("this user has a home");
        assert!(everyday_profiles().contains(&home.join(".config/chromium")));
        assert!(everyday_profiles().contains(&home.join("snap/chromium")));
    }

    #[test]
    fn the_command_line_names_our_directory_once() {
        let scratch = tempfile::tempdir().unwrap();
        let ours = scratch.path().join("ours");
        let theirs = scratch.path().join("theirs");
        private(&ours);
        private(&theirs);
        let link = scratch.path().join("link");
        symlink(&ours, &link).unwrap();
        let directory = PrivateDirectory::open(&ours).unwrap();
        let verdict = |list: &[String]| {
            let list = list.iter().map(Into::into).collect();
            check_profile(&CommandLine::Given(list), &directory).map_err(|refusal| why(&refusal).1)
        };
        let flag = |path: &Path| format!("--user-data-dir={}", path.display());
        assert_eq!(verdict(&[flag(&ours)]), Ok(()));
        assert_eq!(verdict(&[flag(&link)]), Ok(()));
        assert_eq!(verdict(&[flag(&theirs)]), Err(reason::OTHER_USER_DATA_DIR));
        assert_eq!(verdict(&[]), Err(reason::NO_USER_DATA_DIR));
        // One dash and white space are the same flag to Chromium, and the last one wins there.
        assert_eq!(
            verdict(&[flag(&ours), format!(" -user-data-dir={}", theirs.display())]),
            Err(reason::SEVERAL_USER_DATA_DIRS)
        );
        assert_eq!(
            verdict(&["--user-data-dir=ours".to_owned()]),
            Err(reason::RELATIVE_USER_DATA_DIR)
        );
        // One argument with spaces holds no flag.
        assert_eq!(
            verdict(&[format!("title {}", flag(&ours))]),
            Err(reason::NO_USER_DATA_DIR)
        );
        // In a rewritten line the value may be followed by pages to open.
        let rewritten = |list: &[String]| {
            let list = list.iter().map(Into::into).collect();
            check_profile(&CommandLine::Rewritten(list), &directory)
                .map_err(|refusal| why(&refusal).1)
        };
        assert_eq!(rewritten(&[flag(&ours)]), Ok(()));
        let with_a_page = format!("{} about:blank", flag(&ours));
        assert_eq!(rewritten(std::slice::from_ref(&with_a_page)), Ok(()));
        assert_eq!(
            verdict(std::slice::from_ref(&with_a_page)),
            Err(reason::OTHER_USER_DATA_DIR)
        );
        assert_eq!(
            rewritten(&[with_a_page.clone(), flag(&theirs)]),
            Err(reason::SEVERAL_USER_DATA_DIRS)
        );
        // Unless there is a directory of that longer name too: then it is not certain which is meant.
        private(&scratch.path().join("ours about:blank"));
        assert_eq!(
            rewritten(&[with_a_page]),
            Err(reason::SEVERAL_USER_DATA_DIRS)
        );
    }

    #[test]
    fn a_listener_counts_only_alone_on_127_0_0_1_and_ours() {
        let ours = rustix::process::geteuid().as_raw();
        let row = |local: &str, state: State, uid: u32| Socket {
            local: local.parse().unwrap(),
            remote: "0.0.0.0:0".parse().unwrap(),
            state,
            uid,
            inode: 7,
        };
        let good = row("127.0.0.1:9000", State::Listening, ours);
        let verdict = |rows: &[Socket]| {
            listener(rows, 9000)
                .map(|_| ())
                .map_err(|refusal| why(&refusal).1)
        };
        assert_eq!(verdict(&[good]), Ok(()));
        assert_eq!(verdict(&[]), Err(reason::NO_LISTENER));
        let beside = [
            good,
            row("127.0.0.1:9001", State::Listening, ours + 1),
            row("0.0.0.0:9000", State::Established, ours + 1),
        ];
        assert_eq!(verdict(&beside), Ok(()));
        for (bad, reason) in [
            (
                row("127.0.0.1:9000", State::Listening, ours + 1),
                reason::OTHER_USER,
            ),
            (
                row("127.0.0.1:9000", State::Established, ours),
                reason::NO_LISTENER,
            ),
            (row("[::]:9000", State::Listening, ours), reason::WILDCARD),
            (
                row("10.0.0.1:9000", State::Listening, ours),
                reason::OTHER_LOOPBACK,
            ),
        ] {
            assert_eq!(verdict(&[bad]), Err(reason));
        }
        for beside in ["127.0.0.1:9000", "[::1]:9000", "10.0.0.1:9000"] {
            let rows = [good, row(beside, State::Listening, ours)];
            assert_eq!(verdict(&rows), Err(reason::SEVERAL_LISTENERS), "{beside}");
        }
        let rows = [good, row("0.0.0.0:9000", State::Listening, ours)];
        assert_eq!(verdict(&rows), Err(reason::WILDCARD));
    }

    #[test]
    fn a_socket_that_nobody_of_ours_holds_has_no_owner() {
        assert_eq!(
            why(&only_holder(u64::MAX).unwrap_err()),
            (Code::WrongOwner, reason::NO_HOLDER)
        );
    }

    #[test]
    fn a_program_is_told_by_its_file() {
        let own = std::env::current_exe().unwrap();
        check_program(Pid::own(), std::slice::from_ref(&own)).unwrap();
        let refused = |allowed: &[PathBuf]| why(&check_program(Pid::own(), allowed).unwrap_err());
        assert_eq!(
            refused(&["/bin/sh".into()]),
            (Code::WrongOwner, reason::OTHER_PROGRAM)
        );
        assert_eq!(
            refused(&["/nowhere".into()]),
            (Code::WrongOwner, reason::NO_ALLOWED_PROGRAM)
        );
        assert_eq!(refused(&[]), (Code::WrongOwner, reason::NO_ALLOWED_PROGRAM));
    }
}
