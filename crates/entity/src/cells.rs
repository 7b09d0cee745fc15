//! Quadtree cells: the world as nested squares of longitude and latitude, numbered so that all
//! descendants of a cell are one range of numbers. Geometries are indexed by a few cells that
//! cover them; a query asks for the ranges below, and the cells above, those that cover its shape.
//!
//! A cell of level n halves both axes n times. Its number holds the n pairs of bits of its place,
//! then a one, then zeros: a child differs from its parent by at most the parent's last one. Only
//! even levels are used, so that few cells lie above any other.
//!
//! Invariant: where two geometries share a point, a cell of one covering is, or is above or below,
//! a cell of the other. Whatever lies outside the world's bounds is covered by the whole world.

use std::ops::RangeInclusive;

use geo::{Coord, CoordsIter, Geometry, Intersects, Rect};
use smallvec::{SmallVec, smallvec};

use crate::geometry::{bounds, parse_geometry};

/// Leaf cells are about two metres wide at the equator.
const LEVEL_MAX: u32 = 24;
const LEVEL_STEP: u32 = 2;
/// Cells of a stored geometry, at most.
const STORED_CELLS_MAX: usize = 6;
/// Cells of a query's shape, at most.
const ASKED_CELLS_MAX: usize = 16;
/// Shapes of more positions are covered by their bounding box alone.
const EXACT_POSITIONS_MAX: usize = 512;
/// Cells tried against the exact shape, at most.
const TRIED_CELLS_MAX: u64 = 48;
/// The whole world.
const WORLD: u64 = 1 << 63;

const AXIS: f64 = (1_u32 << LEVEL_MAX) as f64;

/// Cell numbers of one geometry.
pub type Cells = SmallVec<[u64; 4]>;

/// The cells that cover a stored GeoJSON value; none if it is no geometry.
///
/// Cost: a parse of the text; one cell and no allocation for a Point.
pub fn cells_of_geometry(json_text: &str) -> Cells {
    parse_geometry(json_text).map_or_else(Cells::new, |geometry| cover(&geometry, STORED_CELLS_MAX))
}

/// Ranges of cell numbers, sorted and disjoint, that hold a cell of every stored geometry that shares
/// a point with `geometry`.
pub fn ranges_of_shape(geometry: &Geometry<f64>) -> Vec<RangeInclusive<u64>> {
    ranges(cover(geometry, ASKED_CELLS_MAX))
}

/// The same for a union of boxes.
pub fn ranges_of_boxes(boxes: &[Rect<f64>]) -> Vec<RangeInclusive<u64>> {
    let share = ASKED_CELLS_MAX / boxes.len().max(1);
    ranges(boxes.iter().flat_map(|area| cover_box(area, share)).collect())
}

/// Descendants of the cells, and the cells above them.
fn ranges(cells: Cells) -> Vec<RangeInclusive<u64>> {
    let mut ranges: Vec<RangeInclusive<u64>> = Vec::new();
    for cell in cells {
        let mut last_one = cell & cell.wrapping_neg();
        ranges.push(cell - (last_one - 1)..=cell + (last_one - 1));
        while last_one < WORLD {
            last_one <<= 2 * LEVEL_STEP;
            let above = (cell & !(last_one - 1) & !last_one) | last_one;
            ranges.push(above..=above);
        }
    }
    ranges.sort_unstable_by_key(|range| (*range.start(), std::cmp::Reverse(*range.end())));
    ranges.dedup_by(|next, kept| next.end() <= kept.end());
    ranges
}

