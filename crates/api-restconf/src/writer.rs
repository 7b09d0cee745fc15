//! An answer under way: data in the form that is accepted, and what stands around it. How data is spelt is `lang_yang`'s.

use lang_yang::{JsonWriter, NodeId, Schema, Style, ValueRef, XmlWriter};

use crate::media::Form;

/// What stands around all data.
const DATA_JSON: &str = "{\"ietf-restconf:data\":";
const DATA_XML: &str = "<data xmlns=\"urn:ietf:params:xml:ns:yang:ietf-restconf\">";
const DATA_XML_END: &str = "</data>";

/// What an answer begins with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Around {
    /// A node: its name says its module.
    Node,
    /// The datastore: `data` stands around all nodes.
    Data,
}

/// Writes nodes in document order. The schema is given with each call, so that a writer can outlive a borrow of it.
#[derive(Debug)]
pub(crate) struct Writer {
    writer: FormWriter,
    pub(crate) out: Vec<u8>,
}

#[derive(Debug)]
enum FormWriter {
    Json(JsonWriter),
    Xml(XmlWriter),
}

impl Writer {
    /// A writer at the beginning of an answer.
    pub(crate) fn begin(form: Form, around: Around) -> Self {
        let mut out = Vec::new();
        let writer = match form {
            Form::Json => {
                if around == Around::Data {
                    out.extend_from_slice(DATA_JSON.as_bytes());
                }
                let mut writer = JsonWriter::new(Style::RFC7951);
                writer.begin(&mut out);
                FormWriter::Json(writer)
            }
            Form::Xml => {
                if around == Around::Data {
                    out.extend_from_slice(DATA_XML.as_bytes());
                }
                FormWriter::Xml(XmlWriter::new(Style::RFC7951))
            }
        };
        Self { writer, out }
    }

    /// Ends the answer, in which nothing is open.
    pub(crate) fn end(&mut self, around: Around) {
        let end = match &mut self.writer {
            FormWriter::Json(writer) => {
                writer.end(&mut self.out);
                "}"
            }
            FormWriter::Xml(_) => DATA_XML_END,
        };
        if around == Around::Data {
            self.out.extend_from_slice(end.as_bytes());
        }
    }

    /// Opens a container, or an entry of a list.
    pub(crate) fn open(&mut self, schema: &Schema, node: NodeId) {
        match &mut self.writer {
            FormWriter::Json(writer) => writer.open(&mut self.out, schema, node),
            FormWriter::Xml(writer) => writer.open(&mut self.out, schema, node),
        }
    }

    /// Closes what was opened last.
    pub(crate) fn close(&mut self, schema: &Schema) {
        match &mut self.writer {
            FormWriter::Json(writer) => writer.close(&mut self.out, schema),
            FormWriter::Xml(writer) => writer.close(&mut self.out, schema),
        }
    }

    /// A leaf, or all values of a leaf-list; `is_default` marks them as such.
    pub(crate) fn leaf<'v>(
        &mut self,
        schema: &Schema,
        node: NodeId,
        values: impl Iterator<Item = ValueRef<'v>>,
        is_default: bool,
    ) {
        match &mut self.writer {
            FormWriter::Json(writer) => writer.set_leaf(&mut self.out, schema, (node, is_default), values),
            FormWriter::Xml(writer) => writer.set_leaf(&mut self.out, schema, (node, is_default), values),
        }
    }
}
