//! An MCP client over stdio that keeps every byte the server writes, and holds each line to the protocol.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use base64::Engine as _;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde_json::{Value, json};

use super::PATIENCE;

/// The revision that [`Client::connect`] asks for.
pub(crate) const REVISION: &str = "2025-11-25";

#[derive(Default)]
struct Heard {
    bytes: Vec<u8>,
    replies: HashMap<u64, Value>,
    /// Replies without an id, or with one that is not ours: errors about lines that could not be read.
    stray: Vec<Value>,
    notifications: Vec<Value>,
    /// Requests of the server, such as `ping` or `elicitation/create`.
    requests: Vec<Value>,
    /// Lines that are no JSON-RPC message, each with the reason.
    broken: Vec<String>,
    closed: bool,
}

#[derive(Default)]
struct Ear {
    heard: Mutex<Heard>,
    change: Condvar,
}

/// A running server with this client on its standard input and output.
pub(crate) struct Client {
    server: Child,
    input: Option<ChildStdin>,
    ear: Arc<Ear>,
    readers: Vec<JoinHandle<()>>,
    errors: Arc<Mutex<Vec<u8>>>,
    next: u64,
    killed: bool,
}

impl Client {
    /// Starts the server; says nothing yet.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut server = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let ear = Arc::new(Ear::default());
        let output = server.stdout.take().unwrap();
        let mut noise = server.stderr.take().unwrap();
        let errors = Arc::new(Mutex::new(Vec::new()));
        let listening = {
            let ear = Arc::clone(&ear);
            std::thread::spawn(move || {
                let mut output = BufReader::new(output);
                loop {
                    let mut line = Vec::new();
                    let end = output.read_until(b'\n', &mut line).map_or(true, |n| n == 0);
                    ear.heard.lock().unwrap().take_line(&line, end);
                    ear.change.notify_all();
                    if end {
                        return;
                    }
                }
            })
        };
        let collecting = {
            let errors = Arc::clone(&errors);
            std::thread::spawn(move || {
                let mut part = [0; 4096];
                while let Ok(n @ 1..) = noise.read(&mut part) {
                    errors.lock().unwrap().extend_from_slice(&part[..n]);
                }
            })
        };
        Self {
            input: server.stdin.take(),
            server,
            ear,
            readers: vec![listening, collecting],
            errors,
            next: 0,
            killed: false,
        }
    }

    /// Starts the server and initialises the session.
    pub(crate) fn connect(command: Command) -> Self {
        let mut client = Self::start(command);
        client.initialize(REVISION);
        client
    }

    /// Initialises with a protocol revision and returns the server's result.
    pub(crate) fn initialize(&mut self, revision: &str) -> Value {
        let result = self.request(
            "initialize",
            json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "countersign-tests", "version": "1"}}),
        );
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        result
    }

    /// Sends a request and waits for its result; an error of the protocol fails the test.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        let reply = self.wait(id, PATIENCE);
        reply
            .get("result")
            .unwrap_or_else(|| panic!("{method}: {reply}"))
            .clone()
    }

    /// Sends a request and returns its id, to be waited for or cancelled.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Begins a tool call.
    pub(crate) fn begin_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.begin(
            "tools/call",
            json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": self.next + 1}}),
        )
    }

    /// The reply to a request, within a deadline: the whole message.
    pub(crate) fn wait(&self, id: u64, deadline: Duration) -> Value {
        self.wait_until(&format!("a reply to request {id}"), deadline, |heard| {
            heard.replies.remove(&id)
        })
    }

    /// The reply to a tool call that was begun.
    pub(crate) fn wait_call(&self, id: u64, deadline: Duration) -> Reply {
        let reply = self.wait(id, deadline);
        let result = reply.get("result");
        Reply(result.unwrap_or_else(|| panic!("{reply}")).clone())
    }

    /// Calls a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Reply {
        self.call_within(PATIENCE, tool, arguments)
    }

    /// Calls a tool that may take longer, such as one that asks a person.
    pub(crate) fn call_within(
        &mut self,
        deadline: Duration,
        tool: &str,
        arguments: Value,
    ) -> Reply {
        let id = self.begin_call(tool, arguments);
        self.wait_call(id, deadline)
    }

    /// The names of the tools on offer.
    pub(crate) fn tools(&mut self) -> Vec<String> {
        let result = self.request("tools/list", json!({}));
        let tools = result["tools"].as_array().unwrap();
        tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Withdraws a request.
    pub(crate) fn cancel(&mut self, id: u64) {
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "test"}}));
    }

    /// Waits for a notification of a method, and takes it.
    pub(crate) fn notification(&self, method: &str) -> Value {
        self.wait_until(method, PATIENCE, |heard| {
            let at = heard
                .notifications
                .iter()
                .position(|note| note["method"] == method)?;
            Some(heard.notifications.remove(at))
        })
    }

    /// Waits for a message that answers no request of ours, and takes it: an error about an unreadable line.
    pub(crate) fn stray_reply(&self) -> Value {
        self.wait_until("a reply without a request", PATIENCE, |heard| {
            (!heard.stray.is_empty()).then(|| heard.stray.remove(0))
        })
    }

    /// The requests of the server so far.
    pub(crate) fn requests_of_server(&self) -> Vec<Value> {
        self.ear.heard.lock().unwrap().requests.clone()
    }

    /// Writes one message.
    pub(crate) fn send(&mut self, message: &Value) {
        let mut line = message.to_string().into_bytes();
        line.push(b'\n');
        self.send_bytes(&line);
    }

    /// Writes bytes as they are.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("standard input is still open");
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    /// The server's process.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.server)
    }

    /// Everything the server wrote to standard output.
    pub(crate) fn output(&self) -> Vec<u8> {
        self.ear.heard.lock().unwrap().bytes.clone()
    }

    /// What it wrote to standard error so far.
    pub(crate) fn errors(&self) -> String {
        String::from_utf8_lossy(&self.errors.lock().unwrap()).into_owned()
    }

    /// Closes the server's standard input.
    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// Sends a signal to the server.
    pub(crate) fn signal(&mut self, signal: Signal) {
        self.killed |= signal == Signal::KILL;
        kill_process(self.pid(), signal).unwrap();
    }

    /// Kills it without warning and waits for its end.
    pub(crate) fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.wait_end(PATIENCE);
    }

    /// Waits for the server's end within a deadline, and checks all it wrote.
    pub(crate) fn wait_end(&mut self, deadline: Duration) -> ExitStatus {
        let status = match self.server.try_wait().unwrap() {
            Some(status) => status,
            None => {
                let ended = pidfd_open(self.pid(), PidfdFlags::empty()).unwrap();
                let timeout = Timespec {
                    tv_sec: i64::try_from(deadline.as_secs()).unwrap(),
                    tv_nsec: i64::from(deadline.subsec_nanos()),
                };
                let mut ready = [PollFd::new(&ended, PollFlags::IN)];
                poll(&mut ready, Some(&timeout)).unwrap();
                self.server
                    .try_wait()
                    .unwrap()
                    .unwrap_or_else(|| panic!("the server is still there after {deadline:?}"))
            }
        };
        // Helpers that the server left behind would keep its output open: that is a fault of its own.
        self.wait_until("the end of standard output", PATIENCE, |heard| {
            heard.closed.then_some(())
        });
        self.assert_clean();
        status
    }

    /// Ends the session as a client does: closes standard input; the server must be gone within 2 s (security P4).
    pub(crate) fn finish(mut self) -> ExitStatus {
        self.close_input();
        self.wait_end(Duration::from_secs(2))
    }

    /// Every line so far was one message of the protocol.
    pub(crate) fn assert_clean(&self) {
        let heard = self.ear.heard.lock().unwrap();
        let mut broken = heard.broken.clone();
        if self.killed {
            // A write that was cut by our own SIGKILL may end in the middle of its line; no other line may be broken.
            broken.retain(|reason| !reason.starts_with(CUT));
        }
        assert!(
            broken.is_empty(),
            "standard output is not the protocol's alone: {broken:#?}"
        );
    }

    fn wait_until<T>(
        &self,
        what: &str,
        deadline: Duration,
        mut found: impl FnMut(&mut Heard) -> Option<T>,
    ) -> T {
        let end = Instant::now() + deadline;
        let mut heard = self.ear.heard.lock().unwrap();
        loop {
            if let Some(found) = found(&mut heard) {
                return found;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero() && !heard.closed,
                "in vain: {what} (server {}); standard error: {}",
                if heard.closed { "closed" } else { "silent" },
                self.errors()
            );
            heard = self.ear.change.wait_timeout(heard, left).unwrap().0;
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.input = None;
        // A test that wanted an orderly end has called `finish`; here it may have failed in the middle.
        if matches!(self.server.try_wait(), Ok(None)) {
            self.killed = true;
            let _ = self.server.kill();
        }
        let _ = self.server.wait();
        if std::thread::panicking() {
            eprintln!("standard error of the server:\n{}", self.errors());
        } else {
            self.assert_clean();
        }
    }
}

