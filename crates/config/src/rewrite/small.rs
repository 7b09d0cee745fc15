//! A tree that has become small lies inline again.

use std::collections::HashSet;

use crate::cache::Fault;
use crate::edit::Applied;
use crate::fits::check_record;
use crate::label::Steps;
use crate::limits::PageLimits;
use crate::page::{Content, Page, PageId, PageKind};
use crate::rewrite::{inline_page, is_record};
use crate::root::Body;
use crate::run::Run;
use crate::tree::Tree;

/// Makes a small tree inline: at three quarters of what an inline one may have, pages and key index together.
pub(super) fn move_inline(tree: Tree<'_>, limits: PageLimits, applied: &mut Applied) -> Result<(), Fault> {
    let Body::Paged { top, height } = applied.root.body else { return Ok(()) };
    if applied.changes.is_empty() || top.bytes > (limits.inline_bytes_max / 4 * 3) as u64 {
        return Ok(());
    }
    let mut collected = Collected {
        tree,
        applied,
        run: Run::default(),
        superseded: Vec::new(),
        missing: Vec::new(),
        met: HashSet::new(),
    };
    collected.page(top.id, height)?;
    let Collected { run, superseded, missing, .. } = collected;
    if !missing.is_empty() {
        return Err(Fault(missing));
    }
    if let Some(page) = inline_page(&run, limits.inline_bytes_max) {
        applied.root.body = Body::Inline(page);
        applied.pages.clear();
        applied.superseded.extend(superseded);
    }
    Ok(())
}

/// All records of a version that was just written.
struct Collected<'c> {
    tree: Tree<'c>,
    applied: &'c Applied,
    run: Run,
    /// Pages of the version before.
    superseded: Vec<PageId>,
    missing: Vec<PageId>,
    /// Pages that were met: each is named once.
    met: HashSet<PageId>,
}

impl Collected<'_> {
    fn page(&mut self, id: PageId, height: usize) -> Result<(), Fault> {
        if !self.met.insert(id) {
            return Err(Fault::damage());
        }
        let Some(page) = self.load(id, PageKind::at(height))? else { return Ok(()) };
        let mut entries = page.entries();
        while entries.next() {
            match entries.content() {
                // Only pages of a height above zero have pages below.
                Content::Child(child) => self.page(child.id, height - 1)?,
                content => self.entry(entries.key(), content)?,
            }
        }
        Ok(())
    }

    fn entry(&mut self, key: &[u8], content: Content<'_>) -> Result<(), Fault> {
        if !is_record(key) {
            return Ok(());
        }
        let Content::Overflow(id, _) = content else {
            self.run.push(key, content);
            return Ok(());
        };
        if let Some(record) = self.load(id, PageKind::Overflow)?.and_then(|page| page.record()) {
            let node = Steps::new(self.tree.schema, key).last().map(|step| step.node);
            check_record(self.tree.schema, node, &record).map_err(|_| Fault::damage())?;
            self.run.push(key, Content::Value(&record));
        }
        Ok(())
    }

    /// A page of a kind; `None` if it is missing, which is noted.
    fn load(&mut self, id: PageId, kind: PageKind) -> Result<Option<Page>, Fault> {
        if let Some((_, bytes)) = self.applied.pages.iter().find(|(new, _)| *new == id) {
            return Ok(Some(Page::trusted(bytes.clone()).expect("what was just written is a page")));
        }
        self.superseded.push(id);
        let page = self.tree.pages.get(id);
        if page.is_none() {
            self.missing.push(id);
        }
        if page.as_ref().is_some_and(|page| page.kind() != kind) {
            return Err(Fault::damage());
        }
        Ok(page)
    }
}
