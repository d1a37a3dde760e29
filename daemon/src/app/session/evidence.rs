//! What a device's log says about a bug.

use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::findings::BugAddParams;
use afd_proto::incident::{Incident, IncidentKind};
use afd_proto::manage::{LogLevel, LogRow};
use afd_proto::vocabulary::Address;

use crate::app::device::manage::since;
use crate::app::{Core, Error, Result};
use afd_device::{DriverError, LogQuery};
use afd_experience::memory::{incidents, log};
use afd_store::now_ms;
use afd_workspace::Session;
use afd_workspace::findings::Place;

/// Maximum age of a crash that belongs to a bug, in milliseconds.
const CRASH_MS: i64 = 30 * 60 * 1_000;
/// Number of lines of the log.
const MAX_LINES: usize = 60;
/// Maximum length of a description, in characters, and of a line in it.
const MAX_TEXT: usize = 10_000;
const MAX_LINE: usize = 300;

/// Adds what the app logged since the session's last action to the description of a bug, and the crash that its last actions met
/// to `actual`, unless that is given. The bug belongs to the app that crashed. Each line is marked as a quotation.
///
/// # Errors
/// If the session has used no device, or one that cannot be managed.
pub(super) async fn add(core: &Arc<Core>, session: &Session, place: &mut Place, bug: &mut BugAddParams) -> Result<()> {
    let (id, name) = (session.id, session.name.clone());
    let used =
        core.store.read_all(move |c| Ok((log::context(c, &name, None)?.device, log::last_device(c, &name, None)?)));
    let (device, row) = used.await?;
    let device = match device {
        Some(device) => core.devices.get(&device).map(|(device, _)| device),
        // Without an observation, the only device is meant.
        None => core
            .devices
            .resolve(&Address { device: None, session: Some(&session.name), url: None, token: None })
            .ok()
            .map(|resolved| resolved.device),
    };
    let Some(device) = device else {
        return Err(Error::new(ErrorCode::NotFound, "the session has used no device whose log could be read")
            .hint("observe the device in this session first, or report the bug without its log"));
    };
    let manages = device.managed()?;
    if let Some(row) = row {
        core.incidents_of(&device, (id, row), None).await;
    }
    let found = core.store.read_all(move |c| {
        let last = row.map(|row| incidents::last_act(c, id, row)).transpose()?.flatten();
        Ok((last, incidents::newest(c, id, now_ms() - CRASH_MS)?.unwrap_or_default()))
    });
    let (last, known) = found.await?;
    let named = bug.app.clone();
    // What crashed in the background is another bug.
    let own = [named.as_deref(), known.app.as_deref(), session.app.as_deref()];
    let crashes: Vec<&Incident> = known.incidents.iter().filter(|one| own.contains(&Some(package(&one.app)))).collect();
    if let (None, None, Some(crash)) = (&named, &bug.page, crashes.last()) {
        place.app = Some(package(&crash.app).to_owned());
        place.page.clone_from(&known.page);
        place.state = None;
    }
    let app = named.or(place.app.clone());
    let mut query = LogQuery { app, age: since(last.map(|act| act.began)), level: LogLevel::Info, limit: MAX_LINES };
    let part = match manages.log(&query).await {
        // A dialog belongs to the system, which is no app in the list.
        Err(DriverError::Refused { .. }) => {
            query.app = None;
            manages.log(&query).await?
        }
        read => read?,
    };
    let of = query.app.map(|app| format!(" of {app}")).unwrap_or_default();
    let mut text = match part.rows.is_empty() {
        true => format!("Nothing was logged{} since the last action.", of.replace(" of", " by")),
        false => format!("Log{of} since the last action:"),
    };
    part.rows.iter().for_each(|row| text.push_str(&format!("\n> {}", line(row))));
    let own = bug.description.take().map(|own| own + "\n\n").unwrap_or_default();
    bug.description = Some((own + &text).chars().take(MAX_TEXT).collect());
    if bug.actual.is_none() && !crashes.is_empty() {
        bug.actual = Some(crashes.iter().copied().map(described).collect::<Vec<_>>().join("\n"));
    }
    Ok(())
}

fn line(row: &LogRow) -> String {
    let LogRow { level, tag, pid, text, .. } = row;
    let line = format!("{} {tag}({pid}): {text}", level.word()[..1].to_uppercase());
    line.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_LINE).collect()
}

/// Returns the package of a process, such as `com.shop:push`.
fn package(process: &str) -> &str {
    process.split(':').next().unwrap_or(process)
}

fn described(incident: &Incident) -> String {
    match incident.kind {
        IncidentKind::Crash => format!("{} crashed:\n> {}", incident.app, incident.report),
        IncidentKind::NotResponding => format!("{} does not respond", incident.app),
    }
}
