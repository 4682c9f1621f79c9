//! What several rooms of tests need: the built programs, a browser, a site with counters, a home, a client.
//!
//! All of it is blocking: a test reads from top to bottom. Every wait has an event and a deadline. Everything that is
//! started ends on drop, by its own id, also where a test fails.

#![allow(dead_code, reason = "each room of tests uses its own part of this one")]

pub(crate) mod browser;
pub(crate) mod client;
pub(crate) mod home;
pub(crate) mod pages;
pub(crate) mod site;
pub(crate) mod x;

use std::path::PathBuf;
use std::time::Duration;

/// How long anything may take before a test fails. Generous: the machine may be busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The folder with the tree's files, at run time: where root builds, the ordinary user reads a copy elsewhere.
pub(crate) fn tree() -> PathBuf {
    std::env::var_os("COUNTERSIGN_TREE")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from)
}

/// Where a test leaves a picture for people to look at: the run's own folder, since the builder's is not the ordinary
/// user's to write.
pub(crate) fn pictures() -> PathBuf {
    let folder = std::env::var_os("COUNTERSIGN_RUN").map_or_else(
        || PathBuf::from(env!("CARGO_TARGET_TMPDIR")),
        |run| PathBuf::from(run).join("out"),
    );
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A program of ours as it was built: `countersign` or `countersign-window`.
pub(crate) fn program(name: &str) -> PathBuf {
    let folder = std::env::var_os("COUNTERSIGN_BIN_DIR").map_or_else(
        || {
            let built = PathBuf::from(env!("CARGO_BIN_EXE_countersign"));
            built.parent().unwrap().to_owned()
        },
        PathBuf::from,
    );
    let program = folder.join(name);
    assert!(program.is_file(), "{} is not built", program.display());
    program
}
