//! Evaluation of searches, and embedding models.

use std::path::{Path, PathBuf};
use std::time::Duration;

use afd_tests::docs::repository;
use afd_tests::wait::{until, until_for};
use afd_tests::{Client, World};
use serde_json::{Value, json};

use super::told;

/// Returns recall@10 and MRR of a search mode for a group of queries.
fn figures(evaluated: &Value, group: &str, way: &str) -> (f64, f64) {
    let group = evaluated["groups"].as_array().expect("groups").iter().find(|g| g["name"] == group).expect("the group");
    let way = group["ways"].as_array().expect("ways").iter().find(|w| w["way"] == way).expect("the way");
    (way["recallAt10"].as_f64().expect("a number"), way["mrr"].as_f64().expect("a number"))
}

fn evaluate(client: &mut Client, half: &str) -> Value {
    let evaluated = client.ok("recall.evaluate", json!({"directory": repository(&format!("tests/recall/{half}"))}));
    for group in evaluated["groups"].as_array().expect("groups") {
        let way =
            |way: &Value| format!("{} {} {}", way["way"].as_str().unwrap_or_default(), way["recallAt10"], way["mrr"]);
        let ways: Vec<String> = group["ways"].as_array().expect("ways").iter().map(way).collect();
        println!("{half} {} ({}): {}", group["name"], group["queries"], ways.join(", "));
    }
    evaluated
}

#[test]
fn hybrid_search_with_the_built_in_model_beats_full_text_alone() {
    let world = World::new();
    let mut client = world.client();
    for half in ["tuned", "held"] {
        let evaluated = evaluate(&mut client, half);
        let [text, hybrid, like] = ["text", "hybrid", "like"].map(|way| figures(&evaluated, "all", way));
        assert!(hybrid.0 > text.0 && hybrid.1 > text.1, "{half}: {hybrid:?} against {text:?}");
        assert!(hybrid.0 > like.0 && hybrid.1 > like.1, "{half}: {hybrid:?} against {like:?}");
    }
    let broken = world.dir().join("broken");
    std::fs::create_dir(&broken).expect("creates");
    std::fs::write(broken.join("entries.jsonl"), "{\"id\": \"a\", \"text\": \"b\"}\n").expect("writes");
    std::fs::write(broken.join("queries.jsonl"), "{\"query\": \"b\", \"expected\": [\"c\"]}\n").expect("writes");
    let refused = client.fails("recall.evaluate", json!({"directory": broken}), "INVALID_PARAMS");
    assert!(format!("{refused:?}").contains("is no entry"), "{refused:?}");
}

/// Returns recall@5, recall@10 and recall@25 of a search method over all queries, in per cent.
fn recalls(evaluated: &Value, way: &str) -> [f64; 3] {
    let all = &evaluated["groups"][0];
    let way = all["ways"].as_array().expect("ways").iter().find(|w| w["way"] == way).expect("the way");
    ["recallAt5", "recallAt10", "recallAt25"].map(|name| way[name].as_f64().expect("a number") * 100.0)
}

/// Evaluates the searches on a file or directory and prints the figures.
fn measured(client: &mut Client, name: &str, path: &Path) -> Value {
    let evaluated = client.ok("recall.evaluate", json!({"directory": path}));
    for way in evaluated["groups"][0]["ways"].as_array().expect("ways") {
        let way_name = way["way"].as_str().expect("a name");
        let [five, ten, twenty_five] = recalls(&evaluated, way_name);
        println!(
            "{name} {way_name}: {five:.1} / {ten:.1} / {twenty_five:.1} %, weak {} and {}, {} ms",
            way["weak"], way["weakUnanswered"], way["p50Ms"]
        );
    }
    evaluated
}

