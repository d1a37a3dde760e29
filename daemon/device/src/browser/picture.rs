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
        let (left, top, right, bottom) = match shot.area {
            None => (0.0, 0.0, width, height),
            Some(area) => (area.left.into(), area.top.into(), area.right.into(), area.bottom.into()),
        };
        let is_beyond = left < 0.0 || top < 0.0 || right > width || bottom > height;
        let size = ((right - left).max(1.0), (bottom - top).max(1.0));
        let scale = (f64::from(shot.max_dim) / size.0.max(size.1)).min(1.0);
        let (x, y) = (left + number("pageX"), top + number("pageY"));
        let mut params = json!({
            "format": if shot.lossless { "png" } else { "jpeg" },
            "clip": {"x": x, "y": y, "width": size.0, "height": size.1, "scale": scale / density},
            "captureBeyondViewport": is_beyond,
        });
        if let (Some(params), false) = (params.as_object_mut(), shot.lossless) {
            params.insert("quality".to_owned(), json!(shot.quality));
        }
        // The browser draws the tabs in front only.
        let _front = self.front.lock().await;
        self.ask(tab, "Page.bringToFront", json!({})).await.map_err(CdpError::of_read)?;
        let taken = match is_beyond {
            false => self.ask(tab, "Page.captureScreenshot", params).await,
            true => self.capture_beyond(tab, width, params).await,
        };
        base64::engine::general_purpose::STANDARD
            .decode(taken.map_err(CdpError::of_read)?.ok_or_else(covered)?["data"].as_str().unwrap_or_default())
            .map_err(|error| DriverError::Protocol(format!("the screenshot is not valid base64: {error}").into()))
    }

    /// Takes a picture of what is out of sight. For that, the browser makes the window as large as the page and hides the bar
    /// that scrolls it. The page keeps its width, and gets its window back.
    async fn capture_beyond(&self, tab: &Tab, width: f64, params: Value) -> Result<Option<Value>, CdpError> {
        let narrow = json!({"width": width as i64, "height": 0, "deviceScaleFactor": 0, "mobile": false});
        self.ask(tab, "Emulation.setDeviceMetricsOverride", narrow).await?;
        let taken = self.ask(tab, "Page.captureScreenshot", params).await;
        let restored = self.ask(tab, "Emulation.clearDeviceMetricsOverride", json!({})).await;
        taken.and_then(|taken| restored.map(|_| taken))
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
