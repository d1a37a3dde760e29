//! Calls to the daemon.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use afd_link::connection::{CallError, Connection};
use afd_link::dial::{self, Purpose, Retry};
use afd_link::options::{Address, Global};
use afd_link::outcome::{FAILED, Failure, Outcome};
use afd_link::{human, request_key};
use afd_proto::device::{DeviceLease, DeviceRelease};
use afd_proto::rpc::Progress;
use afd_proto::session::SessionShow;
use afd_proto::{DeviceUse, Method, MethodInfo};
use rmcp::model::ProgressNotificationParam;
use rmcp::service::{RequestContext, RoleServer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

/// The daemon that the command-line options select.
pub struct Daemon {
    global: Global,
    address: Address,
}

/// Connection on which a client acquires its leases, which end when the connection closes.
#[derive(Default)]
pub struct LeaseConnection(Arc<Mutex<Option<Connection>>>);

impl Daemon {
    pub fn new(global: Global, address: Address) -> Self {
        Self { global, address }
    }

    /// Returns the session given on the command line, if any.
    pub fn session(&self) -> Option<&str> {
        self.global.session.as_deref().filter(|s| !s.is_empty())
    }

    /// Returns the device given on the command line, if any.
    pub fn device(&self) -> Option<&str> {
        self.global.device.as_deref()
    }

    /// Connects to the daemon if it is running.
    pub fn connect_running(&self) -> Result<Connection, Failure> {
        dial::connect(&self.global, Purpose::RunningOnly)
    }

    /// Returns whether the daemon knows a session. Returns false if the daemon cannot be reached.
    pub fn knows_session(&self, name: &str) -> bool {
        dial::connect(&self.global, Purpose::Call)
            .is_ok_and(|mut connection| connection.call_raw(SessionShow::INFO.name, &json!({"session": name})).is_ok())
    }

    /// Adds the common parameters, such as the session, that a method takes.
    fn complete(&self, info: &MethodInfo, params: &mut Map<String, Value>, session: &str) {
        if info.takes.session {
            params.entry("session").or_insert_with(|| json!(session));
        }
        let mut put = |name: &str, value: Option<&String>| {
            if let Some(value) = value {
                params.entry(name).or_insert_with(|| json!(value));
            }
        };
        let (device, Address { url, token }) = (self.global.device.as_ref(), &self.address);
        match info.takes.device {
            DeviceUse::None => {}
            DeviceUse::Filter => put("device", device),
            DeviceUse::Observed => put("device", device.or(url.as_ref())),
            DeviceUse::Reached => {
                put("url", url.as_ref());
                put("token", token.as_ref());
                put("device", device);
            }
        }
        if info.takes_request_key() {
            params.entry("requestKey").or_insert_with(|| json!(request_key::request_key()));
        }
    }

    /// Calls a method. Cancels the call if the client cancels its request, and reports progress to the client.
    pub async fn call(
        self: &Arc<Self>,
        info: &'static MethodInfo,
        mut params: Map<String, Value>,
        session: &str,
        leases: &LeaseConnection,
        context: &RequestContext<RoleServer>,
    ) -> Outcome {
        self.complete(info, &mut params, session);
        let interrupted = Arc::new(AtomicBool::new(false));
        let (steps, mut progress) = mpsc::unbounded_channel::<Progress>();
        let token = context.meta.get_progress_token();
        let (own, flag, leases) = (self.clone(), interrupted.clone(), leases.0.clone());
        let wanted = token.is_some();
        let mut work = tokio::task::spawn_blocking(move || {
            let params = Value::Object(params);
            if [DeviceLease::INFO.name, DeviceRelease::INFO.name].contains(&info.name) {
                return own.call_on(&leases, info, &params);
            }
            let prepare = |connection: &mut Connection| {
                connection.set_interrupt(flag.clone());
                if wanted {
                    let steps = steps.clone();
                    // Sending fails if the request has already ended; that can be ignored.
                    connection.set_progress(Box::new(move |step| drop(steps.send(step))));
                }
            };
            dial::call(&own.global, Purpose::Call, Retry::Safe, prepare, info.name, &params)
        });
        let done = loop {
            tokio::select! {
                done = &mut work => break done,
                Some(step) = progress.recv(), if wanted => {
                    if let Some(token) = token.clone() {
                        let mut told = ProgressNotificationParam::new(token, step.done as f64).with_message(step.message);
                        told.total = step.total.map(|total| total as f64);
                        let _ = context.peer.notify_progress(told).await;
                    }
                }
                () = context.ct.cancelled(), if !interrupted.load(Ordering::Relaxed) => interrupted.store(true, Ordering::Relaxed),
            }
        };
        let result = done
            .unwrap_or_else(|error| Err(Failure::new("INTERNAL", format!("the call was aborted: {error}"), FAILED)));
        let (category, op) = info.name.split_once('.').unwrap_or(("", info.name));
        Outcome {
            category: category.to_owned(),
            op: human::kebab(op),
            result,
            render: human::render_of(info.name),
            only: None,
        }
    }

    /// Calls a method on the connection that holds a client's leases.
    fn call_on(
        &self,
        leases: &Mutex<Option<Connection>>,
        info: &MethodInfo,
        params: &Value,
    ) -> Result<Box<RawValue>, Failure> {
        let mut slot =
            leases.lock().map_err(|_| Failure::new("INTERNAL", "an earlier call for a lease was aborted", FAILED))?;
        let mut last = None;
        // The existing connection may belong to a daemon that has exited, so try twice.
        for _ in 0..2 {
            let mut connection = match slot.take() {
                Some(connection) => connection,
                None => dial::connect(&self.global, Purpose::Call)?,
            };
            match connection.call_raw(info.name, params) {
                Err(CallError::Io(error)) => last = Some(dial::failure(CallError::Io(error), &self.global)),
                result => {
                    *slot = Some(connection);
                    return result.map_err(|error| dial::failure(error, &self.global));
                }
            }
        }
        Err(last.unwrap_or_else(|| Failure::new("NO_DAEMON", "lost the connection to the daemon", FAILED)))
    }
}
