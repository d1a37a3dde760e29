use super::*;
use crate::refs::Refs;
use crate::scene::{OnTap, Rect, Window};

/// A sample settings screen; its node ids and ref tokens are known from the service.
fn sample() -> Scene {
    let text = |id: &str, text: &str, r: Rect| Node::new("android.widget.TextView", r).id(id).text(text);
    let row = |t: i32, children| {
        Node::new("android.widget.LinearLayout", Rect::new(0, t, 1080, t + 210)).tap(OnTap::Back).with(children)
    };
    let mut list = Node::new("androidx.recyclerview.widget.RecyclerView", Rect::new(0, 300, 1080, 2274))
        .id("com.android.settings:id/recycler_view");
    list.scrollable = true;
    list.focusable = true;
    list.children = vec![
        row(
            310,
            vec![
                text("android:id/title", "Wi-Fi", Rect::new(180, 340, 400, 400)),
                text("android:id/summary", "Connected", Rect::new(180, 410, 500, 460)),
            ],
        ),
        row(520, vec![text("android:id/title", "Bluetooth", Rect::new(180, 550, 480, 610))]),
    ];
    let mut back = Node::new("android.widget.ImageView", Rect::new(120, 2274, 300, 2400))
        .id("com.android.systemui:id/back")
        .desc("Back")
        .tap(OnTap::Back);
    back.long_clickable = true;
    let frame = |r| Node::new("android.widget.FrameLayout", r);
    Scene {
        width: 1080,
        height: 2400,
        density: 420,
        windows: vec![
            Window {
                id: 3,
                kind: "SYSTEM",
                pkg: "com.android.systemui".into(),
                title: None,
                layer: 1,
                focused: false,
                root: frame(Rect::new(0, 2274, 1080, 2400)).with(vec![back]),
            },
            Window {
                id: 12,
                kind: "APPLICATION",
                pkg: "com.android.settings".into(),
                title: Some("Settings".into()),
                layer: 0,
                focused: true,
                root: frame(Rect::new(0, 0, 1080, 2400)).with(vec![list]),
            },
        ],
    }
}

#[test]
fn screen_text_matches_the_service() {
    let scene = sample();
    let text = screen_text(Some(&scene), "SYSTEM_API", Some("com.android.settings/.Settings"), (1080, 2400, 420));
    let tail: Vec<&str> = text.lines().skip(6).collect();
    assert_eq!(
        tail,
        [
            "--- window:3 type:SYSTEM pkg:com.android.systemui title:unknown layer:1 focused:false ---",
            "node_id\tclass\ttext\tdesc\tres_id\tbounds\tflags",
            "node_947ffb79\tImageView\t-\tBack\tcom.android.systemui:id/back\t120,2274,300,2400\ton,clk,lclk,foc,ena",
            "hierarchy:",
            "node_947ffb79",
            "--- window:12 type:APPLICATION pkg:com.android.settings title:Settings layer:0 focused:true ---",
            "node_id\tclass\ttext\tdesc\tres_id\tbounds\tflags",
            "node_220e63a1\tRecyclerView\t-\t-\tcom.android.settings:id/recycler_view\t0,300,1080,2274\ton,foc,scr,ena",
            "node_2aab029f\tLinearLayout\t-\t-\t-\t0,310,1080,520\ton,clk,foc,ena",
            "node_f9cdffb\tTextView\tWi-Fi\t-\tandroid:id/title\t180,340,400,400\ton,ena",
            "node_a7fbf1e9\tTextView\tConnected\t-\tandroid:id/summary\t180,410,500,460\ton,ena",
            "node_b0036a00\tLinearLayout\t-\t-\t-\t0,520,1080,730\ton,clk,foc,ena",
            "node_37e49d52\tTextView\tBluetooth\t-\tandroid:id/title\t180,550,480,610\ton,ena",
            "hierarchy:",
            "node_220e63a1",
            "  node_2aab029f",
            "    node_f9cdffb",
            "    node_a7fbf1e9",
            "  node_b0036a00",
            "    node_37e49d52",
        ]
    );
}

#[test]
fn ref_tokens_match_the_service() {
    let mut refs = Refs::default();
    let state = refs.compute(&sample(), 1_775_000_000_000);
    let got: Vec<(&str, &str, &str)> =
        state.refs.iter().map(|r| (r.row.alias.as_str(), r.exact.as_str(), r.identity.as_str())).collect();
    assert_eq!(
        got,
        [
            ("@n1", "rt_efbfa0d", "ri_d61c8306"),
            ("@n2", "rt_3e046056", "ri_7d2b365d"),
            ("@n3", "rt_97a4fca4", "ri_7d2b365d"),
            ("@n4", "rt_10e267c8", "ri_e6affc7a"),
        ]
    );
    let json = serde_json::to_string(&ref_screen(state, "SYSTEM_API", None)).expect("serialises");
    assert!(json.starts_with(
        r#"{"refVersion":1,"refCount":4,"updatedAtMs":1775000000000,"mode":"SYSTEM_API","hasWebView":false,"nodeReliability":"high","rows":[{"ref":"@n1","node_id":"node_220e63a1","class_name":"androidx.recyclerview.widget.RecyclerView","text":null,"desc":null,"res_id":"com.android.settings:id/recycler_view","bounds":"0,300,1080,2274","flags":"on,scr,ena"}"#
    ));
    assert!(json.ends_with("}]}"), "dialect 1 has no topActivity");
    assert!(
        serde_json::to_string(&ref_screen(state, "ACCESSIBILITY", Some(None)))
            .expect("serialises")
            .ends_with(r#","topActivity":null}"#)
    );
}

#[test]
fn observe_lists_every_node_in_window_order() {
    let scene = sample();
    let text = observe(Some(&scene), "SYSTEM_API", Some("com.android.settings/.Settings"), true, None, 2);
    assert_eq!(
        text,
        r#"{"topActivity":"com.android.settings/.Settings","mode":"SYSTEM_API","hasWebView":false,"nodeReliability":"high","screen":{"rowCount":9,"rows":[{"id":"node_a059769d","class":"android.widget.FrameLayout","bounds":"0,2274,1080,2400","flags":"on,ena"},{"id":"node_947ffb79","class":"android.widget.ImageView","desc":"Back","res_id":"com.android.systemui:id/back","bounds":"120,2274,300,2400","flags":"on,clk,lng,fcs,ena"}]},"refs":null}"#
    );
}

#[test]
fn find_computes_ids_from_the_bare_root() {
    let scene = sample();
    let window = scene.active().expect("a focused window");
    let flat = Scene::flatten(window, "root");
    let wifi = flat.iter().find(|f| f.node.text.as_deref() == Some("Wi-Fi")).expect("Wi-Fi");
    assert_eq!(
        found_line(wifi),
        "node_4ec548f4\tandroid.widget.TextView\ttext=Wi-Fi\tdesc=null\tres=android:id/title\tbounds=BoundsData(left=180, top=340, right=400, bottom=400)"
    );
}

#[test]
fn cells_are_cleaned_and_cut_after_100_utf16_units() {
    assert_eq!(cell(Some(" a\tb\nc ")), "a b c");
    assert_eq!(cell(Some("  ")), "-");
    assert_eq!(cell(Some(&"x".repeat(100))), "x".repeat(100));
    assert_eq!(cell(Some(&"x".repeat(101))), format!("{}...truncated", "x".repeat(100)));
}
