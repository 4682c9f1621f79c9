//! Every browser but the operator's is refused, each for its own reason.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use countersign::browser::endpoint::{Wanted, find};
use countersign::browser::reason;
use countersign::error::Code;

use super::support::{PERL, Private, StandIn, chromium, why};

async fn refused(wanted: &Wanted) -> (Code, &'static str) {
    why(&find(wanted).await.unwrap_err())
}

fn write_port_file(dir: &Private, port: u16) {
    let text = format!("{port}\n/devtools/browser/4b257bf6-2153-43d6-876f-205eef7921df");
    fs::write(dir.port_file(), text).unwrap();
}

#[tokio::test]
async fn a_browser_on_another_profile_is_refused() {
    let (theirs, ours) = (Private::new(), Private::new());
    let _running = chromium(theirs.path(), &[]);
    fs::copy(theirs.port_file(), ours.port_file()).unwrap();
    assert_eq!(
        refused(&ours.wanted()).await,
        (Code::WrongProfile, reason::OTHER_USER_DATA_DIR)
    );
    drop(find(&theirs.wanted()).await.unwrap());
}

#[tokio::test]
async fn a_browser_that_is_absent_or_has_ended_is_named_so() {
    let dir = Private::new();
    assert_eq!(
        refused(&dir.wanted()).await,
        (Code::BrowserAbsent, reason::NO_PORT_FILE)
    );
    let running = chromium(dir.path(), &[]);
    drop(find(&dir.wanted()).await.unwrap());
    running.end();
    assert!(dir.port_file().exists());
    assert_eq!(
        refused(&dir.wanted()).await,
        (Code::PortStale, reason::NO_LISTENER)
    );
    let mut nowhere = dir.wanted();
    nowhere.profile_dir = dir.path().join("none");
    assert_eq!(
        refused(&nowhere).await,
        (Code::BrowserAbsent, reason::NO_DIRECTORY)
    );
}

#[tokio::test]
async fn a_program_that_is_no_browser_is_refused() {
    let dir = Private::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    write_port_file(&dir, listener.local_addr().unwrap().port());
    assert_eq!(
        refused(&dir.wanted()).await,
        (Code::WrongOwner, reason::OTHER_PROGRAM)
    );
    // Nothing was said to it: no connection waits to be taken.
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err());
}

#[tokio::test]
async fn a_listener_that_is_not_on_127_0_0_1_alone_is_refused() {
    let dir = Private::new();
    for (address, reason) in [
        ("0.0.0.0:0", reason::WILDCARD),
        ("[::]:0", reason::WILDCARD),
        ("127.0.0.2:0", reason::OTHER_LOOPBACK),
        ("[::1]:0", reason::OTHER_LOOPBACK),
    ] {
        let listener = TcpListener::bind(address).unwrap();
        write_port_file(&dir, listener.local_addr().unwrap().port());
        assert_eq!(
            refused(&dir.wanted()).await,
            (Code::WrongOwner, reason),
            "{address}"
        );
    }
    let one = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = one.local_addr().unwrap().port();
    let _two = TcpListener::bind(("127.0.0.2", port)).unwrap();
    write_port_file(&dir, port);
    assert_eq!(
        refused(&dir.wanted()).await,
        (Code::WrongOwner, reason::SEVERAL_LISTENERS)
    );
}

#[tokio::test]
async fn a_profile_directory_that_is_loose_or_a_link_is_refused() {
    let dir = Private::new();
    let _running = chromium(dir.path(), &[]);
    let chmod = |mode| fs::set_permissions(dir.path(), fs::Permissions::from_mode(mode)).unwrap();
    for mode in [0o755, 0o710, 0o701] {
        chmod(mode);
        assert_eq!(
            refused(&dir.wanted()).await,
            (Code::ProfileUnsafe, reason::OPEN_MODE)
        );
    }
    chmod(0o700);
    let beside = Private::new();
    let link = beside.path().join("link");
    std::os::unix::fs::symlink(dir.path(), &link).unwrap();
    let through = Wanted {
        profile_dir: link,
        ..dir.wanted()
    };
    assert_eq!(refused(&through).await, (Code::ProfileUnsafe, reason::LINK));
    drop(find(&dir.wanted()).await.unwrap());
}

fn flag(dir: &Private) -> String {
    format!("--user-data-dir={}", dir.path().display())
}

#[tokio::test]
async fn the_stand_in_is_accepted_so_its_refusals_mean_something() {
    let dir = Private::new();
    let standing = StandIn::start(Path::new(PERL), dir.path(), &[&flag(&dir)], &[]);
    drop(find(&standing.wanted(&dir)).await.unwrap());
}

#[tokio::test]
async fn a_socket_that_several_processes_hold_is_refused() {
    let dir = Private::new();
    let env = [("STAND_IN_FORK", "1")];
    let standing = StandIn::start(Path::new(PERL), dir.path(), &[&flag(&dir)], &env);
    assert_eq!(
        refused(&standing.wanted(&dir)).await,
        (Code::WrongOwner, reason::SEVERAL_HOLDERS)
    );
}

#[tokio::test]
async fn a_connection_that_another_process_takes_is_not_confirmed() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let dir = Private::new();
    let env = [("STAND_IN_PASS", "1")];
    let standing = StandIn::start(Path::new(PERL), dir.path(), &[&flag(&dir)], &env);
    let endpoint = find(&standing.wanted(&dir)).await.unwrap();
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", endpoint.port()))
        .await
        .unwrap();
    // One byte of the answer is the event: the other process has the connection, and the first has let go of it.
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    stream.read_exact(&mut [0]).await.unwrap();
    let local = stream.local_addr().unwrap();
    assert_eq!(
        why(&endpoint.confirm(local).unwrap_err()),
        (Code::WrongOwner, reason::OTHER_PROCESS)
    );
}

#[tokio::test]
async fn a_program_that_was_replaced_or_lies_open_is_refused() {
    let (dir, bin) = (Private::new(), Private::new());
    let program = bin.path().join("browser");
    fs::copy(PERL, &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o775)).unwrap();
    let standing = StandIn::start(&program, dir.path(), &[&flag(&dir)], &[]);
    assert_eq!(
        refused(&standing.wanted(&dir)).await,
        (Code::WrongOwner, reason::PROGRAM_OPEN)
    );
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    drop(find(&standing.wanted(&dir)).await.unwrap());
    fs::remove_file(&program).unwrap();
    fs::copy(PERL, &program).unwrap();
    assert_eq!(
        refused(&standing.wanted(&dir)).await,
        (Code::WrongOwner, reason::REPLACED_PROGRAM)
    );
}

#[tokio::test]
async fn a_command_line_without_exactly_our_directory_is_refused() {
    let (dir, other) = (Private::new(), Private::new());
    for (flags, reason) in [
        (vec![], reason::NO_USER_DATA_DIR),
        (vec![flag(&dir), flag(&dir)], reason::SEVERAL_USER_DATA_DIRS),
        (vec![flag(&other)], reason::OTHER_USER_DATA_DIR),
        (
            vec!["--user-data-dir=.".to_owned()],
            reason::RELATIVE_USER_DATA_DIR,
        ),
    ] {
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let standing = StandIn::start(Path::new(PERL), dir.path(), &flags, &[]);
        assert_eq!(
            refused(&standing.wanted(&dir)).await,
            (Code::WrongProfile, reason),
            "{flags:?}"
        );
    }
}
