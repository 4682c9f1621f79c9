//! The process around a question: what counts as an answer, what it is started with, and that it never stays behind.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign::confirm::program::Obstacle;
use countersign::confirm::window::Window;
use countersign::domain::question::{Ending, Means};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use super::scene::{
    Scene, TITLE, helper, no_helper, open, question, question_for, script, server, surroundings,
};
use crate::support::x::{Screen, until};

/// A shell's way to the nonce and the digest of the question.
const READS: &str = r#"read -r line
nonce=$(printf '%s' "$line" | sed 's/.*"nonce":"\([0-9a-f]*\)".*/\1/')
digest=$(printf '%s' "$line" | sed 's/.*"digest":"\([0-9a-f]*\)".*/\1/')
yes="shown $nonce
awake $nonce
allow $nonce $digest""#;

/// A stand-in for the helper.
struct Fake {
    directory: tempfile::TempDir,
    window: Arc<Window>,
}

fn fake(body: &str, more: &[(&str, &str)]) -> Fake {
    let directory = tempfile::tempdir().unwrap();
    let program = script(directory.path(), &format!("{READS}\n{body}"));
    let window = Window::new(program, server(), surroundings(":nowhere", more));
    Fake {
        directory,
        window: Arc::new(window),
    }
}

async fn ending(body: &str) -> Ending {
    let fake = fake(body, &[]);
    let asked = open(&fake.window, question_for(Duration::from_secs(20)))
        .ended()
        .await;
    assert_eq!(asked.means, Means::Window);
    asked.ending
}

