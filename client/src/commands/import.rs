//! `import`

use std::path::PathBuf;

use afd_proto::import::ImportAfParams;
use afd_proto::memory::MemoryImportAf;
use clap::{Args, Subcommand};

use super::{Call, absolute};
use crate::cli::{Context, Group};
use crate::run::typed_config;

/// Take over what another tool remembered.
#[derive(Debug, Subcommand)]
pub enum Import {
    /// Settings, notes, transitions, recoveries and artifacts of af 0.5; --config is its settings file here
    Af(Af),
}

/// Options of `af`.
#[derive(Debug, Args)]
pub struct Af {
    /// Its database; by default the one that its settings name
    #[arg(long, value_name = "FILE")]
    db: Option<String>,
    /// Tell what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
}

impl Group for Import {
    fn call(self, context: &Context) -> Call {
        let Import::Af(af) = self;
        // --config is the configuration file of af here.
        let config = typed_config(&context.global);
        let params = ImportAfParams {
            config_file: config.map(|c| absolute(&c.display().to_string())).or_else(|| usual_config(&af)),
            database_file: af.db.as_deref().map(absolute).or_else(|| usual_database(&af, config)),
            dry_run: af.dry_run,
        };
        Call { about_af: true, ..Call::of::<MemoryImportAf>(params).named("import", "af") }
    }
}

/// The database that af uses by its variable, if nothing at all was said.
fn usual_database(af: &Af, config: Option<&PathBuf>) -> Option<String> {
    let path = std::env::var("AF_DB").ok().filter(|v| !v.is_empty())?;
    (af.db.is_none() && config.is_none()).then(|| absolute(&path))
}

/// Where af keeps its settings, if nothing at all was said.
fn usual_config(af: &Af) -> Option<String> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base = variable("XDG_CONFIG_HOME").or_else(|| Some(variable("HOME")?.join(".config")));
    let usual = variable("AF_CONFIG").or_else(|| Some(base?.join("af/config.toml")));
    usual.filter(|path| af.db.is_none() && path.is_file()).map(|path| absolute(&path.display().to_string()))
}
