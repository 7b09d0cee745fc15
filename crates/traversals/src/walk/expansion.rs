//! The edges of many vertices, one vertex after another.

use graph::{EdgeDirection, LabelId, PropertyKeyId};
use model_graph::{EdgeRef, Reader};

use super::Walk;
use crate::limits::limit_of;
use crate::{Error, LabelFilter, Step, filter};

/// A read gives about so many edges.
const HOPS_A_READ: usize = 4_096;
/// What reading the edges of a vertex costs beside them, in steps.
const STEPS_A_VERTEX: usize = 40;

/// An edge, taken from a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hop {
    /// The place of the vertex among those whose edges are read.
    pub(crate) place: u32,
    /// The vertex at its other end.
    pub(crate) target: u32,
    /// Which end the vertex is.
    pub(crate) way: EdgeDirection,
    /// What it weighs.
    pub(crate) weight: f64,
}

/// What an edge weighs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weighing {
    /// The property that says it; `None`: no edge says it.
    pub(crate) key: Option<PropertyKeyId>,
    /// The weight of an edge that does not say it.
    pub(crate) missing: f64,
}

impl Weighing {
    /// All edges weigh the same.
    pub(crate) const ONE: Self = Self { key: None, missing: 1.0 };

    #[inline]
    pub(super) fn of(self, edge: &EdgeRef<'_>) -> Result<f64, Error> {
        let Some(key) = self.key else { return Ok(self.missing) };
        let value = edge.view.properties.get(key).map_err(model_graph::Error::from)?;
        Ok(match value {
            Some(graph::ValueRef::One(value)) => filter::float(value).unwrap_or(self.missing),
            Some(graph::ValueRef::Many(_)) | None => self.missing,
        })
    }
}

/// Edges of many vertices, read bit by bit; made by [`Walk::expand`].
pub(crate) struct Expansion<'w, 'a> {
    walk: &'w mut Walk<'a>,
    frontier: &'w [u32],
    step: &'w Step,
    weighing: Weighing,
    /// Those at both ends of an edge must pass these, if there are any.
    vertex_filters: &'w [LabelFilter],
    labels: Vec<LabelId>,
    at: usize,
    key: Vec<u8>,
    hops: Vec<Hop>,
}

impl<'a> Walk<'a> {
    /// The edges of these vertices, in their order.
    pub(crate) fn expand<'w>(&'w mut self, frontier: &'w [u32], step: &'w Step) -> Expansion<'w, 'a> {
        let mut labels: Vec<LabelId> = step.labels.iter().map(|label| label.label).collect();
        labels.dedup();
        Expansion {
            walk: self,
            frontier,
            step,
            weighing: Weighing::ONE,
            vertex_filters: &[],
            labels,
            at: 0,
            key: Vec::new(),
            hops: Vec::new(),
        }
    }

    /// The edges of one vertex, all at once.
    pub(crate) async fn edges_of(&mut self, vertex: u32, step: &Step) -> Result<Vec<Hop>, Error> {
        let frontier = [vertex];
        let mut expansion = self.expand(&frontier, step);
        expansion.next().await?;
        Ok(expansion.hops)
    }
}

