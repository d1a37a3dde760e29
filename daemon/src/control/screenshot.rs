//! `observe.screenshot`: a picture, what it shows, and how its pixels relate to those of the screen.

use std::sync::Arc;

use afd_proto::ErrorCode;
use afd_proto::picture::{MarkScope, PictureFormat, Screenshot, ScreenshotParams};
use afd_proto::vocabulary::{ObservationSource, Reply};

use super::artifacts::{Content, Wish, as_base64};
use super::look::{Hashed, Look};
use super::rows::{Filing, count, ref_rows};
use super::{Call, Core, Error, Result};
use crate::device::{Device, PendingRead, Shot, TreeReading};
use crate::page::snapshot::Flag;
use crate::page::{Snapshot, touch};
use crate::picture::{self, Mark, PictureError};
use crate::task::run_blocking;

/// How often a picture is taken again because the screen changed meanwhile.
const TRIES: usize = 3;

/// What a call asked for, checked.
struct Wanted {
    shot: Shot,
    format: PictureFormat,
    max_marks: usize,
    scope: MarkScope,
}

fn wanted(core: &Core, params: &ScreenshotParams) -> Result<Wanted> {
    let (max_dim, quality) = (params.max_dim.unwrap_or(700), params.quality.unwrap_or(80));
    if !(1..=20_000).contains(&max_dim) {
        return Err(Error::param("maxDim", "1 to 20000", max_dim));
    }
    if !(1..=100).contains(&quality) {
        return Err(Error::param("quality", "1 to 100", quality));
    }
    let max_marks = params.max_marks.unwrap_or(120);
    if max_marks == 0 {
        return Err(Error::param("maxMarks", "at least 1", max_marks));
    }
    if !params.annotate && (params.max_marks.is_some() || params.mark_scope.is_some()) {
        let field = if params.max_marks.is_some() { "maxMarks" } else { "markScope" };
        return Err(Error::param(field, "nothing, it belongs to annotate", "a value"));
    }
    let setting = core.config.get().artifacts.screenshot_file.clone();
    let file = params.save_file.as_ref().map(std::path::PathBuf::from).or(setting);
    let png = file.and_then(|f| f.extension().map(|e| e.eq_ignore_ascii_case("png"))).unwrap_or(false);
    let format = params.format.unwrap_or(if png { PictureFormat::Png } else { PictureFormat::Jpeg });
    Ok(Wanted {
        shot: Shot { max_dim, quality, hide_overlay: params.hide_overlay.unwrap_or(true) },
        format,
        max_marks: max_marks as usize,
        scope: params.mark_scope.unwrap_or(MarkScope::All),
    })
}

fn undrawn(error: PictureError) -> Error {
    Error::new(ErrorCode::DeviceError, format!("the device gave a picture that cannot be read: {error}"))
}

/// `observe.screenshot`
///
/// # Errors
/// When the device takes none, or the file cannot be written.
pub async fn take(core: &Arc<Core>, params: &ScreenshotParams) -> Result<Reply<Screenshot>> {
    let wanted = wanted(core, params)?;
    let (call, jpeg, look) = if params.annotate {
        let (call, first) = core.call_reading(params, Device::tree).await?;
        let (jpeg, look) = call.picture_of_look(wanted.shot, first).await?;
        (call, jpeg, Some(look))
    } else {
        let (call, first) = core.call_reading(params, |device, token| device.screenshot(token, wanted.shot)).await?;
        (call, first.answer().await?, None)
    };
    let (width, height) = picture::size(&jpeg).map_err(undrawn)?;
    let screen = call.screen_size(look.as_ref()).await;
    let relation = picture::relate((width, height), wanted.shot.max_dim, screen);
    let scale = relation.map(|r| r.scale);
    let marks = look.as_ref().map(|look| marks(look, scale.unwrap_or(1.0), &wanted));
    let mark_count = marks.as_ref().map(|m| count(m.iter().filter(|m| m.label.is_some()).count()));
    let (format, quality) = (wanted.format, u8::try_from(wanted.shot.quality).unwrap_or(100));
    let bytes = match (marks, format) {
        (None, PictureFormat::Jpeg) => jpeg.to_vec(),
        (marks, _) => run_blocking(move || draw(&jpeg, marks.as_deref(), format, quality)).await??,
    };
    let inline = params.inline && bytes.len() <= core.config.get().limits.inline_bytes;
    let screenshot_base64 = if inline { Some(as_base64(bytes.clone()).await?) } else { None };
    let size_bytes = bytes.len() as u64;
    let content =
        Content { kind: "screenshot_image", mime_type: format.mime_type(), extension: format.extension(), op: "observe.screenshot", bytes };
    let wish = Wish { path: params.save_file.as_deref().map(|p| ("saveFile", p)), root: params.artifact_dir.as_deref() };
    let artifact = call.save_artifact(content, wish).await?;
    let mut body = Screenshot {
        mime_type: format.mime_type().to_owned(),
        width,
        height,
        scale,
        device_width: relation.map(|r| r.screen.0),
        device_height: relation.map(|r| r.screen.1),
        size_bytes,
        max_dim: wanted.shot.max_dim,
        quality: wanted.shot.quality,
        annotate: params.annotate,
        hide_overlay: wanted.shot.hide_overlay,
        max_marks: params.annotate.then_some(count(wanted.max_marks)),
        mark_scope: params.annotate.then_some(wanted.scope),
        mark_count,
        observation_id: None,
        settled: None,
        refs: None,
        artifact,
        screenshot_base64,
    };
    if let Some(look) = look {
        let mut refs = ref_rows(&look, Some(count(wanted.max_marks)), false);
        call.record_look(&look, ObservationSource::Refs, Some(refs.rows.len())).await;
        let filing = Filing { kind: "page_refs_json", op: "observe.screenshot", always: false, wish: Wish { path: None, ..wish } };
        call.file(&look.context(), &mut refs, filing).await?;
        body.observation_id = Some(look.uid.clone());
        body.settled = Some(look.settled);
        body.refs = Some(refs);
    }
    Ok(call.reply(body))
}

