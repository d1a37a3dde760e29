//! Resolves the device and the session of a call.

use std::sync::Arc;

use afd_proto::Secret;
use afd_proto::vocabulary::{DEFAULT_SESSION, DeviceCall, Echo, Reply};

use super::checks::check_session;
use super::visual::said::Asker;
use super::{Core, Result, current_trace};
use afd_device::{self as device, Device, DriverError, PendingRead, Resolved};
use afd_experience::memory::Origin;
use afd_store::{Connection, Reader, new_uid};

impl Core {
    /// Returns the row id of a device, or of the screen of a session on it, creating the row on first use.
    pub(super) async fn device_row(&self, device: &Device, session: &str) -> Result<i64> {
        if let Some(id) = device.row().get() {
            return Ok(*id);
        }
        let (origin, name, kind) = (self.store.origin().to_owned(), device.name().to_owned(), device.kind());
        let screen_of = device.is_of_session().then(|| session.to_owned());
        let row = move |c: &Connection| device::row_id(c, &origin, &name, screen_of.as_deref(), kind);
        let id = self.store.write_first(row).await?;
        Ok(*device.row().get_or_init(|| id))
    }

    /// Resolves the device and the session name of a call without awaiting anything.
    pub(super) fn addressed<P: DeviceCall>(self: &Arc<Self>, params: &P) -> Result<Addressed> {
        let address = params.address();
        let session = address.session.unwrap_or(DEFAULT_SESSION);
        check_session(session)?;
        let target = self.devices.resolve(&address)?;
        let echo = Echo {
            device: target.device.name().to_owned(),
            session: session.to_owned(),
            trace_id: current_trace().unwrap_or_else(new_uid),
            recorded: self.recorded(),
        };
        Ok(Addressed { core: self.clone(), echo, target })
    }

    /// Resolves the device and the session of a call and gets or creates their rows.
    ///
    /// # Errors
    /// If no device or more than one device matches, or if the session name is invalid.
    pub async fn call<P: DeviceCall>(self: &Arc<Self>, params: &P) -> Result<Call> {
        self.addressed(params)?.open().await
    }

    /// Like [`Core::call`], for a call that starts with a device read. The read is queued before the first await, so
    /// that calls on a connection start in the order in which they were sent.
    pub(super) async fn call_reading<P: DeviceCall, T>(
        self: &Arc<Self>,
        params: &P,
        read: impl FnOnce(&Arc<Device>, Option<Secret>) -> std::result::Result<PendingRead<T>, DriverError>,
    ) -> Result<(Call, PendingRead<T>)> {
        let addressed = self.addressed(params)?;
        let first = read(&addressed.target.device, addressed.target.token.clone())?;
        Ok((addressed.open().await?, first))
    }
}

/// A call whose device is resolved, but whose database rows are not known yet.
pub(super) struct Addressed {
    pub(super) core: Arc<Core>,
    pub(super) echo: Echo,
    pub(super) target: Resolved,
}

impl Addressed {
    /// Gets or creates the rows of the session and the device.
    pub(super) async fn open(self) -> Result<Call> {
        Ok(Call {
            session_id: self.core.sessions.row(&self.core.store, &self.echo.session).await?,
            device_id: self.core.device_row(&self.target.device, &self.echo.session).await?,
            core: self.core,
            echo: self.echo,
            target: self.target,
        })
    }
}

/// A call with its resolved device and session.
#[derive(Clone)]
pub struct Call {
    pub(super) core: Arc<Core>,
    pub(super) echo: Echo,
    pub(super) target: Resolved,
    pub(super) session_id: i64,
    pub(super) device_id: i64,
}

impl Call {
    pub(super) fn device(&self) -> &Arc<Device> {
        &self.target.device
    }

    /// Returns who asks for a goal in words.
    pub(super) fn asker(&self) -> Asker {
        Asker { store: self.origin().store, reader: Reader::of(Some(self.session_id)) }
    }

    pub(super) fn origin(&self) -> Origin {
        Origin {
            store: self.core.store.origin().to_owned(),
            session: self.session_id,
            device: self.device_id,
            trace: self.echo.trace_id.clone(),
        }
    }

    pub(super) fn reply<T>(&self, body: T) -> Reply<T> {
        Reply { echo: self.echo.clone(), body }
    }
}
