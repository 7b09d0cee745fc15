//! A toy HugeGraph for tests: one graph in memory, with as much of the API as the families ask for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use campaign::toy::{Reply, Toy};
use serde_json::{Value as Json, json};

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
    /// The ids of edges by those of their ends.
    by_end: BTreeMap<String, BTreeSet<String>>,
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
                let edges = graph.incident(&query["vertex_id"], &query["direction"], defect);
                Reply::ok(&json!({"edges": edges}).to_string())
            }
            ("GET", ["graph", kind]) => Reply::ok(&graph.page(kind, &query).to_string()),
            ("GET", ["traversers", "edges", "shards"]) => {
                Reply::ok(r#"{"shards":[{"start":"0","end":"9","length":0}]}"#)
            }
            ("GET", ["traversers", "edges", "scan"]) => {
                let mut query = query.clone();
                query.insert("limit", query["page_limit"].clone());
                Reply::ok(&graph.page("edges", &query).to_string())
            }
            ("POST", ["jobs", "algorithm", "louvain"]) => Reply::new(201, r#"{"task_id":7}"#),
            ("GET", ["tasks", "7"]) => {
                let modularity = if defect == Defect::MixesUpIds { 0.1 } else { 0.9 };
                let result = json!({"louvain": {"modularity": modularity}}).to_string();
                Reply::ok(&json!({"task_status": "success", "task_result": result}).to_string())
            }
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
        } else {
            let lost = defect == Defect::LosesAnEdge && self.edges.len() % 7 == 3;
            let id = if lost { "S4:x>4>4>>S4:y" } else { id.as_str().unwrap() };
            self.edges.insert(id.to_owned(), draft.clone());
            for end in ["outV", "inV"].into_iter().filter(|_| !lost) {
                self.by_end.entry(draft[end].to_string()).or_default().insert(id.to_owned());
            }
        }
        draft
    }

    fn at(&self, id: &str) -> impl Iterator<Item = &Json> {
        self.by_end.get(id).into_iter().flatten().map(|edge| &self.edges[edge])
    }

    fn incident(&self, id: &str, direction: &str, defect: Defect) -> Vec<&Json> {
        let json: Json = serde_json::from_str(id).unwrap();
        let of = |edge: &&Json| {
            let out = direction != "IN" && edge["outV"] == json;
            let into = direction != "OUT" && edge["inV"] == json && defect != Defect::ForgetsInEdges;
            out || into
        };
        self.at(id).filter(of).collect()
    }

    /// A page of a list; its name is the number of its first element.
    fn page(&self, kind: &str, query: &BTreeMap<&str, String>) -> Json {
        let (start, limit): (usize, usize) =
            (query["page"].parse().unwrap_or(0), query["limit"].parse().unwrap());
        let wanted = |element: &&Json| query.get("label").is_none_or(|label| element["label"] == *label);
        let all: Vec<&Json> = self.of(kind).values().filter(wanted).collect();
        let found: Vec<&Json> = all.iter().copied().skip(start).take(limit).collect();
        let next = (start + found.len() < all.len()).then(|| (start + found.len()).to_string());
        json!({kind: found, "page": next})
    }

    /// Vertices by their distance from `source`, in both directions.
    fn rings(&self, source: &str, depth: usize) -> Vec<BTreeSet<String>> {
        let mut seen = BTreeSet::from([source.to_owned()]);
        let mut rings = vec![seen.clone()];
        for _ in 0..depth {
            let mut next = BTreeSet::new();
            for edge in rings.last().unwrap().iter().flat_map(|id| self.at(id)) {
                for end in [edge["outV"].to_string(), edge["inV"].to_string()] {
                    if !seen.contains(&end) {
                        next.insert(end);
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
