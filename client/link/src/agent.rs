//! Output for language models: page outlines, action results, and errors with a hint for the next step. Nothing is
//! printed twice, and text from a screen is quoted on a single line.

use std::fmt::Write as _;

use afd_proto::incident::Incident;
use serde_json::{Map, Value, json};

use crate::human::incident;
use crate::outcome::Outcome;
use crate::safe;

/// Adds the default parameters for agents: outlines for observations, and a diff after each action.
pub fn add_defaults(method: &str, params: &mut Map<String, Value>) {
    match method {
        // Calls that ask for files, all rows or specific columns keep the row format.
        "observe.page" | "observe.screen" | "observe.refs" if !wants_rows(params) => {
            params.entry("format").or_insert_with(|| json!("outline"));
        }
        // Most walks end on another page.
        "act.goTo" => {
            params.entry("then").or_insert_with(|| json!("outline"));
        }
        _ if method.starts_with("act.") || method.starts_with("recover.") => {
            params.entry("then").or_insert_with(|| json!("diff"));
        }
        _ => {}
    }
}

fn wants_rows(params: &Map<String, Value>) -> bool {
    ["fields", "include", "saveFile", "saveDir"].iter().any(|name| params.contains_key(*name))
        || params.get("full") == Some(&Value::Bool(true))
}

/// Formats an outcome as text for a language model.
pub fn text(outcome: &Outcome) -> String {
    match &outcome.result {
        Ok(data) => {
            let mut data: Value = serde_json::from_str(data.get()).unwrap_or_default();
            // afd itself wrote the session's digest and its resumption prompt, so their line breaks are kept.
            let made = ["summary", "resumptionPrompt"].map(|key| (key, data[key].as_str().map(safe::block)));
            unmark(&mut data);
            one_line_each(&mut data);
            if outcome.category == "session" && ["show", "start", "resume", "end"].contains(&outcome.op.as_str()) {
                for (key, text) in made.into_iter().filter_map(|(key, text)| Some((key, text?))) {
                    data[key] = json!(text);
                }
            }
            result(outcome, &data).trim_end().to_owned()
        }
        Err(failure) => {
            let mut text = format!("error {}: {}", failure.code, safe::line(&failure.message));
            for candidate in failure.details["candidates"].as_array().into_iter().flatten() {
                let word = |key: &str| candidate[key].as_str().map(safe::line);
                let name = word("label").or_else(|| word("name")).unwrap_or_default().replace('"', "\\\"");
                let _ = write!(text, "\ncandidate: \"{name}\"");
                // A state has an id, an element a resource id.
                if let Some(id) = word("resId").or_else(|| word("id")) {
                    let _ = write!(text, " {id}");
                }
                // Identical elements differ only in their position.
                if let (Some(x), Some(y)) = (candidate["selector"]["x"].as_f64(), candidate["selector"]["y"].as_f64()) {
                    let _ = write!(text, " at x {x}, y {y}");
                }
            }
            for known in failure.details["remembered"].as_array().into_iter().flatten() {
                let word = |key: &str| known[key].as_str().map(safe::line).unwrap_or_default();
                // Quoted, because the text is data from a user, an agent or a page.
                let _ = write!(
                    text,
                    "\nremembered {} (by {}): \"{}\"",
                    word("type"),
                    word("source"),
                    word("text").replace('"', "\\\"")
                );
            }
            if let Some(why) = failure.details["rememberedMissing"].as_str() {
                let _ = write!(text, "\nmissing: {}", safe::line(why));
            }
            if let Some(hint) = &failure.hint {
                let _ = write!(text, "\nhint: {}", safe::line(hint));
            }
            text
        }
    }
}

/// Removes the brackets that mark matches in snippets, because an agent might copy them. Keeps a snippet unchanged if
/// the full text contains brackets itself.
fn unmark(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(unmark),
        Value::Object(map) => {
            let has_brackets = |text: &Value| text.as_str().is_none_or(|text| text.contains(['[', ']']));
            let whole = map.get("content").or_else(|| map.get("text")).map(has_brackets);
            if let Some(Value::String(snippet)) = map.get_mut("snippet")
                && whole != Some(true)
            {
                snippet.retain(|c| !matches!(c, '[' | ']'));
            }
            map.values_mut().for_each(unmark);
        }
        _ => {}
    }
}

