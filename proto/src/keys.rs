//! Names of the keys that `act.key` can press.

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};

words! {
    /// A device key that can be pressed, such as Back or Home.
    KeyName {
        /// The Home key.
        Home = "home",
        /// The Back key.
        Back = "back",
        /// The up arrow key.
        Up = "up",
        /// The down arrow key.
        Down = "down",
        /// The left arrow key.
        Left = "left",
        /// The right arrow key.
        Right = "right",
        /// The volume up key.
        VolumeUp = "volume-up",
        /// The volume down key.
        VolumeDown = "volume-down",
        /// The Power key.
        Power = "power",
        /// The Tab key.
        Tab = "tab",
        /// The Space key.
        Space = "space",
        /// The Enter key.
        Enter = "enter" | "return",
        /// Deletes the character before the cursor.
        Delete = "delete" | "backspace",
        /// Deletes the character after the cursor.
        ForwardDelete = "forward-delete",
        /// Moves the cursor to the end of the line.
        End = "end",
        /// Moves up by a page.
        PageUp = "page-up",
        /// Moves down by a page.
        PageDown = "page-down",
        /// Goes to the next page in a browser.
        Forward = "forward",
        /// Loads the page again in a browser.
        Reload = "reload" | "refresh",
        /// The Menu key.
        Menu = "menu",
        /// The Search key.
        Search = "search",
        /// The Escape key.
        Escape = "escape",
        /// The key that shows the recent apps.
        Recent = "recent",
    }
}

/// Returns the key with this name, for example `Enter`, `VOLUME_UP` or `KEYCODE_BACK`, or `None` if there is no such
/// key. Case is ignored.
pub fn named(text: &str) -> Option<KeyName> {
    let plain = text.trim().to_lowercase().replace(['_', ' '], "-");
    let name: StrDeserializer<'_, Error> = plain.strip_prefix("keycode-").unwrap_or(&plain).into_deserializer();
    KeyName::deserialize(name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_named_in_any_case() {
        let keys = ["Enter", "KEYCODE_BACK", "volume up", "Backspace"].map(named);
        assert_eq!(keys, [KeyName::Enter, KeyName::Back, KeyName::VolumeUp, KeyName::Delete].map(Some));
        assert_eq!(["", "zork", "66"].map(named), [None; 3]);
    }
}
