//! The checks of `doctor` that need the other rooms: profile, window, journal and vocabulary.

use super::doctor::Check;
use super::places::Places;
use crate::confirm::window::Window;
use crate::domain::question::Means;
use crate::journal::{Directory, Recipient};
use crate::policy::floor::Floor;
use crate::policy::profile::Profile;
use crate::policy::store::StoreError;

/// Looks at them.
pub async fn look(places: &Places, profile: &Result<Profile, StoreError>) -> Vec<Check> {
    let mut all = vec![match profile {
        Ok(profile) => Check::ok("profile", format!("{} sites listed", profile.sites().len())),
        Err(error) => Check::fail("profile", error.to_string(), places.command("policy check")),
    }];
    all.push(match Floor::shipped() {
        Ok(floor) => Check::ok(
            "locks",
            format!(
                "{} shipped entries, every example holds",
                floor.entries().len()
            ),
        ),
        Err(error) => Check::fail("locks", error.to_string(), "install countersign anew"),
    });
    all.push(match Window::beside_this_program().examine().await.means {
        Means::Window => Check::ok("window", "the window of our own"),
        Means::Basic => Check::warn(
            "window",
            "basic: the countersign-window program or its libraries are missing, so questions come in a plain dialog",
            "build it with --features window and put it beside countersign (Debian: libgtk-4-1)",
        ),
        Means::Nothing => Check::fail(
            "window",
            "no window can be shown, so everything locked is refused",
            "run countersign in a desktop session, with DISPLAY or WAYLAND_DISPLAY set",
        ),
    });
    let keys = Directory::open(&places.config).and_then(|directory| Recipient::read(&directory));
    all.push(match keys {
        Ok(_) => Check::ok("journal key", "the recipient is there"),
        Err(fault) => Check::fail(
            "journal key",
            fault.to_string(),
            places.command("setup --site https://…"),
        ),
    });
    all.push(
        match Directory::open(&places.journal()).and_then(|directory| directory.writable()) {
            Ok(()) => Check::ok("journal", "can be written"),
            Err(fault) => Check::fail(
                "journal",
                fault.to_string(),
                places.command("setup --site https://…"),
            ),
        },
    );
    all
}
