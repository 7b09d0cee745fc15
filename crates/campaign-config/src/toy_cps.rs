//! A toy CPS for tests: trees in memory, with as much of the API as the families ask for.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::Mutex;

use campaign::toy::{Reply, Toy};
use serde_json::{Map, Value as Json, json};
use zip::ZipArchive;

use crate::tree::bare;

/// What a toy does wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Defect {
    None,
    /// Answers updates and forgets them.
    LosesUpdates,
    /// Answers that an anchor is deleted, and has it still.
    KeepsAnchors,
    /// Forgets one entry of each list that is written.
    LosesEntries,
    /// Answers the last of fifty additions and forgets it.
    ForgetsTheLast,
    /// Answers lists the other way round.
    TurnsLists,
    /// Finds one node less than there is.
    FindsTooFew,
    /// Is busy once in a while.
    FailsSometimes,
    /// Knows nothing of the difference of two anchors.
    FindsNoDifference,
    /// Forgets one module of each schema set.
    LosesModules,
    /// Refuses anchors, and uploads of several modules.
    Refuses,
}

type Members = Map<String, Json>;

/// Trees by anchor, without prefixes; schema sets with the number of their modules.
#[derive(Default)]
struct Trees {
    anchors: BTreeMap<String, Members>,
    sets: BTreeMap<String, usize>,
}

/// The keys of all lists that families write.
const KEYS: [(&str, &str); 10] = [
    ("network", "network-id"),
    ("node", "node-id"),
    ("termination-point", "tp-id"),
    ("link", "link-id"),
    ("openroadm-device", "device-id"),
    ("degree", "degree-number"),
    ("circuit-packs", "index"),
    ("connection-ports", "index"),
    ("categories", "code"),
    ("books", "title"),
];

fn key_of(list: &str) -> &'static str {
    KEYS.iter().find(|(name, _)| *name == list).map_or("id", |(_, key)| key)
}

fn text(json: &Json) -> String {
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8().unwrap().into_owned()
}

/// The same tree without prefixes.
fn plain(json: &Json) -> Json {
    match json {
        Json::Object(members) => {
            Json::Object(members.iter().map(|(name, value)| (bare(name).to_owned(), plain(value))).collect())
        }
        Json::Array(items) => Json::Array(items.iter().map(plain).collect()),
        other => other.clone(),
    }
}

/// One step of a path: a name, and leaves that must have a value.
#[derive(Debug, Clone)]
struct Step {
    name: String,
    conditions: Vec<(String, String)>,
}

impl Step {
    fn fits(&self, entry: &Json) -> bool {
        self.conditions.iter().all(|(leaf, value)| entry.get(leaf).map(text).as_ref() == Some(value))
    }
}

/// The steps of a path; values have no slash here.
fn steps(path: &str) -> Vec<Step> {
    let step = |part: &str| {
        let (name, rest) = part.split_once('[').unwrap_or((part, ""));
        let conditions = rest.trim_end_matches(']').split(" and ").filter_map(|text| {
            let (leaf, value) = text.split_once('=')?;
            Some((leaf.trim_start_matches('@').to_owned(), value.trim_matches(['\'', '"']).to_owned()))
        });
        Step { name: bare(name).to_owned(), conditions: conditions.collect() }
    };
    path.split('/').filter(|part| !part.is_empty()).map(step).collect()
}

/// The containers and entries at `steps`, each with its name.
fn select<'a>(members: &'a Members, steps: &[Step]) -> Vec<(String, &'a Json)> {
    let Some((step, rest)) = steps.split_first() else { return Vec::new() };
    let found: Vec<&Json> = match members.get(&step.name) {
        Some(Json::Array(entries)) => entries.iter().filter(|entry| step.fits(entry)).collect(),
        Some(container @ Json::Object(_)) => vec![container],
        _ => Vec::new(),
    };
    if rest.is_empty() {
        return found.into_iter().map(|json| (step.name.clone(), json)).collect();
    }
    found.into_iter().filter_map(Json::as_object).flat_map(|members| select(members, rest)).collect()
}

