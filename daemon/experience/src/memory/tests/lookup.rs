//! How experience is looked up and described.

use super::*;
use crate::memory::pages::Page;

#[test]
fn nearer_experience_comes_first_and_only_once() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Open");
    lab.wait(300).see(&page("Item"));
    let elsewhere = Place { activity: Some("a.b/.List".into()), ..page("Archive") };
    lab.wait(60 * SECOND).tap(&elsewhere, "Open");
    lab.wait(300).see(&page("Item"));
    lab.wait(60 * SECOND).tap(&page("Far"), "Open");
    lab.wait(300).see(&page("Item"));
    let scopes: Vec<Scope> = lab.experience(&page("List")).transitions.iter().map(|t| t.match_scope).collect();
    assert_eq!(scopes, [Scope::State, Scope::Activity, Scope::App]);
    let unasked = Query { place: page("List"), limit: 50, unasked: true, ..Query::default() };
    let found = experience::find(&lab.c, &unasked, &|_, page| Ok(plain_name(page))).expect("finds");
    assert_eq!(found.transitions.len(), 1, "only what is about this page is offered");
}

#[test]
fn looks_of_one_state_count_as_one_page() {
    let lab = Lab::new();
    let (list, other) = (page("List"), Place { structure: Some("other look".into()), ..page("List") });
    for (from, to, ms) in [(&list, "Item", 400), (&list, "Item", 400), (&other, "Item 2", 1_000)] {
        lab.wait(60 * SECOND).tap(from, "Open");
        lab.wait(ms).see(&page(to));
    }
    // Both looks of the list are one state, and so are both items.
    let name = |_: &Connection, page: &Page| {
        let is_item = page.title.as_deref().is_some_and(|t| t.starts_with("Item"));
        let (id, name) = if is_item { (2, "An item") } else { (1, "The list") };
        Ok(experience::PageName { id: Some(id), state: Some(format!("s_{id}")), name: name.to_owned() })
    };
    let state = [&list, &other].map(|p| p.structure.clone().expect("a structure")).to_vec();
    let query = Query { place: list.clone(), state, limit: 50, ..Query::default() };
    let found = experience::find(&lab.c, &query, &name).expect("finds").transitions;
    assert_eq!(found.len(), 1);
    let known = &found[0];
    assert_eq!(known.text, "tap button \"Open\" leads to \"An item\" (3 of 3)");
    assert_eq!((known.success_count, known.outcomes.len(), known.outcomes[0].count), (3, 1, 3));
    // Two of 500 ms and one of 1,100 ms: each with 100 ms for the tap.
    assert_eq!(known.outcomes[0].mean_ms, Some(700));
    assert!((known.outcomes[0].share - 1.0).abs() < 1e-9);
}

#[test]
fn action_is_described_with_its_outcomes_in_the_order_of_their_use() {
    let lab = Lab::new();
    for to in ["Item", "Item", "Error"] {
        lab.wait(60 * SECOND).tap(&page("List"), "Open");
        lab.wait(400).see(&page(to));
    }
    lab.wait(60 * SECOND).tap(&page("List"), "Open");
    lab.wait(4 * SECOND).see(&page("List"));
    lab.wait(60 * SECOND).fail(&page("List"), "Open", ErrorCode::TargetNotFound);
    let known = lab.known(&page("List"), "Open").expect("known");
    let text = "tap button \"Open\": 2 of 5 \"Item\", 1 of 5 \"Error\", 1 of 5 nothing, 1 of 5 failed; last failure: TARGET_NOT_FOUND";
    assert_eq!(known.text, text);
    assert_eq!(known.post_page.as_ref().map(|p| p.key.as_str()), Some("act=a.b/.Item"));
    assert_eq!(known.failure_cause.as_deref(), Some("TARGET_NOT_FOUND"));
}

#[test]
fn page_without_a_title_is_named_by_its_activity_or_app() {
    let of = |title: Option<&str>, activity: &str| {
        let page =
            Page { app: "a.b".into(), activity: activity.into(), title: title.map(str::to_owned), ..Page::default() };
        plain_name(&page).name
    };
    assert_eq!(of(Some("Inbox"), "a.b/.Main"), "Inbox");
    assert_eq!(of(None, "a.b/.Main"), "Main");
    assert_eq!(of(None, ""), "a.b");
}
