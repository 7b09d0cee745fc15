//! What a read that may be long takes: slices of time, after some of them a slot of the lane, and all of it until a deadline.

use entity::Error;
use store::{Deadline, Lane, Pace, Slot};

/// Slices of work after which a read is long.
const SLICES_INLINE: usize = 16;
/// A look at a larger entity may be long by itself.
pub(crate) const LIGHT_ENTITY_BYTES: usize = 256 << 10;

/// A read under way.
pub(crate) struct LongRead<'a> {
    /// `None`: a job's, which waits for nobody and goes on where it is.
    lane: Option<&'a Lane>,
    deadline: Deadline,
    pub(crate) pace: Pace,
    slices: usize,
    /// The slot it has, once it is long, and whether it has one.
    pub(crate) slot: Option<Slot>,
    pub(crate) in_lane: bool,
}

impl<'a> LongRead<'a> {
    /// One that ends at a deadline.
    pub(crate) fn new(lane: &'a Lane, deadline: Deadline) -> Self {
        Self { lane: Some(lane), ..Self::of_job(deadline) }
    }

    /// One that is done beside requests.
    pub(crate) fn of_job(deadline: Deadline) -> Self {
        let pace = Pace::new(deadline.clone());
        Self { lane: None, deadline, pace, slices: 0, slot: None, in_lane: false }
    }

    /// Does work where it belongs: here, or in the slot.
    pub(crate) fn run<T>(&mut self, work: impl FnOnce(&mut Pace) -> T) -> T {
        match &self.slot {
            None => work(&mut self.pace),
            Some(slot) => slot.run(|| work(&mut self.pace)),
        }
    }

    /// Counts steps, and rests if a slice is over.
    pub(crate) async fn spend(&mut self, steps: usize) -> Result<(), Error> {
        self.pace.spend(steps);
        self.pace.check()?;
        if self.pace.is_tired() { self.rest().await } else { Ok(()) }
    }

    /// Lets others run, and takes a slot once that was often.
    pub(crate) async fn rest(&mut self) -> Result<(), Error> {
        self.slices += 1;
        if self.slices > SLICES_INLINE && !self.in_lane && self.lane.is_some() {
            return self.enter_lane().await;
        }
        tokio::task::yield_now().await;
        self.pace.rest();
        Ok(())
    }

    /// Takes a slot, if it has none.
    pub(crate) async fn enter_lane(&mut self) -> Result<(), Error> {
        if let Some(lane) = self.lane.filter(|_| !self.in_lane) {
            self.slot = Some(lane.enter().await);
            self.in_lane = true;
        }
        self.pace.rest();
        Ok(self.deadline.check()?)
    }

    /// Gives the slot back: what comes next is not long yet.
    pub(crate) fn begin_anew(&mut self) {
        (self.slices, self.in_lane, self.slot) = (0, false, None);
    }
}
