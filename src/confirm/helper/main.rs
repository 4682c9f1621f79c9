//! The window of our own: shows one question, says one answer, and is gone as soon as its asker is.
//!
//! It alone links the toolkit. It trusts nothing for its layout: every text is escaped and capped again here.

#![deny(unsafe_code)]

mod answer;
mod asker;
mod look;
mod style;
mod wake;
mod ways;

use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use countersign::confirm::protocol::{Exit, PROBE, Put};
use gtk4::prelude::*;
use gtk4::{gdk, glib};
use rustix::process::{DumpableBehavior, Signal};

use answer::Voice;

/// How long after the deadline the window ends itself, for the case that its asker is stopped and cannot.
const GRACE: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    // First of all: end with the asker, and let no process of the same user read or steer this one.
    let bound = rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).is_ok()
        && rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).is_ok();
    if !bound {
        return code(Exit::Unreadable);
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [] => ask(),
        [only] if only == PROBE => match gtk4::init() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => code(Exit::NoDisplay),
        },
        [_, ..] => code(Exit::Unreadable),
    }
}

fn code(exit: Exit) -> ExitCode {
    ExitCode::from(u8::try_from(exit.code()).unwrap_or(u8::MAX))
}

fn ask() -> ExitCode {
    let Some(put) = asker::question() else {
        return code(Exit::Unreadable);
    };
    glib::set_prgname(Some("countersign-window"));
    glib::set_application_name("countersign");
    if gtk4::init().is_err() {
        return code(Exit::NoDisplay);
    }
    let Some(display) = gdk::Display::default() else {
        return code(Exit::NoDisplay);
    };
    style::load(&display);
    if open(put).is_none() {
        return code(Exit::Unreadable);
    }
    glib::MainLoop::new(None, false).run();
    // The loop has no quit: every end says its answer and leaves the process.
    code(Exit::Unreadable)
}

/// Builds and presents the window; `None` where it cannot be built.
fn open(put: Put) -> Option<()> {
    let look = Rc::new(look::Look::build(&put)?);
    let voice = Rc::new(Voice::new(put));
    let wake = wake::Wake::new(&look, &voice);
    ways::deny(&look, &voice);
    ways::pointer(&look, &voice, &wake);
    ways::keyboard(&look, &voice, &wake);
    count_down(&look, &voice);
    look.window.present();
    Some(())
}

fn count_down(look: &Rc<look::Look>, voice: &Rc<Voice>) {
    let began = std::time::Instant::now();
    let (look, voice) = (Rc::clone(look), Rc::clone(voice));
    look.count_down(voice.time());
    glib::timeout_add_local(Duration::from_millis(250), move || {
        let past = began.elapsed();
        if past >= voice.time() + GRACE {
            voice.expire();
        }
        look.count_down(voice.time().saturating_sub(past));
        glib::ControlFlow::Continue
    });
}
