//! What the places of a change were and are, as change events tell it: read from the version before and the one after it, in the form that data of
//! delta reports have, and only within limits of bytes.

use config::query::{Address, AddressError};
use config::{Fault, Label, Step, Tree};
use lang_cps_path::CpsPath;
use lang_yang::{NodeId, Schema};
use model_config::{Action, ConfigChange, Configs, Deadline, Error, Pace, Reading};

use crate::notification::PlaceData;
use crate::wire::tree::TreeWriter;

/// The most bytes of data in all events of one change together.
pub const CHANGE_DATA_BYTES_MAX: usize = 1 << 20;

/// Both versions of a change, as far as they are still there.
#[derive(Debug)]
pub struct ChangeData {
    before: Option<Reading>,
    after: Option<Reading>,
    event_bytes_max: usize,
    /// What events of the change may still tell.
    bytes_left: usize,
    pace: Pace,
}

/// What a place was and what it is, as JSON.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PlaceTexts {
    /// Before; `None`: it was not there, or is new.
    pub source: Option<String>,
    /// Now; `None`: it is not there.
    pub target: Option<String>,
}

impl PlaceTexts {
    /// The same, for [`crate::change_event`].
    pub fn data(&self) -> PlaceData<'_> {
        PlaceData { source: self.source.as_deref(), target: self.target.as_deref() }
    }
}

impl ChangeData {
    /// Both versions of a change, of whose data an event has so many bytes at most. Of an anchor that is gone, or is another by now, there is none.
    /// Cost: some look-ups; for a large tree a snapshot.
    ///
    /// # Errors
    ///
    /// If the store serves nobody now. Whatever else keeps a version from being read, it counts as gone.
    pub async fn open(
        configs: &Configs,
        change: &ConfigChange,
        event_bytes_max: usize,
    ) -> Result<Self, Error> {
        let (mut before, mut after) = (None, None);
        if let Some(version) = change.after {
            let anchor = unless_gone(configs.anchor(&change.dataspace, &change.anchor).await)?;
            if let Some(anchor) = anchor.filter(|anchor| anchor.number() == change.number) {
                before = unless_gone(anchor.read(Some(change.before)).await)?;
                after = unless_gone(anchor.read(Some(version)).await)?;
            }
        }
        let pace = Pace::new(Deadline::at(None));
        Ok(Self { before, after, event_bytes_max, bytes_left: CHANGE_DATA_BYTES_MAX, pace })
    }

    /// What a place of the change was (unless it is new), and what it is (unless it was removed), with all below it. `None` if that is more than an
    /// event may have, or all events of the change together; if a version that has it is gone; if the path does not say which node it means.
    /// Cost: linear in what is written, and that is bounded.
    ///
    /// # Errors
    ///
    /// As [`ChangeData::open`].
    pub async fn of(&mut self, action: Action, xpath: &str) -> Result<Option<PlaceTexts>, Error> {
        let Self { before, after, event_bytes_max, bytes_left, pace } = self;
        let mut texts = PlaceTexts::default();
        let mut room = (*event_bytes_max).min(*bytes_left);
        let sides = [
            (before, action != Action::Create, &mut texts.source),
            (after, action != Action::Remove, &mut texts.target),
        ];
        for (reading, is_told, text) in sides {
            if !is_told {
                continue;
            }
            let Some(reading) = reading else { return Ok(None) };
            let Some(spot) = Spot::of(reading.anchor().schema(), xpath) else { return Ok(None) };
            match write(reading, &spot, (room, pace)).await? {
                Some(Written::Whole(written)) => {
                    room -= written.len();
                    *text = Some(written);
                }
                Some(Written::Nothing) => {}
                Some(Written::TooLarge) | None => return Ok(None),
            }
        }
        *bytes_left -= (*event_bytes_max).min(*bytes_left) - room;
        Ok(Some(texts))
    }
}

/// What lies at a place; `None`: its version was dropped meanwhile.
async fn write(
    reading: &Reading,
    spot: &Spot,
    (bytes_max, pace): (usize, &mut Pace),
) -> Result<Option<Written>, Error> {
    let mut text = SpotText::new(spot, bytes_max);
    let written = unless_gone(reading.run(|tree| text.write(tree)).await)?;
    reading.rest(pace).await?;
    Ok(written)
}

/// `None` where what was asked for is not to be had, now or later: the feed goes on.
fn unless_gone<T>(found: Result<T, Error>) -> Result<Option<T>, Error> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_outage() => Err(error),
        Err(error) => {
            tracing::debug!(%error, "data of a change are not told");
            Ok(None)
        }
    }
}

/// What a path of a change names in a tree.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Spot {
    /// An entry with all below it; no steps: the whole tree.
    Entry(Vec<Step>),
    /// All entries of a list with all below them.
    List { parent: Vec<Step>, list: NodeId },
    /// A leaf or leaf-list.
    Leaf { parent: Vec<Step>, leaf: NodeId },
}

