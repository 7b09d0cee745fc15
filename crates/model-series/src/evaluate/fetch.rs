//! Stored points of a series: of its strand, or of the strands of its quotations put together.

use std::ops::ControlFlow;
use std::sync::Arc;

use futures_util::StreamExt as _;

use super::Quotation;
use super::plan::AnswerMaking;
use super::quotations::merge_older;
use crate::catalogue::Context;
use crate::catalogue::keys;
use crate::{
    Alignment, ColumnSet, Definition, Error, Part, Points, Strand, Summary, TimeRange, Timestamp, Wanted,
};

/// Points that are asked for at once.
const PAGE_POINTS: usize = 64 * 1_024;
/// Names of strands that are asked for at once.
const PAGE_NAMES: usize = 1_000;
/// Strands that are read at the same time.
const READS_AT_ONCE: usize = 32;

/// Which state of which points.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) quotation: Quotation,
    pub(super) as_of: Option<Timestamp>,
}

/// Where a series' points are, if they are all in one strand.
///
/// # Errors
///
/// [`Error::Invalid`] for what the series does not have: quotations, audit.
pub(super) fn single_strand(
    context: &Context,
    series: &Definition,
    state: State,
) -> Result<Option<Strand>, Error> {
    let refuse = |what: &str| Err(Error::Invalid(format!("series {} {what}", series.name)));
    if state.as_of.is_some() && !series.switches.audit && !series.is_computed() {
        return refuse("is not audited, so it cannot be read as it stood");
    }
    match (series.switches.quotation, state.quotation) {
        _ if series.is_computed() => Ok(None),
        (false, Quotation::Latest) => Ok(Some(context.strand(series.number, None))),
        (false, _) => refuse("has no quotations"),
        (true, Quotation::At(issued)) => Ok(Some(context.strand(series.number, Some(issued)))),
        (true, _) => Ok(None),
    }
}

/// Has an answer made of what a strand holds in `times`: of blocks their summaries where those will do. As of a time, and only
/// then, pages of about 64 Ki points stand in memory.
pub(super) async fn take_strand(
    context: &Context,
    strand: &Strand,
    times: TimeRange,
    as_of: Option<Timestamp>,
    making: &mut AnswerMaking<'_>,
) -> Result<(), Error> {
    if as_of.is_some() {
        let mut next = Some(times.from).filter(|_| !times.is_empty());
        while let Some(from) = next {
            let (rest, mut page) = (TimeRange { from, ..times }, Points::default());
            next = context.strands.read_page(strand, rest, as_of, PAGE_POINTS, &mut page).await?;
            next = next.filter(|next| *next < times.to);
            making.take_points(page);
        }
        return Ok(());
    }
    let takes_summary = making.takes_summary();
    let want = |summary: &Summary, _| match takes_summary(summary) {
        true => Wanted::Summary,
        false => Wanted::Columns(ColumnSet { times: true, ..ColumnSet::default() }),
    };
    let mut show = |part: Part<'_>| {
        making.take(part);
        ControlFlow::Continue(())
    };
    context.strands.visit(strand, times, &want, &mut show).await
}

/// Appends the points of `range`. Cost: pages of about 64 Ki points.
async fn fetch_strand(
    context: &Context,
    strand: &Strand,
    range: TimeRange,
    as_of: Option<Timestamp>,
    out: &mut Points,
) -> Result<(), Error> {
    let mut range = range;
    while !range.is_empty() {
        match context.strands.read_page(strand, range, as_of, PAGE_POINTS, out).await? {
            Some(next) => range.from = next,
            None => break,
        }
    }
    Ok(())
}

/// The outcomes of reads, in order; what must come from the disk is read at the same time.
pub(super) async fn all_of<T>(reads: Vec<impl Future<Output = T>>) -> Vec<T> {
    futures_util::stream::iter(reads).buffered(READS_AT_ONCE).collect().await
}

/// The points of `range` of a series with quotations: for each time of the newest quotation that is wanted and has it.
/// Cost: a list of the quotations, and a read of each from the newest on until every slot of the range has a point.
pub(super) async fn fetch_quotations(
    context: &Context,
    series: &Arc<Definition>,
    range: TimeRange,
    state: State,
) -> Result<Points, Error> {
    let slots = series.raster.as_ref().map(|raster| raster.count(range));
    let mut merged = Points::default();
    for issued in quotations(context, series.number).await?.into_iter().rev() {
        let times = state.quotation.times(issued, range);
        if times.is_empty() {
            continue;
        }
        let mut older = Points::default();
        let strand = context.strand(series.number, Some(issued));
        fetch_strand(context, &strand, times, state.as_of, &mut older).await?;
        merge_older(&mut merged, &older);
        if slots.is_some_and(|slots| merged.len() as u64 >= slots) {
            break;
        }
    }
    Ok(merged)
}

