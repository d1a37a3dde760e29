//! Calls of the tools that a page publishes.

use std::time::Duration;

use serde_json::{Value, json};

use super::cdp::{CdpError, text};
use super::published::Tool;
use super::running::Running;
use super::tab::Tab;
use super::tabs;
use crate::{DriverError, ToolCall};

/// Wait for a page that has loaded to publish a tool.
const PUBLISHED_WITHIN: Duration = Duration::from_millis(500);
/// Wait for the answer of a tool that fills in a form and leaves it to the user to send it.
const FORM_FILLED: Duration = Duration::from_millis(500);
/// Answer of such a tool.
const WAITS: &str = "the form is filled in, and was not sent";

impl Running {
    /// Returns the tool with a name, for which the page in a tab has a moment to publish it.
    async fn find_tool(&self, tab: &Tab, name: &str) -> Option<Tool> {
        let mut tabs = self.tabs.subscribe();
        let published = tabs::until(&mut tabs, &tab.session, |tab| {
            tab.is_none_or(|tab| tab.dialog.is_some() || tab.published.find(name).is_some())
        });
        let _ = tokio::time::timeout(PUBLISHED_WITHIN, published).await;
        self.tabs.borrow().get(&tab.session)?.published.find(name).cloned()
    }

    /// Calls a tool of the page in a tab, and waits for its answer.
    pub async fn call_tool(&self, tab: &Tab, call: &ToolCall) -> Result<String, DriverError> {
        let refused = |message: String| DriverError::Refused { status: None, message: message.into() };
        let Some(tool) = self.find_tool(tab, &call.name).await else {
            let tools = self.tabs.borrow().get(&tab.session).map(|tab| tab.published.tools()).unwrap_or_default();
            let known: Vec<String> = tools.iter().map(|one| format!("{:?}", one.name)).collect();
            let known = if known.is_empty() { "no tools".to_owned() } else { known.join(", ") };
            return Err(refused(format!("the page has no tool {:?}; it has {known}", call.name)));
        };
        let input: Value = serde_json::from_str(call.input.expose()).unwrap_or_else(|_| json!({}));
        let params = json!({"frameId": tool.frame, "toolName": call.name, "input": input});
        let asked = self.ask(tab, "WebMCP.invokeTool", params).await.map_err(CdpError::of_input)?;
        let dialog = || DriverError::Unanswered("the page shows a dialog".to_owned());
        let Some(asked) = asked else { return Err(dialog()) };
        let id = text(&asked["invocationId"]);
        let wait = if tool.fills_form { FORM_FILLED } else { Duration::from_millis(call.ms.into()) };
        let mut tabs = self.tabs.subscribe();
        let answered = tabs::until(&mut tabs, &tab.session, |tab| {
            tab.is_none_or(|tab| {
                tab.dialog.is_some() || tab.published.has_answer(&id) || tab.published.find(&call.name).is_none()
            })
        });
        let in_time = tokio::time::timeout(wait, answered).await.is_ok();
        let mut answer = None;
        self.tabs.send_if_modified(|tabs| {
            answer = tabs.take_answer(&tab.session, &id);
            false
        });
        match answer {
            Some(answer) => answer.map_err(refused),
            None if self.has_dialog(&tab.session) => Err(dialog()),
            None if in_time => Err(DriverError::Unanswered("the tab was closed, or shows another page".to_owned())),
            None if tool.fills_form => Ok(WAITS.to_owned()),
            None => Err(DriverError::Unanswered(format!("the tool takes longer than {} ms", call.ms))),
        }
    }
}
