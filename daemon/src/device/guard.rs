//! Having a device for oneself, in the order in which it was asked for.

use std::sync::Arc;

use afd_proto::Secret;
use tokio::sync::oneshot;

use super::actor::Waiting;
use super::handle::{Device, TreeReading};
use super::{DriverError, Input};

/// A place in the queue of a device.
pub struct Ticket {
    pub(super) device: Arc<Device>,
    pub(super) granted: oneshot::Receiver<oneshot::Sender<()>>,
    pub(super) _waiting: Waiting,
}

impl Ticket {
    /// Waits for the device; nobody else gets it until the guard is dropped.
    ///
    /// # Errors
    /// [`DriverError::Failed`] when the device was removed meanwhile.
    pub async fn guard(self) -> Result<DeviceGuard, DriverError> {
        let done = self.granted.await.map_err(|_| DriverError::removed())?;
        Ok(DeviceGuard { device: self.device, _done: done, _waiting: self._waiting })
    }
}

/// The device is mine until this is dropped.
pub struct DeviceGuard {
    device: Arc<Device>,
    _done: oneshot::Sender<()>,
    _waiting: Waiting,
}

impl DeviceGuard {
    /// What is on the screen now.
    ///
    /// # Errors
    /// [`DriverError`]
    pub async fn tree(&self, token: Option<&Secret>) -> Result<TreeReading, DriverError> {
        self.device.read_tree(token).await
    }

    /// Does something, once.
    ///
    /// # Errors
    /// [`DriverError`]; [`DriverError::Lost`] when it may have been done.
    pub async fn perform(&self, token: Option<&Secret>, input: &Input) -> Result<String, DriverError> {
        self.device.actor().count_input();
        let result = self.device.driver().perform(token, input).await;
        self.device.note(result.as_ref().err());
        result
    }

    /// The next number in the order of what happens.
    pub fn next_seq(&self) -> i64 {
        self.device.next_seq()
    }
}
