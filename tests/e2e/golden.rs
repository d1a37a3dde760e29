//! Golden vectors of the visual memory: inputs and outputs of the functions of the original tool, whose files the
//! daemon imports and exports. The tests use the socket: they import files, learn detections, run jobs and export
//! files.
//!
//! `AFD_GOLDEN` names the file with the vectors. These tests are ignored by default. The tests in `visual` cover the
//! same rules with their own fixtures.

use std::path::{Path, PathBuf};

use afd_tests::{TestPhone, World};
use serde_json::{Map, Value, json};

/// Reads the vectors.
fn vectors() -> Value {
    let file = std::env::var_os("AFD_GOLDEN").expect("needs AFD_GOLDEN");
    let text = std::fs::read_to_string(&file).expect("the vectors can be read");
    serde_json::from_str(&text).expect("the vectors are JSON")
}

/// A daemon that runs the vectors, each under an app name of its own.
struct VectorRunner {
    world: World,
    count: usize,
}

impl VectorRunner {
    fn new() -> Self {
        Self { world: World::bare(TestPhone::start(), ""), count: 0 }
    }

    /// Imports files as a new app and returns its name. Objects keep the order of the texts.
    fn import(&mut self, files: &[(&str, String)]) -> String {
        self.count += 1;
        let app = format!("app{}", self.count);
        let dir = self.world.dir().join("in").join(&app);
        std::fs::create_dir_all(&dir).expect("creates the directory");
        for (name, text) in files {
            std::fs::write(dir.join(name), text).expect("writes");
        }
        self.call("visual.import", json!({"dir": dir, "app": app}));
        app
    }

    fn call(&self, method: &str, params: Value) -> Value {
        self.world.client().call(method, params).unwrap_or_else(|e| panic!("{method}: {e:?}"))
    }

    fn learn(&self, app: &str, names: &[&str], page: Option<&str>) -> Value {
        let at = |i: usize| i32::try_from(i).expect("fits") * 60;
        let detections: Vec<Value> = names
            .iter()
            .enumerate()
            .map(|(i, n)| json!({"name": n, "type": "icon", "box": [0, at(i), 50, at(i) + 50]}))
            .collect();
        self.call("visual.learn", json!({"app": app, "detections": detections, "page": page}))
    }

    fn run_upkeep(&self) {
        self.call("job.run", json!({"name": "visual-upkeep"}));
    }

    fn export(&mut self, app: &str) -> Exported {
        self.count += 1;
        let dir = self.world.dir().join("out").join(self.count.to_string());
        self.call("visual.export", json!({"dir": dir, "app": app}));
        Exported(dir.join(app))
    }
}

/// The directory of an exported app.
struct Exported(PathBuf);

impl Exported {
    fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.0.join(file)).expect("was written")
    }

    fn json(&self, file: &str) -> Value {
        serde_json::from_str(&self.text(file)).expect("is JSON")
    }

    /// Returns the top-level keys of a file, in the order of the file.
    fn order(&self, file: &str) -> Vec<String> {
        let text = self.text(file);
        let key = |line: &str| {
            line.strip_prefix("  \"")
                .filter(|l| !l.starts_with(' '))
                .and_then(|l| l.split_once("\": {"))
                .map(|(k, _)| k.to_owned())
        };
        text.lines().filter_map(key).collect()
    }
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Formats a JSON object whose members have this order.
fn object_text<'a>(rows: impl IntoIterator<Item = (&'a str, &'a Value)>) -> String {
    let rows: Vec<String> = rows.into_iter().map(|(k, v)| format!("{}: {v}", json!(k))).collect();
    format!("{{{}}}", rows.join(", "))
}

/// Returns the members of an object in this order, since the JSON parser of these tests sorts keys. Unlisted members
/// come last.
fn members_in_order<'a>(object: &'a Value, order: &[String]) -> Vec<(&'a str, &'a Value)> {
    let map = object.as_object().expect("an object");
    let mut rows: Vec<(&str, &Value)> = map.iter().map(|(k, v)| (k.as_str(), v)).collect();
    rows.sort_by_key(|(k, _)| order.iter().position(|o| o == k).unwrap_or(usize::MAX));
    rows
}

/// Returns the keys of the object that follows `at` in the text of the vectors' file, in the order of the file.
fn key_order(text: &str, at: &str) -> Vec<String> {
    let Some(start) = text.find(at) else { return Vec::new() };
    let (mut depth, mut keys, mut in_string, mut escaped, mut word, mut last) =
        (0, Vec::new(), false, false, String::new(), String::new());
    for c in text[start + at.len()..].chars() {
        match (in_string, c) {
            (true, _) if escaped => {
                escaped = false;
                word.push(c);
            }
            (true, '\\') => {
                escaped = true;
                word.push(c);
            }
            (true, '"') => {
                in_string = false;
                last = std::mem::take(&mut word);
            }
            (true, _) => word.push(c),
            (false, '"') => in_string = true,
            (false, ':') if depth == 1 => keys.push(last.clone()),
            (false, '{' | '[') => depth += 1,
            (false, '}' | ']') => {
                depth -= 1;
                if depth == 0 {
                    break;
                }
            }
            _ => {}
        }
    }
    keys
}

