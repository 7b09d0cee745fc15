//! Data as JSON, piece by piece: whoever walks over data says what begins, what it holds and what ends, and appends to a buffer that
//! may go out at any time.

use lang_json::{Commas, write_string};

use crate::schema::{NodeId, NodeKind, Schema};
use crate::style::{Defaults, LongNumbers, Names, Style, ValueRef, Written, default_values, is_default};
use crate::tree::{Content, ValueKind};

/// The metadata of RFC 8040, 4.8.9 (`report-all-tagged`).
const TAG: &str = "{\"ietf-netconf-with-defaults:default\":true}";

/// A writer of JSON. The schema is given with each call, so that a writer can outlive a borrow of it. Cost of a call: what it appends.
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
/// let (mut writer, mut out) = (JsonWriter::new(Style::RFC7951), Vec::new());
/// writer.begin(&mut out);
/// writer.open(&mut out, &schema, store);
/// for text in ["a", "b"] {
///     writer.open(&mut out, &schema, shelf);
///     writer.leaf(&mut out, &schema, id, std::iter::once(ValueRef { kind: ValueKind::Text, text }));
///     writer.close(&mut out, &schema);
/// }
/// writer.close(&mut out, &schema);
/// writer.end(&mut out);
/// assert_eq!(out, br#"{"shop:store":{"shelf":[{"id":"a"},{"id":"b"}]}}"#);
/// ```
#[derive(Clone, Debug)]
pub struct JsonWriter {
    style: Style,
    /// What is open, from the outermost object on.
    open: Vec<Level>,
    written: Written,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    /// `None`: the outermost object.
    node: Option<NodeId>,
    commas: Commas,
    /// The list in it whose array is open.
    list: Option<NodeId>,
    /// Where the bits of its children begin.
    from: usize,
}

impl JsonWriter {
    /// A writer that has written nothing. Cost: O(1).
    pub fn new(style: Style) -> Self {
        Self { style, open: Vec::new(), written: Written::default() }
    }

    /// Opens the outermost object.
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        self.push(None, 0);
        out.push(b'{');
    }

    /// Closes the outermost object.
    pub fn end(&mut self, out: &mut Vec<u8>) {
        self.end_list(out);
        self.open.pop();
        out.push(b'}');
    }

    /// Opens a container, or an entry of a list. Entries of one list that follow each other share an array.
    pub fn open(&mut self, out: &mut Vec<u8>, schema: &Schema, id: NodeId) {
        let is_list = matches!(schema.node(id).kind, NodeKind::List { .. });
        match self.open.last() {
            Some(level) if is_list && level.list == Some(id) => out.extend_from_slice(b",{"),
            _ => {
                self.name(out, schema, id, false);
                out.extend_from_slice(if is_list { b"[{" } else { b"{" });
                if let Some(level) = self.open.last_mut().filter(|_| is_list) {
                    level.list = Some(id);
                }
            }
        }
        self.enter(schema, id);
    }

    /// Opens an entry of a list as an object without an array, as CPS does where it is asked for single nodes.
    pub fn open_alone(&mut self, out: &mut Vec<u8>, schema: &Schema, id: NodeId) {
        self.name(out, schema, id, false);
        out.push(b'{');
        self.enter(schema, id);
    }

    /// Closes what was opened last.
    pub fn close(&mut self, out: &mut Vec<u8>, schema: &Schema) {
        if self.style.fills_in() {
            self.fill_in(out, schema);
        }
        self.end_list(out);
        self.open.pop();
        out.push(b'}');
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
        mut values: impl Iterator<Item = ValueRef<'v>>,
    ) {
        self.name(out, schema, id, false);
        if let NodeKind::LeafList { .. } = schema.node(id).kind {
            let (mut commas, mut count) = (Commas::default(), 0);
            out.push(b'[');
            for value in values {
                count += 1;
                commas.next(out);
                self.value(out, value);
            }
            out.push(b']');
            if is_tagged {
                self.name(out, schema, id, true);
                out.push(b'[');
                out.extend_from_slice(vec![TAG; count].join(",").as_bytes());
                out.push(b']');
            }
        } else {
            let value = values.next();
            self.value(out, value.unwrap_or(ValueRef { kind: ValueKind::Empty, text: "" }));
            if is_tagged {
                self.name(out, schema, id, true);
                out.extend_from_slice(TAG.as_bytes());
            }
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

    fn push(&mut self, node: Option<NodeId>, from: usize) {
        self.open.push(Level { node, commas: Commas::default(), list: None, from });
    }

    fn enter(&mut self, schema: &Schema, id: NodeId) {
        let from = if self.style.fills_in() { self.written.open(schema, id) } else { 0 };
        self.push(Some(id), from);
    }

    /// Ends the array that is open in the node that is open.
    fn end_list(&mut self, out: &mut Vec<u8>) {
        if self.open.last_mut().is_some_and(|level| level.list.take().is_some()) {
            out.push(b']');
        }
    }

    /// The defaults of what was not written into the node that is open.
    fn fill_in(&mut self, out: &mut Vec<u8>, schema: &Schema) {
        let Some(Level { node: Some(id), from, .. }) = self.open.last().copied() else { return };
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

    /// A comma if one is due, and `"name":` of a member, or of its metadata.
    fn name(&mut self, out: &mut Vec<u8>, schema: &Schema, id: NodeId, is_metadata: bool) {
        self.end_list(out);
        let node = schema.node(id);
        let fills_in = self.style.fills_in();
        let mut around = None;
        if let Some(level) = self.open.last_mut() {
            level.commas.next(out);
            around = level.node;
            if fills_in && around.is_some() {
                self.written.note(schema, level.from, id);
            }
        }
        out.extend_from_slice(if is_metadata { b"\"@" } else { b"\"" });
        if let Some(prefix) = self.prefix(schema, id, around) {
            out.extend_from_slice(prefix.as_bytes());
            out.push(b':');
        }
        out.extend_from_slice(node.name.as_bytes());
        out.extend_from_slice(b"\":");
    }

    /// What stands before the name of a node.
    fn prefix<'s>(&self, schema: &'s Schema, id: NodeId, around: Option<NodeId>) -> Option<&'s str> {
        let module = schema.node(id).module;
        let is_of_around = || around.is_some_and(|around| schema.node(around).module == module);
        match (self.style.names, around) {
            (Names::Rfc7951, _) => (!is_of_around()).then(|| &*schema.module(module).name),
            (Names::Cps, None) => {
                let top = std::iter::successors(Some(id), |id| schema.node(*id).parent).last().unwrap_or(id);
                Some(&schema.module(schema.node(top).module).prefix)
            }
            // Of two members of one name, the foreign one is told apart.
            (Names::Cps | Names::Bare, _) => {
                let is_foreign = around.is_some() && schema.shares_name(id) && !is_of_around();
                is_foreign.then(|| &*schema.module(module).prefix)
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
    let mut writer = JsonWriter::new(style);
    writer.begin(out);
    writer.content(out, schema, content);
    writer.end(out);
}

#[cfg(test)]
mod tests;
