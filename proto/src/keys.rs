//! Names of keys.

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};

words! {
    /// A key, by name.
    KeyName {
        /// Home.
        Home = "home",
        /// Back.
        Back = "back",
        /// Arrow up.
        Up = "up",
        /// Arrow down.
        Down = "down",
        /// Arrow left.
        Left = "left",
        /// Arrow right.
        Right = "right",
        /// Volume up.
        VolumeUp = "volume-up",
        /// Volume down.
        VolumeDown = "volume-down",
        /// Power.
        Power = "power",
        /// Tab.
        Tab = "tab",
        /// Space.
        Space = "space",
        /// Enter.
        Enter = "enter" | "return",
        /// Deletes the character before the cursor.
        Delete = "delete" | "backspace",
        /// Deletes the character after the cursor.
        ForwardDelete = "forward-delete",
        /// Moves the cursor to the end of the line.
        End = "end",
        /// Menu.
        Menu = "menu",
        /// Search.
        Search = "search",
        /// Escape.
        Escape = "escape",
        /// Recent apps.
        Recent = "recent",
    }
}

/// Returns the key with a name such as `Enter`, `VOLUME_UP` or `KEYCODE_BACK`. Case is ignored.
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
