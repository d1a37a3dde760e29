use super::*;
use image::{Rgb, imageops};

/// Returns a random picture that contains no repeated parts.
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
    assert_eq!(
        similarity(&a, &imageops::resize(&a, 90, 40, imageops::FilterType::Triangle)),
        0.0,
        "more than twice as wide"
    );
}

/// Draws a button with a bar whose length distinguishes it from similar buttons.
fn button(bar: u32) -> RgbImage {
    RgbImage::from_fn(80, 40, |x, y| match (x, y) {
        (x, y) if x < 2 || y < 2 || x >= 78 || y >= 38 => image::Rgb([20, 20, 20]),
        (x, y) if (10..10 + bar).contains(&x) && (16..24).contains(&y) => image::Rgb([40, 90, 200]),
        (x, _) => image::Rgb([200, 200, 190 + u8::try_from(x % 7).unwrap_or_default()]),
    })
}

#[test]
fn swapped_buttons_are_found_where_they_are() {
    let mut screen = RgbImage::from_pixel(400, 300, image::Rgb([240, 240, 240]));
    let (first, second) = (button(52), button(40));
    image::imageops::replace(&mut screen, &second, 30, 40);
    image::imageops::replace(&mut screen, &first, 30, 200);
    let scene = Scene::of(&screen);
    let wanted = [
        (Template::of(&first).expect("a template"), Some((30, 40))),
        (Template::of(&second).expect("a template"), Some((30, 200))),
    ];
    let hits = find_all(&scene, &wanted, (0, 0, 400, 300));
    assert_eq!(
        hits.iter().map(|h| h.map(|m| (m.x, m.y))).collect::<Vec<_>>(),
        [Some((30, 200)), Some((30, 40))],
        "{hits:?}"
    );
}

#[test]
fn two_templates_are_not_found_in_one_place_and_twins_are_not_sure() {
    let mut screen = RgbImage::from_pixel(400, 300, image::Rgb([240, 240, 240]));
    image::imageops::replace(&mut screen, &button(40), 30, 40);
    let scene = Scene::of(&screen);
    let wanted = [
        (Template::of(&button(40)).expect("a template"), Some((200, 200))),
        (Template::of(&button(44)).expect("a template"), Some((30, 40))),
    ];
    let hits = find_all(&scene, &wanted, (0, 0, 400, 300));
    assert_eq!(hits.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false], "{hits:?}");
    // The same button twice: the match is not sure, unless one button is at its last known place.
    image::imageops::replace(&mut screen, &button(40), 30, 200);
    let scene = Scene::of(&screen);
    let sure = |was_at| {
        find_all(&scene, &[(Template::of(&button(40)).expect("a template"), was_at)], (0, 0, 400, 300))[0]
            .map(|m| m.sure)
    };
    assert_eq!((sure(None), sure(Some((30, 200)))), (Some(false), Some(true)));
}
