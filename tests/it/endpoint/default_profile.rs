//! A browser's everyday profile is refused, wherever the environment says that it is.

use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use countersign::browser::owner;
use countersign::browser::reason;
use countersign::cli::places::prepare;

use super::support::{Private, in_a_process_of_its_own, said, why};

#[test]
#[ignore = "run by the test below in a process of its own, as it looks at the environment"]
fn looks_at_the_directory_it_is_given() {
    let path = PathBuf::from(std::env::var_os("CS_LOOK_AT").unwrap());
    let verdict = match owner::directory(&path) {
        Ok(_) => "fit",
        Err(refusal) => why(&refusal).1,
    };
    println!("\nverdict={verdict}");
}

#[test]
fn everyday_profiles_are_refused_behind_home_and_xdg() {
    let home = Private::new();
    let verdict = |below: &str, variable: &str| {
        let path = home.path().join(below);
        prepare(&path).unwrap();
        let output = in_a_process_of_its_own(
            "endpoint::default_profile::looks_at_the_directory_it_is_given",
            [
                (variable, home.path().as_os_str()),
                ("CS_LOOK_AT", path.as_os_str()),
            ],
        );
        said(&output, "verdict")
    };
    for below in [
        ".config/chromium",
        ".config/google-chrome",
        ".config/google-chrome-beta/Default",
        ".config",
        "snap/chromium/common/chromium",
    ] {
        assert_eq!(verdict(below, "HOME"), reason::DEFAULT_PROFILE, "{below}");
    }
    assert_eq!(
        verdict("chromium", "XDG_CONFIG_HOME"),
        reason::DEFAULT_PROFILE
    );
    assert_eq!(verdict("everyday", "HOME"), "fit");
    assert_eq!(verdict(".local/share/countersign/browser", "HOME"), "fit");

    // A link elsewhere to the everyday profile is followed on the browser's side too.
    let elsewhere = home.path().join("moved");
    prepare(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, home.path().join(".config/vivaldi")).unwrap();
    assert_eq!(verdict("moved", "HOME"), reason::DEFAULT_PROFILE);
    assert!(!home.path().as_os_str().as_bytes().is_empty());
}
