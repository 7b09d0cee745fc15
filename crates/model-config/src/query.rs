//! CPS paths asked of a reading.

use std::sync::Arc;

use config::query::{Answer, Evaluation, Progress, Query, VALUES_BYTES_MAX};
use store::{Deadline, LimitExceeded};

use crate::Error;
use crate::reading::{Reading, Step};

/// Steps of a query between two looks at the pace.
const STEPS: u64 = 512;

impl Reading {
    /// What a query finds, at most so many results. Cost: what it looks at; others run between slices.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] for more results, and for values of more than [`VALUES_BYTES_MAX`]; as [`Reading::run_long`].
    pub async fn query(
        &self,
        query: Arc<Query>,
        results_max: usize,
        deadline: Deadline,
    ) -> Result<Answer, Error> {
        let evaluation = Evaluation::new(query, results_max);
        let (progress, evaluation) = self
            .run_long(deadline, Some(evaluation), |tree, state, pace| {
                let evaluation = state.as_mut().expect("it is taken when all is done");
                loop {
                    let before = evaluation.steps();
                    let progress = evaluation.run(tree, STEPS);
                    let steps = usize::try_from(evaluation.steps() - before).unwrap_or(usize::MAX);
                    let goes_on = pace.spend(steps.saturating_add(1));
                    match progress? {
                        Progress::More if goes_on && !pace.is_tired() => {}
                        Progress::More => return Ok(Step::More),
                        done => return Ok(Step::Done((done, state.take()))),
                    }
                }
            })
            .await?;
        match (progress, evaluation) {
            (Progress::Done, Some(evaluation)) => Ok(evaluation.into_answer()),
            (Progress::TooLarge, Some(evaluation)) => {
                let (max, got) = (VALUES_BYTES_MAX as u64, evaluation.values_bytes() as u64);
                let limit = LimitExceeded { name: "VALUES_BYTES_MAX", max, got };
                Err(Error::Limit { what: "bytes of the values that a query finds".into(), limit })
            }
            _ => {
                let (max, got) = (results_max as u64, (results_max as u64).saturating_add(1));
                let limit = LimitExceeded { name: "results_max", max, got };
                Err(Error::Limit { what: "results of a query".into(), limit })
            }
        }
    }
}
