//! Scopes as an attribute of history (NGSI-LD 4.18): one value for several scopes.

use lang_json::ArrayWriter;

/// Scopes as the value of a Property, canonical JSON text: one as a text, several as an array.
pub fn scope_value<'a>(mut scopes: impl Iterator<Item = &'a str>) -> String {
    let (first, rest) = (scopes.next(), scopes.next());
    if let (Some(only), None) = (first, rest) {
        return lang_json::string_to(only);
    }
    let mut text = String::with_capacity(64);
    let mut array = ArrayWriter::begin(&mut text);
    first.into_iter().chain(rest).chain(scopes).for_each(|scope| array.string(scope));
    array.end();
    text
}

/// The scopes that such a value means, in order; what is no text is passed over.
pub fn scopes_of_value(value: &str) -> Vec<Box<str>> {
    let text = |element: &str| lang_json::string_value(element).map(|text| text.into_owned().into());
    if value.starts_with('[') {
        return lang_json::elements(value).filter_map(text).collect();
    }
    text(value).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_come_back_from_their_value() {
        for (scopes, value) in
            [(vec!["/a"], r#""/a""#), (vec!["/a/b", "/c\"d"], r#"["/a/b","/c\"d"]"#), (vec![], "[]")]
        {
            assert_eq!(scope_value(scopes.iter().copied()), value);
            let back = scopes_of_value(value);
            assert!(back.iter().map(|scope| &**scope).eq(scopes), "{value}");
        }
    }
}
