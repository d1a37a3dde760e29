//! Actions of `af` as actions of ours.

use std::collections::BTreeMap;

use afd_proto::Word;
use afd_proto::vocabulary::{Action, By, Point, Role, Target, Verb};
use serde_json::{Map, Value};

/// What was read of an action.
pub(super) enum Read {
    Clean(Action),
    /// With why it had to be changed.
    Cleaned(Action, &'static str),
    /// With why it is of no use.
    Useless(&'static str),
}

fn string<'a>(args: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|n| args.get(*n)).and_then(Value::as_str)
}

fn number(args: &Map<String, Value>, name: &str) -> Option<f64> {
    args.get(name).and_then(Value::as_f64)
}

/// An action from its verb and its parameters.
pub(super) fn action(op: &str, args: &str) -> Read {
    let args: Map<String, Value> = match serde_json::from_str(if args.trim().is_empty() { "{}" } else { args }) {
        Ok(Value::Object(args)) => args,
        _ => return Read::Useless("its parameters are no JSON object"),
    };
    let Some(verb) = Verb::of(op) else { return Read::Useless("its verb is not known here") };
    let mut action = Action::of(verb);
    match op {
        "tap" => tap(action, &args),
        "text" => {
            action.slots.push("text".to_owned());
            if args.is_empty() { Read::Clean(action) } else { Read::Cleaned(action, "the typed text was left behind") }
        }
        "launch" | "stop" | "relaunch" => match string(&args, &["package", "packageName", "package_name"]) {
            Some(package) => {
                action.params.insert("package".to_owned(), package.into());
                Read::Clean(action)
            }
            None => Read::Useless("it does not say which app"),
        },
        "swipe"
            if !(["from", "to"].iter().all(|k| args.contains_key(*k))
                || ["x1", "y1", "x2", "y2"].iter().all(|k| args.contains_key(*k))) =>
        {
            Read::Useless("it does not say from where to where")
        }
        "key" if !["keyCode", "key_code"].iter().any(|k| args.contains_key(*k)) => Read::Useless("it does not say which key"),
        "swipe" | "back" | "home" | "key" => {
            // Numbers and the points of a swipe; nothing that was typed can be among them.
            let harmless = |value: &Value| {
                value.is_number() || value.as_str().is_some_and(|s| s.chars().all(|c| c.is_ascii_digit() || ".,-".contains(c)))
            };
            let names = BTreeMap::from([("key_code", "keyCode"), ("duration", "durationMs")]);
            for (name, value) in args.iter().filter(|(_, v)| harmless(v)) {
                action.params.insert((*names.get(name.as_str()).unwrap_or(&name.as_str())).to_owned(), value.clone());
            }
            Read::Clean(action)
        }
        _ => Read::Useless("its verb is not known here"),
    }
}

fn tap(mut action: Action, args: &Map<String, Value>) -> Read {
    let point = string(args, &["xy"])
        .and_then(|xy| xy.split_once(','))
        .and_then(|(x, y)| Some((x.trim().parse().ok()?, y.trim().parse().ok()?)))
        .or_else(|| number(args, "x").zip(number(args, "y")));
    if let Some((x, y)) = point {
        action.point = Some(Point { x, y });
        return Read::Clean(action);
    }
    let (Some(by), Some(value)) = (string(args, &["byNormalized", "by"]), string(args, &["value"])) else {
        return Read::Useless("it does not say what was tapped");
    };
    if by == "ref" || value.strip_prefix("@n").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit())) {
        return Read::Useless("an alias means nothing outside of its snapshot");
    }
    let Ok(by) = serde_json::from_value::<By>(by.into()) else { return Read::Useless("it names its target in an unknown way") };
    let (role, value) = (Role::Any, Some(value.to_owned()));
    action.target = Some(match by {
        By::ResId => Target { role, res_id: value, ..Target::default() },
        By::Class => Target { role, class: value, ..Target::default() },
        By::Text | By::Desc | By::Ref => Target { role, label: value, ..Target::default() },
    });
    Read::Clean(action)
}
