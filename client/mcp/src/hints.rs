//! Rewrites the daemon's hints for MCP clients. The daemon's hints name commands and methods; the rewritten hints name
//! tools and their arguments. Parts of a hint that have no corresponding tool are omitted.

use afd_link::outcome::Failure;
use afd_proto::MethodInfo;
use afd_proto::tool::Tool;
use serde_json::{Map, Value};

use crate::arguments;

/// Phrases in the daemon's hints, each with a replacement that names tools.
const PHRASES: &[(&str, &str)] = &[
    ("observe the page (`afctl look`)", "call af_look"),
    ("observe again and use one of the new refs", "call af_look and use one of the new aliases"),
    ("observe the page", "call af_look"),
    ("observe again", "call af_look"),
    ("observe it", "call af_look"),
    ("look again", "call af_look"),
    ("one of the candidates' selectors, a longer value, or a ref", "a longer label, or an alias of af_look"),
    ("a ref,", "an alias,"),
    ("scroll-to ", "af_scroll_to "),
    ("press Back", "af_back"),
    ("`afctl look`", "af_look"),
];

/// Words that refer to things that an MCP client does not have.
const FOREIGN: &[&str] =
    &["`", "afctl", "rpc.", "observe.", "act.", "--", "AF_", "configuration", "settings", "setting ", "JSON-RPC"];

/// Replaces the hint of a failure with one that names tools. If the call's arguments were invalid, the hint lists the
/// arguments that the tool takes.
pub fn for_tools(
    failure: &mut Failure,
    tool: &Tool,
    schema: &Map<String, Value>,
    tools: &[(&'static Tool, &'static MethodInfo)],
) {
    if failure.code == "INVALID_PARAMS" && failure.hint.as_deref().is_none_or(|hint| hint.contains("rpc.discover")) {
        let takes = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let takes: Vec<String> = takes.map(|(name, property)| arguments::described(name, property)).collect();
        failure.hint = (!takes.is_empty()).then(|| format!("{} takes {}", tool.name, takes.join(", ")));
        return;
    }
    failure.hint = failure.hint.take().and_then(|hint| in_tools(&hint, tools));
}

/// Rewrites a hint so that it names tools. Returns `None` if no part of the hint can be rewritten.
fn in_tools(hint: &str, tools: &[(&'static Tool, &'static MethodInfo)]) -> Option<String> {
    let mut text = without_asides(hint);
    for (said, with_tools) in PHRASES {
        text = text.replace(said, with_tools);
    }
    for (tool, info) in tools {
        text = text.replace(&format!("`afctl {}`", info.name.replace('.', " ")), tool.name);
    }
    let known = |name: &str| tools.iter().any(|(tool, _)| tool.name == name);
    let usable = |part: &&str| {
        let names = part.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| word.starts_with("af_"));
        !part.trim().is_empty() && !FOREIGN.iter().any(|word| part.contains(word)) && names.into_iter().all(known)
    };
    let parts: Vec<&str> = text.split("; ").filter(usable).map(str::trim).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Removes remarks in parentheses that are meant for command-line users.
fn without_asides(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(" (") {
        let Some(end) = rest[start..].find(')').map(|end| start + end + 1) else { break };
        let aside = &rest[start..end];
        out.push_str(&rest[..start]);
        if !(aside.contains("afctl: ") || aside.contains("`--")) {
            out.push_str(aside);
        }
        rest = &rest[end..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use afd_proto::tool::Toolset;

    fn core() -> Vec<(&'static Tool, &'static MethodInfo)> {
        let tools = afd_proto::methods().filter_map(|info| Some((info.tool?, info)));
        tools.filter(|(tool, _)| tool.toolset == Toolset::Core).collect()
    }

    #[test]
    fn hints_name_tools_only() {
        let told = |hint: &str| in_tools(hint, &core());
        let of = |hint: &str| told(hint).unwrap_or_default();
        assert_eq!(of("observe the page to see what is there"), "call af_look to see what is there");
        assert_eq!(
            of("use a whole label, a ref, or partial (afctl: --partial) to take such a match").matches("--").count(),
            0
        );
        assert_eq!(of("scroll to it first: scroll-to \"Display\""), "scroll to it first: af_scroll_to \"Display\"");
        assert_eq!(of("close the keyboard first: press Back"), "close the keyboard first: af_back");
        assert_eq!(
            of("call af_look to see what happened; `afctl status` shows the state"),
            "call af_look to see what happened"
        );
        assert_eq!(
            of("`afctl recall search` finds entries with their uids; messages are in `afctl conversation list`")
                .split("; ")
                .count(),
            1
        );
        assert_eq!(told("`afctl visual states` lists what is known"), None);
        assert_eq!(told("check --url and AF_URL"), None);
        assert_eq!(told("af_home leads to the launcher"), None, "a tool that is not offered");
    }

    #[test]
    fn wrong_arguments_are_answered_with_those_of_the_tool() {
        let (tool, info) = core().into_iter().find(|(tool, _)| tool.name == "af_recall").expect("a tool");
        let mut failure =
            Failure::new("INVALID_PARAMS", "limit: expected a number", 1).with_hint("`rpc.discover` describes them");
        for_tools(&mut failure, tool, &crate::schema::of(tool, info), &core());
        let hint = failure.hint.expect("a hint");
        assert!(
            hint.starts_with("af_recall takes ") && hint.contains("limit (number)") && !hint.contains("rpc."),
            "{hint}"
        );
    }
}
