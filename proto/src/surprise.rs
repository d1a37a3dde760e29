//! Surprises: an action had another outcome than the memory expected.

words! {
    /// What came instead of the expected outcome.
    SurpriseKind {
        /// A dialog, over the expected page or over another one.
        PopUp = "popUp",
        /// A page that asks for a password.
        Login = "login",
        /// A message about an error.
        Error = "error",
        /// Nothing changed.
        Nothing = "nothing",
        /// Another known page.
        OtherPage = "otherPage",
        /// A page that is not known yet.
        NewPage = "newPage",
        /// The expected page, but it looks so different that it was not recognised, for example after an update of the app.
        Changed = "changed",
        /// A page of another app.
        OtherApp = "otherApp",
        /// An app crashed or stopped responding.
        Crash = "crash",
    }
}

wire! {
    /// An outcome that was not expected.
    pub struct Surprise {
        /// What came.
        pub kind: SurpriseKind,
        /// Name of the page that came, or the message about an error.
        pub name: Option<String>,
        /// What was expected, in short form, such as `-> "Wi-Fi" 0.94`.
        pub expected: String,
        /// Probability that the memory gave to what came, 0 to 1.
        pub probability: f64,
        /// The surprise in one sentence.
        pub text: String,
    }

    /// Notification that an action of a session had another outcome than expected.
    pub struct SurpriseNotice {
        /// Uid of the action's event, whose evidence has the surprise, too.
        pub event_id: String,
        /// Time at which the surprise was seen, in Unix milliseconds.
        pub at: i64,
        /// Name of the session.
        pub session: String,
        /// Name of the device.
        pub device: String,
        /// The surprise.
        pub surprise: Surprise,
    }
}
