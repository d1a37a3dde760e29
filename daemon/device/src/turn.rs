//! Exclusive access to a device. A [`Ticket`] is a place in the queue of the device. Once access is granted, the ticket
//! becomes a [`DeviceGuard`], which performs actions.

use std::sync::Arc;

use afd_proto::Secret;
use afd_proto::picture::Overlay;
use tokio::sync::oneshot;

use super::actor::Waiting;
use super::handle::Device;
use super::reading::TreeReading;
use super::{Command, DriverError, OverlaySetting};

impl Device {
    /// Queues for exclusive access. The position in the queue is taken immediately, not when the ticket is first
    /// polled.
    ///
    /// # Errors
    /// [`DriverError::QueueFull`] when too many calls are waiting.
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
    /// [`DriverError::Failed`] if the device was removed meanwhile.
    pub async fn guard(self) -> Result<DeviceGuard, DriverError> {
        let done = self.granted.await.map_err(|_| DriverError::removed())?;
        Ok(DeviceGuard { device: self.device, _done: done, _waiting: self._waiting })
    }
}

/// Exclusive access to a device until dropped.
pub struct DeviceGuard {
    device: Arc<Device>,
    _done: oneshot::Sender<()>,
    _waiting: Waiting,
}

impl DeviceGuard {
    /// Reads the element tree.
    pub async fn tree(&self, token: Option<&Secret>) -> Result<TreeReading, DriverError> {
        self.device.read_tree(token).await
    }

    /// Performs a command once; returns the message of the device.
    ///
    /// # Errors
    /// [`DriverError`]; [`DriverError::Lost`] if it is unknown whether the device performed the command.
    pub async fn perform(&self, token: Option<&Secret>, command: &Command) -> Result<String, DriverError> {
        let (device, driver) = (&self.device, self.device.driver());
        device.actor().count_input();
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
        };
        device.track_health(result)
    }

    /// Changes the overlay that the device draws; returns its state.
    ///
    /// # Errors
    /// [`DriverError`]
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

    /// Returns the next sequence number.
    pub fn next_seq(&self) -> i64 {
        self.device.next_seq()
    }
}
