//! `observe.screenshot`: a picture of the screen, its scale, and optionally numbered marks on the interactive elements.

use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::picture::{MarkScope, ObserveScreenshot, PictureFormat, Screenshot, ScreenshotParams};
use afd_proto::vocabulary::{ObservationSource, Reply};

use super::screen_capture::{ScreenCapture, is_same};
use crate::app::artifacts::{Content, Destination, as_base64};
use crate::app::rows::{SpillPolicy, count, ref_rows};
use crate::app::{Call, Core, Error, Methods, Result};
use afd_base::config::Config;
use afd_base::task::run_blocking;
use afd_device::{Device, PendingRead, ScreenshotOptions, TreeReading};
use afd_screen::page::snapshot::Flag;
use afd_screen::page::{Snapshot, touch};
use afd_screen::picture::{self, Mark, PictureError};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<ObserveScreenshot, _, _>(|core, p| async move { take(&core, &p).await });
}

/// Artifact kind of screenshots.
pub(in crate::app) const KIND: &str = "screenshot_image";

/// Maximum number of attempts to take a picture while the screen stays unchanged.
const TRIES: usize = 3;

/// Validated options for a screenshot.
struct Options {
    shot: ScreenshotOptions,
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
    Ok(Options {
        shot: ScreenshotOptions {
            max_dim: params.max_dim(),
            quality: params.quality(),
            hide_overlay: params.hide_overlay(),
        },
        format,
        max_marks: max_marks as usize,
        scope: params.mark_scope(),
    })
}

/// Returns the error for a picture from the device that cannot be decoded.
fn unreadable_picture(error: PictureError) -> Error {
    Error::new(ErrorCode::DeviceError, format!("the device returned an unreadable picture: {error}"))
}

/// Implements `observe.screenshot`.
///
/// # Errors
/// If the device cannot take a screenshot, or if the file cannot be written.
pub async fn take(core: &Arc<Core>, params: &ScreenshotParams) -> Result<Reply<Screenshot>> {
    let options = validate(&core.config, params)?;
    let (call, jpeg, capture) = if params.annotate {
        let (call, first) = core.call_reading(params, Device::tree).await?;
        let (jpeg, capture) = call.screenshot_with_tree(options.shot, first).await?;
        (call, jpeg, Some(capture))
    } else {
        let (call, first) = core.call_reading(params, |device, token| device.screenshot(token, options.shot)).await?;
        (call, first.answer().await?, None)
    };
    let (width, height) = picture::size(&jpeg).map_err(unreadable_picture)?;
    let screen = call.screen_size(capture.as_ref()).await;
    let relation = picture::relate((width, height), options.shot.max_dim, screen);
    let scale = relation.map(|r| r.scale);
    let marks = capture.as_ref().map(|capture| marks(capture, scale.unwrap_or(1.0), &options));
    let mark_count = marks.as_ref().map(|m| count(m.iter().filter(|m| m.label.is_some()).count()));
    let (format, quality) = (options.format, u8::try_from(options.shot.quality).unwrap_or(100));
    let bytes = match (marks, format) {
        (None, PictureFormat::Jpeg) => jpeg.to_vec(),
        (marks, _) => run_blocking(move || draw(&jpeg, marks.as_deref(), format, quality)).await??,
    };
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
        device_width: relation.map(|r| r.screen.0),
        device_height: relation.map(|r| r.screen.1),
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
    if let Some(capture) = capture {
        add_refs(&call, &capture, &options, destination, &mut body).await?;
    }
    Ok(call.reply(body))
}

/// Records the tree that the marks were taken from, and adds its refs to the result.
async fn add_refs(
    call: &Call,
    capture: &ScreenCapture,
    options: &Options,
    destination: Destination<'_>,
    body: &mut Screenshot,
) -> Result<()> {
    let mut refs = ref_rows(capture, Some(count(options.max_marks)), false);
    refs.ref_version = call.ref_version(capture);
    call.record_and_learn(capture, ObservationSource::Refs, Some(refs.rows.len())).await;
    let destination = Destination { path: None, ..destination };
    let policy = SpillPolicy { kind: "page_refs_json", op: "observe.screenshot", always: false, destination };
    call.spill(&capture.context(), &mut refs, policy).await?;
    body.observation_id = Some(capture.uid.clone());
    body.settled = Some(capture.settled);
    body.refs = Some(refs);
    Ok(())
}

/// Draws marks on a picture and re-encodes it. Decoding errors are reported as `DEVICE_ERROR`, encoding errors as
/// `INTERNAL`.
fn draw(jpeg: &[u8], marks: Option<&[Mark]>, format: PictureFormat, quality: u8) -> Result<Vec<u8>> {
    let mut pixels = picture::decode(jpeg).map_err(unreadable_picture)?;
    if let Some(marks) = marks {
        picture::annotate(&mut pixels, marks);
    }
    let failed = |error| Error::new(ErrorCode::Internal, format!("cannot encode the picture: {error}"));
    picture::encode(&pixels, format, quality).map_err(failed)
}

impl Call {
    /// Takes a picture together with the tree that it shows. Retries until the tree is the same before and after the
    /// picture; if the screen never stops changing, the last attempt is returned as an unreliable capture.
    pub(in crate::app) async fn screenshot_with_tree(
        &self,
        shot: ScreenshotOptions,
        first: PendingRead<TreeReading>,
    ) -> Result<(Arc<Vec<u8>>, ScreenCapture)> {
        let token = || self.target.token.clone();
        let mut before = first.answer().await?;
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
fn marks(capture: &ScreenCapture, scale: f64, options: &Options) -> Vec<Mark> {
    let snapshot = capture.snapshot();
    let bounds = |i: usize| {
        let b = snapshot.nodes[i].bounds;
        [b.left, b.top, b.right, b.bottom].map(|v| f64::from(v) * scale)
    };
    // A node that another window covers is not visible in the picture.
    let shows = |node: usize| match touch::point(snapshot, node) {
        Err(touch::Obstacle::Covered(by)) => snapshot.nodes[by].window == snapshot.nodes[node].window,
        _ => true,
    };
    let refs = capture.refs().iter().take(options.max_marks).enumerate().filter(|(_, r)| shows(r.node));
    let labelled = refs.map(|(i, r)| Mark { bounds: bounds(r.node), label: Some(capture.alias(i)) });
    let unlabelled = (0..snapshot.nodes.len()).filter(|i| options.scope == MarkScope::All && has_words(snapshot, *i));
    unlabelled.map(|i| Mark { bounds: bounds(i), label: None }).chain(labelled).collect()
}

fn has_words(snapshot: &Snapshot, index: usize) -> bool {
    let node = &snapshot.nodes[index];
    let words = node.text.as_ref().or(node.desc.as_ref());
    node.is(Flag::Visible) && !node.is_ref() && snapshot.is_content(node) && words.is_some_and(|w| !w.trim().is_empty())
}
