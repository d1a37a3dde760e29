//! Calls built from the command line, and parsers for their parameters.

use std::collections::BTreeMap;
use std::io::Read as _;

use afd_proto::{Method, MethodInfo, SharedParams};
use clap::Subcommand;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use afd_link::human::kebab;
use afd_link::human::render::{Human, render};
use afd_link::options::Context;
use afd_link::outcome::{Failure, Render, USAGE};

/// A group of subcommands, each of which makes one call.
pub trait Group: Subcommand {
    /// Returns the call that the parsed subcommand makes.
    fn call(self, context: &Context) -> Call;
}

/// A call to the daemon.
pub struct Call {
    /// Wire name of the method.
    pub method: String,
    /// Group name in the envelope.
    pub category: String,
    /// Verb in the envelope.
    pub op: String,
    /// Shared parameters that are filled in when the call is sent.
    pub takes: SharedParams,
    /// Parameters of the method, or the reason they could not be read.
    pub params: Result<Map<String, Value>, Failure>,
    /// Function that renders the result for people; if `None`, the fields of the result are listed.
    pub render: Option<Render>,
    /// Result fields to print as JSON instead of the whole envelope, if any.
    pub only: Option<&'static [&'static str]>,
    /// Whether to start the daemon if it is not running.
    pub starts_daemon: bool,
    /// Whether `--config` and `AF_DB` refer to files of `af` rather than of the daemon.
    pub about_af: bool,
    /// Work that this program does itself instead of sending a call.
    pub local: Option<Local>,
}

/// Work that this program does itself instead of sending a call. Returns the `data` of the envelope.
pub type Local = Box<dyn FnOnce(&Context) -> Result<Value, Failure>>;

impl Call {
    /// Creates a call to method `M`.
    pub fn of<M: Human>(params: M::Params) -> Self {
        Self::parsed::<M>(Ok(params))
    }

    /// Creates a call to method `M` whose parameters may have failed to parse.
    pub fn parsed<M: Human>(params: Result<M::Params, Failure>) -> Self {
        Self { render: Some(render::<M>), ..Self::build::<M>(params) }
    }

    /// Creates a call to a method whose result is listed field by field.
    pub fn plain<M: Method>(params: M::Params) -> Self {
        Self::build::<M>(Ok(params))
    }

    fn build<M: Method>(params: Result<M::Params, Failure>) -> Self {
        let MethodInfo { name, takes, .. } = M::INFO;
        let (category, op) = name.split_once('.').unwrap_or((name, ""));
        let params = params.and_then(|params| match serde_json::to_value(params) {
            Ok(Value::Object(map)) => Ok(map),
            // The message does not quote the parameters, because they may contain a secret.
            _ => Err(Failure::new("INTERNAL", format!("the parameters of {name} are not an object"), USAGE)),
        });
        let (method, category, op) = (name.to_owned(), kebab(category), kebab(op));
        Self {
            method,
            category,
            op,
            takes,
            params,
            render: None,
            only: None,
            starts_daemon: true,
            about_af: false,
            local: None,
        }
    }

    /// Creates a call to any method, by name, with JSON parameters.
    pub fn raw(method: &str, params: &str) -> Self {
        let params = serde_json::from_str(params)
            .map_err(|e| Failure::new("INVALID_PARAMS", format!("the parameters are not a JSON object: {e}"), USAGE));
        let takes = afd_proto::method(method).map_or(SharedParams::NONE, |info| info.takes);
        Self {
            method: method.to_owned(),
            category: "rpc".to_owned(),
            op: method.to_owned(),
            takes,
            params,
            render: None,
            only: None,
            starts_daemon: true,
            about_af: false,
            local: None,
        }
    }

    /// Creates a command that this program executes itself.
    pub fn local(
        category: &str,
        op: &str,
        render: Option<Render>,
        work: impl FnOnce(&Context) -> Result<Value, Failure> + 'static,
    ) -> Self {
        Self { local: Some(Box::new(work)), render, ..Self::raw("", "{}") }.named(category, op)
    }

    /// Creates a call that is never sent and fails with `failure`.
    pub fn refused(category: &str, op: &str, failure: Failure) -> Self {
        Self { params: Err(failure), ..Self::raw("", "{}") }.named(category, op)
    }

    /// Sets the group and verb shown in the envelope.
    pub fn named(mut self, category: &str, op: &str) -> Self {
        self.category = category.to_owned();
        self.op = op.to_owned();
        self
    }