const CUT: &str = "no end of line";

impl Heard {
    fn take_line(&mut self, line: &[u8], end: bool) {
        self.bytes.extend_from_slice(line);
        self.closed |= end;
        if line.is_empty() {
            return;
        }
        match message(line) {
            Ok(Message::Reply(Some(id), reply)) => {
                if let Some(twice) = self.replies.insert(id, reply) {
                    self.broken
                        .push(format!("request {id} was answered twice: {twice}"));
                }
            }
            Ok(Message::Reply(None, reply)) => self.stray.push(reply),
            Ok(Message::Notification(note)) => self.notifications.push(note),
            Ok(Message::Request(request)) => self.requests.push(request),
            Err(reason) => {
                let start = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
                self.broken.push(format!("{reason}: {start}"));
            }
        }
    }
}

#[derive(Debug)]
pub(crate) enum Message {
    Reply(Option<u64>, Value),
    Notification(Value),
    Request(Value),
}

/// Reads one line as one JSON-RPC 2.0 message.
pub(crate) fn message(line: &[u8]) -> Result<Message, &'static str> {
    let line = line.strip_suffix(b"\n").ok_or(CUT)?;
    let value: Value = serde_json::from_slice(line).map_err(|_| "not JSON")?;
    let object = value.as_object().ok_or("not an object")?;
    if object.get("jsonrpc") != Some(&json!("2.0")) {
        return Err("not JSON-RPC 2.0");
    }
    let (method, id) = (object.get("method"), object.get("id"));
    let answers =
        usize::from(object.contains_key("result")) + usize::from(object.contains_key("error"));
    match (method, id, answers) {
        (Some(Value::String(_)), None, 0) => Ok(Message::Notification(value)),
        (Some(Value::String(_)), Some(_), 0) => Ok(Message::Request(value)),
        (None, id, 1) => Ok(Message::Reply(id.and_then(Value::as_u64), value)),
        _ => Err("neither request, notification nor reply"),
    }
}

