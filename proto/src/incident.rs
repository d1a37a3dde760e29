//! Crashes, and apps that do not respond.

words! {
    /// What happened to an app.
    IncidentKind {
        /// The app ended because of an error.
        Crash = "crash",
        /// The app does not respond.
        NotResponding = "notResponding",
    }
}

wire! {
    /// An app that crashed or does not respond. Its texts come from the device.
    #[derive(Eq)]
    pub struct Incident {
        /// What happened.
        pub kind: IncidentKind,
        /// Package or process name of the app.
        pub app: String,
        /// First lines of the report, such as the error and where it occurred.
        pub report: String,
    }
}
