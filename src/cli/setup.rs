//! `countersign setup`: makes directories, keys and a starter profile, never over what is there, and says what to type next.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::exit::Exit;
use super::places::{self, Places, Prepared};
use crate::browser::directory::{DirectoryFault, shell_word};
use crate::browser::owner;
use crate::domain::site::Site;
use crate::domain::text::Shown;
use crate::error::{Code, Detail, Fault};

/// The longest path that is shown whole.
const PATH_SHOWN: usize = 300;

/// What a person types.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A site the assistant may work on, such as https://bank.example; once for each
    #[arg(long = "site", required = true, value_name = "ORIGIN", value_parser = site)]
    pub sites: Vec<Site>,
    /// Keep everything in a fresh directory of its own, for a trial (in memory where the session offers it)
    #[arg(long, conflicts_with = "home")]
    pub temporary: bool,
    /// Read the journal's passphrase from the first line of this file instead of the terminal
    #[arg(long, value_name = "FILE")]
    pub passphrase_file: Option<PathBuf>,
    /// Keep everything below this directory instead of the usual ones
    #[arg(long, value_name = "DIRECTORY", value_parser = absolute)]
    pub home: Option<PathBuf>,
}

fn site(text: &str) -> Result<Site, String> {
    Site::parse(text)
        .map_err(|error| format!("{error}; write it as https://host or https://host:port"))
}

/// Reads a directory's name; a relative one would mean another place for the client that starts the server.
///
/// # Errors
/// Where it is not absolute.
pub fn absolute(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_absolute() {
        Ok(path)
    } else {
        Err("name the directory with its absolute path".to_owned())
    }
}

/// What setup needs from rooms that it does not know itself.
pub trait Parts {
    /// The text of a starter profile for these sites.
    ///
    /// # Errors
    /// Where none can be made of them.
    fn starter_profile(&self, sites: &[Site], places: &Places) -> Result<String, Fault>;

    /// Makes the journal's keys in the configuration directory where there are none; never over what is there. It may
    /// ask the person for a passphrase.
    ///
    /// # Errors
    /// Where they cannot be made, or the person gave up.
    fn keys(&self, places: &Places) -> Result<Keys, Fault>;
}

/// What became of the journal's keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keys {
    /// They were there.
    Kept,
    /// They were made; this sentence says where, and what to keep in mind.
    Made(String),
}

/// Sets everything up. `program` is this program's own absolute path, for the client's configuration. What a person
/// reads goes to `out`, what stops them to `err`.
///
/// # Errors
/// Where `out` or `err` cannot be written.
pub fn run(
    args: &Args,
    program: &Path,
    parts: &dyn Parts,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let places = match chosen(args) {
        Ok(places) => places,
        Err(error) => {
            writeln!(err, "{error}")?;
            return Ok(Exit::CannotOpen);
        }
    };
    // Everything is looked at before anything is made, so that a refusal leaves the disk as it was.
    let mut unfit = false;
    for (name, path) in places.named() {
        if let Some((what, way_out)) = fault_of(path) {
            unfit = true;
            writeln!(
                err,
                "The {name} directory {} is not fit: {what}.",
                shown(path)
            )?;
            writeln!(err, "    {way_out}")?;
        }
    }
    if unfit {
        writeln!(err, "Nothing was changed. Then type: {}", again(args))?;
        return Ok(Exit::Refused);
    }
    for (name, path) in places.named() {
        match places::prepare(path) {
            Ok(Prepared::Made) => writeln!(out, "made  {} ({name})", shown(path))?,
            Ok(Prepared::Kept) => writeln!(out, "kept  {} ({name})", shown(path))?,
            Err(fault) => {
                writeln!(
                    err,
                    "{}: {fault}.\n    {}",
                    shown(path),
                    fault.way_out(path)
                )?;
                return Ok(Exit::CannotOpen);
            }
        }
    }
    // The browser that made it checks again; one that is an everyday profile must not come so far.
    if let Err(refusal) = owner::directory(&places.browser) {
        writeln!(err, "{}: {}.", shown(&places.browser), reason(&refusal))?;
        return Ok(Exit::Refused);
    }
    let made = write_starter(args, &places, parts, out).and_then(|()| {
        match parts.keys(&places)? {
            Keys::Made(sentence) => writeln!(out, "made  {sentence}").map_err(fault)?,
            Keys::Kept => writeln!(out, "kept  the journal's keys").map_err(fault)?,
        }
        Ok(())
    });
    if let Err(fault) = made {
        writeln!(err, "{fault}")?;
        writeln!(
            err,
            "What was made so far stays; type again: {}",
            again(args)
        )?;
        return Ok(Exit::Fault);
    }
    say_what_next(&places, program, out)?;
    Ok(Exit::Ok)
}

