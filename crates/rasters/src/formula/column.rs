//! Columns of an evaluation: one value and one flag byte for each slot.

use strands::{ABSENT, Flag, Points};
use strands::{is_absent, overflown, worse};

/// A value and its flag byte.
type Point = (f64, u8);

/// One value and flag for each slot.
#[derive(Clone, Debug)]
pub(super) enum Column<'a> {
    /// The same in every slot.
    Same(f64, u8),
    /// Those of an operand.
    Lent(&'a [f64], &'a [u8]),
    /// Worked out; the memory is used again by the next step.
    Own(Vec<f64>, Vec<u8>),
}

/// No value in any slot.
pub(super) const NOTHING: Column<'static> = Column::Same(0.0, Flag::Missing.absent());

/// The worse of two flag bytes; without a value if one has none.
pub(super) fn worst(one: u8, other: u8) -> u8 {
    worse(one, other) | ((one | other) & ABSENT)
}

impl<'a> Column<'a> {
    /// The points of an operand at `times`. Cost: a comparison of the times if they are the same, else a pass.
    pub(super) fn of(points: &'a Points, times: &[i64]) -> Self {
        if points.times == times {
            return Self::Lent(&points.values, &points.flags);
        }
        let (mut values, mut flags) = (vec![0.0; times.len()], vec![Flag::Missing.absent(); times.len()]);
        let mut given = points.times.iter().zip(points.values.iter().zip(&points.flags)).peekable();
        for (time, place) in times.iter().zip(values.iter_mut().zip(&mut flags)) {
            while given.next_if(|(given, _)| *given < time).is_some() {}
            if let Some((_, (value, flag))) = given.next_if(|(given, _)| *given == time) {
                (*place.0, *place.1) = (*value, *flag);
            }
        }
        Self::Own(values, flags)
    }

    /// The columns themselves.
    pub(super) fn into_own(self, count: usize) -> (Vec<f64>, Vec<u8>) {
        match self {
            Self::Same(value, flag) => (vec![value; count], vec![flag; count]),
            Self::Lent(values, flags) => (values.to_vec(), flags.to_vec()),
            Self::Own(values, flags) => (values, flags),
        }
    }

    /// The number that the parser saw to be a plain count.
    pub(super) fn count(&self) -> usize {
        match self {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count by parsing")]
            Self::Same(value, _) => *value as usize,
            Self::Lent(..) | Self::Own(..) => 0,
        }
    }

