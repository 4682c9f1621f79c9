//! One websocket to the browser: calls by number, a deadline on each, events in order.

use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::{SinkExt as _, StreamExt as _};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, client_async_with_config};

use super::methods::Method;

/// How long one call may take (contract: one CDP call, 10 s).
pub(in crate::browser) const CALL: Duration = Duration::from_secs(10);
/// The largest message taken from the browser: a full-scale picture of a large screen.
const LARGEST_MESSAGE: usize = 96 << 20;

/// A session of the protocol: one attached target.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::browser) struct SessionId(Arc<str>);

impl SessionId {
    /// Takes the browser's spelling.
    pub(in crate::browser) fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The browser's spelling.
    pub(in crate::browser) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WireError {
    /// The connection is gone; whether the call had an effect is not known.
    Lost,
    /// No answer in time; the call may still run later (measured), so its session is suspect.
    Timeout(&'static str),
    /// The browser refused the call. The text is the browser's, for diagnostics only.
    Refused(&'static str, String),
    /// The answer was not what the protocol promises.
    Malformed(&'static str),
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost => f.write_str("the connection to the browser is gone"),
            Self::Timeout(method) => write!(f, "{method} had no answer in time"),
            Self::Refused(method, why) => write!(f, "{method} was refused: {why}"),
            Self::Malformed(method) => write!(f, "{method} answered something unexpected"),
        }
    }
}

impl std::error::Error for WireError {}

/// An event of the browser or of one session.
#[derive(Debug, Deserialize)]
pub(in crate::browser) struct Event {
    /// The protocol's name.
    pub(in crate::browser) method: String,
    /// What it carries.
    #[serde(default)]
    pub(in crate::browser) params: Value,
    /// The session it belongs to, if any.
    #[serde(default, rename = "sessionId")]
    pub(in crate::browser) session: Option<String>,
}

/// An answer to come, at the latest when its time is up.
type Answer = BoxFuture<'static, Result<Value, WireError>>;

type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Result<Value, String>>>>>;

/// The calling end of the connection.
#[derive(Debug)]
pub(in crate::browser) struct Wire {
    out: mpsc::Sender<Message>,
    waiting: Waiting,
    next: AtomicU64,
    lost: watch::Receiver<bool>,
    local: SocketAddr,
    closed: Arc<AtomicBool>,
}

#[derive(Deserialize)]
struct Incoming {
    #[serde(default)]
    id: Option<u64>,
    #[serde(default)]
    result: Value,
    #[serde(default)]
    error: Option<IncomingError>,
}

#[derive(Deserialize)]
struct IncomingError {
    #[serde(default)]
    message: String,
}

impl Wire {
    /// Connects to a literal loopback address and starts reading. The URL is ours; nothing the browser said is followed.
    pub(in crate::browser) async fn connect(
        address: SocketAddr,
        url: &str,
    ) -> Result<(Self, mpsc::Receiver<Event>), WireError> {
        let stream = TcpStream::connect(address)
            .await
            .map_err(|_| WireError::Lost)?;
        stream.set_nodelay(true).map_err(|_| WireError::Lost)?;
        let local = stream.local_addr().map_err(|_| WireError::Lost)?;
        let config = WebSocketConfig::default()
            .max_message_size(Some(LARGEST_MESSAGE))
            .max_frame_size(Some(LARGEST_MESSAGE));
        let (socket, _) =
            client_async_with_config(url, MaybeTlsStream::Plain(stream), Some(config))
                .await
                .map_err(|_| WireError::Lost)?;
        let (events_in, events) = mpsc::channel(4_096);
        let (out, outgoing) = mpsc::channel(256);
        let (lost_in, lost) = watch::channel(false);
        let waiting = Waiting::default();
        let closed = Arc::new(AtomicBool::new(false));
        tokio::spawn(run(
            socket,
            outgoing,
            events_in,
            waiting.clone(),
            lost_in,
            closed.clone(),
        ));
        Ok((
            Self {
                out,
                waiting,
                next: AtomicU64::new(1),
                lost,
                local,
                closed,
            },
            events,
        ))
    }

    /// Our end of the socket, for the owner check.
    pub(in crate::browser) const fn local(&self) -> SocketAddr {
        self.local
    }

    /// True once the connection is gone.
    pub(in crate::browser) fn is_lost(&self) -> bool {
        *self.lost.borrow()
    }

    /// Completes when the connection is gone.
    pub(in crate::browser) async fn lost(&self) {
        let mut lost = self.lost.clone();
        let _ = lost.wait_for(|gone| *gone).await;
    }

    /// Calls a method of the closed list and reads its result.
    pub(in crate::browser) async fn call<T: DeserializeOwned>(
        &self,
        session: Option<&SessionId>,
        method: &impl Method,
        within: Duration,
    ) -> Result<T, WireError> {
        let (name, answer) = self.send(session, method, within).await?;
        serde_json::from_value(answer.await?).map_err(|_| WireError::Malformed(name))
    }

    /// Sends a call and returns its answer to come: what is sent in a row arrives in that order.
    pub(in crate::browser) async fn begin(
        &self,
        session: Option<&SessionId>,
        method: &impl Method,
        within: Duration,
    ) -> Result<Answer, WireError> {
        Ok(self.send(session, method, within).await?.1)
    }

    async fn send(
        &self,
        session: Option<&SessionId>,
        method: &impl Method,
        within: Duration,
    ) -> Result<(&'static str, Answer), WireError> {
        let mut message =
            serde_json::to_value(method).map_err(|_| WireError::Malformed("serialise"))?;
        drop_nulls(&mut message);
        let name = method_name(&message);
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        if let Value::Object(map) = &mut message {
            map.insert("id".to_owned(), json!(id));
            if let Some(session) = session {
                map.insert("sessionId".to_owned(), json!(session.as_str()));
            }
        }
        let (answer_in, answer) = oneshot::channel();
        lock(&self.waiting).insert(id, answer_in);
        let forget = Forget {
            waiting: Arc::clone(&self.waiting),
            id,
        };
        if self.closed.load(Ordering::Acquire) {
            return Err(WireError::Lost);
        }
        self.out
            .send(Message::text(message.to_string()))
            .await
            .map_err(|_| WireError::Lost)?;
        let answer = async move {
            let _forget = forget;
            match tokio::time::timeout(within, answer).await {
                Err(_) => {
                    // A constant's name: which call a silent tab left unanswered.
                    tracing::warn!("{name} was not answered within {within:?}");
                    Err(WireError::Timeout(name))
                }
                Ok(Err(_)) => Err(WireError::Lost),
                Ok(Ok(Err(why))) => Err(WireError::Refused(name, why)),
                Ok(Ok(Ok(value))) => Ok(value),
            }
        };
        Ok((name, Box::pin(answer)))
    }
}

/// A call that is dropped or times out leaves no entry behind.
struct Forget {
    waiting: Waiting,
    id: u64,
}

impl Drop for Forget {
    fn drop(&mut self) {
        lock(&self.waiting).remove(&self.id);
    }
}

fn lock(
    waiting: &Waiting,
) -> std::sync::MutexGuard<'_, HashMap<u64, oneshot::Sender<Result<Value, String>>>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

fn drop_nulls(message: &mut Value) {
    if let Some(params) = message.get_mut("params").and_then(Value::as_object_mut) {
        params.retain(|_, value| !value.is_null());
    }
}

/// The constant that a message's method name is; names come from the closed enums alone.
fn method_name(message: &Value) -> &'static str {
    let name = message
        .get("method")
        .and_then(Value::as_str)
        .unwrap_or_default();
    super::methods::Observe::NAMES
        .iter()
        .chain(super::methods::Protect::NAMES)
        .chain(super::input::ACTING)
        .find(|known| **known == name)
        .copied()
        .unwrap_or("(unknown)")
}

async fn run(
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    mut outgoing: mpsc::Receiver<Message>,
    events: mpsc::Sender<Event>,
    waiting: Waiting,
    lost: watch::Sender<bool>,
    closed: Arc<AtomicBool>,
) {
    let (mut sink, mut stream) = socket.split();
    loop {
        tokio::select! {
            message = outgoing.recv() => {
                let Some(message) = message else { break };
                if sink.send(message).await.is_err() { break }
            }
            message = stream.next() => {
                let Some(Ok(message)) = message else { break };
                let Message::Text(text) = message else { continue };
                if !take(&text, &waiting, &events) { break }
            }
        }
    }
    closed.store(true, Ordering::Release);
    lock(&waiting).clear();
    let _ = lost.send(true);
    let _ = sink.close().await;
}

/// Hands one message on; false where the reader of events is gone or hopelessly behind.
fn take(text: &str, waiting: &Waiting, events: &mpsc::Sender<Event>) -> bool {
    let Ok(incoming) = serde_json::from_str::<Incoming>(text) else {
        tracing::warn!("a message of the browser could not be read");
        return true;
    };
    if let Some(id) = incoming.id {
        if let Some(answer) = lock(waiting).remove(&id) {
            let _ = answer.send(match incoming.error {
                Some(error) => Err(error.message),
                None => Ok(incoming.result),
            });
        }
        return true;
    }
    match serde_json::from_str::<Event>(text) {
        Ok(event) => events.try_send(event).is_ok(),
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Values as a browser's messages hold them, and as they never should.
    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-zA-Z.\"\\\\\u{0}-\u{7f}]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::hash_map(
                    prop_oneof![
                        Just("id".to_owned()),
                        Just("method".to_owned()),
                        Just("params".to_owned()),
                        Just("result".to_owned()),
                        Just("error".to_owned()),
                        Just("sessionId".to_owned()),
                        Just("message".to_owned()),
                    ],
                    inner,
                    0..5
                )
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
            ]
        })
    }

    /// One call that waits for its answer, and the channel of events.
    struct Ends {
        waiting: Waiting,
        answer: oneshot::Receiver<Result<Value, String>>,
        events: mpsc::Sender<Event>,
        told: mpsc::Receiver<Event>,
    }

    fn ends() -> Ends {
        let waiting = Waiting::default();
        let (answer_in, answer) = oneshot::channel();
        lock(&waiting).insert(7, answer_in);
        let (events, told) = mpsc::channel(4);
        Ends {
            waiting,
            answer,
            events,
            told,
        }
    }

    proptest! {
        #[test]
        fn no_text_of_the_browser_s_breaks_the_wire(text in any::<String>()) {
            let mut ends = ends();
            prop_assert!(take(&text, &ends.waiting, &ends.events));
            prop_assert!(ends.answer.try_recv().is_err());
        }

        #[test]
        fn no_message_answers_a_call_but_its_own(message in any_json()) {
            let mut ends = ends();
            prop_assert!(take(&message.to_string(), &ends.waiting, &ends.events));
            let own = message.get("id").and_then(Value::as_u64) == Some(7);
            if ends.answer.try_recv().is_ok() {
                prop_assert!(own);
                prop_assert!(ends.told.try_recv().is_err(), "an answer is no event");
            }
        }
    }

    #[test]
    fn an_answer_goes_to_its_call_once() {
        let mut ends = ends();
        assert!(take(
            r#"{"id":7,"result":{"a":1}}"#,
            &ends.waiting,
            &ends.events
        ));
        assert_eq!(ends.answer.try_recv().unwrap(), Ok(json!({"a": 1})));
        assert!(take(
            r#"{"id":7,"result":{"a":2}}"#,
            &ends.waiting,
            &ends.events
        ));
        assert!(ends.told.try_recv().is_err());
    }

    #[test]
    fn a_reader_that_is_behind_ends_the_connection() {
        let ends = ends();
        let event = r#"{"method":"Page.frameNavigated","params":{}}"#;
        for _ in 0..4 {
            assert!(take(event, &ends.waiting, &ends.events));
        }
        assert!(!take(event, &ends.waiting, &ends.events));
    }
}
