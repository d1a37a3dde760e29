//! Validates package names and the parts of intents. Phones insert these values into command lines, so characters that
//! have a special meaning in a shell are rejected.

use crate::{BadParam, Intent};

/// Maximum length of one part of an intent, in bytes.
const MAX_PART: usize = 2048;

/// Checks a package name.
///
/// # Errors
/// If the name is not a valid package name.
pub fn check_package(name: &str) -> Result<(), BadParam> {
    let part = |p: &str| {
        p.starts_with(|c: char| c.is_ascii_alphabetic()) && p.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let valid = name.len() <= 255 && name.contains('.') && name.split('.').all(part);
    if valid { Ok(()) } else { Err(bad("package", "a package name such as com.android.settings", quoted(name))) }
}

/// Checks the parts of an intent.
///
/// # Errors
/// If the intent has neither an action nor data nor a component, or if a part is not acceptable.
pub fn check_intent(intent: &Intent) -> Result<(), BadParam> {
    let Intent { action, data, package, component, extras } = intent;
    if action.is_none() && data.is_none() && component.is_none() {
        return Err(bad("action", "at least one of action, data and component", "none of them".to_owned()));
    }
    let check = |path: &str, value: &Option<String>, expected, allowed: fn(char) -> bool| match value {
        Some(value) if !is_shell_safe(value, allowed) => Err(bad(path, expected, quoted(value))),
        _ => Ok(()),
    };
    check("action", action, "a name such as android.intent.action.VIEW", |c| "._".contains(c))?;
    check("component", component, "package/class", |c| "._/$".contains(c))?;
    check("data", data, "a URI with shell metacharacters percent-encoded", |c| "-._~:/?#@+,=%&".contains(c))?;
    package.as_deref().map(check_package).transpose()?;
    if let Some(component) = component {
        let (package, class) = component.split_once('/').unwrap_or((component, ""));
        let valid = check_package(package).is_ok() && !class.is_empty() && !class.contains('/') && !class.contains('$');
        if !valid {
            return Err(bad("component", "package/class", quoted(component)));
        }
    }
    for (name, value) in extras {
        let path = format!("extras.{name}");
        if !is_shell_safe(name, |c| "._-".contains(c)) {
            return Err(bad(&path, "a name of letters, digits, '.', '_' and '-'", "an invalid name".to_owned()));
        }
        if value.chars().any(|c| c.is_control() || "'\"`$\\".contains(c)) {
            let expected = "a text without quotes, '$', '`', '\\' and control characters";
            return Err(bad(&path, expected, "an invalid text".to_owned()));
        }
    }
    Ok(())
}

fn bad(path: &str, expected: &'static str, got: String) -> BadParam {
    BadParam { path: path.to_owned(), expected, got }
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}

/// Returns whether text is neither empty nor too long, and consists only of ASCII letters, digits and characters for
/// which `allowed` returns true.
fn is_shell_safe(text: &str, allowed: impl Fn(char) -> bool) -> bool {
    !text.is_empty() && text.len() <= MAX_PART && text.chars().all(|c| c.is_ascii_alphanumeric() || allowed(c))
}

/// Returns the app (the package) from a place of the form `package/activity`.
pub fn app_of(place: &str) -> Option<&str> {
    place.split_once('/').map(|(app, _)| app)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_package_names_are_accepted() {
        for good in ["com.android.settings", "org.a1.b_c"] {
            assert_eq!(check_package(good), Ok(()), "{good}");
        }
        for bad in ["", "settings", "a..b", "a.b;reboot", "a.b c", "a.$(x)", "1a.b", "a.-b"] {
            assert!(check_package(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn intents_with_shell_metacharacters_are_rejected() {
        let of = |action: Option<&str>, data: Option<&str>, component: Option<&str>| {
            let text = |t: Option<&str>| t.map(str::to_owned);
            let intent =
                Intent { action: text(action), data: text(data), component: text(component), ..Intent::default() };
            check_intent(&intent)
        };
        assert!(of(Some("android.intent.action.VIEW"), Some("https://example.org/a?b=1&c=%20#d"), None).is_ok());
        assert!(of(None, None, Some("com.a.b/.Main")).is_ok());
        for bad in ["a b", "a;reboot", "$(id)", "`id`", "a|b", "a\nb", "a'b", ""] {
            assert!(of(Some(bad), None, None).is_err(), "action {bad:?}");
            assert!(of(None, None, Some(&format!("com.a.b/{bad}"))).is_err(), "component {bad:?}");
        }
        for bad in ["http://a/'; reboot; '", "$(id)", "a`id`", "a b", "a\\b", "a|b", "a>b"] {
            assert!(of(None, Some(bad), None).is_err(), "data {bad:?}");
        }
        assert!(of(None, None, None).is_err());
        let extras = [("k".to_owned(), "it's".to_owned())].into();
        assert!(check_intent(&Intent { action: Some("a.b".into()), extras, ..Intent::default() }).is_err());
    }
}
