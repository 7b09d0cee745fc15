//! A part of a tree on its way into an answer: entries in document order, as far as they are asked for. What has many is written piece by piece
//! while it is sent, of one version, however long that takes.

use std::sync::Arc;

use api_http::{Response, Share, StreamSender, json_response, stream};
use config::{Cursor, Fault, Label, Record, Tree};
use http::StatusCode;
use lang_yang::{NodeId, Schema, ValueRef};
use model_config::{Deadline, Reading, Step};

use crate::media::Accepted;
use crate::problem::Problem;
use crate::shape::{Leaves, Shaper};
use crate::state::Limits;

/// Up to this size an answer is whole: it has a length, and errors have a status.
const WHOLE_BYTES_MAX: usize = 512 << 10;
/// About the size of a chunk of a stream.
const CHUNK_BYTES: usize = 128 << 10;
/// Chunks of a stream that wait for the client.
const CHUNKS_MAX: usize = 4;
/// Steps that an entry counts as, among those between two looks at the clock.
const ENTRY_STEPS: usize = 10;

/// Which entries are walked over.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// All of the tree.
    Top,
    /// An entry and what is below it.
    Entry(Label),
    /// The entries of this list, from this first one on, each with what is below it.
    List(Label, NodeId),
}

/// A walk under way. It holds no borrow of the tree, so that it can go on later, elsewhere.
pub(super) struct Walk {
    reading: Reading,
    schema: Arc<Schema>,
    stage: Stage,
    deadline: Deadline,
}

/// How far a walk is.
struct Stage {
    shaper: Shaper,
    /// The entry whose subtree has all of it.
    within: Label,
    /// How many steps stand above what is asked for.
    above: usize,
    /// The list whose entries are asked for.
    list: Option<NodeId>,
    /// Where to go on: the entry that was looked at last, and whether what is below it is passed over; before that the first one.
    at: Option<(Label, bool)>,
    first: Option<Label>,
}

/// The leaves of a record.
struct RecordLeaves<'r, 'a> {
    record: &'r Record<'a>,
    choosing: Vec<NodeId>,
}

impl Leaves for RecordLeaves<'_, '_> {
    fn each(&self, call: &mut dyn FnMut(NodeId, &mut dyn Iterator<Item = ValueRef<'_>>)) {
        for (leaf, values) in self.record.leaves() {
            call(leaf, &mut values.map(|value| ValueRef { kind: value.kind, text: value.text }));
        }
    }

    fn choosing(&self) -> &[NodeId] {
        &self.choosing
    }
}

/// The containers and lists in an entry that lie in cases of choices. Cost: a look for each that its schema has.
///
/// # Errors
///
/// [`Fault`] if a page is missing.
pub(super) fn choosing(tree: &Tree<'_>, parent: &Label, node: Option<NodeId>) -> Result<Vec<NodeId>, Fault> {
    let schema = tree.schema();
    let mut found = Vec::new();
    for child in schema.children(node) {
        let may_choose = schema.is_entry(*child) && !schema.node(*child).choices.is_empty();
        if may_choose && tree.entries(parent, *child).next_label()?.is_some() {
            found.push(*child);
        }
    }
    Ok(found)
}

impl Walk {
    /// A walk over a part of what is read.
    pub(super) fn new(reading: Reading, shaper: Shaper, part: Part, deadline: Deadline) -> Self {
        let schema = Arc::clone(reading.anchor().schema());
        let (within, above, list, first) = match part {
            Part::Top => (Label::top(), 0, None, None),
            Part::Entry(label) => {
                let above = label.depth(&schema).saturating_sub(1);
                (label, above, None, None)
            }
            Part::List(first, list) => {
                let parent = first.parent(&schema).expect("an entry of a list lies in something");
                (parent.clone(), parent.depth(&schema), Some(list), Some(first))
            }
        };
        let stage = Stage { shaper, within, above, list, at: None, first };
        Self { reading, schema, stage, deadline }
    }