fn select_one<'a>(members: &'a mut Members, steps: &[Step]) -> Option<&'a mut Members> {
    let Some((step, rest)) = steps.split_first() else { return Some(members) };
    let next = match members.get_mut(&step.name)? {
        Json::Array(entries) => entries.iter_mut().find(|entry| step.fits(entry))?,
        container => container,
    };
    select_one(next.as_object_mut()?, rest)
}

/// The nodes called as `step`, however deep, with the nodes above them.
fn descend<'a>(
    members: &'a Members,
    step: &Step,
    above: &[(String, &'a Json)],
    found: &mut Vec<Vec<(String, &'a Json)>>,
) {
    for (name, value) in members {
        let entries = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        for entry in entries.iter().filter(|entry| entry.is_object()) {
            let line = [above, &[(name.clone(), entry)]].concat();
            if *name == step.name && step.fits(entry) {
                found.push(line.clone());
            }
            descend(entry.as_object().unwrap(), step, &line, found);
        }
    }
}

/// A node down to a depth; `None`: all of it.
fn cut(json: &Json, depth: Option<u32>) -> Json {
    let Some(depth) = depth else { return json.clone() };
    let Json::Object(members) = json else { return json.clone() };
    let mut out = Members::new();
    for (name, value) in members {
        let is_node = value.is_object() || value.as_array().is_some_and(|it| it.iter().any(Json::is_object));
        match (is_node, depth) {
            (false, _) => drop(out.insert(name.clone(), value.clone())),
            (true, 0) => {}
            (true, depth) => {
                let below = |json: &Json| cut(json, Some(depth - 1));
                let value = match value {
                    Json::Array(entries) => Json::Array(entries.iter().map(below).collect()),
                    container => below(container),
                };
                out.insert(name.clone(), value);
            }
        }
    }
    Json::Object(out)
}

fn depth(query: &BTreeMap<&str, String>) -> Option<u32> {
    match query.get("descendants").map(String::as_str) {
        Some("all") => None,
        Some("direct") => Some(1),
        _ => Some(0),
    }
}

/// A query: a path, or nodes of a name wherever they are, what is above them, or a leaf of them.
fn query(members: &Members, path: &str, depth: Option<u32>) -> Vec<Json> {
    let named = |(name, json): &(String, &Json)| json!({format!("t:{name}"): cut(json, depth)});
    let (path, leaf) = path.rsplit_once("/@").map_or((path, None), |(path, leaf)| (path, Some(leaf)));
    let (path, above) =
        path.split_once("/ancestor::").map_or((path, None), |(path, above)| (path, Some(above)));
    let mut lines = Vec::new();
    match path.strip_prefix("//") {
        Some(path) => descend(members, &steps(path)[0], &[], &mut lines),
        None => lines.extend(select(members, &steps(path)).into_iter().map(|found| vec![found])),
    }
    if let Some(leaf) = leaf {
        let values = lines.iter().filter_map(|line| line.last().unwrap().1.get(leaf));
        let values: std::collections::BTreeSet<String> = values.map(text).collect();
        return values.into_iter().map(|value| json!({leaf: value})).collect();
    }
    let mut found: Vec<(String, &Json)> = Vec::new();
    for line in &lines {
        let one = match above {
            Some(above) => line.iter().rev().skip(1).find(|(name, _)| name == above),
            None => line.last(),
        };
        found.extend(one.filter(|one| !found.iter().any(|had| std::ptr::eq(had.1, one.1))).cloned());
    }
    found.iter().map(named).collect()
}

/// Writes `body` below the node at `steps`; how many nodes were there already.
fn write(parent: &mut Members, body: &Json, whole_list: bool) {
    for (name, value) in body.as_object().unwrap() {
        let old = parent.get_mut(name).and_then(Json::as_array_mut);
        match (value, old) {
            (Json::Array(entries), Some(old)) if !whole_list && entries.iter().all(Json::is_object) => {
                for entry in entries {
                    let key = key_of(name);
                    match old.iter_mut().find(|it| it[key] == entry[key]) {
                        Some(it) => *it = entry.clone(),
                        None => old.push(entry.clone()),
                    }
                }
            }
            _ => drop(parent.insert(name.clone(), value.clone())),
        }
    }
}

/// Adds leaves to nodes that are there; whether all are.
fn patch(parent: &mut Members, body: &Json) -> bool {
    body.as_object().unwrap().iter().all(|(name, value)| match (value, parent.get_mut(name)) {
        (Json::Array(entries), Some(Json::Array(old))) => entries.iter().all(|entry| {
            let key = key_of(name);
            let found = old.iter_mut().find(|it| it[key] == entry[key]);
            found.is_some_and(|it| patch_node(it, entry))
        }),
        (Json::Object(_), Some(old)) => patch_node(old, value),
        _ => false,
    })
}

fn patch_node(node: &mut Json, leaves: &Json) -> bool {
    node.as_object_mut().unwrap().extend(leaves.as_object().unwrap().clone());
    true
}

/// The entries of the devices' list that differ, created or replaced: those at a path, or below it if it is that of the container.
fn delta(
    source: &Members,
    target: &Members,
    (xpath, depth, grouping): (&str, Option<u32>, bool),
) -> Vec<Json> {
    const CONTAINER: &str = "/openroadm-devices";
    let list = format!("{CONTAINER}/openroadm-device");
    let (xpath, depth) = match (xpath, depth) {
        (CONTAINER, Some(0)) => return Vec::new(),
        (CONTAINER, depth) => (&*list, depth),
        (xpath, depth) => (xpath, depth.map(|depth| depth + 1)),
    };
    let devices = |members: &Members| -> Vec<Json> {
        select(members, &steps(xpath)).into_iter().map(|(_, json)| json.clone()).collect()
    };
    let (old, new) = (devices(source), devices(target));
    let mut items = Vec::new();
    let path = |entry: &Json| {
        format!("/openroadm-devices/openroadm-device[@device-id='{}']", text(&entry["device-id"]))
    };
    let leaves = |entry: &Json| cut(entry, Some(0));
    let mut created = Vec::new();
    for entry in &new {
        match old.iter().find(|old| old["device-id"] == entry["device-id"]) {
            Some(old) if leaves(old) != leaves(entry) => items.push(json!({"action": "replace", "xpath": path(entry),
                "sourceData": {"openroadm-device": [leaves(old)]}, "targetData": {"openroadm-device": [leaves(entry)]}})),
            Some(_) => {}
            None if grouping => created.push(entry.clone()),
            None => {
                let below = if depth.is_none() { crate::tree::nodes(entry) } else { 0 };
                for _ in 0..=below {
                    items.push(json!({"action": "create", "xpath": path(entry), "targetData": {}}));
                }
            }
        }
    }
    if !created.is_empty() {
        let data = json!({"openroadm-device": created});
        items.push(json!({"action": "create", "xpath": "/openroadm-devices", "targetData": data}));
    }
    items
}

impl Trees {
    fn data(
        &mut self,
        request: (&str, &str),
        anchor: &str,
        query: &BTreeMap<&str, String>,
        body: &[u8],
        defect: Defect,
    ) -> Reply {
        let Some(tree) = self.anchors.get_mut(anchor) else { return Reply::new(400, "no such anchor") };
        let path = query.get("xpath").map_or("/", String::as_str);
        let steps = steps(path);
        let read = || plain(&serde_json::from_slice(body).unwrap());
        let whole_list = request.1 == "list-nodes" && request.0 == "PUT";
        match request {
            ("DELETE", _) => {
                if steps.is_empty() {
                    tree.clear();
                    return Reply::new(204, "");
                }
                if select(tree, &steps).is_empty() {
                    return Reply::new(400, "no such node");
                }
                let (last, above) = steps.split_last().unwrap();
                let parent = select_one(tree, above).unwrap();
                match (last.conditions.is_empty(), parent.get_mut(&last.name)) {
                    (false, Some(Json::Array(entries))) => entries.retain(|entry| !last.fits(entry)),
                    _ => drop(parent.shift_remove(&last.name)),
                }
                Reply::new(204, "")
            }
            (method, _) => {
                let Some(parent) = select_one(tree, &steps) else { return Reply::new(400, "no such parent") };
                let mut body = read();
                if method == "PATCH" {
                    let found = defect == Defect::LosesUpdates || patch(parent, &body);
                    return if found { Reply::ok("") } else { Reply::new(400, "no such node") };
                }
                if defect == Defect::LosesUpdates && method == "PUT" {
                    return Reply::ok("");
                }
                let is_last = body.get("entry").is_some_and(|entry| entry[0]["id"] == 50);
                if defect == Defect::ForgetsTheLast && is_last {
                    return Reply::new(201, "");
                }
                if defect == Defect::LosesEntries {
                    lose(&mut body);
                }
                write(parent, &body, whole_list);
                if method == "PUT" { Reply::ok("") } else { Reply::new(201, "") }
            }
        }
    }
}

/// Forgets the last entry of one of the innermost lists that has several.
fn lose(json: &mut Json) -> bool {
    match json {
        Json::Object(members) => members.values_mut().any(lose),
        Json::Array(items) => {
            items.iter_mut().any(lose) || (items.len() > 1 && items[0].is_object() && items.pop().is_some())
        }
        _ => false,
    }
}

fn turn(json: &mut Json) {
    match json {
        Json::Object(members) => members.values_mut().for_each(turn),
        Json::Array(items) => {
            items.reverse();
            items.iter_mut().for_each(turn);
        }
        _ => {}
    }
}

/// A server with as much of the API as the families ask for.
pub(crate) fn server(defect: Defect) -> Toy {
    let trees = Mutex::new(Trees::default());
    Toy::start_with(move |nth, head, body| {
        if defect == Defect::FailsSometimes && nth % 40 == 0 {
            return Reply::new(503, "busy");
        }
        let mut words = head.split(' ');
        let (method, target) = (words.next().unwrap(), words.next().unwrap());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let query = query.split('&').filter_map(|pair| pair.split_once('='));
        let query: BTreeMap<&str, String> = query.map(|(name, value)| (name, decoded(value))).collect();
        let Some(path) = path.strip_prefix("/cps/api/v2/dataspaces") else { return Reply::new(404, "") };
        let steps: Vec<&str> = path.split('/').skip(1).collect();
        reply((method, &steps, &query), body, &mut trees.lock().unwrap(), defect)
    })
}

type Asked<'a> = (&'a str, &'a [&'a str], &'a BTreeMap<&'a str, String>);

