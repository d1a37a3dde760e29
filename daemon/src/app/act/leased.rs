//! The lease that a call of several actions holds.

use std::time::Duration;

use crate::app::{Call, Result};

/// Time for which the lease is taken before each action.
const LEASE: Duration = Duration::from_secs(60);

/// Holds the lease of a device. A lease that the session took in another way stays as it is.
pub(in crate::app) struct Leased<'a> {
    call: &'a Call,
    generation: Option<u64>,
}

impl<'a> Leased<'a> {
    /// Takes the lease.
    ///
    /// # Errors
    /// If another session holds the lease.
    pub(in crate::app) fn take(call: &'a Call) -> Result<Self> {
        let mut leased = Self { call, generation: None };
        leased.renew()?;
        Ok(leased)
    }

    /// Extends the lease.
    ///
    /// # Errors
    /// If another session has taken the lease.
    pub(in crate::app) fn renew(&mut self) -> Result<()> {
        self.generation = self.call.device().extend_lease(&self.call.echo.session, self.generation, LEASE)?;
        Ok(())
    }
}

impl Drop for Leased<'_> {
    fn drop(&mut self) {
        self.generation.into_iter().for_each(|generation| self.call.device().end_lease(generation));
    }
}
