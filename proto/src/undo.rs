//! `act.undo`: undoes the last action of a session where it is known how.

use crate::look::Look;
use crate::visual::StateRef;
use crate::vocabulary::Reply;

act_params! {
    /// Parameters of `act.undo`.
    #[derive(Default)]
    pub struct ActUndoParams {
        /// Whether to say only how the action would be undone.
        #[serde(default, skip_serializing_if = "crate::act::is_false")]
        pub dry_run: bool,
    }
}

wire! {
    /// Result of `act.undo`.
    pub struct ActUndoResult {
        /// Whether the screen shows that the action is undone: the page before it is in front again, or the switch is as it
        /// was.
        pub undone: bool,
        /// The result in one sentence.
        pub text: String,
        /// Uid of the event of the action that is undone.
        pub undoes: String,
        /// That action in words, such as `tap row "Display"`.
        pub undid: String,
        /// Whether the action may have done more than what is undone, such as saving something. Rows are taken to open pages
        /// only.
        #[serde(default, skip_serializing_if = "crate::act::is_false")]
        pub may_remain: bool,
        /// The action that undoes it, in words; absent if everything is as it was before.
        pub action: Option<String>,
        /// Probability with which that action leads back, 0 to 1; absent if it was never tried here.
        pub probability: Option<f64>,
        /// Uid of the event that records the action; absent if nothing was sent.
        pub event_id: Option<String>,
        /// State in front at the end; absent if it is not known.
        pub at: Option<StateRef>,
        /// Duration, in milliseconds.
        pub duration_ms: u64,
        /// The page at the end; only with `then`.
        pub look: Option<Look>,
        /// Whether this is the recorded result of an earlier call with the same `requestKey`, in which case nothing was
        /// done.
        #[serde(default, skip_serializing_if = "crate::act::is_false")]
        pub replayed: bool,
    }
}

crate::look::with_look!(ActUndoResult);

methods! {
    /// Undoes the last action of the session by what most reliably leads back, and checks it.
    ActUndo = "act.undo" (ActUndoParams, DEVICE) -> Reply<ActUndoResult>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, NotFound, RefAliasStale, TargetNotFound, TargetCovered, Conflict], "{}", UNDO;
}
