//! `observe.screenshot`, and the overlay that the phone itself draws on its screen.

use crate::artifact::SavedArtifact;
use crate::rows::RefRows;
use crate::vocabulary::Reply;

device_params! {
    /// Parameters of `observe.screenshot`.
    #[derive(Default)]
    pub struct ScreenshotParams {
        /// Maximum width and height, in pixels; by default 700, of whole pages 2,000.
        pub max_dim: Option<u32> where 1..=20_000,
        /// JPEG quality of the picture; higher is better.
        pub quality: Option<u32> where 1..=100 = 80,
        /// File format; by default derived from the extension of `saveFile`, else JPEG.
        pub format: Option<PictureFormat>,
        /// Whether to take the whole page, with what is scrolled out of sight; only on devices that know it.
        #[serde(default)]
        pub whole: bool,
        /// Alias, label or `#id` of an element; by default, the picture shows the screen.
        pub of: Option<String>,
        /// Whether to mark the interactive elements with their aliases, for actions. The phone's screen gets no marks.
        #[serde(default)]
        pub annotate: bool,
        /// Maximum number of marks; only with `annotate`.
        pub max_marks: Option<u32> = 120,
        /// Which elements to mark; only with `annotate`.
        pub mark_scope: Option<MarkScope> = MarkScope::All,
        /// Whether to leave the phone's own overlay out of the picture.
        pub hide_overlay: Option<bool> = true,
        /// Whether to return the picture in base64 as well, if the picture is at most `limits.inline_bytes` long.
        #[serde(default)]
        pub inline: bool,
        /// Absolute path of a file to save the picture to.
        pub save_file: Option<String>,
        /// Absolute path of a directory for the artifacts of this call, instead of the configured one.
        pub artifact_dir: Option<String>,
    }

    /// Parameters of `observe.overlayGet`.
    #[derive(Default)]
    pub struct OverlayGetParams {}

    /// Parameters of `observe.overlaySet`.
    #[derive(Default)]
    pub struct OverlaySetParams {
        /// Whether to show the overlay.
        pub enabled: bool,
        /// Maximum number of marks.
        pub max_marks: Option<u32> = 300,
        /// Which elements to mark.
        pub mark_scope: Option<MarkScope> = MarkScope::All,
        /// Whether the marks are updated when the screen changes.
        pub auto_refresh: Option<bool> = true,
        /// Interval between updates, in milliseconds.
        pub refresh_interval_ms: Option<u32> where 200..=5000 = 800,
        /// Horizontal offset of the marks, in device pixels; positive values move the marks to the right.
        pub offset_x: Option<i32>,
        /// Vertical offset of the marks, in device pixels; positive values move the marks down.
        pub offset_y: Option<i32>,
    }
}

words! {
    /// File format of a picture.
    PictureFormat {
        /// JPEG: lossy and small.
        Jpeg = "jpeg" | "jpg",
        /// PNG: lossless.
        Png = "png",
    }

    /// Elements to mark.
    MarkScope {
        /// Interactive elements and other elements with text.
        All = "all",
        /// Interactive elements only.
        Interactive = "interactive",
    }
}

wire! {
    /// Result of `observe.screenshot`.
    pub struct Screenshot {
        /// Media type: `image/jpeg` or `image/png`.
        pub mime_type: String,
        /// Width of the picture, in pixels.
        pub width: u32,
        /// Height of the picture, in pixels.
        pub height: u32,
        /// Picture pixels per device pixel: dividing a position in the picture by this value gives the point to tap.
        /// Absent if the device does not report its screen size.
        pub scale: Option<f64>,
        /// Left edge of the picture, in device pixels from the left edge of the screen; only with `whole` or `of`. It is negative
        /// if the picture begins out of sight.
        pub left: Option<i32>,
        /// Upper edge of the picture, in device pixels from the upper edge of the screen; only with `whole` or `of`.
        pub top: Option<i32>,
        /// Width of the screen, in device pixels; absent if unknown.
        pub device_width: Option<u32>,
        /// Height of the screen, in device pixels; absent if unknown.
        pub device_height: Option<u32>,
        /// Size of the picture file, in bytes.
        pub size_bytes: u64,
        /// Requested maximum width and height, in pixels.
        pub max_dim: u32,
        /// Requested JPEG quality.
        pub quality: u32,
        /// Whether marks were drawn on the picture.
        pub annotate: bool,
        /// Whether the phone's own overlay was left out.
        pub hide_overlay: bool,
        /// Requested maximum number of marks; only with `annotate`.
        pub max_marks: Option<u32>,
        /// Which elements were marked; only with `annotate`.
        pub mark_scope: Option<MarkScope>,
        /// Number of aliases that were drawn; only with `annotate`.
        pub mark_count: Option<u32>,
        /// Id of the observation that the aliases belong to; only with `annotate`.
        pub observation_id: Option<String>,
        /// Whether the screen remained unchanged while the picture was taken; only with `annotate`.
        pub settled: Option<bool>,
        /// Refs of the elements that the aliases denote; only with `annotate`.
        pub refs: Option<RefRows>,
        /// File with the picture.
        pub artifact: SavedArtifact,
        /// The picture in base64, if that was requested and the picture is small enough.
        pub screenshot_base64: Option<String>,
    }

    /// State of the overlay that the phone draws on its screen.
    #[derive(Eq)]
    pub struct Overlay {
        /// Whether the phone can draw an overlay.
        pub available: bool,
        /// Whether the overlay is shown.
        pub enabled: bool,
        /// Number of marks on the screen.
        pub mark_count: i64,
        /// Whether the marks are updated when the screen changes.
        pub auto_refresh: bool,
        /// Interval between updates, in milliseconds.
        pub refresh_interval_ms: i64,
        /// Horizontal offset of the marks, in device pixels; positive values move the marks to the right.
        pub offset_x: i64,
        /// Vertical offset of the marks, in device pixels; positive values move the marks down.
        pub offset_y: i64,
    }
}

impl PictureFormat {
    /// Returns the media type of the format.
    pub const fn mime_type(self) -> &'static str {
        match self {
            PictureFormat::Jpeg => "image/jpeg",
            PictureFormat::Png => "image/png",
        }
    }

    /// Returns the file extension of the format.
    pub const fn extension(self) -> &'static str {
        match self {
            PictureFormat::Jpeg => "jpg",
            PictureFormat::Png => "png",
        }
    }
}

methods! {
    /// Takes a screenshot, optionally with marks on the interactive elements, and saves it to a file.
    ObserveScreenshot = "observe.screenshot" (ScreenshotParams, DEVICE) -> Reply<Screenshot>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, TargetNotFound, TargetAmbiguous, RefAliasUnobserved, RefAliasStale, Unsupported, StoreFull, StoreUnavailable], r#"{"maxDim":700}"#, SCREENSHOT;
    /// Returns the state of the overlay that the phone draws on its screen.
    ObserveOverlayGet = "observe.overlayGet" (OverlayGetParams, DEVICE) -> Reply<Overlay>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, Unsupported], "{}";
    /// Shows, changes or hides the overlay that the phone draws on its screen.
    ObserveOverlaySet = "observe.overlaySet" (OverlaySetParams, DEVICE) -> Reply<Overlay>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown, Unsupported], r#"{"enabled":true}"#;
}
