//! Taking pictures: of the screen, of the whole page, or of one element, together with the tree that they show.

use std::sync::Arc;

use super::screen_capture::{ScreenCapture, is_same};
use crate::app::act::target_spec::{TargetSpec, default_by};
use crate::app::{Call, Error, Result};
use afd_base::task::run_blocking;
use afd_device::{PendingRead, ScreenshotOptions, TreeReading};
use afd_proto::ErrorCode;
use afd_proto::picture::PictureFormat;
use afd_screen::page::snapshot::Flag;
use afd_screen::page::{Rect, Snapshot};
use afd_screen::picture::{self, PictureError};

/// Maximum length of a side of a picture, in pixels.
const MAX_SIDE: u32 = 20_000;

/// Maximum number of attempts to take a picture while the screen stays unchanged.
const TRIES: usize = 3;

/// Requested part of the screen or page.
#[derive(Debug, Clone)]
pub(super) enum PicturePart {
    /// What is in sight.
    Screen,
    /// The whole page.
    Page,
    /// The element that this text names.
    Element(String),
}

/// Returns the error for a picture from the device that cannot be decoded.
pub(super) fn unreadable_picture(error: PictureError) -> Error {
    Error::new(ErrorCode::DeviceError, format!("the device returned an unreadable picture: {error}"))
}

/// A picture, and what it shows.
pub(super) struct Taken {
    pub(super) jpeg: Arc<Vec<u8>>,
    /// The capture that the aliases in the picture belong to.
    pub(super) capture: ScreenCapture,
    /// The capture of the whole page, if the picture may show what is out of sight.
    pub(super) whole: Option<ScreenCapture>,
    /// Bounds of the picture, in device pixels; `None` if it shows the screen.
    pub(super) area: Option<Rect>,
}

impl Call {
    /// Takes a picture together with the tree that it shows. Retries until the tree is the same before and after the
    /// picture; if the screen never stops changing, the last attempt is returned as an unreliable capture.
    pub(in crate::app) async fn screenshot_with_tree(
        &self,
        shot: ScreenshotOptions,
        mut before: TreeReading,
    ) -> Result<(Arc<Vec<u8>>, ScreenCapture)> {
        let token = || self.target.token.clone();
        for tries_left in (0..TRIES).rev() {
            let jpeg = self.device().screenshot(token(), shot)?.answer().await?;
            let after = self.device().tree(token())?.answer().await?;
            let same = is_same(&before, &after);
            if same || tries_left == 0 {
                return Ok((jpeg, ScreenCapture::of(after, same, !same)));
            }
            before = after;
        }
        Err(Error::new(ErrorCode::Internal, "no screenshot was taken"))
    }

    /// Takes a picture of a part of the screen or page, together with the tree that it shows.
    pub(super) async fn picture_of(
        &self,
        part: &PicturePart,
        shot: ScreenshotOptions,
        first: PendingRead<TreeReading>,
    ) -> Result<Taken> {
        if let PicturePart::Screen = part {
            let (jpeg, capture) = self.screenshot_with_tree(shot, first.answer().await?).await?;
            return Ok(Taken { jpeg, capture, whole: None, area: None });
        }
        let before = first.answer().await?;
        let area = self.area_of(part, &ScreenCapture::of(before.clone(), false, false)).await?;
        if self.device().knows_elements() {
            let shot = ScreenshotOptions { area: Some(area), ..shot };
            let (jpeg, capture) = self.screenshot_with_tree(shot, before).await?;
            let whole = capture.whole_page();
            return Ok(Taken { jpeg, capture, whole, area: Some(area) });
        }
        let full = ScreenshotOptions { max_dim: MAX_SIDE, quality: 95, ..shot };
        let (jpeg, capture) = self.screenshot_with_tree(full, before).await?;
        let screen = capture.snapshot().size;
        let whole = screen.map(|(right, bottom)| Rect { left: 0, top: 0, right, bottom });
        let area = whole.map_or(area, |whole| area.intersection(&whole));
        let cut = run_blocking(move || cut_out(&jpeg, area, screen, shot)).await?;
        let jpeg = cut.map_err(unreadable_picture)?;
        let jpeg = jpeg.ok_or_else(|| Error::param("of", "an element in sight", "one outside of the picture"))?;
        Ok(Taken { jpeg: Arc::new(jpeg), capture, whole: None, area: Some(area) })
    }

    /// Returns the bounds of a part, in device pixels.
    async fn area_of(&self, part: &PicturePart, capture: &ScreenCapture) -> Result<Rect> {
        let PicturePart::Element(name) = part else {
            return Ok(self.device().page_bounds(self.target.token.as_ref()).await?);
        };
        let spec = TargetSpec::named(default_by(name), name, (false, false), None)?;
        let whole = if self.device().knows_elements() { capture.whole_page() } else { None };
        let shown = whole.as_ref().unwrap_or(capture);
        let node = self.node_of(&spec, shown)?;
        let area = shown.snapshot().nodes[node].bounds;
        if area.area() == 0 || is_scrolled_away(capture.snapshot(), node, area) {
            let scroll = "scroll to it first (`act.scrollTo`)";
            return Err(
                Error::param("of", "an element that can be seen", "one that is scrolled out of its box").hint(scroll)
            );
        }
        Ok(area)
    }
}

/// Returns whether a box in the page that scrolls hides the middle of an element with these bounds. The snapshot is that of
/// what is in sight.
fn is_scrolled_away(snapshot: &Snapshot, node: usize, bounds: Rect) -> bool {
    let (x, y) = bounds.center();
    let hides = |around: usize| {
        let outer = snapshot.nodes[around].bounds;
        let holds = (outer.left..outer.right).contains(&x) && (outer.top..outer.bottom).contains(&y);
        snapshot.nodes[around].is(Flag::Scrollable) && !holds
    };
    snapshot.ancestors(node).any(hides)
}

/// Cuts an area out of a picture of the screen, and shrinks it. Returns `None` if the picture does not show it.
fn cut_out(
    jpeg: &[u8],
    area: Rect,
    screen: Option<(i32, i32)>,
    shot: ScreenshotOptions,
) -> std::result::Result<Option<Vec<u8>>, PictureError> {
    let full = picture::decode_any(jpeg)?;
    let scale = picture::relate(full.dimensions(), MAX_SIDE, screen).map_or(1.0, |relation| relation.scale);
    let scaled = |side: i32| (f64::from(side.max(0)) * scale).round() as u32;
    let Some(part) = picture::part(&full, [area.left, area.top, area.right, area.bottom].map(scaled)) else {
        return Ok(None);
    };
    let format = if shot.lossless { PictureFormat::Png } else { PictureFormat::Jpeg };
    let quality = u8::try_from(shot.quality).unwrap_or(100);
    picture::encode(&picture::at_most(part, shot.max_dim), format, quality).map(Some)
}
