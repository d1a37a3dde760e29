//! `events.*`: following what happens.

use crate::device::DeviceState;
use crate::history::Change;
use crate::memory::Event;
use crate::vocabulary::ObservationSource;

params! {
    /// Parameters of `events.subscribe`.
    #[derive(Default)]
    pub struct SubscribeParams {
        /// Send what was recorded after this cursor first: the `cursor` of an event; 0 is all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub since: Option<i64>,
        /// Only this device.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub device: Option<String>,
        /// Only this session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub session: Option<String>,
    }

    /// Parameters of `events.unsubscribe`: one subscription id, as an array or under `subscription`.
    #[derive(Default)]
    pub struct UnsubscribeParams {
        /// The id that `events.subscribe` answered.
        pub subscription: serde_json::Value,
    }
}

wire! {
    /// What a subscriber is sent, as `params.result` of an `events.message` notification.
    #[serde(tag = "kind")]
    pub enum Message {
        /// An act, verify or recover ended.
        Event(Box<Event>),
        /// A session looked at a device.
        Observation(Observed),
        /// A device changed its state.
        Device {
            /// Name.
            device: String,
            /// New state.
            state: DeviceState,
        },
        /// The visual memory forgot, merged, renamed or deleted something, or that was undone.
        Visual(Box<Change>),
        /// The subscriber was too slow: this many messages were dropped. Subscribe again with `since` to get the events.
        Lagged {
            /// How many.
            missed: u64,
        },
    }

    /// A message as it is sent.
    pub struct Sent {
        /// For messages that are no events: the cursor of the newest event that was told before; 0 for none. Subscribing again with
        /// `since` set to the last cursor loses no event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cursor: Option<i64>,
        /// The message.
        #[serde(flatten)]
        pub message: Message,
    }

    /// That a session looked at a device.
    pub struct Observed {
        /// Place in the order of the device.
        pub seq: i64,
        /// When, UTC milliseconds.
        pub at: i64,
        /// Session.
        pub session: String,
        /// Device.
        pub device: String,
        /// What looked.
        pub source: ObservationSource,
        /// Identifies it.
        pub observation_id: String,
        /// `package/activity`.
        pub activity: Option<String>,
        /// Whether it had settled.
        pub settled: bool,
    }
}

/// Name of the notifications that a subscription sends.
pub const NOTIFICATION: &str = "events.message";

/// Name of the method that ends a subscription.
pub const UNSUBSCRIBE: &str = "events.unsubscribe";

methods! {
    /// Sends every event from now on, or from a cursor, as `events.message` notifications; answers the subscription id.
    EventsSubscribe = "events.subscribe" (SubscribeParams) -> serde_json::Value, Read, [Unsupported], r#"{}"#;
    /// Ends a subscription.
    EventsUnsubscribe = "events.unsubscribe" (UnsubscribeParams) -> bool, Read, [], r#"{"subscription":1}"#;
}