#[test]
fn messages_are_found_better_than_by_simple_searches() {
    let world = World::new();
    let mut client = world.client();
    client.connection.set_timeout(Some(Duration::from_secs(120))).expect("sets a timeout");
    for half in ["tuned", "held"] {
        let evaluated = measured(&mut client, half, &repository(&format!("tests/talks/{half}")));
        let (text, hybrid) = (recalls(&evaluated, "text"), recalls(&evaluated, "hybrid"));
        for other in ["like", "bm25", "fts5"] {
            let other = recalls(&evaluated, other);
            assert!((0..3).all(|i| text[i] > other[i] + 10.0), "{half}: {text:?} against {other:?}");
        }
        assert!((0..3).all(|i| hybrid[i] >= text[i] - 1.0), "{half}: {hybrid:?} against {text:?}");
    }
}

/// Needs `locomo10.json` of the public repository snap-research/LoCoMo in `AFD_LOCOMO`. The first three conversations
/// were used for tuning.
#[test]
#[ignore = "needs LoCoMo"]
fn evidence_of_questions_is_found_in_long_conversations() {
    let file = std::env::var_os("AFD_LOCOMO").expect("needs AFD_LOCOMO");
    let all: Vec<Value> = serde_json::from_slice(&std::fs::read(file).expect("reads")).expect("parses");
    let world = World::new();
    let held = world.dir().join("held.json");
    std::fs::write(&held, json!(all[3..]).to_string()).expect("writes");
    let mut client = world.client();
    client.connection.set_timeout(Some(Duration::from_secs(900))).expect("sets a timeout");
    let evaluated = measured(&mut client, "LoCoMo, seven conversations", &held);
    let (text, hybrid) = (recalls(&evaluated, "text"), recalls(&evaluated, "hybrid"));
    assert!(text[0] >= 56.0 && text[1] >= 64.0 && text[2] >= 73.0, "{text:?}");
    assert!((0..3).all(|i| hybrid[i] >= text[i] - 0.5), "{hybrid:?} against {text:?}");
    if let Some(model) = std::env::var_os("AFD_TEST_MODEL") {
        client.ok("model.add", json!({"directory": PathBuf::from(model)}));
        let hybrid = recalls(&measured(&mut client, "LoCoMo with a sentence model", &held), "hybrid");
        assert!(hybrid[0] >= 60.0 && hybrid[1] >= 69.0 && hybrid[2] >= 79.0, "{hybrid:?}");
    }
}

/// Returns the directory of the sentence model of the tests.
fn test_model() -> PathBuf {
    PathBuf::from(std::env::var_os("AFD_TEST_MODEL").expect("needs AFD_TEST_MODEL"))
}

#[test]
#[ignore = "needs a sentence model"]
fn hybrid_search_with_a_sentence_model_beats_its_halves() {
    let directory = test_model();
    let world = World::new();
    let mut client = world.client();
    client.ok("memory.save", json!({"topic": "t", "content": "the application terminates unexpectedly"}));
    let added = client.ok("model.add", json!({"directory": directory}));
    assert_eq!(added["dimensions"], 384, "{added}");
    until("the vectors", || Some(client.ok("recall.status", json!({}))).filter(|s| s["models"][0]["pending"] == 0));
    let found = client.ok("recall.search", json!({"query": "program quits by itself", "mode": "vector"}));
    assert_eq!((told(&found), &found["model"]), (vec!["note t".to_owned()], &added["identity"]));
    // There are some hundred entries, and each takes some tens of milliseconds or, on a busy machine, more.
    client.connection.set_timeout(Some(std::time::Duration::from_secs(240))).expect("sets a timeout");
    for half in ["held"] {
        let evaluated = evaluate(&mut client, half);
        let [text, vector, hybrid, like] =
            ["text", "vector", "hybrid", "like"].map(|way| figures(&evaluated, "language en", way));
        for other in [text, vector, like] {
            assert!(hybrid.0 > other.0 && hybrid.1 > other.1, "{half}, English: {hybrid:?} against {other:?}");
        }
        let [text, vector, hybrid] = ["text", "vector", "hybrid"].map(|way| figures(&evaluated, "all", way));
        assert!(
            hybrid.0 >= text.0.max(vector.0) - 0.01 && hybrid.1 >= text.1.max(vector.1) - 0.01,
            "{half}: {hybrid:?}, {text:?}, {vector:?}"
        );
    }
}

