//! Answers the protocol's requests: lists the tools the profile grants, parses arguments, and sends each call down the line.

use std::time::{Duration, Instant};

use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::arguments as args;
use super::tools::{INSTRUCTIONS, Name, Row, TABLE, digest};
use crate::domain::site::Origin;
use crate::domain::tier::Tier;
use crate::error::{Code, Detail, Refusal};
use crate::flow::act::act;
use crate::flow::look::{observe, stored, wait_for};
use crate::flow::session::Session;
use crate::gate::consent::Ask;
use crate::journal::CallRecord;
use crate::policy::profile::{Profile, SiteDecision};
use crate::reply::redact::statement;
use crate::reply::reply::Reply;

/// How often a client that waits for the person is told that the window is still open.
const PROGRESS: Duration = Duration::from_secs(5);

/// The server's end of the protocol.
#[derive(Debug)]
pub struct Handler<A> {
    session: Session<A>,
    tools: Vec<&'static Row>,
}

/// The tools that some site of the profile grants.
#[must_use]
pub(super) fn granted(profile: &Profile) -> Vec<&'static Row> {
    TABLE
        .iter()
        .filter(|row| profile.grants_anywhere(row.tier))
        .collect()
}

/// Their names, for suggestions.
#[must_use]
pub fn tool_names(profile: &Profile) -> Vec<&'static str> {
    granted(profile).into_iter().map(|row| row.wire).collect()
}

impl<A: Ask + std::fmt::Debug + 'static> Handler<A> {
    /// Serves a session.
    #[must_use]
    pub fn new(session: Session<A>) -> Self {
        let tools = granted(session.profile());
        Self { session, tools }
    }

    /// Begins a call of a tool that some site grants, in a task of its own: a panic becomes a refusal, and a caller that
    /// goes away leaves nothing half-done.
    pub(crate) fn begin(
        &self,
        tool: &str,
        arguments: Value,
        cancelled: CancellationToken,
    ) -> Option<Begun<A>> {
        let row = self.tools.iter().find(|row| row.wire == tool)?;
        let session = self.session.share();
        let work = Self::call(session.share(), row, arguments, cancelled.clone());
        Some(Begun {
            session,
            row,
            cancelled,
            work: tokio::spawn(work),
        })
    }

    async fn call(
        session: Session<A>,
        row: &'static Row,
        arguments: Value,
        cancelled: CancellationToken,
    ) -> Reply {
        crate::checkpoint::reached(row.wire);
        let parsed = match row.name {
            Name::Status => {
                return match read::<args::NoArguments>(arguments) {
                    Ok(_) => status(&session).await,
                    Err(refusal) => session.refuse(CallRecord::new(row.wire), refusal),
                };
            }
            Name::ListTabs => {
                return match read::<args::NoArguments>(arguments) {
                    Ok(_) => list_tabs(&session).await,
                    Err(refusal) => session.refuse(CallRecord::new(row.wire), refusal),
                };
            }
            Name::Observe => {
                return match read::<args::ObserveTab>(arguments) {
                    Ok(wanted) => observe(&session, wanted.parse()).await,
                    Err(refusal) => session.refuse(CallRecord::new(row.wire), refusal),
                };
            }
            Name::Find => {
                return match read::<args::FindIn>(arguments).and_then(args::FindIn::parse) {
                    Ok((id, question)) => stored(&session, id, &question),
                    Err(refusal) => session.refuse(CallRecord::new(row.wire), refusal),
                };
            }
            Name::Read => {
                return match read::<args::ReadIn>(arguments).and_then(args::ReadIn::parse) {
                    Ok((id, question)) => stored(&session, id, &question),
                    Err(refusal) => session.refuse(CallRecord::new(row.wire), refusal),
                };
            }
            Name::WaitFor => {
                let usual = session.profile().limits().wait_seconds();
                return match read::<args::WaitFor>(arguments).and_then(|wait| wait.parse(usual)) {
                    Ok((tab, wanted, within)) => wait_for(&session, tab, wanted, within).await,
                    Err(refusal) => session.refuse(CallRecord::new(row.wire), refusal),
                };
            }
            Name::OpenTab => read::<args::OpenTab>(arguments).and_then(args::OpenTab::parse),
            Name::Navigate => read::<args::Navigate>(arguments).and_then(args::Navigate::parse),
            Name::CloseTab => read::<args::CloseTab>(arguments).map(args::CloseTab::parse),
            Name::Click => read::<args::Click>(arguments).map(args::Click::parse),
            Name::Fill => read::<args::Fill>(arguments).map(args::Fill::parse),
            Name::SelectOption => {
                read::<args::SelectOption>(arguments).and_then(args::SelectOption::parse)
            }
            Name::PressKey => read::<args::PressKey>(arguments).and_then(args::PressKey::parse),
            Name::Scroll => read::<args::Scroll>(arguments).and_then(args::Scroll::parse),
        };
        match parsed {
            Ok(call) => act(&session, call, &cancelled).await,
            Err(refusal) => session.refuse(CallRecord::new(row.wire), refusal),
        }
    }
}

/// A call under way.
#[derive(Debug)]
pub(crate) struct Begun<A> {
    session: Session<A>,
    row: &'static Row,
    cancelled: CancellationToken,
    work: JoinHandle<Reply>,
}

