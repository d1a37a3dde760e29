//! `act.fill` and `act.text`: type text, and check what the field then shows.
//!
//! A phone may drop characters, type twice, or not type at all, and still report success. Therefore the daemon compares
//! the text in the field with the typed text. Errors quote neither, because both may be secret.

use std::time::Duration;

use afd_proto::keys::KeyName;
use afd_proto::vocabulary::Point;
use afd_proto::{ErrorCode, Secret};
use serde_json::json;
use tokio::time::Instant;

use super::resolve_target::ResolvedTarget;
use super::scroll::SearchOutcome;
use crate::app::observe::capture::SETTLE_INTERVAL;
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::{Call, Error, Result};
use afd_device::{DeviceGuard, Input, Key};
use afd_experience::memory::events::Event;
use afd_screen::page::{Flag, Node, Snapshot};

const END: Key = Key::Named(KeyName::End);
const DELETE: Key = Key::Named(KeyName::Delete);
const FORWARD_DELETE: Key = Key::Named(KeyName::ForwardDelete);
/// Maximum number of characters to delete from a field.
const MAX_DELETED: usize = 4_000;
/// Number of characters to delete from a password field, whose length is not known.
const HIDDEN_LENGTH: usize = 64;
/// Number of characters to delete beyond the visible ones, because the service trims leading and trailing spaces from
/// the text it reports.
const UNSEEN: usize = 16;
/// Maximum number of rounds of deletion to empty a field.
const ROUNDS: usize = 3;
/// Maximum wait until a field shows the typed text.
const SHOWN_WITHIN: Duration = Duration::from_millis(1_000);

/// Properties by which a field is found again after it has moved.
struct Field {
    res_id: Option<String>,
    class: String,
    desc: Option<String>,
    at: Point,
}

/// The text that a field shows.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shown {
    text: String,
    /// Whether the text is masked.
    hidden: bool,
}

impl Field {
    fn of(node: &Node, at: Point) -> Self {
        Self { res_id: node.res_id.clone(), class: node.class.clone(), desc: node.desc.clone(), at }
    }

    /// Finds the field on a later screen: the only field with the same properties, else the one at the same position.
    fn find<'a>(&self, snapshot: &'a Snapshot) -> Option<&'a Node> {
        let equal = |n: &&Node| n.res_id == self.res_id && n.class == self.class && n.desc == self.desc;
        let mut alike = fields(snapshot).filter(equal);
        match (alike.next(), alike.next()) {
            (Some(one), None) => Some(one),
            _ => fields(snapshot).rfind(|n| n.bounds.contains(self.at.x, self.at.y)),
        }
    }
}

fn fields(snapshot: &Snapshot) -> impl DoubleEndedIterator<Item = &Node> {
    snapshot.nodes.iter().filter(|n| n.is(Flag::Editable) && n.is(Flag::Visible) && snapshot.is_content(n))
}

fn shown(node: &Node) -> Shown {
    let text = node.text.clone().unwrap_or_default();
    Shown { hidden: node.password || is_masked(&text), text }
}

/// Returns whether text consists of one repeated mask character, as a displayed password does.
fn is_masked(text: &str) -> bool {
    let first = text.chars().next();
    matches!(first, Some('\u{2022}' | '*' | '\u{25cf}')) && text.chars().all(|c| Some(c) == first)
}

/// Relation between the text that a field shows and the typed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Likeness {
    Same,
    /// The letters and digits are the same; the app formatted the input.
    Formatted,
    Different,
}

fn compare(shown: &str, typed: &str) -> Likeness {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let signs =
        |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    // The service trims leading and trailing spaces, and shows line breaks as spaces.
    if shown == typed || (plain(shown) == plain(typed) && shown.trim().len() == typed.trim().len()) {
        Likeness::Same
    } else if !signs(typed).is_empty() && signs(shown) == signs(typed) {
        Likeness::Formatted
    } else {
        Likeness::Different
    }
}

