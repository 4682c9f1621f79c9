//! Draws masks and numbered marks on the picture of a page.

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::imageops;
use image::{ExtendedColorType, ImageEncoder as _, ImageFormat, Rgba, RgbaImage};

use crate::browser::probe::Rect;
use crate::domain::mark::Mark;
use crate::error::{Code, Fault, Refusal};

/// The longest side of the picture the model is given, in pixels (contract).
const LONGEST: u32 = 1_280;

/// The numerals, 5 by 7 dots each with a column between.
const DIGITS: &str = include_str!("../../assets/digits.txt");

/// A picture in which every masked rectangle is already covered. There is no other way to one.
#[derive(Debug)]
pub struct Masked {
    picture: RgbaImage,
    scale: f64,
}

impl Masked {
    /// Covers the rectangles, given in CSS pixels of a viewport `width` wide, before anything else can see the picture.
    ///
    /// # Errors
    /// [`Code::CaptureFailed`] where the bytes are no picture.
    pub fn cover(png: &[u8], width: f64, masks: &[Rect]) -> Result<Self, Refusal> {
        let picture = image::load_from_memory_with_format(png, ImageFormat::Png)
            .map_err(|_| Refusal::new(Code::CaptureFailed))?
            .into_rgba8();
        if width < 1.0 || picture.width() == 0 {
            return Err(Code::CaptureFailed.into());
        }
        let scale = f64::from(picture.width()) / width;
        let mut masked = Self { picture, scale };
        for mask in masks {
            masked.mask(*mask);
        }
        Ok(masked)
    }

    /// Solid, with a fixed pattern that says "masked": neither length nor shape of what it covers shows.
    fn mask(&mut self, rect: Rect) {
        let area = pixels(rect, self.scale, 1.0, self.picture.dimensions());
        let step = (8.0 * self.scale).round().max(4.0) as u32;
        for y in area.top..area.bottom {
            for x in area.left..area.right {
                let stripe = ((x + y) / step.max(1)).is_multiple_of(2);
                let shade = if stripe { 64 } else { 88 };
                self.picture
                    .put_pixel(x, y, Rgba([shade, shade, shade + 8, 255]));
            }
        }
    }

    /// The picture at full scale, for the sealed capture.
    ///
    /// # Errors
    /// [`Code::Internal`] where encoding fails.
    pub fn png(&self) -> Result<Vec<u8>, Fault> {
        encode(&self.picture)
    }

    /// The picture for the model: at most 1,280 pixels on its long side, marks drawn after scaling so that they are sharp.
    ///
    /// # Errors
    /// [`Code::Internal`] where encoding fails.
    pub fn marked(&self, marks: &[(Mark, Rect)], snapshot: u32) -> Result<Vec<u8>, Fault> {
        let (w, h) = self.picture.dimensions();
        let shrink = (f64::from(LONGEST) / f64::from(w.max(h))).min(1.0);
        let scale = self.scale * shrink;
        let mut picture = if shrink < 1.0 {
            let to = |side: u32| ((f64::from(side) * shrink).round() as u32).max(1);
            imageops::resize(&self.picture, to(w), to(h), imageops::FilterType::Triangle)
        } else {
            self.picture.clone()
        };
        let areas: Vec<(Mark, Area)> = marks
            .iter()
            .map(|(mark, rect)| (*mark, pixels(*rect, scale, 0.0, (u32::MAX, u32::MAX))))
            .collect();
        let others: Vec<Area> = areas.iter().map(|(_, area)| *area).collect();
        // Chosen on the page as it is, before anything is drawn on it.
        let mut plates: Vec<Area> = Vec::new();
        for (mark, area) in &areas {
            plates.push(plate(*mark, *area, &picture, &others, &plates));
        }
        for (mark, area) in &areas {
            outline(&mut picture, *area, colour(*mark, snapshot));
        }
        for ((mark, _), place) in areas.iter().zip(plates) {
            label(
                &mut picture,
                *mark,
                place,
                colour(*mark, snapshot),
                Shape::of(snapshot),
            );
        }
        encode(&picture)
    }
}

#[derive(Debug, Clone, Copy)]
struct Area {
    left: u32,
    top: u32,
    right: u32,
    bottom: u32,
}

impl Area {
    const fn within(self, other: Self) -> bool {
        other.left <= self.left
            && other.top <= self.top
            && other.right >= self.right
            && other.bottom >= self.bottom
    }

