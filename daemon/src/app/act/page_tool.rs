//! `act.pageTool`: calls of tools that pages publish for agents.

use std::sync::Arc;

use afd_proto::Secret;
use afd_proto::act::{PageToolParams, PageToolResult};
use afd_proto::vocabulary::{Reply, Verb};
use serde_json::{Value, json};

use super::execute::execute_once;
use super::plan::Plan;
use crate::app::artifacts::move_to_file;
use crate::app::{Core, Result};
use afd_device::{Command, ToolCall};

/// Implements `act.pageTool`. The input and the answer are not recorded: the first may contain secrets, the second is text
/// of the page.
///
/// # Errors
/// `UNSUPPORTED` if pages of the device publish no tools, `DEVICE_ERROR` if the page has no such tool or if the tool fails,
/// or `OUTCOME_UNKNOWN` if it does not answer in time.
pub async fn run(core: &Arc<Core>, params: &PageToolParams) -> Result<Reply<PageToolResult>> {
    core.addressed(params)?.target.device.check_page_tools()?;
    let input = json!(params.input).to_string();
    params.input.values().for_each(|value| remember(core, value));
    let call = ToolCall { name: params.tool.clone(), input: Secret::new(&input), ms: params.timeout_ms() };
    let mut plan = Plan::single(Verb::PageTool, Command::Tool(call)).with_param("tool", params.tool.as_str());
    plan.action.slots.push("input".to_owned());
    plan.evidence = Some(json!({"length": input.len(), "hash": core.experience.secrets.hash(&input)}));
    plan.private = true;
    let mut reply = execute_once(core, params, plan, |done| PageToolResult {
        event_id: done.event,
        output: Some(done.result),
        truncated: false,
        artifact: None,
        duration_ms: done.duration_ms,
        look: None,
        replayed: false,
    })
    .await?;
    let PageToolResult { output, artifact, truncated, .. } = &mut reply.body;
    (*artifact, *truncated) = move_to_file(core, params, output, ("page_tool_text", "act.pageTool")).await;
    Ok(reply)
}

/// Marks the texts in a value as typed, so that the memory does not learn them from the screen.
fn remember(core: &Core, value: &Value) {
    match value {
        Value::String(text) => core.experience.secrets.remember(text),
        Value::Array(items) => items.iter().for_each(|item| remember(core, item)),
        Value::Object(fields) => fields.values().for_each(|field| remember(core, field)),
        _ => {}
    }
}
