//! `observe.text`: the text of a page, to be read.

use std::sync::Arc;
use std::time::Duration;

use afd_proto::observe::{PageText, ReadParams};
use afd_proto::vocabulary::{ObservationSource, Reply};

use super::capture::CaptureOptions;
use super::outline;
use super::part::PagePart;
use crate::app::{Core, Result};
use afd_device::Device;
use afd_screen::page::{outline as items, readable, whole};

/// Implements `observe.text`.
///
/// # Errors
/// If the screen cannot be read, or has no such part.
pub async fn text(core: &Arc<Core>, params: &ReadParams) -> Result<Reply<PageText>> {
    let (call, first) = core.call_reading(params, Device::tree).await?;
    let options = CaptureOptions { settle: true, wait: Duration::from_millis(params.wait_ms()) };
    let capture = call.capture(options, first).await?;
    call.record_and_learn(&capture, ObservationSource::Screen, None).await;
    let whole_page = if call.device().knows_elements() { capture.whole_page() } else { None };
    let whole = call.device().knows_elements() && (whole_page.is_some() || !whole::is_covered(capture.snapshot()));
    let shown = whole_page.as_ref().unwrap_or(&capture);
    let part = PagePart { within: params.within.clone(), ..PagePart::default() };
    let text = readable::lines(&part.restrict(shown, items::items(shown.snapshot(), shown.refs(), None))?);
    let from = (params.from() as usize).min(text.len());
    let (mut end, mut room) = (from, params.max_chars() as usize);
    // At least one line is returned, so that a long one does not stop the reader.
    while end < text.len() && (end == from || text[end].chars().count() < room) {
        room = room.saturating_sub(text[end].chars().count() + 1);
        end += 1;
    }
    Ok(call.reply(PageText {
        observation_id: capture.uid.clone(),
        title: outline::title(&capture).map(str::to_owned),
        lines: text[from..end].to_vec(),
        whole,
        next: (end < text.len()).then(|| u32::try_from(end).unwrap_or(u32::MAX)),
    }))
}
