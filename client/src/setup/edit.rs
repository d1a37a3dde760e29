//! Edits of configuration files that keep everything else as it is written.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Name of the server in all files.
const NAME: &str = "afd";

/// Members of a JSON object, in their order and as they are written.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

impl Members {
    fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Self(Vec::new()));
        }
        serde_json::from_str(text).map_err(|e| format!("expected JSON without comments: {e}; add the server by hand"))
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.get())
    }

    /// Replaces a member, or adds it at the end; without a value removes it.
    fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        let Some(value) = value else {
            self.0.retain(|(key, _)| key != name);
            return Ok(());
        };
        let value = RawValue::from_string(value.to_owned()).map_err(|e| e.to_string())?;
        match self.0.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
        Ok(())
    }

    /// Writes the object with a line per member.
    fn text(&self, indent: usize) -> String {
        let pad = " ".repeat(indent);
        let member = |(key, value): &(String, Box<RawValue>)| format!("{pad}  {}: {}", serde_json::json!(key), value.get());
        let members: Vec<String> = self.0.iter().map(member).collect();
        if members.is_empty() { "{}".to_owned() } else { format!("{{\n{}\n{pad}}}", members.join(",\n")) }
    }
}

/// Sets or removes the server in the object `list` of a JSON file. Returns the new text; `None` if nothing is left.
///
/// # Errors
/// If the file is not JSON, or the list is no object.
pub fn json(before: &str, list: &str, server: Option<&str>) -> Result<Option<String>, String> {
    let mut whole = Members::parse(before)?;
    let mut servers = Members::parse(whole.get(list).unwrap_or_default()).map_err(|e| format!("{list}: {e}"))?;
    if servers.get(NAME) == server {
        return Ok((!before.is_empty()).then(|| before.to_owned()));
    }
    servers.set(NAME, server)?;
    let left = (!servers.0.is_empty()).then(|| servers.text(2));
    whole.set(list, left.as_deref())?;
    Ok((!whole.0.is_empty()).then(|| whole.text(0) + "\n"))
}

/// Sets or removes a table of a TOML file. Returns the new text; `None` if nothing is left.
pub fn toml(before: &str, table: &str, content: Option<&str>) -> Option<String> {
    let mut kept = String::new();
    let mut inside = false;
    for line in before.split_inclusive('\n') {
        let head = line.trim();
        if head.starts_with('[') {
            let name = head.trim_start_matches('[').split(']').next().unwrap_or_default().trim();
            inside = name == table || name.starts_with(&format!("{table}."));
        }
        if !inside {
            kept.push_str(line);
        }
    }
    let kept = kept.trim_end();
    match (content, kept.is_empty()) {
        (Some(content), true) => Some(content.to_owned()),
        (Some(content), false) => Some(format!("{kept}\n\n{content}")),
        (None, true) => None,
        (None, false) => Some(format!("{kept}\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_members_of_a_json_file_stay_as_they_are_written() {
        let before = "{\n  \"zeta\": [1,   2],\n  \"mcpServers\": {\"other\": {\"command\": \"x\"}},\n  \"alpha\": null\n}\n";
        let after = json(before, "mcpServers", Some("{\"command\":\"afctl\"}")).expect("edits").expect("a text");
        assert!(after.contains("\"zeta\": [1,   2]") && after.find("zeta") < after.find("alpha"), "{after}");
        let value: serde_json::Value = serde_json::from_str(&after).expect("JSON");
        assert_eq!((&value["mcpServers"]["other"]["command"], &value["mcpServers"]["afd"]["command"]), (&"x".into(), &"afctl".into()));
        assert_eq!(json(&after, "mcpServers", Some("{\"command\":\"afctl\"}")).expect("edits"), Some(after.clone()));
        let undone = json(&after, "mcpServers", None).expect("edits").expect("a text");
        let (undone, original): (serde_json::Value, serde_json::Value) =
            (serde_json::from_str(&undone).expect("JSON"), serde_json::from_str(before).expect("JSON"));
        assert_eq!(undone, original);
        assert!(json("{ // comment\n}", "mcpServers", Some("{}")).is_err_and(|e| e.contains("by hand")));
        assert_eq!(json("", "mcpServers", None), Ok(None));
    }

    #[test]
    fn other_tables_of_a_toml_file_stay_as_they_are_written() {
        let before = "model = \"o\" # mine\n\n[mcp_servers.other]\ncommand = \"x\"\n";
        let after = toml(before, "mcp_servers.afd", Some("[mcp_servers.afd]\ncommand = \"afctl\"\n")).expect("a text");
        assert!(after.starts_with(before.trim_end()) && after.ends_with("command = \"afctl\"\n"), "{after}");
        assert_eq!(toml(&after, "mcp_servers.afd", Some("[mcp_servers.afd]\ncommand = \"afctl\"\n")).as_ref(), Some(&after));
        assert_eq!(toml(&after, "mcp_servers.afd", None).as_deref(), Some(before));
        assert_eq!(toml("", "mcp_servers.afd", None), None);
    }
}
