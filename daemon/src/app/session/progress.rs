//! `session.progress`: writes the progress files of a session.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use afd_proto::progress::{ProgressParams, ProgressResult, SessionProgress};
use tokio::io::AsyncReadExt;

use super::{change, check_directory, digest, known, still_active};
use crate::app::checks::check_text;
use crate::app::{Core, Error, Methods, Result};
use afd_base::file as files;
use afd_base::task::run_blocking;
use afd_workspace::progress::{self, GitState};
use afd_workspace::{Session, summary::Digest};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<SessionProgress, _, _>(|core, p| async move { progress(&core, &p).await });
}

/// Timeout for a single git command.
const GIT_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum output read from a git command, in bytes.
const MAX_GIT_OUTPUT: u64 = 1 << 20;
/// Maximum number of uncommitted changes listed.
const MAX_CHANGES: usize = 200;
/// Maximum number of next steps of a session, and of its blockers.
const MAX_STEPS: usize = 100;

/// `session.progress`: updates next steps, blockers and progress settings, then writes the progress files.
///
/// # Errors
/// `NOT_FOUND` if there is no such session, `INVALID_PARAMS` if the files cannot be written.
pub async fn progress(core: &Arc<Core>, params: &ProgressParams) -> Result<ProgressResult> {
    for (field, list) in [("nextSteps", &params.next_steps), ("blockers", &params.blockers)] {
        let list = list.as_deref().unwrap_or(&[]);
        if list.len() > MAX_STEPS {
            return Err(Error::param(field, "at most 100", list.len()));
        }
        list.iter().try_for_each(|step| check_text(field, step, 1_000))?;
    }
    let directory = check_directory("directory", params.directory.as_deref()).await?;
    let dir = check_directory("dir", params.dir.as_deref()).await?;
    let changes =
        params.next_steps.is_some() || params.blockers.is_some() || directory.is_some() || params.auto.is_some();
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

/// Writes the progress files of a session to `dir`, else to the session's progress directory, else to the configured
/// directory.
pub(super) async fn write(core: &Arc<Core>, session: Session, dir: Option<PathBuf>) -> Result<ProgressResult> {
    // Hold the lock from reading the state to writing the files, so that older progress never overwrites newer
    // progress.
    let _lock = core.sessions.progress.lock(session.name.clone()).await;
    let session = known(core, &session.name).await?;
    let digest = digest(&core.store, session).await?;
    let (git, warnings) = git_state(&digest).await;
    let progress = progress::of(&digest, git);
    let session = &digest.session;
    let dir = dir.or_else(|| session.progress_dir.clone()).unwrap_or_else(|| core.config.get().progress_dir.clone());
    let (file, report) = progress::files(&dir, &session.name);
    let json = serde_json::to_string_pretty(&progress)
        .map_err(|e| Error::new(afd_proto::ErrorCode::Internal, format!("cannot serialise the progress: {e}")))?;
    let contents = [(file.clone(), json + "\n"), (report.clone(), progress::text(&progress))];
    for (path, _) in &contents {
        if core.is_daemon_file(path).await? {
            return Err(Error::param(
                "dir",
                "a directory in which the daemon's own files are not overwritten",
                dir.display(),
            ));
        }
    }
    let write_all = move || {
        let write = |(path, text): &(PathBuf, String)| {
            files::replace(path, text.as_bytes()).map_err(|error| (path.clone(), error))
        };
        contents.iter().try_for_each(write)
    };
    if let Err((path, error)) = run_blocking(write_all).await? {
        return Err(Error::param("dir", "a writable directory", format!("{}: {error}", path.display())));
    }
    Ok(ProgressResult {
        session: session.name.clone(),
        file: file.display().to_string(),
        report_file: report.display().to_string(),
        auto: session.progress_dir.is_some(),
        progress,
        warnings,
    })
}

/// Creates a directory if needed and checks that it is writable. Called before a setting that depends on it is changed.
pub(super) async fn probe(field: &'static str, dir: &Path) -> Result<()> {
    let wanted = dir.to_owned();
    let probed = run_blocking(move || {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&wanted)?;
        tempfile::tempfile_in(&wanted)
    });
    match probed.await? {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::param(field, "a writable directory", format!("{}: {error}", dir.display()))),
    }
}

