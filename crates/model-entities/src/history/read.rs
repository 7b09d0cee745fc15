//! Reads the history of an entity: head rows first, then strands.

use std::collections::BTreeMap;

use entity::history::note::tag_of;
use entity::{
    EntityHistory, HistoryRequest, InstanceHistory, Limit, LimitName, TimeSpan, history::header::Header,
};
use entity::{EntityView, Error, TermId, keys};
use smallvec::SmallVec;
use store::{Direction, Timestamp};
use strands::{Points, Strand};

use super::heads::{Gathered, unmarked};
use super::select::{Bound, Selected, cut};
use super::source::Source;
use crate::TenantEntities;

/// Strands of an entity that are named in one page.
const PAGE_STRANDS: usize = 256;

/// Strands beside which fresh points are read, with their marks: once a mark moves, the fresh points may be in the strand.
pub(super) fn watched(sources: &[Source]) -> Vec<(Strand, Option<i64>)> {
    let both = sources.iter().filter(|source| !source.fresh.is_empty());
    both.filter_map(|source| Some((source.strand.clone()?, source.mark))).collect()
}

/// The instances that were found of an attribute and dataset.
type Found = (TermId, Option<Box<str>>, Selected);

/// Cuts what was found, and the request, to the part that fits; answers how many instances are left.
fn cut_all(found: &mut [Found], request: &mut HistoryRequest, covered: &mut Option<TimeSpan>) -> usize {
    let mut parts: Vec<&mut Selected> = found.iter_mut().map(|(_, _, one)| one).collect();
    if let Some(part) = cut(&mut parts, request) {
        request.span = part;
        *covered = Some(part);
    }
    parts.iter().map(|one| one.len()).sum()
}

