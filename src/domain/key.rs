//! Named keys and chords, by the names of the UI Events specification.

use std::fmt;

use super::text::Untrusted;

/// A modifier held while a key is pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Modifier {
    /// Alt
    Alt,
    /// Control
    Control,
    /// Shift
    Shift,
}

impl Modifier {
    const ALL: [Self; 3] = [Self::Alt, Self::Control, Self::Shift];

    /// The name in a chord.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Alt => "Alt",
            Self::Control => "Control",
            Self::Shift => "Shift",
        }
    }

    /// The bit the DevTools protocol uses.
    #[must_use]
    pub const fn bit(self) -> u8 {
        match self {
            Self::Alt => 1,
            Self::Control => 2,
            Self::Shift => 8,
        }
    }
}

/// One key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// A key with a name: its `key`, its `code`, its Windows virtual-key code and the text it types, if any.
    Named(&'static NamedKey),
    /// A printable ASCII character, typed as itself.
    Char(char),
}

/// A row of the table of named keys.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct NamedKey {
    /// `KeyboardEvent.key`
    pub key: &'static str,
    /// `KeyboardEvent.code`
    pub code: &'static str,
    /// The Windows virtual-key code Chromium expects.
    pub virtual_code: u16,
    /// The text the key types.
    pub text: &'static str,
}

macro_rules! keys {
    ($($key:literal $code:literal $virtual_code:literal $text:literal;)*) => {
        /// Every named key that can be pressed. There is no function key, no Meta and no browser key: those speak to the browser, not to the page.
        pub static NAMED: &[NamedKey] = &[$(NamedKey { key: $key, code: $code, virtual_code: $virtual_code, text: $text }),*];
    };
}

keys! {
    "Enter" "Enter" 13 "\r";
    "Tab" "Tab" 9 "";
    "Escape" "Escape" 27 "";
    "Backspace" "Backspace" 8 "";
    "Delete" "Delete" 46 "";
    "Space" "Space" 32 " ";
    "ArrowUp" "ArrowUp" 38 "";
    "ArrowDown" "ArrowDown" 40 "";
    "ArrowLeft" "ArrowLeft" 37 "";
    "ArrowRight" "ArrowRight" 39 "";
    "Home" "Home" 36 "";
    "End" "End" 35 "";
    "PageUp" "PageUp" 33 "";
    "PageDown" "PageDown" 34 "";
}

/// A key with the modifiers held.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Chord {
    key: Key,
    modifiers: Vec<Modifier>,
}

/// The characters that Control may be held with: select all, bold, italic, undo and redo. Any other may command the
/// browser (close, print, save, open…) or the clipboard, which takes what is masked from one field into another.
const WITH_CONTROL: &str = "abiyz";

