//! Configuration of a server that is killed at random moments while clients write over the CPS API and RESTCONF: all that was acknowledged is
//! there, each tree is that of a prefix of its client's writes, and so is each version that is kept.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::thread;
use std::time::Duration;

use config::{Depth, Label};
use lang_yang::{Style, write_content_json};
use model_config::{Clock, ConfigOptions, Configs};
use serde_json::{Value, json};
use store::{EmbeddedOptions, Store};

use crate::config_events::upload;
use crate::harness::{PATIENCE, Server};
use crate::hooks::{Dice, rounds};

const MODULE: &str = "module kill { namespace 'urn:kill'; prefix k; container box { leaf count { type uint64; } \
    list item { key name; leaf name { type string; } leaf value { type uint64; } leaf text { type string; } } } }";
const CLIENTS: usize = 4;
/// The longest that a server lives, once it listens.
const LIFE_MS: u64 = 900;
/// Names of items; some have what paths must quote.
const NAMES: u64 = 60;
/// Items of 1.5 KiB at the most: of these many a tree is up to 90 KiB, of many pages.
const TEXT_MAX: u64 = 1_500;
/// Fewer than clients write, so that versions are let go of.
const VERSIONS_MAX: usize = 12;

/// What an anchor holds.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Tree {
    count: Option<u64>,
    items: BTreeMap<String, (u64, String)>,
}

/// An anchor as its client knows it: what it holds, and how often that was changed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct State {
    version: u64,
    tree: Tree,
}

/// A client, which writes to an anchor of its own.
struct Client {
    anchor: String,
    dice: Dice,
    /// Numbers that nothing else has: every write changes something.
    number: u64,
    /// `None`: there is no such anchor.
    state: Option<State>,
    /// What the last write was to make of it, while that is not answered.
    pending: Option<Option<State>>,
    /// What each version of this life of the anchor held.
    history: BTreeMap<u64, Tree>,
}

struct Asked {
    method: &'static str,
    path: String,
    body: Option<Value>,
    /// What it makes of the anchor.
    next: Option<Tree>,
}

/// Status, tag and body of the answer; `None` if none came.
fn try_ask(address: SocketAddr, (method, path): (&str, &str), body: Option<&Value>) -> Option<Answer> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let body = body.map(Value::to_string).unwrap_or_default();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: t\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}",
        body.len()
    );
    stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).ok()?;
    let mut answer = Vec::new();
    // A reset is no answer either, but for what came before it.
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let tag = head.lines().find_map(|line| line.strip_prefix("etag: \"")).map(str::to_owned);
    Some(Answer { status, tag, body: body.to_owned() })
}

struct Answer {
    status: u16,
    tag: Option<String>,
    body: String,
}

impl Answer {
    /// The version that the tag names: behind the number of the anchor's life, before the form of the answer.
    fn version(&self) -> u64 {
        let tag = self.tag.as_ref().expect("answers about data have a tag");
        u64::from_str_radix(&tag[16..32], 16).unwrap()
    }
}

impl Tree {
    fn item(name: &str, (value, text): &(u64, String)) -> Value {
        json!({ "name": name, "value": value.to_string(), "text": text })
    }

    fn items_of<'i>(items: impl IntoIterator<Item = (&'i String, &'i (u64, String))>) -> Vec<Value> {
        items.into_iter().map(|(name, item)| Self::item(name, item)).collect()
    }

    /// What lies at the top, as RFC 7951 spells it.
    fn read(top: &Value) -> Self {
        let number = |value: &Value| value.as_str().map(|text| text.parse().unwrap());
        let of = &top["kill:box"];
        let items = of["item"].as_array().into_iter().flatten().map(|item| {
            let text = |name: &str| item[name].as_str().unwrap().to_owned();
            (text("name"), (number(&item["value"]).unwrap(), text("text")))
        });
        Self { count: number(&of["count"]), items: items.collect() }
    }
}

