//! The practice site: whole pages, parts of pages, and their text.

use afd_tests::site::TestSite;
use afd_tests::{Client, TestPhone, World};
use serde_json::{Value, json};

use super::{outline, settings};

/// A daemon with a browser that shows the practice site.
pub struct Shop {
    pub world: World,
    pub site: TestSite,
    _profile: tempfile::TempDir,
}

impl Shop {
    pub fn new(path: &str, more: &str) -> Self {
        let (site, profile) = (TestSite::start(), tempfile::tempdir().expect("a directory"));
        let settings =
            settings(&format!("{}{path}", site.url()), profile.path(), &format!("allow_private = true\n{more}"));
        Self { world: World::bare(TestPhone::start(), &settings), site, _profile: profile }
    }

    pub fn open(&self, client: &mut Client, path: &str) {
        client.ok("act.launch", json!({"package": format!("{}{path}", self.site.url())}));
    }
}

fn look(client: &mut Client, params: Value) -> String {
    let mut params = params;
    params["format"] = json!("outline");
    client.ok("observe.page", params)["outline"].as_str().unwrap_or_default().to_owned()
}

fn alias_of<'a>(outline: &'a str, label: &str) -> &'a str {
    let line = outline.lines().find(|line| line.contains(label)).unwrap_or_else(|| panic!("{label} in {outline}"));
    line.trim().split(' ').next().unwrap_or_default()
}

#[test]
#[ignore = "needs chromium"]
fn the_whole_page_is_listed_and_its_elements_can_be_tapped() {
    let shop = Shop::new("/", "");
    let mut client = shop.world.client();
    assert!(!outline(&mut client).contains("Wholesale"), "it is far below");
    let whole = look(&mut client, json!({"whole": true}));
    assert!(whole.contains("heading \"Company\"") && !whole.contains("Skip to content"), "{whole}");
    client.ok("act.tap", json!({"by": "ref", "value": alias_of(&whole, "\"Wholesale\"")}));
    assert!(outline(&mut client).starts_with("page \"About us"), "the link in the footer was tapped");
}

#[test]
#[ignore = "needs chromium"]
fn a_part_of_a_page_has_a_name() {
    let shop = Shop::new("/", "");
    let mut client = shop.world.client();
    let part = look(&mut client, json!({"within": "company"}));
    let labels: Vec<&str> = part.lines().skip(1).filter_map(|line| line.split('"').nth(1)).collect();
    assert_eq!(labels, ["Company", "About us", "Jobs", "Press", "Wholesale", "Practice room"]);
    let error = client.fails("observe.page", json!({"within": "Nowhere"}), "INVALID_PARAMS");
    assert!(error.message.contains("\"Nowhere\"") && error.message.contains("\"Teas\""), "{error:?}");
    client.fails("observe.page", json!({"within": "Teas", "since": "last"}), "INVALID_PARAMS");
}

#[test]
#[ignore = "needs chromium"]
fn a_long_page_is_listed_in_parts_that_share_their_aliases() {
    let shop = Shop::new("/rows", "");
    let mut client = shop.world.client();
    let first = look(&mut client, json!({"whole": true}));
    assert!(first.lines().count() < 125 && first.contains("more elements"), "{first}");
    let second = look(&mut client, json!({"more": true}));
    let row =
        |outline: &str| outline.lines().filter(|line| line.contains("C-00")).map(str::to_owned).collect::<Vec<_>>();
    assert!(row(&first).len() > 20 && row(&second).len() > 20, "{second}");
    assert!(row(&first).iter().all(|line| !row(&second).contains(line)), "nothing is listed twice");
    // Equal buttons keep their aliases when one of them goes.
    let check = second.lines().find(|line| line.contains("\"Write off\"")).expect("a row").trim();
    let changed = client.ok("act.tap", json!({"by": "ref", "value": check.split(' ').next(), "then": "diff"}));
    let changed = changed["look"]["observation"]["outline"].as_str().unwrap_or_default().to_owned();
    assert!(changed.contains("written off") && changed.lines().count() < 12, "{changed}");
    // One row has gone above; the list continues where it ended.
    let third = look(&mut client, json!({"more": true}));
    let number = |line: &String| line.split("C-").nth(1).and_then(|rest| rest[..4].parse::<u32>().ok());
    let numbers = |outline: &str| row(outline).iter().filter_map(number).collect::<Vec<_>>();
    let (last, next) = (numbers(&second).last().copied(), numbers(&third).first().copied());
    assert_eq!(next, last.map(|last| last + 1), "{third}");
}