/// Refuses text with characters that the device cannot type.
fn check_typable(guard: &DeviceGuard, text: &str) -> Result<()> {
    let wrong = guard.cannot_type(text);
    if wrong.is_empty() {
        return Ok(());
    }
    let places: Vec<String> = wrong.iter().take(10).map(|i| (i + 1).to_string()).collect();
    let more = if wrong.len() > 10 { ", ..." } else { "" };
    let (number, noun) = (wrong.len(), if wrong.len() == 1 { "character" } else { "characters" });
    Err(Error::new(
        ErrorCode::Unsupported,
        format!(
            "the device cannot type {number} {noun} of the text (at position {}{more}): it types ASCII only",
            places.join(", ")
        ),
    )
    .hint("nothing was typed; use ASCII characters, or paste the text in another way")
    .details(json!({"count": number, "positions": wrong.iter().take(100).map(|i| i + 1).collect::<Vec<_>>()})))
}

/// Returns the error for a field whose text differs from the typed text.
fn differs_error(shown: &Shown) -> Error {
    let (what, hint) = match shown.text.is_empty() {
        true => (
            "the field is still empty after the text was typed",
            "tap the field and check that it accepts text, then fill it again",
        ),
        false => (
            "the field shows another text than the one that was typed",
            "look at the field before going on; fill it again to replace its text",
        ),
    };
    Error::new(ErrorCode::TextDiffers, what).hint(hint)
}

impl Call {
    /// Replaces the content of a field with text.
    ///
    /// # Errors
    /// `TARGET_NOT_FOUND` if the target is not a field, `UNSUPPORTED` if the device cannot type the text,
    /// `LIMIT_EXCEEDED` if the field contains too much text to delete. Nothing is sent in these cases. `TEXT_DIFFERS`
    /// if the field then shows different text. An error is also returned if the device fails.
    pub(in crate::app) async fn fill(
        &self,
        guard: &DeviceGuard,
        text: &Secret,
        resolved: Option<ResolvedTarget>,
        event: &mut Event,
    ) -> Result<SearchOutcome> {
        let Some(target) = resolved else {
            return Err(Error::param("value", "the label or alias of a field", "nothing"));
        };
        // Nothing is sent until the field has been checked.
        event.sent = false;
        check_typable(guard, text.expose())?;
        let capture = ScreenCapture::of(guard.tree(self.target.token.as_ref()).await?, false, false);
        let at = |n: &&Node| n.bounds.contains(target.point.x, target.point.y);
        let Some(node) = fields(capture.snapshot()).rfind(at) else {
            return Err(Error::new(ErrorCode::TargetNotFound, "the target is not a field that accepts text")
                .hint("observe the page for its fields"));
        };
        let (field, before) = (Field::of(node, target.point), shown(node));
        let length = before.text.chars().count();
        if length > MAX_DELETED {
            return Err(Error::new(
                ErrorCode::LimitExceeded,
                format!("the field contains {length} characters, more than {MAX_DELETED}"),
            )
            .hint("delete them in the app, then use act text"));
        }
        event.sent = true;
        let tap = self.on_target(Input::Tap(target.point.x, target.point.y).into(), Some(&target));
        self.send_commands(guard, vec![tap], event).await?;
        let empty = self.clear(guard, &field, before, event).await?;
        if !text.expose().is_empty() {
            self.send_more(guard, Input::Text(text.clone()), event).await?;
        }
        let result = self.check_shown(guard, &field, text.expose(), &empty, event).await?;
        Ok(SearchOutcome { result: result.to_owned(), resolved: Some(target), scrolls: 0 })
    }

