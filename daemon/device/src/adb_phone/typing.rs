//! Typing with `input text`.
//!
//! The command types ASCII only. It types `%s` as a blank, and has no escape for that, so a literal `%s` is typed in two
//! parts. A line break is the key Enter.

use base64::Engine as _;

use super::shell::quoted;

/// Maximum length of a part of the text, in characters.
const MAX_PART: usize = 200;
/// Key code of Enter.
const ENTER: &str = "input keyevent 66";

/// Returns the positions of the characters that cannot be typed, counted in characters from 0.
pub fn cannot_type(text: &str) -> Vec<usize> {
    let can = |c: char| c == '\n' || (' '..='~').contains(&c);
    text.chars().enumerate().filter(|(_, c)| !can(*c)).map(|(at, _)| at).collect()
}

/// An input method that types what is sent to it as a broadcast. The user installs it and makes it the phone's keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Typist {
    package: &'static str,
    action: &'static str,
    field: &'static str,
}

/// Input methods that type any text, with the broadcasts that they take: the text in Base64.
const TYPISTS: [(&str, Typist); 2] = [
    ("com.android.adbkeyboard/", Typist { package: "com.android.adbkeyboard", action: "ADB_INPUT_B64", field: "msg" }),
    (
        "com.github.uiautomator/",
        Typist { package: "com.github.uiautomator", action: "ADB_KEYBOARD_INPUT_TEXT", field: "text" },
    ),
];

impl Typist {
    /// Returns the input method with this name, as `package/class`, if it types what is sent to it.
    pub fn named(name: &str) -> Option<Self> {
        TYPISTS.iter().find(|(package, _)| name.starts_with(package)).map(|(_, typist)| *typist)
    }

    /// Returns a remark that names the input method.
    pub fn remark(&self) -> &'static str {
        match self.package {
            "com.android.adbkeyboard" => "it types any text but passwords through ADBKeyBoard",
            _ => "it types any text but passwords through the keyboard of uiautomator2",
        }
    }

    /// Returns the command line that types a text. Line breaks are typed as keys.
    pub fn command(&self, text: &str) -> String {
        let Self { package, action, field } = self;
        let line = |line: &str| match line.is_empty() {
            true => "true".to_owned(),
            false => {
                let encoded = base64::engine::general_purpose::STANDARD.encode(line);
                format!("am broadcast -p {package} -a {action} --es {field} {encoded}")
            }
        };
        text.split('\n').map(line).collect::<Vec<_>>().join(&format!(" && {ENTER} && "))
    }
}

/// Returns the command line that types a text.
pub fn command(text: &str) -> String {
    let mut commands: Vec<String> = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            commands.push(ENTER.to_owned());
        }
        commands.extend(parts(line).iter().map(|part| format!("input text {}", quoted(&part.replace(' ', "%s")))));
    }
    if commands.is_empty() { "true".to_owned() } else { commands.join(" && ") }
}

/// Splits a line such that no part contains `%s`.
fn parts(line: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut part = String::new();
    for c in line.chars() {
        // A blank after a `%` would be read as `%%s`, which is a `%` and a blank.
        if c == 's' && part.ends_with('%') || part.len() >= MAX_PART {
            parts.push(std::mem::take(&mut part));
        }
        part.push(c);
    }
    parts.extend(Some(part).filter(|part| !part.is_empty()));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what the commands type: each argument as a real shell passes it, with `%s` as a blank.
    fn typed(command: &str) -> String {
        let script = format!(
            "input() {{ if [ \"$1\" = text ]; then printf '%s\\0' \"$2\"; else printf '\\n\\0'; fi; }}\n{command}"
        );
        let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("sh runs");
        assert!(output.status.success() && output.stderr.is_empty(), "{command}: {output:?}");
        let output = String::from_utf8(output.stdout).expect("text");
        output.split('\0').map(|argument| argument.replace("%s", " ")).collect()
    }

    #[test]
    fn shell_passes_each_text_as_it_is() {
        let ascii: String = (' '..='~').collect();
        let texts = [
            ascii.as_str(),
            "a b",
            "%s",
            "100%",
            "% s",
            "%%s",
            "50%sure %s%s",
            "$(reboot)",
            "`id`",
            "a;b",
            "a'b\"c",
            "-x",
            "--",
            "#",
            "\\n",
            "two\nlines",
            "\n",
            "*",
            "~",
            "!!",
            "a && b",
            "$HOME",
            "x > y",
            " ",
            "'",
            "''",
        ];
        for text in texts {
            assert_eq!(typed(&command(text)), text, "{}", command(text));
        }
        let long = "it's 5% sure $x ".repeat(60);
        assert_eq!(typed(&command(&long)), long);
    }

    #[test]
    fn shell_passes_random_texts_as_they_are() {
        let mut state = 7u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let pool: Vec<char> = "%s %s'\"\\$`(){}[]<>|&;*?~#!-=\nab".chars().collect();
        for _ in 0..100 {
            let length = 1 + next(20);
            let text: String = (0..length).map(|_| pool[next(pool.len() as u64) as usize]).collect();
            assert_eq!(typed(&command(&text)), text, "{}", command(&text));
        }
    }

    #[test]
    fn input_methods_get_texts_in_base64() {
        let typist = Typist::named("com.android.adbkeyboard/.AdbIME").expect("known");
        assert_eq!(
            typist.command("Gr\u{fc}\u{df}e\n'"),
            "am broadcast -p com.android.adbkeyboard -a ADB_INPUT_B64 --es msg R3LDvMOfZQ== && input keyevent 66 && am broadcast -p com.android.adbkeyboard -a ADB_INPUT_B64 --es msg Jw=="
        );
        assert_eq!(Typist::named("com.google.android.inputmethod.latin/x"), None);
    }

    #[test]
    fn only_ascii_can_be_typed() {
        assert_eq!(cannot_type("a\u{e9}b\u{4e2d}\n\t"), [1, 3, 5]);
        assert_eq!(cannot_type("ok 1\n"), Vec::<usize>::new());
    }
}
