//! Data from XML (RFC 7950): one pass over the text, straight into values of their types. Entries of a list, and values of a leaf-list,
//! may lie apart.

use std::borrow::Cow;

use quick_xml::escape::{resolve_xml_entity, unescape};
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{QName, ResolveResult};
use quick_xml::reader::NsReader;

use crate::any_xml::Element;
use crate::assembly::{Assembly, Frame, Metadata, NameRules, ReadOptions, any_value, unknown};
use crate::check::{Prefixes, Scalar};
use crate::data_error::{DataError, DataProblem, Fault, Place, Read, step};
use crate::schema::{Any, ModuleId, NodeId, NodeKind, Schema};
use crate::tree::{Content, Value};
use crate::types::TypeKind;

/// White space of XML.
const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// The outermost elements of a text, which lie below `parent` (`None`: at the top): one, or any number where names are lenient. What is
/// checked, and in which order it is given, is as with [`read_json`](crate::read_json). White space around values that are no
/// strings does not count. Cost: linear in the text; one allocation for each value, leaf and container.
///
/// Document types, and entities beyond those of XML itself, are refused; comments and processing instructions are passed over.
///
/// # Errors
///
/// A text that is no XML, or no data of the schema there; the error says where.
pub fn read_xml(
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
    // A byte order mark is no text.
    let base = text.strip_prefix('\u{feff}').map_or(0, |rest| text.len() - rest.len());
    let mut xml = NsReader::from_str(text.get(base..).expect("what was stripped ends there"));
    xml.config_mut().expand_empty_elements = true;
    let assembly = Assembly::new(schema, options);
    let mut reader = XmlReader { xml, assembly, base, at: base, may_unwrap: parent.is_none() };
    reader.document(parent).map_err(|fault| fault.into_error(bytes))
}

struct XmlReader<'a> {
    xml: NsReader<&'a [u8]>,
    assembly: Assembly<'a>,
    /// Where what is read begins, in bytes.
    base: usize,
    /// Where the last token begins, in bytes.
    at: usize,
    /// Whether an envelope may follow.
    may_unwrap: bool,
}

