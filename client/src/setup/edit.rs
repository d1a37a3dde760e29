//! Edits configuration files and preserves all other text: comments, commas, indentation, line endings, byte order
//! mark.

use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use jsonc_parser::{ParseOptions, json};
use serde_json::Value;
use toml_edit::{DocumentMut, InlineTable, Item, Table};

use super::record::Splice;

/// Name of the afd server in all configuration files.
pub const NAME: &str = "afd";

/// Byte order mark, which some editors put at the start of a file.
const MARK: char = '\u{feff}';

/// Returns the server's entry in the object `list` of a JSON file; `None` if there is none.
///
/// # Errors
/// If the file cannot be read as JSON with comments.
pub fn in_json(text: &str, list: &str) -> Result<Option<Value>, String> {
    let (_, text) = unmarked(text);
    let whole = root(text)?.to_serde_value().unwrap_or_default();
    Ok(whole.get(list).and_then(|list| list.get(NAME)).cloned())
}

/// Returns whether a JSON file has a top-level member of this name.
pub fn json_has(text: &str, list: &str) -> bool {
    root(unmarked(text).1).is_ok_and(|root| root.object_value().is_some_and(|whole| whole.get(list).is_some()))
}

/// Returns whether a TOML file has a top-level item of this name.
pub fn toml_has(text: &str, list: &str) -> bool {
    document(text).is_ok_and(|document| document.contains_key(list))
}

/// Sets the server's entry in the object `list` of a JSON file, with or without comments, or removes the entry if
/// `server` is `None`. Also removes the object if that leaves it empty and `with_list` is set.
///
/// # Errors
/// If the file cannot be parsed or contains a duplicate name, or if the file or the list is not an object.
pub fn set_json(before: &str, list: &str, server: Option<&Value>, with_list: bool) -> Result<String, String> {
    let (mark, text) = unmarked(before);
    if text.trim().is_empty() {
        return Ok(server.map_or_else(|| before.to_owned(), |server| format!("{mark}{}\n", new_json(list, server))));
    }
    let expected = expected_json(text, list, server, with_list)?;
    let root = root(text)?;
    let whole = root.object_value().ok_or("expected an object")?;
    match server {
        Some(server) => {
            let servers = whole.object_value_or_create(list).ok_or_else(|| format!("{list}: expected an object"))?;
            match servers.get(NAME) {
                Some(known) => known.set_value(input(server)),
                None => _ = servers.append(NAME, input(server)),
            }
        }
        None => remove_json(&whole, list, with_list),
    }
    let after = with_line_ends(text, &root.to_string());
    let strict = serde_json::from_str::<Value>(text).is_ok();
    let now: Option<Value> =
        if strict { serde_json::from_str(&after).ok() } else { self::root(&after)?.to_serde_value() };
    if now.as_ref() != Some(&expected) {
        return Err("it cannot be edited without a change to something else".to_owned());
    }
    Ok(format!("{mark}{after}"))
}

fn remove_json(whole: &CstObject, list: &str, with_list: bool) {
    let Some(servers) = whole.object_value(list) else { return };
    if let Some(own) = servers.get(NAME) {
        own.remove();
    }
    if with_list
        && servers.properties().is_empty()
        && let Some(empty) = whole.get(list)
    {
        empty.remove();
    }
}

/// Returns the JSON value that the edited file must contain.
fn expected_json(text: &str, list: &str, server: Option<&Value>, with_list: bool) -> Result<Value, String> {
    let root = root(text)?;
    let mut whole = root.to_serde_value().ok_or("expected an object")?;
    if let Some(twice) = root.object_value().and_then(|object| twice(&object, list)) {
        return Err(format!("duplicate name {twice:?}"));
    }
    let object = whole.as_object_mut().ok_or("expected an object")?;
    match server {
        Some(server) => {
            let servers = object.entry(list).or_insert_with(|| Value::Object(serde_json::Map::new()));
            let servers = servers.as_object_mut().ok_or_else(|| format!("{list}: expected an object"))?;
            servers.insert(NAME.to_owned(), server.clone());
        }
        None => {
            if let Some(servers) = object.get_mut(list).and_then(Value::as_object_mut) {
                servers.remove(NAME);
                if servers.is_empty() && with_list {
                    object.remove(list);
                }
            }
        }
    }
    Ok(whole)
}

/// Returns a name that occurs twice in an object or in its list of servers, if there is one.
fn twice(object: &CstObject, list: &str) -> Option<String> {
    let first = |object: &CstObject| {
        let names: Vec<String> = object.properties().iter().filter_map(|p| p.decoded_name()).collect();
        names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)).map(|(_, name)| name.clone())
    };
    first(object).or_else(|| first(&object.object_value(list)?))
}

