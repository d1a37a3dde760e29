//! Touches, drags and scrolls.

use afd_proto::act::{Amount, Direction, DragParams, ScrollParams, ScrollToParams, SwipeParams, TapParams};
use afd_proto::vocabulary::By;
use clap::Args;

use super::key::Key;
use crate::commands::point;

/// Options for `tap`, `double-tap`, `hover` and `long-press`.
#[derive(Debug, Args)]
#[group(skip)]
#[command(group = clap::ArgGroup::new("target").required(true).args(["what", "value", "xy"]))]
pub struct Tap {
    /// Alias such as @n3, or the label of the target
    #[arg(value_name = "TARGET")]
    what: Option<String>,
    /// Point in device pixels
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true, value_parser = point)]
    xy: Option<(f64, f64)>,
    /// Property that identifies the target [default: ref for an alias, else label]
    #[arg(long, value_enum, conflicts_with = "xy")]
    by: Option<By>,
    /// Label, text, description, id, class or alias of the target
    #[arg(long, allow_hyphen_values = true)]
    value: Option<String>,
    /// Match the whole value, case-sensitively
    #[arg(long)]
    exact_match: bool,
    /// Also accept a match inside a word or in the detail text of a row
    #[arg(long, conflicts_with = "exact_match")]
    partial: bool,
    /// Id of the observation that the alias must come from
    #[arg(long, value_name = "ID")]
    observation_id: Option<String>,
    /// Recover and try again if the target is missing or covered
    #[arg(long)]
    recover: bool,
    #[command(flatten)]
    key: Key,
}

/// Options for `long-press`.
#[derive(Debug, Args)]
pub struct LongPress {
    #[command(flatten)]
    tap: Tap,
    /// Duration of the press in milliseconds
    #[arg(long = "duration", value_name = "MS", allow_negative_numbers = true)]
    duration_ms: Option<u32>,
}

/// Options for `swipe`.
#[derive(Debug, Args)]
pub struct Swipe {
    /// Start point in device pixels
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true, value_parser = point)]
    from: (f64, f64),
    /// End point in device pixels
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true, value_parser = point)]
    to: (f64, f64),
    /// Duration of the swipe in milliseconds
    #[arg(long = "duration", value_name = "MS", allow_negative_numbers = true)]
    duration_ms: Option<u32>,
    #[command(flatten)]
    key: Key,
}

/// Options for `drag`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("start").required(true).args(["what", "from_xy"]))]
#[command(group = clap::ArgGroup::new("end").required(true).args(["onto", "to_xy"]))]
pub struct Drag {
    /// Label or alias of the element to drag
    #[arg(value_name = "TARGET")]
    what: Option<String>,
    /// Label or alias of the element to drag it to
    #[arg(long = "to", value_name = "TARGET")]
    onto: Option<String>,
    /// Start point in device pixels
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true, value_parser = point)]
    from_xy: Option<(f64, f64)>,
    /// End point in device pixels
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true, value_parser = point)]
    to_xy: Option<(f64, f64)>,
    /// Also accept a match inside a word or in the detail text of a row
    #[arg(long)]
    partial: bool,
    /// Duration of the drag in milliseconds
    #[arg(long = "duration", value_name = "MS", allow_negative_numbers = true)]
    duration_ms: Option<u32>,
    /// Recover and try again if the target is missing or covered
    #[arg(long)]
    recover: bool,
    #[command(flatten)]
    key: Key,
}

/// Options for `scroll`.
#[derive(Debug, Args)]
pub struct Scroll {
    /// Direction to scroll; down shows the content below
    #[arg(value_name = "DIRECTION", value_enum, required_unless_present = "direction", conflicts_with = "direction")]
    way: Option<Direction>,
    /// Same as the DIRECTION argument
    #[arg(long, value_enum)]
    direction: Option<Direction>,
    /// How far to scroll
    #[arg(long, value_enum)]
    amount: Option<Amount>,
    #[command(flatten)]
    key: Key,
}

/// Options for `scroll-to`.
#[derive(Debug, Args)]
pub struct ScrollTo {
    /// Part of the text or description of the element to find
    #[arg(value_name = "TEXT", allow_hyphen_values = true, required_unless_present = "text", conflicts_with = "text")]
    what: Option<String>,
    /// Same as the TEXT argument
    #[arg(long, allow_hyphen_values = true)]
    text: Option<String>,
    /// Property to compare with the text [default: text and description]; ref is not allowed
    #[arg(long, value_enum)]
    by: Option<By>,
    /// Match the whole value, case-sensitively, instead of any part of it in any case
    #[arg(long)]
    exact_match: bool,
    #[command(flatten)]
    key: Key,
}

impl Tap {
    pub(super) fn params(self) -> TapParams {
        TapParams {
            x: self.xy.map(|p| p.0),
            y: self.xy.map(|p| p.1),
            by: self.by,
            value: self.value.or(self.what),
            exact_match: self.exact_match,
            partial: self.partial,
            observation_id: self.observation_id,
            recover: self.recover,
            request_key: self.key.request_key,
            then: self.key.then,
            strict: self.key.strict,
            ..TapParams::default()
        }
    }
}

impl LongPress {
    pub(super) fn params(self) -> TapParams {
        TapParams { duration_ms: self.duration_ms, ..self.tap.params() }
    }
}

impl Scroll {
    pub(super) fn params(self) -> ScrollParams {
        let Scroll { way, direction, amount, key } = self;
        let direction = direction.or(way).unwrap_or(Direction::Down);
        ScrollParams {
            direction,
            amount,
            request_key: key.request_key,
            then: key.then,
            strict: key.strict,
            device: None,
            session: None,
            url: None,
            token: None,
        }
    }
}

impl ScrollTo {
    pub(super) fn params(self) -> ScrollToParams {
        let ScrollTo { what, text, by, exact_match, key } = self;
        let text = text.or(what).unwrap_or_default();
        ScrollToParams {
            text,
            by,
            exact_match,
            request_key: key.request_key,
            then: key.then,
            strict: key.strict,
            ..ScrollToParams::default()
        }
    }
}

impl Swipe {
    pub(super) fn params(self) -> SwipeParams {
        let ((x1, y1), (x2, y2)) = (self.from, self.to);
        SwipeParams {
            x1,
            y1,
            x2,
            y2,
            duration_ms: self.duration_ms,
            request_key: self.key.request_key,
            then: self.key.then,
            strict: self.key.strict,
            ..SwipeParams::default()
        }
    }
}

impl Drag {
    pub(super) fn params(self) -> DragParams {
        DragParams {
            value: self.what,
            to: self.onto,
            x: self.from_xy.map(|p| p.0),
            y: self.from_xy.map(|p| p.1),
            to_x: self.to_xy.map(|p| p.0),
            to_y: self.to_xy.map(|p| p.1),
            partial: self.partial,
            duration_ms: self.duration_ms,
            recover: self.recover,
            request_key: self.key.request_key,
            then: self.key.then,
            strict: self.key.strict,
            ..DragParams::default()
        }
    }
}
