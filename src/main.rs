//! The binary: dispatch, nothing else.

use std::process::ExitCode;

<<<<<<< HEAD
fn main() -> ExitCode {
    countersign::cli::dispatch::main()
=======
use countersign::confirm::basic;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        // Hidden: the body of the basic dialog's process.
        Some(basic::SUBCOMMAND) => {
            ExitCode::from(u8::try_from(basic::run_child()).unwrap_or(u8::MAX))
        }
        Some(_) | None => ExitCode::SUCCESS,
    }
>>>>>>> window
}