#[test]
#[ignore = "needs a sentence model"]
fn a_sentence_model_that_is_replaced_in_its_directory_makes_new_vectors() {
    let directory = test_model();
    let world = World::new();
    let mut client = world.client();
    let dir = world.dir().join("model");
    std::fs::create_dir(&dir).expect("creates");
    for file in ["config.json", "tokenizer.json"] {
        std::fs::copy(directory.join(file), dir.join(file)).expect("copies");
    }
    std::os::unix::fs::symlink(directory.join("model.safetensors"), dir.join("model.safetensors")).expect("links");
    client.ok("memory.save", json!({"topic": "t", "content": "the application terminates unexpectedly"}));
    let before = client.ok("model.add", json!({"directory": dir}))["identity"].clone();
    until("the vectors", || Some(client.ok("recall.status", json!({}))).filter(|s| s["models"][0]["pending"] == 0));
    let query = json!({"query": "program quits by itself", "mode": "vector"});
    assert_eq!(client.ok("recall.search", query.clone())["model"], before);
    let tokenizer = std::fs::read_to_string(dir.join("tokenizer.json")).expect("reads");
    std::fs::write(dir.join("tokenizer.json"), tokenizer + "\n").expect("writes");
    // A busy machine loads the model slowly.
    let found = until_for("the new model", Duration::from_secs(120), || {
        Some(client.ok("recall.search", query.clone())).filter(|found| found["missing"].is_null())
    });
    assert_ne!(found["model"], before, "{found}");
    assert_eq!(told(&found), ["note t"]);
}

