//! Data as JSON, piece by piece: whoever walks over data says what begins, what it holds and what ends, and appends to a buffer that
//! may go out at any time.

use lang_json::{Commas, write_string};

use crate::schema::{ModuleId, NodeId, NodeKind, Schema};
use crate::style::{Defaults, LongNumbers, Names, Style, ValueRef, Written, default_values, is_default};
use crate::tree::{Content, ValueKind};

/// The metadata of RFC 8040, 4.8.9 (`report-all-tagged`).
const TAG: &str = "{\"ietf-netconf-with-defaults:default\":true}";

/// A writer of JSON. Cost of a call: what it appends.
///
/// ```
/// use lang_yang::testing::{SchemaBuilder, string};
/// use lang_yang::{JsonWriter, Style, ValueKind, ValueRef};
///
/// let schema = SchemaBuilder::new("shop", "s")
///     .container("store", |store| store.list("shelf", &["id"], |shelf| shelf.leaf("id", string())))
///     .build();
/// let store = schema.child(None, None, "store").expect("it was built");
/// let shelf = schema.child(Some(store), None, "shelf").expect("it was built");
/// let id = schema.child(Some(shelf), None, "id").expect("it was built");
///
/// let (mut writer, mut out) = (JsonWriter::new(&schema, Style::RFC7951), Vec::new());
/// writer.begin(&mut out);
/// writer.begin_container(&mut out, store);
/// writer.begin_list(&mut out, shelf);
/// for text in ["a", "b"] {
///     writer.begin_entry(&mut out);
///     writer.leaf(&mut out, id, std::iter::once(ValueRef { kind: ValueKind::Text, text }));
///     writer.end_entry(&mut out);
/// }
/// writer.end_list(&mut out);
/// writer.end_container(&mut out);
/// writer.end(&mut out);
/// assert_eq!(out, br#"{"shop:store":{"shelf":[{"id":"a"},{"id":"b"}]}}"#);
/// ```
#[derive(Clone, Debug)]
pub struct JsonWriter<'s> {
    schema: &'s Schema,
    style: Style,
    /// What is open, from the outermost on.
    open: Vec<Level>,
    written: Written,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    /// `None`: what stands around the outermost nodes.
    node: Option<NodeId>,
    commas: Commas,
    /// Where the bits of its children begin.
    from: usize,
}

impl<'s> JsonWriter<'s> {
    /// A writer that has written nothing. Cost: O(1).
    pub fn new(schema: &'s Schema, style: Style) -> Self {
        Self { schema, style, open: Vec::new(), written: Written::default() }
    }