/// What the device gave may be at fault; what we make of it is our own affair.
fn draw(jpeg: &[u8], marks: Option<&[Mark]>, format: PictureFormat, quality: u8) -> Result<Vec<u8>> {
    let mut pixels = picture::decode(jpeg).map_err(undrawn)?;
    if let Some(marks) = marks {
        picture::annotate(&mut pixels, marks);
    }
    let unwritten = |error| Error::new(ErrorCode::Internal, format!("the picture cannot be written: {error}"));
    picture::encode(&pixels, format, quality).map_err(unwritten)
}

impl Call {
    /// A picture and the tree that it shows: the tree is the same before and after, if the screen stands still long enough.
    pub(super) async fn picture_of_look(&self, shot: Shot, first: PendingRead<TreeReading>) -> Result<(Arc<Vec<u8>>, Look)> {
        let token = || self.target.token.clone();
        let mut before = Hashed::from(first.answer().await?);
        for tries_left in (0..TRIES).rev() {
            let jpeg = self.device().screenshot(token(), shot)?.answer().await?;
            let after = Hashed::from(self.device().tree(token())?.answer().await?);
            let same = before.is_same(&after);
            if same || tries_left == 0 {
                return Ok((jpeg, Look::of(after, same, !same)));
            }
            before = after;
        }
        Err(Error::new(ErrorCode::Internal, "no picture was taken"))
    }

    /// The size of the screen, if the device tells it at all.
    async fn screen_size(&self, look: Option<&Look>) -> Option<(i32, i32)> {
        match look.and_then(|l| l.snapshot().size).or_else(|| self.device().screen_size()) {
            Some(size) => Some(size),
            // The first picture of all: the tree tells the size.
            None => self.device().tree(self.target.token.clone()).ok()?.answer().await.ok().and_then(|r| r.value.size),
        }
    }
}

/// What is to be marked: refs that can be seen, by alias; and, if everything is wanted, what merely says something.
fn marks(look: &Look, scale: f64, wanted: &Wanted) -> Vec<Mark> {
    let snapshot = look.snapshot();
    let bounds = |i: usize| {
        let b = snapshot.nodes[i].bounds;
        [b.left, b.top, b.right, b.bottom].map(|v| f64::from(v) * scale)
    };
    // What another window lies over is not on the picture.
    let shows =
        |node: usize| touch::point(snapshot, node).err().is_none_or(|over| snapshot.nodes[over].window == snapshot.nodes[node].window);
    let refs = look.refs.iter().take(wanted.max_marks).enumerate().filter(|(_, r)| shows(r.node));
    let named = refs.map(|(i, r)| Mark { bounds: bounds(r.node), label: Some(format!("@n{}", i + 1)) });
    let quiet = (0..snapshot.nodes.len()).filter(|i| wanted.scope == MarkScope::All && says_something(snapshot, *i));
    quiet.map(|i| Mark { bounds: bounds(i), label: None }).chain(named).collect()
}

fn says_something(snapshot: &Snapshot, index: usize) -> bool {
    let node = &snapshot.nodes[index];
    let words = node.text.as_ref().or(node.desc.as_ref());
    node.is(Flag::Visible) && !node.is_ref() && snapshot.is_content(node) && words.is_some_and(|w| !w.trim().is_empty())
}
