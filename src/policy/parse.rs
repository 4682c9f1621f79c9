//! Turns a profile's TOML into a checked [`Profile`], collecting everything that is wrong on the way.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::describe;
use super::floor::WORD_CLASSES;
use super::limits::RawLimits;
use super::lock::OwnLock;
use super::problem::{Collector, Problems, quoted};
use super::profile::{
    Browser, Confirm, HiddenText, LONGEST_DEADLINE, Profile, SiteEntry, TypedText,
    USUAL_EXECUTABLES,
};
use super::raw::{RawBrowser, RawConfirm, RawJournal, RawLock, RawSite, RawText};
use super::rule::SiteRule;
use crate::domain::tier::Tier;

/// A profile is at most this long, in bytes.
const LONGEST: usize = 262_144;
const VERSION: i64 = 1;
/// Where people are sent who need more than one line.
const SEE: &str = "docs/profile.md describes every setting";

/// Parses and checks a profile.
pub(super) fn profile(text: &str) -> Result<Profile, Problems> {
    let mut problems = Collector::new(text);
    let sections = sections(text, &mut problems);
    problems.finish()?;

    let mut problems = Collector::new(text);
    let checked = check(sections, &mut problems);
    problems.finish()?;
    describe::with_digest(checked)
        .map_err(|error| Problems::one(format!("the profile has no canonical form: {error}"), SEE))
}

type Section<'a> = (Spanned<String>, Spanned<DeValue<'a>>);

/// Splits the text at its top level; errors of syntax end the check here.
fn sections<'a>(text: &'a str, problems: &mut Collector<'_>) -> Vec<Section<'a>> {
    if text.len() > LONGEST {
        problems.whole(
            "the profile is longer than 262,144 bytes",
            "list fewer sites, or use https://*.name rules",
        );
        return Vec::new();
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let message = format!("this is not TOML: {}", one_line(error.message()));
        match error.span() {
            Some(span) => problems.at(
                span,
                message,
                "write key = value lines under [section] headings",
            ),
            None => problems.whole(message, "write key = value lines under [section] headings"),
        }
    }
    table
        .into_inner()
        .into_iter()
        .map(|(key, value)| {
            let span = key.span();
            (Spanned::new(span, key.into_inner().into_owned()), value)
        })
        .collect()
}

fn check(sections: Vec<Section<'_>>, problems: &mut Collector<'_>) -> Profile {
    let mut version = None;
    // An entry that cannot be read is told as such; only a list without any is empty.
    let mut listed = false;
    let mut sites = Vec::new();
    let mut profile = Profile {
        sites: Vec::new(),
        browser: browser(RawBrowser::default(), problems),
        limits: RawLimits::default().check(|_, _| {}),
        confirm: confirm(RawConfirm::default(), problems),
        locks: Vec::new(),
        typed_text: TypedText::default(),
        hidden_text: HiddenText::default(),
        digest: crate::domain::digest::Digest::of(b""),
    };
    for (key, value) in sections {
        match key.get_ref().as_str() {
            "version" => version = Some(read::<Spanned<i64>>(value, problems)),
            "site" => {
                listed = value.get_ref().as_array().is_none_or(|entries| !entries.is_empty());
                sites = each(value, "site", problems);
            }
            "browser" => {
                if let Some(raw) = read(value, problems) {
                    profile.browser = browser(raw, problems);
                }
            }
            "limits" => {
                if let Some(raw) = read::<RawLimits>(value, problems) {
                    profile.limits = raw.check(|bound, value| {
                        let whole = if bound.whole { "a whole number " } else { "" };
                        problems.at(
                            value.span(),
                            format!("{} = {} is out of bounds ({}; the ceiling is {})", bound.key, value.get_ref(), bound.meaning, bound.ceiling),
                            format!("write {whole}from {} to {}", bound.least, bound.ceiling),
                        );
                    });
                }
            }
            "confirm" => {
                if let Some(raw) = read(value, problems) {
                    profile.confirm = confirm(raw, problems);
                }
            }
            "lock" => {
                let raw: Vec<RawLock> = each(value, "lock", problems);
                profile.locks = raw.into_iter().filter_map(|raw| lock(raw, problems)).collect();
            }
            "journal" => {
                if let Some(raw) = read::<RawJournal>(value, problems) {
                    profile.typed_text = raw.typed_text.unwrap_or_default();
                }
            }
            "text" => {
                if let Some(raw) = read::<RawText>(value, problems) {
                    profile.hidden_text = raw.hidden.unwrap_or_default();
                }
            }
            other => problems.at(
                key.span(),
                format!("{} is not a setting", quoted(other)),
                "use version, [[site]], [browser], [limits], [confirm], [[lock]], [journal] or [text]",
            ),
        }
    }
    match version {
        None => problems.whole("the version is missing", "begin with: version = 1"),
        Some(Some(version)) if *version.get_ref() != VERSION => problems.at(
            version.span(),
            format!("version {} is not known", version.get_ref()),
            "write version = 1",
        ),
        Some(_) => {}
    }
    profile.sites = site_list(sites, problems);
    if !listed {
        problems.whole(
            "no site is listed, and nothing means all sites",
            "add an entry: [[site]] with origin = \"https://bank.example\"",
        );
    }
    profile
}

