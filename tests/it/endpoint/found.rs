//! The right browser is found, and the connection that is made to it is its own.

use std::fs;

use countersign::browser::endpoint::find;
use countersign::browser::reason;
use countersign::error::Code;
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;

use super::support::{Private, chromium, why};

async fn connect(url: String, port: u16) -> WebSocketStream<TcpStream> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    tokio_tungstenite::client_async(url, stream)
        .await
        .unwrap()
        .0
}

#[tokio::test]
async fn the_operators_browser_is_accepted_and_takes_the_connection_itself() {
    let dir = Private::new();
    let running = chromium(dir.path(), &[]);
    let endpoint = find(&dir.wanted()).await.unwrap();
    assert_eq!(endpoint.pid().number(), running.id());
    let file = fs::read_to_string(dir.port_file()).unwrap();
    let (port, path) = file.split_once('\n').unwrap();
    assert_eq!(endpoint.port().to_string(), port);
    assert_eq!(
        endpoint.websocket_url(),
        format!("ws://127.0.0.1:{port}{path}")
    );
    let stream = connect(endpoint.websocket_url(), endpoint.port()).await;
    let local = stream.get_ref().local_addr().unwrap();
    endpoint.confirm(local).unwrap();
    assert_eq!(endpoint.peers(&[local]).unwrap(), []);

    // The launcher that the operator may name instead stands for the same program.
    let mut wanted = dir.wanted();
    wanted.executables = vec!["/usr/bin/chromium".into()];
    assert_eq!(find(&wanted).await.unwrap().pid(), endpoint.pid());
    drop(stream);
    let never = "127.0.0.1:1".parse().unwrap();
    assert_eq!(
        why(&endpoint.confirm(never).unwrap_err()),
        (Code::WrongOwner, reason::NOT_ACCEPTED)
    );
}

#[tokio::test]
async fn another_run_on_the_same_profile_is_another_browser() {
    let dir = Private::new();
    let first = chromium(dir.path(), &[]);
    let endpoint = find(&dir.wanted()).await.unwrap();
    first.end();
    let left_over = fs::read_to_string(dir.port_file()).unwrap();

    let second = chromium(dir.path(), &[]);
    let again = find(&dir.wanted()).await.unwrap();
    assert_eq!(again.pid().number(), second.id());
    assert_ne!(again.browser_id(), endpoint.browser_id());
    assert_ne!(
        (again.pid(), again.started()),
        (endpoint.pid(), endpoint.started())
    );

    let stream = connect(again.websocket_url(), again.port()).await;
    let local = stream.get_ref().local_addr().unwrap();
    again.confirm(local).unwrap();
    endpoint
        .confirm(local)
        .expect_err("the old check does not vouch for the new process");

    // The new port with the old id: a file left over from the first run.
    let old_id = left_over.split_once('\n').unwrap().1;
    fs::write(dir.port_file(), format!("{}\n{old_id}", again.port())).unwrap();
    assert_eq!(
        why(&find(&dir.wanted()).await.unwrap_err()),
        (Code::PortStale, reason::OTHER_ID)
    );
}
