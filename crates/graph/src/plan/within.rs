//! A part of what a plan finds: that of some keys.

use store::Range;

use super::Stage;

impl Stage {
    /// The same stage, of rows in a range alone.
    #[must_use]
    pub fn within(mut self, range: &Range) -> Self {
        for path in &mut self.paths {
            path.ranges = path.ranges.iter().filter_map(|own| common(own, range)).collect();
        }
        self
    }
}

/// What two ranges have in common, if anything.
fn common(one: &Range, other: &Range) -> Option<Range> {
    let start = one.start.clone().max(other.start.clone());
    let end = match (&one.end, &other.end) {
        (Some(one), Some(other)) => Some(one.min(other).clone()),
        (one, other) => one.clone().or_else(|| other.clone()),
    };
    (end.as_ref().is_none_or(|end| start < *end)).then_some(Range { start, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_in_common_what_lies_in_both() {
        let range = |start: &'static str, end: Option<&'static str>| Range {
            start: start.into(),
            end: end.map(Into::into),
        };
        let check = |one, other, expected| assert_eq!(common(&one, &other), expected);
        check(range("a", Some("c")), range("b", Some("d")), Some(range("b", Some("c"))));
        check(range("a", None), range("b", Some("d")), Some(range("b", Some("d"))));
        check(range("a", None), range("", None), Some(range("a", None)));
        check(range("a", Some("b")), range("b", Some("d")), None);
    }
}
