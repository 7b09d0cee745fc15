//! JSON text (RFC 8259) without trees: a pull [`Reader`], writers that put the commas ([`ObjectWriter`], [`ArrayWriter`]),
//! the canonical form that is stored, and walks over canonical text.
//!
//! *Canonical* text has no white space outside strings, keeps the digits of numbers as they were
//! written, keeps the order of members, and escapes in strings only what must be escaped: `"`,
//! `\` and the control characters (short form where JSON has one). Two strings are equal exactly
//! when their canonical texts are equal, and a reader of stored values copies bytes to the wire.
//!
//! ```
//! use lang_json::{ObjectWriter, Reader, canonical, member};
//!
//! // A text of a client, read member by member; containers nest four deep at the most.
//! let mut reader = Reader::new(r#"{ "name": "North", "pm10": 41.0 }"#, 4);
//! reader.begin_object()?;
//! while let Some(name) = reader.next_key()? {
//!     match &*name {
//!         "name" => assert_eq!(reader.string()?, "North"),
//!         _ => assert_eq!(reader.number()?, "41.0"),
//!     }
//! }
//! reader.end()?;
//!
//! // Its canonical form, as it is stored, and a walk over that.
//! let stored = canonical(r#"{ "name": "North", "pm10": 41.0 }"#, 4)?;
//! assert_eq!(member(&stored, "pm10"), Some("41.0"));
//!
//! // An answer that copies it.
//! let mut answer = Vec::new();
//! let mut object = ObjectWriter::begin(&mut answer);
//! object.raw("found", &stored);
//! object.end();
//! assert_eq!(answer, br#"{"found":{"name":"North","pm10":41.0}}"#);
//! # Ok::<(), lang_json::Error>(())
//! ```

mod error;
mod text;
mod write;
mod read;
mod walk;

pub use error::{Error, Problem};
pub use read::{Kind, Reader, canonical};
pub use text::string_value;
pub use walk::{elements, kind, member, members};
pub use write::{ArrayWriter, Buffer, Commas, ObjectWriter, string_to, write_string};
