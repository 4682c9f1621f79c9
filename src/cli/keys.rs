//! What setup needs of other rooms: the starter profile, and the journal's keys under a passphrase of the auditor.

use std::path::PathBuf;

use super::places::{JOURNAL, Places};
use super::setup::{self, Keys, Parts};
use crate::domain::secret::Secret;
use crate::domain::site::Site;
use crate::error::Fault;
use crate::journal::{Directory, IDENTITY_FILE, RECIPIENT_FILE, WorkFactor, generate};
use crate::policy::rule::SiteRule;
use crate::policy::starter::starter;

/// The real parts.
#[derive(Debug)]
pub struct Made {
    passphrase_file: Option<PathBuf>,
}

impl Made {
    /// As the command line asks.
    #[must_use]
    pub fn of(args: &setup::Args) -> Self {
        Self {
            passphrase_file: args.passphrase_file.clone(),
        }
    }

    fn passphrase(&self) -> Result<Secret, Fault> {
        if let Some(file) = &self.passphrase_file {
            return super::audit::passphrase::passphrase_from(file);
        }
        let ask = |prompt: &str| {
            rpassword::prompt_password(prompt)
                .map(Secret::new)
                .map_err(|error| {
                    Fault::internal(
                        "no passphrase could be read; use a terminal, or --passphrase-file",
                    )
                    .because(error)
                })
        };
        let first = ask(
            "A passphrase for reading the journal (you will need it for `countersign audit`): ",
        )?;
        if first.expose().chars().count() < 8 {
            return Err(Fault::internal(
                "the passphrase needs at least 8 characters",
            ));
        }
        if ask("Once more: ")?.expose() != first.expose() {
            return Err(Fault::internal("the two passphrases differ"));
        }
        Ok(first)
    }
}

impl Parts for Made {
    fn starter_profile(&self, sites: &[Site], _places: &Places) -> Result<String, Fault> {
        let rules = sites
            .iter()
            .map(|site| {
                SiteRule::parse(&site.to_string())
                    .map_err(|error| Fault::internal(error.to_string()))
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(starter(&rules))
    }

    fn keys(&self, places: &Places) -> Result<Keys, Fault> {
        let _ = Directory::open(&places.state)?.subdirectory(&JOURNAL)?;
        let directory = Directory::open(&places.config)?;
        let there = |name: &str| places.config.join(name).symlink_metadata().is_ok();
        if there(IDENTITY_FILE.as_str()) && there(RECIPIENT_FILE.as_str()) {
            return Ok(Keys::Kept);
        }
        let work = WorkFactor::new(16).ok_or_else(|| Fault::internal("work factor"))?;
        let _ = generate(&directory, &self.passphrase()?, work)?;
        Ok(Keys::Made(format!(
            "The journal's key is {}, under your passphrase. Keep a copy of the file and of the passphrase: without both \
             the journal cannot be read.",
            places.config.join(IDENTITY_FILE.as_str()).display()
        )))
    }
}
