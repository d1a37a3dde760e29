//! Counters that are rebuilt, and counters of events that were deleted.

use super::*;
use crate::memory::{prune, rebuild};
use afd_store::Piece;

/// Records a longer session with late pages, failures, checks and recoveries.
fn play(lab: &Lab) {
    for round in 0..6 {
        lab.see(&page("List"));
        lab.wait(SECOND).tap(&page("List"), "Open");
        lab.wait(400).see(&page(if round % 3 == 0 { "Loading" } else { "Item" }));
        lab.wait(600).see(&page("Item"));
        lab.check(&page("Item"), round % 2 == 0);
        lab.wait(SECOND).fail(&page("Item"), "Save", ErrorCode::TargetNotFound);
        lab.recover(&page("Item"));
        lab.wait(300).see(&page("List"));
        if round % 2 == 1 {
            lab.wait(SECOND).tap(&page("Item"), "Save");
            lab.wait(4 * SECOND).see(&page("Item"));
        }
        lab.wait(15 * SECOND).see(&dialog("Update", &page("List")));
        lab.wait(SECOND).tap(&dialog("Update", &page("List")), "Later");
        lab.wait(300).see(&changed(&page("List"), &round.to_string()));
        lab.wait(60 * SECOND);
    }
}

#[test]
fn counters_can_be_made_again_from_what_was_recorded() {
    let lab = Lab::new();
    play(&lab);
    let before = lab.counters();
    assert!(before.len() > 12, "{before:#?}");
    lab.c.execute_batch("UPDATE outcomes SET count = count + 1; DELETE FROM recoveries").expect("spoils");
    rebuild::all(&lab.c).expect("rebuilds");
    assert_eq!(lab.counters(), before);
}

#[test]
fn nothing_is_known_while_counters_are_made_again() {
    let lab = Lab::new();
    play(&lab);
    rebuild::begin(&lab.c).expect("begins");
    assert!(lab.experience(&page("List")).transitions.is_empty());
    while !rebuild::some(&lab.c, &Piece::lasting(std::time::Duration::ZERO)).expect("a piece") {}
    assert!(!lab.experience(&page("List")).transitions.is_empty());
}

#[test]
fn deleted_events_leave_what_they_taught() {
    let lab = Lab::new();
    play(&lab);
    let (before, half) = (lab.counters(), begin() + 5 * 60 * SECOND);
    let cut = prune::Cut { events: half, observations: half };
    let (old, seen) = prune::count(&lab.c, cut).expect("counts");
    assert!(old > 10 && seen > 10, "{old} {seen}");
    let (mut events, mut observations) = (0, 0);
    for _ in 0..100 {
        let step = prune::some(&lab.c, &lab.origin.store, cut, 3, &Piece::whole()).expect("prunes");
        events += step.events;
        observations += step.observations;
        if step.done {
            break;
        }
    }
    assert!(events > 0 && events as i64 <= old && observations > 0 && observations as i64 <= seen);
    assert_eq!(lab.counters(), before, "right after pruning");
    rebuild::all(&lab.c).expect("rebuilds");
    assert_eq!(lab.counters(), before, "made again from baselines and what is left");
}