/// The last point before `time`, if there is one.
/// Cost: one read from the end; with quotations, of each quotation.
pub(super) async fn fetch_held(
    context: &Context,
    series: &Arc<Definition>,
    time: i64,
    state: State,
) -> Result<Points, Error> {
    let before = TimeRange { from: i64::MIN, to: time };
    let held = match (single_strand(context, series, state)?, state.as_of) {
        (Some(strand), None) => context.strands.read_last(&strand, before, 1).await?,
        (Some(strand), Some(at)) => context.strands.read_last_as_of(&strand, time, at).await?,
        (None, _) => fetch_quotations(context, series, before, state).await?,
    };
    let mut last = Points::default();
    last.extend_from_range(&held, held.len().saturating_sub(1)..held.len());
    Ok(last)
}

/// The time that the points of a stored series stand for, from the first to the last, in the state and the quotations that
/// are read. Cost: a look-up for each strand; as of a time, two small reads.
///
/// # Errors
///
/// As [`single_strand`]; if the store refuses, or stored bytes are damaged.
pub(super) async fn extent(
    context: &Context,
    series: &Definition,
    state: State,
) -> Result<Option<TimeRange>, Error> {
    let issued = if series.switches.quotation {
        let mut issued = quotations(context, series.number).await?;
        issued.retain(|issued| !state.quotation.times(*issued, TimeRange::ALL).is_empty());
        issued.into_iter().map(Some).collect()
    } else {
        vec![None]
    };
    single_strand(context, series, state)?;
    let mut all: Option<(i64, i64)> = None;
    for issued in issued {
        let own = strand_extent(context, &context.strand(series.number, issued), state.as_of).await?;
        all = match (all, own) {
            (Some((first, last)), Some(own)) => Some((own.0.min(first), own.1.max(last))),
            (all, own) => all.or(own),
        };
    }
    Ok(all.map(|(first, last)| match (&series.raster, series.alignment) {
        (Some(raster), Alignment::Begin) => TimeRange { from: first, to: raster.next(last) },
        (Some(raster), Alignment::End) => TimeRange { from: raster.previous(first), to: last },
        (None, _) | (_, Alignment::Spontaneous) => TimeRange { from: first, to: last.saturating_add(1) },
    }))
}

/// The first and last time of a strand, as it stood then if a time is given: what was deleted since counts.
async fn strand_extent(
    context: &Context,
    strand: &Strand,
    as_of: Option<Timestamp>,
) -> Result<Option<(i64, i64)>, Error> {
    let Some(at) = as_of else {
        return context.strands.extent(strand).await;
    };
    let first = first_of(context, strand, TimeRange::ALL, as_of).await?;
    let last = context.strands.read_last_as_of(strand, i64::MAX, at).await?;
    Ok(first.zip(last.times.last().copied()))
}

/// The time of the first point of a strand in `times`.
pub(super) async fn first_of(
    context: &Context,
    strand: &Strand,
    times: TimeRange,
    as_of: Option<Timestamp>,
) -> Result<Option<i64>, Error> {
    let (mut rest, mut points) = (times, Points::default());
    while !rest.is_empty() && points.is_empty() {
        match context.strands.read_page(strand, rest, as_of, 1, &mut points).await? {
            Some(next) => rest.from = next,
            None => break,
        }
    }
    Ok(points.times.first().copied())
}

/// The issue times of all quotations of a series, earliest first.
pub(super) async fn quotations(context: &Context, number: u32) -> Result<Vec<i64>, Error> {
    let partition = context.strand(number, None).partition;
    let mut issued = Vec::new();
    let mut after = None;
    loop {
        let names = context.strands.list(&partition, &[], after.as_deref(), PAGE_NAMES).await?;
        issued.extend(names.iter().filter_map(|name| keys::issued_of(name)));
        if names.len() < PAGE_NAMES {
            return Ok(issued);
        }
        after = names.into_iter().next_back();
    }
}

/// Appends later points; moves them if there are none yet.
pub(super) fn append(out: &mut Points, points: Points) {
    if out.is_empty() {
        *out = points;
        return;
    }
    out.times.extend_from_slice(&points.times);
    out.values.extend_from_slice(&points.values);
    out.flags.extend_from_slice(&points.flags);
}
