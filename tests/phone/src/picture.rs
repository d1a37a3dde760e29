//! Screenshots: draws a scene as boxes and text, and encodes the picture as JPEG.

use embedded_graphics::{
    Drawable,
    geometry::{OriginDimensions, Point, Size},
    mono_font::{MonoFont, MonoTextStyle, ascii},
    pixelcolor::{Rgb888, RgbColor},
    prelude::{DrawTarget, Pixel, Primitive, WebColors},
    primitives::{PrimitiveStyle, Rectangle},
    text::{Baseline, Text},
};

use crate::marks::Mark;
use crate::scene::{Rect, Scene};

/// An RGB pixel buffer, three bytes per pixel.
struct Canvas {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

impl OriginDimensions for Canvas {
    fn size(&self) -> Size {
        Size::new(self.width, self.height)
    }
}

impl DrawTarget for Canvas {
    type Color = Rgb888;
    type Error = core::convert::Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(&mut self, pixels: I) -> Result<(), Self::Error> {
        for Pixel(at, color) in pixels {
            let (Ok(x), Ok(y)) = (u32::try_from(at.x), u32::try_from(at.y)) else { continue };
            if x < self.width && y < self.height {
                let i = ((y * self.width + x) * 3) as usize;
                self.pixels[i..i + 3].copy_from_slice(&[color.r(), color.g(), color.b()]);
            }
        }
        Ok(())
    }
}

/// Draws a scene in its full size, and returns it as PNG.
pub fn png(scene: &Scene) -> Vec<u8> {
    let canvas = draw(scene, &[], i32::MAX);
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, canvas.width, canvas.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::Fast);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&canvas.pixels));
    if written.is_ok() { out } else { Vec::new() }
}

/// Draws a scene in its full size, and returns it in the raw format of Android 9 and later: width, height, format and colour
/// space, then four bytes for each pixel.
pub fn raw(scene: &Scene) -> Vec<u8> {
    let canvas = draw(scene, &[], i32::MAX);
    let mut out: Vec<u8> = [canvas.width, canvas.height, 1, 0].into_iter().flat_map(u32::to_le_bytes).collect();
    out.extend(canvas.pixels.chunks_exact(3).flat_map(|pixel| [pixel[0], pixel[1], pixel[2], 255]));
    out
}

/// Draws a scene, scaled down so that neither side exceeds `max_dim` pixels, and returns it as JPEG.
pub fn jpeg(scene: &Scene, marks: &[Mark], max_dim: i32, quality: u8) -> Vec<u8> {
    let canvas = draw(scene, marks, max_dim);
    let mut out = Vec::new();
    let encoder = jpeg_encoder::Encoder::new(&mut out, quality.clamp(1, 100));
    let side = |length: u32| u16::try_from(length).unwrap_or(u16::MAX);
    match encoder.encode(&canvas.pixels, side(canvas.width), side(canvas.height), jpeg_encoder::ColorType::Rgb) {
        Ok(()) => out,
        Err(_) => Vec::new(),
    }
}

fn draw(scene: &Scene, marks: &[Mark], max_dim: i32) -> Canvas {
    let longest = scene.width.max(scene.height);
    let scale = (f64::from(max_dim.max(1)) / f64::from(longest)).min(1.0);
    let side = |v: i32| ((f64::from(v) * scale).round() as u32).max(1);
    let (width, height) = if max_dim <= 0 { (1, 1) } else { (side(scene.width), side(scene.height)) };
    let mut canvas = Canvas { width, height, pixels: vec![245; (width * height * 3) as usize] };
    let mut windows: Vec<_> = scene.windows.iter().collect();
    windows.sort_by_key(|w| w.layer);
    for window in windows {
        fill(
            &mut canvas,
            window.root.bounds,
            scale,
            if window.kind == "SYSTEM" { Rgb888::CSS_LIGHT_GRAY } else { Rgb888::WHITE },
        );
        draw_node(&mut canvas, &window.root, scale);
    }
    for mark in marks {
        outline(&mut canvas, mark.rect, scale, Rgb888::RED);
        label(&mut canvas, &mark.label, mark.rect, scale, Rgb888::RED);
    }
    canvas
}

