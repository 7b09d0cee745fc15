//! Records and fields of CSV: how far one reaches, what it says, and when it must be quoted.

use std::borrow::Cow;

/// The length of the record at the start of `bytes`, its line break included; `None` if it may go on behind them.
pub(crate) fn record_length(bytes: &[u8]) -> Option<usize> {
    let mut quoted = false;
    let end = bytes.iter().position(|byte| {
        quoted ^= *byte == b'"';
        *byte == b'\n' && !quoted
    });
    end.map(|at| at + 1)
}

/// The fields of a record without its line break.
///
/// # Errors
///
/// The reason, if a quote is where none may be.
pub(crate) fn fields(record: &str) -> Result<Vec<Cow<'_, str>>, &'static str> {
    let mut fields = Vec::with_capacity(4);
    let mut rest = record;
    loop {
        let (field, behind) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_field(quoted)?,
            None => {
                let (field, behind) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
                if field.contains('"') {
                    return Err("a quote within a field that is not quoted");
                }
                (Cow::Borrowed(field), behind)
            }
        };
        fields.push(field);
        match behind.strip_prefix(',') {
            Some(behind) => rest = behind,
            None if behind.is_empty() => return Ok(fields),
            None => return Err("something between a quoted field and the comma"),
        }
    }
}

/// The field whose opening quote was just passed, and what follows its closing quote.
fn quoted_field(text: &str) -> Result<(Cow<'_, str>, &str), &'static str> {
    let mut field = Cow::Borrowed("");
    let mut rest = text;
    loop {
        let Some((part, behind)) = rest.split_once('"') else { return Err("a quoted field without end") };
        if field.is_empty() {
            field = Cow::Borrowed(part);
        } else {
            field.to_mut().push_str(part);
        }
        match behind.strip_prefix('"') {
            Some(behind) => {
                field.to_mut().push('"');
                rest = behind;
            }
            None => return Ok((field, behind)),
        }
    }
}

/// Appends a field, quoted if it must be.
pub(crate) fn write_field(out: &mut Vec<u8>, text: &str) {
    if !text.contains(['"', ',', '\n', '\r']) {
        return out.extend_from_slice(text.as_bytes());
    }
    out.push(b'"');
    out.extend_from_slice(text.replace('"', "\"\"").as_bytes());
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(record: &str, expected: Result<&[&str], &str>) {
        let found = fields(record);
        match expected {
            Ok(expected) => assert_eq!(found.unwrap(), expected, "{record}"),
            Err(reason) => assert_eq!(found.unwrap_err(), reason, "{record}"),
        }
    }

    #[test]
    fn records_fall_into_fields() {
        check("a,b,,", Ok(&["a", "b", "", ""]));
        check("", Ok(&[""]));
        check(r#""a,""b""",c"#, Ok(&["a,\"b\"", "c"]));
        check(r#"a"b,c"#, Err("a quote within a field that is not quoted"));
        check(r#""a"b,c"#, Err("something between a quoted field and the comma"));
        check(r#""a"#, Err("a quoted field without end"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases((500 * ProptestConfig::default().cases).div_ceil(256)))]
        #[test]
        fn any_text_is_one_field(texts in prop::collection::vec("[a\",\n\rä ]{0,8}", 1..4)) {
            let mut out = Vec::new();
            for (place, text) in texts.iter().enumerate() {
                if place > 0 { out.push(b','); }
                write_field(&mut out, text);
            }
            let record = String::from_utf8(out.clone()).unwrap();
            prop_assert_eq!(fields(&record).unwrap(), texts);
            out.extend_from_slice(b"\r\nnext\r\n");
            prop_assert_eq!(record_length(&out), Some(record.len() + 2));
        }
    }
}
