//! `countersign browser` starts the dedicated profile, leaves it running, and never starts it twice.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use countersign::browser::endpoint::{NoSandbox, Wanted, find};
use countersign::browser::program;
use countersign::cli::browser::{Args, run};
use countersign::cli::doctor::{self, State};
use countersign::cli::exit::Exit;
use countersign::cli::harden::Level;
use countersign::cli::places::{Places, prepare};

use super::support::{EndsWithTest, Private, Running, in_a_process_of_its_own, said};

fn wanted(places: &Places) -> Wanted {
    Wanted {
        profile_dir: places.browser.clone(),
        executables: program::default_executables(),
        no_sandbox: NoSandbox::Refused,
    }
}

fn run_browser(places: &Places, extra: &[OsString]) -> (Exit, String, String) {
    let args = Args {
        print: false,
        home: None,
        extra: extra.to_vec(),
    };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(run(&args, &wanted(places), places, &mut out, &mut err))
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (exit, text(out), text(err))
}

#[test]
#[ignore = "run by the tests below in a process of its own, which ends while the browser goes on"]
fn starts_the_browser_and_ends() {
    let home = PathBuf::from(std::env::var_os("CS_HOME").unwrap());
    let extra: Vec<OsString> = std::env::var_os("CS_EXTRA")
        .into_iter()
        .filter(|extra| !extra.is_empty())
        .collect();
    let (exit, out, err) = run_browser(&Places::below(&home), &extra);
    println!("\nexit={}", exit as u8);
    println!("out={}", out.replace('\n', "|"));
    println!("err={}", err.replace('\n', "|"));
}

fn start(home: &Path, extra: &str, display: &str) -> std::process::Output {
    in_a_process_of_its_own(
        "endpoint::command::starts_the_browser_and_ends",
        [
            ("CS_HOME", home.as_os_str()),
            ("CS_EXTRA", OsStr::new(extra)),
            ("DISPLAY", OsStr::new(display)),
            ("WAYLAND_DISPLAY", OsStr::new("")),
            // What must not reach the browser: with it, the owner check would refuse what was started.
            ("CHROMIUM_FLAGS", OsStr::new("--disable-web-security")),
        ],
    )
}

async fn pid_of_the_browser(places: &Places) -> u32 {
    find(&wanted(places)).await.unwrap().pid().number()
}

#[tokio::test]
async fn it_starts_once_survives_its_starter_and_is_the_operators() {
    let home = Private::new();
    let places = Places::below(home.path());
    prepare(&places.browser).unwrap();
    let _ends = EndsWithTest(places.browser.clone());
    let output = start(home.path(), "--headless=new", "");
    let (out, err) = (said(&output, "out"), said(&output, "err"));
    assert_eq!(
        (said(&output, "exit").as_str(), err.as_str()),
        ("0", ""),
        "{out}"
    );
    assert!(out.contains("countersign doctor --home"), "{out}");
    let started = pid_of_the_browser(&places).await;

    let again = start(home.path(), "--headless=new", "");
    assert_eq!(said(&again, "exit"), "0");
    assert!(said(&again, "out").contains("already running"), "{again:?}");
    assert_eq!(pid_of_the_browser(&places).await, started);

    let checks = doctor::look(&places, Some(&wanted(&places)), Level::Full).await;
    let state = |name: &str| {
        checks
            .iter()
            .find(|check| check.name() == name)
            .unwrap()
            .state()
    };
    for name in [
        "user",
        "browser profile",
        "browser program",
        "browser sandbox",
        "browser",
    ] {
        assert_eq!(state(name), State::Ok, "{name}");
    }
    assert_eq!(state("configuration directory"), State::Fail);
}

