//! `rpc`: calls any method.

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Args, Command};

use super::Call;

/// Options for `rpc`.
#[derive(Debug, Args)]
pub struct Rpc {
    /// Name of the method to call, for example observe.page; rpc.discover describes all methods
    #[arg(value_parser = MethodNameParser)]
    method: String,
    /// Parameters of the method, as a JSON object
    #[arg(default_value = "{}")]
    params: String,
}

impl Rpc {
    /// Returns the call to the named method.
    pub fn call(self) -> Call {
        Call::raw(&self.method, &self.params)
    }
}

/// Parser that accepts any method name, since the daemon may be newer than this program. Shell completion offers the
/// known names.
#[derive(Clone)]
struct MethodNameParser;

impl TypedValueParser for MethodNameParser {
    type Value = String;

    fn parse_ref(
        &self,
        cmd: &Command,
        arg: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(cmd, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(afd_proto::methods().map(|method| PossibleValue::new(method.name))))
    }
}
