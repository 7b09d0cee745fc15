//! Operations on edges, and the vertices at their ends.

use bytes::Bytes;
use graph::schema::{IdStrategy, SchemaPart, VertexLabel};
use graph::update::Updates;
use graph::{Edge, EdgeDirection, EdgeId, EdgeView, LabelId, PropertiesRef, VertexId, VertexView, keys};
use store::{Condition, Removal, Write};

use super::operation::{CheckVertices, EdgeOperation, EndLabels, Known, Operation, Planned, Work, Written};
use super::operation::{Ends, Labels, needs_known};
use super::pointers::plan_pointer;
use super::rows::{Indexed, changed, plan_finding_rows};
use super::{Moment, Writer};
use crate::Error;

impl EdgeOperation {
    /// The id of the edge.
    pub fn id(&self) -> &EdgeId {
        match self {
            Self::Put(edge, _) | Self::Merge(edge, ..) => &edge.id,
            Self::Change(id, _) | Self::Remove(id) | Self::RemoveUnseen(id) => id,
        }
    }

    /// The edge behind it; `None`: it is removed.
    fn apply(&self, moment: &Moment, current: Option<&Edge>) -> Result<Option<Edge>, Error> {
        let updates = Updates { schema: &moment.schema };
        Ok(Some(match self {
            Self::Put(given, _) => match current {
                None => given.clone(),
                Some(stored) => {
                    let properties =
                        updates.aggregate(stored.properties.as_ref(), given.properties.as_ref())?;
                    with_expiry(moment, Edge { properties, ..given.clone() })?
                }
            },
            Self::Merge(given, _, strategies) => {
                let stored = current.map_or(PropertiesRef::NONE, |stored| stored.properties.as_ref());
                let properties = updates.merge(stored, given.properties.as_ref(), strategies)?;
                if let Some(label) = moment.schema.edge_label(given.id.sub_label) {
                    moment.admission().check_needed(label, "edge", properties.as_ref())?;
                }
                with_expiry(moment, Edge { properties, ..given.clone() })?
            }
            Self::Change(id, change) => {
                let no_such = || Error::NoSuchEdge(Box::new(id.clone()));
                let stored = current.ok_or_else(no_such)?;
                let label = moment.schema.edge_label(id.sub_label).ok_or_else(no_such)?;
                let properties = changed(moment, label, stored.properties.as_ref(), change)?;
                with_expiry(moment, Edge { properties, ..stored.clone() })?
            }
            Self::Remove(_) => return Ok(None),
            Self::RemoveUnseen(_) => return Ok(current.cloned()),
        }))
    }

    /// The ends of an edge that is put, and their labels if they are demanded.
    fn put_ends(&self) -> Option<(&EdgeId, Option<EndLabels>)> {
        match self {
            Self::Put(edge, labels) | Self::Merge(edge, labels, _) => Some((&edge.id, *labels)),
            Self::Change(..) | Self::Remove(_) | Self::RemoveUnseen(_) => None,
        }
    }
}

impl Operation for EdgeOperation {
    type Element = Edge;
    const MAKES_VERTICES: bool = false;

    fn put_authority(&self, writer: &Writer, key: &mut Vec<u8>) -> u32 {
        keys::put_edge(key, self.id(), EdgeDirection::Out);
        writer.bucket_of(&self.id().source)
    }

    fn needs_known(&self, work: &Work<'_, Self>) -> bool {
        match self {
            Self::Put(edge, _) => {
                let label = work.moment.schema.edge_label(edge.id.sub_label);
                work.writer.spans_buckets(&edge.id)
                    || label.is_none_or(|label| needs_known(&work.moment.schema, label))
            }
            Self::Merge(..) | Self::Change(..) | Self::Remove(_) | Self::RemoveUnseen(_) => true,
        }
    }

