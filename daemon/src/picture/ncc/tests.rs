use super::*;
use image::{Rgb, imageops};

/// Returns a random picture without repeating parts.
fn noise(width: u32, height: u32, seed: u32) -> RgbImage {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    // Coarse grain, as in real screenshots.
    let mut grain = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 8) as u8
    };
    let small = RgbImage::from_fn(width.div_ceil(6), height.div_ceil(6), |_, _| Rgb([grain(), grain(), grain()]));
    imageops::resize(&small, width, height, imageops::FilterType::Triangle)
}

fn crop(picture: &RgbImage, x: u32, y: u32, w: u32, h: u32) -> RgbImage {
    imageops::crop_imm(picture, x, y, w, h).to_image()
}

const ALL: Area = (0, 0, i32::MAX, i32::MAX);

#[test]
fn template_is_found_in_place_and_elsewhere() {
    let picture = noise(400, 600, 3);
    let scene = Scene::of(&picture);
    let template = Template::of(&crop(&picture, 101, 203, 48, 40)).expect("it is not flat");
    let there = scene.find(&template, Some((101, 203)), ALL).expect("found");
    assert_eq!((there.x, there.y, there.how), (101, 203, SearchStep::InPlace));
    assert!(there.score > 0.999);
    let near = scene.find(&template, Some((90, 215)), ALL).expect("found");
    assert_eq!((near.x, near.y, near.how), (101, 203, SearchStep::InPlace));
    let far = scene.find(&template, Some((300, 20)), ALL).expect("found");
    assert_eq!((far.x, far.y), (101, 203));
    assert_ne!(far.how, SearchStep::InPlace);
    let anywhere = find_all(&scene, &[(template, None)], ALL);
    assert_eq!(anywhere[0].map(|h| (h.x, h.y)), Some((101, 203)));
}

#[test]
fn brightness_and_contrast_do_not_matter() {
    let picture = noise(300, 300, 5);
    let darker = RgbImage::from_fn(300, 300, |x, y| Rgb(picture.get_pixel(x, y).0.map(|v| v / 2 + 20)));
    let template = Template::of(&crop(&picture, 60, 90, 40, 40)).expect("it is not flat");
    let hit = Scene::of(&darker).find(&template, None, ALL).expect("found");
    assert_eq!((hit.x, hit.y), (60, 90));
}

#[test]
fn absent_templates_are_not_found() {
    let scene = Scene::of(&noise(300, 500, 7));
    let other = Template::of(&noise(40, 40, 99)).expect("it is not flat");
    assert_eq!(scene.find(&other, Some((10, 10)), ALL), None);
    let larger = Template::of(&noise(301, 40, 9)).expect("it is not flat");
    assert_eq!(scene.find(&larger, Some((0, 0)), ALL), None);
}

#[test]
fn flat_pictures_never_match() {
    let flat = RgbImage::from_pixel(30, 30, Rgb([200, 200, 200]));
    assert!(Template::of(&flat).is_none());
    let ground = Scene::of(&RgbImage::from_pixel(200, 200, Rgb([200, 200, 200])));
    let template = Template::of(&noise(30, 30, 1)).expect("it is not flat");
    assert_eq!(ground.find(&template, Some((5, 5)), ALL), None);
    assert_eq!(similarity(&flat, &flat), 0.0);
}

#[test]
fn matches_outside_the_bounds_are_ignored() {
    let picture = noise(400, 400, 11);
    let scene = Scene::of(&picture);
    let template = Template::of(&crop(&picture, 10, 10, 40, 40)).expect("it is not flat");
    assert_eq!(scene.find(&template, Some((10, 10)), (60, 60, 400, 400)), None);
    assert!(scene.find(&template, Some((10, 10)), (10, 10, 400, 400)).is_some());
}

#[test]
fn tiny_templates_are_found() {
    let picture = noise(200, 200, 13);
    let template = Template::of(&crop(&picture, 77, 31, 9, 9)).expect("it is not flat");
    assert_eq!(Scene::of(&picture).find(&template, None, ALL).map(|h| (h.x, h.y)), Some((77, 31)));
}

#[test]
fn near_duplicates_are_recognised() {
    let a = noise(40, 40, 17);
    let mut b = a.clone();
    b.put_pixel(3, 3, Rgb([0, 0, 0]));
    assert!(similarity(&a, &b) > SAME_SCORE);
    assert!(similarity(&a, &imageops::resize(&a, 52, 52, imageops::FilterType::Triangle)) > 0.8);
    assert!(similarity(&a, &noise(40, 40, 18)) < 0.5);
    assert_eq!(similarity(&a, &imageops::resize(&a, 90, 40, imageops::FilterType::Triangle)), 0.0, "more than twice as wide");
}
