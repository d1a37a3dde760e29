//! `memory.importAf`: imports settings, notes, transitions, recoveries and artifacts of `af` 0.5, with invalid data
//! cleaned up.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::config::Source;
use afd_proto::import::{ImportAfParams, ImportOutcome, ImportReport, ImportedSetting, Tally};
use afd_proto::memory::MemoryImportAf;
use serde_json::json;

use crate::app::checks::absolute;
use crate::app::{Core, Error, Methods, Result, current_trace, daemon, scope};
use afd_base::config::{self, DeviceSettings, OutputFormat, Settings};
use afd_base::task::run_blocking;
use afd_experience::memory::af::{self, AfError, AfMemory};
use afd_experience::memory::{imported, notes};
use afd_store::{Connection, Store, StoreError, artifact, new_uid};
use afd_workspace as session;

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<MemoryImportAf, _, _>(|core, p| async move { af(&core, &p).await });
}

/// Returns the source label stored with imported rows.
fn source(found: &AfMemory) -> String {
    format!("af {}", found.identity)
}

/// Maximum number of remarks returned.
const MAX_REMARKS: usize = 200;

impl From<AfError> for Error {
    fn from(error: AfError) -> Self {
        match &error {
            AfError::Io { path, error: cause } => {
                let code = if cause.kind() == std::io::ErrorKind::NotFound {
                    ErrorCode::NotFound
                } else {
                    ErrorCode::Conflict
                };
                Error::new(code, error.to_string())
                    .hint("the file must be readable by the daemon")
                    .details(json!({"path": path}))
            }
            AfError::Foreign { path, .. } => Error::new(ErrorCode::Conflict, error.to_string())
                .hint("pass the database of af 0.5; its setting memory.db names it")
                .details(json!({"path": path})),
        }
    }
}

/// Configuration file of `af`. Its keys are a subset of this daemon's keys.
struct AfSettings {
    dir: PathBuf,
    file: config::File,
}

impl AfSettings {
    fn read(path: &Path) -> Result<Self> {
        // At startup a missing file counts as an empty one; here it is an error.
        std::fs::metadata(path).map_err(|error| AfError::Io { path: path.to_owned(), error })?;
        let (file, _) = config::read_file(path)?;
        Ok(Self { dir: path.parent().unwrap_or(Path::new("/")).to_owned(), file })
    }

    /// Resolves a path relative to the directory of the configuration file.
    fn path(&self, path: &Option<PathBuf>) -> Option<PathBuf> {
        path.as_ref().map(|p| self.dir.join(p))
    }
}

fn outcome(key: &str, outcome: ImportOutcome, remark: impl Into<String>) -> ImportedSetting {
    ImportedSetting { key: key.to_owned(), outcome, remark: remark.into() }
}

/// Reports the settings of the device configured in `af`. Returns the device with the name that it gets in this daemon,
/// or `None` if there is no device to import.
fn device(theirs: &AfSettings, ours: &Settings, report: &mut Vec<ImportedSetting>) -> Option<(String, DeviceSettings)> {
    let device = theirs.file.devices().remove("default")?;
    let url = device.url.clone();
    if let Some((name, _)) = ours.devices.iter().find(|(_, d)| d.url.trim_end_matches('/') == url.trim_end_matches('/'))
    {
        report.push(outcome("remote.url", ImportOutcome::Present, format!("device.{name}.url")));
        return None;
    }
    let Some(name) = ["default", "af"].into_iter().find(|n| !ours.devices.contains_key(*n)) else {
        report.push(outcome(
            "remote.url",
            ImportOutcome::Skipped,
            "devices `default` and `af` already exist; use `afctl device add`",
        ));
        return None;
    };
    report.push(outcome("remote.url", ImportOutcome::Added, format!("device.{name}.url")));
    if device.token.is_some() {
        report.push(outcome("remote.token", ImportOutcome::Added, format!("device.{name}.token")));
    }
    if device.usb.is_some() {
        report.push(outcome("connection.usb", ImportOutcome::Added, format!("device.{name}.usb")));
    }
    Some((name.to_owned(), device))
}

/// Imports either all settings or none. With `dry_run`, only reports what would be imported.
fn settings(core: &Core, theirs: &AfSettings, dry_run: bool) -> Result<Vec<ImportedSetting>> {
    let mut report = Vec::new();
    let ours = core.config.get();
    let device = device(theirs, &ours, &mut report);
    let mut changes: Vec<(&str, String)> = Vec::new();
    let artifacts = &theirs.file.artifacts;
    let text = |path: &Option<PathBuf>| theirs.path(path).map(|p| p.display().to_string());
    let configured = [
        ("artifacts.dir", text(&artifacts.dir)),
        ("artifacts.screen_file", text(&artifacts.screen_file)),
        ("artifacts.screenshot_file", text(&artifacts.screenshot_file)),
        ("artifacts.page_dir", text(&artifacts.page_dir)),
        (
            "output.default",
            Some(theirs.file.output.default).filter(|f| *f != OutputFormat::Auto).map(|f| f.word().to_owned()),
        ),
    ];
    for (key, value) in configured.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        let known = config::keys::get(&core.config, key)?;
        match known.source {
            Source::Default => {
                report.push(outcome(key, ImportOutcome::Added, key));
                changes.push((key, value));
            }
            _ if known.value == json!(value) => report.push(outcome(key, ImportOutcome::Present, key)),
            _ => report.push(outcome(key, ImportOutcome::Skipped, "already set to a different value")),
        }
    }
    if theirs.file.memory.db.is_some() {
        report.push(outcome(
            "memory.db",
            ImportOutcome::Skipped,
            "the memory of af is imported into the database of afd",
        ));
    }
    if !dry_run {
        let device = device.as_ref().map(|(name, device)| (name.as_str(), device));
        let changes: Vec<(&str, &str)> = changes.iter().map(|(key, value)| (*key, value.as_str())).collect();
        config::keys::set_all(&core.config, device, &changes)?;
    }
    Ok(report)
}

