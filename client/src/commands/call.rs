//! A call as it was typed, and what its parameters are read from.

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use crate::outcome::{Failure, USAGE};

/// A call to the daemon.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Wire name of the method.
    pub method: &'static str,
    /// Its own parameters; device, session, URL and token are added when it is sent.
    pub params: Map<String, Value>,
}

impl Call {
    /// A call without parameters.
    pub fn new(method: &'static str) -> Self {
        Self { method, params: Map::new() }
    }

    /// With a parameter.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.params.insert(name.to_owned(), value.into());
        self
    }

    /// With a parameter, if there is one.
    pub fn maybe(self, name: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }
}

/// How a node is named, with the names that `af` knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Visible text
    Text,
    /// Content description
    #[value(alias = "content_desc", alias = "content-desc")]
    Desc,
    /// Resource id or a part of it
    #[value(name = "resid", alias = "resource_id", alias = "res_id", alias = "resource-id", alias = "resId")]
    ResId,
    /// Class name
    #[value(alias = "class_name", alias = "class-name")]
    Class,
    /// Alias from the session's newest refs, such as @n3
    Ref,
}

impl By {
    /// The name on the wire.
    pub fn wire(self) -> Value {
        json!(match self {
            By::Text => "text",
            By::Desc => "desc",
            By::ResId => "resId",
            By::Class => "class",
            By::Ref => "ref",
        })
    }
}

/// A path as the daemon can understand it, which runs somewhere else.
pub fn absolute(path: &str) -> String {
    std::path::absolute(path).map_or_else(|_| path.to_owned(), |p| p.display().to_string())
}

/// Reads a list of objects from a file, or from standard input for `-`: a JSON array, or an object on each line.
///
/// # Errors
/// When it cannot be read.
pub fn read_list(option: &str, file: &str) -> Result<Value, Failure> {
    let bad = |why: String| Failure::new("INVALID_PARAMS", format!("{option} {file}: {why}"), USAGE);
    let text = match file {
        "-" => std::io::read_to_string(std::io::stdin()),
        file => std::fs::read_to_string(file),
    }
    .map_err(|e| bad(e.to_string()))?;
    if text.trim().is_empty() {
        return Err(bad("it is empty; none is an empty array: []".to_owned()));
    }
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(&text).map_err(|e| bad(format!("it is no JSON array: {e}")));
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let objects = lines.map(|(i, line)| match serde_json::from_str(line) {
        Ok(object @ Value::Object(_)) => Ok(object),
        Ok(_) => Err(bad(format!("line {} is no object", i + 1))),
        Err(e) => Err(bad(format!("line {}: {e}", i + 1))),
    });
    objects.collect::<Result<Vec<Value>, Failure>>().map(Value::Array)
}

/// What was expected on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected(pub(super) &'static str);

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "expected {}", self.0)
    }
}

impl std::error::Error for Expected {}

/// Reads `X,Y`.
///
/// # Errors
/// What was expected.
pub fn point(text: &str) -> Result<(f64, f64), Expected> {
    let parse = |part: &str| part.trim().parse::<f64>().ok().filter(|v| v.is_finite() && *v >= 0.0);
    text.split_once(',')
        .and_then(|(x, y)| Some((parse(x)?, parse(y)?)))
        .ok_or(Expected("X,Y with two numbers of at least 0, for example 540,1200"))
}

/// Reads `KEY=VALUE`.
pub(super) fn pair(text: &str) -> Result<(String, String), Expected> {
    let (key, value) = text.split_once('=').ok_or(Expected("KEY=VALUE"))?;
    Ok((key.to_owned(), value.to_owned()))
}

/// Pairs as an object; none is nothing.
pub(super) fn object(pairs: &[(String, String)]) -> Option<Value> {
    let map: Map<String, Value> = pairs.iter().map(|(k, v)| (k.clone(), Value::from(v.clone()))).collect();
    (!map.is_empty()).then_some(Value::Object(map))
}

pub(super) fn some(list: &[String]) -> Option<Vec<String>> {
    (!list.is_empty()).then(|| list.to_vec())
}

/// The word of a value, as it is typed and on the wire.
pub(super) fn word<T: ValueEnum>(value: Option<T>) -> Option<String> {
    value.and_then(|v| v.to_possible_value().map(|p| p.get_name().to_owned()))
}
