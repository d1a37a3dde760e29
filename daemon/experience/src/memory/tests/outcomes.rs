//! What counts as the outcome of an act.

use super::*;
use crate::memory::events;

#[test]
fn page_that_settles_soon_is_the_outcome() {
    let lab = Lab::new();
    for _ in 0..3 {
        lab.see(&page("List"));
        lab.wait(SECOND).tap(&page("List"), "Open");
        lab.wait(500).see(&page("Item"));
        lab.wait(60 * SECOND);
    }
    assert_eq!(lab.outcomes(&page("List"), "Open"), led_to("Item", 3));
    // The page arrived 600 ms after the tap began: 100 ms for the tap, and 500 ms until the capture.
    let known = lab.known(&page("List"), "Open").expect("known");
    assert_eq!((known.success_count, known.outcomes[0].mean_ms), (3, Some(600)));
}

#[test]
fn page_that_comes_late_is_an_outcome_of_waiting() {
    let lab = Lab::new();
    lab.see(&page("List"));
    lab.wait(SECOND).tap(&page("List"), "Open");
    lab.wait(500).see(&page("Item"));
    lab.wait(10_001).see(&page("Advertisement"));
    assert_eq!(lab.outcomes(&page("List"), "Open"), led_to("Item", 1));
    let mut waited = lab.experience(&page("Item")).transitions;
    waited.retain(|t| t.match_scope == Scope::State);
    assert_eq!(waited.len(), 1);
    assert_eq!((waited[0].action.verb, waited[0].outcomes[0].name.as_deref()), (Verb::Wait, Some("Advertisement")));
}

#[test]
fn later_capture_corrects_an_outcome_until_a_check_confirms_it() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Open");
    lab.wait(300).see(&page("Loading"));
    assert_eq!(lab.outcomes(&page("List"), "Open"), led_to("Loading", 1));
    lab.wait(700).see(&page("Item"));
    assert_eq!(lab.outcomes(&page("List"), "Open"), led_to("Item", 1));
    lab.wait(100).check(&page("Item"), true);
    lab.wait(500).see(&page("Survey"));
    assert_eq!(lab.outcomes(&page("List"), "Open"), led_to("Item", 1));
    let known = lab.known(&page("List"), "Open").expect("known");
    assert_eq!((known.verified_count, known.outcomes[0].verified_count), (1, 1));
}

#[test]
fn unsettled_and_unreliable_captures_are_no_outcomes() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Open");
    lab.wait(300).observe(&page("Item"), false, true);
    lab.wait(300).observe(&page("Item"), true, false);
    lab.wait(300).see(&Place { app: Some("a.b".into()), ..Place::default() });
    assert!(lab.known(&page("List"), "Open").is_none());
}

#[test]
fn unchanged_page_means_nothing_only_after_a_while() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Refresh");
    lab.wait(2_999).see(&page("List"));
    assert!(lab.known(&page("List"), "Refresh").is_none(), "it may still be on its way");
    lab.wait(1).see(&page("List"));
    assert_eq!(lab.outcomes(&page("List"), "Refresh"), vec![(OutcomeKind::Nothing, String::new(), 1)]);
    let known = lab.known(&page("List"), "Refresh").expect("known");
    assert_eq!((known.success_count, known.nothing_count), (0, 1));
}

#[test]
fn changed_content_is_the_same_page() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Select");
    lab.wait(300).see(&changed(&page("List"), "one selected"));
    assert_eq!(lab.outcomes(&page("List"), "Select"), vec![(OutcomeKind::Same, String::new(), 1)]);
    // Equal content means the same page, even if the structure differs.
    lab.tap(&page("List"), "Select");
    let other = Place { structure: Some("other".into()), ..page("List") };
    lab.wait(4 * SECOND).see(&other);
    assert_eq!(lab.known(&page("List"), "Select").expect("known").nothing_count, 1);
}

