//! All elements of a graph, divided into parts of about one size: for who reads a graph in pieces, one beside the other.
//!
//! Parts are ranges of keys, the same in all buckets. Where they begin is found by halving: a range that the store says is too large is
//! cut where its first and its last key are equally far, as numbers.

use bytes::Bytes;
use graph::{EdgeDirection, keys};
use store::{Deadline, Direction, Range, rest};

use crate::{Error, Graph};

/// The most parts; beyond, they are larger.
const PARTS_MAX: usize = 10_000;
/// So often parts are halved at most.
const ROUNDS_MAX: usize = 96;

/// Which elements.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Elements {
    /// Vertices.
    Vertices,
    /// Edges, each at its source.
    Edges,
}

/// Some of all elements: those whose keys lie in a range.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Part {
    /// The keys.
    pub range: Range,
    /// What they take with their values, as far as the store can tell.
    pub bytes: u64,
}

impl Elements {
    /// The keys of all of them.
    pub fn range(self) -> Range {
        match self {
            Self::Vertices => keys::vertices_range(),
            Self::Edges => keys::all_edges_range(EdgeDirection::Out),
        }
    }

    /// The keys of a part of them, from where to where; `None` if there can be no such part.
    pub fn part(self, start: Option<Vec<u8>>, end: Option<Vec<u8>>) -> Option<Range> {
        let all = self.range();
        let range = Range {
            start: start.map_or_else(|| all.start.clone(), Bytes::from),
            end: end.map(Bytes::from).or_else(|| all.end.clone()),
        };
        let is_within = range.start >= all.start
            && match (&range.end, &all.end) {
                (Some(end), Some(of_all)) => end <= of_all && range.start <= *end,
                (end, of_all) => end.is_some() || of_all.is_none(),
            };
        is_within.then_some(range)
    }
}

impl Graph {
    /// All elements in parts of at most about so many bytes, in the order of their keys; at least one part. Cost: on the embedded
    /// engine some microseconds for each part and halving, not for the elements; in memory those are counted at each halving.
    ///
    /// # Errors
    ///
    /// [`Error::TimedOut`]; if the store refuses.
    pub async fn split(
        &self,
        elements: Elements,
        bytes_max: u64,
        deadline: &Deadline,
    ) -> Result<Vec<Part>, Error> {
        let all = elements.range();
        let Some(inner) = self.inner_range(&all).await? else {
            return Ok(vec![Part { range: all, bytes: 0 }]);
        };
        let bytes = self.bytes_of(std::slice::from_ref(&inner)).await?.into_iter().sum();
        let mut parts = vec![Part { range: inner, bytes }];
        for _ in 0..ROUNDS_MAX {
            let halved = halves(&parts, bytes_max);
            if halved.len() == parts.len() || halved.len() > PARTS_MAX {
                break;
            }
            deadline.check()?;
            rest().await;
            let sizes = self.bytes_of(&halved).await?;
            let halved = halved.into_iter().zip(sizes).map(|(range, bytes)| Part { range, bytes });
            parts = joined(halved, |last, part| last + part <= bytes_max);
        }
        // A part with nothing in it goes with any other.
        parts = joined(parts.into_iter(), |last, part| last + part <= bytes_max || last.min(part) == 0);
        // What is written before the first key, or behind the last one, belongs to the parts there.
        if let Some(first) = parts.first_mut() {
            first.range.start = all.start;
        }
        if let Some(last) = parts.last_mut() {
            last.range.end = all.end;
        }
        Ok(parts)
    }

    /// From the first key of a range to behind the last one, if it has any.
    async fn inner_range(&self, range: &Range) -> Result<Option<Range>, Error> {
        let (mut first, mut last): (Option<Bytes>, Option<Bytes>) = (None, None);
        for bucket in 0..self.buckets() {
            let partition = keys::partition(self.part(), bucket);
            for direction in [Direction::Forward, Direction::Backward] {
                let page = self.store().scan(&partition, range, direction, 1).await?;
                let Some((key, _)) = page.rows().next() else { continue };
                let key = Bytes::copy_from_slice(key);
                match direction {
                    Direction::Forward => first = Some(first.map_or(key.clone(), |first| first.min(key))),
                    Direction::Backward => last = Some(last.map_or(key.clone(), |last| last.max(key))),
                }
            }
        }
        let behind = last.map(|last| Bytes::from([&last[..], &[0]].concat()));
        Ok(first.map(|start| Range { start, end: behind }))
    }

