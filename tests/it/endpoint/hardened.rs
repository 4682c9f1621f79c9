//! What the process gives up first is given up, and the owner check works all the same afterwards.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::PathBuf;

use countersign::browser::endpoint::{NoSandbox, Wanted, find};
use countersign::browser::program;
use countersign::cli::harden::{Asked, HardenError, Level, Privileges, Root, harden};
use rustix::io::FdFlags;
use rustix::process::{DumpableBehavior, Resource};

use super::support::{Private, chromium, in_a_process_of_its_own, said};

#[test]
#[ignore = "run by the test below in a process of its own, as it changes the process for good"]
fn gives_everything_up_and_says_so() {
    let asked = Asked {
        root: Root::Refused,
        privileges: Privileges::Given,
    };
    let level = harden(asked).unwrap();
    println!("\nfull={}", level == Level::Full);
    let core = rustix::process::getrlimit(Resource::Core);
    println!("core={:?}/{:?}", core.current, core.maximum);
    let dumpable = rustix::process::dumpable_behavior().unwrap();
    println!("dumpable={}", dumpable != DumpableBehavior::NotDumpable);
    println!("no_new_privs={}", rustix::thread::no_new_privs().unwrap());
    let scratch = PathBuf::from(std::env::var_os("CS_DIR").unwrap());
    fs::write(scratch.join("made"), "").unwrap();
    let open: Vec<String> = fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|entry| fs::read_link(entry.unwrap().path()).ok())
        .map(|path| path.display().to_string())
        .filter(|path| path.contains("handed-down"))
        .collect();
    println!("handed_down={}", open.len());
    let wanted = Wanted {
        profile_dir: scratch,
        executables: program::default_executables(),
        no_sandbox: NoSandbox::Refused,
    };
    let found = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(find(&wanted));
    println!(
        "found={}",
        found.map_or_else(
            |refusal| refusal.to_string(),
            |endpoint| endpoint.pid().to_string()
        )
    );
}

#[test]
fn a_hardened_process_has_given_up_what_it_says_and_still_finds_the_browser() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = Private::new();
    let browser = chromium(dir.path(), &[]);
    let handed = File::create(dir.path().join("handed-down")).unwrap();
    // Without the mark, the descriptor is inherited by the child, as one leaked by a client would be.
    rustix::io::fcntl_setfd(&handed, FdFlags::empty()).unwrap();
    let output = in_a_process_of_its_own(
        "endpoint::hardened::gives_everything_up_and_says_so",
        [("CS_DIR", dir.path().as_os_str())],
    );
    assert_eq!(said(&output, "full"), "true");
    assert_eq!(said(&output, "core"), "Some(0)/Some(0)");
    assert_eq!(said(&output, "dumpable"), "false");
    assert_eq!(said(&output, "no_new_privs"), "true");
    assert_eq!(said(&output, "handed_down"), "0");
    assert_eq!(said(&output, "found"), browser.id().to_string());
    let mode = fs::metadata(dir.path().join("made"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
#[ignore = "run by the test below in a process of its own, as it lists what was handed down"]
fn lists_what_was_handed_down() {
    let open = fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|entry| fs::read_link(entry.unwrap().path()).ok())
        .filter(|path| path.display().to_string().contains("handed-down"))
        .count();
    println!("\nhanded_down={open}");
}

#[test]
fn without_hardening_the_descriptor_would_be_there() {
    let dir = Private::new();
    let handed = File::create(dir.path().join("handed-down")).unwrap();
    rustix::io::fcntl_setfd(&handed, FdFlags::empty()).unwrap();
    let output = in_a_process_of_its_own(
        "endpoint::hardened::lists_what_was_handed_down",
        std::iter::empty::<(&str, &OsStr)>(),
    );
    assert_eq!(said(&output, "handed_down"), "1");
}

#[test]
fn root_is_refused_in_words_that_say_the_way_out() {
    assert!(HardenError::Root.to_string().contains("--allow-root"));
    if rustix::process::geteuid().is_root() {
        let asked = Asked {
            root: Root::Refused,
            privileges: Privileges::Given,
        };
        assert!(matches!(harden(asked), Err(HardenError::Root)));
    }
}
