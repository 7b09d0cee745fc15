mod model;
mod moves;
pub(crate) mod random;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use lang_yang::testing::{SchemaBuilder, string};
use lang_yang::{Content, DataNode, Leaf, Schema, Value, ValueKind};

use super::apply_with;
use crate::edit::{Applied, ApplyError, Changes, Edit, LeafLists, MergeOptions, Place, Position};
use crate::{Attempt, Depth, Fault, Label, PageCache, PageId, PageLimits, Pages, Root, Step, Tree};

/// Small pages: a few hundred entries make a tree of several levels.
pub(crate) const SMALL: PageLimits =
    PageLimits { inline_bytes_max: 600, leaf_bytes_max: 256, interior_bytes_max: 160 };

pub(crate) fn schema() -> Schema {
    SchemaBuilder::new("m", "m")
        .leaf("title", string())
        .container("net", |net| {
            net.leaf("name", string())
                .list("node", &["id"], |node| {
                    node.leaf("id", string()).leaf("state", string()).leaf_list("tag", string()).container(
                        "ports",
                        |ports| {
                            ports.user_list("port", &["slot", "nr"], |port| {
                                port.leaf("slot", string()).leaf("nr", string()).leaf("speed", string())
                            })
                        },
                    )
                })
                .list("event", &[], |event| event.leaf("text", string()))
                .choice(&[
                    |one| {
                        one.leaf("v4", string())
                            .container("v4-options", |options| options.leaf("ttl", string()))
                    },
                    |two| two.leaf("v6", string()),
                ])
        })
        .top(|top| {
            top.user_list("rule", &["name"], |rule| rule.leaf("name", string()).leaf("action", string()))
        })
        .build()
}

/// A store of pages, as a model keeps them.
#[derive(Default)]
pub(crate) struct Store {
    pub(crate) pages: BTreeMap<PageId, Bytes>,
}

impl Store {
    /// Runs until no page is missing; nothing is in memory before.
    pub(crate) fn run<T, E>(
        &self,
        root: &Root,
        schema: &Schema,
        run: impl Fn(&Tree<'_>) -> Result<T, E>,
    ) -> Result<T, E>
    where
        E: IsFault,
    {
        let pages = Pages::new(Arc::new(PageCache::new(0)));
        loop {
            match run(&Tree::new(schema, root, &pages)) {
                Err(error) if error.fault().is_some() => self.load(schema, &pages, &error.fault().unwrap()),
                result => return result,
            }
        }
    }

    pub(crate) fn load(&self, schema: &Schema, pages: &Pages, fault: &Fault) {
        assert!(!fault.0.is_empty(), "a fault asks for something");
        for id in &fault.0 {
            let bytes = self.pages.get(id).unwrap_or_else(|| panic!("page {id:?} is not stored"));
            pages.insert(schema, *id, bytes.clone()).unwrap();
        }
    }

    pub(crate) fn content(&self, root: &Root, schema: &Schema) -> Content {
        let read = |tree: &Tree<'_>| tree.content(&Label::top(), Depth::All);
        self.run::<_, Fault>(root, schema, read).unwrap().unwrap()
    }
}

pub(crate) trait IsFault {
    fn fault(&self) -> Option<Fault>;
}

impl IsFault for Fault {
    fn fault(&self) -> Option<Fault> {
        Some(self.clone())
    }
}

impl IsFault for ApplyError {
    fn fault(&self) -> Option<Fault> {
        if let Self::Fault(fault) = self { Some(fault.clone()) } else { None }
    }
}

/// One tree, version after version.
struct Fixture {
    schema: Schema,
    store: Store,
    root: Root,
    version: u64,
    limits: PageLimits,
}

impl Fixture {
    fn new(limits: PageLimits) -> Self {
        Self { schema: schema(), store: Store::default(), root: Root::empty(), version: 0, limits }
    }