    async fn ends(
        writer: &Writer,
        operations: &[Self],
        check: CheckVertices,
        (moment, is_first): (&Moment, bool),
    ) -> Result<Ends, Error> {
        let mut ends = Ends::default();
        if check == CheckVertices::No {
            return Ok(ends);
        }
        let mut read = Vec::new();
        // Where clients give texts as ids, one may look as if it were made of primary keys; also where they did, and what they gave is not removed yet.
        let is_plain = |label: &VertexLabel| label.id_strategy != IdStrategy::CustomizeString;
        let was_plain = |part: &SchemaPart| match part {
            SchemaPart::VertexLabel(label) => is_plain(label),
            SchemaPart::PropertyKey(_) | SchemaPart::EdgeLabel(_) | SchemaPart::IndexLabel(_) => true,
        };
        let schema = &moment.schema;
        // Who lost reads them, to know what was missing.
        ends.ids_have_labels = is_first
            && schema.vertex_labels().all(|label| is_plain(label))
            && schema.removed().all(was_plain);
        for (id, _) in operations.iter().filter_map(Self::put_ends) {
            let is_read = |vertex: &&VertexId| label_by_end(&ends, writer, id, vertex, moment).is_none();
            read.extend([&id.source, &id.target].into_iter().filter(is_read));
        }
        read.sort_unstable();
        read.dedup();
        writer.add_labels_of(&read, moment, &mut ends.read).await?;
        Ok(ends)
    }

    fn plan(
        work: &Work<'_, Self>,
        operations: &[&Self],
        key: &Bytes,
        known: &Known,
        planned: &mut Planned<Edge>,
    ) -> Result<(), Error> {
        planned.conditions.extend(known.condition(key));
        for operation in operations {
            check_label(work, operation)?;
            check_ends(work, operation, planned)?;
        }
        if let ([Self::Put(edge, _)], Known::Unread) = (operations, known) {
            plan_finding_rows(planned, key, None, Some(Indexed::of_edge(&work.moment.schema, edge)))?;
            plan_put(work, key, edge, None, planned);
            return Ok(());
        }
        let id = operations.first().expect("at least one operation").id();
        let (stored, life) = match known {
            Known::Present(_, stored) => {
                (Some(Edge::of_stored(id.clone(), stored)?), EdgeView::parse(stored)?.life)
            }
            Known::Unread | Known::Absent => (None, None),
        };
        let mut current = stored.as_ref().filter(|stored| work.moment.sees_edge(stored)).cloned();
        for operation in operations {
            let becomes = operation.apply(work.moment, current.as_ref())?;
            planned.written.push(match &becomes {
                Some(edge) => Written::Stored(edge.clone()),
                None => Written::Removed(current.is_some()),
            });
            current = becomes;
        }
        let schema = &work.moment.schema;
        let old = stored.as_ref().map(|stored| Indexed::of_edge(schema, stored));
        let new = current.as_ref().map(|edge| Indexed::of_edge(schema, edge));
        plan_finding_rows(planned, key, old, new)?;
        match &current {
            Some(edge) => plan_put(work, key, edge, life, planned),
            None if stored.is_some() => plan_removal((work.writer, work.moment), key, id, life, planned),
            None => {}
        }
        Ok(())
    }

    fn rename(&mut self, _: &Writer) -> bool {
        false
    }

    fn into_given(self) -> Written<Edge> {
        match self {
            Self::Put(edge, _) | Self::Merge(edge, ..) => Written::Stored(edge),
            Self::Change(..) | Self::Remove(_) | Self::RemoveUnseen(_) => {
                unreachable!("changes and removals are planned with what they leave")
            }
        }
    }
}

/// An edge that expires by what its properties have become.
fn with_expiry(moment: &Moment, edge: Edge) -> Result<Edge, Error> {
    let label = moment.schema.edge_label(edge.id.sub_label).map(|label| &label.label);
    let expires = moment.expiry(label, edge.properties.as_ref(), edge.expires)?;
    Ok(Edge { expires, ..edge })
}

/// The label of a vertex, where its id says it: of one with primary keys, whose vertices do not expire.
fn label_of_id(id: &VertexId, moment: &Moment) -> Option<LabelId> {
    let VertexId::Text(text) = id else { return None };
    let number = text.split_once(':')?.0.parse().ok()?;
    let label = moment.schema.vertex_label(LabelId(number))?;
    (label.id_strategy == IdStrategy::PrimaryKey && label.ttl_ms == 0).then_some(label.id)
}

/// The label of a vertex at an end of an edge, where it follows from its id.
fn label_by_end(
    ends: &Ends,
    writer: &Writer,
    edge: &EdgeId,
    vertex: &VertexId,
    moment: &Moment,
) -> Option<LabelId> {
    if !ends.ids_have_labels || writer.spans_buckets(edge) {
        return None;
    }
    label_of_id(vertex, moment)
}

