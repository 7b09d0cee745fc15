//! How large the parts of a tree may be.

/// Bytes of a label: of the slots and orders of all its steps.
pub const LABEL_BYTES_MAX: usize = 1024;

/// Bytes of the key values of one list entry, escaped as they lie in the key index.
pub const KEY_VALUES_BYTES_MAX: usize = 1024;

/// Bytes of a record: of all leaves and leaf-lists of one container or list entry. It bounds what a read or a change of one leaf
/// costs, and is a sixteenth of what a row of the store may have.
pub const RECORD_BYTES_MAX: usize = 512 * 1024;

/// How large pages get. Trees that are read do not depend on it: it may differ from version to version.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PageLimits {
    /// Bytes of a tree that has no pages, but lies in the row of its version. A tree that has pages lies inline again from three
    /// quarters of it on.
    pub inline_bytes_max: usize,
    /// Bytes of a page of records, or of the key index. A record of more than half of it has a page of its own.
    pub leaf_bytes_max: usize,
    /// Bytes of a page of pages.
    pub interior_bytes_max: usize,
}

impl PageLimits {
    /// What pages are made for: large enough that few are read, small enough that few bytes are written for the change of a leaf.
    pub const STANDARD: Self =
        Self { inline_bytes_max: 16 * 1024, leaf_bytes_max: 4 * 1024, interior_bytes_max: 4 * 1024 };

    /// Bytes of a record that lies in a leaf page.
    pub(crate) fn record_bytes_max(self) -> usize {
        self.leaf_bytes_max / 2
    }
}
