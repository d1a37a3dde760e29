//! Every method is in the method table, reachable and documented; every invalid parameter is reported with its path.

use afd_tests::{Client, World};
use serde_json::{Map, Value, json};

/// Returns the methods of the OpenRPC document.
fn discover_methods(client: &mut Client) -> Vec<Value> {
    let document = client.ok("rpc.discover", json!({}));
    assert_eq!(document["openrpc"], "1.3.2");
    document["methods"].as_array().expect("methods").clone()
}

/// Returns the parameters of a method's example.
fn example_params(method: &Value) -> Map<String, Value> {
    let given = method["examples"][0]["params"].as_array().expect("an example");
    given.iter().map(|p| (p["name"].as_str().expect("a name").to_owned(), p["value"].clone())).collect()
}

/// Returns a value whose type a parameter does not accept.
fn wrong_value(schema: &Value) -> Value {
    let text = schema.to_string();
    if text.contains("\"string\"") || text.contains("\"boolean\"") || text.contains("$ref") {
        json!(12.5)
    } else {
        json!("twelve")
    }
}

#[test]
fn daemon_serves_the_methods_of_the_table() {
    let world = World::new();
    let mut client = world.client();
    let served: Vec<String> =
        discover_methods(&mut client).iter().map(|m| m["name"].as_str().expect("a name").to_owned()).collect();
    let table: Vec<String> = afd_proto::methods().map(|m| m.name.to_owned()).collect();
    assert_eq!(served, table);
    let core_methods = [
        "daemon.version",
        "device.lease",
        "observe.page",
        "act.tap",
        "verify.nodeExists",
        "recover.relaunch",
        "memory.experience",
        "events.subscribe",
    ];
    let listed = client.ok("daemon.methods", json!({}))["methods"].clone();
    let names: Vec<&str> = listed.as_array().expect("methods").iter().filter_map(|m| m["name"].as_str()).collect();
    assert_eq!(names, table);
    let tap = listed.as_array().into_iter().flatten().find(|m| m["name"] == "act.tap").expect("act.tap");
    assert_eq!(tap["takes"], json!({"device": "reached", "session": true, "timeout": false}));
    assert_eq!((tap["effect"].as_str(), tap["requestKey"].as_bool()), (Some("act"), Some(true)));
    assert!(tap["errors"].as_array().is_some_and(|e| e.contains(&json!("REF_ALIAS_STALE"))), "{tap}");
    assert!(core_methods.iter().all(|m| table.iter().any(|t| t == m)));
    for name in table.iter().filter(|n| *n != "daemon.shutdown" && *n != "events.subscribe") {
        let code = client.connection.call(name, json!({"\u{1F600}": 1}));
        assert!(!matches!(code, Err(afd_tests::CallError::Rpc { number: -32601, .. })), "{name} is not served");
    }
}

#[test]
fn invalid_missing_and_unknown_parameters_are_reported_with_their_path() {
    let world = World::new();
    let mut client = world.client();
    let mut checked = 0;
    for method in discover_methods(&mut client) {
        let name = method["name"].as_str().expect("a name");
        // Both accept ids of any kind.
        if name == "events.unsubscribe" || name == "rpc.cancel" {
            continue;
        }
        let fails_at = |client: &mut Client, params: Map<String, Value>, path: &str| {
            let error = match client.connection.call(name, Value::Object(params.clone())) {
                Err(afd_tests::CallError::Rpc { number, data, .. }) => (number, data),
                other => panic!("{name} {params:?}: {other:?}"),
            };
            assert_eq!(error.0, -32602, "{name} {params:?} {}", error.1);
            assert_eq!(error.1["code"], "INVALID_PARAMS");
            let details = &error.1["details"];
            assert_eq!(details["path"], path, "{name} {params:?}");
            assert!(details["expected"].is_string() && details["got"].is_string(), "{name}: {details}");
        };
        let good = example_params(&method);
        let mut unknown = good.clone();
        unknown.insert("noSuchField".into(), json!(1));
        fails_at(&mut client, unknown, "noSuchField");
        for param in method["params"].as_array().expect("params") {
            let field = param["name"].as_str().expect("a name");
            let mut bad = good.clone();
            bad.insert(field.to_owned(), wrong_value(&param["schema"]));
            fails_at(&mut client, bad, field);
            if param["required"] == true {
                let mut missing = good.clone();
                missing.remove(field);
                fails_at(&mut client, missing, field);
            }
            checked += 1;
        }
    }
    assert!(checked > 150, "{checked} parameters were checked");
}

