//! Converts `af` actions to actions of this daemon.

use std::collections::BTreeMap;

use afd_proto::Word;
use afd_proto::vocabulary::{Action, By, Point, Role, Target, Verb};
use serde_json::{Map, Value};

/// The result of converting an action.
pub(super) enum Parsed {
    Clean(Action),
    /// The converted action after a change, such as the removal of typed text, and the reason for the change.
    Cleaned(Action, &'static str),
    /// The action cannot be imported, for this reason.
    Unusable(&'static str),
}

fn string<'a>(args: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|n| args.get(*n)).and_then(Value::as_str)
}

fn number(args: &Map<String, Value>, name: &str) -> Option<f64> {
    args.get(name).and_then(Value::as_f64)
}

/// Converts an `af` action, given as its verb and its parameters in JSON.
pub(super) fn action(op: &str, args: &str) -> Parsed {
    let args: Map<String, Value> = match serde_json::from_str(if args.trim().is_empty() { "{}" } else { args }) {
        Ok(Value::Object(args)) => args,
        _ => return Parsed::Unusable("its parameters are not a JSON object"),
    };
    let Some(verb) = Verb::of(op) else { return Parsed::Unusable("unknown verb") };
    let mut action = Action::of(verb);
    match op {
        "tap" => tap(action, &args),
        "text" => {
            action.slots.push("text".to_owned());
            if args.is_empty() { Parsed::Clean(action) } else { Parsed::Cleaned(action, "the typed text was removed") }
        }
        "launch" | "stop" | "relaunch" => match string(&args, &["package", "packageName", "package_name"]) {
            Some(package) => {
                action.params.insert("package".to_owned(), package.into());
                Parsed::Clean(action)
            }
            None => Parsed::Unusable("the package is missing"),
        },
        "swipe"
            if !(["from", "to"].iter().all(|k| args.contains_key(*k))
                || ["x1", "y1", "x2", "y2"].iter().all(|k| args.contains_key(*k))) =>
        {
            Parsed::Unusable("the points of the swipe are missing")
        }
        "key" if !["keyCode", "key_code"].iter().any(|k| args.contains_key(*k)) => {
            Parsed::Unusable("the key code is missing")
        }
        "swipe" | "back" | "home" | "key" => {
            // Keeps only numbers and a swipe's points, so that no typed text is imported.
            let is_numeric = |value: &Value| {
                value.is_number()
                    || value.as_str().is_some_and(|s| s.chars().all(|c| c.is_ascii_digit() || ".,-".contains(c)))
            };
            let names = BTreeMap::from([("key_code", "keyCode"), ("duration", "durationMs")]);
            for (name, value) in args.iter().filter(|(_, v)| is_numeric(v)) {
                action.params.insert((*names.get(name.as_str()).unwrap_or(&name.as_str())).to_owned(), value.clone());
            }
            Parsed::Clean(action)
        }
        _ => Parsed::Unusable("this verb cannot be imported"),
    }
}

fn tap(mut action: Action, args: &Map<String, Value>) -> Parsed {
    let point = string(args, &["xy"])
        .and_then(|xy| xy.split_once(','))
        .and_then(|(x, y)| Some((x.trim().parse().ok()?, y.trim().parse().ok()?)))
        .or_else(|| number(args, "x").zip(number(args, "y")));
    if let Some((x, y)) = point {
        action.point = Some(Point { x, y });
        return Parsed::Clean(action);
    }
    let (Some(by), Some(value)) = (string(args, &["byNormalized", "by"]), string(args, &["value"])) else {
        return Parsed::Unusable("the target of the tap is missing");
    };
    if by == "ref" || value.strip_prefix("@n").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit())) {
        return Parsed::Unusable("an alias is only valid within its snapshot");
    }
    let Ok(by) = serde_json::from_value::<By>(by.into()) else { return Parsed::Unusable("unknown kind of selector") };
    let (role, value) = (Role::Any, Some(value.to_owned()));
    action.target = Some(match by {
        By::ResId => Target { role, res_id: value, ..Target::default() },
        By::Class => Target { role, class: value, ..Target::default() },
        By::Text | By::Label | By::Desc | By::Ref => Target { role, label: value, ..Target::default() },
    });
    Parsed::Clean(action)
}