enum Token<'a> {
    Start(BytesStart<'a>),
    End,
    Text(Cow<'a, str>),
    /// The text ends outside of all elements.
    Eof,
}

impl<'a> XmlReader<'a> {
    fn document(&mut self, parent: Option<NodeId>) -> Read<Content> {
        let opened = self.assembly.open(parent);
        let mut frame = self.here(opened)?;
        let takes_many = self.assembly.options.names == NameRules::Lenient;
        let mut count = 0_usize;
        loop {
            match self.token()? {
                Token::Start(start) if count == 0 || takes_many => {
                    count += 1;
                    self.element(&mut frame, &start)?;
                }
                Token::Start(_) => return self.refuse("one outermost element expected, got another"),
                Token::Text(text) => self.space(&text, "outside of all elements")?,
                Token::Eof if count == 0 => return self.refuse("an element expected, got none"),
                Token::End | Token::Eof => return self.assembly.close(&mut frame, self.at),
            }
        }
    }

    fn refuse<T>(&self, what: &str) -> Read<T> {
        self.here(Err(DataProblem::Syntax(what.into())))
    }

    fn here<T>(&self, result: Result<T, DataProblem>) -> Read<T> {
        result.map_err(|problem| Fault::new(problem, self.at))
    }

    /// An offset in the whole text.
    fn offset(&self, position: u64) -> usize {
        self.base + usize::try_from(position).expect("a text in memory")
    }

    /// The next token that means something.
    fn token(&mut self) -> Read<Token<'a>> {
        loop {
            self.at = self.offset(self.xml.buffer_position());
            let event = self.xml.read_event().map_err(|error| {
                Fault::new(
                    DataProblem::Syntax(error.to_string().into()),
                    self.offset(self.xml.error_position()),
                )
            })?;
            return Ok(match event {
                Event::Start(start) | Event::Empty(start) => Token::Start(start),
                Event::End(_) => Token::End,
                Event::Text(text) => Token::Text(self.legal(line_ends(text.into_inner()))?),
                Event::CData(text) => Token::Text(self.legal(line_ends(text.into_inner()))?),
                Event::GeneralRef(name) => Token::Text(self.reference(&name)?),
                Event::Eof => Token::Eof,
                Event::Decl(declaration) => {
                    let encoding = declaration.encoding().and_then(Result::ok);
                    if encoding.is_some_and(|name| !name.eq_ignore_ascii_case("utf-8")) {
                        return self.refuse("the encoding UTF-8 expected, got another");
                    }
                    continue;
                }
                Event::Comment(_) | Event::PI(_) => continue,
                Event::DocType(_) => return self.refuse("document types are not supported"),
            });
        }
    }

    /// A character, or an entity of XML itself.
    fn reference(&self, name: &quick_xml::events::BytesRef<'_>) -> Read<Cow<'a, str>> {
        let number = name.resolve_char_ref();
        let number =
            number.map_err(|error| Fault::new(DataProblem::Syntax(error.to_string().into()), self.at))?;
        match number {
            Some(character) if is_legal(character) => Ok(Cow::Owned(character.into())),
            Some(_) => self.refuse("a character that XML does not allow"),
            None => match resolve_xml_entity(name) {
                Some(text) => Ok(Cow::Borrowed(text)),
                None => self.refuse(&format!("there is no entity \"{}\"", &**name)),
            },
        }
    }

    /// Text without characters that XML does not allow.
    fn legal(&self, text: Cow<'a, str>) -> Read<Cow<'a, str>> {
        if text.chars().all(is_legal) { Ok(text) } else { self.refuse("a character that XML does not allow") }
    }

    /// What lies between the elements of a container.
    fn space(&self, text: &str, place: &str) -> Read<()> {
        if text.trim_matches(SPACE).is_empty() {
            return Ok(());
        }
        self.refuse(&format!("elements expected, got text {place}"))
    }

    /// The elements in a node, to its end.
    fn members(&mut self, frame: &mut Frame) -> Read<()> {
        loop {
            match self.token()? {
                Token::Start(start) => self.element(frame, &start)?,
                Token::Text(text) => self.space(&text, "in a node that holds nodes")?,
                Token::End => return Ok(()),
                Token::Eof => return self.refuse("the text ends within an element"),
            }
        }
    }

    /// An element that has begun, to its end.
    fn element(&mut self, frame: &mut Frame, start: &BytesStart<'a>) -> Read<()> {
        self.attributes(start)?;
        match self.resolve(frame, start) {
            Ok(id) => {
                self.may_unwrap = false;
                let read = self.node(frame, id);
                read.map_err(|fault| fault.below(step(self.assembly.schema, id, frame.is_outermost)))
            }
            Err(_) if self.is_envelope(start) => {
                self.may_unwrap = false;
                self.members(frame)
            }
            Err(problem) => self.here(Err(problem)),
        }
    }

    /// Attributes are well formed, and declare namespaces or are metadata.
    fn attributes(&self, start: &BytesStart<'a>) -> Read<()> {
        for attribute in start.attributes() {
            let attribute = attribute.or_else(|error| self.refuse(&error.to_string()))?;
            let is_known = attribute.key.as_namespace_binding().is_some()
                || attribute.key.prefix().is_some_and(|prefix| prefix.is_xml());
            if !is_known && self.assembly.options.metadata == Metadata::Refuse {
                return self.here(Err(DataProblem::Metadata { name: attribute.key.0.into() }));
            }
        }
        Ok(())
    }

    fn is_envelope(&self, start: &BytesStart<'a>) -> bool {
        let (namespace, name) = self.xml.resolver().resolve_element(start.name());
        let is_of = |of: &str| match namespace {
            ResolveResult::Bound(namespace) => unescaped(namespace.0) == of,
            ResolveResult::Unbound => self.assembly.options.names == NameRules::Lenient,
            ResolveResult::Unknown(_) => false,
        };
        let mut envelopes = self.assembly.options.envelopes.iter();
        self.may_unwrap
            && envelopes.any(|envelope| envelope.name == name.into_inner() && is_of(envelope.namespace))
    }

    /// The node that an element is of.
    fn resolve(&self, frame: &Frame, start: &BytesStart<'a>) -> Result<NodeId, DataProblem> {
        let schema = self.assembly.schema;
        let is_lenient = self.assembly.options.names == NameRules::Lenient;
        let (namespace, name) = self.xml.resolver().resolve_element(start.name());
        let name = name.into_inner();
        let named = schema.children_named(frame.parent, name);
        let namespace_of = |id: NodeId| &*schema.module(schema.node(id).module).namespace;
        match namespace {
            ResolveResult::Bound(namespace) => {
                let namespace = unescaped(namespace.0);
                match named.iter().find(|id| namespace_of(**id) == namespace) {
                    Some(id) => Ok(*id),
                    None if is_lenient => self.assembly.resolve_lenient(frame, None, name),
                    None => Err(unknown(Some(&namespace), name)),
                }
            }
            ResolveResult::Unbound if is_lenient => self.assembly.resolve_lenient(frame, None, name),
            ResolveResult::Unbound if named.is_empty() => Err(unknown(None, name)),
            ResolveResult::Unbound => {
                let right = |id: &NodeId| format!("xmlns=\"{}\"", namespace_of(*id));
                let right: Vec<String> = named.iter().map(right).collect();
                Err(DataProblem::NoModule { name: name.into(), right: right.join(" or ").into() })
            }
            ResolveResult::Unknown(prefix) => {
                Err(DataProblem::Syntax(format!("the prefix \"{prefix}\" has no namespace").into()))
            }
        }
    }

    fn node(&mut self, frame: &mut Frame, id: NodeId) -> Read<()> {
        let schema = self.assembly.schema;
        let kind = &schema.node(id).kind;
        let entered = self.assembly.enter(frame, id);
        let is_first = self.here(entered)?;
        if !is_first && !matches!(kind, NodeKind::List { .. } | NodeKind::LeafList { .. }) {
            return self.here(Err(DataProblem::Twice));
        }
        let counted = self.assembly.count();
        self.here(counted)?;
        match kind {
            NodeKind::Container { .. } | NodeKind::List { .. } => {
                let content = self.content(id)?;
                frame.add_child(id, content);
            }
            NodeKind::Leaf { .. } | NodeKind::LeafList { .. } => {
                let at = self.at;
                let text = self.text()?;
                let value = self.value(id, &text).map_err(|problem| Fault::new(problem, at))?;
                frame.add_value(id, is_first, value);
            }
            NodeKind::Any(any) => {
                let element = self.any(id, *any)?;
                frame.add_value(id, is_first, any_value(element));
            }
        }
        Ok(())
    }

    fn content(&mut self, id: NodeId) -> Read<Content> {
        let opened = self.assembly.open(Some(id));
        let mut frame = self.here(opened)?;
        let read = self.members(&mut frame).and_then(|()| self.assembly.close(&mut frame, self.at));
        read.map_err(|fault| fault.below(self.assembly.entry_step(&frame, None)))
    }

    /// The text of an element, to its end.
    fn text(&mut self) -> Read<Cow<'a, str>> {
        let mut whole = Cow::Borrowed("");
        loop {
            match self.token()? {
                Token::Text(text) if whole.is_empty() => whole = text,
                Token::Text(text) => whole.to_mut().push_str(&text),
                Token::End => return Ok(whole),
                Token::Start(_) => {
                    let problem = DataProblem::Shape { expected: "text for a leaf", found: "an element" };
                    return self.here(Err(problem));
                }
                Token::Eof => return self.refuse("the text ends within an element"),
            }
        }
    }

    /// The value of a leaf, whose end was read last: what namespaces are declared at it is still in scope.
    fn value(&self, id: NodeId, text: &str) -> Result<Value, DataProblem> {
        let module_of = |prefix: &str| self.module_of(prefix);
        let check = |text: &str| self.assembly.value(id, Scalar::Text(text), Prefixes::Xml(&module_of));
        let trimmed = text.trim_matches(SPACE);
        let type_ = self.assembly.schema.node(id).type_().expect("a leaf or a leaf-list");
        match type_.resolved().kind() {
            TypeKind::String { .. } => check(text),
            // A string in it takes white space, others do not count it.
            TypeKind::Union(_) if trimmed.len() < text.len() => check(text).or_else(|_| check(trimmed)),
            _ => check(trimmed),
        }
    }

    /// The module that a prefix in a value stands for.
    fn module_of(&self, prefix: &str) -> Option<ModuleId> {
        let schema = self.assembly.schema;
        let name = if prefix.is_empty() { "x".to_owned() } else { format!("{prefix}:x") };
        match self.xml.resolver().resolve_prefix(QName(&name).prefix(), true) {
            ResolveResult::Bound(namespace) => schema.module_of_namespace(&unescaped(namespace.0)),
            ResolveResult::Unbound => None,
            ResolveResult::Unknown(_) if self.assembly.options.names == NameRules::Lenient => {
                schema.module_named(prefix).or_else(|| schema.module_of_prefix(prefix))
            }
            ResolveResult::Unknown(_) => None,
        }
    }

    /// The content of `anydata` or `anyxml` as JSON.
    fn any(&mut self, id: NodeId, any: Any) -> Read<String> {
        let module = Some(self.assembly.schema.node(id).module);
        let element = self.any_element(String::new(), module, 0)?;
        Ok(element.to_json(any == Any::Data))
    }

    /// An element without a schema, that has begun, to its end.
    fn any_element(&mut self, name: String, module: Option<ModuleId>, depth: usize) -> Read<Element> {
        if depth > self.assembly.options.depth_max {
            return self.here(Err(DataProblem::TooDeep { max: self.assembly.options.depth_max }));
        }
        let mut element = Element { name, text: String::new(), elements: Vec::new() };
        loop {
            match self.token()? {
                Token::Start(start) => {
                    let counted = self.assembly.count();
                    self.here(counted)?;
                    self.attributes(&start)?;
                    let (name, of) = self.any_name(&start, module)?;
                    element.elements.push(self.any_element(name, of, depth + 1)?);
                }
                Token::Text(text) => element.text.push_str(&text),
                Token::End => break,
                Token::Eof => return self.refuse("the text ends within an element"),
            }
        }
        if !element.elements.is_empty() {
            self.space(&element.text, "beside elements")?;
        }
        Ok(element)
    }

    /// The name of an element without a schema, with its module where that is not the module around, and the module.
    fn any_name(&self, start: &BytesStart<'a>, around: Option<ModuleId>) -> Read<(String, Option<ModuleId>)> {
        let (namespace, name) = self.xml.resolver().resolve_element(start.name());
        let schema = self.assembly.schema;
        let of = match namespace {
            ResolveResult::Bound(namespace) => schema.module_of_namespace(&unescaped(namespace.0)),
            ResolveResult::Unbound => None,
            ResolveResult::Unknown(prefix) => {
                return self.refuse(&format!("the prefix \"{prefix}\" has no namespace"));
            }
        };
        let name = name.into_inner();
        Ok(match of.filter(|_| of != around) {
            Some(module) => (format!("{}:{name}", schema.module(module).name), of),
            None => (name.to_owned(), of),
        })
    }
}

/// Line ends as XML gives them to whoever reads (XML 1.0, 2.11).
fn line_ends(text: Cow<'_, str>) -> Cow<'_, str> {
    if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return text;
    }
    Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
}

/// Whether XML allows a character (XML 1.0, 2.2).
pub(crate) fn is_legal(character: char) -> bool {
    !matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

/// A namespace as modules spell it: the reader of XML leaves it as the text has it, where `&` is `&amp;`.
fn unescaped(namespace: &str) -> Cow<'_, str> {
    unescape(namespace).unwrap_or(Cow::Borrowed(namespace))
}

#[cfg(test)]
mod tests;
