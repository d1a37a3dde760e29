//! Things that go wrong on purpose.

use std::collections::VecDeque;

use serde::Deserialize;

/// What goes wrong.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Kind {
    /// The request is handled at once, and its answer is held back until it is released.
    Hold,
    /// The connection is cut before anything happens.
    DropBefore,
    /// The request is handled, then the connection is cut.
    DropAfter,
    /// Another answer is given and nothing happens.
    Status {
        /// HTTP status.
        status: u16,
        /// Body.
        #[serde(default)]
        body: String,
        /// Content type; none by default.
        content_type: Option<String>,
    },
    /// Bytes that are no HTTP.
    Garbage,
    /// The head and half of the body, then the end.
    Half,
    /// The activity changes while it is being read, so that it is not known.
    Flap,
}

/// A fault that waits for a request.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    /// Only requests whose path starts so.
    #[serde(default)]
    pub path: String,
    /// Let this many matching requests pass first.
    #[serde(default)]
    pub skip: u32,
    /// How often, by default once.
    #[serde(default = "once")]
    pub times: u32,
    /// What goes wrong.
    #[serde(flatten)]
    pub kind: Kind,
}

fn once() -> u32 {
    1
}

/// The faults that wait.
#[derive(Debug, Default)]
pub struct Faults(VecDeque<Fault>);

impl Faults {
    /// Adds one.
    pub fn push(&mut self, fault: Fault) {
        self.0.push_back(fault);
    }

    /// Takes all away.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The fault for a request, if one waits for it.
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
