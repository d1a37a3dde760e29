//! `memory.importAf`: settings, notes, transitions, recoveries and artifacts of `af` 0.5, cleaned.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::config::Source;
use afd_proto::import::{ImportAfParams, ImportReport, ImportedSetting, Taken, Tally};
use rusqlite::Connection;
use serde_json::json;

use super::artifacts::absolute;
use super::{Core, Error, Result, admin, current_trace, scope};
use crate::artifact;
use crate::config::{self, DeviceSettings, Settings};
use crate::memory::af::{self, AfError, Found};
use crate::memory::imported;
use crate::memory::notes;
use crate::session;
use crate::store::{StoreError, new_uid};
use crate::task::run_blocking;

/// What the rows of an imported memory are marked with.
fn source(found: &Found) -> String {
    format!("af {}", found.identity)
}

/// At most this many remarks are returned.
const MAX_REMARKS: usize = 200;

impl From<AfError> for Error {
    fn from(error: AfError) -> Self {
        match &error {
            AfError::Io { path, error: cause } => {
                let code = if cause.kind() == std::io::ErrorKind::NotFound { ErrorCode::NotFound } else { ErrorCode::Conflict };
                Error::new(code, error.to_string()).hint("the daemon itself must be able to read it").details(json!({"path": path}))
            }
            AfError::Foreign { path, .. } => Error::new(ErrorCode::Conflict, error.to_string())
                .hint("give the database of af 0.5, by default the one that its setting memory.db names")
                .details(json!({"path": path})),
        }
    }
}

/// The settings of `af`, whose keys are among ours.
struct AfSettings {
    dir: PathBuf,
    file: config::File,
}

impl AfSettings {
    fn read(path: &Path) -> Result<Self> {
        // No file is as good as an empty one at a start, but not here.
        std::fs::metadata(path).map_err(|error| AfError::Io { path: path.to_owned(), error })?;
        let (file, _) = config::read_file(path)?;
        Ok(Self { dir: path.parent().unwrap_or(Path::new("/")).to_owned(), file })
    }

    fn path(&self, path: &Option<PathBuf>) -> Option<PathBuf> {
        path.as_ref().map(|p| self.dir.join(p))
    }
}

fn outcome(key: &str, outcome: Taken, remark: impl Into<String>) -> ImportedSetting {
    ImportedSetting { key: key.to_owned(), outcome, remark: remark.into() }
}

/// The device of `af`: its name here and its settings, or why it is left behind.
fn device(theirs: &AfSettings, ours: &Settings, report: &mut Vec<ImportedSetting>) -> Option<(String, DeviceSettings)> {
    let device = theirs.file.devices().remove("default")?;
    let url = device.url.clone();
    if let Some((name, _)) = ours.devices.iter().find(|(_, d)| d.url.trim_end_matches('/') == url.trim_end_matches('/')) {
        report.push(outcome("remote.url", Taken::Present, format!("device.{name}.url")));
        return None;
    }
    let Some(name) = ["default", "af"].into_iter().find(|n| !ours.devices.contains_key(*n)) else {
        report.push(outcome("remote.url", Taken::Skipped, "devices `default` and `af` are there already; use `afctl device add`"));
        return None;
    };
    report.push(outcome("remote.url", Taken::Added, format!("device.{name}.url")));
    if device.token.is_some() {
        report.push(outcome("remote.token", Taken::Added, format!("device.{name}.token")));
    }
    if device.usb.is_some() {
        report.push(outcome("connection.usb", Taken::Added, format!("device.{name}.usb")));
    }
    Some((name.to_owned(), device))
}

