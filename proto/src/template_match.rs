//! `visual.match`: finding components on the screen by their pictures.

use crate::visual::ScopeInfo;

device_params! {
    /// Parameters of `visual.match`.
    #[derive(Default)]
    pub struct MatchParams {
        /// Package or program; by default the app on the screen.
        pub app: Option<String>,
        /// Site in a browser, given by name, host or URL; by default the site on the screen.
        pub site: Option<String>,
        /// Only components of this state, given by id or name.
        pub state: Option<String>,
        /// Only the components with these names.
        pub components: Option<Vec<String>>,
        /// Absolute path of a picture to search instead of the screen; no device is needed then.
        pub picture: Option<String>,
    }
}

words! {
    /// Search step in which a component was found.
    MatchStage {
        /// At its last known position, or close to it.
        InPlace = "inPlace",
        /// Everywhere, at a coarse resolution.
        Coarsely = "coarsely",
        /// Everywhere, at a finer resolution.
        Thoroughly = "thoroughly",
    }
}

wire! {
    /// A component that was found.
    pub struct FoundComponent {
        /// Name of the component.
        pub name: String,
        /// Position of the component as `left,top,right,bottom`, in pixels.
        pub bounds: String,
        /// Horizontal centre of the component, in pixels from the left.
        pub x: f64,
        /// Vertical centre of the component, in pixels from the top.
        pub y: f64,
        /// Similarity to the component's saved picture, 0.8 to 1.
        pub likeness: f64,
        /// Search step in which the component was found.
        pub how: MatchStage,
        /// Whether the component is at a different position than before.
        pub moved: bool,
    }

    /// Result of `visual.match`.
    pub struct MatchResult {
        /// App or site whose components were searched for.
        #[serde(flatten)]
        pub about: ScopeInfo,
        /// Number of components that were searched for.
        pub looked_for: u32,
        /// Components that were found.
        pub found: Vec<FoundComponent>,
        /// Names of components that were not found. Each of them is counted as missed if it could have been seen.
        pub missing: Vec<String>,
        /// Names of components that were skipped because their pictures are uniformly bright and therefore cannot be
        /// matched.
        pub flat: Vec<String>,
        /// Duration of the search, in milliseconds.
        pub took_ms: u64,
    }
}

methods! {
    /// Finds the components of an app or site on the screen by their pictures.
    VisualMatch = "visual.match" (MatchParams, DEVICE) -> MatchResult, Admin, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, NotFound, StoreUnavailable, Timeout], r#"{"app":"com.android.settings"}"#;
}
