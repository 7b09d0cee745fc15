//! From points as they came to writes of the model, and from its refusals back to what the client sent.

use std::collections::HashSet;
use std::sync::Arc;

use model_series::{
    Alignment, Definition, Edit, Error, Points, Repository, SeriesRef, SeriesWrite, TimeRange, Timestamp,
};

use crate::problem::{Detail, Problem, is_damage};
use crate::shapes::series_refs;
use crate::wire::{Given, NO_POINT, SeriesName, Timing, sent_position};

/// What a body of points is to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Purpose {
    /// The quotation that is written.
    pub(super) quotation: Option<i64>,
    /// All points of this range are replaced; without it, points of the times given are.
    pub(super) range: Option<TimeRange>,
    /// When.
    pub(super) now: Timestamp,
}

/// Writes what was given for each series: all is checked before anything is stored.
///
/// # Errors
///
/// What is refused, naming series, position and reason.
pub(super) async fn write(
    repository: &Repository,
    series: Vec<Arc<Definition>>,
    given: Vec<Given>,
    purpose: Purpose,
) -> Result<(), Problem> {
    let mut writes = Vec::with_capacity(given.len());
    let mut orders = Vec::with_capacity(given.len());
    for (series, given) in series.into_iter().zip(given) {
        let (points, order) = timed(&series, given)?;
        let edit = match purpose.range {
            None => Edit::Put(points),
            Some(range) => {
                check_inside(&series, &points, &order, range)?;
                Edit::Replace(range, points)
            }
        };
        writes.push(SeriesWrite { series, quotation: purpose.quotation, edit });
        orders.push(order);
    }
    let names: Vec<_> = writes.iter().map(|write| Arc::clone(&write.series)).collect();
    let outcomes = repository.write_all(writes, purpose.now).await;
    let outcomes = outcomes.map_err(|error| as_sent(error, &orders))?;
    let failed = outcomes
        .iter()
        .zip(&names)
        .filter_map(|(outcome, series)| outcome.as_ref().err().map(|error| (error, &*series.name)));
    check_outcomes(failed)
}

/// Words the writes that failed though nothing was wrong with them (too many writers, a store that cannot). The first
/// decides the status; damage counts wherever it is.
fn check_outcomes<'a>(failed: impl Iterator<Item = (&'a Error, &'a str)> + Clone) -> Result<(), Problem> {
    let Some((first, _)) = failed.clone().next() else { return Ok(()) };
    let damage = failed.clone().any(|(error, _)| is_damage(error));
    let mut problem = Problem::from(first).with_damage(damage);
    for (error, series) in failed.take(model_series::Refusal::REFUSALS_MAX) {
        let reason = Problem::from(error).message;
        problem = problem.with(Detail { series: Some(series.to_owned()), position: None, reason });
    }
    Err(problem)
}

/// Turns the positions of a refusal back into those of the body.
fn as_sent(error: Error, orders: &[Vec<u32>]) -> Problem {
    let Error::Refused(mut refusals) = error else { return error.into() };
    for refusal in &mut refusals {
        let order = orders.get(refusal.place).expect("a refusal is about one of these writes");
        refusal.position = refusal.position.map(|position| sent_position(order, position));
    }
    Error::Refused(refusals).into()
}

/// The points with their times, and the places at which they were given where that differs from their order.
fn timed(series: &Definition, given: Given) -> Result<(Points, Vec<u32>), Problem> {
    let Given { timing, mut points, order, .. } = given;
    let Timing::Start(start) = timing else { return Ok((points, order)) };
    let Some(raster) = &series.raster else {
        let message = format!("series {} has no raster, so its points must be given as rows", series.name);
        return Err(Problem::bad_request(message).about(&*series.name));
    };
    if !raster.contains(start) {
        let message = format!("\"Start\" is off the raster of series {}", series.name);
        return Err(Problem::bad_request(message).about(&*series.name));
    }
    let slots = raster.slots(TimeRange { from: start, to: i64::MAX });
    points.times = slots.map(|slot| slot.from).take(points.values.len()).collect();
    if points.times.len() < points.values.len() {
        return Err(Problem::bad_request("the values extend beyond the year 2261").about(&*series.name));
    }
    if !points.flags.contains(&NO_POINT) {
        return Ok((points, order));
    }
    Ok(without_empty_slots(&points))
}

