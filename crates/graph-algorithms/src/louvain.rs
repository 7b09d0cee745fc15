//! Communities by modularity, level by level (Louvain).

mod level;

use level::Level;

use crate::random::Random;
use crate::run::Pace;
use crate::{Error, Groups, Run, Undirected};

/// Vertices are visited in an order that is random within blocks of so many: neighbouring ones lie near each other in memory.
const ORDER_BLOCK: usize = 1_024;

/// What Louvain looks for, and when it ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LouvainOptions {
    /// 1: modularity as it is commonly defined; more: smaller communities.
    pub resolution: f64,
    /// The most passes; each groups the communities of the one before.
    pub passes: u32,
    /// A sweep over all vertices in which no larger share of them moves is the last of its pass; 0: until none moves.
    pub tolerance: f64,
    /// Decides the order in which vertices are visited.
    pub seed: u64,
}

/// Communities of each pass, and how they came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Communities {
    /// Of each pass, the groups of what the pass before made: of the vertices the first, of its groups the second.
    pub passes: Vec<Groups>,
    /// How much more weight lies inside the communities of the last pass than chance would put there; 0 in a graph without weight.
    pub modularity: f64,
    /// Sweeps over all vertices in which one moved, over all passes.
    pub sweeps: u32,
    /// The share of the vertices that moved in the last sweep.
    pub moved: f64,
}

impl Communities {
    /// The communities of the last pass, of all vertices of the graph.
    #[must_use]
    pub fn groups(&self, vertices: u32) -> Groups {
        let alone = Groups::from_labels((0..vertices).collect());
        self.passes.iter().fold(alone, |groups, pass| groups.then(pass))
    }
}

/// Communities by modularity (Blondel and others): vertices move to the community of a neighbour that gains most, until none moves; then each
/// community becomes one vertex, and so on. Only vertices with a neighbour that moved are looked at again. Weights count if edges have them.
/// Vertices without edges stay alone.
///
/// Cost: a look at each edge in the first sweep of a pass, at fewer in the next, on one thread; 45 bytes a vertex, and 12 for each edge
/// between communities of the first pass.
///
/// # Errors
///
/// [`Error::Stopped`].
pub fn louvain(graph: &Undirected, options: LouvainOptions, run: &Run<'_>) -> Result<Communities, Error> {
    let mut pace = run.pace();
    let mut random = Random::new(options.seed);
    let mut level = Level::of(graph);
    let mut result = Communities { passes: Vec::new(), modularity: 0.0, sweeps: 0, moved: 0.0 };
    while (result.passes.len() as u32) < options.passes {
        let mut pass = Pass::new(&level, options.resolution, &mut random);
        let mut moves = false;
        loop {
            result.moved = pass.sweep(&mut pace)?;
            if result.moved > 0.0 {
                result.sweeps += 1;
                moves = true;
            }
            if result.moved <= options.tolerance {
                break;
            }
        }
        if !moves {
            break;
        }
        let groups = Groups::from_labels(pass.communities);
        level = level.merge(&groups, &mut pace)?;
        result.passes.push(groups);
    }
    result.modularity = level.modularity(options.resolution);
    pace.report()?;
    Ok(result)
}

/// One pass: vertices of a level move between communities.
struct Pass<'l> {
    level: &'l Level<'l>,
    /// The resolution, by the weight of all ends of edges.
    scale: f64,
    order: Vec<u32>,
    communities: Vec<u32>,
    /// The strength of all vertices of each community.
    totals: Vec<f64>,
    /// Whether a vertex is to be looked at: at first all, then those with a neighbour that moved.
    active: Vec<bool>,
    /// The weight of the edges from the vertex looked at to each community; 0 in between.
    to: Vec<f64>,
    seen: Vec<u32>,
}

impl<'l> Pass<'l> {
    fn new(level: &'l Level<'l>, resolution: f64, random: &mut Random) -> Pass<'l> {
        let vertices = level.vertices();
        let mut order: Vec<u32> = (0..vertices).collect();
        order.chunks_mut(ORDER_BLOCK).for_each(|block| random.shuffle(block));
        Pass {
            level,
            scale: if level.total > 0.0 { resolution / level.total } else { 0.0 },
            communities: (0..vertices).collect(),
            order,
            totals: level.strengths.clone(),
            active: vec![true; vertices as usize],
            to: vec![0.0; vertices as usize],
            seen: Vec::new(),
        }
    }

    /// Looks at each active vertex once; returns the share of all vertices that moved.
    fn sweep(&mut self, pace: &mut Pace<'_>) -> Result<f64, Error> {
        let mut moved = 0_u32;
        for at in 0..self.order.len() {
            let vertex = self.order[at];
            if !std::mem::replace(&mut self.active[vertex as usize], false) {
                continue;
            }
            pace.step(self.level.neighbors(vertex).len() + 1)?;
            let own = self.communities[vertex as usize];
            let best = self.best_community(vertex, own);
            if best != own {
                self.communities[vertex as usize] = best;
                moved += 1;
                for &neighbor in self.level.neighbors(vertex) {
                    if self.communities[neighbor as usize] != best {
                        self.active[neighbor as usize] = true;
                    }
                }
            }
        }
        Ok(if moved == 0 { 0.0 } else { f64::from(moved) / self.order.len() as f64 })
    }

    /// The community that gains most by having `vertex`, whose strength moves there.
    fn best_community(&mut self, vertex: u32, own: u32) -> u32 {
        let Pass { level, communities, to, seen, totals, .. } = self;
        level.each_edge(vertex, |neighbor, weight| {
            if neighbor != vertex {
                let community = communities[neighbor as usize];
                if to[community as usize] == 0.0 {
                    seen.push(community);
                }
                to[community as usize] += weight;
            }
        });
        let strength = level.strengths[vertex as usize];
        totals[own as usize] -= strength;
        let gain =
            |community: u32| to[community as usize] - self.scale * strength * totals[community as usize];
        // A gain that is smaller than rounding could move vertices for ever.
        let least = 1e-12 * strength;
        let (mut best, mut most) = (own, gain(own) + least);
        for &community in seen.iter() {
            let gained = gain(community);
            if gained > most {
                (best, most) = (community, gained);
            }
        }
        totals[best as usize] += strength;
        seen.drain(..).for_each(|community| to[community as usize] = 0.0);
        best
    }
}

#[cfg(test)]
mod tests;
