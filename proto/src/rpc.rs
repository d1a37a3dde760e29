//! `rpc.*`: the interface described by itself.

methods! {
    /// Returns the OpenRPC document of this daemon.
    RpcDiscover = "rpc.discover" (crate::daemon::NoParams) -> serde_json::Value, Read, [], "{}";
}
