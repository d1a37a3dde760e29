//! Pictures of pages and components: screenshots, and crops of components.
//!
//! A component's picture is a crop of a screenshot with a margin of [`PADDING`] pixels. Components that fill a fifth of
//! the screen or more count as containers and get no picture.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use afd_proto::ErrorCode;
use base64::Engine;
use image::{RgbImage, imageops};

use crate::app::checks::absolute;
use crate::app::observe::screen_capture::ScreenCapture;
use crate::app::{Call, Core, Error, Result};
use afd_base::file;
use afd_base::task::run_blocking;
use afd_device::{PendingRead, ScreenshotOptions, TreeReading};
use afd_experience::visual::components::{self, Component, Filter};
use afd_experience::visual::detections::Detected;
use afd_experience::visual::scope::{self, Scope};
use afd_screen::page::snapshot::Rect;
use afd_screen::picture::{self, PictureError, ncc};
use afd_store::artifact;

/// Margin around a component that its picture includes, in pixels.
pub(super) const PADDING: i32 = 4;
/// Maximum size of a picture file, in bytes.
const MAX_PICTURE: u64 = 64 << 20;
/// Divisor of the screenshot area: a component that covers at least one fifth of the area is a container.
const CONTAINER_DIVISOR: i64 = 5;
/// Limit on the sides of a requested screenshot, in pixels. It is so large that the screenshot is never scaled down.
const MAX_SCREENSHOT_SIDE: u32 = 20_000;

/// A screenshot taken from a device or passed by the caller.
pub(super) struct Screenshot {
    pub pixels: Arc<RgbImage>,
    /// The encoded PNG or JPEG file.
    pub file: Arc<Vec<u8>>,
    /// Capture of the screen that the screenshot shows; `None` for a file named by the caller.
    pub look: Option<ScreenCapture>,
}

fn unreadable(field: &str, error: impl std::fmt::Display) -> Error {
    Error::param(field, "a PNG or JPEG file", error)
}

/// Reads a screenshot from a file named by the caller.
pub(super) async fn from_file(path: &str) -> Result<Screenshot> {
    let path: PathBuf = absolute("picture", path)?;
    let read = move || -> Result<(Vec<u8>, RgbImage)> {
        let file = file::read_capped(&path, MAX_PICTURE).map_err(|e| unreadable("picture", e))?;
        let pixels = picture::decode_any(&file).map_err(|e| unreadable("picture", e))?;
        Ok((file, pixels))
    };
    let (file, pixels) = run_blocking(read).await??;
    Ok(Screenshot { pixels: Arc::new(pixels), file: Arc::new(file), look: None })
}

impl Call {
    /// Takes a screenshot at full size, together with the element tree it shows.
    pub(super) async fn whole_picture(&self, first: PendingRead<TreeReading>) -> Result<Screenshot> {
        let (file, look) = self
            .screenshot_with_tree(
                ScreenshotOptions {
                    max_dim: MAX_SCREENSHOT_SIDE,
                    quality: 95,
                    hide_overlay: true,
                    area: None,
                    lossless: false,
                },
                first.answer().await?,
            )
            .await?;
        let jpeg = file.clone();
        let pixels = run_blocking(move || picture::decode(&jpeg)).await?;
        let pixels = pixels.map_err(|e| {
            Error::new(ErrorCode::DeviceError, format!("the device returned an unreadable picture: {e}"))
        })?;
        Ok(Screenshot { pixels: Arc::new(pixels), file, look: Some(look) })
    }
}

/// Returns whether a component is small enough to have a picture of its own. A larger component is a container, whose
/// picture would show its content.
fn is_standalone(pixels: &RgbImage, bounds: &Rect) -> bool {
    bounds.area().saturating_mul(CONTAINER_DIVISOR) < i64::from(pixels.width()) * i64::from(pixels.height())
}

/// Crops a component with its margin. `None` if the component lies outside the picture.
fn crop_component(pixels: &RgbImage, bounds: &Rect) -> Option<RgbImage> {
    let (width, height) = (i32::try_from(pixels.width()).ok()?, i32::try_from(pixels.height()).ok()?);
    let padded = bounds.grown(PADDING);
    let (left, top) = (padded.left.clamp(0, width), padded.top.clamp(0, height));
    let (right, bottom) = (padded.right.clamp(0, width), padded.bottom.clamp(0, height));
    let side = |a: i32, b: i32| u32::try_from(b - a).ok().filter(|s| *s > 0);
    let (w, h) = (side(left, right)?, side(top, bottom)?);
    Some(imageops::crop_imm(pixels, u32::try_from(left).ok()?, u32::try_from(top).ok()?, w, h).to_image())
}

