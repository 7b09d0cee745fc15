//! Synthetic graphs of published sizes: exact numbers of vertices and edges, degrees by a power law, from a seed. In
//! integers only, so that one seed is one graph on every machine.

use campaign::draws::Draws;

/// Vertices are numbered from 0; an edge is an ordered pair, and no two edges join the same vertices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Network {
    /// How many vertices.
    pub vertices: u32,
    /// The edges, in the order in which they are inserted.
    pub edges: Vec<(u32, u32)>,
    /// The community that each vertex was planted in; empty: none were.
    pub communities: Vec<u32>,
}

/// A graph that grew: each vertex came with some edges, whose other ends were drawn among the ends of the edges before
/// (three in four) or among all vertices before (one in four). The degrees follow a power law.
///
/// Numbers say nothing of the age of a vertex; edges come as their younger ends came. Cost: O(edges), 8 bytes an edge.
pub fn grown(seed: u64, vertices: u32, edges: usize) -> Network {
    let mut draws = Draws::new(seed, 0x6772_6170);
    let mut all: Vec<(u32, u32)> = Vec::with_capacity(edges);
    let mut targets: Vec<u32> = Vec::new();
    for vertex in 1..vertices {
        let (left, coming) = ((edges - all.len()) as u64, u64::from(vertices - vertex));
        // Uniform from 1 to twice the mean less 1: what is left always suffices for those who come.
        let wanted = if coming == 1 { left } else { 1 + draws.below((2 * left / coming).saturating_sub(1)) };
        let wanted = wanted.min(left).min(u64::from(vertex));
        targets.clear();
        while (targets.len() as u64) < wanted {
            let target = drawn_end(&mut draws, &all, vertex);
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
        all.extend(targets.iter().map(|target| (vertex, *target)));
    }
    // Neither numbers nor directions show the age: the oldest vertices have most edges.
    let mut names: Vec<u32> = (0..vertices).collect();
    shuffle(&mut draws, &mut names);
    let name = |vertex: u32| {
        let index = usize::try_from(vertex).expect("a u32 fits");
        names.get(index).copied().expect("an end of an edge is a vertex")
    };
    for edge in &mut all {
        let (one, other) = (name(edge.0), name(edge.1));
        *edge = if draws.below(2) == 1 { (other, one) } else { (one, other) };
    }
    Network { vertices, edges: all, communities: Vec::new() }
}

fn drawn_end(draws: &mut Draws, edges: &[(u32, u32)], vertex: u32) -> u32 {
    if edges.is_empty() || draws.below(4) == 0 {
        return u32::try_from(draws.below(u64::from(vertex))).expect("less than a vertex");
    }
    let (source, target) = edges.get(draws.index(edges.len())).copied().expect("an index below the length");
    if source == vertex || draws.below(2) == 0 { target } else { source }
}

/// A graph with planted communities, after Lancichinetti, Fortunato and Radicchi: their sizes (20 to 100 members) and the
/// degrees (10 to 50) follow power laws, and a third of the ends of each vertex leaves its community.
pub fn planted(seed: u64, vertices: u32) -> Network {
    let mut draws = Draws::new(seed, 0x006C_6672);
    let communities = sizes(&mut draws, vertices);
    let mut inside: Vec<Vec<u32>> = Vec::new();
    let mut outside: Vec<u32> = Vec::new();
    for (vertex, community) in (0..).zip(&communities) {
        let degree = skewed(&mut draws, 10, 50);
        let index = usize::try_from(*community).expect("a u32 fits");
        if inside.len() <= index {
            inside.resize(index + 1, Vec::new());
        }
        for _ in 0..degree {
            if draws.below(3) == 0 {
                outside.push(vertex);
            } else if let Some(ends) = inside.get_mut(index) {
                ends.push(vertex);
            }
        }
    }
    let mut edges = Vec::new();
    for ends in inside.iter_mut().chain(std::iter::once(&mut outside)) {
        shuffle(&mut draws, ends);
        let pairs = ends.chunks_exact(2).filter_map(|pair| Some((*pair.first()?, *pair.get(1)?)));
        edges.extend(
            pairs.filter(|(one, other)| one != other).map(|(one, other)| (one.min(other), one.max(other))),
        );
    }
    edges.sort_unstable();
    edges.dedup();
    Network { vertices, edges, communities }
}

/// The community of each vertex, community by community.
fn sizes(draws: &mut Draws, vertices: u32) -> Vec<u32> {
    let mut communities = Vec::new();
    let mut community = 0;
    while (communities.len() as u64) < u64::from(vertices) {
        let size = skewed(draws, 20, 100);
        let left = u64::from(vertices) - communities.len() as u64;
        // What would be left for a community too small joins the last one.
        let size = if left < size + 20 { left } else { size };
        communities.extend((0..size).map(|_| community));
        community += 1;
    }
    communities
}

/// A number from `least` to `most`, of which each half of the way is half as likely as the one before, roughly.
fn skewed(draws: &mut Draws, least: u64, most: u64) -> u64 {
    let inverse = 1 + draws.below(1_000);
    // least / u for a uniform u: the density falls with the square.
    (least * 1_000 / inverse).clamp(least, most)
}

fn shuffle(draws: &mut Draws, ends: &mut [u32]) {
    for last in (1..ends.len()).rev() {
        ends.swap(last, draws.index(last + 1));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn check_grown(vertices: u32, edges: usize) {
        let network = grown(42, vertices, edges);
        assert_eq!((network.vertices, network.edges.len()), (vertices, edges));
        let pairs: HashSet<(u32, u32)> =
            network.edges.iter().map(|(one, other)| (*one.min(other), *one.max(other))).collect();
        assert_eq!(pairs.len(), edges, "no two edges join the same vertices");
        assert!(
            network.edges.iter().all(|(one, other)| one != other && one < &vertices && other < &vertices)
        );
        assert_eq!(network, grown(42, vertices, edges));
        assert_ne!(network, grown(43, vertices, edges));
    }

    #[test]
    fn a_grown_graph_has_the_published_sizes() {
        check_grown(2_000, 20_040);
        check_grown(3_000, 7_741);
        check_grown(500, 4_199);
        check_grown(50, 49);
    }

    #[test]
    fn degrees_follow_a_power_law() {
        let network = grown(42, 20_000, 200_000);
        let mut degrees = vec![0_u32; 20_000];
        for (one, other) in &network.edges {
            degrees[*one as usize] += 1;
            degrees[*other as usize] += 1;
        }
        degrees.sort_unstable();
        assert!(degrees[0] >= 1 && degrees[10_000] < 20, "{}", degrees[10_000]);
        assert!(degrees[19_999] > 300, "{}", degrees[19_999]);
        // Twice the degree, some five times fewer vertices.
        let over = |degree: u32| degrees.iter().filter(|found| **found >= degree).count() as f64;
        for degree in [20, 40, 80] {
            let fall = over(degree) / over(2 * degree);
            assert!((2.0..9.0).contains(&fall), "{degree}: {fall}");
        }
    }

    #[test]
    fn a_planted_graph_has_communities() {
        let network = planted(42, 5_000);
        assert_eq!(network.communities.len(), 5_000);
        let mean = 2.0 * network.edges.len() as f64 / 5_000.0;
        assert!((14.0..30.0).contains(&mean), "{mean}");
        let within = |(one, other): &&(u32, u32)| {
            network.communities[*one as usize] == network.communities[*other as usize]
        };
        let share = network.edges.iter().filter(within).count() as f64 / network.edges.len() as f64;
        assert!((0.55..0.75).contains(&share), "{share}");
        let mut sizes = std::collections::BTreeMap::new();
        for community in &network.communities {
            *sizes.entry(*community).or_insert(0) += 1;
        }
        assert!(sizes.values().all(|size| (20..130).contains(size)), "{sizes:?}");
        assert_eq!(network, planted(42, 5_000));
    }
}
