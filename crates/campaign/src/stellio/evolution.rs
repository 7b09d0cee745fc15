//! Whether answers about the past are right, against what follows from the seed: the [`buckets`] of each attribute and
//! dataset together must hold every update, and the [`instances`] must be the updates, one by one.

mod buckets;
mod instances;

use std::collections::{HashMap, HashSet};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value as Json;

use super::PAGE_ENTITIES;
use super::payload::number;
use super::rows::PastForm;
use super::sessions::{AskedPast, METHODS, READINGS};
use super::sets::Set;
use buckets::Sums;

/// How far floating numbers may be off, as a share.
const PRECISION: f64 = 1e-9;

/// An observed attribute of the template.
#[derive(Debug, Clone, Copy)]
struct Observed {
    name: &'static str,
    dataset: Option<&'static str>,
    unit: &'static str,
    /// Its own value, if that was observed since 2023.
    own: Option<f64>,
}

const OBSERVED: [Observed; 5] = {
    const BOTTOM: Option<&str> = Some("urn:ngsi-ld:Dataset:Bottom");
    const SURFACE: Option<&str> = Some("urn:ngsi-ld:Dataset:Surface");
    [
        Observed { name: "ammonium", dataset: BOTTOM, unit: "M1", own: Some(0.34) },
        Observed { name: "ammonium", dataset: SURFACE, unit: "M1", own: Some(0.41) },
        Observed { name: "dissolvedOxygen", dataset: None, unit: "M1", own: Some(8.9) },
        Observed { name: "waterTemperature", dataset: BOTTOM, unit: "CEL", own: None },
        Observed { name: "waterTemperature", dataset: SURFACE, unit: "CEL", own: None },
    ]
};

/// What an answer about the history contained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Seen {
    /// Entities of the set.
    pub(super) entities: u64,
    /// Their buckets or instances.
    pub(super) values: u64,
}

/// The updates of one entity.
#[derive(Debug)]
struct Past {
    values: Vec<f64>,
    sums: Sums,
}

/// The updates of entities; worked out once an entity.
#[derive(Debug, Default)]
pub(super) struct Pasts {
    by_entity: HashMap<usize, Past>,
    by_id: HashMap<Vec<u8>, usize>,
}

impl Pasts {
    /// Looks at the answer to `asked`; `partial`: it says of itself that it is a part. Entities of others, which a
    /// server that was used before may hold, are passed over.
    pub(super) fn check(&mut self, set: &Set, asked: &AskedPast, partial: bool, body: &[u8]) -> Result<Seen> {
        let answer: Json = serde_json::from_slice(body).context("the answer is not JSON")?;
        let entities: &[Json] = match (&answer, asked.entity) {
            (Json::Array(entities), None) => entities,
            (Json::Object(_), Some(_)) => std::slice::from_ref(&answer),
            _ => bail!("the answer is neither an entity nor a page as asked for"),
        };
        if self.by_id.is_empty() {
            self.by_id = (0..set.shape.entities).map(|index| (set.id(index).to_vec(), index)).collect();
        }
        let mut seen = Seen::default();
        let mut found = HashSet::new();
        for entity in entities {
            let id = entity["id"].as_str().unwrap_or("");
            let index = self.by_id.get(id.as_bytes()).copied();
            let wanted = asked.entity.is_none_or(|wanted| index == Some(wanted));
            ensure!(wanted, "asked for another entity, answered was {id:?}");
            let Some(index) = index else { continue };
            ensure!(found.insert(index), "{id} comes twice in a page");
            seen.entities += 1;
            seen.values += self.entity(set, index, asked, partial, entity).with_context(|| id.to_owned())?;
        }
        let full = partial || entities.len() >= PAGE_ENTITIES || asked.entity.is_some();
        ensure!(
            full || found.len() == set.shape.entities,
            "{} entities of {}",
            found.len(),
            set.shape.entities
        );
        // A page full of somebody else's entities shows nothing, right or wrong.
        ensure!(seen.values > 0 || entities.len() >= PAGE_ENTITIES, "an answer without values");
        Ok(seen)
    }

    /// Looks at one entity of an answer; how many buckets or instances it has.
    fn entity(
        &mut self,
        set: &Set,
        index: usize,
        asked: &AskedPast,
        partial: bool,
        entity: &Json,
    ) -> Result<u64> {
        let past = self.by_entity.entry(index).or_insert_with(|| {
            let value = |instance| number(&set.instance(index, instance));
            let values: Vec<f64> = (0..set.shape.instances).map(value).collect();
            let sums = values.iter().copied().fold(Sums::new(), Sums::with);
            Past { values, sums }
        });
        let only = asked.reading.and_then(|reading| READINGS.get(reading)).map(|(name, _)| *name);
        let mut count = 0;
        for observed in &OBSERVED {
            let (name, dataset) = (observed.name, observed.dataset.unwrap_or(""));
            if only.is_some_and(|only| only != name) {
                ensure!(entity.get(name).is_none(), "{name} was not asked for");
                continue;
            }
            let checked = match asked.form {
                PastForm::Aggregated => {
                    ensure!(!partial, "aggregates came in part");
                    let method = METHODS.get(asked.method).copied().expect("an index of the methods");
                    buckets::check(entity, observed, method, &past.sums)
                }
                form => instances::check(entity, observed, form, &past.values, partial),
            };
            count += checked.with_context(|| format!("{name} {dataset}"))?;
        }
        Ok(count)
    }
}

/// All instances of an attribute in an answer, whether they are in an array or alone.
fn members<'a>(entity: &'a Json, name: &str) -> Vec<&'a Json> {
    match entity.get(name) {
        Some(Json::Array(instances)) => instances.iter().collect(),
        Some(one) => vec![one],
        None => Vec::new(),
    }
}

#[cfg(test)]
pub(crate) mod tests;
