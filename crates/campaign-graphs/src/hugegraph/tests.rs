//! Whole courses against a toy HugeGraph: what must come out of a right one, and that wrong ones are found out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use serde_json::{Value as Json, json};

use super::HugeGraph;
use super::rows::{Row, Work};
use campaign::course::{Course, Results};
use campaign::family::Family as _;
use campaign::toy::{Reply, Toy};
use campaign::workloads::Workload;

/// The rows that `rows` names.
pub(crate) fn selected(rows: &str) -> Workload<Row> {
    HugeGraph.workload().unwrap().narrowed(rows)
}

/// What a toy does wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Defect {
    None,
    /// Knows only the paths without graph spaces, and ids of edges of four parts.
    IsOld,
    LosesAnEdge,
    ForgetsInEdges,
    MixesUpIds,
    ForgetsProperties,
    FailsSometimes,
    RefusesSchema,
}

/// One graph: elements by the text of their ids.
#[derive(Default)]
struct Graph {
    vertices: BTreeMap<String, Json>,
    edges: BTreeMap<String, Json>,
}

fn decoded(text: &str) -> String {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digits = [bytes.next().unwrap(), bytes.next().unwrap()];
            out.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).unwrap()
}

/// A server with as much of the API as the families ask for.
pub(crate) fn server(defect: Defect) -> Toy {
    let graph = Mutex::new(Graph::default());
    Toy::start_with(move |nth, head, body| {
        let mut words = head.split(' ');
        let (method, target) = (words.next().unwrap(), words.next().unwrap());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let prefix = if defect == Defect::IsOld {
            "/graphs/hugegraph"
        } else {
            "/graphspaces/DEFAULT/graphs/hugegraph"
        };
        let Some(rest) = path.strip_prefix(prefix) else { return Reply::new(404, "{}") };
        if defect == Defect::FailsSometimes && nth % 40 == 0 {
            return Reply::new(503, "busy");
        }
        let query: BTreeMap<&str, String> =
            query.split('&').filter_map(|pair| pair.split_once('=')).map(|(k, v)| (k, decoded(v))).collect();
        let mut graph = graph.lock().unwrap();
        let steps: Vec<&str> = rest.split('/').skip(1).collect();
        match (method, steps.as_slice()) {
            ("GET", []) => Reply::ok(r#"{"name":"hugegraph"}"#),
            ("POST", ["schema", _]) if defect == Defect::RefusesSchema => Reply::new(400, "no"),
            ("POST", ["schema", "propertykeys"]) => Reply::new(202, "{}"),
            ("POST", ["schema", _]) => Reply::new(201, "{}"),
            ("GET", ["schema", ..]) => Reply::ok(r#"{"id":4}"#),
            ("POST", ["graph", kind]) => {
                let element = graph.put(kind, serde_json::from_slice(body).unwrap(), defect);
                Reply::new(201, &element.to_string())
            }
            ("POST", ["graph", kind, "batch"]) => {
                let drafts: Vec<Json> = serde_json::from_slice(body).unwrap();
                let mut ids: Vec<Json> =
                    drafts.into_iter().map(|draft| graph.put(kind, draft, defect)["id"].clone()).collect();
                if defect == Defect::MixesUpIds {
                    ids.reverse();
                }
                Reply::new(201, &Json::Array(ids).to_string())
            }
            ("GET", ["graph", kind, id]) => match graph.of(kind).get(&decoded(id)) {
                Some(element) => Reply::ok(&element.to_string()),
                None => Reply::new(404, "{}"),
            },
            ("GET", ["graph", "edges"]) if query.contains_key("vertex_id") => {
                let edges = graph.incident(
                    &serde_json::from_str(&query["vertex_id"]).unwrap(),
                    &query["direction"],
                    defect,
                );
                Reply::ok(&json!({"edges": edges}).to_string())
            }
            ("GET", ["graph", kind]) => Reply::ok(&graph.page(kind, &query).to_string()),
            ("GET", ["traversers", name]) => graph.traverse(name, &query),
            _ => Reply::new(404, "no such path"),
        }
    })
}

impl Graph {
    fn of(&self, kind: &str) -> &BTreeMap<String, Json> {
        if kind == "edges" { &self.edges } else { &self.vertices }
    }

    fn put(&mut self, kind: &str, mut draft: Json, defect: Defect) -> Json {
        if defect == Defect::ForgetsProperties {
            draft["properties"] = json!({});
        }
        let id = if kind == "vertices" {
            match draft.get("id") {
                Some(id) => id.clone(),
                None => json!(format!("4:{}", draft["properties"]["name"].as_str().unwrap_or(""))),
            }
        } else {
            let end = |id: &Json| match id {
                Json::String(text) => format!("S{text}"),
                other => format!("L{other}"),
            };
            let middle = if defect == Defect::IsOld { ">4>>" } else { ">4>4>>" };
            json!(end(&draft["outV"]) + middle + &end(&draft["inV"]))
        };
        draft["id"] = id.clone();
        draft["type"] = json!(if kind == "edges" { "edge" } else { "vertex" });
        if kind == "vertices" {
            self.vertices.insert(id.to_string(), draft.clone());
        } else if defect != Defect::LosesAnEdge || self.edges.len() % 7 != 3 {
            self.edges.insert(id.as_str().unwrap().to_owned(), draft.clone());
        } else {
            self.edges.insert("S4:x>4>4>>S4:y".to_owned(), draft.clone());
        }
        draft
    }

    fn incident(&self, id: &Json, direction: &str, defect: Defect) -> Vec<&Json> {
        let of = |edge: &&Json| {
            let out = direction != "IN" && &edge["outV"] == id;
            let into = direction != "OUT" && &edge["inV"] == id && defect != Defect::ForgetsInEdges;
            out || into
        };
        self.edges.values().filter(of).collect()
    }

    /// A page of a list; its name is the number of its first element.
    fn page(&self, kind: &str, query: &BTreeMap<&str, String>) -> Json {
        let (start, limit): (usize, usize) =
            (query["page"].parse().unwrap_or(0), query["limit"].parse().unwrap());
        let all = self.of(kind);
        let found: Vec<&Json> = all.values().skip(start).take(limit).collect();
        let next = (start + found.len() < all.len()).then(|| (start + found.len()).to_string());
        json!({kind: found, "page": next})
    }

    /// Vertices by their distance from `source`, in both directions.
    fn rings(&self, source: &str, depth: usize) -> Vec<BTreeSet<String>> {
        let mut seen = BTreeSet::from([source.to_owned()]);
        let mut rings = vec![seen.clone()];
        for _ in 0..depth {
            let mut next = BTreeSet::new();
            for edge in self.edges.values() {
                let (out, into) = (edge["outV"].to_string(), edge["inV"].to_string());
                for (from, to) in [(&out, &into), (&into, &out)] {
                    if rings.last().unwrap().contains(from) && !seen.contains(to) {
                        next.insert(to.clone());
                    }
                }
            }
            seen.extend(next.iter().cloned());
            rings.push(next);
        }
        rings
    }

    fn traverse(&self, name: &str, query: &BTreeMap<&str, String>) -> Reply {
        let depth = query["max_depth"].parse().unwrap();
        let rings = self.rings(&query["source"], depth);
        let ids = |rings: &[BTreeSet<String>]| -> Vec<Json> {
            rings.iter().flatten().map(|id| serde_json::from_str(id).unwrap()).collect()
        };
        match name {
            "kout" => Reply::ok(&json!({"vertices": ids(&rings[depth..])}).to_string()),
            "kneighbor" => Reply::ok(&json!({"vertices": ids(&rings[1..])}).to_string()),
            "shortestpath" => {
                let target = &query["target"];
                let mut path = Vec::new();
                if let Some(found) = rings.iter().position(|ring| ring.contains(target)) {
                    path.push(target.clone());
                    for ring in rings[..found].iter().rev() {
                        let near = self.rings(path.last().unwrap(), 1);
                        path.push(ring.iter().find(|id| near[1].contains(*id)).unwrap().clone());
                    }
                    path.reverse();
                }
                let path: Vec<Json> = path.iter().map(|id| serde_json::from_str(id).unwrap()).collect();
                Reply::ok(&json!({"path": path}).to_string())
            }
            _ => Reply::new(404, "no such traverser"),
        }
    }
}

/// The rows of `selection` shrunk to what a toy bears, run against a toy with `defect`.
fn run(selection: &str, defect: Defect) -> anyhow::Result<Results> {
    let toy = server(defect);
    let mut family = selected(selection);
    for row in &mut family.rows {
        row.batch = row.batch.min(20);
    }
    let course = Course { users: Some(3), ..Course::of_toy(&toy) };
    course.run(&HugeGraph, &family)
}

fn check_clean(selection: &str, defect: Defect) -> Results {
    let results = run(selection, defect).unwrap();
    for row in &results.rows {
        let trouble = (&row.error_kinds, &row.wrong_examples);
        assert_eq!((row.errors, row.answers_wrong), (0, 0), "{}: {trouble:?}", row.id);
        assert!(row.throughput > 0.0 && row.answers_checked > 5, "{}: {}", row.id, row.answers_checked);
    }
    results
}

#[test]
fn a_right_server_passes_every_request_under_every_load() {
    let results = check_clean(
        "HG-VB-32,HG-EB-32,HG-EB-check-32,HG-V1-11500,HG-E1-32,HG-EG-32,HG-VG-search",
        Defect::None,
    );
    let search = &results.rows[5];
    assert_eq!(search.id, "HG-VG-search");
    assert!(search.caveat.contains("rates offered, in requests/s: "), "{}", search.caveat);
    let batch = &results.rows[0];
    assert!((batch.items_per_s / batch.throughput - 20.0).abs() < 1e-6 && batch.items == "vertices");
    let open = results.rows.iter().find(|row| row.id == "HG-V1-11500").unwrap();
    assert!(open.caveat.contains("scaled: 1 of 300 s") && open.published.is_some(), "{}", open.caveat);
    assert!(results.tables.is_empty(), "scaled rows show nothing of goals");
}

#[test]
fn an_old_server_is_asked_by_its_own_paths_and_ids() {
    check_clean("HG-E1-32,HG-EG-32", Defect::IsOld);
}

#[test]
fn wrong_answers_and_lost_elements_are_found_out() {
    for (selection, defect, (errors, wrong)) in [
        ("HG-EB-32", Defect::LosesAnEdge, (false, true)),
        ("HG-E1-32", Defect::ForgetsInEdges, (false, true)),
        ("HG-VB-32", Defect::MixesUpIds, (false, true)),
        ("HG-EB-32", Defect::MixesUpIds, (false, true)),
        ("HG-EG-32", Defect::ForgetsProperties, (false, true)),
        ("HG-V1-32", Defect::FailsSometimes, (true, false)),
    ] {
        let row = run(selection, defect).unwrap().rows.remove(0);
        let found = (row.errors > 0, row.answers_wrong > 0);
        assert_eq!(found.0, errors, "{selection}, {defect:?}: {:?}", row.error_kinds);
        assert!(found.1 || !wrong, "{selection}, {defect:?}: {}", row.answers_checked);
    }
    let refused = run("HG-V1-32", Defect::RefusesSchema).unwrap_err();
    assert!(format!("{refused:#}").contains("creating the schema"), "{refused:#}");
}

#[test]
fn every_published_row_runs_under_four_loads() {
    let rows = selected("").rows;
    let works: Vec<Work> = rows.iter().step_by(4).map(|row| row.work).collect();
    assert_eq!(
        works,
        [
            Work::VertexBatch,
            Work::EdgeBatch,
            Work::EdgeBatch,
            Work::Vertex,
            Work::Edge,
            Work::VertexGet,
            Work::EdgeGet
        ]
    );
}
