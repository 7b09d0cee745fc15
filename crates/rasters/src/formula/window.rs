//! Functions that look at other slots: shifts, and windows that move along.

use lang_formula::Function;

use super::column::{Column, finite};
use strands::is_absent;
use strands::{ABSENT, Flag};

/// The column `by` slots later: each slot has what was `by` slots earlier.
pub(super) fn shift(column: Column<'_>, by: usize, count: usize) -> Column<'_> {
    if let Column::Same(..) = column {
        return column;
    }
    let (mut values, mut flags) = column.into_own(count);
    let by = by.min(count);
    values.rotate_right(by);
    flags.rotate_right(by);
    values.iter_mut().take(by).for_each(|value| *value = 0.0);
    flags.iter_mut().take(by).for_each(|flag| *flag = Flag::Missing.absent());
    Column::Own(values, flags)
}

/// The column `by` slots earlier.
pub(super) fn shift_back(column: Column<'_>, by: usize, count: usize) -> Column<'_> {
    if let Column::Same(..) = column {
        return column;
    }
    let (mut values, mut flags) = column.into_own(count);
    let by = by.min(count);
    values.rotate_left(by);
    flags.rotate_left(by);
    values.iter_mut().skip(count - by).for_each(|value| *value = 0.0);
    flags.iter_mut().skip(count - by).for_each(|flag| *flag = Flag::Missing.absent());
    Column::Own(values, flags)
}

/// What a moving function makes of each slot and the `length - 1` before it: of those values that are there.
pub(super) fn moving(function: Function, column: Column<'_>, length: usize, count: usize) -> Column<'static> {
    let (mut values, flags) = column.into_own(count);
    let identity = match function {
        Function::MovingMin => f64::INFINITY,
        Function::MovingMax => f64::NEG_INFINITY,
        _ => 0.0,
    };
    for (value, flag) in values.iter_mut().zip(&flags) {
        *value = if is_absent(*flag) { identity } else { *value };
    }
    let present: Vec<u32> = flags.iter().map(|flag| u32::from(!is_absent(*flag))).collect();
    let known: Vec<u8> = flags.iter().map(|flag| if is_absent(*flag) { 0 } else { *flag }).collect();
    let mut values = match function {
        Function::MovingMin => slide(&values, length, f64::min),
        Function::MovingMax => slide(&values, length, f64::max),
        _ => slide(&values, length, |one, other| one + other),
    };
    let present = slide(&present, length, |one, other| one + other);
    let known = slide(&known, length, u8::max);
    let missing = slide(&flags, length, |one, other| (one & !ABSENT).max(other & !ABSENT) | ABSENT);
    let mut out = Vec::with_capacity(count);
    for ((value, present), (known, missing)) in
        values.iter_mut().zip(&present).zip(known.iter().zip(&missing))
    {
        if *present == 0 {
            *value = 0.0;
            out.push(*missing | ABSENT);
            continue;
        }
        if function == Function::MovingAverage {
            *value /= f64::from(*present);
        }
        out.push(*known);
    }
    finite(values, out)
}

/// `join` of each item and the `length - 1` before it, fewer at the beginning. Items are joined in blocks, from both
/// ends of each, so that every window is the end of one block and the beginning of the next: no window costs more for
/// its length, and no rounding error is carried from window to window.
fn slide<T: Copy>(items: &[T], length: usize, join: impl Fn(T, T) -> T) -> Vec<T> {
    let length = length.max(1);
    let mut windows: Vec<T> = Vec::with_capacity(items.len());
    // From each item of the block before to that block's end.
    let mut ends: Vec<T> = Vec::new();
    for block in items.chunks(length) {
        let mut joined: Option<T> = None;
        for (place, item) in block.iter().enumerate() {
            let so_far = joined.map_or(*item, |joined| join(joined, *item));
            joined = Some(so_far);
            // The window begins in the block before, just behind this place; the block's last has none there.
            windows.push(ends.get(place + 1).map_or(so_far, |end| join(*end, so_far)));
        }
        ends.clear();
        ends.extend_from_slice(block);
        let mut later: Option<T> = None;
        for item in ends.iter_mut().rev() {
            *item = later.map_or(*item, |later| join(*item, later));
            later = Some(*item);
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_end_at_each_item() {
        let items: Vec<u64> = (1..=23).map(|item| item * item).collect();
        for length in 1..30 {
            let expected: Vec<u64> = (0..items.len())
                .map(|end| items[(end + 1).saturating_sub(length)..=end].iter().sum())
                .collect();
            assert_eq!(slide(&items, length, |one, other| one + other), expected, "{length}");
        }
    }
}
