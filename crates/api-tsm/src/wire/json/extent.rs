//! How far a JSON value reaches, before anybody looks at what it says.

/// The length of the value at the start of `bytes`; `None` if it may go on behind them.
///
/// Only brackets and quotes are looked at: a malformed value has some length too, and its reader says what is wrong.
pub(crate) fn value_length(bytes: &[u8]) -> Option<usize> {
    match bytes.first()? {
        b'"' => string_length(bytes),
        b'{' | b'[' => container_length(bytes),
        _ => {
            let ends =
                |byte: &u8| matches!(byte, b',' | b']' | b'}' | b':' | b' ' | b'\n' | b'\r' | b'\t' | b'"');
            bytes.iter().position(ends).map(|length| length.max(1))
        }
    }
}

/// The length of a string, quotes included.
fn string_length(bytes: &[u8]) -> Option<usize> {
    let mut escaped = false;
    let mut inside = bytes.iter().enumerate().skip(1);
    let end = inside.find(|(_, byte)| match byte {
        _ if escaped => {
            escaped = false;
            false
        }
        b'\\' => {
            escaped = true;
            false
        }
        byte => **byte == b'"',
    });
    end.map(|(at, _)| at + 1)
}

fn container_length(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at += string_length(bytes.get(at..)?)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, length: Option<usize>) {
        assert_eq!(value_length(text.as_bytes()), length, "{text}");
    }

    #[test]
    fn values_reach_to_their_last_byte() {
        check(r#"{"a":"}\"]","b":[1,{}]},"#, Some(23));
        check(r#"[1,2]"#, Some(5));
        check(r#"[1,"]"#, None);
        check(r#""a\"b"x"#, Some(6));
        check(r#""a\"#, None);
        check("12", None);
        check("12,", Some(2));
        check("nullx]", Some(5));
        check(",", Some(1));
        check("", None);
    }
}
