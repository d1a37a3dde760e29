//! `events.*`: live notifications about events, observations and devices.

use crate::device::DeviceState;
use crate::history::Change;
use crate::memory::Event;
use crate::vocabulary::ObservationSource;

params! {
    /// Parameters of `events.subscribe`.
    #[derive(Default)]
    pub struct SubscribeParams {
        /// Cursor of an event. Events recorded after it are sent first; 0 sends all. By default only new events are
        /// sent.
        pub since: Option<i64>,
        /// Only messages about this device.
        pub device: Option<String>,
        /// Only messages about this session.
        pub session: Option<String>,
    }

    /// Parameters of `events.unsubscribe`: the subscription id, either as the only element of an array or as
    /// `subscription`.
    #[derive(Default)]
    pub struct UnsubscribeParams {
        /// Subscription id that `events.subscribe` returned.
        #[cfg_attr(feature = "schema", schemars(with = "u64"))]
        pub subscription: serde_json::Value,
    }
}

wire! {
    /// Message to a subscriber, sent as `params.result` of an `events.message` notification.
    #[serde(tag = "kind")]
    pub enum Message {
        /// An action, verification or recovery has ended.
        Event(Box<Event>),
        /// A session has observed a device.
        Observation(ObservationNotice),
        /// The state of a device has changed.
        Device {
            /// Name of the device.
            device: String,
            /// New state.
            state: DeviceState,
        },
        /// An item of the visual memory was forgotten, merged, renamed or deleted, or such a change was undone.
        Visual(Box<Change>),
        /// A call changed the daemon, its settings or its memory, for example saved a note or finished a task.
        Changed {
            /// Method that was called.
            method: String,
            /// Session that the call belonged to; absent if the method takes none.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            session: Option<String>,
        },
        /// Messages were dropped because the subscriber was too slow. Subscribing again with `since` returns the missed
        /// events.
        Lagged {
            /// Number of dropped messages.
            missed: u64,
        },
    }

    /// A message with the cursor to resume from.
    pub struct MessageWithCursor {
        /// Cursor of the last event sent before this message, 0 if there was none; absent if the message is an event,
        /// which has its own cursor. To miss no event, subscribe again with `since` set to the last received cursor.
        pub cursor: Option<i64>,
        /// The message.
        #[serde(flatten)]
        pub message: Message,
    }

    /// Notice that a session has observed a device.
    pub struct ObservationNotice {
        /// Position in the order of actions and observations of the device.
        pub seq: i64,
        /// Time of the observation, UTC milliseconds.
        pub at: i64,
        /// Name of the session.
        pub session: String,
        /// Name of the device.
        pub device: String,
        /// Kind of call that made the observation.
        pub source: ObservationSource,
        /// Id of the observation.
        pub observation_id: String,
        /// Foreground activity as `package/activity`; null if unknown.
        pub activity: crate::Nullable<String>,
        /// Whether the page had settled.
        pub settled: bool,
    }
}

/// Name of the notifications of a subscription.
pub const NOTIFICATION: &str = "events.message";

/// Name of the method that ends a subscription.
pub const UNSUBSCRIBE: &str = "events.unsubscribe";

methods! {
    /// Sends events from now on, or from a cursor, as `events.message` notifications; returns the subscription id.
    EventsSubscribe = "events.subscribe" (SubscribeParams) -> u64, Read, [Unsupported], r#"{}"#;
    /// Ends a subscription.
    EventsUnsubscribe = "events.unsubscribe" (UnsubscribeParams) -> bool, Read, [], r#"{"subscription":1}"#;
}
