//! Filling indexes: all elements of their labels are entered. Of one that is built anew, rows that are wrong go first (`clean.rs`); those that are right
//! stay all the time, so that several builds of an index may run at once, and who still queries it misses nothing.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use graph::index::{IndexRow, put_index_rows};
use graph::schema::{IdStrategy, IndexBase, IndexLabel, Schema, SchemaStatus};
use graph::{EdgeDirection, EdgeView, IndexLabelId, VertexView, keys};
use store::{Condition, Page, Partition, Range, Row, Timestamp, Write};

use super::clean::properties_of;
use super::walk::{Cursor, Step};
use super::{ELEMENTS, Ended, NO_PART, Run, beginning};
use crate::records::{BACKOFF, unchanged};
use crate::{Error, GraphState};

/// What became of some elements.
enum Entry {
    /// So many are entered.
    Entered(u64),
    /// Another writer came first.
    Lost,
    /// The epochs of the run are over.
    Over,
    /// The index cannot be; why.
    Repeated(String),
}

/// The rows of some elements, and what must still hold of these.
#[derive(Default)]
struct Entered {
    conditions: Vec<Condition>,
    writes: Vec<Write>,
    /// Rows of UNIQUE indexes, and the elements that they are of.
    unique: HashMap<Bytes, Bytes>,
}