impl Client {
    fn new(number: usize) -> Self {
        Self {
            anchor: format!("a{number}"),
            dice: Dice::new(),
            number: 0,
            state: None,
            pending: None,
            history: BTreeMap::new(),
        }
    }

    fn name(&mut self) -> String {
        let number = self.dice.below(NAMES);
        if number.is_multiple_of(7) { format!("it's {number}/x") } else { format!("n{number}") }
    }

    fn item(&mut self) -> (u64, String) {
        self.number += 1;
        let length = self.dice.below(TEXT_MAX);
        (self.number, "x".repeat(usize::try_from(length).unwrap()))
    }

    fn items(&mut self, most: u64) -> BTreeMap<String, (u64, String)> {
        (0..=self.dice.below(most)).map(|_| (self.name(), self.item())).collect()
    }

    /// The next write, whatever fits what the anchor holds.
    fn next(&mut self) -> Asked {
        let of_cps = format!("/cps/api/v2/dataspaces/d/anchors/{}", self.anchor);
        let Some(State { tree, .. }) = self.state.clone() else {
            let path =
                format!("/cps/api/v2/dataspaces/d/anchors?schema-set-name=s&anchor-name={}", self.anchor);
            return Asked { method: "POST", path, body: None, next: Some(Tree::default()) };
        };
        let draw = self.dice.below(100);
        match draw {
            0 => Asked { method: "DELETE", path: of_cps, body: None, next: None },
            1..50 => self.next_of_restconf(draw, tree),
            // What CPS changes must be there.
            _ if tree.count.is_none() || tree.items.is_empty() => self.next_of_restconf(draw % 30, tree),
            _ => self.next_of_cps(draw, tree, &of_cps),
        }
    }

    fn next_of_restconf(&mut self, draw: u64, mut tree: Tree) -> Asked {
        let root = format!("/restconf/d/{}/data", self.anchor);
        let (method, path, body) = match draw {
            ..10 => {
                tree.items = self.items(NAMES);
                self.number += 1;
                tree.count = Some(self.number);
                let of = json!({ "count": self.number.to_string(), "item": Tree::items_of(&tree.items) });
                ("PUT", format!("{root}/kill:box"), Some(json!({ "kill:box": of })))
            }
            10..30 => {
                let items = self.items(4);
                self.number += 1;
                tree.count = Some(self.number);
                let of = json!({ "count": self.number.to_string(), "item": Tree::items_of(&items) });
                tree.items.extend(items);
                ("PATCH", format!("{root}/kill:box"), Some(json!({ "kill:box": of })))
            }
            30..40 => {
                let (name, item) = (self.name(), self.item());
                let body = json!({ "kill:item": [Tree::item(&name, &item)] });
                let path = format!("{root}/kill:box/item={}", name.replace('/', "%2F").replace(' ', "%20"));
                tree.items.insert(name, item);
                ("PUT", path, Some(body))
            }
            _ => match self.one_of(&tree) {
                Some(name) => {
                    tree.items.remove(&name);
                    let name = name.replace('/', "%2F").replace(' ', "%20");
                    ("DELETE", format!("{root}/kill:box/item={name}"), None)
                }
                None => return self.next_of_restconf(0, tree),
            },
        };
        Asked { method, path, body, next: Some(tree) }
    }

