//! `act.shell` and `act.intent`: actions beyond the screen, which the device's settings must allow.

use std::sync::Arc;

use afd_proto::act::{ActIntent, ActResult, ActShell, IntentParams, ShellParams, ShellResult};
use afd_proto::vocabulary::{Reply, Verb};
use afd_proto::{ErrorCode, Secret};
use serde_json::json;

use crate::app::act::execute::execute_once;
use crate::app::act::plan::Plan;
use crate::app::act::run as act;
use crate::app::artifacts::move_to_file;
use crate::app::call::Addressed;
use crate::app::{Core, Error, Methods, Result};
use afd_base::config::DeviceSettings;
use afd_device::{Command, Intent};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<ActShell, _, _>(|core, p| async move { run(&core, &p).await });
    methods.add::<ActIntent, _, _>(|core, p| async move { intent(&core, &p).await });
}

impl Addressed {
    /// Checks that the device's settings allow a method by `allow_NAME`.
    ///
    /// # Errors
    /// `REFUSED` if they do not, or if the device has no settings.
    pub(super) fn allow(&self, setting: &str, verb: Verb, allowed: impl Fn(&DeviceSettings) -> bool) -> Result<()> {
        let (name, method) = (&self.echo.device, verb.word());
        match self.core.config.get().devices.get(name) {
            Some(settings) if allowed(settings) => Ok(()),
            Some(_) => Err(Error::new(ErrorCode::Refused, format!("the settings of {name:?} do not allow act.{method}"))
                .hint(format!("the device owner can enable it in the configuration file: `allow_{setting} = true` below [device.{name}]"))
                .details(json!({"setting": format!("device.{name}.allow_{setting}")}))),
            None => Err(Error::new(ErrorCode::Refused, format!("act.{method} requires a configured device that allows it"))
                .hint("add the device with `afctl device add`, then allow the method in the settings of that device")),
        }
    }
}

/// Implements `act.shell`. The command may contain secrets: only its length, its program and a keyed hash are recorded.
///
/// # Errors
/// `REFUSED` unless the device's settings allow it, `UNSUPPORTED` if the device has no shell, or another error if the
/// device fails to run the command.
pub async fn run(core: &Arc<Core>, params: &ShellParams) -> Result<Reply<ShellResult>> {
    let command = params.command.expose();
    if command.trim().is_empty() || command.contains('\0') {
        return Err(Error::param("command", "a command", "an empty string, or one that contains a zero byte"));
    }
    // No await before the action is queued, so that actions on a connection keep their order.
    let addressed = core.addressed(params)?;
    addressed.target.device.check_shell()?;
    addressed.allow("shell", Verb::Shell, |settings| settings.allow_shell)?;
    let mut plan = Plan::single(Verb::Shell, Command::Shell(Secret::new(command), params.timeout_ms()));
    if let Some(program) = program(command) {
        plan = plan.with_param("program", program);
    }
    plan.action.slots.push("command".to_owned());
    plan.evidence = Some(json!({"length": command.chars().count(), "hash": core.experience.secrets.hash(command)}));
    plan.private = true;
    let mut reply = execute_once(core, params, plan, |done| ShellResult {
        event_id: done.event,
        output: Some(done.result),
        truncated: false,
        artifact: None,
        duration_ms: done.duration_ms,
        look: None,
        replayed: false,
    })
    .await?;
    let ShellResult { output, artifact, truncated, .. } = &mut reply.body;
    (*artifact, *truncated) = move_to_file(core, params, output, ("shell_output_text", "act.shell")).await;
    Ok(reply)
}

/// Returns the program of a command line, if its first word is clearly a program name. Any other first word, such as an
/// assignment, may contain a secret.
fn program(command: &str) -> Option<String> {
    let word = command.split_whitespace().next()?;
    let plain = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') && word.len() <= 64;
    (plain && word.chars().all(|c| c.is_ascii_alphanumeric() || "_./-".contains(c))).then(|| word.to_owned())
}

/// Implements `act.intent`.
///
/// # Errors
/// `REFUSED` unless the device's settings allow it, `UNSUPPORTED` if the device accepts no intents, or another error if
/// a part of the intent is invalid or the device fails to act.
pub async fn intent(core: &Arc<Core>, params: &IntentParams) -> Result<Reply<ActResult>> {
    let intent = Intent {
        action: params.action.clone(),
        data: params.data.clone(),
        package: params.package.clone(),
        component: params.component.clone(),
        extras: params.extras.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect(),
    };
    let addressed = core.addressed(params)?;
    addressed.target.device.check_intent(&intent)??;
    addressed.allow("intent", Verb::Intent, |settings| settings.allow_intent)?;
    let parts = [
        ("action", &params.action),
        ("data", &params.data),
        ("package", &params.package),
        ("component", &params.component),
    ];
    let plan = Plan::single(Verb::Intent, Command::Intent(intent));
    let mut plan = parts.into_iter().fold(plan, |plan, (name, part)| match part {
        Some(part) => plan.with_param(name, part.as_str()),
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
    fn program_is_recorded_only_if_unambiguous() {
        assert_eq!(program("  getprop ro.product.model").as_deref(), Some("getprop"));
        assert_eq!(program("/system/bin/wm size").as_deref(), Some("/system/bin/wm"));
        for command in ["TOKEN=s3cret am broadcast", "PIN=1234;input text $PIN", "$(cat x)", "1234"] {
            assert_eq!(program(command), None, "{command}");
        }
    }
}