    fn try_apply(&mut self, edits: &[Edit]) -> Result<Applied, ApplyError> {
        self.version += 1;
        let attempt = Attempt { version: self.version, nonce: 7 };
        let applied =
            self.store.run(&self.root, &self.schema, |tree| apply_with(tree, edits, attempt, self.limits))?;
        self.store.pages.extend(applied.pages.iter().cloned());
        self.root = applied.root.clone();
        Ok(applied)
    }

    fn apply(&mut self, edits: &[Edit]) -> Applied {
        self.try_apply(edits).unwrap()
    }

    fn refuses(&mut self, edit: Edit, expected: &str) {
        let before = self.content();
        assert_eq!(self.try_apply(&[edit]).unwrap_err().to_string(), expected);
        assert_eq!(self.content(), before);
    }

    fn content(&self) -> Content {
        self.store.content(&self.root, &self.schema)
    }

    fn find(&self, path: &str) -> Option<Label> {
        let mut cursor_path = None;
        self.store
            .run::<_, Fault>(&self.root, &self.schema, |tree| {
                let mut cursor = tree.cursor(&Label::top());
                while let Some(label) = cursor.next_label()? {
                    if tree.path(&label)? == path {
                        return Ok(Some(label));
                    }
                }
                Ok(None)
            })
            .unwrap()
            .clone_into(&mut cursor_path);
        cursor_path
    }

    fn paths(&self) -> Vec<String> {
        let read = |tree: &Tree<'_>| {
            let (mut cursor, mut paths) = (tree.cursor(&Label::top()), Vec::new());
            while let Some(label) = cursor.next_label()? {
                paths.push(tree.path(&label)?);
            }
            Ok::<_, Fault>(paths)
        };
        self.store.run(&self.root, &self.schema, read).unwrap()
    }

    fn leaf(&self, name: &str, text: &str) -> Leaf {
        self.leaf_list(name, &[text])
    }

    fn leaf_list(&self, name: &str, texts: &[&str]) -> Leaf {
        let values = texts.iter().map(|text| Value { kind: ValueKind::Text, text: (*text).into() }).collect();
        Leaf { schema: self.schema.by_name(name)[0], values }
    }

    fn node(&self, name: &str, leaves: Vec<Leaf>, children: Vec<DataNode>) -> DataNode {
        DataNode { schema: self.schema.by_name(name)[0], content: Content { leaves, children } }
    }

    /// A node of the list of this name, whose keys are leaves with `id` or `name`.
    fn rule(&self, name: &str) -> DataNode {
        let key = self.schema.keys(self.schema.by_name("rule")[0])[0];
        let value = Value { kind: ValueKind::Text, text: name.into() };
        let leaf = Leaf { schema: key, values: vec![value] };
        self.node("rule", vec![leaf], Vec::new())
    }

    fn to(&self, name: &str, keys: &[(&str, &str)]) -> Step {
        let node = self.schema.by_name(name)[0];
        let key = |(name, text): &(&str, &str)| {
            (self.schema.child(Some(node), None, name).unwrap(), Box::from(*text))
        };
        if keys.is_empty() {
            Step::container(node)
        } else {
            Step::entry(node, keys.iter().map(key).collect())
        }
    }
}

fn top() -> Place {
    Place::Label(Label::top())
}

fn rules(fixture: &Fixture) -> Vec<String> {
    let children = fixture.content().children;
    children.iter().map(|rule| rule.content.leaves[0].values[0].text.to_string()).collect()
}

