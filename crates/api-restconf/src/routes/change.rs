//! What a write does to a tree: pure, asked again with the newest version where another writer came first.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use config::limits::RECORD_BYTES_MAX;
use config::{ApplyError, Edit, Fault, LeafLists, MergeOptions, Place, Position, Tree};
use lang_yang::{Content, DataNode, Leaf, NodeId, NodeKind, Schema, Value};
use model_config::{Error, Refusal};

use super::body::Given;
use super::conditions::Demands;
use super::data::{is_implied, steps};
use crate::identifier::parse_identifier;
use crate::params::Insert;
use crate::problem::{Problem, Tag};
use crate::target::{Chosen, Step, Target};

/// Edits, or why there are none.
pub(super) type Edits = Result<Vec<Edit>, Refusal<Problem>>;

/// What is merged: as NETCONF merges, values of leaf-lists are added.
const MERGED: MergeOptions = MergeOptions { must_exist: false, leaf_lists: LeafLists::Add };

/// Where a new entry is put among the others of its list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Spot {
    First,
    Last,
    /// Before this entry, which lies beside it.
    Before(Step),
    After(Step),
}

/// A write of one resource.
pub(super) struct Change<'r> {
    pub(super) demands: Demands,
    /// The steps to what the resource lies in.
    pub(super) above: &'r [Step],
    /// The resource.
    pub(super) step: Step,
    pub(super) spot: Option<Spot>,
    /// Whether it was there, as the last attempt found.
    existed: AtomicBool,
}

impl Spot {
    /// Where `insert` puts an entry that `step` leads to.
    ///
    /// # Errors
    ///
    /// 400: an entry without a place of its own, or a point that is no other entry of the list.
    pub(super) fn of(
        schema: &Schema,
        insert: Option<Insert<'_>>,
        (above, step): (&[Step], &Step),
    ) -> Result<Option<Self>, Problem> {
        let Some(insert) = insert else { return Ok(None) };
        let point = |text: &str| {
            let segments = parse_identifier(text)
                .map_err(|error| Problem::invalid(format!("parameter point: {error}")))?;
            Target::of(schema, &segments)
        };
        Self::with(schema, insert, point, (above, step)).map(Some)
    }

    /// The same, where points are found by `target`.
    ///
    /// # Errors
    ///
    /// As of [`Spot::of`], and those of `target`.
    pub(super) fn with(
        schema: &Schema,
        insert: Insert<'_>,
        target: impl Fn(&str) -> Result<Target, Problem>,
        (above, step): (&[Step], &Step),
    ) -> Result<Self, Problem> {
        let (NodeKind::List { user_ordered, .. } | NodeKind::LeafList { user_ordered, .. }) =
            schema.node(step.node).kind
        else {
            return Err(not_ordered(schema, step.node));
        };
        if !user_ordered {
            return Err(not_ordered(schema, step.node));
        }
        let entry = |text| entry_of(schema, &target(text)?, (above, step));
        Ok(match insert {
            Insert::First => Self::First,
            Insert::Last => Self::Last,
            Insert::Before(text) => Self::Before(entry(text)?),
            Insert::After(text) => Self::After(entry(text)?),
        })
    }

    fn position(&self, above: &[Step]) -> Position {
        let place = |step: &Step| Place::Steps(steps(&[above, std::slice::from_ref(step)].concat()));
        match self {
            Self::First => Position::First,
            Self::Last => Position::Last,
            Self::Before(step) => Position::Before(place(step)),
            Self::After(step) => Position::After(place(step)),
        }
    }

    /// The entry that it is about.
    fn point(&self) -> Option<&Step> {
        match self {
            Self::First | Self::Last => None,
            Self::Before(step) | Self::After(step) => Some(step),
        }
    }
}

/// The entry that a `point` names, beside another.
fn entry_of(schema: &Schema, target: &Target, (above, step): (&[Step], &Step)) -> Result<Step, Problem> {
    match target.steps.split_last() {
        Some((last, before)) if before == above && last.node == step.node && last.chosen != Chosen::All => {
            Ok(last.clone())
        }
        _ => Err(Problem::invalid(format!(
            "point: {:?} is no entry of the list that the other one is to be in, {}",
            target.path(schema).text,
            schema.path(step.node)
        ))),
    }
}

fn not_ordered(schema: &Schema, node: NodeId) -> Problem {
    Problem::invalid(format!(
        "insert: {} is no list or leaf-list with ordered-by user, so its entries have no order to choose",
        schema.path(node)
    ))
}

