//! What a batch makes of the rows that are asked for one by one.

use hashbrown::HashTable;
use store_contract::WriteId;

use crate::rows::Tail;

/// Rows that the batch writes, by their places.
#[derive(Default)]
pub(super) struct Touched {
    places: Vec<u8>,
    rows: Vec<TouchedRow>,
    by_place: HashTable<usize>,
}

pub(super) struct TouchedRow {
    pub(super) hash: u64,
    start: usize,
    end: usize,
    /// How many ranges were removed before.
    pub(super) moment: u64,
    pub(super) becomes: Becomes,
}

#[derive(Clone, Copy)]
pub(super) enum Becomes {
    Stamped(Stamped),
    Plain,
    Absent,
}

/// A stamped row, whose value lies among the rows of the batch.
#[derive(Clone, Copy)]
pub(super) struct Stamped {
    pub(super) sequence: u64,
    pub(super) write_id: WriteId,
    pub(super) value: Tail,
    /// Whether its commit has asked for it: then it is likely to be read again. A row that is put blindly, as those of a large
    /// batch are, is cached once somebody reads it.
    pub(super) is_named: bool,
}

impl Touched {
    /// The row at a place, if the batch writes it.
    pub(super) fn get(&self, hash: u64, place: &[u8]) -> Option<&TouchedRow> {
        self.find(hash, place).and_then(|index| self.rows.get(index))
    }

    /// The hashes of all.
    pub(super) fn hashes(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.rows.iter().map(|row| row.hash)
    }

    /// Takes all, each with its place.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (TouchedRow, &[u8])> {
        let places = &self.places;
        self.rows.drain(..).map(|row| {
            let place = places.get(row.start..row.end).expect("the place of a touched row");
            (row, place)
        })
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.places.clear();
        self.by_place.clear();
    }

    fn find(&self, hash: u64, place: &[u8]) -> Option<usize> {
        self.by_place.find(hash, |index| self.place_at(*index) == Some(place)).copied()
    }

    fn place_at(&self, index: usize) -> Option<&[u8]> {
        let row = self.rows.get(index)?;
        self.places.get(row.start..row.end)
    }

    /// Notes what becomes of a row.
    pub(super) fn set(&mut self, hash: u64, place: &[u8], becomes: Becomes, moment: u64) {
        if let Some(row) = self.find(hash, place).and_then(|index| self.rows.get_mut(index)) {
            (row.becomes, row.moment) = (becomes, moment);
            return;
        }
        let start = self.places.len();
        self.places.extend_from_slice(place);
        self.rows.push(TouchedRow { hash, start, end: self.places.len(), moment, becomes });
        let rows = &self.rows;
        let hash_at = |index: &usize| rows.get(*index).map_or(0, |row| row.hash);
        self.by_place.insert_unique(hash, rows.len() - 1, hash_at);
    }
}
