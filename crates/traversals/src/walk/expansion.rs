//! The edges of many vertices, one vertex after another.

use std::ops::Range;

use graph::{EdgeDirection, LabelId, PropertyKeyId};
use model_graph::{EdgePages, EdgeRef, EdgesOfMany};

use super::Walk;
use crate::limits::limit_of;
use crate::{Error, LabelFilter, Numbering, Step, filter};

/// A read gives about so many edges.
const HOPS_A_READ: usize = 4_096;
/// The first vertices whose edges are read at once; then more and more of them: who needs few reads few.
const VERTICES_FIRST: usize = 16;
/// What sorting a vertex by its key takes, in bytes.
const ORDER_BYTES: usize = size_of::<(u128, u32)>() + size_of::<u32>();
/// What reading the edges of a vertex costs beside them, in steps.
const STEPS_A_VERTEX: usize = 15;

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
    /// The first edges of some of the vertices, and where those lie in the frontier.
    near: EdgesOfMany<'a>,
    near_of: Range<usize>,
    /// In which order the vertices are read, if not in theirs.
    order: Vec<u32>,
    at: usize,
    hops: Vec<Hop>,
}

impl<'a> Walk<'a> {
    /// The edges of these vertices, vertex by vertex: in their order if they are few, else in that of their keys, in which many are read
    /// soonest.
    pub(crate) fn expand<'w>(&'w mut self, frontier: &'w [u32], step: &'w Step) -> Expansion<'w, 'a> {
        let labels: Vec<LabelId> = step.labels.iter().map(|label| label.label).collect();
        let near = self.reader.edges_of_many(step.direction.ways(), &labels);
        Expansion {
            walk: self,
            frontier,
            step,
            weighing: Weighing::ONE,
            vertex_filters: &[],
            near,
            near_of: 0..0,
            order: Vec::new(),
            at: 0,
            hops: Vec::new(),
        }
    }

    /// The places of vertices in the order of their keys. Cost: a sort by the first bytes of keys.
    fn key_order(&self, vertices: &[u32]) -> Vec<u32> {
        let mut heads: Vec<(u128, u32)> =
            (0..).zip(vertices).map(|(place, vertex)| (head_of(self.known.key(*vertex)), place)).collect();
        let key =
            |place: u32| self.known.key(*vertices.get(place as usize).expect("a place of the vertices"));
        heads.sort_unstable_by(|(one, one_place), (other, other_place)| {
            one.cmp(other).then_with(|| key(*one_place).cmp(key(*other_place)))
        });
        heads.into_iter().map(|(_, place)| place).collect()
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
        if begin == 0 && self.frontier.len() > self.near.vertices_max() {
            self.walk.check_more(ORDER_BYTES * self.frontier.len())?;
            self.order = self.walk.key_order(self.frontier);
        }
        while self.hops.len() < HOPS_A_READ {
            if self.at == self.frontier.len() {
                break;
            }
            self.read().await?;
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

    /// Appends the edges of the next vertex.
    async fn read(&mut self) -> Result<(), Error> {
        if !self.near_of.contains(&self.at) {
            self.read_near().await?;
        }
        let (begin, degree) = (self.hops.len(), limit_of(self.step.max_degree));
        let skip = usize::try_from(self.step.skip_degree).unwrap_or(0);
        let (wanted, mut read) = (edges_wanted(self.step), 0);
        let (step, weighing, of) = (self.step, self.weighing, self.at - self.near_of.start);
        let place = self.place(self.at);
        for (number, way) in step.direction.ways().iter().enumerate() {
            let (known, hops) = (&mut self.walk.known, &mut self.hops);
            let mut taking = Taking { step, weighing, place, way: *way, known, hops };
            let mut near = self.near.edges(of, number);
            while read < wanted
                && let Some(edge) = near.next()
            {
                read += usize::from(taking.take(&edge?)?);
            }
            drop(near);
            if read < wanted
                && let Some(pages) = self.near.rest(of, number)
            {
                read += self.read_rest(pages, (place, *way), wanted - read).await?;
            }
        }
        if skip > 0 && self.hops.len() - begin >= skip {
            self.hops.truncate(begin);
        }
        self.hops.truncate(begin.saturating_add(degree));
        self.walk.spend(STEPS_A_VERTEX).await
    }

    /// Reads the first edges of the next vertices of the frontier.
    async fn read_near(&mut self) -> Result<(), Error> {
        let most = (2 * self.near_of.len()).max(VERTICES_FIRST).min(self.near.vertices_max());
        let end = self.at.saturating_add(most).min(self.frontier.len());
        let (known, frontier, order) = (&self.walk.known, self.frontier, &self.order);
        let vertex_keys = (self.at..end).map(|at| known.key(vertex_at(frontier, order, at)));
        self.near.read(vertex_keys, edges_wanted(self.step)).await?;
        self.near_of = self.at..end;
        self.walk.check_more(self.bytes())?;
        self.walk.spend(self.near.rows()).await
    }

    /// Appends the edges of a vertex in one way that are not among its first; how many of its labels were read.
    async fn read_rest(
        &mut self,
        mut pages: EdgePages<'_>,
        (place, way): (u32, EdgeDirection),
        wanted: usize,
    ) -> Result<usize, Error> {
        let (step, weighing, mut read) = (self.step, self.weighing, 0);
        while read < wanted
            && let Some(page) = pages.next_up_to(wanted - read).await?
        {
            let (known, hops) = (&mut self.walk.known, &mut self.hops);
            let mut taking = Taking { step, weighing, place, way, known, hops };
            for edge in page.iter() {
                read += usize::from(taking.take(&edge?)?);
            }
            self.walk.check_more(self.bytes())?;
            self.walk.spend(page.rows()).await?;
        }
        Ok(read)
    }

    fn bytes(&self) -> usize {
        size_of::<Hop>() * self.hops.capacity() + self.near.bytes() + 4 * self.order.capacity()
    }

    /// The place in the frontier of the vertex that is read at this point.
    fn place(&self, at: usize) -> u32 {
        match self.order.get(at) {
            Some(place) => *place,
            None => u32::try_from(at).expect("numbers of vertices are of four bytes"),
        }
    }

    /// Keeps the edges between vertices that pass the filters.
    async fn filter_vertices(&mut self, begin: usize) -> Result<(), Error> {
        let (frontier, order) = (self.frontier, &self.order);
        let sources = (begin..self.at).map(|at| vertex_at(frontier, order, at));
        let targets = self.hops.iter().map(|hop| hop.target);
        self.walk.judge(sources.chain(targets), self.vertex_filters).await?;
        let (frontier, verdicts) = (self.frontier, &self.walk.verdicts);
        let passes = |vertex: u32| verdicts.get(vertex).expect("it was judged");
        self.hops.retain(|hop| {
            let source = *frontier.get(hop.place as usize).expect("places are of the frontier");
            passes(source) && passes(hop.target)
        });
        Ok(())
    }
}

/// The vertex that is read at this point; no order: that of the frontier.
fn vertex_at(frontier: &[u32], order: &[u32], at: usize) -> u32 {
    let place = order.get(at).map_or(at, |place| *place as usize);
    *frontier.get(place).expect("places are of the frontier")
}

/// The first bytes of a key, in the order of all keys.
fn head_of(key: &[u8]) -> u128 {
    let mut head = [0; 16];
    head.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
    u128::from_be_bytes(head)
}

/// Takes edges of one vertex in one way.
struct Taking<'t> {
    step: &'t Step,
    weighing: Weighing,
    place: u32,
    way: EdgeDirection,
    known: &'t mut Numbering,
    hops: &'t mut Vec<Hop>,
}

impl Taking<'_> {
    /// Takes an edge if the filters do. Whether it is of the labels.
    #[inline]
    fn take(&mut self, edge: &EdgeRef<'_>) -> Result<bool, Error> {
        if !is_of_labels(self.step, edge) {
            return Ok(false);
        }
        if passes(self.step, edge)? {
            let weight = self.weighing.of(edge)?;
            let target = self.known.number(edge.key.other);
            self.hops.push(Hop { place: self.place, target, way: self.way, weight });
        }
        Ok(true)
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
