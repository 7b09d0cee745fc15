//! The rows by which indexes find elements: what they are for an element, what changes between two versions of it, and which ranges of them a
//! query walks.
//!
//! ```text
//! X index_label value.. element      nothing               finds the element; of SEARCH one for each word
//! x index_label value..              the row of element    UNIQUE: no other element has these values; stamped
//!
//! value = 1: none | 2, eight bytes: a number or a date | 3, text and its end: a text or bytes | 4: false | 5: true | 6, sixteen bytes: a UUID
//! ```
//!
//! Values sort as they compare. Of long texts only the first [`VALUE_BYTES_MAX`] bytes are there, and a fingerprint: so ranges of index rows are
//! coarse, and what they find is checked against the element. An element is its row without the first byte.

mod values;
mod rows;
mod ranges;
#[cfg(test)]
mod tests;

pub use ranges::{bounded_range, equal_range, word_range};
pub(crate) use rows::words_of;
pub use rows::{IndexRow, element_of_row, is_row_of, put_index_rows, retain_changes};
pub use values::VALUE_BYTES_MAX;