/// The result of a tool call.
#[derive(Debug, Clone)]
pub(crate) struct Reply(pub(crate) Value);

impl Reply {
    /// The structured reply: `structuredContent`, or else the first text read as JSON.
    fn body(&self) -> Value {
        if let Some(body) = self.0.get("structuredContent") {
            return body.clone();
        }
        let text = self.0["content"]
            .as_array()
            .and_then(|all| all.iter().find_map(|part| part["text"].as_str()));
        serde_json::from_str(text.unwrap_or_else(|| panic!("no text in {}", self.0)))
            .unwrap_or_else(|_| panic!("the text is not JSON: {}", self.0))
    }

    /// True for a refusal.
    pub(crate) fn is_refusal(&self) -> bool {
        self.0["isError"] == json!(true)
    }

    /// What the server asserts; the call must have succeeded.
    pub(crate) fn server(&self) -> Value {
        assert!(!self.is_refusal(), "refused: {}", self.0);
        self.body()["server"].clone()
    }

    /// What the page wrote; the call must have succeeded.
    pub(crate) fn page(&self) -> Value {
        assert!(!self.is_refusal(), "refused: {}", self.0);
        self.body()["page_content"].clone()
    }

    /// The refusal: `{code, message, suggestion, retryable, effect, details?}`; the call must have been refused.
    pub(crate) fn refusal(&self) -> Value {
        assert!(self.is_refusal(), "not refused: {}", self.0);
        let body = self.body();
        let refusal = body
            .get("error")
            .or_else(|| body.get("refusal"))
            .unwrap_or(&body);
        for field in ["code", "message", "suggestion", "retryable", "effect"] {
            assert!(refusal.get(field).is_some(), "no {field} in {refusal}");
        }
        refusal.clone()
    }

    /// The refusal's code, such as `S301`.
    pub(crate) fn code(&self) -> String {
        self.refusal()["code"].as_str().unwrap().to_owned()
    }

    /// The picture, decoded from base64, with its media type.
    pub(crate) fn image(&self) -> Option<(String, Vec<u8>)> {
        let parts = self.0["content"].as_array()?;
        let image = parts.iter().find(|part| part["type"] == "image")?;
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(image["data"].as_str()?)
            .unwrap();
        Some((image["mimeType"].as_str()?.to_owned(), bytes))
    }
}
