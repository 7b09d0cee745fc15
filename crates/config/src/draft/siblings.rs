//! Where entries of a list come among those that are there.

use lang_yang::NodeId;

use crate::cache::Fault;
use crate::draft::Draft;
use crate::edit::{ApplyError, Place, Position};
use crate::label::Label;
use crate::order::{ORDER_BYTES_MAX, Order};

/// Room for entries, one behind the other: behind one order, before another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gap {
    pub(crate) low: Option<Order>,
    pub(crate) high: Option<Order>,
}

impl Gap {
    /// The order of the next entry in it.
    pub(crate) fn next(&mut self) -> Order {
        let order = Order::between(self.low.as_ref(), self.high.as_ref());
        self.low = Some(order.clone());
        order
    }
}

impl Draft<'_> {
    /// The order of an entry among those of its list.
    pub(crate) fn order(&self, parent: &Label, list: NodeId, entry: &Label) -> Option<Order> {
        let start = parent.container(self.schema().node(list).slot);
        Order::from_bytes(entry.as_bytes().strip_prefix(start.as_bytes())?)
    }

    /// Room at a position of a list. If the orders there have become long, those of the list are given anew. Cost: O(log records), but for
    /// orders that are given anew, which is rare: O(all below the list).
    pub(crate) fn gap(&mut self, parent: &Label, list: NodeId, at: &Position) -> Result<Gap, ApplyError> {
        self.gap_following(parent, list, at, &mut Label::top())
    }

    /// The same, beside an entry of the list, which gets its new label if orders are given anew.
    pub(crate) fn gap_following(
        &mut self,
        parent: &Label,
        list: NodeId,
        at: &Position,
        entry: &mut Label,
    ) -> Result<Gap, ApplyError> {
        let gap = self.gap_once(parent, list, at)?;
        if gap.clone().next().as_bytes().len() <= ORDER_BYTES_MAX {
            return Ok(gap);
        }
        let neighbour = match at {
            Position::Last | Position::First => None,
            Position::Before(place) | Position::After(place) => Some(self.sibling(parent, list, place)?),
        };
        let before = self.labels(parent, list)?;
        self.respread(parent, list, &before)?;
        let after = self.labels(parent, list)?;
        let moved = |label: &Label| {
            let position = before.iter().position(|before| before == label)?;
            after.get(position).cloned()
        };
        if let Some(label) = moved(entry) {
            *entry = label;
        }
        let at = match (at, neighbour.as_ref().and_then(moved)) {
            (Position::Before(_), Some(label)) => &Position::Before(Place::Label(label)),
            (Position::After(_), Some(label)) => &Position::After(Place::Label(label)),
            (at, _) => at,
        };
        self.gap_once(parent, list, at)
    }

    fn gap_once(&mut self, parent: &Label, list: NodeId, at: &Position) -> Result<Gap, ApplyError> {
        let start = parent.container(self.schema().node(list).slot);
        let end = start.above();
        let neighbour = match at {
            Position::Last | Position::First => None,
            Position::Before(place) | Position::After(place) => Some(self.sibling(parent, list, place)?),
        };
        let (low, high) = match (at, &neighbour) {
            (Position::Before(_), Some(entry)) => {
                (self.last(start.as_bytes(), entry.as_bytes())?, Some(entry.as_bytes().to_vec()))
            }
            (Position::After(_), Some(entry)) => {
                let next = self.first(entry.above().as_bytes(), end.as_bytes())?;
                (Some(entry.as_bytes().to_vec()), next)
            }
            (Position::First, _) => (None, self.first(start.as_bytes(), end.as_bytes())?),
            _ => (self.last(start.as_bytes(), end.as_bytes())?, None),
        };
        let order = |key: Option<Vec<u8>>| {
            let entry = self.entry_of(parent, &key?)?;
            self.order(parent, list, &entry)
        };
        Ok(Gap { low: order(low), high: order(high) })
    }

    fn sibling(&mut self, parent: &Label, list: NodeId, place: &Place) -> Result<Label, ApplyError> {
        let entry = self.resolve(place)?;
        if self.order(parent, list, &entry).is_some() {
            return Ok(entry);
        }
        let list = format!("{}{}", self.base(parent)?, self.schema().node(list).name);
        Err(ApplyError::Misplaced { node: self.path(&entry)?, parent: list })
    }

    /// Gives all entries of a list new orders, as if they had been appended one after the other. Cost: O(all below the list).
    fn respread(&mut self, parent: &Label, list: NodeId, labels: &[Label]) -> Result<(), ApplyError> {
        let slot = self.schema().node(list).slot;
        // Behind all that are there, so that no new label is an old one.
        let mut gap = Gap { low: labels.last().and_then(|last| self.order(parent, list, last)), high: None };
        self.forget_index();
        for label in labels {
            let order = gap.next();
            self.shift(label, &parent.entry(slot, order.as_bytes()))?;
        }
        Ok(())
    }

    /// The entries of a list.
    pub(crate) fn labels(&self, parent: &Label, list: NodeId) -> Result<Vec<Label>, Fault> {
        let (mut entries, mut labels) = (self.list(parent, list), Vec::new());
        while let Some(label) = entries.next_entry()? {
            labels.push(label);
        }
        Ok(labels)
    }
}
