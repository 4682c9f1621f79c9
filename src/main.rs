//! The binary: dispatch, nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    countersign::cli::dispatch::main()
}
