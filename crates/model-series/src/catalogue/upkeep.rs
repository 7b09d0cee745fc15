//! What jobs do with the points of series: removal of those that are too old, and recompression of blocks.

use bytes::Bytes;
use futures_util::StreamExt;
use lang_formula::Duration;
use store::Timestamp;

use super::context::Context;
use crate::encode::{damaged, take_definition};
use crate::{Definition, Error, Zone, keys};
use strands::Strand;

/// Strands that are listed, and rows that are scanned, in one page.
const PAGE: usize = 1_024;
/// Strands of one series that are trimmed at the same time.
const TRIMS_AT_ONCE: usize = 32;

impl Context {
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
