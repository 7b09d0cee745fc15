//! The type selection language (4.17) and the scope query language (4.19).
//!
//! In both, `,` and `|` say "any of", `;` says "all of" and binds closer; parentheses nest. A type
//! may be a short name, a prefixed one or an IRI (whose signs of the language must then be left out:
//! `(`, `)`, `;`, `,` and `|` end it).

use model_entities::{ScopeQuery, TypeQuery};
use tenant_contexts::Names;

use crate::body::{check_name, is_scope_level};
use crate::error::Error;
use crate::q::Cursor;

/// How deep parentheses may nest.
const DEPTH_MAX: usize = 16;
/// The most types or scopes of a selection.
const NODES_MAX: usize = 1000;

/// The types that `text` selects; `None`: any (`*`). Cost: linear in the text.
///
/// # Errors
///
/// [`Error::Invalid`] says what was expected where.
pub fn parse_types(text: &str, names: &Names) -> Result<Option<TypeQuery>, Error> {
    if text.trim() == "*" {
        return Ok(None);
    }
    let mut reader = Selection { cursor: Cursor::new("type", text), nodes: 0 };
    let leaf = |cursor: &mut Cursor<'_>| {
        let name = cursor.word();
        if name.is_empty() {
            return Err(cursor.expected("an entity type"));
        }
        check_name(name).map_err(|error| cursor.wrong(&error))?;
        Ok(TypeQuery::Is(names.term(name)))
    };
    reader.whole(&leaf, &Joins { any: TypeQuery::Any, all: TypeQuery::All }).map(Some)
}

/// The scopes that `text` selects. Cost: linear in the text.
///
/// # Errors
///
/// [`Error::Invalid`] says what was expected where.
pub fn parse_scopes(text: &str) -> Result<ScopeQuery, Error> {
    let mut reader = Selection { cursor: Cursor::new("scopeQ", text), nodes: 0 };
    reader.whole(&scope, &Joins { any: ScopeQuery::Any, all: ScopeQuery::All })
}

fn scope(cursor: &mut Cursor<'_>) -> Result<ScopeQuery, Error> {
    let text = cursor.word();
    if text.is_empty() {
        return Err(cursor.expected("a scope such as /Madrid/Gardens"));
    }
    let levels: Vec<Box<str>> = text.strip_prefix('/').unwrap_or(text).split('/').map(Box::from).collect();
    let last = levels.len() - 1;
    let fits =
        |(at, level): (usize, &str)| level == "+" || (level == "#" && at == last) || is_scope_level(level);
    if levels.iter().map(|level| &**level).enumerate().all(fits) {
        Ok(ScopeQuery::Matches(levels))
    } else {
        Err(cursor.wrong(&format!("{text:?} is not a scope such as /Madrid/+/ParqueNorte or /Madrid/#")))
    }
}

/// How parts of a selection are put together.
struct Joins<T> {
    any: fn(Vec<T>) -> T,
    all: fn(Vec<T>) -> T,
}

struct Selection<'a> {
    cursor: Cursor<'a>,
    nodes: usize,
}

