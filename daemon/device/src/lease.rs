//! Leases, with which a session reserves a device for a limited time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use afd_proto::device::LeaseInfo;
use parking_lot::Mutex;
use tokio::time::Instant;

/// Error from a call that is refused because another session holds the device's lease; holds that lease.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("session {:?} holds the device for another {} ms", .0.session, .0.remaining_ms)]
pub struct Busy(pub LeaseInfo);

/// The lease of a device, held by at most one session at a time.
#[derive(Debug, Default)]
pub struct Lease(Mutex<Option<Held>>);

/// The holder of a lease, and the time at which the lease expires.
#[derive(Debug, Clone)]
struct Held {
    session: String,
    until: Instant,
    /// Number assigned when the lease was taken or last renewed; unique among all leases.
    generation: u64,
}

impl Lease {
    /// Returns the current lease, or `None` if no session holds the lease or if it has expired.
    pub fn current(&self) -> Option<LeaseInfo> {
        Self::holder(&mut self.0.lock())
    }

    fn holder(slot: &mut Option<Held>) -> Option<LeaseInfo> {
        let now = Instant::now();
        if slot.as_ref().is_some_and(|held| held.until <= now) {
            *slot = None;
        }
        slot.as_ref().map(|held| LeaseInfo {
            session: held.session.clone(),
            remaining_ms: u64::try_from((held.until - now).as_millis()).unwrap_or(u64::MAX).max(1),
        })
    }

    /// Checks that no other session's lease prevents this session from acting on the device.
    ///
    /// # Errors
    /// [`Busy`] if another session holds the lease.
    pub fn check(&self, session: &str) -> Result<(), Busy> {
        match self.current() {
            Some(held) if held.session != session => Err(Busy(held)),
            _ => Ok(()),
        }
    }

    /// Takes the lease, or renews it if this session already holds it. Returns the lease and its generation, with which
    /// [`Lease::end`] ends only this lease.
    ///
    /// # Errors
    /// [`Busy`] if another session holds the lease.
    pub fn take(&self, session: &str, ttl: Duration) -> Result<(LeaseInfo, u64), Busy> {
        let mut slot = self.0.lock();
        Self::unless_busy(&mut slot, session)?;
        let generation = Self::hold(&mut slot, session, ttl);
        let lease =
            LeaseInfo { session: session.to_owned(), remaining_ms: u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX) };
        Ok((lease, generation))
    }

    fn unless_busy(slot: &mut Option<Held>, session: &str) -> Result<(), Busy> {
        match Self::holder(slot).filter(|held| held.session != session) {
            Some(held) => Err(Busy(held)),
            None => Ok(()),
        }
    }

    /// Sets the holder, and returns the generation of the new lease.
    fn hold(slot: &mut Option<Held>, session: &str, ttl: Duration) -> u64 {
        static GENERATION: AtomicU64 = AtomicU64::new(0);
        let generation = GENERATION.fetch_add(1, Ordering::Relaxed);
        *slot = Some(Held { session: session.to_owned(), until: Instant::now() + ttl, generation });
        generation
    }

    /// Takes the lease for at least `ttl`, or extends the one with this generation. A lease that the session took in
    /// another way stays as it is. Returns the generation if the lease is the caller's.
    ///
    /// # Errors
    /// [`Busy`] if another session holds the lease.
    pub fn extend(&self, session: &str, own: Option<u64>, ttl: Duration) -> Result<Option<u64>, Busy> {
        let mut slot = self.0.lock();
        Self::unless_busy(&mut slot, session)?;
        match slot.as_mut() {
            Some(held) if own == Some(held.generation) => {
                held.until = held.until.max(Instant::now() + ttl);
                Ok(own)
            }
            Some(_) => Ok(None),
            None => Ok(Some(Self::hold(&mut slot, session, ttl))),
        }
    }

    /// Releases the lease if this session holds it. Returns whether the lease was released.
    pub fn release(&self, session: &str) -> bool {
        let mut slot = self.0.lock();
        let held = Self::holder(&mut slot).is_some_and(|l| l.session == session);
        if held {
            *slot = None;
        }
        held
    }

    /// Ends the lease with this generation, unless it has been taken or renewed again since.
    pub fn end(&self, generation: u64) {
        let mut slot = self.0.lock();
        if slot.as_ref().is_some_and(|held| held.generation == generation) {
            *slot = None;
        }
    }

    /// Copies the lease of the device that this device replaces, unless this device is already leased.
    pub fn inherit(&self, other: &Lease) {
        let theirs = other.0.lock().clone();
        let mut slot = self.0.lock();
        if Self::holder(&mut slot).is_none() {
            *slot = theirs;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn extending_leaves_a_lease_that_was_taken_in_another_way() {
        let (lease, ttl) = (Lease::default(), Duration::from_secs(5));
        let own = lease.extend("a", None, ttl).expect("free");
        assert!(own.is_some() && lease.extend("a", own, ttl) == Ok(own));
        lease.take("a", Duration::from_secs(60)).expect("taken by a call of its own");
        assert_eq!(lease.extend("a", own, ttl), Ok(None));
        lease.end(own.unwrap_or_default());
        assert_eq!(lease.current().map(|held| held.remaining_ms), Some(60_000));
        assert!(lease.extend("b", None, ttl).is_err());
        tokio::time::advance(Duration::from_secs(61)).await;
        assert!(lease.extend("b", None, ttl).expect("free again").is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn lease_expires_and_can_be_renewed() {
        let lease = Lease::default();
        lease.take("a", Duration::from_secs(5)).expect("free");
        assert_eq!(lease.check("b").expect_err("held").0, LeaseInfo { session: "a".into(), remaining_ms: 5000 });
        assert!(!lease.release("b"));
        tokio::time::advance(Duration::from_secs(4)).await;
        lease.take("a", Duration::from_secs(5)).expect("renewed");
        tokio::time::advance(Duration::from_secs(4)).await;
        assert!(lease.check("b").is_err() && lease.check("a").is_ok());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(lease.check("b").is_ok());
        assert!(!lease.release("a"));
    }
}