fn reply((method, path, query): Asked<'_>, body: &[u8], trees: &mut Trees, defect: Defect) -> Reply {
    match (method, path) {
        ("POST", []) => Reply::new(201, ""),
        ("POST", [_, "anchors"]) if defect == Defect::Refuses => Reply::new(400, "no"),
        ("POST", [_, "schema-sets"]) if defect == Defect::Refuses && modules(body) > 1 => {
            Reply::new(400, "no")
        }
        ("POST", [_, "schema-sets"]) => {
            let name = query["schema-set-name"].clone();
            if trees.sets.contains_key(&name) {
                return Reply::new(409, "there");
            }
            trees.sets.insert(name, modules(body) - usize::from(defect == Defect::LosesModules));
            Reply::new(201, "")
        }
        ("POST", [_, "anchors"]) if !trees.sets.contains_key(&query["schema-set-name"]) => {
            Reply::new(400, "no such set")
        }
        ("POST", [_, "anchors"]) => {
            trees.anchors.insert(query["anchor-name"].clone(), Members::new());
            Reply::new(201, "")
        }
        ("DELETE", [_, "schema-sets", name]) => {
            let found = trees.sets.remove(*name).is_some();
            Reply::new(if found { 204 } else { 400 }, "")
        }
        ("DELETE", [_, "anchors", _]) if defect == Defect::KeepsAnchors => Reply::new(204, ""),
        ("DELETE", [_, "anchors", anchor]) => {
            let found = trees.anchors.remove(*anchor).is_some();
            Reply::new(if found { 204 } else { 400 }, "")
        }
        ("GET", [_, path @ ..]) => trees.get(path, query, defect),
        ("POST", [_, "anchors", anchor, "delta"]) => {
            let text = String::from_utf8_lossy(body);
            let json = text.split_once("\r\n\r\n").unwrap().1.split_once("\r\n--").unwrap().0;
            let other = plain(&serde_json::from_str(json).unwrap());
            let asked = (&*query["xpath"], None, grouping(query));
            let items = delta(&trees.anchors[*anchor], other.as_object().unwrap(), asked);
            Reply::ok(&Json::Array(items).to_string())
        }
        ("POST", [_, "anchors", anchor, "applyChangesInDeltaReport"]) => {
            let tree = trees.anchors.get_mut(*anchor).unwrap();
            for item in serde_json::from_slice::<Vec<Json>>(body).unwrap() {
                let parent = select_one(tree, &steps("/openroadm-devices")).unwrap();
                match item["action"].as_str().unwrap() {
                    "replace" => assert!(patch(parent, &item["targetData"])),
                    _ => write(parent, &item["targetData"], false),
                }
            }
            Reply::new(201, "")
        }
        (_, [_, "anchors", anchor, what]) => trees.data((method, what), anchor, query, body, defect),
        _ => Reply::new(404, ""),
    }
}