/// Refuses to put an edge of a label that was removed.
fn check_label(work: &Work<'_, EdgeOperation>, operation: &EdgeOperation) -> Result<(), Error> {
    let is_there = |id: &EdgeId| work.moment.schema.edge_label(id.sub_label).is_some();
    if operation.put_ends().is_none_or(|(id, _)| is_there(id)) { Ok(()) } else { Err(Error::LabelRemoved) }
}

/// Refuses an edge whose ends are not there, or of other labels than it demands.
fn check_ends(
    work: &Work<'_, EdgeOperation>,
    operation: &EdgeOperation,
    planned: &mut Planned<Edge>,
) -> Result<(), Error> {
    let Some((id, labels)) = operation.put_ends() else { return Ok(()) };
    if work.check == CheckVertices::No {
        return Ok(());
    }
    let bucket = work.writer.bucket_of(&id.source);
    let demanded = [labels.map(|labels| labels.source), labels.map(|labels| labels.target)];
    for (vertex, demanded) in [&id.source, &id.target].into_iter().zip(demanded) {
        let label = label_by_end(work.ends, work.writer, id, vertex, work.moment);
        let label = label.or_else(|| work.ends.read.get(vertex).copied());
        let label = label.ok_or_else(|| Error::NoSuchVertex(vertex.clone()))?;
        if let Some(demanded) = demanded.filter(|demanded| *demanded != label) {
            return Err(Error::OtherLabel { vertex: vertex.clone(), demanded, stored: label });
        }
        if work.writer.bucket_of(vertex) == bucket {
            let row = planned.buffer.make(|row| keys::put_vertex(row, vertex));
            planned.conditions.push(Condition::Present(row));
        }
    }
    Ok(())
}

/// Plans the rows of an edge at its ends.
fn plan_put(
    work: &Work<'_, EdgeOperation>,
    key: &Bytes,
    edge: &Edge,
    life: Option<u64>,
    planned: &mut Planned<Edge>,
) {
    let writer = work.writer;
    if !writer.spans_buckets(&edge.id) {
        let stored = planned.buffer.make(|value| edge.put_stored(None, value));
        let at_target = planned.buffer.make(|row| keys::put_edge(row, &edge.id, EdgeDirection::In));
        planned.writes.push(Write::Put(at_target, stored.clone()));
        planned.writes.push(Write::PutStamped(key.clone(), stored));
        return;
    }
    // One that is there keeps its life; the pointer of a new one goes ahead of it.
    let life = life.unwrap_or_else(|| plan_pointer(work, edge, planned));
    planned.writes.push(Write::PutStamped(key.clone(), edge.to_stored_of_life(Some(life)).into()));
}

/// Plans that the rows of an edge at its ends go.
pub(super) fn plan_removal<T>(
    (writer, moment): (&Writer, &Moment),
    key: &Bytes,
    id: &EdgeId,
    life: Option<u64>,
    planned: &mut Planned<T>,
) {
    planned.writes.push(Write::Delete(key.clone()));
    match life {
        None => planned.writes.push(Write::Delete(keys::edge(id, EdgeDirection::In))),
        Some(life) => {
            let row = keys::pointer(id, life);
            for bucket in writer.buckets_of_pointer(id, moment) {
                let partition = keys::pointers_partition(&writer.graph, bucket);
                planned.lets_go.push(Removal { partition, keys: vec![row.clone()] });
            }
        }
    }
}

impl Writer {
    /// Adds the labels of vertices that are there. Cost: one look-up each.
    pub(super) async fn add_labels_of(
        &self,
        ids: &[&VertexId],
        moment: &Moment,
        labels: &mut Labels,
    ) -> Result<(), Error> {
        for bucket in 0..self.buckets() {
            let of_bucket: Vec<_> = ids.iter().filter(|id| self.bucket_of(id) == bucket).collect();
            if of_bucket.is_empty() {
                continue;
            }
            let row_keys: Vec<Bytes> = of_bucket.iter().map(|id| keys::vertex(id)).collect();
            let rows = self.store.get_many_linear(self.partition(bucket), &row_keys).await?;
            for (id, row) in of_bucket.into_iter().zip(rows) {
                let Some(row) = row else { continue };
                let view = VertexView::parse(&row.value)?;
                if moment.sees_vertex(view.label, view.expires) {
                    labels.insert((*id).clone(), view.label);
                }
            }
        }
        Ok(())
    }
}