#[test]
fn entries_come_where_they_are_put() {
    for limits in [SMALL, PageLimits::STANDARD] {
        let mut fixture = Fixture::new(limits);
        let add = |fixture: &Fixture, name: &str, at| Edit::Create {
            parent: top(),
            nodes: [fixture.rule(name)].into(),
            at,
        };
        let place = |fixture: &Fixture, name: &str| Place::Steps(vec![fixture.to("rule", &[("name", name)])]);
        let edits = [
            add(&fixture, "b", Position::Last),
            add(&fixture, "d", Position::Last),
            add(&fixture, "a", Position::First),
            add(&fixture, "c", Position::Before(place(&fixture, "d"))),
            add(&fixture, "b2", Position::After(place(&fixture, "b"))),
            add(&fixture, "b1", Position::After(place(&fixture, "b"))),
        ];
        fixture.apply(&edits);
        assert_eq!(rules(&fixture), ["a", "b", "b1", "b2", "c", "d"]);
        fixture.apply(&[Edit::Move { entry: place(&fixture, "d"), to: Position::First }]);
        fixture
            .apply(&[Edit::Move { entry: place(&fixture, "a"), to: Position::After(place(&fixture, "b1")) }]);
        assert_eq!(rules(&fixture), ["d", "b", "b1", "a", "b2", "c"]);
        let parent = fixture.node("net", vec![fixture.leaf("name", "x")], Vec::new());
        fixture.apply(&[Edit::Create { parent: top(), nodes: [parent].into(), at: Position::Last }]);
        let other = Place::Steps(vec![fixture.to("net", &[])]);
        fixture.refuses(add(&fixture, "z", Position::After(other)), "/net cannot lie in /rule");
    }
}

#[test]
fn the_same_gap_takes_any_number_of_entries() {
    let mut fixture = Fixture::new(SMALL);
    let nodes = vec![fixture.rule("first"), fixture.rule("last")];
    fixture.apply(&[Edit::Create { parent: top(), nodes: nodes.into(), at: Position::Last }]);
    // Between the two newest, by turns at either side: the orders grow, until they are given anew.
    let (mut low, mut high) = ("first".to_owned(), "last".to_owned());
    let mut longest = 0;
    for number in 0..300 {
        let name = format!("r{number}");
        let place = Place::Steps(vec![fixture.to("rule", &[("name", &low)])]);
        let nodes = vec![fixture.rule(&name)];
        fixture.apply(&[Edit::Create { parent: top(), nodes: nodes.into(), at: Position::After(place) }]);
        let order = rules(&fixture);
        let at = |name: &str| order.iter().position(|other| other == name).unwrap();
        assert!(at(&low) < at(&name) && at(&name) < at(&high), "{order:?}");
        let label = fixture.find(&format!("/rule[@name='{name}']")).unwrap();
        longest = longest.max(label.as_bytes().len());
        if number % 2 == 0 {
            low = name
        } else {
            high = name
        };
    }
    assert_eq!(rules(&fixture).len(), 302);
    assert!(longest <= crate::order::ORDER_BYTES_MAX + 4, "{longest}");
    assert!(longest > 20, "the test reaches long orders: {longest}");
}

/// If the keys of the list are gone through for each entry that gets a new order, this takes minutes.
#[test]
fn orders_of_many_entries_are_given_anew_at_once() {
    const MANY: usize = 10_000;
    let mut fixture = Fixture::new(PageLimits::STANDARD);
    let mut names: Vec<String> = (0..MANY).map(|number| format!("n{number}")).collect();
    let nodes = names.iter().map(|name| fixture.rule(name)).collect();
    let mut edits = vec![Edit::Create { parent: top(), nodes, at: Position::Last }];
    let mut at = 0;
    for number in 0..100 {
        let name = format!("r{number}");
        let place = Place::Steps(vec![fixture.to("rule", &[("name", &names[at])])]);
        let nodes = [fixture.rule(&name)].into();
        edits.push(Edit::Create { parent: top(), nodes, at: Position::After(place) });
        names.insert(at + 1, name);
        at += number % 2;
    }
    fixture.apply(&edits);
    assert_eq!(rules(&fixture), names);
}

