//! Macros for the wire types: plain types, parameters, string enums, and the method table.

/// Derives the traits of wire types: serialisation in both directions with camelCase fields, and a schema for the
/// OpenRPC document. A field of type `Option` is omitted if it has no value; a field of type [`crate::Nullable`] is
/// null instead.
macro_rules! wire {
    ($($items:tt)*) => { types! { wire [rename_all = "camelCase"] $($items)* } };
}

/// Like [`wire!`], but for parameters: unknown keys are rejected.
macro_rules! params {
    ($($items:tt)*) => { types! { params [rename_all = "camelCase", deny_unknown_fields] $($items)* } };
}

/// Defines wire types with the given serde attributes.
///
/// A field of parameters may declare its accepted values and its default: `pub limit: Option<u32> where 1..=100 = 20`,
/// `pub title: String where chars 1..=300`, `pub tags: Vec<String> where items 0..=20`. See [`crate::limits`]. If a
/// field declares a default, a method with the name of the field returns its value or the default.
macro_rules! types {
    ($kind:ident [$($serde:tt)*]) => {};
    ($kind:ident [$($serde:tt)*] $(#[$m:meta])* $v:vis struct $name:ident { $($fields:tt)* } $($rest:tt)*) => {
        fields! { [
            #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
            #[serde($($serde)*)]
            $(#[$m])*
            $v struct $name
        ] $kind $name [] [] [] $($fields)* }
        types! { $kind [$($serde)*] $($rest)* }
    };
    ($kind:ident [$($serde:tt)*] $item:item $($rest:tt)*) => {
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde($($serde)*)]
        $item
        types! { $kind [$($serde)*] $($rest)* }
    };
}

/// Builds a struct from its head and its fields, one field per macro step. Optional fields get the serde attribute that
/// omits them if they are absent. Limits are added to the schema and to the struct's [`crate::limits::Limited`]
/// implementation.
macro_rules! fields {
    ([$($head:tt)*] $of:ident $name:ident [$($done:tt)*] [$($limit:tt)*] [$($default:tt)*]) => {
        $($head)* { $($done)* }
        limited! { $of $name [$($limit)*] [$($default)*] }
    };
    ($head:tt $of:ident $name:ident $done:tt $limits:tt $defaults:tt
        $(#[$m:meta])* pub $field:ident : $kind:ident $(<$ty:ty>)? where $from:literal ..= $to:literal $(= $default:expr)?, $($rest:tt)*) => {
        field! { $head $of $name $done $limits $defaults [
            #[cfg_attr(feature = "schema", schemars(extend("minimum" = $from, "maximum" = $to $(, "default" = $default)?)))]
            $(#[$m])*
        ] $field $kind [$($ty)?] [{ $field Numbers($from as f64, $to as f64) }] [$($default)?] $($rest)* }
    };
    ($head:tt $of:ident $name:ident $done:tt $limits:tt $defaults:tt
        $(#[$m:meta])* pub $field:ident : $kind:ident $(<$ty:ty>)? where chars $from:literal ..= $to:literal $(= $default:expr)?, $($rest:tt)*) => {
        field! { $head $of $name $done $limits $defaults [
            #[cfg_attr(feature = "schema", schemars(extend("minLength" = $from, "maxLength" = $to $(, "default" = $default)?)))]
            $(#[$m])*
        ] $field $kind [$($ty)?] [{ $field Characters($from, $to) }] [$($default)?] $($rest)* }
    };
    ($head:tt $of:ident $name:ident $done:tt $limits:tt $defaults:tt
        $(#[$m:meta])* pub $field:ident : $kind:ident $(<$ty:ty>)? where items $from:literal ..= $to:literal, $($rest:tt)*) => {
        field! { $head $of $name $done $limits $defaults [
            #[cfg_attr(feature = "schema", schemars(extend("minItems" = $from, "maxItems" = $to)))]
            $(#[$m])*
        ] $field $kind [$($ty)?] [{ $field Items($from, $to) }] [] $($rest)* }
    };
    ($head:tt $of:ident $name:ident $done:tt $limits:tt $defaults:tt
        $(#[$m:meta])* pub $field:ident : Option<$ty:ty> = $default:expr, $($rest:tt)*) => {
        field! { $head $of $name $done $limits $defaults [
            #[cfg_attr(feature = "schema", schemars(extend("default" = $default)))]
            $(#[$m])*
        ] $field Option [$ty] [] [$default] $($rest)* }
    };
    ($head:tt $of:ident $name:ident $done:tt $limits:tt $defaults:tt
        $(#[$m:meta])* pub $field:ident : Option<$ty:ty>, $($rest:tt)*) => {
        field! { $head $of $name $done $limits $defaults [$(#[$m])*] $field Option [$ty] [] [] $($rest)* }
    };
    ($head:tt $of:ident $name:ident [$($done:tt)*] $limits:tt $defaults:tt $(#[$m:meta])* $v:vis $field:ident : $ty:ty, $($rest:tt)*) => {
        fields! { $head $of $name [$($done)* $(#[$m])* $v $field: $ty,] $limits $defaults $($rest)* }
    };
}

/// Adds a field, with its limits and its default, to the fields that [`fields!`] has already processed.
macro_rules! field {
    ($head:tt $of:ident $name:ident $done:tt $limits:tt [$($defaults:tt)*] $attributes:tt $field:ident Option [$ty:ty] $limit:tt [$default:expr] $($rest:tt)*) => {
        field! { $head $of $name $done $limits [$($defaults)* { $field: $ty = $default }] $attributes $field Option [$ty] $limit [] $($rest)* }
    };
    ($head:tt $of:ident $name:ident [$($done:tt)*] [$($limits:tt)*] $defaults:tt [$($attributes:tt)*] $field:ident Option [$ty:ty] [$($limit:tt)*] [] $($rest:tt)*) => {
        fields! { $head $of $name [
            $($done)*
            $($attributes)*
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub $field: Option<$ty>,
        ] [$($limits)* $($limit)*] $defaults $($rest)* }
    };
    ($head:tt $of:ident $name:ident [$($done:tt)*] [$($limits:tt)*] $defaults:tt [$($attributes:tt)*] $field:ident $kind:ident [$($ty:ty)?] [$($limit:tt)*] $default:tt $($rest:tt)*) => {
        fields! { $head $of $name [$($done)* $($attributes)* pub $field: $kind $(<$ty>)?,] [$($limits)* $($limit)*] $defaults $($rest)* }
    };
}

/// Implements [`crate::limits::Limited`] for parameters, and the methods for fields with a default.
macro_rules! limited {
    (wire $name:ident [] []) => {};
    (params $name:ident [$({ $field:ident $range:ident $bounds:tt })*] [$({ $absent:ident: $ty:ty = $default:expr })*]) => {
        impl $crate::limits::Limited for $name {
            const LIMITS: &'static [$crate::limits::Limit] = &[
                $( $crate::limits::Limit {
                    field: stringify!($field),
                    range: Some($crate::limits::Range::$range $bounds),
                    #[cfg(feature = "clap")]
                    default: None,
                }, )*
                $( $crate::limits::Limit {
                    field: stringify!($absent),
                    range: None,
                    #[cfg(feature = "clap")]
                    default: Some(|| <$ty as $crate::limits::Absent>::typed($default)),
                }, )*
            ];

            fn check(&self) -> Result<(), $crate::limits::OutOfRange> {
                $( $crate::limits::check(stringify!($field), &self.$field, $crate::limits::Range::$range $bounds)?; )*
                Ok(())
            }
        }
        limited! { @defaults $name $({ $absent: $ty = $default })* }
    };
    (@defaults $name:ident) => {};
    (@defaults $name:ident $({ $field:ident: $ty:ty = $default:expr })+) => {
        impl $name {
            $(
                #[doc = concat!("Returns `", stringify!($field), "`, by default `", stringify!($default), "`.")]
                pub fn $field(&self) -> <$ty as $crate::limits::Absent>::Value<'_> {
                    $crate::limits::Absent::or(&self.$field, $default)
                }
            )+
        }
    };
}

/// Like [`params!`], but for methods that use a device: adds the fields that address the device. (serde cannot flatten
/// these fields into a type that rejects unknown keys.)
macro_rules! device_params {
    ($( $(#[$m:meta])* pub struct $name:ident { $($fields:tt)* } )*) => { $(
        params! {
            $(#[$m])*
            pub struct $name {
                /// Name of a configured device; optional if exactly one device is configured.
                pub device: Option<String>,
                /// Name of the session. A session is created when it is first used.
                pub session: Option<String> = $crate::vocabulary::DEFAULT_SESSION,
                /// Base URL of a phone's service, for a device that is not configured; such an ad-hoc device is
                /// identified by its URL.
                pub url: Option<String>,
                /// Bearer token for this call. It is never stored, logged or returned.
                pub token: Option<$crate::Secret>,
                $($fields)*
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

/// Like [`device_params!`], but for actions: adds `requestKey` and `then`.
macro_rules! act_params {
    ($( $(#[$m:meta])* pub struct $name:ident { $($fields:tt)* } )*) => { $(
        device_params! {
            $(#[$m])*
            pub struct $name {
                /// Idempotency key for this action. A call that repeats the key returns the recorded outcome instead of
                /// acting again.
                pub request_key: Option<String>,
                /// Form in which to return the page that the action led to, once the page has settled; by default the
                /// page is not returned.
                pub then: Option<$crate::look::Then>,
                /// Whether to refuse the action if it did nothing, or failed, each time it was tried on this page before.
                #[serde(default, skip_serializing_if = "crate::act::is_false")]
                pub strict: bool,
                $($fields)*
            }
        }
        impl $crate::act::ActCall for $name {
            fn request_key(&self) -> Option<&str> {
                self.request_key.as_deref()
            }

            fn then(&self) -> Option<$crate::look::Then> {
                self.then.filter(|then| *then != $crate::look::Then::None)
            }

            fn is_strict(&self) -> bool {
                self.strict
            }
        }
    )* };
}

/// Defines the methods of a namespace: a marker type for each method, which ties the method's name to its types, and
/// the list `METHODS`. The first line of a marker type's documentation is the summary of the method.
macro_rules! methods {
    ($( $(#[$m:meta])* $marker:ident = $name:literal ($params:ty $(, $takes:ident)*) -> $result:ty, $effect:ident, [$($code:ident),*], $example:literal $(, $tool:ident)?; )*) => {
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
                    takes: $crate::SharedParams::NONE$(.with($crate::SharedParams::$takes))*,
                    errors: &[$($crate::ErrorCode::$code),*],
                    example: $example,
                    limits: <$params as $crate::limits::Limited>::LIMITS,
                    tool: [$($crate::tool::$tool,)?].as_slice().first(),
                    #[cfg(feature = "schema")]
                    params_schema: |g| g.subschema_for::<$params>(),
                    #[cfg(feature = "schema")]
                    result_schema: |g| g.subschema_for::<$result>(),
                    #[cfg(feature = "schema")]
                    decoded: |result| serde_json::to_value(<$result as serde::Deserialize>::deserialize(result)?),
                };
            }
        )*
        /// Methods of this namespace.
        pub const METHODS: &[$crate::MethodInfo] = &[$(<$marker as $crate::Method>::INFO),*];
    };
}

/// Like [`params!`], but for methods about an app or site: adds the app and site, and the session whose last observed
/// page supplies the app if the app is omitted.
macro_rules! scope_params {
    ($( $(#[$m:meta])* pub struct $name:ident { $($fields:tt)* } )*) => { $(
        params! {
            $(#[$m])*
            pub struct $name {
                /// Package or program; by default the app that the session observed last.
                pub app: Option<String>,
                /// Site in a browser: a domain such as `united.com`, a host, or a URL, of which only the site is used.
                pub site: Option<String>,
                /// Session whose last observation supplies the app if `app` is omitted.
                pub session: Option<String> = $crate::vocabulary::DEFAULT_SESSION,
                /// Device on which the session's last observation was made; by default the device that the session used
                /// last.
                pub device: Option<String>,
                $($fields)*
            }
        }
        impl $crate::visual::ScopeCall for $name {
            fn scope(&self) -> $crate::visual::ScopeSelector<'_> {
                $crate::visual::ScopeSelector {
                    app: self.app.as_deref(),
                    site: self.site.as_deref(),
                    session: self.session.as_deref(),
                    device: self.device.as_deref(),
                }
            }
        }
    )* };
}

/// Like [`params!`], but for methods about a session: adds the session's name.
macro_rules! session_params {
    ($( $(#[$m:meta])* pub struct $name:ident { $($fields:tt)* } )*) => { $(
        params! {
            $(#[$m])*
            pub struct $name {
                /// Name of the session.
                pub session: Option<String> = $crate::vocabulary::DEFAULT_SESSION,
                $($fields)*
            }
        }
    )* };
}

/// Defines a string enum for the wire, the database and, with the feature `clap`, the command line (in kebab case).
/// Words after `|` are accepted as alternatives. The first line of a variant's documentation is its help text on the
/// command line.
macro_rules! words {
    ($( $(#[$m:meta])* $name:ident { $( $(#[$vm:meta])* $variant:ident = $word:literal $(| $alias:literal)*, )* } )*) => { $(
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        $(#[$m])*
        pub enum $name { $( $(#[$vm])* #[serde(rename = $word $(, alias = $alias)*)] $variant, )* }

        impl $name {
            /// All values of the enum.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// Returns the value's word on the wire.
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

        impl $crate::limits::Absent for $name {
            type Value<'a> = $name;

            fn or(value: &Option<$name>, default: $name) -> $name {
                value.unwrap_or(default)
            }

            #[cfg(feature = "clap")]
            fn typed(value: $name) -> Option<String> {
                clap::ValueEnum::to_possible_value(&value).map(|value| value.get_name().to_owned())
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