/// How many modules an upload has.
fn modules(body: &[u8]) -> usize {
    let begin = body.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap() + 4;
    let end = body.windows(4).rposition(|bytes| bytes == b"\r\n--").unwrap();
    let archive = ZipArchive::new(Cursor::new(&body[begin..end]));
    archive.map_or(1, |archive| archive.len())
}

fn grouping(query: &BTreeMap<&str, String>) -> bool {
    query.get("grouping-enabled").is_some_and(|it| it == "true")
}

impl Trees {
    /// What is asked of a dataspace.
    fn get(&self, path: &[&str], query: &BTreeMap<&str, String>, defect: Defect) -> Reply {
        let answer = |mut found: Vec<Json>| {
            if defect == Defect::FindsTooFew {
                found.pop();
            }
            let mut json = Json::Array(found);
            if defect == Defect::TurnsLists {
                turn(&mut json);
            }
            Reply::ok(&json.to_string())
        };
        match path {
            ["anchors"] => {
                let anchors = self.anchors.keys().map(|name| json!({"name": name})).collect();
                Reply::ok(&Json::Array(anchors).to_string())
            }
            ["schema-sets", name] => {
                let Some(modules) = self.sets.get(*name) else { return Reply::new(400, "no such set") };
                let reference = json!({"namespace": "urn:toy", "revision": "2026-01-01"});
                let references = vec![reference; *modules];
                Reply::ok(&json!({"name": name, "moduleReferences": references}).to_string())
            }
            ["nodes", "query"] => {
                let of = |(name, tree): (&String, &Members)| {
                    let nodes = self::query(tree, &query["cps-path"], depth(query));
                    (!nodes.is_empty()).then(|| json!({"anchorName": name, "dataNodes": nodes}))
                };
                answer(self.anchors.iter().filter_map(of).collect())
            }
            ["anchors", anchor, what @ ..] => {
                let Some(tree) = self.anchors.get(*anchor) else { return Reply::new(400, "no such anchor") };
                match what {
                    ["nodes", "query"] => answer(self::query(tree, &query["cps-path"], depth(query))),
                    ["node"] => read(tree, query, answer),
                    ["delta"] if defect == Defect::FindsNoDifference => Reply::ok("[]"),
                    ["delta"] => {
                        let other = &self.anchors[&query["target-anchor-name"]];
                        let asked = (&*query["xpath"], depth(query), grouping(query));
                        let items = delta(tree, other, asked);
                        Reply::ok(&Json::Array(items).to_string())
                    }
                    _ => Reply::new(404, ""),
                }
            }
            _ => Reply::new(404, ""),
        }
    }
}

fn read(tree: &Members, query: &BTreeMap<&str, String>, answer: impl Fn(Vec<Json>) -> Reply) -> Reply {
    let steps = self::steps(&query["xpath"]);
    let found = if steps.is_empty() {
        tree.iter().map(|(name, json)| (name.clone(), json)).collect()
    } else {
        select(tree, &steps)
    };
    if found.is_empty() {
        return Reply::new(404, "{}");
    }
    answer(found.iter().map(|(name, json)| json!({format!("t:{name}"): cut(json, depth(query))})).collect())
}
