//! `daemon.doctor`: checks of the daemon and of everything that it depends on.

use crate::vocabulary::NoParams;

words! {
    /// Severity of a check result.
    Level {
        /// There is no problem.
        Ok = "ok",
        /// The checked subject works, but needs attention.
        Warning = "warning",
        /// The checked subject does not work.
        Error = "error",
    }
}

wire! {
    /// Result of a check.
    pub struct Finding {
        /// Subject of the check, such as `database` or `device pixel`.
        pub check: String,
        /// Severity of the result.
        pub level: Level,
        /// Description of the result.
        pub message: String,
        /// Suggested remedy; absent if none is needed.
        pub advice: Option<String>,
    }

    /// Result of `daemon.doctor`.
    pub struct Diagnosis {
        /// Whether all checks passed without an error.
        pub ok: bool,
        /// Results of the checks.
        pub findings: Vec<Finding>,
    }
}

methods! {
    /// Checks database, backups, disk, settings, devices, clock and leftover files; reads screens but changes nothing.
    DaemonDoctor = "daemon.doctor" (NoParams) -> Diagnosis, Read, [], "{}";
}
