use super::*;

fn best(role: Role, text: &str) -> f64 {
    candidates(role, text, None).first().map_or(0.0, |c| c.base_score)
}

#[test]
fn specific_statements_score_higher_than_requests() {
    let facts = [
        "The staging password is Tulip-4711.",
        "My favourite colour is teal.",
        "We decided to ship on the 14th of March.",
        "Bug: the total stays at 10 when two items are in the cart",
        "Das Konto von Frau Meier hat die Nummer 88-1204.",
        "订单号是 48213，收件人是王芳。",
    ];
    for fact in facts {
        for request in [
            "Now open the next page please.",
            "Can you tell me what is on the screen?",
            "ok",
            "Done.",
            "Scroll down a bit more",
        ] {
            assert!(best(Role::User, fact) > best(Role::User, request) + 0.1, "{fact} / {request}");
        }
    }
}

#[test]
fn json_tool_output_yields_its_text_values() {
    let found = candidates(
        Role::Tool,
        r#"{"success":true,"order":{"orderId":"A-48213","note":"The courier comes on Friday at nine."}}"#,
        None,
    );
    let texts: Vec<&str> = found.iter().map(|c| c.text.as_str()).collect();
    assert!(texts.iter().any(|t| t.contains("The courier comes on Friday at nine.")), "{texts:?}");
}

#[test]
fn values_of_json_keep_the_name_of_their_object() {
    let json = r#"[{"name":"Tomasz Wilk","courses":{"ils":"EXPIRES 2024-10-31"},"ward":{"bed":4,"open":true}},{"name":"Ada Berg","courses":{"ils":"2025-03-09"},"ward":{"bed":9,"open":false}}]"#;
    let texts: Vec<String> = candidates(Role::Tool, json, None).into_iter().map(|c| c.text).collect();
    assert!(texts.contains(&"Tomasz Wilk: ils: EXPIRES 2024-10-31".to_owned()), "{texts:?}");
    assert!(texts.contains(&"Ada Berg: bed: 9, open: false".to_owned()), "{texts:?}");
}

#[test]
fn wrapped_lines_of_a_result_are_one_statement() {
    let found = candidates(
        Role::Tool,
        "Registered nurse shifts: requests must be in by 12 noon on the Thursday,\ntwo weeks before the week in question.\nward | beds | open\nA4 | 12 | yes",
        None,
    );
    let texts: Vec<&str> = found.iter().map(|c| c.text.as_str()).collect();
    assert!(texts.iter().any(|text| text.contains("Thursday, two weeks before the week")), "{texts:?}");
    assert!(texts.iter().any(|text| text.starts_with("A4 | 12")), "rows of tables stay apart: {texts:?}");
}

#[test]
fn the_line_of_a_log_that_differs_comes_first() {
    let mut log: Vec<String> = (0..40)
        .map(|i| format!("09:55:{:02}.207 INFO hook[{i}] webhook id={i}-{} status=paid", i % 60, i * 7))
        .collect();
    log[23] = "09:55:23.301 ERROR hook[23] signature of the webhook does not match, refused".to_owned();
    let found = candidates(Role::Tool, &log.join("\n"), None);
    assert!(found[0].text.contains("signature"), "{:?}", found.iter().take(3).collect::<Vec<_>>());
}

#[test]
fn repeated_words_and_templates_lower_the_score() {
    let candidate = candidates(Role::User, "The tea costs 3 dollars.", None).remove(0);
    let new = score(&candidate, &vec![0; candidate.words.len()]);
    let old = score(&candidate, &vec![50; candidate.words.len()]);
    assert!(new > old * 1.3, "{new} {old}");
    assert!(discount_repeats(1.0, 1) > discount_repeats(1.0, 40) && discount_repeats(1.0, 40) > 0.3);
    assert!(
        (discount_repeats(1.0, 33) - discount_repeats(1.0, 60)).abs() < f64::EPSILON,
        "the discount changes only at powers of two"
    );
}

#[test]
fn long_message_yields_a_bounded_number_of_candidates() {
    let text: String = (0..20_000).map(|i| format!("Item {i} is called Widget-{i} and costs {i} euros.\n")).collect();
    assert_eq!(candidates(Role::User, &text, None).len(), MAX_KEPT);
}
