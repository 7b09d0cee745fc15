//! Data as it is sent: JSON (RFC 7951) or XML (RFC 7950), written node by node, with marks on default values (RFC 8040, 4.8.9).

use lang_json::{Commas, Kind, Reader, write_string};
use lang_yang::{NodeId, NodeKind, Schema, TypeKind, ValueKind};

use crate::media::Form;
use crate::place::ErrorPath;
use crate::text::escape_into;

/// The namespace of `data`.
const RESTCONF: &str = "urn:ietf:params:xml:ns:yang:ietf-restconf";
/// The namespace of the mark on default values.
const DEFAULTS: &str = "urn:ietf:params:xml:ns:netconf:default:1.0";
/// Values without a schema are as deep as bodies may be, and a little more.
const ANY_DEPTH_MAX: usize = 1024;

/// One value, wherever it lies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ValueText<'a> {
    pub(crate) kind: ValueKind,
    pub(crate) text: &'a str,
}

/// Writes nodes in document order. The schema is given with each call, so that a writer can outlive a borrow of it.
#[derive(Debug)]
pub(crate) struct Writer {
    form: Form,
    pub(crate) out: String,
    /// What is open: first what stands around the answer.
    open: Vec<Open>,
    /// Whether the last tag of XML has no `>` yet.
    is_tag_open: bool,
}

#[derive(Debug)]
struct Open {
    node: Option<NodeId>,
    commas: Commas,
    /// The list whose array is open, in JSON.
    array: Option<NodeId>,
    /// The commas of that array.
    items: Commas,
}

/// What an answer begins with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Around {
    /// A node: its name says its module.
    Node,
    /// The datastore: `data` stands around all nodes.
    Data,
}

impl Open {
    fn new(node: Option<NodeId>) -> Self {
        Self { node, commas: Commas::default(), array: None, items: Commas::default() }
    }
}

impl Writer {
    /// A writer at the beginning of an answer.
    pub(crate) fn begin(form: Form, around: Around) -> Self {
        let (out, is_tag_open) = match (form, around) {
            (Form::Json, Around::Node) => ("{".to_owned(), false),
            (Form::Json, Around::Data) => ("{\"ietf-restconf:data\":{".to_owned(), false),
            (Form::Xml, Around::Node) => (String::new(), false),
            (Form::Xml, Around::Data) => (format!("<data xmlns=\"{RESTCONF}\""), true),
        };
        Self { form, out, open: vec![Open::new(None)], is_tag_open }
    }

    /// Ends the answer.
    pub(crate) fn end(&mut self, schema: &Schema, around: Around) {
        while self.open.len() > 1 {
            self.close(schema);
        }
        self.close_array();
        match (self.form, around) {
            (Form::Json, Around::Node) => self.out.push('}'),
            (Form::Json, Around::Data) => self.out.push_str("}}"),
            (Form::Xml, Around::Node) => {}
            (Form::Xml, Around::Data) => self.end_element("data"),
        }
    }

    /// Opens a container, or an entry of a list.
    pub(crate) fn open(&mut self, schema: &Schema, node: NodeId) {
        match self.form {
            Form::Json => self.open_json(schema, node),
            Form::Xml => {
                self.begin_element(schema, node);
                self.is_tag_open = true;
            }
        }
        self.open.push(Open::new(Some(node)));
    }

    fn open_json(&mut self, schema: &Schema, node: NodeId) {
        let is_list = matches!(schema.node(node).kind, NodeKind::List { .. });
        if !is_list {
            self.member(schema, node, "");
        } else if self.last().array != Some(node) {
            self.member(schema, node, "");
            self.out.push('[');
            let last = self.last();
            (last.array, last.items) = (Some(node), Commas::default());
        }
        if is_list {
            let mut items = self.last().items;
            items.next(&mut self.out);
            self.last().items = items;
        }
        self.out.push('{');
    }

