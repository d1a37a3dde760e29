//! Sections of the configuration file. Each setting is declared once. Its declaration contains the field, default,
//! range, description and environment variable, and says whether a change takes effect only after a restart.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use afd_proto::Secret;
use serde_json::Value;

use super::InvalidSetting;

/// Type of a setting's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    Secret,
    Path,
    Number,
    Flag,
    /// A list of words, separated by commas on the command line.
    List,
    /// A table of settings, which is not itself a setting.
    Table,
}

/// The declaration of a setting.
pub(super) struct Key {
    /// Name of the setting: for a device setting, the part after `device.<name>.`; otherwise, the full name.
    pub name: &'static str,
    pub kind: Kind,
    /// Description, taken from the doc comment on the declaration.
    pub about: &'static str,
    /// Inclusive range of the permitted values, if the value is a number.
    pub range: Option<RangeInclusive<u64>>,
    /// Environment variable that overrides the setting, if any.
    pub env: Option<&'static str>,
    /// Whether a change takes effect only after a restart of the daemon.
    pub restart: bool,
    /// Whether the setting can be switched on only in the file, so that an agent cannot use the socket to grant itself
    /// a permission.
    pub file_only: bool,
    /// Returns the default that the section declares; see [`Key::default_value`].
    pub default: fn() -> Value,
    /// Description of the default, if it depends on the environment.
    pub default_text: Option<&'static str>,
}

impl Key {
    /// Returns the default, or null if there is none. A declared default that is an empty string, or a number outside
    /// the range, means that there is no default.
    pub fn default_value(&self) -> Value {
        let value = (self.default)();
        let out_of_range =
            value.as_u64().zip(self.range.as_ref()).is_some_and(|(number, range)| !range.contains(&number));
        if out_of_range || value == "" { Value::Null } else { value }
    }

    /// Returns the description without its final period.
    pub fn about(&self) -> &'static str {
        self.about.trim().trim_end_matches('.')
    }
}

/// A type that a setting can have.
pub(super) trait SettingValue {
    /// Kind that is recorded in the declaration of each setting of this type.
    const KIND: Kind;

    /// Checks the value against the permitted range of the setting `name`. If the value is a section, checks each of
    /// its settings instead.
    fn check(&self, _name: &str, _range: Option<&RangeInclusive<u64>>) -> Result<(), InvalidSetting> {
        Ok(())
    }
}

macro_rules! numbers {
    ($($ty:ty),*) => { $(
        impl SettingValue for $ty {
            const KIND: Kind = Kind::Number;

            fn check(&self, name: &str, range: Option<&RangeInclusive<u64>>) -> Result<(), InvalidSetting> {
                match (u64::try_from(*self), range) {
                    (Ok(value), Some(range)) if !range.contains(&value) => {
                        Err(format!("{name} is {value}, expected {}", range_text(range)).into())
                    }
                    _ => Ok(()),
                }
            }
        }
    )* };
}

macro_rules! kinds {
    ($($ty:ty => $kind:expr),*) => { $(
        impl SettingValue for $ty {
            const KIND: Kind = $kind;
        }
    )* };
}

numbers!(u16, u32, u64, usize);
kinds!(String => Kind::Text, Secret => Kind::Secret, PathBuf => Kind::Path, bool => Kind::Flag, Vec<String> => Kind::List);

impl<T: SettingValue> SettingValue for Option<T> {
    const KIND: Kind = T::KIND;

    fn check(&self, name: &str, range: Option<&RangeInclusive<u64>>) -> Result<(), InvalidSetting> {
        self.as_ref().map_or(Ok(()), |value| value.check(name, range))
    }
}

/// Returns a description of a range in words.
pub(super) fn range_text(range: &RangeInclusive<u64>) -> String {
    match (range.start(), range.end()) {
        (start, &u64::MAX) => format!("at least {start}"),
        (start, end) => format!("{start} to {end}"),
    }
}

/// Declares sections. Each setting has the form `[alias "in the file"] field: Type [modifiers] = default;`. The
/// modifiers are, in this order: `[range A..=B]`, `[env "NAME"]`, `[default "in words"]`, `[restart true]`,
/// `[file_only true]`.
macro_rules! sections {
    ($( $(#[$attribute:meta])* $section:ident $prefix:literal {
        $( $(#[doc = $doc:literal])+ $([alias $alias:literal])? $field:ident : $ty:ty
            $([range $range:expr])? $([env $env:literal])? $([default $default_text:literal])? $([restart $restart:literal])? $([file_only $file_only:literal])? = $default:expr; )*
    } )*) => { $(
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default)]
        pub struct $section { $( $(#[doc = $doc])+ $(#[serde(alias = $alias)])? pub $field: $ty, )* }

        impl Default for $section {
            fn default() -> Self {
                Self { $( $field: $default, )* }
            }
        }

        impl $section {
            /// Declarations of the settings in this section.
            pub(super) const KEYS: &'static [$crate::config::section::Key] = &[$(
                $crate::config::section::Key {
                    name: concat!($prefix, stringify!($field)),
                    kind: <$ty as $crate::config::section::SettingValue>::KIND,
                    about: concat!($($doc),+),
                    range: $crate::config::section::optional!($($range)?),
                    env: $crate::config::section::optional!($($env)?),
                    restart: $crate::config::section::given!($($restart)?),
                    file_only: $crate::config::section::given!($($file_only)?),
                    default: || serde_json::to_value(Self::default().$field).unwrap_or_default(),
                    default_text: $crate::config::section::optional!($($default_text)?),
                },
            )*];
        }

        impl $crate::config::section::SettingValue for $section {
            const KIND: $crate::config::section::Kind = $crate::config::section::Kind::Table;

            fn check(
                &self,
                _: &str,
                _: Option<&std::ops::RangeInclusive<u64>>,
            ) -> Result<(), $crate::config::InvalidSetting> {
                $( $crate::config::section::SettingValue::check(
                    &self.$field,
                    concat!($prefix, stringify!($field)),
                    $crate::config::section::optional!($($range)?).as_ref(),
                )?; )*
                Ok(())
            }
        }
    )* };
}

macro_rules! optional {
    () => {
        None
    };
    ($value:expr) => {
        Some($value)
    };
}

macro_rules! given {
    () => {
        false
    };
    ($value:literal) => {
        $value
    };
}

pub(super) use {given, optional, sections};
