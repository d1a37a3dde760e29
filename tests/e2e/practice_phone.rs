//! The practice phone responds like the real service: errors without an envelope, shared aliases, the capability
//! matrix.

use afd_phone::fault::Kind;
use afd_tests::http::{Response, request};
use afd_tests::{TestPhone, phone::TOKEN};
use serde_json::{Value, json};

fn get(phone: &TestPhone, path: &str) -> Response {
    request(&phone.url(), "GET", path, &[("authorization", &format!("Bearer {TOKEN}"))], "")
}

fn post(phone: &TestPhone, path: &str, body: &Value) -> Response {
    let auth = format!("Bearer {TOKEN}");
    request(
        &phone.url(),
        "POST",
        path,
        &[("authorization", &auth), ("content-type", "application/json")],
        &body.to_string(),
    )
}

/// Returns the data of a successful envelope.
fn data(response: &Response) -> String {
    let envelope: Value = serde_json::from_str(&response.body).expect("an envelope");
    envelope["data"].as_str().expect("data").to_owned()
}

/// Returns the HTTP status and the error of a failed envelope.
fn envelope_error(response: &Response) -> (u16, String) {
    let envelope: Value = serde_json::from_str(&response.body).expect("an envelope");
    (response.status, envelope["error"].as_str().expect("an error").to_owned())
}