fn chosen(args: &Args) -> Result<Places, String> {
    if args.temporary {
        let home = places::temporary()
            .map_err(|error| format!("no temporary directory can be made: {error}"))?;
        return Ok(Places::below(&home));
    }
    Places::of(args.home.as_deref()).map_err(|error| error.to_string())
}

/// What makes a place unfit, in words, and what to type; `None` where it is fit or not there yet.
fn fault_of(path: &Path) -> Option<(String, String)> {
    match crate::browser::directory::PrivateDirectory::open(path) {
        Ok(_) | Err(DirectoryFault::Missing) => None,
        Err(fault) => Some((fault.to_string(), fault.way_out(path))),
    }
}

fn write_starter(
    args: &Args,
    places: &Places,
    parts: &dyn Parts,
    out: &mut dyn Write,
) -> Result<(), Fault> {
    let path = places.profile();
    let text = parts.starter_profile(&args.sites, places)?;
    let mut open = OpenOptions::new();
    // create_new also refuses a link, so that nothing is written through one.
    match open.write(true).create_new(true).mode(0o600).open(&path) {
        Ok(mut file) => {
            file.write_all(text.as_bytes())
                .and_then(|()| file.sync_all())
                .map_err(fault)?;
            let count = args.sites.len();
            writeln!(out, "made  {} (profile, sites: {count})", shown(&path)).map_err(fault)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => writeln!(
            out,
            "kept  {} (profile; the sites named now were not added: edit the file, then type {})",
            shown(&path),
            places.command("policy check")
        )
        .map_err(fault),
        Err(error) => Err(Fault::internal("the profile cannot be written").because(error)),
    }
}

/// The entry of the client's configuration, as Claude Desktop and most clients take it.
#[must_use]
pub fn client_configuration(program: &Path, places: &Places) -> String {
    let mut arguments = vec!["serve".to_owned()];
    arguments.extend(places.arguments());
    let entry = serde_json::json!({
        "mcpServers": {
            "countersign": { "command": program.to_string_lossy(), "args": arguments }
        }
    });
    // A value made of strings always has a text; the fallback cannot be reached, and would be seen.
    serde_json::to_string_pretty(&entry).unwrap_or_default()
}

fn say_what_next(places: &Places, program: &Path, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nPut this into your client's configuration:\n")?;
    writeln!(out, "{}\n", client_configuration(program, places))?;
    if let Some(home) = &places.home {
        writeln!(
            out,
            "Everything is below {}; removing that directory removes it all.\n",
            shell_word(home.as_os_str())
        )?;
    }
    writeln!(out, "Next, start the browser and log in to your sites:\n")?;
    writeln!(out, "    {}", places.command("browser"))
}

fn again(args: &Args) -> String {
    let mut words = vec!["countersign setup".to_owned()];
    for site in &args.sites {
        words.push(format!(
            "--site {}",
            shell_word(OsStr::new(&site.to_string()))
        ));
    }
    if args.temporary {
        words.push("--temporary".to_owned());
    }
    if let Some(home) = &args.home {
        words.push(format!("--home {}", shell_word(home.as_os_str())));
    }
    words.join(" ")
}

/// A path for people, escaped.
pub(super) fn shown(path: &Path) -> Shown {
    Shown::escape(&path.to_string_lossy(), PATH_SHOWN)
}

/// The constant reason of a refusal, or its code's message.
pub(super) fn reason(refusal: &crate::error::Refusal) -> &'static str {
    match refusal.detail() {
        Some(Detail::Reason(why)) => why,
        Some(
            Detail::Argument(..)
            | Detail::RetryAfterMs(_)
            | Detail::CoveredBy(_)
            | Detail::Site(_)
            | Detail::Options(_),
        )
        | None => refusal.code().message(),
    }
}

