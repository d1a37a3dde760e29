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
