//! Summaries: which containers and lists of the schema may lie below a page, in 64 bits.

use lang_yang::NodeId;

/// A set of schema nodes that may say yes too often, never no: a bit for each, several share one in a large schema.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Summary(pub(crate) u64);

impl Summary {
    /// Of one schema node.
    #[inline]
    pub(crate) fn of(node: NodeId) -> Self {
        // The upper bits of a product with 2^64 / φ: neighbours in the schema get bits of their own.
        Self(1 << (u64::from(node.0).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58))
    }

    /// Adds all of another set.
    #[inline]
    pub(crate) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Whether a node may be in both.
    #[inline]
    pub(crate) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}
