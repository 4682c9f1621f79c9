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
/// `COUNTERSIGN_DEBUG_PANIC_AT` does. It can end the program, never let an action through.
#[cfg(debug_assertions)]
#[allow(clippy::panic, reason = "a panic is what is tested")]
pub fn reached(point: &'static str) {
    let named = |variable: &str| std::env::var_os(variable).is_some_and(|value| value == point);
    if named("COUNTERSIGN_DEBUG_KILL_AT") {
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
    if named("COUNTERSIGN_DEBUG_PANIC_AT") {
        panic!("forced at {point}");
    }
}

/// Nothing, in a release build.
#[cfg(not(debug_assertions))]
pub const fn reached(_point: &'static str) {}