impl<A: Ask + 'static> Begun<A> {
    /// Its reply, once.
    pub(crate) async fn reply(&mut self) -> Reply {
        let reply = (&mut self.work).await;
        reply.unwrap_or_else(|_| {
            self.session.refuse(
                CallRecord::new(self.row.wire),
                Refusal::new(Code::Internal).having(crate::error::Effect::Possible),
            )
        })
    }

    /// Withdraws it. `true` where that ends it at once, as a reading does: there is no reply then. An action is stopped
    /// before its press or not at all, and its reply says which.
    pub(crate) fn withdraw(&self) -> bool {
        self.cancelled.cancel();
        let reading = self.row.tier == Tier::Read;
        if reading {
            self.work.abort();
        }
        reading
    }
}

impl<A: Ask + std::fmt::Debug + 'static> ServerHandler for Handler<A> {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("countersign", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(INSTRUCTIONS.to_owned());
        info
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(
            self.tools.iter().map(|row| row.definition()).collect(),
        ))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools
            .iter()
            .find(|row| row.wire == name)
            .map(|row| row.definition())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let Some(mut work) = self.begin(&request.name, arguments, context.ct.clone()) else {
            return Err(ErrorData::invalid_params(
                "there is no such tool; list the tools",
                None,
            ));
        };
        let begun = Instant::now();
        let reply = loop {
            tokio::select! {
                reply = work.reply() => break reply,
                () = tokio::time::sleep(PROGRESS) => progress(&context, begun).await,
            }
        };
        Ok(result(&reply).into())
    }
}

async fn progress(context: &RequestContext<RoleServer>, begun: Instant) {
    if let Some(token) = context.meta.get_progress_token() {
        let elapsed = begun.elapsed().as_secs_f64();
        let told = ProgressNotificationParam::new(token, elapsed).with_message("still under way");
        let _ = context.peer.notify_progress(told).await;
    }
}

fn result(reply: &Reply) -> CallToolResult {
    let mut content = vec![ContentBlock::text(reply.body().to_string())];
    if let Some(image) = reply.image() {
        content.push(ContentBlock::image(image, "image/png"));
    }
    let mut result = if reply.is_refusal() {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    result.structured_content = Some(reply.body().clone());
    result
}

fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, Refusal> {
    // The parser's message names fields and types; it may quote a value, so it goes to the operator's log alone.
    serde_json::from_value(arguments).map_err(|_| {
        Refusal::new(Code::ArgumentsInvalid).with(Detail::Argument(
            "arguments",
            "exactly the arguments of the tool's input schema, with their types",
        ))
    })
}

/// What this session may do.
async fn status<A: Ask + 'static>(session: &Session<A>) -> Reply {
    let mut server = Map::new();
    session.watch_port().await;
    let profile = session.profile();
    let sites: Vec<Value> = profile
        .sites()
        .iter()
        .map(|site| json!({"site": site.rule().to_string(), "tiers": site.tiers().iter().map(|t| t.name()).collect::<Vec<_>>()}))
        .collect();
    let (actions, navigations) = session.left();
    server.insert(
        "program".to_owned(),
        json!(concat!("countersign ", env!("CARGO_PKG_VERSION"))),
    );
    server.insert("sites".to_owned(), json!(sites));
    server.insert("actions_left".to_owned(), json!(actions));
    server.insert("navigations_left".to_owned(), json!(navigations));
    server.insert("asks_by".to_owned(), json!(session.means().await.name()));
    server.insert(
        "tools_sha256".to_owned(),
        json!(digest(granted(profile).into_iter()).hex()),
    );
    server.insert("profile_sha256".to_owned(), json!(profile.digest().hex()));
    if session.foreign_peer() {
        server.insert(
            "foreign_peer".to_owned(),
            json!("another program was seen on the browser's port; locked actions are refused"),
        );
    }
    let refused = session.refused_classes();
    if !refused.is_empty() {
        server.insert("refused_classes".to_owned(), json!(refused));
    }
    match session.browser().await {
        Ok(browser) => server.insert("browser".to_owned(), json!({"connected": true, "tabs": browser.tabs().len()})),
        Err(refusal) => server.insert(
            "browser".to_owned(),
            json!({"connected": false, "code": refusal.code().as_str(), "message": refusal.code().message()}),
        ),
    };
    told(session, server, Map::new())
}

/// The session's tabs; addresses of tabs that may not be read are left out.
async fn list_tabs<A: Ask + 'static>(session: &Session<A>) -> Reply {
    let tabs = match session.tabs().await {
        Ok(tabs) => tabs,
        Err(refusal) => return session.refuse(CallRecord::new("list_tabs"), refusal),
    };
    let mut server = Map::new();
    let mut page = Map::new();
    let mut listed = Vec::new();
    for (tab, origin, url, loading) in tabs {
        let readable = match &origin {
            Origin::Site(site) => {
                session.profile().decide(site, Tier::Read) == SiteDecision::Granted
            }
            Origin::Blank | Origin::Opaque => false,
        };
        listed.push(json!({"tab": tab, "origin": origin.to_string(), "readable": readable, "loading": loading}));
        if readable {
            page.insert(
                tab.to_string(),
                json!({"url": session.known().on(&origin).clean(url.split(['?', '#']).next().unwrap_or_default())}),
            );
        }
    }
    server.insert("tabs".to_owned(), Value::Array(listed));
    told(session, server, page)
}

fn told<A: Ask + 'static>(
    session: &Session<A>,
    mut server: Map<String, Value>,
    page: Map<String, Value>,
) -> Reply {
    server.insert("outcome".to_owned(), json!("done"));
    session.state(statement(server, page))
}
