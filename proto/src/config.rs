//! `config.*`: the settings, and where each comes from.

use serde_json::Value;

params! {
    /// Parameters of `config.get` and `config.unset`.
    #[derive(Default)]
    pub struct KeyParams {
        /// For example `artifacts.dir` or `device.pixel.timeout_ms`.
        pub key: String,
    }

    /// Parameters of `config.set`.
    #[derive(Default)]
    pub struct SetParams {
        /// For example `artifacts.dir` or `device.pixel.timeout_ms`.
        pub key: String,
        /// The value as text: a number, `true` or `false`, a path or a word, as the key has it.
        pub value: crate::Secret,
    }
}

words! {
    /// Where a value comes from.
    Source {
        /// A flag of the daemon.
        Flag = "flag",
        /// A variable of the daemon's environment.
        Env = "env",
        /// The settings file.
        File = "file",
        /// Nobody said anything.
        Default = "default",
    }
}

wire! {
    /// One setting.
    pub struct Setting {
        /// Its key.
        pub key: String,
        /// What counts; null when there is none. Secrets are `<redacted>`.
        pub value: Value,
        /// Where it comes from.
        pub source: Source,
        /// The variable or the file that it comes from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub origin: Option<String>,
        /// What it is.
        pub about: String,
        /// Whether a change counts only from the daemon's next start on.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub needs_restart: bool,
    }

    /// All settings.
    pub struct Settings {
        /// The settings file, whether it exists or not.
        pub file: String,
        /// The settings.
        pub settings: Vec<Setting>,
    }

    /// A setting that was changed.
    pub struct Changed {
        /// As it is now.
        #[serde(flatten)]
        pub setting: Setting,
        /// The settings file.
        pub file: String,
        /// False when nothing had to be done.
        pub changed: bool,
    }
}

methods! {
    /// Lists all settings and where each comes from.
    ConfigList = "config.list" (crate::vocabulary::NoParams) -> Settings, Read, [Conflict], "{}";
    /// Tells one setting.
    ConfigGet = "config.get" (KeyParams) -> Setting, Read, [Conflict], r#"{"key":"artifacts.dir"}"#;
    /// Writes a setting into the settings file; it counts at once, unless it needs a restart.
    ConfigSet = "config.set" (SetParams) -> Changed, Admin, [Conflict], r#"{"key":"artifacts.max_age_days","value":"14"}"#;
    /// Takes a setting out of the settings file.
    ConfigUnset = "config.unset" (KeyParams) -> Changed, Admin, [Conflict], r#"{"key":"artifacts.max_age_days"}"#;
}
