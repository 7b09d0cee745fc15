//! Any operations in any order read back as a sorted map does.

use std::future::poll_fn;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::Poll;

use proptest::prelude::*;

use super::*;
use crate::layer::Layer;
use crate::read::PAGE_BLOCKS_MAX;
use crate::{ColumnSet, Columns, Notes, Summary};
use crate::{Modification, Part, Wanted};

const TIMES: i64 = 6_000;

#[derive(Clone, Debug)]
enum Operation {
    Write {
        edits: Vec<PlainEdit>,
        later: u8,
    },
    Fold,
    /// Some steps of a fold, which goes on later; what comes in between happens to a half-folded strand.
    FoldOn(usize),
    /// The fold that is going on ends where it is, as a crash would end it.
    FoldEnd,
    /// Blocks before a time are packed smaller.
    Recompress(i64),
    /// What is before a time is beyond retention.
    Expire(i64),
    Erase,
    /// The store is closed and opened.
    Reopen,
    Page {
        from: i64,
        to: i64,
        points_max: usize,
    },
    Last {
        from: i64,
        to: i64,
        count: usize,
    },
    Visit {
        from: i64,
        to: i64,
        seed: i64,
    },
    AsOf {
        back: usize,
        from: i64,
        to: i64,
        points_max: usize,
    },
}

/// An edit as it is drawn: a run of points, a range.
#[derive(Clone, Debug)]
struct PlainEdit {
    kind: u8,
    first: i64,
    step: i64,
    count: usize,
    before: i64,
    behind: i64,
    value: i32,
    historic: bool,
    /// More than a portable commit takes.
    heavy: bool,
}

fn edit() -> impl Strategy<Value = PlainEdit> {
    let step = prop_oneof![4 => Just(1_i64), 1 => Just(3), 1 => Just(7)];
    let count = prop_oneof![3 => 1..4_usize, 3 => 4..60_usize, 1 => 60..1_500_usize];
    let kind = prop_oneof![6 => Just(0_u8), 2 => Just(1), 2 => Just(2), 1 => Just(3), 1 => Just(4)];
    let flags = (prop::bool::weighted(0.2), prop::bool::weighted(0.03));
    (kind, 0..TIMES, step, count, 0..40_i64, 0..40_i64, 0..9_i32, flags).prop_map(
        |(kind, first, step, count, before, behind, value, (historic, heavy))| PlainEdit {
            kind,
            first,
            step,
            count: if heavy { 40 + count % 20 } else { count },
            before,
            behind,
            value,
            historic,
            heavy,
        },
    )
}

impl PlainEdit {
    fn points(&self) -> Points {
        if self.heavy {
            return super::large::heavy(self.first, self.step, self.count, u8::try_from(self.value).unwrap());
        }
        let mut points = points(self.first, self.step, self.count, f64::from(self.value) / 8.0);
        if self.historic {
            points.observed = points.times.iter().map(|time| time / 2 - 5).collect();
            points.notes = Notes::default();
            for at in 0..points.len() {
                let note = Bytes::from(vec![b'n', b"abc"[at / 5 % 3]]);
                let place = points.notes.place_of(&note);
                points.notes.places.push(place);
            }
        }
        points
    }

    fn range(&self) -> TimeRange {
        let last = self.first + self.step * i64::try_from(self.count).unwrap();
        TimeRange { from: self.first - self.before, to: last + self.behind }
    }

    fn edit(&self) -> Edit {
        match self.kind {
            0 => Edit::Put(self.points()),
            1 => Edit::Delete(self.range()),
            2 => Edit::Replace(self.range(), self.points()),
            3 => Edit::Delete(TimeRange { from: i64::MIN, to: self.first }),
            _ => Edit::Delete(TimeRange { from: self.first, to: i64::MAX }),
        }
    }

    fn apply(&self, model: &mut BTreeMap<i64, Held>) {
        let edit = self.edit();
        let (range, points) = match &edit {
            Edit::Put(points) => (None, Some(points)),
            Edit::Delete(range) => (Some(range), None),
            Edit::Replace(range, points) => (Some(range), Some(points)),
        };
        if let Some(range) = range {
            model.retain(|time, _| !range.contains(*time));
        }
        model.extend(points.map(rows).unwrap_or_default());
    }
}

