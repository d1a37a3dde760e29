//! Tools that a page publishes for agents: they are listed in the look, called, and never recorded.

use afd_tests::Client;
use afd_tests::wait::until;
use serde_json::{Value, json};

use super::Lab;

fn outline(client: &mut Client) -> String {
    client.ok("observe.page", json!({"format": "outline"}))["outline"].as_str().expect("an outline").to_owned()
}

fn names(page: &Value) -> Vec<&str> {
    page["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect()
}

#[test]
#[ignore = "needs chromium"]
fn a_page_lists_its_tools_and_answers_calls() {
    let lab = Lab::new("/tools");
    let mut client = lab.world.client();
    // The tool of the form comes after the page has loaded.
    let page = until("the page publishes all tools", || {
        let page = client.ok("observe.page", json!({"format": "outline"}));
        (names(&page).len() == 6).then_some(page)
    });
    let text = page["outline"].as_str().expect("an outline");
    let line = r#"tool "put"(count?: integer, tea: string) "Puts tea into the basket\n@n9 button \"Pay\"""#;
    assert!(text.contains("\ntools of the page, for act.pageTool:\n") && text.contains(line), "{text}");
    let mut listed = names(&page);
    listed.sort_unstable();
    assert_eq!(listed, ["ask", "fail", "find", "list", "never", "put"]);
    let call = json!({"tool": "put", "input": {"tea": "Ginger", "count": 2}, "then": "diff", "requestKey": "k1"});
    let put = client.ok("act.pageTool", call.clone());
    assert_eq!(put["output"], "added Ginger");
    let changes = put["look"]["observation"]["outline"].as_str().expect("an outline");
    assert!(changes.contains(r#"+ "basket: 2 Ginger""#) && !changes.contains("tool \""), "{changes}");
    let again = client.ok("act.pageTool", call);
    assert_eq!((&again["replayed"], &again["output"]), (&json!(true), &Value::Null), "{again}");
    client.ok("act.tap", json!({"value": "More tools"}));
    let changes = client.ok("observe.page", json!({"since": "last"}));
    assert!(
        changes["outline"].as_str().is_some_and(|text| text.contains(r#"+ tool "late"() "Came later""#)),
        "{changes}"
    );
    client.ok("act.tap", json!({"value": "Second page"}));
    let text = outline(&mut client);
    assert!(text.starts_with("page \"Second\"") && !text.contains("tool"), "{text}");
}

#[test]
#[ignore = "needs chromium"]
fn a_form_is_filled_in_and_long_answers_become_files() {
    let lab = Lab::new("/tools");
    let mut client = lab.world.client();
    let filled = client.ok("act.pageTool", json!({"tool": "find", "input": {"q": "green"}, "then": "outline"}));
    assert_eq!(filled["output"], "the form is filled in, and was not sent");
    let text = filled["look"]["observation"]["outline"].as_str().expect("an outline");
    assert!(text.contains(r#"field "Query" = "green""#) && text.contains("nothing in the basket"), "{text}");
    let long = client.ok("act.pageTool", json!({"tool": "list"}));
    assert_eq!(long["artifact"]["sizeBytes"], 200_000, "{long}");
}

#[test]
#[ignore = "needs chromium"]
fn what_a_tool_does_not_do_is_said() {
    let lab = Lab::new("/tools");
    let mut client = lab.world.client();
    let failed = client.fails("act.pageTool", json!({"tool": "fail"}), "DEVICE_ERROR");
    assert!(failed.message.contains("sold out"), "{failed:?}");
    let unknown = client.fails("act.pageTool", json!({"tool": "buy"}), "DEVICE_ERROR");
    assert!(unknown.message.contains(r#"no tool "buy""#), "{unknown:?}");
    client.fails("act.pageTool", json!({"tool": "never", "timeoutMs": 50}), "OUTCOME_UNKNOWN");
    client.fails("act.pageTool", json!({"tool": "ask"}), "OUTCOME_UNKNOWN");
    let asks = outline(&mut client);
    assert!(asks.contains("Sure?") && asks.contains(r#"button "Cancel""#), "{asks}");
}

#[test]
#[ignore = "needs chromium"]
fn neither_input_nor_answer_is_recorded() {
    let lab = Lab::new("/tools");
    let mut client = lab.world.client();
    let put = json!({"tool": "put", "input": {"tea": "Secretum", "count": 1}, "requestKey": "k"});
    client.ok("act.pageTool", put);
    client.fails("act.pageTool", json!({"tool": "fail", "input": {"pin": "Secretum"}}), "DEVICE_ERROR");
    let events = client.ok("memory.log", json!({}));
    assert!(events.to_string().contains("pageTool"), "{events}");
    assert!(!events.to_string().contains("Secretum") && !events.to_string().contains("added"), "{events}");
    assert!(!events.to_string().contains("sold out"), "{events}");
}

#[test]
#[ignore = "needs chromium"]
fn output_for_agents_quotes_the_answer() {
    let lab = Lab::new("/tools");
    let args = ["-o", "agent", "act", "page-tool", "put", r#"{"tea": "Ginger", "count": 2}"#];
    let run = crate::command_line::afctl(lab.world.dir()).env("AFD_SOCKET", lab.world.socket()).args(args).output();
    let output = String::from_utf8_lossy(&run.expect("runs").stdout).into_owned();
    assert!(output.starts_with("answered: done\n> added Ginger\npage"), "{output}");
}

#[test]
fn a_phone_has_no_tools_of_pages() {
    let world = afd_tests::World::new();
    world.client().fails("act.pageTool", json!({"tool": "put"}), "UNSUPPORTED");
}
