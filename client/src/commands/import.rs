//! `import`

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Call, absolute};

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

impl Import {
    /// The call; `config` is what --config said, which is the settings file of af here.
    pub fn call(&self, config: Option<&PathBuf>) -> Call {
        let Import::Af(af) = self;
        Call::new("memory.importAf")
            .maybe("configFile", config.map(|c| absolute(&c.display().to_string())).or_else(|| usual_config(af)))
            .maybe("databaseFile", af.db.as_deref().map(absolute).or_else(|| usual_database(af, config)))
            .maybe("dryRun", af.dry_run.then_some(true))
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
