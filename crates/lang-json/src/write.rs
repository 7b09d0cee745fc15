//! A writer of JSON text: objects and arrays put their own commas, values go straight into the caller's buffer.
//!
//! Nothing is kept but one flag for each container that is open, so that writing costs what the text costs: no tree, no
//! allocation, no dispatch. What is written is compact; strings are canonical, numbers and [raw](ObjectWriter::raw)
//! values are the caller's.

use crate::text;

/// A buffer that text is appended to.
pub trait Buffer {
    /// Appends text.
    fn put(&mut self, text: &str);
}

impl Buffer for String {
    #[inline]
    fn put(&mut self, text: &str) {
        self.push_str(text);
    }
}

impl Buffer for Vec<u8> {
    #[inline]
    fn put(&mut self, text: &str) {
        self.extend_from_slice(text.as_bytes());
    }
}

/// The escapes of the control characters.
const CONTROLS: [&str; 32] = [
    "\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007", "\\b", "\\t",
    "\\n", "\\u000b", "\\f", "\\r", "\\u000e", "\\u000f", "\\u0010", "\\u0011", "\\u0012", "\\u0013",
    "\\u0014", "\\u0015", "\\u0016", "\\u0017", "\\u0018", "\\u0019", "\\u001a", "\\u001b", "\\u001c",
    "\\u001d", "\\u001e", "\\u001f",
];

/// Appends `value` as a canonical JSON string, quotes included. Cost: a look at each byte; what is plain is copied in runs.
#[inline]
pub fn write_string<B: Buffer>(out: &mut B, value: &str) {
    out.put("\"");
    let mut rest = value;
    while let Some((plain, escape, after)) = split_at_escape(rest) {
        out.put(plain);
        out.put(escape);
        rest = after;
    }
    out.put(rest);
    out.put("\"");
}

/// The escape of the first character of `text` that needs one, and the text before and after it.
fn split_at_escape(text: &str) -> Option<(&str, &'static str, &str)> {
    let plain = text::plain_until(text.as_bytes(), 0);
    let rest = text.as_bytes().get(plain..).expect("plain bytes end within the text");
    let at = plain + rest.iter().position(|byte| matches!(byte, 0..0x20 | b'"' | b'\\'))?;
    let escape = match text.as_bytes().get(at)? {
        b'"' => "\\\"",
        b'\\' => "\\\\",
        control => CONTROLS.get(usize::from(*control)).expect("below 0x20"),
    };
    let (plain, rest) = text.split_at(at);
    Some((plain, escape, rest.get(1..).expect("an ASCII character begins it")))
}

/// The canonical JSON string of `value`, quotes included.
pub fn string_to(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    write_string(&mut out, value);
    out
}

/// The commas between the items of one container: for whoever writes its items call by call, and cannot borrow the buffer
/// that long.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Commas {
    any: bool,
}

impl Commas {
    /// Appends what separates the next item from the one before: nothing at the first, then a comma.
    #[inline]
    pub fn next<B: Buffer>(&mut self, out: &mut B) {
        if self.any {
            out.put(",");
        }
        self.any = true;
    }

    /// Whether there was an item.
    #[inline]
    pub fn any(self) -> bool {
        self.any
    }
}

/// An object under way. [`end`](Self::end) closes it; one that is dropped stays open.
///
/// ```
/// use lang_json::{ArrayWriter, ObjectWriter};
///
/// let mut out = String::new();
/// let mut series = ObjectWriter::begin(&mut out);
/// series.string("Name", "Meter \"1\"");
/// series.raw("Factor", "1.50");
/// let mut tags = ArrayWriter::begin(series.member("Tags"));
/// tags.string("heat");
/// tags.string("city");
/// tags.end();
/// series.end();
/// assert_eq!(out, r#"{"Name":"Meter \"1\"","Factor":1.50,"Tags":["heat","city"]}"#);
/// ```
#[derive(Debug)]
pub struct ObjectWriter<'o, B: Buffer> {
    out: &'o mut B,
    commas: Commas,
}

impl<'o, B: Buffer> ObjectWriter<'o, B> {
    /// Opens an object.
    #[inline]
    pub fn begin(out: &'o mut B) -> Self {
        out.put("{");
        Self { out, commas: Commas::default() }
    }