    /// Closes what was opened last.
    pub(crate) fn close(&mut self, schema: &Schema) {
        self.close_array();
        let Some(open) = self.open.pop() else { return };
        match (self.form, open.node) {
            (Form::Json, _) => self.out.push('}'),
            (Form::Xml, Some(node)) => self.end_element(&schema.node(node).name),
            (Form::Xml, None) => {}
        }
    }

    /// A leaf, or all values of a leaf-list; `is_default` marks them as such.
    pub(crate) fn leaf<'v>(
        &mut self,
        schema: &Schema,
        node: NodeId,
        values: impl Iterator<Item = ValueText<'v>>,
        is_default: bool,
    ) {
        let is_many = matches!(schema.node(node).kind, NodeKind::LeafList { .. });
        let mut count = 0_usize;
        if self.form == Form::Json {
            self.member(schema, node, "");
            if is_many {
                self.out.push('[');
            }
        }
        let mut commas = Commas::default();
        for value in values {
            count += 1;
            match self.form {
                Form::Json => {
                    if is_many {
                        commas.next(&mut self.out);
                    }
                    put_json(&mut self.out, value);
                }
                Form::Xml => self.value_element(schema, node, value, is_default),
            }
        }
        if self.form == Form::Json && is_many {
            self.out.push(']');
        }
        if self.form == Form::Json && is_default {
            self.mark(schema, node, is_many.then_some(count));
        }
    }

    /// The metadata of RFC 7952 that says that a leaf has its default value.
    fn mark(&mut self, schema: &Schema, node: NodeId, many: Option<usize>) {
        const MARK: &str = "{\"ietf-netconf-with-defaults:default\":true}";
        self.member(schema, node, "@");
        let Some(count) = many else { return self.out.push_str(MARK) };
        let mut commas = Commas::default();
        self.out.push('[');
        for _ in 0..count {
            commas.next(&mut self.out);
            self.out.push_str(MARK);
        }
        self.out.push(']');
    }

    /// Begins a member of JSON, whose name has its module where that is not the one around it.
    fn member(&mut self, schema: &Schema, node: NodeId, sign: &str) {
        self.close_array();
        let mut commas = self.last().commas;
        commas.next(&mut self.out);
        self.last().commas = commas;
        self.out.push('"');
        self.out.push_str(sign);
        let of = schema.node(node);
        if self.module_around(schema) != Some(of.module) {
            self.out.push_str(&schema.module(of.module).name);
            self.out.push(':');
        }
        // Names are identifiers: nothing in them needs escaping.
        self.out.push_str(&of.name);
        self.out.push_str("\":");
    }

    fn module_around(&mut self, schema: &Schema) -> Option<lang_yang::ModuleId> {
        self.last().node.map(|node| schema.node(node).module)
    }

    fn close_array(&mut self) {
        if self.open.last_mut().and_then(|open| open.array.take()).is_some() {
            self.out.push(']');
        }
    }

    /// `<name`, with its namespace where that is not the one around it.
    fn begin_element(&mut self, schema: &Schema, node: NodeId) {
        self.end_tag();
        let of = schema.node(node);
        self.out.push('<');
        self.out.push_str(&of.name);
        if self.module_around(schema) != Some(of.module) {
            put_namespace(&mut self.out, "", &schema.module(of.module).namespace);
        }
    }

    fn end_tag(&mut self) {
        if std::mem::take(&mut self.is_tag_open) {
            self.out.push('>');
        }
    }

    fn end_element(&mut self, name: &str) {
        if std::mem::take(&mut self.is_tag_open) {
            self.out.push_str("/>");
            return;
        }
        self.out.push_str("</");
        self.out.push_str(name);
        self.out.push('>');
    }

    fn value_element(&mut self, schema: &Schema, node: NodeId, value: ValueText<'_>, is_default: bool) {
        self.begin_element(schema, node);
        if is_default {
            put_namespace(&mut self.out, "wd", DEFAULTS);
            self.out.push_str(" wd:default=\"true\"");
        }
        let of = schema.node(node);
        match value.kind {
            ValueKind::Empty => return self.out.push_str("/>"),
            ValueKind::Json => {
                self.out.push('>');
                put_any(&mut self.out, schema, &mut Reader::new(value.text, ANY_DEPTH_MAX));
            }
            ValueKind::Identity => {
                let module = value.text.split_once(':').and_then(|(module, _)| schema.module_named(module));
                if let Some(module) = module.map(|module| schema.module(module)) {
                    put_namespace(&mut self.out, &module.name, &module.namespace);
                }
                self.out.push('>');
                escape_into(&mut self.out, value.text);
            }
            _ if is_path(&of.kind) => {
                let path = ErrorPath::of(schema, value.text.to_owned());
                for (module, namespace) in &path.namespaces {
                    put_namespace(&mut self.out, module, namespace);
                }
                self.out.push('>');
                escape_into(&mut self.out, &path.for_xml());
            }
            _ => {
                self.out.push('>');
                escape_into(&mut self.out, value.text);
            }
        }
        self.end_element(&of.name);
    }

    fn last(&mut self) -> &mut Open {
        self.open.last_mut().expect("what stands around the answer is open to its end")
    }
}