    /// The answer: whole if it is small, else a stream.
    ///
    /// # Errors
    ///
    /// If the store refuses, or there is no memory, before the answer has grown large; later it breaks off.
    pub(super) async fn answer(
        mut self,
        accepted: Accepted,
        limits: &Limits,
        mut share: Share,
    ) -> Result<Response, Problem> {
        while !self.proceed(WHOLE_BYTES_MAX).await? {
            share.grow(self.stage.shaper.writer.out.len()).await?;
            if self.stage.shaper.writer.out.len() >= WHOLE_BYTES_MAX {
                let (sender, body) = stream(CHUNKS_MAX, limits.stall_max);
                // What is sent may take longer than a request: the server bounds answers under way by themselves.
                self.deadline = Deadline::at(None);
                tokio::spawn(self.send(sender));
                return Ok(json_response(StatusCode::OK, accepted.media, body));
            }
        }
        share.grow(self.stage.shaper.writer.out.len()).await?;
        Ok(json_response(StatusCode::OK, accepted.media, self.stage.shaper.writer.out))
    }

    async fn send(mut self, sender: StreamSender) {
        loop {
            let is_done = match self.proceed(CHUNK_BYTES).await {
                Ok(is_done) => is_done,
                Err(problem) => return sender.fail(problem.message),
            };
            if (is_done || self.stage.shaper.writer.out.len() >= CHUNK_BYTES)
                && sender.send(std::mem::take(&mut self.stage.shaper.writer.out)).await.is_err()
            {
                return;
            }
            if is_done {
                break;
            }
        }
        // If the client left, nobody reads the end.
        let _ = sender.finish().await;
    }

    /// Goes on until so much is written; whether all is.
    async fn proceed(&mut self, bytes: usize) -> Result<bool, Problem> {
        let Self { reading, schema, stage, deadline } = self;
        let is_done = reading
            .run_long(deadline.clone(), stage, |tree, stage, pace| {
                stage.step(tree, bytes, || !pace.spend(ENTRY_STEPS) || pace.is_tired())
            })
            .await?;
        if is_done {
            self.stage.shaper.end(schema);
        }
        Ok(is_done)
    }
}

impl Stage {
    /// Goes on until so much is written, or it is to rest.
    fn step(
        &mut self,
        tree: &Tree<'_>,
        bytes: usize,
        mut is_to_rest: impl FnMut() -> bool,
    ) -> Result<Step<bool>, Fault> {
        let schema = tree.schema();
        let mut cursor = self.resumed(tree)?;
        loop {
            if self.shaper.writer.out.len() >= bytes {
                return Ok(Step::Done(false));
            }
            if is_to_rest() {
                return Ok(Step::More);
            }
            let Some((label, record)) = cursor.next()? else { return Ok(Step::Done(true)) };
            let reports_all = self.shaper.reports_all();
            let choosing = if reports_all { choosing(tree, &label, record.node())? } else { Vec::new() };
            let leaves = RecordLeaves { record: &record, choosing };
            let Some(node) = record.node() else {
                self.shaper.top(schema, &leaves);
                self.at = Some((label, false));
                continue;
            };
            let Some(above) = label.depth(schema).checked_sub(self.above) else {
                return Ok(Step::Done(true));
            };
            if self.list.is_some_and(|list| above == 1 && node != list) {
                return Ok(Step::Done(true));
            }
            let goes_below = self.shaper.entry(schema, above, node, &leaves);
            if !goes_below {
                cursor.skip_below();
            }
            self.at = Some((label, !goes_below));
        }
    }

    /// A cursor where the walk goes on.
    fn resumed<'a>(&self, tree: &Tree<'a>) -> Result<Cursor<'a>, Fault> {
        let mut cursor = tree.cursor(&self.within);
        if let Some((label, is_skipped)) = &self.at {
            cursor.seek(label);
            cursor.next_label()?;
            if *is_skipped {
                cursor.skip_below();
            }
        } else if let Some(first) = &self.first {
            cursor.seek(first);
        }
        Ok(cursor)
    }
}
