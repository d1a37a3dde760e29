//! Names of elements that people call risky or harmless, in sixteen languages. The names in `held` were not used to
//! develop the rules.

use std::path::Path;

use afd_screen::page::risk::RiskRules;
use serde::Deserialize;

/// One half of the data set.
#[derive(Debug, Clone, Deserialize)]
pub struct Names {
    /// Names that say that the element deletes, pays, sends, signs out or the like.
    pub risky: Vec<String>,
    /// Names of places, opposites, and words that only look like those.
    pub harmless: Vec<String>,
}

/// Returns the names of one half: `tuned` or `held`.
pub fn names(half: &str) -> Names {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("risky/{half}.json"));
    serde_json::from_str(&std::fs::read_to_string(file).expect("reads")).expect("names")
}

#[test]
fn names_are_marked_as_people_judge_them() {
    let rules = RiskRules::default();
    for (half, least, most) in [("tuned", 0.9, 0.05), ("held", 0.7, 0.1)] {
        let Names { risky, harmless } = names(half);
        let missed: Vec<&String> = risky.iter().filter(|name| !rules.is_risky_name(name)).collect();
        let alarms: Vec<&String> = harmless.iter().filter(|name| rules.is_risky_name(name)).collect();
        let (found, wrong) =
            (1.0 - missed.len() as f64 / risky.len() as f64, alarms.len() as f64 / harmless.len() as f64);
        println!("{half}: {found:.3} of the risky names found, {wrong:.3} of the harmless ones marked");
        // Whoever reads the names of the other half would tune to them.
        if half == "tuned" {
            println!("  missed {missed:?}\n  marked {alarms:?}");
        }
        assert!(found >= least && wrong <= most, "{half}: {found:.3} found, {wrong:.3} marked");
    }
}
