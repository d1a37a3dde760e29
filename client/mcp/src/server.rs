//! Answers an MCP client: tools, resources and prompts.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use afd_link::outcome::Outcome;
use afd_link::{agent, safe};
use afd_proto::artifact::ArtifactGet;
use afd_proto::findings::{BugList, BugShow, ResultList};
use afd_proto::memory::MemoryLog;
use afd_proto::progress::SessionResume;
use afd_proto::session::{SessionReport, SessionShow};
use afd_proto::tool::{INSTRUCTIONS, Tool, Toolset};
use afd_proto::{Effect, Method, MethodInfo};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams, GetPromptResponse,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ResourceContents, Role, ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter,
    ToolAnnotations, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;

use crate::arguments::Refused;
use crate::daemon::{Daemon, LeaseConnection};
use crate::follow::Following;
use crate::names::{self, Name};
use crate::{arguments, fixtures, hints, prompts, resources, schema};

/// Maximum number of actions and results in a session's record.
const MAX_RECORDED: u32 = 30;
/// Maximum number of bugs whose details and steps are included in a session's record.
const MAX_BUGS: usize = 10;

/// The bridge for a single client.
pub struct Bridge {
    daemon: Arc<Daemon>,
    toolsets: Vec<Toolset>,
    /// Whether the fixtures of the conformance suite are offered.
    fixtures: bool,
    directory: Option<PathBuf>,
    session: OnceLock<Name>,
    /// Session that the client has resumed, if any.
    resumed: Mutex<Option<String>>,
    /// Connection for the leases of clients without a protocol session. Each request from such a client uses its own
    /// HTTP connection, so these leases end only when they expire or when this program exits.
    shared_leases: Arc<LeaseConnection>,
    leases: LeaseConnection,
    following: OnceLock<Arc<Following>>,
    /// Task that notifies the client of changed resources.
    telling: Mutex<Option<JoinHandle<()>>>,
}

impl Drop for Bridge {
    fn drop(&mut self) {
        if let Some(task) = self.telling.lock().ok().and_then(|mut task| task.take()) {
            task.abort();
        }
    }
}

impl Bridge {
    /// Creates a bridge for one client.
    pub fn new(daemon: Arc<Daemon>, toolsets: Vec<Toolset>, shared_leases: Arc<LeaseConnection>) -> Self {
        Self {
            daemon,
            toolsets,
            fixtures: fixtures::are_offered(),
            directory: std::env::current_dir().ok(),
            shared_leases,
            session: OnceLock::new(),
            resumed: Mutex::default(),
            leases: LeaseConnection::default(),
            following: OnceLock::new(),
            telling: Mutex::default(),
        }
    }

    /// Returns the session name for a request: the session that the client resumed, else the one given on the command
    /// line, else a name derived from the client and the directory. Clients that are connected at the same time get
    /// different derived names, except clients without a protocol session.
    fn session(&self, context: &RequestContext<RoleServer>) -> String {
        if let Some(resumed) = self.resumed.lock().ok().and_then(|resumed| resumed.clone()) {
            return resumed;
        }
        if let Some(session) = self.daemon.session() {
            return session.to_owned();
        }
        let client = context.client_info().map(|info| info.name).unwrap_or_default();
        if is_stateless(context) {
            return names::of(&client, self.directory.as_deref());
        }
        let known = |name: &str| self.daemon.knows_session(name);
        self.session.get_or_init(|| names::free(&client, self.directory.as_deref(), known)).as_str().to_owned()
    }

    fn leases(&self, context: &RequestContext<RoleServer>) -> &LeaseConnection {
        if is_stateless(context) { &self.shared_leases } else { &self.leases }
    }

    /// Switches this client to another session.
    fn resume(&self, session: &str) {
        if let Ok(mut resumed) = self.resumed.lock() {
            *resumed = Some(session.to_owned());
        }
    }

    fn tools(&self) -> impl Iterator<Item = (&'static Tool, &'static MethodInfo)> {
        let marked = afd_proto::methods().filter_map(|info| Some((info.tool?, info)));
        marked.filter(|(tool, _)| self.toolsets.contains(&tool.toolset))
    }