impl Run<'_> {
    /// Goes on with a build; all indexes have the same label.
    pub(super) async fn build(
        &mut self,
        ids: &[IndexLabelId],
        mut cursor: Cursor,
        is_cancelled: bool,
    ) -> Result<Ended, Error> {
        if is_cancelled {
            return self.end_build((ids, SchemaStatus::Invalid), Ended::Done, cursor).await;
        }
        let schema = self.graph.state().await?.schema.clone();
        let indexes: Vec<Arc<IndexLabel>> =
            ids.iter().filter_map(|id| schema.index_label(*id)).cloned().collect();
        let Some(base) = indexes.first().map(|index| index.base) else { return Ok(Ended::Done) };
        if !self.clean(ids, &schema, &mut cursor).await? {
            return Ok(Ended::More(cursor));
        }
        let range = range_of(&schema, base);
        loop {
            match self.next_page(&range, &mut cursor).await? {
                Step::End => return self.end_build((ids, SchemaStatus::Created), Ended::Done, cursor).await,
                Step::Pause => return Ok(Ended::More(cursor)),
                Step::Page(partition, page) => {
                    match self.enter_page(&indexes, base, &partition, &page).await? {
                        Entry::Entered(count) => {
                            self.done += count;
                            cursor.pass(&page);
                        }
                        Entry::Repeated(why) => {
                            let ended = Ended::Failed(why);
                            return self.end_build((ids, SchemaStatus::Invalid), ended, cursor).await;
                        }
                        Entry::Over => return Ok(Ended::More(cursor)),
                        Entry::Lost => return Err(Error::Contention(ELEMENTS.into())),
                    }
                }
            }
        }
    }

    /// Enters the elements of a page, again where another writer came first.
    async fn enter_page(
        &self,
        indexes: &[Arc<IndexLabel>],
        base: IndexBase,
        partition: &Partition,
        page: &Page,
    ) -> Result<Entry, Error> {
        let found = page.rows().filter(|(key, stored)| properties_of(base, key, stored).is_some());
        let found: Vec<Bytes> = found.map(|(key, _)| Bytes::copy_from_slice(key)).collect();
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            match self.enter(indexes, base, partition, &found).await? {
                Entry::Lost => {}
                entry => return Ok(entry),
            }
        }
        Ok(Entry::Lost)
    }

    /// Ends a build that cannot be: queries do without the indexes.
    pub(super) async fn give_up(&self, ids: &[IndexLabelId], why: &Error) -> Result<Ended, Error> {
        self.end_build((ids, SchemaStatus::Invalid), Ended::Failed(why.to_string()), beginning(NO_PART)).await
    }

    /// Ends a build, unless the epochs of the run are over: then the indexes may be others of the same numbers.
    async fn end_build(
        &self,
        (ids, status): (&[IndexLabelId], SchemaStatus),
        ended: Ended,
        cursor: Cursor,
    ) -> Result<Ended, Error> {
        let is_over = AtomicBool::new(false);
        let end = |state: &GraphState| {
            // Behind the reading of the schema: who gives numbers again begins epochs first.
            is_over.store(!self.is_current(), Ordering::Relaxed);
            if is_over.load(Ordering::Relaxed) { None } else { state.schema.set_index_status(ids, status) }
        };
        self.graph.change_state(end).await?;
        Ok(if is_over.into_inner() { Ended::More(cursor) } else { ended })
    }

    /// Enters the elements of these rows.
    async fn enter(
        &self,
        indexes: &[Arc<IndexLabel>],
        base: IndexBase,
        partition: &Partition,
        found: &[Bytes],
    ) -> Result<Entry, Error> {
        let rows = self.graph.store().get_many_linear(partition, found).await?;
        let (rows_max, mut count) = (self.graph.store().limits().good_rows, 0);
        let mut entered = Entered::default();
        for (key, row) in found.iter().zip(rows) {
            let Some(row) = row else { continue };
            let Some(properties) = properties_of(base, key, &row.value) else { continue };
            let mut index_rows = Vec::new();
            put_index_rows(indexes, key, properties, &mut index_rows)?;
            let is_live = !is_expired(base, &row.value, self.now)?;
            if let Err(other) = entered.add(key, &row, index_rows, is_live) {
                return self.repeated(indexes, base, partition, [key, &other]).await;
            }
            count += 1;
            if entered.rows() >= rows_max {
                match self.put(indexes, base, partition, std::mem::take(&mut entered)).await? {
                    Entry::Entered(_) => {}
                    entry => return Ok(entry),
                }
            }
        }
        match self.put(indexes, base, partition, entered).await? {
            Entry::Entered(_) => Ok(Entry::Entered(count)),
            entry => Ok(entry),
        }
    }

    /// Stores rows.
    async fn put(
        &self,
        indexes: &[Arc<IndexLabel>],
        base: IndexBase,
        partition: &Partition,
        entered: Entered,
    ) -> Result<Entry, Error> {
        let Entered { mut conditions, mut writes, unique } = entered;
        let (unique_keys, elements): (Vec<Bytes>, Vec<Bytes>) = unique.into_iter().unzip();
        let known = self.graph.store().get_many_linear(partition, &unique_keys).await?;
        for ((key, element), row) in unique_keys.into_iter().zip(elements).zip(known) {
            match row {
                Some(row) if row.value == element => continue,
                Some(row) => {
                    // An element that is not there any more, or not as it was, has no claim.
                    let owner = self.graph.store().get_linear(partition, &row.value).await?;
                    if self.claims(indexes, base, (&row.value, owner.as_ref()), &key)? {
                        return self.repeated(indexes, base, partition, [&element, &row.value]).await;
                    }
                    conditions.push(unchanged(&row.value, owner.as_ref()));
                    conditions.push(Condition::Version(key.clone(), row.stamp));
                }
                None => conditions.push(Condition::Absent(key.clone())),
            }
            writes.push(Write::PutStamped(key, element));
        }
        // The owner of one value may be the element of another.
        conditions.sort_unstable_by(|one, other| one.key().cmp(&other.key()));
        conditions.dedup();
        Ok(match self.commit_in_epoch(partition, conditions, writes).await? {
            None => Entry::Over,
            Some(true) => Entry::Entered(0),
            Some(false) => Entry::Lost,
        })
    }

    /// Whether an element, as it is stored, has the values of a row of a UNIQUE index.
    fn claims(
        &self,
        indexes: &[Arc<IndexLabel>],
        base: IndexBase,
        (element, stored): (&Bytes, Option<&Row>),
        unique: &Bytes,
    ) -> Result<bool, Error> {
        Ok(self.unique_keys(indexes, base, (element, stored))?.contains(unique))
    }

    /// The rows of UNIQUE indexes that are an element's, as it is stored; none of one that has expired.
    fn unique_keys(
        &self,
        indexes: &[Arc<IndexLabel>],
        base: IndexBase,
        (element, stored): (&Bytes, Option<&Row>),
    ) -> Result<Vec<Bytes>, Error> {
        let Some(row) = stored else { return Ok(Vec::new()) };
        let Some(properties) = properties_of(base, element, &row.value) else { return Ok(Vec::new()) };
        if is_expired(base, &row.value, self.now)? {
            return Ok(Vec::new());
        }
        let mut rows = Vec::new();
        put_index_rows(indexes, element, properties, &mut rows)?;
        Ok(rows.into_iter().filter(|row| row.is_unique).map(|row| row.key).collect())
    }

    /// Two elements that seem to have the same values of a UNIQUE index: they do if the first is the same before and after the second is read. Else
    /// others have changed them meanwhile.
    async fn repeated(
        &self,
        indexes: &[Arc<IndexLabel>],
        base: IndexBase,
        partition: &Partition,
        [one, other]: [&Bytes; 2],
    ) -> Result<Entry, Error> {
        let store = self.graph.store();
        let before = store.get_linear(partition, one).await?;
        let stored = store.get_linear(partition, other).await?;
        let after = store.get_linear(partition, one).await?;
        let is_same = before.as_ref().map(|row| row.stamp) == after.as_ref().map(|row| row.stamp);
        let ours = self.unique_keys(indexes, base, (one, before.as_ref()))?;
        let theirs = self.unique_keys(indexes, base, (other, stored.as_ref()))?;
        if is_same && ours.iter().any(|key| theirs.contains(key)) {
            return Ok(Entry::Repeated(repeated(one, other)));
        }
        Ok(Entry::Lost)
    }
}

