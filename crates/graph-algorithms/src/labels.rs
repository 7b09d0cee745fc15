//! Communities by label propagation: each vertex takes the label that most of its neighbours have.

use crate::random::Random;
use crate::{Adjacency, Error, Groups, Run};

/// When label propagation ends, and what decides where labels are equally frequent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelOptions {
    /// The most iterations.
    pub iterations: u32,
    /// An iteration in which no larger share of the vertices takes another label is the last one.
    pub tolerance: f64,
    /// Decides between labels that are equally frequent, if the vertex has none of them.
    pub seed: u64,
}

/// Communities, and how they came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels {
    /// Vertices with the same label.
    pub groups: Groups,
    /// How many iterations were made.
    pub iterations: u32,
    /// The share of the vertices that took another label in the last iteration.
    pub changed: f64,
}

/// Communities by label propagation (Raghavan and others): vertices begin with labels of their own; one after the other takes the label that
/// has the largest weight among its neighbours, and keeps its own if that is among the largest. Without weights, each neighbour counts 1.
///
/// Cost: one look at each edge, each iteration, on one thread; 16 bytes a vertex.
///
/// # Errors
///
/// [`Error::Stopped`].
pub fn propagate_labels(graph: &Adjacency, options: LabelOptions, run: &Run<'_>) -> Result<Labels, Error> {
    let vertices = graph.vertices();
    let mut pace = run.pace();
    let mut random = Random::new(options.seed);
    let mut labels: Vec<u32> = (0..vertices).collect();
    let mut votes = Votes { weights: vec![0.0; vertices as usize], seen: Vec::new(), best: Vec::new() };
    let (mut iterations, mut changed) = (0, 0.0);
    while iterations < options.iterations && vertices > 0 {
        let mut moved = 0_u32;
        for vertex in 0..vertices {
            pace.step(graph.neighbors(vertex).len() + 1)?;
            let own = labels[vertex as usize];
            let label = votes.count(graph, vertex, &labels, &mut random);
            if label != own {
                labels[vertex as usize] = label;
                moved += 1;
            }
        }
        iterations += 1;
        changed = f64::from(moved) / f64::from(vertices);
        if changed <= options.tolerance {
            break;
        }
    }
    pace.report()?;
    Ok(Labels { groups: Groups::from_labels(labels), iterations, changed })
}

struct Votes {
    /// The weight of each label among the neighbours; 0 between counts.
    weights: Vec<f64>,
    seen: Vec<u32>,
    best: Vec<u32>,
}

impl Votes {
    fn count(&mut self, graph: &Adjacency, vertex: u32, labels: &[u32], random: &mut Random) -> u32 {
        let neighbors = graph.neighbors(vertex);
        let weights = graph.weights(vertex);
        for (position, &neighbor) in neighbors.iter().enumerate() {
            let label = labels[neighbor as usize];
            let weight = weights.map_or(1.0, |weights| f64::from(weights[position]));
            if self.weights[label as usize] == 0.0 {
                self.seen.push(label);
            }
            self.weights[label as usize] += weight;
        }
        let most = self.seen.iter().map(|&label| self.weights[label as usize]).fold(0.0, f64::max);
        let own = labels[vertex as usize];
        self.best.clear();
        for label in self.seen.drain(..) {
            if self.weights[label as usize] == most && most > 0.0 {
                self.best.push(label);
            }
        }
        let chosen = match self.best.as_slice() {
            [] => own,
            [only] => *only,
            several if several.contains(&own) => own,
            several => several[random.below(several.len() as u32) as usize],
        };
        for &neighbor in neighbors {
            self.weights[labels[neighbor as usize] as usize] = 0.0;
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{karate, run, undirected};

    const OPTIONS: LabelOptions = LabelOptions { iterations: 50, tolerance: 0.0, seed: 1 };

    #[test]
    fn two_cliques_with_a_bridge_are_two_communities() {
        let mut edges = vec![(0, 5)];
        for base in [0, 5] {
            edges.extend((0..5).flat_map(|one| (0..one).map(move |other| (base + one, base + other))));
        }
        let graph = undirected(11, &edges);
        let labels = propagate_labels(graph.lists(), OPTIONS, &run()).unwrap();
        assert_eq!(labels.groups.by_vertex(), [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2]);
        assert_eq!(labels.changed, 0.0);
        assert!(labels.iterations < 10);
    }

    #[test]
    fn weights_decide() {
        let out = crate::Adjacency::from_weighted_edges(4, || {
            [(0, 1, 1.0), (1, 0, 1.0), (2, 3, 1.0), (3, 2, 1.0), (0, 3, 9.0), (1, 2, 9.0)].into_iter()
        });
        let labels = propagate_labels(&out.unwrap(), OPTIONS, &run()).unwrap();
        assert_eq!(labels.groups.count(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases((24 * ProptestConfig::default().cases).div_ceil(256)))]

        #[test]
        fn at_the_end_each_label_is_one_of_the_most_frequent(seed in any::<u64>()) {
            let karate = karate();
            let options = LabelOptions { seed, ..OPTIONS };
            let labels = propagate_labels(karate.lists(), options, &run()).unwrap();
            prop_assert_eq!(&labels, &propagate_labels(karate.lists(), options, &run()).unwrap());
            prop_assert_eq!(labels.changed, 0.0);
            for vertex in 0..34 {
                let neighbors = karate.lists().neighbors(vertex);
                let count = |group| neighbors.iter().filter(|&&it| labels.groups.of(it) == group).count();
                let own = count(labels.groups.of(vertex));
                prop_assert!((0..labels.groups.count()).all(|group| count(group) <= own));
            }
        }
    }
}
