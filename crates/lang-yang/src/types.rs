//! The types of leaves, as a schema has them after all typedefs are resolved.

/// A type and what restricts it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Type {
    /// Which.
    pub kind: TypeKind,
}

/// The built-in types (RFC 7950, section 9).
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TypeKind {
    /// `string`.
    String,
}
