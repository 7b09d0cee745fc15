//! A schema as bytes, so that it is compiled once and read ever after. Numbers are little-endian and of fixed width; a text or
//! list has its length, as 32 bits, before it.
//!
//! ```text
//! version u8 = 2 | hash u128
//! modules: name, revision, namespace, prefix, implemented u8, features, submodules with revisions, deviations
//! identities: name, all that it is derived from u32...
//! patterns: text, inverted u8
//! types, each after those it is made of: kind u8, what restricts it
//! nodes: name, module u16, parent u32 + 1 or 0, kind u8 with what it is, children u32..., choices, config u8, mandatory u8
//! top: u32...
//! ```
//!
//! Version 1, which is still read, had no features, submodules and deviations, and did not say which case of a choice is the default.

mod bytes;
mod types;

use crate::schema::{Any, Identities, InCase, Module, ModuleId, NodeId, NodeKind, Schema, SchemaNode};
use crate::types::Type;

use bytes::{Reader, Writer};
use types::{TypeTable, read_types};

pub use bytes::Malformed;

/// The form that is written.
const VERSION: u8 = 2;
/// The oldest form that is read.
const VERSION_MIN: u8 = 1;

impl Schema {
    /// All of it as bytes. Cost: linear in its size.
    ///
    /// # Panics
    ///
    /// If a table has more than 4 billion rows, which no compiled schema has.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u8(VERSION);
        out.u128(self.hash);
        out.list(&self.modules, |out, module| {
            for text in [&module.name, &module.revision, &module.namespace, &module.prefix] {
                out.text(text);
            }
            out.flag(module.is_implemented);
            out.list(&module.features, |out, feature| out.text(feature));
            out.list(&module.submodules, |out, (name, revision)| {
                out.text(name);
                out.text(revision);
            });
            out.list(&module.deviations, |out, deviation| out.text(deviation));
        });
        out.list(&self.identities, |out, (name, derived_from)| {
            out.text(name);
            out.list(derived_from, |out, position| out.u32(*position));
        });
        let mut table = TypeTable::default();
        for node in &self.nodes {
            if let Some(type_) = node.type_() {
                table.add(type_);
            }
        }
        table.write(&mut out);
        out.list(&self.nodes, |out, node| write_node(out, node, &table));
        out.list(&self.top, |out, id| out.u32(id.0));
        out.finish()
    }

    /// Reads what [`Schema::encode`] wrote. Cost: as [`Schema::new`]; patterns are compiled when they are first used.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if the bytes are cut, changed, or of another version.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let version = reader.u8()?;
        if !(VERSION_MIN..=VERSION).contains(&version) {
            return Err(Malformed);
        }
        let hash = reader.u128()?;
        let modules: Box<[Module]> = reader.list(|reader| read_module(reader, version))?;
        let identities: Identities = reader.list(|reader| Ok((reader.text()?, reader.list(Reader::u32)?)))?;
        let types = read_types(&mut reader, identities.len())?;
        let nodes: Box<[SchemaNode]> = reader.list(|reader| read_node(reader, &types, version))?;
        let top: Box<[NodeId]> = reader.list(|reader| reader.u32().map(NodeId))?;
        reader.end()?;
        check(&modules, &identities, &nodes, &top)?;
        let nodes = with_slots(nodes, &top)?;
        Ok(Self::new(hash, modules, nodes, top, identities))
    }
}

fn write_node(out: &mut Writer, node: &SchemaNode, types: &TypeTable<'_>) {
    out.text(&node.name);
    out.u16(node.module.0);
    out.u32(node.parent.map_or(0, |parent| parent.0 + 1));
    match &node.kind {
        NodeKind::Container { presence } => {
            out.u8(0);
            out.flag(*presence);
        }
        NodeKind::List { keys, user_ordered } => {
            out.u8(1);
            out.list(keys, |out, key| out.u32(key.0));
            out.flag(*user_ordered);
        }
        NodeKind::Leaf { type_, default } => {
            out.u8(2);
            out.u32(types.position(type_));
            out.list(default.as_slice(), |out, default| out.text(default));
        }
        NodeKind::LeafList { type_, user_ordered, defaults } => {
            out.u8(3);
            out.u32(types.position(type_));
            out.flag(*user_ordered);
            out.list(defaults, |out, default| out.text(default));
        }
        NodeKind::Any(Any::Data) => out.u8(4),
        NodeKind::Any(Any::Xml) => out.u8(5),
    }
    out.list(&node.children, |out, child| out.u32(child.0));
    out.list(&node.choices, |out, choice| {
        out.u32(choice.choice);
        out.u32(choice.case);
        out.flag(choice.is_default);
    });
    out.flag(node.is_config);
    out.flag(node.is_mandatory);
}

