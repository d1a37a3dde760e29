//! Pictures, as pure code: how large they are, what is drawn on them, how they are written.

mod marks;
pub mod ncc;

use std::io::Cursor;

use afd_proto::picture::PictureFormat as Format;
use image::codecs::jpeg::JpegEncoder;
use image::{ImageFormat, ImageReader, RgbImage};

pub use marks::{Mark, annotate};

/// Why a file is no picture, or a picture cannot be written.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct PictureError(#[from] image::ImageError);

type Result<T> = std::result::Result<T, PictureError>;

/// Width and height of a JPEG, from its header.
///
/// # Errors
/// When it is no picture.
pub fn size(jpeg: &[u8]) -> Result<(u32, u32)> {
    Ok(ImageReader::with_format(Cursor::new(jpeg), ImageFormat::Jpeg).into_dimensions()?)
}

/// Width and height of a PNG or JPEG, and whether it is a PNG.
///
/// # Errors
/// When it is neither.
pub fn size_any(file: &[u8]) -> Result<((u32, u32), bool)> {
    let png = file.starts_with(b"\x89PNG");
    let format = if png { ImageFormat::Png } else { ImageFormat::Jpeg };
    let size = ImageReader::with_format(Cursor::new(file), format).into_dimensions()?;
    Ok((size, png))
}

/// The pixels of a JPEG.
///
/// # Errors
/// When it is no picture, or larger than any screen.
pub fn decode(jpeg: &[u8]) -> Result<RgbImage> {
    decode_as(jpeg, ImageFormat::Jpeg)
}

fn decode_as(file: &[u8], format: ImageFormat) -> Result<RgbImage> {
    let mut reader = ImageReader::with_format(Cursor::new(file), format);
    let mut limits = image::Limits::default();
    limits.max_image_width = Some(20_000);
    limits.max_image_height = Some(20_000);
    reader.limits(limits);
    Ok(reader.decode()?.into_rgb8())
}

/// The pixels of a PNG or JPEG.
///
/// # Errors
/// When it is neither, or larger than any screen.
pub fn decode_any(file: &[u8]) -> Result<RgbImage> {
    if !file.starts_with(b"\x89PNG") {
        return decode(file);
    }
    decode_as(file, ImageFormat::Png)
}

/// A picture no side of which is longer than this, pixels.
pub fn at_most(picture: RgbImage, longest: u32) -> RgbImage {
    let (width, height) = picture.dimensions();
    if width.max(height) <= longest {
        return picture;
    }
    let scaled = |side: u32| (u64::from(side) * u64::from(longest) / u64::from(width.max(height))).max(1) as u32;
    image::imageops::thumbnail(&picture, scaled(width), scaled(height))
}

/// A picture as a file; the quality, from 1 to 100, is that of a JPEG.
///
/// # Errors
/// When it cannot be written.
pub fn encode(picture: &RgbImage, format: Format, quality: u8) -> Result<Vec<u8>> {
    let mut out = Cursor::new(Vec::new());
    match format {
        Format::Jpeg => picture.write_with_encoder(JpegEncoder::new_with_quality(&mut out, quality))?,
        Format::Png => picture.write_to(&mut out, ImageFormat::Png)?,
    }
    Ok(out.into_inner())
}

/// How a picture relates to the screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Relation {
    /// How many of its pixels a pixel of the screen has.
    pub scale: f64,
    /// Width and height of the screen, device pixels.
    pub screen: (u32, u32),
}

/// Relates a picture to the screen. The service shrinks pictures so that both sides are at most `max_dim`, and never enlarges
/// them. It may leave its bars out of the screen's size, which concerns the longer side only: that side tells more exactly, but
/// counts only when it fits.
pub fn relate((width, height): (u32, u32), max_dim: u32, screen: Option<(i32, i32)>) -> Option<Relation> {
    if width.max(height) < max_dim {
        return Some(Relation { scale: 1.0, screen: (width, height) });
    }
    let side = |v: i32| u32::try_from(v).ok().filter(|v| *v > 0);
    let (a, b) = screen.and_then(|(w, h)| Some((side(w)?, side(h)?)))?;
    let (short, long) = (f64::from(a.min(b)), f64::from(a.max(b)));
    let shorter = f64::from(width.min(height)) / short;
    let longer = f64::from(width.max(height)) / long;
    // One pixel of the shorter side is what rounding may have changed.
    let fits = (longer / shorter - 1.0).abs() <= 1.0 / f64::from(width.min(height).max(1));
    let scale = if fits { longer } else { shorter }.min(1.0);
    let upright = height >= width;
    let screen = match fits {
        true if upright => (a.min(b), a.max(b)),
        true => (a.max(b), a.min(b)),
        false => ((f64::from(width) / scale).round() as u32, (f64::from(height) / scale).round() as u32),
    };
    Some(Relation { scale, screen })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_related_to_the_whole_screen() {
        let of = |size, max_dim, screen| relate(size, max_dim, screen).map(|r| (r.scale, r.screen));
        assert_eq!(of((540, 1200), 1200, Some((1080, 2400))), Some((0.5, (1080, 2400))));
        // The bars are missing from the screen's height.
        assert_eq!(of((540, 1200), 1200, Some((1080, 2200))), Some((0.5, (1080, 2400))));
        // Turned.
        assert_eq!(of((1200, 540), 1200, Some((1080, 2400))), Some((0.5, (2400, 1080))));
        // Rounded, ever more.
        assert_eq!(of((158, 350), 350, Some((1080, 2400))), Some((350.0 / 2400.0, (1080, 2400))));
        assert_eq!(of((23, 50), 50, Some((1080, 2400))), Some((50.0 / 2400.0, (1080, 2400))));
        assert_eq!(of((1, 1), 1, Some((1080, 2400))).map(|r| r.1), Some((1080, 2400)));
        // Smaller than what was asked for: not shrunk at all.
        assert_eq!(of((1080, 2400), 4000, None), Some((1.0, (1080, 2400))));
        assert_eq!(of((540, 1200), 1200, None), None);
    }

    #[test]
    fn what_is_written_can_be_read() {
        let picture = RgbImage::from_fn(30, 20, |x, _| image::Rgb([if x < 15 { 250 } else { 10 }; 3]));
        let jpeg = encode(&picture, Format::Jpeg, 90).expect("writes");
        assert_eq!(size(&jpeg).expect("reads"), (30, 20));
        let read = decode(&jpeg).expect("reads");
        assert!(read.get_pixel(3, 3)[0] > 200 && read.get_pixel(27, 3)[0] < 50);
        assert!(encode(&picture, Format::Png, 90).expect("writes").starts_with(b"\x89PNG"));
        assert!(decode(b"no picture").is_err() && size(b"\xff\xd8").is_err());
    }
}
