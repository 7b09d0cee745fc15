//! Trees written as they are read: record by record in document order, as JSON or XML, without a tree of values.

use config::{Label, Record, Values};
use lang_yang::{Defaults, JsonWriter, LongNumbers, Names, NodeId, Schema, Style, ValueRef, XmlWriter};

use crate::media::Form;

/// Data of delta reports and of change events: names alone.
pub(crate) const BARE: Style =
    Style { names: Names::Bare, long_numbers: LongNumbers::Bare, defaults: Defaults::Explicit };

/// Writes nodes with what lies below them. Feed it a node's record, and those below it in document order; each time with the
/// schema that all of them are of.
#[derive(Debug)]
pub(crate) struct TreeWriter {
    form: FormWriter,
    /// Of what is open, from the node that was begun on.
    open: Vec<Label>,
}

#[derive(Debug)]
enum FormWriter {
    Json(JsonWriter),
    Xml(XmlWriter),
}

impl TreeWriter {
    /// A writer for one answer.
    pub(crate) fn new(form: Form) -> Self {
        let form = match form {
            Form::Json => FormWriter::Json(JsonWriter::new(Style::CPS)),
            // With namespaces: what was read can be sent back.
            Form::Xml => FormWriter::Xml(XmlWriter::new(Style::RFC7951)),
        };
        Self { form, open: Vec::new() }
    }

    /// A writer of JSON with names alone, as data of delta reports are written.
    pub(crate) fn bare() -> Self {
        Self { form: FormWriter::Json(JsonWriter::new(BARE)), open: Vec::new() }
    }

    /// Opens an object around nodes, in JSON.
    pub(crate) fn begin(&mut self, out: &mut Vec<u8>) {
        if let FormWriter::Json(writer) = &mut self.form {
            writer.begin(out);
        }
    }

    /// Closes the object around nodes, in JSON.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) {
        if let FormWriter::Json(writer) = &mut self.form {
            writer.end(out);
        }
    }

    /// Opens a node; entries of one list stand together, or each alone.
    pub(crate) fn open(
        &mut self,
        out: &mut Vec<u8>,
        schema: &Schema,
        (label, record): (Label, &Record<'_>),
        is_alone: bool,
    ) {
        let node = node_of(record);
        match &mut self.form {
            FormWriter::Json(writer) if is_alone => writer.open_alone(out, schema, node),
            FormWriter::Json(writer) => writer.open(out, schema, node),
            FormWriter::Xml(writer) => writer.open(out, schema, node),
        }
        self.leaves(out, schema, record);
        self.open.push(label);
    }

    /// Writes a record below the node that is open, behind all before it.
    pub(crate) fn below(
        &mut self,
        out: &mut Vec<u8>,
        schema: &Schema,
        (label, record): (Label, &Record<'_>),
    ) {
        while self.open.last().is_some_and(|open| !label.is_within(open)) {
            self.close_last(out, schema);
        }
        self.open(out, schema, (label, record), false);
    }

    /// Closes the node, and whatever is open below it.
    pub(crate) fn close(&mut self, out: &mut Vec<u8>, schema: &Schema) {
        while !self.open.is_empty() {
            self.close_last(out, schema);
        }
    }

    /// Levels below the node, at which the last record is.
    pub(crate) fn depth(&self) -> usize {
        self.open.len().saturating_sub(1)
    }

    /// Writes the leaves of a record into what is open; of the top, into the object around nodes.
    pub(crate) fn leaves(&mut self, out: &mut Vec<u8>, schema: &Schema, record: &Record<'_>) {
        for (leaf, values) in record.leaves() {
            self.leaf(out, schema, (leaf, values));
        }
    }

    /// Writes one leaf or leaf-list into what is open.
    pub(crate) fn leaf(&mut self, out: &mut Vec<u8>, schema: &Schema, (leaf, values): (NodeId, Values<'_>)) {
        let values = values.map(|value| ValueRef { kind: value.kind, text: value.text });
        match &mut self.form {
            FormWriter::Json(writer) => writer.leaf(out, schema, leaf, values),
            FormWriter::Xml(writer) => writer.leaf(out, schema, leaf, values),
        }
    }

    fn close_last(&mut self, out: &mut Vec<u8>, schema: &Schema) {
        self.open.pop();
        match &mut self.form {
            FormWriter::Json(writer) => writer.close(out, schema),
            FormWriter::Xml(writer) => writer.close(out, schema),
        }
    }
}

/// The container or list that a record is of.
fn node_of(record: &Record<'_>) -> NodeId {
    record.node().expect("the top is no node, and is never opened")
}
