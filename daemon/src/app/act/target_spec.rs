//! Parses the target of an action as the caller specified it.

use afd_proto::act::TapParams;
use afd_proto::vocabulary::{By, Point, Role, Target};

use super::described::DescribedTarget;
use crate::app::{Error, Result};

/// Target of an action as the caller specified it.
#[derive(Debug, Clone)]
pub(in crate::app) enum TargetSpec {
    /// A point, in device pixels.
    Point(Point),
    /// A node selected by one of its properties.
    Node { by: By, value: String, exact: bool, partial: bool },
    /// An alias from an observation, and optionally the id of that observation.
    Alias { alias: String, observation: Option<String> },
    /// An element as a walk saw it, and the page on which it saw it.
    Described(Box<DescribedTarget>),
}

impl TargetSpec {
    /// Parses the target parameters of a tap.
    pub(in crate::app) fn of(params: &TapParams) -> Result<Self> {
        match (params.by, &params.value, params.x, params.y) {
            (None, None, Some(x), Some(y)) => {
                Ok(TargetSpec::Point(Point { x: coordinate("x", x)?, y: coordinate("y", y)? }))
            }
            (Some(by), Some(value), None, None) => {
                Self::named(by, value, (params.exact_match, params.partial), params.observation_id.clone())
            }
            (None, Some(value), None, None) => Self::named(
                default_by(value),
                value,
                (params.exact_match, params.partial),
                params.observation_id.clone(),
            ),
            (Some(_), None, ..) => Err(Error::param("value", "a value to look for", "nothing")),
            (None, None, Some(_), None) => Err(Error::param("y", "a number, because x is given", "nothing")),
            (None, None, None, Some(_)) => Err(Error::param("x", "a number, because y is given", "nothing")),
            (None, None, None, None) => Err(Error::param("value", "a label or an alias, or x with y", "nothing")),
            (_, Some(_), ..) => Err(Error::param("x", "either a value, or x with y", "both")),
        }
    }

    /// Parses one end of a drag: a label, an alias or a point. `names` are the names of the parameters, for errors.
    pub(in crate::app) fn end(
        names: [&str; 3],
        value: Option<&str>,
        point: (Option<f64>, Option<f64>),
        partial: bool,
    ) -> Result<Self> {
        let [name, x_name, y_name] = names;
        match (value, point) {
            (Some(value), (None, None)) if value.trim().is_empty() => {
                Err(Error::param(name, "at least one character", "an empty string"))
            }
            (Some(value), (None, None)) => Self::named(default_by(value), value, (false, partial), None),
            (None, (Some(x), Some(y))) => {
                Ok(TargetSpec::Point(Point { x: coordinate(x_name, x)?, y: coordinate(y_name, y)? }))
            }
            (None, (Some(_), None)) => {
                Err(Error::param(y_name, "a number, because the other coordinate is given", "nothing"))
            }
            (None, (None, Some(_))) => {
                Err(Error::param(x_name, "a number, because the other coordinate is given", "nothing"))
            }
            (None, (None, None)) => Err(Error::param(name, "a label or an alias, or a point", "neither")),
            (Some(_), _) => Err(Error::param(x_name, "either a label or an alias, or a point", "both")),
        }
    }

    /// Creates a target from a selector or an alias.
    pub(in crate::app) fn named(
        by: By,
        value: &str,
        (exact, partial): (bool, bool),
        observation: Option<String>,
    ) -> Result<Self> {
        if value.trim().is_empty() {
            return Err(Error::param("value", "at least one character", "an empty string"));
        }
        check_length("value", value)?;
        if by != By::Ref {
            return Ok(TargetSpec::Node { by, value: value.to_owned(), exact, partial });
        }
        let alias = value.trim();
        let number = alias
            .strip_prefix("@n")
            .or_else(|| alias.strip_prefix('n'))
            .filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()));
        match number {
            Some(number) => Ok(TargetSpec::Alias { alias: format!("@n{number}"), observation }),
            None => Err(Error::param("value", "an alias such as @n3", value)),
        }
    }
}

/// Maximum length of the text that specifies a target, in bytes. The event stores this text.
const MAX_WANTED: usize = 8 << 10;

/// Checks the length of the text that specifies a target.
pub(in crate::app) fn check_length(field: &str, text: &str) -> Result<()> {
    if text.len() > MAX_WANTED {
        return Err(Error::param(field, "at most 8192 bytes", text.len()));
    }
    Ok(())
}

/// Returns the digits of an alias such as `@n3`; `None` for anything else, because a user name may also begin with
/// `@n`.
fn alias_number(value: &str) -> Option<&str> {
    value.trim().strip_prefix("@n").filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns how to interpret a value without `by`: as an alias if it looks like one, else as a label.
pub(in crate::app) fn default_by(value: &str) -> By {
    if alias_number(value).is_some() { By::Ref } else { By::Label }
}

/// Describes a target of which only one property is known.
pub(in crate::app) fn named_target(by: By, value: &str) -> Target {
    let (value, role) = (Some(value.to_owned()), Role::Any);
    match by {
        By::ResId => Target { role, res_id: value, ..Target::default() },
        By::Class => Target { role, class: value, ..Target::default() },
        By::Text | By::Label | By::Desc | By::Ref => Target { role, label: value, ..Target::default() },
    }
}

/// Checks that a coordinate is plausible for a screen.
pub(in crate::app) fn coordinate(path: &str, value: f64) -> Result<f64> {
    if value.is_finite() && (0.0..=100_000.0).contains(&value) {
        Ok(value)
    } else {
        Err(Error::param(path, "0 to 100000 device pixels", value))
    }
}
