//! Whether the aggregated past of an entity is right, against what follows from the seed: the buckets of each
//! attribute and dataset together must hold every update, and their sums, least and greatest values.

use std::collections::HashMap;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value as Json;

use super::sessions::METHODS;
use super::sets::Set;

/// How far sums of floating numbers may be off, as a share.
const PRECISION: f64 = 1e-9;

/// The observed attributes of the template: name, dataset, and its own value if that was observed since 2023.
const OBSERVED: [(&str, Option<&str>, Option<f64>); 5] = [
    ("ammonium", Some("urn:ngsi-ld:Dataset:Bottom"), Some(0.34)),
    ("ammonium", Some("urn:ngsi-ld:Dataset:Surface"), Some(0.41)),
    ("dissolvedOxygen", None, Some(8.9)),
    ("waterTemperature", Some("urn:ngsi-ld:Dataset:Bottom"), None),
    ("waterTemperature", Some("urn:ngsi-ld:Dataset:Surface"), None),
];

/// Count, sum, sum of squares, least and greatest of some values.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sums {
    count: f64,
    sum: f64,
    squares: f64,
    least: f64,
    greatest: f64,
}

impl Sums {
    fn new() -> Self {
        Self { count: 0.0, sum: 0.0, squares: 0.0, least: f64::INFINITY, greatest: f64::NEG_INFINITY }
    }

    fn with(mut self, value: f64) -> Self {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
        self
    }
}

/// What the updates of entities add up to; worked out once an entity.
#[derive(Debug, Default)]
pub(super) struct Pasts {
    by_entity: HashMap<usize, Sums>,
}

impl Pasts {
    /// Looks at the answer for entity `index` by the method of index `method`; how many buckets it has.
    pub(super) fn check(&mut self, set: &Set, (index, method): (usize, usize), body: &[u8]) -> Result<u64> {
        let answer: Json = serde_json::from_slice(body).context("the answer is not JSON")?;
        let id = set.id(index);
        let id = String::from_utf8_lossy(&id);
        let answered = answer.get("id").and_then(Json::as_str).unwrap_or_default();
        ensure!(answered == id, "asked for {id}, answered was {answered:?}");
        let updates = *self.by_entity.entry(index).or_insert_with(|| {
            let number = |instance| super::checks::number(&set.instance(index, instance));
            (0..set.shape.instances).map(number).fold(Sums::new(), Sums::with)
        });
        let method = METHODS.get(method).copied().unwrap_or_default();
        let mut buckets = 0;
        for (attribute, dataset, own) in OBSERVED {
            let expected = own.into_iter().fold(updates, Sums::with);
            let what = || format!("{id}: {attribute} {}", dataset.unwrap_or_default());
            let values = values(&answer, (attribute, dataset), method).with_context(what)?;
            holds(method, &values, &expected).with_context(what)?;
            buckets += values.len() as u64;
        }
        Ok(buckets)
    }
}

/// The values of all buckets of one attribute and dataset.
fn values(answer: &Json, (attribute, dataset): (&str, Option<&str>), method: &str) -> Result<Vec<f64>> {
    let instances = match &answer[attribute] {
        Json::Array(instances) => instances.iter().collect(),
        one => vec![one],
    };
    let found = instances.into_iter().find(|instance| instance["datasetId"].as_str() == dataset);
    let buckets =
        found.and_then(|instance| instance[method].as_array()).with_context(|| format!("no {method}"))?;
    let value = |bucket: &Json| {
        let [value, from, to] = bucket.as_array()?.as_slice() else { return None };
        let time = |text: &Json| text.as_str()?.parse::<jiff::Timestamp>().ok();
        (time(from)? < time(to)?).then(|| value.as_f64())?
    };
    buckets
        .iter()
        .map(|bucket| value(bucket).with_context(|| format!("{method}: {bucket} is no bucket")))
        .collect()
}

