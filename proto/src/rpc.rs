//! `rpc.*`: the interface described by itself, and the calls of one connection.

use serde_json::Value;

params! {
    /// Parameters of `rpc.cancel`.
    #[derive(Default)]
    pub struct CancelParams {
        /// The JSON-RPC id of a call that this connection sent and that was not answered yet.
        pub id: Value,
    }

    /// Parameters of `rpc.reportProgress`.
    pub struct ReportProgressParams {
        /// Whether long calls of this connection send `rpc.progress` notifications. Off until it is asked for.
        pub enabled: bool,
    }
}

wire! {
    /// What came of `rpc.cancel`.
    pub struct CancelResult {
        /// True when the call was stopped before it changed anything; it answers `CANCELLED`. False when there is no such
        /// call, or an action was sent already: that ends, is recorded and answers as usual.
        pub cancelled: bool,
    }

    /// Whether progress is reported.
    pub struct ReportProgressResult {
        /// As it was asked for.
        pub enabled: bool,
    }

    /// How far a call is: the parameters of an `rpc.progress` notification.
    pub struct Progress {
        /// The JSON-RPC id of the call.
        pub id: Value,
        /// Steps that are done.
        pub done: u64,
        /// All steps, when their number is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub total: Option<u64>,
        /// What is being done.
        pub message: String,
    }
}

/// Name of the notification that tells how far a call is.
pub const PROGRESS: &str = "rpc.progress";

methods! {
    /// Returns the OpenRPC document of this daemon.
    RpcDiscover = "rpc.discover" (crate::vocabulary::NoParams) -> Value, Read, [], "{}";
    /// Cancels a call of the same connection: one that waits is never sent, an action that was sent ends and is recorded.
    RpcCancel = "rpc.cancel" (CancelParams) -> CancelResult, Read, [], r#"{"id":1}"#;
    /// Switches `rpc.progress` notifications of this connection on or off.
    RpcReportProgress = "rpc.reportProgress" (ReportProgressParams) -> ReportProgressResult, Read, [Unsupported], r#"{"enabled":true}"#;
}
