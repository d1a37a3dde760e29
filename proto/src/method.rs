//! The method table: one row per method, from which registration, the OpenRPC document and the tests are made.

use serde::{Serialize, de::DeserializeOwned};

use crate::ErrorCode;

words! {
    /// What a method does to the world.
    Effect {
        /// Only reads.
        Read = "read",
        /// Acts on the device.
        Act = "act",
        /// Changes the daemon, its memory or its settings.
        Admin = "admin",
    }

    /// What a method does with the device of a call.
    DeviceUse {
        /// It takes no device.
        None = "none",
        /// `device` filters a list.
        Filter = "filter",
        /// `device` names the device whose newest observation is meant; the URL of an ad-hoc device is a name too.
        Observed = "observed",
        /// It reaches the device: `device`, or `url`, with `token`.
        Reached = "reached",
    }
}

wire! {
    /// Which of the parameters that many methods share a method takes; a client fills them in from its own options.
    #[derive(Copy, Eq)]
    pub struct Takes {
        /// The device parameters.
        pub device: DeviceUse,
        /// Whether it takes `session`, the session that the call belongs to. A session that merely filters a list is not meant.
        pub session: bool,
        /// Whether it takes `timeoutMs`, the time that the daemon itself may spend on the call.
        pub timeout: bool,
    }
}

/// Errors that every method may answer, beyond those of its row.
pub const COMMON_ERRORS: &[ErrorCode] = &[
    ErrorCode::InvalidParams,
    ErrorCode::LimitExceeded,
    ErrorCode::StoreUnavailable,
    ErrorCode::ShuttingDown,
    ErrorCode::Internal,
    ErrorCode::Cancelled,
];

/// Errors that every method with a `requestKey` may answer as well.
pub const WRITE_ERRORS: &[ErrorCode] = &[ErrorCode::Conflict, ErrorCode::StoreFull];

impl Takes {
    /// None of them.
    pub const NONE: Self = Self { device: DeviceUse::None, session: false, timeout: false };
    /// A device that is reached, for a session.
    pub const DEVICE: Self = Self { device: DeviceUse::Reached, session: true, timeout: false };
    /// A page that a session observed.
    pub const SCOPE: Self = Self { device: DeviceUse::Observed, session: true, timeout: false };
    /// A session.
    pub const SESSION: Self = Self { device: DeviceUse::None, session: true, timeout: false };
    /// A device as a filter.
    pub const FILTER: Self = Self { device: DeviceUse::Filter, session: false, timeout: false };
    /// A time-out.
    pub const TIMEOUT: Self = Self { device: DeviceUse::None, session: false, timeout: true };

    /// Both.
    pub const fn with(self, other: Self) -> Self {
        let device = match other.device {
            DeviceUse::None => self.device,
            device => device,
        };
        Self { device, session: self.session || other.session, timeout: self.timeout || other.timeout }
    }
}

/// One row of the method table.
#[derive(Debug, Clone, Copy)]
pub struct MethodInfo {
    /// Wire name, `namespace.verb`.
    pub name: &'static str,
    /// The raw doc attribute; read it through [`MethodInfo::summary`].
    pub summary: &'static str,
    /// What it does to the world.
    pub effect: Effect,
    /// Which shared parameters it takes.
    pub takes: Takes,
    /// The codes it may answer beyond those that every method has.
    pub errors: &'static [ErrorCode],
    /// A parameter object that is valid for it, as JSON.
    pub example: &'static str,
    /// Schema of the parameters.
    #[cfg(feature = "schema")]
    pub params_schema: fn(&mut schemars::SchemaGenerator) -> schemars::Schema,
    /// Schema of the result.
    #[cfg(feature = "schema")]
    pub result_schema: fn(&mut schemars::SchemaGenerator) -> schemars::Schema,
}

impl MethodInfo {
    /// Whether the method takes a `requestKey`: every one that writes does.
    pub fn takes_request_key(&self) -> bool {
        self.effect != Effect::Read
    }

    /// Whether the method's own record keeps its key: acts are events, and their events have it.
    pub fn is_recorded_as_event(&self) -> bool {
        self.name.starts_with("act.") || self.name.starts_with("recover.")
    }

    /// Every error that the method may answer: those of its row, and the common ones.
    pub fn all_errors(&self) -> impl Iterator<Item = ErrorCode> {
        let write = if self.takes_request_key() { WRITE_ERRORS } else { &[] };
        let common = COMMON_ERRORS.iter().chain(write);
        self.errors.iter().chain(common.filter(|code| !self.errors.contains(code))).copied()
    }

    /// One sentence of what the method does.
    pub fn summary(&self) -> &'static str {
        let text = self.summary.split_once('"').map_or(self.summary, |(_, rest)| rest);
        text.strip_suffix('"').unwrap_or(text).trim()
    }
}

/// A method: its types and its row of the table.
pub trait Method {
    /// The parameter object.
    type Params: DeserializeOwned + Serialize + Send + 'static;
    /// The result object.
    type Result: Serialize + DeserializeOwned + Clone + Send + Sync + 'static;
    /// The row of the table.
    const INFO: MethodInfo;
}

/// The doc attribute of a marker type, as the macro sees it: `doc = "..."`.
pub(crate) const fn summary(attributes: &[&'static str]) -> &'static str {
    if attributes.is_empty() { "" } else { attributes[0] }
}
