//! Places in the data as text: instance-identifiers (RFC 7951, section 6.11), which errors name, and the same for XML.

use lang_yang::Schema;

/// Where in the data something is wrong.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct ErrorPath {
    /// An instance-identifier whose prefixes are names of modules.
    pub(crate) text: String,
    /// Those modules, each with its namespace.
    pub(crate) namespaces: Vec<(Box<str>, Box<str>)>,
}

impl ErrorPath {
    /// A place whose prefixes are names of modules of this schema.
    pub(crate) fn of(schema: &Schema, text: String) -> Self {
        let mut namespaces: Vec<(Box<str>, Box<str>)> = Vec::new();
        for piece in pieces(&text) {
            let Piece::Name(name) = piece else { continue };
            let Some((module, _)) = name.split_once(':') else { continue };
            let is_known = namespaces.iter().any(|(known, _)| **known == *module);
            if let Some(id) = schema.module_named(module).filter(|_| !is_known) {
                namespaces.push((module.into(), schema.module(id).namespace.clone()));
            }
        }
        Self { text, namespaces }
    }

    /// The same with a prefix before every name, as XML wants it.
    pub(crate) fn for_xml(&self) -> String {
        let mut out = String::with_capacity(self.text.len() * 2);
        let mut module = "";
        for piece in pieces(&self.text) {
            match piece {
                Piece::Name(name) => match name.split_once(':') {
                    Some((prefix, _)) => {
                        module = prefix;
                        out.push_str(name);
                    }
                    None if module.is_empty() => out.push_str(name),
                    None => {
                        out.push_str(module);
                        out.push(':');
                        out.push_str(name);
                    }
                },
                Piece::Other(other) => out.push_str(other),
            }
        }
        out
    }
}

enum Piece<'a> {
    /// The name of a node, with its module if it is said.
    Name(&'a str),
    /// Slashes, brackets, values in quotes.
    Other(&'a str),
}

/// A path taken apart: names, and what stands between them.
fn pieces(path: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = path;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let is_name = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '-' | ':');
        let (end, is_named) = match first {
            // To the closing quote, which is there unless somebody else's path is cut.
            '\'' | '"' => {
                (rest.get(1..).and_then(|behind| behind.find(first)).map_or(rest.len(), |at| at + 2), false)
            }
            first if is_name(first) => {
                let is_part = |sign: char| is_name(sign) || sign == '.';
                (rest.find(|sign| !is_part(sign)).unwrap_or(rest.len()), true)
            }
            first => (first.len_utf8(), false),
        };
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        Some(if is_named { Piece::Name(piece) } else { Piece::Other(piece) })
    })
}

#[cfg(test)]
mod tests {
    use lang_yang::testing::SchemaBuilder;

    use super::*;

    fn check(text: &str, xml: &str, modules: &[&str]) {
        let schema = SchemaBuilder::new("shop", "s").module("add-on", "a").build();
        let path = ErrorPath::of(&schema, text.into());
        assert_eq!(path.for_xml(), xml);
        let found: Vec<_> = path.namespaces.iter().map(|(module, _)| &**module).collect();
        assert_eq!(found, modules, "{text}");
    }

    #[test]
    fn places_have_a_prefix_before_every_name_in_xml() {
        check(
            "/shop:store/shelf[id='a/b:c']/book[.=\"it's\"]",
            "/shop:store/shop:shelf[shop:id='a/b:c']/shop:book[.=\"it's\"]",
            &["shop"],
        );
        check("/shop:a/add-on:b/c/shop:d", "/shop:a/add-on:b/add-on:c/shop:d", &["shop", "add-on"]);
        check("/x:a/b.c[1]", "/x:a/x:b.c[x:1]", &[]);
        check("/shop:a[b='cut", "/shop:a[shop:b='cut", &["shop"]);
        check("a", "a", &[]);
        check("", "", &[]);
    }
}
