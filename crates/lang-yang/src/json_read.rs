//! Data from JSON (RFC 7951): one pass over the text, straight into values of their types.

use lang_json::{Kind, Problem, Reader};

use crate::assembly::{Assembly, Frame, Metadata, NameRules, ReadOptions, any_value, expected};
use crate::check::{Kinds, Prefixes, Scalar};
use crate::data_error::{DataError, DataProblem, Fault, Place, Read, step};
use crate::schema::{NodeId, NodeKind, Schema};
use crate::tree::{Content, Value};

/// Objects and arrays around a value, beyond two for each node around it: the outermost object, an envelope, an empty value.
const AROUND: usize = 4;

/// The members of an object, which lie below `parent` (`None`: at the top). Members may come in any order, and are given in that of
/// the schema; entries of lists and values of leaf-lists keep theirs. Cost: linear in the text; one allocation for each value, leaf
/// and container.
///
/// Structure, types, keys and choices are checked; what is mandatory, and conditions between nodes, are not.
///
/// # Errors
///
/// A text that is no JSON, or no data of the schema there; the error says where.
pub fn read_json(
    schema: &Schema,
    parent: Option<NodeId>,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<Content, DataError> {
    let text = std::str::from_utf8(bytes).map_err(|error| DataError {
        problem: DataProblem::Syntax("the text is not UTF-8".into()),
        path: Box::default(),
        place: Place::of(bytes, error.valid_up_to()),
    })?;
    let json = Reader::new(text, options.depth_max.saturating_mul(2).saturating_add(AROUND));
    let mut reader =
        JsonReader { text, json, assembly: Assembly::new(schema, options), may_unwrap: parent.is_none() };
    reader.document(parent).map_err(|fault| fault.into_error(bytes))
}

struct JsonReader<'a> {
    text: &'a str,
    json: Reader<'a>,
    assembly: Assembly<'a>,
    /// Whether an envelope may follow.
    may_unwrap: bool,
}

impl<'a> JsonReader<'a> {
    fn document(&mut self, parent: Option<NodeId>) -> Read<Content> {
        let mut frame = self.open(parent)?;
        self.object("an object")?;
        self.members(&mut frame)?;
        self.fail(|json| json.end())?;
        self.assembly.close(&mut frame, self.json.position())
    }

    fn syntax(&self, error: &lang_json::Error) -> Box<Fault> {
        let problem = match error.problem {
            Problem::Depth => DataProblem::TooDeep { max: self.assembly.options.depth_max },
            problem => DataProblem::Syntax(problem.to_string().into()),
        };
        Fault::new(problem, error.at)
    }

