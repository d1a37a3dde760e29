//! Scores how well the daemon distinguishes pages on recordings of real apps: `ui-traces DIR`. With `--predict`, replays
//! the recordings through the socket of a daemon and scores its hints and predictions, which takes some minutes. A number
//! after `--predict` limits the steps of each recording. With `--go`, walks between pairs of their pages; a number after it
//! limits the pairs of each.

use std::path::Path;
use std::process::ExitCode;

use afd_tests::traces::{self, Handed, Reached, Recording, Score, Walks};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(dir) = arguments.first() else {
        eprintln!(
            "usage: ui-traces DIR [--predict [STEPS] | --go [PAIRS]]\nDIR contains recordings: pairs of NAME.states.jsonl.gz and NAME.steps.jsonl.gz"
        );
        return ExitCode::from(2);
    };
    let number = arguments.get(2).and_then(|a| a.parse().ok()).unwrap_or(usize::MAX);
    match traces::read(Path::new(dir)) {
        Ok(recordings) if arguments.get(1).is_some_and(|a| a == "--go") => {
            let names: Vec<String> = recordings.iter().map(|recording| recording.name.clone()).collect();
            print_walks(&names, &traces::walk(recordings, number));
            ExitCode::SUCCESS
        }
        Ok(recordings) if arguments.get(1).is_some_and(|a| a == "--predict") => {
            print_handed(&recordings, &traces::replay(&recordings, number));
            ExitCode::SUCCESS
        }
        Ok(recordings) => {
            let scores: Vec<(String, Score)> = recordings.iter().map(|r| (r.name.clone(), traces::score(r))).collect();
            print(&scores);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn print(scores: &[(String, Score)]) {
    println!("{:<16} {:>7} {:>7} {:>7} {:>8} {:>10}", "recording", "all", "frag", "mix", "robust", "(learning)");
    let row = |name: &str, s: &Score| {
        println!(
            "{name:<16} {:>7.3} {:>7.3} {:>7.3} {:>8.3} {:>10.3}",
            s.all, s.frag, s.mix, s.robust, s.robust_learning
        )
    };
    scores.iter().for_each(|(name, score)| row(name, score));
    row("macro average", &traces::average(&scores.iter().map(|(_, s)| *s).collect::<Vec<_>>()));
}

fn print_handed(recordings: &[Recording], handed: &[Handed]) {
    println!(
        "hints in sight are on the screen; predicted: the most likely next page came, with the Brier score, the calibration\nerror, and \"nothing changes\" at a recall of 0.8 (precision); then baselines: the page stays, the same action in\nthis activity, on this element, on a screen with the same ids"
    );
    println!(
        "{:<16} {:>6} {:>6} {:>8} {:>8} {:>9} {:>6} {:>6} {:>8} {:>6} {:>9} {:>8} {:>6}",
        "recording",
        "looks",
        "hinted",
        "in sight",
        "actions",
        "predicted",
        "Brier",
        "error",
        "nothing",
        "stays",
        "activity",
        "element",
        "ids"
    );
    let share = |part: usize, all: usize| part as f64 / all.max(1) as f64;
    let row = |name: &str, h: &Handed| {
        println!(
            "{name:<16} {:>6} {:>6.3} {:>8.3} {:>8} {:>9.3} {:>6.3} {:>6.3} {:>8.3} {:>6.3} {:>9.3} {:>8.3} {:>6.3}",
            h.looks,
            share(h.hinted_looks, h.looks),
            share(h.targets_on_screen, h.targets),
            h.actions,
            h.accuracy(),
            h.brier(),
            h.calibration_error(),
            h.precision_of_nothing(0.8),
            share(h.same_page, h.actions),
            share(h.by_activity, h.actions),
            share(h.by_element, h.actions),
            share(h.by_ids, h.actions)
        );
    };
    recordings.iter().zip(handed).for_each(|(r, h)| row(&r.name, h));
    row("all", &handed.iter().cloned().fold(Handed::default(), Handed::plus));
}

fn print_walks(names: &[String], walks: &[Walks]) {
    println!(
        "pairs of pages that the last 40 % connects within 8 steps and the first 60 % has (unseen: the other pairs); reached:\nshare of them, with the steps for each step that is needed at least; false: reported as arrived, but elsewhere; then two\nplanners that know the true pages: by the fewest hops, by the widest path"
    );
    println!(
        "{:<16} {:>6} {:>7} {:>6} {:>6} {:>7} {:>7} {:>6} {:>7} {:>6}",
        "recording", "pairs", "reached", "steps", "false", "unseen", "hops", "steps", "widest", "steps"
    );
    let row = |name: &str, w: &Walks| {
        let share = |one: &Reached| one.reached as f64 / w.pairs.max(1) as f64;
        println!(
            "{name:<16} {:>6} {:>7.3} {:>6.2} {:>6} {:>7} {:>7.3} {:>6.2} {:>7.3} {:>6.2}  {:?}",
            w.pairs,
            share(&w.go_to),
            w.go_to.detour(),
            w.claimed,
            w.unseen,
            share(&w.hops),
            w.hops.detour(),
            share(&w.widest),
            w.widest.detour(),
            w.stopped
        );
    };
    names.iter().zip(walks).for_each(|(name, w)| row(name, w));
    row("all", &walks.iter().cloned().fold(Walks::default(), Walks::plus));
}
