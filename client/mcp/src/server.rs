//! Answers an MCP client: tools, resources and prompts.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock};

use afctl::agent;
use afctl::outcome::Outcome;
use afd_proto::tool::{INSTRUCTIONS, Tool, Toolset};
use afd_proto::{Effect, MethodInfo};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams, GetPromptResponse, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, PromptMessage,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents, Role, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, ToolAnnotations, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;

use crate::daemon::{Daemon, LeaseConnection};
use crate::follow::Following;
use crate::names::{self, Name};
use crate::{prompts, resources, schema};

/// One client's connection.
pub struct Bridge {
    daemon: Arc<Daemon>,
    toolsets: Vec<Toolset>,
    directory: String,
    /// Whether the client is served over HTTP.
    http: bool,
    session: OnceLock<Name>,
    leases: LeaseConnection,
    following: OnceLock<Arc<Following>>,
    /// Task that tells the client which of its resources have changed.
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
    pub fn new(daemon: Arc<Daemon>, toolsets: Vec<Toolset>, http: bool) -> Self {
        let here = std::env::current_dir().ok();
        let directory = here.as_deref().and_then(|d| d.file_name()).map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        Self {
            daemon,
            toolsets,
            directory,
            http,
            session: OnceLock::new(),
            leases: LeaseConnection::default(),
            following: OnceLock::new(),
            telling: Mutex::default(),
        }
    }

    /// Returns the session: the one of the command line, else one per client and directory. Clients that are connected at the same time have
    /// one each.
    fn session(&self, context: &RequestContext<RoleServer>) -> &str {
        let name = self.session.get_or_init(|| {
            if let Some(session) = self.daemon.session() {
                return Name::given(session);
            }
            let client = context.client_info().map(|info| info.name).unwrap_or_default();
            let plain = |text: &str| -> String {
                text.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' }).take(40).collect()
            };
            let parts = ["mcp".to_owned(), plain(&client), plain(&self.directory)];
            names::free(&parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join("-"))
        });
        name.as_str()
    }

    fn tools(&self) -> impl Iterator<Item = (&'static Tool, &'static MethodInfo)> {
        let marked = afd_proto::methods().filter_map(|info| Some((info.tool?, info)));
        marked.filter(|(tool, _)| self.toolsets.contains(&tool.toolset))
    }

    async fn call(&self, info: &'static MethodInfo, params: Map<String, Value>, context: &RequestContext<RoleServer>) -> Outcome {
        self.daemon.call(info, params, self.session(context), &self.leases, context).await
    }

    async fn read(&self, uri: &str, context: &RequestContext<RoleServer>) -> Result<ResourceContents, ErrorData> {
        let unknown = || ErrorData::resource_not_found(format!("no such resource: {uri:?}"), Some(json!({"uri": uri})));
        let source = resources::source(uri).ok_or_else(unknown)?;
        let info = afd_proto::method(source.info.name).ok_or_else(unknown)?;
        let outcome = self.call(info, source.params, context).await;
        let data: Value = match &outcome.result {
            Ok(data) => serde_json::from_str(data.get()).unwrap_or_default(),
            // Nothing was recorded for this session yet.
            Err(failure) if failure.code == "NOT_FOUND" && uri == resources::SESSION => {
                return Ok(ResourceContents::text("nothing is recorded of this session yet", uri).with_mime_type(source.mime_type));
            }
            Err(failure) if failure.code == "NOT_FOUND" => {
                return Err(ErrorData::resource_not_found(failure.message.clone(), Some(json!({"uri": uri, "hint": failure.hint}))));
            }
            Err(failure) => return Err(ErrorData::internal_error(agent::text(&outcome), Some(json!({"code": failure.code})))),
        };
        let mime = data["mimeType"].as_str();
        if let Some(blob) = data["base64"].as_str() {
            return Ok(ResourceContents::blob(blob, uri).with_mime_type(mime.unwrap_or("application/octet-stream")));
        }
        let text = ["outline", "graph", "text"].iter().find_map(|key| data[*key].as_str()).map(str::to_owned);
        let text = text.unwrap_or_else(|| agent::text(&outcome));
        // What was observed may no longer be there.
        let text = match (data["seenBy"].as_str(), data["outdated"].as_bool()) {
            (Some(session), Some(true)) => format!("seen by session {session:?} before the last action; look again\n{text}"),
            (Some(session), _) => format!("seen by session {session:?}, the phone was not acted on since\n{text}"),
            _ => text,
        };
        Ok(ResourceContents::text(text, uri).with_mime_type(source.mime_type))
    }

    /// Returns what the client follows.
    fn following(&self, context: &RequestContext<RoleServer>) -> &Arc<Following> {
        self.following.get_or_init(|| Arc::new(Following::new(self.daemon.clone(), self.session(context).to_owned())))
    }

