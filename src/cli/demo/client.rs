//! The demo's client: the protocol library's own, with the real server as its child.

#![allow(
    clippy::indexing_slicing,
    reason = "a JSON value that lacks a member answers null, it does not panic"
)]

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use base64::Engine as _;
use rmcp::ServiceExt as _;
use rmcp::model::{CallToolRequestParams, ContentBlock};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::TokioChildProcess;
use serde_json::{Map, Value};
use tokio::process::Command;

use super::story::Broken;

/// How long the server may take to end.
const ENDING: Duration = Duration::from_secs(5);
/// The longest that a server's request to slow down is followed.
const LONGEST_PAUSE: u64 = 5_000;

/// A connected client.
pub(super) struct Client {
    running: RunningService<RoleClient, ()>,
    last_receipt: Option<String>,
}

/// What a tool answered.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) body: Value,
    pub(super) picture: Option<Vec<u8>>,
    refused: bool,
}

impl Client {
    /// Starts `countersign serve` and initialises the session.
    pub(super) async fn start(program: &Path, home: &Path) -> Result<Self, Broken> {
        let mut command = Command::new(program);
        command.args(["serve", "--home"]).arg(home);
        let (transport, _) = TokioChildProcess::builder(command)
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(|error| Broken::new("the server could not be started").because(error))?;
        let running = ()
            .serve(transport)
            .await
            .map_err(|error| Broken::new("the session could not be begun").because(error))?;
        Ok(Self {
            running,
            last_receipt: None,
        })
    }

    /// How many tools are on offer.
    pub(super) async fn tools(&self) -> Result<usize, Broken> {
        let tools = self.running.list_all_tools().await;
        tools
            .map(|tools| tools.len())
            .map_err(|error| Broken::new("the tools could not be listed").because(error))
    }

    /// Calls a tool, and waits as the server asks where calls come too fast.
    pub(super) async fn call(
        &mut self,
        tool: &'static str,
        arguments: Value,
    ) -> Result<Said, Broken> {
        let arguments = match arguments {
            Value::Object(arguments) => arguments,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Map::new(),
        };
        loop {
            let asked = CallToolRequestParams::new(tool).with_arguments(arguments.clone());
            let result = self.running.call_tool(asked).await;
            let result = result
                .map_err(|error| Broken::new(format!("{tool} got no reply")).because(error))?;
            let said = Said {
                body: result.structured_content.unwrap_or_default(),
                refused: result.is_error == Some(true),
                picture: result.content.iter().find_map(picture),
            };
            if let Some(receipt) = said.server("receipt").as_str() {
                self.last_receipt = Some(receipt.to_owned());
            }
            let pause = said.body.pointer("/details/retry_after_ms");
            match pause.and_then(Value::as_u64) {
                Some(pause) if said.refused => {
                    tokio::time::sleep(Duration::from_millis(pause.min(LONGEST_PAUSE))).await;
                }
                Some(_) | None => return Ok(said),
            }
        }
    }

    /// The receipt of the last reply.
    pub(super) fn last_receipt(&self) -> Option<&str> {
        self.last_receipt.as_deref()
    }

    /// Ends the session: the server's standard input is closed and its end waited for.
    pub(super) async fn end(mut self) -> Result<(), Broken> {
        match self.running.close_with_timeout(ENDING).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(Broken::new("the server did not end in time")),
            Err(error) => Err(Broken::new("the client failed").because(error)),
        }
    }
}

fn picture(block: &ContentBlock) -> Option<Vec<u8>> {
    let image = block.as_image()?;
    base64::engine::general_purpose::STANDARD
        .decode(&image.data)
        .ok()
}

impl Said {
    /// The reply of a call that was done.
    pub(super) fn done(self, tool: &str) -> Result<Self, Broken> {
        if self.refused {
            let message = self.body["message"].as_str().unwrap_or_default();
            return Err(Broken::new(format!(
                "{tool} was refused ({}): {message}",
                self.code()
            )));
        }
        Ok(self)
    }

    /// The code of a refusal, or nothing.
    pub(super) fn code(&self) -> &str {
        if self.refused {
            self.body["code"].as_str().unwrap_or("?")
        } else {
            ""
        }
    }

    /// What the server asserts under a name.
    pub(super) fn server(&self, name: &str) -> &Value {
        &self.body["server"][name]
    }

    /// The lines of the page, as far as the reply holds them.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        ["text", "changed", "added"]
            .into_iter()
            .filter_map(|name| self.body["page_content"][name].as_array())
            .flatten()
            .filter_map(Value::as_str)
    }

    /// The number of the mark that is written so: `link "Linen shirt"`.
    pub(super) fn mark(&self, written: &str) -> Result<u64, Broken> {
        let found = self.lines().find_map(|line| {
            let (before, _) = line.split_once(&format!("] {written}"))?;
            before.rsplit_once('[')?.1.parse().ok()
        });
        found.ok_or_else(|| {
            let lines: Vec<&str> = self.lines().collect();
            Broken::new(format!("the page has no mark {written}")).because(lines.join("\n    "))
        })
    }
}