/// Takes over the settings, all or none, or tells what would be taken over.
fn settings(core: &Core, theirs: &AfSettings, dry_run: bool) -> Result<Vec<ImportedSetting>> {
    let mut report = Vec::new();
    let ours = core.config.get();
    let device = device(theirs, &ours, &mut report);
    let mut changes: Vec<(&str, String)> = Vec::new();
    let artifacts = &theirs.file.artifacts;
    let text = |path: &Option<PathBuf>| theirs.path(path).map(|p| p.display().to_string());
    let said = [
        ("artifacts.dir", text(&artifacts.dir)),
        ("artifacts.screen_file", text(&artifacts.screen_file)),
        ("artifacts.screenshot_file", text(&artifacts.screenshot_file)),
        ("artifacts.page_dir", text(&artifacts.page_dir)),
        ("output.default", theirs.file.output.default.clone()),
    ];
    for (key, value) in said.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        let known = config::keys::get(&core.config, key)?;
        match known.source {
            Source::Default => {
                report.push(outcome(key, Taken::Added, key));
                changes.push((key, value));
            }
            _ if known.value == json!(value) => report.push(outcome(key, Taken::Present, key)),
            _ => report.push(outcome(key, Taken::Skipped, "it is set to something else here")),
        }
    }
    if theirs.file.memory.db.is_some() {
        report.push(outcome("memory.db", Taken::Skipped, "the memory of af is taken over into our own"));
    }
    if !dry_run {
        let device = device.as_ref().map(|(name, device)| (name.as_str(), device));
        let changes: Vec<(&str, &str)> = changes.iter().map(|(key, value)| (*key, value.as_str())).collect();
        config::keys::set_all(&core.config, device, &changes)?;
    }
    Ok(report)
}

fn count(tally: &mut Tally, taken: Taken) {
    *(match taken {
        Taken::Added => &mut tally.added,
        Taken::Present => &mut tally.present,
        Taken::Cleaned => &mut tally.cleaned,
        Taken::Skipped => &mut tally.skipped,
    }) += 1;
}

/// Writes everything in one piece, or nothing.
fn take_over(c: &Connection, origin: &str, found: &mut Found) -> std::result::Result<(), StoreError> {
    let source = source(found);
    let session_of = |name: &str| session::row_id(c, origin, if name.is_empty() { "default" } else { name });
    for note in &found.notes {
        let saved = notes::save(c, origin, session_of(&note.session)?, &note.row)?;
        count(&mut found.tallies[af::NOTES], if saved.is_some() { Taken::Added } else { Taken::Present });
    }
    for transition in found.transitions.values() {
        count(&mut found.tallies[af::TRANSITIONS], imported::transition(c, origin, &source, transition)?);
    }
    for recovery in found.recoveries.values() {
        count(&mut found.tallies[af::RECOVERIES], imported::recovery(c, origin, &source, recovery)?);
    }
    for artifact in &found.artifacts {
        let added = artifact::insert_imported(c, origin, session_of(&artifact.session)?, &artifact.row)?;
        count(&mut found.tallies[af::ARTIFACTS], if added { Taken::Added } else { Taken::Present });
    }
    Ok(())
}

/// Takes the rows over; with `dry_run` everything is done and then undone, so that the report is what would come of it.
async fn rows(core: &Arc<Core>, mut found: Found, dry_run: bool) -> Result<Found> {
    let origin = core.store.origin().to_owned();
    let work = move |c: &Connection| {
        take_over(c, &origin, &mut found)?;
        Ok(found)
    };
    Ok(if dry_run { core.store.rehearse(work).await? } else { core.store.write(work).await? })
}

/// `memory.importAf`
///
/// # Errors
/// When a file is not there, or is not of `af` 0.5; then nothing is taken over.
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
        return Err(Error::param("databaseFile", "a settings file or a database of af", "neither"));
    }
    if let Some(path) = &database
        && core.leads_to_database(path).await?
    {
        return Err(Error::param("databaseFile", "a database of af", path.display()));
    }
    let found = match database {
        Some(path) => run_blocking(move || af::read(&path, &trace)).await??,
        None => Found::default(),
    };
    // What the settings would be refused for is known before anything is written; they come last, as rows that are taken over twice
    // count once, and settings that name what is not there would stay.
    let theirs = theirs.map(Arc::new);
    let mut settings_report = Vec::new();
    if let Some(theirs) = theirs.clone() {
        let own = core.clone();
        settings_report = run_blocking(move || settings(&own, &theirs, true)).await??;
    }
    let found = rows(core, found, params.dry_run).await?;
    scope::report(1, Some(2), "memory");
    if let Some(theirs) = theirs.filter(|_| !params.dry_run) {
        let own = core.clone();
        settings_report = run_blocking(move || settings(&own, &theirs, false)).await??;
        admin::reload(core).await?;
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
