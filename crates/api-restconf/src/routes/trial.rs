//! Edits of one request that see one another: each is tried on a tree that those before it were done to. What that takes is bounded.

use std::collections::HashMap;
use std::mem::size_of;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use config::{Applied, ApplyError, Attempt, Edit, PageId, Pages, Root, Tree};
use lang_yang::Value;
use model_config::{Error, Refusal};

use crate::problem::{Problem, Tag};

/// The most bytes that the edits of one patch and the pages of its trial take.
pub(super) const PATCH_BYTES_MAX: usize = 64 << 20;
/// Of these, the part that pages may take which no edit needs any more.
const SPENT_PART: usize = 8;

/// A trial that lacks a page, to be gone on with when that is there. The first attempt begins with none.
pub(super) type Pause = Mutex<Option<Paused>>;

/// What a trial has done so far.
#[derive(Debug)]
pub(super) struct Paused {
    /// Edits that are done.
    done: usize,
    /// Of which tree it is.
    base: Root,
    root: Root,
    written: HashMap<PageId, Bytes>,
    edits: Vec<Edit>,
    edit_bytes: usize,
    attempts: u64,
}

/// Tries so many edits of a tree in their order, each told of what those before it have made. Cost: that of the edits; where a page is
/// missing, that of one more look at what is in memory, for the next attempt goes on where this one stopped.
///
/// # Errors
///
/// Which edit it is that cannot be told or done, and why.
pub(super) fn try_all(
    base: Tree<'_>,
    (count, bytes_max): (usize, usize),
    pause: &Pause,
    tell: impl Fn(usize, &Tree<'_>) -> Result<Vec<Edit>, Refusal<Problem>>,
) -> Result<Vec<Edit>, (usize, Refusal<Problem>)> {
    let paused = pause.lock().unwrap_or_else(PoisonError::into_inner).take();
    // Another writer may have come first.
    let paused = paused.filter(|paused| paused.base == *base.root());
    let first = paused.as_ref().map_or(0, |paused| paused.done);
    let mut trial = Trial::new(base, bytes_max);
    if let Some(paused) = paused {
        trial.resume(paused);
    }
    for number in first..count {
        if let Err(refusal) = tell(number, &trial.tree()).and_then(|edits| trial.add(edits)) {
            if let Refusal::Fault(_) = refusal {
                *pause.lock().unwrap_or_else(PoisonError::into_inner) = Some(trial.pause(number));
            }
            return Err((number, refusal));
        }
    }
    Ok(trial.edits)
}

/// A tree, as the edits so far would make it.
struct Trial<'t> {
    base: Tree<'t>,
    root: Root,
    /// What the base has seen, and what is written here, which nobody else sees.
    pages: Pages,
    /// Pages of this tree that the base has not.
    written: HashMap<PageId, Bytes>,
    written_bytes: usize,
    /// Bytes of pages that were written, and superseded, and are still held.
    spent_bytes: usize,
    edits: Vec<Edit>,
    edit_bytes: usize,
    attempts: u64,
    bytes_max: usize,
}

impl<'t> Trial<'t> {
    /// Begins with this tree. Cost: O(pages that it has seen).
    fn new(base: Tree<'t>, bytes_max: usize) -> Self {
        Self {
            root: base.root().clone(),
            pages: base.pages().fork(),
            base,
            written: HashMap::new(),
            written_bytes: 0,
            spent_bytes: 0,
            edits: Vec::new(),
            edit_bytes: 0,
            attempts: 0,
            bytes_max,
        }
    }

