//! Scopes as an attribute of history (NGSI-LD 4.18): the value that stands for several scopes.

/// Scopes as the value of a Property, canonical JSON text: one as a text, several as an array.
pub fn scope_value<'a>(mut scopes: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::with_capacity(64);
    let Some(first) = scopes.next() else {
        return "[]".to_owned();
    };
    lang_json::write_string(&mut text, first);
    let one = text.len();
    for scope in scopes {
        text.push(',');
        lang_json::write_string(&mut text, scope);
    }
    if text.len() > one {
        text.insert(0, '[');
        text.push(']');
    }
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
