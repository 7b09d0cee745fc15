//! A graph of one pass of Louvain: the graph itself, or one whose vertices are communities.

use std::borrow::Cow;

use crate::run::Pace;
use crate::{Error, Groups, Undirected};

/// A graph of one pass. Each edge is in the lists of both of its ends, a loop twice in its own, or once with the weight of both.
pub(super) struct Level<'g> {
    starts: Cow<'g, [u32]>,
    targets: Cow<'g, [u32]>,
    weights: Weights<'g>,
    /// The weight of the ends of edges at each vertex.
    pub(super) strengths: Vec<f64>,
    /// The weight of the ends of all edges.
    pub(super) total: f64,
}

enum Weights<'g> {
    Ones,
    Given(&'g [f32]),
    Summed(Vec<f64>),
}

impl Level<'_> {
    pub(super) fn of(graph: &Undirected) -> Level<'_> {
        let (starts, targets, weights) = graph.lists().parts();
        let weights = weights.map_or(Weights::Ones, Weights::Given);
        Level::new(Cow::Borrowed(starts), Cow::Borrowed(targets), weights)
    }

    fn new<'g>(starts: Cow<'g, [u32]>, targets: Cow<'g, [u32]>, weights: Weights<'g>) -> Level<'g> {
        let mut level = Level { starts, targets, weights, strengths: Vec::new(), total: 0.0 };
        level.strengths = (0..level.vertices())
            .map(|vertex| {
                let mut strength = 0.0;
                level.each_edge(vertex, |_, weight| strength += weight);
                strength
            })
            .collect();
        level.total = level.strengths.iter().sum();
        level
    }

    pub(super) fn vertices(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    #[inline]
    fn range(&self, vertex: u32) -> std::ops::Range<usize> {
        self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize
    }

    #[inline]
    pub(super) fn neighbors(&self, vertex: u32) -> &[u32] {
        &self.targets[self.range(vertex)]
    }

    #[inline]
    pub(super) fn each_edge(&self, vertex: u32, mut edge: impl FnMut(u32, f64)) {
        let range = self.range(vertex);
        let targets = &self.targets[range.clone()];
        match &self.weights {
            Weights::Ones => targets.iter().for_each(|&target| edge(target, 1.0)),
            Weights::Given(weights) => {
                targets
                    .iter()
                    .zip(&weights[range])
                    .for_each(|(&target, &weight)| edge(target, weight.into()));
            }
            Weights::Summed(weights) => {
                targets.iter().zip(&weights[range]).for_each(|(&target, &weight)| edge(target, weight));
            }
        }
    }

    /// The level whose vertices are `groups` of this one; what lies inside a group becomes a loop.
    pub(super) fn merge(&self, groups: &Groups, pace: &mut Pace<'_>) -> Result<Level<'static>, Error> {
        let count = groups.count();
        let (mut starts, mut targets, mut weights) = (vec![0], Vec::new(), Vec::new());
        let mut to = vec![0.0; count as usize];
        let (firsts, members) = by_group(groups);
        for group in 0..count as usize {
            let begin = targets.len();
            for &member in &members[firsts[group] as usize..firsts[group + 1] as usize] {
                pace.step(self.neighbors(member).len() + 1)?;
                self.each_edge(member, |neighbor, weight| {
                    let other = groups.of(neighbor);
                    if to[other as usize] == 0.0 && weight > 0.0 {
                        targets.push(other);
                    }
                    to[other as usize] += weight;
                });
            }
            weights.extend(targets[begin..].iter().map(|&other| std::mem::take(&mut to[other as usize])));
            starts.push(targets.len() as u32);
        }
        Ok(Level::new(Cow::Owned(starts), Cow::Owned(targets), Weights::Summed(weights)))
    }

    /// The modularity if each vertex of this level is a community.
    pub(super) fn modularity(&self, resolution: f64) -> f64 {
        if self.total == 0.0 {
            return 0.0;
        }
        let of = |vertex: u32| {
            let mut inside = 0.0;
            self.each_edge(vertex, |neighbor, weight| {
                if neighbor == vertex {
                    inside += weight;
                }
            });
            let share = self.strengths[vertex as usize] / self.total;
            inside / self.total - resolution * share * share
        };
        (0..self.vertices()).map(of).sum()
    }
}

/// The vertices sorted by group, and where each group begins.
fn by_group(groups: &Groups) -> (Vec<u32>, Vec<u32>) {
    let mut firsts = vec![0];
    let mut sum = 0;
    for size in groups.sizes() {
        sum += size;
        firsts.push(sum);
    }
    let mut next = firsts.clone();
    let mut members = vec![0; groups.by_vertex().len()];
    for (vertex, &group) in groups.by_vertex().iter().enumerate() {
        members[next[group as usize] as usize] = vertex as u32;
        next[group as usize] += 1;
    }
    (firsts, members)
}