#[tokio::test(flavor = "multi_thread")]
async fn one_exact_answer_with_its_code_allows_and_nothing_else() {
    // The control: the same shell can allow, so the refusals below are not for another reason.
    assert_eq!(
        ending("sleep 1.1; echo \"$yes\"; exit 80").await,
        Ending::Allowed
    );
    assert_eq!(
        ending("echo \"deny $nonce $digest\"; exit 81").await,
        Ending::Denied
    );
    for body in [
        "sleep 1.1; echo \"$yes\"; exit 0",
        "sleep 1.1; echo \"$yes\"; exit 1",
        "sleep 1.1; echo \"$yes\"; exit 81",
        "sleep 1.1; echo \"$yes\"; kill -9 $$",
        "sleep 1.1; echo \"$yes\"; echo; exit 80",
        "sleep 1.1; echo \"$yes\" | head -c -1; exit 80",
        "sleep 1.1; echo \"$yes\" | tr a-z A-Z; exit 80",
        "sleep 1.1; echo \"$yes\" | sed 's/$/\\r/'; exit 80",
        "sleep 1.1; echo '** Message: hello'; echo \"$yes\"; exit 80",
        "sleep 1.1; echo \"$yes\"; echo '** Message: hello'; exit 80",
        "sleep 1.1; echo \"$yes\" | tail -n 1; exit 80",
        "sleep 1.1; echo \"$yes\" | sed \"s/$nonce/$digest/\"; exit 80",
        "sleep 1.1; echo \"$yes\" | sed \"s/ $digest/ $nonce/\"; exit 80",
        "echo \"deny $nonce $digest\"; exit 0",
        "echo allow; exit 80",
        "exit 80",
        "exit 0",
    ] {
        assert_eq!(ending(body).await, Ending::Crashed, "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allow_faster_than_any_window_is_refused() {
    let began = Instant::now();
    let ending = ending("echo \"$yes\"; exit 80").await;
    // On a machine so slow that the shell took a second of its own this would prove nothing.
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(ending, Ending::Crashed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_ends_at_once_and_silence_at_the_deadline() {
    let began = Instant::now();
    assert_eq!(ending("yes").await, Ending::Crashed);
    assert_eq!(
        ending("head -c 5000 /dev/zero; sleep 600").await,
        Ending::Crashed
    );
    assert!(began.elapsed() < Duration::from_secs(15));

    let fake = fake("echo \"shown $nonce\"; exec >&-; sleep 600", &[]);
    let asked = open(&fake.window, question_for(Duration::from_secs(1)))
        .ended()
        .await;
    assert_eq!(asked.ending, Ending::Timeout);
    // What never said that it was shown was not left unanswered.
    let fake = self::fake("sleep 600", &[]);
    let asked = open(&fake.window, question_for(Duration::from_secs(1)))
        .ended()
        .await;
    assert_eq!(asked.ending, Ending::Undeliverable);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grandchild_is_killed_with_its_group() {
    let fake = fake(
        "sleep 600 & echo $! > \"$HOME/pid\"; echo \"deny $nonce $digest\"; exit 81",
        &[],
    );
    // The grandchild holds the pipe open; the answer is still taken when the leader has ended.
    let home = fake.directory.path().to_owned();
    let window = Window::new(
        home.join("countersign-window"),
        server(),
        surroundings(":nowhere", &[("HOME", home.to_str().unwrap())]),
    );
    let asked = open(&Arc::new(window), question()).ended().await;
    assert_eq!(asked.ending, Ending::Denied);
    let pid = std::fs::read_to_string(home.join("pid")).unwrap();
    let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    until("the grandchild is gone", || !alive(pid));
}

/// A zombie that nobody reaps (the test's init may not) is as good as gone.
fn alive(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    stat.is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .starts_with(" Z")
    })
}

/// Every process, left by whomever, that has this folder in its environment.
fn started_with(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let process = entry.ok()?.path();
        let environment = std::fs::read(process.join("environ")).ok()?;
        String::from_utf8_lossy(&environment)
            .contains(folder)
            .then(|| std::fs::read_to_string(process.join("cmdline")).unwrap_or_default())
    });
    processes.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_without_a_bus_gets_none_that_stays_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let runtime = ("XDG_RUNTIME_DIR", path);
    // Whatever was started so is seen. (The window itself hides its environment from other processes.)
    let mut other = Command::new("sleep")
        .arg("600")
        .env(runtime.0, runtime.1)
        .spawn()
        .unwrap();
    until("it is seen", || !started_with(folder.path()).is_empty());
    other.kill().unwrap();
    other.wait().unwrap();
    for helper in [helper(), no_helper()] {
        let scene = Scene::on(
            Screen::managed("1280x800"),
            helper,
            &[runtime, ("HOME", path)],
        );
        let (open, _) = scene.asked_and_focused(question()).await;
        scene.screen.keys(&["Escape"]);
        assert_eq!(open.ending().await, Ending::Denied);
        until("nothing stays behind", || {
            started_with(folder.path()).is_empty()
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_starts_with_a_scrubbed_environment_in_a_group_of_its_own_with_its_input_open() {
    let body = "tr '\\0' '\\n' < /proc/$$/environ > \"$HOME/environ\"; pwd > \"$HOME/pwd\"
cut -d' ' -f1,5 < /proc/$$/stat > \"$HOME/group\"; ls /proc/$$/fd > \"$HOME/files\"
read -r more; echo over > \"$HOME/over\"";
    let fake = fake(body, &[]);
    let home = fake.directory.path().to_owned();
    let more = [
        ("HOME", home.to_str().unwrap()),
        ("PATH", "/nonexistent"),
        ("LC_TIME", "C"),
        ("XDG_DATA_DIRS", "/nonexistent"),
        ("GTK_MODULES", "x"),
    ];
    let window = Window::new(
        home.join("countersign-window"),
        server(),
        surroundings(":nowhere", &more),
    );
    let asked = open(&Arc::new(window), question_for(Duration::from_secs(2)))
        .ended()
        .await;
    assert_eq!(asked.ending, Ending::Undeliverable);
    let read = |name: &str| std::fs::read_to_string(home.join(name)).unwrap();
    let environ = read("environ");
    let mut names: Vec<_> = environ
        .lines()
        .filter_map(|line| line.split('=').next())
        .collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(
        names,
        [
            "DBUS_SESSION_BUS_ADDRESS",
            "DISPLAY",
            "GSK_RENDERER",
            "HOME",
            "LANG",
            "LC_TIME",
            "PATH"
        ]
    );
    assert!(environ.lines().any(|line| line == "PATH=/usr/bin:/bin"));
    assert_eq!(read("pwd"), "/\n");
    let group = read("group");
    let (pid, pgid) = group.trim().split_once(' ').unwrap();
    assert_eq!(pid, pgid);
    // Nothing open but its pipes, what its shell keeps, and what this test was itself started with.
    let control = Command::new("/bin/sh")
        .args(["-c", "ls /proc/$$/fd"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let control = String::from_utf8(control.stdout).unwrap();
    for fd in read("files").lines() {
        let known = ["0", "1", "2", "10", "11", "12"].contains(&fd);
        assert!(known || control.lines().any(|line| line == fd), "{fd}");
    }
    assert!(
        !home.join("over").exists(),
        "the input was closed before the deadline"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_first_on_the_path_are_never_run() {
    let directory = tempfile::tempdir().unwrap();
    let traps = directory.path();
    let mark = traps.join("mark");
    for name in [
        "zenity",
        "countersign-window",
        "countersign",
        "kdialog",
        "dbus-launch",
    ] {
        let path = script(
            traps,
            &format!("echo {name} >> '{}'; exit 0", mark.display()),
        );
        // `script` answers the probe before its body: here that would hide a run.
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(
            &path,
            text.lines()
                .filter(|l| !l.contains("--probe"))
                .collect::<Vec<_>>()
                .join("\n"),
        )
        .unwrap();
        std::fs::rename(&path, traps.join(name)).unwrap();
    }
    // The control: the trap does spring when it is run.
    Command::new(traps.join("zenity")).status().unwrap();
    assert!(mark.exists());
    std::fs::remove_file(&mark).unwrap();

    let path = format!("{}:/usr/bin:/bin", traps.display());
    for helper in [helper(), no_helper()] {
        let scene = Scene::on(Screen::managed("1024x600"), helper, &[("PATH", &path)]);
        let (open, _) = scene.asked_and_focused(question()).await;
        scene.screen.keys(&["Escape"]);
        assert_eq!(open.ending().await, Ending::Denied);
    }
    assert!(
        !mark.exists(),
        "{}",
        std::fs::read_to_string(&mark).unwrap_or_default()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_helper_that_others_can_change_is_not_run() {
    use std::os::unix::fs::PermissionsExt as _;
    let fake = fake("sleep 1.1; echo \"$yes\"; exit 80", &[]);
    let program = fake.directory.path().join("countersign-window");
    assert_eq!(fake.window.examine().await.window, Ok(()));
    for mode in [0o775, 0o757] {
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(mode)).unwrap();
        let seen = fake.window.examine().await;
        assert_eq!(seen.window, Err(Obstacle::Writable));
        assert_eq!(seen.basic, Err(Obstacle::NoDisplay));
        let asked = open(&fake.window, question()).ended().await;
        assert_eq!(
            (asked.ending, asked.means),
            (Ending::Undeliverable, Means::Nothing)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_helper_that_does_not_run_gives_way_to_the_basic_dialog() {
    let screen = Screen::bare("1024x600");
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("countersign-window");
    // What the loader does where a library is missing.
    std::fs::write(&program, "#!/bin/sh\nexit 127\n").unwrap();
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let window = Window::new(program, server(), surroundings(screen.display(), &[]));
    let seen = window.examine().await;
    assert_eq!(
        (seen.means, seen.window),
        (Means::Basic, Err(Obstacle::DoesNotRun))
    );
}

const PARENT: &str = "COUNTERSIGN_TEST_PARENT";

/// Not a test: the body of a process that [`a_killed_asker_leaves_no_window`] starts, and kills.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a body for another test"]
async fn an_asker_to_be_killed() {
    let Ok(display) = std::env::var(PARENT) else {
        return;
    };
    let (display, helper) = display.split_once(' ').unwrap();
    let window = Window::new(PathBuf::from(helper), server(), surroundings(display, &[]));
    open(&Arc::new(window), question()).ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_asker_leaves_no_window() {
    for helper in [helper(), no_helper()] {
        let screen = Screen::managed("1024x600");
        let mut asker = asker(&screen, &helper);
        let id = screen.window(TITLE);
        let owner = Pid::from_raw(screen.owner(&id)).unwrap();
        assert!(test_kill_process(owner).is_ok());
        kill_process(Pid::from_child(&asker), Signal::KILL).unwrap();
        asker.wait().unwrap();
        until("the window is gone", || screen.windows(TITLE).is_empty());
        until("its process is gone", || !alive(owner));
    }
}

fn asker(screen: &Screen, helper: &Path) -> std::process::Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "window::process::an_asker_to_be_killed",
            "--ignored",
        ])
        .env(PARENT, format!("{} {}", screen.display(), helper.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}
