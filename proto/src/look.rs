//! The outcome of an action: what it led to, and the page.

use crate::observe::Context;
use crate::rows::RefRows;

/// An action result that can include the outcome of the action.
pub trait WithLook {
    /// Sets the outcome.
    fn set_look(&mut self, look: Look);
}

/// Implements [`WithLook`] for types with a field `look`.
macro_rules! with_look {
    ($($name:ty),*) => { $(
        impl $crate::look::WithLook for $name {
            fn set_look(&mut self, look: $crate::look::Look) {
                self.look = Some(look);
            }
        }
    )* };
}
pub(crate) use with_look;

words! {
    /// Form in which an action returns the resulting page.
    Then {
        /// The outline of the page.
        Outline = "outline",
        /// Only the changed lines of the outline, or the whole outline if the action led to another page.
        Diff = "diff",
        /// The base context and the refs of the page.
        Page = "page",
        /// No page is returned.
        None = "none",
    }
}

words! {
    /// Change in the state of the on-screen keyboard.
    KeyboardChange {
        /// The keyboard opened.
        Opened = "opened",
        /// The keyboard closed.
        Closed = "closed",
    }
}

wire! {
    /// Outcome of an action.
    #[derive(Default)]
    pub struct Look {
        /// Whether anything on the page changed; the keyboard is not part of the page. `false` is reported no earlier
        /// than 1 s after the action (up to 5 s if the action took longer in the past), unless the keyboard opened.
        /// Null if this is unknown because another call acted on the device in between or the session had not observed
        /// the page.
        pub changed: crate::Nullable<bool>,
        /// Known outcomes of this action on this page in short form, such as `-> "Wi-Fi" 0.94`; absent if there are
        /// none.
        pub expected: Option<String>,
        /// Whether the outcome is the one that was expected; absent if too little is known to say so.
        pub as_expected: Option<bool>,
        /// What came instead of the expected outcome; absent unless it is unusual.
        pub surprise: Option<crate::surprise::Surprise>,
        /// Warning that the action did nothing, or failed, each time it was tried on this page before.
        pub warning: Option<String>,
        /// Change in the state of the on-screen keyboard since the action; absent if there was none.
        pub keyboard: Option<KeyboardChange>,
        /// Remark about the outcome, for example `nothing changed`.
        pub note: Option<String>,
        /// What else has happened, such as a tab that opened or a download that began; absent if nothing has.
        pub news: Option<String>,
        /// Apps that crashed or stopped responding since the last look, which are recorded with the action. Only for devices that
        /// can be managed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub incidents: Vec<crate::incident::Incident>,
        /// Time until the outcome was observed, in milliseconds.
        pub waited_ms: u64,
        /// The page, with its outline unless `then` is `page`; absent if the screen could not be read.
        pub observation: Option<Context>,
        /// Refs of the page; only with `then: "page"`.
        pub refs: Option<RefRows>,
    }
}
