//! Messages as serialised by the SDKs of OpenAI and Anthropic, and contexts validated by the types of the SDKs. The
//! tests require that `AFD_PYTHON` names a Python with the packages.

use std::io::Write;
use std::process::{Command, Stdio};

use afd_tests::{World, docs};
use serde_json::{Value, json};

use super::append;

/// Runs the program that uses the SDKs, with `input` on standard input; returns its output.
fn sdks(arguments: &[&str], input: &Value) -> String {
    let python = std::env::var_os("AFD_PYTHON").expect("needs AFD_PYTHON");
    let mut command = Command::new(python);
    command.arg(docs::repository("tests/clients/sdk_messages.py")).args(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    child.stdin.take().expect("a pipe").write_all(input.to_string().as_bytes()).expect("writes");
    let done = child.wait_with_output().expect("ends");
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
#[ignore = "needs Python packages"]
fn messages_of_the_sdks_are_taken_and_given_back() {
    let dumped = sdks(&["dump"], &Value::Null);
    let dumped: Value = serde_json::from_str(&dumped).expect("JSON");
    for vendor in ["openai", "anthropic"] {
        let world = World::new();
        let mut client = world.client_for(vendor);
        let messages = dumped[vendor].as_array().expect("messages").clone();
        let appended = append(&mut client, messages);
        assert!(appended["usage"]["recorded"].as_i64() >= Some(4), "{appended}");
        let listed = client.ok("conversation.list", json!({}));
        let roles: Vec<&str> =
            listed["messages"].as_array().expect("messages").iter().filter_map(|m| m["role"].as_str()).collect();
        assert!(
            roles.contains(&"tool") && roles.contains(&"assistant") && roles.contains(&"user"),
            "{vendor}: {roles:?}"
        );
        let calls: Vec<&Value> =
            listed["messages"].as_array().expect("messages").iter().map(|m| &m["toolCalls"][0]).collect();
        assert!(
            calls.iter().any(|call| call["name"] == "look" && call["arguments"] == json!({"page": 3})),
            "{calls:?}"
        );
        let found = client.ok("conversation.search", json!({"query": "invoice row 17", "role": "tool"}));
        assert_eq!(found["messages"].as_array().map(Vec::len), Some(1), "{vendor}: {found}");
        for format in ["openai", "anthropic"] {
            let context = client.ok("conversation.context", json!({"format": format}));
            sdks(&["check", format], &context);
            // The messages of a context can be appended to another session.
            append(
                &mut world.client_for(&format!("again-{format}")),
                context["messages"].as_array().expect("messages").clone(),
            );
        }
    }
}