/// Leaves out slots that have no point.
fn without_empty_slots(points: &Points) -> (Points, Vec<u32>) {
    let (mut kept, mut order) = (Points::default(), Vec::new());
    let columns = points.times.iter().zip(&points.values).zip(&points.flags);
    for (place, ((time, value), flag)) in (0_u32..).zip(columns) {
        if *flag != NO_POINT {
            kept.push(*time, *value, *flag);
            order.push(place);
        }
    }
    (kept, order)
}

/// Refuses points outside of the range that they are to replace.
fn check_inside(
    series: &Definition,
    points: &Points,
    order: &[u32],
    range: TimeRange,
) -> Result<(), Problem> {
    let range = series.selected(range);
    let Some(index) = points.times.iter().position(|time| !range.contains(*time)) else { return Ok(()) };
    let position = sent_position(order, index);
    let reason = match series.alignment {
        Alignment::End => "its slot, which ends with its time, does not lie between from and to",
        Alignment::Begin | Alignment::Spontaneous => "the point is outside of from and to",
    };
    let reason = reason.to_owned();
    let detail = Detail { series: Some(series.name.to_string()), position: Some(position), reason };
    Err(Problem::bad_request(format!("series {}, position {position}: {}", series.name, detail.reason))
        .with(detail))
}

/// The series that a bulk body names, in order.
///
/// # Errors
///
/// `NotFound` naming those that are not there; `BadRequest` if one is not named, or is named twice.
pub(super) async fn named(repository: &Repository, given: &[Given]) -> Result<Vec<Arc<Definition>>, Problem> {
    let mut refs = Vec::with_capacity(given.len());
    for (place, given) in given.iter().enumerate() {
        refs.push(match &given.series {
            Some(SeriesName::Name(name)) => SeriesRef::Name(name),
            Some(SeriesName::Id(id)) => match series_refs(id) {
                (SeriesRef::Id(number), _) => SeriesRef::Id(number),
                _ => return Err(Problem::bad_request(format!("{id:?} is not an ID")).about(&**id)),
            },
            None => {
                let message = format!("the series at position {place} has neither \"Name\" nor \"ID\"");
                return Err(Problem::bad_request(message));
            }
        });
    }
    let found = found(repository, &refs).await?;
    let mut seen = HashSet::with_capacity(found.len());
    match found.iter().find(|series| !seen.insert(series.number)) {
        None => Ok(found),
        Some(twice) => {
            let message = format!("series {} is given twice", twice.name);
            Err(Problem::bad_request(message).about(&*twice.name))
        }
    }
}

/// The series of a request about many, in order.
///
/// # Errors
///
/// `NotFound` naming those that are not there.
pub(super) async fn found(
    repository: &Repository,
    refs: &[SeriesRef<'_>],
) -> Result<Vec<Arc<Definition>>, Problem> {
    let found = repository.find_many(refs).await?;
    let mut series = Vec::with_capacity(found.len());
    let mut missing = Vec::new();
    for (found, given) in found.into_iter().zip(refs) {
        match (found, given) {
            (Some(found), _) => series.push(found),
            (None, SeriesRef::Name(name)) => missing.push((*name).to_owned()),
            (None, SeriesRef::Id(number)) => missing.push(number.to_string()),
        }
    }
    let Some(first) = missing.first() else { return Ok(series) };
    let more = missing.len() - 1;
    let message = if more == 0 {
        format!("series {first} is not known")
    } else {
        format!("series {first} and {more} more are not known")
    };
    let mut problem = Problem::not_found(message);
    for name in missing.into_iter().take(model_series::Refusal::REFUSALS_MAX) {
        let reason = "not known".to_owned();
        problem = problem.with(Detail { series: Some(name), position: None, reason });
    }
    Err(problem)
}

#[cfg(test)]
mod tests {
    use api_http::DataDamaged;
    use http::StatusCode;
    use model_series::Refusal;

    use super::*;

    #[test]
    fn damage_counts_behind_other_failures() {
        let contention = Error::Contention("a".into());
        let damage = Error::Store(store::Error::new(store::ErrorKind::Corrupt, "read a row"));
        // Also where there are more failures than are listed.
        for others in [1, Refusal::REFUSALS_MAX + 1] {
            let others = std::iter::repeat_n((&contention, "a"), others);
            for (last, is_damage) in [(&contention, false), (&damage, true)] {
                let response = check_outcomes(others.clone().chain([(last, "b")])).unwrap_err().response();
                assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
                assert_eq!(response.extensions().get::<DataDamaged>().is_some(), is_damage);
            }
        }
    }
}