    /// Sets the result fields to print as JSON: a single field as its bare value, several as an object.
    pub fn only(mut self, fields: Option<&'static [&'static str]>) -> Self {
        self.only = fields;
        self
    }

    /// Marks the call as one that never starts the daemon.
    pub fn without_starting(mut self) -> Self {
        self.starts_daemon = false;
        self
    }
}

/// Makes a path absolute, since the daemon has a different working directory.
pub fn absolute(path: &str) -> String {
    std::path::absolute(path).map_or_else(|_| path.to_owned(), |p| p.display().to_string())
}

/// Reads a text from a file, or from standard input for `-`. Some programs put a byte order mark at the start, and some
/// terminals write UTF-16.
///
/// # Errors
/// Returns a usage error if the input cannot be read, or is no text.
pub fn read_text(option: &str, file: &str) -> Result<String, Failure> {
    let bad = |why: String| Failure::new("INVALID_PARAMS", format!("{option} {file}: {why}"), USAGE);
    let mut bytes = Vec::new();
    match file {
        "-" => std::io::stdin().read_to_end(&mut bytes).map(drop),
        file => std::fs::read(file).map(|read| bytes = read),
    }
    .map_err(|e| bad(e.to_string()))?;
    let units =
        |of: fn([u8; 2]) -> u16| bytes[2..].chunks_exact(2).map(|pair| of([pair[0], pair[1]])).collect::<Vec<u16>>();
    let text = match bytes.get(..2) {
        Some([0xff, 0xfe]) => String::from_utf16(&units(u16::from_le_bytes)).map_err(|e| bad(e.to_string()))?,
        Some([0xfe, 0xff]) => String::from_utf16(&units(u16::from_be_bytes)).map_err(|e| bad(e.to_string()))?,
        _ => String::from_utf8(bytes).map_err(|e| bad(e.to_string()))?,
    };
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

/// Reads a list from a file, or from standard input for `-`: a JSON array, or one JSON object per line.
///
/// # Errors
/// Returns a usage error if the input cannot be read or an item is invalid.
pub fn read_list<T: DeserializeOwned>(option: &str, file: &str) -> Result<Vec<T>, Failure> {
    let bad = |why: String| Failure::new("INVALID_PARAMS", format!("{option} {file}: {why}"), USAGE);
    let text = read_text(option, file)?;
    let text = text.as_str();
    if text.trim().is_empty() {
        return Err(bad("the file is empty; use [] for an empty list".to_owned()));
    }
    if text.trim_start().starts_with('[') {
        let items: Vec<Value> = serde_json::from_str(text).map_err(|e| bad(format!("not a JSON array: {e}")))?;
        let items = items.into_iter().enumerate();
        return items
            .map(|(i, item)| serde_json::from_value(item).map_err(|e| bad(format!("item {i}: {e}"))))
            .collect();
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let objects = lines.map(|(i, line)| {
        let item: Value = serde_json::from_str(line).map_err(|e| bad(format!("line {}: {e}", i + 1)))?;
        if !item.is_object() {
            return Err(bad(format!("line {} is not an object", i + 1)));
        }
        serde_json::from_value(item).map_err(|e| bad(format!("line {}: {e}", i + 1)))
    });
    objects.collect()
}

/// Error for a command-line value that cannot be parsed; contains the expected form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected(pub(super) &'static str);

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "expected {}", self.0)
    }
}

impl std::error::Error for Expected {}

/// Parses a point given as `X,Y`.
pub fn point(text: &str) -> Result<(f64, f64), Expected> {
    let parse = |part: &str| part.trim().parse::<f64>().ok().filter(|v| v.is_finite() && *v >= 0.0);
    text.split_once(',')
        .and_then(|(x, y)| Some((parse(x)?, parse(y)?)))
        .ok_or(Expected("X,Y with two non-negative numbers, for example 540,1200"))
}

/// Parses a `KEY=VALUE` argument.
pub(super) fn pair(text: &str) -> Result<(String, String), Expected> {
    let (key, value) = text.split_once('=').ok_or(Expected("KEY=VALUE"))?;
    Ok((key.to_owned(), value.to_owned()))
}

/// Collects pairs into a map; the last value of a repeated key wins.
pub(super) fn map(pairs: Vec<(String, String)>) -> BTreeMap<String, String> {
    pairs.into_iter().collect()
}

/// Returns the list, or `None` if it is empty.
pub(super) fn non_empty<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

/// Returns `Some(true)` if the switch was given, else `None`.
pub(super) fn true_if(switch: bool) -> Option<bool> {
    switch.then_some(true)
}

/// Returns `Some(false)` if a switch that turns something off was given, else `None`.
pub(super) fn false_if(switch: bool) -> Option<bool> {
    switch.then_some(false)
}
