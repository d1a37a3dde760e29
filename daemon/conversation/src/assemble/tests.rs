use super::*;
use afd_proto::conversation::ToolCall;

fn recorded(position: i64, message: Message) -> RecordedMessage {
    let tokens = tokens(&message, &Counter::estimate());
    RecordedMessage {
        uid: String::new(),
        position,
        turn: position,
        message,
        tokens,
        tokenizer: "estimate".into(),
        in_context: true,
        origin: None,
        at: 0,
    }
}

fn call(id: &str, arguments: serde_json::Map<String, serde_json::Value>) -> ToolCall {
    ToolCall { id: id.into(), name: "tap".into(), arguments, ..ToolCall::default() }
}

fn calls(ids: &[&str]) -> Message {
    Message {
        tool_calls: ids.iter().map(|id| call(id, serde_json::Map::new())).collect(),
        ..text_message(Role::Assistant, String::new())
    }
}

fn answer(id: &str, text: &str) -> Message {
    Message { tool_call_id: Some(id.into()), ..text_message(Role::Tool, text.into()) }
}

/// Assembles these messages as the recent turns of a longer conversation.
fn assembled(talk: Vec<Message>, budget: i64) -> Assembled {
    let counter = Counter::estimate();
    let recent: Vec<RecordedMessage> = talk.into_iter().enumerate().map(|(i, m)| recorded(as_i64(i) + 1, m)).collect();
    let said = recent.iter().map(|m| m.tokens).sum();
    let allocation = super::super::budget::allocate(budget, &afd_base::config::Conversation::default());
    let draft = Draft::new(&Background::default(), budget, said, &allocation, &counter);
    let plan = draft.plan(said, said);
    draft.finish(&History { recent, fills: true, ..History::default() }, &plan)
}

#[test]
fn a_step_begins_when_the_conversation_has_grown_by_one() {
    for budget in [2_000, 8_000] {
        let plan = Plan::new(budget, budget, (1_000_000, 100_000));
        let points: Vec<i64> = (0..30_000).map(|said| plan.began(said)).collect();
        assert!(points.windows(2).all(|w| w[0] <= w[1]));
        assert!(points.iter().enumerate().all(|(said, began)| said as i64 - began <= plan.turns.max(plan.step)));
        let moves = points.windows(2).filter(|w| w[0] != w[1]).count() as i64;
        assert!(moves <= 30_000 / plan.step, "{moves}");
        assert!(plan.at_start(0) + plan.step <= plan.turns.max(2 * plan.step));
    }
}

#[test]
fn calls_keep_their_results_and_every_budget_is_respected() {
    let mut talk = vec![text_message(Role::User, "please do it".into())];
    for i in 0..20 {
        let id = format!("c{i}");
        talk.extend([calls(&[&id]), answer(&id, &"a long answer of the tool ".repeat(20))]);
    }
    for budget in [200, 600, 2_000, 50_000] {
        let made = assembled(talk.clone(), budget);
        assert!(made.tokens <= budget, "{} of {budget}", made.tokens);
        let calls: Vec<&str> = made.messages.iter().flat_map(|m| &m.tool_calls).map(|c| c.id.as_str()).collect();
        let answers: Vec<&str> = made.messages.iter().filter_map(|m| m.tool_call_id.as_deref()).collect();
        assert_eq!(calls, answers);
        assert!(answers.contains(&"c19"), "{budget}: the newest result is there: {answers:?}");
        assert_eq!(made.messages.first().map(|m| m.role), Some(Role::User));
    }
}

#[test]
fn unpaired_calls_and_results_are_omitted_and_reported() {
    let talk = vec![
        text_message(Role::User, "go".into()),
        calls(&["a", "b"]),
        text_message(Role::User, "hurry".into()),
        answer("b", "done"),
        answer("foreign", "done"),
        calls(&["c"]),
        text_message(Role::User, "stop".into()),
    ];
    let made = assembled(talk, 4_000);
    let ids: Vec<&str> = made
        .messages
        .iter()
        .flat_map(|m| m.tool_calls.iter().map(|c| c.id.as_str()).chain(m.tool_call_id.as_deref()))
        .collect();
    assert_eq!(ids, ["b", "b"]);
    let left = made.left_out.iter().find(|l| l.what == "unpaired tool calls or results").expect("reported");
    assert_eq!(left.count, 3);
}

#[test]
fn newest_step_is_kept_even_if_its_results_are_long() {
    let ids = ["a", "b", "c", "d"];
    let deep = serde_json::json!({"fields": vec!["a long value of a field"; 300]});
    let serde_json::Value::Object(arguments) = deep else { panic!("an object") };
    let mut talk = vec![text_message(Role::User, "please fill it in".into())];
    let tool_calls = ids.iter().map(|id| call(id, arguments.clone())).collect();
    talk.push(Message { tool_calls, ..text_message(Role::Assistant, String::new()) });
    talk.extend(ids.map(|id| answer(id, &"many words of a tool ".repeat(200))));
    let made = assembled(talk, 4_000);
    let turns = made.parts.iter().find(|part| part.part == "history").map(|part| part.messages);
    assert_eq!(turns, Some(6), "{:?}", made.left_out);
    assert!(made.tokens <= 4_000, "{}", made.tokens);
}

#[test]
fn text_of_any_script_is_cut_to_its_token_limit() {
    let counter = Counter::estimate();
    for text in ["words and words. ".repeat(500), "长长的文本。".repeat(500), "👨‍👩‍👧".repeat(500), "x".repeat(5_000)]
    {
        let cost = counter.count(&text);
        for max_tokens in [20, 100, 1_000] {
            let cut = cut_middle(&text, cost, max_tokens, &counter);
            assert!(
                counter.count(&cut) <= max_tokens.max(cost.min(max_tokens)),
                "{} of {max_tokens}",
                counter.count(&cut)
            );
            assert!(!cut.contains('\u{fffd}'));
        }
    }
}
