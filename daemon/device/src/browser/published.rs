//! Tools that a page publishes for agents (WebMCP), as its events report them.

use std::collections::VecDeque;

use serde_json::Value;

use super::cdp::{Event, text};
use afd_base::text::cut;
use afd_screen::page::published::PageTool;

/// Maximum number of tools that are known of a page.
const MAX_TOOLS: usize = 30;
/// Maximum length of a name, in bytes. The specification allows 128.
const MAX_NAME: usize = 128;
/// Maximum length of a description, in characters.
const MAX_ABOUT: usize = 1_000;
/// Maximum length of a schema as JSON, in bytes. A tool with a longer one has none.
const MAX_SCHEMA: usize = 4_000;
/// Maximum length of an answer, in bytes, and of the reason for a failure, in characters.
const MAX_ANSWER: usize = 1_000_000;
const MAX_REASON: usize = 300;
/// Number of answers that are kept until the calls that wait for them take them.
const MAX_ANSWERS: usize = 20;

/// The tools of a page, and what they answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Published {
    tools: Vec<Tool>,
    answers: VecDeque<(String, Answer)>,
}

/// A tool of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Id of the frame that publishes it.
    pub frame: String,
    /// Whether the tool only fills in a form, which must be sent afterwards.
    pub fills_form: bool,
    /// The tool as the page describes it.
    pub tool: PageTool,
}

/// What a tool answered: a text, or the reason why it failed.
type Answer = Result<String, String>;

impl Published {
    /// Applies an event of the page. Frames of other sites have sessions of their own, so their tools are not included:
    /// they would seem to be tools of the page.
    pub fn apply(&mut self, event: &Event) {
        let params = &event.params;
        match event.method.as_str() {
            "WebMCP.toolsAdded" => params["tools"].as_array().into_iter().flatten().for_each(|tool| self.add(tool)),
            "WebMCP.toolsRemoved" => {
                let removed = params["tools"].as_array().into_iter().flatten();
                removed.for_each(|gone| {
                    self.tools
                        .retain(|one| gone["name"] != one.tool.name.as_str() || gone["frameId"] != one.frame.as_str());
                });
            }
            "WebMCP.toolResponded" => {
                if self.answers.len() == MAX_ANSWERS {
                    self.answers.pop_front();
                }
                self.answers.push_back((text(&params["invocationId"]), answer(params)));
            }
            "Page.frameNavigated" => self.forget(&params["frame"]["id"]),
            "Page.frameDetached" => self.forget(&params["frameId"]),
            _ => {}
        }
    }

    /// Returns the tools.
    pub fn tools(&self) -> Vec<PageTool> {
        self.tools.iter().map(|one| one.tool.clone()).collect()
    }

    /// Returns the tool with a name.
    pub fn find(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|one| one.tool.name == name)
    }

    fn forget(&mut self, frame: &Value) {
        self.tools.retain(|one| *frame != one.frame.as_str());
    }

    fn add(&mut self, tool: &Value) {
        let name = text(&tool["name"]);
        if self.find(&name).is_some() || name.is_empty() || name.len() > MAX_NAME || self.tools.len() == MAX_TOOLS {
            return;
        }
        let schema = &tool["inputSchema"];
        let hints = &tool["annotations"];
        self.tools.push(Tool {
            frame: text(&tool["frameId"]),
            fills_form: tool["backendNodeId"].is_number() && hints["autosubmit"] != true,
            tool: PageTool {
                name,
                about: text(&tool["description"]).chars().take(MAX_ABOUT).collect(),
                input: if schema.to_string().len() <= MAX_SCHEMA { schema.clone() } else { Value::Null },
                reads_only: hints["readOnly"] == true,
            },
        });
    }

    /// Returns whether the answer to a call has arrived.
    pub fn has_answer(&self, call: &str) -> bool {
        self.answers.iter().any(|(id, _)| id == call)
    }

    /// Returns the answer to a call, and forgets it.
    pub fn take_answer(&mut self, call: &str) -> Option<Answer> {
        let at = self.answers.iter().position(|(id, _)| id == call)?;
        self.answers.remove(at).map(|(_, answer)| answer)
    }
}

