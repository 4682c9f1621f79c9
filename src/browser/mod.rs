//! The connection to the operator's own browser: found, checked, attached over loopback, and read.

/// Which directory is somebody's alone.
pub mod directory;
/// Where the operator's browser listens, and who else does (security D1, D4).
pub mod endpoint;
/// The flags that take a browser's protection away (security D3).
pub mod flags;
mod frames;
pub mod input;
mod methods;
/// What listens on the port is the operator's own browser (security D2).
pub mod owner;
/// What the browser writes into its profile directory when it opens its port.
mod port_file;
pub mod probe;
/// What the kernel says about sockets and processes.
pub mod proc;
/// Which programs are browsers we know, and how each is started.
pub mod program;
/// Why a browser was refused, in constants.
pub mod reason;
mod script;
pub mod targets;
/// What the live browser says about itself; compared, never followed.
mod version;
pub mod wire;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use self::endpoint::Endpoint;
use self::probe::Page;
use self::targets::{Hub, TabInfo};
use self::wire::{Wire, WireError};
use crate::domain::epoch::Generation;
use crate::domain::mark::TabId;
use crate::error::{Code, Refusal};
use crate::policy::echo::Known;
use crate::policy::profile::Profile;

/// One connection to the operator's browser.
#[derive(Debug, Clone)]
pub struct Browser {
    hub: Arc<Hub>,
    endpoint: Arc<Endpoint>,
}

impl Browser {
    /// Connects to a checked endpoint, checks its owner again over the open socket, and starts to watch its targets.
    ///
    /// # Errors
    /// Where the connection fails, or what answers is not the browser that was checked (security D2).
    pub async fn attach(
        endpoint: Endpoint,
        profile: Arc<Profile>,
        known: Arc<Known>,
        generation: Generation,
        next_tab: u32,
    ) -> Result<Self, Refusal> {
        let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), endpoint.port());
        let refused = |error: WireError| {
            tracing::warn!("attaching failed: {error}");
            Refusal::new(Code::BrowserAbsent)
        };
        let (wire, events) = Wire::connect(address, &endpoint.websocket_url())
            .await
            .map_err(refused)?;
        endpoint.confirm(wire.local())?;
        let hub = Hub::start(wire, events, profile, known, generation, next_tab)
            .await
            .map_err(refused)?;
        Ok(Self {
            hub,
            endpoint: Arc::new(endpoint),
        })
    }

    /// Whether the connection still stands.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.hub.wire.is_lost()
    }

    /// Which connection this is.
    #[must_use]
    pub fn generation(&self) -> Generation {
        self.hub.generation
    }

    /// The endpoint that was checked.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Our end of the connection.
    #[must_use]
    pub fn local(&self) -> SocketAddr {
        self.hub.wire.local()
    }

    /// The session's tabs.
    #[must_use]
    pub fn tabs(&self) -> Vec<TabInfo> {
        self.hub.tabs()
    }

    /// The number after which the next tab is counted.
    #[must_use]
    pub fn last_tab(&self) -> u32 {
        self.hub.next_tab()
    }

    /// One tab of the session.
    ///
    /// # Errors
    /// [`Code::UnknownTab`] where there is none of that name.
    pub fn page(&self, tab: TabId) -> Result<Page, Refusal> {
        let known = self.hub.tab(tab).and_then(|_| self.hub.session(tab));
        let (session, _) = known.ok_or(Code::UnknownTab)?;
        Ok(Page {
            hub: Arc::clone(&self.hub),
            tab,
            session,
        })
    }

    fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }
}
