//! Which nodes hold defaults that count where nothing is set.

use super::{NodeKind, SchemaNode};

/// Of each node, whether it does. Children come after their parents. Cost: O(nodes).
pub(super) fn holders(nodes: &[SchemaNode]) -> Box<[bool]> {
    let mut holds = vec![false; nodes.len()];
    for (at, node) in nodes.iter().enumerate().rev() {
        let below = || {
            let mut children = node.children.iter().map(|child| child.0 as usize);
            children.any(|child| {
                let is_default = |child: &SchemaNode| child.choices.iter().all(|case| case.is_default);
                nodes.get(child).is_some_and(is_default) && holds.get(child).copied().unwrap_or(false)
            })
        };
        let holds_some = match &node.kind {
            NodeKind::Leaf { default, .. } => default.is_some(),
            NodeKind::LeafList { defaults, .. } => !defaults.is_empty(),
            NodeKind::Container { presence: false } => below(),
            NodeKind::Container { presence: true } | NodeKind::List { .. } | NodeKind::Any(_) => false,
        };
        if let Some(slot) = holds.get_mut(at) {
            *slot = holds_some;
        }
    }
    holds.into()
}
