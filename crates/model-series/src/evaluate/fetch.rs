//! Stored points of a series: of its strand, or of the strands of its quotations put together.

use std::ops::ControlFlow;

use futures_util::StreamExt as _;

use super::Quotation;
use super::pace::rest_after;
use super::plan::AnswerMaking;
use super::quotations::merge_older;
use crate::catalogue::Context;
use crate::keys;
use crate::{Alignment, Definition, Error, Timestamp};
use strands::{ColumnSet, Part, Points, Strand, Summary, TimeRange, Wanted};

/// Points that are asked for at once.
pub(super) const PAGE_POINTS: usize = 64 * 1_024;
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

/// Whether the points of a series lie in one strand, read as it is now: then summaries of its blocks may stand for them.
pub(super) fn is_of_blocks(series: &Definition, state: State) -> bool {
    let is_one = !series.switches.quotation || matches!(state.quotation, Quotation::At(_));
    is_one && !series.is_computed() && state.as_of.is_none()
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
        return refuse("is not audited, so it cannot be read as it was then");
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
/// then, pages of about 64 Ki points are in memory.
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
            rest_after(page.len()).await;
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
    Ok(context.strands.visit(strand, times, &want, &mut show).await?)
}

/// The outcomes of reads, in order; what must come from the disk is read at the same time.
pub(super) async fn all_of<T>(reads: Vec<impl Future<Output = T>>) -> Vec<T> {
    futures_util::stream::iter(reads).buffered(READS_AT_ONCE).collect().await
}

/// Has an answer made of the points in `times` of a series with quotations. Memory: pages of about so many points.
pub(super) async fn take_quotations(
    context: &Context,
    series: &Definition,
    (times, page_points): (TimeRange, usize),
    state: State,
    making: &mut AnswerMaking<'_>,
) -> Result<(), Error> {
    let issued = quotations(context, series.number).await?;
    let mut next = Some(times.from).filter(|_| !times.is_empty());
    while let Some(from) = next {
        let rest = TimeRange { from, ..times };
        let (page, following) =
            page_of_quotations(context, series, &issued, (rest, page_points), state).await?;
        rest_after(page.len()).await;
        making.take_points(page);
        next = following;
    }
    Ok(())
}

/// The first points of `range` of a stored series, about `points_max` at most, and where the next begin; `None` at the end.
/// Cost: that of the strands; with quotations, a list of them too.
///
/// # Errors
///
/// As [`single_strand`]; if the store refuses, or stored bytes are damaged.
pub(super) async fn fetch_page(
    context: &Context,
    series: &Definition,
    range: TimeRange,
    points_max: usize,
    state: State,
) -> Result<(Points, Option<i64>), Error> {
    if let Some(strand) = single_strand(context, series, state)? {
        return page_of_strand(context, &strand, (range, points_max), state.as_of).await;
    }
    let issued = quotations(context, series.number).await?;
    page_of_quotations(context, series, &issued, (range, points_max), state).await
}

async fn page_of_strand(
    context: &Context,
    strand: &Strand,
    (range, points_max): (TimeRange, usize),
    as_of: Option<Timestamp>,
) -> Result<(Points, Option<i64>), Error> {
    let mut page = Points::default();
    let next = context.strands.read_page(strand, range, as_of, points_max, &mut page).await?;
    Ok((page, next.filter(|next| *next < range.to)))
}

/// The same of quotations `issued`, earliest first: for each time of the newest one that is wanted and has it.
/// Cost: a read of each from the newest on until every slot of the page has a point. Memory: a few pages.
async fn page_of_quotations(
    context: &Context,
    series: &Definition,
    issued: &[i64],
    (range, points_max): (TimeRange, usize),
    state: State,
) -> Result<(Points, Option<i64>), Error> {
    let count = |page| series.raster.as_ref().map(|raster| raster.count(page));
    let (mut merged, mut page, mut slots) = (Points::default(), range, count(range));
    for issued in issued.iter().rev() {
        let times = state.quotation.times(*issued, page);
        if times.is_empty() {
            continue;
        }
        let strand = context.strand(series.number, Some(*issued));
        let (older, next) = page_of_strand(context, &strand, (times, points_max), state.as_of).await?;
        merge_older(&mut merged, &older);
        // What is known of all that were read ends here.
        let end = merged.times.get(points_max.max(1)).copied();
        let end = [next, end].into_iter().flatten().min().unwrap_or(page.to);
        if end < page.to {
            page.to = end;
            merged.truncate(merged.range_of(page).end);
            slots = count(page);
        }
        if slots.is_some_and(|slots| merged.len() as u64 >= slots) {
            break;
        }
    }
    Ok((merged, Some(page.to).filter(|to| *to < range.to)))
}

/// The last point before `time`, if there is one.
/// Cost: one read from the end; with quotations, a list of them and such a read of each.
pub(super) async fn fetch_held(
    context: &Context,
    series: &Definition,
    time: i64,
    state: State,
) -> Result<Points, Error> {
    let mut before = TimeRange { from: i64::MIN, to: time };
    if let Some(strand) = single_strand(context, series, state)? {
        return last_of(context, &strand, before, state.as_of).await;
    }
    let mut held = Points::default();
    for issued in quotations(context, series.number).await?.into_iter().rev() {
        let times = state.quotation.times(issued, before);
        if times.is_empty() {
            continue;
        }
        let strand = context.strand(series.number, Some(issued));
        let last = last_of(context, &strand, times, state.as_of).await?;
        // Of older quotations only later points count.
        if let Some(time) = last.times.last() {
            before.from = time.saturating_add(1);
            held = last;
        }
    }
    Ok(held)
}

/// The last point of a strand in `times`, if there is one.
async fn last_of(
    context: &Context,
    strand: &Strand,
    times: TimeRange,
    as_of: Option<Timestamp>,
) -> Result<Points, Error> {
    let Some(at) = as_of else {
        return Ok(context.strands.read_last(strand, times, 1).await?);
    };
    let last = context.strands.read_last_as_of(strand, times.to, at).await?;
    let is_within = last.times.last().is_some_and(|time| times.contains(*time));
    Ok(if is_within { last } else { Points::default() })
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
        let issued = quotations(context, series.number).await?.into_iter();
        issued.map(|issued| (Some(issued), state.quotation.times(issued, TimeRange::ALL))).collect()
    } else {
        vec![(None, TimeRange::ALL)]
    };
    single_strand(context, series, state)?;
    let mut all: Option<(i64, i64)> = None;
    for (issued, times) in
        issued.into_iter().filter(|(_, times): &(Option<i64>, TimeRange)| !times.is_empty())
    {
        let strand = context.strand(series.number, issued);
        let own = strand_extent(context, &strand, times, state.as_of).await?;
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

/// The first and last time of a strand in `times`, as it was then if a time is given: what was deleted since counts.
async fn strand_extent(
    context: &Context,
    strand: &Strand,
    times: TimeRange,
    as_of: Option<Timestamp>,
) -> Result<Option<(i64, i64)>, Error> {
    if as_of.is_none() && times == TimeRange::ALL {
        return Ok(context.strands.extent(strand).await?);
    }
    let first = first_of(context, strand, times, as_of).await?;
    let last = last_of(context, strand, times, as_of).await?;
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
