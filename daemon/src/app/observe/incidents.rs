//! Crashes, and apps that do not respond, as observations and actions tell them.

use std::sync::Arc;

use afd_proto::incident::Incident;

use crate::app::{Call, Core};
use afd_device::Device;
use afd_experience::memory::incidents;

impl Call {
    /// Returns the apps that crashed or stopped responding since this was asked last, and adds them to an event; without one, to
    /// the session's last action on the device.
    pub(in crate::app) async fn incidents(&self, event: Option<&str>) -> Vec<Incident> {
        self.core.incidents_of(self.device(), (self.session_id, self.device_id), event).await
    }
}

impl Core {
    /// Like [`Call::incidents`], for the rows of a session and a device.
    pub(in crate::app) async fn incidents_of(
        self: &Arc<Self>,
        device: &Arc<Device>,
        (session, row): (i64, i64),
        event: Option<&str>,
    ) -> Vec<Incident> {
        let Ok(manages) = device.managed() else { return Vec::new() };
        let found = match manages.incidents().await {
            Ok(found) if !found.is_empty() => found,
            Ok(_) => return Vec::new(),
            Err(error) => {
                tracing::debug!(%error, "cannot read what crashed");
                return Vec::new();
            }
        };
        let (event, recorded) = (event.map(str::to_owned), found.clone());
        let work = move |c: &afd_store::Connection| match event {
            Some(event) => incidents::attach(c, &event, &recorded),
            None => match incidents::last_act(c, session, row)? {
                Some(last) => incidents::attach(c, &last.event, &recorded),
                None => Ok(()),
            },
        };
        if let Err(error) = self.store.write(work).await {
            tracing::warn!(%error, "cannot record what crashed");
        }
        found
    }
}
