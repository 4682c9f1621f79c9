//! The demo: a bundled bank-and-shop site, and the walk through it.

mod bank;
mod client;
mod goods;
mod pages;
mod person;
mod shop;
pub mod site;
mod stage;
mod state;
mod story;

use std::io::{self, Write};
use std::path::PathBuf;

use tokio::signal::unix::{SignalKind, signal};

use self::person::Person;
use self::stage::Stage;
use self::story::Broken;
use super::exit::Exit;

/// What a person types.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where the pictures and the journal's listing are left
    #[arg(long, value_name = "DIRECTORY")]
    pub out: PathBuf,
    /// Nobody is there (a virtual screen): the demo moves the screen's own pointer to the window's button
    #[arg(long)]
    pub stand_in: bool,
}

/// Runs the demo. Whatever it started has ended when it returns.
///
/// # Errors
/// Where `out` cannot be written.
pub async fn run(args: &Args, out: &mut dyn Write) -> io::Result<Exit> {
    let person = if args.stand_in {
        Person::StandIn
    } else {
        Person::There
    };
    let mut terminate = signal(SignalKind::terminate())?;
    let mut stage = match Stage::new().await {
        Ok(stage) => stage,
        Err(broken) => {
            writeln!(out, "{broken}")?;
            return Ok(Exit::Fault);
        }
    };
    let told = tokio::select! {
        told = story::tell(&args.out, person, &mut stage, out) => told,
        _ = tokio::signal::ctrl_c() => Err(Broken::new("it was interrupted")),
        _ = terminate.recv() => Err(Broken::new("it was ended by a signal")),
    };
    let ended = stage.end().await;
    match told.and(ended) {
        Ok(()) => {
            writeln!(
                out,
                "\nEvery step held. Everything that was started has ended."
            )?;
            Ok(Exit::Ok)
        }
        Err(broken) => {
            writeln!(out, "\nThe demo did not hold: {broken}")?;
            Ok(Exit::CheckFailed)
        }
    }
}
