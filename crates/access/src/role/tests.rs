use proptest::prelude::*;

use super::*;

const GRAPH: (&str, &str) = ("DEFAULT", "hugegraph");

fn resource(kind: ResourceType, label: &str) -> Resource {
    Resource { label: label.to_owned(), ..Resource::any(kind) }
}

fn role(graph: (&str, &str), action: Action, resources: &[Resource]) -> Role {
    let mut role = Role::default();
    role.add(graph, action, Role::rules(resources).unwrap());
    role
}

/// Names of labels that may be read.
fn seen(role: &Role, graph: (&str, &str), kind: ResourceType) -> Vec<&'static str> {
    let allowed = role.allowed(graph, Action::Read, kind);
    ["person", "pet", "place"].into_iter().filter(|label| allowed.has(label)).collect()
}

#[test]
fn nobody_may_do_what_was_not_granted() {
    let nobody = Role::default();
    for action in Action::ALL {
        for kind in ResourceType::ALL {
            assert!(!nobody.allowed(GRAPH, action, kind).is_something());
        }
    }
    assert!(!nobody.is_admin() && !nobody.manages("DEFAULT"));
    assert!(matches!(Role::admin().allowed(GRAPH, Action::Delete, ResourceType::Root), Allowed::All));
}

#[test]
fn labels_narrow_what_is_granted() {
    let some = role(
        GRAPH,
        Action::Read,
        &[resource(ResourceType::Vertex, "pe.*"), Resource::any(ResourceType::Var)],
    );
    assert_eq!(seen(&some, GRAPH, ResourceType::Vertex), ["person", "pet"]);
    assert!(matches!(some.allowed(GRAPH, Action::Read, ResourceType::Vertex), Allowed::Some(_)));
    assert!(matches!(some.allowed(GRAPH, Action::Read, ResourceType::Var), Allowed::All));
    assert!(matches!(some.allowed(GRAPH, Action::Read, ResourceType::None), Allowed::All));
    assert!(!some.allowed(GRAPH, Action::Read, ResourceType::Edge).is_something());
    assert!(!some.allowed(GRAPH, Action::Write, ResourceType::Vertex).is_something());
    assert!(!some.allowed(("DEFAULT", "other"), Action::Read, ResourceType::Vertex).is_something());
    assert!(!some.allowed(("other", "hugegraph"), Action::Read, ResourceType::Vertex).is_something());
}

#[test]
fn some_labels_of_what_has_none_are_nothing() {
    use ResourceType as Type;
    let without = [Type::Status, Type::Var, Type::Gremlin, Type::Task, Type::Schema, Type::Meta];
    for needed in without {
        for kind in [needed, Type::All, Type::Root] {
            for label in ["person", "pub.*", ".*"] {
                let some = role(GRAPH, Action::Read, &[resource(kind, label)]);
                let allowed = some.allowed(GRAPH, Action::Read, needed);
                assert!(!allowed.is_something(), "{kind:?} {label} {needed:?}");
                assert!(some.allowed(GRAPH, Action::Read, Type::None).is_something());
            }
            let all = role(GRAPH, Action::Read, &[Resource::any(kind)]);
            assert!(matches!(all.allowed(GRAPH, Action::Read, needed), Allowed::All), "{kind:?} {needed:?}");
        }
    }
    let schema = role(GRAPH, Action::Read, &[resource(Type::Schema, "pe.*")]);
    for kind in [Type::PropertyKey, Type::VertexLabel, Type::EdgeLabel, Type::IndexLabel] {
        assert_eq!(seen(&schema, GRAPH, kind), ["person", "pet"], "{kind:?}");
    }
    assert_eq!(seen(&role(GRAPH, Action::Read, &[resource(Type::All, "p.t")]), GRAPH, Type::Edge), ["pet"]);
}

