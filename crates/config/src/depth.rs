//! How far below an entry an answer goes.

/// How many levels of containers and list entries are taken below an entry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Depth {
    /// So many: with none, its own leaves alone.
    Levels(u32),
    /// All.
    All,
}

impl Depth {
    /// Whether an entry so many levels below is taken.
    pub(crate) fn has(self, levels: usize) -> bool {
        match self {
            Self::Levels(most) => levels <= most as usize,
            Self::All => true,
        }
    }
}
