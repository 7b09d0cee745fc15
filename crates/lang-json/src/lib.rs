//! JSON text (RFC 8259) without trees: a pull [`Reader`], the canonical form that is stored,
//! and walks over canonical text.
//!
//! *Canonical* text has no white space outside strings, keeps the digits of numbers as they were
//! written, keeps the order of members, and escapes in strings only what must be escaped: `"`,
//! `\` and the control characters (short form where JSON has one). Two strings are equal exactly
//! when their canonical texts are equal, and a reader of stored values copies bytes to the wire.

mod error;
mod read;
mod text;
mod walk;

pub use error::{Error, Problem};
pub use read::{Kind, Reader, canonical};
pub use text::{string_to, string_value, write_string};
pub use walk::{elements, kind, member, members};
