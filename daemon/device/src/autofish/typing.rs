//! Presses keys in as few requests as the service allows, and types text.
//!
//! The service types through Android's `input text`, which supports only printable ASCII and line breaks and turns `%s`
//! into a space. The key endpoint of the service presses one key per request, but the shell command `input keyevent`
//! takes many keys. Only the numeric key codes are passed to the shell, never text.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use afd_proto::Secret;
use serde_json::json;

use super::http::Http;
use super::redact::redact_body;
use crate::DriverError;

/// Maximum number of keys in one `input keyevent` command.
const MAX_KEYS: usize = 200;
/// Extra time that an `input keyevent` command is allowed for each of its keys.
const PER_KEY: Duration = Duration::from_millis(50);

/// What is known about how the service presses keys.
#[derive(Default)]
pub(super) struct Typing {
    /// Whether the service refused the shell command that presses keys, so that each key needs its own request.
    one_by_one: AtomicBool,
}

impl Typing {
    /// Presses keys in order.
    pub(super) async fn press(
        &self,
        http: &Http,
        codes: &[i32],
        token: Option<&Secret>,
    ) -> Result<String, DriverError> {
        let pressed = format!("Pressed {} keys", codes.len());
        let mut rest = codes;
        while !rest.is_empty() && !self.one_by_one.load(Ordering::Relaxed) {
            let (batch, after) = rest.split_at(rest.len().min(MAX_KEYS));
            let numbers: Vec<String> = batch.iter().map(i32::to_string).collect();
            let command = json!({"command": format!("input keyevent {}", numbers.join(" "))});
            let time = PER_KEY * u32::try_from(batch.len()).unwrap_or(u32::MAX);
            match http.post("/api/shell", &command, time, token).await {
                Ok(_) => rest = after,
                // A shell that refused the command pressed no key.
                Err(DriverError::Refused { .. }) => self.one_by_one.store(true, Ordering::Relaxed),
                Err(error) => return Err(error),
            }
        }
        for code in rest {
            http.post_next("/api/press/key", &json!({"key_code": code}), token).await?;
        }
        Ok(pressed)
    }

    /// Types text in pieces that do not contain `%s`, because the service would type a space instead.
    pub(super) async fn text(&self, http: &Http, text: &Secret, token: Option<&Secret>) -> Result<String, DriverError> {
        for piece in pieces(text.expose()) {
            let typed = http.post("/api/text", &json!({"text": piece}), Duration::ZERO, token).await;
            typed.map_err(|error| redact_body(error, "cannot type the text"))?;
        }
        Ok("Typed text".to_owned())
    }
}

fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices("%s") {
        pieces.push(&text[from..=at]);
        from = at + 1;
    }
    pieces.push(&text[from..]);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Returns the positions of the characters that the service cannot type, counted in characters from 0.
pub(super) fn cannot_type(text: &str) -> Vec<usize> {
    text.chars().enumerate().filter(|(_, c)| !matches!(c, ' '..='~' | '\n')).map(|(i, _)| i).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_piece_has_the_mark_of_a_space() {
        assert_eq!(pieces("100%sure %s"), ["100%", "sure %", "s"]);
        assert_eq!(pieces("plain"), ["plain"]);
        assert!(pieces("").is_empty());
        assert_eq!(cannot_type("Z\u{fc}rich\t\n"), [1, 6]);
    }
}