fn read_module(reader: &mut Reader<'_>, version: u8) -> Result<Module, Malformed> {
    let mut module = Module {
        name: reader.text()?,
        revision: reader.text()?,
        namespace: reader.text()?,
        prefix: reader.text()?,
        is_implemented: reader.flag()?,
        features: Box::default(),
        submodules: Box::default(),
        deviations: Box::default(),
    };
    if version > 1 {
        module.features = reader.list(Reader::text)?;
        module.submodules = reader.list(|reader| Ok((reader.text()?, reader.text()?)))?;
        module.deviations = reader.list(Reader::text)?;
    }
    Ok(module)
}

fn read_node(reader: &mut Reader<'_>, types: &[Type], version: u8) -> Result<SchemaNode, Malformed> {
    let name = reader.text()?;
    let module = ModuleId(reader.u16()?);
    let parent = reader.u32()?.checked_sub(1).map(NodeId);
    let type_ = |reader: &mut Reader<'_>| types.get(reader.u32()? as usize).cloned().ok_or(Malformed);
    let kind = match reader.u8()? {
        0 => NodeKind::Container { presence: reader.flag()? },
        1 => NodeKind::List {
            keys: reader.list(|reader| reader.u32().map(NodeId))?,
            user_ordered: reader.flag()?,
        },
        2 => {
            let type_ = type_(reader)?;
            let defaults: Box<[Box<str>]> = reader.list(Reader::text)?;
            let default = match <[Box<str>; 1]>::try_from(defaults.into_vec()) {
                Ok([default]) => Some(default),
                Err(defaults) if defaults.is_empty() => None,
                Err(_) => return Err(Malformed),
            };
            NodeKind::Leaf { type_, default }
        }
        3 => NodeKind::LeafList {
            type_: type_(reader)?,
            user_ordered: reader.flag()?,
            defaults: reader.list(Reader::text)?,
        },
        4 => NodeKind::Any(Any::Data),
        5 => NodeKind::Any(Any::Xml),
        _ => return Err(Malformed),
    };
    Ok(SchemaNode {
        name,
        module,
        parent,
        // Set from the list of its siblings.
        slot: 0,
        kind,
        children: reader.list(|reader| reader.u32().map(NodeId))?,
        choices: reader.list(|reader| {
            let (choice, case) = (reader.u32()?, reader.u32()?);
            Ok(InCase { choice, case, is_default: version > 1 && reader.flag()? })
        })?,
        is_config: reader.flag()?,
        is_mandatory: reader.flag()?,
    })
}

/// Every number is a position in its table, parents come before children, and both name each other.
fn check(
    modules: &[Module],
    identities: &Identities,
    nodes: &[SchemaNode],
    top: &[NodeId],
) -> Result<(), Malformed> {
    let is_sound = |is: bool| if is { Ok(()) } else { Err(Malformed) };
    is_sound(identities.is_sorted_by(|(a, _), (b, _)| a < b))?;
    for (_, derived_from) in identities {
        is_sound(derived_from.iter().all(|position| (*position as usize) < identities.len()))?;
    }
    let mut named = 0;
    for (parent, children) in std::iter::once((None, top))
        .chain((0..).map(NodeId).zip(nodes).map(|(id, node)| (Some(id), &*node.children)))
    {
        named += children.len();
        for child in children {
            let node = nodes.get(child.0 as usize).ok_or(Malformed)?;
            is_sound(node.parent == parent && parent.is_none_or(|parent| parent < *child))?;
        }
        is_sound(children.is_sorted_by(|a, b| a < b))?;
    }
    // Siblings differ, and every node is named by its parent: no more than there are means each once.
    is_sound(named == nodes.len())?;
    for node in nodes {
        is_sound(usize::from(node.module.0) < modules.len())?;
        match &node.kind {
            NodeKind::List { keys, .. } => {
                let is_key = |key: &NodeId| {
                    let leaf = nodes.get(key.0 as usize).map(|key| &key.kind);
                    node.children.contains(key) && matches!(leaf, Some(NodeKind::Leaf { .. }))
                };
                is_sound(keys.iter().all(is_key))?;
            }
            NodeKind::Container { .. } => {}
            NodeKind::Leaf { .. } | NodeKind::LeafList { .. } | NodeKind::Any(_) => {
                is_sound(node.children.is_empty())?;
            }
        }
    }
    Ok(())
}

/// Gives every node its position among its siblings.
fn with_slots(mut nodes: Box<[SchemaNode]>, top: &[NodeId]) -> Result<Box<[SchemaNode]>, Malformed> {
    let mut next: Vec<u32> = vec![0; nodes.len()];
    let mut at_top = 0;
    // Siblings have ascending numbers.
    for node in &mut nodes {
        let counter = match node.parent {
            None => &mut at_top,
            Some(parent) => next.get_mut(parent.0 as usize).ok_or(Malformed)?,
        };
        node.slot = *counter;
        *counter += 1;
    }
    if at_top as usize == top.len() { Ok(nodes) } else { Err(Malformed) }
}

#[cfg(test)]
mod tests;
