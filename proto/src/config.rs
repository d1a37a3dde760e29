//! `config.*`: reading and changing the settings.

use serde_json::Value;

params! {
    /// Parameters of `config.get` and `config.unset`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "SettingKeyParams"))]
    pub struct KeyParams {
        /// Key of the setting, for example `artifacts.dir` or `device.pixel.timeout_ms`.
        pub key: String,
    }

    /// Parameters of `config.set`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "SettingSetParams"))]
    pub struct SetParams {
        /// Key of the setting, for example `artifacts.dir` or `device.pixel.timeout_ms`.
        pub key: String,
        /// New value as a string, which is parsed according to the type of the setting: a number, `true` or `false`, a
        /// path or a word.
        pub value: crate::Secret,
    }
}

words! {
    /// Origin of a setting's value.
    Source {
        /// A command-line flag of the daemon.
        Flag = "flag",
        /// An environment variable of the daemon.
        Env = "env",
        /// The configuration file.
        File = "file",
        /// The built-in default.
        Default = "default",
    }
}

wire! {
    /// A setting.
    pub struct Setting {
        /// Key of the setting, for example `artifacts.dir`.
        pub key: String,
        /// Effective value of the setting; null if there is none. Secrets are shown as `<redacted>`.
        pub value: Value,
        /// Origin of the value.
        pub source: Source,
        /// Name of the environment variable, or path of the file, that the value comes from; absent for flags and
        /// defaults.
        pub origin: Option<String>,
        /// Short description of the setting.
        pub about: String,
        /// Whether a change takes effect only after a restart of the daemon.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub needs_restart: bool,
    }

    /// Result of `config.list`: all settings.
    pub struct Settings {
        /// Path of the configuration file, whether or not it exists.
        pub file: String,
        /// The settings, including defaults.
        pub settings: Vec<Setting>,
    }

    /// Result of `config.set` and `config.unset`.
    pub struct SettingChange {
        /// The setting after the change.
        #[serde(flatten)]
        pub setting: Setting,
        /// Path of the configuration file.
        pub file: String,
        /// Whether the configuration file was changed; false if there was nothing to change.
        pub changed: bool,
    }
}

methods! {
    /// Lists all settings with their values and the origins of the values.
    ConfigList = "config.list" (crate::vocabulary::NoParams) -> Settings, Read, [Conflict], "{}";
    /// Returns a setting with its value.
    ConfigGet = "config.get" (KeyParams) -> Setting, Read, [Conflict], r#"{"key":"artifacts.dir"}"#;
    /// Writes a setting to the configuration file; the change takes effect at once unless it requires a restart.
    ConfigSet = "config.set" (SetParams) -> SettingChange, Admin, [Conflict], r#"{"key":"artifacts.max_age_days","value":"14"}"#;
    /// Removes a setting from the configuration file.
    ConfigUnset = "config.unset" (KeyParams) -> SettingChange, Admin, [Conflict], r#"{"key":"artifacts.max_age_days"}"#;
}