/// Escapes the line breaks in all strings, because text from a user, a page or a tool must not start a line that looks
/// like output from afd. Outlines, graphs and the output of shell commands keep their line breaks.
fn one_line_each(value: &mut Value) {
    match value {
        Value::String(text) => *text = safe::line(text),
        Value::Array(items) => items.iter_mut().for_each(one_line_each),
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                match value {
                    Value::String(text) if matches!(key.as_str(), "outline" | "look" | "graph" | "output") => {
                        *text = safe::block(text)
                    }
                    value => one_line_each(value),
                }
            }
        }
        _ => {}
    }
}

/// Returns the crashes and the like that a look or an observation reports.
fn incidents(look: &Value) -> Vec<Incident> {
    serde_json::from_value(look["incidents"].clone()).unwrap_or_default()
}

fn result(outcome: &Outcome, data: &Value) -> String {
    if let Some(outline) = data["outline"].as_str() {
        let lines: String = incidents(data).iter().map(|one| incident(one) + "\n").collect();
        return lines + outline;
    }
    if outcome.has_goal() {
        return walk(data);
    }
    if data["look"].is_object() {
        return act(outcome, data);
    }
    // The path's text already contains its steps.
    if let (("visual", "path"), Some(text)) = ((outcome.category.as_str(), outcome.op.as_str()), data["text"].as_str())
    {
        return text.to_owned();
    }
    if outcome.category == "verify" {
        return "passed".to_owned();
    }
    let text = outcome.render.and_then(|render| render(data)).unwrap_or_else(|| data.to_string());
    let text = anstream::adapter::strip_str(&text).to_string();
    // After a wait, only the condition is printed. The agent can read the page with an observation.
    if outcome.op == "wait" { text.lines().next().unwrap_or_default().to_owned() } else { text }
}

/// Actions that manage a device.
const MANAGES: [&str; 5] = ["install", "uninstall", "clear-app", "grant", "configure"];

/// What is printed of an action that led to the expected page.
const AS_EXPECTED: &str = "as expected";

/// Returns one line with an action's target and result, followed by the resulting page.
fn act(outcome: &Outcome, data: &Value) -> String {
    let look = &data["look"];
    let changed = match (look["changed"].as_bool(), look["note"].as_str()) {
        // These change what is not on the page.
        (changed, _) if MANAGES.contains(&outcome.op.as_str()) && changed != Some(true) => "done",
        (_, Some(note)) => note,
        (Some(true), None) if look["asExpected"] == true => AS_EXPECTED,
        (Some(true), None) => "changed",
        (_, None) => "done",
    };
    let is_expected = changed == AS_EXPECTED;
    let recovery = data["recovery"].as_str().map(|text| safe::line(text) + "\n").unwrap_or_default();
    let mut text = format!("{recovery}{}{} {changed}", acted_on(outcome, data), if is_expected { "" } else { ":" });
    if let Some(surprise) = look["surprise"]["text"].as_str() {
        let _ = write!(text, "; not expected: {}", safe::line(surprise));
    } else if look["asExpected"] == true {
        text.push_str(if is_expected { "" } else { ", as expected" });
    } else if let Some(expected) = look["expected"].as_str().filter(|_| is_news(outcome, data)) {
        let _ = write!(text, "; before: {expected}");
    }
    if let Some(warning) = look["warning"].as_str() {
        let _ = write!(text, "; warning: {}", safe::line(warning));
    }
    let shows =
        data["result"].as_str().filter(|result| outcome.op == "fill" && !["filled", "cleared"].contains(result));
    if let Some(result) = shows {
        let _ = write!(text, "; {}", safe::line(result));
    }
    if let Some(news) = look["news"].as_str() {
        let _ = write!(text, "; {}", safe::line(news));
    }
    if let Some(before) = data["before"].as_object() {
        let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), safe::line);
        let before: Vec<String> = before.iter().map(|(name, old)| format!("{name} {}", value(old))).collect();
        let _ = write!(text, "; before: {}", before.join(", "));
    }
    for one in &incidents(look) {
        let _ = write!(text, "; {}", incident(one));
    }
    // What a page or a program answered is marked as such, line by line.
    for line in data["output"].as_str().into_iter().flat_map(str::lines) {
        let _ = write!(text, "\n> {}", safe::line(line));
    }
    if let Some(file) = data["artifact"]["savedFile"].as_str() {
        let _ = write!(text, "\nanswer in {}", safe::line(file));
    }
    if let Some(outline) = look["observation"]["outline"].as_str() {
        let _ = write!(text, "\n{outline}");
    }
    text
}

