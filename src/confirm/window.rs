//! Puts a question to the person in a process of its own and takes nothing for a yes but the one exact answer.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::time::timeout;

use super::basic;
use super::child::{Group, Pipes, Surroundings};
use super::program::{self, Obstacle};
use super::protocol::{Exit, LONGEST_OUTPUT, PROBE, Progress, Put, WAKE};
use crate::domain::question::{Ending, Means, Question};
use crate::gate::consent::{Ask, Asked};

/// The longest a question stays open, whatever it asks for (security C4).
pub const LONGEST_DEADLINE: Duration = Duration::from_secs(90);

/// How long a program may take to say whether it can open the display.
const TRIAL: Duration = Duration::from_secs(5);

/// How long a pipe may stay open after the whole group was killed.
const STRAGGLER: Duration = Duration::from_secs(1);

/// The helper's file name; it lies beside the server's.
const HELPER: &str = "countersign-window";

/// Asks the person, by the window of our own or by the basic dialog.
#[derive(Debug)]
pub struct Window {
    helper: PathBuf,
    server: PathBuf,
    surroundings: Surroundings,
    standing: Mutex<Option<Means>>,
    stage: watch::Sender<Progress>,
}

/// What was found out about the ways to ask, for `status` and `doctor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Examination {
    /// By what means a question would be put now.
    pub means: Means,
    /// Why the window of our own cannot be used, if it cannot.
    pub window: Result<(), Obstacle>,
    /// Why the basic dialog cannot be used, if it cannot; not looked at where the window can be used.
    pub basic: Result<(), Obstacle>,
}

impl Window {
    /// The programs beside the running one, in the environment this process was started with. Starts nothing yet.
    #[must_use]
    pub fn beside_this_program() -> Self {
        let server = std::env::current_exe().unwrap_or_default();
        let helper = server.with_file_name(HELPER);
        Self::new(helper, server, Surroundings::of_this_process())
    }

    /// Named programs and a named environment.
    #[must_use]
    pub fn new(helper: PathBuf, server: PathBuf, surroundings: Surroundings) -> Self {
        Self {
            helper,
            server,
            surroundings,
            standing: Mutex::new(None),
            stage: watch::Sender::new(Progress::Nothing),
        }
    }

    /// How far the open question's window has come; [`Progress::Nothing`] while none is open.
    #[must_use]
    pub fn stage(&self) -> watch::Receiver<Progress> {
        self.stage.subscribe()
    }

    /// By what means a question would be put. Tried out where the last trial found nothing.
    pub async fn means(&self) -> Means {
        match self.known() {
            Some(means @ (Means::Window | Means::Basic)) => means,
            Some(Means::Nothing) | None => self.examine().await.means,
        }
    }

    /// Tries every way now, and remembers the first that works.
    pub async fn examine(&self) -> Examination {
        let window = self.try_helper().await;
        let basic = match window {
            Ok(()) => Ok(()),
            Err(_) => self.try_basic().await,
        };
        let means = match (window, basic) {
            (Ok(()), _) => Means::Window,
            (Err(_), Ok(())) => Means::Basic,
            (Err(_), Err(_)) => Means::Nothing,
        };
        self.remember(means);
        Examination {
            means,
            window,
            basic,
        }
    }

    fn known(&self) -> Option<Means> {
        *self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, means: Means) {
        *self.standing.lock().unwrap_or_else(PoisonError::into_inner) = Some(means);
    }

    async fn try_helper(&self) -> Result<(), Obstacle> {
        let program = program::check(&self.helper)?;
        let code = self.try_out(&program, &[PROBE]).await;
        match code {
            Some(0) => Ok(()),
            Some(code) if code == Exit::NoDisplay.code() => Err(Obstacle::NoDisplay),
            Some(_) | None => Err(Obstacle::DoesNotRun),
        }
    }

    async fn try_basic(&self) -> Result<(), Obstacle> {
        program::check(&self.server)?;
        let dialog = basic::dialog_program()?;
        if !self.surroundings.name_a_display() {
            return Err(Obstacle::NoDisplay);
        }
        // It opens the display before it prints its version.
        match self.try_out(&dialog, &["--version"]).await {
            Some(0) => Ok(()),
            Some(1) => Err(Obstacle::NoDisplay),
            Some(_) | None => Err(Obstacle::DoesNotRun),
        }
    }

    async fn try_out(&self, program: &Path, arguments: &[&str]) -> Option<i32> {
        let mut group = Group::spawn(program, arguments, &self.surroundings, Pipes::Silent).ok()?;
        let code = timeout(TRIAL, group.ended()).await.ok().flatten();
        group.end().await;
        code
    }