/// Returns the git state of the session's working directory, and warnings if it could not be read.
pub(super) async fn git_state(digest: &Digest) -> (GitState, Vec<String>) {
    let Some(directory) = &digest.session.directory else { return (GitState::default(), Vec::new()) };
    if let Some(why) = runs_programs(directory).await {
        return (GitState::default(), vec![format!("the git state of {} was not read: {why}", directory.display())]);
    }
    // Submodules are ignored, because their configuration is not checked.
    let status = ["status", "--porcelain", "--ignore-submodules=all"];
    let both = tokio::join!(git(directory, &["log", "-1", "--format=%H %s"]), git(directory, &status));
    match both {
        (commit, Ok(status)) => {
            let mut changes: Vec<String> = status.lines().map(str::to_owned).collect();
            let more = changes.len().saturating_sub(MAX_CHANGES);
            changes.truncate(MAX_CHANGES);
            changes.extend((more > 0).then(|| format!("and {more} more")));
            // A repository without commits still has uncommitted changes to report.
            (GitState { last_commit: commit.ok().map(|c| c.trim().to_owned()), changes }, Vec::new())
        }
        (_, Err(why)) => {
            (GitState::default(), vec![format!("the git state of {} is unknown: {why}", directory.display())])
        }
    }
}

/// Returns the reason why `git status` must not be run in a repository, or `None` if it is safe to run. `git status`
/// runs the filter programs that the repository configures, and git has no option to disable them. Filters in the
/// user's and the system's configuration are trusted. A configuration that cannot be read is also a reason not to run
/// it.
async fn runs_programs(directory: &Path) -> Option<String> {
    let list = git(directory, &["config", "--show-scope", "--includes", "--name-only", "--list", "-z"]).await;
    let list = match list {
        Ok(list) => list,
        Err(why) => return Some(why),
    };
    // The output consists of pairs of a scope and a name, each terminated by a zero byte.
    let mut words = list.split('\0');
    while let (Some(scope), Some(name)) = (words.next(), words.next()) {
        let own = matches!(scope, "local" | "worktree");
        if own && name.to_ascii_lowercase().starts_with("filter.") {
            return Some("its git configuration names filter programs that git would run".to_owned());
        }
    }
    None
}

/// Runs git in a directory without letting the repository execute programs. Returns its output, or the reason why there
/// is no output.
async fn git(directory: &Path, arguments: &[&str]) -> std::result::Result<String, String> {
    let mut command = tokio::process::Command::new("git");
    command
        .arg("-C")
        .arg(directory)
        // The repository's configuration may name programs to run; none of them must be executed here.
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false"])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    // Git variables inherited from the daemon's environment must not redirect these commands.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    // A partial clone fetches missing objects with a program that the repository's configuration names.
    command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none");
    command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0");
    let run = async {
        let mut child = command.spawn()?;
        let mut output = Vec::new();
        if let Some(out) = child.stdout.take() {
            out.take(MAX_GIT_OUTPUT + 1).read_to_end(&mut output).await?;
        }
        Ok::<_, std::io::Error>((child.wait().await?, output))
    };
    match tokio::time::timeout(GIT_TIMEOUT, run).await {
        // Truncated output could hide an important line.
        Ok(Ok((_, output))) if output.len() as u64 > MAX_GIT_OUTPUT => {
            Err(format!("git printed more than {MAX_GIT_OUTPUT} bytes"))
        }
        Ok(Ok((status, output))) if status.success() => Ok(String::from_utf8_lossy(&output).into_owned()),
        Ok(Ok(_)) => Err("not a git repository, or git refused to read it".to_owned()),
        Ok(Err(error)) => Err(format!("cannot run git: {error}")),
        Err(_) => Err("git timed out".to_owned()),
    }
}

impl Core {
    /// Rewrites the progress files after a significant change to a session, if automatic progress is on. A failure is
    /// only logged, since the change itself is already committed.
    pub(in crate::app) async fn session_changed(self: &Arc<Self>, name: &str) {
        let session = match known(self, name).await {
            Ok(session) if session.progress_dir.is_some() => session,
            _ => return,
        };
        if let Err(error) = write(self, session, None).await {
            tracing::warn!(%error, session = name, "cannot write the progress files");
        }
    }
}
