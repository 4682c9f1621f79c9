//! The person's answer: who may be asked, and what an answer allows.

use std::future::Future;

use crate::domain::question::{Ending, Means, Question};

/// Whoever can put a question to the person. Implemented by the window alone.
pub trait Ask: Send + Sync {
    /// Puts the question and waits for its end. `withdrawn` completes when the caller goes away: the window then
    /// closes and the ending is [`Ending::Cancelled`]. Anything uncertain is an ending that refuses.
    fn ask(
        &self,
        question: Question,
        withdrawn: impl Future<Output = ()> + Send,
    ) -> impl Future<Output = Asked> + Send;
}

/// How a question ended, and by what means it was put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// The end.
    pub ending: Ending,
    /// The means.
    pub means: Means,
}