/// Whether the buckets of `method` together are what was written.
fn holds(method: &str, values: &[f64], expected: &Sums) -> Result<()> {
    let total: f64 = values.iter().sum();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let near = |found: f64, wanted: f64| {
        let off = (found - wanted).abs();
        ensure!(off <= wanted.abs() * PRECISION, "{method}: {found} over all buckets, expected {wanted}");
        Ok(())
    };
    match method {
        "totalCount" => near(total, expected.count),
        "sum" => near(total, expected.sum),
        "sumsq" => near(total, expected.squares),
        "min" => near(least, expected.least),
        "max" => near(greatest, expected.greatest),
        "distinctCount" => {
            let kept = values.iter().all(|count| *count >= 1.0) && total <= expected.count;
            ensure!(kept, "{method}: {total} over all buckets of {} values", expected.count);
            Ok(())
        }
        "avg" => {
            let slack = expected.greatest * PRECISION;
            let kept = least >= expected.least - slack && greatest <= expected.greatest + slack;
            ensure!(kept, "{method}: {least} to {greatest}, of values from {} on", expected.least);
            Ok(())
        }
        _ => {
            let spread = expected.greatest - expected.least;
            // Of a sample, the deviation of two values is the spread over the root of two.
            let kept = least >= 0.0 && greatest <= spread;
            ensure!(kept, "{method}: {least} to {greatest}, of values {spread} apart");
            Ok(())
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::super::sets::SetShape;
    use super::*;

    /// The right answer: all in two buckets.
    fn answer(set: &Set, index: usize, method: &str) -> Json {
        let number = |instance| super::super::checks::number(&set.instance(index, instance));
        let values: Vec<f64> = (0..set.shape.instances).map(number).collect();
        answer_of(&String::from_utf8_lossy(&set.id(index)), &values, method)
    }

    /// The right answer for an entity whose readings all took `values` one after the other.
    pub(crate) fn answer_of(id: &str, values: &[f64], method: &str) -> Json {
        let mut answer = json!({"id": id, "type": "Entity"});
        for (attribute, dataset, own) in OBSERVED {
            let all: Vec<f64> = own.into_iter().chain(values.iter().copied()).collect();
            let halves = [&all[..all.len() / 2], &all[all.len() / 2..]];
            let buckets: Vec<Json> = halves
                .iter()
                .enumerate()
                .map(|(at, half)| {
                    let sums = half.iter().copied().fold(Sums::new(), Sums::with);
                    let value = match method {
                        "totalCount" | "distinctCount" => sums.count,
                        "sum" => sums.sum,
                        "sumsq" => sums.squares,
                        "min" => sums.least,
                        "max" => sums.greatest,
                        "avg" => sums.sum / sums.count,
                        _ => (sums.squares / sums.count - (sums.sum / sums.count).powi(2)).sqrt(),
                    };
                    json!([
                        value,
                        format!("2026-01-02T03:04:0{at}Z"),
                        format!("2026-01-02T03:04:0{}Z", at + 1)
                    ])
                })
                .collect();
            let mut instance = json!({"type": "Property", method: buckets});
            if let Some(dataset) = dataset {
                instance["datasetId"] = json!(dataset);
            }
            match &mut answer[attribute] {
                Json::Null => answer[attribute] = instance,
                Json::Array(held) => held.push(instance),
                held => *held = json!([held.clone(), instance]),
            }
        }
        answer
    }

    fn check(method: usize, change: impl FnOnce(&mut Json)) -> Result<u64> {
        let set = Set::new(SetShape { entities: 2, types: 0, instances: 50 }, 42);
        let mut answer = answer(&set, 1, METHODS[method]);
        change(&mut answer);
        Pasts::default().check(&set, (1, method), answer.to_string().as_bytes())
    }

    #[test]
    fn right_answers_of_all_methods_pass() {
        for (method, name) in METHODS.iter().enumerate() {
            assert_eq!(check(method, |_| {}).unwrap(), 10, "{name}");
        }
    }

    #[test]
    fn every_kind_of_wrong_answer_is_found_out() {
        for (method, name) in METHODS.iter().enumerate() {
            let bucket = |answer: &mut Json| {
                answer["dissolvedOxygen"][name][1] =
                    json!([1e9, "2026-01-02T03:04:01Z", "2026-01-02T03:04:02Z"]);
            };
            assert!(check(method, bucket).is_err(), "{name}: another value");
            assert!(check(method, |answer| drop(answer["ammonium"].as_array_mut().unwrap().pop())).is_err());
            assert!(check(method, |answer| answer["waterTemperature"] = Json::Null).is_err());
            assert!(check(method, |answer| answer["id"] = json!("urn:x:y")).is_err());
        }
        for method in [0, 2, 7] {
            let lost = |answer: &mut Json| {
                drop(answer["dissolvedOxygen"][METHODS[method]].as_array_mut().unwrap().pop())
            };
            assert!(check(method, lost).is_err(), "{}: a bucket is lost", METHODS[method]);
        }
    }
}
