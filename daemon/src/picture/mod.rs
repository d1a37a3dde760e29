//! Pictures, as pure code: how large they are, what is drawn on them, how they are written.

mod marks;

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::{ImageFormat, ImageReader, RgbImage};

pub use marks::{Mark, annotate};

/// How a picture is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// With losses, small.
    Jpeg,
    /// Without losses.
    Png,
}

impl Format {
    /// Its media type.
    pub fn mime_type(self) -> &'static str {
        match self {
            Format::Jpeg => "image/jpeg",
            Format::Png => "image/png",
        }
    }

    /// The end of a file's name.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Jpeg => "jpg",
            Format::Png => "png",
        }
    }
}

/// Width and height of a JPEG, from its header.
///
/// # Errors
/// When it is no picture.
pub fn size(jpeg: &[u8]) -> Result<(u32, u32), String> {
    ImageReader::with_format(Cursor::new(jpeg), ImageFormat::Jpeg).into_dimensions().map_err(|e| e.to_string())
}

/// The pixels of a JPEG.
///
/// # Errors
/// When it is no picture, or larger than any screen.
pub fn decode(jpeg: &[u8]) -> Result<RgbImage, String> {
    let mut reader = ImageReader::with_format(Cursor::new(jpeg), ImageFormat::Jpeg);
    let mut limits = image::Limits::default();
    limits.max_image_width = Some(20_000);
    limits.max_image_height = Some(20_000);
    reader.limits(limits);
    reader.decode().map(|picture| picture.into_rgb8()).map_err(|e| e.to_string())
}

/// A picture as a file; the quality, from 1 to 100, is that of a JPEG.
///
/// # Errors
/// When it cannot be written.
pub fn encode(picture: &RgbImage, format: Format, quality: u8) -> Result<Vec<u8>, String> {
    let mut out = Cursor::new(Vec::new());
    let written = match format {
        Format::Jpeg => picture.write_with_encoder(JpegEncoder::new_with_quality(&mut out, quality)),
        Format::Png => picture.write_to(&mut out, ImageFormat::Png),
    };
    written.map(|()| out.into_inner()).map_err(|e| e.to_string())
}

/// How many pixels of a picture a pixel of the screen has. The service shrinks pictures so that both sides are at most
/// `max_dim`, and never enlarges them. It may leave its bars out of the screen's size, which concerns the longer side only:
/// that side tells more exactly, but counts only when it fits.
pub fn scale((width, height): (u32, u32), max_dim: u32, screen: Option<(i32, i32)>) -> Option<f64> {
    if width.max(height) < max_dim {
        return Some(1.0);
    }
    let (screen_width, screen_height) = screen.filter(|(w, h)| *w > 0 && *h > 0)?;
    let sides = |a: u32, b: i32| f64::from(a) / f64::from(b);
    let shorter = sides(width.min(height), screen_width.min(screen_height));
    let longer = sides(width.max(height), screen_width.max(screen_height));
    // Half a pixel of the shorter side is what rounding may have added.
    let slack = 0.5 / f64::from(width.min(height).max(1));
    let scale = if (longer / shorter - 1.0).abs() <= slack { longer } else { shorter };
    Some(scale.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_that_of_the_shorter_side() {
        assert_eq!(scale((540, 1200), 1200, Some((1080, 2400))), Some(0.5));
        // The bars are missing from the screen's height.
        assert_eq!(scale((540, 1200), 1200, Some((1080, 2200))), Some(0.5));
        // Turned.
        assert_eq!(scale((1200, 540), 1200, Some((1080, 2400))), Some(0.5));
        // Rounded: 157.5 pixels became 158.
        assert_eq!(scale((158, 350), 350, Some((1080, 2400))), Some(350.0 / 2400.0));
        // Smaller than what was asked for: not shrunk at all.
        assert_eq!(scale((1080, 2400), 4000, None), Some(1.0));
        assert_eq!(scale((540, 1200), 1200, None), None);
    }

    #[test]
    fn what_is_written_can_be_read() {
        let picture = RgbImage::from_fn(30, 20, |x, _| image::Rgb([if x < 15 { 250 } else { 10 }; 3]));
        let jpeg = encode(&picture, Format::Jpeg, 90).expect("writes");
        assert_eq!(size(&jpeg), Ok((30, 20)));
        let read = decode(&jpeg).expect("reads");
        assert!(read.get_pixel(3, 3)[0] > 200 && read.get_pixel(27, 3)[0] < 50);
        assert!(encode(&picture, Format::Png, 90).expect("writes").starts_with(b"\x89PNG"));
        assert!(decode(b"no picture").is_err() && size(b"\xff\xd8").is_err());
    }
}