    /// The bytes of ranges, over all buckets.
    async fn bytes_of(&self, ranges: &[Range]) -> Result<Vec<u64>, Error> {
        let mut sums = vec![0_u64; ranges.len()];
        for bucket in 0..self.buckets() {
            let sizes = self.store().sizes(&keys::partition(self.part(), bucket), ranges).await?;
            for (sum, size) in sums.iter_mut().zip(sizes) {
                *sum = sum.saturating_add(size);
            }
        }
        Ok(sums)
    }
}

/// The same ranges, each that is too large in two.
fn halves(parts: &[Part], bytes_max: u64) -> Vec<Range> {
    let mut halves = Vec::with_capacity(parts.len() * 2);
    for Part { range, bytes } in parts {
        let middle = match &range.end {
            Some(end) if *bytes > bytes_max => middle(&range.start, end),
            _ => None,
        };
        match middle {
            Some(middle) => {
                halves.push(Range { start: range.start.clone(), end: Some(middle.clone()) });
                halves.push(Range { start: middle, end: range.end.clone() });
            }
            None => halves.push(range.clone()),
        }
    }
    halves
}

/// The same parts, neighbours of such sizes together.
fn joined(parts: impl Iterator<Item = Part>, go_together: impl Fn(u64, u64) -> bool) -> Vec<Part> {
    let mut joined: Vec<Part> = Vec::new();
    for part in parts {
        match joined.last_mut() {
            Some(last) if go_together(last.bytes, part.bytes) => {
                last.range.end = part.range.end;
                last.bytes += part.bytes;
            }
            _ => joined.push(part),
        }
    }
    joined
}

/// The key half way between two, as numbers of eight bytes behind what they have in common; `None` if there is none.
fn middle(start: &[u8], end: &[u8]) -> Option<Bytes> {
    let common = start.iter().zip(end).take_while(|(one, other)| one == other).count();
    let number = |key: &[u8]| {
        let mut digits = [0; 8];
        digits.iter_mut().zip(key.iter().skip(common)).for_each(|(digit, byte)| *digit = *byte);
        u64::from_be_bytes(digits)
    };
    let middle = u64::midpoint(number(start), number(end));
    let key = [start.get(..common)?, &middle.to_be_bytes()[..]].concat();
    (start < &key[..] && &key[..] < end).then(|| key.into())
}

#[cfg(test)]
mod tests {
    use graph::{LabelId, Properties, Vertex, VertexId};
    use store::{Clock, Commit, Timestamp, Write, WriteIds};

    use super::*;
    use crate::{DEFAULT_GRAPH, DEFAULT_SPACE, GraphOptions, Graphs};

    /// A graph over some buckets, with vertices of these ids.
    async fn graph_of(buckets: u32, ids: &[VertexId]) -> std::sync::Arc<Graph> {
        let options = GraphOptions { tenants_max: 4, graphs_max: 4, buckets };
        let graphs = Graphs::new(store::testing::memory(Clock::manual(Timestamp(0))), options);
        let graph = graphs.get(DEFAULT_SPACE, DEFAULT_GRAPH).await.unwrap();
        let write_ids = WriteIds::new();
        for bucket in 0..buckets {
            let own = ids.iter().filter(|id| keys::bucket_of_id(id, buckets) == bucket);
            let put = |id: &VertexId| {
                let vertex = Vertex {
                    id: id.clone(),
                    label: LabelId(1),
                    expires: None,
                    properties: Properties::default(),
                };
                Write::PutStamped(keys::vertex(id), vertex.to_stored().into())
            };
            let commit = Commit {
                partition: keys::partition(graph.part(), bucket),
                write_id: write_ids.next(),
                conditions: Vec::new(),
                writes: own.map(put).collect(),
                change: None,
                reclaims: false,
            };
            graph.store().commit_known(commit).await.unwrap();
        }
        graph
    }

