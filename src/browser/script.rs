//! The constant scripts: pinned by hash, run in isolated worlds, with arguments as protocol values (security D5).
//!
//! No text built from an argument is ever run. A [`Script`] can only be one of the constants of this file.

use serde::Serialize;
use serde_json::Value;

/// The name of the isolated world.
pub(in crate::browser) const WORLD: &str = "countersign";

/// The binding through which the guard tells what it sees; it exists in the isolated world alone.
pub(in crate::browser) const BINDING: &str = "countersignReport";

/// The library installed in that world of every frame.
pub(in crate::browser) const LIBRARY: &str = include_str!("../../assets/scripts/world.js");

/// One constant function. `this` is the element where there is one.
#[derive(Debug, Clone, Copy)]
pub(in crate::browser) struct Script(&'static str);

impl Script {
    /// The text handed to the browser.
    pub(in crate::browser) const fn text(self) -> &'static str {
        self.0
    }
}

macro_rules! scripts {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        $( $(#[$doc])* pub(in crate::browser) const $name: Script = Script($text); )*
        #[cfg(test)]
        const ALL: &[(&str, &str)] = &[$((stringify!($name), $text)),*];
    };
}

scripts! {
    /// The whole look; the arguments after the table are what fields of this site held, and closed shadow roots.
    WALK = "function(limits, table, held, ...closed) { return countersign.handed(countersign.walk(limits, table, closed, held)); }";
    /// The elements of the last look, in order.
    LOOKED = "function() { return countersign.lookedAt(); }";
    /// Rectangles of marks and masks at this instant.
    GEOMETRY = "function(read, at, begins) { return countersign.geometry(read, at, begins); }";
    /// The element this world numbered so, or null.
    BY_SERIAL = "function(serial) { return countersign.bySerial(serial); }";
    /// The frame element around an element, or null.
    FRAME_OWNER = "function() { return countersign.frameOwner(this); }";
    /// Everything a check needs to know of one element.
    FACTS = "function(table, key) { return countersign.handed(countersign.facts(this, table, key)); }";
    /// What has the focus, through frames and shadow roots.
    FOCUSED = "function() { return countersign.focusedElement(); }";
    /// Whether this element has the focus.
    HAS_FOCUS = "function() { return countersign.hasFocus(this); }";
    /// The number this world gave an element.
    SERIAL = "function() { return countersign.serial(this); }";
    /// Where to press, within what is in sight of this document.
    POINT = "function(sight) { return countersign.point(this, sight); }";
    /// The size of this document's viewport.
    VIEWPORT = "function() { return countersign.viewport(); }";
    /// Where the viewport of a frame lies in this document, or null.
    FRAME_PLACE = "function() { return countersign.framePlace(this); }";
    /// Whether a point of this document is on a frame and on nothing over it.
    FRAME_AT = "function(x, y) { return countersign.frameAt(this, x, y); }";
    /// Whether a frame has the focus in this document.
    HOLDS_FOCUS = "function() { return countersign.holdsFocus(this); }";
    /// What covered it.
    COVER = "function() { return countersign.cover(); }";
    /// Two drawn frames.
    FRAMES = "function() { return countersign.frames2(); }";
    /// Arm the guard in this frame, with the target where it is in this frame.
    ARM = "function(nonce, key) { return countersign.arm(nonce, this, key); }";
    /// Arm the guard in a frame that does not hold the target.
    ARM_EMPTY = "function(nonce) { return countersign.arm(nonce, null, null); }";
    /// Put the guard to rest.
    DISARM = "function() { countersign.disarm(); return true; }";
    /// Bring an element into view.
    INTO_VIEW = "function() { return countersign.into(this); }";
    /// Scroll the box around an element.
    SCROLL = "function(dx, dy) { return countersign.scroll(this, dx, dy); }";
    /// Scroll the page.
    SCROLL_PAGE = "function(dx, dy) { return countersign.scrollPage(dx, dy); }";
    /// Enter text into what has the focus, if it has it.
    ENTER = "function(text, everything) { return countersign.enter(this, text, everything); }";
    /// Whether a field holds this text.
    HOLDS = "function(text) { return countersign.handed(countersign.holds(this, text)); }";
    /// Set a field that cannot be typed into.
    SET_VALUE = "function(text) { return countersign.handed(countersign.setValue(this, text)); }";
    /// Whether these options can be chosen.
    CAN_CHOOSE = "function(...wanted) { return countersign.handed(countersign.canChoose(this, wanted)); }";
    /// Choose options.
    CHOOSE = "function(...wanted) { return countersign.handed(countersign.select(this, wanted)); }";
    /// The next change of the document.
    CHANGED = "function(ms) { return countersign.changed(ms); }";
    /// The document at rest.
    REST = "function(quiet, most) { return countersign.rest(quiet, most); }";
}

/// One argument of a call.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::browser) enum Argument<'a> {
    /// A value, passed as data.
    Value(Value),
    /// An object of the same world.
    ObjectId(&'a str),
}

/// The arguments of a call.
pub(in crate::browser) type Arguments<'a> = Vec<Argument<'a>>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::digest::Digest;

    /// The pins: whoever changes a script changes its pin, and the change is seen in review.
    #[test]
    fn generated_pins_are_the_scripts_pins() {
        let pins = include_str!("../../assets/scripts/PINS");
        let mut want = format!("{}  world.js\n", Digest::of(LIBRARY.as_bytes()));
        for (name, text) in ALL {
            want.push_str(&format!("{}  {name}\n", Digest::of(text.as_bytes())));
        }
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(crate::error::tree().join("assets/scripts/PINS"), &want).unwrap();
            return;
        }
        assert!(
            pins == want,
            "assets/scripts/PINS differs: read the change, then run UPDATE=1 make docs"
        );
    }
}