    /// The tree as it is now.
    fn tree(&self) -> Tree<'_> {
        Tree::new(self.base.schema(), &self.root, &self.pages)
    }

    /// Does some more. Cost: that of the edits, and now and then of all pages that were written.
    ///
    /// # Errors
    ///
    /// Why they cannot be done; 413 if all together take too much.
    fn add(&mut self, edits: Vec<Edit>) -> Result<(), Refusal<Problem>> {
        if edits.is_empty() {
            return Ok(());
        }
        // Such versions are nowhere else.
        let attempt = Attempt { version: u64::MAX - self.attempts, nonce: 0 };
        self.attempts += 1;
        let applied = match config::apply(&self.tree(), &edits, attempt) {
            Ok(applied) => applied,
            Err(ApplyError::Fault(fault)) => return Err(Refusal::Fault(fault)),
            Err(error) => return Err(Refusal::Refused(Error::Edit(error).into())),
        };
        edits.into_iter().for_each(|edit| self.keep(edit));
        self.proceed(applied);
        self.check()
    }

    /// What is to be remembered of it after so many edits.
    fn pause(self, done: usize) -> Paused {
        let base = self.base.root().clone();
        let Self { root, written, edits, edit_bytes, attempts, .. } = self;
        Paused { done, base, root, written, edits, edit_bytes, attempts }
    }

    /// Has one that has just begun go on behind what another did to the same tree. Cost: O(pages written).
    fn resume(&mut self, paused: Paused) {
        let Paused { root, written, edits, edit_bytes, attempts, .. } = paused;
        let pages: Vec<_> = written.iter().map(|(id, page)| (*id, page.clone())).collect();
        self.pages.pin_written(&pages);
        self.written_bytes = pages.iter().map(|(_, page)| page.len()).sum();
        (self.root, self.written, self.edits) = (root, written, edits);
        (self.edit_bytes, self.attempts) = (edit_bytes, attempts);
    }

    /// Keeps an edit. One that sets a leaf anew takes the place of that before it: a patch that adds value after value to a leaf-list
    /// would else hold as many copies of all.
    fn keep(&mut self, edit: Edit) {
        if let Some(before) = self.edits.pop_if(|before| sets_the_same(before, &edit)) {
            self.edit_bytes -= bytes_of(&before);
        }
        self.edit_bytes += bytes_of(&edit);
        self.edits.push(edit);
    }

    fn proceed(&mut self, applied: Applied) {
        for page in &applied.superseded {
            let bytes = self.written.remove(page).map_or(0, |page| page.len());
            self.written_bytes -= bytes;
            self.spent_bytes += bytes;
        }
        self.pages.pin_written(&applied.pages);
        self.written_bytes += applied.pages.iter().map(|(_, page)| page.len()).sum::<usize>();
        self.written.extend(applied.pages);
        self.root = applied.root;
        if self.spent_bytes > self.bytes_max / SPENT_PART {
            let written: Vec<_> = self.written.iter().map(|(id, page)| (*id, page.clone())).collect();
            self.pages = self.base.pages().fork();
            self.pages.pin_written(&written);
            self.spent_bytes = 0;
        }
    }

    fn check(&self) -> Result<(), Refusal<Problem>> {
        let bytes = self.edit_bytes + self.written_bytes + self.spent_bytes;
        if bytes <= self.bytes_max {
            return Ok(());
        }
        let message = format!(
            "the edits of the patch up to this one take {bytes} bytes of memory with what they change, at most {} are allowed (patch_bytes_max): send them as more than one patch",
            self.bytes_max
        );
        Err(Refusal::Refused(Problem::application(Tag::TooBig, message)))
    }
}

/// Whether both set just the same one leaf of the same entry, so that nothing is left of what the former does.
fn sets_the_same(former: &Edit, latter: &Edit) -> bool {
    let (Edit::SetLeaves { parent: one, leaves: former }, Edit::SetLeaves { parent: other, leaves: latter }) =
        (former, latter)
    else {
        return false;
    };
    let ([former], [latter]) = (&**former, &**latter) else { return false };
    former.schema == latter.schema && one == other
}

