//! Whoever else connects to the browser's port is seen.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use countersign::browser::endpoint::find;

use super::support::{Private, Running, chromium};

const HOLD: &str = r#"
use IO::Socket::INET; use strict;
my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$ARGV[0]") or die;
$| = 1; print $s->sockport, "\n"; <STDIN>;
"#;

#[tokio::test]
async fn a_foreign_connection_is_seen_with_its_process_until_it_ends() {
    let dir = Private::new();
    let browser = chromium(dir.path(), &[]);
    let endpoint = find(&dir.wanted()).await.unwrap();
    assert_eq!(endpoint.peers(&[]).unwrap(), []);

    let mut stranger = Running::spawn(
        Command::new("/usr/bin/perl")
            .args(["-e", HOLD, &endpoint.port().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped()),
    );
    let port: u16 = stranger.first_line().parse().unwrap();
    let peers = endpoint.peers(&[]).unwrap();
    assert_eq!(peers.len(), 1, "{peers:?}");
    let peer = &peers[0];
    assert_eq!(peer.address, format!("127.0.0.1:{port}").parse().unwrap());
    assert_eq!(peer.uid, Some(rustix::process::geteuid().as_raw()));
    assert_eq!(peer.pid.map(|pid| pid.number()), Some(stranger.id()));
    assert_eq!(peer.executable.as_deref(), Some(Path::new("/usr/bin/perl")));
    let shown = peer.to_string();
    assert!(shown.contains("/usr/bin/perl"), "{shown}");
    // Naming it as ours is the caller's word; then it is not foreign.
    assert_eq!(endpoint.peers(&[peer.address]).unwrap(), []);

    stranger.end();
    assert_eq!(endpoint.peers(&[]).unwrap(), []);

    // A connection of this very process is ours whether it is named or not.
    let mut own = std::net::TcpStream::connect(("127.0.0.1", endpoint.port())).unwrap();
    own.write_all(b"G").unwrap();
    assert_eq!(endpoint.peers(&[]).unwrap(), []);
    drop(browser);
}
