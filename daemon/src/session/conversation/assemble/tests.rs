use super::*;

fn recorded(position: i64, role: Role, text: &str) -> RecordedMessage {
    let message = text_message(role, text.to_owned());
    let tokens = tokens(&message, &Counter::estimate());
    RecordedMessage { uid: String::new(), position, turn: position, message, tokens, tokenizer: "estimate".into(), in_context: true, at: 0 }
}

#[test]
fn start_of_recent_turns_moves_in_steps() {
    let available = 800;
    let points: Vec<i64> = (0..3_000).map(|total| recent_turns_start(total, available)).collect();
    assert!(points.windows(2).all(|w| w[0] <= w[1]));
    assert!(points.iter().enumerate().all(|(total, from)| total as i64 - from <= available));
    let steps = points.windows(2).filter(|w| w[0] != w[1]).count();
    assert!(steps <= 3_000 / 400, "{steps}");
}

#[test]
fn calls_keep_their_results_and_every_budget_is_respected() {
    let counter = Counter::estimate();
    let mut recent = vec![recorded(1, Role::User, "please do it")];
    for i in 0..20 {
        let mut call = recorded(i * 2 + 2, Role::Assistant, "");
        call.message.tool_calls =
            vec![afd_proto::conversation::ToolCall { id: format!("c{i}"), name: "tap".into(), arguments: serde_json::Map::new() }];
        let mut answer = recorded(i * 2 + 3, Role::Tool, &"a long answer of the tool ".repeat(20));
        answer.message.tool_call_id = Some(format!("c{i}"));
        recent.extend([call, answer]);
    }
    let inputs = ContextInputs { recent, ..ContextInputs::default() };
    for budget in [200, 600, 2_000, 50_000] {
        let allocation = super::super::budget::allocate(budget, &crate::config::Conversation::default());
        let made = assemble(&inputs, &allocation, budget, &counter);
        assert!(made.tokens <= budget, "{} of {budget}", made.tokens);
        let calls: Vec<&str> = made.messages.iter().flat_map(|m| &m.tool_calls).map(|c| c.id.as_str()).collect();
        let answers: Vec<&str> = made.messages.iter().filter_map(|m| m.tool_call_id.as_deref()).collect();
        assert_eq!(calls, answers);
        assert_eq!(made.messages.first().map(|m| m.role), Some(Role::User));
    }
}

#[test]
fn unpaired_calls_and_results_are_omitted_and_reported() {
    let counter = Counter::estimate();
    let call = |id: &str| afd_proto::conversation::ToolCall { id: id.into(), name: "tap".into(), arguments: serde_json::Map::new() };
    let answer = |id: &str| Message { tool_call_id: Some(id.into()), ..text_message(Role::Tool, "done".into()) };
    let calls =
        |ids: &[&str]| Message { tool_calls: ids.iter().map(|id| call(id)).collect(), ..text_message(Role::Assistant, String::new()) };
    let talk = [
        text_message(Role::User, "go".into()),
        calls(&["a", "b"]),
        text_message(Role::User, "hurry".into()),
        answer("b"),
        answer("foreign"),
        calls(&["c"]),
        text_message(Role::User, "stop".into()),
    ];
    let recent =
        talk.iter().enumerate().map(|(i, m)| RecordedMessage { message: m.clone(), ..recorded(as_i64(i) + 1, Role::User, "") }).collect();
    let allocation = super::super::budget::allocate(4_000, &crate::config::Conversation::default());
    let made = assemble(&ContextInputs { recent, ..ContextInputs::default() }, &allocation, 4_000, &counter);
    let ids: Vec<&str> =
        made.messages.iter().flat_map(|m| m.tool_calls.iter().map(|c| c.id.as_str()).chain(m.tool_call_id.as_deref())).collect();
    assert_eq!(ids, ["b", "b"]);
    let left = made.left_out.iter().find(|l| l.what == "unpaired tool calls or results").expect("reported");
    assert_eq!(left.count, 3);
}

#[test]
fn newest_step_is_kept_even_if_its_results_are_long() {
    let counter = Counter::estimate();
    let ids = ["a", "b", "c", "d"];
    let call = |id: &&str| {
        let deep = serde_json::json!({"fields": vec!["a long value of a field"; 300]});
        let serde_json::Value::Object(arguments) = deep else { panic!("an object") };
        afd_proto::conversation::ToolCall { id: (*id).into(), name: "fill".into(), arguments }
    };
    let mut talk = vec![text_message(Role::User, "please fill it in".into())];
    talk.push(Message { tool_calls: ids.iter().map(call).collect(), ..text_message(Role::Assistant, String::new()) });
    talk.extend(ids.map(|id| Message { tool_call_id: Some(id.into()), ..text_message(Role::Tool, "many words of a tool ".repeat(200)) }));
    let recent =
        talk.iter().enumerate().map(|(i, m)| RecordedMessage { message: m.clone(), ..recorded(as_i64(i) + 1, Role::User, "") }).collect();
    let allocation = super::super::budget::allocate(4_000, &crate::config::Conversation::default());
    let made = assemble(&ContextInputs { recent, total_tokens: 20_000, ..ContextInputs::default() }, &allocation, 4_000, &counter);
    assert_eq!(made.messages.len(), 6, "{:?}", made.left_out);
    assert!(made.tokens <= 1_400, "{}", made.tokens);
}

#[test]
fn text_of_any_script_is_cut_to_its_token_limit() {
    let counter = Counter::estimate();
    for text in ["words and words. ".repeat(500), "长长的文本。".repeat(500), "👨‍👩‍👧".repeat(500), "x".repeat(5_000)] {
        let cost = counter.count(&text);
        for max_tokens in [20, 100, 1_000] {
            let cut = cut_middle(&text, cost, max_tokens, &counter);
            assert!(counter.count(&cut) <= max_tokens.max(cost.min(max_tokens)), "{} of {max_tokens}", counter.count(&cut));
            assert!(!cut.contains('\u{fffd}'));
        }
    }
}
