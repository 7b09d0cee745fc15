//! Head rows that are not folded yet, as points of each attribute and dataset.

use std::collections::HashMap;

use entity::history::head::{Entry, What, entries};
use entity::history::note::{MICROSECOND, PointsBuilder, nanos};
use entity::{Error, TermId, keys};
use store::{Direction, Page, Partition, Row, Timestamp};

use crate::TenantEntities;
use crate::histories::damaged_header;
use crate::tenant::TenantState;

/// The most head rows read in one page; as many are folded at once, if that is a good size of a commit.
pub(super) const PAGE_HEADS: usize = 2048;

/// Head rows of an entity, in order.
#[derive(Debug, Default)]
pub(super) struct Heads {
    pub(super) pages: Vec<Page>,
    /// The row that says up to when they are folded, and that time.
    pub(super) folded: Option<(Row, Timestamp)>,
}

/// What head rows say of one attribute and dataset.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) attribute: TermId,
    pub(super) dataset: Option<Box<str>>,
    pub(super) builder: PointsBuilder,
}

impl TenantEntities {
    /// All head rows of an entity that are not folded.
    pub(super) async fn heads(&self, id: &str) -> Result<Heads, Error> {
        loop {
            let state = self.state();
            let heads = state.heads(id).await?;
            if state.newer().await?.is_none() {
                return Ok(heads);
            }
        }
    }
}

impl TenantState {
    async fn heads(&self, id: &str) -> Result<Heads, Error> {
        // What was not copied before and after it was read was all there.
        if let Some(source) = self.source(id)
            && !self.has_moved(id).await?
        {
            let heads = self.heads_in(source, id, true).await?;
            if !heads.is_empty() && !self.has_moved(id).await? {
                return Ok(heads);
            }
        }
        self.heads_in(self.partition(id)?, id, true).await
    }

    /// The head rows in a partition that are not folded: all, or a page of them.
    pub(super) async fn heads_in(&self, partition: &Partition, id: &str, all: bool) -> Result<Heads, Error> {
        let key = keys::folded(id);
        let row = self.store.get_linear(partition, &key).await?;
        let folded = row.map(|row| {
            let time = row.value.as_ref().try_into().map(i64::from_le_bytes).map(Timestamp);
            time.map(|time| (row, time)).map_err(|_| damaged_header())
        });
        let folded = folded.transpose()?;
        let from = folded.as_ref().map_or(i64::MIN, |(_, time)| time.0.saturating_add(1));
        let limits = self.store.limits();
        let mut range = Some(keys::heads_from(id, Timestamp(from)));
        let mut pages = Vec::new();
        while let Some(rest) = range {
            let page_rows = if all { PAGE_HEADS } else { PAGE_HEADS.min(limits.good_rows) };
            let mut page = self.store.scan(partition, &rest, Direction::Forward, page_rows).await?;
            if !all {
                page.cut(limits.good_bytes);
            }
            range = rest.after_page(&page).filter(|_| all);
            pages.push(page);
        }
        Ok(Heads { pages, folded })
    }
}

impl Heads {
    /// Whether there is neither a row nor was there one.
    fn is_empty(&self) -> bool {
        self.folded.is_none() && self.rows() == 0
    }

    /// The time of the newest row.
    pub(super) fn newest(&self) -> Option<Timestamp> {
        let key = self.pages.iter().rev().find_map(|page| page.last_key())?;
        let (_, time) = keys::head_of_key(key).expect("the key of a head row ends in a time");
        Some(time)
    }

    pub(super) fn rows(&self) -> usize {
        self.pages.iter().map(Page::len).sum()
    }

    /// The points of each attribute and dataset that is wanted, in no order. Cost: a parse of all rows.
    pub(super) fn gather(
        &self,
        wants: impl Fn(TermId, Option<&str>) -> bool,
    ) -> Result<Vec<Gathered>, Error> {
        let mut indexes: HashMap<(TermId, Option<&str>), Option<usize>> = HashMap::new();
        let mut gathered: Vec<Gathered> = Vec::new();
        for (_, value) in self.pages.iter().flat_map(|page| page.rows()) {
            for entry in entries(value)? {
                let Entry { attribute, dataset, time, what } = entry?;
                let index = indexes.entry((attribute, dataset)).or_insert_with(|| {
                    wants(attribute, dataset).then(|| {
                        let dataset = dataset.map(Into::into);
                        gathered.push(Gathered { attribute, dataset, builder: PointsBuilder::default() });
                        gathered.len() - 1
                    })
                });
                let Some(found) = index.map(|index| gathered.get_mut(index).expect("it was pushed")) else {
                    continue;
                };
                match what {
                    What::Written(instance) => found.builder.push(nanos(time), &instance),
                    What::Removed(kind) if attribute == TermId::SCOPE => {
                        found.builder.push_seen_removal(nanos(time), nanos(time), kind);
                    }
                    What::Removed(kind) => found.builder.push_removal(nanos(time), kind),
                }
            }
        }
        Ok(gathered)
    }
}

/// The first time of points that a strand with this mark does not hold.
pub(super) fn unmarked(mark: Option<i64>) -> i64 {
    mark.map_or(i64::MIN, |mark| mark.saturating_mul(MICROSECOND).saturating_add(1))
}
