//! Splices against a plain list of entries.

use proptest::prelude::*;

use super::*;

fn entry(first: i64, last: i64, generation: u64) -> Entry {
    let summary = Summary {
        count: 3,
        values: 2,
        first,
        last,
        observed_first: i64::MIN,
        observed_last: i64::MIN,
        min: -1.5,
        max: 2.0,
        sum: 0.5,
        sum_of_squares: 6.25,
        flag_max: 8,
    };
    Entry { generation, step: 60, summary }
}

/// An index with the pages that are stored for it, as the store would hold them.
#[derive(Default)]
struct Trial {
    index: Index,
    stored: Vec<(PageRef, Bytes)>,
    entries: Vec<Entry>,
    generation: u64,
}

impl Trial {
    fn pages(&self, wanted: &[PageRef]) -> Pages {
        let mut pages = Pages::default();
        for page in wanted {
            let (_, bytes) = self.stored.iter().find(|(stored, _)| stored == page).expect("is stored");
            pages.insert(*page, bytes).unwrap();
        }
        pages
    }

    /// Replaces entries of which an instant lies in the span by these, inside it.
    fn splice(&mut self, first: i64, last: i64, added: &[Entry]) {
        self.generation += 1;
        let is_removed = |entry: &Entry| first <= entry.summary.first && entry.summary.last <= last;
        let pages = self.pages(self.index.pages_to_splice(first, last, added.len()));
        let splice = self.index.splice(&pages, (first, last), is_removed, added, self.generation).unwrap();
        self.stored.retain(|(page, _)| !splice.gone.contains(page));
        self.stored.extend(splice.put);
        self.index = splice.index;
        self.entries.retain(|entry| !is_removed(entry));
        self.entries.extend_from_slice(added);
        self.entries.sort_by_key(|entry| entry.summary.first);
    }

    fn check(&self) {
        let mut stored: Vec<PageRef> = self.stored.iter().map(|(page, _)| *page).collect();
        stored.sort_by_key(|page| page.first);
        assert_eq!(stored, self.index.pages);
        assert!(stored.iter().all(|page| (1..=128).contains(&page.entries)));
        assert!(self.index.tail.len() <= TAIL_ENTRIES_MAX);
        let all = self.pages(&stored);
        assert_eq!(self.index.entries_meeting(&all, i64::MIN, i64::MAX).unwrap(), self.entries);
        assert_eq!(self.index.blocks(), self.entries.len());
        let bounds = self.entries.first().zip(self.entries.last());
        assert_eq!(self.index.extent(), bounds.map(|(first, last)| (first.summary.first, last.summary.last)));
        let mut bytes = Vec::new();
        self.index.put(&mut bytes);
        let mut reader = Reader::new(&bytes);
        assert_eq!(Index::read(&mut reader), Ok(self.index.clone()));
        assert!(reader.end().is_ok());
    }
}

#[test]
fn appends_rewrite_a_page_only_when_the_tail_is_full() {
    let mut trial = Trial::default();
    let mut puts = 0;
    for at in 0..1_000_i64 {
        let before = trial.stored.len();
        let generations: Vec<u64> = trial.index.pages.iter().map(|page| page.generation).collect();
        trial.splice(at * 100, at * 100 + 90, &[entry(at * 100, at * 100 + 90, 5)]);
        let changed = trial.index.pages.iter().filter(|page| !generations.contains(&page.generation)).count();
        puts += changed.max(trial.stored.len() - before);
        trial.check();
    }
    assert!(puts <= 1_000 / 8, "{puts} pages were written");
    assert!(trial.index.pages.len() <= 9, "pages are full");
}

proptest! {
    #[test]
    fn splices_are_those_of_a_list(
        spans in prop::collection::vec((0..400_i64, 0..60_i64, 0..40_usize), 1..60),
    ) {
        // Entries lie in slots of ten; a splice empties a run of slots and fills some of them.
        let mut trial = Trial::default();
        for (slot, more, fill) in spans {
            let (first, last) = (slot * 10, (slot + more) * 10 + 9);
            let filled = (slot..=slot + more).filter(|at| (at * 7 + slot) % 40 < fill as i64);
            let added: Vec<Entry> = filled.map(|at| entry(at * 10, at * 10 + 8, 9)).collect();
            trial.splice(first, last, &added);
            trial.check();
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        let _ = Index::read(&mut Reader::new(&bytes));
        let page = PageRef { first: 0, last: 1, generation: 1, entries: 1 };
        let _ = Pages::default().insert(page, &bytes);
    }
}
