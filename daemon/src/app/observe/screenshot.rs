//! `observe.screenshot`: a picture of the screen, its scale, and optionally numbered marks on the interactive elements.

use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::picture::{MarkScope, ObserveScreenshot, PictureFormat, Screenshot, ScreenshotParams};
use afd_proto::vocabulary::{ObservationSource, Reply};

use super::picture::{PicturePart, Taken, unreadable_picture};
use super::screen_capture::ScreenCapture;
use crate::app::artifacts::{Content, Destination, as_base64};
use crate::app::rows::{SpillPolicy, count, ref_rows};
use crate::app::{Call, Core, Error, Methods, Result};
use afd_base::config::Config;
use afd_base::task::run_blocking;
use afd_device::{Device, ScreenshotOptions};
use afd_screen::page::snapshot::Flag;
use afd_screen::page::{Snapshot, touch};
use afd_screen::picture::{self, Mark};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<ObserveScreenshot, _, _>(|core, p| async move { take(&core, &p).await });
}

/// Artifact kind of screenshots.
pub(in crate::app) const KIND: &str = "screenshot_image";

/// Default length of the longer side of a picture of the screen, and of one of the whole page, in pixels.
const SCREEN: u32 = 700;
const WHOLE_PAGE: u32 = 2_000;

/// Validated options for a screenshot.
struct Options {
    shot: ScreenshotOptions,
    part: PicturePart,
    format: PictureFormat,
    max_marks: usize,
    scope: MarkScope,
}

/// Validates the parameters. The format defaults to the one that the file extension names, else to JPEG.
fn validate(config: &Config, params: &ScreenshotParams) -> Result<Options> {
    let max_marks = params.max_marks();
    if max_marks == 0 {
        return Err(Error::param("maxMarks", "at least 1", max_marks));
    }
    if !params.annotate && (params.max_marks.is_some() || params.mark_scope.is_some()) {
        let field = if params.max_marks.is_some() { "maxMarks" } else { "markScope" };
        return Err(Error::param(field, "no value unless annotate is set", "a value"));
    }
    let setting = config.get().artifacts.screenshot_file.clone();
    let file = params.save_file.as_ref().map(std::path::PathBuf::from).or(setting);
    let png = file.and_then(|f| f.extension().map(|e| e.eq_ignore_ascii_case("png"))).unwrap_or(false);
    let format = params.format.unwrap_or(if png { PictureFormat::Png } else { PictureFormat::Jpeg });
    let part = match (&params.of, params.whole) {
        (Some(_), true) => return Err(Error::param("of", "no element beside `whole`", "both")),
        (Some(of), false) => PicturePart::Element(of.clone()),
        (None, true) => PicturePart::Page,
        (None, false) => PicturePart::Screen,
    };
    Ok(Options {
        shot: ScreenshotOptions {
            max_dim: params.max_dim.unwrap_or(if params.whole { WHOLE_PAGE } else { SCREEN }),
            quality: params.quality(),
            hide_overlay: params.hide_overlay(),
            area: None,
            lossless: format == PictureFormat::Png,
        },
        part,
        format,
        max_marks: max_marks as usize,
        scope: params.mark_scope(),
    })
}

/// Implements `observe.screenshot`.
///
/// # Errors
/// If the device cannot take a screenshot, or if the file cannot be written.
pub async fn take(core: &Arc<Core>, params: &ScreenshotParams) -> Result<Reply<Screenshot>> {
    let options = validate(&core.config, params)?;
    let (call, jpeg, taken) = if params.annotate || !matches!(options.part, PicturePart::Screen) {
        let (call, first) = core.call_reading(params, Device::tree).await?;
        let taken = call.picture_of(&options.part, options.shot, first).await?;
        (call, taken.jpeg.clone(), Some(taken))
    } else {
        let (call, first) = core.call_reading(params, |device, token| device.screenshot(token, options.shot)).await?;
        (call, first.answer().await?, None)
    };
    let ((width, height), is_png) = picture::size_any(&jpeg).map_err(unreadable_picture)?;
    let area = taken.as_ref().and_then(|taken| taken.area);
    let screen = call.screen_size(taken.as_ref().map(|taken| &taken.capture)).await;
    let shown = area.map(|area| (area.width(), area.height())).or(screen);
    let relation = picture::relate((width, height), options.shot.max_dim, shown);
    let scale = relation.map(|r| r.scale);
    let marked = taken.as_ref().filter(|_| params.annotate);
    let marks = marked.map(|taken| marks(taken, scale.unwrap_or(1.0), &options));
    let device_size = if area.is_some() { screen.and_then(positive) } else { relation.map(|r| r.screen) };
    let mark_count = marks.as_ref().map(|m| count(m.iter().filter(|m| m.label.is_some()).count()));
    let format = options.format;
    let bytes = finished(jpeg, is_png, marks, &options).await?;
    let inline = params.inline && bytes.len() <= core.config.get().limits.inline_bytes;
    let screenshot_base64 = if inline { Some(as_base64(bytes.clone()).await?) } else { None };
    let size_bytes = bytes.len() as u64;
    let (mime_type, extension) = (format.mime_type(), format.extension());
    let content = Content { kind: KIND, mime_type, extension, op: "observe.screenshot", bytes };
    let path = params.save_file.as_deref().map(|p| ("saveFile", p));
    let destination = Destination { path, root: params.artifact_dir.as_deref() };
    let artifact = call.save_artifact(content, destination).await?;
    let mut body = Screenshot {
        mime_type: mime_type.to_owned(),
        width,
        height,
        scale,
        left: area.map(|area| area.left),
        top: area.map(|area| area.top),
        device_width: device_size.map(|size| size.0),
        device_height: device_size.map(|size| size.1),
        size_bytes,
        max_dim: options.shot.max_dim,
        quality: options.shot.quality,
        annotate: params.annotate,
        hide_overlay: options.shot.hide_overlay,
        max_marks: params.annotate.then_some(count(options.max_marks)),
        mark_scope: params.annotate.then_some(options.scope),
        mark_count,
        observation_id: None,
        settled: None,
        refs: None,
        artifact,
        screenshot_base64,
    };
    if let Some(taken) = taken.filter(|_| params.annotate) {
        add_refs(&call, &taken, &options, destination, &mut body).await?;
    }
    Ok(call.reply(body))
}

