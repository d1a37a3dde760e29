//! `act.fill`: taps a field, deletes what is in it, types a text, and checks what the field shows.

use afd_proto::vocabulary::Point;
use afd_proto::{ErrorCode, Secret};

use super::resolve_target::ResolvedTarget;
use super::screen_capture::ScreenCapture;
use super::scroll::SearchOutcome;
use super::{Call, Error, Result};
use crate::device::{DeviceGuard, Input};
use crate::memory::events::Event;
use crate::page::{Flag, Node};

/// Key that moves the cursor to the end of a line.
const KEY_MOVE_END: i32 = 123;
/// Key that deletes the character before the cursor.
const KEY_DELETE: i32 = 67;
/// Maximum number of characters that are deleted: each is a key press on the phone.
const MAX_DELETED: usize = 300;
/// Number of characters that are deleted from a password, whose length is not known.
const HIDDEN_LENGTH: usize = 64;

impl Call {
    /// Fills a field with a text.
    ///
    /// # Errors
    /// `TARGET_NOT_FOUND` if the target is no field, `LIMIT_EXCEEDED` if it contains too much to be deleted; nothing is typed then. Also if
    /// the device fails.
    pub(super) async fn fill(
        &self,
        guard: &DeviceGuard,
        text: &Secret,
        resolved: Option<ResolvedTarget>,
        event: &mut Event,
    ) -> Result<SearchOutcome> {
        let Some(target) = resolved else { return Err(Error::param("value", "the label or alias of a field", "nothing")) };
        // Nothing is sent before the field has been looked at.
        event.sent = false;
        let Some((before, hidden)) = self.field_at(guard, target.point).await? else {
            return Err(Error::new(ErrorCode::TargetNotFound, "the target is not a field that accepts text")
                .hint("observe the page for its fields"));
        };
        // The text of an empty field is its hint, which deleting does not change.
        let length = if hidden { HIDDEN_LENGTH } else { before.chars().count() };
        if length > MAX_DELETED {
            return Err(Error::new(ErrorCode::LimitExceeded, format!("the field contains {length} characters, more than {MAX_DELETED}"))
                .hint("delete them in the app, then use act text"));
        }
        let mut inputs = vec![Input::Tap(target.point.x, target.point.y), Input::Key(KEY_MOVE_END)];
        inputs.extend(std::iter::repeat_n(Input::Key(KEY_DELETE), length));
        inputs.push(Input::Text(text.clone()));
        event.sent = true;
        self.send(guard, inputs, event).await?;
        let after = self.field_at(guard, target.point).await.ok().flatten();
        let result = match after {
            Some((after, _)) if after == text.expose() => "filled",
            Some((_, true)) => "typed; the field hides what it shows",
            Some(_) => "typed, but the field shows another text: look at it before going on",
            None => "typed; the field is no longer in sight, so what it shows is not known",
        };
        Ok(SearchOutcome { result: result.to_owned(), resolved: Some(target), scrolls: 0 })
    }

    /// Returns the text of the field at a point, and whether that is hidden; `None` if there is no field.
    async fn field_at(&self, guard: &DeviceGuard, point: Point) -> Result<Option<(String, bool)>> {
        let capture = ScreenCapture::of(guard.tree(self.target.token.as_ref()).await?, false, false);
        let (x, y) = (point.x as i32, point.y as i32);
        let is_field = |n: &&Node| {
            let b = n.bounds;
            n.is(Flag::Editable) && n.is(Flag::Visible) && (b.left..b.right).contains(&x) && (b.top..b.bottom).contains(&y)
        };
        let field = capture.snapshot().nodes.iter().rfind(is_field);
        Ok(field.map(|n| (n.text.clone().unwrap_or_default(), n.password || n.text.as_deref().is_some_and(is_masked))))
    }
}

/// Whether a text consists of one character, as a password that is shown.
fn is_masked(text: &str) -> bool {
    let first = text.chars().next();
    matches!(first, Some('\u{2022}' | '*' | '\u{25cf}')) && text.chars().all(|c| Some(c) == first)
}
