//! The profile's canonical form, from which its digest and its JSON come, and the JSON schema of the file.

use serde::Serialize;
use serde_json::{Value, json};

use super::limits::{BOUNDS, Limits};
use super::lock::OwnLock;
use super::profile::{Browser, Confirm, HiddenText, Profile, SiteEntry, TypedText};
use super::raw::RawProfile;
use crate::domain::digest::Digest;
use crate::domain::lock::LockClass;

/// Everything a profile decides, in a fixed order of fields, with lists sorted where their order means nothing.
#[derive(Serialize)]
struct Canonical<'a> {
    version: u32,
    site: Vec<&'a SiteEntry>,
    browser: &'a Browser,
    limits: &'a Limits,
    confirm: &'a Confirm,
    lock: Vec<CanonicalLock<'a>>,
    typed_text: TypedText,
    hidden_text: HiddenText,
}

#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct CanonicalLock<'a> {
    class: LockClass,
    words: Vec<&'a str>,
    language: Option<&'a str>,
}

impl<'a> Canonical<'a> {
    fn of(profile: &'a Profile) -> Self {
        let mut site: Vec<&SiteEntry> = profile.sites().iter().collect();
        site.sort();
        let mut lock: Vec<CanonicalLock<'_>> = profile.locks().iter().map(canonical_lock).collect();
        lock.sort();
        Self {
            version: 1,
            site,
            browser: profile.browser(),
            limits: profile.limits(),
            confirm: profile.confirm(),
            lock,
            typed_text: profile.typed_text(),
            hidden_text: profile.hidden_text(),
        }
    }
}

fn canonical_lock(lock: &OwnLock) -> CanonicalLock<'_> {
    let mut words: Vec<&str> = lock.words().iter().map(String::as_str).collect();
    words.sort_unstable();
    CanonicalLock {
        class: lock.class(),
        words,
        language: lock.language(),
    }
}

/// Gives a checked profile the digest of its canonical form.
pub(super) fn with_digest(mut profile: Profile) -> Result<Profile, serde_json::Error> {
    let canonical = serde_json::to_vec(&Canonical::of(&profile))?;
    profile.digest = Digest::of(&canonical);
    Ok(profile)
}

impl Profile {
    /// What the profile decides, as JSON, defaults filled in, with its digest.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "profile": serde_json::to_value(Canonical::of(self)).unwrap_or_default(),
            "digest": self.digest().hex(),
        })
    }

    /// The JSON schema of the profile's file, for editors. `policy/profile.schema.json` is this.
    #[must_use]
    pub fn schema() -> Value {
        let mut schema = schemars::schema_for!(RawProfile).to_value();
        if let Some(limits) = schema
            .pointer_mut("/$defs/Limits/properties")
            .and_then(Value::as_object_mut)
        {
            for bound in BOUNDS {
                let kind = if bound.whole { "integer" } else { "number" };
                limits.insert(
                    bound.key.to_owned(),
                    json!({
                        "description": bound.meaning,
                        "type": kind,
                        "default": number(bound.default, bound.whole),
                        "minimum": number(bound.least, bound.whole),
                        "maximum": number(bound.ceiling, bound.whole),
                    }),
                );
            }
        }
        schema
    }
}

fn number(value: f64, whole: bool) -> Value {
    if whole {
        json!(value as u64)
    } else {
        json!(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/policy/profile.schema.json");

    /// Written anew by `COUNTERSIGN_REGENERATE=1`, compared otherwise.
    #[test]
    fn the_shipped_schema_is_the_generated_one() {
        let generated = format!(
            "{}\n",
            serde_json::to_string_pretty(&Profile::schema()).unwrap()
        );
        if std::env::var_os("COUNTERSIGN_REGENERATE").is_some() {
            std::fs::write(FILE, &generated).unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(FILE).unwrap(),
            generated,
            "run with COUNTERSIGN_REGENERATE=1"
        );
    }

    /// The table of numbers in docs/profile.md, written and compared likewise.
    #[test]
    fn the_documented_limits_are_the_real_ones() {
        const DOC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/profile.md");
        const START: &str = "<!-- limits: generated -->\n";
        const END: &str = "<!-- end -->\n";
        let mut table = String::from(
            "| setting | default | least | ceiling | meaning |\n|---|---|---|---|---|\n",
        );
        for bound in BOUNDS {
            table += &format!(
                "| `{}` | {} | {} | {} | {} |\n",
                bound.key, bound.default, bound.least, bound.ceiling, bound.meaning
            );
        }
        let text = std::fs::read_to_string(DOC).unwrap();
        let (head, rest) = text.split_once(START).unwrap();
        let (shown, tail) = rest.split_once(END).unwrap();
        if std::env::var_os("COUNTERSIGN_REGENERATE").is_some() {
            std::fs::write(DOC, format!("{head}{START}{table}{END}{tail}")).unwrap();
        } else {
            assert_eq!(shown, table, "run with COUNTERSIGN_REGENERATE=1");
        }
    }

    #[test]
    fn the_schema_knows_every_limit() {
        let schema = Profile::schema();
        let limits = schema
            .pointer("/$defs/Limits/properties")
            .unwrap()
            .as_object()
            .unwrap();
        assert_eq!(limits.len(), BOUNDS.len());
        assert_eq!(limits["marks"]["maximum"], 1000);
        assert_eq!(schema.pointer("/additionalProperties"), Some(&json!(false)));
    }
}
