//! JSON text on many lines, for people who read differences; white space is all that it adds, so it says which bytes came.

/// A value that fits in so many columns stays on one line.
const COLUMNS: usize = 110;

/// The lines of a JSON object or array that has no white space outside strings; `None` for all other text, which stays as it is.
/// The text is the lines without their indents, one behind the other.
pub(super) fn lay_out(text: &str) -> Option<String> {
    if !text.starts_with(['{', '[']) || serde_json::from_str::<serde_json::Value>(text).is_err() {
        return None;
    }
    let mut out = String::new();
    put(text, 0, &mut out);
    (joined(&out) == text).then_some(out)
}

fn joined(lines: &str) -> String {
    lines.lines().map(|line| line.trim_start_matches(' ')).collect()
}

/// A value, or a member with its name, behind so many columns.
fn put(text: &str, indent: usize, out: &mut String) {
    let begin = container(text);
    let Some(begin) = begin.filter(|_| indent + text.len() > COLUMNS) else {
        out.push_str(text);
        return;
    };
    let (head, rest) = text.split_at(begin + 1);
    let (inside, end) = rest.split_at(rest.len() - 1);
    out.push_str(head);
    for item in items(inside) {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', indent + 2));
        put(item.trim_end_matches(','), indent + 2, out);
        if item.ends_with(',') {
            out.push(',');
        }
    }
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', indent));
    out.push_str(end);
}

/// Where the container begins that a value is, or that a member has.
fn container(text: &str) -> Option<usize> {
    let end = if text.starts_with('"') { string_end(text)? + 1 } else { 0 };
    let is_one = text.get(end..).is_some_and(|value| value.starts_with(['{', '[']) && value.len() > 2);
    is_one.then_some(end)
}

/// Behind the string that a text begins with.
fn string_end(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The members or elements of a container, each with the comma behind it.
fn items(inside: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let (mut begin, mut depth, mut at) = (0, 0_usize, 0);
    while let Some(byte) = inside.as_bytes().get(at) {
        match byte {
            b'"' => at += string_end(&inside[at..]).map_or(inside.len(), |length| length - 1),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                items.push(&inside[begin..=at]);
                begin = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    items.push(&inside[begin..]);
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(lay_out(text).as_deref(), expected);
    }

    #[test]
    fn what_is_long_is_laid_out_and_says_every_byte() {
        let long = "x".repeat(100);
        let text = format!(r#"{{"a":[1,{{"b":2}}],"c":{{"d":"{long},\"[","e":[]}},"f":1.50}}"#);
        let expected = format!(
            "{{\n  \"a\":[1,{{\"b\":2}}],\n  \"c\":{{\n    \"d\":\"{long},\\\"[\",\n    \"e\":[]\n  }},\n  \"f\":1.50\n}}"
        );
        check(&text, Some(&expected));
        assert_eq!(joined(&expected), text);
    }

    #[test]
    fn what_is_short_stays() {
        check(r#"{"a":1}"#, Some(r#"{"a":1}"#));
        check("[]", Some("[]"));
    }

    #[test]
    fn what_has_white_space_or_is_no_json_is_not_laid_out() {
        let long = "1, ".repeat(60);
        check(&format!("[{long}1]"), None);
        check(r#"{"a" :1}"#, Some(r#"{"a" :1}"#));
        check("{}\n", None);
        check("text", None);
        check("{broken", None);
    }
}
