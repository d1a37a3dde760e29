//! Fault injection: makes requests to the service fail on demand.

use std::collections::VecDeque;

use serde::Deserialize;

/// Kind of fault.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Kind {
    /// The request is handled at once, but its response is held until it is released.
    Hold,
    /// The connection is closed and the request is not handled.
    DropBefore,
    /// The request is handled, then the connection is closed without a response.
    DropAfter,
    /// This response is sent and the request is not handled.
    Status {
        /// HTTP status.
        status: u16,
        /// Body.
        #[serde(default)]
        body: String,
        /// Content type; none by default.
        content_type: Option<String>,
    },
    /// The request is handled, then bytes that are not HTTP are sent.
    Garbage,
    /// The request is handled, then half of the response is sent and the connection closed.
    Half,
    /// The top activity changes while it is being read, so that the service cannot determine it.
    Flap,
}

/// A fault that is injected into matching requests.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    /// Prefix of the paths that match.
    #[serde(default)]
    pub path: String,
    /// Number of matching requests to let pass first.
    #[serde(default)]
    pub skip: u32,
    /// Number of requests to inject it into; 1 by default.
    #[serde(default = "once")]
    pub times: u32,
    /// Kind of fault.
    #[serde(flatten)]
    pub kind: Kind,
}

fn once() -> u32 {
    1
}

/// The pending faults.
#[derive(Debug, Default)]
pub struct Faults(VecDeque<Fault>);

impl Faults {
    /// Adds a fault.
    pub fn push(&mut self, fault: Fault) {
        self.0.push_back(fault);
    }

    /// Removes all faults.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns whether no fault is pending.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the fault to inject into a request to this path, if any, and counts it as used.
    pub fn take(&mut self, path: &str) -> Option<Kind> {
        let at = self.0.iter().position(|f| f.times > 0 && path.starts_with(&f.path))?;
        let fault = &mut self.0[at];
        if fault.skip > 0 {
            fault.skip -= 1;
            return None;
        }
        fault.times -= 1;
        let kind = fault.kind.clone();
        if fault.times == 0 {
            self.0.remove(at);
        }
        Some(kind)
    }
}