    /// Checks that a resource can be followed.
    fn check_followed(uri: &str) -> Result<(), ErrorData> {
        let unknown = || ErrorData::resource_not_found(format!("no such resource: {uri:?}"), Some(json!({"uri": uri})));
        resources::source(uri).map(|_| ()).ok_or_else(unknown)
    }
}

/// Returns the content for a model: text, and a picture if the result has one.
fn content(outcome: &Outcome) -> Vec<ContentBlock> {
    let mut content = vec![ContentBlock::text(agent::text(outcome))];
    let data: Value = outcome.result.as_ref().ok().and_then(|data| serde_json::from_str(data.get()).ok()).unwrap_or_default();
    if let (Some(picture), Some(kind)) = (data["screenshotBase64"].as_str(), data["mimeType"].as_str()) {
        content.push(ContentBlock::image(picture, kind));
    }
    content
}

/// Returns what programs want to know of a result, without the text that is there already.
fn structured(outcome: &Outcome) -> Option<Value> {
    let data: Value = serde_json::from_str(outcome.result.as_ref().ok()?.get()).ok()?;
    let look = &data["look"];
    let page = if look.is_object() { &look["observation"] } else { &data };
    let mut out = Map::new();
    for key in ["observationId", "app", "topActivity", "settled", "reliable", "dialog"] {
        if let Some(value) = page.get(key) {
            out.insert(key.to_owned(), value.clone());
        }
    }
    if let Some(state) = page["page"].get("state") {
        out.insert("state".to_owned(), state.clone());
    }
    if look.is_object() {
        out.insert("changed".to_owned(), look["changed"].clone());
    }
    if let Some(event) = data.get("eventId") {
        out.insert("eventId".to_owned(), event.clone());
    }
    (!out.is_empty()).then_some(Value::Object(out))
}

fn described((tool, info): (&'static Tool, &'static MethodInfo)) -> rmcp::model::Tool {
    let reads = info.effect == Effect::Read;
    let mut described = rmcp::model::Tool::new(tool.name, tool.about, schema::of(tool, info));
    let annotations = ToolAnnotations::default().read_only(reads).destructive(info.effect == Effect::Act).idempotent(reads);
    described.annotations = Some(annotations.open_world(info.effect != Effect::Admin));
    described
}

impl ServerHandler for Bridge {
    fn get_info(&self) -> ServerConfig {
        let name = Implementation::new("afd", env!("CARGO_PKG_VERSION"));
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_prompts().enable_resources().enable_resources_subscribe().build();
        ServerConfig::new(capabilities).with_server_info(name).with_instructions(INSTRUCTIONS)
    }

    /// Over HTTP only versions with sessions: aliases and leases belong to one.
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        match self.http {
            true => Cow::Borrowed(ProtocolVersion::known_up_to(&ProtocolVersion::V_2025_11_25)),
            false => Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS),
        }
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools().map(described).collect()))
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        let Some((tool, info)) = self.tools().find(|(tool, _)| tool.name == request.name) else {
            let names: Vec<&str> = self.tools().map(|(tool, _)| tool.name).collect();
            return Err(ErrorData::invalid_params(format!("no such tool: {:?}", request.name), Some(json!({"known": names}))));
        };
        let mut params: Map<String, Value> = serde_json::from_str(tool.sends).unwrap_or_default();
        let takes_device = info.takes.device == afd_proto::DeviceUse::Reached;
        for (name, value) in request.arguments.unwrap_or_default() {
            let known = tool.takes.contains(&name.as_str()) || (takes_device && name == "device");
            if !known {
                let takes: Vec<&str> = tool.takes.iter().copied().chain(takes_device.then_some("device")).collect();
                let takes = if takes.is_empty() { "no arguments".to_owned() } else { takes.join(", ") };
                let text = format!("error INVALID_PARAMS: {} takes no {name:?}\nhint: it takes {takes}", tool.name);
                return Ok(CallToolResult::error(vec![ContentBlock::text(text)]).into());
            }
            // Models send null for what they leave out.
            if !value.is_null() {
                params.insert(name, value);
            }
        }
        let outcome = self.call(info, params, &context).await;
        let mut result = match outcome.result {
            Ok(_) => CallToolResult::success(content(&outcome)),
            Err(_) => CallToolResult::error(content(&outcome)),
        };
        result.structured_content = structured(&outcome);
        Ok(result.into())
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
        Ok(ReadResourceResult::new(vec![self.read(&request.uri, &context).await?]).into())
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Self::check_followed(&request.uri)?;
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

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
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
        let following = Following::new(self.daemon.clone(), self.session.get().map(|name| name.as_str().to_owned()).unwrap_or_default());
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
        let (mut prompt, about_session) = prompts::get(&request.name, &request.arguments.unwrap_or_default())?;
        if about_session {
            let record = match self.read(resources::SESSION, &context).await {
                Ok(record) => record,
                Err(error) => ResourceContents::text(format!("no record: {}", error.message), resources::SESSION),
            };
            prompt.messages.push(PromptMessage::new(Role::User, ContentBlock::resource(record)));
        }
        Ok(prompt.into())
    }
}
