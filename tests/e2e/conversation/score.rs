//! How many of the facts that later turns need are in a context, compared with baselines without a memory.

use afd_tests::World;
use afd_tests::contexts::{self, BUDGETS, Repeats, Score, WAYS};

fn scores(half: &str) -> Vec<Score> {
    let world = World::new();
    let mut totals = vec![Score::default(); BUDGETS.len()];
    for conversation in contexts::load(half) {
        let found = contexts::score(&mut world.client_for(&conversation.id), &conversation);
        println!(
            "{half} {} ({}): {}",
            conversation.id,
            conversation.language,
            found.iter().map(|s| format!("{:?} of {}  ", s.kept, s.needed)).collect::<String>()
        );
        totals.iter_mut().zip(&found).for_each(|(total, score)| total.add(score));
    }
    for (total, budget) in totals.iter().zip(BUDGETS) {
        println!("{half}, {budget} tokens, {} facts needed, least used {} %:", total.needed, total.least_used);
        WAYS.iter().zip(total.kept).for_each(|(way, kept)| println!("  {kept:4} {way}"));
        println!("  by kind: {:?}", total.groups);
        if half == "tuned" && std::env::var_os("AFD_MISSING").is_some() {
            println!("  missing:\n    {}", total.missing.join("\n    "));
        }
    }
    totals
}

#[test]
fn contexts_hold_more_facts_than_the_newest_messages() {
    for half in ["tuned", "held"] {
        let totals = scores(half);
        for (total, budget) in totals.iter().zip(BUDGETS) {
            assert!(total.kept[0] >= total.best_baseline(), "{half}, {budget}: {:?}", total.kept);
            assert!(total.least_used >= 95, "{half}, {budget}: {} %", total.least_used);
        }
        assert!(totals[0].kept[0] as f64 >= totals[0].best_baseline() as f64 * 1.3, "{half}: {:?}", totals[0].kept);
    }
}

#[test]
fn most_of_a_context_is_a_prefix_of_the_one_before() {
    let world = World::new();
    // Testing all conversations and a larger budget takes another minute.
    let thorough = std::env::var_os("AFD_MISSING").is_some();
    let (budgets, step) = if thorough { (vec![8_000, 12_000], 1) } else { (vec![8_000], 2) };
    for budget in budgets {
        let mut medians = Vec::new();
        for conversation in contexts::load("tuned").iter().chain(&contexts::load("held")).step_by(step) {
            let mut shares = contexts::repeats(
                &mut world.client_for(&format!("{}-{budget}", conversation.id)),
                conversation,
                budget,
            )
            .shares;
            shares.sort_unstable();
            medians.push(shares.get(shares.len() / 2).copied().unwrap_or(100));
        }
        println!("{budget} tokens: medians of the shares that are a prefix {medians:?}");
        assert!(medians.iter().all(|median| *median >= 90), "{medians:?}");
    }
}

#[test]
fn messages_that_are_called_stable_are_the_same_in_the_next_call() {
    let world = World::new();
    let budget = 2_000;
    for half in ["tuned", "held"] {
        let mut all = Repeats::default();
        for conversation in contexts::load(half) {
            all.add(&contexts::repeats(&mut world.client_for(&conversation.id), &conversation, budget));
        }
        let (own, newest) = all.means();
        let (right, calls, claimed) = (all.right, all.calls, all.claimed.0 * 100 / all.claimed.1.max(1));
        println!(
            "{half}, {budget} tokens: stable is right in {right} of {calls} calls and claims {claimed} % of the tokens"
        );
        // In a small context, the quotes for the question take the place of the memory, so less of it repeats.
        println!("  {own} % of a context repeat, {newest} % of the newest messages");
        assert!(right * 100 >= calls * 95, "{half}: {right} of {calls}");
    }
}
