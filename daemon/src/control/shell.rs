//! `act.shell` and `act.intent`: what reaches past the screen, and only where the settings of the device allow it.

use std::sync::Arc;

use afd_proto::act::{Acted, IntentParams, ShellParams, Shelled};
use afd_proto::vocabulary::{Reply, Verb};
use afd_proto::{ErrorCode, Secret};
use serde_json::json;

use super::act::{check_package, run as act};
use super::artifacts::{Content, Wish};
use super::carry::{Plan, once};
use super::{Addressed, Core, Error, Result};
use crate::config::DeviceSettings;
use crate::device::{Input, Intent};

/// The longest that a command may take, milliseconds.
const MAX_TIMEOUT_MS: u32 = 600_000;

impl Addressed {
    /// Whether the settings of this device allow something.
    fn allow(&self, what: &str, allowed: impl Fn(&DeviceSettings) -> bool) -> Result<()> {
        let name = &self.echo.device;
        match self.core.config.get().devices.get(name) {
            Some(settings) if allowed(settings) => Ok(()),
            Some(_) => Err(Error::new(ErrorCode::Refused, format!("the settings of {name:?} do not allow act.{what}"))
                .hint(format!("who owns the phone may allow it: `afctl config set device.{name}.allow_{what} true`"))
                .details(json!({"setting": format!("device.{name}.allow_{what}")}))),
            None => Err(Error::new(ErrorCode::Refused, format!("act.{what} needs a device of the settings that allows it"))
                .hint("add the phone with `afctl device add`, then allow it in the settings of that device")),
        }
    }
}

/// `act.shell`. The command may hold secrets: the record has its length, its program and a keyed hash.
///
/// # Errors
/// `REFUSED` unless the settings of the device allow it; when the device does not do it.
pub async fn run(core: &Arc<Core>, params: &ShellParams) -> Result<Reply<Shelled>> {
    let command = params.command.expose();
    if command.trim().is_empty() || command.contains('\0') {
        return Err(Error::param("command", "a command", "an empty text, or one with a zero byte"));
    }
    let timeout_ms = params.timeout_ms.unwrap_or(30_000);
    if !(1..=MAX_TIMEOUT_MS).contains(&timeout_ms) {
        return Err(Error::param("timeoutMs", "1 to 600000", timeout_ms));
    }
    // Nothing is waited for before the action is queued.
    core.addressed(params)?.allow("shell", |settings| settings.allow_shell)?;
    let mut plan = Plan::plain(Verb::Shell, Input::Shell(Secret::new(command), timeout_ms));
    if let Some(program) = program(command) {
        plan = plan.with("program", program);
    }
    plan.action.slots.push("command".to_owned());
    plan.evidence = Some(json!({"length": command.chars().count(), "hash": core.secrets.hash(command)}));
    plan.private = true;
    let mut reply = once(core, params, plan, |done| Shelled {
        event_id: done.event,
        output: Some(done.result),
        truncated: false,
        artifact: None,
        duration_ms: done.duration_ms,
        replayed: false,
    })
    .await?;
    let most = core.config.get().limits.inline_bytes;
    if let Some(mut output) = reply.body.output.take_if(|o| o.len() > most) {
        let content = Content {
            kind: "shell_output_text",
            mime_type: "text/plain",
            extension: "txt",
            op: "act.shell",
            bytes: output.clone().into_bytes(),
        };
        let saved = async { core.call(params).await?.save_artifact(content, Wish::default()).await };
        match saved.await {
            Ok(written) => reply.body.artifact = Some(written),
            // The command was run: an error now would have it run again.
            Err(error) => {
                tracing::warn!(error = %error.message, "the output of a command cannot be kept");
                output.truncate(output.floor_char_boundary(most));
                (reply.body.output, reply.body.truncated) = (Some(output), true);
            }
        }
    }
    Ok(reply)
}

/// The program of a command line, if its first word can be nothing else: an assignment may hold a secret.
fn program(command: &str) -> Option<String> {
    let word = command.split_whitespace().next()?;
    let plain = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') && word.len() <= 64;
    (plain && word.chars().all(|c| c.is_ascii_alphanumeric() || "_./-".contains(c))).then(|| word.to_owned())
}

