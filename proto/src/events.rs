//! `events.*`: live notifications about events, observations and devices.

use crate::device::DeviceState;
use crate::history::Change;
use crate::memory::Event;
use crate::surprise::SurpriseNotice;
use crate::vocabulary::ObservationSource;

params! {
    /// Parameters of `events.subscribe`.
    #[derive(Default)]
    pub struct SubscribeParams {
        /// Cursor of an event. Events recorded after that event are sent first; with 0, all recorded events are sent.
        /// By default, only new events are sent.
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
            /// New state of the device.
            state: DeviceState,
        },
        /// An action had another outcome than the memory expected.
        Surprise(Box<SurpriseNotice>),
        /// An item in the visual memory was forgotten, merged, renamed or deleted, or such a change was undone.
        Visual(Box<Change>),
        /// A call changed the daemon, its settings or its memory, for example by saving a note or finishing a task.
        Changed {
            /// Method that was called.
            method: String,
            /// Session that the call belonged to; absent if the method does not take a session.
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

    /// A message with the cursor from which a subscriber can resume.
    pub struct MessageWithCursor {
        /// Cursor of the last event sent before this message, or 0 if there was none; absent if the message is an
        /// event, which has its own cursor. To resume without missing events, subscribe again with `since` set to the
        /// last received cursor.
        pub cursor: Option<i64>,
        /// The message.
        #[serde(flatten)]
        pub message: Message,
    }

    /// Notification that a session has observed a device.
    pub struct ObservationNotice {
        /// Position of the observation among all actions and observations of the device.
        pub seq: i64,
        /// Time of the observation, in Unix milliseconds.
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

/// Method name of the notifications that a subscription sends.
pub const NOTIFICATION: &str = "events.message";

/// Name of the method that ends a subscription.
pub const UNSUBSCRIBE: &str = "events.unsubscribe";

methods! {
    /// Sends events from now on, or from a cursor, as `events.message` notifications; returns the subscription id.
    EventsSubscribe = "events.subscribe" (SubscribeParams) -> u64, Read, [Unsupported], r#"{}"#;
    /// Ends a subscription.
    EventsUnsubscribe = "events.unsubscribe" (UnsubscribeParams) -> bool, Read, [], r#"{"subscription":1}"#;
}