#[test]
fn pop_up_over_the_page_that_came_does_not_replace_it() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Open");
    lab.wait(300).see(&page("Item"));
    lab.wait(300).see(&dialog("Rate us", &page("Item")));
    assert_eq!(lab.outcomes(&page("List"), "Open"), led_to("Item", 1));
    // A dialog that the tap itself opened is its outcome.
    lab.wait(60 * SECOND).tap(&page("List"), "Delete");
    lab.wait(300).see(&dialog("Delete?", &page("List")));
    assert_eq!(lab.outcomes(&page("List"), "Delete"), led_to("Delete?", 1));
}

#[test]
fn page_belongs_to_the_last_act_before_it() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Open");
    lab.wait(300).tap(&page("List"), "Search");
    lab.wait(300).see(&page("Results"));
    assert!(lab.known(&page("List"), "Open").is_none());
    assert_eq!(lab.outcomes(&page("List"), "Search"), led_to("Results", 1));
}

#[test]
fn page_that_comes_while_an_act_is_under_way_belongs_to_none() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Open");
    let open = Event { action: Some(tap("Search")), ..lab.event(Category::Act, "tap", &page("List")) };
    events::intend(&lab.c, &lab.origin, &open).expect("intends");
    lab.wait(300).see(&page("Item"));
    assert!(lab.known(&page("List"), "Open").is_none(), "the page may be of the second tap");
}

#[test]
fn failed_check_counts_against_the_act_until_the_page_comes() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Connect");
    lab.wait(300).see(&changed(&page("List"), "connecting"));
    lab.wait(100).check(&changed(&page("List"), "connecting"), false);
    let known = lab.known(&page("List"), "Connect").expect("known");
    assert_eq!((known.success_count, known.failure_count), (1, 1));
    // A second check of the same kind does not count twice.
    lab.wait(100).check(&changed(&page("List"), "connecting"), false);
    assert_eq!(lab.known(&page("List"), "Connect").expect("known").failure_count, 1);
    lab.wait(SECOND).see(&page("Connected"));
    let known = lab.known(&page("List"), "Connect").expect("known");
    assert_eq!((known.success_count, known.failure_count), (1, 0));
    assert_eq!(lab.outcomes(&page("List"), "Connect"), led_to("Connected", 1));
}

#[test]
fn only_failures_about_the_target_count() {
    let lab = Lab::new();
    for cause in [ErrorCode::DeviceUnreachable, ErrorCode::Internal, ErrorCode::TargetCovered, ErrorCode::StoreFull] {
        lab.fail(&page("List"), "Open", cause);
    }
    assert!(lab.known(&page("List"), "Open").is_none());
    lab.fail(&page("List"), "Open", ErrorCode::TargetNotFound);
    assert_eq!(lab.outcomes(&page("List"), "Open"), vec![(OutcomeKind::Failed, "TARGET_NOT_FOUND".to_owned(), 1)]);
    // A tap without a target says nothing about an element.
    let event = lab.event(Category::Act, "tap", &page("Other"));
    let action = Some(Action::of(Verb::Tap));
    let failure = Some(ErrorCode::TargetNotFound);
    lab.record(&Event { action, status: EventStatus::Failed, failure, sent: false, ..event });
    assert!(lab.experience(&page("Other")).transitions.iter().all(|t| t.match_scope != Scope::State));
}

#[test]
fn check_after_a_refused_act_judges_no_earlier_one() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Open");
    lab.wait(300).see(&page("Item"));
    lab.fail(&page("Item"), "Save", ErrorCode::TargetNotFound);
    lab.check(&page("Item"), false);
    assert_eq!(lab.known(&page("List"), "Open").expect("known").failure_count, 0);
    // A check by another session does not judge the act, either.
    let lab = Lab::new();
    lab.tap(&page("List"), "Open");
    lab.wait(300).see(&page("Item"));
    let other = Origin { session: 2, ..lab.origin.clone() };
    let event = lab.event(Category::Verify, "textContains", &page("Item"));
    let failed = Event { status: EventStatus::Failed, failure: Some(ErrorCode::AssertionFailed), ..event };
    record::event(&lab.c, &other, &failed).expect("records");
    assert_eq!(lab.known(&page("List"), "Open").expect("known").failure_count, 0);
}
