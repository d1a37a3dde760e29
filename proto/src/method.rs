//! The method table, from which registration, the OpenRPC document and the tests are generated.

use serde::{Serialize, de::DeserializeOwned};

use crate::ErrorCode;

words! {
    /// Effect of a method.
    Effect {
        /// The method only reads.
        Read = "read",
        /// The method acts on a device.
        Act = "act",
        /// The method changes the daemon, its settings or its memory.
        Admin = "admin",
    }

    /// How a method uses the `device` parameter.
    DeviceUse {
        /// The method has no such parameter.
        None = "none",
        /// `device` filters a list.
        Filter = "filter",
        /// `device` selects the device whose last observation is used. It may be the URL of an ad-hoc device.
        Observed = "observed",
        /// The method communicates with a device, given by `device`, or by `url` with `token`.
        Reached = "reached",
    }
}

wire! {
    /// Which common parameters a method accepts, so that clients can fill them in from their own options.
    #[derive(Copy, Eq)]
    pub struct SharedParams {
        /// How the `device` parameter is used.
        pub device: DeviceUse,
        /// Whether `session` is accepted as the session that the call belongs to; false if it merely filters a list.
        pub session: bool,
        /// Whether the method accepts `timeoutMs`, the maximum time that the daemon spends on the call.
        pub timeout: bool,
    }
}

/// Errors that any method can return, in addition to those in its row of the method table.
pub const COMMON_ERRORS: &[ErrorCode] = &[
    ErrorCode::InvalidParams,
    ErrorCode::LimitExceeded,
    ErrorCode::StoreUnavailable,
    ErrorCode::StoreFull,
    ErrorCode::StoreBusy,
    ErrorCode::ShuttingDown,
    ErrorCode::Internal,
    ErrorCode::Cancelled,
];

/// Additional errors that any method that accepts a `requestKey` can return.
pub const WRITE_ERRORS: &[ErrorCode] = &[ErrorCode::Conflict, ErrorCode::Refused];

impl SharedParams {
    /// No common parameters.
    pub const NONE: Self = Self { device: DeviceUse::None, session: false, timeout: false };
    /// A device to communicate with, and a session.
    pub const DEVICE: Self = Self { device: DeviceUse::Reached, session: true, timeout: false };
    /// A session, and the device of the session's last observation.
    pub const SCOPE: Self = Self { device: DeviceUse::Observed, session: true, timeout: false };
    /// A session parameter.
    pub const SESSION: Self = Self { device: DeviceUse::None, session: true, timeout: false };
    /// A device that filters a list.
    pub const FILTER: Self = Self { device: DeviceUse::Filter, session: false, timeout: false };
    /// A timeout parameter.
    pub const TIMEOUT: Self = Self { device: DeviceUse::None, session: false, timeout: true };

    /// Returns the union of two sets of parameters.
    pub const fn with(self, other: Self) -> Self {
        let device = match other.device {
            DeviceUse::None => self.device,
            device => device,
        };
        Self { device, session: self.session || other.session, timeout: self.timeout || other.timeout }
    }
}

/// A row of the method table.
#[derive(Debug, Clone, Copy)]
pub struct MethodInfo {
    /// Wire name, `namespace.verb`.
    pub name: &'static str,
    /// Raw documentation attribute; use [`MethodInfo::summary`] instead.
    pub summary: &'static str,
    /// Effect of the method.
    pub effect: Effect,
    /// Common parameters that the method accepts.
    pub takes: SharedParams,
    /// Error codes that the method can return in addition to the common ones.
    pub errors: &'static [ErrorCode],
    /// Constraints on the method's parameters.
    pub limits: &'static [crate::limits::Limit],
    /// Example of valid parameters, as a JSON object.
    pub example: &'static str,
    /// MCP tool that calls the method; `None` if there is none.
    pub tool: Option<&'static crate::tool::Tool>,
    /// Function that generates the schema of the parameters.
    #[cfg(feature = "schema")]
    pub params_schema: fn(&mut schemars::SchemaGenerator) -> schemars::Schema,
    /// Function that generates the schema of the result.
    #[cfg(feature = "schema")]
    pub result_schema: fn(&mut schemars::SchemaGenerator) -> schemars::Schema,
    /// Function that decodes a result and encodes it again. Fields that the result type does not have are lost.
    #[cfg(feature = "schema")]
    pub decoded: fn(&serde_json::Value) -> serde_json::Result<serde_json::Value>,
}

impl MethodInfo {
    /// Returns whether the method accepts a `requestKey`. All methods whose effect is not `read` do.
    pub fn takes_request_key(&self) -> bool {
        self.effect != Effect::Read
    }

    /// Returns whether the method's request keys are stored in events. This holds for actions and recoveries; the
    /// request keys of other methods are stored in separate records.
    pub fn is_recorded_as_event(&self) -> bool {
        self.name.starts_with("act.") || self.name.starts_with("recover.")
    }

    /// Returns whether repeating a call to the method has no further effect. If so, the request key is not recorded,
    /// and the call can be cancelled until it begins to make changes.
    pub fn is_repeatable(&self) -> bool {
        self.name == "memory.import"
    }

    /// Returns all errors that the method can return: those in its row of the method table and the common ones.
    pub fn all_errors(&self) -> impl Iterator<Item = ErrorCode> {
        let write = if self.takes_request_key() { WRITE_ERRORS } else { &[] };
        let common = COMMON_ERRORS.iter().chain(write);
        self.errors.iter().chain(common.filter(|code| !self.errors.contains(code))).copied()
    }

    /// Returns the summary of the method: one sentence.
    pub fn summary(&self) -> &'static str {
        doc_text(self.summary)
    }
}

/// A method with its parameter type, its result type and its row of the method table.
pub trait Method {
    /// Type of the parameter object.
    type Params: DeserializeOwned + Serialize + crate::limits::Limited + Send + 'static;
    /// Type of the result object.
    type Result: Serialize + DeserializeOwned + Clone + Send + Sync + 'static;
    /// Row of the method table.
    const INFO: MethodInfo;
}

/// Returns the text of a documentation attribute that was converted to a string by `stringify!`.
pub(crate) fn doc_text(attribute: &'static str) -> &'static str {
    let text = attribute.split_once('"').map_or(attribute, |(_, rest)| rest);
    text.strip_suffix('"').unwrap_or(text).trim()
}

/// Returns the first of an item's documentation attributes, each of which was converted to a string: `doc = "..."`.
pub(crate) const fn summary(attributes: &[&'static str]) -> &'static str {
    if attributes.is_empty() { "" } else { attributes[0] }
}
