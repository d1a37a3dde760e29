//! The macros that keep the wire files short: one for plain types, one for parameters, one for the method table.

/// Derives what every type on the wire has: camelCase fields, both directions, a schema for the OpenRPC document.
macro_rules! wire {
    ($($item:item)*) => { $(
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "camelCase")]
        $item
    )* };
}

/// Parameters: like [`wire!`], but unknown keys are refused.
macro_rules! params {
    ($($item:item)*) => { $(
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        $item
    )* };
}

/// Parameters of a method that touches a device: adds the address fields, which serde cannot flatten into a type that
/// refuses unknown keys.
macro_rules! device_params {
    ($( $(#[$m:meta])* pub struct $name:ident { $( $(#[$fm:meta])* pub $field:ident : $ty:ty, )* } )*) => { $(
        params! {
            $(#[$m])*
            pub struct $name {
                /// Name of a configured device. May be left out while exactly one is configured.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub device: Option<String>,
                /// Name of the session, by default `"default"`; sessions appear by use.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub session: Option<String>,
                /// Base URL of a phone service that need not be configured; names an ad-hoc device keyed by it.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub url: Option<String>,
                /// Bearer token for this call; never stored, logged or returned.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub token: Option<$crate::Secret>,
                $( $(#[$fm])* pub $field: $ty, )*
            }
        }
        impl $crate::vocabulary::DeviceCall for $name {
            fn address(&self) -> $crate::vocabulary::Address<'_> {
                $crate::vocabulary::Address {
                    device: self.device.as_deref(),
                    session: self.session.as_deref(),
                    url: self.url.as_deref(),
                    token: self.token.as_ref(),
                }
            }
        }
    )* };
}

/// Parameters of an action: device parameters plus `requestKey`.
macro_rules! act_params {
    ($( $(#[$m:meta])* pub struct $name:ident { $( $(#[$fm:meta])* pub $field:ident : $ty:ty, )* } )*) => { $(
        device_params! {
            $(#[$m])*
            pub struct $name {
                /// The caller's key for this action. The same key again returns the recorded outcome instead of acting.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub request_key: Option<String>,
                $( $(#[$fm])* pub $field: $ty, )*
            }
        }
        impl $crate::act::ActCall for $name {
            fn request_key(&self) -> Option<&str> {
                self.request_key.as_deref()
            }
        }
    )* };
}

/// Rows of the method table of one namespace: a marker type per method that ties its name to its types, and `METHODS`.
macro_rules! methods {
    ($( $(#[$m:meta])* $marker:ident = $name:literal ($params:ty $(, $takes:ident)*) -> $result:ty, $effect:ident, [$($code:ident),*], $example:literal; )*) => {
        $(
            $(#[$m])*
            #[derive(Debug, Clone, Copy)]
            pub struct $marker;
            impl $crate::Method for $marker {
                type Params = $params;
                type Result = $result;
                const INFO: $crate::MethodInfo = $crate::MethodInfo {
                    name: $name,
                    summary: $crate::method::summary(&[$(stringify!($m)),*]),
                    effect: $crate::Effect::$effect,
                    takes: $crate::Takes::NONE$(.with($crate::Takes::$takes))*,
                    errors: &[$($crate::ErrorCode::$code),*],
                    example: $example,
                    #[cfg(feature = "schema")]
                    params_schema: |g| g.subschema_for::<$params>(),
                    #[cfg(feature = "schema")]
                    result_schema: |g| g.subschema_for::<$result>(),
                };
            }
        )*
        /// The rows of this namespace.
        pub const METHODS: &[$crate::MethodInfo] = &[$(<$marker as $crate::Method>::INFO),*];
    };
}

/// Parameters of a method about a visual memory: which app or site, and the session whose page is meant when that is left out.
macro_rules! scope_params {
    ($( $(#[$m:meta])* pub struct $name:ident { $( $(#[$fm:meta])* pub $field:ident : $ty:ty, )* } )*) => { $(
        params! {
            $(#[$m])*
            pub struct $name {
                /// Package or program; by default the one that the session saw last.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub app: Option<String>,
                /// Site in it: its name such as `united_com`, its host, or a URL, of which only the site is kept.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub site: Option<String>,
                /// Session whose newest observation tells the app when it is left out, by default `"default"`.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub session: Option<String>,
                /// Device of that observation.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub device: Option<String>,
                $( $(#[$fm])* pub $field: $ty, )*
            }
        }
        impl $crate::visual::ScopeCall for $name {
            fn scope(&self) -> $crate::visual::ScopeOf<'_> {
                $crate::visual::ScopeOf {
                    app: self.app.as_deref(),
                    site: self.site.as_deref(),
                    session: self.session.as_deref(),
                    device: self.device.as_deref(),
                }
            }
        }
    )* };
}

/// Parameters of a method about a session: adds its name.
macro_rules! session_params {
    ($( $(#[$m:meta])* pub struct $name:ident { $( $(#[$fm:meta])* pub $field:ident : $ty:ty, )* } )*) => { $(
        params! {
            $(#[$m])*
            pub struct $name {
                /// Name of the session, by default `"default"`.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub session: Option<String>,
                $( $(#[$fm])* pub $field: $ty, )*
            }
        }
        impl $crate::session::SessionCall for $name {
            fn session(&self) -> &str {
                self.session.as_deref().unwrap_or($crate::vocabulary::DEFAULT_SESSION)
            }
        }
    )* };
}

/// A closed list of words, on the wire, in rows and on the command line (in kebab case, with the feature `clap`). Words after `|` are
/// accepted as well.
macro_rules! words {
    ($( $(#[$m:meta])* $name:ident { $( $(#[$vm:meta])* $variant:ident = $word:literal $(| $alias:literal)*, )* } )*) => { $(
        $(#[$m])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name { $( $(#[$vm])* #[serde(rename = $word $(, alias = $alias)*)] $variant, )* }

        impl $name {
            /// All of them.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The word.
            pub const fn word(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }
        }

        impl $crate::Word for $name {
            const ALL: &'static [$name] = $name::ALL;

            fn word(self) -> &'static str {
                $name::word(self)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }

        #[cfg(feature = "clap")]
        impl clap::ValueEnum for $name {
            fn value_variants<'a>() -> &'a [Self] {
                Self::ALL
            }

            fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
                Some(match self {
                    $($name::$variant => $crate::typed::possible_value(
                        $crate::typed::kebab!($word),
                        &[$word $(, $alias)*],
                        $crate::method::summary(&[$(stringify!($vm)),*]),
                    )),*
                })
            }
        }
    )* };
}
