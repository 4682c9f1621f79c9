//! `countersign serve`: the server a client starts. Standard output is the protocol's alone.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use rmcp::ServiceExt as _;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;

use super::exit::Exit;
use super::places::JOURNAL;
use super::places::Places;
use super::setup::absolute;
use crate::browser::endpoint::{NoSandbox, Wanted};
use crate::confirm::window::Window;
use crate::error::Fault;
use crate::flow::session::{Session, Setting};
use crate::journal::{Closing, Directory, HEARTBEAT_EVERY, Journal, Opening, Recipient, SessionId};
use crate::policy::lock::Locks;
use crate::policy::profile::Profile;
use crate::policy::sensitive::Sensitive;
use crate::policy::store;
use crate::server::stdio::{self, Output};
use crate::server::{Handler, tool_names};

/// What a client's configuration passes.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where setup put everything, if not in the usual directories
    #[arg(long, value_name = "DIRECTORY", value_parser = absolute)]
    pub home: Option<PathBuf>,
}

/// How often other programs on the browser's port are looked for (security D4).
const WATCH: Duration = Duration::from_secs(5);
/// How long the end may take (security P4: 2 s in all).
pub(super) const ENDING: Duration = Duration::from_millis(1_000);
/// How long the last replies may take after that.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// Where the operator's browser is looked for.
#[must_use]
pub fn wanted(profile: &Profile, places: &Places) -> Wanted {
    let browser = profile.browser();
    Wanted {
        profile_dir: browser
            .profile_dir()
            .map_or_else(|| places.browser.clone(), ToOwned::to_owned),
        executables: browser.executables().to_vec(),
        no_sandbox: if browser.allows_no_sandbox() {
            NoSandbox::Allowed
        } else {
            NoSandbox::Refused
        },
    }
}

/// Serves until the client is gone or a signal comes. What stops the start is one line on standard error each.
pub async fn run(places: &Places, output: Output) -> Exit {
    let session = match open(places) {
        Ok(session) => session,
        Err(exit) => return exit,
    };
    let (ends, writer) = stdio::start(tokio::io::stdin(), output);
    let transport = AsyncRwTransport::new_server(ends.input, ends.output);
    let mut terminate = match signal(SignalKind::terminate()) {
        Ok(signal) => signal,
        Err(error) => return stopped(&error.to_string(), Exit::Fault),
    };
    let watches = Watches::over(&session);
    let serve = async {
        match Handler::new(session.share()).serve(transport).await {
            Ok(running) => drop(running.waiting().await),
            Err(error) => {
                tracing::warn!("the client went away before it said what it speaks: {error}")
            }
        }
    };
    let serve = std::pin::pin!(serve.shared());
    let why = tokio::select! {
        () = serve.clone() => Closing::EndOfInput,
        () = ends.ended.cancelled() => Closing::EndOfInput,
        _ = terminate.recv() => Closing::Signal,
        _ = tokio::signal::ctrl_c() => Closing::Signal,
    };
    drop(watches);
    session.end(why, ENDING).await;
    // Whoever still reads gets the replies to what was under way. The writer ends with the library, which then drops its
    // end of the pipe; a client that does not read any more is not waited for.
    let _ = tokio::time::timeout(LAST_WORDS, async {
        serve.await;
        let _ = writer.await;
    })
    .await;
    Exit::Ok
}

/// A session on the operator's profile and journal. What stops the start is one line on standard error.
pub(super) fn open(places: &Places) -> Result<Session<Window>, Exit> {
    let profile = match store::load(&places.profile()) {
        Ok(profile) => Arc::new(profile),
        Err(error) => return Err(stopped(&format!("{error}"), Exit::Usage)),
    };
    session(&profile, places).map_err(|fault| {
        let doctor = places.command("doctor");
        stopped(
            &format!("{fault}; run {doctor} to see what is wrong"),
            Exit::CannotOpen,
        )
    })
}

/// What a session does by itself while it serves: signs of life for the journal, and looks for other programs on the
/// browser's port.
pub(super) struct Watches([JoinHandle<()>; 2]);

impl Watches {
    pub(super) fn over(session: &Session<Window>) -> Self {
        let (beating, watching) = (session.share(), session.share());
        let beat = tokio::spawn(async move {
            let mut every = tokio::time::interval(HEARTBEAT_EVERY);
            every.tick().await;
            loop {
                every.tick().await;
                beating.heartbeat();
            }
        });
        let watch = tokio::spawn(async move {
            let mut every = tokio::time::interval(WATCH);
            loop {
                every.tick().await;
                watching.watch_port().await;
            }
        });
        Self([beat, watch])
    }
}

impl Drop for Watches {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

fn session(profile: &Arc<Profile>, places: &Places) -> Result<Session<Window>, Fault> {
    let locks = Locks::new(profile.locks()).map_err(|error| {
        Fault::internal("the shipped vocabulary fails its own examples").because(error.to_string())
    })?;
    let table = Sensitive::shipped()
        .map_err(|error| {
            Fault::internal("the table of sensitive fields cannot be used")
                .because(error.to_string())
        })?
        .script_argument();
    let opening = Opening {
        session: SessionId::generate()?,
        profile: profile.digest(),
        program: concat!("countersign ", env!("CARGO_PKG_VERSION")).to_owned(),
    };
    let recipient = Recipient::read(&Directory::open(&places.config)?)?;
    let directory = Directory::open(&places.state)?.subdirectory(&JOURNAL)?;
    let mut journal = Journal::open(directory, recipient, opening)?;
    journal.keep_typed_text(profile.typed_text());
    let setting = Setting {
        profile: Arc::clone(profile),
        locks,
        table,
        wanted: wanted(profile, places),
        asker: Window::beside_this_program(),
        tools: tool_names(profile),
    };
    Ok(Session::new(setting, journal))
}

/// Says why on standard error and in the diagnostics.
pub(super) fn stopped(why: &str, exit: Exit) -> Exit {
    tracing::error!("{why}");
    let mut line = String::new();
    let _ = writeln!(line, "countersign: {why}");
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
    exit
}
