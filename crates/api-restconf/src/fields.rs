//! The parameter `fields` (RFC 8040, section 4.8.3): text in, a tree of names out, and that tree against a schema: what of a
//! resource is asked for.

use std::sync::Arc;

use lang_yang::{NodeId, Schema};

use crate::identifier::is_identifier;
use crate::names::child;

/// The most names of an expression.
const NAMES_MAX: usize = 4096;
/// The deepest nesting of parentheses and paths.
const DEPTH_MAX: usize = 64;

/// What is asked for below a node.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) enum Selection {
    /// Everything.
    #[default]
    All,
    /// Only these, by number.
    Some(Arc<[(NodeId, Selection)]>),
}

/// A name in an expression, and what is asked for below it (nothing said: everything).
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Field<'a> {
    module: Option<&'a str>,
    name: &'a str,
    below: Vec<Field<'a>>,
}

impl Selection {
    /// What is asked for below a child; `None`: the child is not asked for. Cost: a binary search.
    pub(crate) fn below(&self, child: NodeId) -> Option<&Self> {
        match self {
            Self::All => Some(self),
            Self::Some(nodes) => {
                let place = nodes.binary_search_by_key(&child, |(node, _)| *node).ok()?;
                nodes.get(place).map(|(_, below)| below)
            }
        }
    }

    /// What fields mean below `parent`; at the top they name their modules.
    ///
    /// # Errors
    ///
    /// Which name is none there, as a sentence.
    pub(crate) fn of(schema: &Schema, parent: Option<NodeId>, fields: &[Field<'_>]) -> Result<Self, String> {
        let mut nodes = Vec::with_capacity(fields.len());
        for field in fields {
            let node = child(schema, parent, field.module, field.name).map_err(|error| error.to_string())?;
            let below = match field.below.as_slice() {
                [] => Self::All,
                fields => Self::of(schema, Some(node), fields)?,
            };
            nodes.push((node, below));
        }
        Ok(Self::merged(nodes))
    }

    /// This node, and of it what another selection says.
    pub(crate) fn only(node: NodeId, below: Self) -> Self {
        Self::Some([(node, below)].into())
    }

    /// One entry for each node, in the order of their numbers.
    fn merged(mut nodes: Vec<(NodeId, Self)>) -> Self {
        nodes.sort_by_key(|(node, _)| *node);
        let mut merged: Vec<(NodeId, Self)> = Vec::with_capacity(nodes.len());
        for (node, below) in nodes {
            match merged.last_mut() {
                Some((last, before)) if *last == node => {
                    let both = std::mem::replace(before, Self::All);
                    *before = both.and(below);
                }
                _ => merged.push((node, below)),
            }
        }
        Self::Some(merged.into())
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Some(nodes), Self::Some(more)) => {
                Self::merged(nodes.iter().chain(&*more).cloned().collect())
            }
            _ => Self::All,
        }
    }
}

/// Reads an expression: paths, parentheses behind a path, `;` between them. Cost: one pass; an allocation for each level.
///
/// # Errors
///
/// What was expected where, as a sentence.
pub(crate) fn parse_fields(text: &str) -> Result<Vec<Field<'_>>, String> {
    let mut reader = Reader { text, at: 0, names: 0 };
    let fields = reader.fields(0)?;
    if reader.at < text.len() {
        return Err(reader.expected("\";\" or the end"));
    }
    Ok(fields)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    names: usize,
}