fn operation() -> impl Strategy<Value = Operation> {
    let range = || (-50..TIMES + 4_000, -50..TIMES + 4_000);
    prop_oneof![
        12 => (prop::collection::vec(edit(), 1..3), 0..3_u8)
            .prop_map(|(edits, later)| Operation::Write { edits, later }),
        2 => Just(Operation::Fold),
        4 => (1..5_usize).prop_map(Operation::FoldOn),
        1 => Just(Operation::FoldEnd),
        3 => (0..TIMES + 4_000).prop_map(Operation::Recompress),
        1 => (0..TIMES).prop_map(Operation::Expire),
        1 => prop_oneof![3 => Just(Operation::Reopen), 1 => Just(Operation::Erase)],
        2 => (range(), 1..700_usize)
            .prop_map(|((from, to), points_max)| Operation::Page { from, to, points_max }),
        2 => (range(), 0..300_usize).prop_map(|((from, to), count)| Operation::Last { from, to, count }),
        2 => (range(), 1..200_i64).prop_map(|((from, to), seed)| Operation::Visit { from, to, seed }),
        4 => (0..9_usize, range(), 1..700_usize)
            .prop_map(|(back, (from, to), points_max)| Operation::AsOf { back, from, to, points_max }),
    ]
}

type Folding = Pin<Box<dyn Future<Output = Result<bool, Error>>>>;

/// A strand, what it should hold, and what it held after each write.
struct Trial {
    strands: Strands,
    strand: Strand,
    audited: bool,
    model: BTreeMap<i64, Held>,
    now: i64,
    /// When the last write counts as written.
    last: i64,
    past: Vec<(i64, BTreeMap<i64, Held>)>,
    /// What was written when.
    written: Vec<(i64, Layer)>,
    /// Before this time nothing is kept.
    bound: i64,
    folding: Option<Folding>,
}

impl Trial {
    fn new(store: Store, audited: bool, spills: bool) -> Self {
        let strands = small_or_spilling(store, spills);
        let strand = strand(3, "trial");
        let (model, past, written) = (BTreeMap::new(), Vec::new(), Vec::new());
        let (now, last, bound) = (1, i64::MIN, i64::MIN);
        Self { strands, strand, audited, model, now, last, past, written, bound, folding: None }
    }

    async fn carry_out(&mut self, operation: &Operation) {
        match operation {
            Operation::Write { edits, later } => {
                self.now += i64::from(*later);
                let write = StrandWrite {
                    written: Timestamp(self.now),
                    audited: self.audited,
                    encoding: match self.now % 5 {
                        0 => Encoding::Cold,
                        // Such blocks become smaller when they are recompressed.
                        1 => Encoding::Raw,
                        _ => Encoding::Hot,
                    },
                    ..write(&self.strand, edits.iter().map(PlainEdit::edit).collect())
                };
                write_one(&self.strands, write).await.unwrap();
                edits.iter().for_each(|edit| edit.apply(&mut self.model));
                let layer = Layer::of_edits(edits.iter().map(PlainEdit::edit).collect()).unwrap();
                // The clock may stand: audited writes are told apart all the same.
                self.last = self.now.max(self.last.saturating_add(i64::from(self.audited)));
                self.written.push((self.last, layer));
                self.past.retain(|(written, _)| *written != self.last);
                self.past.push((self.last, self.model.clone()));
            }
            Operation::Fold => {
                assert!(self.strands.fold(&self.strand, Encoding::Hot).await.unwrap());
                let state = self.strands.state(&self.strand).await.unwrap();
                assert!(state.is_none_or(|(_, state)| state.overlays.is_none()));
            }
            Operation::FoldOn(steps) => self.fold_on(*steps).await,
            Operation::FoldEnd | Operation::Reopen => self.folding = None,
            Operation::Recompress(before) => {
                self.strands.recompress(&self.strand, *before).await.unwrap();
            }
            Operation::Expire(before) => {
                if self.strands.expire(&self.strand, *before).await.unwrap() {
                    self.bound = self.bound.max(*before);
                    let is_kept = |layer: &Layer| layer.bounds().is_none_or(|(_, last)| last >= *before);
                    self.written.retain(|(_, layer)| is_kept(layer));
                }
                self.model.retain(|time, _| time >= before);
            }
            Operation::Erase => {
                self.strands.erase(&self.strand, Vec::new(), None).await.unwrap();
                self.model.clear();
                self.past.clear();
                self.written.clear();
                (self.last, self.bound) = (i64::MIN, i64::MIN);
            }
            Operation::Page { from, to, points_max } => self.check_pages(*from, *to, *points_max).await,
            Operation::Last { from, to, count } => {
                let range = TimeRange { from: *from, to: *to };
                let last = self.strands.read_last(&self.strand, range, *count).await.unwrap();
                let expected = within(&self.model, range);
                let skipped = expected.len().saturating_sub(*count);
                assert_eq!(rows(&last), expected.into_iter().skip(skipped).collect());
            }
            Operation::Visit { from, to, seed } => {
                self.check_wanted(*from, *to).await;
                self.check_visit(*from, *to, *seed).await;
            }
            Operation::AsOf { back, from, to, points_max } => {
                self.check_as_of(*back, TimeRange { from: *from, to: *to }, *points_max).await;
            }
        }
        self.check().await;
    }

