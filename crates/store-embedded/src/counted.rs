//! How many rows lie in ranges that are passed over again and again, so that a deep page needs no walk from the start of its
//! range. Pure book-keeping: `skip.rs` walks.
//!
//! A range is remembered as *runs*, one behind another. Where a run ends stays right whatever is written. How many rows it holds
//! is forgotten once a batch has written a row of it, and counted anew by whoever passes next.
//!
//! Invariant: a run that has a count holds so many rows of what was acknowledged. Who counts takes a ticket before the engine is
//! read; a batch voids the tickets of the runs it touches after the engine shows it, and before it is acknowledged.

use parking_lot::Mutex;

use super::rows::Rows;

/// Rows of a run when it is first counted: a page inside of it walks half of them. One that has more than twice as many is split.
pub(crate) const RUN_ROWS: usize = 1_024;
/// Ranges that are remembered.
const RANGES_MAX: usize = 32;
/// Runs of one range: some hundred bytes each. What lies behind is walked.
const RUNS_MAX: usize = 16_384;
/// Bytes of the keys of all ranges together.
const BYTES_MAX: usize = 16 * 1024 * 1024;
/// A range that was not used while others were used so often is the first to go.
const USES_MAX: u64 = 256;
/// A range without room is begun anew if this part of its runs at least has counts,
const KNOWN_PART: usize = 4;
/// and those are full by less than this part.
const SPARSE_PART: usize = 2;

/// The remembered ranges.
#[derive(Debug)]
pub(crate) struct Counted {
    run_rows: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    ranges: Vec<CountedRange>,
    /// How often a range was passed over from its start on.
    uses: u64,
    /// Grows with every use and every batch: versions and times of use.
    clock: u64,
}

#[derive(Debug)]
struct CountedRange {
    start: Box<[u8]>,
    end: Box<[u8]>,
    /// From the start of the range on, without gaps.
    runs: Vec<Run>,
    /// The version of what lies behind the runs.
    tail: u64,
    /// The bytes of all these places.
    bytes: usize,
    /// Uses and clock of then.
    used: (u64, u64),
}

#[derive(Debug)]
struct Run {
    /// The first place behind it.
    end: Box<[u8]>,
    /// How many rows it holds; `None`: to be counted.
    rows: Option<usize>,
    /// Changes with every batch that touches it.
    version: u64,
}

/// What is known of the way ahead.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Ahead {
    /// Rows that need no walk.
    pub(crate) rows: usize,
    /// Where the walk begins behind them,
    pub(crate) at: Box<[u8]>,
    /// and where it ends at the latest.
    pub(crate) until: Box<[u8]>,
    /// So many rows are counted as one run. Of a run that turns out to be longer its first [`Counted::run_rows`] are.
    pub(crate) count_max: usize,
    /// To note with what was counted; `None`: it is not to be noted.
    pub(crate) ticket: Option<u64>,
}

impl Counted {
    pub(crate) fn new(run_rows: usize) -> Self {
        Self { run_rows, state: Mutex::default() }
    }

    /// How many rows are counted at once.
    pub(crate) fn run_rows(&self) -> usize {
        self.run_rows
    }

    /// What is known of a range from a place in it on, as far as so many rows. Cost: a look at each run on the way.
    pub(crate) fn ahead(&self, (start, end): (&[u8], &[u8]), at: &[u8], rows_max: usize) -> Ahead {
        let mut state = self.state.lock();
        let range = state.range((start, end), at);
        let mut index = range.runs.partition_point(|run| *run.end <= *at);
        let count_max = self.run_rows;
        let mut ahead = Ahead { rows: 0, at: at.into(), until: end.into(), count_max, ticket: None };
        // From the middle of a run its count does not tell.
        if range.start_of(index) != at {
            if let Some(run) = range.runs.get(index) {
                ahead.until.clone_from(&run.end);
            }
            return ahead;
        }
        while let Some(run) = range.runs.get(index) {
            let Some(rows) = run.rows.filter(|rows| ahead.rows.saturating_add(*rows) <= rows_max) else {
                ahead.ticket = run.rows.is_none().then_some(run.version);
                ahead.until.clone_from(&run.end);
                ahead.count_max = 2 * self.run_rows;
                break;
            };
            ahead.rows += rows;
            index += 1;
        }
        if index == range.runs.len() {
            ahead.ticket = Some(range.tail);
        }
        ahead.at = range.start_of(index).into();
        ahead
    }

    /// Notes that so many rows lie from one place up to another, both of which bound rows that were counted at once. Cost: a
    /// look-up.
    pub(crate) fn note(
        &self,
        (start, end): (&[u8], &[u8]),
        ticket: u64,
        (from, upto): (&[u8], &[u8]),
        rows: usize,
    ) {
        let mut state = self.state.lock();
        state.clock += 1;
        let (now, run_rows) = (state.clock, self.run_rows);
        let Some(range) = state.ranges.iter_mut().find(|range| *range.start == *start && *range.end == *end)
        else {
            return;
        };
        let index = range.runs.partition_point(|run| *run.end <= *from);
        if range.start_of(index) != from || from >= upto {
            return;
        }
        let count = |version: u64| (version == ticket).then_some(rows);
        match range.runs.get_mut(index) {
            Some(run) if *run.end == *upto => {
                if run.version == ticket {
                    run.rows = Some(rows);
                }
                return;
            }
            // It was counted, or made of smaller runs, meanwhile.
            Some(run) if run.rows.is_some() || *run.end < *upto => return,
            _ => {}
        }
        if !range.make_room(index, upto.len(), (run_rows, now)) {
            return;
        }
        let version = range.runs.get(index).map_or(range.tail, |run| run.version);
        range.runs.insert(index, Run { end: upto.into(), rows: count(version), version });
        range.bytes += upto.len();
        state.keep_to_bytes();
    }

