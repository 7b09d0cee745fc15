//! One series of a JSON body while its members come.

use model_series::{ABSENT, Points};

use crate::wire::gather::Building;
use crate::wire::{Given, NO_POINT, NO_VALUE, SeriesName, Shape, Timing, WireError, flags};

/// A series object: some of its members, in the order in which the text has them.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    /// Its index among the series of the body.
    index: usize,
    pub(crate) id: Option<Box<str>>,
    pub(crate) name: Option<Box<str>>,
    /// The rows of `Data`.
    pub(crate) rows: Building,
    pub(crate) has_rows: bool,
    pub(crate) start: Option<i64>,
    /// `Values`, and the flags that are meant where none are given.
    values: Vec<f64>,
    implied: Vec<u8>,
    pub(crate) has_values: bool,
    /// `Flags`: [`NO_POINT`] for `null`.
    pub(crate) flags: Vec<u8>,
    pub(crate) has_flags: bool,
}

impl Entry {
    pub(crate) fn new(index: usize) -> Self {
        Self { index, ..Self::default() }
    }

    /// What an error calls this series.
    pub(crate) fn label(&self, shape: Shape) -> Option<String> {
        if shape == Shape::Single {
            return None;
        }
        let known = self.name.as_deref().or(self.id.as_deref()).map(str::to_owned);
        Some(known.unwrap_or_else(|| format!("TimeSeries[{}]", self.index)))
    }

    #[inline]
    pub(crate) fn push_slot(&mut self, value: Option<f64>) {
        self.values.push(value.unwrap_or(NO_VALUE));
        self.implied.push(flags::flag_byte(None, value.is_none()));
    }

    /// How many slots of `Values` there are.
    pub(crate) fn slots(&self) -> usize {
        self.values.len()
    }

    /// The whole series.
    ///
    /// # Errors
    ///
    /// If members are missing or contradict each other, or a time is there twice.
    pub(crate) fn finish(mut self, shape: Shape) -> Result<Given, WireError> {
        let series = self.label(shape);
        let refuse = |reason: &str| WireError {
            series: series.clone(),
            position: None,
            reason: reason.to_owned(),
            is_limit: false,
        };
        if shape == Shape::Bulk && self.name.is_none() && self.id.is_none() {
            return Err(refuse("the series has neither Name nor ID"));
        }
        match (self.has_rows, self.has_values) {
            (true, true) => Err(refuse("the series has both Data and Values")),
            (false, false) => Err(refuse("the series has neither Data nor Values")),
            (true, false) => {
                self.rows.name = self.take_name(shape);
                self.rows.finish()
            }
            (false, true) => match self.start {
                None => Err(refuse("Values come without Start")),
                Some(start) => self.finish_slots(shape, start),
            },
        }
    }

    /// The name that the body gives; the ID only where there is no name.
    fn take_name(&mut self, shape: Shape) -> Option<SeriesName> {
        let name = self.name.take().map(SeriesName::Name);
        name.or(self.id.take().map(SeriesName::Id)).filter(|_| shape == Shape::Bulk)
    }

    fn finish_slots(mut self, shape: Shape, start: i64) -> Result<Given, WireError> {
        if self.has_flags && self.flags.len() != self.values.len() {
            let reason = format!("{} Flags for {} Values", self.flags.len(), self.values.len());
            let position = Some(self.flags.len().min(self.values.len()));
            return Err(WireError { series: self.label(shape), position, reason, is_limit: false });
        }
        for (flag, given) in self.implied.iter_mut().zip(&self.flags) {
            *flag = slot_flag(*given, *flag);
        }
        let series = self.take_name(shape);
        let points = Points { values: self.values, flags: self.implied, ..Points::default() };
        Ok(Given { series, timing: Timing::Start(start), points, order: Vec::new() })
    }
}

/// The flag byte of a slot for which a flag (or `null`) was given: value and flag `null` are no point.
fn slot_flag(given: u8, implied: u8) -> u8 {
    match (given, implied & ABSENT != 0) {
        (NO_POINT, true) => NO_POINT,
        (NO_POINT, false) => implied,
        (flag, absent) => flags::flag_byte(Some(flag), absent),
    }
}
