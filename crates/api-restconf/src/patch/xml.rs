//! YANG Patch as XML. A value keeps the namespaces that it was sent with, as if it were a document of its own.

use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{PrefixDeclaration, ResolveResult};
use quick_xml::reader::NsReader;

use super::{Draft, Drafts, check_count, malformed, unknown};
use crate::problem::{Problem, Tag};

/// The namespace of `yang-patch`.
pub(crate) const NAMESPACE: &str = "urn:ietf:params:xml:ns:yang:ietf-yang-patch";

/// The most bytes of start tags of values, each with all the namespaces around it: a few declarations outside are copied to each.
pub(super) const TAG_BYTES_MAX: usize = 4 << 20;

struct XmlPatch<'a> {
    xml: NsReader<&'a [u8]>,
    text: &'a str,
    /// How many elements are open.
    open: usize,
    /// Bytes of the start tags of values.
    tag_bytes: usize,
}

/// What comes next, apart from comments and the like.
enum Token<'a> {
    Start(BytesStart<'a>),
    End,
    Text(String),
    Eof,
}

/// Reads a patch.
///
/// # Errors
///
/// 400, 413.
pub(super) fn parse_xml(text: &str) -> Result<Drafts, Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut xml = NsReader::from_str(text);
    xml.config_mut().expand_empty_elements = true;
    XmlPatch { xml, text, open: 0, tag_bytes: 0 }.document()
}

impl<'a> XmlPatch<'a> {
    fn document(&mut self) -> Result<Drafts, Problem> {
        let Some(root) = self.child()? else { return Err(malformed("the body is empty")) };
        if !self.is_named(&root, "yang-patch") {
            return Err(malformed(format!("the outermost element must be yang-patch of {NAMESPACE}")));
        }
        let (mut id, mut drafts) = (None, Vec::new());
        while let Some(start) = self.child()? {
            match self.own_name(&start)? {
                "patch-id" => id = Some(self.content()?),
                "comment" => {
                    self.content()?;
                }
                "edit" => {
                    check_count(&drafts)?;
                    drafts.push(self.edit()?);
                }
                other => return Err(unknown(other, "the patch")),
            }
        }
        match self.child()? {
            None => Ok((id, drafts)),
            Some(_) => Err(malformed("one outermost element expected, got another")),
        }
    }

    fn edit(&mut self) -> Result<Draft, Problem> {
        let mut draft = Draft::default();
        while let Some(start) = self.child()? {
            let name = self.own_name(&start)?;
            let text = if name == "value" { self.value()? } else { self.content()? };
            draft.put(name, text)?;
        }
        Ok(draft)
    }

    /// The one element in `value`, with all namespaces that it is in the scope of.
    fn value(&mut self) -> Result<String, Problem> {
        let Some(start) = self.child()? else { return Err(malformed("a value must hold an element")) };
        let mut out = format!("<{}", start.name().0);
        for (prefix, namespace) in self.xml.resolver().bindings() {
            match prefix {
                PrefixDeclaration::Default => put_attribute(&mut out, "xmlns", namespace.0),
                PrefixDeclaration::Named(prefix) => {
                    put_attribute(&mut out, &format!("xmlns:{prefix}"), namespace.0);
                }
            }
        }
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|error| malformed(format!("the body: {error}")))?;
            if attribute.key.as_namespace_binding().is_none() {
                put_attribute(&mut out, attribute.key.0, &attribute.value);
            }
        }
        self.tag_bytes += out.len();
        if self.tag_bytes > TAG_BYTES_MAX {
            let message = format!(
                "values with the namespaces around them have tags of more than {TAG_BYTES_MAX} bytes"
            );
            return Err(Problem::protocol(Tag::TooBig, message));
        }
        let inner = self.xml.read_to_end(start.name());
        let inner = inner.map_err(|error| malformed(format!("the body: {error}")))?;
        self.open -= 1;
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let inner = self.text.get(place(inner.start)..place(inner.end)).unwrap_or("");
        out.push('>');
        out.push_str(inner);
        out.push_str("</");
        out.push_str(start.name().0);
        out.push('>');
        match self.child()? {
            None => Ok(out),
            Some(_) => Err(malformed("a value must hold one element, not several")),
        }
    }

    /// The next element in the one that is open; `None` at its end.
    fn child(&mut self) -> Result<Option<BytesStart<'a>>, Problem> {
        loop {
            match self.token()? {
                Token::Start(start) => return Ok(Some(start)),
                Token::End | Token::Eof => return Ok(None),
                Token::Text(text) if text.trim().is_empty() => {}
                Token::Text(text) => {
                    return Err(malformed(format!("an element expected, got the text {:?}", text.trim())));
                }
            }
        }
    }

    /// The text of the element that is open, to its end.
    fn content(&mut self) -> Result<String, Problem> {
        let mut content = String::new();
        loop {
            match self.token()? {
                Token::Text(text) => content.push_str(&text),
                Token::End | Token::Eof => return Ok(content.trim().to_owned()),
                Token::Start(start) => {
                    return Err(malformed(format!("text expected, got the element {:?}", start.name().0)));
                }
            }
        }
    }

    fn token(&mut self) -> Result<Token<'a>, Problem> {
        loop {
            let event = self.xml.read_event().map_err(|error| malformed(format!("the body: {error}")))?;
            return Ok(match event {
                Event::Start(start) | Event::Empty(start) => {
                    self.open += 1;
                    Token::Start(start)
                }
                Event::End(_) => {
                    self.open -= 1;
                    Token::End
                }
                Event::Text(text) => Token::Text(text.into_inner().into_owned()),
                Event::CData(text) => Token::Text(text.into_inner().into_owned()),
                Event::GeneralRef(name) => {
                    let number = name.resolve_char_ref();
                    let number = number.map_err(|error| malformed(format!("the body: {error}")))?;
                    Token::Text(match (number, resolve_xml_entity(&name)) {
                        (Some(character), _) => character.into(),
                        (None, Some(text)) => text.to_owned(),
                        (None, None) => {
                            return Err(malformed(format!("there is no entity {:?}", &*name)));
                        }
                    })
                }
                Event::Eof if self.open > 0 => return Err(malformed("the body ends within an element")),
                Event::Eof => Token::Eof,
                Event::Decl(_) | Event::Comment(_) | Event::PI(_) => continue,
                Event::DocType(_) => return Err(malformed("document types are not supported")),
            });
        }
    }

    fn is_named(&self, start: &BytesStart<'a>, name: &str) -> bool {
        let (namespace, local) = self.xml.resolver().resolve_element(start.name());
        let is_own = matches!(namespace, ResolveResult::Bound(namespace) if namespace.0 == NAMESPACE);
        is_own && local.into_inner() == name
    }

    /// The name of an element of the patch itself.
    fn own_name<'n>(&self, start: &'n BytesStart<'a>) -> Result<&'n str, Problem> {
        let local = start.local_name().into_inner();
        if self.is_named(start, local) { Ok(local) } else { Err(unknown(start.name().0, "the patch")) }
    }
}

/// Appends an attribute whose value is spelt as it was sent, or is the name of a namespace.
fn put_attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    out.push_str(&value.replace('"', "&quot;"));
    out.push('"');
}
