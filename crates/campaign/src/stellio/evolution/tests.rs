//! Right answers about the past, in every form, and every kind of wrong one.

use serde_json::json;

use super::super::sets::SetShape;
use super::*;

/// The value of one parameter of a query.
fn parameter<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

/// The right answer to `query` for an entity whose readings all took `values` one after the other.
pub(crate) fn answer_of(id: &str, values: &[f64], query: &str) -> Json {
    let mut answer = json!({"id": id, "type": "Entity"});
    for observed in OBSERVED {
        if parameter(query, "attrs").is_some_and(|only| only != observed.name) {
            continue;
        }
        let all: Vec<f64> = observed.own.into_iter().chain(values.iter().copied()).collect();
        let members = match (parameter(query, "aggrMethods"), parameter(query, "options")) {
            (Some(method), _) => vec![json!({"type": "Property", method: two_buckets(&all, method)})],
            (None, Some("temporalValues")) => {
                let pairs: Vec<Json> =
                    all.iter().enumerate().map(|(at, value)| json!([value, time(at)])).collect();
                vec![json!({"type": "Property", "values": pairs})]
            }
            _ => {
                let member = |(at, value): (usize, &f64)| {
                    json!({"type": "Property", "value": value, "unitCode": observed.unit,
                        "observedAt": time(at), "sandreCode": {"type": "Property", "value": "1311"}})
                };
                all.iter().enumerate().map(member).collect()
            }
        };
        for mut member in members {
            if let Some(dataset) = observed.dataset {
                member["datasetId"] = json!(dataset);
            }
            match &mut answer[observed.name] {
                Json::Null => answer[observed.name] = member,
                Json::Array(held) => held.push(member),
                held => *held = json!([held.clone(), member]),
            }
        }
    }
    answer
}

/// Two instances share each millisecond, as those of a fast server may.
fn time(at: usize) -> String {
    format!("2026-01-02T03:04:05.{:03}Z", at / 2)
}

fn two_buckets(all: &[f64], method: &str) -> Vec<Json> {
    let halves = [&all[..all.len() / 2], &all[all.len() / 2..]];
    let bucket = |(at, half): (usize, &&[f64])| {
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
        json!([value, format!("2026-01-02T03:04:0{at}Z"), format!("2026-01-02T03:04:0{}Z", at + 1)])
    };
    halves.iter().enumerate().map(bucket).collect()
}

fn set() -> Set {
    Set::new(SetShape { entities: 2, types: 0, instances: 50 }, 42)
}

/// The past of entity `index`, as `query` asks for it.
fn past(index: usize, query: &str) -> Json {
    let set = set();
    let values: Vec<f64> = (0..50).map(|instance| number(&set.instance(index, instance))).collect();
    answer_of(&String::from_utf8_lossy(&set.id(index)), &values, query)
}

const WHOLE: AskedPast = AskedPast { entity: Some(1), reading: None, form: PastForm::Aggregated, method: 0 };

fn check(asked: &AskedPast, partial: bool, answer: &Json) -> Result<Seen> {
    Pasts::default().check(&set(), asked, partial, answer.to_string().as_bytes())
}

fn check_buckets(method: usize, change: impl FnOnce(&mut Json)) -> Result<u64> {
    let mut answer = past(1, &format!("aggrMethods={}", METHODS[method]));
    change(&mut answer);
    check(&AskedPast { method, ..WHOLE }, false, &answer).map(|seen| seen.values)
}

fn check_instances(form: PastForm, change: impl FnOnce(&mut Json)) -> Result<u64> {
    let mut answer = past(1, if form == PastForm::Values { "options=temporalValues" } else { "" });
    change(&mut answer);
    check(&AskedPast { form, ..WHOLE }, false, &answer).map(|seen| seen.values)
}

#[test]
fn right_answers_of_all_methods_pass() {
    for (method, name) in METHODS.iter().enumerate() {
        assert_eq!(check_buckets(method, |_| {}).unwrap(), 10, "{name}");
    }
}

#[test]
fn every_kind_of_wrong_buckets_is_found_out() {
    for (method, name) in METHODS.iter().enumerate() {
        let bucket = |answer: &mut Json| {
            answer["dissolvedOxygen"][name][1] = json!([1e9, "2026-01-02T03:04:01Z", "2026-01-02T03:04:02Z"]);
        };
        assert!(check_buckets(method, bucket).is_err(), "{name}: another value");
        let lost = |answer: &mut Json| drop(answer["ammonium"].as_array_mut().unwrap().pop());
        assert!(check_buckets(method, lost).is_err());
        assert!(check_buckets(method, |answer| answer["waterTemperature"] = Json::Null).is_err());
        assert!(check_buckets(method, |answer| answer["id"] = json!("urn:x:y")).is_err());
        let turned = |answer: &mut Json| answer["dissolvedOxygen"][name].as_array_mut().unwrap().reverse();
        assert!(check_buckets(method, turned).is_err(), "{name}: out of order");
    }
    for method in [0, 2, 7] {
        let lost = |answer: &mut Json| {
            drop(answer["dissolvedOxygen"][METHODS[method]].as_array_mut().unwrap().pop())
        };
        assert!(check_buckets(method, lost).is_err(), "{}: a bucket is lost", METHODS[method]);
    }
}