/// Returns values that a parameter's schema does not allow, though their type is right.
fn out_of_bounds(schema: &Value) -> Vec<Value> {
    let number = |key: &str| schema[key].as_f64();
    let count = |key: &str| schema[key].as_u64().and_then(|n| usize::try_from(n).ok());
    let whole = schema["type"] == "integer";
    let as_number = |n: f64| if whole { json!(n as i64) } else { json!(n) };
    let item = if schema["items"]["type"] == "integer" { json!(1) } else { json!("a") };
    let over = number("maximum").map(|n| as_number(n + 1.0));
    let under = number("minimum").filter(|n| *n != 0.0).map(|n| as_number(n - 1.0));
    let long = count("maxLength").map(|n| json!("a".repeat(n + 1)));
    let empty = count("minLength").filter(|n| *n > 0).map(|_| json!(""));
    let many = count("maxItems").filter(|_| schema["items"].get("$ref").is_none()).map(|n| json!(vec![item; n + 1]));
    [over, under, long, empty, many].into_iter().flatten().collect()
}

#[test]
fn documented_bounds_hold() {
    let world = World::new();
    let mut client = world.client();
    client.ok("session.start", json!({"session": "checkout-1"}));
    client.ok("session.task.add", json!({"session": "checkout-1", "description": "pay"}));
    client.ok("session.task.start", json!({"session": "checkout-1"}));
    client.ok("observe.page", json!({}));
    let (mut checked, mut wrong) = (0, Vec::new());
    for method in discover_methods(&mut client) {
        let name = method["name"].as_str().expect("a name");
        for param in method["params"].as_array().expect("params") {
            let field = param["name"].as_str().expect("a name");
            for value in out_of_bounds(&param["schema"]) {
                let mut params = example_params(&method);
                params.insert(field.to_owned(), value.clone());
                checked += 1;
                match client.connection.call(name, Value::Object(params)) {
                    Err(afd_tests::CallError::Rpc { number: -32602, data, .. }) if data["details"]["path"] == field => {
                    }
                    other => wrong.push(format!("{name} {field} {value:.40}: {other:?}")),
                }
            }
        }
    }
    assert!(checked > 150, "{checked} values were checked");
    assert!(
        wrong.is_empty(),
        "{} of {checked} were taken, or refused in another way:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_example_is_valid() {
    let world = World::new();
    let mut client = world.client();
    for method in discover_methods(&mut client) {
        let name = method["name"].as_str().expect("a name");
        if [
            "daemon.shutdown",
            "events.unsubscribe",
            "device.add",
            "visual.export",
            "session.progress",
            "session.import",
            "recall.evaluate",
            "model.add",
        ]
        .contains(&name)
        {
            continue;
        }
        if let Err(afd_tests::CallError::Rpc { number, message, .. }) =
            client.connection.call(name, Value::Object(example_params(&method)))
        {
            assert!(number != -32602 && number != -32601, "{name}: {message}");
        }
    }
}

#[test]
fn results_have_the_documented_members() {
    let world = World::process();
    let mut client = world.client();
    let result = client.ok("observe.page", json!({}));
    for key in [
        "device",
        "session",
        "traceId",
        "observationId",
        "settled",
        "reliable",
        "topActivity",
        "mode",
        "hasWebView",
        "nodeReliability",
        "page",
        "hints",
    ] {
        assert!(result.get(key).is_some(), "{key} is missing");
    }
    let version = client.ok("daemon.version", json!({}));
    assert_eq!(version, client.ok("daemon.version", json!({})), "constant for the lifetime of the daemon");
    let status = client.ok("daemon.status", json!({}));
    assert_eq!(status["pid"], json!(world.daemon.pid()));
    assert_eq!(status["database"], json!(world.dir().join("memory.db")));
    let packages = client.ok("device.packages", json!({"filter": "example"}));
    assert_eq!(
        packages["packages"],
        json!(["org.example.bank", "org.example.browser", "org.example.lab", "org.example.reader", "org.example.shop"])
    );
    assert_eq!(client.ok("device.health", json!({}))["status"], "healthy");
}
