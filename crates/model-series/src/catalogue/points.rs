//! Points of series: checked against the definition, then written to and read from strands.

use std::collections::HashMap;

use bytes::Bytes;
use futures_util::StreamExt;
use lang_formula::Duration;
use store::{ErrorKind, Timestamp};

use super::context::Context;
use super::encode::{damaged, take_definition};
use super::keys;
use super::refusals::Refusals;
use super::{Definition, WRITES_MAX};
use crate::feed::{edit_record, of_points};
use crate::{Error, Layout, Raster, Refusal, RefusalKind, SeriesWrite, Source, Zone};
use strands::{ABSENT, Edit, Encoding, Flag, Modification, Points, Strand, StrandWrite, TimeRange};

/// Strands that are listed, and rows that are scanned, in one page.
const PAGE: usize = 1_024;
/// Strands of one series that are trimmed at the same time.
const TRIMS_AT_ONCE: usize = 32;

impl Context {
    /// Writes points of many series; see [`crate::Repository::write_all`].
    pub(crate) async fn write_all(
        &self,
        mut writes: Vec<SeriesWrite>,
        now: Timestamp,
    ) -> Result<Vec<Result<(), Error>>, Error> {
        if writes.len() > WRITES_MAX {
            return Err(Error::Limit(format!("at most {WRITES_MAX} series are written at once")));
        }
        for SeriesWrite { series, edit, .. } in &mut writes {
            // From here on ranges are of points' times.
            if let Edit::Delete(range) | Edit::Replace(range, _) = edit {
                *range = series.selected(*range);
            }
        }
        let mut refusals = Refusals::of(0);
        for (place, write) in writes.iter().enumerate() {
            if refusals.is_full() {
                break;
            }
            if let Err((position, reason)) = check_write(write) {
                let series = write.series.name.clone();
                refusals.push(Refusal { place, series, position, kind: RefusalKind::Invalid, reason });
            }
        }
        refusals.settle()?;
        // Writes to one strand become one: all of them or none.
        let mut places: HashMap<(u32, Option<i64>), usize> = HashMap::with_capacity(writes.len());
        let mut of_writes = Vec::with_capacity(writes.len());
        let mut atoms: Vec<StrandWrite> = Vec::with_capacity(writes.len());
        // Of each atom: what the feed tells; the first of its writes and the series.
        let mut records: Vec<Vec<u8>> = Vec::with_capacity(writes.len());
        let mut firsts = Vec::with_capacity(writes.len());
        for SeriesWrite { series, quotation, edit } in writes {
            let added = edit_record(series.number, &series.layout(), &edit);
            let place = *places.entry((series.number, quotation)).or_insert(atoms.len());
            of_writes.push(place);
            match atoms.get_mut(place) {
                Some(atom) => {
                    atom.edits.push(edit);
                    if let Some(record) = records.get_mut(place) {
                        record.extend_from_slice(&added);
                    }
                }
                None => {
                    atoms.push(self.strand_write(&series, quotation, edit, now));
                    records.push(added);
                    firsts.push((of_writes.len() - 1, series));
                }
            }
        }
        for (atom, record) in atoms.iter_mut().zip(records) {
            atom.change = of_points(record);
        }
        let refused = match self.strands.write_all_or_none(atoms).await {
            Ok(outcomes) => return Ok(told(&of_writes, outcomes)),
            Err(refused) => refused,
        };
        let mut refusals = Refusals::of(0);
        for (atom, error) in refused {
            let (place, series) = firsts.get(atom).ok_or_else(|| damaged("which write is refused"))?;
            refusals.add(*place, &series.name, error.into())?;
        }
        refusals.settle().map(|()| Vec::new())
    }

    fn strand_write(
        &self,
        series: &Definition,
        quotation: Option<i64>,
        edit: Edit,
        now: Timestamp,
    ) -> StrandWrite {
        StrandWrite {
            strand: self.strand(series.number, quotation),
            edits: vec![edit],
            encoding: series.encoding(),
            written: now,
            audited: series.switches.audit,
            mark: None,
            beside: Vec::new(),
            change: None,
            expects: None,
        }
    }

    /// Stored points; see [`crate::Repository::read_stored`].
    pub(crate) async fn read_stored(
        &self,
        series: &Definition,
        source: Source,
        range: TimeRange,
        points_max: usize,
        out: &mut Points,
    ) -> Result<Option<i64>, Error> {
        let strand = self.source_strand(series, source)?;
        Ok(self.strands.read_page(&strand, range, source.as_of, points_max, out).await?)
    }

