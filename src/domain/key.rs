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

/// Chords that leave the page for the browser's own commands (close tab, print, save, downloads, new window…).
const BROWSER_CHORDS: &str = "fghjklnoprtuwd0123456789+-";

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
            NAMED.iter().find(|named| named.key == last),
            chars.next(),
            chars.next(),
        ) {
            (Some(named), ..) => Key::Named(named),
            (None, Some(' '), None) => return Self::parse("Space"),
            (None, Some(c), None) if c.is_ascii_graphic() => Key::Char(c),
            (None, ..) => return Err(KeyError::Unknown(Untrusted::new(last))),
        };
        let strong = modifiers
            .iter()
            .any(|m| matches!(m, Modifier::Control | Modifier::Alt));
        let alt = modifiers.contains(&Modifier::Alt);
        let browser = match key {
            // Alt and a character is an access key: it presses an element that the call does not name.
            Key::Char(c) => alt || BROWSER_CHORDS.contains(c.to_ascii_lowercase()),
            Key::Named(named) => matches!(
                named.key,
                "Tab" | "Escape" | "PageUp" | "PageDown" | "Space"
            ),
        };
        let history = matches!(key, Key::Named(n) if matches!(n.key, "ArrowLeft" | "ArrowRight" | "Home"))
            && modifiers.contains(&Modifier::Alt);
        if (strong && browser) || history {
            return Err(KeyError::Browser);
        }
        Ok(Self { key, modifiers })
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
    /// A chord that commands the browser itself, or an access key.
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
            "Control+Enter",
        ] {
            assert_eq!(Chord::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(
            Chord::parse("Shift+Control+a").unwrap().to_string(),
            "Control+Shift+a"
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
        ] {
            assert_eq!(Chord::parse(text), Err(KeyError::Browser), "{text}");
        }
    }
}
