//! The journal: what was asked, answered, done and refused, encrypted to the auditor and chained.
//!
//! `writer` appends, `read` and `verify` are for `countersign audit`. The form is described in docs/journal-format.md.

mod call;
mod chain;
mod directory;
mod entry;
mod form;
mod keys;
pub mod line;
mod ratchet;
mod read;
mod recover;
mod report;
mod seal;
mod stamp;
mod verify;
mod writer;

#[cfg(test)]
mod tests;

pub use call::{CallRecord, ElementRecord, PayloadRecord};
pub use chain::{Anchor, FORMAT, Line, NotALine, hash};
pub use directory::{Directory, FileName, WriterLock};
pub use entry::{
    Answered, Asked, Body, Closed, Closing, Entry, Heartbeat, Intent, Look, Outcome, Own, Peer,
    Record, Recovered, Refused, SessionId, Sight, Started,
};
pub use form::CodeName;
pub use keys::{
    IDENTITY_FILE, Identity, RECIPIENT_FILE, Recipient, Unopened, WorkFactor, generate,
};
pub use line::{Recorded, Written};
pub use read::{Piece, Unreadable, next, open, record};
pub use report::{AnchorState, Depth, FileDamage, Notice, Problem, Report};
pub use seal::{CAPTURES, Damage, SealKind, Sealed};
pub use stamp::Stamp;
pub use verify::{Request, verify, verify_directory};
pub use writer::{HEARTBEAT_EVERY, HEARTBEAT_LIMIT, JOURNAL_FILE, Journal, Opening, Receipt};
