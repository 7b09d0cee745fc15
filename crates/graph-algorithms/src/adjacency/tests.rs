//! Lists are built of edges in any order, and hold exactly them.

use proptest::prelude::*;

use super::*;
use crate::testing::{edges, out_lists};

#[test]
fn lists_keep_the_order_of_edges_and_their_weights() {
    let mut list = EdgeList::new(4, true);
    for (source, target, weight) in [(2, 0, 1.0), (0, 2, 2.0), (2, 2, 3.0), (0, 1, 4.0)] {
        list.push(source, target, weight).unwrap();
    }
    assert_eq!(list.push(0, 0, 0.0), Err(Error::TooManyEdges { limit: 4 }));
    let out = list.into_adjacency(3).unwrap();
    assert_eq!((out.vertices(), out.edges()), (3, 4));
    assert_eq!((out.neighbors(0), out.weights(0)), (&[2, 1][..], Some(&[2.0, 4.0][..])));
    assert_eq!(out.degree(1), 0);
    let incoming = out.reversed();
    assert_eq!((incoming.neighbors(2), incoming.weights(2)), (&[0, 2][..], Some(&[2.0, 3.0][..])));
    assert_eq!(out.truncated(1).iter().collect::<Vec<_>>(), [(0, 2), (2, 0)]);
    let both = Undirected::of(&out).unwrap();
    assert_eq!(both.lists().neighbors(2), [0, 2, 0, 2]);
    assert_eq!(both.lists().weights(2), Some(&[1.0, 3.0, 2.0, 3.0][..]));
    assert_eq!(both.into_simple().lists().iter().collect::<Vec<_>>(), [(0, 1), (0, 2), (1, 0), (2, 0)]);
}

#[test]
fn wrong_edges_are_refused() {
    let wrong = Adjacency::from_edges(3, || [(0, 1), (3, 1)].into_iter());
    assert_eq!(wrong, Err(Error::NoSuchVertex { vertex: 3, vertices: 3 }));
    for weight in [-1.0, f32::INFINITY, f32::NAN] {
        let wrong = Adjacency::from_weighted_edges(2, || [(0, 1, weight)].into_iter());
        assert!(matches!(wrong, Err(Error::Weight(_))));
    }
    assert_eq!(Adjacency::from_edges(0, std::iter::empty).unwrap().vertices(), 0);
}

#[test]
#[should_panic(expected = "both passes")]
fn passes_that_differ_are_a_bug() {
    let pass = std::cell::Cell::new(0);
    let edges = || {
        pass.set(pass.get() + 1);
        [(0, 1), (pass.get() - 1, 0)].into_iter()
    };
    drop(Adjacency::from_edges(2, edges));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((96 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn lists_hold_exactly_their_edges((vertices, mut edges) in edges(20, 60)) {
        let out = out_lists(vertices, &edges);
        let reversed = out.reversed();
        prop_assert_eq!(reversed.reversed().reversed(), reversed);
        let both = Undirected::of(&out).unwrap();
        let mut doubled: Vec<_> = edges.iter().flat_map(|&(one, other)| [(one, other), (other, one)]).collect();
        doubled.sort_unstable();
        let mut listed: Vec<_> = both.lists().iter().collect();
        listed.sort_unstable();
        prop_assert_eq!(listed, doubled.clone());
        doubled.dedup();
        doubled.retain(|(one, other)| one != other);
        prop_assert_eq!(both.into_simple().lists().iter().collect::<Vec<_>>(), doubled);
        edges.sort_by_key(|&(source, _)| source);
        prop_assert_eq!(out.iter().collect::<Vec<_>>(), edges);
    }
}
