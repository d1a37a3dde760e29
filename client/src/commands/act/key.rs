//! Options that all actions have.

use afd_proto::act::PlainParams;
use afd_proto::look::Then;
use clap::Args;

/// Options common to all actions.
#[derive(Debug, Args)]
pub struct Key {
    /// Idempotency key: reusing it returns the recorded outcome instead of acting again
    #[arg(long, value_name = "KEY")]
    pub request_key: Option<String>,
    /// Wait until the page has settled, then return the resulting page or what changed on it
    #[arg(long, value_enum)]
    pub then: Option<Then>,
    /// Do nothing if this did nothing, or failed, each time it was tried on this page
    #[arg(long)]
    pub strict: bool,
}

impl Key {
    pub(super) fn params(self) -> PlainParams {
        PlainParams { request_key: self.request_key, then: self.then, strict: self.strict, ..PlainParams::default() }
    }
}