impl Spot {
    /// `None` if the path names nothing under this schema, or has a name that nodes of two modules share: paths of changes do not say which.
    fn of(schema: &Schema, xpath: &str) -> Option<Self> {
        let path = lang_cps_path::parse(xpath).ok()?;
        let spot = match Address::new(schema, &path) {
            Ok(Address::Top) => Self::Entry(Vec::new()),
            Ok(Address::Entry(steps)) => Self::Entry(steps),
            Ok(Address::List { parent, list }) => Self::List { parent, list },
            Err(AddressError::Unknown(_)) => Self::leaf(schema, path)?,
            Err(AddressError::Search(_) | AddressError::Keys { .. }) => return None,
        };
        let (steps, last) = match &spot {
            Self::Entry(steps) => (steps, None),
            Self::List { parent, list: last } | Self::Leaf { parent, leaf: last } => (parent, Some(*last)),
        };
        let is_shared = steps.iter().map(|step| step.node).chain(last).any(|node| schema.shares_name(node));
        (!is_shared).then_some(spot)
    }

    /// The leaf that the last step names.
    fn leaf(schema: &Schema, mut path: CpsPath) -> Option<Self> {
        let last = path.steps.pop()?;
        let parent = match Address::new(schema, &path) {
            Ok(Address::Top) => Vec::new(),
            Ok(Address::Entry(steps)) => steps,
            Ok(Address::List { .. }) | Err(_) => return None,
        };
        let around = parent.last().map(|step| step.node);
        let leaf =
            schema.children_named(around, &last.name.local).iter().find(|id| !schema.is_entry(**id))?;
        last.predicate.is_empty().then_some(Self::Leaf { parent, leaf: *leaf })
    }
}

/// What came of writing.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Written {
    /// All of it, as a JSON object.
    Whole(String),
    /// There is nothing.
    Nothing,
    /// It is more than it may be.
    TooLarge,
}

/// What lies at a spot, being written: it stops as soon as that is too much. After a [`Fault`] was served, it goes on where it was.
#[derive(Debug)]
struct SpotText<'s> {
    spot: &'s Spot,
    bytes_max: usize,
    writer: TreeWriter,
    out: Vec<u8>,
    /// What was written last.
    last: Option<Label>,
}

impl<'s> SpotText<'s> {
    fn new(spot: &'s Spot, bytes_max: usize) -> Self {
        Self { spot, bytes_max, writer: TreeWriter::bare(), out: Vec::new(), last: None }
    }

    /// Always with the same version of one tree.
    fn write(&mut self, tree: &Tree<'_>) -> Result<Written, Fault> {
        let (Spot::Entry(steps) | Spot::List { parent: steps, .. } | Spot::Leaf { parent: steps, .. }) =
            self.spot;
        let Some(label) = tree.find(steps)? else { return Ok(Written::Nothing) };
        let schema = tree.schema();
        let mut cursor = match self.spot {
            Spot::Entry(_) => tree.cursor(&label),
            Spot::List { list, .. } => tree.branch(&label, *list),
            Spot::Leaf { leaf, .. } => return self.write_leaf(tree, &label, *leaf),
        };
        let mut is_written = self.last.is_some();
        if let Some(last) = &self.last {
            cursor.seek(last);
        }
        while let Some((label, record)) = cursor.next()? {
            if std::mem::take(&mut is_written) || (label.is_top() && record.is_empty()) {
                continue;
            }
            if self.last.is_none() {
                self.writer.begin(&mut self.out);
            }
            match label.is_top() {
                true => self.writer.leaves(&mut self.out, schema, &record),
                false => self.writer.below(&mut self.out, schema, (label.clone(), &record)),
            }
            self.last = Some(label);
            if self.out.len() > self.bytes_max {
                return Ok(Written::TooLarge);
            }
        }
        Ok(if self.last.is_some() { self.end(schema) } else { Written::Nothing })
    }

    fn write_leaf(&mut self, tree: &Tree<'_>, parent: &Label, leaf: NodeId) -> Result<Written, Fault> {
        let record = tree.record(parent)?;
        let Some(values) = record.as_ref().and_then(|record| record.leaf(leaf)) else {
            return Ok(Written::Nothing);
        };
        self.writer.begin(&mut self.out);
        self.writer.leaf(&mut self.out, tree.schema(), (leaf, values));
        Ok(self.end(tree.schema()))
    }

    fn end(&mut self, schema: &Schema) -> Written {
        self.writer.close(&mut self.out, schema);
        self.writer.end(&mut self.out);
        if self.out.len() > self.bytes_max {
            return Written::TooLarge;
        }
        let out = std::mem::take(&mut self.out);
        Written::Whole(String::from_utf8(out).expect("JSON of texts is text"))
    }
}

#[cfg(test)]
mod tests;
