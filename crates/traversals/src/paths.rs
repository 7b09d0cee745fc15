//! All paths between two vertices, and the vertices in which walks from two others meet.
//!
//! Two walks take turns, the one from the source first; each of up to `max_depth` steps adds an edge to the paths that are looked for. So
//! paths come in the order of their lengths. No path passes a vertex twice; two that pass the same vertices over different edges
//! count once. From a vertex to itself there is none.
//!
//! [`paths`] takes edges from the source to the target. [`crosspoints`] takes them the same way from both, so that it finds common successors
//! (or predecessors): the path leads from the source to the crosspoint, and back along the way that the other walk came.
//!
//! Both end with `limit` paths; before, all layers of both walks together may have as many vertices as `capacity` says.

use std::collections::HashSet;

use graph::VertexId;
use model_graph::Reader;

use crate::answer::{FoundPaths, Path};
use crate::dag::Dag;
use crate::limits::{check_capacity, check_degree, check_limit, check_path_depth, limit_of, within_capacity};
use crate::path_set::path_bytes;
use crate::walk::{Expansion, Walk};
use crate::{Error, Step, WalkOptions};

/// Bytes that a pair of nodes takes in which two sides met: in a set, and in a list.
const MEETING_BYTES: usize = 32;

/// What is asked: see the page above.
#[derive(Clone, Debug)]
pub struct Paths {
    /// Where paths begin.
    pub source: VertexId,
    /// Where they end.
    pub target: VertexId,
    /// Which edges are taken; none is skipped for its degree.
    pub step: Step,
    /// The most edges of a path.
    pub max_depth: i64,
    /// The most vertices that are visited.
    pub capacity: i64,
    /// The most paths that are given.
    pub limit: i64,
}

impl Paths {
    /// Refuses numbers that are none of a walk.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`].
    pub fn check(&self) -> Result<(), Error> {
        check_path_depth(self.max_depth)?;
        check_degree(self.step.max_degree)?;
        check_capacity(self.capacity)?;
        check_limit(self.limit)
    }
}

/// All paths between two vertices. Cost: the edges of vertices up to half as far from an end as the depth says, and that of trying how
/// their ways go together.
///
/// # Errors
///
/// If a parameter is refused, an end is not there, or the walk ends early.
pub async fn paths(reader: &Reader, options: &WalkOptions, asked: &Paths) -> Result<FoundPaths, Error> {
    find(reader, options, asked, &asked.step.reversed()).await
}

/// Where walks from two vertices meet, with the paths over these. Cost: as [`paths`].
///
/// # Errors
///
/// As [`paths`].
pub async fn crosspoints(reader: &Reader, options: &WalkOptions, asked: &Paths) -> Result<FoundPaths, Error> {
    find(reader, options, asked, &asked.step).await
}

async fn find(
    reader: &Reader,
    options: &WalkOptions,
    asked: &Paths,
    backwards: &Step,
) -> Result<FoundPaths, Error> {
    asked.check()?;
    let walk = async {
        let mut walk = Walk::new(reader, options);
        let source = walk.begin_at(&asked.source, "source vertex").await?;
        let target = walk.begin_at(&asked.target, "target vertex").await?;
        let mut search =
            Search { ends: (source, target), limit: limit_of(asked.limit), paths: Vec::new(), bytes: 0 };
        if source != target {
            search.run(&mut walk, asked, backwards).await?;
        }
        Ok(FoundPaths { known: walk.known, paths: search.paths, edges: Vec::new(), measure: walk.measure })
    };
    options.run(walk).await
}

struct Search {
    ends: (u32, u32),
    limit: usize,
    paths: Vec<Path>,
    /// Bytes of the paths.
    bytes: usize,
}

impl Search {
    async fn run(&mut self, walk: &mut Walk<'_>, asked: &Paths, backwards: &Step) -> Result<(), Error> {
        let (mut ahead, mut back) = (Dag::of(self.ends.0), Dag::of(self.ends.1));
        for round in 0..asked.max_depth {
            within_capacity(asked.capacity, ahead.len() + back.len(), "paths")?;
            let goes_ahead = round % 2 == 0;
            match goes_ahead {
                true => self.advance(walk, &mut ahead, &back, &asked.step, goes_ahead).await?,
                false => self.advance(walk, &mut back, &ahead, backwards, goes_ahead).await?,
            }
            if self.paths.len() >= self.limit || (ahead.last().is_empty() && back.last().is_empty()) {
                break;
            }
            walk.check_memory(ahead.bytes() + back.bytes() + self.bytes)?;
        }
        Ok(())
    }

    /// Takes one side a step further, and notes the paths where it meets the other.
    async fn advance(
        &mut self,
        walk: &mut Walk<'_>,
        side: &mut Dag,
        other: &Dag,
        step: &Step,
        goes_ahead: bool,
    ) -> Result<(), Error> {
        let end = if goes_ahead { self.ends.1 } else { self.ends.0 };
        let nodes: Vec<(u32, u32)> =
            (side.last_start()..).zip(side.last()).filter(|(_, at)| *at != end).collect();
        let frontier: Vec<u32> = nodes.iter().map(|(_, vertex)| *vertex).collect();
        let (mut met, mut meetings) = (HashSet::new(), Vec::new());
        let mut expansion = walk.expand(&frontier, step);
        while let Some(hops) = expansion.next().await? {
            for hop in hops {
                let (parent, _) = *nodes.get(hop.place as usize).expect("places are of the frontier");
                side.add(hop.target, Some(parent));
                if let Some(at) = other.find_in_last(hop.target)
                    && met.insert((parent, at))
                {
                    meetings.push((parent, at));
                }
            }
            expansion.check_memory(side.bytes() + other.bytes() + self.bytes + MEETING_BYTES * met.len())?;
            for meeting in meetings.drain(..) {
                let (at, steps) =
                    if goes_ahead { (meeting, &*side) } else { ((meeting.1, meeting.0), other) };
                let back = if goes_ahead { other } else { &*side };
                let crosspoint = other.vertex(meeting.1);
                self.link(&mut expansion, (steps, back), at, crosspoint).await?;
                if self.paths.len() >= self.limit {
                    side.close();
                    return Ok(());
                }
            }
        }
        side.close();
        Ok(())
    }

    /// Notes the paths through a node of the side from the source and one of that from the target.
    async fn link(
        &mut self,
        expansion: &mut Expansion<'_, '_>,
        (ahead, back): (&Dag, &Dag),
        (from, to): (u32, u32),
        crosspoint: u32,
    ) -> Result<(), Error> {
        let sides = ahead.bytes() + back.bytes();
        let (mut way, mut rest, mut steps) = (Vec::new(), Vec::new(), 0);
        let mut begins = ahead.ways(from);
        while begins.next(&mut way, &mut steps, |vertex, way| !way.contains(&vertex)) {
            let mut ends = back.ways(to);
            while ends
                .next(&mut rest, &mut steps, |vertex, rest| !rest.contains(&vertex) && !way.contains(&vertex))
            {
                let vertices: Vec<u32> = way.iter().rev().chain(&rest).copied().collect();
                self.bytes += path_bytes(vertices.len());
                steps += vertices.len();
                self.paths.push(Path { crosspoint: Some(crosspoint), ..Path::of(vertices) });
                if self.paths.len() >= self.limit {
                    return Ok(());
                }
                expansion.pause(&mut steps, || sides + self.bytes).await?;
            }
            expansion.pause(&mut steps, || sides + self.bytes).await?;
        }
        expansion.spend(steps).await
    }
}