/// Returns only these members, which have the same meaning here and in the source tool.
fn pick(value: &Value, keys: &[&str]) -> Value {
    let map = value.as_object().cloned().unwrap_or_default();
    Value::Object(map.into_iter().filter(|(k, _)| keys.contains(&k.as_str())).collect::<Map<_, _>>())
}

#[test]
#[ignore = "needs golden vectors"]
fn states_are_identified_as_in_the_source_tool() {
    let golden = vectors();
    let mut runner = VectorRunner::new();
    for vector in golden["identify_or_create_state"].as_array().expect("vectors") {
        let (note, given) = (vector["note"].as_str().unwrap_or_default(), &vector["in"]);
        let detected = strings(&given["detected"]);
        // Counts in the vectors include the current observation, so a count of at least 2 means that the component was
        // seen before. One that is seen for the first time is not known at all.
        let seen = |name: &str| given["components"][name]["seen_count"].as_i64().unwrap_or_default();
        let mut known: Vec<&str> = given["components"]
            .as_object()
            .expect("components")
            .keys()
            .map(String::as_str)
            .filter(|n| seen(n) >= 2)
            .collect();
        for state in given["states"].as_object().expect("states").values() {
            known.extend(
                strings(&state["defining_components"]).into_iter().filter(|n| !given["components"][*n].is_object()),
            );
        }
        let row = json!({"type": "icon", "source": "detector", "seen_count": 1, "consecutive_misses": 0});
        let components = object_text(known.iter().map(|n| (*n, &row)));
        let app = runner.import(&[("components.json", components), ("states.json", given["states"].to_string())]);
        if detected.is_empty() {
            // Without detections there is no state.
            assert_eq!(vector["out"]["state_id"], Value::Null, "{note}");
        }
        let learned = runner.learn(&app, &detected, given["description"].as_str());
        assert_eq!(learned["state"]["id"], vector["out"]["state_id"], "{note}: {learned}");
        let states = runner.export(&app).json("states.json");
        for (id, wanted) in vector["out"]["states"].as_object().expect("states") {
            let keys = ["name", "description", "defining_components", "visit_count"];
            assert_eq!(pick(&states[id], &keys), pick(wanted, &keys), "{note}: {id}");
        }
        assert_eq!(states.as_object().map(Map::len), vector["out"]["states"].as_object().map(Map::len), "{note}");
    }
}

#[test]
#[ignore = "needs golden vectors"]
fn states_are_merged_as_in_the_source_tool() {
    let golden = vectors();
    let text = std::fs::read_to_string(std::env::var_os("AFD_GOLDEN").expect("named")).expect("reads");
    let mut runner = VectorRunner::new();
    for vector in golden["merge_similar_states"].as_array().expect("vectors") {
        let (note, given) = (vector["note"].as_str().unwrap_or_default(), &vector["in"]);
        let section = &text[text.find(&format!("\"note\": {}", json!(note))).expect("the vector")..];
        let mut names: Vec<&str> = given["states"]
            .as_object()
            .expect("states")
            .values()
            .flat_map(|s| strings(&s["defining_components"]))
            .collect();
        names.sort_unstable();
        names.dedup();
        let row = json!({"type": "icon", "source": "detector", "seen_count": 2, "consecutive_misses": 0});
        let app = runner.import(&[
            ("components.json", object_text(names.iter().map(|n| (*n, &row)))),
            ("states.json", object_text(members_in_order(&given["states"], &key_order(section, "\"states\":")))),
            (
                "transitions.json",
                object_text(members_in_order(&given["transitions"], &key_order(section, "\"transitions\":"))),
            ),
        ]);
        runner.run_upkeep();
        let exported = runner.export(&app);
        let (states, transitions) = (exported.json("states.json"), exported.json("transitions.json"));
        let out = &vector["out"];
        assert_eq!(exported.order("states.json"), strings(&out["state_order"]), "{note}");
        for (id, wanted) in out["states"].as_object().expect("states") {
            let keys = ["name", "defining_components", "visit_count", "first_seen", "last_seen", "visible"];
            // Deviation: a state with an empty set of components is kept by name only, and exported without a set.
            let wanted = if wanted["defining_components"] == json!([]) {
                pick(wanted, &["name", "visible"])
            } else {
                pick(wanted, &keys)
            };
            let got = pick(
                &states[id],
                &wanted.as_object().expect("an object").keys().map(String::as_str).collect::<Vec<_>>(),
            );
            assert_eq!(got, wanted, "{note}: {id}");
        }
        // Deviation: members of transitions that the source tool loses at the first merge are kept, so they are not
        // compared.
        assert_eq!(exported.order("transitions.json"), strings(&out["transition_order"]), "{note}");
        for (key, wanted) in out["transitions"].as_object().expect("transitions") {
            let keys = ["from_state", "action", "to_state", "count", "last_used"];
            assert_eq!(pick(&transitions[key], &keys), pick(wanted, &keys), "{note}: {key}");
            // Deviation: the rate of merged transitions is that of all, not that of the first.
            let all: Vec<&Value> = given["transitions"].as_object().expect("transitions").values().collect();
            let rates: Vec<f64> = all
                .iter()
                .filter(|t| t["action"] == wanted["action"])
                .filter_map(|t| t["success_rate"].as_f64())
                .collect();
            let rate = transitions[key]["success_rate"].as_f64().expect("a rate");
            let (least, most) = rates.iter().fold((f64::MAX, f64::MIN), |(l, m), r| (l.min(*r), m.max(*r)));
            assert!(least <= rate && rate <= most, "{note}: {key}: {rate} of {rates:?}");
            if all.iter().any(|t| t["count"] == wanted["count"] && t["action"] == wanted["action"]) {
                assert_eq!(transitions[key]["success_rate"], wanted["success_rate"], "{note}: {key}");
            }
        }
    }
}

