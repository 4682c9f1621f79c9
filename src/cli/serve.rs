//! `countersign serve`: the server a client starts. Standard output is the protocol's alone.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use rmcp::ServiceExt as _;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::signal::unix::{SignalKind, signal};

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
const ENDING: Duration = Duration::from_millis(1_000);
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
    let profile = match store::load(&places.profile()) {
        Ok(profile) => Arc::new(profile),
        Err(error) => return stopped(&format!("{error}"), Exit::Usage),
    };
    let session = match session(&profile, places) {
        Ok(session) => session,
        Err(fault) => {
            return stopped(
                &format!(
                    "{fault}; run {} to see what is wrong",
                    places.command("doctor")
                ),
                Exit::CannotOpen,
            );
        }
    };
    let (ends, writer) = stdio::start(tokio::io::stdin(), output);
    let transport = AsyncRwTransport::new_server(ends.input, ends.output);
    let mut terminate = match signal(SignalKind::terminate()) {
        Ok(signal) => signal,
        Err(error) => return stopped(&error.to_string(), Exit::Fault),
    };
    let beat = {
        let session = session.share();
        tokio::spawn(async move {
            let mut every = tokio::time::interval(HEARTBEAT_EVERY);
            every.tick().await;
            loop {
                every.tick().await;
                session.heartbeat();
            }
        })
    };
    let watch = {
        let session = session.share();
        tokio::spawn(async move {
            let mut every = tokio::time::interval(WATCH);
            loop {
                every.tick().await;
                session.watch_port().await;
            }
        })
    };
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
    beat.abort();
    watch.abort();
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
fn stopped(why: &str, exit: Exit) -> Exit {
    tracing::error!("{why}");
    let mut line = String::new();
    let _ = writeln!(line, "countersign: {why}");
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
    exit
}
