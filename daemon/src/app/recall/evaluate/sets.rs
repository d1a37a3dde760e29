//! The files that an evaluation reads: entries with queries, or conversations with questions in the format of the data
//! set LoCoMo (Maharana et al. 2024).

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

/// Maximum size of an evaluation file, in bytes.
const MAX_FILE: u64 = 64 << 20;
/// Maximum number of entries or queries in an evaluation file.
const MAX_LINES: usize = 100_000;

/// An entry to find.
#[derive(Debug, Deserialize)]
pub struct Entry {
    pub id: String,
    #[serde(default, rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub title: Option<String>,
    pub text: String,
    #[serde(default)]
    pub app: Option<String>,
    #[serde(default)]
    pub tags: Vec<String>,
}

/// A query, with the entries that it should find; none for a question without an answer.
#[derive(Debug, Clone, Deserialize)]
pub struct Query {
    pub query: String,
    pub expected: Vec<String>,
    #[serde(default)]
    pub language: String,
    #[serde(default)]
    pub kind: String,
    #[serde(default)]
    pub app: Option<String>,
}

/// Entries and queries.
pub struct Set {
    pub name: String,
    /// Whether the entries are the messages of one conversation, in order. Their titles are the names of the speakers.
    pub is_conversation: bool,
    pub entries: Vec<Entry>,
    pub queries: Vec<Query>,
}

type Read<T> = std::result::Result<T, String>;

fn text_of(file: &Path) -> Read<String> {
    let bytes = afd_base::file::read_capped(file, MAX_FILE).map_err(|e| format!("{}: {e}", file.display()))?;
    String::from_utf8(bytes).map_err(|_| format!("{}: not UTF-8", file.display()))
}

fn lines<T: serde::de::DeserializeOwned>(file: &Path) -> Read<Vec<T>> {
    let text = text_of(file)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read: Vec<T> = lines
        .map(|(i, line)| serde_json::from_str(line).map_err(|e| format!("{}, line {}: {e}", file.display(), i + 1)))
        .collect::<Read<_>>()?;
    if read.len() > MAX_LINES { Err(format!("{}: more than {MAX_LINES} lines", file.display())) } else { Ok(read) }
}

/// A question about a conversation.
#[derive(Debug, Deserialize)]
struct Question {
    question: String,
    #[serde(default)]
    evidence: Vec<String>,
    #[serde(default)]
    category: Option<u8>,
}

/// A conversation with questions.
#[derive(Debug, Deserialize)]
struct Talk {
    sample_id: String,
    /// Sessions (`session_1`), each a list of turns, among other fields.
    conversation: BTreeMap<String, Value>,
    qa: Vec<Question>,
}

/// A turn of a conversation.
#[derive(Debug, Deserialize)]
struct Spoken {
    speaker: String,
    dia_id: String,
    #[serde(default)]
    text: String,
    /// What a shared picture shows.
    #[serde(default)]
    blip_caption: Option<String>,
}

/// Names of the categories of questions.
const CATEGORIES: [&str; 6] = ["", "several turns", "time", "inference", "one turn", "not answered"];

impl Talk {
    fn set(self, file: &Path) -> Read<Set> {
        let number = |name: &str| name.strip_prefix("session_").and_then(|number| number.parse::<u32>().ok());
        let mut sessions: Vec<(u32, Value)> =
            self.conversation.into_iter().filter_map(|(name, turns)| Some((number(&name)?, turns))).collect();
        sessions.sort_by_key(|(number, _)| *number);
        let wrong = |e: serde_json::Error| format!("{}, {}: {e}", file.display(), self.sample_id);
        let mut entries = Vec::new();
        for (_, turns) in sessions {
            let turns: Vec<Spoken> = serde_json::from_value(turns).map_err(wrong)?;
            entries.extend(turns.into_iter().map(|turn| Entry {
                id: turn.dia_id,
                kind: String::new(),
                title: Some(turn.speaker),
                text: turn.blip_caption.map_or(turn.text.clone(), |shown| format!("{} [{shown}]", turn.text)),
                app: None,
                tags: Vec::new(),
            }));
        }
        let known: HashSet<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
        let queries = self.qa.into_iter().filter_map(|asked| {
            // An evidence can list several turns, and some of the published ones do not exist.
            let listed = asked.evidence.iter().flat_map(|e| e.split(|c: char| c == ';' || c.is_whitespace()));
            let expected: Vec<String> = listed.filter(|id| known.contains(id)).map(str::to_owned).collect();
            let is_lost = expected.is_empty() && !asked.evidence.is_empty();
            let kind = asked.category.and_then(|category| CATEGORIES.get(usize::from(category))).copied();
            (!is_lost).then(|| Query {
                query: asked.question,
                expected,
                language: String::new(),
                kind: kind.unwrap_or_default().to_owned(),
                app: None,
            })
        });
        let queries = queries.collect();
        Ok(Set { name: self.sample_id, is_conversation: true, entries, queries })
    }
}

/// Reads a file with one conversation or a list of conversations.
fn talks(file: &Path) -> Read<Vec<Set>> {
    let text = text_of(file)?;
    let wrong = |e: serde_json::Error| format!("{}: {e}", file.display());
    let talks: Vec<Talk> = match text.trim_start().starts_with('[') {
        true => serde_json::from_str(&text).map_err(wrong)?,
        false => vec![serde_json::from_str(&text).map_err(wrong)?],
    };
    talks.into_iter().map(|talk| talk.set(file)).collect()
}

fn entries_and_queries(dir: &Path) -> Read<Set> {
    let name = dir.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let (entries, queries) = (lines(&dir.join("entries.jsonl"))?, lines(&dir.join("queries.jsonl"))?);
    Ok(Set { name, is_conversation: false, entries, queries })
}

fn checked(set: Set) -> Read<Set> {
    let ids: HashSet<&str> = set.entries.iter().map(|e| e.id.as_str()).collect();
    let name = &set.name;
    if ids.len() < set.entries.len() {
        return Err(format!("{name}: two entries have the same id"));
    }
    if set.queries.is_empty() {
        return Err(format!("{name}: has no queries"));
    }
    if let Some(query) = set.queries.iter().find(|q| q.query.trim().is_empty()) {
        return Err(format!("{name}: the query {:?} has no words", query.query));
    }
    for query in &set.queries {
        if let Some(unknown) = query.expected.iter().find(|id| !ids.contains(id.as_str())) {
            return Err(format!("{name}: the query {:?} expects {unknown:?}, which is no entry", query.query));
        }
    }
    Ok(set)
}

/// Reads the sets in a directory, or in a file with conversations.
///
/// # Errors
/// If a file cannot be read, or is not in the expected format. The message names the file.
pub fn read(path: &Path) -> Read<Vec<Set>> {
    let mut sets = Vec::new();
    if path.is_file() {
        sets = talks(path)?;
    } else if path.join("queries.jsonl").exists() {
        sets.push(entries_and_queries(path)?);
    } else {
        let inside = std::fs::read_dir(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut inside: Vec<PathBuf> = inside.filter_map(|entry| Some(entry.ok()?.path())).collect();
        inside.sort();
        for path in inside {
            if path.join("queries.jsonl").exists() {
                sets.push(entries_and_queries(&path)?);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                sets.extend(talks(&path)?);
            }
        }
    }
    if sets.is_empty() {
        return Err(format!("{}: has neither entries.jsonl and queries.jsonl nor conversations", path.display()));
    }
    sets.into_iter().map(checked).collect()
}