fn root(text: &str) -> Result<CstRootNode, String> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_extended_string_escapes: false,
        allow_non_finite_numbers: false,
    };
    CstRootNode::parse(text, &options).map_err(|e| format!("expected JSON: {e}"))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

/// Returns the text of a new file that contains only the server's entry. The same text is shown to users who have to
/// add the entry by hand.
pub fn new_json(list: &str, server: &Value) -> String {
    let root = CstRootNode::parse("{}", &ParseOptions::default()).expect("an object");
    root.object_value_or_set().append(list, json!({})).object_value_or_set().append(NAME, input(server));
    root.to_string()
}

/// Returns the server's entry in the table `list` of a TOML file, as one line.
///
/// # Errors
/// If the file is not TOML.
pub fn in_toml(text: &str, list: &str) -> Result<Option<String>, String> {
    let document = document(text)?;
    Ok(document.get(list).and_then(Item::as_table_like).and_then(|servers| servers.get(NAME)).map(plain))
}

/// Returns a table as one line without whitespace, regardless of how it was written.
fn plain(item: &Item) -> String {
    let mut value = item.clone().into_value().map(|value| value.to_string()).unwrap_or_default();
    value.retain(|c| !c.is_whitespace());
    value
}

/// Sets the server's entry in the table `list` of a TOML file, or removes the entry if `server` is `None`.
///
/// # Errors
/// If the file is not TOML, or the list is not a table.
pub fn set_toml(before: &str, list: &str, server: Option<&Table>, with_list: bool) -> Result<String, String> {
    let (mark, text) = unmarked(before);
    let mut document = document(text)?;
    match server {
        Some(server) => {
            let item = document.entry(list).or_insert_with(|| {
                let mut table = Table::new();
                table.set_implicit(true);
                Item::Table(table)
            });
            match item {
                Item::Table(servers) => _ = servers.insert(NAME, Item::Table(server.clone())),
                Item::Value(toml_edit::Value::InlineTable(servers)) => {
                    let inline: InlineTable = server.clone().into_inline_table();
                    servers.insert(NAME, toml_edit::Value::InlineTable(inline));
                }
                _ => return Err(format!("{list}: expected a table")),
            }
        }
        None => {
            if let Some(servers) = document.get_mut(list).and_then(Item::as_table_like_mut) {
                servers.remove(NAME);
                if servers.is_empty() && with_list {
                    document.remove(list);
                }
            }
        }
    }
    let after = with_line_ends(text, &document.to_string());
    check_toml(text, &after, list, server)?;
    Ok(format!("{mark}{after}"))
}

/// Checks that an edit changed nothing but the server's entry.
fn check_toml(before: &str, after: &str, list: &str, server: Option<&Table>) -> Result<(), String> {
    let without = |text: &str| -> Result<toml::Table, String> {
        let mut whole: toml::Table = text.parse().map_err(|e: toml::de::Error| e.message().to_owned())?;
        if let Some(servers) = whole.get_mut(list).and_then(toml::Value::as_table_mut) {
            servers.remove(NAME);
            if servers.is_empty() {
                whole.remove(list);
            }
        }
        Ok(whole)
    };
    let has = in_toml(after, list)? == server.map(|server| plain(&Item::Table(server.clone())));
    if without(before)? == without(after)? && has {
        Ok(())
    } else {
        Err("it cannot be edited without a change to something else".to_owned())
    }
}

fn document(text: &str) -> Result<DocumentMut, String> {
    let (_, text) = unmarked(text);
    text.parse().map_err(|e: toml_edit::TomlError| format!("expected TOML: {}", e.message()))
}

/// Splits text into its byte order mark, which may be missing, and the rest.
fn unmarked(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(MARK) { MARK.len_utf8() } else { 0 })
}

/// Applies the edit that turns `before` into `after`, but preserves line endings. Unedited lines keep their line
/// endings, even if these are mixed.
fn with_line_ends(before: &str, after: &str) -> String {
    let splice = Splice::between(&before.replace("\r\n", "\n"), &after.replace("\r\n", "\n"));
    let (start, end) = (offset(before, splice.at), offset(before, splice.at + splice.removed.len()));
    let windows = before.matches("\r\n").count() * 2 > before.matches('\n').count();
    let inserted = if windows { splice.inserted.replace('\n', "\r\n") } else { splice.inserted };
    format!("{}{inserted}{}", &before[..start], &before[end..])
}

