//! Scores how well the daemon distinguishes pages on recordings of real apps: `ui-traces DIR`. With `--predict`, replays
//! the recordings through the socket of a daemon and scores its hints and predictions, which takes some minutes. A number
//! after `--predict` limits the steps of each recording.

use std::path::Path;
use std::process::ExitCode;

use afd_tests::traces::{self, Handed, Recording, Score};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(dir) = arguments.first() else {
        eprintln!(
            "usage: ui-traces DIR [--predict [STEPS]]\nDIR contains recordings: pairs of NAME.states.jsonl.gz and NAME.steps.jsonl.gz"
        );
        return ExitCode::from(2);
    };
    match traces::read(Path::new(dir)) {
        Ok(recordings) if arguments.get(1).is_some_and(|a| a == "--predict") => {
            let steps = arguments.get(2).and_then(|a| a.parse().ok()).unwrap_or(usize::MAX);
            print_handed(&recordings, &traces::replay(&recordings, steps));
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
