//! Finds where the operator's browser listens, and watches who else connects there (security D1, D2, D4).

use std::collections::BTreeSet;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use super::owner::{self, Owner};
use super::port_file::{PortFile, websocket_url};
use super::proc::{self, Pid, Socket, Started, State};
use super::version;
use crate::error::{Fault, Refusal};

pub use super::flags::NoSandbox;
pub use super::port_file::BrowserId;

/// Which browser the operator's profile wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The dedicated profile directory.
    pub profile_dir: PathBuf,
    /// The browser programs that are allowed. A launcher of `program::KNOWN` stands for what it runs.
    pub executables: Vec<PathBuf>,
    /// Whether the browser may run without its sandbox.
    pub no_sandbox: NoSandbox,
}

/// The operator's browser, checked: the only thing a connection is made from. Not `Clone`: one check, one connection.
#[derive(Debug)]
#[must_use]
pub struct Endpoint {
    port: u16,
    id: BrowserId,
    owner: Owner,
}

/// Finds the operator's browser and checks whose it is, before anything is said to it but a question for its id.
///
/// # Errors
/// A refusal with a constant reason: `BrowserAbsent`, `PortStale`, `WrongOwner`, `WrongProfile`, `UnsafeFlags`,
/// `ProfileUnsafe`, or `NoAnswer` where the right browser keeps silent.
pub async fn find(wanted: &Wanted) -> Result<Endpoint, Refusal> {
    let directory = owner::directory(&wanted.profile_dir)?;
    let file = PortFile::read(&directory)?;
    let owner = owner::check(wanted, &directory, file.port)?;
    version::check(file.port, &file.id).await?;
    Ok(Endpoint {
        port: file.port,
        id: file.id,
        owner,
    })
}

impl Endpoint {
    /// The port on 127.0.0.1.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The id of this run of the browser.
    #[must_use]
    pub const fn browser_id(&self) -> &BrowserId {
        &self.id
    }

    /// The browser's process.
    #[must_use]
    pub const fn pid(&self) -> Pid {
        self.owner.pid
    }

    /// When that process started.
    #[must_use]
    pub const fn started(&self) -> Started {
        self.owner.started
    }

    /// The address of the browser's websocket, built here from port and id.
    #[must_use]
    pub fn websocket_url(&self) -> String {
        websocket_url(self.port, &self.id)
    }

    /// Checks, once a connection is up, that the browser itself took it: the accepted socket (whose far end is our
    /// `local` address) is held by the checked process alone, and that process is still the same. Call it after the
    /// websocket's handshake was answered: before, the kernel may hold the connection for nobody.
    ///
    /// # Errors
    /// `WrongOwner` with a constant reason; the connection must then be dropped unused.
    pub fn confirm(&self, local: SocketAddr) -> Result<(), Refusal> {
        owner::confirm(&self.owner, self.port, local)
    }

    /// Who else is connected to the browser's port, besides `ours` (our own ends). A connection of any process of this
    /// very program's process counts as ours.
    ///
    /// # Errors
    /// Where the kernel's tables cannot be read, so that nobody can say who is connected.
    pub fn peers(&self, ours: &[SocketAddr]) -> Result<Vec<Peer>, Fault> {
        let unreadable = |error| Fault::internal("the table of connections").because(error);
        let all = proc::sockets().map_err(unreadable)?;
        let server = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let strangers = strangers(&all, server, ours);
        let inodes: BTreeSet<u64> = strangers
            .iter()
            .filter_map(|(_, far)| far.map(|far| far.inode))
            .filter(|inode| *inode != 0)
            .collect();
        let held = proc::holders(&inodes).map_err(unreadable)?;
        let mut peers = Vec::new();
        for (socket, far) in strangers {
            let pids = far
                .and_then(|far| held.get(&far.inode))
                .map(Vec::as_slice)
                .unwrap_or_default();
            if pids == [Pid::own()] {
                continue;
            }
            let pid = pids.iter().find(|pid| **pid != Pid::own()).copied();
            peers.push(Peer {
                address: socket.remote,
                uid: far.map(|far| far.uid),
                pid,
                executable: pid.and_then(|pid| proc::executable(pid).ok()),
            });
        }
        Ok(peers)
    }
}

/// The server's ends of connections that are not ours, each with the far end where this machine has it.
fn strangers<'a>(
    all: &'a [Socket],
    server: SocketAddr,
    ours: &[SocketAddr],
) -> Vec<(&'a Socket, Option<&'a Socket>)> {
    all.iter()
        .filter(|socket| socket.local == server && !ours.contains(&socket.remote))
        .map(|socket| {
            let far = all
                .iter()
                .find(|far| far.local == socket.remote && far.remote == socket.local);
            (socket, far)
        })
        .filter(|(socket, far)| match socket.state {
            State::Established => true,
            // Half closed: it can still be read from, so it counts while a process holds the far end.
            State::Passing => far.is_some_and(|far| far.inode != 0),
            State::Listening | State::Over => false,
        })
        .collect()
}

/// A foreign connection to the browser's port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// Its far end.
    pub address: SocketAddr,
    /// The user it belongs to, where the kernel says.
    pub uid: Option<u32>,
    /// The process that holds it, where it is one of this user's.
    pub pid: Option<Pid>,
    /// The program that process runs, where it can be read.
    pub executable: Option<PathBuf>,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.address)?;
        if let Some(uid) = self.uid {
            write!(f, ", user {uid}")?;
        }
        if let Some(pid) = self.pid {
            write!(f, ", process {pid}")?;
        }
        if let Some(executable) = &self.executable {
            let name = super::directory::shell_word(executable.as_os_str());
            write!(f, ", {name}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use static_assertions::assert_not_impl_any;

    assert_not_impl_any!(Endpoint: Clone, Copy, Default, serde::Serialize);

    #[test]
    fn strangers_are_told_from_our_own_and_from_what_is_over() {
        let server: SocketAddr = "127.0.0.1:9000".parse().unwrap();
        let far = |port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let row = |local, remote, state, inode| Socket {
            local,
            remote,
            state,
            uid: 1,
            inode,
        };
        let pair = |port, state, inode| {
            [
                row(server, far(port), state, 5),
                row(far(port), server, state, inode),
            ]
        };
        let mut all = vec![row(server, far(0), State::Listening, 4)];
        all.extend(pair(1, State::Established, 11)); // ours
        all.extend(pair(2, State::Established, 12)); // a stranger
        all.extend(pair(3, State::Passing, 13)); // a stranger that closed its half and still reads
        all.extend(pair(4, State::Passing, 0)); // ended, the browser has not noticed yet
        all.extend(pair(5, State::Over, 0));
        all.push(row(server, far(6), State::Established, 5)); // its far end is nowhere to be seen
        all.push(row(far(7), far(8), State::Established, 17)); // another port
        let seen: Vec<u16> = strangers(&all, server, &[far(1)])
            .iter()
            .map(|(socket, _)| socket.remote.port())
            .collect();
        assert_eq!(seen, [2, 3, 6]);
    }
}