    async fn call(
        &self,
        info: &'static MethodInfo,
        params: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Outcome {
        self.daemon.call(info, params, &self.session(context), self.leases(context), context).await
    }

    async fn read(&self, uri: &str, context: &RequestContext<RoleServer>) -> Result<ResourceContents, ErrorData> {
        let unknown = || ErrorData::resource_not_found(format!("no such resource: {uri:?}"), Some(json!({"uri": uri})));
        let source = resources::source(uri).ok_or_else(unknown)?;
        let info = afd_proto::method(source.info.name).ok_or_else(unknown)?;
        let is_session = info.name == SessionShow::INFO.name;
        let named = source.params.get("session").cloned();
        let outcome = self.call(info, source.params, context).await;
        let data: Value = match &outcome.result {
            Ok(data) => serde_json::from_str(data.get()).unwrap_or_default(),
            // Nothing has been recorded for this session yet.
            Err(failure) if failure.code == "NOT_FOUND" && uri == resources::SESSION => {
                return Ok(ResourceContents::text("nothing has been recorded for this session yet", uri)
                    .with_mime_type(source.mime_type));
            }
            Err(failure) if failure.code == "NOT_FOUND" => {
                return Err(ErrorData::resource_not_found(
                    failure.message.clone(),
                    Some(json!({"uri": uri, "hint": failure.hint})),
                ));
            }
            Err(failure) => {
                return Err(ErrorData::internal_error(agent::text(&outcome), Some(json!({"code": failure.code}))));
            }
        };
        let mime = data["mimeType"].as_str();
        if let Some(blob) = data["base64"].as_str() {
            return Ok(ResourceContents::blob(blob, uri).with_mime_type(mime.unwrap_or("application/octet-stream")));
        }
        let text = ["outline", "graph", "text"].iter().find_map(|key| data[*key].as_str()).map(str::to_owned);
        let text = text.unwrap_or_else(|| agent::text(&outcome));
        // The observed page may be outdated.
        let text = match (data["seenBy"].as_str(), data["outdated"].as_bool()) {
            (Some(session), Some(true)) => {
                format!("seen by session {session:?} before the last action: outdated, look again\n{text}")
            }
            (Some(session), _) => format!("seen by session {session:?}; no action was sent to the phone since\n{text}"),
            _ => text,
        };
        let text = if is_session { text + &self.record(named.as_ref(), context).await } else { text };
        Ok(ResourceContents::text(text, uri).with_mime_type(source.mime_type))
    }

    /// Returns the text of the report that a call wrote.
    async fn report(&self, written: &Outcome, context: &RequestContext<RoleServer>) -> Option<ContentBlock> {
        let written: Value = serde_json::from_str(written.result.as_ref().ok()?.get()).ok()?;
        let params = json!({"id": written["artifactId"].as_i64()?, "content": true});
        let outcome = self.call(&ArtifactGet::INFO, params.as_object().cloned()?, context).await;
        let file: Value = serde_json::from_str(outcome.result.ok()?.get()).ok()?;
        file["text"].as_str().map(|text| ContentBlock::text(safe::block(text)))
    }

    /// Returns what a session's record contains in addition to its digest: its latest actions and checks, its bugs with
    /// their steps, and its test results.
    async fn record(&self, session: Option<&Value>, context: &RequestContext<RoleServer>) -> String {
        let session = session.cloned().unwrap_or_else(|| json!(self.session(context)));
        let with = |more: (&str, Value)| {
            Map::from_iter([("session".to_owned(), session.clone()), (more.0.to_owned(), more.1)])
        };
        let list = || with(("limit", json!(MAX_RECORDED)));
        let mut text = String::new();
        let log = self.call(&MemoryLog::INFO, list(), context).await;
        let bugs = self.call(&BugList::INFO, list(), context).await;
        let results = self.call(&ResultList::INFO, list(), context).await;
        let listed: Value = bugs.result.ok().and_then(|bugs| serde_json::from_str(bugs.get()).ok()).unwrap_or_default();
        let mut parts = vec![("latest actions and checks", log)];
        for bug in listed["bugs"].as_array().into_iter().flatten().take(MAX_BUGS) {
            parts.push(("bug", self.call(&BugShow::INFO, with(("id", bug["id"].clone())), context).await));
        }
        parts.push(("results", results));
        for (title, outcome) in parts.iter().filter(|(_, outcome)| outcome.result.is_ok()) {
            let _ = write!(text, "\n\n{title}:\n{}", agent::text(outcome));
        }
        text
    }

    /// Returns the client's resource subscriptions.
    fn following(&self, context: &RequestContext<RoleServer>) -> &Arc<Following> {
        self.following.get_or_init(|| Arc::new(Following::new(self.daemon.clone(), self.session(context))))
    }

    /// Checks that clients can subscribe to a resource.
    fn check_followed(uri: &str) -> Result<(), ErrorData> {
        let unknown = || ErrorData::resource_not_found(format!("no such resource: {uri:?}"), Some(json!({"uri": uri})));
        resources::source(uri).map(|_| ()).ok_or_else(unknown)
    }
}

/// Returns whether a request came over HTTP without a protocol session.
fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    let parts = context.extensions.get::<hyper::http::request::Parts>();
    parts.is_some_and(|parts| parts.method == hyper::Method::POST && !parts.headers.contains_key("mcp-session-id"))
}

/// Returns an outcome as content for a model: text, and a picture if the result has one. Structured content is omitted,
/// because some clients pass nothing else to the model if it is present.
fn content(outcome: &Outcome) -> Vec<ContentBlock> {
    let mut content = vec![ContentBlock::text(agent::text(outcome))];
    let data: Value =
        outcome.result.as_ref().ok().and_then(|data| serde_json::from_str(data.get()).ok()).unwrap_or_default();
    if let (Some(picture), Some(kind)) = (data["screenshotBase64"].as_str(), data["mimeType"].as_str()) {
        content.push(ContentBlock::image(picture, kind));
    }
    content
}

