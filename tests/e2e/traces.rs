//! Scores page identification on recordings: a small synthetic one, and those in the directory that `AFD_UI_TRACES`
//! names.

use std::path::Path;

use afd_tests::docs::repository;
use afd_tests::screens::{self, Pairs};
use afd_tests::traces::{self, Score};
use serde_json::{Value, json};

/// Returns a node in the format of the recordings.
fn node(id: i64, parent: i64, class: &str, res_id: Option<&str>, text: Option<&str>, top: i64, flags: &str) -> Value {
    json!([
        id,
        parent,
        class,
        res_id.map(|r| format!("org.example:id/{r}")),
        text,
        null,
        [0, top, 1080, top + 100],
        flags
    ])
}

/// Returns a screen of one activity: a bar, elements with the given ids, a list and a footer.
fn screen(name: &str, ids: &[&str], rows: &[&str]) -> Value {
    let root = json!([0, -1, "android.widget.FrameLayout", null, null, null, [0, 0, 1080, 1920], ""]);
    let mut nodes = vec![root, node(1, 0, "android.view.View", Some("bar"), None, 0, "")];
    for (i, id) in ids.iter().enumerate() {
        let i = i64::try_from(i).expect("fits");
        let flags = if id.starts_with("open") { "c" } else { "" };
        nodes.push(node(2 + i, 0, "android.widget.TextView", Some(id), Some(name), 100 * (i + 1), flags));
    }
    nodes.push(node(50, 0, "androidx.recyclerview.widget.RecyclerView", Some("list"), None, 900, "s"));
    for (i, row) in rows.iter().enumerate() {
        let i = i64::try_from(i).expect("fits");
        nodes.push(node(51 + i, 50, "android.widget.TextView", Some("row"), Some(row), 900 + 100 * i, "c"));
    }
    nodes.push(node(99, 0, "android.view.View", Some("footer"), None, 1800, ""));
    let structure = ids.join("+");
    json!({"state_str": format!("{name}{}", rows.len()), "structure": structure, "activity": "org.example/.Main", "package": "org.example", "w": 1080, "h": 1920, "nodes": nodes})
}

/// Writes a recording of these screens and of steps between them.
fn write_recording(dir: &Path, states: &[Value], steps: &[(&str, &str)]) {
    let lines = |rows: Vec<Value>| rows.iter().map(|r| format!("{r}\n")).collect::<String>();
    std::fs::write(dir.join("made.states.jsonl"), lines(states.to_vec())).expect("writes");
    let step = |(i, (from, to)): (usize, &(&str, &str))| json!({"i": i, "action": {"type": "touch", "target": {"rid": to, "cls": "x", "text": null}}, "from": from, "to": to, "noop": false});
    std::fs::write(dir.join("made.steps.jsonl"), lines(steps.iter().enumerate().map(step).collect())).expect("writes");
}

#[test]
fn pages_of_one_activity_are_distinguished_and_keep_their_state() {
    let dir = tempfile::tempdir().expect("a directory");
    let first = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];
    let second = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
    let states = [
        screen("a", &first, &["x 1", "y 2"]),
        screen("a", &first, &["z 3", "q 4", "w 5"]),
        screen("b", &second, &["x 1"]),
    ];
    let steps: Vec<(&str, &str)> = [("a2", "b1"), ("b1", "a3"), ("a3", "b1"), ("b1", "a2")].repeat(10);
    write_recording(dir.path(), &states, &steps);
    let recordings = traces::read(dir.path()).expect("reads");
    assert_eq!(recordings.len(), 1);
    let score = traces::score(&recordings[0]);
    assert_eq!((score.all, score.frag, score.mix), (1.0, 1.0, 1.0), "{score:?}");
    assert!(score.robust > 0.9, "{score:?}");
    assert!(traces::read(Path::new("/nonexistent")).is_err());
}

#[test]
#[ignore = "needs recordings"]
fn recordings_of_real_apps_reach_the_required_scores() {
    let dir = std::env::var_os("AFD_UI_TRACES").expect("needs AFD_UI_TRACES");
    let scores: Vec<Score> = traces::read(Path::new(&dir)).expect("reads").iter().map(traces::score).collect();
    let mean = traces::average(&scores);
    assert!(mean.all >= 0.80, "{mean:?}");
    assert!((0.8..=1.3).contains(&mean.frag) && mean.mix <= 1.3, "{mean:?}");
    assert!(mean.robust >= 0.9, "{mean:?}");
}

/// Pages with few ids, in the order in the files. The screens in `held` were not used to develop the rules.
#[test]
fn pages_with_few_ids_are_told_apart() {
    for (half, most_split) in [("tuned", 0.055), ("held", 0.08)] {
        let apps = screens::read(&repository(&format!("tests/screens/{half}")));
        let pairs = apps.values().map(|screens| screens::score(screens, 0).0).fold(Pairs::default(), Pairs::plus);
        println!("{half}: {:.4} merged, {:.4} split, {pairs:?}", pairs.merged_share(), pairs.split_share());
        assert!(pairs.different > 2_000 && pairs.same > 150, "{half}: {pairs:?}");
        assert!(pairs.merged_share() <= 0.01, "{half}: {pairs:?}");
        assert!(pairs.split_share() <= most_split, "{half}: {pairs:?}");
    }
}

#[test]
fn hints_of_a_replayed_recording_are_about_what_is_on_the_screen() {
    let dir = tempfile::tempdir().expect("a directory");
    let states = [screen("a", &["alpha", "open_b"], &["x 1"]), screen("b", &["one", "open_a"], &["x 1"])];
    let steps: Vec<(&str, &str)> = [("a1", "b1"), ("b1", "a1")].repeat(8);
    write_recording(dir.path(), &states, &steps);
    // Each step taps the second element of its screen.
    let file = dir.path().join("made.steps.jsonl");
    let tap = |line: &str| {
        let mut step: Value = serde_json::from_str(line).expect("JSON");
        let rid = if step["from"] == "a1" { "org.example:id/open_b" } else { "org.example:id/open_a" };
        step["action"]["target"] =
            json!({"id": 3, "rid": rid, "cls": "android.widget.TextView", "text": null, "bounds": [0, 200, 1080, 300]});
        format!("{step}\n")
    };
    let text: String = std::fs::read_to_string(&file).expect("reads").lines().map(tap).collect();
    std::fs::write(&file, text).expect("writes");
    let recordings = traces::read(dir.path()).expect("reads");
    let handed = &traces::replay(&recordings, usize::MAX)[0];
    assert!(handed.looks > 0 && handed.hinted_looks == handed.looks, "{handed:?}");
    assert!(handed.targets > 0 && handed.targets_on_screen == handed.targets, "{handed:?}");
    assert_eq!((handed.judged.len(), handed.accuracy(), handed.same_page), (handed.actions, 1.0, 0), "{handed:?}");
    assert!(handed.judged.iter().all(|one| one.probability > 0.8 && !one.guess), "{handed:?}");
}