fn png(pixels: &RgbImage) -> std::result::Result<Vec<u8>, PictureError> {
    picture::encode(pixels, afd_proto::picture::PictureFormat::Png, 100)
}

impl Core {
    /// Crops components from one screenshot and saves their pictures. Returns the uids of the artifacts in the same
    /// order; `None` for containers and components outside the screenshot.
    pub(super) async fn save_crops(
        self: &Arc<Self>,
        pixels: &Arc<RgbImage>,
        wanted: Vec<Rect>,
        session: i64,
        device: Option<i64>,
    ) -> Result<Vec<Option<String>>> {
        let source = pixels.clone();
        let encoded = run_blocking(move || {
            wanted
                .iter()
                .map(|b| {
                    Some(b)
                        .filter(|b| is_standalone(&source, b))
                        .and_then(|b| crop_component(&source, b))
                        .and_then(|crop| png(&crop).ok())
                })
                .collect::<Vec<_>>()
        })
        .await?;
        let mut kept = Vec::with_capacity(encoded.len());
        for content in encoded {
            kept.push(match content {
                Some(content) => Some(
                    self.save_picture(
                        "component_image",
                        ("image/png", "png"),
                        content,
                        session,
                        device,
                        "visual.learn",
                    )
                    .await?,
                ),
                None => None,
            });
        }
        Ok(kept)
    }

    /// Decodes and saves the pictures sent with detections. A detection with neither name nor label gets the key of the
    /// unnamed component whose picture it matches.
    pub(super) async fn save_given_crops(
        self: &Arc<Self>,
        scope: &Scope,
        given: Vec<Option<String>>,
        mut detected: Vec<Detected>,
        session: i64,
    ) -> Result<Vec<Detected>> {
        if given.iter().all(Option::is_none) {
            return Ok(detected);
        }
        let known = self.unnamed_with_picture(scope).await?;
        for (i, (text, detected)) in given.into_iter().zip(&mut detected).enumerate() {
            let Some(text) = text else { continue };
            let field = format!("detections[{i}].crop");
            let read = move || -> Result<(Vec<u8>, RgbImage)> {
                let file = base64::engine::general_purpose::STANDARD
                    .decode(text.trim())
                    .map_err(|e| Error::param(&field, "base64", e))?;
                let pixels = picture::decode_any(&file).map_err(|e| unreadable(&field, e))?;
                Ok((file, pixels))
            };
            let (file, pixels) = run_blocking(read).await??;
            if detected.name.is_none() && detected.label.is_none() {
                let known = known.clone();
                let same = run_blocking(move || {
                    known
                        .iter()
                        .find(|(_, other)| ncc::similarity(&pixels, other) > ncc::SAME_SCORE)
                        .map(|(key, _)| key.clone())
                });
                detected.same_as = same.await?;
            }
            let kind = if file.starts_with(b"\x89PNG") { ("image/png", "png") } else { ("image/jpeg", "jpg") };
            detected.crop =
                Some(self.save_picture("component_image", kind, file, session, None, "visual.learn").await?);
        }
        Ok(detected)
    }

    /// Loads the pictures of the unnamed components of a scope, with the key of each component.
    async fn unnamed_with_picture(self: &Arc<Self>, scope: &Scope) -> Result<Arc<Vec<(String, RgbImage)>>> {
        let scope = scope.clone();
        let files = self
            .store
            .read_all(move |c| {
                let Some(known) = scope::find(c, &scope)? else { return Ok(Vec::new()) };
                let (all, _) = components::list(c, known.id, &Filter { unlabelled: true, ..Filter::default() })?;
                let file =
                    |c: &afd_store::Connection, component: Component| -> afd_store::Result<Option<(String, PathBuf)>> {
                        let Some(crop) = component.crop else { return Ok(None) };
                        Ok(artifact::file_of(c, &crop)?.map(|file| (component.key, file)))
                    };
                all.into_iter()
                    .filter_map(|component| file(c, component).transpose())
                    .collect::<afd_store::Result<Vec<_>>>()
            })
            .await?;
        let load = move || {
            files
                .into_iter()
                .filter_map(|(key, file)| Some((key, picture::decode_any(&std::fs::read(file).ok()?).ok()?)))
                .collect()
        };
        Ok(Arc::new(run_blocking(load).await?))
    }
}

/// Returns the keys among `keys` whose component has no picture yet.
pub(super) fn without_picture(
    connection: &afd_store::Connection,
    app: i64,
    keys: &[String],
) -> afd_store::Result<HashSet<String>> {
    let all = components::all(connection, app)?;
    let with_picture: HashSet<String> = all.into_iter().filter(|c| c.crop.is_some()).map(|c| c.key).collect();
    Ok(keys.iter().filter(|k| !with_picture.contains(*k)).cloned().collect())
}
