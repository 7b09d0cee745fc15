//! Text, attributes and names as XML takes them.

/// Appends text between tags. Cost: a look at each byte; what is plain is copied in runs.
pub(super) fn push_text(out: &mut Vec<u8>, text: &str) {
    push(out, text, false);
}

/// Appends the value of an attribute, in quotes.
pub(super) fn push_attribute(out: &mut Vec<u8>, value: &str) {
    out.push(b'"');
    push(out, value, true);
    out.push(b'"');
}

fn push(out: &mut Vec<u8>, text: &str, is_attribute: bool) {
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let (escape, length) = match byte {
            b'&' => ("&amp;", 1),
            b'<' => ("&lt;", 1),
            b'>' => ("&gt;", 1),
            b'\r' => ("&#13;", 1),
            b'"' if is_attribute => ("&quot;", 1),
            b'\n' if is_attribute => ("&#10;", 1),
            b'\t' if is_attribute => ("&#9;", 1),
            b'\n' | b'\t' => continue,
            0..0x20 => ("\u{fffd}", 1),
            // U+FFFE and U+FFFF.
            0xef if matches!(bytes.get(at + 1..at + 3), Some([0xbf, 0xbe | 0xbf])) => ("\u{fffd}", 3),
            _ => continue,
        };
        out.extend_from_slice(bytes.get(from..at).expect("what was escaped ends before"));
        out.extend_from_slice(escape.as_bytes());
        from = at + length;
    }
    out.extend_from_slice(bytes.get(from..).expect("what was escaped lies within"));
}

/// A name that XML takes: others have `_` for what it does not take.
pub(super) fn element_name(name: &str) -> String {
    let starts = |character: char| character.is_alphabetic() || character == '_';
    let continues = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-' | '.');
    let mut out: String =
        name.chars().map(|character| if continues(character) { character } else { '_' }).collect();
    if !out.starts_with(starts) {
        out.insert(0, '_');
    }
    out
}
