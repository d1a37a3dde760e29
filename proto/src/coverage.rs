//! How much of what is known a session tested. It belongs to `session.*`.

session_params! {
    /// Parameters of `session.coverage`.
    #[derive(Default)]
    pub struct CoverageParams {
        /// Package; by default that of the session, else the one that it was in most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
    }
}

wire! {
    /// A share of what is known.
    #[derive(Default)]
    pub struct Share {
        /// How many the visual memory knows.
        pub known: i64,
        /// How many of them the session covered.
        pub covered: i64,
        /// The share in per cent; 0 when nothing is known.
        pub percent: f64,
        /// Names of some that it did not cover.
        pub missing: Vec<String>,
    }

    /// What a session tested of what the visual memory knows.
    #[derive(Default)]
    pub struct Coverage {
        /// Package.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// Pages that it was on.
        pub pages: Share,
        /// Pages with a test result or a tested element.
        pub pages_tested: Share,
        /// Elements that were marked as tested.
        pub elements: Share,
        /// Elements marked as tested, known or not.
        pub elements_tested: i64,
        /// Pages visited, known or not.
        pub pages_visited: i64,
        /// The share of known elements that were tested, or of known pages while no element is known; per cent.
        pub coverage_percent: f64,
    }
}

methods! {
    /// Tells which pages and elements a session tested, of those that the visual memory knows.
    SessionCoverage = "session.coverage" (CoverageParams, SESSION) -> Coverage, Read, [NotFound, StoreUnavailable], r#"{"session":"checkout-1"}"#;
}
