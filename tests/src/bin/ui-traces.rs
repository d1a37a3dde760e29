//! Scores how well the daemon distinguishes pages on recordings of real apps: `ui-traces DIR`. With `--hints`, replays
//! the recordings through the socket of a daemon and scores its hints and predicted outcomes, which takes some minutes.
//! A number after `--hints` limits the steps of each recording.

use std::path::Path;
use std::process::ExitCode;

use afd_tests::traces::{self, Handed, Recording, Score};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(dir) = arguments.first() else {
        eprintln!(
            "usage: ui-traces DIR [--hints [STEPS]]\nDIR contains recordings: pairs of NAME.states.jsonl.gz and NAME.steps.jsonl.gz"
        );
        return ExitCode::from(2);
    };
    match traces::read(Path::new(dir)) {
        Ok(recordings) if arguments.get(1).is_some_and(|a| a == "--hints") => {
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
        "{:<16} {:>7} {:>7} {:>8} {:>9} {:>8} {:>6} {:>6} {:>10} {:>11}",
        "recording", "looks", "hinted", "targets", "on screen", "actions", "known", "right", "same page", "by activity"
    );
    let share = |part: usize, all: usize| part as f64 / all.max(1) as f64;
    let row = |name: &str, h: &Handed| {
        println!(
            "{name:<16} {:>7} {:>7.3} {:>8} {:>9.3} {:>8} {:>6.3} {:>6.3} {:>10.3} {:>11.3}",
            h.looks,
            share(h.hinted_looks, h.looks),
            h.targets,
            share(h.targets_on_screen, h.targets),
            h.actions,
            share(h.known, h.actions),
            share(h.right, h.actions),
            share(h.same_page, h.actions),
            share(h.by_activity, h.actions)
        );
    };
    recordings.iter().zip(handed).for_each(|(r, h)| row(&r.name, h));
    row("all", &handed.iter().fold(Handed::default(), |sum, h| sum.plus(*h)));
}
