//! Points of series: checked against the definition, then written to and read from strands.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use store::{ErrorKind, Timestamp};

use super::WRITES_MAX;
use super::context::Context;
use super::refusals::Refusals;
use crate::encode::damaged;
use crate::feed::{edit_record, of_points};
use crate::{Definition, Error, Layout, Raster, Refusal, RefusalKind, keys};
use strands::{ABSENT, Edit, Encoding, Flag, Modification, Points, Strand, StrandWrite, TimeRange};

/// Strands that are listed, and rows that are scanned, in one page.
const PAGE: usize = 1_024;

/// A write to one series: one atom.
#[derive(Clone, Debug)]
pub struct SeriesWrite {
    /// Which, as [`crate::Repository::find_many`] found it.
    pub series: Arc<Definition>,
    /// The issue time of the quotation in nanoseconds; exactly for series with quotations.
    pub quotation: Option<i64>,
    /// What is written. Ranges are those of clients: see [`crate::Layout::selected`].
    pub edit: Edit,
}

/// Which state of a series is read.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Source {
    /// The issue time of a quotation; exactly for series with quotations.
    pub quotation: Option<i64>,
    /// As the series was then; only for audited series.
    pub as_of: Option<Timestamp>,
}

impl Context {
    /// Writes points of many series; see [`crate::Repository::write_all`].
    pub(crate) async fn write_all(
        &self,
        mut writes: Vec<SeriesWrite>,
        now: Timestamp,
    ) -> Result<Vec<Result<(), Error>>, Error> {
        let what = || "series that are written at once".into();
        Error::check_limit("WRITES_MAX", WRITES_MAX, writes.len(), what)?;
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
        // Of each atom: what goes to the feed; the first of its writes and the series.
        let mut records: Vec<Vec<u8>> = Vec::with_capacity(writes.len());
        let mut firsts = Vec::with_capacity(writes.len());
        for SeriesWrite { series, quotation, edit } in writes {
            let added = edit_record(series.number, &series.layout(), &edit);
            let place = *places.entry((series.number, quotation)).or_insert(atoms.len());
            of_writes.push(place);
            match atoms.get_mut(place) {
                Some(atom) => {
                    atom.edits.push(edit);
                    records.get_mut(place).expect("one for each atom").extend_from_slice(&added);
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
            Ok(outcomes) => return Ok(outcomes_of(&of_writes, outcomes)),
            Err(refused) => refused,
        };
        let mut refusals = Refusals::of(0);
        for (atom, error) in refused {
            let (place, series) = firsts.get(atom).expect("one for each atom");
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
            return Err(refused(series, "it is not audited: how it was earlier is not stored"));
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
            return Err(refused(series, "it is not audited: when values changed is not stored"));
        }
        let strand = self.source_strand(series, Source { quotation, as_of: None })?;
        let mut found = self.strands.modifications(&strand, series.selected(range), written).await?;
        if let Layout::End(raster) = series.layout() {
            found.iter_mut().for_each(|modification| tell_by_slots(modification, &raster));
        }
        Ok(found)
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
fn outcomes_of(of_writes: &[usize], atoms: Vec<Result<(), strands::Error>>) -> Vec<Result<(), Error>> {
    let mut atoms: Vec<Result<(), Option<Error>>> =
        atoms.into_iter().map(|outcome| outcome.map_err(|error| Some(error.into()))).collect();
    let outcome = |place: &usize| match atoms.get_mut(*place).expect("each write went into an atom") {
        Ok(()) => Ok(()),
        // The first write of an atom gets its error in full; the others get its kind and text.
        Err(error) => {
            let first = error.take().expect("an error is put back");
            *error = Some(store::Error::new(kind_of(&first), first.to_string()).into());
            Err(first)
        }
    };
    of_writes.iter().map(outcome).collect()
}

fn kind_of(error: &Error) -> ErrorKind {
    match error {
        Error::Store(error) => error.kind(),
        Error::Limit { .. } => ErrorKind::TooLarge,
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