#[test]
fn conditions_on_properties_allow_nothing_unseen() {
    let mut narrow = Resource::any(ResourceType::Vertex);
    narrow.properties = serde_json::from_str(r#"{"city":"Beijing"}"#).unwrap();
    assert!(seen(&role(GRAPH, Action::Read, &[narrow.clone()]), GRAPH, ResourceType::Vertex).is_empty());
    narrow.properties = serde_json::from_str(r#"{"*":"*"}"#).unwrap();
    assert_eq!(seen(&role(GRAPH, Action::Read, &[narrow]), GRAPH, ResourceType::Vertex).len(), 3);
    for (properties, expected) in [(r#"{"city":"x"}"#, false), (r#"{"*":"*"}"#, true), ("null", true)] {
        let mut users = Resource::any(ResourceType::UserGroup);
        users.properties = serde_json::from_str(properties).unwrap();
        let role = role(GRAPH, Action::Write, &[users]);
        let allows = role.allows_beside(Action::Write, ResourceType::UserGroup, "boss");
        assert_eq!(allows, expected, "{properties}");
    }
}

#[test]
fn graphs_have_two_names_and_all_of_a_space_one() {
    let all = [Resource::any(ResourceType::All)];
    let allows = |named: &str, graph| {
        role(("DEFAULT", named), Action::Read, &all)
            .allowed(graph, Action::Read, ResourceType::Edge)
            .is_something()
    };
    assert!(allows("hugegraph", GRAPH));
    assert!(allows("DEFAULT-hugegraph", GRAPH));
    assert!(allows("*", GRAPH));
    assert!(allows("gs1-hugegraph", ("gs1", "hugegraph")));
    assert!(!allows("gs1-hugegraph", GRAPH));
    assert!(!allows("*", ("gs1", "hugegraph")));
    let mut manager = Role::default();
    manager.manage("gs1");
    assert!(manager.manages("gs1") && !manager.manages("DEFAULT"));
    assert!(matches!(manager.allowed(("gs1", "any"), Action::Delete, ResourceType::Schema), Allowed::All));
    assert!(!manager.allowed(GRAPH, Action::Read, ResourceType::None).is_something());
}

#[test]
fn managers_are_contained_by_those_who_manage_as_much() {
    let (mut one, mut both) = (Role::default(), Role::default());
    one.manage("gs1");
    both.manage("gs1");
    both.manage("gs2");
    assert!(both.contains(&one) && !one.contains(&both));
    assert!(Role::admin().contains(&both) && !both.contains(&Role::admin()));
}

fn resources() -> impl Strategy<Value = Vec<Resource>> {
    let kind = proptest::sample::select(ResourceType::ALL.as_slice());
    let label = proptest::sample::select(["*", "person", "pet", "p.*", "pe.*|x", "place"].as_slice());
    let properties = proptest::sample::select(["null", r#"{"*":"*"}"#, r#"{"a":1}"#].as_slice());
    let one = (kind, label, properties).prop_map(|(kind, label, properties)| Resource {
        kind,
        label: label.to_owned(),
        properties: serde_json::from_str(properties).expect("JSON"),
    });
    proptest::collection::vec(one, 0..4)
}

fn any_role() -> impl Strategy<Value = Role> {
    let graph = proptest::sample::select(["hugegraph", "DEFAULT-hugegraph", "other", "*"].as_slice());
    let action = proptest::sample::select(Action::ALL.as_slice());
    proptest::collection::vec((graph, action, resources()), 0..3).prop_map(|granted| {
        let mut role = Role::default();
        for (graph, action, resources) in granted {
            role.add(("DEFAULT", graph), action, Role::rules(&resources).expect("patterns"));
        }
        role
    })
}

proptest! {
    /// Whoever may do all that another may is refused nothing that the other is allowed.
    #[test]
    fn who_contains_another_may_do_what_the_other_may(mine in any_role(), theirs in any_role()) {
        if mine.contains(&theirs) {
            for graph in ["hugegraph", "other", "third"] {
                for action in Action::ALL {
                    for kind in ResourceType::ALL {
                        let graph = ("DEFAULT", graph);
                        let (mine, theirs) = (mine.allowed(graph, action, kind), theirs.allowed(graph, action, kind));
                        for label in ["person", "pet", "place", "x", "other"] {
                            prop_assert!(mine.has(label) || !theirs.has(label), "{action:?} {kind:?} {label}");
                        }
                        prop_assert!(matches!(mine, Allowed::All) || !matches!(theirs, Allowed::All));
                    }
                }
            }
        }
        prop_assert!(mine.contains(&mine), "everybody contains himself");
    }

    /// What is granted is no less for another grant beside it.
    #[test]
    fn more_grants_allow_more(some in any_role(), more in resources(), action in proptest::sample::select(Action::ALL.as_slice())) {
        let mut grown = some.clone();
        grown.add(GRAPH, action, Role::rules(&more).expect("patterns"));
        for action in Action::ALL {
            for kind in ResourceType::ALL {
                let (less, more) = (some.allowed(GRAPH, action, kind), grown.allowed(GRAPH, action, kind));
                for label in ["person", "pet", "place", "x"] {
                    prop_assert!(more.has(label) || !less.has(label));
                }
            }
        }
    }
}
