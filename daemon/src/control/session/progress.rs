//! `session.progress`: the files that tell how far a session is.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncReadExt;

use afd_proto::progress::{ProgressParams, ProgressWritten};
use afd_proto::session::SessionCall;

use super::super::{Core, Error, Result};
use super::{change, check_directory, check_text, digest, known, still_active};
use crate::file as files;
use crate::session::progress::{self, GitState};
use crate::session::{Session, summary::Digest};
use crate::task::run_blocking;

/// How long git may take.
const GIT: Duration = Duration::from_secs(5);
/// The most that is read of what git says, bytes.
const GIT_OUTPUT: u64 = 1 << 20;
/// At most this many changes are named.
const CHANGES: usize = 200;
/// At most this many steps or blockers.
const STEPS: usize = 100;

/// `session.progress`
///
/// # Errors
/// When there is no such session, or the files cannot be written.
pub async fn progress(core: &Arc<Core>, params: &ProgressParams) -> Result<ProgressWritten> {
    for (field, list) in [("nextSteps", &params.next_steps), ("blockers", &params.blockers)] {
        let list = list.as_deref().unwrap_or(&[]);
        if list.len() > STEPS {
            return Err(Error::param(field, "at most 100", list.len()));
        }
        list.iter().try_for_each(|step| check_text(field, step, 1_000))?;
    }
    let directory = check_directory("directory", params.directory.as_deref()).await?;
    let dir = check_directory("dir", params.dir.as_deref()).await?;
    let changes = params.next_steps.is_some() || params.blockers.is_some() || directory.is_some() || params.auto.is_some();
    let mut session = known(core, params.session()).await?;
    if let Some(dir) = &dir {
        probe("dir", dir).await?;
    }
    if changes {
        let (p, dir, usual) = (params.clone(), dir.clone(), core.config.get().progress_dir.clone());
        session = change(core, params.session(), move |session| {
            still_active(session)?;
            session.next_steps = p.next_steps.unwrap_or_else(|| std::mem::take(&mut session.next_steps));
            session.blockers = p.blockers.unwrap_or_else(|| std::mem::take(&mut session.blockers));
            session.directory = directory.or_else(|| session.directory.take());
            session.progress_dir = match p.auto {
                Some(true) => Some(dir.or_else(|| session.progress_dir.take()).unwrap_or(usual)),
                Some(false) => None,
                None => session.progress_dir.take(),
            };
            Ok(())
        })
        .await?;
    }
    write(core, session, dir).await
}

/// Writes the files of a session, where it is said, where they went before, or to the state directory.
pub(super) async fn write(core: &Arc<Core>, session: Session, dir: Option<PathBuf>) -> Result<ProgressWritten> {
    // One after the other, from the state on: an older one never replaces a newer one.
    let _alone = core.turns.progress.lock(session.name.clone()).await;
    let session = known(core, &session.name).await?;
    let digest = digest(core, session).await?;
    let (git, warnings) = git_of(&digest).await;
    let progress = progress::of(&digest, git);
    let session = &digest.session;
    let dir = dir.or_else(|| session.progress_dir.clone()).unwrap_or_else(|| core.config.get().progress_dir.clone());
    let (file, report) = progress::files(&dir, &session.name);
    let json = serde_json::to_string_pretty(&progress)
        .map_err(|e| Error::new(afd_proto::ErrorCode::Internal, format!("progress cannot be written as JSON: {e}")))?;
    let contents = [(file.clone(), json + "\n"), (report.clone(), progress::text(&progress))];
    for (path, _) in &contents {
        if core.is_own(path).await? {
            return Err(Error::param("dir", "a directory whose files are not the daemon's own", dir.display()));
        }
    }
    let write_all = move || {
        let write = |(path, text): &(PathBuf, String)| files::replace(path, text.as_bytes()).map_err(|error| (path.clone(), error));
        contents.iter().try_for_each(write)
    };
    if let Err((path, error)) = run_blocking(write_all).await? {
        return Err(Error::param("dir", "a directory that can be written to", format!("{}: {error}", path.display())));
    }
    Ok(ProgressWritten {
        session: session.name.clone(),
        file: file.display().to_string(),
        report_file: report.display().to_string(),
        auto: session.progress_dir.is_some(),
        progress,
        warnings,
    })
}

/// Whether files can be written to a directory; before anything is changed because they are to be.
pub(super) async fn probe(field: &'static str, dir: &Path) -> Result<()> {
    let wanted = dir.to_owned();
    let probed = run_blocking(move || {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&wanted)?;
        tempfile::tempfile_in(&wanted)
    });
    match probed.await? {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::param(field, "a directory that can be written to", format!("{}: {error}", dir.display()))),
    }
}

/// The state of the working directory, and why it is not known.
pub(super) async fn git_of(digest: &Digest) -> (GitState, Vec<String>) {
    let Some(directory) = &digest.session.directory else { return (GitState::default(), Vec::new()) };
    // Filters are programs that `git status` runs on what is there; git has no switch for them.
    if git(directory, &["config", "--local", "--includes", "--get-regexp", "^filter\\."]).await.is_ok_and(|found| !found.trim().is_empty())
    {
        let why = "its settings name programs that git would run";
        return (GitState::default(), vec![format!("the git state of {} is not read: {why}", directory.display())]);
    }
    let both = tokio::join!(git(directory, &["log", "-1", "--format=%H %s"]), git(directory, &["status", "--porcelain"]));
    match both {
        (commit, Ok(status)) => {
            let mut changes: Vec<String> = status.lines().map(str::to_owned).collect();
            let more = changes.len().saturating_sub(CHANGES);
            changes.truncate(CHANGES);
            changes.extend((more > 0).then(|| format!("and {more} more")));
            // A repository without a commit has a state too.
            (GitState { last_commit: commit.ok().map(|c| c.trim().to_owned()), changes }, Vec::new())
        }
        (_, Err(why)) => (GitState::default(), vec![format!("the git state of {} is not known: {why}", directory.display())]),
    }
}

async fn git(directory: &Path, arguments: &[&str]) -> std::result::Result<String, String> {
    let mut command = tokio::process::Command::new("git");
    command
        .arg("-C")
        .arg(directory)
        // A repository may name a program to run; nothing of it is to be run from here.
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false"])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    // What the daemon was started from is no business of this.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0");
    let run = async {
        let mut child = command.spawn()?;
        let mut said = Vec::new();
        if let Some(out) = child.stdout.take() {
            out.take(GIT_OUTPUT).read_to_end(&mut said).await?;
        }
        Ok::<_, std::io::Error>((child.wait().await?, said))
    };
    match tokio::time::timeout(GIT, run).await {
        Ok(Ok((status, said))) if status.success() => Ok(String::from_utf8_lossy(&said).into_owned()),
        Ok(Ok(_)) => Err("it is no git repository, or one that git does not read".to_owned()),
        Ok(Err(error)) => Err(format!("git cannot be run: {error}")),
        Err(_) => Err("git took too long".to_owned()),
    }
}

impl Core {
    /// Something significant of a session changed: its progress files follow if they are to. That they cannot be written is no reason
    /// to refuse the change, which is on record.
    pub(in crate::control) async fn session_changed(self: &Arc<Self>, name: &str) {
        let session = match known(self, name).await {
            Ok(session) if session.progress_dir.is_some() => session,
            _ => return,
        };
        if let Err(error) = write(self, session, None).await {
            tracing::warn!(%error, session = name, "cannot write the progress files");
        }
    }
}
