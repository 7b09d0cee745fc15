//! The functions of the language: their names, and what arguments they take.

/// The most slots that `lag`, `lead` and the moving functions reach: a leap year of minutes, and some.
pub(crate) const SLOTS_MAX: u32 = 600_000;
/// The most arguments of functions that take many.
const MANY: usize = 64;

/// A function, in the order of `docs/series/formulas.md`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Function {
    /// `abs(x)`
    Abs,
    /// `sign(x)`: -1, 0 or 1.
    Sign,
    /// `round(x)`, `round(x, digits)`: halves away from zero.
    Round,
    /// `floor(x)`
    Floor,
    /// `ceil(x)`
    Ceil,
    /// `sqrt(x)`
    Sqrt,
    /// `exp(x)`
    Exp,
    /// `log(x)`: the natural logarithm; `log(x, base)`.
    Log,
    /// `mod(x, y)`: the remainder, with the sign of `y`.
    Mod,
    /// `clamp(x, low, high)`
    Clamp,
    /// `min(x, ...)`: the smallest; missing if one is missing.
    Min,
    /// `max(x, ...)`: the largest; missing if one is missing.
    Max,
    /// `sum(x, ...)`: of those that are not missing.
    Sum,
    /// `avg(x, ...)`: of those that are not missing.
    Average,
    /// `if(condition, then, else)`
    If,
    /// `coalesce(x, ...)`: the first that is not missing.
    Coalesce,
    /// `isnull(x)`: 1 where `x` is missing, else 0.
    IsNull,
    /// `lag(x, n)`: the value `n` slots earlier.
    Lag,
    /// `lead(x, n)`: the value `n` slots later.
    Lead,
    /// `delta(x)`: the value less the one a slot earlier.
    Delta,
    /// `movingavg(x, n)`: the mean of the values of `n` slots, this one the last.
    MovingAverage,
    /// `movingsum(x, n)`
    MovingSum,
    /// `movingmin(x, n)`
    MovingMin,
    /// `movingmax(x, n)`
    MovingMax,
}

impl Function {
    /// All functions.
    pub const ALL: [Self; 24] = [
        Self::Abs,
        Self::Sign,
        Self::Round,
        Self::Floor,
        Self::Ceil,
        Self::Sqrt,
        Self::Exp,
        Self::Log,
        Self::Mod,
        Self::Clamp,
        Self::Min,
        Self::Max,
        Self::Sum,
        Self::Average,
        Self::If,
        Self::Coalesce,
        Self::IsNull,
        Self::Lag,
        Self::Lead,
        Self::Delta,
        Self::MovingAverage,
        Self::MovingSum,
        Self::MovingMin,
        Self::MovingMax,
    ];

    /// Its name; names are read in any case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Abs => "abs",
            Self::Sign => "sign",
            Self::Round => "round",
            Self::Floor => "floor",
            Self::Ceil => "ceil",
            Self::Sqrt => "sqrt",
            Self::Exp => "exp",
            Self::Log => "log",
            Self::Mod => "mod",
            Self::Clamp => "clamp",
            Self::Min => "min",
            Self::Max => "max",
            Self::Sum => "sum",
            Self::Average => "avg",
            Self::If => "if",
            Self::Coalesce => "coalesce",
            Self::IsNull => "isnull",
            Self::Lag => "lag",
            Self::Lead => "lead",
            Self::Delta => "delta",
            Self::MovingAverage => "movingavg",
            Self::MovingSum => "movingsum",
            Self::MovingMin => "movingmin",
            Self::MovingMax => "movingmax",
        }
    }

    /// The function of a name, in any case.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.name().eq_ignore_ascii_case(name))
    }

    /// The fewest and the most arguments.
    pub fn arguments(self) -> (usize, usize) {
        match self {
            Self::Abs
            | Self::Sign
            | Self::Floor
            | Self::Ceil
            | Self::Sqrt
            | Self::Exp
            | Self::IsNull
            | Self::Delta => (1, 1),
            Self::Round | Self::Log => (1, 2),
            Self::Mod
            | Self::Lag
            | Self::Lead
            | Self::MovingAverage
            | Self::MovingSum
            | Self::MovingMin
            | Self::MovingMax => (2, 2),
            Self::Clamp | Self::If => (3, 3),
            Self::Min | Self::Max | Self::Sum | Self::Average | Self::Coalesce => (1, MANY),
        }
    }

    /// What its second argument must be, where that is a plain number: the least and the most, whole.
    pub(crate) fn count_bounds(self) -> Option<(u32, u32)> {
        match self {
            Self::Lag | Self::Lead => Some((0, SLOTS_MAX)),
            Self::MovingAverage | Self::MovingSum | Self::MovingMin | Self::MovingMax => Some((1, SLOTS_MAX)),
            Self::Round => Some((0, 15)),
            _ => None,
        }
    }

    /// How many slots before and after it looks at, for a second argument of `count`.
    pub(crate) fn reach(self, count: u32) -> (u32, u32) {
        match self {
            Self::Lag => (count, 0),
            Self::Lead => (0, count),
            Self::Delta => (1, 0),
            Self::MovingAverage | Self::MovingSum | Self::MovingMin | Self::MovingMax => {
                (count.saturating_sub(1), 0)
            }
            _ => (0, 0),
        }
    }
}
