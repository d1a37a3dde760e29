//! Exclusive access to a device. A [`Ticket`] is a place in the device's queue. Once access is granted, the ticket
//! becomes a [`DeviceGuard`], which performs actions.

use std::sync::Arc;

use afd_proto::Secret;
use afd_proto::picture::Overlay;
use tokio::sync::oneshot;

use super::actor::Waiting;
use super::handle::Device;
use super::reading::TreeReading;
use super::{Command, DriverError, Input, OverlaySetting};

impl Device {
    /// Queues a request for exclusive access. The ticket takes its position in the queue immediately, not when it is
    /// first polled.
    ///
    /// # Errors
    /// [`DriverError::QueueFull`] if too many calls are waiting.
    pub fn queue(self: &Arc<Self>) -> Result<Ticket, DriverError> {
        let (granted, waiting) = self.actor().reserve()?;
        Ok(Ticket { device: self.clone(), granted, _waiting: waiting })
    }
}

/// A place in the queue for exclusive access to a device.
pub struct Ticket {
    device: Arc<Device>,
    granted: oneshot::Receiver<oneshot::Sender<()>>,
    _waiting: Waiting,
}

impl Ticket {
    /// Waits for exclusive access, which lasts until the guard is dropped.
    ///
    /// # Errors
    /// [`DriverError::Failed`] if the device was removed in the meantime.
    pub async fn guard(self) -> Result<DeviceGuard, DriverError> {
        let done = self.granted.await.map_err(|_| DriverError::removed())?;
        Ok(DeviceGuard { device: self.device, _done: done, _waiting: self._waiting })
    }
}

/// A guard that grants exclusive access to a device until the guard is dropped.
pub struct DeviceGuard {
    device: Arc<Device>,
    _done: oneshot::Sender<()>,
    _waiting: Waiting,
}

impl DeviceGuard {
    /// Reads the element tree of the device's screen.
    pub async fn tree(&self, token: Option<&Secret>) -> Result<TreeReading, DriverError> {
        self.device.read_tree(token).await
    }

    /// Performs a command once, and returns the device's message.
    ///
    /// # Errors
    /// [`DriverError`] if the command failed; [`DriverError::Lost`] if it is unknown whether the device performed it.
    pub async fn perform(&self, token: Option<&Secret>, command: &Command) -> Result<String, DriverError> {
        let (device, driver) = (&self.device, self.device.driver());
        device.actor().count_input();
        if let (Command::Input(Input::Text(text)), Some(manages)) = (command, device.manages()) {
            manages.typed(text);
        }
        let result = match command {
            Command::Input(input) => driver.perform(token, input).await,
            Command::Shell(command, ms) => match driver.shell() {
                Some(shell) => shell.run(token, command, *ms).await,
                None => Err(device.no_shell()),
            },
            Command::Intent(intent) => match driver.intents() {
                Some(intents) => intents.send(token, intent).await,
                None => Err(device.no_intents()),
            },
            Command::App(change) => match device.manages() {
                Some(manages) => manages.change_app(change).await,
                None => Err(device.no_management()),
            },
            Command::Configure(wanted) => match device.manages() {
                Some(manages) => manages.configure(wanted).await,
                None => Err(device.no_management()),
            },
            Command::Tool(call) => match driver.page_tools() {
                Some(tools) => tools.call(call).await,
                None => Err(device.no_page_tools()),
            },
        };
        // What another connection of the device says is no news of the driver's.
        match command {
            Command::App(_) | Command::Configure(_) if driver.manages().is_none() => {
                result.map_err(|error| device.advised(error))
            }
            _ => device.track_health(result),
        }
    }

    /// Scrolls until the element with a node id is in sight. Returns false if the device cannot.
    ///
    /// # Errors
    /// [`DriverError`] if the element has gone, or the device fails.
    pub async fn reveal(&self, token: Option<&Secret>, node: &str) -> Result<bool, DriverError> {
        let (device, driver) = (&self.device, self.device.driver());
        let Some(reveals) = driver.reveals() else { return Ok(false) };
        device.actor().count_input();
        device.track_health(reveals.reveal(token, node).await).map(|()| true)
    }

    /// Changes the overlay that the device draws, and returns the overlay's new state.
    ///
    /// # Errors
    /// [`DriverError`] if the request failed; [`DriverError::Unsupported`] if the device draws no overlay.
    pub async fn set_overlay(&self, token: Option<&Secret>, setting: &OverlaySetting) -> Result<Overlay, DriverError> {
        let (device, driver) = (&self.device, self.device.driver());
        let Some(overlays) = driver.overlays() else { return Err(device.no_overlay()) };
        device.actor().count_input();
        device.track_health(overlays.set_overlay(token, setting).await)
    }

    /// Returns the positions of the characters that the device cannot type, counted in characters from 0.
    pub fn cannot_type(&self, text: &str) -> Vec<usize> {
        self.device.driver().cannot_type(text)
    }

    /// Returns the next sequence number for events, intents and readings.
    pub fn next_seq(&self) -> i64 {
        self.device.next_seq()
    }
}