impl Chord {
    /// Reads `Enter`, `Shift+Tab`, `Control+a`, `x`.
    ///
    /// # Errors
    /// Names what is not a key.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let (head, last) = match text.rsplit_once('+') {
            Some(("", "")) => (None, "+"),
            Some((head, "")) => (head.strip_suffix('+').or(Some(head)), "+"),
            Some((head, last)) => (Some(head), last),
            None => (None, text),
        };
        let mut modifiers = Vec::new();
        for name in head
            .filter(|h| !h.is_empty())
            .into_iter()
            .flat_map(|h| h.split('+'))
        {
            let modifier = Modifier::ALL
                .into_iter()
                .find(|m| m.name() == name)
                .ok_or(KeyError::Unknown(Untrusted::new(name)))?;
            if modifiers.contains(&modifier) {
                return Err(KeyError::Unknown(Untrusted::new(text)));
            }
            modifiers.push(modifier);
        }
        modifiers.sort_unstable();
        let mut chars = last.chars();
        let key = match (
            NAMED
                .iter()
                .find(|named| named.key == last || last == " " && named.key == "Space"),
            chars.next(),
            chars.next(),
        ) {
            (Some(named), ..) => Key::Named(named),
            (None, Some(c), None) if c.is_ascii_graphic() => Key::Char(c),
            (None, ..) => return Err(KeyError::Unknown(Untrusted::new(last))),
        };
        let chord = Self { key, modifiers };
        if chord.leaves_the_page() {
            return Err(KeyError::Browser);
        }
        Ok(chord)
    }

    /// Whether the chord commands the browser, the clipboard or an access key, or opens what it presses elsewhere.
    fn leaves_the_page(&self) -> bool {
        let held = |modifier| self.modifiers.contains(&modifier);
        let (alt, control, shift) = (
            held(Modifier::Alt),
            held(Modifier::Control),
            held(Modifier::Shift),
        );
        match self.key {
            // Alt and a character is an access key: it presses an element that the call does not name. With Shift,
            // Control and a letter is another command; only redo is one of the page's.
            Key::Char(c) => {
                let c = c.to_ascii_lowercase();
                alt || control && !(WITH_CONTROL.contains(c) && (!shift || c == 'z'))
            }
            Key::Named(named) => match named.key {
                // Control opens in a new tab, Alt downloads; in a text it sends. Shift is judged by what has the focus.
                "Enter" | "Space" | "Tab" | "PageUp" | "PageDown" => alt || control,
                // The browser's task manager, and the desktop's menus.
                "Escape" => alt || control || shift,
                // Cut, and the dialog that clears the browser's data.
                "Delete" => alt || shift,
                "Backspace" => alt,
                "ArrowLeft" | "ArrowRight" | "Home" | "End" => alt,
                _ => alt && control,
            },
        }
    }

    /// The key.
    #[must_use]
    pub const fn key(&self) -> Key {
        self.key
    }

    /// The modifiers, in a fixed order.
    #[must_use]
    pub fn modifiers(&self) -> &[Modifier] {
        &self.modifiers
    }

    /// Enter, as it submits a form or presses what has the focus.
    #[must_use]
    pub fn is_enter(&self) -> bool {
        matches!(self.key, Key::Named(named) if named.key == "Enter")
    }

    /// A key that presses what has the focus, with a modifier: a link or a form would open in a new window by it.
    #[must_use]
    pub fn is_modified_press(&self) -> bool {
        self.activates() && !self.modifiers.is_empty()
    }

    /// A key that can press what has the focus.
    #[must_use]
    pub fn activates(&self) -> bool {
        self.is_enter() || matches!(self.key, Key::Named(named) if named.key == "Space")
    }

    /// A key that can choose another option of a list: an arrow, the first letter of a name; all but those that leave it.
    #[must_use]
    pub fn chooses(&self) -> bool {
        !matches!(self.key, Key::Named(named) if matches!(named.key, "Tab" | "Escape"))
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for modifier in &self.modifiers {
            write!(f, "{}+", modifier.name())?;
        }
        match self.key {
            Key::Named(named) => f.write_str(named.key),
            Key::Char(c) => write!(f, "{c}"),
        }
    }
}

/// Why a text names no key that can be pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyError {
    /// No such key or modifier.
    Unknown(Untrusted),
    /// A chord that commands the browser itself or the clipboard, that opens elsewhere, or an access key.
    Browser,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chords_have_one_spelling() {
        for text in [
            "Enter",
            "Shift+Tab",
            "Control+a",
            "+",
            "Shift++",
            "a",
            "Shift+Enter",
            "Control+Shift+z",
            "Control+Backspace",
            "Control+Shift+ArrowLeft",
            "Alt+ArrowDown",
        ] {
            assert_eq!(Chord::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(
            Chord::parse("Shift+Control+z").unwrap().to_string(),
            "Control+Shift+z"
        );
        assert_eq!(Chord::parse(" ").unwrap().to_string(), "Space");
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for text in [
            "",
            "F5",
            "Meta+a",
            "enter",
            "Enter+Enter",
            "ab",
            "Control+Control+a",
            "é",
            "\u{202e}",
        ] {
            assert!(
                matches!(Chord::parse(text), Err(KeyError::Unknown(_))),
                "{text}"
            );
        }
        for text in [
            "Control+w",
            "Alt+x",
            "Alt+Shift+x",
            "Control+T",
            "Control+p",
            "Alt+ArrowLeft",
            "Control+Tab",
            "Alt+Home",
            "Control+Shift+n",
            "Control+s",
            "Control+q",
            "Control+Shift+a",
            "Control+Shift+i",
            "Control+Shift+b",
            "Control+Shift+Delete",
            "Shift+Escape",
            "Alt+Enter",
            "Control+Enter",
            "Control+Shift+Enter",
            "Control+Space",
            "Control+ ",
            "Control+c",
            "Control+C",
            "Control+x",
            "Control+v",
            "Control+Shift+v",
            "Alt+Control+v",
            "Shift+Delete",
            "Alt+Backspace",
        ] {
            assert_eq!(Chord::parse(text), Err(KeyError::Browser), "{text}");
        }
    }
}
