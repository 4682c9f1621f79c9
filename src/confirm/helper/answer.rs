//! Says what the window has to say, each word once and in order, and ends the process with the answer.

use std::cell::Cell;
use std::io::Write as _;
use std::time::Duration;

use countersign::confirm::protocol::{Exit, Progress, Put, Word};

/// The window's one way to its asker.
pub(crate) struct Voice {
    put: Put,
    said: Cell<Progress>,
}

impl Voice {
    pub(crate) fn new(put: Put) -> Self {
        Self {
            put,
            said: Cell::new(Progress::Nothing),
        }
    }

    /// How long the person has.
    pub(crate) fn time(&self) -> Duration {
        self.put.time()
    }

    /// The window is on the screen.
    pub(crate) fn shown(&self) {
        if self.said.get() < Progress::Shown {
            self.say(Word::Shown);
            self.said.set(Progress::Shown);
        }
    }

    /// Allow can be chosen; said once, also where the window sleeps again later.
    pub(crate) fn awake(&self) {
        if self.said.get() == Progress::Shown {
            self.say(Word::Awake);
            self.said.set(Progress::Awake);
        }
    }

    /// The person refuses.
    pub(crate) fn deny(&self) -> ! {
        self.say(Word::Deny);
        std::process::exit(Exit::Denied.code())
    }

    /// The person allows. Before the window was awake this is a refusal.
    pub(crate) fn allow(&self) -> ! {
        if self.said.get() != Progress::Awake {
            self.deny()
        }
        self.say(Word::Allow);
        std::process::exit(Exit::Allowed.code())
    }

    /// Nobody answered.
    pub(crate) fn expire(&self) -> ! {
        std::process::exit(Exit::Expired.code())
    }

    fn say(&self, word: Word) {
        let mut out = std::io::stdout().lock();
        // A failed write leaves the transcript short, which the asker takes for a crash.
        let _ = out
            .write_all(self.put.line(word).as_bytes())
            .and_then(|()| out.flush());
    }
}
