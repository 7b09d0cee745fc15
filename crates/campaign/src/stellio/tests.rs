//! Whole courses against a toy broker: what must come out of a right one, and that wrong ones are found out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};

use super::Stellio;
use super::evolution::tests as evolution;
use super::family::history;
use super::rows::{Kind, Row};
use super::sessions::TRACKED_ENTITIES;
use crate::course::{Course, Results};
use crate::family::Family as _;
use crate::profile::{Observed, Setup};
use crate::target::Source;
use crate::toy::{Reply, Toy};
use crate::workloads::Workload;

/// The rows that `rows` names.
pub(crate) fn selected(rows: &str) -> Workload<Row> {
    Stellio.workload().unwrap().narrowed(rows)
}

/// What a toy broker does wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Defect {
    None,
    ForgetsUpdates,
    AnswersTooMuch,
    FailsSometimes,
    RefusesCreation,
    ForgetsThePast,
    AnswersInPart,
}

/// A broker that knows just the requests of the suite.
fn broker(defect: Defect) -> Toy {
    let entities: Arc<Mutex<BTreeMap<String, Json>>> = Arc::default();
    let pasts: Mutex<BTreeMap<String, Vec<f64>>> = Mutex::default();
    Toy::start_with(move |nth, first_line, body| {
        let mut words = first_line.split(' ');
        let (method, target) = (words.next().unwrap(), words.next().unwrap());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let rest = path.strip_prefix("/ngsi-ld/v1/").unwrap_or("");
        let mut entities = entities.lock().unwrap();
        if defect == Defect::FailsSometimes && nth % 50 == 0 {
            return Reply::new(503, "not now");
        }
        match (method, rest.split('/').collect::<Vec<_>>().as_slice()) {
            ("POST", _) if defect == Defect::RefusesCreation => Reply::new(409, "exists"),
            ("POST", ["entities"]) => {
                let entity: Json = serde_json::from_slice(body).unwrap();
                entities.insert(entity["id"].as_str().unwrap().to_owned(), entity);
                Reply::new(201, "")
            }
            ("POST", ["entityOperations", "create"]) => {
                let batch: Vec<Json> = serde_json::from_slice(body).unwrap();
                for entity in batch {
                    entities.insert(entity["id"].as_str().unwrap().to_owned(), entity);
                }
                Reply::new(201, "[]")
            }
            ("PATCH", ["entities", id, "attrs", attribute @ ..]) => {
                if defect == Defect::ForgetsUpdates {
                    return Reply::new(204, "");
                }
                let entity = entities.get_mut(*id).unwrap();
                let update: Json = serde_json::from_slice(body).unwrap();
                if let (Some(value), true) = (
                    update["dissolvedOxygen"]["value"].as_f64(),
                    defect != Defect::ForgetsThePast || nth % 7 > 0,
                ) {
                    pasts.lock().unwrap().entry((*id).to_owned()).or_default().push(value);
                }
                for (name, value) in update.as_object().unwrap() {
                    match attribute {
                        [attribute] => entity[*attribute][name] = value.clone(),
                        _ => entity[name] = value.clone(),
                    }
                }
                Reply::new(204, "")
            }
            ("GET", ["entities", id]) => match entities.get(*id) {
                Some(entity) => Reply::ok(&entity.to_string()),
                None => Reply::new(404, "{}"),
            },
            ("GET", ["temporal", "entities", id]) => {
                let answer = evolution::answer_of(id, &pasts.lock().unwrap()[*id], query).to_string();
                if defect == Defect::AnswersInPart { Reply::new(206, &answer) } else { Reply::ok(&answer) }
            }
            ("GET", ["temporal", "entities"]) => {
                let pasts = pasts.lock().unwrap();
                let all = pasts.iter().map(|(id, values)| evolution::answer_of(id, values, query));
                Reply::ok(&Json::Array(all.collect()).to_string())
            }
            ("GET", ["entities"]) => Reply::ok(&found(&entities, query, defect).to_string()),
            _ => Reply::new(404, "no such path"),
        }
    })
}

