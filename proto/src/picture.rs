//! Pictures of the screen, and the marks that the phone itself draws on it. They belong to `observe.*`.

use crate::artifact::Written;
use crate::observe::RefRows;
use crate::vocabulary::Reply;

device_params! {
    /// Parameters of `observe.screenshot`.
    #[derive(Default)]
    pub struct ScreenshotParams {
        /// Longest side in pixels, by default 700; the screen's own size is the most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_dim: Option<u32>,
        /// JPEG quality from 1 to 100, by default 80.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub quality: Option<u32>,
        /// How the picture is written; by default as the end of `saveFile` says, else as JPEG.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub format: Option<PictureFormat>,
        /// Draw what can be acted on, by alias, on the picture. The aliases are new ones of this session, as if refs had been
        /// observed. The phone's screen is not touched.
        #[serde(default)]
        pub annotate: bool,
        /// With `annotate`: at most this many marks, by default 120.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_marks: Option<u32>,
        /// With `annotate`: what is marked, by default `all`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub mark_scope: Option<MarkScope>,
        /// Whether the overlay that the phone itself shows is left out of the picture, which is the default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub hide_overlay: Option<bool>,
        /// Send the picture along in base64, if it is small enough (`limits.inline_bytes`).
        #[serde(default)]
        pub inline: bool,
        /// Write it to this file, an absolute path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub save_file: Option<String>,
        /// Shared root of artifacts for this call, an absolute path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub artifact_dir: Option<String>,
    }

    /// Parameters of `observe.overlayGet`.
    #[derive(Default)]
    pub struct OverlayGetParams {}

    /// Parameters of `observe.overlaySet`: the marks that the phone itself draws on its screen.
    #[derive(Default)]
    pub struct OverlaySetParams {
        /// Whether they are shown.
        pub enabled: bool,
        /// At most this many, by default 300.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_marks: Option<u32>,
        /// What is marked, by default `all`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub mark_scope: Option<MarkScope>,
        /// Whether they follow the screen, which is the default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub auto_refresh: Option<bool>,
        /// How often, from 200 to 5,000 milliseconds, by default 800.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub refresh_interval_ms: Option<u32>,
        /// Moves them to the right, device pixels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub offset_x: Option<i32>,
        /// Moves them down, device pixels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub offset_y: Option<i32>,
    }
}

words! {
    /// How a picture is written.
    PictureFormat {
        /// With losses, small.
        Jpeg = "jpeg" | "jpg",
        /// Without losses.
        Png = "png",
    }

    /// What is marked.
    MarkScope {
        /// What can be acted on, and what merely says something.
        All = "all",
        /// What can be acted on.
        Interactive = "interactive",
    }
}

wire! {
    /// Result of `observe.screenshot`.
    pub struct Screenshot {
        /// `image/jpeg` or `image/png`.
        pub mime_type: String,
        /// Width of the picture, pixels.
        pub width: u32,
        /// Height of the picture, pixels.
        pub height: u32,
        /// Pixels of the picture per device pixel: a point of the picture, divided by this, is a point to tap. Absent when the
        /// device does not tell its size.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub scale: Option<f64>,
        /// Width of the screen, device pixels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub device_width: Option<u32>,
        /// Height of the screen, device pixels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub device_height: Option<u32>,
        /// Size of the file, bytes.
        pub size_bytes: u64,
        /// Longest side that was asked for.
        pub max_dim: u32,
        /// Quality that was asked for.
        pub quality: u32,
        /// Whether marks were drawn.
        pub annotate: bool,
        /// Whether the phone's own overlay was left out.
        pub hide_overlay: bool,
        /// Most marks that were asked for, with `annotate`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max_marks: Option<u32>,
        /// What was marked, with `annotate`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub mark_scope: Option<MarkScope>,
        /// How many aliases were drawn, with `annotate`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub mark_count: Option<u32>,
        /// The observation whose aliases are on the picture, with `annotate`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub observation_id: Option<String>,
        /// Whether the screen stood still while the picture was taken, with `annotate`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub settled: Option<bool>,
        /// What the aliases stand for, with `annotate`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub refs: Option<RefRows>,
        /// The file.
        pub artifact: Written,
        /// The picture in base64, when it was asked for and is small enough.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub screenshot_base64: Option<String>,
    }

    /// What the phone itself draws on its screen.
    #[derive(Eq)]
    pub struct Overlay {
        /// Whether it can.
        pub available: bool,
        /// Whether it does.
        pub enabled: bool,
        /// How many marks there are.
        pub mark_count: i64,
        /// Whether they follow the screen.
        pub auto_refresh: bool,
        /// How often, milliseconds.
        pub refresh_interval_ms: i64,
        /// How far they are moved to the right, device pixels.
        pub offset_x: i64,
        /// How far they are moved down, device pixels.
        pub offset_y: i64,
    }
}

impl PictureFormat {
    /// Its media type.
    pub const fn mime_type(self) -> &'static str {
        match self {
            PictureFormat::Jpeg => "image/jpeg",
            PictureFormat::Png => "image/png",
        }
    }

    /// The end of a file's name.
    pub const fn extension(self) -> &'static str {
        match self {
            PictureFormat::Jpeg => "jpg",
            PictureFormat::Png => "png",
        }
    }
}

methods! {
    /// Takes a picture of the screen and writes it to a file.
    ObserveScreenshot = "observe.screenshot" (ScreenshotParams, DEVICE) -> Reply<Screenshot>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError, StoreFull, StoreUnavailable], r#"{"maxDim":700}"#;
    /// Tells what the phone itself draws on its screen.
    ObserveOverlayGet = "observe.overlayGet" (OverlayGetParams, DEVICE) -> Reply<Overlay>, Read, [DeviceUnknown, DeviceAmbiguous, DeviceUnreachable, DeviceAuth, DeviceError], "{}";
    /// Turns the marks on or off that the phone itself draws on its screen.
    ObserveOverlaySet = "observe.overlaySet" (OverlaySetParams, DEVICE) -> Reply<Overlay>, Act, [DeviceUnknown, DeviceAmbiguous, DeviceBusy, DeviceUnreachable, DeviceAuth, DeviceError, OutcomeUnknown], r#"{"enabled":true}"#;
}