    /// Puts the question by the means at hand, until `over` says that it is over.
    async fn put(
        &self,
        means: Means,
        question: &Question,
        time: Duration,
        over: impl Future<Output = Ending>,
    ) -> Ending {
        let (program, arguments): (_, &[&str]) = match means {
            Means::Window => (&self.helper, &[]),
            Means::Basic => (&self.server, &[basic::SUBCOMMAND]),
            Means::Nothing => return Ending::Undeliverable,
        };
        // Looked at again: the file may have been changed since it was tried.
        let Ok(program) = program::check(program) else {
            return Ending::Undeliverable;
        };
        let Some((put, line)) = bind(question, time) else {
            return Ending::Undeliverable;
        };
        let started = Instant::now();
        let spawned = Group::spawn(&program, arguments, &self.surroundings, Pipes::Talk);
        let Ok(mut group) = spawned else {
            return Ending::Undeliverable;
        };
        let Some((input, output)) = group.pipes() else {
            return Ending::Undeliverable;
        };
        let ending = tokio::select! {
            biased;
            ending = over => ending,
            heard = self.hear(&put, &line, input, output, &mut group) => heard,
        };
        group.end().await;
        match ending {
            // Every window sleeps at least this long after it is drawn, so a faster yes is no window's.
            Ending::Allowed if started.elapsed() < WAKE => Ending::Crashed,
            // What was never on the screen was not left unanswered.
            Ending::Timeout if *self.stage.borrow() < Progress::Shown => Ending::Undeliverable,
            Ending::Allowed
            | Ending::Denied
            | Ending::Timeout
            | Ending::Cancelled
            | Ending::Undeliverable
            | Ending::Crashed => ending,
        }
    }

    /// Hands the question over and follows the output; `input` stays open until the process has ended.
    async fn hear(
        &self,
        put: &Put,
        line: &str,
        mut input: ChildStdin,
        mut output: ChildStdout,
        group: &mut Group,
    ) -> Ending {
        if input.write_all(line.as_bytes()).await.is_err() {
            return put.judge(b"", group.ended().await);
        }
        let mut said = Vec::new();
        let mut piece = [0_u8; LONGEST_OUTPUT];
        let ended = group.ended();
        tokio::pin!(ended);
        // `None` until the process has ended, then its exit code. What it said before is still read to the end.
        let mut code: Option<Option<i32>> = None;
        loop {
            let length = tokio::select! {
                biased;
                read = output.read(&mut piece) => match read {
                    Ok(length) => length,
                    Err(_) => return Ending::Crashed,
                },
                now = &mut ended, if code.is_none() => {
                    code = Some(now);
                    continue;
                }
                // The group is dead, so only a process that left it can hold the pipe open.
                () = tokio::time::sleep(STRAGGLER), if code.is_some() => return Ending::Crashed,
            };
            if length == 0 {
                break;
            }
            said.extend_from_slice(piece.get(..length).unwrap_or_default());
            match put.follow(&said) {
                Some(progress) => {
                    self.stage.send_replace(progress);
                }
                None => return Ending::Crashed,
            }
        }
        let code = match code {
            Some(code) => code,
            None => ended.await,
        };
        drop(input);
        put.judge(&said, code)
    }
}

/// A question bound to a fresh nonce; `None` where there is no randomness or no room for it.
fn bind(question: &Question, time: Duration) -> Option<(Put, String)> {
    let mut nonce = [0_u8; 32];
    getrandom::fill(&mut nonce).ok()?;
    let put = Put::new(question, nonce, time).ok()?;
    let line = put.to_line().ok()?;
    Some((put, line))
}

impl Ask for Window {
    async fn means(&self) -> Means {
        Self::means(self).await
    }

    async fn ask(&self, question: Question, withdrawn: impl Future<Output = ()> + Send) -> Asked {
        let time = question.deadline.min(LONGEST_DEADLINE);
        let began = Instant::now();
        self.stage.send_replace(Progress::Nothing);
        let over = async {
            tokio::select! {
                biased;
                () = withdrawn => Ending::Cancelled,
                () = tokio::time::sleep(time) => Ending::Timeout,
            }
        };
        tokio::pin!(over);
        let means = tokio::select! {
            biased;
            ending = &mut over => Err(ending),
            means = self.means() => Ok(means),
        };
        let (ending, means) = match means {
            Ok(means) => {
                let left = time.saturating_sub(began.elapsed());
                (self.put(means, &question, left, over).await, means)
            }
            Err(Ending::Cancelled) => (Ending::Cancelled, Means::Nothing),
            Err(_) => (Ending::Undeliverable, Means::Nothing),
        };
        self.stage.send_replace(Progress::Nothing);
        if ending == Ending::Undeliverable {
            // The display may have gone since it was tried: the next question tries again.
            self.remember(Means::Nothing);
        }
        Asked { ending, means }
    }
}