    async fn fold_on(&mut self, steps: usize) {
        let (strands, mine) = (self.strands.clone(), self.strand.clone());
        let start = || Box::pin(async move { strands.fold(&mine, Encoding::Hot).await }) as Folding;
        let mut folding = self.folding.take().unwrap_or_else(start);
        for _ in 0..steps {
            match poll_fn(|context| Poll::Ready(folding.as_mut().poll(context))).await {
                Poll::Ready(folded) => {
                    // False where it was disturbed again and again.
                    folded.unwrap();
                    return;
                }
                Poll::Pending => tokio::task::yield_now().await,
            }
        }
        self.folding = Some(folding);
        // A commit that is on its way happens: wait until it did, by one that comes behind.
        self.strands.erase(&strand(4, "other"), Vec::new(), None).await.unwrap();
    }

    async fn check(&self) {
        assert_eq!(read_all(&self.strands, &self.strand).await, self.model);
        let first_and_last = self.model.keys().next().copied().zip(self.model.keys().last().copied());
        assert_eq!(self.strands.extent(&self.strand).await.unwrap(), first_and_last);
        check_rows(&self.strands, &self.strand).await;
    }

    async fn check_pages(&self, from: i64, to: i64, points_max: usize) {
        let range = TimeRange { from, to };
        let (mut all, mut next) = (Points::default(), Some(from));
        while let Some(from) = next {
            let before = all.len();
            let part = TimeRange { from, to };
            next = self.strands.read_page(&self.strand, part, None, points_max, &mut all).await.unwrap();
            assert!(all.len() - before <= points_max + small().block_points_max);
            assert!(next.is_none_or(|next| next > from && all.times.last().is_none_or(|last| *last < next)));
        }
        assert_eq!(rows(&all), within(&self.model, range));
    }

    /// Pages without blocks of large values hold all small ones, each once, and nothing that is not there.
    async fn check_wanted(&self, from: i64, to: i64) {
        let (mut all, mut next) = (Points::default(), Some(from));
        let is_wanted = |summary: &Summary| summary.min < 500.0;
        while let Some(from) = next {
            let part = TimeRange { from, to };
            next = self.strands.read_wanted(&self.strand, part, &is_wanted, 7, &mut all).await.unwrap();
            assert!(next.is_none_or(|next| next > from && all.times.last().is_none_or(|last| *last < next)));
        }
        let mut expected = within(&self.model, TimeRange { from, to });
        for (time, held) in rows(&all) {
            assert_eq!(expected.remove(&time), Some(held));
        }
        let is_large = |held: &Held| held.1 & ABSENT != 0 || f64::from_bits(held.0) >= 500.0;
        assert!(expected.values().all(is_large), "only unwanted blocks are left out");
        for (block, is_touched) in self.strands.blocks(&self.strand).await.unwrap() {
            let held = within(&self.model, TimeRange { from: block.first, to: block.last + 1 });
            assert!(is_touched || held.len() == block.count as usize);
        }
    }

