//! `daemon.doctor`: checks of the daemon and what it depends on.

use crate::vocabulary::NoParams;

words! {
    /// Severity of a finding.
    Level {
        /// There is no problem.
        Ok = "ok",
        /// It works, but needs attention.
        Warning = "warning",
        /// Something does not work.
        Error = "error",
    }
}

wire! {
    /// Result of a check.
    pub struct Finding {
        /// Subject of the check, such as `database` or `device pixel`.
        pub check: String,
        /// Severity.
        pub level: Level,
        /// Description of the result.
        pub message: String,
        /// Suggested remedy; absent if none is needed.
        pub advice: Option<String>,
    }

    /// Result of `daemon.doctor`.
    pub struct Diagnosis {
        /// Whether no check found an error.
        pub ok: bool,
        /// Results of the checks.
        pub findings: Vec<Finding>,
    }
}

methods! {
    /// Checks database, backups, disk, settings, devices, clock and leftover files; reads the screens, changes nothing.
    DaemonDoctor = "daemon.doctor" (NoParams) -> Diagnosis, Read, [], "{}";
}