#[test]
fn right_instances_pass_in_any_order() {
    for form in [PastForm::Values, PastForm::Normalized] {
        assert_eq!(check_instances(form, |_| {}).unwrap(), 253);
        let turned = |answer: &mut Json| {
            for name in ["ammonium", "waterTemperature"] {
                answer[name].as_array_mut().unwrap().reverse();
            }
        };
        assert_eq!(check_instances(form, turned).unwrap(), 253);
    }
}

#[test]
fn every_kind_of_wrong_instances_is_found_out() {
    let wrong = |form, what: &str, change: &dyn Fn(&mut Json)| {
        assert!(check_instances(form, change).is_err(), "{what}");
    };
    wrong(PastForm::Values, "one is lost", &|answer| {
        drop(answer["dissolvedOxygen"]["values"].as_array_mut().unwrap().pop());
    });
    wrong(PastForm::Values, "another value", &|answer| answer["ammonium"][1]["values"][7][0] = json!(1.5));
    wrong(PastForm::Values, "two values change places", &|answer| {
        answer["dissolvedOxygen"]["values"].as_array_mut().unwrap().swap(3, 30);
        answer["dissolvedOxygen"]["values"][3][1] = json!(time(3));
        answer["dissolvedOxygen"]["values"][30][1] = json!(time(30));
    });
    wrong(PastForm::Values, "a dataset is lost", &|answer| answer["ammonium"][0]["datasetId"] = Json::Null);
    wrong(PastForm::Values, "a value without time", &|answer| {
        answer["dissolvedOxygen"]["values"][0] = json!([8.9]);
    });
    wrong(PastForm::Normalized, "one is lost", &|answer| {
        drop(answer["waterTemperature"].as_array_mut().unwrap().pop());
    });
    wrong(PastForm::Normalized, "another unit", &|answer| answer["ammonium"][9]["unitCode"] = json!("CEL"));
    wrong(PastForm::Normalized, "no sub-property", &|answer| {
        answer["dissolvedOxygen"][9]["sandreCode"] = Json::Null;
    });
    wrong(PastForm::Normalized, "another entity", &|answer| answer["id"] = json!("urn:x:y"));
    wrong(PastForm::Normalized, "no attribute", &|answer| {
        drop(answer.as_object_mut().unwrap().remove("ammonium"));
    });
}

#[test]
fn a_part_holds_the_earliest_instances() {
    let asked = AskedPast { form: PastForm::Values, ..WHOLE };
    let mut answer = past(1, "options=temporalValues");
    for (name, kept) in [("ammonium", 21), ("waterTemperature", 20)] {
        for member in answer[name].as_array_mut().unwrap() {
            member["values"].as_array_mut().unwrap().truncate(kept);
        }
    }
    drop(answer.as_object_mut().unwrap().remove("dissolvedOxygen"));
    assert_eq!(check(&asked, true, &answer).unwrap().values, 82);
    assert!(check(&asked, false, &answer).is_err(), "it must say that it is a part");
    drop(answer["ammonium"][0]["values"].as_array_mut().unwrap().remove(3));
    assert!(check(&asked, true, &answer).is_err(), "not the earliest ones");
    let nothing = json!({"id": answer["id"]});
    assert!(check(&asked, true, &nothing).is_err(), "nothing at all");
    assert!(check(&WHOLE, true, &past(1, "aggrMethods=totalCount")).is_err(), "aggregates are never cut");
}

#[test]
fn a_page_holds_one_attribute_of_all_entities() {
    let asked = AskedPast { entity: None, reading: Some(1), form: PastForm::Normalized, method: 0 };
    let query = "attrs=dissolvedOxygen";
    let page = || vec![past(0, query), past(1, query)];
    assert_eq!(check(&asked, false, &json!(page())).unwrap(), Seen { entities: 2, values: 102 });
    let mut with_another = page();
    with_another.push(json!({"id": "urn:somebody:else", "type": "Entity"}));
    assert_eq!(check(&asked, false, &json!(with_another)).unwrap().entities, 2);
    assert!(check(&asked, false, &json!([past(1, query)])).is_err(), "an entity is missing");
    assert!(check(&asked, false, &json!([past(1, query), past(1, query)])).is_err(), "one comes twice");
    assert!(check(&asked, false, &json!([past(0, ""), past(1, "")])).is_err(), "all attributes");
    assert!(check(&asked, false, &past(1, query)).is_err(), "no page");
}
