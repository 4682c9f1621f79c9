//! A screen, a window on it, and the hands of a person.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use countersign::confirm::child::Surroundings;
use countersign::confirm::protocol::{ALLOW_AT, DENY_AT, Progress};
use countersign::confirm::window::Window;
use countersign::domain::digest::Digest;
use countersign::domain::lock::LockClass;
use countersign::domain::question::{Ending, Fact, Question};
use countersign::domain::text::Shown;
use countersign::gate::consent::{Ask as _, Asked};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use crate::support::x::{PATIENCE, Place, Screen};

/// The title of both the window and the dialog.
pub(crate) const TITLE: &str = "countersign asks you";

/// The programs as cargo built them.
pub(crate) fn server() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_countersign"))
}

/// The helper beside the server.
pub(crate) fn helper() -> PathBuf {
    let helper = server().with_file_name("countersign-window");
    assert!(helper.exists(), "run with --features window");
    helper
}

/// No helper, so that the basic dialog is used.
pub(crate) fn no_helper() -> PathBuf {
    PathBuf::from("/nonexistent/countersign-window")
}

/// A screen and a window on it.
pub(crate) struct Scene {
    pub(crate) screen: Screen,
    pub(crate) window: Arc<Window>,
}

/// An open question.
pub(crate) struct Open {
    task: JoinHandle<Asked>,
    withdraw: Option<oneshot::Sender<()>>,
    stage: watch::Receiver<Progress>,
}

impl Scene {
    /// The window of our own, with a window manager.
    pub(crate) fn own() -> Self {
        Self::on(Screen::managed("1024x600"), helper(), &[])
    }

    /// The basic dialog, with a window manager.
    pub(crate) fn basic() -> Self {
        Self::on(Screen::managed("1024x600"), no_helper(), &[])
    }

    /// A screen of the caller's choice and more variables in the asker's environment.
    pub(crate) fn on(screen: Screen, helper: PathBuf, more: &[(&str, &str)]) -> Self {
        let surroundings = surroundings(screen.display(), more);
        let window = Arc::new(Window::new(helper, server(), surroundings));
        Self { screen, window }
    }

    /// Puts a question.
    pub(crate) fn ask(&self, question: Question) -> Open {
        open(&self.window, question)
    }

    /// Puts a question and waits until its window has the keyboard.
    pub(crate) async fn asked_and_focused(&self, question: Question) -> (Open, String) {
        let mut open = self.ask(question);
        open.reach(Progress::Shown).await;
        let id = self.screen.window(TITLE);
        self.screen.focused(&id);
        (open, id)
    }

    /// Where Allow's middle is.
    pub(crate) fn allow(&self, id: &str) -> (i32, i32) {
        corner(self.screen.place(id), ALLOW_AT)
    }

    /// Where Deny's middle is.
    pub(crate) fn deny(&self, id: &str) -> (i32, i32) {
        corner(self.screen.place(id), DENY_AT)
    }

    /// Clicks Deny unless the window has gone. What was done to the window before is handled before this click, so an
    /// allow by any of it would win.
    pub(crate) fn deny_if_there(&self, id: &str) {
        if let Some(place) = self.screen.place_if_there(id) {
            self.screen.click(corner(place, DENY_AT));
        }
    }
}

fn corner(place: Place, (x, y): (i32, i32)) -> (i32, i32) {
    (place.left + place.width - x, place.top + place.height - y)
}

/// What the asker was started with: a display, a home, and things that must not get through.
pub(crate) fn surroundings(display: &str, more: &[(&str, &str)]) -> Surroundings {
    let fixed = [
        ("DISPLAY", display),
        ("HOME", "/nonexistent"),
        ("LANG", "C.UTF-8"),
        ("G_MESSAGES_DEBUG", "all"),
        ("GTK_DEBUG", "interactive"),
        ("LD_PRELOAD", "/nonexistent/preload.so"),
    ];
    let all = fixed.iter().chain(more);
    Surroundings::among(all.map(|(name, value)| (OsString::from(name), OsString::from(value))))
}

/// Puts a question by any window.
pub(crate) fn open(window: &Arc<Window>, question: Question) -> Open {
    let (withdraw, withdrawn) = oneshot::channel();
    let stage = window.stage();
    let window = Arc::clone(window);
    let task = tokio::spawn(async move {
        let gone = async move {
            if withdrawn.await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        window.ask(question, gone).await
    });
    Open {
        task,
        withdraw: Some(withdraw),
        stage,
    }
}

impl Open {
    /// Waits until the window has come so far.
    pub(crate) async fn reach(&mut self, progress: Progress) {
        let reached = self.stage.wait_for(|now| *now >= progress);
        tokio::time::timeout(PATIENCE, reached)
            .await
            .expect("the window comes up")
            .unwrap();
    }

    /// The caller goes away.
    pub(crate) fn withdraw(&mut self) {
        self.withdraw.take().unwrap().send(()).unwrap();
    }

    /// True while the question is open.
    pub(crate) fn is_open(&self) -> bool {
        !self.task.is_finished()
    }

    /// The future that asks is dropped.
    pub(crate) fn drop_it(self) {
        self.task.abort();
    }

    /// How it ended.
    pub(crate) async fn ended(self) -> Asked {
        tokio::time::timeout(PATIENCE, self.task)
            .await
            .expect("the question ends")
            .unwrap()
    }

    /// The ending alone.
    pub(crate) async fn ending(self) -> Ending {
        self.ended().await.ending
    }
}

/// An ordinary question.
pub(crate) fn question() -> Question {
    let fact = |label, value, critical| Fact {
        label,
        value: Shown::escape(value, 160),
        critical,
    };
    Question {
        class: LockClass::Payment,
        headline: "The assistant wants to click. This may move money.",
        host_prefix: Shown::ours("shop."),
        host_registrable: Shown::ours("example.test"),
        host_note: Shown::default(),
        facts: vec![
            fact("Button", "Pay now", true),
            fact("Amount", "EUR 249.00", true),
            fact("To", "Example Shop Ltd", true),
            fact("Sends to", "https://pay.example.test/checkout", true),
            fact("Page", "Your basket (3 items)", false),
        ],
        model_says: Some(Shown::ours("Paying for the basket you asked me to order.")),
        journal_number: 42,
        digest: Digest::of(b"an ordinary question"),
        deadline: Duration::from_secs(60),
    }
}

/// The same with another deadline.
pub(crate) fn question_for(deadline: Duration) -> Question {
    Question {
        deadline,
        ..question()
    }
}

/// A program of the test's own in place of the helper.
pub(crate) fn script(directory: &Path, body: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let path = directory.join("countersign-window");
    // The probe is answered, so that the question is put.
    let text = format!("#!/bin/sh\n[ \"$1\" = --probe=1 ] && exit 0\n{body}\n");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}