impl<'a> Reader<'a> {
    fn fields(&mut self, depth: usize) -> Result<Vec<Field<'a>>, String> {
        let mut fields = vec![self.path(depth)?];
        while self.take(';') {
            fields.push(self.path(depth)?);
        }
        Ok(fields)
    }

    /// `name/name(…)`.
    fn path(&mut self, depth: usize) -> Result<Field<'a>, String> {
        if depth == DEPTH_MAX {
            return Err(format!("it is nested deeper than {DEPTH_MAX} levels"));
        }
        let (module, name) = self.name()?;
        let below = if self.take('/') {
            vec![self.path(depth + 1)?]
        } else if self.take('(') {
            let below = self.fields(depth + 1)?;
            if !self.take(')') {
                return Err(self.expected("\";\" or \")\""));
            }
            below
        } else {
            Vec::new()
        };
        Ok(Field { module, name, below })
    }

    fn name(&mut self) -> Result<(Option<&'a str>, &'a str), String> {
        self.names += 1;
        if self.names > NAMES_MAX {
            return Err(format!("it has more than {NAMES_MAX} names"));
        }
        let rest = self.rest();
        let end = rest.find(['/', '(', ')', ';']).unwrap_or(rest.len());
        let (text, _) = rest.split_at(end);
        let (module, name) = match text.split_once(':') {
            Some((module, name)) => (Some(module), name),
            None => (None, text),
        };
        if module.is_some_and(|module| !is_identifier(module)) || !is_identifier(name) {
            return Err(self.expected("NAME or MODULE:NAME"));
        }
        self.at += end;
        Ok((module, name))
    }

    fn take(&mut self, sign: char) -> bool {
        let is_there = self.rest().starts_with(sign);
        if is_there {
            self.at += sign.len_utf8();
        }
        is_there
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).expect("names and signs end between characters")
    }

    fn expected(&self, what: &str) -> String {
        const SHOWN_CHARS_MAX: usize = 20;
        let rest: String = self.rest().chars().take(SHOWN_CHARS_MAX).collect();
        let found = if rest.is_empty() { "its end".to_owned() } else { format!("{rest:?}") };
        format!("at byte {} {what} must stand, not {found}; such as a;b(c;d/e)", self.at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn print(fields: &[Field<'_>]) -> String {
        let one = |field: &Field<'_>| {
            let module = field.module.map(|module| format!("{module}:")).unwrap_or_default();
            let below =
                if field.below.is_empty() { String::new() } else { format!("({})", print(&field.below)) };
            format!("{module}{}{below}", field.name)
        };
        fields.iter().map(one).collect::<Vec<_>>().join(";")
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(parse_fields(text).map(|fields| print(&fields)).as_deref(), Ok(expected), "{text}");
    }

    fn check_refused(text: &str, expected: &str) {
        let refused = parse_fields(text).unwrap_err();
        assert!(refused.starts_with(expected), "{text}: {refused}");
    }

    #[test]
    fn expressions_are_read() {
        check("genre", "genre");
        check("genre;year", "genre;year");
        check("album(title;year)", "album(title;year)");
        check("library/artist(name;album/name);x:player", "library(artist(name;album(name)));x:player");
        check("a(b(c;d);e/f(g))", "a(b(c;d);e(f(g)))");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        check_refused("", "at byte 0 NAME or MODULE:NAME must stand, not its end");
        check_refused("a;", "at byte 2 NAME or MODULE:NAME must stand, not its end");
        check_refused("a(b", "at byte 3 \";\" or \")\" must stand, not its end");
        check_refused("a)", "at byte 1 \";\" or the end must stand, not \")\"");
        check_refused("a()", "at byte 2 NAME or MODULE:NAME must stand, not \")\"");
        check_refused("a//b", "at byte 2 NAME or MODULE:NAME must stand, not \"/b\"");
        check_refused("a b", "at byte 0 NAME or MODULE:NAME must stand, not \"a b\"");
        check_refused(&"a/".repeat(200), "it is nested deeper than 64 levels");
        check_refused(&"a;".repeat(5000), "it has more than 4096 names");
    }

    proptest! {
        #[test]
        fn what_is_read_is_read_again(text in "[ab:;/()]{0,30}") {
            if let Ok(fields) = parse_fields(&text) {
                let printed = print(&fields);
                prop_assert_eq!(print(&parse_fields(&printed).unwrap()), printed);
            }
        }

        #[test]
        fn no_expression_panics(text in "\\PC{0,60}") {
            let _ = parse_fields(&text);
        }
    }
}