/// The entities that `type=T&q=P%3E50%3B...&limit=30` asks for; the second condition only if it is on a target.
fn found(entities: &BTreeMap<String, Json>, query: &str, defect: Defect) -> Json {
    let query = query.replace("%3E", ">").replace("%3B", ";").replace("%3D", "=").replace("%3A", ":");
    let parameters: BTreeMap<&str, &str> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
    let (number, text) = parameters["q"].split_once(';').unwrap();
    let (name, over) = number.split_once('>').unwrap();
    let over: f64 = over.parse().unwrap();
    let matches = |entity: &&Json| {
        let attribute = &entity[name];
        let instances = attribute.as_array().cloned().unwrap_or_else(|| vec![attribute.clone()]);
        let target = text.strip_prefix("servesDataset==");
        entity["type"] == parameters["type"]
            && instances.iter().any(|instance| instance["value"].as_f64().unwrap() > over)
            && (defect == Defect::AnswersTooMuch
                || target.is_none_or(|target| entity["servesDataset"]["object"] == target))
    };
    let limit = parameters["limit"].parse().unwrap();
    Json::Array(entities.values().filter(matches).take(limit).cloned().collect())
}

/// Calls of a row here.
const CALLS: usize = 200;

/// The rows of `selection` shrunk to what a toy bears, run against a broker with `defect`.
fn run(selection: &str, defect: Defect, change: impl FnOnce(&mut Course)) -> Results {
    let toy = broker(defect);
    let mut family = selected(selection);
    for row in &mut family.rows {
        row.iterations = CALLS as u64;
        // Every entity that is updated is one of which updates are looked at.
        row.entities = row.entities.min(if is_update(row.kind) { TRACKED_ENTITIES } else { 300 });
        row.instances = row.instances.min(30);
    }
    let mut course = Course::of_toy(&toy);
    change(&mut course);
    course.run(&Stellio, &family).unwrap()
}

fn is_update(kind: Kind) -> bool {
    matches!(kind, Kind::PartialUpdate | Kind::Update)
}

/// How many answers are looked at, however calls fall to users: at least one user's share of them; and of updates, which are
/// looked at once for each entity, more than half of the entities (that so many calls miss so many has a chance of 10^-60).
fn looked_at(row: &Row) -> u64 {
    let fewest = if is_update(row.kind) { TRACKED_ENTITIES / 2 } else { CALLS.div_ceil(row.users) };
    fewest as u64
}

#[test]
fn a_right_broker_passes_every_row() {
    let selection = "S-C1,S-P3,S-U1,S-G1,S-Q1,S-R1,S-T";
    let (results, rows) = (run(selection, Defect::None, |_| {}), selected(selection).rows);
    assert_eq!((results.rows.len(), rows.len()), (19, 19));
    for row in &results.rows {
        assert_eq!(
            (row.errors, row.answers_wrong),
            (0, 0),
            "{}: {:?} {:?}",
            row.id,
            row.error_kinds,
            row.wrong_examples
        );
        let fewest = looked_at(rows.iter().find(|known| known.id == row.id).unwrap());
        assert!(row.answers_checked >= fewest, "{}: {} of {fewest} checked", row.id, row.answers_checked);
        assert!(row.iterations > 0 && row.throughput > 0.0 && row.p95_ms >= row.p50_ms);
        assert_eq!(row.k6_style_throughput.is_some(), row.set_entities > 0);
    }
    let by_id = |id: &str| results.rows.iter().find(|row| row.id == id).unwrap();
    assert!(by_id("S-Q1").entities_per_answer.unwrap() > 5.0);
    assert!(by_id("S-U1").caveat.contains("on the set of the row before"));
    assert_eq!(by_id("S-P3").published.as_ref().unwrap().throughput, 417.0);
    assert!(by_id("S-G1").published.is_none() && by_id("S-G1").body_bytes_mean > 1_000.0);
}

#[test]
fn a_past_is_written_at_once_if_asked_for() {
    let results = run("S-T2", Defect::None, |course| {
        course.setup = Setup::Batch;
        course.observed = Observed::Spread;
    });
    let row = &results.rows[0];
    assert_eq!((row.errors, row.answers_wrong), (0, 0), "{:?} {:?}", row.error_kinds, row.wrong_examples);
    assert!(row.answers_checked >= 100 && row.setup_requests == 301 && row.k6_style_throughput.is_none());
    assert!(row.caveat.contains("by 10 users at once") && row.caveat.contains("observed a hundred a second"));
    assert!(
        row.caveat.contains("30 of 10000 instances") || row.caveat.contains("10 buckets"),
        "{}",
        row.caveat
    );
}