/// Records the tree that the marks were taken from, and adds its refs to the result.
async fn add_refs(
    call: &Call,
    taken: &Taken,
    options: &Options,
    destination: Destination<'_>,
    body: &mut Screenshot,
) -> Result<()> {
    let (capture, shown) = (&taken.capture, taken.whole.as_ref().unwrap_or(&taken.capture));
    let predicted = call.predicted(shown).await;
    let mut refs = ref_rows(shown, Some(count(options.max_marks)), false, &call.core.risk_rules(), &predicted);
    refs.ref_version = call.ref_version(capture);
    call.record_and_learn(capture, ObservationSource::Refs, Some(refs.rows.len())).await;
    if let Some(whole) = &taken.whole {
        let mut received = whole.shown_refs(true, 0);
        received.numbers.truncate(refs.rows.len());
        call.core.experience.views.show(call.session_id, call.device_id, received);
    }
    let destination = Destination { path: None, ..destination };
    let policy = SpillPolicy { kind: "page_refs_json", op: "observe.screenshot", always: false, destination };
    call.spill(&capture.context(), &mut refs, policy).await?;
    body.observation_id = Some(capture.uid.clone());
    body.settled = Some(capture.settled);
    body.refs = Some(refs);
    Ok(())
}

/// Returns the file of a picture in the requested format, with marks if there are any.
async fn finished(file: Arc<Vec<u8>>, is_png: bool, marks: Option<Vec<Mark>>, options: &Options) -> Result<Vec<u8>> {
    let (format, quality) = (options.format, u8::try_from(options.shot.quality).unwrap_or(100));
    if marks.is_none() && is_png == (format == PictureFormat::Png) {
        return Ok(file.to_vec());
    }
    run_blocking(move || draw(&file, marks.as_deref(), format, quality)).await?
}

/// Draws marks on a picture and re-encodes it. Decoding errors are reported as `DEVICE_ERROR`, encoding errors as
/// `INTERNAL`.
fn draw(file: &[u8], marks: Option<&[Mark]>, format: PictureFormat, quality: u8) -> Result<Vec<u8>> {
    let mut pixels = picture::decode_any(file).map_err(unreadable_picture)?;
    if let Some(marks) = marks {
        picture::annotate(&mut pixels, marks);
    }
    let failed = |error| Error::new(ErrorCode::Internal, format!("cannot encode the picture: {error}"));
    picture::encode(&pixels, format, quality).map_err(failed)
}

impl Call {
    /// Returns the size of the screen, if the device reports it.
    async fn screen_size(&self, capture: Option<&ScreenCapture>) -> Option<(i32, i32)> {
        match capture.and_then(|l| l.snapshot().size).or_else(|| self.device().screen_size()) {
            Some(size) => Some(size),
            // Nothing has been read from this device yet: the tree contains the size.
            None => self.device().tree(self.target.token.clone()).ok()?.answer().await.ok().and_then(|r| r.value.size),
        }
    }
}

/// Returns the marks to draw: visible refs labelled with their aliases and, for `MarkScope::All`, unlabelled marks on
/// other nodes with text.
fn marks(taken: &Taken, scale: f64, options: &Options) -> Vec<Mark> {
    let capture = taken.whole.as_ref().unwrap_or(&taken.capture);
    let snapshot = capture.snapshot();
    let (left, top) = taken.area.map_or((0, 0), |area| (area.left, area.top));
    let bounds = |i: usize| {
        let b = snapshot.nodes[i].bounds;
        [b.left - left, b.top - top, b.right - left, b.bottom - top].map(|v| f64::from(v) * scale)
    };
    let is_inside =
        |node: usize| taken.area.is_none_or(|area| snapshot.nodes[node].bounds.intersection(&area).area() > 0);
    // A node that another window covers is not visible in the picture.
    let shows = |node: usize| match touch::point(snapshot, node) {
        Err(touch::Obstacle::Covered(by)) => snapshot.nodes[by].window == snapshot.nodes[node].window,
        _ => is_inside(node),
    };
    let refs = capture.refs().iter().take(options.max_marks).enumerate().filter(|(_, r)| shows(r.node));
    let labelled = refs.map(|(i, r)| Mark { bounds: bounds(r.node), label: Some(capture.alias(i)) });
    let unlabelled = (0..snapshot.nodes.len())
        .filter(|i| options.scope == MarkScope::All && has_words(snapshot, *i) && is_inside(*i));
    unlabelled.map(|i| Mark { bounds: bounds(i), label: None }).chain(labelled).collect()
}

/// Returns a size as numbers that are not negative.
fn positive((width, height): (i32, i32)) -> Option<(u32, u32)> {
    Some((u32::try_from(width).ok()?, u32::try_from(height).ok()?))
}

fn has_words(snapshot: &Snapshot, index: usize) -> bool {
    let node = &snapshot.nodes[index];
    let words = node.text.as_ref().or(node.desc.as_ref());
    node.is(Flag::Visible) && !node.is_ref() && snapshot.is_content(node) && words.is_some_and(|w| !w.trim().is_empty())
}
