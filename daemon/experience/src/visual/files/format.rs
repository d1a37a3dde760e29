//! The parts that all files in the format have in common: ordered objects, times and names.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// Name of the row member that holds `afd` data for which the format has no other member.
pub(super) const OURS: &str = "afd";

/// A remark about a part of a file that cannot be imported unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// File, relative to the given directory.
    pub file: String,
    /// Key of the row; empty if the remark is about the file itself.
    pub key: String,
    /// Reason why the part cannot be imported unchanged.
    pub why: String,
}

/// A JSON object that keeps the order of its members in the file, because this order breaks ties.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ordered(pub Vec<(String, Value)>);

impl Serialize for Ordered {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
        map.end()
    }
}

/// The content of a file: members, or rows of members, in their order.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Members of `meta.json`.
    Members(Ordered),
    /// Rows of any other file, each with its key.
    Rows(Vec<(String, Ordered)>),
}

impl Content {
    /// Returns the number of members or rows.
    pub fn len(&self) -> usize {
        match self {
            Content::Members(members) => members.0.len(),
            Content::Rows(rows) => rows.len(),
        }
    }

    /// Returns whether there are no members or rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Content::Members(members) => members.serialize(serializer),
            Content::Rows(rows) => serializer.collect_map(rows.iter().map(|(key, row)| (key, row))),
        }
    }
}

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Ordered;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
                let mut entries: Vec<(String, Value)> = Vec::new();
                let mut at: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
                while let Some((key, value)) = map.next_entry::<String, Value>()? {
                    // A duplicate key keeps its first position and its last value.
                    match at.get(&key) {
                        Some(i) => entries[*i].1 = value,
                        None => {
                            at.insert(key.clone(), entries.len());
                            entries.push((key, value));
                        }
                    }
                }
                Ok(Ordered(entries))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// Removes a member from an object and returns it.
pub(super) fn take(map: &mut Map<String, Value>, key: &str) -> Option<Value> {
    map.remove(key)
}

/// Format of all times in these files: local time without a time zone.
pub(super) const TIME: &str = "%Y-%m-%d %H:%M:%S";

/// Parses a local time into Unix milliseconds.
pub(super) fn millis(text: &str) -> Option<i64> {
    let local = jiff::civil::DateTime::strptime(TIME, text).ok()?;
    local.to_zoned(jiff::tz::TimeZone::system()).ok().map(|z| z.timestamp().as_millisecond())
}

/// Formats Unix milliseconds as local time.
pub(super) fn local(ms: i64) -> String {
    let at = jiff::Timestamp::from_millisecond(ms).unwrap_or_default();
    at.to_zoned(jiff::tz::TimeZone::system()).strftime(TIME).to_string()
}

/// Returns the directory name of an app, by the source tool's rules. The name cannot refer to anything outside the
/// parent directory.
pub fn directory_of(app: &str) -> String {
    let name = app.to_lowercase().replace(' ', "_");
    let safe: String = name.chars().map(|c| if c == '/' || c == '\\' || c.is_control() { '-' } else { c }).collect();
    match safe.as_str() {
        "" | "." | ".." => "app".to_owned(),
        _ => safe,
    }
}

/// Returns the file name of a component's picture, by the source tool's rules.
pub fn picture_of(name: &str) -> String {
    let clean: String = name
        .chars()
        .filter(|c| !matches!(c, ':' | '?' | '*') && !c.is_control())
        .map(|c| match c {
            '/' | '\\' => '-',
            ' ' => '_',
            other => other,
        })
        .take(50)
        .collect();
    match clean.as_str() {
        "" | "." | ".." => "component".to_owned(),
        _ => clean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_order_is_preserved() {
        let text = r#"{"b": 1, "a": 2, "b": 3}"#;
        let read: Ordered = serde_json::from_str(text).expect("reads");
        assert_eq!(serde_json::to_string(&read).expect("writes"), r#"{"b":3,"a":2}"#);
        assert!(serde_json::from_str::<Ordered>("[]").is_err());
    }

    #[test]
    fn local_times_round_trip() {
        let text = "2026-03-23 15:30:00";
        assert_eq!(millis(text).map(local).as_deref(), Some(text));
        assert_eq!(millis("L"), None);
    }

    #[test]
    fn file_names_are_sanitised() {
        assert_eq!(directory_of("Google Chrome"), "google_chrome");
        assert_eq!(directory_of("../../evil"), "..-..-evil");
        assert_eq!(directory_of(".."), "app");
        assert_eq!(picture_of("Save:_as?"), "Save_as");
        assert_eq!(picture_of("back\\slash*"), "back-slash");
    }
}
