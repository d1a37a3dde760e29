//! Videos of the screen, by the phone's `screenrecord`.

use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use super::super::remote::{Remote, of_read, refused};
use crate::DriverError;
use crate::adb::RunError;

/// Bits for each second of video. At most 3 minutes of it fit into an answer of the phone.
const BIT_RATE: u32 = 2_000_000;
/// Time in which `screenrecord` fails if it cannot record.
const START: Duration = Duration::from_millis(800);
/// Time that the phone needs to finish the file, at most.
const FINISH: Duration = Duration::from_secs(10);
/// Time for the transfer, at most.
const TRANSFER: Duration = Duration::from_secs(120);
/// Time after its end in which a recording can be fetched.
const KEPT: Duration = Duration::from_secs(3_600);

/// A recording that runs, or that has ended without being fetched.
pub struct Recording {
    file: String,
    started: Instant,
    max: Duration,
    /// Time from start to stop; `None` before the stop.
    took: Option<Duration>,
    running: JoinHandle<Result<Vec<u8>, RunError>>,
}

impl Recording {
    /// Returns whether the recording ended more than an hour ago and was not fetched.
    pub fn is_forgotten(&self) -> bool {
        self.started.elapsed() > self.max + KEPT
    }
}

/// Starts a recording that ends after `max` at the latest.
pub async fn start(remote: &Remote, max: Duration) -> Result<Recording, DriverError> {
    let file = format!("/data/local/tmp/afd-{}.mp4", afd_store::new_uid());
    let seconds = max.as_secs().max(1);
    // Recordings that an earlier daemon left behind would fill the phone.
    let command = format!(
        "find /data/local/tmp -name 'afd-*.mp4' -mmin +120 -delete 2>/dev/null; screenrecord --bit-rate {BIT_RATE} --time-limit {seconds} {file} 2>&1"
    );
    let own = remote.clone();
    let mut running = tokio::spawn(async move { own.run(&command, "", max + FINISH).await });
    match tokio::time::timeout(START, &mut running).await {
        Err(_) => Ok(Recording { file, started: Instant::now(), max, took: None, running }),
        Ok(Ok(Ok(output))) => Err(refused(&String::from_utf8_lossy(&output), 1)),
        Ok(Ok(Err(error))) => Err(of_read(error)),
        Ok(Err(panicked)) => Err(DriverError::Failed(panicked.to_string())),
    }
}

/// Ends a recording, and returns the video and the time since its start. After an error, this can be repeated.
pub async fn stop(remote: &Remote, recording: &mut Recording) -> Result<(Vec<u8>, Duration), DriverError> {
    let file = recording.file.clone();
    let took = recording.took.get_or_insert(recording.started.elapsed().min(recording.max)).to_owned();
    // The pattern does not match the command line that contains it. Phones without `pkill` have one recording at a time.
    let by_name = format!("pkill -INT -f '[s]creenrecord.*{file}' 2>/dev/null");
    remote.query(&format!("{by_name}; [ $? -eq 127 ] && kill -INT $(pidof screenrecord) 2>/dev/null; true")).await?;
    if !recording.running.is_finished() {
        // The connection may have been lost meanwhile; then the file is there as far as it was written.
        let _ = tokio::time::timeout(FINISH, &mut recording.running).await;
    }
    let size = remote.query(&format!("wc -c < {file} 2>/dev/null")).await?;
    let size: usize = size.trim().parse().unwrap_or(0);
    if size == 0 {
        return Err(DriverError::Refused { status: None, message: "the phone recorded nothing".into() });
    }
    let video = remote.run(&format!("cat {file}"), "", TRANSFER).await.map_err(of_read)?;
    if video.len() != size {
        let why = format!("{} of {size} bytes of the video arrived; stop the recording again", video.len());
        return Err(DriverError::Unreachable(why.into()));
    }
    let _ = remote.query(&format!("rm -f {file}")).await;
    Ok((video, took))
}
