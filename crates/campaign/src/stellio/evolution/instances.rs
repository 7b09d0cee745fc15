//! Instances: whether those of one attribute and dataset are the updates that were written, in their order.

use anyhow::{Context as _, Result, ensure};
use jiff::Timestamp;
use serde_json::Value as Json;

use super::super::rows::PastForm;
use super::{Observed, PRECISION, members};

/// A value and when it was observed.
type Instance = (Timestamp, f64);

/// Looks at the instances of `observed` in either form, where `updates` were written one after the other; how many
/// there are. A part must hold the earliest of them.
pub(super) fn check(
    entity: &Json,
    observed: &Observed,
    form: PastForm,
    updates: &[f64],
    partial: bool,
) -> Result<u64> {
    let mut found =
        if form == PastForm::Values { values(entity, observed)? } else { normalized(entity, observed)? };
    let all = updates.len() + usize::from(observed.own.is_some());
    let enough = if partial { found.len() <= all } else { found.len() == all };
    ensure!(enough, "{} instances, expected {all}", found.len());
    // The order of the answer is the broker's affair, and so is that of instances of one moment.
    found.sort_by_key(|(time, _)| *time);
    let mut expected = observed.own.into_iter().chain(updates.iter().copied());
    let mut seen = 0;
    for moment in found.chunk_by(|one, two| one.0 == two.0) {
        seen += moment.len();
        if partial && seen == found.len() {
            // Which instances of its last moment a part contains is not known.
            break;
        }
        same_values(moment, expected.by_ref().take(moment.len()).collect())?;
    }
    Ok(found.len() as u64)
}

fn same_values(moment: &[Instance], mut expected: Vec<f64>) -> Result<()> {
    let mut found: Vec<f64> = moment.iter().map(|(_, value)| *value).collect();
    found.sort_by(f64::total_cmp);
    expected.sort_by(f64::total_cmp);
    for (found, wanted) in found.iter().zip(&expected) {
        let time = moment.first().map_or_else(String::new, |(time, _)| time.to_string());
        let off = (found - wanted).abs();
        ensure!(off <= wanted.abs() * PRECISION, "{found} at {time}, expected {wanted}");
    }
    Ok(())
}

/// Pairs of value and time, under `values` of the one member with this dataset.
fn values(entity: &Json, observed: &Observed) -> Result<Vec<Instance>> {
    let mut members = members(entity, observed.name).into_iter();
    let Some(member) = members.find(|member| member["datasetId"].as_str() == observed.dataset) else {
        return Ok(Vec::new());
    };
    let pairs = member["values"].as_array().context("no values")?;
    let pair = |pair: &Json| {
        let [value, time] = pair.as_array()?.as_slice() else { return None };
        Some((time.as_str()?.parse().ok()?, value.as_f64()?))
    };
    pairs
        .iter()
        .map(|found| pair(found).with_context(|| format!("{found} is no value with its time")))
        .collect()
}

/// One member for each instance of this dataset, with all that it was written with.
fn normalized(entity: &Json, observed: &Observed) -> Result<Vec<Instance>> {
    let ours = |member: &&Json| member["datasetId"].as_str() == observed.dataset;
    let instance = |member: &Json| {
        let whole = member["type"] == "Property"
            && member["unitCode"] == observed.unit
            && (observed.name != "dissolvedOxygen"
                || member.pointer("/sandreCode/value").is_some_and(|code| code == "1311"));
        let time = member["observedAt"].as_str()?.parse().ok()?;
        whole.then(|| Some((time, member["value"].as_f64()?)))?
    };
    let members = members(entity, observed.name).into_iter().filter(ours);
    members
        .map(|member| instance(member).with_context(|| format!("{member} is no instance as it was written")))
        .collect()
}
