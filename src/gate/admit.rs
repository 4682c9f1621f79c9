//! Admission: caps and rate, counted per connection and for every call, also for those that are refused later.

use std::time::{Duration, Instant};

use crate::domain::action::{Action, Intent};
use crate::domain::tier::Tier;
use crate::error::{Code, Detail, Refusal};
use crate::policy::limits::{Limits, Rate};

/// What a client asked for, parsed.
#[derive(Debug)]
pub struct Call {
    /// The action.
    pub action: Action,
    /// What the model says it is for.
    pub intent: Option<Intent>,
}

/// A call that is within the caps.
#[derive(Debug)]
#[must_use = "an admitted call must be aimed"]
pub struct Admitted {
    call: Call,
}

/// A reading that is within the caps.
#[derive(Debug)]
#[must_use = "an admitted look must be sited"]
pub struct AdmittedLook(());

/// What a session may still do. One per connection; nothing a caller says chooses another (security P5).
#[derive(Debug)]
pub struct Budget {
    reads: Bucket,
    actions: Bucket,
    navigations: Bucket,
    actions_left: u32,
    navigations_left: u32,
    longest_text: usize,
}

impl Budget {
    /// A session's budget.
    #[must_use]
    pub fn new(limits: &Limits, now: Instant) -> Self {
        Self {
            reads: Bucket::new(limits.reads(), now),
            actions: Bucket::new(limits.actions(), now),
            navigations: Bucket::new(limits.navigations(), now),
            actions_left: limits.actions_per_session(),
            navigations_left: limits.navigations_per_session(),
            longest_text: limits.typed_characters() as usize,
        }
    }

    /// What is left: actions and navigations.
    #[must_use]
    pub const fn left(&self) -> (u32, u32) {
        (self.actions_left, self.navigations_left)
    }
}

/// Admits an action.
///
/// # Errors
/// Where a cap is reached, the rate is exceeded or the text is too long.
pub fn check(call: Call, budget: &mut Budget, now: Instant) -> Result<Admitted, Refusal> {
    match call.action.tier() {
        Tier::Navigate => {
            budget.navigations.take(now)?;
            budget.navigations_left = budget
                .navigations_left
                .checked_sub(1)
                .ok_or(Code::NavigationsSpent)?;
        }
        Tier::Read | Tier::Act | Tier::Transfer => {
            budget.actions.take(now)?;
            budget.actions_left = budget
                .actions_left
                .checked_sub(1)
                .ok_or(Code::ActionsSpent)?;
        }
    }
    if let Action::Fill(_, text) = &call.action
        && text.length() > budget.longest_text
    {
        return Err(Code::TextTooLong.into());
    }
    Ok(Admitted { call })
}

/// Admits a reading.
///
/// # Errors
/// Where the rate is exceeded.
pub fn check_look(budget: &mut Budget, now: Instant) -> Result<AdmittedLook, Refusal> {
    budget.reads.take(now)?;
    Ok(AdmittedLook(()))
}

impl Admitted {
    /// The action, to know where to look.
    #[must_use]
    pub const fn action(&self) -> &Action {
        &self.call.action
    }

    pub(super) fn into_call(self) -> Call {
        self.call
    }
}

impl AdmittedLook {
    pub(super) const fn spend(self) {
        let Self(()) = self;
    }
}

/// A token bucket.
#[derive(Debug)]
struct Bucket {
    per_second: f64,
    burst: f64,
    tokens: f64,
    at: Instant,
}

impl Bucket {
    fn new(rate: Rate, now: Instant) -> Self {
        let burst = f64::from(rate.burst);
        Self {
            per_second: rate.per_second,
            burst,
            tokens: burst,
            at: now,
        }
    }

    fn take(&mut self, now: Instant) -> Result<(), Refusal> {
        let passed = now.saturating_duration_since(self.at);
        self.at = now;
        self.tokens = (self.tokens + passed.as_secs_f64() * self.per_second).min(self.burst);
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            return Ok(());
        }
        let wait = Duration::from_secs_f64((1.0 - self.tokens) / self.per_second.max(0.001));
        let ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1);
        Err(Refusal::new(Code::RateLimited).with(Detail::RetryAfterMs(ms)))
    }
}
