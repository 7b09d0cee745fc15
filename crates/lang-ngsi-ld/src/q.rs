//! The query language of NGSI-LD (4.9): text in, the model's filter out.
//!
//! `;` binds closer than `|`; parentheses nest. Besides the grammar's short names, attribute names
//! may be prefixed or IRIs (in `<…>` where they hold characters of the language); blanks around
//! words and signs count for nothing; a pattern may be in double quotes. A name that the tenant
//! never used matches nothing. Members of entities and attributes that are no attributes themselves and cannot be
//! compared (`id`, `type`, `scope`, `expiresAt`, `valueType`, …) are refused. A dot always begins a
//! sub-attribute, but in an IRI: no short name that is written has one. Of the
//! entities that `sensor{Device:humidity}` leads to, only those of the type count.

mod cursor;
mod path;
mod value;

use model_entities::{Comparison, Filter, Operand, TermId};
use tenant_contexts::Names;

pub use cursor::Cursor;
pub use path::parse_path;
pub use value::compile_pattern;

use crate::error::Error;

/// How deep parentheses and linked entities may nest.
const DEPTH_MAX: usize = 32;

/// What a query is read with.
#[derive(Clone, Copy, Debug)]
pub struct QueryOptions<'a> {
    /// Spells names.
    pub names: &'a Names,
    /// Attributes whose values are expanded to IRIs by the context (`expandValues`).
    pub expand_values: &'a [TermId],
    /// The most terms.
    pub nodes_max: usize,
    /// The most values in lists.
    pub values_max: usize,
}

/// The filter that `text` denotes. Cost: linear in the text, but for its patterns.
///
/// # Errors
///
/// [`Error::Invalid`] says what was expected where; [`Error::TooComplex`] beyond `nodes_max` terms and `values_max` values of lists.
pub fn parse_query(text: &str, options: &QueryOptions<'_>) -> Result<Filter, Error> {
    let mut parser = Parser { cursor: Cursor::new("q", text), options, nodes: 0, values: 0 };
    let filter = parser.any(0)?;
    if !parser.cursor.is_done() {
        return Err(parser.cursor.expected("\";\", \"|\" or the end"));
    }
    Ok(filter)
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    options: &'a QueryOptions<'a>,
    nodes: usize,
    values: usize,
}

impl Parser<'_> {
    /// Terms joined by `|`.
    fn any(&mut self, depth: usize) -> Result<Filter, Error> {
        let first = self.all(depth)?;
        let mut rest = Vec::new();
        while self.cursor.eat('|') {
            rest.push(self.all(depth)?);
        }
        Ok(joined(first, rest, Filter::Or))
    }

    /// Terms joined by `;`.
    fn all(&mut self, depth: usize) -> Result<Filter, Error> {
        let first = self.term(depth)?;
        let mut rest = Vec::new();
        while self.cursor.eat(';') {
            rest.push(self.term(depth)?);
        }
        Ok(joined(first, rest, Filter::And))
    }

    /// One term, or terms in parentheses.
    fn term(&mut self, depth: usize) -> Result<Filter, Error> {
        if depth >= DEPTH_MAX {
            return Err(Error::TooComplex(format!("q nests more than {DEPTH_MAX} deep")));
        }
        if self.cursor.eat('(') {
            let inner = self.any(depth + 1)?;
            if !self.cursor.eat(')') {
                return Err(self.cursor.expected("\")\""));
            }
            return Ok(inner);
        }
        self.nodes += 1;
        if self.nodes > self.options.nodes_max {
            let detail = format!("q has more than {} terms (q_nodes_max)", self.options.nodes_max);
            return Err(Error::TooComplex(detail));
        }
        let path = parse_path(&mut self.cursor, self.options.names, depth)?;
        let Some(comparison) = self.comparison()? else { return Ok(Filter::Exists(path)) };
        let operand = self.operand(comparison, &path)?;
        if let Operand::Values(values) = &operand
            && values.len() > 1
        {
            self.values += values.len();
        }
        if self.values > self.options.values_max {
            let detail =
                format!("lists of q have more than {} values (q_values_max)", self.options.values_max);
            return Err(Error::TooComplex(detail));
        }
        Ok(Filter::Compare(path, comparison, operand))
    }

    fn comparison(&mut self) -> Result<Option<Comparison>, Error> {
        for (sign, comparison) in [
            ("==", Comparison::Equal),
            ("!~=", Comparison::NotMatch),
            ("!=", Comparison::NotEqual),
            ("~=", Comparison::Match),
            (">=", Comparison::GreaterEqual),
            ("<=", Comparison::LessEqual),
            (">", Comparison::Greater),
            ("<", Comparison::Less),
        ] {
            if self.cursor.eat_text(sign) {
                return Ok(Some(comparison));
            }
        }
        match self.cursor.peek() {
            None | Some(';' | '|' | ')') => Ok(None),
            Some(_) => Err(self.cursor.expected("a comparison (==, !=, <, <=, >, >=, ~=, !~=)")),
        }
    }

    fn operand(&mut self, comparison: Comparison, path: &model_entities::Path) -> Result<Operand, Error> {
        let expand = path.attribute.is_some_and(|name| self.options.expand_values.contains(&name));
        let reading = value::Reading {
            names: expand.then_some(self.options.names),
            time: path.meta.is_some_and(path::is_time),
        };
        match comparison {
            Comparison::Match | Comparison::NotMatch => value::pattern(&mut self.cursor),
            Comparison::Equal | Comparison::NotEqual => value::equality(&mut self.cursor, &reading),
            _ => value::ordering(&mut self.cursor, &reading),
        }
    }
}

/// One filter of several.
fn joined(first: Filter, rest: Vec<Filter>, join: fn(Vec<Filter>) -> Filter) -> Filter {
    if rest.is_empty() {
        return first;
    }
    let mut all = Vec::with_capacity(rest.len() + 1);
    all.push(first);
    all.extend(rest);
    join(all)
}

#[cfg(test)]
mod tests;