    fn next_of_cps(&mut self, draw: u64, mut tree: Tree, root: &str) -> Asked {
        let (method, path, body) = match draw {
            ..60 => {
                self.number += 1;
                tree.count = Some(self.number);
                ("PATCH", format!("{root}/nodes?xpath=/"), Some(json!({ "box": { "count": self.number } })))
            }
            60..70 => {
                tree.items = self.items(NAMES);
                self.number += 1;
                tree.count = Some(self.number);
                let of = json!({ "count": self.number, "item": Tree::items_of(&tree.items) });
                ("PUT", format!("{root}/nodes?xpath=/"), Some(json!({ "box": of })))
            }
            70..80 => {
                let mut items = self.items(8);
                items.retain(|name, _| !tree.items.contains_key(name));
                if items.is_empty() {
                    items.insert(format!("more {}", self.number), self.item());
                }
                let body = json!({ "item": Tree::items_of(&items) });
                tree.items.extend(items);
                ("POST", format!("{root}/list-nodes?xpath=/box"), Some(body))
            }
            80..85 => {
                tree.items = self.items(NAMES);
                let body = json!({ "item": Tree::items_of(&tree.items) });
                ("PUT", format!("{root}/list-nodes?xpath=/box"), Some(body))
            }
            _ => {
                let name = self.one_of(&tree).expect("there is one");
                tree.items.remove(&name);
                let key = name.replace('\'', "''").replace('/', "%2F").replace(' ', "%20");
                ("DELETE", format!("{root}/nodes?xpath=/box/item[@name='{key}']"), None)
            }
        };
        Asked { method, path, body, next: Some(tree) }
    }

    fn one_of(&mut self, tree: &Tree) -> Option<String> {
        let count = u64::try_from(tree.items.len()).unwrap();
        let place = self.dice.below(count.max(1));
        tree.items.keys().nth(usize::try_from(place).unwrap()).cloned()
    }

    /// Writes until the server is gone; how many writes were acknowledged.
    fn write_until_killed(&mut self, address: SocketAddr) -> usize {
        for count in 0.. {
            let asked = self.next();
            let version = self.state.as_ref().map_or(0, |state| state.version + 1);
            let next = asked.next.map(|tree| State { version, tree });
            self.pending = Some(next.clone());
            let Some(answer) = try_ask(address, (asked.method, &asked.path), asked.body.as_ref()) else {
                return count;
            };
            let (method, path) = (asked.method, asked.path);
            assert!(matches!(answer.status, 200..300), "{method} {path}: {} {}", answer.status, answer.body);
            if path.starts_with("/restconf") {
                assert_eq!(answer.version(), version, "{method} {path}");
            }
            self.settle(next);
        }
        unreachable!("it writes until there is no answer");
    }

    fn settle(&mut self, state: Option<State>) {
        self.pending = None;
        match &state {
            None => self.history.clear(),
            Some(state) => {
                if state.version == 0 {
                    self.history.clear();
                }
                self.history.insert(state.version, state.tree.clone());
            }
        }
        self.state = state;
    }

    /// What is stored is what was acknowledged, or that and the write that was not answered.
    fn check(&mut self, server: &Server) {
        let answer = server.get(&format!("/restconf/d/{}/data", self.anchor));
        let found = match answer.status {
            404 => None,
            200 => {
                let tree =
                    Tree::read(&serde_json::from_slice::<Value>(&answer.body).unwrap()["ietf-restconf:data"]);
                let tag = answer.header("etag").unwrap().trim_matches('"').to_owned();
                let version = Answer { status: 200, tag: Some(tag), body: String::new() }.version();
                Some(State { version, tree })
            }
            status => panic!("{status}: {}", answer.text()),
        };
        if found != self.state {
            let pending = self.pending.take();
            assert_eq!(Some(&found), pending.as_ref(), "{} was {:?}", self.anchor, self.state);
            self.settle(found);
        }
        self.pending = None;
        self.check_places(server);
    }

