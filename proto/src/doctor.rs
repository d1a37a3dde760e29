//! `daemon.doctor`: checks of the daemon and what it depends on.

use crate::vocabulary::NoParams;

words! {
    /// How serious a finding is.
    Level {
        /// All is well.
        Ok = "ok",
        /// It works, but somebody should look at it.
        Warning = "warning",
        /// Something does not work.
        Error = "error",
    }
}

wire! {
    /// What a check found.
    pub struct Finding {
        /// What was checked, such as `database` or `device pixel`.
        pub check: String,
        /// How serious it is.
        pub level: Level,
        /// What was found.
        pub message: String,
        /// What to do about it; absent if there is nothing to do.
        pub advice: Option<String>,
    }

    /// Result of `daemon.doctor`.
    pub struct Diagnosis {
        /// Whether no check found an error.
        pub ok: bool,
        /// What the checks found.
        pub findings: Vec<Finding>,
    }
}

methods! {
    /// Checks database, backups, disk, settings, devices, clock and leftovers; reads the screen of each device, changes nothing.
    DaemonDoctor = "daemon.doctor" (NoParams) -> Diagnosis, Read, [], "{}";
}