    fn flag_at(&self) -> Flags<'_> {
        match self {
            Self::Same(_, flag) => Flags::Same(*flag),
            Self::Lent(_, flags) => Flags::Each(flags),
            Self::Own(_, flags) => Flags::Each(flags),
        }
    }

    /// Every value through `work`; what has none has none after.
    pub(super) fn map(self, work: impl Fn(f64) -> f64) -> Self {
        match self {
            Self::Same(value, flag) => {
                let (value, flag) = checked((work(value), flag));
                Self::Same(value, flag)
            }
            Self::Lent(values, flags) => {
                finite(values.iter().map(|value| work(*value)).collect(), flags.to_vec())
            }
            Self::Own(mut values, flags) => {
                values.iter_mut().for_each(|value| *value = work(*value));
                finite(values, flags)
            }
        }
    }

    /// Every point through `work`.
    pub(super) fn map_points(self, work: impl Fn(Point) -> Point) -> Self {
        match self {
            Self::Same(value, flag) => {
                let (value, flag) = work((value, flag));
                Self::Same(value, flag)
            }
            Self::Lent(values, flags) => {
                let (values, flags) =
                    values.iter().zip(flags).map(|(value, flag)| work((*value, *flag))).unzip();
                Self::Own(values, flags)
            }
            Self::Own(mut values, mut flags) => {
                for (value, flag) in values.iter_mut().zip(&mut flags) {
                    (*value, *flag) = work((*value, *flag));
                }
                Self::Own(values, flags)
            }
        }
    }

    /// The values of two columns through `work`, slot by slot. Values and flags go in passes of their own, each of
    /// which the compiler makes wide; the memory of a worked-out operand is used again.
    pub(super) fn zip(self, other: Self, count: usize, work: impl Fn(f64, f64) -> f64) -> Self {
        if let (Self::Same(one, flag), Self::Same(another, other_flag)) = (&self, &other) {
            let (value, flag) = checked((work(*one, *another), worst(*flag, *other_flag)));
            return Self::Same(value, flag);
        }
        let flags = zip_flags(&self.flag_at(), &other.flag_at(), count);
        let values = match (self, other) {
            (Self::Own(mut values, _), other) => {
                match &other {
                    Self::Same(right, _) => values.iter_mut().for_each(|left| *left = work(*left, *right)),
                    Self::Lent(rights, _) => update(&mut values, rights, &work),
                    Self::Own(rights, _) => update(&mut values, rights, &work),
                }
                values
            }
            (Self::Same(left, _), Self::Own(mut values, _)) => {
                values.iter_mut().for_each(|right| *right = work(left, *right));
                values
            }
            (Self::Lent(lefts, _), Self::Own(mut values, _)) => {
                update(&mut values, lefts, |right, left| work(left, right));
                values
            }
            (Self::Same(left, _), Self::Lent(rights, _)) => {
                rights.iter().map(|right| work(left, *right)).collect()
            }
            (Self::Lent(lefts, _), Self::Same(right, _)) => {
                lefts.iter().map(|left| work(*left, right)).collect()
            }
            (Self::Lent(lefts, _), Self::Lent(rights, _)) => {
                lefts.iter().zip(rights).map(|(left, right)| work(*left, *right)).collect()
            }
            (Self::Same(left, _), Self::Same(right, _)) => vec![work(left, right); count],
        };
        finite(values, flags)
    }

    /// The points of two columns through `work`, slot by slot.
    pub(super) fn zip_points(self, other: &Self, count: usize, work: impl Fn(Point, Point) -> Point) -> Self {
        let (mut values, mut flags) = self.into_own(count);
        let places = values.iter_mut().zip(&mut flags);
        match other {
            Self::Same(value, flag) => {
                for (one, own) in places {
                    (*one, *own) = checked(work((*one, *own), (*value, *flag)));
                }
            }
            Self::Lent(others, other_flags) => {
                for ((one, own), (value, flag)) in places.zip(others.iter().zip(*other_flags)) {
                    (*one, *own) = checked(work((*one, *own), (*value, *flag)));
                }
            }
            Self::Own(others, other_flags) => {
                for ((one, own), (value, flag)) in places.zip(others.iter().zip(other_flags)) {
                    (*one, *own) = checked(work((*one, *own), (*value, *flag)));
                }
            }
        }
        Self::Own(values, flags)
    }
}

/// Flag bytes of a column.
enum Flags<'a> {
    Same(u8),
    Each(&'a [u8]),
}

fn zip_flags(one: &Flags<'_>, other: &Flags<'_>, count: usize) -> Vec<u8> {
    match (one, other) {
        (Flags::Same(one), Flags::Same(other)) => vec![worst(*one, *other); count],
        (Flags::Each(flags), Flags::Same(same)) | (Flags::Same(same), Flags::Each(flags)) => {
            flags.iter().map(|flag| worst(*flag, *same)).collect()
        }
        (Flags::Each(one), Flags::Each(other)) => {
            one.iter().zip(*other).map(|(one, other)| worst(*one, *other)).collect()
        }
    }
}

fn update(values: &mut [f64], others: &[f64], work: impl Fn(f64, f64) -> f64) {
    values.iter_mut().zip(others).for_each(|(value, other)| *value = work(*value, *other));
}

/// A point; without value and faulty, or worse, if its value is not finite.
fn checked(point: Point) -> Point {
    if point.0.is_finite() || is_absent(point.1) { point } else { (0.0, overflown(point.1)) }
}

/// A column whose values that are not finite are none. Cost: a wide pass where all are.
pub(super) fn finite(mut values: Vec<f64>, mut flags: Vec<u8>) -> Column<'static> {
    // No early exit, so that the loop is made of wide instructions.
    if !values.iter().fold(true, |all, value| all & value.is_finite()) {
        for (value, flag) in values.iter_mut().zip(&mut flags) {
            (*value, *flag) = checked((*value, *flag));
        }
    }
    Column::Own(values, flags)
}
