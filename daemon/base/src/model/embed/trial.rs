//! Tries to use a sentence model in a child process, because loading files with unknown content may exhaust the memory
//! or never end.

use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

use crate::platform;

/// Command-line argument that makes the daemon binary try the model in a directory, print a [`Trial`] or an error as
/// JSON, and exit.
pub const ARGUMENT: &str = "--try-model";
/// A trial's address space limit (bytes) is `MEMORY` plus `TIMES_WEIGHTS` times the size of the weights.
const MEMORY: u64 = 1 << 30;
const TIMES_WEIGHTS: u64 = 4;
/// Limits for a trial's processor time (seconds) and for its total time.
const CPU_SECONDS: u64 = 60;
const MAX_TIME: Duration = Duration::from_secs(120);
/// Interval at which a trial's process is polled for its exit.
const POLL: Duration = Duration::from_millis(5);
/// Maximum length of a trial's output, in bytes.
const MAX_OUTPUT: u64 = 64 << 10;

/// Result of a successful trial: the model's properties.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Identity of the model: a hash of its files.
    pub identity: String,
    /// Number of components in the model's vectors.
    pub dimensions: usize,
    /// Time to embed one sentence, in milliseconds.
    pub sentence_ms: f64,
}

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Sets the path of the daemon's program, which runs trials. By default, this is the running program.
pub fn use_program(path: PathBuf) {
    let _ = PROGRAM.set(path);
}

/// Tries to use the model in a directory, in a child process. This function blocks.
///
/// # Errors
/// If the model cannot be used. The message gives the reason, and names the file if one is invalid.
pub(super) fn in_child(directory: &Path) -> Result<Trial, String> {
    let program = PROGRAM.get().cloned().unwrap_or_else(platform::own_program);
    let mut command = Command::new(&program);
    command.arg(ARGUMENT).arg(directory).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|e| format!("cannot start {}: {e}", program.display()))?;
    let status = wait(&mut child)?;
    let mut printed = Vec::new();
    if let Some(out) = child.stdout.take() {
        out.take(MAX_OUTPUT)
            .read_to_end(&mut printed)
            .map_err(|e| format!("cannot read what the trial printed: {e}"))?;
    }
    let told = serde_json::from_slice::<Result<Trial, String>>(&printed);
    match told {
        Ok(told) if status.success() => told,
        _ => Err(format!("{}: reading the model failed: {}", directory.display(), cause(status))),
    }
}

/// Waits for a trial's process to exit, and kills the process if it takes too long.
fn wait(child: &mut Child) -> Result<ExitStatus, String> {
    let deadline = Instant::now() + MAX_TIME;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(POLL),
            ended => {
                let _ = child.kill();
                let _ = child.wait();
                let why = ended
                    .map_or_else(|error| error.to_string(), |_| format!("it took more than {} s", MAX_TIME.as_secs()));
                return Err(format!("the model cannot be tried: {why}"));
            }
        }
    }
}

fn cause(status: ExitStatus) -> String {
    match status.signal() {
        Some(libc::SIGXCPU) => format!("it took more than {CPU_SECONDS} s of processor time"),
        Some(libc::SIGKILL) => {
            format!(
                "it was killed: it took more than {CPU_SECONDS} s of processor time, or the machine ran out of memory"
            )
        }
        Some(libc::SIGABRT | libc::SIGSEGV) => {
            "it needs more memory than a model of this size should, or its files are damaged".to_owned()
        }
        Some(signal) => format!("it was ended by signal {signal}"),
        None => status.to_string(),
    }
}

/// Limits the resources of the current process, which runs a trial.
pub(super) fn limit(directory: &Path) {
    let weights = std::fs::metadata(directory.join("model.safetensors")).map_or(0, |meta| meta.len());
    let most = MEMORY + TIMES_WEIGHTS * weights;
    for (what, limit) in [(Resource::As, most), (Resource::Cpu, CPU_SECONDS), (Resource::Core, 0)] {
        let _ = setrlimit(what, Rlimit { current: Some(limit), maximum: Some(limit) });
    }
}
