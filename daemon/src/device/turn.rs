//! Having a device for oneself, in the order in which it was asked for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use afd_proto::Secret;
use tokio::sync::oneshot;

use super::actor::{Device, TreeReading};
use super::{DriverError, Input};

/// Counts somebody who waits.
pub(super) struct Waiting<'a>(&'a AtomicU64);

impl<'a> Waiting<'a> {
    pub(super) fn new(counter: &'a AtomicU64) -> Self {
        counter.fetch_add(1, Ordering::SeqCst);
        Self(counter)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A place in the queue of a device.
pub struct Ticket {
    pub(super) device: Arc<Device>,
    pub(super) grant: oneshot::Receiver<oneshot::Sender<()>>,
}

impl Ticket {
    /// Waits for the device; it is kept until the turn is dropped.
    ///
    /// # Errors
    /// When the device was removed meanwhile.
    pub async fn turn(mut self) -> Result<Turn, DriverError> {
        let done = (&mut self.grant).await.map_err(|_| DriverError::Unreachable("the device was removed".to_owned()))?;
        Ok(Turn { device: self.device.clone(), _done: done })
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.device.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The device is mine until this is dropped.
pub struct Turn {
    device: Arc<Device>,
    _done: oneshot::Sender<()>,
}

impl Turn {
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
        self.device.inputs.fetch_add(1, Ordering::SeqCst);
        let result = self.device.driver.perform(token, input).await;
        self.device.note(result.as_ref().err());
        result
    }

    /// The next number in the order of what happens.
    pub fn next_seq(&self) -> i64 {
        (self.device.next_seq)()
    }
}