fn draw_node(canvas: &mut Canvas, node: &crate::scene::Node, scale: f64) {
    if node.hidden {
        return;
    }
    match node.class.rsplit('.').next().unwrap_or_default() {
        "Button" => fill(canvas, node.bounds, scale, Rgb888::CSS_LIGHT_BLUE),
        "EditText" => fill(canvas, node.bounds, scale, Rgb888::CSS_LIGHT_YELLOW),
        "Toolbar" | "TabLayout" => fill(canvas, node.bounds, scale, Rgb888::CSS_LAVENDER),
        "ImageView" => fill(canvas, node.bounds, scale, Rgb888::CSS_LIGHT_GREEN),
        _ => {}
    }
    if node.interactive() {
        outline(canvas, node.bounds, scale, Rgb888::CSS_DARK_GRAY);
    }
    if let Some(text) = node.text.as_ref().or(node.desc.as_ref()) {
        label(canvas, text, node.bounds, scale, Rgb888::BLACK);
    }
    for (text, at) in &node.painted {
        paint(canvas, text, *at, scale);
    }
    for child in &node.children {
        draw_node(canvas, child, scale);
    }
}

/// A draw target whose pixels are square blocks of pixels of a canvas.
struct Magnified<'a> {
    canvas: &'a mut Canvas,
    origin: Point,
    factor: i32,
}

impl OriginDimensions for Magnified<'_> {
    fn size(&self) -> Size {
        self.canvas.size()
    }
}

impl DrawTarget for Magnified<'_> {
    type Color = Rgb888;
    type Error = core::convert::Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(&mut self, pixels: I) -> Result<(), Self::Error> {
        for Pixel(at, color) in pixels {
            let block = Rectangle::new(self.origin + at * self.factor, Size::new_equal(self.factor.unsigned_abs()));
            block.into_styled(PrimitiveStyle::with_fill(color)).draw(self.canvas)?;
        }
        Ok(())
    }
}

/// Paints a text large enough to be legible in the screenshot.
fn paint(canvas: &mut Canvas, text: &str, rect: Rect, scale: f64) {
    let factor = ((4.0 * scale).round() as i32).max(1);
    let mut magnified = Magnified { canvas, origin: rectangle(rect, scale).top_left, factor };
    let style = MonoTextStyle::new(&ascii::FONT_10X20, Rgb888::BLACK);
    let Ok(_) = Text::with_baseline(text, Point::new(2, 2), style, Baseline::Top).draw(&mut magnified);
}

fn rectangle(rect: Rect, scale: f64) -> Rectangle {
    let at = |v: i32| (f64::from(v) * scale) as i32;
    let size = |a: i32, b: i32| (at(b) - at(a)).max(0) as u32;
    Rectangle::new(Point::new(at(rect.l), at(rect.t)), Size::new(size(rect.l, rect.r), size(rect.t, rect.b)))
}

fn fill(canvas: &mut Canvas, rect: Rect, scale: f64, color: Rgb888) {
    let Ok(()) = rectangle(rect, scale).into_styled(PrimitiveStyle::with_fill(color)).draw(canvas);
}

fn outline(canvas: &mut Canvas, rect: Rect, scale: f64, color: Rgb888) {
    let Ok(()) = rectangle(rect, scale).into_styled(PrimitiveStyle::with_stroke(color, 1)).draw(canvas);
}

fn font(height: f64) -> &'static MonoFont<'static> {
    match height {
        h if h >= 40.0 => &ascii::FONT_10X20,
        h if h >= 18.0 => &ascii::FONT_9X15,
        h if h >= 12.0 => &ascii::FONT_6X10,
        _ => &ascii::FONT_4X6,
    }
}

fn label(canvas: &mut Canvas, text: &str, rect: Rect, scale: f64, color: Rgb888) {
    let style = MonoTextStyle::new(font(f64::from(rect.b - rect.t) * scale), color);
    let at = rectangle(rect, scale).top_left + Point::new(3, 2);
    let Ok(_) = Text::with_baseline(text, at, style, Baseline::Top).draw(canvas);
}
