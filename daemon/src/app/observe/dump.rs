//! `observe.dump`: the outline of a dump that the caller has.

use std::sync::Arc;

use afd_proto::observe::{DumpOutline, DumpParams};
use tokio::time::Instant;

use super::outline::of_capture;
use super::screen_capture::ScreenCapture;
use crate::app::{Error, Result};
use afd_base::task::run_blocking;
use afd_device::TreeReading;
use afd_device::dump::{self, Known};
use afd_screen::page::Screen;

/// Name of the source of a dump.
const MODE: &str = "DUMP";

/// Implements `observe.dump`.
///
/// # Errors
/// If the content is not a dump.
pub async fn dump(params: DumpParams) -> Result<DumpOutline> {
    let rows = params.max_rows() as usize;
    let read = run_blocking(move || {
        let known = Known { without_activity: true, mode: MODE.to_owned(), ..Known::default() };
        dump::parse(&params.content, known).map(|snapshot| {
            let size = snapshot.size;
            let value = Arc::new(Screen::from(snapshot));
            let capture = ScreenCapture::of(TreeReading { value, seq: 0, inputs: 0, at: Instant::now() }, true, false);
            let interactive = u32::try_from(capture.refs().len()).unwrap_or(u32::MAX);
            DumpOutline { outline: of_capture(&capture, rows), interactive, size }
        })
    });
    match read.await {
        Ok(Ok(outline)) => Ok(outline),
        Ok(Err(wrong)) => {
            Err(Error::param("content", "the XML of `uiautomator dump` or a page source of Appium", wrong.to_string()))
        }
        Err(panicked) => Err(Error::new(afd_proto::ErrorCode::Internal, panicked.to_string())),
    }
}
