//! The types of leaves, as a schema has them after all typedefs are resolved: the built-in types of RFC 7950, section 9, each
//! with what restricts it. Which values a type takes is said in `check`.

mod blocks;
mod pattern;

use std::ops::RangeInclusive;
use std::sync::Arc;

pub use pattern::{PATTERN_BYTES_MAX, PATTERN_TEXT_BYTES_MAX, PATTERN_WORK_MAX, Pattern, PatternError};

/// Deepest nesting of unions and leafrefs.
const NESTING_MAX: u32 = 32;
/// Types that a value may have to be compared with, one after the other, in unions of unions.
const ALTERNATIVES_MAX: u32 = 10_000;

/// A type and what restricts it. Copies share one table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Type(Arc<Table>);

#[derive(Debug, Eq, PartialEq)]
struct Table {
    kind: TypeKind,
    nesting: u32,
    alternatives: u32,
}

impl Type {
    /// A type of this kind. Cost: O(members) of a union, else O(1).
    #[must_use]
    pub fn new(kind: TypeKind) -> Self {
        let inside = match &kind {
            TypeKind::Union(members) => &**members,
            TypeKind::Leafref(leafref) => std::slice::from_ref(&leafref.target),
            _ => &[],
        };
        let nesting = inside.iter().map(|inside| inside.0.nesting.saturating_add(1)).max().unwrap_or(0);
        let alternatives =
            inside.iter().fold(0_u32, |sum, inside| sum.saturating_add(inside.0.alternatives)).max(1);
        Self(Arc::new(Table { kind, nesting, alternatives }))
    }

    /// Which, and what restricts it. Cost: O(1).
    #[must_use]
    pub fn kind(&self) -> &TypeKind {
        &self.0.kind
    }

    /// Whether a value can be checked in bounded time and depth. Cost: O(1).
    pub(crate) fn is_within_limits(&self) -> bool {
        self.0.nesting <= NESTING_MAX && self.0.alternatives <= ALTERNATIVES_MAX
    }

    /// The type that decides which values are taken: of a leafref that of its target. Cost: O(1), since a target is resolved.
    #[must_use]
    pub fn resolved(&self) -> &Self {
        match self.kind() {
            TypeKind::Leafref(leafref) => leafref.target.resolved(),
            _ => self,
        }
    }
}

/// The built-in types (RFC 7950, section 9). No ranges or lengths: all of the type are allowed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TypeKind {
    /// `int8` to `uint64` (9.2).
    Integer {
        /// Which of them.
        width: IntegerWidth,
        /// Parts of its `range`, from the smallest on.
        ranges: Box<[RangeInclusive<i128>]>,
    },
    /// `decimal64` (9.3).
    Decimal {
        /// From 1 to 18.
        fraction_digits: u8,
        /// Parts of its `range`, in units of the last fraction digit, from the smallest on.
        ranges: Box<[RangeInclusive<i64>]>,
    },
    /// `string` (9.4).
    String {
        /// Parts of its `length`, in characters, from the smallest on.
        lengths: Box<[RangeInclusive<u64>]>,
        /// All of them must allow a value.
        patterns: Box<[Arc<Pattern>]>,
    },
    /// `boolean` (9.5).
    Boolean,
    /// `enumeration` (9.6): names with their numbers, in the order of the schema.
    Enumeration(Box<[(Box<str>, i32)]>),
    /// `bits` (9.7): names with their positions, in the order of positions.
    Bits(Box<[(Box<str>, u32)]>),
    /// `binary` (9.8).
    Binary {
        /// Parts of its `length`, in octets, from the smallest on.
        lengths: Box<[RangeInclusive<u64>]>,
    },
    /// `leafref` (9.9).
    Leafref(Leafref),
    /// `identityref` (9.10): the bases, as positions in the identities of the schema; a value is derived from all of them.
    Identity(Box<[u32]>),
    /// `empty` (9.11).
    Empty,
    /// `union` (9.12): the first member that takes a value decides.
    Union(Box<[Type]>),
    /// `instance-identifier` (9.13).
    InstanceIdentifier {
        /// Whether strict mode wants the node to be there.
        require_instance: bool,
    },
}

/// A reference to a leaf.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Leafref {
    /// As its `path` statement says.
    pub path: Box<str>,
    /// Whether strict mode wants a leaf of this value to be there.
    pub require_instance: bool,
    /// The type of the leaf at the end of all references.
    pub target: Type,
}

/// Which of the integer types.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum IntegerWidth {
    /// `int8`.
    Int8,
    /// `int16`.
    Int16,
    /// `int32`.
    Int32,
    /// `int64`.
    Int64,
    /// `uint8`.
    Uint8,
    /// `uint16`.
    Uint16,
    /// `uint32`.
    Uint32,
    /// `uint64`.
    Uint64,
}

impl IntegerWidth {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Int8,
        Self::Int16,
        Self::Int32,
        Self::Int64,
        Self::Uint8,
        Self::Uint16,
        Self::Uint32,
        Self::Uint64,
    ];

    /// As a `type` statement names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Uint8 => "uint8",
            Self::Uint16 => "uint16",
            Self::Uint32 => "uint32",
            Self::Uint64 => "uint64",
        }
    }

    /// From its smallest to its largest number.
    #[must_use]
    pub fn bounds(self) -> RangeInclusive<i128> {
        match self {
            Self::Int8 => i8::MIN.into()..=i8::MAX.into(),
            Self::Int16 => i16::MIN.into()..=i16::MAX.into(),
            Self::Int32 => i32::MIN.into()..=i32::MAX.into(),
            Self::Int64 => i64::MIN.into()..=i64::MAX.into(),
            Self::Uint8 => 0..=u8::MAX.into(),
            Self::Uint16 => 0..=u16::MAX.into(),
            Self::Uint32 => 0..=u32::MAX.into(),
            Self::Uint64 => 0..=u64::MAX.into(),
        }
    }

    /// Whether it has 64 bits, which JSON has in quotes (RFC 7951, 6.1).
    #[must_use]
    pub fn is_long(self) -> bool {
        matches!(self, Self::Int64 | Self::Uint64)
    }
}