    /// Forgets the counts of all runs that a batch wrote. To be called once the engine shows the batch, or may. Cost: two
    /// look-ups for each range, and one for each row that lies in one.
    pub(crate) fn touch(&self, batch: &Rows) {
        let mut state = self.state.lock();
        state.clock += 1;
        let now = state.clock;
        for range in &mut state.ranges {
            let mut touched: Option<Box<[u8]>> = None;
            for place in batch.places_within(&range.start, &range.end) {
                // Places are sorted: most are in the run of the one before.
                if touched.as_deref().is_none_or(|end| end <= place) {
                    touched = Some(range.touch(place, now).into());
                }
            }
            for (start, end) in batch.ranges() {
                range.touch_range(start, end, now);
            }
        }
    }

    /// Forgets the counts of all runs that share a place with a range which a load has written. To be called once the engine shows
    /// it, or may.
    pub(crate) fn touch_range(&self, start: &[u8], end: &[u8]) {
        let mut state = self.state.lock();
        state.clock += 1;
        let now = state.clock;
        state.ranges.iter_mut().for_each(|range| range.touch_range(start, end, now));
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.state.lock().ranges.clear();
    }
}

impl State {
    /// The range with these bounds, which is remembered from now on, and is used from a place on.
    fn range(&mut self, (start, end): (&[u8], &[u8]), at: &[u8]) -> &mut CountedRange {
        self.clock += 1;
        // Who is behind the start goes on with a use.
        self.uses += u64::from(at == start);
        let (tail, used) = (self.clock, (self.uses, self.clock));
        let found = self.ranges.iter().position(|range| *range.start == *start && *range.end == *end);
        let index = found.unwrap_or_else(|| {
            if self.ranges.len() >= RANGES_MAX {
                self.forget_one();
            }
            let bytes = start.len() + end.len();
            let (start, end) = (start.into(), end.into());
            self.ranges.push(CountedRange { start, end, runs: Vec::new(), tail, bytes, used });
            self.ranges.len() - 1
        });
        let range = self.ranges.get_mut(index).expect("it was found, or is the last one");
        range.used = used;
        range
    }

    /// Forgets what was not used for long, else the range of the fewest runs: it is soon counted anew.
    fn forget_one(&mut self) {
        let uses = self.uses;
        self.forget_first(|range| match uses - range.used.0 > USES_MAX {
            true => (0, range.used),
            false => (range.runs.len() + 1, range.used),
        });
    }

    /// Forgets the ranges that were not used for longest, as far as the keys are too many bytes.
    fn keep_to_bytes(&mut self) {
        while self.ranges.iter().map(|range| range.bytes).sum::<usize>() > BYTES_MAX {
            self.forget_first(|range| range.used);
        }
    }

    fn forget_first<K: Ord>(&mut self, order: impl Fn(&CountedRange) -> K) {
        let first = self.ranges.iter().enumerate().min_by_key(|(_, range)| order(range));
        if let Some((index, _)) = first {
            self.ranges.swap_remove(index);
        }
    }
}

impl CountedRange {
    /// Where a run begins, or what lies behind the last one.
    fn start_of(&self, index: usize) -> &[u8] {
        let before = index.checked_sub(1).and_then(|index| self.runs.get(index));
        before.map_or(&self.start, |run| &run.end)
    }

    /// Forgets the count of the run in which a place lies; where that ends.
    fn touch(&mut self, place: &[u8], now: u64) -> &[u8] {
        let index = self.runs.partition_point(|run| *run.end <= *place);
        match self.runs.get_mut(index) {
            Some(run) => {
                (run.rows, run.version) = (None, now);
                &run.end
            }
            None => {
                self.tail = now;
                &self.end
            }
        }
    }

    /// The same for all runs that share a place with a range.
    fn touch_range(&mut self, start: &[u8], end: &[u8], now: u64) {
        if end <= &*self.start || start >= &*self.end || start >= end {
            return;
        }
        let first = self.runs.partition_point(|run| *run.end <= *start);
        for run in self.runs.iter_mut().skip(first) {
            (run.rows, run.version) = (None, now);
            if *run.end >= *end {
                return;
            }
        }
        self.tail = now;
    }

    /// Whether there is room for another run that ends in so many bytes; the last ones go for it, down to the one that it is
    /// a part of. What is mostly empty is begun anew instead.
    fn make_room(&mut self, index: usize, bytes: usize, (run_rows, now): (usize, u64)) -> bool {
        if self.is_full(bytes) && self.is_sparse(run_rows) {
            self.runs.clear();
            (self.bytes, self.tail) = (self.start.len() + self.end.len(), now);
            return false;
        }
        while self.is_full(bytes) && self.runs.len() > index {
            self.bytes -= self.runs.pop().map_or(0, |run| run.end.len());
            self.tail = now;
        }
        !self.is_full(bytes)
    }

    fn is_full(&self, bytes: usize) -> bool {
        self.runs.len() >= RUNS_MAX || self.bytes + bytes > BYTES_MAX
    }

    /// Whether so many runs hold so little that fewer would do.
    fn is_sparse(&self, run_rows: usize) -> bool {
        let known = self.runs.iter().filter_map(|run| run.rows);
        let (runs, rows) = known.fold((0, 0), |(runs, rows), more| (runs + 1, rows + more));
        runs >= self.runs.len() / KNOWN_PART && rows * SPARSE_PART < runs * run_rows
    }
}

#[cfg(test)]
mod tests;