/// The bytes of what an edit alone holds; what the request gives is shared, and of its size.
fn bytes_of(edit: &Edit) -> usize {
    let Edit::SetLeaves { leaves, .. } = edit else { return size_of::<Edit>() };
    let values = leaves.iter().flat_map(|leaf| &leaf.values);
    size_of::<Edit>() + values.map(|value| size_of::<Value>() + value.text.len()).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use config::{PageCache, Place};
    use lang_yang::testing::{SchemaBuilder, string};
    use lang_yang::{Leaf, Schema, ValueKind};

    use super::*;

    const COUNT: usize = 1_000;
    const BYTES_MAX: usize = 1 << 20;

    fn schema() -> Schema {
        SchemaBuilder::new("m", "m").leaf_list("tag", string()).leaf_list("mark", string()).build()
    }

    /// Sets a leaf-list at the top to so many values of 60 bytes.
    fn set(schema: &Schema, name: &str, count: usize) -> Vec<Edit> {
        let value = |number| Value { kind: ValueKind::Text, text: format!("{number:060}").into() };
        let leaf = Leaf {
            schema: schema.child(None, Some("m"), name).unwrap(),
            values: (0..count).map(value).collect(),
        };
        vec![Edit::SetLeaves { parent: Place::Made(Vec::new()), leaves: [leaf].into() }]
    }

    fn with_trial(run: impl FnOnce(&Schema, Trial<'_>)) {
        let (schema, root) = (schema(), Root::empty());
        let pages = Pages::new(Arc::new(PageCache::new(0)));
        run(&schema, Trial::new(Tree::new(&schema, &root, &pages), BYTES_MAX));
    }

    #[test]
    fn value_after_value_is_one_edit_and_pages_that_are_superseded_are_let_go_of() {
        with_trial(|schema, mut trial| {
            for count in COUNT..COUNT + 100 {
                trial.add(set(schema, "tag", count)).unwrap();
                let held = trial.tree().record(&config::Label::top()).unwrap().unwrap();
                let leaf = held.leaf(schema.child(None, Some("m"), "tag").unwrap());
                assert_eq!(leaf.unwrap().count(), count);
            }
            assert!(trial.written_bytes < 2 * 66 * (COUNT + 100), "{}", trial.written_bytes);
            assert_eq!(trial.edits, set(schema, "tag", COUNT + 99));
        });
    }

    #[test]
    fn what_edits_hold_is_bounded() {
        with_trial(|schema, mut trial| {
            let mut done = 0;
            let refused = loop {
                let name = if done % 2 == 0 { "tag" } else { "mark" };
                match trial.add(set(schema, name, COUNT)) {
                    Ok(()) => done += 1,
                    Err(Refusal::Refused(problem)) => break problem,
                    Err(fault) => panic!("{fault:?}"),
                }
            };
            assert!((5..12).contains(&done), "{done} edits of 84,000 bytes, and a page of 130,000");
            assert_eq!(refused.status.as_u16(), 413);
            assert!(refused.message.contains("at most 1048576 are allowed (patch_bytes_max)"), "{refused:?}");
        });
    }

    /// A list of so many entries, as a root and pages that are stored.
    fn list(schema: &Schema, count: usize) -> (Root, Vec<(PageId, Bytes)>) {
        let pages = Pages::new(Arc::new(PageCache::new(0)));
        let nodes = (0..count).map(|number| entry(schema, number)).collect();
        let create = Edit::Create { parent: Place::Made(Vec::new()), nodes, at: config::Position::Last };
        let attempt = Attempt { version: 1, nonce: 1 };
        let applied = config::apply(&Tree::new(schema, &Root::empty(), &pages), &[create], attempt).unwrap();
        (applied.root, applied.pages)
    }

    fn entry(schema: &Schema, number: usize) -> lang_yang::DataNode {
        let list = schema.child(None, Some("m"), "l").unwrap();
        let value = Value { kind: ValueKind::Text, text: format!("{number:0200}").into() };
        let leaf = Leaf { schema: schema.child(Some(list), None, "k").unwrap(), values: vec![value] };
        let content = lang_yang::Content { leaves: vec![leaf], children: Vec::new() };
        lang_yang::DataNode { schema: list, content }
    }

    #[test]
    fn a_trial_that_lacks_a_page_goes_on_where_it_was() {
        const ENTRIES: usize = 4_000;
        const EDITS: usize = 100;
        let schema = SchemaBuilder::new("m", "m").top(|top| top.list("l", &["k"], |l| l.leaf("k", string())));
        let schema = schema.build();
        let (root, stored) = list(&schema, ENTRIES);
        assert!(stored.len() > EDITS, "each edit has pages of its own");
        let (pages, pause) = (Pages::new(Arc::new(PageCache::new(0))), Pause::default());
        let (told, mut faults) = (std::cell::Cell::new(0), 0);
        let tell = |number: usize, _: &Tree<'_>| {
            told.set(told.get() + 1);
            let node = entry(&schema, number * (ENTRIES / EDITS));
            let keys = node.content.leaves.iter();
            let keys = keys.map(|leaf| (leaf.schema, leaf.values[0].text.clone())).collect();
            Ok(vec![Edit::Delete { entry: Place::Steps(vec![config::Step::entry(node.schema, keys)]) }])
        };
        let edits = loop {
            match try_all(Tree::new(&schema, &root, &pages), (EDITS, BYTES_MAX), &pause, tell) {
                Ok(edits) => break edits,
                Err((_, Refusal::Fault(fault))) => {
                    faults += 1;
                    for (id, bytes) in stored.iter().filter(|(id, _)| fault.0.contains(id)) {
                        pages.insert(&schema, *id, bytes.clone()).unwrap();
                    }
                }
                Err(refused) => panic!("{refused:?}"),
            }
        };
        assert_eq!(edits.len(), EDITS);
        assert!(faults > EDITS / 2, "{faults} faults");
        assert_eq!(told.get(), EDITS + faults, "an edit that is done is not told again");
        // Of another tree nothing is known.
        *pause.lock().unwrap() = Some(Trial::new(Tree::new(&schema, &root, &pages), BYTES_MAX).pause(EDITS));
        let other = try_all(Tree::new(&schema, &Root::empty(), &pages), (1, BYTES_MAX), &pause, tell);
        assert!(matches!(other, Err((0, Refusal::Refused(_)))));
    }
}
