//! A shop, for tests: a schema of all kinds of nodes, a sample of data, random data, and what paths find in them.

mod random;

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use lang_cps_path::parse;
use lang_yang::testing::SchemaBuilder;
use lang_yang::{
    Content, DataNode, IntegerWidth, Leaf, NodeId, NodeKind, Schema, Type, TypeKind, Value, ValueKind,
};

use crate::query::{Answer, Evaluation, Progress, Query};
use crate::{
    Attempt, Edit, Fault, Label, PageCache, PageId, PageLimits, Pages, Place, Position, Root, Tree,
    apply_with,
};

pub(crate) use random::{NUMBERS, TEXTS, pick, random_content};

/// So small that a dozen entries have pages, and pages of pages.
pub(crate) const SMALL: PageLimits =
    PageLimits { inline_bytes_max: 64, leaf_bytes_max: 256, interior_bytes_max: 256 };

pub(crate) struct Shop {
    pub(crate) schema: Schema,
    pub(crate) content: Content,
    root: Root,
    pages: Pages,
    stored: HashMap<PageId, Bytes>,
}

fn string() -> Type {
    Type::new(TypeKind::String { lengths: Box::default(), patterns: Box::default() })
}

fn integer(width: IntegerWidth) -> Type {
    Type::new(TypeKind::Integer { width, ranges: Box::default() })
}

fn decimal() -> Type {
    Type::new(TypeKind::Decimal { fraction_digits: 2, ranges: Box::default() })
}

/// Lists with one key, two and none, containers in them, names that come again at other places and in another module.
pub(crate) fn schema() -> Schema {
    let int = || integer(IntegerWidth::Int32);
    SchemaBuilder::new("shop", "s")
        .module("extra", "x")
        .container("shop", |shop| {
            shop.leaf("uid", int())
                .leaf("name", string())
                .list("category", &["code"], |category| {
                    category
                        .leaf("code", string())
                        .leaf("uid", int())
                        .leaf("name", string())
                        .leaf("price", int())
                        .list("book", &["title", "year"], |book| {
                            book.leaf("title", string())
                                .leaf("year", int())
                                .leaf("uid", int())
                                .leaf("price", int())
                                .leaf("sold", integer(IntegerWidth::Uint64))
                                .leaf("weight", decimal())
                                .leaf("lang", string())
                                .leaf("kind", Type::new(TypeKind::Identity(Box::from([0]))))
                                .leaf_list("edition", int())
                                .container("meta", |meta| meta.leaf("uid", int()).leaf("name", string()))
                        })
                })
                .container("meta", |meta| {
                    meta.leaf("uid", int()).leaf("name", string()).leaf("price", string())
                })
                .list("event", &[], |event| {
                    event.leaf("uid", int()).leaf("name", string()).leaf("price", int())
                })
                .of_module("extra", |shop| shop.container("meta", |meta| meta.leaf("uid", int())))
        })
        .list("category", &["code"], |category| {
            category.leaf("code", integer(IntegerWidth::Uint8)).leaf("uid", int()).container("meta", |meta| {
                meta.leaf("uid", int()).list("category", &["code"], |category| {
                    category.leaf("code", string()).leaf("uid", int()).leaf("name", string())
                })
            })
        })
        .container("empty", |empty| empty.leaf("uid", int()))
        .build_with(&[("shop:kind", &[]), ("shop:novel", &["shop:kind"]), ("extra:poem", &["shop:kind"])])
}

