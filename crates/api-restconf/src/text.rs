//! Text within XML.

/// What stands for a character that XML 1.0 cannot say.
const REPLACEMENT: char = '\u{fffd}';

/// Appends text, as content or as the value of an attribute in double quotes.
pub(crate) fn escape_into(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(character),
            character if character.is_control() && character < '\u{80}' => out.push(REPLACEMENT),
            '\u{fffe}' | '\u{ffff}' => out.push(REPLACEMENT),
            character => out.push(character),
        }
    }
}

/// Appends `<name>text</name>`.
pub(crate) fn element_into(out: &mut String, name: &str, text: &str) {
    out.push('<');
    out.push_str(name);
    out.push('>');
    escape_into(out, text);
    out.push_str("</");
    out.push_str(name);
    out.push('>');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_text_holds_is_content() {
        let mut out = String::new();
        element_into(&mut out, "error-message", "a<b & \"c\" > \u{1}\n\u{ffff}é");
        assert_eq!(out, "<error-message>a&lt;b &amp; &quot;c&quot; &gt; \u{fffd}\n\u{fffd}é</error-message>");
    }
}
