//! Wakes Allow: only after the window has been mapped and drawn for its whole sleeping time, and never with old clicks.

use std::cell::Cell;
use std::rc::Rc;

use countersign::confirm::protocol::WAKE;
use gtk4::prelude::*;
use gtk4::{gdk, glib};

use crate::answer::Voice;
use crate::look::Look;

/// Whether Allow can be chosen now.
pub(crate) struct Wake {
    look: Rc<Look>,
    voice: Rc<Voice>,
    awake: Cell<bool>,
    /// Counts the times the window came up; a wake-up that belongs to an older time is void.
    time: Cell<u64>,
}

impl Wake {
    pub(crate) fn new(look: &Rc<Look>, voice: &Rc<Voice>) -> Rc<Self> {
        let wake = Rc::new(Self {
            look: Rc::clone(look),
            voice: Rc::clone(voice),
            awake: Cell::new(false),
            time: Cell::new(0),
        });
        wake.set(false);
        let on_map = Rc::clone(&wake);
        look.window.connect_map(move |_| {
            on_map.come_up();
            on_map.follow_surface();
        });
        let on_unmap = Rc::clone(&wake);
        look.window.connect_unmap(move |_| on_unmap.go_down());
        wake
    }

    pub(crate) fn is_awake(&self) -> bool {
        self.awake.get()
    }

    fn set(&self, awake: bool) {
        self.awake.set(awake);
        self.look.set_awake(awake);
    }

    fn go_down(&self) {
        self.time.set(self.time.get() + 1);
        self.set(false);
    }

    /// A window that was minimised is new to the person when it comes back: it sleeps again.
    fn follow_surface(self: &Rc<Self>) {
        let Some(toplevel) = self.toplevel() else {
            return;
        };
        let wake = Rc::clone(self);
        let hidden = Cell::new(false);
        toplevel.connect_state_notify(move |toplevel| {
            let now = toplevel.state().intersects(gdk::ToplevelState::MINIMIZED);
            match (hidden.replace(now), now) {
                (false, true) => wake.go_down(),
                (true, false) => wake.come_up(),
                (false, false) | (true, true) => {}
            }
        });
    }

    fn toplevel(&self) -> Option<gdk::Toplevel> {
        self.look.window.surface()?.downcast().ok()
    }

    /// Waits for the first frame that is drawn while mapped, then starts the sleeping time.
    fn come_up(self: &Rc<Self>) {
        self.go_down();
        let time = self.time.get();
        let Some(clock) = self.look.window.frame_clock() else {
            return;
        };
        let wake = Rc::clone(self);
        let handler: Rc<Cell<Option<glib::SignalHandlerId>>> = Rc::new(Cell::new(None));
        let own = Rc::clone(&handler);
        let id = clock.connect_after_paint(move |clock| {
            let mapped = wake.look.window.surface().is_some_and(|s| s.is_mapped());
            if !mapped {
                return;
            }
            if let Some(id) = own.take() {
                clock.disconnect(id);
                wake.drawn(time);
            }
        });
        handler.set(Some(id));
        self.look.window.queue_draw();
    }

    fn drawn(self: &Rc<Self>, time: u64) {
        // What was drawn has reached the screen, not only the queue to it.
        let display = gtk4::prelude::WidgetExt::display(&self.look.window);
        display.sync();
        if self.time.get() != time {
            return;
        }
        // Without a window manager nobody else gives the window the keyboard.
        if let Some(toplevel) = self.toplevel() {
            toplevel.focus(gdk::CURRENT_TIME);
        }
        self.look.show_what_was_cut();
        self.voice.shown();
        let wake = Rc::clone(self);
        glib::timeout_add_local_once(WAKE, move || {
            // Clicks that were made during the sleep may still be queued behind this timer. Fetch them all, and wake
            // only when nothing is left to do: they are then handled while Allow still sleeps.
            display.sync();
            glib::idle_add_local_full(glib::Priority::LOW, move || {
                if wake.time.get() == time {
                    wake.set(true);
                    wake.voice.awake();
                }
                glib::ControlFlow::Break
            });
        });
    }
}