    /// Deletes the text in the focused field. Returns what the field shows afterwards: nothing, or its hint.
    async fn clear(&self, guard: &DeviceGuard, field: &Field, before: Shown, event: &mut Event) -> Result<Shown> {
        let mut now = before;
        for _ in 0..ROUNDS {
            let length = match now.hidden {
                true => HIDDEN_LENGTH,
                false if now.text.is_empty() => 0,
                false => now.text.chars().count() + UNSEEN,
            };
            if length == 0 {
                break;
            }
            let mut keys = vec![END];
            keys.extend(std::iter::repeat_n(DELETE, length));
            // The cursor may be in the middle of multi-line text.
            if now.text.chars().count() > 1 {
                keys.extend(std::iter::repeat_n(FORWARD_DELETE, length));
            }
            self.send_more(guard, Input::Keys(keys), event).await?;
            let Some(after) = self.read_field(guard, field).await? else { break };
            if after != now {
                now = after;
                continue;
            }
            // If deleting does not change the text, it is the hint of an empty field. The exception is a device that
            // accepts many keys at once and presses none, so a single key is tried.
            self.send_more(guard, Input::Keys(vec![DELETE]), event).await?;
            match self.read_field(guard, field).await? {
                Some(after) if after != now => {
                    for _ in 1..length {
                        self.send_more(guard, Input::Keys(vec![DELETE]), event).await?;
                    }
                    now = self.read_field(guard, field).await?.unwrap_or(after);
                }
                _ => break,
            }
        }
        Ok(now)
    }

    /// Waits until a field shows the typed text. `empty` is what the field showed before.
    async fn check_shown(
        &self,
        guard: &DeviceGuard,
        field: &Field,
        typed: &str,
        empty: &Shown,
        event: &mut Event,
    ) -> Result<&'static str> {
        let deadline = Instant::now() + SHOWN_WITHIN;
        let now = loop {
            let Some(now) = self.read_field(guard, field).await? else {
                return Ok("typed; the field is no longer visible, so its text could not be checked");
            };
            let done =
                now.hidden || compare(&now.text, typed) != Likeness::Different || (typed.is_empty() && now == *empty);
            if done || Instant::now() >= deadline {
                break now;
            }
            tokio::time::sleep(SETTLE_INTERVAL).await;
        };
        if now.hidden && !typed.is_empty() {
            return Ok("typed; the field hides what it shows");
        }
        if typed.is_empty() {
            return match now == *empty || now.text.is_empty() {
                true => Ok("cleared"),
                false => Err(differs_error(&now)),
            };
        }
        match compare(&now.text, typed) {
            Likeness::Same if now == *empty => self.check_hint(guard, field, typed, &now, event).await,
            Likeness::Same => Ok("filled"),
            Likeness::Formatted => Ok("filled; the app has reformatted the text"),
            Likeness::Different => Err(differs_error(&now)),
        }
    }

    /// Finds out whether a field shows the typed text or a hint that equals it. Only in the former case does deleting a
    /// character change the field.
    async fn check_hint(
        &self,
        guard: &DeviceGuard,
        field: &Field,
        typed: &str,
        now: &Shown,
        event: &mut Event,
    ) -> Result<&'static str> {
        self.send_more(guard, Input::Keys(vec![DELETE]), event).await?;
        let after = self.read_field(guard, field).await?;
        if after.is_none_or(|after| after == *now) {
            return Err(differs_error(&Shown { text: String::new(), hidden: false }));
        }
        let last = typed.chars().next_back().map(String::from).unwrap_or_default();
        self.send_more(guard, Input::Text(Secret::new(&last)), event).await?;
        match self.read_field(guard, field).await? {
            Some(after) if after != *now => Err(differs_error(&after)),
            _ => Ok("filled"),
        }
    }

    /// Types into the focused element, and checks the field whose text changes.
    ///
    /// # Errors
    /// `UNSUPPORTED` if the device cannot type the text, before anything is sent; `TEXT_DIFFERS` if the field then
    /// shows different text.
    pub(in crate::app) async fn type_text(
        &self,
        guard: &DeviceGuard,
        text: &Secret,
        event: &mut Event,
    ) -> Result<SearchOutcome> {
        event.sent = false;
        check_typable(guard, text.expose())?;
        // A phone whose screen cannot be read can still receive text.
        let before = guard.tree(self.target.token.as_ref()).await.ok();
        event.sent = true;
        let result = self.send(guard, vec![Input::Text(text.clone())], event).await?;
        if let Some(before) = before {
            self.check_typed(guard, text.expose(), &before.value).await?;
        }
        Ok(SearchOutcome { result, resolved: None, scrolls: 0 })
    }

    /// Compares the text inserted into the only changed field with the typed text. Checks nothing unless exactly one
    /// field changed.
    async fn check_typed(&self, guard: &DeviceGuard, typed: &str, before: &Snapshot) -> Result<()> {
        let deadline = Instant::now() + SHOWN_WITHIN;
        loop {
            let Ok(after) = guard.tree(self.target.token.as_ref()).await else { return Ok(()) };
            let old = |node: &Node| {
                fields(before).find(|b| b.res_id == node.res_id && b.class == node.class && b.bounds == node.bounds)
            };
            let changed: Vec<(Shown, Shown)> = fields(&after.value)
                .filter_map(|n| Some((shown(old(n)?), shown(n))))
                .filter(|(old, new)| old != new)
                .collect();
            let [(old, new)] = changed.as_slice() else {
                // The capture after the action reports a changed page or a missing focus.
                return Ok(());
            };
            if new.hidden || is_inserted(&old.text, &new.text, typed) {
                return Ok(());
            }
            if Instant::now() >= deadline {
                return Err(differs_error(new));
            }
            tokio::time::sleep(SETTLE_INTERVAL).await;
        }
    }

    /// Sends another input of the same call. If it does not reach the device, the outcome is unknown, because earlier
    /// inputs did reach the device.
    async fn send_more(&self, guard: &DeviceGuard, input: Input, event: &mut Event) -> Result<()> {
        let sent = self.send(guard, vec![input], event).await;
        event.sent = true;
        sent.map(|_| ()).map_err(|error| match error {
            afd_device::DriverError::Unreachable(why) => afd_device::DriverError::Lost(format!(
                "a part of the input was sent, then the connection failed: {why}"
            ))
            .into(),
            other => other.into(),
        })
    }

    async fn read_field(&self, guard: &DeviceGuard, field: &Field) -> Result<Option<Shown>> {
        let reading = guard.tree(self.target.token.as_ref()).await.map_err(|error| match error {
            afd_device::DriverError::Unreachable(why) => afd_device::DriverError::Lost(why.to_string()),
            other => other,
        })?;
        Ok(field.find(&reading.value).map(shown))
    }
}

