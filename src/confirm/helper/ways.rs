//! The ways to answer: many ways to refuse, one to allow with the pointer, one deliberate one with the keyboard.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;

use gtk4::prelude::*;
use gtk4::{EventControllerKey, EventControllerLegacy, PropagationPhase, gdk, glib};

use crate::answer::Voice;
use crate::look::Look;
use crate::wake::Wake;

/// The word that is typed to allow with the keyboard.
pub(crate) const WORD: &str = "ALLOW";

/// Deny's button, Escape, Enter and closing the window. (Space refuses because Deny has the focus.)
pub(crate) fn deny(look: &Rc<Look>, voice: &Rc<Voice>) {
    let on_click = Rc::clone(voice);
    look.deny.connect_clicked(move |_| on_click.deny());
    let on_close = Rc::clone(voice);
    look.window.connect_close_request(move |_| on_close.deny());

    let keys = EventControllerKey::new();
    keys.set_propagation_phase(PropagationPhase::Capture);
    let (look_, voice) = (Rc::clone(look), Rc::clone(voice));
    let held: Rc<RefCell<HashSet<u32>>> = Rc::default();
    let released = Rc::clone(&held);
    keys.connect_key_pressed(move |_, key, code, _| {
        // A key that is held down repeats without being released: only its first press counts.
        if !held.borrow_mut().insert(code) {
            return glib::Propagation::Stop;
        }
        match key {
            gdk::Key::Escape => voice.deny(),
            gdk::Key::Return | gdk::Key::KP_Enter | gdk::Key::ISO_Enter => {
                if look_.has_focus(&look_.confirm) {
                    glib::Propagation::Proceed
                } else if look_.has_focus(&look_.word) {
                    glib::Propagation::Stop
                } else {
                    voice.deny()
                }
            }
            _ => glib::Propagation::Proceed,
        }
    });
    keys.connect_key_released(move |_, _, code, _| {
        released.borrow_mut().remove(&code);
    });
    look.window.add_controller(keys);
}

/// Allow's button: a press and a release of the primary button or a touch, both on it and both after it woke.
pub(crate) fn pointer(look: &Rc<Look>, voice: &Rc<Voice>, wake: &Rc<Wake>) {
    let pressed = Rc::new(Cell::new(Press::None));
    let raw = EventControllerLegacy::new();
    raw.set_propagation_phase(PropagationPhase::Capture);
    let (seen, awake) = (Rc::clone(&pressed), Rc::clone(wake));
    raw.connect_event(move |_, event| {
        use gdk::EventType as Kind;
        let primary = event
            .downcast_ref::<gdk::ButtonEvent>()
            .is_some_and(|button| button.button() == gdk::BUTTON_PRIMARY);
        let kind = event.event_type();
        let begins = kind == Kind::TouchBegin || (kind == Kind::ButtonPress && primary);
        let ends = kind == Kind::TouchEnd || (kind == Kind::ButtonRelease && primary);
        let other = [
            Kind::ButtonPress,
            Kind::ButtonRelease,
            Kind::TouchCancel,
            Kind::GrabBroken,
        ];
        let next = if begins && awake.is_awake() {
            Press::Down
        } else if ends {
            seen.get().up()
        } else if begins || other.contains(&kind) {
            Press::None
        } else {
            seen.get()
        };
        seen.set(next);
        glib::Propagation::Proceed
    });
    look.allow.add_controller(raw);

    let (voice, wake) = (Rc::clone(voice), Rc::clone(wake));
    look.allow.connect_clicked(move |_| {
        // `clicked` also comes from accelerators and accessibility actions; those have no press behind them.
        match (pressed.replace(Press::None), wake.is_awake()) {
            (Press::DownAndUp, true) => voice.allow(),
            (Press::None | Press::Down, _) | (Press::DownAndUp, false) => {}
        }
    });
}

/// How far a press on Allow has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Press {
    None,
    Down,
    DownAndUp,
}

impl Press {
    fn up(self) -> Self {
        match self {
            Self::Down => Self::DownAndUp,
            Self::None | Self::DownAndUp => Self::None,
        }
    }
}

/// The way for who cannot use a pointer: switch it on with Space, type the word, then press its own button.
pub(crate) fn keyboard(look: &Rc<Look>, voice: &Rc<Voice>, wake: &Rc<Wake>) {
    let switched = Rc::clone(look);
    look.keyboard.connect_toggled(move |keyboard| {
        switched.show_keyboard_way(keyboard.is_active());
    });
    let typed = Rc::clone(look);
    look.word.connect_changed(move |word| {
        typed.confirm.set_sensitive(is_the_word(&word.text()));
    });
    let (look_, voice, wake) = (Rc::clone(look), Rc::clone(voice), Rc::clone(wake));
    look.confirm.connect_clicked(move |_| {
        let meant = look_.keyboard.is_active() && is_the_word(&look_.word.text());
        if meant && wake.is_awake() {
            voice.allow();
        }
    });
}

fn is_the_word(text: &str) -> bool {
    text.eq_ignore_ascii_case(WORD)
}
