//! Sites: the origin of the element's frame, of every frame around it and of the tab are on the operator's list for this tier.

use crate::browser::probe::{Facts, TabFacts};
use crate::domain::action::Action;
use crate::domain::mark::TabId;
use crate::domain::site::{Origin, Site};
use crate::domain::tier::Tier;
use crate::error::{Code, Detail, Refusal};
use crate::policy::profile::{Profile, SiteDecision};

use super::admit::{AdmittedLook, Call};
use super::identity::{Same, SameNode};

/// The thing named is on a listed site, through and through.
#[derive(Debug)]
#[must_use = "a listed site may still need the person: decide the lock"]
pub struct OnSite {
    call: Call,
    same: Same,
    site: Option<Site>,
}

impl OnSite {
    pub(super) const fn call(&self) -> &Call {
        &self.call
    }

    pub(super) const fn same(&self) -> &Same {
        &self.same
    }

    pub(super) const fn site(&self) -> Option<&Site> {
        self.site.as_ref()
    }

    pub(super) fn into_parts(self) -> (Call, Same, Option<Site>) {
        (self.call, self.same, self.site)
    }
}

/// A tab that may be read now.
#[derive(Debug)]
#[must_use]
pub struct Readable {
    tab: TabId,
    site: Site,
}

/// Checks the site of what is about to be acted on.
///
/// # Errors
/// Where any origin in the chain is off the list, is none, or lacks the tier.
pub fn check(node: SameNode, profile: &Profile) -> Result<OnSite, Refusal> {
    let (call, same) = node.into_parts();
    let tier = call.action.tier();
    let site = match &same {
        Same::Element(_, facts) => {
            let (top, frames) = (facts.top(), facts.origins());
            // The page's own account of its ancestors must end at the top document the browser knows.
            if frames.last() != Some(top) {
                return Err(Code::OpaqueOrigin.into());
            }
            for origin in frames.iter().skip(1).chain([top]) {
                listed(origin, tier, profile, Code::FrameOffList)?;
            }
            let own = frames.first().ok_or(Code::OpaqueOrigin)?;
            Some(listed(own, tier, profile, Code::OffList)?)
        }
        // Closing what the session opened needs no site: it can only reduce.
        Same::Tab(facts) => match (&call.action, facts.origin()) {
            (Action::Close(_), Origin::Site(site)) => Some(site.clone()),
            (Action::Close(_), Origin::Blank | Origin::Opaque) => None,
            (_, origin) => Some(listed(origin, tier, profile, Code::OffList)?),
        },
        Same::Opened(address) | Same::Sent(_, address, _) => {
            let origin = Origin::Site(address.site().clone());
            Some(listed(&origin, tier, profile, Code::OffList)?)
        }
    };
    Ok(OnSite { call, same, site })
}

/// Checks that a tab may be read.
///
/// # Errors
/// Where its document is off the list or has no origin.
pub fn check_look(
    look: AdmittedLook,
    facts: &Facts,
    profile: &Profile,
) -> Result<Readable, Refusal> {
    look.spend();
    let facts: &TabFacts = match facts {
        Facts::Tab(facts) => facts,
        Facts::Element(_) | Facts::Nothing => return Err(Code::UnknownTab.into()),
    };
    if facts.crashed() {
        return Err(Code::TabCrashed.into());
    }
    let site = listed(facts.origin(), Tier::Read, profile, Code::OffList)?;
    Ok(Readable {
        tab: facts.tab(),
        site,
    })
}

/// Checks the site of a snapshot that was taken before: what is stored is read again under today's list.
///
/// # Errors
/// As [`check_look`].
pub fn check_stored(
    look: AdmittedLook,
    tab: TabId,
    origin: &Origin,
    profile: &Profile,
) -> Result<Readable, Refusal> {
    look.spend();
    let site = listed(origin, Tier::Read, profile, Code::OffList)?;
    Ok(Readable { tab, site })
}

/// After a reading: what was read must come from the site that was checked before it.
///
/// # Errors
/// [`Code::Stale`] where the document changed meanwhile.
pub fn same_site(readable: &Readable, read: &Origin) -> Result<(), Refusal> {
    match read {
        Origin::Site(site) if *site == readable.site => Ok(()),
        Origin::Site(_) | Origin::Blank | Origin::Opaque => Err(Code::Stale.into()),
    }
}

impl Readable {
    /// The tab.
    #[must_use]
    pub const fn tab(&self) -> TabId {
        self.tab
    }

    /// The site it shows.
    #[must_use]
    pub const fn site(&self) -> &Site {
        &self.site
    }
}

fn listed(origin: &Origin, tier: Tier, profile: &Profile, off: Code) -> Result<Site, Refusal> {
    let site = match origin {
        Origin::Site(site) => site,
        Origin::Blank => return Err(Code::NothingThere.into()),
        Origin::Opaque => return Err(Code::OpaqueOrigin.into()),
    };
    match profile.decide(site, tier) {
        SiteDecision::Granted => Ok(site.clone()),
        SiteDecision::TierNotGranted => {
            Err(Refusal::new(Code::TierNotGranted).with(Detail::Site(site.clone())))
        }
        SiteDecision::NotListed => Err(Refusal::new(off).with(Detail::Site(site.clone()))),
    }
}
