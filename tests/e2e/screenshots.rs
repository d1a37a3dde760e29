//! Screenshots: size and scale, annotation marks, and the phone's own overlay.

use afd_tests::{TestPhone, World};
use image::RgbImage;
use serde_json::{Value, json};

fn read_image(shot: &Value) -> RgbImage {
    image::open(shot["artifact"]["savedFile"].as_str().expect("a file")).expect("a picture").into_rgb8()
}

#[test]
fn screenshot_reports_its_size_and_scale() {
    let world = World::new();
    let mut client = world.client();
    let shot = client.ok("observe.screenshot", json!({"maxDim": 300}));
    let read = read_image(&shot);
    assert_eq!((read.width(), read.height()), (135, 300));
    assert_eq!(
        (shot["width"].as_u64(), shot["height"].as_u64(), shot["scale"].as_f64()),
        (Some(135), Some(300), Some(0.125))
    );
    assert_eq!((shot["deviceWidth"].as_u64(), shot["deviceHeight"].as_u64()), (Some(1080), Some(2400)));
    let whole = client.ok("observe.screenshot", json!({"maxDim": 20_000}));
    assert_eq!((whole["width"].as_u64(), whole["scale"].as_f64()), (Some(1080), Some(1.0)));
    let size = std::fs::metadata(shot["artifact"]["savedFile"].as_str().expect("a file")).expect("exists").len();
    assert_eq!(shot["sizeBytes"].as_u64(), Some(size));
    assert!(shot["screenshotBase64"].is_null());
    let inline = client.ok("observe.screenshot", json!({"maxDim": 100, "inline": true}));
    assert!(inline["screenshotBase64"].as_str().is_some_and(|b| b.starts_with("/9j/")));
    for bad in
        [json!({"quality": 0}), json!({"maxDim": 0}), json!({"maxMarks": 3}), json!({"annotate": true, "maxMarks": 0})]
    {
        client.fails("observe.screenshot", bad, "INVALID_PARAMS");
    }
}

#[test]
fn image_format_follows_the_file_name() {
    let world = World::new();
    let mut client = world.client();
    let save = |name: &str| world.dir().join(name).display().to_string();
    let first_bytes = |name: &str| std::fs::read(world.dir().join(name)).expect("reads")[..4].to_vec();
    let shot = client.ok("observe.screenshot", json!({"saveFile": save("a.png")}));
    assert_eq!((shot["mimeType"].as_str(), first_bytes("a.png")), (Some("image/png"), b"\x89PNG".to_vec()));
    client.ok("observe.screenshot", json!({"saveFile": save("b.jpg")}));
    assert_eq!(first_bytes("b.jpg")[..2], [0xFF, 0xD8]);
    client.ok("observe.screenshot", json!({"saveFile": save("c.bin"), "format": "png"}));
    assert_eq!(first_bytes("c.bin"), b"\x89PNG");
}

/// Returns the bounds of a ref in pixels of the image: left, top, right, bottom.
fn image_bounds(shot: &Value, row: &Value) -> [f64; 4] {
    let scale = shot["scale"].as_f64().expect("a scale");
    let mut sides =
        row["bounds"].as_str().expect("bounds").split(',').map(|v| v.parse::<f64>().expect("a number") * scale);
    std::array::from_fn(|_| sides.next().expect("four numbers"))
}

/// Returns whether the top left corner of an element has a mark: white letters on a plate of a strong colour.
fn has_mark(picture: &RgbImage, [left, top, _, _]: [f64; 4]) -> bool {
    let (mut white, mut strong) = (0, 0);
    for y in (top as u32)..(top as u32 + 16).min(picture.height()) {
        for x in (left as u32)..(left as u32 + 28).min(picture.width()) {
            let [r, g, b] = picture.get_pixel(x, y).0.map(i32::from);
            white += i32::from(r > 200 && g > 200 && b > 200);
            strong += i32::from(r.max(g).max(b) - r.min(g).min(b) > 80);
        }
    }
    white > 15 && strong > 60
}