/// Leaves by name, each with its values.
type Leaves<'a> = &'a [(&'a str, &'a [&'a str])];

/// An entry under way.
pub(crate) struct Draft<'a>(pub(crate) &'a Schema, pub(crate) NodeId);

impl Draft<'_> {
    pub(crate) fn leaf(&self, name: &str, values: &[&str]) -> Leaf {
        let leaf = self.0.child(Some(self.1), None, name).unwrap_or_else(|| panic!("leaf {name}"));
        let values = values.iter().map(|text| Value { kind: kind_of(self.0, leaf), text: Box::from(*text) });
        Leaf { schema: leaf, values: values.collect() }
    }

    fn node(&self, leaves: Leaves<'_>, children: Vec<DataNode>) -> DataNode {
        let leaves = leaves.iter().map(|(name, values)| self.leaf(name, values)).collect();
        DataNode { schema: self.1, content: Content { leaves, children } }
    }
}

fn kind_of(schema: &Schema, leaf: NodeId) -> ValueKind {
    let (NodeKind::Leaf { type_, .. } | NodeKind::LeafList { type_, .. }) = &schema.node(leaf).kind else {
        panic!("a leaf")
    };
    match type_.kind() {
        TypeKind::Integer { width, .. } if width.is_long() => ValueKind::LongInteger,
        TypeKind::Integer { .. } => ValueKind::Integer,
        TypeKind::Decimal { .. } => ValueKind::Decimal,
        TypeKind::Identity(_) => ValueKind::Identity,
        _ => ValueKind::Text,
    }
}

impl Shop {
    /// A tree of this content.
    pub(crate) fn new(schema: Schema, content: Content, limits: PageLimits) -> Self {
        let (pages, empty) = (no_pages(), Root::empty());
        let create = Edit::Create {
            parent: Place::Steps(Vec::new()),
            nodes: content.children.clone().into(),
            at: Position::Last,
        };
        let leaves = content.leaves.clone().into();
        let set = Edit::SetLeaves { parent: Place::Label(Label::top()), leaves };
        let tree = Tree::new(&schema, &empty, &pages);
        let applied =
            apply_with(&tree, &[create, set], Attempt { version: 1, nonce: 1 }, limits).expect("it is valid");
        pages.cache().insert_written(&applied.pages);
        Self { schema, content, root: applied.root, pages, stored: applied.pages.into_iter().collect() }
    }

    /// From now on no page is in memory, but those that are asked for.
    pub(crate) fn forget_pages(&mut self) {
        self.pages = no_pages();
    }

    /// Loads what is missing.
    pub(crate) fn load(&self, fault: &Fault) {
        for id in &fault.0 {
            let bytes = self.stored.get(id).expect("a page of the tree");
            self.pages.insert(&self.schema, *id, bytes.clone()).expect("it is a page");
        }
    }

    pub(crate) fn is_inline(&self) -> bool {
        self.root.is_inline()
    }

    pub(crate) fn sample() -> Self {
        let schema = schema();
        let content = sample(&schema);
        Self::new(schema, content, PageLimits::STANDARD)
    }

    pub(crate) fn tree(&self) -> Tree<'_> {
        Tree::new(&self.schema, &self.root, &self.pages)
    }

    /// A node by the names on its path.
    pub(crate) fn node(&self, names: &str) -> NodeId {
        node(&self.schema, names)
    }

    /// The type of a leaf by the names on its path.
    pub(crate) fn schema_type(&self, names: &str) -> Type {
        match &self.schema.node(self.node(names)).kind {
            NodeKind::Leaf { type_, .. } => type_.clone(),
            _ => panic!("{names} is no leaf"),
        }
    }

    pub(crate) fn uid(&self, label: &Label) -> String {
        let record = loop {
            match self.tree().record(label) {
                Ok(record) => break record.expect("it was found"),
                Err(fault) => self.load(&fault),
            }
        };
        let leaf = self.schema.child(record.node(), None, "uid").expect("every entry has one");
        record.value(leaf).expect("every entry has one").text.into()
    }

    pub(crate) fn ask(&self, path: &str) -> Vec<String> {
        self.ask_in_steps(path, u64::MAX)
    }

    pub(crate) fn ask_in_steps(&self, path: &str, steps: u64) -> Vec<String> {
        let path = parse(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let query = Query::new(&self.schema, &path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut evaluation = Evaluation::new(Arc::new(query), usize::MAX);
        loop {
            match evaluation.run(&self.tree(), steps) {
                Ok(Progress::More) => {}
                Ok(Progress::Done) => break,
                Ok(Progress::TooMany | Progress::TooLarge) => panic!("{path}: any number is allowed"),
                Err(fault) => self.load(&fault),
            }
        }
        match evaluation.into_answer() {
            Answer::Entries(labels) => labels.iter().map(|label| self.uid(label)).collect(),
            Answer::Values(values) => values.into_iter().map(|value| value.text.into()).collect(),
        }
    }
}

pub(crate) fn node(schema: &Schema, names: &str) -> NodeId {
    let step = |parent, name: &str| schema.child(parent, None, name);
    names.split(' ').fold(None, step).unwrap_or_else(|| panic!("{names}"))
}

fn no_pages() -> Pages {
    Pages::new(Arc::new(PageCache::new(1 << 24)))
}

fn sample(schema: &Schema) -> Content {
    let at = |names: &str| Draft(schema, node(schema, names));
    let book = |leaves: Leaves<'_>, children: Vec<DataNode>| at("shop category book").node(leaves, children);
    let book_meta = |uid: &str| at("shop category book meta").node(&[("uid", &[uid])], Vec::new());
    let category = |code: &str, uid: &str, name: &str, books| {
        let leaves: Leaves<'_> = &[("code", &[code]), ("uid", &[uid]), ("name", &[name])];
        at("shop category").node(leaves, books)
    };
    let one = book(
        &[
            ("title", &["One"]),
            ("year", &["1998"]),
            ("uid", &["3"]),
            ("price", &["20"]),
            ("weight", &["0.5"]),
            ("kind", &["shop:novel"]),
            ("edition", &["1", "2"]),
        ],
        vec![book_meta("4")],
    );
    let two = book(
        &[
            ("title", &["Two"]),
            ("year", &["1999"]),
            ("uid", &["5"]),
            ("price", &["15"]),
            ("weight", &["1.25"]),
            ("kind", &["extra:poem"]),
            ("edition", &["2", "3"]),
        ],
        vec![book_meta("6")],
    );
    let three =
        book(&[("title", &["Three"]), ("year", &["1998"]), ("uid", &["8"]), ("price", &["15"])], Vec::new());
    let four = book(
        &[
            ("title", &["Four"]),
            ("year", &["2001"]),
            ("uid", &["9"]),
            ("weight", &["-1.0"]),
            ("lang", &["de"]),
        ],
        Vec::new(),
    );
    let five = book(
        &[
            ("title", &["Five"]),
            ("year", &["1998"]),
            ("uid", &["11"]),
            ("price", &["20"]),
            ("sold", &["18446744073709551615"]),
        ],
        Vec::new(),
    );
    let other = schema.child(Some(node(schema, "shop")), Some("extra"), "meta").expect("the other meta");
    let shop = at("shop").node(
        &[("uid", &["1"]), ("name", &["Shop"])],
        vec![
            category("a", "2", "Alpha", vec![one, two]),
            category("b", "7", "Beta", vec![three, four]),
            category("a/[@x='1']", "10", "Gamma", vec![five]),
            at("shop meta").node(&[("uid", &["12"]), ("price", &["cheap"])], Vec::new()),
            Draft(schema, other).node(&[("uid", &["13"])], Vec::new()),
        ],
    );
    let empty = at("empty").node(&[("uid", &["14"])], Vec::new());
    Content { leaves: Vec::new(), children: vec![shop, empty] }
}
