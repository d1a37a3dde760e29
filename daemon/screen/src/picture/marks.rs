//! Annotations on screenshots: a box around each element and its label, in a font size that is legible at any picture
//! size.

use std::convert::Infallible;

use embedded_graphics::{
    Drawable,
    geometry::{OriginDimensions, Point, Size},
    mono_font::{MonoFont, MonoTextStyle, ascii},
    pixelcolor::{Rgb888, RgbColor},
    prelude::{DrawTarget, Pixel},
    text::{Baseline, Text},
};
use image::RgbImage;

/// An element to annotate on a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Left, top, right and bottom edges, in pixels of the picture.
    pub bounds: [f64; 4],
    /// Label to draw. If it is `None`, the element gets only a thin grey box.
    pub label: Option<String>,
}

/// Colours that are easy to tell apart and on which white letters are legible.
const COLORS: [[u8; 3]; 6] = [[200, 30, 30], [20, 90, 200], [10, 120, 50], [150, 40, 160], [180, 90, 0], [0, 110, 120]];
const QUIET: [u8; 3] = [130, 130, 130];

/// A rectangle of whole pixels: left, top, right, bottom; right and bottom are exclusive.
type Area = [i64; 4];

/// Returns the area in square pixels, or 0 for an inverted rectangle.
fn size(area: &Area) -> i64 {
    let side = |from: usize, to: usize| area[to].saturating_sub(area[from]).max(0);
    side(0, 2).saturating_mul(side(1, 3))
}

fn overlap(a: &Area, b: &Area) -> i64 {
    size(&[a[0].max(b[0]), a[1].max(b[1]), a[2].min(b[2]), a[3].min(b[3])])
}

/// Draws a box around each element, and its label. Labels are placed so that they cover each other as little as
/// possible.
pub fn annotate(picture: &mut RgbImage, marks: &[Mark]) {
    let (font, zoom) = letters(picture.width().min(picture.height()));
    let stroke = if zoom > 1 { 3 } else { 2 };
    let areas: Vec<Area> = marks.iter().map(|m| m.bounds.map(|v| v.round() as i64)).collect();
    for (index, (mark, area)) in marks.iter().zip(&areas).enumerate() {
        let (color, width) = if mark.label.is_some() { (color(index), stroke) } else { (QUIET, 1) };
        outline(picture, area, width, color);
    }
    let mut taken: Vec<Area> = Vec::new();
    // Small elements leave the fewest places for a label, so their labels are placed first.
    let mut order: Vec<usize> = (0..marks.len()).filter(|i| marks[*i].label.is_some()).collect();
    order.sort_by_key(|i| size(&areas[*i]));
    for index in order {
        let Some(text) = &marks[index].label else { continue };
        let size = plate_size(font, zoom, text);
        let place = place(&areas[index], size, &taken, picture.dimensions());
        fill(picture, &place, color(index));
        write(picture, font, zoom, text, (place[0] + i64::from(zoom) * 2, place[1] + i64::from(zoom)));
        taken.push(place);
    }
}

fn color(index: usize) -> [u8; 3] {
    COLORS[index % COLORS.len()]
}

/// Returns the font for a picture whose shorter side has this length, and the factor by which its pixels are enlarged.
fn letters(shorter: u32) -> (&'static MonoFont<'static>, u32) {
    match shorter {
        0..250 => (&ascii::FONT_6X10, 1),
        250..450 => (&ascii::FONT_7X13_BOLD, 1),
        450..800 => (&ascii::FONT_9X15_BOLD, 1),
        _ => (&ascii::FONT_9X15_BOLD, (shorter / 500).clamp(2, 6)),
    }
}

fn plate_size(font: &MonoFont<'_>, zoom: u32, text: &str) -> (i64, i64) {
    let letters = i64::try_from(text.chars().count()).unwrap_or(0);
    let (zoom, size) = (i64::from(zoom), font.character_size);
    ((letters * i64::from(size.width) + 4) * zoom, (i64::from(size.height) + 2) * zoom)
}

/// Returns the area of a label: in a corner of its element or beside the element, wherever it covers other labels the
/// least.
fn place(area: &Area, (width, height): (i64, i64), taken: &[Area], (w, h): (u32, u32)) -> Area {
    let [left, top, right, bottom] = *area;
    let spots = [
        (left, top),
        (right - width, top),
        (left, bottom - height),
        (right - width, bottom - height),
        (left, top - height),
        (left, bottom),
        (left - width, top),
        (right, top),
    ];
    let within = |(x, y): (i64, i64)| {
        let (x, y) = (x.clamp(0, (i64::from(w) - width).max(0)), y.clamp(0, (i64::from(h) - height).max(0)));
        [x, y, x + width, y + height]
    };
    let covered = |place: &Area| taken.iter().map(|t| overlap(place, t)).sum::<i64>();
    // The first minimum wins, so corners of the element itself are preferred.
    spots.into_iter().map(within).min_by_key(covered).unwrap_or_else(|| within((left, top)))
}

