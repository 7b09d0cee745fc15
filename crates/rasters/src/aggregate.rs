//! From one raster to another: aggregation, disaggregation, gaps, sums of many series. Pure, on columns.

mod dense;
mod layout;
mod whole;
mod slot;
mod gaps;
mod resample;
mod total;

pub use gaps::{GAP_SLOTS_MAX, Neighbours, fill_gaps};
pub use layout::Layout;
pub use layout::Stretches;
pub use resample::resample;
pub use resample::{Making, Walk};
pub use total::Total;
pub use whole::Whole;

/// What is done about slots without a value.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Gaps {
    /// Nothing: slots without a point are left out.
    #[default]
    None,
    /// Every slot has a point; where there was none, one without a value, flagged missing.
    Null,
    /// Slots without a value take the value before, flagged interpolated.
    Previous,
    /// Slots without a value take what lies on the line between their neighbours, flagged interpolated.
    Linear,
}

#[cfg(test)]
mod tests;
