//! Opening tabs and sending them to listed addresses; what leads off the list is stopped at its first request.

use super::perform::End;
use crate::browser::Browser;
use crate::browser::input::{Went, open_tab};
use crate::browser::probe::{Page, Step};
use crate::browser::targets::Note;
use crate::domain::site::Address;
use crate::error::{Code, Detail, Effect, Refusal};

/// Opens a tab on an address. Where nothing can be shown there, the tab is closed again.
pub(super) async fn open(browser: &Browser, address: &Address) -> (Option<Page>, End) {
    let page = match open_tab(browser).await.and_then(|tab| browser.page(tab)) {
        Ok(page) => page,
        Err(refusal) => return (None, End::refused(refusal)),
    };
    let end = send(&page, address, None).await;
    match &end.outcome {
        super::perform::Outcome::Refused(_) => {
            let _ = page.close().await;
            (None, end)
        }
        super::perform::Outcome::Done | super::perform::Outcome::Unknown(_) => (Some(page), end),
    }
}

/// Sends a tab to an address, or along its history.
pub(super) async fn send(page: &Page, address: &Address, step: Option<&Step>) -> End {
    let went = match step {
        None => page.go(address).await,
        Some(step) => page.step(step).await.map(|()| Went::OnItsWay),
    };
    match went {
        Ok(Went::Committed | Went::OnItsWay) => End::done().loading(),
        Ok(Went::Download) => {
            End::refused(Refusal::new(Code::LoadFailed).with(Detail::Reason("it is a download")))
        }
        Ok(Went::Stopped) => End::refused(stopped(page)),
        Err(refusal) if refusal.code() == Code::LoadFailed => {
            End::refused(refusal.having(Effect::Possible))
        }
        Err(refusal) => End::unknown(refusal),
    }
}

/// Why a load stopped: a hop off the list, or the page itself.
fn stopped(page: &Page) -> Refusal {
    let off_list = page.take_notes().into_iter().find_map(|note| match note {
        Note::DepartureStopped(site) => Some(site),
        Note::Dialog { .. }
        | Note::Opened(_)
        | Note::OpenRefused(_)
        | Note::DownloadStopped(_)
        | Note::Held
        | Note::FileChooser
        | Note::Crashed => None,
    });
    match off_list {
        Some(Some(site)) => Refusal::new(Code::DepartureStopped).with(Detail::Site(site)),
        Some(None) => Code::DepartureStopped.into(),
        None => Refusal::new(Code::LoadFailed).having(Effect::Possible),
    }
}
