//! Sends the inputs of an action plan to the device.

use std::panic::AssertUnwindSafe;

use afd_proto::vocabulary::Point;
use futures_util::FutureExt;
use parking_lot::Mutex;

use super::super::plan::Steps;
use super::super::resolve_target::ResolvedTarget;
use super::super::scroll::SearchOutcome;
use super::super::target_spec::TargetSpec;
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::{Call, Error, Result};
use afd_base::task::failpoint;
use afd_device::{Command, DeviceGuard, DriverError, Input};
use afd_experience::memory::events::Event;
use afd_screen::page::select::Gesture;

impl Call {
    /// Performs the steps of a plan. Clears `event.sent` if nothing reached the device.
    pub(super) async fn perform(
        &self,
        guard: &DeviceGuard,
        steps: Steps,
        resolved: Option<ResolvedTarget>,
        event: &mut Event,
    ) -> Result<SearchOutcome> {
        match steps {
            Steps::Send(inputs) => {
                let commands = inputs(resolved.as_ref().map(|r| r.point));
                let commands: Vec<Command> =
                    commands.into_iter().map(|c| self.on_target(c, resolved.as_ref())).collect();
                let (count, answers) = (commands.len(), Mutex::default());
                let sent = AssertUnwindSafe(self.send_each(guard, commands, event, &answers)).catch_unwind().await;
                match sent {
                    Ok(sent) => sent?,
                    // The device executed all commands. The panic came after its last response.
                    Err(_) if answers.lock().len() == count => {}
                    Err(panic) => std::panic::resume_unwind(panic),
                }
                Ok(SearchOutcome { result: answers.into_inner().join("; "), resolved, scrolls: 0 })
            }
            Steps::Search(search) => self.search(guard, &search, event).await,
            Steps::Fill(text) => self.fill(guard, &text, resolved, event).await,
            Steps::Type(text) => self.type_text(guard, &text, event).await,
            Steps::Open(name) => self.open_named(guard, &name, event).await,
            Steps::Drag { to, ms } => self.drag(guard, &to, ms, resolved, event).await,
        }
    }

    /// Drags one target to another. Resolves the second target before anything is sent.
    async fn drag(
        &self,
        guard: &DeviceGuard,
        to: &TargetSpec,
        ms: u32,
        resolved: Option<ResolvedTarget>,
        event: &mut Event,
    ) -> Result<SearchOutcome> {
        event.sent = false;
        let Some(from) = resolved else {
            return Err(Error::param("value", "the label or alias of what is dragged", "nothing"));
        };
        let capture = ScreenCapture::of(guard.tree(self.target.token.as_ref()).await?, false, false);
        let Point { x, y } = self.find_target(to, &capture, Gesture::Press)?.point;
        event.sent = true;
        let drag = self.on_target(Input::Drag([from.point.x, from.point.y, x, y], ms).into(), Some(&from));
        let result = self.send_commands(guard, vec![drag], event).await?;
        Ok(SearchOutcome { result, resolved: Some(from), scrolls: 0 })
    }

    /// Adds to a touch of an element which element it must reach, on devices whose elements keep their node ids.
    pub(in crate::app) fn on_target(&self, command: Command, target: Option<&ResolvedTarget>) -> Command {
        let node = target.and_then(|target| target.node.clone()).filter(|_| self.device().knows_elements());
        let text = target.and_then(|target| target.text.clone());
        match (command, node) {
            (Command::Input(input), Some(node)) if input.is_touch() => Input::On(node, text, Box::new(input)).into(),
            (command, _) => command,
        }
    }

    /// Sends inputs in order and returns the device's results, joined by "; ". Clears `event.sent` if nothing reached
    /// the device.
    pub(in crate::app) async fn send(
        &self,
        guard: &DeviceGuard,
        inputs: Vec<Input>,
        event: &mut Event,
    ) -> std::result::Result<String, DriverError> {
        self.send_commands(guard, inputs.into_iter().map(Command::Input).collect(), event).await
    }

    /// Like [`Call::send`], for commands.
    pub(in crate::app) async fn send_commands(
        &self,
        guard: &DeviceGuard,
        commands: Vec<Command>,
        event: &mut Event,
    ) -> std::result::Result<String, DriverError> {
        let answers = Mutex::default();
        self.send_each(guard, commands, event, &answers).await?;
        Ok(answers.into_inner().join("; "))
    }

    /// Like [`Call::send`], but adds each result to `answers` when it arrives.
    async fn send_each(
        &self,
        guard: &DeviceGuard,
        commands: Vec<Command>,
        event: &mut Event,
        answers: &Mutex<Vec<String>>,
    ) -> std::result::Result<(), DriverError> {
        for (done, command) in commands.iter().enumerate() {
            match guard.perform(self.target.token.as_ref(), command).await {
                Ok(result) => {
                    failpoint("act");
                    answers.lock().push(result);
                    failpoint("answered");
                }
                Err(error) => {
                    // If the first input did not reach the device, nothing did.
                    let nothing_sent = matches!(
                        error,
                        DriverError::Unreachable(_) | DriverError::Unsupported { .. } | DriverError::Covered(_)
                    );
                    event.sent = done > 0 || !nothing_sent;
                    return Err(match error {
                        DriverError::Unreachable(why) if done > 0 => DriverError::Lost(format!(
                            "{done} of {} steps were done, then the connection failed: {why}",
                            commands.len()
                        )),
                        other => other,
                    });
                }
            }
        }
        Ok(())
    }
}