/// Whether values are instance-identifiers, whose names have prefixes in XML.
fn is_path(kind: &NodeKind) -> bool {
    let (NodeKind::Leaf { type_, .. } | NodeKind::LeafList { type_, .. }) = kind else { return false };
    matches!(type_.resolved().kind(), TypeKind::InstanceIdentifier { .. })
}

fn put_namespace(out: &mut String, prefix: &str, namespace: &str) {
    out.push_str(" xmlns");
    if !prefix.is_empty() {
        out.push(':');
        out.push_str(prefix);
    }
    out.push_str("=\"");
    escape_into(out, namespace);
    out.push('"');
}

/// A value as RFC 7951, section 6 spells it.
fn put_json(out: &mut String, value: ValueText<'_>) {
    match value.kind {
        ValueKind::Text | ValueKind::LongInteger | ValueKind::Decimal | ValueKind::Identity => {
            write_string(out, value.text);
        }
        ValueKind::Integer | ValueKind::Boolean | ValueKind::Json => out.push_str(value.text),
        ValueKind::Empty => out.push_str("[null]"),
    }
}

/// JSON without a schema as elements of XML: members become elements, those of arrays one after the other. What a module is known of has its
/// namespace. Stored text is JSON, so nothing goes wrong; if it did, what follows would be left out.
fn put_any(out: &mut String, schema: &Schema, json: &mut Reader<'_>) {
    let _ = put_any_value(out, schema, json, None);
}

fn put_any_value(
    out: &mut String,
    schema: &Schema,
    json: &mut Reader<'_>,
    name: Option<&str>,
) -> Result<(), lang_json::Error> {
    if json.peek()? == Kind::Array {
        json.begin_array()?;
        while json.next_element()? {
            put_any_value(out, schema, json, name)?;
        }
        return Ok(());
    }
    let (module, local) = match name.map(|name| name.split_once(':').ok_or(name)) {
        Some(Ok((module, local))) => (schema.module_named(module), local),
        Some(Err(local)) => (None, local),
        None => (None, ""),
    };
    // A name that XML cannot say has no element; what lies below it is shown.
    let is_element = crate::identifier::is_identifier(local);
    if is_element {
        out.push('<');
        out.push_str(local);
        if let Some(module) = module {
            put_namespace(out, "", &schema.module(module).namespace);
        }
        out.push('>');
    }
    match json.peek()? {
        Kind::Object => {
            json.begin_object()?;
            while let Some(key) = json.next_key()? {
                put_any_value(out, schema, json, Some(&key))?;
            }
        }
        Kind::String => escape_into(out, &json.string()?),
        Kind::Null => json.null()?,
        _ => out.push_str(json.raw()?),
    }
    if is_element {
        out.push_str("</");
        out.push_str(local);
        out.push('>');
    }
    Ok(())
}
