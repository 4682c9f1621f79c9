//! Where countersign keeps its files: the XDG directories, or the ones a caller names.

use std::fmt;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use etcetera::base_strategy::Xdg;

const NAME: &str = "countersign";

/// The directories of one operator. All are absolute; none needs to exist yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    config: PathBuf,
    state: PathBuf,
    data: PathBuf,
}

/// Directories named on the command line; what is `None` follows XDG.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Named {
    /// Holds `profile.toml` and the journal's public recipients.
    pub config: Option<PathBuf>,
    /// Holds the journal, its captures and the diagnostics.
    pub state: Option<PathBuf>,
    /// Holds the browser's profile directory.
    pub data: Option<PathBuf>,
}

/// Why no directory could be settled on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlacesError {
    /// There is no home directory.
    NoHome,
    /// A directory that is not absolute, or goes through `..`.
    NotAbsolute(PathBuf),
}

impl fmt::Display for PlacesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHome => {
                f.write_str("there is no home directory; set HOME, or name the directories")
            }
            Self::NotAbsolute(path) => {
                write!(
                    f,
                    "{} is not an absolute path; write it from /, without ..",
                    path.display()
                )
            }
        }
    }
}

impl std::error::Error for PlacesError {}

impl Places {
    /// The named directories, and `countersign` below the XDG directories for the rest.
    ///
    /// # Errors
    /// Where there is no home directory to fall back on, or a directory is not absolute.
    pub fn settle(named: Named) -> Result<Self, PlacesError> {
        let Named {
            config,
            state,
            data,
        } = named;
        let (config, state, data) = match (config, state, data) {
            (Some(config), Some(state), Some(data)) => (config, state, data),
            (config, state, data) => {
                let xdg = Xdg::new().map_err(|_| PlacesError::NoHome)?;
                let home = xdg.home_dir();
                (
                    config.unwrap_or_else(|| xdg.config_dir().join(NAME)),
                    state.unwrap_or_else(|| {
                        let base = xdg.state_dir();
                        base.unwrap_or_else(|| home.join(".local/state")).join(NAME)
                    }),
                    data.unwrap_or_else(|| xdg.data_dir().join(NAME)),
                )
            }
        };
        for path in [&config, &state, &data] {
            let detour = path
                .components()
                .any(|part| part == std::path::Component::ParentDir);
            if !path.is_absolute() || detour {
                return Err(PlacesError::NotAbsolute(path.clone()));
            }
        }
        Ok(Self {
            config,
            state,
            data,
        })
    }

    /// Everything below one directory: for `setup --temporary`, the demo and tests.
    ///
    /// # Errors
    /// Where it is not absolute.
    pub fn below(directory: &Path) -> Result<Self, PlacesError> {
        Self::settle(Named {
            config: Some(directory.join("config")),
            state: Some(directory.join("state")),
            data: Some(directory.join("data")),
        })
    }

    /// The directory of the profile and of public keys.
    #[must_use]
    pub fn config(&self) -> &Path {
        &self.config
    }

    /// The directory of what the program writes.
    #[must_use]
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// The directory of the browser's profile.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The operator's profile.
    #[must_use]
    pub fn profile(&self) -> PathBuf {
        self.config.join("profile.toml")
    }

    /// The journal's directory.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.state.join("journal")
    }

    /// The directory of diagnostics.
    #[must_use]
    pub fn diagnostics(&self) -> PathBuf {
        self.state.join("diagnostics")
    }

    /// The browser's profile directory, where the profile names none.
    #[must_use]
    pub fn browser_profile(&self) -> PathBuf {
        self.data.join("browser-profile")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_directories_win() {
        let places = Places::below(Path::new("/x")).unwrap();
        assert_eq!(places.profile(), Path::new("/x/config/profile.toml"));
        assert_eq!(places.journal(), Path::new("/x/state/journal"));
        assert_eq!(
            places.browser_profile(),
            Path::new("/x/data/browser-profile")
        );
        for wrong in ["x", "/x/../y", ""] {
            assert!(matches!(
                Places::settle(Named {
                    config: Some(wrong.into()),
                    state: Some("/s".into()),
                    data: Some("/d".into())
                }),
                Err(PlacesError::NotAbsolute(_))
            ));
        }
    }

    #[test]
    fn the_rest_follows_xdg() {
        let places = Places::settle(Named {
            config: Some("/x".into()),
            ..Named::default()
        })
        .unwrap();
        assert_eq!(places.config(), Path::new("/x"));
        assert!(places.state().ends_with("countersign") && places.state().is_absolute());
        assert!(places.data().ends_with("countersign") && places.data() != places.state());
    }
}
