//! Pictures of pages: of what is in sight, and of parts of the page that may be out of sight.

use afd_screen::page::Rect;
use base64::Engine;
use serde_json::{Value, json};

use super::cdp::CdpError;
use super::running::Running;
use super::tab::Tab;
use crate::{DriverError, ScreenshotOptions};

impl Running {
    /// Takes a picture of a tab, as a JPEG or a PNG.
    pub async fn picture(&self, tab: &Tab, shot: ScreenshotOptions) -> Result<Vec<u8>, DriverError> {
        let measures = self.measures(tab).await?;
        // The browser counts in pixels of the display, of which a CSS pixel can have several.
        let width = |of: &str| measures[of]["clientWidth"].as_f64().filter(|width| *width > 0.0);
        let density = width("layoutViewport").zip(width("cssLayoutViewport")).map_or(1.0, |(all, css)| all / css);
        let view = &measures["cssVisualViewport"];
        let number = |name: &str| view[name].as_f64().unwrap_or_default();
        let (width, height) = (number("clientWidth"), number("clientHeight"));
        let (left, top, width, height) = match shot.area {
            None => (0.0, 0.0, width, height),
            Some(area) => {
                let length = |from: i32, to: i32| f64::from(to.saturating_sub(from).max(1));
                let size = (length(area.left, area.right), length(area.top, area.bottom));
                (f64::from(area.left), f64::from(area.top), size.0, size.1)
            }
        };
        let scale = (f64::from(shot.max_dim) / width.max(height).max(1.0)).min(1.0);
        let (x, y) = (left + number("pageX"), top + number("pageY"));
        let mut params = json!({
            "format": if shot.lossless { "png" } else { "jpeg" },
            "clip": {"x": x, "y": y, "width": width, "height": height, "scale": scale / density},
            "captureBeyondViewport": shot.area.is_some(),
        });
        if let (Some(params), false) = (params.as_object_mut(), shot.lossless) {
            params.insert("quality".to_owned(), json!(shot.quality));
        }
        let taken = self.ask(tab, "Page.captureScreenshot", params).await.map_err(CdpError::of_read)?;
        base64::engine::general_purpose::STANDARD
            .decode(taken.ok_or_else(covered)?["data"].as_str().unwrap_or_default())
            .map_err(|error| DriverError::Protocol(format!("the screenshot is not valid base64: {error}").into()))
    }

    /// Returns the bounds of the whole page in a tab.
    pub async fn page_bounds(&self, tab: &Tab) -> Result<Rect, DriverError> {
        let measures = self.measures(tab).await?;
        let number = |of: &str, name: &str| measures[of][name].as_f64().unwrap_or_default();
        let start = |name: &str| -number("cssVisualViewport", name).round() as i32;
        let (left, top) = (start("pageX"), start("pageY"));
        let length = |name: &str| number("cssContentSize", name).ceil() as i32;
        Ok(Rect { left, top, right: left + length("width"), bottom: top + length("height") })
    }

    async fn measures(&self, tab: &Tab) -> Result<Value, DriverError> {
        let measures = self.ask(tab, "Page.getLayoutMetrics", json!({})).await.map_err(CdpError::of_read)?;
        measures.ok_or_else(covered)
    }
}

fn covered() -> DriverError {
    DriverError::Refused { status: None, message: "a dialog covers the page".into() }
}
