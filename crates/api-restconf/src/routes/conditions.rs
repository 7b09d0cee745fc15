//! Conditional requests (RFC 8040, section 3.4.1; RFC 9110, section 13). The anchor as a whole has one state, its version: all of its
//! resources have the tag and the date of that.

use api_http::{Conditions, DateConditions, Request, States};
use http::HeaderMap;
use model_config::{Anchor, Error, Reading, TEXT_BYTES_AT_ONCE, Timestamp, VersionId, WriteOptions};

use crate::problem::Problem;

const NO_MATCH: &str = "If-Match names no tag of what is stored now";

/// What a write demands.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Demands {
    /// Of the version, held until the commit.
    pub(super) options: WriteOptions,
    /// Whether the resource must be there (`If-Match: *`).
    pub(super) is_there: bool,
    /// Whether it must not (`If-None-Match: *`).
    pub(super) is_absent: bool,
}

/// The state of an anchor as tags name it: the number of its life, and its version.
pub(super) fn state_of(anchor: &Anchor, version: VersionId) -> u128 {
    u128::from(anchor.number()) << 64 | u128::from(version.0)
}

/// A time as headers tell it; those before 1970 count as 1970.
pub(super) fn seconds_of(time: Timestamp) -> u64 {
    const MICROSECONDS: i64 = 1_000_000;
    u64::try_from(time.0.div_euclid(MICROSECONDS)).unwrap_or(0)
}

impl Demands {
    /// Those of a request. Cost: without conditions none, else a read of the version.
    ///
    /// # Errors
    ///
    /// 400 for conditions that cannot be read, 412 for those that do not hold now.
    pub(super) async fn of(request: &Request, anchor: &Anchor) -> Result<Self, Problem> {
        let conditions = Conditions::of(&request.headers)?;
        let dates = DateConditions::of(&request.method, &request.headers);
        let (one_of, none_of) = (conditions.one_of(), conditions.none_of());
        let mut demands = Self {
            options: WriteOptions {
                is_long: request.body.len() > TEXT_BYTES_AT_ONCE,
                ..WriteOptions::default()
            },
            is_there: one_of == Some(States::Any),
            is_absent: none_of == Some(States::Any),
        };
        let (one_of, none_of) = (states(one_of), states(none_of));
        if one_of.is_none() && none_of.is_none() && !dates.demands_state() {
            return Ok(demands);
        }
        let moment = anchor.read(None).await?;
        let state = state_of(anchor, moment.version());
        if one_of.is_some_and(|states| !states.contains(&state)) {
            return Err(failed(NO_MATCH));
        }
        if none_of.is_some_and(|states| states.contains(&state)) {
            return Err(failed("If-None-Match names the tag of what is stored now"));
        }
        judge_date(dates, &moment).await?;
        // What holds now must still hold when the change is committed.
        demands.options.if_version = Some(moment.version());
        Ok(demands)
    }

    /// Judges whether the resource is there.
    ///
    /// # Errors
    ///
    /// 412.
    pub(super) fn judge(&self, is_there: bool) -> Result<(), Problem> {
        if self.is_there && !is_there {
            return Err(failed("If-Match wants the resource to exist, and it does not"));
        }
        if self.is_absent && is_there {
            return Err(failed("If-None-Match wants the resource not to exist, and it does"));
        }
        Ok(())
    }
}

/// Judges a write by `If-Unmodified-Since`. A date names a state only if there was no second change within that second (RFC 9110,
/// section 8.8.2.2): who has read between the two would overwrite the latter. Cost where the date is that of the newest version: a read
/// of the version before, which was longer ago if it is not kept for its age.
///
/// # Errors
///
/// 412.
async fn judge_date(dates: DateConditions, moment: &Reading) -> Result<(), Problem> {
    let modified = seconds_of(moment.at());
    dates.judge(modified)?;
    let is_of_that_second = dates.judge(modified.saturating_add(1)).is_err();
    let anchor = moment.anchor();
    let Some(before) = moment.version().0.checked_sub(1).filter(|_| is_of_that_second) else { return Ok(()) };
    let is_twice = match anchor.read(Some(VersionId(before))).await {
        Ok(before) => seconds_of(before.at()) >= modified,
        Err(Error::UnknownVersion { .. }) => anchor.configs().options().versions_max <= 1,
        Err(error) => return Err(error.into()),
    };
    if !is_twice {
        return Ok(());
    }
    Err(failed(
        "If-Unmodified-Since names a second in which the data may have changed twice, which a date cannot tell apart: send If-Match",
    ))
}

/// Judges a read by `If-Match`, as writes are: any tag of what is stored now will do, whatever it was the tag of.
///
/// # Errors
///
/// 400 for tags that cannot be read; 412.
pub(super) fn judge_match(headers: &HeaderMap, state: u128) -> Result<(), Problem> {
    match states(Conditions::of(headers)?.one_of()) {
        Some(states) if !states.contains(&state) => Err(failed(NO_MATCH)),
        Some(_) | None => Ok(()),
    }
}

fn states(states: Option<States>) -> Option<Vec<u128>> {
    match states {
        Some(States::These(states)) => Some(states),
        Some(States::Any) | None => None,
    }
}

fn failed(message: &str) -> Problem {
    Problem::precondition_failed(message)
}
