use super::*;

const PLAIN: &str = r#"<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation="0"><node index="0" text="" resource-id="" class="android.widget.FrameLayout" package="com.a" content-desc="" checkable="false" checked="false" clickable="false" enabled="true" focusable="false" focused="false" scrollable="false" long-clickable="false" password="false" selected="false" bounds="[0,0][1080,2400]"><node index="0" text="Wi-Fi &amp; more" resource-id="com.a:id/wifi" class="android.widget.TextView" package="com.a" content-desc="" checkable="false" checked="false" clickable="true" enabled="true" focusable="true" focused="false" scrollable="false" long-clickable="true" password="false" selected="false" bounds="[0,200][1080,300]" /><node index="1" text="" resource-id="" class="android.widget.Switch" package="com.a" content-desc="" checkable="true" checked="true" clickable="true" enabled="false" focusable="true" focused="false" scrollable="false" long-clickable="false" password="false" selected="false" bounds="[900,300][1080,400]" /><node index="2" text="hunter2" resource-id="com.a:id/pin" class="android.widget.EditText" package="com.a" content-desc="" checkable="false" checked="false" clickable="true" enabled="true" focusable="true" focused="true" scrollable="false" long-clickable="true" password="true" selected="false" bounds="[0,400][1080,500]" /></node></hierarchy>"#;

fn known() -> Known {
    Known { activity: Some("com.a/.Main".to_owned()), mode: "UIAUTOMATOR".to_owned(), ..Known::default() }
}

fn read(dump: &str) -> Snapshot {
    parse(dump, known()).expect("reads")
}

#[test]
fn elements_have_their_texts_flags_and_bounds() {
    let snapshot = read(PLAIN);
    assert_eq!(snapshot.nodes.len(), 3, "a frame without content is left out");
    let [wifi, switch, pin] = [&snapshot.nodes[0], &snapshot.nodes[1], &snapshot.nodes[2]];
    assert_eq!((wifi.text.as_deref(), wifi.class.as_str()), (Some("Wi-Fi & more"), "TextView"));
    assert!(wifi.is(Flag::Clickable) && wifi.is(Flag::LongClickable) && wifi.is_ref());
    assert_eq!(wifi.bounds, Rect { left: 0, top: 200, right: 1080, bottom: 300 });
    assert_eq!((switch.checked, switch.is(Flag::Enabled)), (Some(true), false));
    assert!(pin.password && pin.is(Flag::Editable));
    assert!(!format!("{snapshot:?}").contains("hunter2"));
    assert_eq!((snapshot.app.as_deref(), snapshot.place.as_deref()), (Some("com.a"), Some("com.a/.Main")));
    assert_eq!(snapshot.size, Some((1080, 2400)), "as far as its elements reach");
}

#[test]
fn output_of_a_terminal_around_the_document_is_ignored() {
    let output = format!("WARNING\n{PLAIN}UI hierchary dumped to: /dev/tty\n");
    assert_eq!(read(&output), read(PLAIN));
    assert_eq!(parse("ERROR: could not get idle state.\n", known()), Err(DumpError::Missing));
    assert!(matches!(parse("<hierarchy><node></hierarchy>", known()), Err(DumpError::Malformed(_))));
    assert_eq!(parse("<html><hierarchy/></html>", known()).map(|screen| screen.nodes.len()), Ok(0));
}

#[test]
fn page_sources_of_appium_have_classes_as_tags() {
    let source = r#"<?xml version="1.0" encoding="UTF-8"?><hierarchy index="0" class="hierarchy" rotation="0" width="1080" height="2148">
        <android.widget.FrameLayout index="0" package="com.b" class="android.widget.FrameLayout" text="" displayed="true" bounds="[0,0][1080,2148]">
          <android.widget.Button index="0" package="com.b" text="Send" clickable="true" enabled="true" displayed="true" bounds="[0,0][100,100]"/>
          <android.support.v7.app.ActionBar$Tab text="Tab" clickable="true" displayed="false" bounds="[0,100][100,200]"/>
        </android.widget.FrameLayout></hierarchy>"#;
    let source = source.replace("ActionBar$Tab", "ActionBar.Tab");
    let snapshot = parse(&source, Known { without_activity: true, ..Known::default() }).expect("reads");
    assert_eq!(snapshot.size, Some((1080, 2148)));
    let found: Vec<(&str, bool)> = snapshot.nodes.iter().map(|n| (n.class.as_str(), n.is(Flag::Visible))).collect();
    assert_eq!(found, [("Button", true), ("Tab", false)]);
    assert_eq!(
        (snapshot.app.as_deref(), snapshot.place.as_deref(), snapshot.place_knowable),
        (Some("com.b"), None, false)
    );
}