impl Entered {
    /// Of its commit.
    fn rows(&self) -> usize {
        // A unique row is a condition and a write.
        self.conditions.len() + self.writes.len() + 2 * self.unique.len()
    }

    /// Adds the rows of an element; one that has expired has no claim to values. Refused with another that has the same ones.
    fn add(&mut self, key: &Bytes, row: &Row, index_rows: Vec<IndexRow>, is_live: bool) -> Result<(), Bytes> {
        if !index_rows.is_empty() {
            self.conditions.push(Condition::Version(key.clone(), row.stamp));
        }
        for row in index_rows {
            if !row.is_unique {
                self.writes.push(Write::Put(row.key, row.value));
                continue;
            }
            if !is_live {
                continue;
            }
            if let Some(other) = self.unique.insert(row.key, row.value.clone())
                && other != row.value
            {
                return Err(other);
            }
        }
        Ok(())
    }
}

fn repeated(one: &[u8], other: &[u8]) -> String {
    format!(
        "Unique constraint conflict is found between elements {} and {}",
        one.escape_ascii(),
        other.escape_ascii()
    )
}

/// Where the elements of a label lie, and others.
fn range_of(schema: &Schema, base: IndexBase) -> Range {
    match base {
        IndexBase::Edge(_) => keys::all_edges_range(EdgeDirection::Out),
        IndexBase::Vertex(label) => {
            let strategy = schema.vertex_label(label).map(|label| label.id_strategy);
            if strategy == Some(IdStrategy::PrimaryKey) {
                keys::primary_key_range(label)
            } else {
                keys::vertices_range()
            }
        }
    }
}

/// Whether an element has expired, that of a row of elements of a label.
fn is_expired(base: IndexBase, stored: &[u8], now: Timestamp) -> Result<bool, Error> {
    let now_ms = now.0.div_euclid(1_000);
    Ok(match base {
        IndexBase::Vertex(_) => VertexView::parse(stored)?.is_expired(now_ms),
        IndexBase::Edge(_) => EdgeView::parse(stored)?.is_expired(now_ms),
    })
}