impl<'w> Expansion<'w, '_> {
    pub(crate) fn weighed(mut self, weighing: Weighing) -> Self {
        self.weighing = weighing;
        self
    }

    pub(crate) fn between(mut self, vertex_filters: &'w [LabelFilter]) -> Self {
        self.vertex_filters = vertex_filters;
        self
    }

    /// The next edges, of some vertices wholly; `None` behind the last. There may be none. Cost: a range of rows for each vertex, way and
    /// label.
    pub(crate) async fn next(&mut self) -> Result<Option<&[Hop]>, Error> {
        self.hops.clear();
        let begin = self.at;
        while self.hops.len() < HOPS_A_READ {
            let Some(vertex) = self.frontier.get(self.at) else { break };
            self.read(*vertex).await?;
            self.at += 1;
        }
        let vertices = self.at - begin;
        if vertices == 0 {
            return Ok(None);
        }
        if !self.vertex_filters.is_empty() {
            self.filter_vertices(begin).await?;
        }
        self.walk.measure.vertices += vertices as u64;
        self.walk.measure.edges += self.hops.len() as u64;
        Ok(Some(&self.hops))
    }

    /// The same in a list of their own: for what takes long with each edge, or remembers much, and so pauses between them
    /// ([`Expansion::pause`]).
    pub(crate) async fn next_taken(&mut self) -> Result<Option<Vec<Hop>>, Error> {
        Ok(self.next().await?.map(<[Hop]>::to_vec))
    }

    /// Counts steps of what is done between two reads.
    pub(crate) async fn spend(&mut self, steps: usize) -> Result<(), Error> {
        self.walk.spend(steps).await
    }

    /// Notes the bytes of what is remembered beside the numbering, and refuses to remember more than a walk may.
    pub(crate) fn check_memory(&mut self, others: usize) -> Result<(), Error> {
        self.walk.check_memory(others)
    }

    /// Once there are many steps, counts them, notes what is remembered (`bytes`), and refuses more than a walk may.
    #[inline]
    pub(crate) async fn pause(
        &mut self,
        steps: &mut usize,
        bytes: impl FnOnce() -> usize,
    ) -> Result<(), Error> {
        self.walk.pause(steps, bytes).await
    }

    /// Appends the edges of a vertex.
    async fn read(&mut self, vertex: u32) -> Result<(), Error> {
        let reader: &Reader = self.walk.reader;
        self.key.clear();
        self.key.extend_from_slice(self.walk.known.key(vertex));
        let (begin, degree) = (self.hops.len(), limit_of(self.step.max_degree));
        let skip = usize::try_from(self.step.skip_degree).unwrap_or(0);
        let wanted = edges_wanted(self.step);
        let place = u32::try_from(self.at).expect("numbers of vertices are of four bytes");
        let mut read = 0;
        for way in self.step.direction.ways() {
            let mut pages = reader.edges(&self.key, *way, &self.labels);
            while read < wanted
                && let Some(page) = pages.next_up_to(wanted - read).await?
            {
                for edge in page.iter() {
                    read += usize::from(self.take(place, *way, &edge?)?);
                }
                self.walk.check_more(size_of::<Hop>() * self.hops.capacity())?;
                self.walk.spend(page.rows()).await?;
            }
        }
        if skip > 0 && self.hops.len() - begin >= skip {
            self.hops.truncate(begin);
        }
        self.hops.truncate(begin.saturating_add(degree));
        self.walk.spend(STEPS_A_VERTEX).await
    }

    /// Takes an edge if the filters do. Whether it is of the labels.
    #[inline]
    fn take(&mut self, place: u32, way: EdgeDirection, edge: &EdgeRef<'_>) -> Result<bool, Error> {
        if !is_of_labels(self.step, edge) {
            return Ok(false);
        }
        if passes(self.step, edge)? {
            let weight = self.weighing.of(edge)?;
            let target = self.walk.known.number(edge.key.other);
            self.hops.push(Hop { place, target, way, weight });
        }
        Ok(true)
    }

    /// Keeps the edges between vertices that pass the filters.
    async fn filter_vertices(&mut self, begin: usize) -> Result<(), Error> {
        let sources = self.frontier.get(begin..self.at).expect("vertices whose edges were read");
        let targets = self.hops.iter().map(|hop| hop.target);
        self.walk.judge(sources.iter().copied().chain(targets), self.vertex_filters).await?;
        let (frontier, verdicts) = (self.frontier, &self.walk.verdicts);
        let passes = |vertex: u32| verdicts.get(vertex).expect("it was judged");
        self.hops.retain(|hop| {
            let source = *frontier.get(hop.place as usize).expect("places are of the frontier");
            passes(source) && passes(hop.target)
        });
        Ok(())
    }
}

/// How many edges of its labels a step reads of a vertex, whether its filters take them or not.
pub(super) fn edges_wanted(step: &Step) -> usize {
    match usize::try_from(step.skip_degree) {
        Ok(skip) if skip > 0 => skip,
        _ => limit_of(step.max_degree),
    }
}

/// Whether an edge has one of the labels of a step.
#[inline]
pub(super) fn is_of_labels(step: &Step, edge: &EdgeRef<'_>) -> bool {
    let key = &edge.key;
    step.labels.is_empty()
        || step.labels.iter().any(|wanted| {
            wanted.label == key.label && wanted.sub_label.is_none_or(|sub_label| sub_label == key.sub_label)
        })
}

/// Whether the filters of a step take an edge of its labels.
#[inline]
pub(super) fn passes(step: &Step, edge: &EdgeRef<'_>) -> Result<bool, Error> {
    if step.filters.is_empty() {
        return Ok(true);
    }
    let passes = filter::takes(&step.filters, edge.key.sub_label, edge.view.properties);
    Ok(passes.map_err(model_graph::Error::from)?)
}
