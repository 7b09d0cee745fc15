//! Rows that point at edges of other buckets, merged where those at a hub are spread.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use futures_util::future::try_join_all;
use graph::{VertexId, keys};
use store::{Direction, Page, Partition, Range};

use super::Reader;
use crate::Error;
use crate::hubs::Hubs;

/// What is read of each bucket beyond its share of a page: shares differ.
const SPARE_ROWS: usize = 16;

impl Reader {
    /// Whether pointers at some vertices are spread.
    #[inline]
    pub(super) fn has_hubs(&self) -> bool {
        self.hubs.is_some()
    }

    /// Over how many buckets pointers at a vertex are spread.
    pub(crate) fn width(&self, vertex_key: &[u8]) -> u32 {
        Hubs::width(self.hubs.as_ref(), vertex_key)
    }

    /// The same by its id.
    pub(crate) fn width_of(&self, id: &VertexId) -> u32 {
        Hubs::width_of(self.hubs.as_ref(), id)
    }

    /// Pointers of a range at a vertex of this bucket, in the order of their keys, from all buckets over which they are spread. Cost: a scan of each,
    /// at once, of its share of the rows.
    pub(crate) async fn pointers(
        &self,
        (bucket, width): (u32, u32),
        range: &Range,
        rows_max: usize,
    ) -> Result<Page, Error> {
        let partition = |bucket| keys::pointers_partition(&self.context.graph, bucket);
        if width == 1 {
            return Ok(self.snapshot.scan(&partition(bucket), range, Direction::Forward, rows_max).await?);
        }
        let partitions: Vec<Partition> =
            keys::buckets_of_pointers(bucket, width, self.context.buckets).map(partition).collect();
        let rows_each = (rows_max.div_ceil(partitions.len()) + SPARE_ROWS).min(rows_max);
        let scan = |partition| self.snapshot.scan(partition, range, Direction::Forward, rows_each);
        Ok(merge(&try_join_all(partitions.iter().map(scan)).await?, rows_max))
    }
}

/// The first rows of pages of one range, in the order of their keys: as far as all of them reach.
fn merge(pages: &[Page], rows_max: usize) -> Page {
    assert!(pages.iter().all(|page| !page.is_empty() || !page.more()), "a page has a row, or there are none");
    let first = |(index, page): (usize, &Page)| Some(Reverse((page.row(0)?.0.to_vec(), index, 0)));
    let mut heads: BinaryHeap<_> = pages.iter().enumerate().filter_map(first).collect();
    let mut merged = Page::default();
    while let Some(Reverse((key, index, row))) = heads.pop() {
        merged.push(&key, &[]);
        let page = pages.get(index).expect("an index of the pages");
        match page.row(row + 1) {
            Some((key, _)) => heads.push(Reverse((key.to_vec(), index, row + 1))),
            // What follows in this bucket is not known.
            None if page.more() => {
                merged.set_more(true);
                return merged;
            }
            None => {}
        }
        if merged.len() >= rows_max {
            merged.set_more(!heads.is_empty() || pages.iter().any(Page::more));
            return merged;
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(rows: &[&str], more: bool) -> Page {
        let mut page = Page::default();
        rows.iter().for_each(|row| page.push(row.as_bytes(), b""));
        page.set_more(more);
        page
    }

    fn check(pages: &[Page], rows_max: usize, expected: (&[&str], bool)) {
        let merged = merge(pages, rows_max);
        let rows: Vec<&str> = merged.rows().map(|(key, _)| std::str::from_utf8(key).unwrap()).collect();
        assert_eq!((&rows[..], merged.more()), expected);
    }

    #[test]
    fn pages_are_merged_as_far_as_all_of_them_reach() {
        let pages =
            [page(&["a", "d"], false), page(&["b", "c"], true), page(&[], false), page(&["e"], false)];
        check(&pages, 9, (&["a", "b", "c"], true));
        check(&pages, 2, (&["a", "b"], true));
        let pages = [page(&["a", "d"], false), page(&["b"], false)];
        check(&pages, 9, (&["a", "b", "d"], false));
        check(&pages, 3, (&["a", "b", "d"], false));
        check(&pages, 2, (&["a", "b"], true));
        check(&[page(&[], false), page(&[], false)], 2, (&[], false));
    }
}