#[test]
fn a_directory_that_holds_no_model_is_refused_by_name() {
    let world = World::new();
    let mut client = world.client();
    let dir = world.dir().join("model");
    std::fs::create_dir(&dir).expect("creates");
    let refused = client.fails("model.add", json!({"directory": dir}), "INVALID_PARAMS");
    assert!(format!("{refused:?}").contains("config.json"), "{refused:?}");
    std::fs::write(dir.join("config.json"), r#"{"model_type": "gpt2", "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8, "max_position_embeddings": 8}"#).expect("writes");
    std::fs::write(dir.join("tokenizer.json"), "{}").expect("writes");
    std::os::unix::fs::symlink("/dev/zero", dir.join("model.safetensors")).expect("links");
    let refused = client.fails("model.add", json!({"directory": dir}), "INVALID_PARAMS");
    assert!(format!("{refused:?}").contains("regular file"), "{refused:?}");
    std::fs::remove_file(dir.join("model.safetensors")).expect("removes");
    std::fs::write(dir.join("model.safetensors"), "").expect("writes");
    let refused = client.fails("model.add", json!({"directory": dir}), "INVALID_PARAMS");
    assert!(format!("{refused:?}").contains("model.safetensors"), "{refused:?}");
    std::fs::write(dir.join("model.safetensors"), [2, 0, 0, 0, 0, 0, 0, 0, b'{', b'}']).expect("writes");
    let refused = client.fails("model.add", json!({"directory": dir}), "INVALID_PARAMS");
    assert!(format!("{refused:?}").contains("type bert"), "{refused:?}");
    assert_eq!(client.ok("config.get", json!({"key": "recall.model_dir"}))["value"], Value::Null);
}

/// Writes a valid model whose weights are all zero, with this tokenizer.
fn tiny_model(dir: &std::path::Path, tokenizer: &Value) {
    std::fs::create_dir_all(dir).expect("creates");
    let shape = json!({"model_type": "bert", "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8,
        "max_position_embeddings": 16});
    std::fs::write(dir.join("config.json"), shape.to_string()).expect("writes");
    std::fs::write(dir.join("tokenizer.json"), tokenizer.to_string()).expect("writes");
    let of_layer = |name: &str| format!("encoder.layer.0.{name}");
    let squares = [
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
        "attention.output.dense",
        "intermediate.dense",
        "output.dense",
    ];
    let norms = ["attention.output.LayerNorm", "output.LayerNorm"];
    let mut tensors: Vec<(String, Vec<usize>)> = vec![
        ("embeddings.word_embeddings.weight".into(), vec![4, 8]),
        ("embeddings.position_embeddings.weight".into(), vec![16, 8]),
        ("embeddings.token_type_embeddings.weight".into(), vec![2, 8]),
        ("embeddings.LayerNorm.weight".into(), vec![8]),
        ("embeddings.LayerNorm.bias".into(), vec![8]),
    ];
    for (names, shape) in [(&squares[..], vec![8, 8]), (&norms[..], vec![8])] {
        for name in names {
            tensors.push((of_layer(&format!("{name}.weight")), shape.clone()));
            tensors.push((of_layer(&format!("{name}.bias")), vec![8]));
        }
    }
    let (mut header, mut at) = (serde_json::Map::new(), 0);
    for (name, shape) in tensors {
        let bytes = shape.iter().product::<usize>() * 4;
        header.insert(name, json!({"dtype": "F32", "shape": shape, "data_offsets": [at, at + bytes]}));
        at += bytes;
    }
    let header = Value::Object(header).to_string();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.resize(file.len() + at, 0);
    std::fs::write(dir.join("model.safetensors"), file).expect("writes");
}

#[test]
fn a_model_that_would_take_the_daemon_down_is_refused() {
    let world = World::process();
    let mut client = world.client();
    let dir = world.dir().join("model");
    let tokenizer = |normalizer: Value| {
        json!({"version": "1.0", "added_tokens": [], "normalizer": normalizer, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null,
            "decoder": null, "truncation": null, "padding": null,
            "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "fox": 1}, "unk_token": "[UNK]"}})
    };
    // Each step doubles the text, so a text of 40 characters would have 40 TiB.
    let step = json!({"type": "Replace", "pattern": {"Regex": "."}, "content": "xx"});
    tiny_model(&dir, &tokenizer(json!({"type": "Sequence", "normalizers": vec![step; 40]})));
    assert!(std::fs::metadata(dir.join("tokenizer.json")).expect("is there").len() < 4_096);
    let refused = client.fails("model.add", json!({"directory": dir}), "INVALID_PARAMS");
    assert!(format!("{refused:?}").contains("memory"), "{refused:?}");
    assert_eq!(client.ok("daemon.status", json!({}))["pid"], world.daemon.pid());
    // The same applies if the settings name the model.
    client.ok("config.set", json!({"key": "recall.model_dir", "value": dir.display().to_string()}));
    client.ok("memory.save", json!({"topic": "t", "content": "the application terminates unexpectedly"}));
    until_for("the reason", Duration::from_secs(120), || {
        let found = client.ok("recall.search", json!({"query": "application"}));
        found["missing"].to_string().contains("memory").then_some(())
    });
    assert_eq!(client.ok("daemon.status", json!({}))["pid"], world.daemon.pid());
    let mut weights = std::fs::read(dir.join("model.safetensors")).expect("reads");
    weights[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    std::fs::write(dir.join("model.safetensors"), weights).expect("writes");
    let refused = client.fails("model.add", json!({"directory": dir}), "INVALID_PARAMS");
    assert!(format!("{refused:?}").contains("header"), "{refused:?}");
    tiny_model(&dir, &tokenizer(Value::Null));
    let added = client.ok("model.add", json!({"directory": dir}));
    assert_eq!(added["dimensions"], 8, "a model in order is taken");
}
