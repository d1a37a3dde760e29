//! The `import` commands.

use std::path::PathBuf;

use afd_proto::import::ImportAfParams;
use afd_proto::memory::MemoryImportAf;
use clap::{Args, Subcommand};

use super::{Call, Group, absolute};
use afd_link::options::{Context, typed_config};

/// Import data from another tool.
#[derive(Debug, Subcommand)]
pub enum Import {
    /// Import settings, notes, transitions, recoveries and artifacts of af 0.5; for this command, --config names the
    /// configuration file of af
    Af(Af),
    /// Import a file written by `memory export`; the same as `memory import`
    Memory(super::memory::Import),
}

/// Options for `af`.
#[derive(Debug, Args)]
pub struct Af {
    /// Database of af [default: the one named in its configuration]
    #[arg(long, value_name = "FILE")]
    db: Option<String>,
    /// Print what would be imported without changing anything
    #[arg(long)]
    dry_run: bool,
}

impl Group for Import {
    fn call(self, context: &Context) -> Call {
        let af = match self {
            Import::Af(af) => af,
            Import::Memory(import) => return super::memory::Memory::Import(import).call(context),
        };
        // For this command, --config is the configuration file of af.
        let config = typed_config(&context.global);
        let params = ImportAfParams {
            config_file: config.map(|c| absolute(&c.display().to_string())).or_else(|| default_config(&af)),
            database_file: af.db.as_deref().map(absolute).or_else(|| default_database(&af, config)),
            dry_run: af.dry_run,
        };
        Call { about_af: true, ..Call::of::<MemoryImportAf>(params).named("import", "af") }
    }
}

/// Returns the database named by `AF_DB`, if neither `--db` nor `--config` was given.
fn default_database(af: &Af, config: Option<&PathBuf>) -> Option<String> {
    let path = std::env::var("AF_DB").ok().filter(|v| !v.is_empty())?;
    (af.db.is_none() && config.is_none()).then(|| absolute(&path))
}

/// Returns the configuration file of `af` at its default location, if it exists and `--db` was not given. Called only
/// without `--config`.
fn default_config(af: &Af) -> Option<String> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base = variable("XDG_CONFIG_HOME").or_else(|| Some(variable("HOME")?.join(".config")));
    let default = variable("AF_CONFIG").or_else(|| Some(base?.join("af/config.toml")));
    default.filter(|path| af.db.is_none() && path.is_file()).map(|path| absolute(&path.display().to_string()))
}
