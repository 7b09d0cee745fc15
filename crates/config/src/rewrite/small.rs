//! A tree that has become small lies inline again.

use crate::cache::Fault;
use crate::edit::Applied;
use crate::limits::PageLimits;
use crate::page::{Content, Page, PageId};
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
    let mut collected =
        Collected { tree, applied, run: Run::default(), superseded: Vec::new(), missing: Vec::new() };
    collected.page(top.id, height);
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
}

impl Collected<'_> {
    fn page(&mut self, id: PageId, height: usize) {
        let Some(page) = self.load(id) else { return };
        let mut entries = page.entries();
        while entries.next() {
            match entries.content() {
                Content::Child(child) => self.page(child.id, height.saturating_sub(1)),
                content => self.entry(entries.key(), content),
            }
        }
    }

    fn entry(&mut self, key: &[u8], content: Content<'_>) {
        if !is_record(key) {
            return;
        }
        let Content::Overflow(id, _) = content else { return self.run.push(key, content) };
        if let Some(record) = self.load(id).and_then(|page| page.record()) {
            self.run.push(key, Content::Value(&record));
        }
    }

    fn load(&mut self, id: PageId) -> Option<Page> {
        if let Some((_, bytes)) = self.applied.pages.iter().find(|(new, _)| *new == id) {
            return Some(Page::trusted(bytes.clone()).expect("what was just written is a page"));
        }
        self.superseded.push(id);
        let page = self.tree.pages.get(id);
        if page.is_none() {
            self.missing.push(id);
        }
        page
    }
}
