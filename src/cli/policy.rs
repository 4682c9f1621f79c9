//! `countersign policy`: what the profile allows, in words, and what is wrong with it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::places::Places;
use crate::domain::tier::Tier;
use crate::policy::Problem;
use crate::policy::floor::Floor;
use crate::policy::limits::{BOUNDS, WINDOWS_PERIOD};
use crate::policy::profile::{HiddenText, Profile, TypedText};
use crate::policy::sensitive::Sensitive;
use crate::policy::store::{self, StoreError, Why};

/// Show or check the profile.
#[derive(Debug, Args)]
pub struct PolicyArgs {
    #[command(subcommand)]
    command: PolicyCommand,
}

/// What to do with the profile.
#[derive(Debug, Subcommand)]
enum PolicyCommand {
    /// Say in words what is allowed.
    Show(ShowArgs),
    /// Say everything that is wrong, each with the way out.
    Check(CheckArgs),
}

/// How to show the profile.
#[derive(Debug, Args)]
struct ShowArgs {
    /// As JSON, for scripts.
    #[arg(long)]
    json: bool,
}

/// Which profile to check.
#[derive(Debug, Args)]
struct CheckArgs {
    /// A profile other than the one in use.
    file: Option<PathBuf>,
    /// As JSON, for scripts.
    #[arg(long)]
    json: bool,
}

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Outcome {
    /// The profile can be used.
    Good,
    /// The profile cannot be used; what was written says why.
    Bad,
}

/// Runs the command and writes its answer.
///
/// # Errors
/// Where the answer cannot be written.
pub fn run(args: &PolicyArgs, places: &Places, out: &mut dyn Write) -> io::Result<Outcome> {
    match &args.command {
        PolicyCommand::Show(show) => {
            let path = places.profile();
            match store::load(&path) {
                Ok(profile) if show.json => line(out, &profile.to_json()).map(|()| Outcome::Good),
                Ok(profile) => in_words(&profile, places, &path, out).map(|()| Outcome::Good),
                Err(error) => bad(&error, show.json, out),
            }
        }
        PolicyCommand::Check(check) => {
            let path = check.file.clone().unwrap_or_else(|| places.profile());
            let loaded = std::path::absolute(&path).map(|path| store::load(&path))?;
            match loaded {
                Ok(profile) => good(&profile, &path, check.json, out),
                Err(error) => bad(&error, check.json, out),
            }
        }
    }
}

fn good(profile: &Profile, path: &Path, json: bool, out: &mut dyn Write) -> io::Result<Outcome> {
    // The shipped tables are checked too: without them `serve` does not start either.
    let floor = Floor::shipped().map_err(io::Error::other)?;
    Sensitive::shipped().map_err(io::Error::other)?;
    if json {
        line(
            out,
            &json!({"ok": true, "digest": profile.digest().hex(), "problems": []}),
        )?;
    } else {
        writeln!(
            out,
            "{} is fine: {}, {} of your own, {} shipped.",
            path.display(),
            counted(profile.sites().len(), "site"),
            counted(profile.locks().len(), "lock"),
            floor.entries().len(),
        )?;
    }
    Ok(Outcome::Good)
}

fn bad(error: &StoreError, json: bool, out: &mut dyn Write) -> io::Result<Outcome> {
    if json {
        let problems: Vec<Value> = match error.why() {
            Why::Malformed(problems) => problems.all().iter().map(problem).collect(),
            Why::Missing
            | Why::Symlink
            | Why::WrongKind
            | Why::Owner(_)
            | Why::Writable(_)
            | Why::TooLong
            | Why::NotText
            | Why::Exists
            | Why::System(_) => vec![json!({"what": error.to_string()})],
        };
        line(out, &json!({"ok": false, "problems": problems}))?;
    } else {
        writeln!(out, "{error}")?;
    }
    Ok(Outcome::Bad)
}

fn problem(problem: &Problem) -> Value {
    json!({
        "line": problem.line(),
        "column": problem.column(),
        "what": problem.what(),
        "instead": problem.instead(),
    })
}

fn in_words(
    profile: &Profile,
    places: &Places,
    path: &Path,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "Profile {}", path.display())?;
    writeln!(out, "Digest  {}", profile.digest())?;
    writeln!(out, "\nSites. Everything else is refused.")?;
    for site in profile.sites() {
        let deeds: Vec<&str> = site.tiers().iter().map(|tier| deed(*tier)).collect();
        writeln!(out, "  {}  may {}", site.rule(), deeds.join(", "))?;
        if site.rule().is_plain_http() {
            writeln!(
                out,
                "    without encryption: others on the way can read and change these pages"
            )?;
        }
    }
    for tier in Tier::ALL {
        if !profile.grants_anywhere(tier) {
            writeln!(
                out,
                "  Nowhere: {}. Its tools do not exist for the assistant.",
                deed(tier)
            )?;
        }
    }

    writeln!(out, "\nAlways asked in a window, whatever is listed above")?;
    writeln!(
        out,
        "  payments, deletions, passwords and keys, granting access, signing and accepting, closing accounts,"
    )?;
    writeln!(
        out,
        "  sending and publishing, uploads; and whatever the assistant itself says is one of these."
    )?;
    for lock in profile.locks() {
        writeln!(
            out,
            "  your own, as {}: {}",
            lock.class(),
            lock.words().join(" / ")
        )?;
    }
    let confirm = profile.confirm();
    writeln!(
        out,
        "  A window waits {} seconds, then counts as refused.",
        confirm.deadline().as_secs()
    )?;

    writeln!(out, "\nBrowser")?;
    let own = places.browser.clone();
    let directory = profile.browser().profile_dir().unwrap_or(&own);
    writeln!(out, "  profile directory {}", directory.display())?;
    for program in profile.browser().executables() {
        writeln!(out, "  may run as {}", program.display())?;
    }
    if profile.browser().allows_no_sandbox() {
        writeln!(
            out,
            "  --no-sandbox is accepted: a hostile page can get at more than its tab"
        )?;
    }

    writeln!(out, "\nText")?;
    writeln!(
        out,
        "  {}",
        match profile.typed_text() {
            TypedText::Length => "typed text is journalled as its length and kind",
            TypedText::Full => "typed text is journalled in full, except in sensitive fields",
        }
    )?;
    writeln!(
        out,
        "  {}",
        match profile.hidden_text() {
            HiddenText::Withhold =>
                "text you could not see is withheld from the assistant and counted",
            HiddenText::Mark =>
                "text you could not see is given to the assistant, marked as hidden",
        }
    )?;

    writeln!(out, "\nNumbers (default in brackets where yours differs)")?;
    let numbers = serde_json::to_value(profile.limits()).map_err(io::Error::other)?;
    for bound in BOUNDS {
        let value = numbers
            .get(bound.key)
            .and_then(Value::as_f64)
            .unwrap_or(bound.default);
        if (value - bound.default).abs() < f64::EPSILON {
            writeln!(out, "  {value} {}", bound.meaning)?;
        } else {
            writeln!(out, "  {value} {} [{}]", bound.meaning, bound.default)?;
        }
    }
    writeln!(
        out,
        "  Unanswered windows are counted over {} minutes.",
        WINDOWS_PERIOD.as_secs() / 60
    )
}

