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

/// A writer of XML: elements one after the other, without one around them. Cost of a call: what it appends.
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
/// let (mut writer, mut out) = (XmlWriter::new(&schema, Style::RFC7951), Vec::new());
/// writer.begin_container(&mut out, store);
/// writer.leaf(&mut out, name, std::iter::once(ValueRef { kind: ValueKind::Text, text: "A & B" }));
/// writer.end_container(&mut out);
/// assert_eq!(out, br#"<store xmlns="urn:shop"><name>A &amp; B</name></store>"#);
/// ```
#[derive(Clone, Debug)]
pub struct XmlWriter<'s> {
    schema: &'s Schema,
    style: Style,
    /// What is open, from the outermost on.
    open: Vec<Level>,
    /// Whether the tag that was begun last still lacks its `>`.
    is_tag_open: bool,
    written: Written,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    node: NodeId,
    /// A list has no element of its own.
    is_list: bool,
    /// Where the bits of its children begin.
    from: usize,
}

impl<'s> XmlWriter<'s> {
    /// A writer that has written nothing. Cost: O(1).
    pub fn new(schema: &'s Schema, style: Style) -> Self {
        Self { schema, style, open: Vec::new(), is_tag_open: false, written: Written::default() }
    }

    /// Opens a container, or an entry of a list.
    pub fn begin_container(&mut self, out: &mut Vec<u8>, id: NodeId) {
        self.note(id);
        self.begin_tag(out, id);
        let from = if self.fills_in() { self.written.open(self.schema, id) } else { 0 };
        self.open.push(Level { node: id, is_list: false, from });
        self.is_tag_open = true;
    }

    /// Closes it.
    pub fn end_container(&mut self, out: &mut Vec<u8>) {
        if self.fills_in() {
            self.fill_in(out);
        }
        let Some(level) = self.open.pop() else { return };
        if std::mem::take(&mut self.is_tag_open) {
            out.extend_from_slice(b"/>");
        } else {
            self.end_tag(out, level.node);
        }
    }

    /// Opens a list, of which XML has nothing.
    pub fn begin_list(&mut self, id: NodeId) {
        self.note(id);
        self.open.push(Level { node: id, is_list: true, from: 0 });
    }

    /// Closes it.
    pub fn end_list(&mut self) {
        self.open.pop();
    }

    /// Opens an entry of the list that is open.
    ///
    /// # Panics
    ///
    /// If no list is open.
    pub fn begin_entry(&mut self, out: &mut Vec<u8>) {
        let list = self.open.last().expect("a list is open").node;
        self.begin_container(out, list);
    }

    /// Closes it.
    pub fn end_entry(&mut self, out: &mut Vec<u8>) {
        self.end_container(out);
    }

    /// A leaf with its value, or a leaf-list with its values.
    pub fn leaf<'v>(
        &mut self,
        out: &mut Vec<u8>,
        id: NodeId,
        values: impl Iterator<Item = ValueRef<'v>> + Clone,
    ) {
        let is_tagged = match self.style.defaults {
            Defaults::Explicit | Defaults::All => false,
            Defaults::Trim if is_default(self.schema, id, values.clone()) => return,
            Defaults::Trim => false,
            Defaults::Tagged => is_default(self.schema, id, values.clone()),
        };
        self.set_leaf(out, id, values, is_tagged);
    }

    fn set_leaf<'v>(
        &mut self,
        out: &mut Vec<u8>,
        id: NodeId,
        values: impl Iterator<Item = ValueRef<'v>>,
        is_tagged: bool,
    ) {
        self.note(id);
        for value in values {
            self.begin_tag(out, id);
            if is_tagged {
                out.extend_from_slice(TAG.as_bytes());
            }
            self.value(out, id, value);
        }
    }

    /// All that lies in the node that is open.
    pub fn content(&mut self, out: &mut Vec<u8>, content: &Content) {
        for leaf in &content.leaves {
            self.leaf(out, leaf.schema, leaf.values.iter().map(ValueRef::from));
        }
        for node in &content.children {
            self.begin_container(out, node.schema);
            self.content(out, &node.content);
            self.end_container(out);
        }
    }

    fn fills_in(&self) -> bool {
        matches!(self.style.defaults, Defaults::All | Defaults::Tagged)
    }

    /// A child of the node that is open is written.
    fn note(&mut self, id: NodeId) {
        if self.fills_in()
            && let Some(level) = self.open.last().filter(|level| !level.is_list)
        {
            self.written.note(self.schema, level.from, id);
        }
    }

    /// The defaults of what was not written into the node that is open.
    fn fill_in(&mut self, out: &mut Vec<u8>) {
        let Some(level) = self.open.last().copied() else { return };
        for child in self.written.close(self.schema, level.from, level.node) {
            if self.schema.is_entry(child) {
                self.begin_container(out, child);
                self.end_container(out);
            } else {
                let values = default_values(self.schema, child);
                self.set_leaf(
                    out,
                    child,
                    values.iter().map(ValueRef::from),
                    self.style.defaults == Defaults::Tagged,
                );
            }
        }
    }

    /// `<name`, with its namespace where that is not the one around. The tag stays open.
    fn begin_tag(&mut self, out: &mut Vec<u8>, id: NodeId) {
        if std::mem::take(&mut self.is_tag_open) {
            out.push(b'>');
        }
        let node = self.schema.node(id);
        out.push(b'<');
        out.extend_from_slice(node.name.as_bytes());
        // The entries of a list lie in what the list lies in.
        let around = self.open.iter().rev().find(|level| !level.is_list).map(|level| level.node);
        let is_same = around.is_some_and(|around| self.schema.node(around).module == node.module);
        if self.style.names == Names::Rfc7951 && !is_same {
            out.extend_from_slice(b" xmlns=");
            push_attribute(out, &self.schema.module(node.module).namespace);
        }
    }

    fn end_tag(&self, out: &mut Vec<u8>, id: NodeId) {
        out.extend_from_slice(b"</");
        out.extend_from_slice(self.schema.node(id).name.as_bytes());
        out.push(b'>');
    }

    /// The rest of a leaf's element: what its value declares, the value, the end.
    fn value(&mut self, out: &mut Vec<u8>, id: NodeId, value: ValueRef<'_>) {
        let (schema, node) = (self.schema, self.schema.node(id));
        let has_namespaces = self.style.names == Names::Rfc7951;
        match value.kind {
            ValueKind::Json => return self.any(out, id, value.text),
            ValueKind::Identity if has_namespaces => {
                paths::push_identity(out, schema, node.module, value.text)
            }
            ValueKind::Text
                if has_namespaces && node.type_().is_some_and(|type_| is_path(type_, value.text)) =>
            {
                paths::push_path(out, schema, value.text);
            }
            _ if value.text.is_empty() => return out.extend_from_slice(b"/>"),
            _ => {
                out.push(b'>');
                push_text(out, value.text);
            }
        }
        self.end_tag(out, id);
    }

    fn any(&mut self, out: &mut Vec<u8>, id: NodeId, json: &str) {
        out.push(b'>');
        let module = self.schema.node(id).module;
        let names = (self.style.names == Names::Rfc7951).then_some(self.schema);
        walk(None, json, &mut AnyWriter { out, names, open: vec![(String::new(), Some(module))] });
        self.end_tag(out, id);
    }
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
    XmlWriter::new(schema, style).content(out, content);
}

#[cfg(test)]
mod tests;