#[test]
fn windows_are_read_with_their_types() {
    let window = |id: u32, kind: &str, focused: bool, package: &str, bounds: &str| {
        format!(
            r#"<window index="0" id="{id}" title="T{id}" bounds="{bounds}" active="{focused}" focused="{focused}" layer="{id}" type="{kind}"><hierarchy rotation="0"><node text="of {package}" class="a.TextView" package="{package}" clickable="true" bounds="{bounds}"/></hierarchy></window>"#
        )
    };
    let bar = window(9, "TYPE_SYSTEM", false, "com.android.systemui", "[0,0][1080,80]");
    let keys = window(8, "TYPE_INPUT_METHOD", false, "com.keys", "[0,1500][1080,2400]");
    let page = window(2, "TYPE_APPLICATION", true, "com.a", "[0,0][1080,2400]");
    let snapshot = read(&format!("<displays><display id=\"0\">{bar}{keys}{page}</display></displays>"));
    let kinds: Vec<WindowKind> = snapshot.windows.iter().map(|window| window.kind).collect();
    assert_eq!(kinds, [WindowKind::Bar, WindowKind::Keyboard, WindowKind::Page]);
    assert_eq!(snapshot.front_window().map(|window| window.title.as_str()), Some("T2"));
}

#[test]
fn of_several_roots_a_dialog_is_in_front_of_its_page_and_below_the_bar() {
    let root = |package: &str, text: &str, bounds: &str| {
        format!(
            r#"<node class="F" package="{package}" bounds="{bounds}"><node text="{text}" class="B" clickable="true" package="{package}" bounds="{bounds}"/></node>"#
        )
    };
    let (bar, page) =
        (root("com.android.systemui", "10:00", "[0,0][1080,80]"), root("com.a", "Page", "[0,0][1080,2400]"));
    let dialog = root("com.a", "Allow", "[100,1000][900,1400]");
    for roots in [[&bar, &page, &dialog], [&dialog, &bar, &page], [&page, &dialog, &bar]] {
        let snapshot = read(&format!("<hierarchy>{}{}{}</hierarchy>", roots[0], roots[1], roots[2]));
        let front = snapshot.windows.iter().position(|window| window.focused).expect("one in front");
        let texts: Vec<&str> =
            snapshot.nodes.iter().filter(|n| n.window == front).filter_map(|n| n.text.as_deref()).collect();
        assert_eq!(texts, ["Allow"]);
        assert_eq!(snapshot.windows[0].kind, WindowKind::Bar);
    }
}

#[test]
fn a_keyboard_that_the_phone_reports_is_shown() {
    let bounds = Rect { left: 0, top: 1500, right: 1080, bottom: 2400 };
    let known = Known { keyboard: Some(bounds), size: Some((1080, 2400)), ..known() };
    let snapshot = parse(PLAIN, known).expect("reads");
    assert!(snapshot.shows(WindowKind::Keyboard));
    assert_eq!(snapshot.front_window().map(|window| window.app.as_str()), Some("com.a"));
}

#[test]
fn a_hint_is_no_text_of_a_field() {
    let field = |text: &str| {
        format!(
            r#"<hierarchy><node class="android.widget.EditText" text="{text}" hint="Search" bounds="[0,0][10,10]"/></hierarchy>"#
        )
    };
    let node = |text: &str| read(&field(text)).nodes.remove(0);
    assert_eq!((node("Search").text, node("Search").desc.as_deref()), (None, Some("Search")));
    assert_eq!((node("tea").text.as_deref(), node("tea").desc.as_deref()), (Some("tea"), Some("Search")));
}

#[test]
fn a_document_with_more_than_a_screen_has_is_refused() {
    let node = r#"<node text="x" class="B" clickable="true" bounds="[0,0][9,9]"/>"#;
    let roots = format!("<hierarchy>{}</hierarchy>", node.repeat(MAX_ROOTS + 1));
    assert_eq!(parse(&roots, known()), Err(DumpError::TooLarge));
    let nodes =
        format!(r#"<hierarchy><node class="F" bounds="[0,0][9,9]">{}</node></hierarchy>"#, node.repeat(MAX_NODES));
    assert_eq!(parse(&nodes, known()), Err(DumpError::TooLarge));
}

#[test]
fn dialogs_of_the_system_are_no_pages_of_the_app_below() {
    let dialog = r#"<hierarchy><node class="F" package="android" bounds="[90,900][990,1500]"><node class="B" text="Close app" package="android" clickable="true" bounds="[90,900][990,1200]"/><node class="B" text="Wait" package="android" clickable="true" bounds="[90,1200][990,1500]"/></node></hierarchy>"#;
    let snapshot = parse(dialog, Known { size: Some((1080, 2400)), ..known() }).expect("reads");
    assert_eq!((snapshot.app.as_deref(), snapshot.place.as_deref()), (Some("android"), Some("android/")));
    assert_eq!(snapshot.activity_below.as_deref(), Some("com.a/.Main"));
    let chooser = Known { activity: Some("android/com.android.internal.app.ChooserActivity".to_owned()), ..known() };
    let snapshot = parse(dialog, chooser).expect("reads");
    assert_eq!(snapshot.place.as_deref(), Some("android/com.android.internal.app.ChooserActivity"));
}