#[test]
#[ignore = "needs chromium"]
fn the_text_of_a_page_is_read_as_lines() {
    let shop = Shop::new("/help/brewing", "");
    let mut client = shop.world.client();
    let text = client.ok("observe.text", json!({"within": "main"}));
    let lines: Vec<&str> = text["lines"].as_array().expect("lines").iter().filter_map(Value::as_str).collect();
    assert!(text["whole"] == true && lines.iter().any(|line| line.starts_with("# ")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains(" | ")), "a table has its rows: {lines:?}");
    let first = client.ok("observe.text", json!({"within": "main", "maxChars": 100}));
    let next = first["next"].as_u64().expect("there is more");
    let rest = client.ok("observe.text", json!({"within": "main", "from": next}));
    let both = [&first["lines"], &rest["lines"]].map(|lines| lines.as_array().map_or(0, Vec::len));
    assert_eq!(both[0] + both[1], lines.len());
}

#[test]
#[ignore = "needs chromium"]
fn changes_leave_out_what_the_session_did_not_receive() {
    let shop = Shop::new("/rows", "");
    let mut client = shop.world.client();
    let part = look(&mut client, json!({"within": "main", "maxRows": 10}));
    assert!(part.contains("more elements"), "{part}");
    let check = alias_of(&part, "\"Check\"").to_owned();
    let changed = client.ok("act.tap", json!({"by": "ref", "value": check, "then": "diff"}));
    let changed = changed["look"]["observation"]["outline"].as_str().unwrap_or_default().to_owned();
    assert!(changed.contains("checked") && changed.lines().count() < 8, "{changed}");
    // What was neither listed nor changed has no alias.
    let known =
        (part + &changed).split("@n").skip(1).filter_map(|rest| rest.split(' ').next()?.parse::<u32>().ok()).max();
    for number in [7, 12].map(|more| known.unwrap_or_default() + more) {
        client.fails("act.tap", json!({"by": "ref", "value": format!("@n{number}")}), "REF_ALIAS_UNOBSERVED");
    }
}

#[test]
#[ignore = "needs chromium"]
fn files_are_given_to_pages_from_named_directories_only() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("my report.txt"), "12345").expect("writes");
    std::os::unix::fs::symlink("/etc/passwd", dir.path().join("link.txt")).expect("links");
    let shop = Shop::new("/upload", &format!("upload_dirs = [{:?}]\n", dir.path()));
    let mut client = shop.world.client();
    for file in ["/etc/passwd", "link.txt", "../x", "missing.txt"] {
        let error = client.fails("act.upload", json!({"value": "Document", "files": [file]}), "INVALID_PARAMS");
        assert!(error.message.starts_with("files[0]: expected a file below"), "{error:?}");
    }
    client.fails("act.upload", json!({"value": "Document", "files": []}), "INVALID_PARAMS");
    client.ok("act.upload", json!({"value": "Document", "files": ["my report.txt"]}));
    client.ok("act.tap", json!({"by": "text", "value": "Upload"}));
    let page = outline(&mut client);
    assert!(page.contains("my report.txt") && page.contains('5'), "{page}");
    let log = client.ok("memory.log", json!({"limit": 20})).to_string();
    assert!(!log.contains("my report"), "names of files are not stored: {log}");
}

