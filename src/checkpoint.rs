//! Named points of the straight line at which a debug build can be made to die or to panic, for the tests that kill it
//! there. A release build holds none of this.

/// The points of a locked action, in order.
pub const POINTS: [&str; 12] = [
    "admitted",
    "aimed",
    "held",
    "asked",
    "answered",
    "second-look",
    "intent",
    "armed",
    "pressed",
    "released",
    "settled",
    "captured",
];

/// In a debug build: dies by SIGKILL where `COUNTERSIGN_DEBUG_KILL_AT` names this point, panics where
/// `COUNTERSIGN_DEBUG_PANIC_AT` does. `aimed:2` means the second time the point is reached, so that the action that leads
/// to the one that is tested goes through. It can end the program, never let an action through.
#[cfg(debug_assertions)]
#[allow(clippy::panic, reason = "a panic is what is tested")]
pub fn reached(point: &'static str) {
    use std::sync::atomic::{AtomicU32, Ordering};
    static KILLS: AtomicU32 = AtomicU32::new(0);
    static PANICS: AtomicU32 = AtomicU32::new(0);
    let due = |variable: &str, times: &AtomicU32| {
        let value = std::env::var(variable).unwrap_or_default();
        let (name, wanted) = value.split_once(':').unwrap_or((&value, "1"));
        name == point && (times.fetch_add(1, Ordering::AcqRel) + 1).to_string() == wanted
    };
    if due("COUNTERSIGN_DEBUG_KILL_AT", &KILLS) {
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
    if due("COUNTERSIGN_DEBUG_PANIC_AT", &PANICS) {
        panic!("forced at {point}");
    }
}

/// Nothing, in a release build.
#[cfg(not(debug_assertions))]
pub const fn reached(_point: &'static str) {}