    /// The strand that a source names.
    pub(crate) fn source_strand(&self, series: &Definition, source: Source) -> Result<Strand, Error> {
        check_quotation(series, source.quotation).map_err(|reason| refused(series, &reason))?;
        if source.as_of.is_some() && !series.switches.audit {
            return Err(refused(series, "it is not audited: how it stood earlier is not kept"));
        }
        Ok(self.strand(series.number, source.quotation))
    }

    /// Issue times, latest first; see [`crate::Repository::quotations`].
    pub(crate) async fn quotations(
        &self,
        series: &Definition,
        before: Option<i64>,
        count_max: usize,
    ) -> Result<Vec<i64>, Error> {
        if !series.switches.quotation {
            return Err(refused(series, "it has no quotations"));
        }
        let partition = keys::series_partition(&self.tenant, series.number);
        let (mut issued, mut after) = (Vec::new(), None::<Bytes>);
        loop {
            let names = self.strands.list(&partition, &[], after.as_deref(), PAGE).await?;
            for name in &names {
                issued.push(keys::issued_of(name).ok_or_else(|| damaged("the name of a quotation"))?);
            }
            let is_over = names.len() < PAGE || before.is_some_and(|before| issued.last() >= Some(&before));
            if is_over {
                break;
            }
            after = names.last().cloned();
        }
        let wanted = |time: &i64| before.is_none_or(|before| *time < before);
        Ok(issued.into_iter().rev().filter(wanted).take(count_max).collect())
    }

    /// The first and last time; see [`crate::Repository::extent`].
    pub(crate) async fn extent(
        &self,
        series: &Definition,
        quotation: Option<i64>,
    ) -> Result<Option<(i64, i64)>, Error> {
        let strand = self.source_strand(series, Source { quotation, as_of: None })?;
        Ok(self.strands.extent(&strand).await?)
    }

    /// When values changed; see [`crate::Repository::modifications`].
    pub(crate) async fn modifications(
        &self,
        series: &Definition,
        quotation: Option<i64>,
        range: TimeRange,
        written: (Timestamp, Timestamp),
    ) -> Result<Vec<Modification>, Error> {
        if !series.switches.audit {
            return Err(refused(series, "it is not audited: when values changed is not kept"));
        }
        let strand = self.source_strand(series, Source { quotation, as_of: None })?;
        let mut found = self.strands.modifications(&strand, series.selected(range), written).await?;
        if let Layout::End(raster) = series.layout() {
            found.iter_mut().for_each(|modification| tell_by_slots(modification, &raster));
        }
        Ok(found)
    }

    /// Removes points that are older than their series keep them; answers how many series lost some. Those that fail are
    /// skipped.
    pub(crate) async fn trim_expired(&self, now: Timestamp) -> Result<usize, Error> {
        let (mut range, mut trimmed) = (Some(keys::retentions()), 0);
        while let Some(rest) = range {
            let page = self.scan(&rest, PAGE).await?;
            let numbers: Vec<u32> = page.rows().filter_map(|(key, _)| keys::number_of_key(key)).collect();
            for (number, found) in numbers.iter().zip(self.find_each(&numbers).await?) {
                let is_trimmed = match found {
                    Ok(Some(found)) => self.trim(&found.definition, now).await,
                    Ok(None) => Ok(false),
                    Err(error) => Err(error),
                };
                match is_trimmed {
                    Ok(is_trimmed) => trimmed += usize::from(is_trimmed),
                    Err(error) => self.skip("trim", &format_args!("series {number}"), error)?,
                }
            }
            range = rest.after_page(&page);
        }
        Ok(trimmed)
    }

    /// Packs blocks smaller that end before `before`, of all series with compression; answers how many. Those that fail are
    /// skipped.
    pub(crate) async fn recompress(&self, before: i64) -> Result<usize, Error> {
        let (mut range, mut recompressed) = (Some(keys::definitions()), 0);
        while let Some(rest) = range {
            let page = self.scan(&rest, PAGE).await?;
            for (key, value) in page.rows() {
                let Some(number) = keys::number_of_key(key) else { continue };
                let packed = match take_definition(value) {
                    Err(_) => Err(damaged("a definition")),
                    Ok(one) if !one.switches.compression || one.is_computed() => continue,
                    Ok(_) => self.recompress_series(number, before).await,
                };
                match packed {
                    Ok(blocks) => recompressed += blocks,
                    Err(error) => self.skip("recompress", &format_args!("series {number}"), error)?,
                }
            }
            range = rest.after_page(&page);
        }
        Ok(recompressed)
    }