/// Returns how a call of several actions ended, one line for each step that did not lead where it should, and the page.
fn walk(data: &Value) -> String {
    let mut text = data["text"].as_str().map(safe::line).unwrap_or_default();
    if data["replayed"] == Value::Bool(true) {
        text.push_str(" (recorded result; nothing was done)");
    }
    for step in data["steps"].as_array().into_iter().flatten() {
        let word = |key: &str| step[key].as_str().map(safe::line);
        let Some(action) = word("action") else { continue };
        if let Some(cause) = word("failureCause") {
            let _ = write!(text, "\n{action}: {cause}");
        } else if step["asExpected"] == Value::Bool(false) {
            let named = |key: &str| word(key).unwrap_or_else(|| "an unknown page".to_owned()).replace('"', "\\\"");
            let _ = write!(text, "\n{action}: led to \"{}\" instead of \"{}\"", named("ledTo"), named("expected"));
        }
    }
    for one in &incidents(&data["look"]) {
        let _ = write!(text, "\n{}", incident(one));
    }
    if let Some(outline) = data["look"]["observation"]["outline"].as_str() {
        let _ = write!(text, "\n{outline}");
    }
    text
}

/// Returns whether an action's previous outcome is worth printing. It is not if the action has no target or is
/// `scroll-to`, or if the action has just had the same outcome as before.
fn is_news(outcome: &Outcome, data: &Value) -> bool {
    let look = &data["look"];
    let expected = look["expected"].as_str().unwrap_or_default();
    let page = look["observation"]["outline"].as_str().and_then(|o| o.strip_prefix("page ")).unwrap_or_default();
    let again = match expected.strip_prefix("-> ") {
        Some(led) => led.split('"').nth(1).is_some_and(|name| page.starts_with(&format!("\"{name}\""))),
        None => expected.starts_with("changes this page") && look["changed"] == true && !expected.contains(", "),
    };
    data["target"].is_object() && outcome.op != "scroll-to" && !again
}

