//! Instance-identifiers (RFC 7950, 9.13; RFC 7951, 6.11): a path to one node, whose names and keys the schema knows.

use std::fmt::Write as _;

use crate::schema::{ModuleId, NodeId, NodeKind, Schema};
use crate::types::Type;

use super::{Prefixes, Scalar, ValueRules, accept, names};

/// A path as RFC 7951 spells it: a name has the name of its module where that is not its parent's; keys are in the order of
/// the schema, with canonical values.
pub(super) fn path(text: &str, rules: &ValueRules<'_>) -> Option<Box<str>> {
    let mut reader = Reader { rest: text, rules };
    let mut out = String::with_capacity(text.len());
    let mut parent: Option<NodeId> = None;
    while !reader.rest.is_empty() {
        reader.take('/')?;
        let id = reader.node(parent)?;
        let node = rules.schema.node(id);
        out.push('/');
        if parent.is_none_or(|parent| rules.schema.node(parent).module != node.module) {
            out.push_str(&rules.schema.module(node.module).name);
            out.push(':');
        }
        out.push_str(&node.name);
        reader.predicates(id, &mut out)?;
        parent = Some(id);
    }
    parent.is_some().then(|| out.into())
}

struct Reader<'a> {
    rest: &'a str,
    rules: &'a ValueRules<'a>,
}

impl<'a> Reader<'a> {
    fn take(&mut self, sign: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(sign)?;
        Some(())
    }

    fn spaces(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn node(&mut self, parent: Option<NodeId>) -> Option<NodeId> {
        let (prefix, name) = self.name()?;
        let schema = self.rules.schema;
        let module = match prefix {
            Some(prefix) => names::module(prefix, self.rules)?,
            // A name of XML without one is of no module, unless there is a default namespace.
            None => match (self.rules.prefixes, parent) {
                (Prefixes::Xml(namespaces), _) => namespaces("")?,
                (_, parent) => schema.node(parent?).module,
            },
        };
        child(schema, parent, module, name)
    }

    /// A name, and its prefix if it has one.
    fn name(&mut self) -> Option<(Option<&'a str>, &'a str)> {
        let end = self
            .rest
            .find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | ':')))
            .unwrap_or(self.rest.len());
        let (whole, rest) = self.rest.split_at(end);
        self.rest = rest;
        let (prefix, name) =
            whole.split_once(':').map_or((None, whole), |(prefix, name)| (Some(prefix), name));
        (!name.is_empty()).then_some((prefix, name))
    }

    /// What tells the entry: all keys of a list, the value of a leaf-list, or the position where there are no keys.
    fn predicates(&mut self, id: NodeId, out: &mut String) -> Option<()> {
        match &self.rules.schema.node(id).kind {
            NodeKind::List { keys, .. } if keys.is_empty() => self.position(out),
            NodeKind::List { keys, .. } => self.keys(id, keys, out),
            NodeKind::LeafList { type_, .. } => {
                self.open()?;
                self.take('.')?;
                let value = self.value(type_)?;
                write!(out, "[.={}]", quoted(&value)?).ok()
            }
            _ => Some(()),
        }
    }

    fn open(&mut self) -> Option<()> {
        self.spaces();
        self.take('[')?;
        self.spaces();
        Some(())
    }

    fn position(&mut self, out: &mut String) -> Option<()> {
        self.open()?;
        let end = self.rest.find(|digit: char| !digit.is_ascii_digit())?;
        let (digits, rest) = self.rest.split_at(end);
        let position: u32 = digits.parse().ok().filter(|position| *position > 0)?;
        self.rest = rest;
        self.spaces();
        self.take(']')?;
        write!(out, "[{position}]").ok()
    }

    fn keys(&mut self, list: NodeId, keys: &[NodeId], out: &mut String) -> Option<()> {
        let mut values: Vec<Option<Box<str>>> = vec![None; keys.len()];
        for _ in keys {
            self.open()?;
            let key = self.key(list)?;
            let index = keys.iter().position(|known| *known == key)?;
            let value = self.value(self.rules.schema.node(key).type_()?)?;
            values.get_mut(index).filter(|slot| slot.is_none())?.replace(value);
        }
        for (key, value) in keys.iter().zip(values) {
            write!(out, "[{}={}]", self.rules.schema.node(*key).name, quoted(&value?)?).ok()?;
        }
        Some(())
    }

    fn key(&mut self, list: NodeId) -> Option<NodeId> {
        let (prefix, name) = self.name()?;
        let module = match prefix {
            Some(prefix) => names::module(prefix, self.rules)?,
            None => self.rules.schema.node(list).module,
        };
        child(self.rules.schema, Some(list), module, name)
    }

    /// `= 'value']`, after what it is the value of.
    fn value(&mut self, type_: &Type) -> Option<Box<str>> {
        self.spaces();
        self.take('=')?;
        self.spaces();
        let quote = self.rest.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
        self.take(quote)?;
        let (value, rest) = self.rest.split_once(quote)?;
        self.rest = rest;
        self.spaces();
        self.take(']')?;
        Some(accept(type_, Scalar::Text(value), self.rules)?.text)
    }
}

fn child(schema: &Schema, parent: Option<NodeId>, module: ModuleId, name: &str) -> Option<NodeId> {
    schema.children_named(parent, name).iter().copied().find(|id| schema.node(*id).module == module)
}

/// In the quotes that it does not hold; XPath has no way to write one that holds both.
fn quoted(value: &str) -> Option<String> {
    let quote = if value.contains('\'') { '"' } else { '\'' };
    (!value.contains(quote)).then(|| format!("{quote}{value}{quote}"))
}