    async fn recompress_series(&self, number: u32, before: i64) -> Result<usize, Error> {
        let partition = keys::series_partition(&self.tenant, number);
        let (mut after, mut recompressed) = (None::<Bytes>, 0);
        loop {
            let names = self.strands.list(&partition, &[], after.as_deref(), PAGE).await?;
            for name in &names {
                let strand = Strand { partition: partition.clone(), name: name.clone() };
                match self.strands.recompress(&strand, before).await {
                    Ok(blocks) => recompressed += blocks,
                    Err(error) => self.skip("recompress", &strand, error.into())?,
                }
            }
            // What is cached is looked up without a pause.
            tokio::task::yield_now().await;
            if names.len() < PAGE {
                return Ok(recompressed);
            }
            after = names.last().cloned();
        }
    }

    /// Removes the points of one series that are older than it keeps them, and what was kept of them for as-of reads;
    /// whether there were any. Quotations that are all older go whole; those that fail are skipped.
    async fn trim(&self, series: &Definition, now: Timestamp) -> Result<bool, Error> {
        let Some(retention) = series.retention else {
            return Ok(false);
        };
        let kept_from = shift(now.0.saturating_mul(1_000), retention.reversed(), &series.zone);
        let partition = keys::series_partition(&self.tenant, series.number);
        let (mut after, mut is_trimmed) = (None::<Bytes>, false);
        loop {
            let names = self.strands.list(&partition, &[], after.as_deref(), PAGE).await?;
            let strand = |name: &Bytes| Strand { partition: partition.clone(), name: name.clone() };
            let trim = async |strand: Strand| {
                let trimmed = self.trim_strand(series, &strand, kept_from).await;
                (strand, trimmed)
            };
            let pending = names.iter().map(|name| trim(strand(name)));
            let mut trims = futures_util::stream::iter(pending.collect::<Vec<_>>()).buffered(TRIMS_AT_ONCE);
            while let Some((strand, trimmed)) = trims.next().await {
                match trimmed {
                    Ok(trimmed) => is_trimmed |= trimmed,
                    Err(error) => self.skip("trim", &strand, error)?,
                }
            }
            if names.len() < PAGE {
                return Ok(is_trimmed);
            }
            after = names.last().cloned();
        }
    }

    async fn trim_strand(&self, series: &Definition, strand: &Strand, kept_from: i64) -> Result<bool, Error> {
        let is_trimmed = self.strands.expire(strand, kept_from).await?;
        if series.switches.quotation {
            return Ok(self.strands.erase_expired(strand, kept_from).await? || is_trimmed);
        }
        Ok(is_trimmed)
    }
}

/// Words what was written to right-aligned points as clients do: removals by the range of their slots, which ends with the
/// last of their times; other writes by the times of points.
fn tell_by_slots(modification: &mut Modification, raster: &Raster) {
    let Modification { first, last, points, .. } = modification;
    let has_begin = *first > i64::MIN;
    match *points {
        0 => {
            *first -= i64::from(has_begin);
            *last -= i64::from(*last < i64::MAX - 1);
        }
        _ if has_begin => *first = raster.ceil(*first),
        _ => {}
    }
}

/// The outcome of each write, given the atom it went into and the outcomes of atoms.
fn told(of_writes: &[usize], atoms: Vec<Result<(), strands::Error>>) -> Vec<Result<(), Error>> {
    let mut atoms: Vec<Result<(), Option<Error>>> =
        atoms.into_iter().map(|outcome| outcome.map_err(|error| Some(error.into()))).collect();
    let lost = || store::Error::new(ErrorKind::Unknown, "write points: no outcome was told");
    let tell = |place: &usize| match atoms.get_mut(*place) {
        Some(Ok(())) => Ok(()),
        // An error is told once in full; other writes of the same atom hear its kind and words.
        Some(Err(error)) => Err(match error.take() {
            Some(told) => {
                *error = Some(store::Error::new(kind_of(&told), told.to_string()).into());
                told
            }
            None => lost().into(),
        }),
        None => Err(lost().into()),
    };
    of_writes.iter().map(tell).collect()
}

