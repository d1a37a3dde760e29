//! The key codes of `android.view.KeyEvent`.

use afd_proto::keys::KeyName;

/// Returns the Android key code for a named key.
pub fn code(key: KeyName) -> i32 {
    match key {
        KeyName::Home => 3,
        KeyName::Back => 4,
        KeyName::Up => 19,
        KeyName::Down => 20,
        KeyName::Left => 21,
        KeyName::Right => 22,
        KeyName::VolumeUp => 24,
        KeyName::VolumeDown => 25,
        KeyName::Power => 26,
        KeyName::Tab => 61,
        KeyName::Space => 62,
        KeyName::Enter => 66,
        KeyName::Delete => 67,
        KeyName::Menu => 82,
        KeyName::Search => 84,
        KeyName::Escape => 111,
        KeyName::ForwardDelete => 112,
        KeyName::End => 123,
        KeyName::Recent => 187,
        KeyName::PageUp => 92,
        KeyName::PageDown => 93,
        KeyName::Forward => 125,
        KeyName::Reload => 285,
    }
}
