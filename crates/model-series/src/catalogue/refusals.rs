//! Gathers what is refused of a request of many parts, so that a client learns of all at once.

use crate::{Error, Refusal, RefusalKind};

/// What is refused so far.
#[derive(Debug)]
pub(crate) struct Refusals {
    /// A request of one part is refused with its own error.
    is_single: bool,
    refusals: Vec<Refusal>,
}

impl Refusals {
    /// Nothing refused of a request of so many parts.
    pub(crate) fn of(parts: usize) -> Self {
        Self { is_single: parts == 1, refusals: Vec::new() }
    }

    /// Notes why a part is refused.
    ///
    /// # Errors
    ///
    /// The error itself where it is not about that part, or there is only one.
    pub(crate) fn add(&mut self, place: usize, series: &str, error: Error) -> Result<(), Error> {
        if self.is_single {
            return Err(error);
        }
        let kind = match &error {
            Error::Limit { .. } => RefusalKind::Limit,
            Error::Invalid(_) => RefusalKind::Invalid,
            Error::NotFound(_) => RefusalKind::NotFound,
            Error::AlreadyExists(_) => RefusalKind::AlreadyExists,
            Error::TooManyTenants { .. }
            | Error::TooManyRepositories { .. }
            | Error::StateDiffers(_)
            | Error::Refused(_)
            | Error::Contention(_)
            | Error::Malformed(_)
            | Error::Store(_) => return Err(error),
        };
        let reason = error.to_string();
        self.push(Refusal { place, series: series.into(), position: None, kind, reason });
        Ok(())
    }

    /// Notes a refusal, if there are not too many already.
    pub(crate) fn push(&mut self, refusal: Refusal) {
        if self.refusals.len() < Refusal::REFUSALS_MAX {
            self.refusals.push(refusal);
        }
    }

    /// Whether no more are noted.
    pub(crate) fn is_full(&self) -> bool {
        self.refusals.len() >= Refusal::REFUSALS_MAX
    }

    /// All that is refused.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if anything is.
    pub(crate) fn settle(self) -> Result<(), Error> {
        if self.refusals.is_empty() { Ok(()) } else { Err(Error::Refused(self.refusals)) }
    }
}
