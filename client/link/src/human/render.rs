//! Maps methods to the functions that render their results.

use afd_proto::Method;
use serde_json::Value;

/// A method whose result can be rendered for people.
pub trait Human: Method {
    /// Renders a result.
    fn human(result: &Self::Result) -> String;
}

/// Decodes and renders a method's result. Returns `None` if the result cannot be decoded, for example if it comes from
/// a newer daemon.
pub fn render<M: Human>(data: &Value) -> Option<String> {
    serde_json::from_value(data.clone()).ok().map(|result| M::human(&result))
}

/// Defines `RENDERS` from a list of methods and the functions that render their results, and implements [`Human`] for
/// each method.
macro_rules! human {
    ($($method:path => $function:expr;)*) => {
        /// The functions that render the results of these methods, by method name.
        pub const RENDERS: &[(&str, $crate::outcome::Render)] =
            &[$((<$method as afd_proto::Method>::INFO.name, $crate::human::render::render::<$method>)),*];
        $(
        impl $crate::human::render::Human for $method {
            fn human(result: &Self::Result) -> String {
                ($function)(result)
            }
        }
        )*
    };
}
pub(crate) use human;
