//! How jobs are run on a server: the data of a row, what is filled in before, and what was read against what must be
//! there.

use std::time::Duration;

use anyhow::{Result, anyhow};

use crate::course::Course;
use crate::executors::{Limits, Load, Outcome, run_closed};
use crate::findings::Findings;
use crate::progress::Stage;
use crate::target::Target;

use super::bodies::Pieces;
use super::figures;
use super::jobs::{Found, Job, Task};
use super::rows::{Form, Row};
use super::series::{Data, Versions};

/// The longest one request of a job may take: an answer may carry 36 million points.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(1_800);
/// Users that write the set of a reading row, which is not measured.
const SETUP_USERS: usize = 4;
/// Series of one request of theirs.
pub(super) const SETUP_SERIES: usize = 100;

/// The arguments of our own server for `row`.
pub(super) fn server_arguments(row: &Row) -> Vec<String> {
    row.workers.map_or_else(Vec::new, |workers| vec!["--threads".to_owned(), workers.to_string()])
}

/// The points of a row; `name` tells its series from those of others.
pub(super) fn data(course: &Course, row: &Row, name: &str) -> Data {
    let (series, _) = row.sizes(course.profile);
    let seed = course.seed;
    Data::new(row, series, &format!("campaign.{seed}.{}.{series}.{name}.", row.minutes), seed)
}

/// Runs `job` on `target`.
pub(super) fn run(course: &Course, target: &Target, job: &Job<'_>, name: &str) -> Result<Outcome> {
    let mut stage = Stage::begin(name, Some(job.requests() as u64));
    let load = course.load(target, job.users);
    let load = Load { timeout: load.timeout.max(REQUEST_TIME_MAX), ..load };
    let outcome = run_closed(&load, Limits::default(), job, &mut |pulse| stage.tick(pulse))?;
    stage.end(&figures::line(job, &outcome));
    Ok(outcome)
}

/// Defines the series of `data`, compressed or not, and writes all their points, as fast as may be.
pub(super) fn fill(
    course: &Course,
    target: &Target,
    (data, compression): (&Data, bool),
    name: &str,
) -> Result<Outcome> {
    let pieces = Pieces::new(data, (0..data.values).collect());
    let define = Job::new(data, Task::Define { compression }, &pieces, Form::Rows, (1, 1));
    let mut outcome = run(course, target, &define, &format!("{name}: definitions"))?;
    let shape = (SETUP_SERIES.min(data.series.div_ceil(SETUP_USERS)), SETUP_USERS);
    let write = Job::new(data, Task::Write { version: 0 }, &pieces, Form::Arrow, shape);
    let written = run(course, target, &write, name)?;
    outcome.record.merge(&written.record);
    outcome.elapsed += written.elapsed;
    Ok(outcome)
}

/// Compares what a job read of `data` with what must be there.
pub(super) fn check(
    data: &Data,
    found: Vec<Found>,
    versions: &Versions,
    outcome: &Outcome,
    findings: &mut Findings,
) {
    let mut read = 0;
    for (first, found) in found {
        match found {
            Err(fault) => findings.note(Err(anyhow!("the answer from series {first} on: {fault}"))),
            Ok(tallies) => {
                read += tallies.len();
                for (place, tally) in tallies.iter().enumerate() {
                    let index = first + place;
                    let difference = tally.differs_from(&data.expected(index, versions));
                    let what = difference
                        .map_or(Ok(()), |what| Err(anyhow!("series {}: {what}", data.name_text(index))));
                    findings.note(what);
                }
            }
        }
    }
    if read != data.series {
        let errors = outcome.record.failures();
        findings.note(Err(anyhow!(
            "{read} series were answered of {} asked for, with {errors} requests failed",
            data.series
        )));
    }
}
