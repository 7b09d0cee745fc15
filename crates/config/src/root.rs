//! Roots: what the row of a version says of its tree. Everything else hangs on it.
//!
//! ```text
//! root = version (1), 0, varint records, page                                                a tree that has no pages
//!      | version (1), 1, varint records, varint bytes, varint height, page id, has overflow, u64 summary
//! ```

use std::fmt;

use bytes::Bytes;
use lang_yang::Schema;
use store::wire::{Malformed, Reader, put_varint};

use crate::fits::check_page;
use crate::label::NO_LABEL;
use crate::page::{Child, Content, Page, PageBuilder, PageId, PageKind, Summary};

const VERSION: u8 = 1;
/// No tree is higher: each level has at least twice the pages of the one above. One that is has a page below itself.
pub(crate) const HEIGHT_MAX: usize = 64;

/// The root of one version of a tree. Cheap to clone.
#[derive(Clone)]
pub struct Root {
    pub(crate) records: u64,
    pub(crate) body: Body,
}

/// Where the entries of a tree are.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// In the root itself, without a key index.
    Inline(Page),
    /// Below a page; `height` says how many levels of interior pages there are.
    Paged { top: Child, height: usize },
}

impl Root {
    /// Of a tree that has nothing.
    pub fn empty() -> Self {
        let page = Page::trusted(PageBuilder::new(PageKind::Leaf).finish()).expect("an empty page is one");
        Self { records: 0, body: Body::Inline(page) }
    }

    /// Containers and list entries of the tree, and one for the top if it has leaves.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Whether the tree has nothing.
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// Bytes of the tree and of its key index.
    pub fn bytes(&self) -> u64 {
        match &self.body {
            Body::Inline(page) => page.bytes().len() as u64,
            Body::Paged { top, .. } => top.bytes,
        }
    }

    /// Whether the tree lies in the root.
    pub fn is_inline(&self) -> bool {
        matches!(self.body, Body::Inline(_))
    }

    /// As bytes, to be stored.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        match &self.body {
            Body::Inline(page) => {
                out.push(0);
                put_varint(&mut out, self.records);
                out.extend_from_slice(page.bytes());
            }
            Body::Paged { top, height } => {
                out.push(1);
                put_varint(&mut out, self.records);
                put_varint(&mut out, top.bytes);
                put_varint(&mut out, *height as u64);
                out.extend_from_slice(&top.id.to_bytes());
                out.push(u8::from(top.has_overflow));
                out.extend_from_slice(&top.summary.0.to_le_bytes());
            }
        }
        out
    }

    /// The root of stored bytes, of a tree under this schema; an inline tree shares them. Cost: O(1), or a look at each byte of an
    /// inline tree.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if they are none, or have a tree of another schema.
    pub fn decode(schema: &Schema, bytes: &Bytes) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        if reader.byte()? != VERSION {
            return Err(Malformed);
        }
        let kind = reader.byte()?;
        let records = reader.varint()?;
        if kind == 0 {
            let page = Page::from_bytes(bytes.slice(bytes.len() - reader.rest().len()..))?;
            check_page(schema, &page)?;
            let is_whole = page.kind() == PageKind::Leaf && holds_records(&page);
            return if is_whole { Ok(Self { records, body: Body::Inline(page) }) } else { Err(Malformed) };
        }
        let total = reader.varint()?;
        let height = reader.length(HEIGHT_MAX)?;
        let id = PageId::from_bytes(&reader.array()?);
        let has_overflow = reader.byte()?;
        let summary = Summary(u64::from_le_bytes(reader.array()?));
        reader.end()?;
        if kind != 1 || has_overflow > 1 {
            return Err(Malformed);
        }
        let top = Child { id, records, bytes: total, has_overflow: has_overflow == 1, summary };
        Ok(Self { records, body: Body::Paged { top, height } })
    }
}

/// Whether a page has nothing but records, all of them in itself.
fn holds_records(page: &Page) -> bool {
    let mut entries = page.entries();
    while entries.next() {
        if entries.key().first() == Some(&NO_LABEL) || !matches!(entries.content(), Content::Value(_)) {
            return false;
        }
    }
    true
}

impl Default for Root {
    fn default() -> Self {
        Self::empty()
    }
}

impl fmt::Debug for Root {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut root = formatter.debug_struct("Root");
        root.field("records", &self.records).field("bytes", &self.bytes());
        match &self.body {
            Body::Inline(_) => root.field("inline", &true).finish(),
            Body::Paged { top, height } => root.field("page", &top.id).field("height", height).finish(),
        }
    }
}

/// Roots are equal if they are the same bytes: of paged trees the same page.
impl PartialEq for Root {
    fn eq(&self, other: &Self) -> bool {
        match (&self.body, &other.body) {
            (Body::Inline(one), Body::Inline(other)) => one.bytes() == other.bytes(),
            (Body::Paged { top: one, .. }, Body::Paged { top: other, .. }) => one.id == other.id,
            _ => false,
        }
    }
}

impl Eq for Root {}
