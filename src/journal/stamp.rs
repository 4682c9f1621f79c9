//! When an entry was written: by the wall, by the clock that cannot be set, and in which boot.

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::error::{Code, Fault};

/// The time of one entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stamp {
    /// Wall time in UTC, to the millisecond.
    #[serde(with = "time::serde::rfc3339")]
    pub wall: OffsetDateTime,
    /// Milliseconds of the monotonic clock: it cannot be set, and stands still while the machine sleeps.
    pub monotonic_ms: u64,
    /// The kernel's id of this boot; the monotonic clock counts within one.
    pub boot: String,
}

/// Tells the time. A journal owns one; tests give it another.
pub(super) type Clock = Box<dyn FnMut() -> Stamp + Send>;

/// The machine's own clock. The boot id is read once.
pub(super) fn system() -> Result<Clock, Fault> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map_err(|e| {
            Fault::new(
                Code::JournalNotWritable,
                "the kernel's boot id cannot be read",
            )
            .because(e)
        })?
        .trim()
        .to_owned();
    Ok(Box::new(move || {
        let now = OffsetDateTime::now_utc();
        let monotonic = clock_gettime(ClockId::Monotonic);
        let seconds = u64::try_from(monotonic.tv_sec).unwrap_or_default();
        let millis = u64::try_from(monotonic.tv_nsec / 1_000_000).unwrap_or_default();
        Stamp {
            wall: now.replace_millisecond(now.millisecond()).unwrap_or(now),
            monotonic_ms: seconds.saturating_mul(1000).saturating_add(millis),
            boot: boot.clone(),
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_clock_goes_forward_and_its_stamp_round_trips() {
        let mut clock = system().unwrap();
        let (one, two) = (clock(), clock());
        assert!(two.monotonic_ms >= one.monotonic_ms && one.monotonic_ms > 0);
        assert_eq!(one.boot.len(), 36);
        let text = serde_json::to_string(&one).unwrap();
        assert_eq!(serde_json::from_str::<Stamp>(&text).unwrap(), one);
    }
}