    /// Starts the member of this name; exactly one value must be appended to what it gives.
    #[inline]
    pub fn member(&mut self, name: &str) -> &mut B {
        self.commas.next(self.out);
        write_string(self.out, name);
        self.out.put(":");
        self.out
    }

    /// The same where the name is known to the program: `"name":`, quotes and colon included, nothing to escape.
    #[inline]
    pub fn literal(&mut self, name: &str) -> &mut B {
        debug_assert!(
            name.starts_with('"') && name.ends_with("\":"),
            "{name:?} is a name with quotes and colon"
        );
        self.commas.next(self.out);
        self.out.put(name);
        self.out
    }

    /// A member whose value is a string.
    #[inline]
    pub fn string(&mut self, name: &str, value: &str) {
        write_string(self.member(name), value);
    }

    /// A member whose value is JSON text already.
    #[inline]
    pub fn raw(&mut self, name: &str, value: &str) {
        self.member(name).put(value);
    }

    /// Closes the object.
    #[inline]
    pub fn end(self) {
        self.out.put("}");
    }
}

/// An array under way. [`end`](Self::end) closes it; one that is dropped stays open.
#[derive(Debug)]
pub struct ArrayWriter<'o, B: Buffer> {
    out: &'o mut B,
    commas: Commas,
}

impl<'o, B: Buffer> ArrayWriter<'o, B> {
    /// Opens an array.
    #[inline]
    pub fn begin(out: &'o mut B) -> Self {
        out.put("[");
        Self { out, commas: Commas::default() }
    }

    /// Starts an item; exactly one value must be appended to what it gives.
    #[inline]
    pub fn item(&mut self) -> &mut B {
        self.commas.next(self.out);
        self.out
    }

    /// An item that is a string.
    #[inline]
    pub fn string(&mut self, value: &str) {
        write_string(self.item(), value);
    }

    /// An item that is JSON text already.
    #[inline]
    pub fn raw(&mut self, value: &str) {
        self.item().put(value);
    }

    /// Closes the array.
    #[inline]
    pub fn end(self) {
        self.out.put("]");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn write<B: Buffer>(out: &mut B, value: &Value) {
        match value {
            Value::Object(members) => {
                let mut object = ObjectWriter::begin(out);
                for (name, value) in members {
                    match value {
                        Value::String(text) => object.string(name, text),
                        Value::Null => object.raw(name, "null"),
                        value => write(object.member(name), value),
                    }
                }
                object.end();
            }
            Value::Array(items) => {
                let mut array = ArrayWriter::begin(out);
                for item in items {
                    match item {
                        Value::String(text) => array.string(text),
                        Value::Null => array.raw("null"),
                        item => write(array.item(), item),
                    }
                }
                array.end();
            }
            Value::String(text) => write_string(out, text),
            other => out.put(&other.to_string()),
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "\\PC{0,8}|[\"\\\\\\x00-\\x1f/é]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            let member = ("\\PC{0,6}|[\"\\\\\\x00-\\x1f]{0,3}", inner.clone());
            prop_oneof![
                prop::collection::vec(inner, 0..6).prop_map(Value::from),
                prop::collection::vec(member, 0..6).prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    #[test]
    fn literals_and_names_are_members_alike() {
        let mut out = Vec::new();
        let mut object = ObjectWriter::begin(&mut out);
        object.literal("\"a\":").put("1");
        object.literal("\"b\":").put("2");
        object.raw("c", "[]");
        object.end();
        assert_eq!(out, br#"{"a":1,"b":2,"c":[]}"#);
    }

    #[test]
    fn commas_stand_between_items() {
        let (mut out, mut commas) = (String::new(), Commas::default());
        assert!(!commas.any());
        for item in ["1", "2", "3"] {
            commas.next(&mut out);
            out.put(item);
        }
        assert!(commas.any());
        assert_eq!(out, "1,2,3");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(value in any_value()) {
            let (mut text, mut bytes) = (String::new(), Vec::new());
            write(&mut text, &value);
            write(&mut bytes, &value);
            prop_assert_eq!(text.as_bytes(), &bytes);
            prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
            prop_assert_eq!(crate::canonical(&text, 100).unwrap(), text);
        }
    }
}
