//! Points behind points, or among them.

use strands::Points;

/// Adds `fresh` to `points`. A time that is in both is that of one instance, which was folded after the head rows were
/// read and before the strand was: it stays as it is in `points`. Cost: a copy of `fresh`, which is mostly later than
/// all there is; else a copy of both.
pub fn append(points: &mut Points, fresh: &Points) {
    let (Some(first), Some(last)) = (fresh.times.first(), points.times.last()) else {
        points.extend_from_range(fresh, 0..fresh.len());
        return;
    };
    if last < first {
        points.extend_from_range(fresh, 0..fresh.len());
        return;
    }
    let stored = std::mem::take(points);
    let (mut from, mut fresh_from) = (0, 0);
    while fresh_from < fresh.len() || from < stored.len() {
        // All of one side that is earlier than what is next on the other.
        let until = |times: &[i64], from: usize, bound: Option<&i64>| match bound {
            Some(bound) => times.partition_point(|time| time < bound).max(from),
            None => times.len(),
        };
        let to = until(&stored.times, from, fresh.times.get(fresh_from));
        points.extend_from_range(&stored, from..to);
        from = to;
        let fresh_to = until(&fresh.times, fresh_from, stored.times.get(from));
        points.extend_from_range(fresh, fresh_from..fresh_to);
        fresh_from = fresh_to;
        if let (Some(time), Some(same)) = (fresh.times.get(fresh_from), stored.times.get(from))
            && time == same
        {
            fresh_from += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(stored: &[i64], fresh: &[i64], expected: &[i64]) {
        let points_of = |times: &[i64]| {
            let mut points = Points::default();
            times.iter().for_each(|time| points.push(*time, 0.0, 0));
            points
        };
        let mut points = points_of(stored);
        append(&mut points, &points_of(fresh));
        assert_eq!(points.times, expected);
    }

    #[test]
    fn points_stand_in_the_order_of_time() {
        check(&[], &[], &[]);
        check(&[1, 2], &[], &[1, 2]);
        check(&[], &[1, 2], &[1, 2]);
        check(&[1, 2], &[3, 4], &[1, 2, 3, 4]);
        check(&[3, 4], &[1, 2], &[1, 2, 3, 4]);
        check(&[1, 4, 6], &[2, 3, 5, 7], &[1, 2, 3, 4, 5, 6, 7]);
        // Folded between the two reads.
        check(&[1, 2, 3], &[2, 3], &[1, 2, 3]);
        check(&[1, 2], &[2, 3], &[1, 2, 3]);
        check(&[2], &[1, 2, 3], &[1, 2, 3]);
    }
}