    /// Blocks come in the columns that are wanted, and none behind the one that was enough.
    async fn check_visit(&self, from: i64, to: i64, seed: i64) {
        let range = TimeRange { from, to };
        let wanted_of = |summary: &Summary| match summary.first.wrapping_add(seed) % 7 {
            0 => Wanted::Nothing,
            1 => Wanted::Summary,
            bits => Wanted::Columns(ColumnSet { times: bits % 2 == 0, observed: bits > 3, notes: bits > 5 }),
        };
        let asked = std::sync::Mutex::new(Vec::new());
        let want = |summary: &Summary, is_last: bool| {
            asked.lock().unwrap().push((*summary, is_last));
            wanted_of(summary)
        };
        let enough = usize::try_from(seed % 9).unwrap_or(0);
        let (mut expected, mut parts, mut end) = (within(&self.model, range), 0, i64::MIN);
        let mut show = |part: Part<'_>| {
            parts += 1;
            let inside = match part {
                Part::Summary(summary) => {
                    assert!(matches!(wanted_of(summary), Wanted::Summary));
                    let inside = TimeRange { from: summary.first, to: summary.last + 1 };
                    let held = within(&expected, inside);
                    assert_eq!(held.len(), summary.count as usize);
                    let values = held.values().filter(|held| held.1 & ABSENT == 0);
                    let sum: f64 = values.map(|held| f64::from_bits(held.0)).sum();
                    assert!((sum - summary.sum).abs() <= 1e-9 * sum.abs().max(1.0));
                    inside
                }
                Part::Block(summary, columns) => {
                    let inside = TimeRange { from: summary.first, to: summary.last + 1 };
                    let Wanted::Columns(set) = wanted_of(summary) else { panic!("columns were wanted") };
                    check_columns(&within(&expected, inside), set, &columns);
                    inside
                }
                Part::Stretch(columns) => {
                    let inside = TimeRange { from: columns.times[0], to: columns.times.last().unwrap() + 1 };
                    check_columns(&within(&expected, inside), ColumnSet::ALL, &columns);
                    inside
                }
            };
            assert!(end <= inside.from, "parts come in checked");
            end = inside.to;
            expected.retain(|time, _| !inside.contains(*time));
            if parts == enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        self.strands.visit(&self.strand, range, &want, &mut show).await.unwrap();
        let asked = asked.into_inner().unwrap();
        if parts == 0 || parts != enough {
            let is_passed = |time: &i64| {
                asked.iter().any(|(summary, _)| {
                    let inside = summary.first <= *time && *time <= summary.last;
                    inside && matches!(wanted_of(summary), Wanted::Nothing)
                })
            };
            assert!(expected.keys().all(is_passed), "only unwanted blocks are left out");
        }
        let before = asked.split_last().map_or(&[][..], |(_, before)| before);
        assert!(before.iter().all(|(_, is_last)| !is_last), "none is asked for behind the last");
    }

    async fn check_as_of(&self, back: usize, range: TimeRange, points_max: usize) {
        let Some(at) = self.past.len().checked_sub(back + 1) else { return };
        let (written, model) = &self.past[at];
        self.check_modifications(*written, range).await;
        let (mut all, mut next) = (Points::default(), Some(range.from));
        while let Some(from) = next {
            let part = TimeRange { from, ..range };
            let as_of = Some(Timestamp(*written));
            let read = self.strands.read_page(&self.strand, part, as_of, points_max, &mut all).await;
            if !self.audited {
                let is_written = self.strands.state(&self.strand).await.unwrap().is_some();
                assert_eq!(matches!(read, Err(Error::Invalid(_))), is_written && !part.is_empty());
                return;
            }
            next = read.unwrap();
        }
        let kept = TimeRange { from: range.from.max(self.bound), to: range.to };
        assert_eq!(rows(&all), within(model, kept));
    }

