//! Operations on vertices.

use bytes::Bytes;
use graph::schema::IdStrategy;
use graph::update::Updates;
use graph::{PropertiesRef, Vertex, VertexId, keys};
use store::{Condition, Write};

use super::operation::needs_known;
use super::operation::{CheckVertices, Ends, Known, Operation, Planned, VertexOperation, Work, Written};
use super::rows::{Indexed, changed, lies_with_its_label, plan_finding_rows};
use super::{Moment, Writer};
use crate::Error;

impl VertexOperation {
    /// The id of the vertex.
    pub fn id(&self) -> &VertexId {
        match self {
            Self::Put(vertex) | Self::Create(vertex) | Self::Merge(vertex, _) => &vertex.id,
            Self::Change(id, _) => id,
        }
    }

    /// The vertex behind it.
    fn apply(&self, moment: &Moment, current: Option<&Vertex>) -> Result<Vertex, Error> {
        let updates = Updates { schema: &moment.schema };
        let of_label = |given: &Vertex| current.filter(|stored| stored.label == given.label);
        match self {
            Self::Put(given) | Self::Create(given) => match of_label(given) {
                None => Ok(given.clone()),
                Some(stored) => {
                    let properties =
                        updates.aggregate(stored.properties.as_ref(), given.properties.as_ref())?;
                    with_expiry(moment, Vertex { properties, ..given.clone() })
                }
            },
            Self::Merge(given, strategies) => {
                let stored = of_label(given).map_or(PropertiesRef::NONE, |stored| stored.properties.as_ref());
                let properties = updates.merge(stored, given.properties.as_ref(), strategies)?;
                if let Some(label) = moment.schema.vertex_label(given.label) {
                    moment.admission().check_needed(label, "vertex", properties.as_ref())?;
                }
                with_expiry(moment, Vertex { properties, ..given.clone() })
            }
            Self::Change(id, change) => {
                let no_such = || Error::NoSuchVertex(id.clone());
                let stored = current.ok_or_else(no_such)?;
                let label = moment.schema.vertex_label(stored.label).ok_or_else(no_such)?;
                let properties = changed(moment, label, stored.properties.as_ref(), change)?;
                with_expiry(moment, Vertex { properties, ..stored.clone() })
            }
        }
    }
}

/// A vertex that expires by what its properties have become.
fn with_expiry(moment: &Moment, vertex: Vertex) -> Result<Vertex, Error> {
    let label = moment.schema.vertex_label(vertex.label).map(|label| &label.label);
    let expires = moment.expiry(label, vertex.properties.as_ref(), vertex.expires)?;
    Ok(Vertex { expires, ..vertex })
}

impl Operation for VertexOperation {
    type Element = Vertex;
    const MAKES_VERTICES: bool = true;

    fn put_authority(&self, writer: &Writer, key: &mut Vec<u8>) -> u32 {
        keys::put_vertex(key, self.id());
        writer.bucket_of(self.id())
    }

    fn needs_known(&self, work: &Work<'_, Self>) -> bool {
        match self {
            Self::Put(vertex) => match work.moment.schema.vertex_label(vertex.label) {
                None => true,
                // What computations wrote outlasts it.
                Some(_) if work.moment.schema.has_olap() => true,
                Some(label) if label.id_strategy == IdStrategy::PrimaryKey => {
                    // The edges of one that has expired are not those of the next.
                    label.ttl_ms > 0 || needs_known(&work.moment.schema, label)
                }
                Some(_) => work.reads_given_ids(),
            },
            Self::Create(_) => false,
            Self::Merge(..) | Self::Change(..) => true,
        }
    }

    async fn ends(_: &Writer, _: &[Self], _: CheckVertices, _: (&Moment, bool)) -> Result<Ends, Error> {
        Ok(Ends::default())
    }

    fn plan(
        work: &Work<'_, Self>,
        operations: &[&Self],
        key: &Bytes,
        known: &Known,
        planned: &mut Planned<Vertex>,
    ) -> Result<(), Error> {
        planned.conditions.extend(known.condition(key));
        if let ([Self::Put(vertex) | Self::Create(vertex)], Known::Unread) = (operations, known) {
            if matches!(operations, [Self::Create(_)]) {
                planned.conditions.push(Condition::Absent(key.clone()));
            }
            return plan_rows(work, key, None, vertex, planned);
        }
        let id = operations.first().map(|operation| operation.id().clone());
        let stored = match (known, id) {
            (Known::Present(_, stored), Some(id)) => Some(Vertex::of_stored(id, stored)?),
            _ => None,
        };
        let seen =
            stored.as_ref().filter(|stored| work.moment.sees_vertex(stored.label, stored.expires)).cloned();
        let mut current = seen;
        for operation in operations {
            let becomes = operation.apply(work.moment, current.as_ref())?;
            planned.written.push(Written::Stored(becomes.clone()));
            current = Some(becomes);
        }
        let vertex = current.expect("an operation leaves a vertex");
        plan_rows(work, key, stored.as_ref(), &vertex, planned)
    }

    fn rename(&mut self, writer: &Writer) -> bool {
        match self {
            Self::Create(vertex) => {
                vertex.id = VertexId::Number(writer.numbers.after_last());
                true
            }
            Self::Put(_) | Self::Merge(..) | Self::Change(..) => false,
        }
    }

    fn into_given(self) -> Written<Vertex> {
        match self {
            Self::Put(vertex) | Self::Create(vertex) | Self::Merge(vertex, _) => Written::Stored(vertex),
            Self::Change(..) => unreachable!("a change is planned with what it leaves"),
        }
    }
}

/// Plans the rows of a vertex that is written, where another one was stored, as far as that was read.
fn plan_rows(
    work: &Work<'_, VertexOperation>,
    key: &Bytes,
    stored: Option<&Vertex>,
    vertex: &Vertex,
    planned: &mut Planned<Vertex>,
) -> Result<(), Error> {
    let schema = &work.moment.schema;
    if schema.vertex_label(vertex.label).is_none() {
        return Err(Error::LabelRemoved);
    }
    if work.looks_for_marks && stored.is_none() {
        planned.conditions.push(Condition::Absent(keys::removal(&vertex.id)));
    }
    let found_by = |label| (!lies_with_its_label(schema, label)).then_some(label);
    let (old_label, label) = (stored.and_then(|stored| found_by(stored.label)), found_by(vertex.label));
    if old_label != label {
        planned.writes.extend(old_label.map(|label| Write::Delete(keys::label(label, &vertex.id))));
    }
    if let Some(label) = label {
        let row = planned.buffer.make(|row| keys::put_label(row, label, &vertex.id));
        planned.writes.push(Write::Put(row, Bytes::new()));
    }
    let old = stored.map(|stored| Indexed::of_vertex(schema, stored));
    plan_finding_rows(planned, key, old, Some(Indexed::of_vertex(schema, vertex)))?;
    let stored = planned.buffer.make(|value| vertex.put_stored(value));
    planned.writes.push(Write::PutStamped(key.clone(), stored));
    Ok(())
}