#[test]
#[ignore = "needs golden vectors"]
fn counting_and_forgetting_match_the_source_tool() {
    let golden = vectors();
    let mut runner = VectorRunner::new();
    for vector in golden["activity_and_forget"].as_array().expect("vectors") {
        let (note, given, out) = (vector["note"].as_str().unwrap_or_default(), &vector["in"], &vector["out"]);
        let files = [
            ("meta.json", "meta"),
            ("components.json", "components"),
            ("states.json", "states"),
            ("transitions.json", "transitions"),
        ];
        let files: Vec<(&str, String)> = files.iter().map(|(file, key)| (*file, given[*key].to_string())).collect();
        let app = runner.import(&files);
        let detected = strings(&given["detected"]);
        runner.learn(&app, &detected, None);
        runner.run_upkeep();
        let exported = runner.export(&app);
        let (meta, components) = (exported.json("meta.json"), exported.json("components.json"));
        assert_eq!(meta["detect_count"], out["meta"]["detect_count"], "{note}");
        for (name, row) in given["components"].as_object().expect("components") {
            let has_page = given["states"]
                .as_object()
                .expect("states")
                .values()
                .any(|s| strings(&s["defining_components"]).contains(&name.as_str()));
            let (got, wanted) = (&components[name], &out["components"][name]);
            // Deviation: a component is missed only on its own pages. Components of other pages than the observed one
            // are unchanged, whereas the source tool counts a miss and forgets them. Those of no page can be missed
            // anywhere, as in the source tool.
            let on_other_page = has_page && !detected.contains(&name.as_str());
            let wanted = if on_other_page { row } else { wanted };
            assert_eq!(got.is_object(), wanted.is_object(), "{note}: {name} {got}");
            for key in ["seen_count", "consecutive_misses"] {
                assert_eq!(got[key], wanted[key], "{note}: {name} {key}");
            }
        }
        let kept: Vec<String> = components.as_object().expect("components").keys().cloned().collect();
        assert!(kept.iter().all(|k| given["components"].get(k).is_some() || detected.contains(&k.as_str())), "{note}");
    }
}

#[test]
#[ignore = "needs golden vectors"]
fn old_profiles_are_split_as_in_the_source_tool() {
    let golden = vectors();
    let mut runner = VectorRunner::new();
    for vector in golden["migrate_profile_if_needed"].as_array().expect("vectors") {
        let note = vector["note"].as_str().unwrap_or_default();
        let files: Vec<(&str, String)> =
            vector["in"].as_object().expect("files").iter().map(|(f, v)| (f.as_str(), v.to_string())).collect();
        let app = runner.import(&files);
        let source = runner.world.dir().join("in").join(&app);
        for (file, text) in &files {
            // Deviation: the source files are not renamed.
            assert_eq!(&std::fs::read_to_string(source.join(file)).expect("exists"), text, "{note}");
        }
        let exported = runner.export(&app);
        let out = &vector["out"];
        let meta = exported.json("meta.json");
        for key in ["domain", "detect_count", "img_size", "forget_threshold", "window_size", "url", "pages"] {
            let wanted = &out["meta.json"][key];
            if !wanted.is_null() {
                assert_eq!(&meta[key], wanted, "{note}: {key}");
            }
        }
        let none = Map::new();
        let components = exported.json("components.json");
        for (name, wanted) in out["components.json"].as_object().unwrap_or(&none) {
            for (key, value) in wanted.as_object().expect("a row") {
                // A missing time becomes the time of the import, as in the source tool; that time differs here.
                if value != &golden["frozen_now"] {
                    assert_eq!(&components[name][key], value, "{note}: {name} {key}");
                }
            }
        }
        for (key, wanted) in out["transitions.json"].as_object().unwrap_or(&none) {
            let row = &exported.json("transitions.json")[key];
            for member in ["from_state", "action", "to_state", "count", "success_rate", "click_pos"] {
                assert_eq!(row[member], wanted[member], "{note}: {key} {member}");
            }
        }
    }
}