fn described((tool, info): (&'static Tool, &'static MethodInfo)) -> rmcp::model::Tool {
    let reads = info.effect == Effect::Read;
    let mut described = rmcp::model::Tool::new(tool.name, tool.about, schema::of(tool, info));
    let annotations =
        ToolAnnotations::default().read_only(reads).destructive(info.effect == Effect::Act).idempotent(reads);
    described.annotations = Some(annotations.open_world(info.effect != Effect::Admin));
    described
}

impl ServerHandler for Bridge {
    fn get_info(&self) -> ServerConfig {
        let name = Implementation::new("afd", env!("CARGO_PKG_VERSION"));
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        ServerConfig::new(capabilities).with_server_info(name).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let fixtures = if self.fixtures { fixtures::tools() } else { Vec::new() };
        Ok(ListToolsResult::with_all_items(self.tools().map(described).chain(fixtures).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.fixtures
            && let Some(result) = fixtures::call(&request.name, &context).await
        {
            return Ok(result.into());
        }
        let Some((tool, info)) = self.tools().find(|(tool, _)| tool.name == request.name) else {
            let names: Vec<&str> = self.tools().map(|(tool, _)| tool.name).collect();
            return Err(ErrorData::invalid_params(
                format!("no such tool: {:?}", request.name),
                Some(json!({"known": names})),
            ));
        };
        let schema = schema::of(tool, info);
        let mut params: Map<String, Value> = serde_json::from_str(tool.sends).unwrap_or_default();
        match arguments::plain(tool.name, &schema, request.arguments.unwrap_or_default()) {
            Ok(arguments) => params.extend(arguments),
            Err(Refused(why)) => {
                return Ok(
                    CallToolResult::error(vec![ContentBlock::text(format!("error INVALID_PARAMS: {why}"))]).into()
                );
            }
        }
        let resumed = params.get("session").and_then(Value::as_str).map(str::to_owned);
        let mut outcome = self.call(info, params, &context).await;
        if let Err(failure) = &mut outcome.result {
            hints::for_tools(failure, tool, &schema, &self.tools().collect::<Vec<_>>());
            return Ok(CallToolResult::error(content(&outcome)).into());
        }
        if info.name == SessionResume::INFO.name
            && let Some(session) = resumed
        {
            self.resume(&session);
        }
        let mut content = content(&outcome);
        if info.name == SessionReport::INFO.name {
            content.extend(self.report(&outcome, &context).await);
        }
        Ok(CallToolResult::success(content).into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list()))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if let Some(fixture) = fixtures::read(&request.uri).filter(|_| self.fixtures) {
            return Ok(fixture.into());
        }
        Ok(ReadResourceResult::new(vec![self.read(&request.uri, &context).await?]).into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !(self.fixtures && fixtures::read(&request.uri).is_some()) {
            Self::check_followed(&request.uri)?;
        }
        let following = self.following(&context).clone();
        if let Ok(mut telling) = self.telling.lock()
            && telling.is_none()
        {
            let (followed, peer) = (following.clone(), context.peer.clone());
            *telling = Some(tokio::spawn(async move {
                loop {
                    let updated = rmcp::model::ResourceUpdatedNotificationParam::new(followed.changed().await);
                    if peer.notify_resource_updated(updated).await.is_err() {
                        break;
                    }
                }
            }));
        }
        following.add(&request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.following(&context).remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::new();
        let uris = requested.resource_subscriptions.iter().flatten().filter(|uri| resources::source(uri).is_some());
        accepted.resource_subscriptions = Some(uris.cloned().collect());
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let following = Following::new(
            self.daemon.clone(),
            self.session.get().map(|name| name.as_str().to_owned()).unwrap_or_default(),
        );
        context.accepted().resource_subscriptions.iter().flatten().for_each(|uri| following.add(uri));
        loop {
            tokio::select! {
                uri = following.changed() => {
                    if context.sink().notify_resource_updated(uri).await.is_err() {
                        return Ok(());
                    }
                }
                () = context.cancelled() => return Ok(()),
            }
        }
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let given = request.arguments.unwrap_or_default();
        if let Some(fixture) = fixtures::prompt(&request.name, &given).filter(|_| self.fixtures) {
            return Ok(fixture.into());
        }
        let (mut prompt, about_session) = prompts::get(&request.name, &given)?;
        if about_session {
            let named = given.get("session").and_then(Value::as_str).map(str::trim).filter(|name| !name.is_empty());
            let uri = named.map_or_else(|| resources::SESSION.to_owned(), resources::of_session);
            let record = match self.read(&uri, &context).await {
                Ok(record) => record,
                Err(error) if named.is_some() => return Err(error),
                Err(error) => ResourceContents::text(format!("no record: {}", error.message), uri),
            };
            if let Some(session) = named.filter(|_| request.name == prompts::RESUME) {
                self.resume(session);
            }
            prompt.messages.push(PromptMessage::new(Role::User, ContentBlock::resource(record)));
        }
        Ok(prompt.into())
    }
}
