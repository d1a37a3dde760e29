//! An empty memory that replaces a damaged one until the process ends, so that observing and acting still work.

use std::path::PathBuf;

use afd_proto::{Effect, ErrorCode, MethodInfo};

use crate::app::{Core, Error, Result};

/// Namespaces whose administrative methods work without a memory.
const WITHOUT_MEMORY: [&str; 9] =
    ["daemon", "config", "device", "backup", "job", "rpc", "events", "observe", "artifact"];

impl Core {
    /// Returns the path of the configured database, even while an empty memory replaces it.
    pub fn database(&self) -> PathBuf {
        if self.substitute.is_some() { self.config.in_use().to_owned() } else { self.store.path().to_owned() }
    }

    /// Returns the reason why nothing can be recorded; `None` if recording works.
    pub fn damage(&self) -> Option<String> {
        let failing = || self.store.failing().map(|failing| format!("the last write failed: {}", failing.why));
        self.substitute.as_ref().map(|s| s.why().to_owned()).or_else(|| self.store.damage()).or_else(failing)
    }

    /// Returns the field `recorded` of responses: `Some(false)` if nothing is recorded permanently, else `None`.
    pub(in crate::app) fn recorded(&self) -> Option<bool> {
        self.substitute.as_ref().map(|_| false)
    }

    /// Refuses a call that needs the memory while an empty one replaces it. This applies to administrative methods
    /// outside the namespaces in `WITHOUT_MEMORY`, and to calls with a request key, because at-most-once execution
    /// cannot be guaranteed. Devices, settings and backups can be used. Request keys of `daemon.*` are ignored, as
    /// always.
    ///
    /// # Errors
    /// `STORE_UNAVAILABLE` if the method needs the memory, `REFUSED` if the call has a request key.
    pub fn check_memory_for(&self, method: &MethodInfo, keyed: bool) -> Result<()> {
        let Some(substitute) = &self.substitute else { return Ok(()) };
        let group = method.name.split('.').next().unwrap_or_default();
        if method.effect == Effect::Admin && !WITHOUT_MEMORY.contains(&group) {
            return Err(Error::new(
                ErrorCode::StoreUnavailable,
                format!("nothing can be recorded: {}", substitute.why()),
            )
            .hint("`afctl backup restore` replaces the memory with the newest backup"));
        }
        if keyed && group != "daemon" {
            return Err(Error::new(
                ErrorCode::Refused,
                format!("requestKey cannot be honoured without a memory: {}", substitute.why()),
            )
            .hint("repair the memory with `afctl backup restore`, or leave the key out")
            .details(serde_json::json!({"path": "requestKey"})));
        }
        Ok(())
    }

    /// Deletes the empty memory that replaced a damaged one.
    pub fn delete_substitute(&self) {
        if let Some(substitute) = &self.substitute
            && let Err(error) = std::fs::remove_dir_all(substitute.dir.path())
        {
            tracing::warn!(%error, "cannot delete the temporary memory");
        }
    }
}