#[test]
#[ignore = "needs golden vectors"]
fn paths_are_found_as_in_the_source_tool() {
    let golden = vectors();
    let mut runner = VectorRunner::new();
    let text = std::fs::read_to_string(std::env::var_os("AFD_GOLDEN").expect("named")).expect("reads");
    let section = &text[text.find("\"find_path\"").expect("vectors")..];
    for vector in golden["find_path"].as_array().expect("vectors") {
        let edges = &vector["transitions"];
        if edges.as_object().is_some_and(Map::is_empty) {
            // Deviation: without transitions the states are unknown too, which is reported as an error.
            assert_eq!(vector["out"], Value::Null);
            continue;
        }
        let app = runner.import(&[(
            "transitions.json",
            object_text(members_in_order(edges, &key_order(section, "\"transitions\":"))),
        )]);
        let path = runner
            .call("visual.path", json!({"app": app, "from": vector["from"], "to": vector["to"], "shortest": true}));
        let steps = path["route"]["steps"].as_array().expect("steps");
        let got: Vec<Value> = steps.iter().map(|s| json!([s["action"], s["to"]])).collect();
        assert_eq!(json!(got), vector["out"], "{vector}");
    }
}

#[test]
#[ignore = "needs golden vectors"]
fn directories_and_names_match_the_source_tool() {
    let golden = vectors();
    for (app, dir) in golden["app_dir"].as_object().expect("apps") {
        assert_eq!(json!(afd_experience::visual::files::directory_of(app)), *dir, "{app}");
    }
    // Deviations: a site is its registrable domain (`united.com`), and credentials are not kept. The third column gives
    // the reason.
    let expected = [
        ("https://www.united.com/en/us", Some("united.com"), "www is not a separate site"),
        ("https://kyfw.12306.cn/otn/x", Some("12306.cn"), "a subdomain is not a separate site"),
        ("http://localhost:8080/x", Some("localhost:8080"), "the name keeps the port"),
        ("localhost:8080", Some("localhost:8080"), "the source tool takes the port for the domain"),
        ("united.com/path", Some("united.com"), "as in the source tool"),
        ("https://User:pw@Shop.Example.COM:8443/a", Some("example.com"), "credentials, case and port are dropped"),
        ("chrome://settings/x", None, "a browser page is not a site"),
        ("about:blank", None, "a browser page is not a site"),
        ("file:///tmp/a.html", None, "refused, as in the source tool"),
        ("", None, "refused, as in the source tool"),
        ("https://[::1]:3000/", Some("[::1]:3000"), "the name keeps the address"),
    ];
    let urls = golden["domain_from_url"].as_object().expect("urls");
    assert_eq!(urls.len(), expected.len(), "every vector has an expectation");
    for (url, wanted, why) in expected {
        assert!(urls.contains_key(url), "{url}");
        assert_eq!(afd_screen::page::site::parse(url).map(|s| s.name).as_deref(), wanted, "{url}: {why}");
    }
    let mut runner = VectorRunner::new();
    for (label, wanted) in golden["component_key_and_icon_file_via_learn_from_screenshot"].as_object().expect("labels")
    {
        let app = runner.import(&[("meta.json", json!({"app": "x"}).to_string())]);
        runner.call(
            "visual.learn",
            json!({"app": app, "detections": [{"type": "text", "label": label, "box": [40, 100, 100, 140]}]}),
        );
        let components = runner.export(&app).json("components.json");
        let key = wanted["key"].as_str().expect("a key");
        assert_eq!(components[key]["rel_x"], wanted["rel_x"], "{label}: {components}");
        assert_eq!(components[key]["w"], wanted["w"], "{label}");
        let file = wanted["icon_file"].as_str().expect("a file");
        assert_eq!(format!("components/{}.png", afd_experience::visual::files::picture_of(key)), file, "{label}");
    }
    assert!(Path::new(&runner.world.dir().join("in")).is_dir());
}