/// Reads one value into its type; an error is told with its place.
fn read<T: DeserializeOwned>(
    value: Spanned<DeValue<'_>>,
    problems: &mut Collector<'_>,
) -> Option<T> {
    let whole = value.span();
    match T::deserialize(ValueDeserializer::from(value)) {
        Ok(read) => Some(read),
        Err(error) => {
            let message = one_line(error.message());
            let instead = if message.contains("unknown field") {
                "use one of the names it expects".to_owned()
            } else if message.contains("missing field") {
                "add it".to_owned()
            } else if message.contains("unknown variant") {
                "use one of the words it expects".to_owned()
            } else {
                SEE.to_owned()
            };
            problems.at(error.span().unwrap_or(whole), message, instead);
            None
        }
    }
}

/// Reads each table of a `[[name]]` list, so that one bad entry does not hide the next.
fn each<T: DeserializeOwned>(
    value: Spanned<DeValue<'_>>,
    name: &str,
    problems: &mut Collector<'_>,
) -> Vec<T> {
    let span = value.span();
    match value.into_inner() {
        DeValue::Array(entries) => entries
            .into_iter()
            .filter_map(|entry| read(entry, problems))
            .collect(),
        DeValue::Table(_)
        | DeValue::String(_)
        | DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_) => {
            problems.at(
                span,
                format!("{name} is not a list of entries"),
                format!("write [[{name}]] with double brackets"),
            );
            Vec::new()
        }
    }
}

fn site_list(raw: Vec<RawSite>, problems: &mut Collector<'_>) -> Vec<SiteEntry> {
    let mut entries: Vec<SiteEntry> = Vec::new();
    for site in raw {
        let span = site.origin.span();
        let origin = match SiteRule::parse(site.origin.get_ref()) {
            Ok(origin) => origin,
            Err(error) => {
                let what = format!("{} is no site: {error}", quoted(site.origin.get_ref()));
                problems.at(span, what, error.instead());
                continue;
            }
        };
        if entries.iter().any(|entry| entry.origin == origin) {
            problems.at(
                span,
                format!("{origin} is listed twice"),
                "keep one entry, with the tiers you mean",
            );
            continue;
        }
        let tiers = tiers(site.tiers, problems);
        entries.push(SiteEntry { origin, tiers });
    }
    entries
}

fn tiers(raw: Option<Spanned<Vec<Tier>>>, problems: &mut Collector<'_>) -> BTreeSet<Tier> {
    let Some(raw) = raw else {
        return BTreeSet::from([Tier::Read, Tier::Navigate, Tier::Act]);
    };
    let span = raw.span();
    let tiers: BTreeSet<Tier> = raw.into_inner().into_iter().collect();
    if tiers.is_empty() {
        problems.at(
            span,
            "an entry that grants nothing",
            "name a tier, or delete the entry: what is not listed is refused",
        );
    } else if !tiers.contains(&Tier::Read) {
        problems.at(
            span,
            "every other tier needs read, since acting begins with looking",
            "add \"read\"",
        );
    }
    tiers
}

fn browser(raw: RawBrowser, problems: &mut Collector<'_>) -> Browser {
    let profile_dir = raw.profile_dir.and_then(|path| {
        let path = absolute(path, problems)?;
        if is_everyday_profile(path.get_ref()) {
            problems.at(
                path.span(),
                "this is the browser's everyday profile",
                "give countersign a browser profile of its own, or leave profile_dir out",
            );
        }
        Some(path.into_inner())
    });
    let executables = match raw.executables {
        None => USUAL_EXECUTABLES.iter().map(PathBuf::from).collect(),
        Some(list) => {
            if list.get_ref().is_empty() {
                problems.at(
                    list.span(),
                    "no program may run as the browser",
                    "name one, or leave executables out",
                );
            }
            list.into_inner()
                .into_iter()
                .filter_map(|path| absolute(path, problems).map(Spanned::into_inner))
                .collect()
        }
    };
    Browser {
        profile_dir,
        executables,
        allow_no_sandbox: raw.allow_no_sandbox.unwrap_or(false),
    }
}

