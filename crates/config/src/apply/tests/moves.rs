//! Moves: what they ask for, and many of them in one version, beside other edits.

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use super::*;

/// Entries with the keys of lists below them.
fn nodes(fixture: &Fixture, count: usize) -> Vec<DataNode> {
    (0..count).map(|number| node(fixture, &format!("n{number}"))).collect()
}

fn node(fixture: &Fixture, id: &str) -> DataNode {
    let port =
        |nr: &str| fixture.node("port", vec![fixture.leaf("slot", "1"), fixture.leaf("nr", nr)], Vec::new());
    let ports = fixture.node("ports", Vec::new(), vec![port("1"), port("2"), port("3")]);
    fixture.node("node", vec![fixture.leaf("id", id)], vec![ports])
}

fn create(fixture: &Fixture, nodes: Vec<DataNode>, at: Position) -> Edit {
    let parent = Place::Made(vec![fixture.to("net", &[])]);
    Edit::Create { parent, nodes: nodes.into(), at }
}

fn to_node(fixture: &Fixture, id: &str) -> Place {
    Place::Steps(vec![fixture.to("net", &[]), fixture.to("node", &[("id", id)])])
}

fn to_port(fixture: &Fixture, id: &str, nr: &str) -> Place {
    let Place::Steps(mut steps) = to_node(fixture, id) else { unreachable!("it is steps") };
    steps.push(fixture.to("ports", &[]));
    steps.push(fixture.to("port", &[("slot", "1"), ("nr", nr)]));
    Place::Steps(steps)
}

#[test]
fn a_move_asks_for_the_pages_at_both_ends() {
    let mut fixture = Fixture::new(SMALL);
    let all = nodes(&fixture, 1_000);
    fixture.apply(&[create(&fixture, all, Position::Last)]);
    let move_ =
        Edit::Move { entry: to_node(&fixture, "n700"), to: Position::Before(to_node(&fixture, "n300")) };
    let pages = Pages::new(Arc::new(PageCache::new(0)));
    let mut loaded = 0;
    let attempt = Attempt { version: 2, nonce: 7 };
    loop {
        let tree = Tree::new(&fixture.schema, &fixture.root, &pages);
        let applied = apply_with(&tree, std::slice::from_ref(&move_), attempt, fixture.limits);
        match applied {
            Err(ApplyError::Fault(fault)) => {
                loaded += fault.0.len();
                fixture.store.load(&fixture.schema, &pages, &fault);
            }
            applied => break drop(applied.unwrap()),
        }
    }
    let all = fixture.store.pages.len();
    assert!(all > 500 && loaded < all / 4, "{loaded} of {all} pages");
}

/// What was removed behind an entry, and passed over together with the end of that entry, stays removed when the entry goes.
#[test]
fn what_is_removed_stays_removed() {
    for is_moved in [true, false] {
        let mut fixture = Fixture::new(SMALL);
        let some = nodes(&fixture, 6);
        fixture.apply(&[create(&fixture, some, Position::Last)]);
        let before = Position::Before(to_node(&fixture, "n5"));
        let last = match is_moved {
            true => vec![Edit::Move { entry: to_node(&fixture, "n2"), to: before }],
            false => {
                let new = create(&fixture, vec![node(&fixture, "new")], before);
                vec![new, Edit::Delete { entry: to_node(&fixture, "n2") }]
            }
        };
        let removed = [
            Edit::Delete { entry: to_port(&fixture, "n2", "3") },
            Edit::Delete { entry: to_node(&fixture, "n4") },
            Edit::Delete { entry: to_node(&fixture, "n3") },
        ];
        fixture.apply(&[&removed[..], &last].concat());
        let there: Vec<String> =
            fixture.paths().into_iter().filter(|path| path.ends_with("/ports")).collect();
        let ids = ["n0", "n1", if is_moved { "n2" } else { "new" }, "n5"];
        assert_eq!(there, ids.map(|id| format!("/net/node[@id='{id}']/ports")));
    }
}

/// Some edit of entries and of those below them; it may be one that cannot be done.
fn some_edit(fixture: &Fixture, random: &mut StdRng) -> Edit {
    let id = |random: &mut StdRng| format!("n{}", random.random_range(0..12));
    let nr = |random: &mut StdRng| random.random_range(1..4).to_string();
    let (one, other) = (id(random), id(random));
    let at = |random: &mut StdRng, beside: Place| match random.random_range(0..4) {
        0 => Position::First,
        1 => Position::Last,
        2 => Position::Before(beside),
        _ => Position::After(beside),
    };
    match random.random_range(0..8) {
        0 => create(fixture, vec![node(fixture, &one)], at(random, to_node(fixture, &other))),
        1 => Edit::Delete { entry: to_node(fixture, &one) },
        2 => Edit::Delete { entry: to_port(fixture, &one, &nr(random)) },
        3 => {
            let beside = to_port(fixture, &one, &nr(random));
            Edit::Move { entry: to_port(fixture, &one, &nr(random)), to: at(random, beside) }
        }
        4 => Edit::SetLeaves {
            parent: to_port(fixture, &one, &nr(random)),
            leaves: [fixture.leaf("speed", &random.random_range(0..9).to_string())].into(),
        },
        _ => Edit::Move { entry: to_node(fixture, &one), to: at(random, to_node(fixture, &other)) },
    }
}

/// Inline trees keep their keys while edits are done: labels that are used again must not find keys of others.
#[test]
fn edits_of_one_version_do_what_those_of_many_do() {
    for seed in store::testing::seeds(60) {
        for limits in [SMALL, PageLimits::STANDARD] {
            let mut random = StdRng::seed_from_u64(seed);
            let (mut each, mut together) = (Fixture::new(limits), Fixture::new(limits));
            let some = nodes(&each, 6);
            let first = create(&each, some, Position::Last);
            each.apply(std::slice::from_ref(&first));
            together.apply(&[first]);
            let mut done = Vec::new();
            while done.len() < 60 {
                let edit = some_edit(&each, &mut random);
                if each.try_apply(std::slice::from_ref(&edit)).is_ok() {
                    done.push(edit);
                }
            }
            together.apply(&done);
            let is_same = together.content() == each.content();
            assert!(is_same, "seed {seed}: {:?} instead of {:?}", together.paths(), each.paths());
        }
    }
}
