//! Linked entities, and what writing them may take (NGSI-LD 4.5.23).

use std::collections::{HashMap, HashSet};

use api_http::Share;
use model_entities::{Entity, EntityView, Pace};
use parking_lot::Mutex;

use super::Projection;

/// Written text goes at so many bytes a step.
const BYTES_A_STEP: usize = 64;
/// Memory for what is written is asked for in parts of this size.
const PART_BYTES: usize = 1 << 20;

/// The entities that relationships of a page point to, fetched level by level by the route.
#[derive(Debug, Default)]
pub(crate) struct Linked<'a> {
    /// By id; entities the client names in `containedBy` are not among them.
    pub entities: HashMap<Box<str>, Entity>,
    /// Their ids in the order they were met, each with what is shown of it where it was met first.
    pub order: Vec<(Projection<'a>, Box<str>)>,
    /// What all of them take as they are stored.
    pub bytes: usize,
}

/// Linked entities as they are written inside of others: each is parsed once, in however many places it is written.
#[derive(Debug)]
pub(crate) struct LinkedViews<'l> {
    views: &'l HashMap<&'l str, EntityView<'l>>,
    /// How many levels are shown inside of each other.
    pub(super) level_max: usize,
    work: Mutex<Work>,
}

/// What writing linked entities may take, and has taken.
#[derive(Debug)]
pub(crate) struct Work {
    pub pace: Pace,
    /// Steps that are left.
    pub steps: usize,
    /// From this size of the answer on, no entity is shown any more.
    pub out_bytes_max: usize,
    /// Memory for what is written.
    pub memory: Share,
    /// Why it ended before all was written: what was written does not count.
    pub ended: Option<Ended>,
}

/// Why linked entities were not all written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Ended {
    /// The steps are used up.
    Tired,
    /// The answer is too large.
    Large,
    /// The deadline came.
    Late,
    /// There is no memory left.
    MemoryFull,
}

impl Work {
    fn begin(&mut self, entity_bytes: usize, out_bytes: usize) -> Option<Ended> {
        let steps = 1 + entity_bytes / BYTES_A_STEP;
        self.steps = self.steps.saturating_sub(steps);
        if !self.pace.spend(steps) {
            Some(Ended::Late)
        } else if out_bytes >= self.out_bytes_max {
            Some(Ended::Large)
        } else if self.steps == 0 {
            Some(Ended::Tired)
        } else if self.memory.try_grow(out_bytes.next_multiple_of(PART_BYTES)).is_err() {
            Some(Ended::MemoryFull)
        } else {
            None
        }
    }
}

impl Linked<'_> {
    /// Views of the entities, by id. Cost: a look at each.
    ///
    /// # Errors
    ///
    /// The id of one that is damaged.
    pub(crate) fn views(&self) -> Result<HashMap<&str, EntityView<'_>>, &str> {
        let views = self.entities.iter().map(|(id, entity)| match entity.view() {
            Ok(view) => Ok((&**id, view)),
            Err(_) => Err(&**id),
        });
        views.collect()
    }
}

impl<'l> LinkedViews<'l> {
    /// Linked entities, to be shown so many levels deep.
    pub(crate) fn new(views: &'l HashMap<&'l str, EntityView<'l>>, level_max: usize, work: Work) -> Self {
        Self { views, level_max, work: Mutex::new(work) }
    }

    /// A linked entity.
    pub(crate) fn view(&self, id: &str) -> Option<EntityView<'l>> {
        self.views.get(id).copied()
    }

    /// What became of the work.
    pub(crate) fn into_work(self) -> Work {
        self.work.into_inner()
    }

    /// Whether one more entity may be written; not any more once one may not.
    pub(super) fn begins(&self, entity: &EntityView<'_>, out: &str) -> bool {
        let mut work = self.work.lock();
        if work.ended.is_none() {
            work.ended = work.begin(entity.bytes().len(), out.len());
        }
        work.ended.is_none()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.work.lock().ended.is_some()
    }
}

/// Entities that are to be shown through relationships, each once for each projection.
#[derive(Debug, Default)]
pub(crate) struct Targets<'a> {
    met: HashMap<(usize, usize), HashSet<Box<str>>>,
    /// Those that were met since they were taken last, in order.
    pub found: Vec<(Projection<'a>, Box<str>)>,
}

impl<'a> Targets<'a> {
    pub(super) fn meet(&mut self, projection: Projection<'a>, id: &str) {
        let met = self.met.entry(projection.identity()).or_default();
        if !met.contains(id) {
            met.insert(id.into());
            self.found.push((projection, id.into()));
        }
    }
}
