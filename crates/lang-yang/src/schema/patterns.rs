//! What the patterns of a schema take in memory.

use std::collections::HashSet;

use crate::types::{Type, TypeKind};

use super::SchemaNode;

/// Types and patterns, each of which counts once, by their addresses.
#[derive(Default)]
struct Counted {
    seen: HashSet<usize>,
    bytes: usize,
}

/// Bytes of all patterns of the types of these nodes, compiled.
pub(super) fn bytes(nodes: &[SchemaNode]) -> usize {
    let mut counted = Counted::default();
    nodes.iter().filter_map(SchemaNode::type_).for_each(|type_| counted.add(type_));
    counted.bytes
}

impl Counted {
    fn is_new<T>(&mut self, thing: &T) -> bool {
        self.seen.insert(std::ptr::from_ref(thing).addr())
    }

    /// As deep as types nest, which has a limit.
    fn add(&mut self, type_: &Type) {
        match type_.kind() {
            kind @ TypeKind::Union(members) if self.is_new(kind) => {
                members.iter().for_each(|member| self.add(member));
            }
            TypeKind::Leafref(leafref) => self.add(&leafref.target),
            TypeKind::String { patterns, .. } => {
                for pattern in patterns {
                    if self.is_new(&**pattern) {
                        self.bytes = self.bytes.saturating_add(pattern.memory_bytes());
                    }
                }
            }
            _ => {}
        }
    }
}
