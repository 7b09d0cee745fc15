//! A walk at work: it reads the edges of vertices, numbers what it meets, counts what it reads, and lets others run.

mod expansion;
mod path_edges;

use graph::{LabelId, PropertyKeyId, VertexId};
use model_graph::Reader;
use store::Pace;

use crate::marks::PerVertex;
use crate::{Error, LabelFilter, Measure, Numbering, WALK_BYTES_MAX, WalkMemory, WalkOptions, filter};

pub(crate) use expansion::{Expansion, Hop, Weighing};

/// Vertices whose rows are read at once.
const VERTICES_A_READ: usize = 256;
/// A walk that remembers no more shares no memory with others.
const FEW_BYTES: usize = 1 << 20;
/// After so many steps between two reads a walk looks at its memory and its time.
const STEPS_A_PAUSE: usize = 1_024;

/// A walk at work.
pub(crate) struct Walk<'a> {
    pub(crate) reader: &'a Reader,
    pub(crate) known: Numbering,
    pub(crate) measure: Measure,
    pace: Pace,
    bytes_max: usize,
    memory: WalkMemory,
    /// Bytes of what is remembered beside the numbering, as it was noted last.
    others: usize,
    /// Whether a vertex passes the filters of a step.
    verdicts: PerVertex<Option<bool>>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(reader: &'a Reader, options: &WalkOptions) -> Self {
        Self {
            reader,
            known: Numbering::default(),
            measure: Measure::default(),
            pace: Pace::new(options.deadline.clone()),
            bytes_max: options.bytes_max.min(WALK_BYTES_MAX),
            memory: options.memory.clone(),
            others: 0,
            verdicts: PerVertex::new(None),
        }
    }

    /// The number of a vertex that must be there; `role` says what it is in the walk.
    pub(crate) async fn begin_at(&mut self, id: &VertexId, role: &'static str) -> Result<u32, Error> {
        if self.reader.vertex(id).await?.is_none() {
            return Err(Error::NoSuchVertex { role, id: id.clone() });
        }
        Ok(self.known.number(&id.to_key()))
    }

    /// Counts steps of about a hundred nanoseconds; lets others run if a slice is over.
    pub(crate) async fn spend(&mut self, steps: usize) -> Result<(), Error> {
        self.pace.spend(steps);
        self.pace.check()?;
        if self.pace.is_tired() {
            store::rest().await;
            self.pace.rest();
        }
        Ok(())
    }

    /// Notes the bytes of what is remembered beside the numbering, and refuses to remember more than a walk may.
    pub(crate) fn check_memory(&mut self, others: usize) -> Result<(), Error> {
        self.others = others;
        self.check_more(0)
    }

    /// Refuses to read more bytes than a walk may remember, beside what it remembers, or than are left of what all walks share.
    pub(crate) fn check_more(&self, bytes: usize) -> Result<(), Error> {
        let (bytes_max, others) = (self.bytes_max, self.others.saturating_add(bytes));
        let all = (self.known.bytes() + self.verdicts.bytes()).saturating_add(others);
        if all > bytes_max {
            return Err(Error::Memory { bytes_max });
        }
        if all > FEW_BYTES && !self.memory.take(all) {
            return Err(Error::MemoryFull);
        }
        Ok(())
    }

    /// Once there are many steps, counts them, notes what is remembered (`bytes`), and refuses more than a walk may.
    #[inline]
    pub(crate) async fn pause(
        &mut self,
        steps: &mut usize,
        bytes: impl FnOnce() -> usize,
    ) -> Result<(), Error> {
        if *steps < STEPS_A_PAUSE {
            return Ok(());
        }
        self.check_memory(bytes())?;
        self.spend(std::mem::take(steps)).await
    }

    /// The most bytes that it remembers.
    pub(crate) fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// The label of a vertex that is there. Cost: a read.
    pub(crate) async fn label_of(&self, vertex: u32) -> Result<Option<LabelId>, Error> {
        let stored = self.reader.vertex(&self.known.id(vertex).into_owned()).await?;
        let label = stored.map(|stored| stored.view().map(|view| view.label)).transpose();
        Ok(label.map_err(model_graph::Error::from)?)
    }

    /// Finds out which of these vertices pass filters; the same ones throughout a walk. Cost: a read for each vertex that is new.
    async fn judge(
        &mut self,
        vertices: impl Iterator<Item = u32>,
        filters: &[LabelFilter],
    ) -> Result<(), Error> {
        let unknown: Vec<u32> =
            crate::answer::distinct(vertices.filter(|vertex| self.verdicts.get(*vertex).is_none()));
        for some in unknown.chunks(VERTICES_A_READ) {
            let ids: Vec<_> = some.iter().map(|vertex| self.known.id(*vertex).into_owned()).collect();
            let stored = self.reader.vertices(&ids).await?;
            for (vertex, stored) in some.iter().zip(stored) {
                let verdict = match stored {
                    None => false,
                    Some(stored) => {
                        let view = stored.view().map_err(model_graph::Error::from)?;
                        filter::takes(filters, view.label, view.properties)
                            .map_err(model_graph::Error::from)?
                    }
                };
                self.verdicts.set(*vertex, Some(verdict));
            }
            self.spend(20 * some.len()).await?;
        }
        Ok(())
    }

    /// The value of a property of vertices, as stored bytes would tell it apart; `None` of those that have none.
    pub(crate) async fn properties(
        &mut self,
        vertices: &[u32],
        key: PropertyKeyId,
    ) -> Result<Vec<Option<graph::Value>>, Error> {
        let mut values = Vec::with_capacity(vertices.len());
        for some in vertices.chunks(VERTICES_A_READ) {
            let ids: Vec<_> = some.iter().map(|vertex| self.known.id(*vertex).into_owned()).collect();
            for stored in self.reader.vertices(&ids).await? {
                let value = match &stored {
                    None => None,
                    Some(stored) => {
                        let view = stored.view().map_err(model_graph::Error::from)?;
                        let value = view.properties.get(key).map_err(model_graph::Error::from)?;
                        value.map(graph::ValueRef::to_value)
                    }
                };
                values.push(value);
            }
        }
        Ok(values)
    }
}