/// Converts an offset in the text with `\n` line endings to the offset in the original text.
fn offset(text: &str, plain: usize) -> usize {
    let mut left = plain;
    for (at, byte) in text.bytes().enumerate() {
        let skipped = byte == b'\r' && text.as_bytes().get(at + 1) == Some(&b'\n');
        if left == 0 {
            return at;
        }
        left -= usize::from(!skipped);
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn server() -> Value {
        json!({"command": "afctl", "args": ["mcp"]})
    }

    #[test]
    fn json_keeps_comments_commas_and_indentation() {
        let forms = [
            "{\n  // mine\n  \"servers\": {\n    \"notes\": { \"type\": \"http\" },\n  },\n}\n",
            "{\r\n\t\"servers\": {\r\n\t\t\"a\": {}\r\n\t}\r\n}\r\n",
            "\u{feff}{\"zeta\":[1,   2],\"alpha\":null}",
            "{}",
            "{ \"servers\": {} } // end\n",
            "/* head */\n{\n    \"servers\": { // here\n    }\n}",
        ];
        for before in forms {
            let after = set_json(before, "servers", Some(&server()), false).expect("edits");
            assert_eq!(in_json(&after, "servers"), Ok(Some(server())), "{after}");
            for part in ["// mine", "// end", "// here", "/* head */", "\"notes\": { \"type\": \"http\" }", "[1,   2]"]
            {
                assert_eq!(before.contains(part), after.contains(part), "{part}: {after}");
            }
            assert!(after.find("zeta") <= after.find("alpha"), "members keep their order: {after}");
            assert_eq!(before.starts_with(MARK), after.starts_with(MARK));
            assert_eq!(before.contains("\r\n"), after.contains("\r\n"), "{after:?}");
            assert_eq!(
                after.matches("\r\n").count(),
                if before.contains("\r\n") { after.matches('\n').count() } else { 0 }
            );
            assert_eq!(
                set_json(&after, "servers", Some(&server()), false).as_ref(),
                Ok(&after),
                "a second edit changes nothing"
            );
            let back = set_json(&after, "servers", None, !before.contains("servers")).expect("edits");
            let value = |text: &str| root(unmarked(text).1).expect("JSON").to_serde_value();
            assert_eq!(value(&back), value(before), "{back}");
        }
        assert!(
            set_json("", "servers", Some(&server()), false)
                .is_ok_and(|text| serde_json::from_str::<Value>(&text).is_ok())
        );
    }

    #[test]
    fn json_that_cannot_be_edited_is_refused() {
        for before in [
            "[]",
            "{\"servers\": []}",
            "{'servers': {}}",
            "{\"servers\": {}, \"servers\": {}}",
            "{",
            "{\"servers\": {\"a\": 1 \"b\": 2}}",
        ] {
            assert!(set_json(before, "servers", Some(&server()), false).is_err(), "{before}");
        }
    }

    fn table() -> Table {
        "command = \"afctl\"\nargs = [\"mcp\"]\n".parse::<DocumentMut>().expect("TOML").as_table().clone()
    }

    #[test]
    fn toml_of_any_form_is_edited() {
        let forms = [
            "",
            "model = \"o\" # mine\n\n[mcp_servers.other]\ncommand = \"x\"\n",
            "mcp_servers = { foo = { command = \"y\" } }\n",
            "mcp_servers.foo.command = \"y\"\n",
            "[mcp_servers]\nfoo = { command = \"y\" }\n",
            "[mcp_servers]\nfoo.command = \"y\"\n[other]\na = 1\n",
            "[\"mcp_servers\".foo]\ncommand = \"y\"\n\n[[things]]\na = 1\n",
            "text = '''\n[mcp_servers.afd]\n'''\r\n",
            "\u{feff}a = 1\n",
            "a = 1\nb = 2\r\n\r\n[other]\r\nc = 3\n",
        ];
        for before in forms {
            let after =
                set_toml(before, "mcp_servers", Some(&table()), false).unwrap_or_else(|e| panic!("{before}: {e}"));
            assert!(in_toml(&after, "mcp_servers").is_ok_and(|own| own.is_some()), "{after}");
            assert_eq!(set_toml(&after, "mcp_servers", Some(&table()), false).as_ref(), Ok(&after));
            assert!(
                before
                    .split_inclusive('\n')
                    .filter(|l| l.ends_with('\n') && !l.starts_with("mcp_servers"))
                    .all(|line| after.contains(line)),
                "{after:?}"
            );
            let back = set_toml(&after, "mcp_servers", None, !before.contains("mcp_servers")).expect("edits");
            let value = |text: &str| unmarked(text).1.parse::<toml::Table>().expect("TOML");
            assert_eq!(value(&back), value(before), "{back}");
        }
        for before in ["mcp_servers = 3\n", "a = [\n", "[[mcp_servers]]\na = 1\n"] {
            assert!(set_toml(before, "mcp_servers", Some(&table()), false).is_err(), "{before}");
        }
    }
}