fn kind_of(error: &Error) -> ErrorKind {
    match error {
        Error::Store(error) => error.kind(),
        Error::Limit(_) => ErrorKind::TooLarge,
        _ => ErrorKind::Unavailable,
    }
}

fn refused(series: &Definition, reason: &str) -> Error {
    Error::Invalid(format!("series {}: {reason}", series.name))
}

/// Why a write is refused: the point, if it is about one, and the reason.
type WriteRefusal = (Option<usize>, String);

/// Checks a write against the definition. Pure. Cost: about a nanosecond a point.
fn check_write(write: &SeriesWrite) -> Result<(), WriteRefusal> {
    let series = &*write.series;
    if series.is_computed() {
        return Err((None, "it has a formula: its values are computed, not written".into()));
    }
    check_quotation(series, write.quotation).map_err(|reason| (None, reason))?;
    match &write.edit {
        Edit::Put(points) => check_points(series, points),
        Edit::Delete(range) => check_range(*range),
        Edit::Replace(range, points) => {
            check_range(*range)?;
            check_points(series, points)?;
            match points.times.iter().position(|time| !range.contains(*time)) {
                Some(position) => Err((Some(position), "it lies outside the range that is replaced".into())),
                None => Ok(()),
            }
        }
    }
}

fn check_range(range: TimeRange) -> Result<(), WriteRefusal> {
    if range.from > range.to { Err((None, "the range ends before it begins".into())) } else { Ok(()) }
}

/// A quotation is named exactly if the series has some.
fn check_quotation(series: &Definition, quotation: Option<i64>) -> Result<(), String> {
    match (series.switches.quotation, quotation) {
        (true, None) => Err("it has quotations: say which".into()),
        (false, Some(_)) => Err("it has no quotations".into()),
        _ => Ok(()),
    }
}

fn check_points(series: &Definition, points: &Points) -> Result<(), WriteRefusal> {
    let later = points.times.get(1..).unwrap_or_default();
    if let Some(position) = points.times.iter().zip(later).position(|(one, next)| one >= next) {
        return Err((Some(position + 1), "its time is not after that of the point before".into()));
    }
    // The first loop has no early exit, so that it is made of wide instructions.
    let is_sound = |value: f64, flag: u8| flag & ABSENT != 0 || value.is_finite();
    let all = points
        .values
        .iter()
        .zip(&points.flags)
        .fold(true, |all, (value, flag)| all & is_sound(*value, *flag));
    if !all {
        let position =
            points.values.iter().zip(&points.flags).position(|(value, flag)| !is_sound(*value, *flag));
        return Err((position, "its value is not a finite number".into()));
    }
    let worst = points.flags.iter().fold(0, |worst, flag| worst.max(flag & !ABSENT));
    if worst > Flag::Missing.number() {
        let position = points.flags.iter().position(|flag| flag & !ABSENT > Flag::Missing.number());
        return Err((position, format!("there is no flag of number {worst}")));
    }
    if let Some(raster) = &series.raster {
        raster.check(&points.times).map_err(|position| {
            let interval = raster.interval();
            let reason =
                format!("its time is not on the raster of {} {:?}", interval.multiplier, interval.unit);
            (Some(position), reason)
        })?;
    }
    Ok(())
}

impl Definition {
    /// How its blocks are packed.
    pub(crate) fn encoding(&self) -> Encoding {
        if self.switches.compression { Encoding::Hot } else { Encoding::Raw }
    }
}

/// The time a duration later, years to days on the calendar of the zone.
pub(crate) fn shift(time: i64, duration: Duration, zone: &Zone) -> i64 {
    let sign = if duration.is_negative { -1 } else { 1 };
    let months = i64::from(duration.years) * 12 + i64::from(duration.months);
    let days = i64::from(duration.weeks) * 7 + i64::from(duration.days);
    let seconds =
        i64::from(duration.hours) * 3_600 + i64::from(duration.minutes) * 60 + i64::from(duration.seconds);
    let nanoseconds = seconds.saturating_mul(1_000_000_000).saturating_add(duration.nanoseconds.into());
    zone.shift(time, sign * months, sign * days, sign * nanoseconds)
}
