//! Scores how well the daemon tells pages apart, on recordings of real apps: `ui-traces DIR`.

use std::path::Path;
use std::process::ExitCode;

use afd_tests::traces::{self, Score};

fn main() -> ExitCode {
    let Some(dir) = std::env::args().nth(1) else {
        eprintln!("usage: ui-traces DIR\nDIR contains recordings: pairs of NAME.states.jsonl.gz and NAME.steps.jsonl.gz");
        return ExitCode::from(2);
    };
    match traces::read(Path::new(&dir)) {
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
        println!("{name:<16} {:>7.3} {:>7.3} {:>7.3} {:>8.3} {:>10.3}", s.all, s.frag, s.mix, s.robust, s.robust_learning)
    };
    scores.iter().for_each(|(name, score)| row(name, score));
    row("macro average", &traces::average(&scores.iter().map(|(_, s)| *s).collect::<Vec<_>>()));
}