    const fn meets(self, other: Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// The device pixels of a rectangle, grown by `margin` CSS pixels and cut to the picture.
fn pixels(rect: Rect, scale: f64, margin: f64, (w, h): (u32, u32)) -> Area {
    let [x, y, width, height] = rect;
    let down = |v: f64| (v * scale).floor().max(0.0) as u32;
    let up = |v: f64| (v * scale).ceil().max(0.0) as u32;
    Area {
        left: down(x - margin).min(w),
        top: down(y - margin).min(h),
        right: up(x + width + margin).min(w),
        bottom: up(y + height + margin).min(h),
    }
}

/// Dark, saturated colours that carry white numerals; which one a mark gets varies with the snapshot.
fn colour(mark: Mark, snapshot: u32) -> Rgba<u8> {
    const COLOURS: [[u8; 3]; 8] = [
        [176, 0, 32],
        [0, 82, 165],
        [0, 107, 60],
        [123, 31, 162],
        [173, 66, 0],
        [0, 96, 100],
        [136, 14, 79],
        [62, 39, 150],
    ];
    let place = (mark.number().wrapping_add(snapshot.wrapping_mul(3)) % 8) as usize;
    let [r, g, b] = COLOURS.get(place).copied().unwrap_or([0, 0, 0]);
    Rgba([r, g, b, 255])
}

const WHITE: Rgba<u8> = Rgba([255, 255, 255, 255]);

fn put(picture: &mut RgbaImage, x: u32, y: u32, colour: Rgba<u8>) {
    if x < picture.width() && y < picture.height() {
        picture.put_pixel(x, y, colour);
    }
}

/// A line of colour with a line of white around it: seen on any background.
fn outline(picture: &mut RgbaImage, area: Area, colour: Rgba<u8>) {
    for (grow, shade) in [(2_u32, WHITE), (1, colour)] {
        let (left, top) = (
            area.left.saturating_sub(grow),
            area.top.saturating_sub(grow),
        );
        let (right, bottom) = (
            area.right.saturating_add(grow - 1),
            area.bottom.saturating_add(grow - 1),
        );
        let (right, bottom) = (right.min(picture.width()), bottom.min(picture.height()));
        for x in left..=right {
            put(picture, x, top, shade);
            put(picture, x, bottom, shade);
        }
        for y in top..=bottom {
            put(picture, left, y, shade);
            put(picture, right, y, shade);
        }
    }
}

/// How large one dot of a numeral is, in pixels.
const DOT: u32 = 2;

/// Where the number's plate goes: where it hides least of the page, reading from its own picture, and no other plate.
/// Among equals the corner people look at first.
fn plate(mark: Mark, area: Area, page: &RgbaImage, others: &[Area], taken: &[Area]) -> Area {
    let digits = u32::try_from(mark.to_string().len()).unwrap_or(1);
    let (w, h) = (digits * 6 * DOT + 2 * DOT, 7 * DOT + 2 * DOT);
    let (most_left, most_top) = (
        page.width().saturating_sub(w),
        page.height().saturating_sub(h),
    );
    let at = |left: u32, top: u32| {
        let (left, top) = (left.min(most_left), top.min(most_top));
        Area {
            left,
            top,
            right: left + w,
            bottom: top + h,
        }
    };
    let bottom = area.bottom.min(page.height());
    let middle = area.top.saturating_add(bottom).saturating_sub(h) / 2;
    let (above, before) = (area.top.saturating_sub(h), area.left.saturating_sub(w));
    let rightmost = area.right.saturating_sub(w).max(area.left);
    let places = [
        at(area.left, above),
        at(before, area.top),
        at(before, middle),
        at(rightmost, above),
        at(area.right, area.top),
        at(area.right, middle),
        at(area.left, area.bottom),
        at(rightmost, area.bottom),
        at(rightmost, middle),
        at(area.left, area.top),
    ];
    let cost = |place: Area| {
        let plates = taken.iter().filter(|other| place.meets(**other)).count();
        // A plate on a neighbour could be read as the neighbour's.
        let neighbours = others
            .iter()
            .filter(|other| place.meets(**other) && !area.within(**other))
            .count();
        (plates, detail(page, place) + 6 * neighbours.min(1_000))
    };
    let [first, rest @ ..] = places;
    let mut best = (cost(first), first);
    for place in rest {
        let cost = cost(place);
        if cost < best.0 {
            best = (cost, place);
        }
    }
    best.1
}

/// How much there is to see in an area of the page: steps in brightness along every second row.
fn detail(page: &RgbaImage, area: Area) -> usize {
    let light = |x: u32, y: u32| {
        let [r, g, b, _] = page.get_pixel(x, y).0;
        u32::from(r) + u32::from(g) + u32::from(b)
    };
    let (right, bottom) = (area.right.min(page.width()), area.bottom.min(page.height()));
    let mut steps = 0;
    for y in (area.top..bottom).step_by(2) {
        for x in area.left + 1..right {
            steps += usize::from(light(x, y).abs_diff(light(x - 1, y)) > 90);
        }
    }
    steps
}

/// The shape of the plates of one snapshot: a page that draws marks of its own cannot know which comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Four corners.
    Square,
    /// All corners cut.
    Octagon,
    /// The corners of one diagonal cut.
    Leaf,
    /// The corners of the other one cut.
    Slanted,
}

impl Shape {
    const fn of(snapshot: u32) -> Self {
        match snapshot.wrapping_mul(5) / 3 % 4 {
            0 => Self::Square,
            1 => Self::Octagon,
            2 => Self::Leaf,
            _ => Self::Slanted,
        }
    }

