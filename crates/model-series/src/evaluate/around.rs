//! What a page hangs on beyond its ends: values that its gaps are filled from, and the spontaneous value that holds where it
//! begins. Found once, and carried from page to page.

use super::fetch::fetch_held;
use super::reader::Reader;
use crate::{Definition, Error};
use strands::Points;

/// What lies around the page of one series that is read next, in an answer that is read page by page from its beginning.
#[derive(Clone, Debug, Default)]
pub(super) struct Around {
    /// The last value before the page; not looked for as long as nobody asked.
    pub(super) before: Option<Option<(i64, f64)>>,
    /// The first value behind a page before, as far as anybody looked.
    pub(super) after: Option<Option<(i64, f64)>>,
    pub(super) held: Held,
    /// Slots that a formula was computed on for the answer so far.
    pub(super) computed: u64,
}

/// The last stored point before a time, if there is one.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    /// The time; none as long as nobody looked.
    before: Option<i64>,
    point: Option<(i64, f64, u8)>,
}

impl Held {
    /// Notes the last point before `time`.
    pub(super) fn note(&mut self, time: i64, point: Option<(i64, f64, u8)>) {
        *self = Self { before: Some(time), point };
    }
}

impl Reader {
    /// The last point of a stored series before `time`, if there is one. Cost: a look-up, where the page before ended there
    /// or nothing was read before.
    pub(super) async fn held_before(
        &self,
        series: &Definition,
        time: i64,
        held: &Held,
    ) -> Result<Points, Error> {
        if held.before != Some(time) {
            return fetch_held(self.context(), series, time, self.state()).await;
        }
        let mut points = Points::default();
        held.point.into_iter().for_each(|(time, value, flag)| points.push(time, value, flag));
        Ok(points)
    }
}
