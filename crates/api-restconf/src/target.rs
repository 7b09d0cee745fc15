//! What a request is about: steps of a path against a schema, keys of their types.

use std::fmt::Write as _;

use lang_yang::{Kinds, NodeId, NodeKind, Prefixes, Scalar, Schema, Value, ValueRules};

use crate::identifier::{Segment, put_key};
use crate::names::{child, place};
use crate::place::ErrorPath;
use crate::problem::{Problem, Tag};

/// A place in the data: the steps from the top to it; none for the top itself.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Target {
    pub(crate) steps: Vec<Step>,
}

/// One step.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Step {
    pub(crate) node: NodeId,
    pub(crate) chosen: Chosen,
}

/// Which of a node's instances are meant.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Chosen {
    /// All: of a list or leaf-list every entry, of others the one there is.
    All,
    /// The entry of a list with these keys, in the order of the list's `key` statement.
    Entry(Vec<(NodeId, Value)>),
    /// The entry of a leaf-list with this value.
    Value(Value),
}

impl Target {
    /// What a path means.
    ///
    /// # Errors
    ///
    /// 400: a name that is no node there, keys where none belong or too few, a value that is none of its type. The path says where.
    pub(crate) fn of(schema: &Schema, segments: &[Segment<'_>]) -> Result<Self, Problem> {
        Self::default().below(schema, segments)
    }

    /// What a path means that goes on from here.
    ///
    /// # Errors
    ///
    /// As of [`Target::of`].
    pub(crate) fn below(self, schema: &Schema, segments: &[Segment<'_>]) -> Result<Self, Problem> {
        let mut target = self;
        for segment in segments {
            let step = target.step(schema, segment).map_err(|problem| problem.at(target.path(schema)))?;
            if let Some(above) = target.steps.last() {
                check_passes(schema, above).map_err(|problem| problem.at(target.path(schema)))?;
            }
            target.steps.push(step);
        }
        Ok(target)
    }

    fn step(&self, schema: &Schema, segment: &Segment<'_>) -> Result<Step, Problem> {
        let node = child(schema, self.node(), segment.module.as_deref(), &segment.name)?;
        let place = || place(schema, Some(node));
        let Some(values) = &segment.keys else { return Ok(Step { node, chosen: Chosen::All }) };
        let chosen = match &schema.node(node).kind {
            NodeKind::List { keys, .. } if keys.len() == values.len() => {
                let keys = keys.iter().zip(values);
                let keys = keys.map(|(key, text)| Ok((*key, key_value(schema, *key, text)?)));
                Chosen::Entry(keys.collect::<Result<_, Problem>>()?)
            }
            NodeKind::List { keys, .. } => {
                let names: Vec<_> = keys.iter().map(|key| &*schema.node(*key).name).collect();
                let message = match names.as_slice() {
                    [] => format!("list {} has no keys, so none of its entries can be named", place()),
                    names => format!(
                        "list {} has {} keys ({}), not {}; a comma within a value is spelt %2C",
                        place(),
                        names.len(),
                        names.join(", "),
                        values.len()
                    ),
                };
                return Err(Problem::invalid(message));
            }
            NodeKind::LeafList { .. } => match values.as_slice() {
                [value] => Chosen::Value(key_value(schema, node, value)?),
                _ => {
                    return Err(Problem::invalid(format!(
                        "an entry of leaf-list {} is named by one value; a comma within it is spelt %2C",
                        place()
                    )));
                }
            },
            NodeKind::Container { .. } | NodeKind::Leaf { .. } | NodeKind::Any(_) => {
                return Err(Problem::invalid(format!(
                    "{} is neither a list nor a leaf-list, so it has no keys",
                    place()
                )));
            }
        };
        Ok(Step { node, chosen })
    }

    /// The node of the last step; `None` at the top.
    pub(crate) fn node(&self) -> Option<NodeId> {
        self.steps.last().map(|step| step.node)
    }

    /// The last step, and those above it.
    pub(crate) fn split(&self) -> Option<(&Step, &[Step])> {
        self.steps.split_last()
    }

    /// The place, as errors name it.
    pub(crate) fn path(&self, schema: &Schema) -> ErrorPath {
        instance_path(schema, &self.steps)
    }

    /// Appends the path of the resource behind `{root}/data`.
    pub(crate) fn put_url(&self, out: &mut String, schema: &Schema) {
        let mut around = None;
        for step in &self.steps {
            out.push('/');
            let module = schema.node(step.node).module;
            if around != Some(module) {
                out.push_str(&schema.module(module).name);
                out.push(':');
            }
            out.push_str(&schema.node(step.node).name);
            let values: Vec<&Value> = match &step.chosen {
                Chosen::All => Vec::new(),
                Chosen::Entry(keys) => keys.iter().map(|(_, value)| value).collect(),
                Chosen::Value(value) => vec![value],
            };
            for (place, value) in values.into_iter().enumerate() {
                out.push(if place == 0 { '=' } else { ',' });
                put_key(out, &value.text);
            }
            around = Some(module);
        }
    }
}

impl Step {
    /// Whether it means all entries of a list or leaf-list.
    pub(crate) fn is_whole_list(&self, schema: &Schema) -> bool {
        let kind = &schema.node(self.node).kind;
        self.chosen == Chosen::All && matches!(kind, NodeKind::List { .. } | NodeKind::LeafList { .. })
    }
}

/// The place of these steps, from the top on.
pub(crate) fn instance_path(schema: &Schema, steps: &[Step]) -> ErrorPath {
    let (mut text, mut around) = (String::new(), None);
    for step in steps {
        put_step(&mut text, schema, (step.node, around));
        match &step.chosen {
            Chosen::All => {}
            Chosen::Entry(keys) => {
                for (key, value) in keys {
                    text.push('[');
                    text.push_str(&schema.node(*key).name);
                    put_value(&mut text, value);
                }
            }
            Chosen::Value(value) => {
                text.push_str("[.");
                put_value(&mut text, value);
            }
        }
        around = Some(step.node);
    }
    ErrorPath::of(schema, text)
}

/// Appends `/name`, with its module where it is not that of the node around it.
fn put_step(text: &mut String, schema: &Schema, (node, around): (NodeId, Option<NodeId>)) {
    text.push('/');
    let module = schema.node(node).module;
    if around.is_none_or(|around| schema.node(around).module != module) {
        text.push_str(&schema.module(module).name);
        text.push(':');
    }
    text.push_str(&schema.node(node).name);
}

fn put_value(text: &mut String, value: &Value) {
    let quote = if value.text.contains('\'') { '"' } else { '\'' };
    let written = write!(text, "={quote}{}{quote}]", value.text);
    debug_assert!(written.is_ok(), "writing to a string succeeds");
}

/// Refuses steps below what is neither a container nor one entry of a list.
fn check_passes(schema: &Schema, above: &Step) -> Result<(), Problem> {
    if !above.is_whole_list(schema) {
        return Ok(());
    }
    let message = format!(
        "{} is a list: one of its entries must be named before what lies in it, as LIST=KEY,KEY",
        place(schema, Some(above.node))
    );
    Err(Problem::protocol(Tag::MissingElement, message))
}

/// The value of a key or leaf-list in its canonical form. Identities name their modules, as in JSON.
fn key_value(schema: &Schema, leaf: NodeId, text: &str) -> Result<Value, Problem> {
    let node = schema.node(leaf);
    let rules =
        ValueRules { schema, module: node.module, prefixes: Prefixes::Modules, kinds: Kinds::Lenient };
    let value = node.type_().map(|type_| type_.check(Scalar::Text(text), &rules));
    let value = value.expect("keys are leaves, and only leaf-lists have values");
    value.map_err(|error| {
        Problem::invalid(format!("{} of {}: {error}", node.name, place(schema, node.parent)))
    })
}

#[cfg(test)]
mod tests {
    use lang_yang::testing::{SchemaBuilder, string};
    use lang_yang::{IntegerWidth, Type, TypeKind};

    use super::*;
    use crate::identifier::parse_identifier;

    fn schema() -> Schema {
        let byte = Type::new(TypeKind::Integer { width: IntegerWidth::Uint8, ranges: Box::default() });
        SchemaBuilder::new("m", "m")
            .module("add", "a")
            .container("top", |top| {
                top.list("one", &["id"], |one| one.leaf("id", byte.clone()).leaf("x", string()))
                    .list("two", &["a", "b"], |two| two.leaf("a", string()).leaf("b", string()))
                    .list("none", &[], |none| none.leaf("x", string()))
                    .leaf_list("tag", string())
                    .of_module("add", |top| top.container("more", |more| more.leaf("x", string())))
            })
            .build()
    }

    fn read(path: &str) -> Result<(String, String), (String, u16, String)> {
        let schema = schema();
        let target = Target::of(&schema, &parse_identifier(path).unwrap());
        let target = target.map_err(|problem| {
            (problem.message.clone(), problem.status.as_u16(), problem.place().to_owned())
        })?;
        let mut url = String::new();
        target.put_url(&mut url, &schema);
        Ok((target.path(&schema).text, url))
    }

    fn check(path: &str, place: &str, url: &str) {
        assert_eq!(read(path), Ok((place.into(), url.into())), "{path}");
    }

    fn check_refused(path: &str, message: &str, place: &str) {
        let (found, status, at) = read(path).unwrap_err();
        assert!(found.contains(message), "{path}: {found}");
        assert_eq!((status, at.as_str()), (400, place), "{path}");
    }

    #[test]
    fn paths_mean_places() {
        check("m:top", "/m:top", "/m:top");
        check("/m:top/one=007/x", "/m:top/one[id='7']/x", "/m:top/one=7/x");
        check("m:top/m:two=a%2Cb,", "/m:top/two[a='a,b'][b='']", "/m:top/two=a%2Cb,");
        check("m:top/two=it's,x", "/m:top/two[a=\"it's\"][b='x']", "/m:top/two=it%27s,x");
        check("m:top/tag=a%2Fb", "/m:top/tag[.='a/b']", "/m:top/tag=a%2Fb");
        check("m:top/tag", "/m:top/tag", "/m:top/tag");
        check("m:top/one", "/m:top/one", "/m:top/one");
        check("m:top/add:more/x", "/m:top/add:more/x", "/m:top/add:more/x");
    }

    #[test]
    fn paths_that_mean_nothing_are_named() {
        check_refused("top", "\"top\" must name its module", "");
        check_refused("n:top", "no module \"n\"", "");
        check_refused("m:top/more", "/m:top has no node \"m:more\"", "/m:top");
        check_refused("m:top/one/x", "/m:top/one is a list: one of its entries", "/m:top/one");
        check_refused("m:top/one=300", "id of /m:top/one: ", "/m:top");
        check_refused("m:top/two=a", "has 2 keys (a, b), not 1", "/m:top");
        check_refused("m:top/two=a,b,c", "has 2 keys (a, b), not 3", "/m:top");
        check_refused("m:top/none=a", "list /m:top/none has no keys", "/m:top");
        check_refused("m:top/tag=a,b", "is named by one value", "/m:top");
        check_refused("m:top=a", "neither a list nor a leaf-list", "");
        check_refused("m:top/one=1/x/y", "/m:top/one/x has no node", "/m:top/one[id='1']/x");
    }
}
