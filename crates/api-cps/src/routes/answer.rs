//! Answers with nodes: whole when they are small, a stream when they are not. Memory stays flat either way: a tree is read and
//! written chunk by chunk, from the label on at which the last chunk ended.

use api_http::{CHUNK_BYTES, Chunks};
use config::{Label, Tree};
use lang_json::Commas;
use model_config::{Deadline, Pace, Reading};

use crate::media::Form;
use crate::params::Descendants;
use crate::problem::Problem;
use crate::wire::tree::TreeWriter;

/// What several trees of XML lie in, as in NETCONF (RFC 6241).
const XML_BEGIN: &[u8] = b"<data xmlns=\"urn:ietf:params:xml:ns:netconf:base:1.0\">";
const XML_END: &[u8] = b"</data>";

/// How nodes are put together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Shape {
    /// The first alone.
    First,
    /// A list with an object for each.
    List,
    /// One object, in which the entries of a list stand together.
    Grouped,
}

/// Writes some nodes of an anchor, with what lies below them.
pub(super) struct NodesWriter {
    reading: Reading,
    labels: Vec<Label>,
    levels: Descendants,
    /// Of what lies below the nodes, only these entries with all below them, and what leads to them.
    only: Option<Selection>,
    shape: Shape,
    form: Form,
    writer: TreeWriter,
    commas: Commas,
    pace: Pace,
    /// Which of the nodes is being written.
    at: usize,
    /// The entry that was written last, if the node is not at its end.
    last: Option<Label>,
    is_begun: bool,
}

impl NodesWriter {
    /// The writer of these nodes.
    pub(super) fn new(
        reading: Reading,
        mut labels: Vec<Label>,
        levels: Descendants,
        (shape, form): (Shape, Form),
    ) -> Self {
        if shape == Shape::First {
            // Leaves of the top are the first only where there is nothing else.
            if labels.len() > 1 {
                labels.retain(|label| !label.is_top());
            }
            labels.truncate(1);
        }
        let (writer, commas) = (TreeWriter::new(form), Commas::default());
        let pace = Pace::new(Deadline::at(None));
        let (at, last, is_begun) = (0, None, false);
        let only = None;
        Self { reading, labels, levels, only, shape, form, writer, commas, pace, at, last, is_begun }
    }

    /// The same, but of these entries alone, in document order, if there are any such: of other nodes nothing is written but
    /// what leads to them.
    pub(super) fn only(mut self, selected: Option<Vec<Label>>) -> Self {
        if let Some(labels) = selected {
            let mut selection = Selection { labels, cover: None };
            self.labels.retain(|label| selection.wants(label));
            selection.cover = None;
            self.only = Some(selection);
        }
        self
    }

    /// Writes a part, up to about a chunk; answers whether more is left. Cost: linear in what is written.
    ///
    /// # Errors
    ///
    /// Whatever the model refuses with.
    pub(super) async fn write(&mut self, out: &mut Vec<u8>) -> Result<bool, Problem> {
        if !std::mem::replace(&mut self.is_begun, true) {
            self.begin(out);
        }
        let end = out.len().saturating_add(CHUNK_BYTES);
        while let Some(label) = self.labels.get(self.at).cloned() {
            if self.last.is_none() {
                self.begin_node(out);
            }
            let is_under_way = self.write_node(out, &label, end).await?;
            if !is_under_way {
                self.end_node(out);
                self.at += 1;
            }
            if is_under_way || out.len() >= end {
                self.reading.rest(&mut self.pace).await?;
                return Ok(true);
            }
        }
        self.end(out);
        Ok(false)
    }