#[test]
fn marks_are_drawn_on_their_elements_and_their_aliases_work() {
    let world = World::new();
    let mut client = world.client();
    let inputs = world.phone.lock().inputs.len();
    for max_dim in [20_000, 1200, 700] {
        let shot = client.ok("observe.screenshot", json!({"annotate": true, "maxDim": max_dim, "format": "png"}));
        let picture = read_image(&shot);
        let rows = shot["refs"]["rows"].as_array().expect("refs");
        let named: Vec<&Value> = rows.iter().filter(|r| r["class"] == "LinearLayout").collect();
        assert!(named.len() >= 8 && shot["settled"] == true);
        for row in named {
            assert!(has_mark(&picture, image_bounds(&shot, row)), "{max_dim}: no mark on {row}");
        }
    }
    let plain = client.ok("observe.screenshot", json!({"format": "png"}));
    let shot = client.ok("observe.screenshot", json!({"annotate": true, "format": "png"}));
    let wifi = shot["refs"]["rows"]
        .as_array()
        .expect("refs")
        .iter()
        .find(|r| r["label"] == "Wi-Fi, Connected")
        .expect("a row")
        .clone();
    assert!(!has_mark(&read_image(&plain), image_bounds(&shot, &wifi)), "without `annotate` nothing is drawn");
    client.ok("act.tap", json!({"by": "ref", "value": wifi["ref"], "observationId": shot["observationId"]}));
    assert_eq!(world.phone.hits("tap").last().map(String::as_str), Some("Wi-Fi, Connected"));
    let few = client.ok("observe.screenshot", json!({"annotate": true, "maxMarks": 2, "markScope": "interactive"}));
    assert_eq!((few["markCount"].as_u64(), few["refs"]["returnedRows"].as_u64()), (Some(2), Some(2)));
    assert_eq!(world.phone.lock().inputs.len(), inputs + 1, "drawing marks has no effect on the phone");
    assert!(!world.phone.lock().overlay.enabled);
}

#[test]
fn elements_hidden_by_a_dialog_are_not_marked() {
    let world = World::with(TestPhone::start(), "");
    let mut client = world.client();
    world.phone.scene("org.example.shop", None);
    let before = client.ok("observe.screenshot", json!({"annotate": true}));
    world.phone.run(json!({"do": "popup", "dialog": "rate"}));
    let shot = client.ok("observe.screenshot", json!({"annotate": true}));
    let refs = shot["refs"]["refCount"].as_u64().expect("a count");
    assert!(shot["markCount"].as_u64().expect("a count") <= refs && refs > 0, "{shot}");
    assert!(before["markCount"].as_u64() > Some(0));
}

#[test]
fn overlay_of_the_phone_can_be_set_and_shown() {
    let world = World::new();
    let mut client = world.client();
    let off = client.ok("observe.overlayGet", json!({}));
    assert_eq!((off["available"].as_bool(), off["enabled"].as_bool()), (Some(true), Some(false)));
    let on = client.ok(
        "observe.overlaySet",
        json!({"enabled": true, "maxMarks": 5, "markScope": "interactive", "autoRefresh": false, "offsetX": 3}),
    );
    assert_eq!(
        (on["enabled"].as_bool(), on["markCount"].as_u64(), on["offsetX"].as_i64()),
        (Some(true), Some(5), Some(3))
    );
    let shot = |client: &mut afd_tests::Client, hide: bool| {
        read_image(&client.ok("observe.screenshot", json!({"hideOverlay": hide, "format": "png"})))
    };
    assert_ne!(shot(&mut client, true), shot(&mut client, false));
    world.client_for("ann").ok("device.lease", json!({"ttlMs": 60_000}));
    client.fails("observe.overlaySet", json!({"enabled": false}), "DEVICE_BUSY");
    client.fails("observe.overlaySet", json!({"enabled": true, "refreshIntervalMs": 5}), "INVALID_PARAMS");
    world.client_for("ann").ok("device.release", json!({}));
    assert_eq!(client.ok("observe.overlaySet", json!({"enabled": false}))["enabled"], false);
    world.phone.run(json!({"do": "capability", "accessibility": false}));
    client.fails("observe.overlaySet", json!({"enabled": true}), "DEVICE_ERROR");
}

#[test]
fn a_picture_of_one_element_is_cut_out_of_the_screen() {
    let world = World::new();
    let mut client = world.client();
    let refs = client.ok("observe.refs", json!({}));
    let row = refs["rows"].as_array().expect("rows").iter().find(|r| r["label"] == "Wi-Fi, Connected");
    let row = row.unwrap_or_else(|| panic!("{refs}"));
    let bounds = row["bounds"].as_str().expect("bounds");
    let sides: Vec<u32> = bounds.split(',').map(|v| v.parse().expect("a number")).collect();
    for of in [row["ref"].as_str().expect("an alias"), "Wi-Fi"] {
        let shot = client.ok("observe.screenshot", json!({"of": of, "maxDim": 20_000}));
        let picture = read_image(&shot);
        assert_eq!((picture.width(), picture.height()), (sides[2] - sides[0], sides[3] - sides[1]), "{shot}");
        assert_eq!((shot["left"].as_u64(), shot["top"].as_u64()), (Some(sides[0].into()), Some(sides[1].into())));
        assert_eq!((shot["scale"].as_f64(), shot["deviceHeight"].as_u64()), (Some(1.0), Some(2400)));
    }
    let small = client.ok("observe.screenshot", json!({"of": "Wi-Fi", "maxDim": 100}));
    assert_eq!(small["width"].as_u64().max(small["height"].as_u64()), Some(100));
    client.fails("observe.screenshot", json!({"whole": true}), "UNSUPPORTED");
}