    /// Opens the outermost object.
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        self.open.push(Level { node: None, commas: Commas::default(), from: 0 });
        out.push(b'{');
    }

    /// Closes the outermost object.
    pub fn end(&mut self, out: &mut Vec<u8>) {
        self.open.pop();
        out.push(b'}');
    }

    /// Opens a container; or an entry of a list that is written by itself, as an object, as CPS does.
    pub fn begin_container(&mut self, out: &mut Vec<u8>, id: NodeId) {
        self.name(out, id, false);
        self.push(id);
        out.push(b'{');
    }

    /// Closes it.
    pub fn end_container(&mut self, out: &mut Vec<u8>) {
        if self.fills_in() {
            self.fill_in(out);
        }
        self.open.pop();
        out.push(b'}');
    }

    /// Opens a list.
    pub fn begin_list(&mut self, out: &mut Vec<u8>, id: NodeId) {
        self.name(out, id, false);
        self.open.push(Level { node: Some(id), commas: Commas::default(), from: 0 });
        out.push(b'[');
    }

    /// Closes it.
    pub fn end_list(&mut self, out: &mut Vec<u8>) {
        self.open.pop();
        out.push(b']');
    }

    /// Opens an entry of the list that is open.
    ///
    /// # Panics
    ///
    /// If no list is open.
    pub fn begin_entry(&mut self, out: &mut Vec<u8>) {
        let list = self.open.last_mut().expect("a list is open");
        list.commas.next(out);
        let id = list.node.expect("a list is open");
        self.push(id);
        out.push(b'{');
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
        mut values: impl Iterator<Item = ValueRef<'v>> + Clone,
        is_tagged: bool,
    ) {
        self.name(out, id, false);
        let count = if is_tagged { values.clone().count() } else { 0 };
        if let NodeKind::LeafList { .. } = self.schema.node(id).kind {
            let mut commas = Commas::default();
            out.push(b'[');
            for value in values {
                commas.next(out);
                self.value(out, value);
            }
            out.push(b']');
            if is_tagged {
                self.name(out, id, true);
                out.push(b'[');
                out.extend_from_slice(vec![TAG; count].join(",").as_bytes());
                out.push(b']');
            }
        } else {
            let value = values.next();
            self.value(out, value.unwrap_or(ValueRef { kind: ValueKind::Empty, text: "" }));
            if is_tagged {
                self.name(out, id, true);
                out.extend_from_slice(TAG.as_bytes());
            }
        }
    }

    /// All that lies in the node that is open.
    pub fn content(&mut self, out: &mut Vec<u8>, content: &Content) {
        for leaf in &content.leaves {
            self.leaf(out, leaf.schema, leaf.values.iter().map(ValueRef::from));
        }
        for nodes in content.children.chunk_by(|one, other| one.schema == other.schema) {
            let Some(id) = nodes.first().map(|node| node.schema) else { continue };
            if let NodeKind::List { .. } = self.schema.node(id).kind {
                self.begin_list(out, id);
                for entry in nodes {
                    self.begin_entry(out);
                    self.content(out, &entry.content);
                    self.end_entry(out);
                }
                self.end_list(out);
            } else {
                for node in nodes {
                    self.begin_container(out, id);
                    self.content(out, &node.content);
                    self.end_container(out);
                }
            }
        }
    }

    fn push(&mut self, id: NodeId) {
        let from = if self.fills_in() { self.written.open(self.schema, id) } else { 0 };
        self.open.push(Level { node: Some(id), commas: Commas::default(), from });
    }

    fn fills_in(&self) -> bool {
        matches!(self.style.defaults, Defaults::All | Defaults::Tagged)
    }

    /// The defaults of what was not written into the node that is open.
    fn fill_in(&mut self, out: &mut Vec<u8>) {
        let Some(Level { node: Some(id), from, .. }) = self.open.last().copied() else { return };
        for child in self.written.close(self.schema, from, id) {
            if self.schema.is_entry(child) {
                self.begin_container(out, child);
                self.end_container(out);
            } else {
                let values = default_values(self.schema, child);
                let is_tagged = self.style.defaults == Defaults::Tagged;
                self.set_leaf(out, child, values.iter().map(ValueRef::from), is_tagged);
            }
        }
    }

    /// A comma if one is due, and `"name":` of a member, or of its metadata.
    fn name(&mut self, out: &mut Vec<u8>, id: NodeId, is_metadata: bool) {
        let node = self.schema.node(id);
        let mut around = None;
        if let Some(level) = self.open.last_mut() {
            level.commas.next(out);
            around = level.node;
            let (from, fills_in) = (level.from, around.is_some() && self.fills_in());
            if fills_in {
                self.written.note(self.schema, from, id);
            }
        }
        out.extend_from_slice(if is_metadata { b"\"@" } else { b"\"" });
        if let Some(prefix) = self.prefix(id, node.module, around) {
            out.extend_from_slice(prefix.as_bytes());
            out.push(b':');
        }
        out.extend_from_slice(node.name.as_bytes());
        out.extend_from_slice(b"\":");
    }

    /// What stands before the name of a node.
    fn prefix(&self, id: NodeId, module: ModuleId, around: Option<NodeId>) -> Option<&'s str> {
        match (self.style.names, around) {
            (Names::Bare, _) | (Names::Cps, Some(_)) => None,
            (Names::Rfc7951, Some(around)) if self.schema.node(around).module == module => None,
            (Names::Rfc7951, _) => Some(&self.schema.module(module).name),
            (Names::Cps, None) => {
                let top =
                    std::iter::successors(Some(id), |id| self.schema.node(*id).parent).last().unwrap_or(id);
                Some(&self.schema.module(self.schema.node(top).module).prefix)
            }
        }
    }

    fn value(&self, out: &mut Vec<u8>, value: ValueRef<'_>) {
        let is_quoted = match value.kind {
            ValueKind::Text | ValueKind::Identity => return write_string(out, value.text),
            ValueKind::Integer | ValueKind::Boolean | ValueKind::Json => false,
            ValueKind::LongInteger | ValueKind::Decimal => self.style.long_numbers == LongNumbers::Quoted,
            ValueKind::Empty => return out.extend_from_slice(b"[null]"),
        };
        if is_quoted {
            out.push(b'"');
        }
        out.extend_from_slice(value.text.as_bytes());
        if is_quoted {
            out.push(b'"');
        }
    }
}

/// Appends what lies at one place of a tree as a JSON object. Cost: what it appends.
pub fn write_content_json(schema: &Schema, content: &Content, style: Style, out: &mut Vec<u8>) {
    let mut writer = JsonWriter::new(schema, style);
    writer.begin(out);
    writer.content(out, content);
    writer.end(out);
}

#[cfg(test)]
mod tests;