#[test]
fn creating_what_is_there_says_what() {
    for limits in [SMALL, PageLimits::STANDARD] {
        let mut fixture = Fixture::new(limits);
        let nodes: Vec<DataNode> = ["it's", "b", "c"].iter().map(|name| fixture.rule(name)).collect();
        let create = Edit::Create { parent: top(), nodes: nodes.into(), at: Position::Last };
        let applied = fixture.apply(std::slice::from_ref(&create));
        assert_eq!(applied.changes, Changes { created: 3, updated: 0, removed: 0 });
        fixture.refuses(create, "3 entries exist already, the first is /rule[@name='it''s']");
        let twice = vec![fixture.rule("x"), fixture.rule("x")];
        fixture.refuses(
            Edit::Create { parent: top(), nodes: twice.into(), at: Position::Last },
            "/rule[@name='x'] is given twice",
        );
        fixture.refuses(
            Edit::Create {
                parent: top(),
                nodes: [fixture.node("rule", vec![], vec![])].into(),
                at: Position::Last,
            },
            "/rule lacks its key name",
        );
        fixture.refuses(
            Edit::Create {
                parent: top(),
                nodes: [fixture.node("port", vec![], vec![])].into(),
                at: Position::Last,
            },
            "/m:net/node/ports/port cannot lie in /",
        );
    }
}