fn put(picture: &mut RgbImage, x: i64, y: i64, color: [u8; 3]) {
    if let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y))
        && let Some(pixel) = picture.get_pixel_mut_checked(x, y)
    {
        pixel.0 = color;
    }
}

/// Clips a rectangle to the picture.
fn clipped(picture: &RgbImage, area: &Area) -> Area {
    let (w, h) = (i64::from(picture.width()), i64::from(picture.height()));
    [area[0].clamp(0, w), area[1].clamp(0, h), area[2].clamp(0, w), area[3].clamp(0, h)]
}

fn fill(picture: &mut RgbImage, area: &Area, color: [u8; 3]) {
    let [left, top, right, bottom] = clipped(picture, area);
    for y in top..bottom {
        for x in left..right {
            put(picture, x, y, color);
        }
    }
}

fn outline(picture: &mut RgbImage, area: &Area, width: i64, color: [u8; 3]) {
    let [left, top, right, bottom] = *area;
    for side in [
        [left, top, right, top + width],
        [left, bottom - width, right, bottom],
        [left, top, left + width, bottom],
        [right - width, top, right, bottom],
    ] {
        fill(picture, &side, color);
    }
}

/// A draw target that enlarges each pixel of a letter to a square of `zoom` by `zoom` pixels.
struct Zoomed<'a> {
    picture: &'a mut RgbImage,
    at: (i64, i64),
    zoom: u32,
}

impl OriginDimensions for Zoomed<'_> {
    fn size(&self) -> Size {
        Size::new(self.picture.width(), self.picture.height())
    }
}

impl DrawTarget for Zoomed<'_> {
    type Color = Rgb888;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(&mut self, pixels: I) -> Result<(), Infallible> {
        let zoom = i64::from(self.zoom);
        for Pixel(point, color) in pixels {
            let (x, y) = (self.at.0 + i64::from(point.x) * zoom, self.at.1 + i64::from(point.y) * zoom);
            fill(self.picture, &[x, y, x + zoom, y + zoom], [color.r(), color.g(), color.b()]);
        }
        Ok(())
    }
}

fn write(picture: &mut RgbImage, font: &MonoFont<'_>, zoom: u32, text: &str, at: (i64, i64)) {
    let style = MonoTextStyle::new(font, Rgb888::WHITE);
    let Ok(_) = Text::with_baseline(text, Point::zero(), style, Baseline::Top).draw(&mut Zoomed { picture, at, zoom });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks() -> Vec<Mark> {
        let of = |bounds, label: &str| Mark { bounds, label: Some(label.to_owned()) };
        vec![
            of([10.0, 10.0, 290.0, 390.0], "@n1"),
            of([10.0, 10.0, 60.0, 30.0], "@n2"),
            of([-50.0, 380.0, 900.0, 2000.0], "@n12"),
        ]
    }

    #[test]
    fn labels_do_not_cover_each_other() {
        let marks = marks();
        let (font, zoom) = letters(300);
        let mut taken: Vec<Area> = Vec::new();
        for mark in &marks {
            let area = mark.bounds.map(|v| v as i64);
            let place = place(&area, plate_size(font, zoom, mark.label.as_deref().unwrap_or("")), &taken, (300, 400));
            assert!(taken.iter().all(|t| overlap(t, &place) == 0), "{place:?} {taken:?}");
            assert!(place[0] >= 0 && place[1] >= 0 && place[2] <= 300 && place[3] <= 400);
            taken.push(place);
        }
    }

    #[test]
    fn annotations_stay_within_the_picture() {
        for size in [(300, 400), (40, 30), (1, 1), (1080, 2400)] {
            let mut picture = RgbImage::from_pixel(size.0, size.1, image::Rgb([255; 3]));
            annotate(&mut picture, &marks());
            assert!(picture.pixels().any(|p| p.0 != [255; 3]));
        }
    }

    /// Letters are white on a coloured plate, so both colours must appear in the corner of the element.
    #[test]
    fn label_is_legible_on_its_element() {
        let mut picture = RgbImage::from_pixel(1080, 2400, image::Rgb([128; 3]));
        annotate(&mut picture, &[Mark { bounds: [100.0, 200.0, 500.0, 400.0], label: Some("@n7".into()) }]);
        let plate: Vec<[u8; 3]> =
            (104..160).flat_map(|x| (204..230).map(move |y| (x, y))).map(|(x, y)| picture.get_pixel(x, y).0).collect();
        assert!(plate.iter().filter(|p| **p == [255; 3]).count() > 50);
        assert!(plate.iter().filter(|p| **p == COLORS[0]).count() > 200);
        assert_eq!(picture.get_pixel(300, 300).0, [128; 3], "the inside of the element is unchanged");
    }
}
