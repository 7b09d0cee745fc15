//! Stored points of a series: of its strand, or of the strands of its quotations put together.

use std::ops::ControlFlow;
use std::sync::Arc;

use futures_util::StreamExt as _;

use super::Quotation;
use super::plan::Plan;
use super::quotations::merge_older;
use crate::aggregate::Portion;
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

/// Appends the points of `range`. Cost: pages of about 64 Ki points.
pub(super) async fn fetch_strand(
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

/// The answer of `plan` over `range`, gaps unfilled, of one strand; blocks that its slots hold whole are not read.
/// All points that are read stand in memory.
pub(super) async fn fetch_summed(
    context: &Context,
    strand: Strand,
    plan: &Plan,
    range: TimeRange,
) -> Result<Points, Error> {
    Ok(plan.apply_portions(fetch_portions(context, &strand, plan, range).await?, range))
}

/// What `plan` needs of a strand: blocks as summaries where its slots hold them whole, else as points.
pub(super) async fn fetch_portions(
    context: &Context,
    strand: &Strand,
    plan: &Plan,
    range: TimeRange,
) -> Result<Vec<Portion>, Error> {
    let want = |summary: &Summary, _| match plan.whole(summary, range) {
        Some(_) => Wanted::Summary,
        None => Wanted::Columns(ColumnSet::ALL),
    };
    let mut portions = Vec::new();
    let mut show = |part: Part<'_>| {
        plan.take(part, range, &mut portions);
        ControlFlow::Continue(())
    };
    context.strands.visit(strand, plan.times(range), &want, &mut show).await?;
    Ok(portions)
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
    out: &mut Points,
) -> Result<(), Error> {
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
    append(out, merged);
    Ok(())
}

/// Appends the last point before `time`, if there is one.
/// Cost: one read from the end; with quotations, of each quotation.
pub(super) async fn fetch_held(
    context: &Context,
    series: &Arc<Definition>,
    time: i64,
    state: State,
    out: &mut Points,
) -> Result<(), Error> {
    let before = TimeRange { from: i64::MIN, to: time };
    let held = match (single_strand(context, series, state)?, state.as_of) {
        (Some(strand), None) => context.strands.read_last(&strand, before, 1).await?,
        (Some(strand), Some(at)) => context.strands.read_last_as_of(&strand, time, at).await?,
        (None, _) => {
            let mut points = Points::default();
            fetch_quotations(context, series, before, state, &mut points).await?;
            points
        }
    };
    if let (Some(time), Some(value), Some(flag)) = (held.times.last(), held.values.last(), held.flags.last())
    {
        out.push(*time, *value, *flag);
    }
    Ok(())
}

/// The time that the points of a stored series stand for, from the first to the last, in the quotations that may be
/// read. Cost: a look-up for each strand.
pub(super) async fn extent(
    context: &Context,
    series: &Definition,
    quotation: Quotation,
) -> Result<Option<TimeRange>, Error> {
    let issued = if series.switches.quotation {
        let mut issued = quotations(context, series.number).await?;
        issued.retain(|issued| !quotation.times(*issued, TimeRange::ALL).is_empty());
        issued.into_iter().map(Some).collect()
    } else {
        vec![None]
    };
    let mut all: Option<(i64, i64)> = None;
    for issued in issued {
        let own = context.strands.extent(&context.strand(series.number, issued)).await?;
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