#[test]
fn a_merge_sets_what_is_given_and_leaves_the_rest() {
    let mut fixture = Fixture::new(SMALL);
    let merge = |nodes, must_exist, leaf_lists| Edit::Merge {
        parent: top(),
        nodes,
        options: MergeOptions { must_exist, leaf_lists },
    };
    let node = |fixture: &Fixture, id: &str, leaves: Vec<Leaf>| {
        let leaves = [vec![fixture.leaf("id", id)], leaves].concat();
        let node = fixture.node("node", leaves, Vec::new());
        fixture.node("net", Vec::new(), vec![node])
    };
    let first = node(&fixture, "1", vec![fixture.leaf("state", "up"), fixture.leaf_list("tag", &["a", "b"])]);
    fixture.apply(&[merge([first].into(), false, LeafLists::Replace)]);
    let other = node(&fixture, "1", vec![fixture.leaf_list("tag", &["b", "c"])]);
    fixture.apply(&[merge([other.clone()].into(), true, LeafLists::Add)]);
    let tags = |fixture: &Fixture| {
        let net = fixture.content().children.remove(0);
        let leaves = net.content.children[0].content.leaves.clone();
        assert_eq!(leaves[1], fixture.leaf("state", "up"));
        leaves[2].values.iter().map(|value| value.text.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(tags(&fixture), ["a", "b", "c"]);
    fixture.apply(&[merge([other].into(), true, LeafLists::Replace)]);
    assert_eq!(tags(&fixture), ["b", "c"]);
    let absent = node(&fixture, "2", Vec::new());
    fixture.refuses(
        merge([absent].into(), true, LeafLists::Replace),
        "1 entries do not exist, the first is /net/node[@id='2']",
    );
}

#[test]
fn one_case_of_a_choice_takes_the_place_of_another() {
    let mut fixture = Fixture::new(SMALL);
    let net = |fixture: &Fixture| Place::Made(vec![fixture.to("net", &[])]);
    let options = fixture.node("v4-options", vec![fixture.leaf("ttl", "64")], Vec::new());
    fixture.apply(&[
        Edit::SetLeaves { parent: net(&fixture), leaves: [fixture.leaf("v4", "10.0.0.1")].into() },
        Edit::Create { parent: net(&fixture), nodes: [options.clone()].into(), at: Position::Last },
    ]);
    assert_eq!(fixture.paths(), ["/net", "/net/v4-options"]);
    fixture.apply(&[Edit::SetLeaves { parent: net(&fixture), leaves: [fixture.leaf("v6", "::1")].into() }]);
    let net_node = fixture.content().children.remove(0);
    assert_eq!(net_node, fixture.node("net", vec![fixture.leaf("v6", "::1")], Vec::new()));
    let merged = fixture.node("net", Vec::new(), vec![options]);
    let how = MergeOptions { must_exist: false, leaf_lists: LeafLists::Replace };
    fixture.apply(&[Edit::Merge { parent: top(), nodes: [merged.clone()].into(), options: how }]);
    assert_eq!(fixture.content().children, [merged]);
}

#[test]
fn a_change_of_one_leaf_writes_a_page_of_each_level() {
    let mut fixture = Fixture::new(SMALL);
    let nodes: Vec<DataNode> = (0..500).map(|number| fixture.rule(&format!("rule-{number:04}"))).collect();
    fixture.apply(&[Edit::Create { parent: top(), nodes: nodes.into(), at: Position::Last }]);
    let height = match fixture.root.body {
        crate::root::Body::Paged { height, .. } => height,
        crate::root::Body::Inline(_) => panic!("the tree has pages"),
    };
    assert!(height >= 2);
    let parent = Place::Steps(vec![fixture.to("rule", &[("name", "rule-0250")])]);
    let leaves = vec![fixture.leaf("action", "drop")];
    let applied = fixture.apply(&[Edit::SetLeaves { parent, leaves: leaves.into() }]);
    assert!(applied.pages.len() <= height + 2, "{:?}", applied.pages.len());
    assert!(applied.superseded.len() <= height + 1);
    assert_eq!(applied.changes, Changes { created: 0, updated: 1, removed: 0 });
    // The same again changes nothing.
    let parent = Place::Steps(vec![fixture.to("rule", &[("name", "rule-0250")])]);
    let leaves = vec![fixture.leaf("action", "drop")];
    let applied = fixture.apply(&[Edit::SetLeaves { parent, leaves: leaves.into() }]);
    assert!(applied.pages.is_empty() && applied.superseded.is_empty() && applied.changes.is_empty());
}

#[test]
fn a_large_record_has_a_page_of_its_own() {
    let mut fixture = Fixture::new(SMALL);
    let nodes: Vec<DataNode> = (0..40).map(|number| fixture.rule(&format!("rule-{number:04}"))).collect();
    fixture.apply(&[Edit::Create { parent: top(), nodes: nodes.into(), at: Position::Last }]);
    let place = |fixture: &Fixture| Place::Steps(vec![fixture.to("rule", &[("name", "rule-0020")])]);
    let long = "x".repeat(5_000);
    let set = Edit::SetLeaves { parent: place(&fixture), leaves: [fixture.leaf("action", &long)].into() };
    let applied = fixture.apply(std::slice::from_ref(&set));
    let own: Vec<PageId> =
        applied.pages.iter().filter(|(_, bytes)| bytes.len() > 5_000).map(|(id, _)| *id).collect();
    assert_eq!(own.len(), 1);
    assert_eq!(fixture.content().children[20].content.leaves[1].values[0].text.len(), 5_000);
    assert!(fixture.apply(&[set]).changes.is_empty());
    let applied = fixture.apply(&[Edit::Delete { entry: place(&fixture) }]);
    assert!(applied.superseded.contains(&own[0]));
    let too_long = "x".repeat(crate::limits::RECORD_BYTES_MAX);
    let parent = Place::Steps(vec![fixture.to("rule", &[("name", "rule-0001")])]);
    let leaves = vec![fixture.leaf("action", &too_long)];
    let error = fixture.try_apply(&[Edit::SetLeaves { parent, leaves: leaves.into() }]).unwrap_err();
    assert!(matches!(error, ApplyError::TooLarge { what: "the record", .. }), "{error}");
}

#[test]
fn a_look_at_many_entries_asks_for_many_pages_at_once() {
    let mut fixture = Fixture::new(SMALL);
    let rules: Vec<DataNode> = (0..1_000).map(|number| fixture.rule(&format!("r{number}"))).collect();
    fixture.apply(&[Edit::Create { parent: top(), nodes: rules.into(), at: Position::Last }]);
    let step = |number: usize| fixture.to("rule", &[("name", &format!("r{number}"))]);
    let ask = |numbers: std::ops::Range<usize>| {
        let pages = Pages::new(Arc::new(PageCache::new(0)));
        for asked in 1.. {
            let tree = Tree::new(&fixture.schema, &fixture.root, &pages);
            match tree.has_all(&Label::top(), numbers.clone().map(step)) {
                Err(fault) => fixture.store.load(&fixture.schema, &pages, &fault),
                Ok(are_there) => return (asked, are_there),
            }
        }
        unreachable!("pages end")
    };
    let (asked, are_there) = ask(0..1_000);
    assert!(are_there && asked < 20, "{asked} times");
    assert!(!ask(990..1_010).1);
}