const fn deed(tier: Tier) -> &'static str {
    match tier {
        Tier::Read => "look",
        Tier::Navigate => "open and move tabs",
        Tier::Act => "click and type",
        Tier::Transfer => "bring files in and out",
    }
}

fn counted(count: usize, thing: &str) -> String {
    if count == 1 {
        format!("1 {thing}")
    } else {
        format!("{count} {thing}s")
    }
}

fn line(out: &mut dyn Write, value: &Value) -> io::Result<()> {
    writeln!(out, "{value}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::store::Existing;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Whole {
        #[command(flatten)]
        args: PolicyArgs,
    }

    fn typed(places: &Places, words: &[&str]) -> (Outcome, String) {
        let whole =
            Whole::try_parse_from(std::iter::once("policy").chain(words.iter().copied())).unwrap();
        let mut out = Vec::new();
        let outcome = run(&whole.args, places, &mut out).unwrap();
        (outcome, String::from_utf8(out).unwrap())
    }

    fn room(profile: &str) -> (tempfile::TempDir, Places) {
        let scratch = tempfile::tempdir().unwrap();
        let places = Places::below(scratch.path());
        store::make_directory(&places.config).unwrap();
        store::write(&places.profile(), profile, Existing::Keep).unwrap();
        (scratch, places)
    }

    const GOOD: &str = "version = 1\n[[site]]\norigin = \"https://bank.test\"\n[[site]]\norigin = \"http://127.0.0.1:8080\"\ntiers = [\"read\"]\n[confirm]\ndeadline_seconds = 30\n[limits]\nmarks = 100\n";

    #[test]
    fn show_says_what_is_allowed() {
        let (_scratch, places) = room(GOOD);
        let (outcome, text) = typed(&places, &["show"]);
        assert_eq!(outcome, Outcome::Good);
        for words in [
            "https://bank.test  may look, open and move tabs, click and type",
            "http://127.0.0.1:8080  may look\n    without encryption",
            "Nowhere: bring files in and out",
            "waits 30 seconds",
            "100 marks in one snapshot [250]",
        ] {
            assert!(text.contains(words), "{words} in\n{text}");
        }
        let (_, text) = typed(&places, &["show", "--json"]);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["profile"]["site"][1]["origin"], "https://bank.test");
        assert_eq!(
            value["digest"],
            Profile::parse(GOOD).unwrap().digest().hex()
        );
    }

    #[test]
    fn check_says_everything_that_is_wrong() {
        let (_scratch, places) =
            room("version = 2\n[[site]]\norigin = \"https://*.co.uk\"\n[limits]\nmarks = 5000\n");
        let (outcome, text) = typed(&places, &["check"]);
        assert_eq!(outcome, Outcome::Bad);
        for words in [
            "line 1, column 11",
            "write version = 1",
            "line 3, column 10",
            "https://*.example.co.uk",
            "line 5",
            "from 1 to 1000",
        ] {
            assert!(text.contains(words), "{words} in\n{text}");
        }
        let (_, text) = typed(&places, &["check", "--json"]);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["ok"], false);
        assert_eq!(value["problems"].as_array().unwrap().len(), 3);
        assert_eq!(value["problems"][1]["line"], 3);
    }

    #[test]
    fn check_takes_another_file_and_a_missing_one_is_bad() {
        let (scratch, places) = room(GOOD);
        let (outcome, text) = typed(&places, &["check"]);
        assert_eq!(outcome, Outcome::Good);
        assert!(
            text.contains("is fine: 2 sites, 0 locks of your own"),
            "{text}"
        );
        let other = scratch.path().join("config/other.toml");
        let (outcome, text) = typed(&places, &["check", other.to_str().unwrap()]);
        assert_eq!(outcome, Outcome::Bad);
        assert!(text.contains("countersign setup"), "{text}");
        std::fs::remove_file(places.profile()).unwrap();
        assert_eq!(typed(&places, &["show"]).0, Outcome::Bad);
        assert_eq!(typed(&places, &["check", "--json"]).0, Outcome::Bad);
    }
}