/// Returns the verb in the past tense and the target, for example `tapped row "Display"`.
fn acted_on(outcome: &Outcome, data: &Value) -> String {
    let past = match outcome.op.as_str() {
        "tap" => "tapped",
        "long-press" => "long-pressed",
        "double-tap" => "double-tapped",
        "hover" => "moved the mouse onto",
        "fill" => "filled",
        "drag" => "dragged",
        "scroll-to" => "scrolled to",
        "upload" => "gave files to",
        "page-tool" => return "answered".to_owned(),
        op => return op.to_owned(),
    };
    let target = &data["target"];
    let mut text = past.to_owned();
    if let Some(role) = target["role"].as_str().filter(|role| !matches!(*role, "view" | "any" | "text")) {
        let _ = write!(text, " {role}");
    }
    let word = |key: &str| target[key].as_str().map(safe::line).filter(|word| !word.is_empty());
    let id = || word("resId").map(|id| format!("#{}", id.rsplit('/').next().unwrap_or(&id)));
    let quoted = |name: String| format!("\"{}\"", name.replace('"', "\\\""));
    let point = || Some(format!("{},{}", data["point"]["x"].as_f64()?, data["point"]["y"].as_f64()?));
    if let Some(name) =
        word("title").or_else(|| word("label")).or_else(|| word("name")).map(quoted).or_else(id).or_else(point)
    {
        let _ = write!(text, " {name}");
    }
    if data["unmarked"] == Value::Bool(true) {
        text.push_str(" (not marked as clickable)");
    }
    if data["risky"] == Value::Bool(true) {
        text.push_str(" (risky)");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Failure;

    fn of(result: Result<Value, Failure>) -> String {
        let result = result.map(|data| serde_json::value::to_raw_value(&data).expect("JSON"));
        text(&Outcome { category: "act".into(), op: "tap".into(), result, render: None, only: None })
    }

    /// The undo of an action has a sentence, that of a change to the states has not.
    #[test]
    fn calls_with_a_goal_say_how_they_ended() {
        let data =
            json!({"text": "undid tap row \"Display\"", "undone": false, "eventId": "e", "action": "back", "look": {}});
        let shown = |category: &str| {
            let result = Ok(serde_json::value::to_raw_value(&data).expect("JSON"));
            let outcome = Outcome { category: category.into(), op: "undo".into(), result, render: None, only: None };
            (text(&outcome).starts_with("undid tap"), outcome.exit())
        };
        assert_eq!((shown("act"), shown("visual")), ((true, 1), (false, 0)));
    }

    #[test]
    fn only_outlines_keep_their_line_breaks() {
        let mut data = json!({"look": "page \"A\"\n@n1 \"B\"", "name": "a\nb"});
        one_line_each(&mut data);
        assert_eq!(data, json!({"look": "page \"A\"\n@n1 \"B\"", "name": "a\\nb"}));
    }

    #[test]
    fn matches_are_not_marked() {
        let mut data = json!({"notes": [{"content": "the bakery", "snippet": "the [bakery]"}, {"content": "a[0]", "snippet": "a[0]"}]});
        unmark(&mut data);
        assert_eq!(
            (&data["notes"][0]["snippet"], &data["notes"][1]["snippet"]),
            (&json!("the bakery"), &json!("a[0]"))
        );
    }

    #[test]
    fn outcomes_are_told_once_and_briefly() {
        assert_eq!(of(Ok(json!({"outline": "page \"A\"\n@n1 \"B\"", "rows": []}))), "page \"A\"\n@n1 \"B\"");
        let look =
            json!({"changed": true, "expected": "-> \"Sound\" 0.89", "observation": {"outline": "page \"Wi-Fi\""}});
        let target = json!({"role": "row", "label": "Wi-Fi, Connected", "title": "Wi-Fi"});
        let expected = "tapped row \"Wi-Fi\": changed; before: -> \"Sound\" 0.89\npage \"Wi-Fi\"";
        assert_eq!(of(Ok(json!({"look": look, "target": target}))), expected);
        let again =
            json!({"changed": true, "expected": "-> \"Wi-Fi\" 0.89", "observation": {"outline": "page \"Wi-Fi\" a.b"}});
        assert_eq!(
            of(Ok(json!({"look": again, "target": target}))),
            "tapped row \"Wi-Fi\": changed\npage \"Wi-Fi\" a.b"
        );
        let unmarked =
            json!({"look": {"changed": null}, "target": {"role": "text", "title": "Notes"}, "unmarked": true});
        assert_eq!(of(Ok(unmarked)), "tapped \"Notes\" (not marked as clickable): done");
        let nameless = json!({"look": {"changed": false, "note": "nothing changed"}, "target": {"role": "view", "resId": "a.b:id/more"}});
        assert_eq!(of(Ok(nameless)), "tapped #more: nothing changed");
        let mut failure = Failure::new("TARGET_AMBIGUOUS", "2 elements match", 1).with_hint("name one of them");
        failure.details = json!({"candidates": [{"label": "Me\n@n1"}]});
        assert_eq!(
            of(Err(failure)),
            "error TARGET_AMBIGUOUS: 2 elements match\ncandidate: \"Me\\n@n1\"\nhint: name one of them"
        );
    }
}