/// An absolute path without detours, so that it can be compared with what the kernel says.
fn absolute(path: Spanned<String>, problems: &mut Collector<'_>) -> Option<Spanned<PathBuf>> {
    let span = path.span();
    let text = path.into_inner();
    let parsed = PathBuf::from(&text);
    let plain = parsed
        .components()
        .all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    let spelt_plainly = parsed.components().collect::<PathBuf>().as_os_str().len()
        == text.trim_end_matches('/').len();
    if parsed.is_absolute()
        && plain
        && spelt_plainly
        && parsed.file_name().is_some()
        && !text.contains('\0')
    {
        Some(Spanned::new(span, parsed.components().collect()))
    } else {
        problems.at(
            span,
            format!("{} is not a plain absolute path", quoted(&text)),
            "write the whole path from /, without ~, . or ..",
        );
        None
    }
}

fn is_everyday_profile(path: &Path) -> bool {
    const EVERYDAY: [&str; 6] = [
        ".config/chromium",
        ".config/google-chrome",
        ".config/google-chrome-beta",
        ".config/google-chrome-unstable",
        "snap/chromium/common/chromium",
        ".var/app/org.chromium.Chromium/config/chromium",
    ];
    EVERYDAY.iter().any(|end| path.ends_with(end))
}

fn confirm(raw: RawConfirm, problems: &mut Collector<'_>) -> Confirm {
    let mut deadline_seconds = LONGEST_DEADLINE;
    if let Some(seconds) = raw.deadline_seconds {
        match u64::try_from(*seconds.get_ref()) {
            Ok(given) if (1..=LONGEST_DEADLINE).contains(&given) => deadline_seconds = given,
            Ok(_) | Err(_) => problems.at(
                seconds.span(),
                format!(
                    "deadline_seconds = {} is out of bounds (the ceiling is {LONGEST_DEADLINE})",
                    seconds.get_ref()
                ),
                format!("write a whole number from 1 to {LONGEST_DEADLINE}"),
            ),
        }
    }
    Confirm { deadline_seconds }
}

fn lock(raw: RawLock, problems: &mut Collector<'_>) -> Option<OwnLock> {
    let class = *raw.class.get_ref();
    let mut good = true;
    if !WORD_CLASSES.contains(&class) {
        let names: Vec<&str> = WORD_CLASSES.iter().map(|class| class.name()).collect();
        problems.at(
            raw.class.span(),
            format!("words cannot decide {class}"),
            format!("write one of {}", names.join(", ")),
        );
        good = false;
    }
    if raw.words.get_ref().is_empty() {
        problems.at(
            raw.words.span(),
            "a lock without words",
            "write at least one word pattern",
        );
        good = false;
    }
    let language = raw.language.filter(|language| {
        let known = language.get_ref();
        let shaped =
            (2..=3).contains(&known.len()) && known.chars().all(|c| c.is_ascii_lowercase());
        if !shaped {
            problems.at(
                language.span(),
                format!("{} is no language code", quoted(known)),
                "write two or three small letters, such as it",
            );
            good = false;
        }
        shaped
    });
    let spans: Vec<_> = raw.words.get_ref().iter().map(Spanned::span).collect();
    let words: Vec<String> = raw
        .words
        .into_inner()
        .into_iter()
        .map(Spanned::into_inner)
        .collect();
    // Each bad word is told, not the first alone.
    for (word, span) in words.iter().zip(spans) {
        if let Err((_, error)) = OwnLock::new(class, vec![word.clone()], None) {
            problems.at(
                span,
                format!("{} is no word pattern", quoted(word)),
                error.to_string(),
            );
            good = false;
        }
    }
    if !good {
        return None;
    }
    OwnLock::new(class, words, language.map(Spanned::into_inner)).ok()
}

/// Messages of the TOML reader may quote the profile.
fn one_line(message: &str) -> String {
    crate::domain::text::Shown::escape(message, 300)
        .as_str()
        .to_owned()
}

#[cfg(test)]
mod tests;
