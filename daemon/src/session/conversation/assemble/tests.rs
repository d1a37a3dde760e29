use super::*;

fn recorded(position: i64, role: Role, text: &str) -> Recorded {
    let message = said(role, text.to_owned());
    let tokens = tokens(&message, &Counter::estimate());
    Recorded { uid: String::new(), position, turn: position, message, tokens, tokenizer: "estimate".into(), in_context: true, at: 0 }
}

#[test]
fn recent_turns_move_in_steps() {
    let room = 800;
    let points: Vec<i64> = (0..3_000).map(|said| recent_from(said, room)).collect();
    assert!(points.windows(2).all(|w| w[0] <= w[1]));
    assert!(points.iter().enumerate().all(|(said, from)| said as i64 - from <= room));
    let steps = points.windows(2).filter(|w| w[0] != w[1]).count();
    assert!(steps <= 3_000 / 400, "{steps}");
}

#[test]
fn a_call_is_never_parted_from_its_answer_and_all_fits() {
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
    let material = Material { recent, ..Material::default() };
    for budget in [200, 600, 2_000, 50_000] {
        let allocation = super::super::budget::allocate(budget, &crate::config::Conversation::default());
        let made = assemble(&material, &allocation, budget, &counter);
        assert!(made.tokens <= budget, "{} of {budget}", made.tokens);
        let calls: Vec<&str> = made.messages.iter().flat_map(|m| &m.tool_calls).map(|c| c.id.as_str()).collect();
        let answers: Vec<&str> = made.messages.iter().filter_map(|m| m.tool_call_id.as_deref()).collect();
        assert_eq!(calls, answers);
        assert_eq!(made.messages.first().map(|m| m.role), Some(Role::User));
    }
}

#[test]
fn what_is_not_paired_is_left_out_and_said() {
    let counter = Counter::estimate();
    let call = |id: &str| afd_proto::conversation::ToolCall { id: id.into(), name: "tap".into(), arguments: serde_json::Map::new() };
    let answer = |id: &str| Message { tool_call_id: Some(id.into()), ..said(Role::Tool, "done".into()) };
    let calls = |ids: &[&str]| Message { tool_calls: ids.iter().map(|id| call(id)).collect(), ..said(Role::Assistant, String::new()) };
    let talk = [
        said(Role::User, "go".into()),
        calls(&["a", "b"]),
        said(Role::User, "hurry".into()),
        answer("b"),
        answer("foreign"),
        calls(&["c"]),
        said(Role::User, "stop".into()),
    ];
    let recent = talk.iter().enumerate().map(|(i, m)| Recorded { message: m.clone(), ..recorded(as_i64(i) + 1, Role::User, "") }).collect();
    let allocation = super::super::budget::allocate(4_000, &crate::config::Conversation::default());
    let made = assemble(&Material { recent, ..Material::default() }, &allocation, 4_000, &counter);
    let ids: Vec<&str> =
        made.messages.iter().flat_map(|m| m.tool_calls.iter().map(|c| c.id.as_str()).chain(m.tool_call_id.as_deref())).collect();
    assert_eq!(ids, ["b", "b"]);
    let left = made.left_out.iter().find(|l| l.what == "calls or answers of tools").expect("said");
    assert_eq!(left.count, 3);
}

#[test]
fn the_newest_step_stays_however_long_its_answers_are() {
    let counter = Counter::estimate();
    let ids = ["a", "b", "c", "d"];
    let call = |id: &&str| {
        let deep = serde_json::json!({"fields": vec!["a long value of a field"; 300]});
        let serde_json::Value::Object(arguments) = deep else { panic!("an object") };
        afd_proto::conversation::ToolCall { id: (*id).into(), name: "fill".into(), arguments }
    };
    let mut talk = vec![said(Role::User, "please fill it in".into())];
    talk.push(Message { tool_calls: ids.iter().map(call).collect(), ..said(Role::Assistant, String::new()) });
    talk.extend(ids.map(|id| Message { tool_call_id: Some(id.into()), ..said(Role::Tool, "many words of a tool ".repeat(200)) }));
    let recent = talk.iter().enumerate().map(|(i, m)| Recorded { message: m.clone(), ..recorded(as_i64(i) + 1, Role::User, "") }).collect();
    let allocation = super::super::budget::allocate(4_000, &crate::config::Conversation::default());
    let made = assemble(&Material { recent, said: 20_000, ..Material::default() }, &allocation, 4_000, &counter);
    assert_eq!(made.messages.len(), 6, "{:?}", made.left_out);
    assert!(made.tokens <= 1_400, "{}", made.tokens);
}

#[test]
fn texts_are_cut_to_their_tokens_in_any_script() {
    let counter = Counter::estimate();
    for text in ["words and words. ".repeat(500), "长长的文本。".repeat(500), "👨‍👩‍👧".repeat(500), "x".repeat(5_000)] {
        let cost = counter.count(&text);
        for most in [20, 100, 1_000] {
            let cut = cut_to(&text, cost, most, &counter);
            assert!(counter.count(&cut) <= most.max(cost.min(most)), "{} of {most}", counter.count(&cut));
            assert!(!cut.contains('\u{fffd}'));
        }
    }
}
