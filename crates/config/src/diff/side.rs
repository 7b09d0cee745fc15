//! One of two trees that are gone through side by side.

use crate::cache::Fault;
use crate::label::{Label, LabelPath};
use crate::record::Record;
use crate::root::Body;
use crate::scan::{Ahead, Scan};
use crate::tree::Tree;

/// What a side is at.
#[derive(Debug)]
pub(super) enum State<'a> {
    /// It has not looked yet.
    Unknown,
    /// The scan is at an entry whose record was not read yet.
    Arrived,
    /// An entry.
    Entry(Record<'a>),
    /// A page that it has not gone into.
    Page(Ahead),
    End,
}

/// What lies below an entry of a tree, and the entry itself.
#[derive(Debug)]
pub(super) struct Side<'a> {
    tree: Tree<'a>,
    base: Label,
    scan: Scan<'a>,
    path: LabelPath,
    pub(super) state: State<'a>,
}

impl<'a> Side<'a> {
    pub(super) fn new(tree: Tree<'a>, base: &Label) -> Self {
        let scan = Scan::new(tree, base.as_bytes(), base.above().0);
        Self { tree, base: base.clone(), scan, path: LabelPath::default(), state: State::Unknown }
    }

    pub(super) fn base(&self) -> &Label {
        &self.base
    }

    /// Levels of interior pages of the tree.
    pub(super) fn height(&self) -> usize {
        match &self.tree.root.body {
            Body::Inline(_) => 0,
            Body::Paged { height, .. } => *height,
        }
    }

    /// Finds out what is next.
    pub(super) fn look(&mut self) -> Result<(), Fault> {
        if matches!(self.state, State::Unknown) {
            self.state = match self.scan.ahead()? {
                Ahead::End => State::End,
                page @ Ahead::Page { .. } => State::Page(page),
                Ahead::Entry if !self.scan.next()? => State::End,
                Ahead::Entry => {
                    self.path.go(self.tree.schema, self.scan.key());
                    State::Arrived
                }
            };
        }
        if matches!(self.state, State::Arrived) {
            let record = Record::new(self.tree.schema, self.path.node(), self.scan.value()?);
            self.state = State::Entry(record);
        }
        Ok(())
    }

    /// The entry that it is at.
    pub(super) fn entry(&self) -> Option<&Record<'a>> {
        if let State::Entry(record) = &self.state { Some(record) } else { None }
    }

    /// The label of the entry.
    pub(super) fn label(&self) -> &Label {
        self.path.label()
    }

    /// What the label of the entry has behind that of the walk.
    pub(super) fn relative(&self) -> &[u8] {
        self.label().as_bytes().get(self.base.as_bytes().len()..).expect("the entry lies within the walk")
    }

    /// The label here of what the entry of another side lies in.
    pub(super) fn translate(&self, other: &Side<'_>) -> Label {
        let parent = other.label().parent(self.tree.schema);
        let below = parent.as_ref().and_then(|parent| parent.as_bytes().strip_prefix(other.base.as_bytes()));
        let mut label = self.base.clone();
        // What the walks begin with has its parent outside, and is the same entry on both sides.
        below.into_iter().for_each(|below| label.0.extend_from_slice(below));
        label
    }

    /// Whether a key here, which all of a page is not below, is above the entry of another side.
    pub(super) fn is_above(&self, low: &[u8], other: &Side<'_>) -> bool {
        let low = low.strip_prefix(self.base.as_bytes());
        low.is_some_and(|low| low > other.relative())
    }

    /// Goes on behind the entry.
    pub(super) fn consume(&mut self) {
        self.state = State::Unknown;
    }

    /// Goes on behind all that lies below the entry.
    pub(super) fn pass(&mut self) {
        self.scan.skip_to(self.path.label().above().as_bytes());
        self.state = State::Unknown;
    }

    /// Goes into the page that it is at.
    pub(super) fn enter(&mut self) -> Result<(), Fault> {
        self.scan.enter_ahead()?;
        self.state = State::Unknown;
        Ok(())
    }

    /// Goes on behind the page that it is at.
    pub(super) fn pass_page(&mut self) {
        self.scan.pass_ahead();
        self.state = State::Unknown;
    }
}
