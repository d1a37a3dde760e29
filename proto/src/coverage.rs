//! `session.coverage`: the share of the pages and elements in the visual memory that a session has visited or tested.

session_params! {
    /// Parameters of `session.coverage`.
    #[derive(Default)]
    pub struct CoverageParams {
        /// Package; by default the package of the session, else the package that the session observed most often.
        pub app: Option<String>,
    }
}

wire! {
    /// Coverage of one kind of item.
    #[derive(Default)]
    pub struct Share {
        /// Number of items in the visual memory.
        pub known: i64,
        /// Number of these items that the session covered.
        pub covered: i64,
        /// Percentage of the known items that the session covered; 0 if no items are known.
        pub percent: f64,
        /// Names of items that the session did not cover; at most 20.
        pub missing: Vec<String>,
    }

    /// A session's coverage of the pages and elements in the visual memory.
    #[derive(Default)]
    pub struct Coverage {
        /// Package that the coverage refers to; absent if none could be determined.
        pub app: Option<String>,
        /// Share of the known pages that were visited.
        pub pages: Share,
        /// Share of the known pages that have a test result or a tested element. `missing` lists only pages that were
        /// visited.
        pub pages_tested: Share,
        /// Share of the known elements that were marked as tested.
        pub elements: Share,
        /// Number of elements marked as tested, known or not.
        pub elements_tested: i64,
        /// Number of visited pages, known or not.
        pub pages_visited: i64,
        /// Percentage of known elements that were tested or, if no elements are known, of known pages that were
        /// visited.
        pub coverage_percent: f64,
    }
}

methods! {
    /// Reports which of the known pages and elements a session has visited and tested.
    SessionCoverage = "session.coverage" (CoverageParams, SESSION) -> Coverage, Read, [NotFound, StoreUnavailable], r#"{"session":"checkout-1"}"#;
}
