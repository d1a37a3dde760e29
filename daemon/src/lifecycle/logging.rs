//! Logging: to a file that is renamed when it gets large, else to standard error, which the journal or a terminal
//! shows. Lines that belong to a call contain its trace id. If the log cannot be written, lines are lost, but no call
//! waits. For example, standard error may be closed, or be a pipe without a reader.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use rustix::fs::FileType;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::{Format, Full, Writer};
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::Args;
use crate::app;

/// Size of a log file above which it is renamed, in bytes.
const MAX_BYTES: u64 = 10 << 20;
/// Number of older log files that are kept, as `.1` to `.3`.
const KEPT: usize = 3;

/// Prefix of a log line: the time, unless the journal adds its own, and the trace id of the current call.
struct TimeAndTrace {
    time: Option<SystemTime>,
}

impl FormatTime for TimeAndTrace {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        if let Some(time) = &self.time {
            time.format_time(writer)?;
        }
        match (app::current_trace(), &self.time) {
            (Some(trace), Some(_)) => write!(writer, " {trace}"),
            (Some(trace), None) => write!(writer, "{trace}"),
            (None, _) => Ok(()),
        }
    }
}

/// Format of log lines for the journal: each line begins with its priority, by which `journalctl -p` filters.
struct Journal(Format<Full, TimeAndTrace>);

impl<S, N> FormatEvent<S, N> for Journal
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        // Syslog priorities.
        let priority = match *event.metadata().level() {
            Level::ERROR => 3,
            Level::WARN => 4,
            Level::INFO => 6,
            _ => 7,
        };
        write!(writer, "<{priority}>")?;
        self.0.format_event(context, writer, event)
    }
}

/// A log file that is renamed to `.1` when it gets large. Older files are renumbered, and the oldest is deleted.
struct Rotating {
    path: PathBuf,
    file: File,
    size: u64,
    max: u64,
}

impl Rotating {
    fn open(path: &Path, max: u64) -> io::Result<Self> {
        if let Some(dir) = path.parent() {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        }
        let file = std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        Ok(Self { path: path.to_owned(), size: file.metadata()?.len(), file, max })
    }

    fn rotate(&mut self) -> io::Result<()> {
        let numbered = |n: usize| PathBuf::from(format!("{}.{n}", self.path.display()));
        for n in (1..KEPT).rev() {
            let _ = std::fs::rename(numbered(n), numbered(n + 1));
        }
        std::fs::rename(&self.path, numbered(1))?;
        *self = Self::open(&self.path, self.max)?;
        Ok(())
    }
}

impl Write for Rotating {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // A file that cannot be renamed keeps growing, so that no lines are lost.
        if self.size > 0 && self.size + line.len() as u64 > self.max && self.rotate().is_err() {
            self.size = 0;
        }
        self.file.write_all(line)?;
        self.size += line.len() as u64;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Maximum number of lines that wait for standard error. Further lines are lost.
const MAX_WAITING: usize = 10_000;
/// Maximum wait for the last lines when the daemon ends.
const LAST_LINES: Duration = Duration::from_millis(500);

/// Work for the thread that writes to standard error.
enum Work {
    Line(Vec<u8>),
    /// Confirms that all earlier lines were written.
    Flush(SyncSender<()>),
}

/// Standard error, written by a separate thread.
#[derive(Clone)]
struct Unhurried(SyncSender<Work>);

impl Unhurried {
    fn start() -> io::Result<Self> {
        // Not `io::stderr`: other threads would wait for its lock.
        let mut stderr = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        let (sender, waiting) = std::sync::mpsc::sync_channel(MAX_WAITING);
        let write = move || {
            for work in waiting {
                match work {
                    Work::Line(line) => _ = stderr.write_all(&line),
                    Work::Flush(done) => _ = done.send(()),
                }
            }
        };
        std::thread::Builder::new().name("log".into()).spawn(write)?;
        Ok(Self(sender))
    }
}

impl Write for Unhurried {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let _ = self.0.try_send(Work::Line(line.to_vec()));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn is_file(stderr: impl AsFd) -> bool {
    rustix::fs::fstat(stderr).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
}

/// The daemon's log. When dropped, waits briefly until the last lines are written.
pub(super) struct Log {
    /// Path of the log file, if there is one.
    pub file: Option<PathBuf>,
    stderr: Option<Unhurried>,
}

impl Drop for Log {
    fn drop(&mut self) {
        let (done, written) = std::sync::mpsc::sync_channel(1);
        if self.stderr.as_ref().is_some_and(|stderr| stderr.0.try_send(Work::Flush(done)).is_ok()) {
            let _ = written.recv_timeout(LAST_LINES);
        }
    }
}

/// Starts logging as specified by the arguments.
pub(super) fn start(args: &Args) -> Log {
    let filter = EnvFilter::try_new(&args.log).unwrap_or_else(|_| EnvFilter::new("info"));
    let journal = std::env::var_os("JOURNAL_STREAM").is_some();
    let timer = TimeAndTrace { time: (!journal).then_some(SystemTime) };
    // The library would report a failed write on standard error, and panic if that fails too.
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).log_internal_errors(false);
    let opened = args.log_file.as_ref().map(|path| Rotating::open(path, MAX_BYTES).map(|file| (path.clone(), file)));
    let failed = opened.as_ref().and_then(|opened| opened.as_ref().err()).map(ToString::to_string);
    let (log, started) = match opened.and_then(Result::ok) {
        Some((path, file)) => {
            let started = builder.with_timer(timer).with_writer(std::sync::Mutex::new(file)).try_init();
            (Log { file: Some(path), stderr: None }, started)
        }
        None => {
            // Writing to a file does not block, so its lines are written before the call is answered.
            let stderr = if is_file(io::stderr()) { None } else { Unhurried::start().ok() };
            let log = Log { file: None, stderr: stderr.clone() };
            let writer = move || -> Box<dyn Write> {
                match &stderr {
                    Some(stderr) => Box::new(stderr.clone()),
                    None => Box::new(io::stderr()),
                }
            };
            let started = if journal {
                let format = Journal(Format::default().with_ansi(false).with_timer(timer));
                builder.event_format(format).with_writer(writer).try_init()
            } else {
                builder.with_timer(timer).with_writer(writer).try_init()
            };
            (log, started)
        }
    };
    if let (Some(path), Some(error)) = (&args.log_file, failed) {
        tracing::error!(error, path = %path.display(), "cannot write the log file");
    }
    if started.is_err() {
        tracing::debug!("logging is already initialised");
    }
    // The default hook writes to standard error, which blocks if it is a full pipe.
    std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "panicked")));
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_log_is_renamed_and_the_oldest_is_deleted() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("state/afd.log");
        let mut log = Rotating::open(&path, 20).expect("opens");
        for n in 0..12 {
            writeln!(log, "line {n:04}").expect("writes");
        }
        let read = |suffix: &str| std::fs::read_to_string(format!("{}{suffix}", path.display())).ok();
        assert_eq!(read("").as_deref(), Some("line 0010\nline 0011\n"));
        assert_eq!(read(".1").as_deref(), Some("line 0008\nline 0009\n"));
        assert_eq!(read(".3").as_deref(), Some("line 0004\nline 0005\n"));
        assert_eq!(read(".4"), None);
        drop(log);
        let mut log = Rotating::open(&path, 20).expect("opens again");
        writeln!(log, "after a restart").expect("writes");
        assert_eq!(read(".1").as_deref(), Some("line 0010\nline 0011\n"), "the size of what was there counts");
    }
}
