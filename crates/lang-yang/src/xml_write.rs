//! Data as XML, piece by piece, with the same calls as JSON.

mod escape;
mod paths;

use crate::any_xml::{Elements, walk};
use crate::schema::{ModuleId, NodeId, Schema};
use crate::style::{Defaults, Names, Style, ValueRef, Written, default_values, is_default};
use crate::tree::{Content, ValueKind};
use crate::types::{Type, TypeKind};
use escape::{push_attribute, push_text};

/// Marks a default (RFC 6243, section 6).
const TAG: &str = " xmlns:wd=\"urn:ietf:params:xml:ns:netconf:default:1.0\" wd:default=\"true\"";

/// A writer of XML: elements one after the other, without one around them. The schema is given with each call, so that a writer can
/// outlive a borrow of it. Cost of a call: what it appends.
///
/// Characters that XML does not allow are written as U+FFFD; values of YANG have none, but `anydata` may.
///
/// ```
/// use lang_yang::testing::{SchemaBuilder, string};
/// use lang_yang::{Style, ValueKind, ValueRef, XmlWriter};
///
/// let schema = SchemaBuilder::new("shop", "s").container("store", |store| store.leaf("name", string())).build();
/// let store = schema.child(None, None, "store").expect("it was built");
/// let name = schema.child(Some(store), None, "name").expect("it was built");
///
/// let (mut writer, mut out) = (XmlWriter::new(Style::RFC7951), Vec::new());
/// writer.open(&mut out, &schema, store);
/// writer.leaf(&mut out, &schema, name, std::iter::once(ValueRef { kind: ValueKind::Text, text: "A & B" }));
/// writer.close(&mut out, &schema);
/// assert_eq!(out, br#"<store xmlns="urn:shop"><name>A &amp; B</name></store>"#);
/// ```
#[derive(Clone, Debug)]
pub struct XmlWriter {
    style: Style,
    /// What is open, from the outermost on: the node, and where the bits of its children begin.
    open: Vec<(NodeId, usize)>,
    /// Whether the tag that was begun last still lacks its `>`.
    is_tag_open: bool,
    written: Written,
}

impl XmlWriter {
    /// A writer that has written nothing. Cost: O(1).
    pub fn new(style: Style) -> Self {
        Self { style, open: Vec::new(), is_tag_open: false, written: Written::default() }
    }

    /// Opens a container, or an entry of a list.
    pub fn open(&mut self, out: &mut Vec<u8>, schema: &Schema, id: NodeId) {
        self.note(schema, id);
        self.begin_tag(out, schema, id);
        let from = if self.style.fills_in() { self.written.open(schema, id) } else { 0 };
        self.open.push((id, from));
        self.is_tag_open = true;
    }

    /// Closes what was opened last.
    pub fn close(&mut self, out: &mut Vec<u8>, schema: &Schema) {
        if self.style.fills_in() {
            self.fill_in(out, schema);
        }
        let Some((id, _)) = self.open.pop() else { return };
        if std::mem::take(&mut self.is_tag_open) {
            out.extend_from_slice(b"/>");
        } else {
            end_tag(out, schema, id);
        }
    }