fn fault(error: io::Error) -> Fault {
    Fault::new(Code::Internal, "writing failed").because(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    struct Plain;

    impl Parts for Plain {
        fn starter_profile(&self, sites: &[Site], _: &Places) -> Result<String, Fault> {
            Ok(sites.iter().map(|site| format!("{site}\n")).collect())
        }

        fn keys(&self, places: &Places) -> Result<Keys, Fault> {
            let path = places.config.join("recipient");
            if path.exists() {
                return Ok(Keys::Kept);
            }
            fs::write(path, "age1").map_err(|error| Fault::internal("x").because(error))?;
            Ok(Keys::Made("the journal's keys".to_owned()))
        }
    }

    fn args(home: &Path, sites: &[&str]) -> Args {
        Args {
            passphrase_file: None,
            sites: sites
                .iter()
                .map(|text| Site::parse(text).unwrap())
                .collect(),
            temporary: false,
            home: Some(home.to_owned()),
        }
    }

    fn ran(args: &Args) -> (Exit, String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let exit = run(
            args,
            Path::new("/opt/bin/countersign"),
            &Plain,
            &mut out,
            &mut err,
        )
        .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (exit, text(out), text(err))
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn everything_is_made_private_and_a_second_run_keeps_it() {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path().join("home");
        let (exit, out, err) = ran(&args(&home, &["https://bank.example"]));
        assert_eq!((exit, err.as_str()), (Exit::Ok, ""));
        let places = Places::below(&home);
        for (_, path) in places.named() {
            assert_eq!(mode(path), 0o700);
        }
        assert_eq!(mode(&places.profile()), 0o600);
        assert!(
            out.trim_end()
                .ends_with(&format!("countersign browser --home {}", home.display()))
        );
        let (from, to) = (out.find('{').unwrap(), out.rfind('}').unwrap());
        let entry: serde_json::Value = serde_json::from_str(&out[from..=to]).unwrap();
        assert_eq!(
            entry["mcpServers"]["countersign"],
            serde_json::json!({"command": "/opt/bin/countersign", "args": ["serve", "--home", home]})
        );

        let (exit, out, _) = ran(&args(&home, &["https://other.example"]));
        assert_eq!(exit, Exit::Ok);
        assert!(out.contains("were not added"));
        assert_eq!(
            fs::read_to_string(places.profile()).unwrap(),
            "https://bank.example\n"
        );
    }

    #[test]
    fn a_loose_directory_stops_setup_before_anything_is_made() {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path().join("home");
        let places = Places::below(&home);
        fs::create_dir_all(&places.state).unwrap();
        fs::set_permissions(&places.state, fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
        let (exit, out, err) = ran(&args(&home, &["https://bank.example"]));
        assert_eq!((exit, out.as_str()), (Exit::Refused, ""));
        assert!(err.contains(&format!("chmod 0700 {}", places.state.display())));
        assert!(err.contains("countersign setup --site https://bank.example --home"));
        assert!(!places.config.exists() && !places.browser.exists());
        assert_eq!(mode(&places.state), 0o755);
    }

    #[test]
    fn a_link_in_place_of_the_profile_is_not_written_through() {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path().join("home");
        let places = Places::below(&home);
        places::prepare(&places.config).unwrap();
        let target = scratch.path().join("target");
        std::os::unix::fs::symlink(&target, places.profile()).unwrap();
        let (exit, ..) = ran(&args(&home, &["https://bank.example"]));
        assert_eq!(exit, Exit::Ok);
        assert!(!target.exists());
    }

    #[test]
    fn a_trial_leaves_nothing_at_home() {
        let mut asked = args(Path::new("/"), &["https://bank.example"]);
        (asked.temporary, asked.home) = (true, None);
        let (exit, out, _) = ran(&asked);
        assert_eq!(exit, Exit::Ok);
        let home = out
            .lines()
            .find_map(|line| line.strip_prefix("Everything is below "))
            .and_then(|rest| rest.split(';').next())
            .unwrap();
        assert_eq!(mode(Path::new(home)), 0o700);
        fs::remove_dir_all(home).unwrap();
    }

    #[test]
    fn the_command_line_is_read_strictly() {
        use clap::{Args as _, FromArgMatches as _};
        let read = |line: &str| {
            Args::augment_args(clap::Command::new("setup"))
                .try_get_matches_from(line.split(' '))
                .and_then(|found| Args::from_arg_matches(&found))
        };
        assert!(read("setup").is_err(), "an empty list must not be set up");
        assert!(read("setup --site bank.example").is_err());
        assert!(read("setup --site https://bank.example/path").is_err());
        assert!(read("setup --site https://a.example --home relative").is_err());
        assert!(read("setup --site https://a.example --home /x --temporary").is_err());
        let two = read("setup --site https://a.example --site http://127.0.0.1:8080").unwrap();
        assert_eq!(two.sites.len(), 2);
    }
}