fn in_shell(text: &str, allowed: impl Fn(char) -> bool) -> bool {
    !text.is_empty() && text.len() <= 2048 && text.chars().all(|c| c.is_ascii_alphanumeric() || allowed(c))
}

/// The phone puts an intent into a shell line, so that nothing with a meaning there may be in it.
fn checked(params: &IntentParams) -> Result<Intent> {
    if params.action.is_none() && params.data.is_none() && params.component.is_none() {
        return Err(Error::param("action", "at least one of action, data and component", "none of them"));
    }
    let fits = |field: &str, value: Option<&str>, expected: &str, allowed: fn(char) -> bool| match value {
        Some(value) if !in_shell(value, allowed) => Err(Error::param(field, expected, format!("{value:?}"))),
        _ => Ok(()),
    };
    fits("action", params.action.as_deref(), "a name such as android.intent.action.VIEW", |c| "._".contains(c))?;
    fits("component", params.component.as_deref(), "package/class", |c| "._/$".contains(c))?;
    fits("data", params.data.as_deref(), "a URI, with everything encoded that a shell could take for its own", |c| {
        "-._~:/?#@+,=%&".contains(c)
    })?;
    params.package.as_deref().map(check_package).transpose()?;
    if let Some(component) = &params.component {
        let (package, class) = component.split_once('/').unwrap_or((component, ""));
        let good = check_package(package).is_ok() && !class.is_empty() && !class.contains('/') && !class.contains('$');
        if !good {
            return Err(Error::param("component", "package/class", format!("{component:?}")));
        }
    }
    for (name, value) in &params.extras {
        if !in_shell(name, |c| "._-".contains(c)) {
            return Err(Error::param(&format!("extras.{name}"), "a name of letters, digits, '.', '_' and '-'", "another one"));
        }
        if value.expose().chars().any(|c| c.is_control() || "'\"`$\\".contains(c)) {
            return Err(Error::param(&format!("extras.{name}"), "a text without quotes, '$', '`', '\\' and line ends", "one with such"));
        }
    }
    Ok(Intent {
        action: params.action.clone(),
        data: params.data.clone(),
        package: params.package.clone(),
        component: params.component.clone(),
        extras: params.extras.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect(),
    })
}

/// `act.intent`
///
/// # Errors
/// `REFUSED` unless the settings of the device allow it; when a part has what a shell would take for its own; when the device
/// does not do it.
pub async fn intent(core: &Arc<Core>, params: &IntentParams) -> Result<Reply<Acted>> {
    let intent = checked(params)?;
    core.addressed(params)?.allow("intent", |settings| settings.allow_intent)?;
    let parts = [("action", &params.action), ("data", &params.data), ("package", &params.package), ("component", &params.component)];
    let plan = Plan::plain(Verb::Intent, Input::Intent(intent));
    let mut plan = parts.into_iter().fold(plan, |plan, (name, part)| match part {
        Some(part) => plan.with(name, part.as_str()),
        None => plan,
    });
    plan.action.slots.extend(params.extras.keys().map(|name| format!("extras.{name}")));
    plan.private = !params.extras.is_empty();
    act(core, params, plan).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_recorded_only_if_it_is_one() {
        assert_eq!(program("  getprop ro.product.model").as_deref(), Some("getprop"));
        assert_eq!(program("/system/bin/wm size").as_deref(), Some("/system/bin/wm"));
        for command in ["TOKEN=s3cret am broadcast", "PIN=1234;input text $PIN", "$(cat x)", "1234"] {
            assert_eq!(program(command), None, "{command}");
        }
    }

    #[test]
    fn nothing_that_means_something_to_a_shell_passes() {
        let of = |action: Option<&str>, data: Option<&str>, component: Option<&str>| {
            let text = |t: Option<&str>| t.map(str::to_owned);
            checked(&IntentParams { action: text(action), data: text(data), component: text(component), ..IntentParams::default() })
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
        let mut extras = IntentParams { action: Some("a.b".into()), ..IntentParams::default() };
        extras.extras.insert("k".into(), Secret::new("it's"));
        assert!(checked(&extras).is_err());
    }
}