    /// Asks the reader of JSON.
    fn fail<T>(&mut self, ask: impl FnOnce(&mut Reader<'a>) -> Result<T, lang_json::Error>) -> Read<T> {
        ask(&mut self.json).map_err(|error| self.syntax(&error))
    }

    fn here<T>(&self, result: Result<T, DataProblem>) -> Read<T> {
        result.map_err(|problem| Fault::new(problem, self.json.position()))
    }

    fn open(&mut self, parent: Option<NodeId>) -> Read<Frame> {
        let opened = self.assembly.open(parent);
        self.here(opened)
    }

    /// The kind of the next value, which stays unread.
    fn peek(&mut self) -> Read<Kind> {
        self.fail(Reader::peek)
    }

    fn shape<T>(&self, expected: &'static str, found: Kind) -> Read<T> {
        self.here(Err(DataProblem::Shape { expected, found: spelt(found) }))
    }

    /// Enters an object.
    fn object(&mut self, expected: &'static str) -> Read<()> {
        match self.peek()? {
            Kind::Object => self.fail(Reader::begin_object),
            other => self.shape(expected, other),
        }
    }

    /// The members of an object that was entered, to its end.
    fn members(&mut self, frame: &mut Frame) -> Read<()> {
        loop {
            let before = self.json.position();
            let Some(key) = self.fail(Reader::next_key)? else { return Ok(()) };
            if key.starts_with('@') {
                self.metadata(&key, before)?;
                continue;
            }
            match self.resolve(frame, &key) {
                Ok(id) => self.member(frame, id, before)?,
                Err(_) if self.is_envelope(&key) => {
                    self.may_unwrap = false;
                    self.object("an object")?;
                    self.members(frame)?;
                }
                Err(problem) => return Err(Fault::new(problem, self.name_at(before))),
            }
        }
    }

    fn is_envelope(&self, key: &str) -> bool {
        let (module, name) = key.split_once(':').map_or((None, key), |(module, name)| (Some(module), name));
        let mut envelopes = self.assembly.options.envelopes.iter();
        self.may_unwrap
            && envelopes.any(|envelope| {
                envelope.name == name && module.is_none_or(|module| module == envelope.module)
            })
    }

    /// Where the name begins that follows an offset.
    fn name_at(&self, before: usize) -> usize {
        let rest = self.text.as_bytes().iter().skip(before);
        before + rest.take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',')).count()
    }

    fn metadata(&mut self, key: &str, before: usize) -> Read<()> {
        match self.assembly.options.metadata {
            Metadata::Ignore => self.fail(Reader::skip),
            Metadata::Refuse => {
                Err(Fault::new(DataProblem::Metadata { name: key.into() }, self.name_at(before)))
            }
        }
    }

    /// The node of a name.
    fn resolve(&self, frame: &Frame, key: &str) -> Result<NodeId, DataProblem> {
        let (module, name) = key.split_once(':').map_or((None, key), |(module, name)| (Some(module), name));
        match self.assembly.options.names {
            NameRules::Rfc7951 => self.assembly.resolve_strict(frame, module, name),
            NameRules::Lenient => self.assembly.resolve_lenient(frame, module, name),
        }
    }

    /// The value of a member.
    fn member(&mut self, frame: &mut Frame, id: NodeId, before: usize) -> Read<()> {
        let schema = self.assembly.schema;
        let kind = &schema.node(id).kind;
        let result = match self.assembly.enter(frame, id) {
            Ok(true) => match kind {
                NodeKind::Container { .. } => self.container(frame, id),
                NodeKind::List { .. } => self.list(frame, id),
                NodeKind::Leaf { .. } => self.leaf(frame, id),
                NodeKind::LeafList { .. } => self.leaf_list(frame, id),
                NodeKind::Any(_) => self.any(frame, id),
            },
            Ok(false) => Err(Fault::new(DataProblem::Twice, self.name_at(before))),
            Err(problem) => Err(Fault::new(problem, self.name_at(before))),
        };
        result.map_err(|fault| fault.below(step(schema, id, frame.is_outermost)))
    }

    fn container(&mut self, frame: &mut Frame, id: NodeId) -> Read<()> {
        self.object(expected(&self.assembly.schema.node(id).kind))?;
        let content = self.content(id, None)?;
        frame.add_child(id, content);
        Ok(())
    }

    /// What lies in an object that was entered, to its end. An entry has a position.
    fn content(&mut self, id: NodeId, position: Option<usize>) -> Read<Content> {
        let counted = self.assembly.count();
        self.here(counted)?;
        // Members do not come back to what is around them.
        self.may_unwrap = false;
        let mut frame = self.open(Some(id))?;
        let read =
            self.members(&mut frame).and_then(|()| self.assembly.close(&mut frame, self.json.position()));
        read.map_err(|fault| fault.below(self.assembly.entry_step(&frame, position)))
    }

    fn list(&mut self, frame: &mut Frame, id: NodeId) -> Read<()> {
        match self.peek()? {
            Kind::Array => self.fail(Reader::begin_array)?,
            Kind::Object if self.assembly.options.kinds == Kinds::Lenient => {
                return self.container(frame, id);
            }
            other => return self.shape(expected(&self.assembly.schema.node(id).kind), other),
        }
        let mut position = 0;
        while self.fail(Reader::next_element)? {
            position += 1;
            let entered = self.object("an object for an entry of a list");
            entered.map_err(|fault| fault.below(format!("[{position}]")))?;
            let content = self.content(id, Some(position))?;
            frame.add_child(id, content);
        }
        Ok(())
    }

    fn leaf(&mut self, frame: &mut Frame, id: NodeId) -> Read<()> {
        let value = self.value(id)?;
        frame.add_leaf(id, vec![value]);
        Ok(())
    }

    fn leaf_list(&mut self, frame: &mut Frame, id: NodeId) -> Read<()> {
        match self.peek()? {
            Kind::Array => self.fail(Reader::begin_array)?,
            other => return self.shape(expected(&self.assembly.schema.node(id).kind), other),
        }
        let mut values = Vec::new();
        while self.fail(Reader::next_element)? {
            let value = self.value(id);
            values.push(value.map_err(|fault| fault.below(format!("[{}]", values.len() + 1)))?);
        }
        if !values.is_empty() || self.assembly.options.keeps_empty_leaf_lists {
            frame.add_leaf(id, values);
        }
        Ok(())
    }

    /// One value of a leaf or a leaf-list.
    fn value(&mut self, id: NodeId) -> Read<Value> {
        let counted = self.assembly.count();
        self.here(counted)?;
        let kind = self.peek()?;
        let at = self.json.position();
        let text;
        let scalar = match kind {
            Kind::String => {
                text = self.fail(Reader::string)?;
                Scalar::String(&text)
            }
            Kind::Number => Scalar::Number(self.fail(Reader::number)?),
            Kind::Bool => Scalar::Boolean(self.fail(Reader::bool)?),
            Kind::Array => self.empty()?,
            Kind::Null if self.assembly.options.kinds == Kinds::Lenient => {
                self.fail(Reader::null)?;
                Scalar::Empty
            }
            Kind::Null | Kind::Object => return self.shape("a value", kind),
        };
        let prefixes = match self.assembly.options.names {
            NameRules::Rfc7951 => Prefixes::Modules,
            NameRules::Lenient => Prefixes::Lenient,
        };
        self.assembly.value(id, scalar, prefixes).map_err(|problem| Fault::new(problem, at))
    }

    /// `[null]`, the value of the type `empty`.
    fn empty(&mut self) -> Read<Scalar<'static>> {
        const EXPECTED: &str = "one value, or [null] for a leaf of type empty,";
        self.fail(Reader::begin_array)?;
        if !self.fail(Reader::next_element)? || self.peek()? != Kind::Null {
            return self.shape(EXPECTED, Kind::Array);
        }
        self.fail(Reader::null)?;
        if self.fail(Reader::next_element)? {
            return self.shape(EXPECTED, Kind::Array);
        }
        Ok(Scalar::Empty)
    }

    fn any(&mut self, frame: &mut Frame, id: NodeId) -> Read<()> {
        let counted = self.assembly.count();
        self.here(counted)?;
        let mut json = String::new();
        self.fail(|reader| reader.canonical(&mut json))?;
        frame.add_leaf(id, vec![any_value(json)]);
        Ok(())
    }
}

/// A kind of JSON in words.
fn spelt(kind: Kind) -> &'static str {
    match kind {
        Kind::Object => "an object",
        Kind::Array => "an array",
        Kind::String => "a string",
        Kind::Number => "a number",
        Kind::Bool => "true or false",
        Kind::Null => "null",
    }
}

#[cfg(test)]
mod tests;