/// Returns what a tool answered. An answer in the form that the Model Context Protocol uses may be that of a failure.
fn answer(params: &Value) -> Answer {
    let failed =
        |why: &str| Err(why.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_REASON).collect());
    match (params["status"].as_str(), &params["output"]) {
        (Some("Completed"), Value::Null) => Ok(String::new()),
        (Some("Completed"), output) if output["isError"] == true => failed(&content(output)),
        (Some("Completed"), output) => Ok(cut::head(&content(output), MAX_ANSWER).to_owned()),
        (Some("Canceled"), _) => Err("the page cancelled the call".to_owned()),
        _ => failed(reason(params).unwrap_or("the tool failed")),
    }
}

/// Returns why a tool failed: the text for the agent, or the first line of the exception.
fn reason(params: &Value) -> Option<&str> {
    let exception = params["exception"]["description"].as_str().and_then(|text| text.lines().next());
    params["errorText"].as_str().filter(|text| !text.is_empty()).or(exception)
}

/// Returns the texts of an answer in the form that the Model Context Protocol uses, or the answer as JSON.
fn content(output: &Value) -> String {
    let parts = output["content"].as_array();
    let texts: Option<Vec<&str>> = parts.and_then(|parts| parts.iter().map(|part| part["text"].as_str()).collect());
    match (output, texts) {
        (Value::String(text), _) => text.clone(),
        (_, Some(texts)) => texts.join("\n"),
        (other, None) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(method: &str, params: Value) -> Event {
        Event { method: method.to_owned(), session: "1".to_owned(), params }
    }

    fn names(published: &Published) -> Vec<String> {
        published.tools().into_iter().map(|tool| tool.name).collect()
    }

    #[test]
    fn tools_are_known_until_the_page_removes_them_or_another_one_is_shown() {
        let mut published = Published::default();
        let tool = |name: &str, frame: &str| json!({"name": name, "description": "d", "frameId": frame});
        let added = json!({"tools": [tool("a", "f"), tool("b", "f"), tool("c", "g"), tool("a", "g"), tool("", "f")]});
        published.apply(&event("WebMCP.toolsAdded", added));
        assert_eq!(names(&published), ["a", "b", "c"], "a second tool of a name could be taken for the first");
        published.apply(&event("WebMCP.toolsRemoved", json!({"tools": [{"name": "b", "frameId": "f"}]})));
        assert_eq!(names(&published), ["a", "c"]);
        published.apply(&event("Page.frameNavigated", json!({"frame": {"id": "f"}})));
        assert_eq!(names(&published), ["c"]);
        let many: Vec<Value> = (0..100).map(|n| tool(&format!("t{n}"), "f")).collect();
        published.apply(&event("WebMCP.toolsAdded", json!({"tools": many})));
        assert_eq!(published.tools().len(), MAX_TOOLS);
    }

    #[test]
    fn answers_are_texts_or_json() {
        let mut published = Published::default();
        let mut respond = |id: &str, params: Value| {
            let mut params = params;
            params["invocationId"] = json!(id);
            published.apply(&event("WebMCP.toolResponded", params));
            published.take_answer(id)
        };
        let done = |output: Value| json!({"status": "Completed", "output": output});
        assert_eq!(respond("1", done(json!("two teas"))), Some(Ok("two teas".to_owned())));
        assert_eq!(respond("2", done(json!({"count": 2}))), Some(Ok("{\"count\":2}".to_owned())));
        let wrong = json!({"isError": true, "content": [{"type": "text", "text": "sold\n out"}]});
        assert_eq!(respond("8", done(wrong)), Some(Err("sold out".to_owned())));
        let parts = json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]});
        assert_eq!(respond("3", done(parts)), Some(Ok("a\nb".to_owned())));
        assert_eq!(respond("4", json!({"status": "Completed"})), Some(Ok(String::new())));
        let thrown =
            json!({"status": "Error", "errorText": "", "exception": {"description": "Error: sold out\n at x"}});
        assert_eq!(respond("7", thrown), Some(Err("Error: sold out".to_owned())));
        assert_eq!(respond("5", json!({"status": "Error", "errorText": "no"})), Some(Err("no".to_owned())));
        assert_eq!(published.take_answer("6"), None);
    }
}
