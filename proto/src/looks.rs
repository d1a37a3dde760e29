//! `visual.match`: finding components by what they look like.

use crate::visual::About;

device_params! {
    /// Parameters of `visual.match`.
    #[derive(Default)]
    pub struct MatchParams {
        /// Package or program; by default that of the screen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// Site in a browser: its name, its host, or a URL.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub site: Option<String>,
        /// Only components of this state: its id or name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub state: Option<String>,
        /// Only these components.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub components: Option<Vec<String>>,
        /// Look at this picture instead of the screen: an absolute path. Then no device is needed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub picture: Option<String>,
    }
}

words! {
    /// How a component was found.
    How {
        /// Where it was seen last, or close to it.
        InPlace = "inPlace",
        /// By a coarse look at everything.
        Coarsely = "coarsely",
        /// By a thorough look at everything.
        Thoroughly = "thoroughly",
    }
}

wire! {
    /// A component that was found.
    pub struct Found {
        /// Its name.
        pub name: String,
        /// Where it is, `left,top,right,bottom`.
        pub bounds: String,
        /// Its middle, to the right.
        pub x: f64,
        /// Its middle, down.
        pub y: f64,
        /// How alike it is to its picture, 0.8 to 1.
        pub likeness: f64,
        /// How it was found.
        pub how: How,
        /// Whether it is at another place than it was.
        pub moved: bool,
    }

    /// What was found by its looks.
    pub struct Matched {
        /// What it belongs to.
        #[serde(flatten)]
        pub about: About,
        /// How many components were looked for.
        pub looked_for: u32,
        /// Those that are there.
        pub found: Vec<Found>,
        /// Names of those that are not, which counts as a miss where they could have been.
        pub missing: Vec<String>,
        /// Names of those whose pictures are of one brightness, which match nothing.
        pub flat: Vec<String>,
        /// How long the search took, milliseconds.
        pub took_ms: u64,
    }
}

methods! {
    /// Finds the components of an app or site on the screen by what they look like.
    VisualMatch = "visual.match" (MatchParams, DEVICE) -> Matched, Admin, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, NotFound, StoreUnavailable, Timeout], r#"{"app":"com.android.settings"}"#;
}