    /// All writes from a time on are told, whole; of a range those that touch it.
    async fn check_modifications(&self, from: i64, range: TimeRange) {
        if !self.audited {
            return;
        }
        let outcome = async |range| {
            let written = (Timestamp(from), Timestamp(i64::MAX));
            self.strands.modifications(&self.strand, range, written).await.unwrap()
        };
        let expected = |is_touched: &dyn Fn(&Layer) -> bool| -> Vec<Modification> {
            let touched = self.written.iter().filter(|(when, layer)| *when >= from && is_touched(layer));
            let tell = |(when, layer): &(i64, Layer)| {
                let (first, last) = layer.bounds()?;
                let points = u32::try_from(layer.points.len()).unwrap();
                Some(Modification { written: Timestamp(*when), first, last, points })
            };
            touched.filter_map(tell).collect()
        };
        assert_eq!(outcome(TimeRange::ALL).await, expected(&|_| true));
        let (first, last) = (range.from, range.to - 1);
        let some = outcome(range).await;
        let most = expected(&|layer| layer.bounds().is_some_and(|it| it.0 <= last && first <= it.1));
        let least = expected(&|layer| first <= last && layer.touches(first, last));
        // Between the points of a part may be gaps.
        assert!(least.iter().all(|it| some.contains(it)) && some.iter().all(|it| most.contains(it)));
    }
}

/// Whether columns that were wanted hold these points.
fn check_columns(held: &BTreeMap<i64, Held>, set: ColumnSet, columns: &Columns<'_>) {
    assert_eq!(columns.len(), held.len());
    for (at, (time, (bits, flag, observed, note))) in held.iter().enumerate() {
        assert_eq!(columns.flags[at], *flag);
        assert!(flag & ABSENT != 0 || columns.values[at].to_bits() == *bits);
        assert!(!set.times || columns.times[at] == *time);
        if set.observed {
            assert_eq!(columns.observed.get(at).copied().unwrap_or(UNOBSERVED), *observed);
        }
        if set.notes {
            let found = columns.places.get(at).map_or(&[][..], |place| &columns.dictionary[*place as usize]);
            assert_eq!(found, note);
        }
    }
}

