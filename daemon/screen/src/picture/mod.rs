//! Image helpers without I/O: sizes, decoding and encoding, scaling, annotations, and template matching ([`ncc`]).

mod marks;
pub mod ncc;

use std::io::Cursor;

use afd_proto::picture::PictureFormat as Format;
use image::codecs::jpeg::JpegEncoder;
use image::{ImageFormat, ImageReader, RgbImage};

pub use marks::{Mark, annotate};

/// Error from decoding or encoding a picture.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct PictureError(#[from] image::ImageError);

type Result<T> = std::result::Result<T, PictureError>;

/// Returns the width and height of a JPEG in pixels, as read from its header.
///
/// # Errors
/// If the data is not a JPEG.
pub fn size(jpeg: &[u8]) -> Result<(u32, u32)> {
    Ok(ImageReader::with_format(Cursor::new(jpeg), ImageFormat::Jpeg).into_dimensions()?)
}

/// Returns the width and height of a PNG or JPEG in pixels, and whether it is a PNG.
///
/// # Errors
/// If the data is neither a PNG nor a JPEG.
pub fn size_any(file: &[u8]) -> Result<((u32, u32), bool)> {
    let png = file.starts_with(b"\x89PNG");
    let format = if png { ImageFormat::Png } else { ImageFormat::Jpeg };
    let size = ImageReader::with_format(Cursor::new(file), format).into_dimensions()?;
    Ok((size, png))
}

/// Decodes a JPEG.
///
/// # Errors
/// If the data is not a JPEG, or a side is longer than 20,000 pixels.
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

/// Decodes a PNG or JPEG.
///
/// # Errors
/// If the data is neither a PNG nor a JPEG, or a side is longer than 20,000 pixels.
pub fn decode_any(file: &[u8]) -> Result<RgbImage> {
    if !file.starts_with(b"\x89PNG") {
        return decode(file);
    }
    decode_as(file, ImageFormat::Png)
}

/// Cuts a part out of a picture; what lies outside of the picture is left out. Returns `None` if nothing is left.
pub fn part(picture: &RgbImage, [left, top, right, bottom]: [u32; 4]) -> Option<RgbImage> {
    let (right, bottom) = (right.min(picture.width()), bottom.min(picture.height()));
    let (width, height) = (right.checked_sub(left)?, bottom.checked_sub(top)?);
    let is_some = width > 0 && height > 0;
    is_some.then(|| image::imageops::crop_imm(picture, left, top, width, height).to_image())
}

/// Scales a picture down so that neither side is longer than `longest` pixels. A smaller picture is returned unchanged.
pub fn at_most(picture: RgbImage, longest: u32) -> RgbImage {
    let (width, height) = picture.dimensions();
    if width.max(height) <= longest {
        return picture;
    }
    let scaled = |side: u32| (u64::from(side) * u64::from(longest) / u64::from(width.max(height))).max(1) as u32;
    image::imageops::thumbnail(&picture, scaled(width), scaled(height))
}

/// Encodes a picture. `quality`, 1 to 100, applies to JPEG only.
///
/// # Errors
/// If encoding fails.
pub fn encode(picture: &RgbImage, format: Format, quality: u8) -> Result<Vec<u8>> {
    let mut out = Cursor::new(Vec::new());
    match format {
        Format::Jpeg => picture.write_with_encoder(JpegEncoder::new_with_quality(&mut out, quality))?,
        Format::Png => picture.write_to(&mut out, ImageFormat::Png)?,
    }
    Ok(out.into_inner())
}

/// The mapping from a screenshot to the device's screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Relation {
    /// Screenshot pixels per device pixel.
    pub scale: f64,
    /// Width and height of the screen, in device pixels.
    pub screen: (u32, u32),
}

/// Computes how a screenshot maps to the screen. Returns `None` if the screenshot may have been shrunk and the screen
/// size is unknown. The service shrinks screenshots so that neither side is longer than `max_dim` pixels, and never
/// enlarges them. The reported screen size may exclude the system bars, which affects only the longer side. The longer
/// side gives the more precise scale, but it is used only if it agrees with the shorter side.
pub fn relate((width, height): (u32, u32), max_dim: u32, screen: Option<(i32, i32)>) -> Option<Relation> {
    if width.max(height) < max_dim {
        return Some(Relation { scale: 1.0, screen: (width, height) });
    }
    let side = |v: i32| u32::try_from(v).ok().filter(|v| *v > 0);
    let (a, b) = screen.and_then(|(w, h)| Some((side(w)?, side(h)?)))?;
    let (short, long) = (f64::from(a.min(b)), f64::from(a.max(b)));
    let shorter = f64::from(width.min(height)) / short;
    let longer = f64::from(width.max(height)) / long;
    // Rounding may have changed the shorter side by one pixel.
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
    fn screenshot_maps_to_the_full_screen() {
        let of = |size, max_dim, screen| relate(size, max_dim, screen).map(|r| (r.scale, r.screen));
        assert_eq!(of((540, 1200), 1200, Some((1080, 2400))), Some((0.5, (1080, 2400))));
        // The reported height excludes the system bars.
        assert_eq!(of((540, 1200), 1200, Some((1080, 2200))), Some((0.5, (1080, 2400))));
        // Landscape.
        assert_eq!(of((1200, 540), 1200, Some((1080, 2400))), Some((0.5, (2400, 1080))));
        // Rounding errors that increase as the screenshot gets smaller.
        assert_eq!(of((158, 350), 350, Some((1080, 2400))), Some((350.0 / 2400.0, (1080, 2400))));
        assert_eq!(of((23, 50), 50, Some((1080, 2400))), Some((50.0 / 2400.0, (1080, 2400))));
        assert_eq!(of((1, 1), 1, Some((1080, 2400))).map(|r| r.1), Some((1080, 2400)));
        // Smaller than the limit: not shrunk at all.
        assert_eq!(of((1080, 2400), 4000, None), Some((1.0, (1080, 2400))));
        assert_eq!(of((540, 1200), 1200, None), None);
    }

    #[test]
    fn encoded_pictures_can_be_decoded() {
        let picture = RgbImage::from_fn(30, 20, |x, _| image::Rgb([if x < 15 { 250 } else { 10 }; 3]));
        let jpeg = encode(&picture, Format::Jpeg, 90).expect("writes");
        assert_eq!(size(&jpeg).expect("reads"), (30, 20));
        let read = decode(&jpeg).expect("reads");
        assert!(read.get_pixel(3, 3)[0] > 200 && read.get_pixel(27, 3)[0] < 50);
        assert!(encode(&picture, Format::Png, 90).expect("writes").starts_with(b"\x89PNG"));
        assert!(decode(b"no picture").is_err() && size(b"\xff\xd8").is_err());
    }
}
