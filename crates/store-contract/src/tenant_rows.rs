//! The key page of the directory of tenants: every row, how its key is built, and how it is read back.
//!
//! ```text
//! partition     row          value
//! tenants//0    d name       a tenant that is there: format 1, number (u32), created in microseconds (i64), then for each model
//!                            that stores something of it: model (u8), length (u16), bytes; stamped
//! tenants//0    p number model name    what a model has under a name inside a tenant: the same
//! tenants//0    n            the first number that nobody has taken (u32), stamped
//! tenants//0    r number     a tenant, or part of one, that is being removed: its name
//! ```
//!
//! Numbers are four bytes, big-endian, models one. The default tenant has number 0 for ever, and a row `d` only once a model stores something of it.

use bytes::Bytes;

use crate::lives::Directory;
use crate::{Model, Partition, Range, Space, SpaceKind, Tenant, TenantName, Timestamp};

/// The directory of tenants, stored under the default tenant.
pub const TENANTS: Space = Space { id: 3, kind: SpaceKind::Commit, name: "tenants" };

const TENANT: u8 = b'd';
const PART: u8 = b'p';
/// Bytes of the key of a row `p` before the name.
const PART_HEAD_BYTES: usize = 6;
const NUMBERS: u8 = b'n';
const REMOVAL: u8 = b'r';
const FORMAT: u8 = 1;

/// Where the directory lives.
pub fn partition() -> Partition {
    Partition { tenant: Tenant::default(), space: TENANTS, bucket: 0 }
}

/// Row `d` or `p`.
pub fn named(directory: &Directory, name: &str) -> Bytes {
    match &directory.within {
        None => [&[TENANT], name.as_bytes()].concat().into(),
        Some((tenant, model)) => {
            [&[PART], &tenant.number().to_be_bytes()[..], &[*model], name.as_bytes()].concat().into()
        }
    }
}

/// Bytes of the key of a row `d` or `p` before the name.
pub fn head_bytes(directory: &Directory) -> usize {
    if directory.within.is_some() { PART_HEAD_BYTES } else { 1 }
}

/// The name in the key of a row `d` or `p`.
pub fn name_of_key(key: &[u8], head_bytes: usize) -> Option<TenantName> {
    TenantName::new(std::str::from_utf8(key.get(head_bytes..)?).ok()?).ok()
}

/// Tenant and model in the key of a row `p`.
pub fn part_of_key(key: &[u8]) -> Option<(u32, u8)> {
    let (tenant, rest) = key.strip_prefix(&[PART])?.split_first_chunk()?;
    Some((u32::from_be_bytes(*tenant), *rest.first()?))
}

/// All names of a directory, in order.
pub fn names(directory: &Directory) -> Range {
    Range::prefix(named(directory, ""))
}

/// All parts of a tenant.
pub fn parts(tenant: u32) -> Range {
    Range::prefix([&[PART], &tenant.to_be_bytes()[..]].concat())
}

/// All parts of all tenants.
pub fn all_parts() -> Range {
    Range::prefix(vec![PART])
}

/// Row `n`.
pub fn numbers() -> Bytes {
    Bytes::from_static(&[NUMBERS])
}

/// Row `r`.
pub fn removal(number: u32) -> Bytes {
    [&[REMOVAL], &number.to_be_bytes()[..]].concat().into()
}

/// The number in the key of a row `r`.
pub fn number_of_key(key: &[u8]) -> Option<u32> {
    parse_number(key.strip_prefix(&[REMOVAL])?)
}

/// All removals, by number.
pub fn removals() -> Range {
    Range::prefix(vec![REMOVAL])
}

/// A number as it is stored.
pub fn parse_number(bytes: &[u8]) -> Option<u32> {
    bytes.try_into().ok().map(u32::from_be_bytes)
}

/// What the directory holds of a tenant.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// The number of its life.
    pub number: u32,
    /// When it was created.
    pub created: Timestamp,
    /// What models store of it, by their numbers.
    stored: Vec<(u8, Bytes)>,
}

impl Entry {
    /// One of which no model stores anything.
    pub fn new(number: u32, created: Timestamp) -> Self {
        Self { number, created, stored: Vec::new() }
    }

    /// What a model stores of it.
    pub fn stored(&self, model: Model) -> Option<&Bytes> {
        self.stored.iter().find(|(id, _)| *id == model.id).map(|(_, bytes)| bytes)
    }

    /// Replaces what a model stores of it.
    pub fn put(&mut self, model: Model, bytes: Bytes) {
        match self.stored.iter_mut().find(|(id, _)| *id == model.id) {
            Some((_, stored)) => *stored = bytes,
            None => self.stored.push((model.id, bytes)),
        }
    }

    /// The entry as it is stored.
    pub fn to_bytes(&self) -> Bytes {
        let mut out = vec![FORMAT];
        out.extend_from_slice(&self.number.to_be_bytes());
        out.extend_from_slice(&self.created.0.to_be_bytes());
        for (model, bytes) in &self.stored {
            out.push(*model);
            let length = u16::try_from(bytes.len()).expect("what a model stores of a tenant is limited");
            out.extend_from_slice(&length.to_be_bytes());
            out.extend_from_slice(bytes);
        }
        out.into()
    }

    /// The entry stored in these bytes.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let (number, rest) = bytes.strip_prefix(&[FORMAT])?.split_first_chunk()?;
        let (created, mut rest) = rest.split_first_chunk()?;
        let mut entry = Self::new(u32::from_be_bytes(*number), Timestamp(i64::from_be_bytes(*created)));
        while let Some((model, more)) = rest.split_first() {
            let (length, more) = more.split_first_chunk()?;
            let (stored, more) = more.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
            entry.stored.push((*model, Bytes::copy_from_slice(stored)));
            rest = more;
        }
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        let mut entry = Entry::new(7, Timestamp(-1));
        assert_eq!(Entry::parse(&entry.to_bytes()).as_ref(), Some(&entry));
        let (one, two) = (Model { id: 1, name: "one" }, Model { id: 2, name: "two" });
        entry.put(one, Bytes::from_static(b"stored"));
        entry.put(two, Bytes::new());
        entry.put(one, Bytes::from_static(b"other"));
        let bytes = entry.to_bytes();
        let read = Entry::parse(&bytes).unwrap();
        assert_eq!((&read, read.stored(one).unwrap().as_ref()), (&entry, &b"other"[..]));
        for end in [0, 5, bytes.len() - 1] {
            assert_eq!(Entry::parse(&bytes[..end]), None);
        }
        let inside = Directory { within: Some((crate::testing::tenant(9), 2)) };
        for directory in [Directory::default(), inside] {
            let key = named(&directory, "city");
            assert_eq!(name_of_key(&key, head_bytes(&directory)).unwrap().as_str(), "city");
            assert_eq!(part_of_key(&key).is_some(), directory.within.is_some());
        }
        assert_eq!((number_of_key(&removal(9)), number_of_key(b"r")), (Some(9), None));
    }
}