    /// Parts follow each other without a gap, are of about one size, and together hold every vertex once.
    async fn check(buckets: u32, ids: Vec<VertexId>, bytes_max: u64) {
        let graph = graph_of(buckets, &ids).await;
        let parts = graph.split(Elements::Vertices, bytes_max, &Deadline::default()).await.unwrap();
        let all = Elements::Vertices.range();
        assert_eq!((&parts[0].range.start, &parts[parts.len() - 1].range.end), (&all.start, &all.end));
        let mut found = 0;
        for (number, part) in parts.iter().enumerate() {
            assert!(part.bytes <= bytes_max, "part {number} of {} bytes", part.bytes);
            if let Some(next) = parts.get(number + 1) {
                assert_eq!(part.range.end.as_ref(), Some(&next.range.start));
                assert!(part.bytes + next.bytes > bytes_max, "parts {number} and the next are small");
            }
            for bucket in 0..buckets {
                let partition = keys::partition(graph.part(), bucket);
                let page = graph.store().scan(&partition, &part.range, Direction::Forward, 10_000);
                found += page.await.unwrap().rows().count();
            }
        }
        assert_eq!(found, ids.len());
        assert!(parts.len() > 5, "{} parts", parts.len());
    }

    #[tokio::test]
    async fn parts_are_of_about_one_size_whatever_the_ids() {
        check(1, (0..1_000).map(VertexId::Number).collect(), 2_000).await;
        let text = |number: u32| VertexId::Text(format!("1:person-{number}").into());
        check(1, (0..1_000).map(text).collect(), 3_000).await;
        check(4, (0..1_000).map(text).collect(), 3_000).await;
        // Most of them close together, and some far away.
        let far = (0..5).map(|number| VertexId::Number(i64::MAX - number));
        check(1, (0..1_000).map(VertexId::Number).chain(far).collect(), 2_000).await;
        let both = (0..500).flat_map(|number| [VertexId::Number(number.into()), text(number)]);
        check(1, both.collect(), 3_000).await;
    }

    #[tokio::test]
    async fn an_empty_graph_is_one_part() {
        let parts = graph_of(1, &[]).await.split(Elements::Edges, 1, &Deadline::default()).await.unwrap();
        assert_eq!(parts, [Part { range: Elements::Edges.range(), bytes: 0 }]);
        assert!(
            graph_of(1, &[VertexId::Number(1)])
                .await
                .split(Elements::Vertices, 1, &Deadline::default())
                .await
                .unwrap()
                .len()
                == 1
        );
    }

    #[tokio::test]
    async fn it_ends_at_its_deadline() {
        let graph = graph_of(1, &(0..1_000).map(VertexId::Number).collect::<Vec<_>>()).await;
        let late = graph.split(Elements::Vertices, 2_000, &Deadline::after_looks(2)).await;
        assert!(matches!(late, Err(Error::TimedOut(_))), "{late:?}");
    }

    #[test]
    fn a_part_lies_within_all() {
        let all = Elements::Vertices.range();
        assert_eq!(Elements::Vertices.part(None, None), Some(all));
        assert!(Elements::Vertices.part(Some(b"va".to_vec()), Some(b"vb".to_vec())).is_some());
        assert_eq!(Elements::Vertices.part(Some(b"vb".to_vec()), Some(b"va".to_vec())), None);
        assert_eq!(Elements::Edges.part(Some(b"va".to_vec()), None), None);
        assert_eq!(Elements::Vertices.part(None, Some(b"z".to_vec())), None);
    }

    #[test]
    fn the_middle_lies_between() {
        let middle = |start: &[u8], end: &[u8]| middle(start, end).map(|key| key.to_vec());
        assert_eq!(middle(b"va", b"vc"), Some(b"vb\0\0\0\0\0\0\0".to_vec()));
        assert_eq!(middle(b"v", b"v\0"), None);
        let far = middle(b"v", b"w").unwrap();
        assert!(far > b"v".to_vec() && far < b"w".to_vec());
    }

    #[test]
    fn small_neighbours_go_together() {
        let part = |start: &str, end: &str, bytes| Part {
            range: Range { start: Bytes::from(start.to_owned()), end: Some(end.to_owned().into()) },
            bytes,
        };
        let parts = [part("a", "b", 40), part("b", "c", 50), part("c", "d", 20), part("d", "e", 200)];
        let joined = joined(parts.into_iter(), |last, part| last + part <= 100);
        assert_eq!(joined, [part("a", "c", 90), part("c", "d", 20), part("d", "e", 200)]);
    }
}
