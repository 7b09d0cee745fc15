//! Values of a leaf as the attribute axis answers them: each with the name of the leaf.

use lang_json::{ArrayWriter, ObjectWriter, write_string};
use lang_yang::{Value, ValueKind};
use quick_xml::escape::escape;

use crate::media::Form;

/// A list of objects with one member each, or elements.
pub(crate) fn put_values(out: &mut Vec<u8>, (name, form): (&str, Form), values: &[Value]) {
    match form {
        Form::Json => {
            let mut list = ArrayWriter::begin(out);
            for value in values {
                let mut object = ObjectWriter::begin(list.item());
                put_value(object.member(name), value);
                object.end();
            }
            list.end();
        }
        Form::Xml => {
            out.extend_from_slice(b"<data>");
            for value in values {
                let element = format!("<{name}>{}</{name}>", escape(&*value.text));
                out.extend_from_slice(element.as_bytes());
            }
            out.extend_from_slice(b"</data>");
        }
    }
}

/// A value, numbers of any size as numbers.
fn put_value(out: &mut Vec<u8>, value: &Value) {
    match value.kind {
        ValueKind::Text | ValueKind::Identity => write_string(out, &value.text),
        ValueKind::Empty => out.extend_from_slice(b"[null]"),
        ValueKind::Integer
        | ValueKind::LongInteger
        | ValueKind::Decimal
        | ValueKind::Boolean
        | ValueKind::Json => out.extend_from_slice(value.text.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_kinds() {
        let value = |kind, text: &str| Value { kind, text: text.into() };
        let values = [
            value(ValueKind::Text, "a<\"b\""),
            value(ValueKind::LongInteger, "7"),
            value(ValueKind::Empty, ""),
        ];
        let put = |form| {
            let mut out = Vec::new();
            put_values(&mut out, ("n", form), &values);
            String::from_utf8(out).expect("text")
        };
        assert_eq!(put(Form::Json), r#"[{"n":"a<\"b\""},{"n":7},{"n":[null]}]"#);
        assert_eq!(put(Form::Xml), "<data><n>a&lt;&quot;b&quot;</n><n>7</n><n></n></data>");
    }
}
