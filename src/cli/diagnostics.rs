//! The operator's diagnostics: codes and events of our own in a file of the state directory. No page text, no secret.

use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::EnvFilter;

use super::places::Places;

/// Writes diagnostics until the guard is dropped. Lines may be dropped under load: this is no journal.
pub fn start(places: &Places) -> WorkerGuard {
    let file = tracing_appender::rolling::never(&places.state, "diagnostics.log");
    let (writer, guard) = tracing_appender::non_blocking(file);
    let filter = EnvFilter::try_from_env("COUNTERSIGN_LOG")
        .unwrap_or_else(|_| EnvFilter::new("warn,countersign=info"));
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(false)
        .try_init();
    guard
}