#[test]
#[ignore = "needs chromium"]
fn downloads_are_announced_and_saved() {
    let shop = Shop::new("/downloads", "");
    let mut client = shop.world.client();
    let tapped = client.ok("act.tap", json!({"by": "text", "value": "Harvest report (CSV)", "then": "diff"}));
    assert_eq!(tapped["look"]["news"], "download of \"report.csv\" began");
    let saved = client.ok("device.downloads", json!({}));
    let file = &saved["downloads"][0];
    assert!(file["name"] == "report.csv" && file["state"] == "complete", "{saved}");
    let path = file["artifact"]["savedFile"].as_str().expect("a file");
    assert!(std::fs::read_to_string(path).expect("reads").lines().count() > 1);
    assert_eq!(client.ok("device.downloads", json!({}))["downloads"], json!([]));
    shop.open(&mut client, "/tabs");
    let tapped = client.ok("act.tap", json!({"by": "text", "value": "Brewing table in a new tab", "then": "outline"}));
    assert_eq!(tapped["look"]["news"], "opened tab t2");
}

#[test]
#[ignore = "needs chromium"]
fn a_download_beyond_the_limit_fails() {
    let shop = Shop::new("/downloads", "max_download_bytes = 10\n");
    let mut client = shop.world.client();
    client.ok("act.tap", json!({"by": "text", "value": "Harvest report (CSV)"}));
    let failed = |list: &Value| list["downloads"][0]["state"] == "failed";
    afd_tests::wait::until("the download ends", || failed(&client.ok("device.downloads", json!({}))).then_some(()));
}

#[test]
#[ignore = "needs chromium"]
fn a_phone_says_that_it_knows_only_what_is_in_sight() {
    let world = World::new();
    let mut client = world.client();
    client.fails("observe.page", json!({"whole": true}), "UNSUPPORTED");
    let text = client.ok("observe.text", json!({}));
    assert!(text["whole"] == false && text["lines"].as_array().is_some_and(|lines| lines.len() > 3), "{text}");
}

#[test]
#[ignore = "needs chromium"]
fn pictures_show_the_whole_page_or_one_element() {
    let shop = Shop::new("/", "");
    let mut client = shop.world.client();
    let page = client.ok("observe.screenshot", json!({"whole": true, "annotate": true}));
    let number = |name: &str| page[name].as_u64().unwrap_or(0);
    assert!(number("width").abs_diff(number("deviceWidth")) < 30, "but for a scroll bar: {page}");
    assert!(number("height") > number("deviceHeight") + 200, "the page is longer than the window: {page}");
    assert_eq!((page["left"].as_i64(), page["top"].as_i64()), (Some(0), Some(0)));
    let far = page["refs"]["rows"].to_string();
    assert!(far.contains("Wholesale"), "what is out of sight is marked as well");
    let link = client.ok("observe.screenshot", json!({"of": "Wholesale"}));
    let scale = link["scale"].as_f64().unwrap_or(0.0);
    assert!(scale == 1.0 && link["height"].as_u64().is_some_and(|height| height < 100), "{link}");
    assert!(link["top"].as_i64().is_some_and(|top| top > 700), "it is out of sight: {link}");
    // A PNG has the exact pixels.
    let png = client.ok("observe.screenshot", json!({"of": "Wholesale", "format": "png"}));
    let file = std::fs::read(png["artifact"]["savedFile"].as_str().unwrap_or_default()).expect("the picture");
    let shown = afd_screen::picture::decode_any(&file).expect("a picture");
    let size = (u64::from(shown.width()), u64::from(shown.height()));
    assert_eq!(Some(size), link["width"].as_u64().zip(link["height"].as_u64()));
    assert!(file.starts_with(b"\x89PNG"));
    // The page is as it was.
    let again = client.ok("observe.page", json!({"format": "outline", "whole": true, "since": "last"}));
    client.ok("act.tap", json!({"value": "Account"}));
    assert!(outline(&mut client).contains("Sign in"), "{again}");
    shop.open(&mut client, "/");
    client.fails("observe.screenshot", json!({"of": "No such element"}), "TARGET_NOT_FOUND");
    client.fails("observe.screenshot", json!({"of": "Wholesale", "whole": true}), "INVALID_PARAMS");
}