/// At most `cells_max` cells that cover the geometry.
fn cover(geometry: &Geometry<f64>, cells_max: usize) -> Cells {
    if let Geometry::Point(point) = geometry {
        return match place(point.0) {
            Some((x, y)) => smallvec![cell(x, y, 0)],
            None => smallvec![WORLD],
        };
    }
    let Some(area) = bounds(geometry) else {
        return Cells::new();
    };
    if geometry.coords_count() > EXACT_POSITIONS_MAX {
        return cover_box(&area, cells_max);
    }
    let (Some(low), Some(high)) = (place(area.min()), place(area.max())) else {
        return smallvec![WORLD];
    };
    for shift in (0..=LEVEL_MAX).step_by(LEVEL_STEP as usize) {
        if grid_size(low, high, shift) > TRIED_CELLS_MAX {
            continue;
        }
        let exact = |(x, y): &(u32, u32)| geometry.intersects(&area_of(*x, *y, shift));
        let cells: Cells =
            grid(low, high, shift).filter(exact).map(|(x, y)| cell(x << shift, y << shift, shift)).collect();
        if cells.len() <= cells_max && !cells.is_empty() {
            return cells;
        }
    }
    smallvec![WORLD]
}

/// At most `cells_max` cells that cover the box.
fn cover_box(area: &Rect<f64>, cells_max: usize) -> Cells {
    let (Some(low), Some(high)) = (place(area.min()), place(area.max())) else {
        return smallvec![WORLD];
    };
    for shift in (0..=LEVEL_MAX).step_by(LEVEL_STEP as usize) {
        if grid_size(low, high, shift) <= cells_max as u64 {
            return grid(low, high, shift).map(|(x, y)| cell(x << shift, y << shift, shift)).collect();
        }
    }
    smallvec![WORLD]
}

/// How many cells `shift` levels above the leaves lie between two leaves.
fn grid_size(low: (u32, u32), high: (u32, u32), shift: u32) -> u64 {
    let count = |low: u32, high: u32| u64::from((high >> shift) - (low >> shift)) + 1;
    count(low.0, high.0) * count(low.1, high.1)
}

fn grid(low: (u32, u32), high: (u32, u32), shift: u32) -> impl Iterator<Item = (u32, u32)> {
    let rows = (low.1 >> shift)..=(high.1 >> shift);
    rows.flat_map(move |y| ((low.0 >> shift)..=(high.0 >> shift)).map(move |x| (x, y)))
}

/// The leaf a position lies in; `None` outside of the world's bounds.
fn place(at: Coord<f64>) -> Option<(u32, u32)> {
    if !(-180.0..=180.0).contains(&at.x) || !(-90.0..=90.0).contains(&at.y) {
        return None;
    }
    Some((leaf((at.x + 180.0) / 360.0), leaf((at.y + 90.0) / 180.0)))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the share is between 0 and 1, and a cast of a float saturates"
)]
fn leaf(share: f64) -> u32 {
    ((share * AXIS) as u32).min((1 << LEVEL_MAX) - 1)
}

/// The area of a cell `shift` levels above the leaves, and a leaf's width more on every side, so
/// that rounding loses nothing.
fn area_of(x: u32, y: u32, shift: u32) -> Rect<f64> {
    let corner = |x: f64, y: f64| Coord { x: x / AXIS * 360.0 - 180.0, y: y / AXIS * 180.0 - 90.0 };
    let (west, south) = (f64::from(x << shift), f64::from(y << shift));
    let width = f64::from(1_u32 << shift);
    Rect::new(corner(west - 1.0, south - 1.0), corner(west + width + 1.0, south + width + 1.0))
}

/// The number of the cell `shift` levels above the leaf at (`x`, `y`).
fn cell(x: u32, y: u32, shift: u32) -> u64 {
    let place = (spread(y) << 1 | spread(x)) << (64 - 2 * LEVEL_MAX);
    let last_one = 1 << (63 - 2 * (LEVEL_MAX - shift));
    (place & !(last_one - 1) & !last_one) | last_one
}

/// Puts a zero between any two bits.
fn spread(bits: u32) -> u64 {
    let mut bits = u64::from(bits);
    for (shift, mask) in [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ] {
        bits = (bits | bits << shift) & mask;
    }
    bits
}

#[cfg(test)]
mod tests;