    /// Writes the leaves of the top, which is a node without anything below: the entries there are nodes of their own.
    async fn write_top(&mut self, out: &mut Vec<u8>) -> Result<(), Problem> {
        let reading = &self.reading;
        let schema = reading.anchor().schema();
        let write = |tree: &Tree<'_>| {
            if let Some(record) = tree.record(&Label::top())? {
                self.writer.leaves(out, schema, &record);
            }
            Ok(())
        };
        Ok(reading.run(write).await?)
    }

    /// Writes on in one node, until so much is written; answers whether more of it is left.
    async fn write_node(&mut self, out: &mut Vec<u8>, label: &Label, end: usize) -> Result<bool, Problem> {
        if label.is_top() {
            self.write_top(out).await?;
            return Ok(false);
        }
        let schema = self.reading.anchor().schema();
        let tree = self.reading.tree();
        let mut cursor = tree.cursor(label);
        let mut passed = None;
        if let Some(last) = &self.last {
            cursor.seek(last);
            passed = self.last.take();
        }
        loop {
            let next = match cursor.next() {
                Ok(next) => next,
                Err(fault) => {
                    self.reading.load(&fault).await?;
                    continue;
                }
            };
            let Some((at, record)) = next else { return Ok(false) };
            if passed.take().is_none() {
                if self.only.as_mut().is_some_and(|only| !only.wants(&at)) {
                    cursor.skip_below();
                    continue;
                }
                let entry = (at.clone(), &record);
                if at == *label {
                    self.writer.open(out, schema, entry, self.shape != Shape::Grouped);
                } else {
                    self.writer.below(out, schema, entry);
                }
            }
            if self.levels.is_reached(self.writer.depth()) {
                cursor.skip_below();
            }
            if out.len() >= end {
                self.last = Some(at);
                return Ok(true);
            }
        }
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        match (self.form, self.shape) {
            (Form::Json, Shape::List) => out.push(b'['),
            (Form::Json, Shape::Grouped) => self.writer.begin(out),
            (Form::Xml, _) if self.is_many() => out.extend_from_slice(XML_BEGIN),
            (Form::Json, Shape::First) | (Form::Xml, _) => {}
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        match (self.form, self.shape) {
            (Form::Json, Shape::List) => out.push(b']'),
            (Form::Json, Shape::Grouped) => self.writer.end(out),
            (Form::Xml, _) if self.is_many() => out.extend_from_slice(XML_END),
            (Form::Json, Shape::First) | (Form::Xml, _) => {}
        }
    }

    /// Whether there may be any number of elements: leaves of the top are several.
    fn is_many(&self) -> bool {
        self.labels.len() != 1 || self.labels.first().is_some_and(Label::is_top)
    }

    /// Writes what stands before a node.
    fn begin_node(&mut self, out: &mut Vec<u8>) {
        if self.shape != Shape::Grouped {
            if self.form == Form::Json {
                self.commas.next(out);
            }
            self.writer.begin(out);
        }
    }

    fn end_node(&mut self, out: &mut Vec<u8>) {
        self.writer.close(out, self.reading.anchor().schema());
        if self.shape != Shape::Grouped {
            self.writer.end(out);
        }
    }

    /// All of it, as a body.
    pub(super) fn chunks(self) -> Chunks<Problem> {
        let state = Some(self);
        Box::pin(futures_util::stream::try_unfold(state, |state| async move {
            let Some(mut writer) = state else { return Ok(None) };
            let mut out = Vec::new();
            let is_more = writer.write(&mut out).await?;
            Ok(Some((out, is_more.then_some(writer))))
        }))
    }
}

/// Entries of which an answer is made.
struct Selection {
    /// In document order.
    labels: Vec<Label>,
    /// The selected entry that was met last: what lies below it is wanted.
    cover: Option<Label>,
}

impl Selection {
    /// Whether an entry is selected, lies below one that is, or above one. Entries are asked for in document order. Cost: O(log
    /// selected).
    fn wants(&mut self, label: &Label) -> bool {
        if label.is_top() {
            return self.labels.first().is_some_and(Label::is_top);
        }
        if self.cover.as_ref().is_some_and(|cover| label.is_within(cover)) {
            return true;
        }
        let next = self.labels.partition_point(|selected| selected < label);
        let Some(selected) = self.labels.get(next).filter(|selected| selected.is_within(label)) else {
            return false;
        };
        if selected == label {
            self.cover = Some(label.clone());
        }
        true
    }
}

impl Descendants {
    /// Whether nothing more is wanted below a node so many levels down.
    fn is_reached(self, depth: usize) -> bool {
        match self {
            Self::All => false,
            Self::Levels(levels) => depth >= levels as usize,
        }
    }
}
