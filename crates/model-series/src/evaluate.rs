//! Reading series as somebody wants them: any raster, any unit, gaps filled, quotations put together, formulas computed.
//!
//! Fetch, then think: points come from strands, all else is columns ([`plan`], [`quotations`], [`operands`]).

mod pace;
mod plan;
mod quotations;
mod fetch;
mod following;
mod reader;
mod operands;
mod pieces;
mod around;
mod slots;
mod gaps;
mod pages;
mod whole;
mod total;

pub use pages::Progress;
pub use plan::ANSWER_SLOTS_MAX;
pub use quotations::Quotation;
pub use reader::{Answer, Reader};
pub use total::TotalPages;

use store::Timestamp;

use crate::{Aggregation, Error, Gaps, Interval, Repository, Zone};

/// How series are to be read, whatever series they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadRequest {
    /// Brought to this interval; as they are if none is given.
    pub interval: Option<Interval>,
    /// The zone of the interval's calendar; the series' own if none is given.
    pub zone: Option<Zone>,
    /// When the interval's days begin, in seconds after midnight; as the series' own if nobody says.
    pub day_start_seconds: Option<u32>,
    /// The unit of values; the series' own if none is given.
    pub unit: Option<Box<str>>,
    /// How values are put together; by the rule of the unit if nobody says.
    pub aggregation: Option<Aggregation>,
    /// What is done about slots without a value.
    pub gaps: Gaps,
    /// As the series was then; only audited series can be read so.
    pub as_of: Option<Timestamp>,
    /// Which quotations; only series with quotations have others than the latest.
    pub quotation: Quotation,
    /// The most slots of one answer that are answered whether or not they have points of their own (gaps that are filled, slots
    /// in which a value holds, constants), and of those that a formula is computed on; [`ANSWER_SLOTS_MAX`] if nobody says.
    pub answer_slots_max: Option<u64>,
}

impl Repository {
    /// A reader of series as `request` says: the front door to all reading but that of points as they are stored.
    /// It sees all points as they are when it is made, for [`store::SNAPSHOT_AGE_MAX`]. Cost: a cached look-up.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn reader(&self, request: ReadRequest) -> Result<Reader, Error> {
        Reader::new(&self.context, request).await
    }
}

#[cfg(test)]
mod tests;
