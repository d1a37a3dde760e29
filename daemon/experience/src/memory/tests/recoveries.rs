//! Which recovery cured which failure.

use super::*;

#[test]
fn recovery_worked_when_what_had_failed_succeeds() {
    let lab = Lab::new();
    lab.fail(&page("List"), "Open", ErrorCode::TargetNotFound);
    lab.wait(SECOND).recover(&page("List"));
    let found = |lab: &Lab| {
        let known = lab.experience(&page("List")).recoveries.remove(0);
        (known.failure_cause, known.success_count, known.failure_count)
    };
    assert_eq!(found(&lab), ("TARGET_NOT_FOUND".to_owned(), 0, 0), "it is undecided");
    // Other actions in between do not decide whether the recovery worked.
    lab.wait(SECOND).tap(&page("List"), "Menu");
    assert_eq!(found(&lab).1, 0);
    lab.wait(SECOND).tap(&page("List"), "Open");
    assert_eq!(found(&lab), ("TARGET_NOT_FOUND".to_owned(), 1, 0));
    lab.wait(SECOND).fail(&page("List"), "Open", ErrorCode::TargetNotFound);
    lab.wait(SECOND).recover(&page("List"));
    lab.wait(SECOND).fail(&page("List"), "Open", ErrorCode::TargetNotFound);
    assert_eq!(found(&lab), ("TARGET_NOT_FOUND".to_owned(), 1, 1));
}

#[test]
fn failed_check_is_cured_by_the_same_check() {
    let lab = Lab::new();
    lab.tap(&page("List"), "Connect");
    lab.wait(300).see(&page("List"));
    lab.check(&page("List"), false);
    lab.recover(&page("List"));
    lab.wait(SECOND).check(&page("List"), true);
    let known = lab.experience(&page("List")).recoveries;
    assert_eq!((known[0].failure_cause.as_str(), known[0].success_count), ("ASSERTION_FAILED", 1));
}

#[test]
fn recovery_that_leaves_the_app_is_counted_as_such() {
    let lab = Lab::new();
    lab.fail(&page("List"), "Open", ErrorCode::TargetNotFound);
    lab.recover(&page("List"));
    lab.wait(300).see(&Place { app: Some("home".into()), activity: Some("home/.Main".into()), ..page("Home") });
    let known = lab.experience(&page("List")).recoveries.remove(0);
    assert_eq!((known.left_app_count, known.undecided_count), (1, 1));
    assert!(known.text.contains("leaves the app") || known.text.contains("left the app"), "{}", known.text);
}

#[test]
fn target_that_was_looked_for_by_one_property_is_found_again() {
    let lab = Lab::new();
    let wanted = Target { label: Some("save".into()), ..Target::default() };
    let event = lab.event(Category::Act, "tap", &page("List"));
    let action = Some(Action { target: Some(wanted), ..Action::of(Verb::Tap) });
    let failure = Some(ErrorCode::TargetNotFound);
    lab.record(&Event { action, status: EventStatus::Failed, failure, sent: false, ..event });
    lab.recover(&page("List"));
    // The recovery brought up a button whose label contains the text.
    lab.wait(SECOND).tap(&page("List"), "Save as");
    let known = lab.experience(&page("List")).recoveries.remove(0);
    assert_eq!((known.success_count, known.undecided_count), (1, 0));
}