impl<'r> Change<'r> {
    pub(super) fn new(demands: Demands, (above, step): (&'r [Step], Step), spot: Option<Spot>) -> Self {
        Self { demands, above, step, spot, existed: AtomicBool::new(false) }
    }

    /// Whether the resource was there.
    pub(super) fn existed(&self) -> bool {
        self.existed.load(Ordering::Relaxed)
    }

    /// Edits that make the resource, which must not be there.
    pub(super) fn create(&self, tree: &Tree<'_>, given: &Given) -> Edits {
        if !is_implied(tree, self.above)? {
            return refuse(Problem::not_found("what the resource is to be created in does not exist"));
        }
        let is_there = self.is_there(tree)?;
        self.judge(is_there)?;
        if is_there {
            return refuse(Problem::application(Tag::DataExists, "the resource exists already"));
        }
        self.check_point(tree)?;
        match given {
            Given::Node(nodes) => Ok(vec![Edit::Create {
                parent: self.parent(),
                nodes: shared(nodes),
                at: self.position().unwrap_or(Position::Last),
            }]),
            Given::Leaf(leaf, value) => self.set(tree, *leaf, value),
            Given::Nothing => Ok(Vec::new()),
        }
    }

    /// Edits that make the resource be what is given, whatever it was.
    pub(super) fn replace(&self, tree: &Tree<'_>, given: &Given) -> Edits {
        self.check_parent(tree)?;
        let is_there = self.is_there(tree)?;
        self.judge(is_there)?;
        self.check_point(tree)?;
        match given {
            Given::Node(nodes) => {
                Ok(vec![Edit::Replace { parent: self.parent(), nodes: shared(nodes), at: self.position() }])
            }
            Given::Leaf(leaf, value) => self.set(tree, *leaf, value),
            Given::Nothing => Ok(Vec::new()),
        }
    }

    /// Edits that merge what is given into the resource, which must be there.
    pub(super) fn merge(&self, tree: &Tree<'_>, given: &Given) -> Edits {
        let is_there = self.is_there(tree)?;
        self.judge(is_there)?;
        if !is_there && !is_implied(tree, &self.path())? {
            return refuse(Problem::not_found("the resource does not exist, and a patch does not create it"));
        }
        match given {
            Given::Node(nodes) => {
                Ok(vec![Edit::Merge { parent: self.parent(), nodes: shared(nodes), options: MERGED }])
            }
            Given::Leaf(leaf, value) => self.set(tree, *leaf, value),
            Given::Nothing => Ok(Vec::new()),
        }
    }

    /// Edits that merge what is given into the resource, or make it (YANG Patch).
    pub(super) fn merge_or_make(&self, tree: &Tree<'_>, given: &Given) -> Edits {
        self.check_parent(tree)?;
        self.judge(self.is_there(tree)?)?;
        match given {
            Given::Node(nodes) => {
                Ok(vec![Edit::Merge { parent: self.parent(), nodes: shared(nodes), options: MERGED }])
            }
            Given::Leaf(leaf, value) => self.set(tree, *leaf, value),
            Given::Nothing => Ok(Vec::new()),
        }
    }

    /// Edits that make the resource, which must not be there, in something that is (YANG Patch).
    pub(super) fn make(&self, tree: &Tree<'_>, given: &Given) -> Edits {
        self.check_parent(tree)?;
        self.create(tree, given)
    }

    /// Edits that give the resource, an entry that must be there, another place (YANG Patch).
    pub(super) fn shift(&self, tree: &Tree<'_>) -> Edits {
        self.check_there(tree)?;
        self.check_point(tree)?;
        let Some(to) = self.position() else { return Ok(Vec::new()) };
        match &self.step.chosen {
            Chosen::Value(value) => self.set(tree, self.step.node, value),
            Chosen::All | Chosen::Entry(_) => {
                Ok(vec![Edit::Move { entry: Place::Steps(steps(&self.path())), to }])
            }
        }
    }

    /// Edits that remove the resource if it is there (YANG Patch).
    pub(super) fn remove(&self, tree: &Tree<'_>) -> Edits {
        if self.is_there(tree)? { self.delete(tree) } else { Ok(Vec::new()) }
    }

    /// Edits that remove the resource, which must be there.
    pub(super) fn delete(&self, tree: &Tree<'_>) -> Edits {
        self.check_there(tree)?;
        if tree.schema().is_entry(self.step.node) {
            return Ok(vec![Edit::Delete { entry: Place::Steps(steps(&self.path())) }]);
        }
        let value = match &self.step.chosen {
            Chosen::Value(value) => Some(value.text.clone()),
            Chosen::All | Chosen::Entry(_) => None,
        };
        Ok(vec![Edit::RemoveLeaf { parent: Place::Steps(steps(self.above)), node: self.step.node, value }])
    }

    fn path(&self) -> Vec<Step> {
        [self.above, std::slice::from_ref(&self.step)].concat()
    }

    fn parent(&self) -> Place {
        Place::Made(steps(self.above))
    }

    fn position(&self) -> Option<Position> {
        self.moved_to().map(|spot| spot.position(self.above))
    }

    /// Where the entry goes; beside itself it is already.
    fn moved_to(&self) -> Option<&Spot> {
        self.spot.as_ref().filter(|spot| spot.point() != Some(&self.step))
    }

    /// What a resource is put into must be there, or be a container that needs nobody to make it.
    fn check_parent(&self, tree: &Tree<'_>) -> Result<(), Refusal<Problem>> {
        if is_implied(tree, self.above)? {
            return Ok(());
        }
        refuse(Problem::application(
            Tag::DataMissing,
            "what the resource lies in does not exist: create that first",
        ))
    }

    fn check_there(&self, tree: &Tree<'_>) -> Result<(), Refusal<Problem>> {
        let is_there = self.is_there(tree)?;
        self.judge(is_there)?;
        if is_there {
            return Ok(());
        }
        refuse(Problem::application(Tag::DataMissing, "the resource does not exist"))
    }

    fn check_point(&self, tree: &Tree<'_>) -> Result<(), Refusal<Problem>> {
        let Some(point) = self.spot.as_ref().and_then(Spot::point) else { return Ok(()) };
        if is_stored(tree, self.above, point)? {
            return Ok(());
        }
        let problem = Problem::invalid("point: the entry that it names does not exist");
        refuse(problem.with_app_tag("missing-instance"))
    }

    fn is_there(&self, tree: &Tree<'_>) -> Result<bool, Fault> {
        is_stored(tree, self.above, &self.step)
    }

    fn judge(&self, is_there: bool) -> Result<(), Refusal<Problem>> {
        self.existed.store(is_there, Ordering::Relaxed);
        self.demands.judge(is_there).map_err(Refusal::Refused)
    }

    /// Sets a leaf, or puts a value among those of a leaf-list.
    fn set(&self, tree: &Tree<'_>, leaf: NodeId, value: &Value) -> Edits {
        let stored = values_of(tree, self.above, leaf)?;
        let values = match tree.schema().node(leaf).kind {
            NodeKind::LeafList { .. } => {
                let there = stored.iter().any(|other| other.text == value.text);
                if there && self.moved_to().is_none() {
                    return Ok(Vec::new());
                }
                placed(stored, value, self.moved_to())
            }
            _ if stored.first() == Some(value) => return Ok(Vec::new()),
            _ => vec![value.clone()],
        };
        Ok(vec![Edit::SetLeaves { parent: self.parent(), leaves: [Leaf { schema: leaf, values }].into() }])
    }
}

/// Edits that make the datastore be what is given.
pub(super) fn replace_all(content: &Arc<Content>) -> Vec<Edit> {
    vec![Edit::ReplaceContent { entry: Place::Made(Vec::new()), content: Arc::clone(content) }]
}

/// Edits that merge what is given into the datastore.
pub(super) fn merge_all(tree: &Tree<'_>, (given, nodes): (&[Leaf], &Arc<[DataNode]>)) -> Edits {
    let mut edits = Vec::new();
    if !given.is_empty() {
        let leaves = given.iter().map(|leaf| merged(tree, leaf)).collect::<Result<Vec<_>, _>>()?;
        edits.push(Edit::SetLeaves { parent: Place::Made(Vec::new()), leaves: leaves.into() });
    }
    if !nodes.is_empty() {
        let nodes = Arc::clone(nodes);
        edits.push(Edit::Merge { parent: Place::Made(Vec::new()), nodes, options: MERGED });
    }
    Ok(edits)
}

/// A leaf at the top as a merge makes it: of a leaf-list the values that are there, and behind them those given that are not.
/// Cost: O(values), up to the limit of a record.
fn merged(tree: &Tree<'_>, leaf: &Leaf) -> Result<Leaf, Refusal<Problem>> {
    let NodeKind::LeafList { .. } = tree.schema().node(leaf.schema).kind else { return Ok(leaf.clone()) };
    let stored = values_of(tree, &[], leaf.schema)?;
    let mut held: HashSet<&str> = stored.iter().map(|value| &*value.text).collect();
    let mut bytes: usize = held.iter().map(|text| text.len()).sum();
    let mut added = Vec::new();
    for value in leaf.values.iter().filter(|value| held.insert(&value.text)) {
        bytes += value.text.len();
        if bytes > RECORD_BYTES_MAX {
            let path = tree.schema().path(leaf.schema);
            let error = ApplyError::TooLarge { what: "the record", path, bytes, max: RECORD_BYTES_MAX };
            return refuse(Error::Edit(error).into());
        }
        added.push(value.clone());
    }
    drop(held);
    Ok(Leaf { schema: leaf.schema, values: stored.into_iter().chain(added).collect() })
}

/// One node as edits take it, shared.
fn shared(nodes: &Arc<[DataNode; 1]>) -> Arc<[DataNode]> {
    Arc::<[DataNode; 1]>::clone(nodes)
}

fn refuse<T>(problem: Problem) -> Result<T, Refusal<Problem>> {
    Err(Refusal::Refused(problem))
}

/// Whether a resource is stored.
pub(super) fn is_stored(tree: &Tree<'_>, above: &[Step], step: &Step) -> Result<bool, Fault> {
    if tree.schema().is_entry(step.node) {
        let path = [above, std::slice::from_ref(step)].concat();
        return Ok(tree.find(&steps(&path))?.is_some());
    }
    let values = values_of(tree, above, step.node)?;
    Ok(match &step.chosen {
        Chosen::Value(value) => values.iter().any(|stored| stored.text == value.text),
        Chosen::All | Chosen::Entry(_) => !values.is_empty(),
    })
}

/// The stored values of a leaf or leaf-list.
fn values_of(tree: &Tree<'_>, above: &[Step], leaf: NodeId) -> Result<Vec<Value>, Fault> {
    let Some(parent) = tree.find(&steps(above))? else { return Ok(Vec::new()) };
    let Some(record) = tree.record(&parent)? else { return Ok(Vec::new()) };
    Ok(record.leaf(leaf).into_iter().flatten().map(|value| value.to_value()).collect())
}

/// Values with one at its place among them.
fn placed(mut values: Vec<Value>, value: &Value, spot: Option<&Spot>) -> Vec<Value> {
    values.retain(|other| other.text != value.text);
    let index_of = |step: &Step| match &step.chosen {
        Chosen::Value(point) => values.iter().position(|other| other.text == point.text),
        Chosen::All | Chosen::Entry(_) => None,
    };
    let at = match spot {
        Some(Spot::First) => 0,
        Some(Spot::Last) | None => values.len(),
        // The point was looked for in the same version.
        Some(Spot::Before(step)) => index_of(step).unwrap_or(values.len()),
        Some(Spot::After(step)) => index_of(step).map_or(values.len(), |at| at + 1),
    };
    values.insert(at, value.clone());
    values
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use config::{PageCache, Pages, Root};
    use lang_yang::ValueKind;
    use lang_yang::testing::{SchemaBuilder, string};

    use super::*;

    fn merge(texts: impl Iterator<Item = String>) -> Edits {
        let schema = SchemaBuilder::new("m", "m").leaf_list("tag", string()).build();
        let values = texts.map(|text| Value { kind: ValueKind::Text, text: text.into() }).collect();
        let (root, pages) = (Root::empty(), Pages::new(Arc::new(PageCache::new(0))));
        let leaf = Leaf { schema: schema.child(None, Some("m"), "tag").unwrap(), values };
        merge_all(&Tree::new(&schema, &root, &pages), (&[leaf], &Arc::from([])))
    }

    #[test]
    fn values_are_merged_once_up_to_the_limit_of_a_record() {
        let edits = merge((0..40_000).map(|number| (number % 20_000).to_string())).unwrap();
        let [Edit::SetLeaves { leaves, .. }] = &*edits else { panic!("{edits:?}") };
        assert_eq!((leaves[0].values.len(), &*leaves[0].values[19_999].text), (20_000, "19999"));
        let refused = merge((0..500_000).map(|number| format!("{number:08}"))).unwrap_err();
        let Refusal::Refused(problem) = refused else { panic!("{refused:?}") };
        let message = "the record of /m:tag has 524296 bytes, at most 524288 are allowed";
        assert_eq!(
            (problem.status.as_u16(), &*problem.message),
            (413, message),
            "told at the first value above it"
        );
    }
}