fn within(model: &BTreeMap<i64, Held>, range: TimeRange) -> BTreeMap<i64, Held> {
    model
        .iter()
        .filter(|(time, _)| range.contains(**time))
        .map(|(time, held)| (*time, held.clone()))
        .collect()
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((100 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn strands_read_as_a_sorted_map_in_memory(
        operations in prop::collection::vec(operation(), 1..40),
        audited: bool,
        spills: bool,
    ) {
        run(async {
            let mut trial = Trial::new(memory(), audited, spills);
            for operation in &operations {
                trial.carry_out(operation).await;
            }
        });
    }
}

/// What is written after a strand was erased lies under keys that it had before, which another process has read.
#[test]
fn a_strand_that_began_again_elsewhere_is_read_as_it_is() {
    type Shape = (i64, i64, usize);
    let edit = |kind, (first, step, count): Shape, (before, behind), value, historic| PlainEdit {
        kind,
        first,
        step,
        count,
        before,
        behind,
        value,
        historic,
        heavy: false,
    };
    let operations = [
        Operation::Write { edits: vec![edit(3, (0, 1, 1), (0, 0), 0, false)], later: 2 },
        Operation::Page { from: 0, to: 0, points_max: 1 },
        Operation::Last { from: 0, to: 1828, count: 73 },
        Operation::FoldOn(3),
        Operation::Write { edits: vec![edit(0, (2055, 7, 1), (39, 39), 3, true)], later: 2 },
        Operation::Reopen,
        Operation::Reopen,
        Operation::Page { from: 9779, to: 3778, points_max: 408 },
        Operation::Recompress(5977),
        Operation::Erase,
        Operation::Visit { from: 4943, to: 218, seed: 173 },
        Operation::Write {
            edits: vec![
                edit(1, (1483, 7, 57), (9, 35), 3, false),
                edit(0, (1166, 3, 50), (27, 12), 1, false),
            ],
            later: 2,
        },
        Operation::Recompress(3562),
        Operation::AsOf { back: 3, from: 7297, to: 7878, points_max: 696 },
        Operation::Write { edits: vec![edit(0, (4572, 1, 18), (30, 8), 7, false)], later: 2 },
        Operation::Recompress(7395),
        Operation::Last { from: 2149, to: 1891, count: 166 },
        Operation::Fold,
        Operation::Write {
            edits: vec![edit(3, (3455, 1, 41), (1, 12), 4, true), edit(0, (1413, 1, 2), (28, 13), 2, false)],
            later: 0,
        },
        Operation::Expire(572),
        Operation::Write { edits: vec![edit(1, (3399, 3, 2), (28, 19), 8, false)], later: 1 },
        Operation::Visit { from: 9768, to: 715, seed: 47 },
        Operation::Write { edits: vec![edit(2, (1659, 1, 491), (17, 30), 8, false)], later: 1 },
        Operation::Write {
            edits: vec![edit(0, (1987, 7, 3), (37, 7), 4, false), edit(0, (3888, 7, 51), (37, 31), 1, false)],
            later: 2,
        },
        Operation::Write {
            edits: vec![edit(0, (70, 1, 2), (23, 16), 8, false), edit(0, (5434, 1, 1), (28, 2), 4, false)],
            later: 2,
        },
    ];
    run(async {
        let store = store::testing::hostile(store::Clock::manual(Timestamp(0)), 16_960_943_359_389_198_970);
        let mut beside = Strands::new(store.beside(), small());
        let mut trial = Trial::new(store, false, false);
        for operation in &operations {
            std::mem::swap(&mut trial.strands, &mut beside);
            trial.carry_out(operation).await;
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((60 * ProptestConfig::default().cases).div_ceil(256)))]

    /// Two processes take turns.
    #[test]
    fn strands_read_as_a_sorted_map_in_the_worst_store(
        operations in prop::collection::vec(operation(), 1..40),
        audited: bool,
        spills: bool,
        seed: u64,
    ) {
        run(async {
            let store = store::testing::hostile(store::Clock::manual(Timestamp(0)), seed);
            let mut beside = small_or_spilling(store.beside(), spills);
            let mut trial = Trial::new(store, audited, spills);
            for operation in &operations {
                std::mem::swap(&mut trial.strands, &mut beside);
                trial.carry_out(operation).await;
            }
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((6 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn strands_read_as_a_sorted_map_on_disk(
        operations in prop::collection::vec(operation(), 1..40),
        audited: bool,
        spills: bool,
    ) {
        let folder = tempfile::tempdir().unwrap();
        run(async {
            let mut trial = Trial::new(embedded(folder.path()), audited, spills);
            for operation in &operations {
                if matches!(operation, Operation::Reopen) {
                    trial.folding = None;
                    trial.strands.shared.store.close().await.unwrap();
                    trial.strands = Strands::new(memory(), small());
                    trial.strands = small_or_spilling(embedded(folder.path()), spills);
                }
                trial.carry_out(operation).await;
            }
        });
    }
}

/// Blocks of large values hold few points each, so a page would be of very many of them.
#[tokio::test]
async fn pages_of_wanted_blocks_are_bounded_by_their_number() {
    let strands = Strands::new(memory(), small());
    let day = strand(4, "pages");
    write_one(&strands, write(&day, vec![Edit::Put(points(0, 1, 800, 0.0))])).await.unwrap();
    strands.fold(&day, Encoding::Hot).await.unwrap();
    let (mut all, mut next, mut pages) = (Points::default(), Some(0), 0);
    while let Some(from) = next {
        let (before, part) = (all.len(), TimeRange { from, to: 800 });
        next = strands.read_wanted(&day, part, &|_| true, usize::MAX, &mut all).await.unwrap();
        assert!(all.len() - before <= PAGE_BLOCKS_MAX * small().block_points_max);
        pages += 1;
    }
    assert_eq!((all.len(), pages), (800, 4));
}
