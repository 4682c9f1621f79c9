//! From the command line to the command: hardened first, then parsed, then run.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use super::exit::Exit;
use super::harden::{self, Asked, Level};
use super::places::Places;
use super::setup::absolute;
use super::{audit, browser, doctor, keys, policy, serve, setup, shell};
use crate::confirm::basic;
use crate::policy::store;
use crate::server::stdio;
use crate::server::tools::{TABLE, digest};

/// A gateway between an assistant and your own logged-in browser.
#[derive(Debug, Parser)]
#[command(name = "countersign", version = version(), arg_required_else_help = true, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Run as root all the same (containers)
    #[arg(long, global = true)]
    allow_root: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Set everything up: directories, keys, a starter profile; prints what to type next
    Setup(setup::Args),
    /// Start the dedicated browser
    Browser(browser::Args),
    /// Serve an MCP client on standard input and output (a client starts this)
    Serve(serve::Args),
    /// Drive the same server by hand: what the assistant sees, without the assistant
    Shell(shell::Args),
    /// Look at everything, and say the way out where something is not in order
    Doctor(doctor::Args),
    /// Show or check what the profile allows
    Policy(OfPlaces<policy::PolicyArgs>),
    /// Read and verify the journal
    Audit(AuditArgs),
    /// Walk through the whole story on a bundled bank and shop
    #[cfg(feature = "demo")]
    Demo(super::demo::Args),
    /// The basic window, in a process of its own
    #[command(name = "ask-basic", hide = true)]
    AskBasic,
}

#[derive(Debug, clap::Args)]
struct OfPlaces<T: clap::Args> {
    #[command(flatten)]
    args: T,
    /// Where setup put everything, if not in the usual directories
    #[arg(long, value_name = "DIRECTORY", value_parser = absolute, global = true)]
    home: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct AuditArgs {
    #[command(subcommand)]
    command: audit::AuditCommand,
    /// Where setup put everything, if not in the usual directories
    #[arg(long, value_name = "DIRECTORY", value_parser = absolute, global = true)]
    home: Option<PathBuf>,
}

fn version() -> String {
    format!(
        "{} (tools {})",
        env!("CARGO_PKG_VERSION"),
        digest(TABLE.iter()).hex()
    )
}

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let level = match harden::harden(Asked::from_arguments(arguments.iter().skip(1).cloned())) {
        Ok(level) => level,
        Err(error) => {
            say(&format!("countersign: {error}"));
            return Exit::Refused.into();
        }
    };
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Ok
            }
            .into();
        }
    };
    if matches!(cli.command, Command::AskBasic) {
        // A child of our own: it speaks to its parent by its exit code.
        return u8::try_from(basic::run_child()).map_or(ExitCode::FAILURE, ExitCode::from);
    }
    let exit = run(cli.command, level).unwrap_or_else(|error| {
        // A reader that went away is not our failure.
        if error.kind() == io::ErrorKind::BrokenPipe {
            Exit::Ok
        } else {
            Exit::Fault
        }
    });
    exit.into()
}

fn run(command: Command, level: Level) -> io::Result<Exit> {
    let (mut out, mut err) = (io::stdout(), io::stderr());
    match command {
        Command::Setup(args) => {
            let program = std::env::current_exe()?;
            setup::run(&args, &program, &keys::Made::of(&args), &mut out, &mut err)
        }
        Command::Browser(args) => with_places(args.home.as_deref(), |places| {
            let wanted = match store::load(&places.profile()) {
                Ok(profile) => serve::wanted(&profile, places),
                Err(error) => {
                    say(&format!("{error}"));
                    return Ok(Exit::Usage);
                }
            };
            runtime()?.block_on(browser::run(&args, &wanted, places, &mut out, &mut err))
        }),
        Command::Serve(args) => with_places(args.home.as_deref(), |places| {
            let output = match stdio::claim() {
                Ok(output) => output,
                Err(fault) => {
                    say(&fault.to_string());
                    return Ok(Exit::Fault);
                }
            };
            let _diagnostics = super::diagnostics::start(places);
            let runtime = runtime()?;
            let exit = runtime.block_on(serve::run(places, output));
            // Standard input is read by a thread that cannot be woken; it is not waited for.
            runtime.shutdown_background();
            Ok(exit)
        }),
        Command::Shell(args) => with_places(args.home.as_deref(), |places| {
            let _diagnostics = super::diagnostics::start(places);
            let runtime = runtime()?;
            let exit = runtime.block_on(shell::run(&args, places));
            runtime.shutdown_background();
            exit
        }),
        Command::Doctor(args) => with_places(args.home.as_deref(), |places| {
            runtime()?.block_on(async {
                let profile = store::load(&places.profile());
                let wanted = profile
                    .as_ref()
                    .ok()
                    .map(|profile| serve::wanted(profile, places));
                let mut checks = doctor::look(places, wanted.as_ref(), level).await;
                checks.extend(super::checkup::look(places, &profile).await);
                doctor::print(&args, places, &checks, &mut out)
            })
        }),
        Command::Policy(OfPlaces { args, home }) => with_places(home.as_deref(), |places| {
            policy::run(&args, places, &mut out).map(|outcome| match outcome {
                policy::Outcome::Good => Exit::Ok,
                policy::Outcome::Bad => Exit::CheckFailed,
            })
        }),
        Command::Audit(AuditArgs { command, home }) => with_places(home.as_deref(), |places| {
            let (journal, keys) = (places.journal(), places.config.clone());
            Ok(audit::run(
                &command,
                audit::Archive {
                    journal: &journal,
                    keys: &keys,
                },
                &mut out,
                &mut err,
            ))
        }),
        #[cfg(feature = "demo")]
        Command::Demo(args) => runtime()?.block_on(super::demo::run(&args, &mut out)),
        Command::AskBasic => Ok(Exit::Usage),
    }
}

fn with_places(
    home: Option<&Path>,
    with: impl FnOnce(&Places) -> io::Result<Exit>,
) -> io::Result<Exit> {
    match Places::of(home) {
        Ok(places) => with(&places),
        Err(error) => {
            say(&error.to_string());
            Ok(Exit::CannotOpen)
        }
    }
}

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
}

fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
