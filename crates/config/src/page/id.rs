//! Names of pages: given once, for ever.

use std::fmt;

/// One attempt to write a version: pages that it writes are told by it from those of all other attempts.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Attempt {
    /// The number of the version that it would write.
    pub version: u64,
    /// A number that no other attempt at this version has.
    pub nonce: u64,
}

/// The name of a page.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PageId {
    /// The version that first had it.
    pub version: u64,
    /// Of the attempt at the version.
    pub nonce: u64,
    /// Which page of the attempt.
    pub number: u32,
}

impl Attempt {
    pub(crate) fn page(self, number: u32) -> PageId {
        PageId { version: self.version, nonce: self.nonce, number }
    }

    pub(crate) fn to_bytes(self) -> [u8; 16] {
        (u128::from(self.version) << 64 | u128::from(self.nonce)).to_be_bytes()
    }

    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Option<Self> {
        let (version, nonce) = bytes.split_first_chunk::<8>()?;
        Some(Self {
            version: u64::from_be_bytes(*version),
            nonce: u64::from_be_bytes(nonce.try_into().ok()?),
        })
    }
}

impl PageId {
    /// Bytes of a page id.
    pub const BYTES: usize = 20;

    /// The attempt that wrote it.
    pub(crate) fn attempt(self) -> Attempt {
        Attempt { version: self.version, nonce: self.nonce }
    }

    /// As bytes that sort as ids do: part of a key of the store.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let (attempt, number) = bytes.split_at_mut(16);
        attempt.copy_from_slice(&self.attempt().to_bytes());
        number.copy_from_slice(&self.number.to_be_bytes());
        bytes
    }

    /// The id of these bytes.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let [version @ .., _, _, _, _] = bytes;
        let attempt = Attempt::from_bytes(*version).expect("sixteen bytes are an attempt");
        let [.., a, b, c, d] = *bytes;
        attempt.page(u32::from_be_bytes([a, b, c, d]))
    }
}

impl fmt::Debug for PageId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{:x}.{}", self.version, self.nonce, self.number)
    }
}