    /// A leaf with its value, or a leaf-list with its values.
    pub fn leaf<'v>(
        &mut self,
        out: &mut Vec<u8>,
        schema: &Schema,
        id: NodeId,
        values: impl Iterator<Item = ValueRef<'v>> + Clone,
    ) {
        let is_tagged = match self.style.defaults {
            Defaults::Explicit | Defaults::All => false,
            Defaults::Trim if is_default(schema, id, values.clone()) => return,
            Defaults::Trim => false,
            Defaults::Tagged => is_default(schema, id, values.clone()),
        };
        self.set_leaf(out, schema, (id, is_tagged), values);
    }

    /// A leaf or leaf-list, marked as a default or not, whatever the style says of that: for those who know by themselves what a
    /// default is, and write it. With [`Defaults::Explicit`] nothing is added to it.
    pub fn set_leaf<'v>(
        &mut self,
        out: &mut Vec<u8>,
        schema: &Schema,
        (id, is_tagged): (NodeId, bool),
        values: impl Iterator<Item = ValueRef<'v>>,
    ) {
        self.note(schema, id);
        for value in values {
            self.begin_tag(out, schema, id);
            if is_tagged {
                out.extend_from_slice(TAG.as_bytes());
            }
            self.value(out, schema, id, value);
        }
    }

    /// All that lies in the node that is open.
    pub fn content(&mut self, out: &mut Vec<u8>, schema: &Schema, content: &Content) {
        for leaf in &content.leaves {
            self.leaf(out, schema, leaf.schema, leaf.values.iter().map(ValueRef::from));
        }
        for node in &content.children {
            self.open(out, schema, node.schema);
            self.content(out, schema, &node.content);
            self.close(out, schema);
        }
    }

    /// A child of the node that is open is written.
    fn note(&mut self, schema: &Schema, id: NodeId) {
        if self.style.fills_in()
            && let Some((_, from)) = self.open.last()
        {
            self.written.note(schema, *from, id);
        }
    }

    /// The defaults of what was not written into the node that is open.
    fn fill_in(&mut self, out: &mut Vec<u8>, schema: &Schema) {
        let Some((id, from)) = self.open.last().copied() else { return };
        for child in self.written.close(schema, from, id) {
            if schema.is_entry(child) {
                self.open(out, schema, child);
                self.close(out, schema);
            } else {
                let values = default_values(schema, child);
                let is_tagged = self.style.defaults == Defaults::Tagged;
                self.set_leaf(out, schema, (child, is_tagged), values.iter().map(ValueRef::from));
            }
        }
    }

    /// `<name`, with its namespace where that is not the one around. The tag stays open.
    fn begin_tag(&mut self, out: &mut Vec<u8>, schema: &Schema, id: NodeId) {
        if std::mem::take(&mut self.is_tag_open) {
            out.push(b'>');
        }
        let node = schema.node(id);
        out.push(b'<');
        out.extend_from_slice(node.name.as_bytes());
        let is_same = self.open.last().is_some_and(|(around, _)| schema.node(*around).module == node.module);
        if !is_same && (self.style.names == Names::Rfc7951 || schema.shares_name(id)) {
            out.extend_from_slice(b" xmlns=");
            push_attribute(out, &schema.module(node.module).namespace);
        }
    }

    /// The rest of a leaf's element: what its value declares, the value, the end.
    fn value(&self, out: &mut Vec<u8>, schema: &Schema, id: NodeId, value: ValueRef<'_>) {
        let node = schema.node(id);
        let has_namespaces = self.style.names == Names::Rfc7951;
        match value.kind {
            ValueKind::Json => {
                out.push(b'>');
                let names = has_namespaces.then_some(schema);
                walk(
                    None,
                    value.text,
                    &mut AnyWriter { out, names, open: vec![(String::new(), Some(node.module))] },
                );
            }
            ValueKind::Identity if has_namespaces => {
                paths::push_identity(out, schema, node.module, value.text)
            }
            // A path has no other spelling in XML.
            ValueKind::Text if node.type_().is_some_and(|type_| is_path(type_, value.text)) => {
                paths::push_path(out, schema, value.text);
            }
            _ if value.text.is_empty() => return out.extend_from_slice(b"/>"),
            _ => {
                out.push(b'>');
                push_text(out, value.text);
            }
        }
        end_tag(out, schema, id);
    }
}

fn end_tag(out: &mut Vec<u8>, schema: &Schema, id: NodeId) {
    out.extend_from_slice(b"</");
    out.extend_from_slice(schema.node(id).name.as_bytes());
    out.push(b'>');
}

/// Whether a text is an instance-identifier: the member of a union that took it is not known, but nothing else looks so.
fn is_path(type_: &Type, text: &str) -> bool {
    match type_.resolved().kind() {
        TypeKind::InstanceIdentifier { .. } => true,
        TypeKind::Union(members) => {
            text.starts_with('/') && members.iter().any(|member| is_path(member, text))
        }
        _ => false,
    }
}

/// Writes data without a schema.
struct AnyWriter<'o, 's> {
    out: &'o mut Vec<u8>,
    /// Where namespaces are declared: of which modules.
    names: Option<&'s Schema>,
    /// The elements that are open, and the modules whose namespaces are the default in them.
    open: Vec<(String, Option<ModuleId>)>,
}

impl Elements for AnyWriter<'_, '_> {
    fn begin(&mut self, name: &str) {
        let (module, local) =
            name.split_once(':').map_or((None, name), |(module, local)| (Some(module), local));
        let around = self.open.last().and_then(|(_, module)| *module);
        let module = module.and_then(|module| self.names?.module_named(module));
        let local = escape::element_name(local);
        self.out.push(b'<');
        self.out.extend_from_slice(local.as_bytes());
        if let Some((of, schema)) = module.zip(self.names).filter(|_| module != around) {
            self.out.extend_from_slice(b" xmlns=");
            push_attribute(self.out, &schema.module(of).namespace);
        }
        self.out.push(b'>');
        self.open.push((local, module.or(around)));
    }

    fn end(&mut self) {
        if let Some((name, _)) = self.open.pop() {
            self.out.extend_from_slice(b"</");
            self.out.extend_from_slice(name.as_bytes());
            self.out.push(b'>');
        }
    }

    fn text(&mut self, text: &str) {
        push_text(self.out, text);
    }
}

/// Appends what lies at one place of a tree as elements, one after the other. Cost: what it appends.
pub fn write_content_xml(schema: &Schema, content: &Content, style: Style, out: &mut Vec<u8>) {
    XmlWriter::new(style).content(out, schema, content);
}

#[cfg(test)]
mod tests;