#[test]
fn http_errors_bypass_the_envelope() {
    let phone = TestPhone::start();
    let url = phone.url();
    let plain = |r: Response| (r.status, r.header("content-type").map(str::to_owned), r.body);
    let text = Some("text/plain; charset=UTF-8".to_owned());
    let healthy = request(&url, "GET", "/health", &[], "");
    assert_eq!(
        plain(healthy),
        (200, Some("application/json".into()), r#"{"status":"healthy","type":"service"}"#.into())
    );
    let missing = "Missing or invalid Authorization header";
    assert_eq!(plain(request(&url, "GET", "/health?x=1", &[], "")), (401, text.clone(), missing.into()));
    assert_eq!(
        plain(request(&url, "GET", "/api/screen", &[("authorization", "bearer x")], "")),
        (401, text.clone(), missing.into())
    );
    assert_eq!(
        plain(request(&url, "GET", "/api/screen", &[("authorization", "Bearer x")], "")),
        (401, text.clone(), "Invalid bearer token".into())
    );
    assert_eq!(plain(get(&phone, "/api/none")), (404, None, String::new()));
    assert_eq!(plain(get(&phone, "/api/tap")), (405, None, String::new()));
    let auth = format!("Bearer {TOKEN}");
    assert_eq!(request(&url, "POST", "/api/tap", &[("authorization", &auth)], "{}").status, 415);
    let bad = post(&phone, "/api/tap", &json!({"x": "a"}));
    assert!(bad.status == 400 && bad.body.starts_with("Failed to convert request body to class "), "{bad:?}");
    assert_eq!(request(&url, "POST", "/api/press/back", &[("authorization", &auth)], "whatever").status, 200);
}

#[test]
fn envelopes_keep_the_key_order_and_include_nulls() {
    let phone = TestPhone::start();
    assert_eq!(
        post(&phone, "/api/tap", &json!({"x": 540, "y": 1200.5})).body,
        r#"{"ok":true,"data":"Tapped (540.0, 1200.5)","error":null}"#
    );
    let scroll = post(&phone, "/api/scroll", &json!({"direction": "sideways"}));
    assert_eq!(
        (scroll.status, scroll.header("content-type"), scroll.body.as_str()),
        (400, Some("application/json"), r#"{"ok":false,"data":null,"error":"Invalid direction: sideways"}"#)
    );
}

#[test]
fn dialects_differ_like_the_versions_of_the_service() {
    let phone = TestPhone::start();
    assert!(
        data(&get(&phone, "/api/screen"))
            .lines()
            .nth(1)
            .is_some_and(|l| l == "[topActivity: com.android.settings/.Settings]")
    );
    assert!(data(&get(&phone, "/api/screen/refs")).ends_with(r#","topActivity":"com.android.settings/.Settings"}"#));
    phone.run(json!({"do": "dialect", "dialect": 1}));
    assert!(data(&get(&phone, "/api/screen")).lines().nth(1).is_some_and(|l| l.starts_with("note:")));
    let observe = get(&phone, "/api/observe");
    assert_eq!((observe.status, observe.body.as_str()), (404, ""));
}

#[test]
fn alias_map_is_replaced_by_each_refs_read_and_shared_by_all_clients() {
    let phone = TestPhone::start();
    let tap = |alias: &str| post(&phone, "/api/nodes/tap", &json!({"by": "ref", "value": alias}));
    assert_eq!(envelope_error(&tap("@n2")), (409, "REF_ALIAS_UNOBSERVED: ref=@n2".into()));
    assert_eq!(envelope_error(&tap("n2")), (400, "Invalid ref: n2 (expected format @n<index>)".into()));
    get(&phone, "/api/screen/refs");
    assert_eq!(data(&tap("@n2")).split(" at ").next(), Some("Tapped by ref '@n2'"));
    assert_eq!(phone.page(), "wifi");
    // A refs read by any client rebinds the aliases; an observation without refs does not.
    get(&phone, "/api/observe?include=screen");
    assert_eq!(tap("@n2").status, 200, "a row with the same geometry on another page is mistaken for it");
    phone.scene("org.example.shop", Some("cart"));
    assert_eq!(envelope_error(&tap("@n2")).1, "REF_ALIAS_STALE: ref=@n2");
    get(&phone, "/api/observe?include=refs");
    assert_eq!(tap("@n2").status, 200);
    phone.run(json!({"do": "restart"}));
    assert_eq!(envelope_error(&tap("@n2")).1, "REF_ALIAS_UNOBSERVED: ref=@n2");
}

#[test]
fn ref_state_is_kept_while_its_digest_is_unchanged_and_cached_briefly() {
    let phone = TestPhone::with_manual_clock();
    let refs = || serde_json::from_str::<Value>(&data(&get(&phone, "/api/screen/refs"))).expect("JSON");
    let first = refs();
    phone.run(json!({"do": "clock", "advanceMs": 2000}));
    let second = refs();
    assert_eq!(
        (&first["refVersion"], &first["updatedAtMs"]),
        (&second["refVersion"], &second["updatedAtMs"]),
        "labels of children are not in the digest"
    );
    // A change without an event is noticed once the cache is 1500 ms old.
    phone.lock().accessibility = false;
    assert_eq!(refs()["refCount"], first["refCount"], "cached");
    phone.run(json!({"do": "clock", "advanceMs": 1500}));
    assert_eq!(refs()["refCount"], 0);
    let observed: Value = serde_json::from_str(&data(&get(&phone, "/api/observe?include=refs"))).expect("JSON");
    assert_eq!((observed["screen"].is_null(), observed["refs"]["refVersion"].as_i64()), (true, Some(2)));
}

#[test]
fn capabilities_follow_the_matrix() {
    let phone = TestPhone::start();
    let post_status = |path: &str, body: Value| post(&phone, path, &body).status;
    for (shizuku, accessibility, tap, key, launch, top, shot, find) in [
        (true, true, 200, 200, 200, 200, 200, 200),
        (false, true, 200, 500, 400, 500, 200, 200),
        (true, false, 200, 200, 200, 200, 200, 503),
        (false, false, 500, 500, 400, 500, 500, 503),
    ] {
        phone.run(json!({"do": "capability", "shizuku": shizuku, "accessibility": accessibility}));
        let got = (
            post_status("/api/tap", json!({"x": 1, "y": 200})),
            post_status("/api/press/key", json!({"key_code": 66})),
            post_status("/api/app/launch", json!({"package_name": "com.android.settings"})),
            get(&phone, "/api/app/top").status,
            get(&phone, "/api/screenshot").status,
            post_status("/api/nodes/find", json!({"by": "text", "value": "Wi-Fi"})),
        );
        assert_eq!(got, (tap, key, launch, top, shot, find), "Shizuku {shizuku}, accessibility {accessibility}");
        let screen = data(&get(&phone, "/api/screen"));
        assert_eq!(screen.contains("note:DEGRADED"), !accessibility);
    }
}

#[test]
fn semantic_taps_ignore_ancestors_and_marks_list_texts_first() {
    let phone = TestPhone::start();
    let (status, error) = envelope_error(&post(&phone, "/api/nodes/tap", &json!({"by": "text", "value": "Wi-Fi"})));
    assert_eq!(status, 409);
    assert!(error.ends_with("matched_count=1, candidate_count=0"), "{error}");
    let found = data(&post(&phone, "/api/nodes/find", &json!({"by": "text", "value": "nope"})));
    assert_eq!(found, "No nodes found matching text='nope'");
    let marks: Value = serde_json::from_str(&data(&get(&phone, "/api/mark?interactive_only=false"))).expect("JSON");
    let labels: Vec<&str> =
        marks["marks"].as_array().expect("marks").iter().map(|m| m["label"].as_str().expect("a label")).collect();
    let first_control = labels.iter().position(|l| l.starts_with('C')).expect("controls");
    assert!(
        labels[..first_control].iter().all(|l| l.starts_with('T'))
            && labels[first_control..].iter().all(|l| l.starts_with('C'))
    );
    let overlay = data(&post(&phone, "/api/overlay", &json!({"enabled": true, "refresh_interval_ms": 1})));
    let overlay: Value = serde_json::from_str(&overlay).expect("JSON");
    assert_eq!((overlay["enabled"].as_bool(), overlay["refreshIntervalMs"].as_i64()), (Some(true), Some(200)));
}

#[test]
fn same_seed_gives_the_same_phone() {
    let screen = |seed: u64| data(&get(&TestPhone::with(|s| s.seed = seed), "/api/screen"));
    assert_eq!(screen(7), screen(7));
    assert_ne!(screen(7), screen(8));
}

#[test]
fn control_interface_sets_the_scene_and_the_shop_shows_pop_ups() {
    let phone = TestPhone::start();
    let control = phone.control_url();
    let control_request =
        |path: &str, body: Value| request(&control, "POST", &format!("/{path}"), &[], &body.to_string());
    let scene = control_request("scene", json!({"app": "org.example.shop", "page": "reviews"}));
    assert_eq!(scene.status, 200, "{}", scene.body);
    let popup = control_request("popup", json!({"dialog": "permission"}));
    assert_eq!(popup.status, 200, "{}", popup.body);
    let state: Value = serde_json::from_str(&control_request("state", json!({})).body).expect("JSON");
    assert!(state["topActivity"].as_str().is_some_and(|t| t.starts_with("com.google.android.permissioncontroller/")));
    assert_eq!(control_request("scene", json!({"app": "org.nowhere"})).status, 400);
    assert_eq!(control_request("nonsense", json!({})).status, 400);
    assert_eq!(control_request("clock", json!({"advanceMs": 5})).status, 400, "the clock is not manual");
    phone.fault("/api/screen", Kind::Status { status: 500, body: "x".into(), content_type: None });
    assert_eq!(get(&phone, "/api/screen").status, 500);
    // Using the shop triggers its own pop-ups.
    let mut popups = 0;
    for _ in 0..30 {
        phone.scene("org.example.shop", Some("home"));
        phone.lock().touch("tap", 540.0, 430.0);
        popups += usize::from(data(&get(&phone, "/api/screen")).contains("alertTitle"));
    }
    assert!(popups >= 3, "{popups} pop-ups");
}
