//! `rpc.*`: the description of the interface, and control over the calls on a connection.

use serde_json::Value;

params! {
    /// Parameters of `rpc.discover`.
    #[derive(Default)]
    pub struct DiscoverParams {
        /// Only methods whose names begin with this prefix, for example `observe.`, and the types that these methods
        /// refer to.
        pub prefix: Option<String>,
    }

    /// Parameters of `rpc.cancel`.
    #[derive(Default)]
    pub struct CancelParams {
        /// JSON-RPC id of an unanswered call on the same connection.
        #[cfg_attr(feature = "schema", schemars(extend("type" = ["string", "integer"])))]
        pub id: Value,
    }

    /// Parameters of `rpc.reportProgress`.
    pub struct ReportProgressParams {
        /// Whether long calls on this connection send `rpc.progress` notifications; initially, they do not.
        pub enabled: bool,
    }
}

wire! {
    /// Result of `rpc.cancel`.
    pub struct CancelResult {
        /// Whether the call was stopped before it changed anything; it then fails with `CANCELLED`. False if there is
        /// no such call, or if the call's action was already sent; the call then completes, and is recorded and
        /// answered as usual.
        pub cancelled: bool,
    }

    /// Result of `rpc.reportProgress`.
    pub struct ReportProgressResult {
        /// Whether progress notifications are now sent.
        pub enabled: bool,
    }

    /// Progress of a call: the parameters of an `rpc.progress` notification.
    #[cfg_attr(feature = "schema", schemars(rename = "CallProgress"))]
    pub struct Progress {
        /// JSON-RPC id of the call.
        #[cfg_attr(feature = "schema", schemars(extend("type" = ["string", "integer"])))]
        pub id: Value,
        /// Number of completed steps.
        pub done: u64,
        /// Total number of steps; absent if unknown.
        pub total: Option<u64>,
        /// Description of the current step.
        pub message: String,
    }
}

/// Method name of the progress notifications.
pub const PROGRESS: &str = "rpc.progress";

methods! {
    /// Returns the OpenRPC document for this daemon, or a part of it.
    RpcDiscover = "rpc.discover" (DiscoverParams) -> serde_json::Map<String, Value>, Read, [], r#"{"prefix":"verify."}"#;
    /// Cancels a pending call on the same connection, unless its action has already been sent to the device.
    RpcCancel = "rpc.cancel" (CancelParams) -> CancelResult, Read, [], r#"{"id":1}"#;
    /// Turns `rpc.progress` notifications on or off for this connection.
    RpcReportProgress = "rpc.reportProgress" (ReportProgressParams) -> ReportProgressResult, Read, [Unsupported], r#"{"enabled":true}"#;
}