type Leaf<'f, T> = &'f dyn Fn(&mut Cursor<'_>) -> Result<T, Error>;

impl Selection<'_> {
    fn whole<T>(&mut self, leaf: Leaf<'_, T>, joins: &Joins<T>) -> Result<T, Error> {
        let found = self.any(leaf, joins, 0)?;
        if self.cursor.is_done() {
            Ok(found)
        } else {
            Err(self.cursor.expected("\",\", \"|\", \";\" or the end"))
        }
    }

    fn any<T>(&mut self, leaf: Leaf<'_, T>, joins: &Joins<T>, depth: usize) -> Result<T, Error> {
        let first = self.all(leaf, joins, depth)?;
        if !matches!(self.cursor.peek(), Some(',' | '|')) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.cursor.eat(',') || self.cursor.eat('|') {
            parts.push(self.all(leaf, joins, depth)?);
        }
        Ok((joins.any)(parts))
    }

    fn all<T>(&mut self, leaf: Leaf<'_, T>, joins: &Joins<T>, depth: usize) -> Result<T, Error> {
        let first = self.part(leaf, joins, depth)?;
        if self.cursor.peek() != Some(';') {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.cursor.eat(';') {
            parts.push(self.part(leaf, joins, depth)?);
        }
        Ok((joins.all)(parts))
    }

    fn part<T>(&mut self, leaf: Leaf<'_, T>, joins: &Joins<T>, depth: usize) -> Result<T, Error> {
        self.nodes += 1;
        if depth >= DEPTH_MAX || self.nodes > NODES_MAX {
            let detail =
                format!("a selection must not have more than {NODES_MAX} parts or {DEPTH_MAX} levels");
            return Err(Error::TooComplex(detail));
        }
        if !self.cursor.eat('(') {
            return leaf(&mut self.cursor);
        }
        let inner = self.any(leaf, joins, depth + 1)?;
        if self.cursor.eat(')') { Ok(inner) } else { Err(self.cursor.expected("\")\"")) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tenant_contexts::RequestContext;

    use super::*;

    const NAMES: &[&str] = &["Building", "House", "Home", "https://a.example/ns#T"];

    fn types(text: &str) -> Result<String, String> {
        fn print(query: &TypeQuery) -> String {
            match query {
                TypeQuery::Is(Some(term)) => NAMES[term.0 as usize].to_owned(),
                TypeQuery::Is(None) => "unknown".to_owned(),
                TypeQuery::Any(parts) => {
                    format!("({})", parts.iter().map(print).collect::<Vec<_>>().join("|"))
                }
                TypeQuery::All(parts) => {
                    format!("({})", parts.iter().map(print).collect::<Vec<_>>().join(";"))
                }
            }
        }
        let names = Names::of(&RequestContext::core(), NAMES);
        let found = parse_types(text, &names).map_err(|problem| problem.shown())?;
        Ok(found.as_ref().map_or_else(|| "any".to_owned(), print))
    }

    fn scopes(text: &str) -> Result<String, String> {
        fn print(query: &ScopeQuery) -> String {
            match query {
                ScopeQuery::Matches(levels) => format!("/{}", levels.join("/")),
                ScopeQuery::Any(parts) => {
                    format!("({})", parts.iter().map(print).collect::<Vec<_>>().join("|"))
                }
                ScopeQuery::All(parts) => {
                    format!("({})", parts.iter().map(print).collect::<Vec<_>>().join(";"))
                }
            }
        }
        parse_scopes(text).map(|query| print(&query)).map_err(|problem| problem.shown())
    }

    fn check(found: &Result<String, String>, expected: Result<&str, &str>) {
        assert_eq!(found.as_ref().map(String::as_str).map_err(String::as_str), expected);
    }

    #[test]
    fn reads_type_selections() {
        check(&types("Building"), Ok("Building"));
        check(&types("*"), Ok("any"));
        check(&types("Building|House"), Ok("(Building|House)"));
        check(&types("Building,House"), Ok("(Building|House)"));
        check(&types("(Home;House)|Building"), Ok("((Home;House)|Building)"));
        check(&types("(Home;House),Building"), Ok("((Home;House)|Building)"));
        check(&types("Home;(House,Building)"), Ok("(Home;(House|Building))"));
        check(&types("https://a.example/ns#T,Nobody"), Ok("(https://a.example/ns#T|unknown)"));
    }

    #[test]
    fn refuses_what_is_no_type_selection() {
        check(&types(""), Err("Invalid: type: expected an entity type, found the end"));
        check(&types("A,"), Err("Invalid: type: expected an entity type, found the end"));
        check(&types("(A"), Err("Invalid: type: expected \")\", found the end"));
        check(
            &types("A)"),
            Err("Invalid: type: expected \",\", \"|\", \";\" or the end at byte 1, found ')'"),
        );
        check(
            &types("A=B"),
            Err("Invalid: type: expected \",\", \"|\", \";\" or the end at byte 1, found '='"),
        );
        check(&types("A?"), Err("Invalid: type: name \"A?\" holds '?', which no name can"));
        let deep = "(".repeat(99_999);
        check(&types(&deep), Err("TooComplex: a selection must not have more than 1000 parts or 16 levels"));
    }

    #[test]
    fn reads_scope_queries() {
        check(&scopes("/Madrid"), Ok("/Madrid"));
        check(&scopes("/Madrid/Gardens/#"), Ok("/Madrid/Gardens/#"));
        check(&scopes("/#"), Ok("/#"));
        check(&scopes("/Madrid/+/ParqueNorte"), Ok("/Madrid/+/ParqueNorte"));
        check(
            &scopes("(/Madrid/Districts;/CompanyA)|CompanyB"),
            Ok("((/Madrid/Districts;/CompanyA)|/CompanyB)"),
        );
        check(
            &scopes("(/Madrid/Districts;/CompanyA),CompanyB"),
            Ok("((/Madrid/Districts;/CompanyA)|/CompanyB)"),
        );
    }

    #[test]
    fn refuses_what_is_no_scope_query() {
        let no_scope = |text| {
            format!("Invalid: scopeQ: {text:?} is not a scope such as /Madrid/+/ParqueNorte or /Madrid/#")
        };
        check(&scopes(""), Err("Invalid: scopeQ: expected a scope such as /Madrid/Gardens, found the end"));
        for text in ["/", "//a", "/a/", "/#/a", "/a+", "/a/-b"] {
            check(&scopes(text), Err(&no_scope(text)));
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in "[AB/+#();,|* ]{0,30}") {
            let _ = (types(&text), scopes(&text));
        }
    }
}
