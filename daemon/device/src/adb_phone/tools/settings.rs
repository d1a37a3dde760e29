//! Orientation, dark mode, language and airplane mode of a phone.

use std::time::Duration;

use afd_proto::manage::{DeviceConfiguration, Orientation};

use super::super::remote::Remote;
use super::super::shell::{mark, quoted};
use crate::android::check_package;
use crate::{BadParam, DriverError};

/// Time that a phone needs for a change, at most.
const CHANGE: Duration = Duration::from_secs(15);
/// Longest language tag, in characters.
const MAX_TAG: usize = 35;
/// What Android prints for a command that it does not have.
const UNKNOWN: [&str; 4] = ["Unknown command", "Can't find service", "not found", "No shell command implementation"];

/// Checks the values of settings.
pub fn check(wanted: &DeviceConfiguration) -> Result<(), BadParam> {
    let bad = |path: &str, expected, got: String| Err(BadParam { path: path.to_owned(), expected, got });
    if let Some(app) = &wanted.locale_app {
        check_package(app).map_err(|bad| BadParam { path: "localeApp".to_owned(), ..bad })?;
        if wanted.locale.is_none() {
            return bad("locale", "the language of the app", "nothing".to_owned());
        }
    }
    let is_part = |part: &str| (1..=8).contains(&part.len()) && part.chars().all(|c| c.is_ascii_alphanumeric());
    let is_language = |part: &str| (2..=8).contains(&part.len()) && part.chars().all(|c| c.is_ascii_alphabetic());
    let is_tag = |tag: &str| {
        tag.len() <= MAX_TAG && tag.split('-').next().is_some_and(is_language) && tag.split('-').all(is_part)
    };
    match &wanted.locale {
        Some(locale) if !locale.split(',').all(|tag| is_tag(tag.trim())) => {
            bad("locale", "BCP 47 tags such as de-DE, separated by commas", format!("{locale:?}"))
        }
        _ => Ok(()),
    }
}

/// A command line that prints the settings, each after a mark.
struct Request {
    command: String,
    mark: String,
}

impl Request {
    fn new(app: Option<&str>) -> Self {
        let mark = mark();
        let locale = match app {
            Some(app) => format!("cmd locale get-app-locales {} --user current 2>&1", quoted(app)),
            None => {
                "settings get system system_locales; getprop persist.sys.locale; getprop ro.product.locale".to_owned()
            }
        };
        let parts = [
            "wm size",
            "settings get system accelerometer_rotation; settings get system user_rotation",
            "cmd uimode night 2>&1",
            "settings get global airplane_mode_on",
            &locale,
        ];
        Self { command: parts.map(|part| format!("{part}; echo {mark}")).join("\n"), mark }
    }

    fn read(&self, output: &str, app: Option<&str>) -> Seen {
        let mut parts = output.split(&self.mark).map(str::trim);
        let mut next = || parts.next().unwrap_or_default();
        let is_wide = super::super::screen::size(next()).is_some_and(|(width, height)| width > height);
        let mut turn = next().lines().map(str::trim);
        let orientation = match (turn.next(), turn.next()) {
            (Some("1"), _) => Some(Orientation::Auto),
            (Some("0"), Some(turn @ ("0" | "1" | "2" | "3"))) => {
                let is_turned = turn == "1" || turn == "3";
                Some(if is_turned == is_wide { Orientation::Portrait } else { Orientation::Landscape })
            }
            _ => None,
        };
        let dark_mode = match next().strip_prefix("Night mode: ") {
            Some("yes") => Some(true),
            Some("no") => Some(false),
            _ => None,
        };
        let airplane_mode = match next() {
            "1" => Some(true),
            "0" => Some(false),
            _ => None,
        };
        let locale = locale(next(), app.is_some());
        let locale_app = app.filter(|_| locale.is_some()).map(str::to_owned);
        let configuration = DeviceConfiguration { orientation, dark_mode, locale, locale_app, airplane_mode };
        Seen { configuration, is_wide }
    }
}

