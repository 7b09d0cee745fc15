//! Pointers that are looked at with the edges that they point at: those of a vertex that is removed, and those that lost their edge.
//!
//! Who meets a pointer without its edge begins a new epoch of the bucket of the source, on condition that the edge is as it was read. A writer that has
//! appended it and not committed then fails, and begins again; only after that the pointer goes.

use bytes::Bytes;
use graph::{Edge, EdgeDirection, EdgeId, EdgeView, keys};
use store::retry::unless_lost;
use store::{Appended, Condition, Direction, Range, Removal, Row};

use super::marks::Mark;
use super::operation::Planned;
use super::pointers::add_removal;
use super::{BACKOFF, ELEMENTS, Moment, Moments, Writer};
use crate::Error;
use crate::records::unchanged;

/// The most pointers that are looked at together.
const POINTERS_A_PAGE: usize = 500;

/// A row that points at an edge.
#[derive(Clone, Debug)]
struct Pointer {
    /// The bucket that it lies in.
    bucket: u32,
    row: Bytes,
    edge: EdgeId,
    life: u64,
}

/// A page of pointers that were looked at.
#[derive(Debug)]
pub(crate) struct SweptPage {
    /// Their keys.
    pub(crate) rows: Vec<Bytes>,
    /// Those that went.
    pub(crate) removed: usize,
    /// The last one, if there are more behind it.
    pub(crate) last: Option<Bytes>,
}

/// A pointer, and the edge that is stored where it points.
#[derive(Debug)]
struct Pointed {
    pointer: Pointer,
    /// The bucket of the edge.
    bucket: u32,
    /// The row of the edge.
    key: Bytes,
    stored: Option<Row>,
}

impl Pointed {
    /// Whether the edge is the one that is meant.
    fn is_live(&self) -> Result<bool, Error> {
        let Some(row) = &self.stored else { return Ok(false) };
        Ok(EdgeView::parse(&row.value)?.life == Some(self.pointer.life))
    }
}

