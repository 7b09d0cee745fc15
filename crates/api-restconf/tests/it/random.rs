//! Random writes against a plain model: what each answers, and what all data are then, in both forms.

use http::{HeaderMap, HeaderValue};
use http_body_util::BodyExt as _;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::service::Service;

const ROOT: &str = "/restconf/data/example-jukebox:jukebox";
/// Names with what paths must encode.
const NAMES: [&str; 4] = ["a", "b/c", "d,e=f", "g \"h\" %'"];

/// What there is of a jukebox.
#[derive(Clone, Debug, Default)]
struct Plain {
    artists: Vec<(usize, Artist)>,
    songs: Vec<(u8, Option<String>)>,
    tags: Vec<usize>,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Artist {
    rating: Option<u8>,
    /// Name and year.
    albums: Vec<(usize, Option<u16>)>,
}

#[derive(Clone, Copy, Debug)]
enum Spot {
    Default,
    First,
    Last,
    Before(u8),
    After(u8),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Method {
    Post,
    Put,
    Patch,
    Delete,
}

#[derive(Clone, Debug)]
enum Change {
    /// An artist with a rating and albums.
    Artist(Method, usize, Artist),
    /// The rating of an artist.
    Rating(Method, usize, u8),
    /// An album of an artist.
    Album(Method, usize, usize, Option<u16>),
    /// A song of the one playlist.
    Song(Method, u8, Option<String>, Spot),
    /// A tag of it.
    Tag(Method, usize, Spot),
}

fn method() -> impl Strategy<Value = Method> {
    prop::sample::select(vec![Method::Post, Method::Put, Method::Patch, Method::Delete])
}

fn spot() -> impl Strategy<Value = Spot> {
    prop_oneof![
        Just(Spot::Default),
        Just(Spot::First),
        Just(Spot::Last),
        (0_u8..5).prop_map(Spot::Before),
        (0_u8..5).prop_map(Spot::After),
    ]
}

fn artist() -> impl Strategy<Value = Artist> {
    let album = (0..NAMES.len(), prop::option::of(1900_u16..1903));
    (prop::option::of(1_u8..6), prop::collection::vec(album, 0..3)).prop_map(|(rating, mut albums)| {
        let mut seen = std::collections::HashSet::new();
        albums.retain(|(name, _)| seen.insert(*name));
        Artist { rating, albums }
    })
}

fn change() -> impl Strategy<Value = Change> {
    let name = 0..NAMES.len();
    prop_oneof![
        (method(), name.clone(), artist())
            .prop_map(|(method, name, artist)| Change::Artist(method, name, artist)),
        (method(), name.clone(), 1_u8..6)
            .prop_map(|(method, name, rating)| Change::Rating(method, name, rating)),
        (method(), name.clone(), name.clone(), prop::option::of(1900_u16..1903))
            .prop_map(|(method, name, album, year)| Change::Album(method, name, album, year)),
        (method(), 0_u8..5, prop::option::of("[a-z<&]{1,3}"), spot())
            .prop_map(|(method, index, id, spot)| Change::Song(method, index, id, spot)),
        (method(), name, spot()).prop_map(|(method, name, spot)| Change::Tag(method, name, spot)),
    ]
}

/// A request, and the status that must answer it.
struct Expected {
    method: &'static str,
    target: String,
    body: Option<Value>,
    status: u16,
}

/// The status, and where a new entry of a list goes; nothing of one that is refused.
type Judged<T> = (u16, Option<T>);

fn encoded(name: &str) -> String {
    let mut out = String::new();
    api_http::percent_encode_into(name, &mut out);
    out
}

/// What becomes of an entry: its status, and whether it is made anew, merged, or removed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fate {
    Made,
    Replaced,
    Merged,
    Removed,
}

fn fate(method: Method, is_there: bool) -> Judged<Fate> {
    match (method, is_there) {
        (Method::Post, false) => (201, Some(Fate::Made)),
        (Method::Post, true) => (409, None),
        (Method::Put, false) => (201, Some(Fate::Made)),
        (Method::Put, true) => (204, Some(Fate::Replaced)),
        (Method::Patch, true) => (204, Some(Fate::Merged)),
        (Method::Patch, false) => (404, None),
        (Method::Delete, true) => (204, Some(Fate::Removed)),
        (Method::Delete, false) => (409, None),
    }
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

impl Change {
    /// The same by another method; `None` of one that chooses a place.
    fn by(&self, method: Method) -> Option<Self> {
        let mut change = self.clone();
        let own = match &mut change {
            Self::Artist(own, ..) | Self::Rating(own, ..) | Self::Album(own, ..) => own,
            Self::Song(own, _, _, Spot::Default) | Self::Tag(own, _, Spot::Default) => own,
            Self::Song(..) | Self::Tag(..) => return None,
        };
        *own = method;
        Some(change)
    }
}

impl Artist {
    fn members(&self, name: usize) -> Value {
        let mut out = Map::new();
        out.insert("name".into(), json!(NAMES[name]));
        if let Some(rating) = self.rating {
            out.insert("example-extras:rating".into(), json!(rating));
        }
        if !self.albums.is_empty() {
            let albums = self.albums.iter().map(|(name, year)| album(*name, *year));
            out.insert("album".into(), albums.collect());
        }
        Value::Object(out)
    }
}

fn album(name: usize, year: Option<u16>) -> Value {
    match year {
        Some(year) => json!({ "name": NAMES[name], "year": year }),
        None => json!({ "name": NAMES[name] }),
    }
}

fn song(index: u8, id: Option<&String>) -> Value {
    match id {
        Some(id) => json!({ "index": index, "id": id }),
        None => json!({ "index": index }),
    }
}

/// The position that a spot means among these; `None`: what it is about is not there.
fn position<T: PartialEq>(of: &[T], spot: Spot, point: impl Fn(u8) -> T) -> Option<usize> {
    let find = |index| of.iter().position(|other| *other == point(index));
    match spot {
        Spot::Default | Spot::Last => Some(of.len()),
        Spot::First => Some(0),
        Spot::Before(index) => find(index),
        Spot::After(index) => find(index).map(|at| at + 1),
    }
}

fn query(spot: Spot, point: impl Fn(u8) -> String) -> String {
    match spot {
        Spot::Default => String::new(),
        Spot::First => "?insert=first".into(),
        Spot::Last => "?insert=last".into(),
        Spot::Before(index) => format!("?insert=before&point={}", encoded(&point(index))),
        Spot::After(index) => format!("?insert=after&point={}", encoded(&point(index))),
    }
}

impl Plain {
    /// Makes the change, if it is one, and says what must answer it.
    fn apply(&mut self, change: &Change) -> Expected {
        match change {
            Change::Artist(method, name, artist) => self.artist(*method, *name, artist),
            Change::Rating(method, name, rating) => self.rating(*method, *name, *rating),
            Change::Album(method, name, album, year) => self.album(*method, *name, (*album, *year)),
            Change::Song(method, index, id, spot) => self.song(*method, (*index, id.clone()), *spot),
            Change::Tag(method, name, spot) => self.tag(*method, *name, *spot),
        }
    }

    fn artist(&mut self, method: Method, name: usize, artist: &Artist) -> Expected {
        let at = self.artists.iter().position(|(other, _)| *other == name);
        let (status, fate) = fate(method, at.is_some());
        match (fate, at) {
            (Some(Fate::Made), _) => self.artists.push((name, artist.clone())),
            (Some(Fate::Replaced), Some(at)) => self.artists[at].1 = artist.clone(),
            (Some(Fate::Merged), Some(at)) => {
                let stored = &mut self.artists[at].1;
                stored.rating = artist.rating.or(stored.rating);
                for (album, year) in &artist.albums {
                    match stored.albums.iter_mut().find(|(other, _)| other == album) {
                        Some((_, stored)) => *stored = year.or(*stored),
                        None => stored.albums.push((*album, *year)),
                    }
                }
            }
            (Some(Fate::Removed), Some(at)) => _ = self.artists.remove(at),
            _ => {}
        }
        let entry = format!("/artist={}", encoded(NAMES[name]));
        let below = if method == Method::Post { "" } else { &entry };
        let body = json!({ "example-jukebox:artist": [artist.members(name)] });
        Expected { method: method.name(), target: format!("{ROOT}/library{below}"), body: Some(body), status }
    }

    fn rating(&mut self, method: Method, name: usize, rating: u8) -> Expected {
        let stored =
            self.artists.iter_mut().find(|(other, _)| *other == name).map(|(_, artist)| &mut artist.rating);
        let (mut status, fate) = fate(method, stored.as_ref().is_some_and(|rating| rating.is_some()));
        match (stored, fate) {
            (Some(stored), Some(fate)) => *stored = (fate != Fate::Removed).then_some(rating),
            // There is no artist to create it in, or to put it into.
            (None, _) if method == Method::Post => status = 404,
            (None, _) if method == Method::Put => status = 409,
            _ => {}
        }
        let entry = format!("{ROOT}/library/artist={}", encoded(NAMES[name]));
        let leaf = if method == Method::Post { "" } else { "/example-extras:rating" };
        let body = json!({ "example-extras:rating": rating });
        Expected { method: method.name(), target: format!("{entry}{leaf}"), body: Some(body), status }
    }

    fn album(&mut self, method: Method, name: usize, (title, year): (usize, Option<u16>)) -> Expected {
        let albums =
            self.artists.iter_mut().find(|(other, _)| *other == name).map(|(_, artist)| &mut artist.albums);
        let at = albums.as_ref().and_then(|albums| albums.iter().position(|(other, _)| *other == title));
        let (mut status, fate) = fate(method, at.is_some());
        match (albums, fate, at) {
            (Some(albums), Some(Fate::Made), _) => albums.push((title, year)),
            (Some(albums), Some(Fate::Replaced), Some(at)) => albums[at].1 = year,
            (Some(albums), Some(Fate::Merged), Some(at)) => albums[at].1 = year.or(albums[at].1),
            (Some(albums), Some(Fate::Removed), Some(at)) => _ = albums.remove(at),
            (None, _, _) if method == Method::Post => status = 404,
            (None, _, _) if method == Method::Put => status = 409,
            _ => {}
        }
        let entry = format!("{ROOT}/library/artist={}", encoded(NAMES[name]));
        let below =
            if method == Method::Post { String::new() } else { format!("/album={}", encoded(NAMES[title])) };
        let body = json!({ "example-jukebox:album": [album(title, year)] });
        Expected { method: method.name(), target: format!("{entry}{below}"), body: Some(body), status }
    }

    fn song(&mut self, method: Method, (index, id): (u8, Option<String>), spot: Spot) -> Expected {
        let spot = if matches!(method, Method::Post | Method::Put) { spot } else { Spot::Default };
        let at = self.songs.iter().position(|(other, _)| *other == index);
        let (mut status, fate) = fate(method, at.is_some());
        let indexes: Vec<u8> = self.songs.iter().map(|(index, _)| *index).collect();
        let is_about = position(&indexes, spot, |point| point).is_some();
        let others: Vec<u8> = indexes.into_iter().filter(|other| *other != index).collect();
        match (fate, at) {
            (Some(Fate::Made | Fate::Replaced), _) if !is_about => status = 400,
            (Some(Fate::Made), _) => {
                let to = position(&others, spot, |point| point).unwrap_or(others.len());
                self.songs.insert(to, (index, id.clone()));
            }
            (Some(Fate::Replaced), Some(at)) => match (spot, position(&others, spot, |point| point)) {
                (Spot::Default, _) | (_, None) => self.songs[at].1 = id.clone(),
                (_, Some(to)) => {
                    self.songs.remove(at);
                    self.songs.insert(to, (index, id.clone()));
                }
            },
            (Some(Fate::Merged), Some(at)) => {
                let stored = &mut self.songs[at].1;
                *stored = id.clone().or(stored.take());
            }
            (Some(Fate::Removed), Some(at)) => _ = self.songs.remove(at),
            _ => {}
        }
        let below = if method == Method::Post { String::new() } else { format!("/song={index}") };
        let query = query(spot, |point| format!("/example-jukebox:jukebox/playlist=p/song={point}"));
        let target = format!("{ROOT}/playlist=p{below}{query}");
        let body = json!({ "example-jukebox:song": [song(index, id.as_ref())] });
        Expected { method: method.name(), target, body: Some(body), status }
    }

    fn tag(&mut self, method: Method, name: usize, spot: Spot) -> Expected {
        let spot = if matches!(method, Method::Post | Method::Put) { spot } else { Spot::Default };
        let point = |index: u8| usize::from(index) % NAMES.len();
        let at = self.tags.iter().position(|other| *other == name);
        let (mut status, fate) = fate(method, at.is_some());
        let is_about = position(&self.tags, spot, point).is_some();
        let others: Vec<usize> = self.tags.iter().copied().filter(|other| *other != name).collect();
        match (fate, at) {
            (Some(Fate::Made | Fate::Replaced), _) if !is_about => status = 400,
            (Some(Fate::Made), _) => {
                let to = position(&others, spot, point).unwrap_or(others.len());
                self.tags.insert(to, name);
            }
            (Some(Fate::Replaced), Some(at)) => match (spot, position(&others, spot, point)) {
                (Spot::Default, _) | (_, None) => {}
                (_, Some(to)) => {
                    self.tags.remove(at);
                    self.tags.insert(to, name);
                }
            },
            (Some(Fate::Removed), Some(at)) => _ = self.tags.remove(at),
            _ => {}
        }
        let value = |name: usize| format!("/tag={}", encoded(NAMES[name]));
        let below = if method == Method::Post { String::new() } else { value(name) };
        let query =
            query(spot, |index| format!("/example-jukebox:jukebox/playlist=p{}", value(point(index))));
        let target = format!("{ROOT}/playlist=p{below}{query}");
        let body = json!({ "example-jukebox:tag": [NAMES[name]] });
        Expected { method: method.name(), target, body: Some(body), status }
    }

    /// All data.
    fn document(&self) -> Value {
        let artists: Vec<_> = self.artists.iter().map(|(name, artist)| artist.members(*name)).collect();
        let mut playlist = json!({ "name": "p" });
        if !self.tags.is_empty() {
            playlist["tag"] = self.tags.iter().map(|name| NAMES[*name]).collect();
        }
        if !self.songs.is_empty() {
            playlist["song"] = self.songs.iter().map(|(index, id)| song(*index, id.as_ref())).collect();
        }
        let library = if artists.is_empty() { json!({}) } else { json!({ "artist": artists }) };
        json!({ "ietf-restconf:data": { "example-jukebox:jukebox": { "library": library, "playlist": [playlist] } } })
    }
}

async fn send(
    service: &Service,
    (method, target): (&str, &str),
    body: Option<String>,
    form: &str,
) -> (u16, String) {
    let mut headers = HeaderMap::new();
    let media = format!("application/yang-data+{form}");
    headers.insert("accept", HeaderValue::from_str(&media).unwrap());
    if body.is_some() {
        headers.insert("content-type", HeaderValue::from_str(&media).unwrap());
    }
    let response = service.respond(method, target, headers, body.unwrap_or_default()).await;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

async fn run(changes: &[Change]) {
    let service = Service::new();
    let begin =
        r#"{"ietf-restconf:data":{"example-jukebox:jukebox":{"library":{},"playlist":[{"name":"p"}]}}}"#;
    assert_eq!(send(&service, ("PUT", "/restconf/data"), Some(begin.into()), "json").await.0, 204);
    let mut plain = Plain::default();
    for change in changes {
        let Expected { method, target, body, status } = plain.apply(change);
        let body = body.filter(|_| method != "DELETE").map(|body| body.to_string());
        let (found, answer) = send(&service, (method, &target), body, "json").await;
        assert_eq!(found, status, "{change:?} {method} {target}: {answer}");
        let (_, data) = send(&service, ("GET", "/restconf/data"), None, "json").await;
        let data: Value = serde_json::from_str(&data).unwrap();
        assert_eq!(data, plain.document(), "{change:?} {method} {target}");
    }
    // What is read as XML is taken back as XML, and is the same then.
    let (_, xml) = send(&service, ("GET", "/restconf/data"), None, "xml").await;
    let copy = Service::new();
    let (status, answer) = send(&copy, ("PUT", "/restconf/data"), Some(xml), "xml").await;
    assert_eq!(status, 204, "{answer}");
    let (_, data) = send(&copy, ("GET", "/restconf/data"), None, "json").await;
    assert_eq!(serde_json::from_str::<Value>(&data).unwrap(), plain.document());
}

/// All changes that are fine one after the other, as the edits of one patch.
async fn run_at_once(changes: &[Change]) {
    let service = Service::new();
    let begin =
        r#"{"ietf-restconf:data":{"example-jukebox:jukebox":{"library":{},"playlist":[{"name":"p"}]}}}"#;
    assert_eq!(send(&service, ("PUT", "/restconf/data"), Some(begin.into()), "json").await.0, 204);
    let (mut plain, mut edits) = (Plain::default(), Vec::new());
    for change in changes {
        let mut after = plain.clone();
        let Expected { method, body, status, .. } = after.apply(change);
        let Some(named) = change.by(Method::Put).filter(|_| status < 300) else { continue };
        let target = plain.clone().apply(&named).target.replacen("/restconf/data", "", 1);
        let operation = match method {
            "POST" => "create",
            "PUT" => "replace",
            "PATCH" => "merge",
            _ => "delete",
        };
        let mut edit =
            json!({ "edit-id": edits.len().to_string(), "operation": operation, "target": target });
        if operation != "delete" {
            edit["value"] = body.unwrap();
        }
        edits.push(edit);
        plain = after;
    }
    let patch = json!({ "ietf-yang-patch:yang-patch": { "patch-id": "p", "edit": edits } });
    let headers = [("content-type", "application/yang-patch+json")]
        .map(|(name, value)| (http::HeaderName::from_static(name), HeaderValue::from_static(value)));
    let headers = headers.into_iter().collect();
    let response = service.respond("PATCH", "/restconf/data", headers, patch.to_string()).await;
    let status = response.status();
    let answer = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(status, 200, "{patch}: {}", String::from_utf8_lossy(&answer));
    let (_, data) = send(&service, ("GET", "/restconf/data"), None, "json").await;
    assert_eq!(serde_json::from_str::<Value>(&data).unwrap(), plain.document(), "{patch}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases((24 * ProptestConfig::default().cases).div_ceil(256)))]

    #[test]
    fn random_writes_are_as_in_a_plain_model(changes in prop::collection::vec(change(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(&changes));
    }

    #[test]
    fn a_patch_is_its_edits_one_after_the_other(changes in prop::collection::vec(change(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run_at_once(&changes));
    }
}