/// What a phone says of its settings.
struct Seen {
    configuration: DeviceConfiguration,
    /// Whether the screen is wider than high when it is not turned, as on tablets.
    is_wide: bool,
}

/// Returns the languages in what a phone printed; `None` if it does not tell them.
fn locale(output: &str, of_app: bool) -> Option<String> {
    if of_app {
        // `Locales for PACKAGE for user 0 are [de-DE]`
        let inside = output.rsplit_once(" are [")?.1.split(']').next()?;
        return Some(inside.trim().replace(' ', ""));
    }
    let is_known = |line: &&str| !line.is_empty() && *line != "null";
    output.lines().map(str::trim).find(is_known).map(str::to_owned)
}

async fn seen(remote: &Remote, app: Option<&str>) -> Result<Seen, DriverError> {
    let request = Request::new(app);
    Ok(request.read(&remote.query(&request.command).await?, app))
}

/// Reads the settings. With `app`, the language is that of the app.
pub async fn read(remote: &Remote, app: Option<&str>) -> Result<DeviceConfiguration, DriverError> {
    Ok(seen(remote, app).await?.configuration)
}

/// Changes the settings that are given, and checks that the phone has them afterwards. Returns what they were before, as JSON.
pub async fn change(remote: &Remote, wanted: &DeviceConfiguration) -> Result<String, DriverError> {
    let app = wanted.locale_app.as_deref();
    let before = seen(remote, app).await?;
    let commands = commands(wanted, before.is_wide);
    let output = remote.act(&format!("({}) 2>&1; true", commands.join("; ")), CHANGE, 1).await?;
    // The settings were sent. A phone over Wi-Fi may be gone because of them.
    let after = seen(remote, app).await.map_err(|error| match error {
        DriverError::Unreachable(why) => DriverError::Lost(format!("the settings cannot be read back: {why}")),
        other => other,
    });
    let after = after?.configuration;
    let kept = unchanged(wanted, &after);
    if kept.is_empty() {
        return Ok(serde_json::to_string(&only(wanted, before.configuration)).unwrap_or_default());
    }
    let why = match output.lines().find(|line| UNKNOWN.iter().any(|unknown| line.contains(unknown))) {
        Some(_) if kept.contains(&"locale") && app.is_none() => {
            ": over adb, most phones change only the language of one app (`localeApp`)".to_owned()
        }
        Some(line) => format!(": {}", line.trim().chars().take(200).collect::<String>()),
        None => String::new(),
    };
    let message = format!("the phone did not change its {}{why}", kept.join(" and ")).into();
    Err(DriverError::Refused { status: None, message })
}

/// Returns only those settings of `of` that are given in `wanted`.
fn only(wanted: &DeviceConfiguration, of: DeviceConfiguration) -> DeviceConfiguration {
    DeviceConfiguration {
        orientation: of.orientation.filter(|_| wanted.orientation.is_some()),
        dark_mode: of.dark_mode.filter(|_| wanted.dark_mode.is_some()),
        locale: of.locale.filter(|_| wanted.locale.is_some()),
        locale_app: of.locale_app,
        airplane_mode: of.airplane_mode.filter(|_| wanted.airplane_mode.is_some()),
    }
}

/// Returns the commands that change settings.
fn commands(wanted: &DeviceConfiguration, is_wide: bool) -> Vec<String> {
    let mut commands = Vec::new();
    if let Some(orientation) = wanted.orientation {
        let auto = u8::from(orientation == Orientation::Auto);
        commands.push(format!("settings put system accelerometer_rotation {auto}"));
        if auto == 0 {
            let turn = u8::from((orientation == Orientation::Landscape) != is_wide);
            commands.push(format!("settings put system user_rotation {turn}"));
        }
    }
    if let Some(dark) = wanted.dark_mode {
        commands.push(format!("cmd uimode night {}", if dark { "yes" } else { "no" }));
    }
    if let Some(locale) = &wanted.locale {
        let tags = quoted(&locale.replace(' ', ""));
        commands.push(match &wanted.locale_app {
            Some(app) => format!("cmd locale set-app-locales {} --user current --locales {tags}", quoted(app)),
            None => format!("cmd locale set-device-locale {tags}"),
        });
    }
    if let Some(on) = wanted.airplane_mode {
        commands.push(format!("cmd connectivity airplane-mode {}", if on { "enable" } else { "disable" }));
    }
    commands
}

