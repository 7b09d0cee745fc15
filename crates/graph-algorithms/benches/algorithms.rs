//! Time and memory of algorithms over a power-law graph of the size of com-youtube, and of Louvain over graphs with planted communities.
//!
//! `cargo bench -p graph-algorithms --bench algorithms -- [THREADS]`
//!
//! The power-law graph: 1,157,806 vertices, 2,987,624 edges, ends drawn with weights that fall as rank^-0.7; memory is that of the lists.
//! The planted graphs (as those of Lancichinetti, Fortunato and Radicchi, but simpler): communities of 20 to 60 vertices, degree 16 on average, four
//! in five neighbours inside. One turn each; nothing else should run beside.

#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "a measuring program: a panic is its answer"
)]

use std::io::Write as _;
use std::num::NonZeroUsize;
use std::time::Instant;

use graph_algorithms::{
    Adjacency, Closeness, Clustering, EdgeList, LabelOptions, LouvainOptions, PageRankOptions, Run, Search,
    Simple, Undirected,
};

const VERTICES: u32 = 1_157_806;
const EDGES: u32 = 2_987_624;
const LOUVAIN: LouvainOptions = LouvainOptions { resolution: 1.0, passes: 20, tolerance: 0.001, seed: 1 };
const PAGE_RANK: PageRankOptions = PageRankOptions { damping: 0.85, iterations: 20, tolerance: 0.0 };
const LABELS: LabelOptions = LabelOptions { iterations: 20, tolerance: 0.001, seed: 1 };

fn main() {
    let threads = std::env::args().skip(1).find_map(|it| it.parse().ok()).unwrap_or(NonZeroUsize::MIN);
    let run = Run::unwatched(threads);
    say(&format!("{threads} threads; {VERTICES} vertices, {EDGES} edges"));
    let list = power_law(&mut Random(7));
    say(&format!("{:<34} {:>10.1} MB", "edges as they come", list.bytes() as f64 / 1e6));
    let out = timed("lists of neighbours", || list.into_adjacency(VERTICES).unwrap());
    let incoming = timed("reversed", || out.reversed());
    let both = timed("undirected", || Undirected::of(&out).unwrap());
    say(&format!(
        "{:<34} {:>10.1} MB out, {:.1} MB undirected",
        "",
        out.bytes() as f64 / 1e6,
        both.lists().bytes() as f64 / 1e6
    ));
    let copy = both.clone();
    let simple = timed("simple", || copy.into_simple());
    all(&out, &incoming, &both, &simple, &run);
    for vertices in [1_000, 5_000, 10_000, 20_000] {
        let graph = planted(vertices, &mut Random(3));
        let found = timed(&format!("Louvain, {vertices} vertices"), || {
            graph_algorithms::louvain(&graph, LOUVAIN, &run).unwrap()
        });
        say(&format!(
            "{:<34} {:>10} communities of {}, modularity {:.4}",
            "",
            found.groups(vertices).count(),
            vertices / 40,
            found.modularity
        ));
    }
}

fn all(out: &Adjacency, incoming: &Adjacency, both: &Undirected, simple: &Simple, run: &Run<'_>) {
    let lists = both.lists();
    timed("PageRank, 20 iterations", || graph_algorithms::page_rank(out, incoming, PAGE_RANK, run).unwrap());
    timed("eigenvector, 20 iterations", || graph_algorithms::eigenvector(lists, 20, 0.0, run).unwrap());
    let components = timed("weak components", || graph_algorithms::weak_components(out, run).unwrap());
    timed("strong components", || graph_algorithms::strong_components(out, run).unwrap());
    timed("core numbers", || graph_algorithms::core_numbers(simple, run).unwrap());
    let triangles = timed("triangles", || graph_algorithms::count_triangles(simple, run).unwrap());
    let by_vertex =
        timed("triangles by vertex", || graph_algorithms::triangles_by_vertex(simple, run).unwrap());
    let clustering = Clustering::of(simple, &by_vertex);
    let labels =
        timed("label propagation", || graph_algorithms::propagate_labels(lists, LABELS, run).unwrap());
    let found = timed("Louvain", || graph_algorithms::louvain(both, LOUVAIN, run).unwrap());
    timed("betweenness, 20 sources", || {
        graph_algorithms::betweenness_sampled(lists, 20, 1, u32::MAX, run).unwrap()
    });
    let sources = graph_algorithms::sample_vertices(VERTICES, 20, 1);
    timed("closeness, 20 sources", || {
        graph_algorithms::closeness(lists, &sources, u32::MAX, Closeness::Harmonic, run).unwrap()
    });
    let mut search = Search::new(lists);
    timed("3 steps from 20 sources", || {
        sources.iter().map(|&source| search.k_out(source, 3).len()).sum::<usize>()
    });
    say(&format!(
        "{} components; {triangles} triangles, clustering {:.4}; labels: {} iterations, {} groups; Louvain: {} passes, {} sweeps, {} \
         communities, modularity {:.4}",
        components.count(),
        clustering.average,
        labels.iterations,
        labels.groups.count(),
        found.passes.len(),
        found.sweeps,
        found.groups(VERTICES).count(),
        found.modularity
    ));
}

/// SplitMix64, so that the graphs are the same with every version of every library.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn power_law(random: &mut Random) -> EdgeList {
    // Ranks whose density falls as rank^-0.7; a multiplier that shares no factor with the count scatters them over the vertices.
    let mut end = || {
        let rank = (random.unit().powf(1.0 / 0.3) * f64::from(VERTICES)) as u64;
        (rank * 611_953 % u64::from(VERTICES)) as u32
    };
    let mut list = EdgeList::new(EDGES, false);
    for _ in 0..EDGES {
        list.push(end(), end(), 1.0).unwrap();
    }
    list
}

fn planted(vertices: u32, random: &mut Random) -> Undirected {
    let mut communities = Vec::new();
    let mut first = 0;
    while first < vertices {
        let end = (first + 20 + (random.unit() * 41.0) as u32).min(vertices);
        communities.extend((first..end).map(|_| first..end));
        first = end;
    }
    let mut edges = Vec::new();
    for vertex in 0..vertices {
        for _ in 0..8 {
            let inside = &communities[vertex as usize];
            let range = if random.unit() < 0.8 { inside.clone() } else { 0..vertices };
            edges.push((vertex, range.start + (random.unit() * f64::from(range.end - range.start)) as u32));
        }
    }
    Undirected::of(&Adjacency::from_edges(vertices, || edges.iter().copied()).unwrap()).unwrap()
}

fn timed<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = std::hint::black_box(work());
    say(&format!("{name:<34} {:>10.1} ms", start.elapsed().as_secs_f64() * 1e3));
    result
}

fn say(line: &str) {
    writeln!(std::io::stdout().lock(), "{line}").unwrap();
}