#[test]
fn answers_in_part_are_no_errors_but_are_told() {
    let row = run("S-TN1", Defect::AnswersInPart, |_| {}).rows.remove(0);
    assert_eq!((row.errors, row.answers_wrong), (0, 0), "{:?} {:?}", row.error_kinds, row.wrong_examples);
    let told = format!("{0} of {0} answers looked at were a part (206)", row.answers_checked);
    assert!(row.caveat.contains(&told) && row.caveat.contains("row of ours"), "{}", row.caveat);
    let aggregated = run("S-T1", Defect::AnswersInPart, |_| {}).rows.remove(0);
    assert!(aggregated.answers_wrong > 0, "aggregates cannot be checked in part");
}

#[test]
fn the_cost_of_history_is_told_where_both_rows_ran() {
    let results = run("S-P3,S-H3", Defect::None, |_| {});
    assert_eq!(results.tables.len(), 1);
    assert!(
        results.tables[0].verdict.contains("a verdict takes 3 runs") && results.tables[0].lines.len() == 2
    );
    let verdict = history(&results.rows, 3).unwrap().verdict;
    assert!(verdict.contains("(goal: at most 25 %)"), "{verdict}");
    assert!(results.rows[1].caveat.contains("meant for a server started with --history off"));
    assert!(run("S-P3", Defect::None, |_| {}).tables.is_empty());
}

#[test]
fn runs_create_different_entities_and_batches_the_same_set() {
    let results = run("S-C1,S-Q1", Defect::None, |course| {
        course.runs = 2;
        course.setup = Setup::Batch;
    });
    for row in &results.rows {
        assert_eq!((row.runs, row.errors, row.answers_wrong), (2, 0, 0), "{row:?}");
        assert_eq!(row.k6_style_throughput, None);
    }
    assert!(results.rows[1].caveat.contains("in batches of 500"));
}

fn check_defect(selection: &str, defect: Defect, errors: bool, wrong: bool) {
    let row = run(selection, defect, |_| {}).rows.remove(0);
    assert_eq!((row.errors > 0, row.answers_wrong > 0), (errors, wrong), "{row:?}");
    let report = crate::report::Report { rows: vec![row], ..Default::default() };
    assert!(!report.is_clean());
}

#[test]
fn defects_of_a_broker_are_found_out() {
    check_defect("S-P1", Defect::ForgetsUpdates, false, true);
    check_defect("S-U1", Defect::ForgetsUpdates, false, true);
    check_defect("S-R1", Defect::AnswersTooMuch, false, true);
    for row in ["S-T1", "S-TN1", "S-TV1", "S-TQ1", "S-TQN1", "S-TQV1"] {
        check_defect(row, Defect::ForgetsThePast, false, true);
    }
    check_defect("S-C1", Defect::FailsSometimes, true, true);
    check_defect("S-C1", Defect::RefusesCreation, true, false);
    let refused = run("S-G1", Defect::RefusesCreation, |_| {}).rows.remove(0);
    assert!(refused.error_kinds.contains_key("setup: 409") && refused.error_kinds.contains_key("404"));
}

#[test]
fn a_server_that_is_not_there_fails_with_errors_not_with_a_panic() {
    let toy = broker(Defect::None);
    let nobody = crate::toy::Nobody::anywhere();
    let address = nobody.address();
    let mut family = selected("S-G1");
    family.rows[0].iterations = 100;
    family.rows[0].entities = 1;
    let source = Source::Foreign { address, host: address.to_string(), pid: None };
    let results = Course { source, ..Course::of_toy(&toy) }.run(&Stellio, &family).unwrap();
    assert!(results.rows[0].error_kinds.contains_key("connect"), "{:?}", json!(results.rows[0].error_kinds));
}

#[test]
fn what_is_scaled_is_said() {
    let toy = broker(Defect::None);
    let mut family = selected("S-Q2");
    family.rows[0].iterations = 1_000_000;
    family.rows[0].entities = 2_100;
    let row = Course::of_toy(&toy).run(&Stellio, &family).unwrap().rows.remove(0);
    assert!(row.caveat.contains("of 1000000 iterations (ended by time)"), "{}", row.caveat);
    assert!(row.caveat.contains("scaled: 2000 of 2100 entities"), "{}", row.caveat);
    assert!(row.caveat.contains("1 run, published as mean of 3") && row.caveat.contains("compare p95"));
    assert_eq!((row.errors, row.answers_wrong), (0, 0), "{:?}", row.wrong_examples);
}