    /// Whether a point of the plate belongs to it.
    const fn has(self, place: Area, x: u32, y: u32) -> bool {
        const CUT: u32 = 2 * DOT;
        let (left, right) = (x - place.left, place.right - 1 - x);
        let (top, bottom) = (y - place.top, place.bottom - 1 - y);
        let (falling, rising) = (
            left + top >= CUT && right + bottom >= CUT,
            right + top >= CUT && left + bottom >= CUT,
        );
        match self {
            Self::Square => true,
            Self::Octagon => falling && rising,
            Self::Leaf => falling,
            Self::Slanted => rising,
        }
    }
}

/// The number on its plate.
fn label(picture: &mut RgbaImage, mark: Mark, place: Area, colour: Rgba<u8>, shape: Shape) {
    for y in place.top..place.bottom {
        for x in place.left..place.right {
            if shape.has(place, x, y) {
                put(picture, x, y, colour);
            }
        }
    }
    for (i, digit) in mark.to_string().bytes().enumerate() {
        let start = place.left + DOT + u32::try_from(i).unwrap_or(0) * 6 * DOT + DOT / 2;
        for (row, line) in DIGITS.lines().enumerate() {
            let from = usize::from(digit.saturating_sub(b'0')) * 6;
            for (column, dot) in line.bytes().skip(from).take(5).enumerate() {
                if dot != b'#' {
                    continue;
                }
                let (x, y) = (
                    u32::try_from(column).unwrap_or(0) * DOT,
                    u32::try_from(row).unwrap_or(0) * DOT,
                );
                for dy in 0..DOT {
                    for dx in 0..DOT {
                        put(picture, start + x + dx, place.top + DOT + y + dy, WHITE);
                    }
                }
            }
        }
    }
}

fn encode(picture: &RgbaImage) -> Result<Vec<u8>, Fault> {
    // Without the alpha channel: a page's picture has none, and a quarter of the bytes is saved.
    let rgb = image::DynamicImage::ImageRgba8(picture.clone()).into_rgb8();
    let mut out = Vec::new();
    PngEncoder::new_with_quality(&mut out, CompressionType::Fast, FilterType::Sub)
        .write_image(&rgb, rgb.width(), rgb.height(), ExtendedColorType::Rgb8)
        .map_err(|error| Fault::internal("a picture could not be encoded").because(error))?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn page(w: u32, h: u32) -> Vec<u8> {
        encode(&RgbaImage::from_pixel(w, h, Rgba([250, 10, 10, 255]))).unwrap()
    }

    #[test]
    fn the_mask_covers_every_pixel_at_each_scale() {
        for dpr in [1.0, 1.5, 2.0] {
            let (w, h) = ((200.0 * dpr) as u32, (100.0 * dpr) as u32);
            let masked = Masked::cover(&page(w, h), 200.0, &[[10.3, 20.7, 50.2, 15.9]]).unwrap();
            let picture = image::load_from_memory(&masked.png().unwrap())
                .unwrap()
                .into_rgb8();
            let inside = |x: f64, y: f64| picture.get_pixel((x * dpr) as u32, (y * dpr) as u32).0;
            for (x, y) in [
                (10.3, 20.7),
                (60.4, 36.5),
                (30.0, 30.0),
                (10.3, 36.5),
                (60.4, 20.7),
            ] {
                assert!(inside(x, y)[0] < 100, "{dpr} {x},{y}");
            }
            assert_eq!(inside(5.0, 5.0), [250, 10, 10]);
            assert_eq!(inside(70.0, 30.0), [250, 10, 10]);
        }
    }

    #[test]
    fn the_picture_for_the_model_is_at_most_1280_wide_and_numbered() {
        let masked = Masked::cover(&page(2560, 1600), 1280.0, &[]).unwrap();
        let bytes = masked
            .marked(&[(Mark::new(17), [100.0, 100.0, 80.0, 20.0])], 1)
            .unwrap();
        let picture = image::load_from_memory(&bytes).unwrap().into_rgb8();
        assert_eq!(picture.dimensions(), (1280, 800));
        assert!(picture.pixels().any(|p| p.0 == [255, 255, 255]));
        // The element itself stays readable: its middle is untouched.
        assert_eq!(picture.get_pixel(140, 110).0, [250, 10, 10]);
    }

    #[test]
    fn a_plate_does_not_cover_the_label_above_its_field() {
        let mut page = RgbaImage::from_pixel(300, 120, WHITE);
        // Strokes as of a label over a field at 40,50.
        for x in (42..120).step_by(3) {
            for y in 34..46 {
                put(&mut page, x, y, Rgba([0, 0, 0, 255]));
            }
        }
        let masked = Masked::cover(&encode(&page).unwrap(), 300.0, &[]).unwrap();
        let marked = masked
            .marked(&[(Mark::new(46), [40.0, 50.0, 200.0, 30.0])], 1)
            .unwrap();
        let marked = image::load_from_memory(&marked).unwrap().into_rgb8();
        for x in (42..120).step_by(3) {
            for y in 34..46 {
                assert_eq!(marked.get_pixel(x, y).0, [0, 0, 0], "{x},{y}");
            }
        }
    }

    /// What a page drew after one snapshot is not what the next one draws; the numerals stay as they are.
    #[test]
    fn colour_and_shape_of_a_plate_vary_with_the_snapshot() {
        let masked = Masked::cover(&page(300, 120), 300.0, &[]).unwrap();
        let drawn = |snapshot| {
            let bytes = masked
                .marked(&[(Mark::new(8), [40.0, 50.0, 200.0, 30.0])], snapshot)
                .unwrap();
            image::load_from_memory(&bytes).unwrap().into_rgb8()
        };
        let plates: Vec<_> = (1..=12).map(drawn).collect();
        let mut kinds = std::collections::HashSet::new();
        for picture in &plates {
            let of_plate = |p: &&image::Rgb<u8>| p.0 != [250, 10, 10] && p.0 != [255, 255, 255];
            let colour = *picture.pixels().find(of_plate).unwrap();
            let size = picture.pixels().filter(|p| **p == colour).count();
            kinds.insert((colour.0, size));
        }
        assert!(kinds.len() >= 8, "{kinds:?}");
        assert!(plates.windows(2).all(|two| two[0] != two[1]));
        let numeral = |picture: &image::RgbImage, place: Area| -> Vec<bool> {
            (place.top + DOT..place.bottom - DOT)
                .flat_map(|y| (place.left + DOT..place.right - DOT).map(move |x| (x, y)))
                .map(|(x, y)| picture.get_pixel(x, y).0 == [255, 255, 255])
                .collect()
        };
        let area = pixels([40.0, 50.0, 200.0, 30.0], 1.0, 0.0, (300, 120));
        let place = plate(Mark::new(8), area, &masked.picture, &[area], &[]);
        let first = numeral(&plates[0], place);
        assert!(first.iter().filter(|white| **white).count() > 20);
        assert!(
            plates
                .iter()
                .all(|picture| numeral(picture, place) == first)
        );
    }

    #[test]
    fn what_is_no_picture_is_refused() {
        assert_eq!(
            Masked::cover(b"GIF89a", 10.0, &[]).unwrap_err().code(),
            Code::CaptureFailed
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn no_rectangle_can_break_the_drawing(rects in proptest::collection::vec([-1e5_f64..1e5, -1e5_f64..1e5, -10.0_f64..1e5, -10.0_f64..1e5], 0..5)) {
            let masked = Masked::cover(&page(64, 48), 64.0, &rects).unwrap();
            let marks: Vec<_> = rects.iter().enumerate().map(|(i, r)| (Mark::new(i as u32 * 37), *r)).collect();
            prop_assert!(masked.marked(&marks, 3).is_ok());
        }
    }
}