/// Returns the names of the settings that are not as wanted.
fn unchanged(wanted: &DeviceConfiguration, after: &DeviceConfiguration) -> Vec<&'static str> {
    let same = |one: &str, other: &str| one.replace(' ', "").eq_ignore_ascii_case(&other.replace(' ', ""));
    let locale = match (&wanted.locale, &after.locale) {
        (Some(wanted), Some(after)) => same(wanted, after),
        (wanted, _) => wanted.is_none(),
    };
    let differs = [
        ("orientation", wanted.orientation.is_some() && wanted.orientation != after.orientation),
        ("dark mode", wanted.dark_mode.is_some() && wanted.dark_mode != after.dark_mode),
        ("locale", !locale),
        ("airplane mode", wanted.airplane_mode.is_some() && wanted.airplane_mode != after.airplane_mode),
    ];
    differs.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(size: &str, turn: &str, night: &str, airplane: &str, locale: &str) -> DeviceConfiguration {
        let request = Request::new(None);
        let output = [size, turn, night, airplane, locale].map(|part| format!("{part}\n{}\n", request.mark)).concat();
        request.read(&output, None).configuration
    }

    #[test]
    fn settings_are_read_from_what_a_phone_prints() {
        let phone = read("Physical size: 1080x2400", "0\n1", "Night mode: yes", "0", "null\nen-US\n");
        assert_eq!(phone.orientation, Some(Orientation::Landscape));
        assert_eq!((phone.dark_mode, phone.airplane_mode), (Some(true), Some(false)));
        assert_eq!(phone.locale.as_deref(), Some("en-US"));
        let tablet = read("Physical size: 2560x1600", "0\n1", "Night mode: auto", "null", "de-DE,en-US\n");
        assert_eq!(tablet.orientation, Some(Orientation::Portrait), "its natural orientation is landscape");
        assert_eq!((tablet.dark_mode, tablet.airplane_mode), (None, None));
        assert_eq!(tablet.locale.as_deref(), Some("de-DE,en-US"));
        assert_eq!(read("", "", "", "", ""), DeviceConfiguration::default());
        assert_eq!(locale("Locales for com.a for user 0 are [de-DE, fr]", true).as_deref(), Some("de-DE,fr"));
        assert_eq!(locale("Locales for com.a for user 0 are []", true).as_deref(), Some(""));
    }

    #[test]
    fn screens_are_turned_from_their_natural_orientation() {
        let landscape = DeviceConfiguration { orientation: Some(Orientation::Landscape), ..Default::default() };
        assert_eq!(commands(&landscape, false)[1], "settings put system user_rotation 1");
        assert_eq!(commands(&landscape, true)[1], "settings put system user_rotation 0");
    }

    #[test]
    fn locales_are_language_tags() {
        let of = |locale: &str| DeviceConfiguration { locale: Some(locale.to_owned()), ..Default::default() };
        for good in ["de", "de-DE", "zh-Hant-TW", "sr-Latn-RS, en-US", "es-419"] {
            assert_eq!(check(&of(good)), Ok(()), "{good}");
        }
        for bad in ["", "d", "de_DE", "de-DE;id", "de-", "$(id)", "123", "de-DE,"] {
            assert!(check(&of(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn settings_that_the_phone_kept_are_named() {
        let wanted =
            DeviceConfiguration { dark_mode: Some(true), locale: Some("de-de".to_owned()), ..Default::default() };
        let after = DeviceConfiguration { locale: Some("de-DE".to_owned()), ..Default::default() };
        assert_eq!(unchanged(&wanted, &after), ["dark mode"]);
    }
}