impl Writer {
    /// Removes the edges of a vertex that was taken away which lie in other buckets, and the rows that point at them.
    pub(super) async fn sweep_pointed(&self, mark: &Mark, moments: &impl Moments) -> Result<(), Error> {
        // Who must find the vertex and knows of a greater width comes later than the mark, and does not find it.
        let width = moments.moment().await?.width_of(&mark.id);
        for bucket in keys::buckets_of_pointers(self.bucket_of(&mark.id), width, self.buckets()) {
            let mut rest = Some(keys::edges_range(&mark.id.to_key(), EdgeDirection::In, None));
            while let Some(range) = rest {
                let pointers;
                (pointers, rest) = self.pointers(bucket, &range).await?;
                if !self.remove_where_marked(pointers, mark, moments).await? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Removes edges and the pointers at them, as long as the mark is there; whether it is.
    async fn remove_where_marked(
        &self,
        mut left: Vec<Pointer>,
        mark: &Mark,
        moments: &impl Moments,
    ) -> Result<bool, Error> {
        let mut attempts = BACKOFF.attempts();
        while !left.is_empty() {
            if !attempts.next().await {
                return Err(attempts.exhausted(ELEMENTS).into());
            }
            let moment = moments.moment().await?;
            let pointed = self.pointed(left).await?;
            // What was read before it was seen that the mark is there is of the vertex that was taken away.
            if !self.is_marked(mark).await? {
                return Ok(false);
            }
            let (live, dead) = split(pointed)?;
            left = self.remove_pointed(live, &moment).await?;
            left.extend(self.remove_dead(dead).await?);
        }
        Ok(true)
    }

    /// Looks at some of the pointers of a bucket behind a row of it, and removes those without their edges.
    pub(crate) async fn sweep_pointers(&self, bucket: u32, after: &Bytes) -> Result<SweptPage, Error> {
        let all = keys::all_edges_range(EdgeDirection::In);
        let range = if after.is_empty() { all } else { all.after_key(after) };
        let (pointers, rest) = self.pointers(bucket, &range).await?;
        let rows: Vec<Bytes> = pointers.iter().map(|pointer| pointer.row.clone()).collect();
        let last = rows.last().cloned().filter(|_| rest.is_some());
        let (_, dead) = split(self.pointed(pointers).await?)?;
        let found = dead.len();
        // Those whose edges are being written are looked at the next time.
        let lost = self.remove_dead(dead).await?.len();
        Ok(SweptPage { rows, removed: found - lost, last })
    }

    /// Some pointers of a range, and the rest of it.
    async fn pointers(&self, bucket: u32, range: &Range) -> Result<(Vec<Pointer>, Option<Range>), Error> {
        let partition = keys::pointers_partition(&self.graph, bucket);
        let page = self.store.scan(&partition, range, Direction::Forward, POINTERS_A_PAGE).await?;
        let read = |(row, _): (&[u8], &[u8])| {
            let (edge, life) = keys::edge_of_pointer(row)?;
            Some(Pointer { bucket, row: Bytes::copy_from_slice(row), edge: edge.to_id()?, life })
        };
        let pointers = page.rows().map(|row| read(row).ok_or(graph::Malformed)).collect::<Result<_, _>>()?;
        Ok((pointers, range.after_page(&page)))
    }

    /// What is stored where pointers point, by bucket.
    async fn pointed(&self, pointers: Vec<Pointer>) -> Result<Vec<Pointed>, Error> {
        let mut pointed: Vec<Pointed> = pointers
            .into_iter()
            .map(|pointer| {
                let key = keys::edge(&pointer.edge, EdgeDirection::Out);
                Pointed { bucket: self.bucket_of(&pointer.edge.source), key, stored: None, pointer }
            })
            .collect();
        pointed.sort_by_key(|it| it.bucket);
        for of_bucket in pointed.chunk_by_mut(|one, two| one.bucket == two.bucket) {
            let row_keys: Vec<Bytes> = of_bucket.iter().map(|it| it.key.clone()).collect();
            let bucket = of_bucket.first().expect("a chunk has an element").bucket;
            let rows = self.store.get_many_linear(self.partition(bucket), &row_keys).await?;
            for (it, row) in of_bucket.iter_mut().zip(rows) {
                it.stored = row;
            }
        }
        Ok(pointed)
    }

    /// Removes edges as they were read, with their pointers; gives back those that others changed meanwhile.
    async fn remove_pointed(&self, live: Vec<Pointed>, moment: &Moment) -> Result<Vec<Pointer>, Error> {
        let (limits, mut commits, mut members) = (self.store.limits(), Vec::new(), Vec::new());
        for of_bucket in live.chunk_by(|one, two| one.bucket == two.bucket) {
            let mut of_bucket = of_bucket.iter().peekable();
            while let Some(first) = of_bucket.peek() {
                let bucket = first.bucket;
                let (mut planned, mut within) = (Planned::<Edge>::default(), Vec::new());
                while planned.rows() < limits.good_rows
                    && planned.bytes() < limits.good_bytes
                    && let Some(Pointed { pointer, key, stored, .. }) = of_bucket.next()
                {
                    let row = stored.as_ref().expect("a live pointer has an edge");
                    planned.conditions.push(Condition::Version(key.clone(), row.stamp));
                    self.plan_edge_removal(pointer.edge.clone(), &row.value, moment, &mut planned)?;
                    within.push(pointer.clone());
                }
                self.settle_uniques(bucket, &mut planned, moment).await?;
                let mut commit = self.commit_of(bucket, planned, moment);
                commit.commit.reclaims = true;
                commits.push(commit);
                members.push(within);
            }
        }
        let outcomes = self.store.append_then_commit_all(commits).await;
        let mut lost = Vec::new();
        for (outcome, within) in outcomes.into_iter().zip(members) {
            if unless_lost(outcome)?.is_none() {
                lost.extend(within);
            }
        }
        Ok(lost)
    }

    /// Removes pointers whose edges are not there; gives back those of edges that others changed meanwhile. Cost: where there are any, a new epoch for
    /// each bucket of sources.
    async fn remove_dead(&self, dead: Vec<Pointed>) -> Result<Vec<Pointer>, Error> {
        let (rows_max, mut lost) = (self.store.limits().good_rows, Vec::new());
        for of_bucket in dead.chunk_by(|one, two| one.bucket == two.bucket) {
            for some in of_bucket.chunks(rows_max) {
                let bucket = some.first().expect("a chunk has an element").bucket;
                let mut seen: Vec<Condition> =
                    some.iter().map(|it| unchanged(&it.key, it.stored.as_ref())).collect();
                seen.sort_unstable_by(|one, two| one.key().cmp(&two.key()));
                seen.dedup();
                let Some(epoch) = unless_lost(self.store.bump(self.partition(bucket), seen).await)? else {
                    lost.extend(some.iter().map(|it| it.pointer.clone()));
                    continue;
                };
                let mut removals = Vec::new();
                for Pointer { bucket, row, .. } in some.iter().map(|it| &it.pointer) {
                    let partition = keys::pointers_partition(&self.graph, *bucket);
                    add_removal(&mut removals, Removal { partition, keys: vec![row.clone()] });
                }
                for Removal { partition, keys } in removals {
                    self.store.remove(&partition, keys, Appended::Before(epoch)).await?;
                }
            }
        }
        Ok(lost)
    }
}

/// Pointers whose edges are there, and the others.
fn split(pointed: Vec<Pointed>) -> Result<(Vec<Pointed>, Vec<Pointed>), Error> {
    let (mut live, mut dead) = (Vec::new(), Vec::new());
    for it in pointed {
        if it.is_live()? { live.push(it) } else { dead.push(it) }
    }
    Ok((live, dead))
}
