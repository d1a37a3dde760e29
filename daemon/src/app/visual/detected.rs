//! Validates detections sent by a caller or a detector program.

use afd_proto::ErrorCode;
use afd_proto::limits::{Limited, OutOfRange};
use afd_proto::visual::Detection;

use crate::app::{Error, Result};
use afd_experience::visual::detections::Detected;
use afd_experience::visual::detector::DetectorError;
use afd_screen::page::snapshot::Rect;

/// Maximum absolute value of a coordinate in a detection, in pixels.
const MAX_COORDINATE: i32 = 100_000;

/// Validates and converts all detections; `field` names them in the error for the first invalid one.
pub(super) fn all_detected(detections: &[Detection], field: &str) -> Result<Vec<Detected>> {
    let one = |(i, d): (usize, &Detection)| {
        detected(d).map_err(|out| Error::param(&format!("{field}[{i}].{}", out.field), &out.expected, out.got))
    };
    detections.iter().enumerate().map(one).collect()
}

/// Validates and converts one detection.
///
/// # Errors
/// [`OutOfRange`] for the first field that is invalid.
fn detected(d: &Detection) -> std::result::Result<Detected, OutOfRange> {
    let out = |field: &str, expected: &str, got: String| OutOfRange {
        field: field.to_owned(),
        expected: expected.to_owned(),
        got,
    };
    let [left, top, right, bottom] = d.bounds;
    let sane = -MAX_COORDINATE..=MAX_COORDINATE;
    if right <= left || bottom <= top || ![left, top, right, bottom].iter().all(|v| sane.contains(v)) {
        return Err(out("box", "left, top, right and bottom of a non-empty rectangle", format!("{:?}", d.bounds)));
    }
    d.check()?;
    if let Some(name) = d.name.as_ref().filter(|n| n.trim().is_empty()) {
        return Err(out("name", "a non-blank name", format!("{name:?}")));
    }
    Ok(Detected {
        name: d.name.clone(),
        kind: d.kind.clone().unwrap_or_else(|| if d.label.is_some() { "text" } else { "icon" }.to_owned()),
        label: d.label.clone(),
        bounds: Rect { left, top, right, bottom },
        confidence: d.confidence,
        crop: None,
        same_as: None,
    })
}

impl From<DetectorError> for Error {
    fn from(error: DetectorError) -> Self {
        let hint = "set a program with `afctl config set visual.detector PROGRAM`; `tesseract` recognises text";
        match &error {
            DetectorError::None => Error::new(ErrorCode::Unsupported, error.to_string()).hint(hint),
            DetectorError::Missing { .. } => {
                Error::new(ErrorCode::Unsupported, error.to_string()).hint("install it, or set another one")
            }
            DetectorError::TimedOut { .. } => {
                Error::new(ErrorCode::Timeout, error.to_string()).hint("see visual.detector_timeout_ms")
            }
            DetectorError::Failed { .. } => Error::new(ErrorCode::DeviceError, error.to_string()).hint(hint),
        }
    }
}
