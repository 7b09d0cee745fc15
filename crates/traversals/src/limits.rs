//! What numbers the parameters of walks may be: checks that refuse as HugeGraph does, in the words that its clients look for.

use crate::Error;

/// Says of a limit that there is none.
pub const NO_LIMIT: i64 = -1;
/// The most steps of a path.
pub const DEPTH_MAX: i64 = 5_000;
/// The most vertices from which, or to which, paths are looked for at once.
pub const ENDS_MAX: usize = 10;
/// A vertex of more edges than this is never skipped for them.
const SKIP_DEGREE_MAX: i64 = 800_000;

/// The parameters that clients leave out.
pub mod defaults {
    /// Edges of a vertex that are looked at.
    pub const MAX_DEGREE: i64 = 10_000;
    /// Vertices that are visited.
    pub const CAPACITY: i64 = 10_000_000;
    /// Vertices or edges that are given.
    pub const ELEMENTS_LIMIT: i64 = 10_000_000;
    /// Paths that are given.
    pub const PATHS_LIMIT: i64 = 10;
    /// Scored vertices that are given.
    pub const LIMIT: i64 = 100;
    /// A vertex of so many edges is skipped, where vertices are counted.
    pub const COUNT_SKIP_DEGREE: i64 = 100_000;
    /// Neighbours of a vertex from which customized paths go on.
    pub const SAMPLE: i64 = 100;
    /// Vertices that are remembered so that each is counted once.
    pub const DEDUP_SIZE: i64 = 1_000_000;
}

/// A limit as a number that counts can be compared with.
pub(crate) fn limit_of(value: i64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

pub(crate) fn refuse<T>(message: String) -> Result<T, Error> {
    Err(Error::Parameter(message))
}

/// Refuses unless `holds`, with a message that is made then.
pub(crate) fn require(holds: bool, message: impl FnOnce() -> String) -> Result<(), Error> {
    if holds { Ok(()) } else { refuse(message()) }
}

pub(crate) fn check_positive(value: i64, name: &str) -> Result<(), Error> {
    require(value > 0, || format!("The {name} parameter must be > 0, but got {value}"))
}

fn check_positive_or_no_limit(value: i64, name: &str) -> Result<(), Error> {
    require(value > 0 || value == NO_LIMIT, || {
        format!("The {name} parameter must be > 0 or == {NO_LIMIT}, but got: {value}")
    })
}

pub(crate) fn check_degree(value: i64) -> Result<(), Error> {
    check_positive_or_no_limit(value, "max degree")
}

pub(crate) fn check_capacity(value: i64) -> Result<(), Error> {
    check_positive_or_no_limit(value, "capacity")
}

pub(crate) fn check_limit(value: i64) -> Result<(), Error> {
    check_positive_or_no_limit(value, "limit")
}

/// The degree at which vertices are skipped, with the degree and the capacity that go with it.
pub(crate) fn check_skip_degree(skip_degree: i64, degree: i64, capacity: i64) -> Result<(), Error> {
    require((0..=SKIP_DEGREE_MAX).contains(&skip_degree), || {
        format!("The skipped degree must be in [0, {SKIP_DEGREE_MAX}], but got '{skip_degree}'")
    })?;
    if capacity != NO_LIMIT {
        require(degree != NO_LIMIT && degree < capacity, || "The max degree must be < capacity".into())?;
        require(skip_degree < capacity, || "The skipped degree must be < capacity".into())?;
    }
    require(skip_degree == 0 || (degree != NO_LIMIT && skip_degree >= degree), || {
        format!(
            "The skipped degree must be >= max degree, but got skipped degree '{skip_degree}' and max degree '{degree}'"
        )
    })
}

/// The steps of a path.
pub(crate) fn check_path_depth(depth: i64) -> Result<(), Error> {
    require((1..=DEPTH_MAX).contains(&depth), || {
        format!("The depth must be in (0, {DEPTH_MAX}], but got: {depth}")
    })
}

pub(crate) fn check_dedup_size(value: i64) -> Result<(), Error> {
    require(value >= 0 || value == NO_LIMIT, || {
        format!("The dedup size parameter must be >= 0 or == {NO_LIMIT}, but got: {value}")
    })
}

/// The bounds of paths between so many sources and so many targets.
pub(crate) fn check_between_many(
    sources: usize,
    targets: usize,
    (capacity, limit): (i64, i64),
) -> Result<(), Error> {
    check_capacity(capacity)?;
    check_limit(limit)?;
    check_ends(sources, "source vertices")?;
    check_ends(targets, "target vertices")
}

/// Ends of paths, `what` in the plural.
fn check_ends(count: usize, what: &str) -> Result<(), Error> {
    require((1..=ENDS_MAX).contains(&count), || {
        format!("The number of {what} must in [1, {ENDS_MAX}], but got: {count}")
    })
}

/// The share of a rank, or of neighbours, that counts; `what` says of which request.
pub(crate) fn check_alpha(alpha: f64, what: &str) -> Result<(), Error> {
    require(alpha > 0.0 && alpha <= 1.0, || {
        format!("The alpha of {what} must be in range (0, 1], but got '{alpha}'")
    })
}

/// Whether a count is within a capacity.
pub(crate) fn within_capacity(capacity: i64, count: usize, what: &'static str) -> Result<(), Error> {
    if count > limit_of(capacity) { Err(Error::Capacity { capacity, what }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(checked: Result<(), Error>) -> String {
        checked.map_or_else(|error| error.to_string(), |()| "taken".into())
    }

    #[test]
    fn limits_are_positive_or_none() {
        for (value, expected) in [
            (1, "taken"),
            (-1, "taken"),
            (0, "The capacity parameter must be > 0 or == -1, but got: 0"),
            (-2, "The capacity parameter must be > 0 or == -1, but got: -2"),
        ] {
            assert_eq!(said(check_capacity(value)), expected);
        }
        assert_eq!(said(check_positive(0, "max depth")), "The max depth parameter must be > 0, but got 0");
    }

    #[test]
    fn a_skipped_degree_goes_with_degree_and_capacity() {
        for ((skip, degree, capacity), expected) in [
            ((0, 10, 100), "taken"),
            ((10, 10, 100), "taken"),
            ((0, NO_LIMIT, NO_LIMIT), "taken"),
            ((0, NO_LIMIT, 100), "The max degree must be < capacity"),
            ((0, 100, 100), "The max degree must be < capacity"),
            ((100, 10, 100), "The skipped degree must be < capacity"),
            ((-1, 10, 100), "The skipped degree must be in [0, 800000], but got '-1'"),
            ((800_001, 10, NO_LIMIT), "The skipped degree must be in [0, 800000], but got '800001'"),
            (
                (9, 10, 100),
                "The skipped degree must be >= max degree, but got skipped degree '9' and max degree '10'",
            ),
        ] {
            assert_eq!(
                said(check_skip_degree(skip, degree, capacity)),
                expected,
                "{skip} {degree} {capacity}"
            );
        }
    }
}