#[tokio::test]
async fn it_outlives_the_terminal_it_was_started_from() {
    let home = Private::new();
    let places = Places::below(home.path());
    prepare(&places.browser).unwrap();
    let _ends = EndsWithTest(places.browser.clone());
    // `script` gives the command a terminal of its own and hangs it up when the command ends.
    let line = format!(
        "exec {} --exact endpoint::command::starts_the_browser_and_ends --ignored --nocapture",
        std::env::current_exe().unwrap().display()
    );
    let output = Command::new("/usr/bin/script")
        .args(["-q", "-e", "-c", &line, "/dev/null"])
        .env("CS_HOME", home.path())
        .env("CS_EXTRA", "--headless=new")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(said(&output, "exit"), "0", "{output:?}");
    let started = pid_of_the_browser(&places).await;
    // The terminal is gone, and the browser goes on.
    let exists = Path::new("/proc").join(started.to_string()).exists();
    assert!(exists && find(&wanted(&places)).await.is_ok());
}

#[tokio::test]
async fn it_starts_with_a_window_on_a_display() {
    let home = Private::new();
    let places = Places::below(home.path());
    prepare(&places.browser).unwrap();
    let _ends = EndsWithTest(places.browser.clone());
    // The server picks a free number and prints it once it listens.
    let mut server = Running::spawn(
        Command::new("/usr/bin/Xvfb")
            .args([
                "-displayfd",
                "1",
                "-screen",
                "0",
                "1024x700x24",
                "-nolisten",
                "tcp",
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null()),
    );
    let display = format!(":{}", server.first_line());
    let output = start(home.path(), "", &display);
    assert_eq!(said(&output, "exit"), "0", "{output:?}");
    pid_of_the_browser(&places).await;
}

#[test]
fn without_a_display_it_says_so_and_starts_nothing() {
    let home = Private::new();
    let places = Places::below(home.path());
    prepare(&places.browser).unwrap();
    let _ends = EndsWithTest(places.browser.clone());
    let output = start(home.path(), "", "");
    assert_eq!(said(&output, "exit"), (Exit::CannotOpen as u8).to_string());
    assert!(said(&output, "err").contains("no display"));
    assert_eq!(std::fs::read_dir(&places.browser).unwrap().count(), 0);
}

#[test]
fn a_browser_that_ends_at_once_is_reported_with_its_last_words() {
    let home = Private::new();
    let places = Places::below(home.path());
    prepare(&places.browser).unwrap();
    let _ends = EndsWithTest(places.browser.clone());
    // No X server has this number.
    let output = start(home.path(), "", ":64123");
    assert_eq!(said(&output, "exit"), (Exit::CannotOpen as u8).to_string());
    let err = said(&output, "err");
    assert!(err.contains("ended before it opened its port"), "{err}");
    assert!(err.to_lowercase().contains("display"), "{err}");
}

#[tokio::test]
async fn a_profile_that_is_open_without_the_port_is_left_alone() {
    let home = Private::new();
    let places = Places::below(home.path());
    prepare(&places.browser).unwrap();
    let _ends = EndsWithTest(places.browser.clone());
    let output = start(home.path(), "--headless=new", "");
    assert_eq!(said(&output, "exit"), "0");
    let started = pid_of_the_browser(&places).await;
    std::fs::remove_file(places.browser.join("DevToolsActivePort")).unwrap();
    let again = start(home.path(), "--headless=new", "");
    assert_eq!(said(&again, "exit"), (Exit::Refused as u8).to_string());
    assert!(
        said(&again, "err").contains("Close its windows"),
        "{again:?}"
    );
    assert!(Path::new(&format!("/proc/{started}")).exists());
}

#[test]
fn a_missing_or_loose_profile_directory_is_not_started_on() {
    let home = Private::new();
    let places = Places::below(home.path());
    let (exit, _, err) = run_browser(&places, &["--headless=new".into()]);
    assert_eq!(exit, Exit::CannotOpen);
    assert!(err.contains("countersign setup"), "{err}");
    prepare(&places.browser).unwrap();
    let _ends = EndsWithTest(places.browser.clone());
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(&places.browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (exit, _, err) = run_browser(&places, &["--headless=new".into()]);
    assert_eq!(exit, Exit::Refused);
    assert!(err.contains("chmod 0700"), "{err}");
    let (exit, _, err) = run_browser(&places, &["--no-sandbox".into()]);
    assert_eq!(exit, Exit::Refused);
    assert!(err.contains("--no-sandbox"), "{err}");
}
