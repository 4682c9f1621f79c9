//! The demo: a bundled bank-and-shop site, and the walk through it.

mod bank;
mod goods;
mod pages;
mod shop;
pub mod site;
mod state;

use std::io::{self, Write};
use std::path::PathBuf;

use super::exit::Exit;

/// What a person types.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where the pictures and the journal's listing are left
    #[arg(long, value_name = "DIRECTORY")]
    pub out: PathBuf,
}

/// Runs the demo.
///
/// # Errors
/// Where `out` cannot be written.
pub async fn run(args: &Args, out: &mut dyn Write) -> io::Result<Exit> {
    let _ = args;
    writeln!(out, "not yet")?;
    Ok(Exit::Fault)
}
