//! What the demo's sites remember, and their counters.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::sync::watch;

use super::goods::{Cents, Delivery, Line};
use crate::error::Fault;

const FIRST_BALANCE: Cents = Cents(431_845);

/// What happened at the site, counted by the site itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counters {
    /// Card payments taken by the shop.
    pub payments: u64,
    /// Lines put into the basket.
    pub baskets: u64,
    /// Transfers sent by the bank.
    pub transfers: u64,
    /// Requests that reached the host that is on nobody's list.
    pub offlist: u64,
}

/// Where the parcel goes.
#[derive(Clone, Default)]
pub(super) struct Address {
    pub(super) name: String,
    pub(super) street: String,
    pub(super) postcode: String,
    pub(super) city: String,
    pub(super) note: String,
}

/// A transfer as it was typed.
#[derive(Clone, Default)]
pub(super) struct Transfer {
    pub(super) payee: String,
    pub(super) iban: String,
    pub(super) amount: Cents,
    pub(super) reference: String,
}

#[derive(Default)]
pub(super) struct Told {
    pub(super) counters: Counters,
    pub(super) basket: Vec<Line>,
    pub(super) address: Option<Address>,
    pub(super) delivery: Delivery,
    pub(super) last_order: Option<(u64, Cents)>,
    pub(super) transfer: Option<Transfer>,
    pub(super) sent: Option<Transfer>,
    /// What the bank shows as the latest transactions, newest last: who, what for, how much.
    pub(super) booked: Vec<(String, String, Cents)>,
}

impl Told {
    pub(super) fn subtotal(&self) -> Cents {
        Cents(self.basket.iter().map(|line| line.price().0).sum())
    }

    pub(super) fn total(&self) -> Cents {
        Cents(self.subtotal().0 + self.delivery.price().0)
    }

    pub(super) fn balance(&self) -> Cents {
        let gone = self.booked.iter().map(|(.., amount)| amount.0).sum();
        Cents(FIRST_BALANCE.0.saturating_sub(gone))
    }
}

pub(super) struct Inside {
    /// The session cookie's value.
    pub(super) session: String,
    /// What every form carries, so that a form of another site does nothing.
    pub(super) token: String,
    pub(super) told: Mutex<Told>,
    /// On which of the two sites a signed-in browser has arrived: shop, bank.
    pub(super) arrived: watch::Sender<(bool, bool)>,
}

impl Inside {
    pub(super) fn new() -> Result<Self, Fault> {
        let random = || {
            let mut bytes = [0; 16];
            getrandom::fill(&mut bytes)
                .map_err(|e| Fault::internal("no random bytes").because(e))
                .map(|()| bytes.iter().map(|byte| format!("{byte:02x}")).collect())
        };
        Ok(Self {
            session: random()?,
            token: random()?,
            told: Mutex::default(),
            arrived: watch::Sender::new((false, false)),
        })
    }

    pub(super) fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
