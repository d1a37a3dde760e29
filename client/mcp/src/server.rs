//! Answers an MCP client: lists the tools, and forwards their calls to the daemon.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use afctl::dial::{self, Purpose, Retry};
use afctl::human;
use afctl::options::Global;
use afctl::outcome::{Outcome, Render};
use afctl::{agent, run};
use afd_proto::graph::VisualPath;
use afd_proto::memory::{MemorySave, MemorySearch};
use afd_proto::observe::ObserveWait;
use afd_proto::picture::ObserveScreenshot;
use afd_proto::verify::VerifyTextContains;
use afd_proto::{Effect, Method, MethodInfo};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};

use crate::schema;
use crate::tools::{INSTRUCTIONS, TOOLS, Tool};

/// One client's connection.
pub struct Bridge {
    global: Global,
    directory: String,
}

impl Bridge {
    /// Creates a bridge with the options of the command line.
    pub fn new(global: Global) -> Self {
        let here = std::env::current_dir().ok();
        let directory = here.as_deref().and_then(|d| d.file_name()).map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        Self { global, directory }
    }

    /// Returns the session: the one of the command line, else one per client and directory.
    fn session(&self, context: &RequestContext<RoleServer>) -> String {
        if let Some(session) = self.global.session.clone().filter(|s| !s.is_empty()) {
            return session;
        }
        let client = context.peer.peer_info().map(|info| info.client_info.name.clone()).unwrap_or_default();
        let plain = |text: &str| -> String {
            text.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' }).take(40).collect()
        };
        ["mcp".to_owned(), plain(&client), plain(&self.directory)].into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join("-")
    }

    /// Calls a method of the daemon, which is cancelled with the request.
    async fn call(
        &self,
        tool: &'static Tool,
        info: &'static MethodInfo,
        params: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Outcome {
        let interrupted = Arc::new(AtomicBool::new(false));
        let (flag, global, method) = (interrupted.clone(), self.global.clone(), tool.method);
        let work = tokio::task::spawn_blocking(move || {
            let prepare = |connection: &mut afctl::connection::Connection| connection.set_interrupt(flag.clone());
            dial::call(&global, Purpose::Call, Retry::Safe, prepare, method, &Value::Object(params))
        });
        tokio::pin!(work);
        let done = tokio::select! {
            done = &mut work => done,
            () = context.ct.cancelled() => {
                interrupted.store(true, Ordering::Relaxed);
                work.await
            }
        };
        let (category, op) = info.name.split_once('.').unwrap_or(("", info.name));
        let (category, op) = (category.to_owned(), human::kebab(op));
        match done {
            Ok(result) => Outcome { category, op, result, render: render_of(tool.method) },
            Err(error) => {
                let failure = afctl::outcome::Failure::new("INTERNAL", format!("the call was aborted: {error}"), 1);
                Outcome::failed(&category, &op, failure)
            }
        }
    }
}

/// Returns how the result of a method is told, where it has no outline.
fn render_of(method: &str) -> Option<Render> {
    [
        (ObserveWait::INFO.name, human::render::<ObserveWait> as Render),
        (ObserveScreenshot::INFO.name, human::render::<ObserveScreenshot>),
        (VerifyTextContains::INFO.name, human::render::<VerifyTextContains>),
        (VisualPath::INFO.name, human::render::<VisualPath>),
        (MemorySearch::INFO.name, human::render::<MemorySearch>),
        (MemorySave::INFO.name, human::render::<MemorySave>),
    ]
    .into_iter()
    .find(|(name, _)| *name == method)
    .map(|(_, render)| render)
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

fn annotations(info: &MethodInfo) -> ToolAnnotations {
    let reads = info.effect == Effect::Read;
    ToolAnnotations::default()
        .read_only(reads)
        .destructive(info.effect == Effect::Act)
        .idempotent(reads)
        .open_world(info.effect != Effect::Admin)
}

fn descriptions() -> Vec<rmcp::model::Tool> {
    let describe = |tool: &Tool| {
        let info = afd_proto::method(tool.method)?;
        let mut described = rmcp::model::Tool::new(tool.name, tool.about, schema::of(tool, info));
        described.annotations = Some(annotations(info));
        Some(described)
    };
    TOOLS.iter().filter_map(describe).collect()
}

impl ServerHandler for Bridge {
    fn get_info(&self) -> ServerConfig {
        let name = Implementation::new("afd", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build()).with_server_info(name).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, rmcp::ErrorData> {
        Ok(ListToolsResult::with_all_items(descriptions()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, rmcp::ErrorData> {
        let known = TOOLS.iter().find(|tool| tool.name == request.name).and_then(|tool| Some((tool, afd_proto::method(tool.method)?)));
        let Some((tool, info)) = known else {
            let names: Vec<&str> = TOOLS.iter().map(|t| t.name).collect();
            return Err(rmcp::ErrorData::invalid_params(format!("no such tool: {:?}", request.name), Some(json!({"known": names}))));
        };
        let mut params: Map<String, Value> = serde_json::from_str(tool.sends).unwrap_or_default();
        for (name, value) in request.arguments.unwrap_or_default() {
            if !tool.takes.contains(&name.as_str()) && name != "device" {
                let takes = tool.takes.join(", ");
                let text = format!("error INVALID_PARAMS: {} takes no {name:?}\nhint: it takes: {takes}", tool.name);
                return Ok(CallToolResult::error(vec![ContentBlock::text(text)]).into());
            }
            // Models send null for what they leave out.
            if !value.is_null() {
                params.insert(name, value);
            }
        }
        if info.takes.session {
            params.insert("session".to_owned(), json!(self.session(&context)));
        }
        if let Some(device) = self.global.device.clone().filter(|_| info.takes.device != afd_proto::DeviceUse::None) {
            params.entry("device").or_insert_with(|| json!(device));
        }
        if info.takes_request_key() {
            params.entry("requestKey").or_insert_with(|| json!(run::request_key()));
        }
        let outcome = self.call(tool, info, params, &context).await;
        let mut result = match outcome.result {
            Ok(_) => CallToolResult::success(content(&outcome)),
            Err(_) => CallToolResult::error(content(&outcome)),
        };
        result.structured_content = structured(&outcome);
        Ok(result.into())
    }
}