fn count(tally: &mut Tally, taken: ImportOutcome) {
    *(match taken {
        ImportOutcome::Added => &mut tally.added,
        ImportOutcome::Present => &mut tally.present,
        ImportOutcome::Cleaned => &mut tally.cleaned,
        ImportOutcome::Skipped => &mut tally.skipped,
    }) += 1;
}

/// Writes all rows within the caller's transaction and counts the outcomes.
fn import_rows(c: &Connection, origin: &str, found: &mut AfMemory) -> std::result::Result<(), StoreError> {
    let source = source(found);
    let session_of = |name: &str| session::row_id(c, origin, if name.is_empty() { "default" } else { name });
    for note in &found.notes {
        let saved = notes::save(c, origin, session_of(&note.session)?, &note.row)?;
        count(
            &mut found.tallies[af::NOTES],
            if saved.is_some() { ImportOutcome::Added } else { ImportOutcome::Present },
        );
    }
    for transition in found.transitions.values() {
        count(&mut found.tallies[af::TRANSITIONS], imported::transition(c, origin, &source, transition)?);
    }
    for recovery in found.recoveries.values() {
        count(&mut found.tallies[af::RECOVERIES], imported::recovery(c, origin, &source, recovery)?);
    }
    for artifact in &found.artifacts {
        let added = artifact::insert_imported(c, origin, session_of(&artifact.session)?, &artifact.row)?;
        count(&mut found.tallies[af::ARTIFACTS], if added { ImportOutcome::Added } else { ImportOutcome::Present });
    }
    Ok(())
}

/// Imports the rows in one transaction. With `dry_run` the transaction is rolled back, so that the report is accurate.
async fn write_rows(store: &Store, mut found: AfMemory, dry_run: bool) -> Result<AfMemory> {
    let origin = store.origin().to_owned();
    let work = move |c: &Connection| {
        import_rows(c, &origin, &mut found)?;
        Ok(found)
    };
    Ok(if dry_run { store.dry_run(work).await? } else { store.write(work).await? })
}

/// Implements `memory.importAf`.
///
/// # Errors
/// If a file is missing or does not belong to `af` 0.5; nothing is imported in these cases.
pub async fn af(core: &Arc<Core>, params: &ImportAfParams) -> Result<ImportReport> {
    let (importer, params) = (core.clone(), params.clone());
    let trace = current_trace().unwrap_or_else(new_uid);
    core.finish(async move { import(&importer, &params, trace).await }).await?
}

async fn import(core: &Arc<Core>, params: &ImportAfParams, trace: String) -> Result<ImportReport> {
    let config_file = params.config_file.as_deref().map(|p| absolute("configFile", p)).transpose()?;
    let theirs = run_blocking(move || config_file.map(|path| AfSettings::read(&path)).transpose()).await??;
    let named = params.database_file.as_deref().map(|p| absolute("databaseFile", p)).transpose()?;
    let database = named.or_else(|| theirs.as_ref().and_then(|t| t.path(&t.file.memory.db)));
    if theirs.is_none() && database.is_none() {
        return Err(Error::param("databaseFile", "a configuration file or a database of af", "neither"));
    }
    if let Some(path) = &database
        && core.leads_to_database(path).await?
    {
        return Err(Error::param("databaseFile", "a database of af", path.display()));
    }
    let found = match database {
        Some(path) => run_blocking(move || af::read(&path, &trace)).await??,
        None => AfMemory::default(),
    };
    // Check the settings before anything is written. They are imported last: importing rows again is harmless, whereas
    // settings imported before a failure would stay and might refer to missing data.
    let theirs = theirs.map(Arc::new);
    let mut settings_report = Vec::new();
    if let Some(theirs) = theirs.clone() {
        let own = core.clone();
        settings_report = run_blocking(move || settings(&own, &theirs, true)).await??;
    }
    let found = write_rows(&core.store, found, params.dry_run).await?;
    scope::report(1, Some(2), "memory");
    if let Some(theirs) = theirs.filter(|_| !params.dry_run) {
        let own = core.clone();
        settings_report = run_blocking(move || settings(&own, &theirs, false)).await??;
        daemon::reload(core).await?;
    }
    scope::report(2, Some(2), "settings");
    let [notes, transitions, recoveries, artifacts, events] = found.tallies;
    let remark_count = found.remarks.len() as u64;
    let remarks = found.remarks.into_iter().take(MAX_REMARKS).collect();
    Ok(ImportReport {
        dry_run: params.dry_run,
        settings: settings_report,
        notes,
        transitions,
        recoveries,
        artifacts,
        events,
        remarks,
        remark_count,
    })
}