/// Returns whether inserting `typed` into `old` results in `new`: at any position, or in place of a hint.
fn is_inserted(old: &str, new: &str, typed: &str) -> bool {
    if compare(new, typed) != Likeness::Different {
        return true;
    }
    let signs =
        |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<Vec<char>>();
    let (old, new, typed) = (signs(old), signs(new), signs(typed));
    if typed.is_empty() || new.len() != old.len() + typed.len() {
        return typed.is_empty();
    }
    (0..=old.len()).any(|at| {
        new[..at] == old[..at] && new[at..at + typed.len()] == typed[..] && new[at + typed.len()..] == old[at..]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_app_formats_is_the_same_text() {
        assert_eq!(compare("plain", "plain"), Likeness::Same);
        assert_eq!(compare("two words", "two words "), Likeness::Same);
        assert_eq!(compare("+49 (170) 1234", "+491701234"), Likeness::Formatted);
        assert_eq!(compare("plainplain", "plain"), Likeness::Different);
        assert_eq!(compare("Zrich", "Z\u{fc}rich"), Likeness::Different);
        assert_eq!(compare("", "!"), Likeness::Different);
    }

    #[test]
    fn typed_text_is_found_where_the_cursor_was() {
        assert!(is_inserted("ab", "aXYb", "XY") && is_inserted("Hint", "XY", "XY") && is_inserted("", "XY", "XY"));
        assert!(!is_inserted("ab", "abXYXY", "XY") && !is_inserted("", "X", "XY"));
    }
}