impl TenantEntities {
    /// What is known of an entity's history as a whole: `EntityHistory` without instances. `None`: it has none, and is not there.
    /// Cost: one or two cached reads.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn history(&self, id: &str) -> Result<Option<EntityHistory>, Error> {
        let state = self.state();
        let mut history = EntityHistory {
            id: id.into(),
            types: SmallVec::new(),
            scopes: Vec::new(),
            created_at: Timestamp(0),
            modified_at: Timestamp(0),
            deleted_at: None,
            attributes: Vec::new(),
            covered: None,
        };
        if let Some(row) = state.row_linear(id).await? {
            let view = EntityView::peek(&row.value)?;
            history.types = view.types().collect();
            history.scopes = view.scopes().map(Into::into).collect();
            (history.created_at, history.modified_at) = (view.created_at(), view.modified_at());
            return Ok(Some(history));
        }
        if let Some(row) = state.header_row(id).await? {
            let header = Header::parse(&row.value).ok_or_else(crate::histories::damaged_header)?;
            (history.types, history.scopes) = (header.types, header.scopes);
            (history.created_at, history.modified_at) = (header.created, header.last);
            history.deleted_at = header.deleted;
            return Ok(Some(history));
        }
        // It went while changes of its type were not recorded.
        Ok(self.has_history(id).await?.then_some(history))
    }

    /// Whether there is any head row or strand.
    pub(super) async fn has_history(&self, id: &str) -> Result<bool, Error> {
        let heads = keys::heads_from(id, Timestamp(i64::MIN));
        let state = loop {
            let state = self.state();
            // In the order in which they move.
            for partition in state.source(id).into_iter().chain([state.partition(id)?]) {
                if !state.store.scan(partition, &heads, Direction::Forward, 1).await?.is_empty() {
                    return Ok(true);
                }
            }
            if state.newer().await?.is_none() {
                break state;
            }
        };
        let partition = keys::history_partition(state.tenant(), id);
        let names = state.histories.strands.list(&partition, &keys::strands_prefix(id, 0), None, 1).await?;
        Ok(!names.is_empty())
    }

    /// The history of an entity, as far as it is asked for; by attribute and dataset, sorted by the time asked for.
    /// `None`: the entity has no history, and is not there. Entities that are there and of which nothing was found answer with
    /// no attributes.
    ///
    /// Cost: a scan of the head rows (some hundreds), then the blocks that overlap the span.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if more instances of one attribute are of the same time than an answer may hold; if the store refuses, or
    /// stored bytes are damaged.
    pub async fn read_history(
        &self,
        id: &str,
        request: &HistoryRequest,
    ) -> Result<Option<EntityHistory>, Error> {
        let Some(mut history) = self.history(id).await? else {
            return Ok(None);
        };
        let (mut found, covered, is_scoped) = self.select_all(id, request).await?;
        history.covered = covered;
        if is_scoped {
            // Their instances tell more.
            history.scopes.clear();
        }
        found.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
        let found = found.into_iter().filter(|(_, _, selected)| !selected.is_empty());
        history.attributes = found
            .map(|(attribute, dataset, selected)| InstanceHistory {
                tag: tag_of(id, attribute, dataset.as_deref()),
                attribute,
                dataset,
                points: selected.into_points(),
            })
            .collect();
        Ok(Some(history))
    }

    /// The instances of each attribute and dataset that are wanted, the part of the span they were cut to, and whether
    /// scopes are among what is recorded.
    async fn select_all(
        &self,
        id: &str,
        request: &HistoryRequest,
    ) -> Result<(Vec<Found>, Option<TimeSpan>, bool), Error> {
        // One more than is asked for tells whether there is more.
        let most = request.instances_max.saturating_add(1);
        let bound = match request.last_n {
            Some(last_n) => Bound::Last(last_n.min(most)),
            None => Bound::First(most),
        };
        let (mut found, mut edges) = (Vec::<Found>::new(), Vec::new());
        let (mut request, mut covered, mut count) = (request.clone(), None, 0_usize);
        let mut is_scoped = false;
        for source in self.sources(id, |attribute, dataset| request.wants(attribute, dataset)).await? {
            is_scoped |= source.attribute == TermId::SCOPE;
            let selected = self.select(&source, request.time, request.span, bound).await?;
            if selected.is_empty() {
                continue;
            }
            edges.extend(selected.edge(bound).filter(|_| selected.len() == most));
            count += selected.len();
            found.push((source.attribute, source.dataset, selected));
            if count > most.saturating_mul(2) {
                // Attributes together hold no more than the answer may, and those that follow are read no further.
                count = cut_all(&mut found, &mut request, &mut covered);
            }
        }
        cut_all(&mut found, &mut request, &mut covered);
        if edges.into_iter().any(|edge| request.span.contains(edge)) {
            let max = request.instances_max;
            return Err(Error::Limit(Limit { name: LimitName::InstancesOfOneTime, max, got: most }));
        }
        Ok((found, covered, is_scoped))
    }

    /// The attributes and datasets of a history that are wanted.
    pub(super) async fn sources(
        &self,
        id: &str,
        wants: impl Fn(TermId, Option<&str>) -> bool,
    ) -> Result<Vec<Source>, Error> {
        // Head rows first: what is folded behind our back is in the strands then.
        let heads = self.heads(id).await?;
        let named = heads.gather(&wants)?.into_iter();
        let named = named.map(|one| (keys::strand_name(id, one.attribute, one.dataset.as_deref()), one));
        let mut gathered: BTreeMap<bytes::Bytes, Gathered> = named.collect();
        let strands = &self.state().histories.strands;
        let mut sources = Vec::new();
        for strand in self.strands_of(id, &wants).await? {
            let Some((attribute, dataset)) = keys::attribute_of_strand(&strand.name, id) else {
                continue;
            };
            let (mut fresh, mut mark) = (Points::default(), None);
            if let Some(found) = gathered.remove(&strand.name) {
                let points = found.builder.points;
                mark = strands.mark(&strand).await?;
                let from = unmarked(mark);
                let first = points.times.partition_point(|time| *time < from);
                if first == 0 {
                    fresh = points;
                } else {
                    fresh.extend_from_range(&points, first..points.len());
                }
            }
            let dataset = dataset.map(Into::into);
            sources.push(Source { attribute, dataset, strand: Some(strand), fresh, mark });
        }
        sources.extend(gathered.into_values().map(|Gathered { attribute, dataset, builder }| Source {
            attribute,
            dataset,
            strand: None,
            fresh: builder.points,
            mark: None,
        }));
        Ok(sources)
    }

    /// Whether the mark of a strand moved: something was folded into it.
    pub(super) async fn has_moved(&self, watched: &[(Strand, Option<i64>)]) -> Result<bool, Error> {
        for (strand, mark) in watched {
            if self.state().histories.strands.mark(strand).await? != *mark {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The strands of an entity that are wanted.
    pub(super) async fn strands_of(
        &self,
        id: &str,
        wants: impl Fn(TermId, Option<&str>) -> bool,
    ) -> Result<Vec<Strand>, Error> {
        let state = self.state();
        let partition = keys::history_partition(state.tenant(), id);
        let prefix = keys::strands_prefix(id, 0);
        let (mut strands, mut after) = (Vec::new(), None);
        loop {
            let after_name = after.as_deref();
            let names = state.histories.strands.list(&partition, &prefix, after_name, PAGE_STRANDS).await?;
            let full = names.len() >= PAGE_STRANDS;
            after = names.last().cloned();
            let wanted = |name: &bytes::Bytes| {
                keys::attribute_of_strand(name, id)
                    .is_some_and(|(attribute, dataset)| wants(attribute, dataset))
            };
            let names = names.into_iter().filter(wanted);
            strands.extend(names.map(|name| Strand { partition: partition.clone(), name }));
            if !full {
                return Ok(strands);
            }
        }
    }
}