    /// Both APIs find each item by its key.
    fn check_places(&mut self, server: &Server) {
        let Some(State { tree, .. }) = self.state.clone() else { return };
        let Some(name) = self.one_of(&tree) else { return };
        let spelt = name.replace('/', "%2F").replace(' ', "%20");
        let answer = server.get(&format!("/restconf/d/{}/data/kill:box/item={spelt}", self.anchor));
        let expected = json!({ "kill:item": [Tree::item(&name, &tree.items[&name])] });
        assert_eq!(serde_json::from_slice::<Value>(&answer.body).unwrap(), expected);
        let path = format!("/cps/api/v2/dataspaces/d/anchors/{}/nodes/query?cps-path=", self.anchor);
        let answer = server.get(&format!("{path}//item[@name='{}']", spelt.replace('\'', "''")));
        let found = serde_json::from_slice::<Value>(&answer.body).unwrap();
        assert_eq!(found.as_array().map(Vec::len), Some(1), "{name}: {found}");
        let answer = server.get(&format!("{path}//item"));
        let found = serde_json::from_slice::<Value>(&answer.body).unwrap();
        assert_eq!(found.as_array().map(Vec::len), Some(tree.items.len()), "{found}");
    }

    /// The versions that are kept follow one another up to the newest, and each holds what was written.
    async fn check_versions(&self, configs: &Configs) {
        let Some(state) = &self.state else { return };
        let anchor = configs.anchor("d", &self.anchor).await.unwrap();
        let kept: Vec<u64> = anchor.versions().await.unwrap().iter().map(|info| info.version.0).collect();
        let first = *kept.first().unwrap();
        assert_eq!(kept, (first..=state.version).collect::<Vec<_>>(), "{}", self.anchor);
        for info in anchor.versions().await.unwrap() {
            let reading = anchor.read(Some(info.version)).await.unwrap();
            let content = reading.run(|tree| tree.content(&Label::top(), Depth::All)).await.unwrap().unwrap();
            let mut out = Vec::new();
            write_content_json(anchor.schema(), &content, Style::RFC7951, &mut out);
            let tree = Tree::read(&serde_json::from_slice(&out).unwrap());
            assert_eq!(tree, self.history[&info.version.0], "{}, version {}", self.anchor, info.version);
        }
    }
}

fn start(folder: &Path) -> Server {
    Server::start(folder, &["--config-versions-max", &VERSIONS_MAX.to_string()])
}

/// The schema set of all anchors.
fn furnish(server: &Server) {
    assert_eq!(server.post("/cps/api/v2/dataspaces?dataspace-name=d", "").status, 201);
    let path = "/cps/api/v2/dataspaces/d/schema-sets?schema-set-name=s";
    assert_eq!(upload(server, path, "kill.yang", MODULE), 201);
}

fn check_versions(folder: &Path, clients: &[Client]) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.unwrap().block_on(async {
        let options = EmbeddedOptions { disk_free_min: Some(0), ..EmbeddedOptions::recommended() };
        let store = Store::open(folder, options).unwrap();
        let configs = Configs::new(store.clone(), Clock::System, ConfigOptions::recommended());
        for client in clients {
            client.check_versions(&configs).await;
        }
        store.close().await.unwrap();
    });
}

#[test]
fn configuration_is_whole_when_the_server_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut clients: Vec<Client> = (0..CLIENTS).map(Client::new).collect();
    let (mut dice, mut acknowledged) = (Dice::new(), 0);
    for round in 0..rounds() {
        let server = start(folder.path());
        if round == 0 {
            furnish(&server);
        }
        clients.iter_mut().for_each(|client| client.check(&server));
        let (address, life) = (server.address, Duration::from_millis(dice.below(LIFE_MS)));
        acknowledged += thread::scope(|scope| {
            let writers = clients.iter_mut().map(|client| scope.spawn(|| client.write_until_killed(address)));
            let writers: Vec<_> = writers.collect();
            thread::sleep(life);
            server.signal("KILL");
            writers.into_iter().map(|writer| writer.join().unwrap()).sum::<usize>()
        });
        drop(server);
    }
    assert!(acknowledged > 0, "no server lived long enough for a write");
    let server = start(folder.path());
    clients.iter_mut().for_each(|client| client.check(&server));
    assert_eq!(server.stop(), Some(0));
    check_versions(folder.path(), &clients);
}
