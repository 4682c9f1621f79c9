//! What was called, as the journal keeps it: typed text by length and class, and in full only where the
//! operator's profile asks for it and the field is not sensitive (security J8).

use serde::{Deserialize, Serialize};

use crate::domain::action::{Action, Destination};
use crate::domain::key::{Chord, Key, Modifier};
use crate::domain::lock::LockClass;
use crate::domain::mark::{Mark, TabId};
use crate::domain::site::Site;

/// What was called, without anything typed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallRecord {
    /// The tool.
    pub tool: String,
    /// The tab, where there is one yet.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tab: Option<TabId>,
    /// The tab's site, or the one it is to go to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub site: Option<Site>,
    /// The site of the element's frame, where it is another one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub frame_site: Option<Site>,
    /// The element's mark.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mark: Option<Mark>,
    /// What the element is called.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub element: Option<ElementRecord>,
    /// Typed text, by its length and class.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub payload: Option<PayloadRecord>,
    /// The key pressed. A key that types a character is written as `character`: keys in a row are typed text too.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<String>,
    /// How many options were chosen.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub options_count: Option<u64>,
    /// What the model said the action is for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub intent: Option<LockClass>,
}

/// Role and name of an element, as the page has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElementRecord {
    /// The role.
    pub role: String,
    /// The accessible name, redacted.
    pub name: String,
}

/// Typed text, by its outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PayloadRecord {
    /// Length in characters.
    pub length: u64,
    /// What kind of text it is, by [`crate::domain::action::Typed::class`].
    pub class: String,
    /// The text, card and account numbers masked: only where the profile says so, and never of a sensitive field.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<String>,
}

impl CallRecord {
    /// A call of a tool that is no [`Action`].
    #[must_use]
    pub fn new(tool: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            ..Self::default()
        }
    }

    /// What the action itself says: tool, tab, mark, destination, and the outside of what it carries.
    #[must_use]
    pub fn of(action: &Action) -> Self {
        let mut record = Self::new(action.name());
        match action {
            Action::Click(named) | Action::ScrollIn(named, ..) => record.mark = Some(named.mark),
            Action::Fill(named, text) => {
                record.mark = Some(named.mark);
                record.payload = Some(PayloadRecord {
                    length: text.length() as u64,
                    class: text.class().to_owned(),
                    text: None,
                });
            }
            Action::Select(named, options) => {
                record.mark = Some(named.mark);
                record.options_count = Some(options.len() as u64);
            }
            Action::PressOn(named, chord) => {
                record.mark = Some(named.mark);
                record.key = Some(key_name(chord));
            }
            Action::Press(_, chord) => record.key = Some(key_name(chord)),
            Action::Scroll(tab, ..) | Action::Close(tab) => record.tab = Some(*tab),
            Action::Open(address) => record.site = Some(address.site().clone()),
            Action::Navigate(tab, destination) => {
                record.tab = Some(*tab);
                match destination {
                    Destination::Address(address) => record.site = Some(address.site().clone()),
                    Destination::Back | Destination::Forward | Destination::Reload => {}
                }
            }
        }
        record
    }

    /// The same in a tab.
    #[must_use]
    pub fn in_tab(self, tab: TabId) -> Self {
        Self {
            tab: Some(tab),
            ..self
        }
    }

    /// The same on a site.
    #[must_use]
    pub fn on(self, site: Site) -> Self {
        Self {
            site: Some(site),
            ..self
        }
    }

    /// The same in a frame of another site.
    #[must_use]
    pub fn within(self, frame_site: Site) -> Self {
        Self {
            frame_site: Some(frame_site),
            ..self
        }
    }

    /// The same with what the element is called.
    #[must_use]
    pub fn element(self, role: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            element: Some(ElementRecord {
                role: role.into(),
                name: name.into(),
            }),
            ..self
        }
    }

    /// The same with what the model says it is for.
    #[must_use]
    pub fn meant(self, intent: Option<LockClass>) -> Self {
        Self { intent, ..self }
    }
}

fn key_name(chord: &Chord) -> String {
    let types = !chord
        .modifiers()
        .iter()
        .any(|m| matches!(m, Modifier::Control | Modifier::Alt));
    match chord.key() {
        Key::Char(_) if types => "character".to_owned(),
        Key::Char(_) | Key::Named(_) => chord.to_string(),
    }
}
