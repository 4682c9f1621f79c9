//! Asks the live browser for its id over `/json/version`; the answer is compared, never followed (security D1).

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::port_file::{BrowserId, websocket_url};
use super::reason::{self, refuse};
use crate::error::{Code, Refusal};

/// The most bytes of an answer that are read; a real one has about 600.
const CAP: usize = 16 * 1024;
/// How long the browser may take for the whole exchange.
const DEADLINE: Duration = Duration::from_secs(5);

/// Checks that what listens on the port calls itself by this id.
pub(super) async fn check(port: u16, id: &BrowserId) -> Result<(), Refusal> {
    check_within(port, id, DEADLINE).await
}

async fn check_within(port: u16, id: &BrowserId, deadline: Duration) -> Result<(), Refusal> {
    let answer = timeout(deadline, fetch(port))
        .await
        .map_err(|_| refuse(Code::NoAnswer, reason::SILENT))?
        .map_err(|error| {
            if error.kind() == std::io::ErrorKind::ConnectionRefused {
                refuse(Code::PortStale, reason::NO_LISTENER)
            } else {
                refuse(Code::WrongOwner, reason::NOT_A_BROWSER)
            }
        })?;
    let url = named_url(&answer).ok_or_else(|| refuse(Code::WrongOwner, reason::NOT_A_BROWSER))?;
    let wanted = websocket_url(port, id);
    if url == wanted {
        return Ok(());
    }
    // A URL of the same form with another id is another run of the browser; anything else is no browser.
    let head = wanted.strip_suffix(&id.to_string()).unwrap_or(&wanted);
    match url.strip_prefix(head).and_then(BrowserId::parse) {
        Some(_) => Err(refuse(Code::PortStale, reason::OTHER_ID)),
        None => Err(refuse(Code::WrongOwner, reason::NOT_A_BROWSER)),
    }
}

async fn fetch(port: u16) -> std::io::Result<Vec<u8>> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect(address).await?;
    let request = format!(
        "GET /json/version HTTP/1.1\r\nHost: {address}\r\nAccept: application/json\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    let mut piece = [0_u8; 2048];
    while !is_complete(&answer) {
        let read = stream.read(&mut piece).await?;
        answer.extend_from_slice(piece.get(..read).unwrap_or_default());
        if read == 0 || answer.len() > CAP {
            break;
        }
    }
    Ok(answer)
}

/// True where reading on cannot change the verdict: a whole body, or a head that promises none.
fn is_complete(answer: &[u8]) -> bool {
    let headed = answer.windows(4).any(|four| four == b"\r\n\r\n");
    headed && (body(answer).is_some() || length(answer).is_none())
}

/// The length that a head with status 200 announces.
fn length(answer: &[u8]) -> Option<usize> {
    let split = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let mut lines = std::str::from_utf8(answer.get(..split)?)
        .ok()?
        .split("\r\n");
    if !lines.next()?.starts_with("HTTP/1.1 200 ") {
        return None;
    }
    lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    })
}

/// The body of a complete answer with status 200 and a length; `None` while there is none.
fn body(answer: &[u8]) -> Option<&[u8]> {
    let split = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    answer.get(split.checked_add(4)?..)?.get(..length(answer)?)
}

fn named_url(answer: &[u8]) -> Option<String> {
    let value: serde_json::Value = serde_json::from_slice(body(answer)?).ok()?;
    Some(value.get("webSocketDebuggerUrl")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Detail;
    use tokio::net::TcpListener;

    const ID: &str = "4b257bf6-2153-43d6-876f-205eef7921df";

    /// Answers one connection with this head and body (`PORT` stands for the port) and keeps it open.
    async fn asked(head: &'static str, body: String) -> Result<(), Refusal> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let serve = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0_u8; 1024];
            let read = stream.read(&mut request).await.unwrap();
            let request = String::from_utf8_lossy(&request[..read]).into_owned();
            assert!(request.contains(&format!("Host: 127.0.0.1:{port}\r\n")));
            let body = body.replace("PORT", &port.to_string());
            let answer = format!("{head}\r\ncontent-length:{}\r\n\r\n{body}", body.len());
            // A reader that has had enough may be gone by now.
            let _ = stream.write_all(answer.as_bytes()).await;
            stream
        });
        let verdict = check(port, &BrowserId::parse(ID).unwrap()).await;
        serve.await.unwrap();
        verdict
    }

    fn naming(url: &str) -> String {
        serde_json::json!({"Browser": "x", "webSocketDebuggerUrl": url}).to_string()
    }

    fn reason_of(verdict: Result<(), Refusal>) -> (Code, &'static str) {
        let refusal = verdict.unwrap_err();
        match refusal.detail() {
            Some(Detail::Reason(why)) => (refusal.code(), why),
            other => panic!("{other:?}"),
        }
    }

    const OK: &str = "HTTP/1.1 200 OK\r\nX-Other: 1";

    #[tokio::test]
    async fn the_same_id_is_accepted() {
        let url = format!("ws://127.0.0.1:PORT/devtools/browser/{ID}");
        asked(OK, naming(&url)).await.unwrap();
    }

    #[tokio::test]
    async fn another_id_is_stale() {
        let url = "ws://127.0.0.1:PORT/devtools/browser/00000000-2153-43d6-876f-205eef7921df";
        let verdict = asked(OK, naming(url)).await;
        assert_eq!(reason_of(verdict), (Code::PortStale, reason::OTHER_ID));
    }

    #[tokio::test]
    async fn an_answer_that_leads_elsewhere_is_no_browser() {
        for url in [
            format!("ws://evil.test:80/devtools/browser/{ID}"),
            format!("ws://localhost:PORT/devtools/browser/{ID}"),
            format!("wss://127.0.0.1:PORT/devtools/browser/{ID}"),
            format!("ws://127.0.0.1:PORT/devtools/page/{ID}"),
            format!("ws://127.0.0.1:PORT/devtools/browser/{ID}?x"),
        ] {
            let verdict = asked(OK, naming(&url)).await;
            assert_eq!(
                reason_of(verdict),
                (Code::WrongOwner, reason::NOT_A_BROWSER),
                "{url}"
            );
        }
    }

    #[tokio::test]
    async fn what_is_no_answer_or_too_long_a_one_is_no_browser() {
        let url = format!("ws://127.0.0.1:PORT/devtools/browser/{ID}");
        for (head, body) in [
            ("HTTP/1.1 302 Found", naming(&url)),
            ("SSH-2.0-x", naming(&url)),
            (OK, "{".to_owned()),
            (OK, "[]".to_owned()),
            (OK, format!("{}{}", " ".repeat(90_000), naming(&url))),
        ] {
            let verdict = asked(head, body).await;
            assert_eq!(
                reason_of(verdict),
                (Code::WrongOwner, reason::NOT_A_BROWSER),
                "{head}"
            );
        }
    }

    #[tokio::test]
    async fn silence_has_a_deadline() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let id = BrowserId::parse(ID).unwrap();
        let verdict = check_within(port, &id, Duration::from_millis(50)).await;
        assert_eq!(reason_of(verdict), (Code::NoAnswer, reason::SILENT));
        drop(listener);
        let verdict = check(port, &id).await;
        assert_eq!(reason_of(verdict), (Code::PortStale, reason::NO_LISTENER));
    }

    #[test]
    fn a_redirect_or_an_error_has_no_body() {
        assert_eq!(
            body(b"HTTP/1.1 302 Found\r\nContent-Length: 2\r\n\r\n{}"),
            None
        );
        assert_eq!(body(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{"), None);
        assert_eq!(
            body(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
            Some(&b"{}"[..])
        );
    }
}
