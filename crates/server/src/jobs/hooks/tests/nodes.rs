//! Nodes that serve the same hooks at once, over the worst store: sent twice is allowed, passed over is not.

use std::collections::BTreeMap;
use std::sync::Mutex;

use model_series::{Edit, Flag, Points, SeriesRef, SeriesWrite};
use store::HostileOptions;

use super::*;

/// By series, what was told of it, each when it was told first.
type ToldOf = BTreeMap<String, Vec<String>>;

/// Somebody whom many call at once; he refuses each fifth call.
struct Listener {
    url: String,
    told: Arc<Mutex<(usize, ToldOf)>>,
}

impl Listener {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let told = Arc::new(Mutex::new((0, ToldOf::new())));
        let noted = Arc::clone(&told);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let noted = Arc::clone(&noted);
                tokio::spawn(async move {
                    let body = body_of(&mut stream).await;
                    let status = note(&mut noted.lock().unwrap(), &body);
                    let answer =
                        format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                    let _ = stream.write_all(answer.as_bytes()).await;
                });
            }
        });
        Self { url, told }
    }
}

async fn body_of(stream: &mut tokio::net::TcpStream) -> serde_json::Value {
    let mut received = Vec::new();
    loop {
        assert!(stream.read_buf(&mut received).await.unwrap() > 0);
        let text = String::from_utf8_lossy(&received);
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
        if let Some(body) = body.and_then(|body| serde_json::from_str(&body).ok()) {
            return body;
        }
    }
}

fn note((calls, told): &mut (usize, ToldOf), body: &serde_json::Value) -> &'static str {
    *calls += 1;
    if calls.is_multiple_of(5) {
        return "500 Refused";
    }
    for change in body["Changes"].as_array().unwrap() {
        let what = format!("{} {}", change["Kind"].as_str().unwrap(), change["From"].as_str().unwrap_or("-"));
        let of_it = told.entry(change["Name"].as_str().unwrap().to_owned()).or_default();
        if !of_it.contains(&what) {
            of_it.push(what);
        }
    }
    "204 Taken"
}

impl Scene {
    /// Puts a point of this second.
    async fn put(&self, name: &str, second: i64) {
        let mut points = Points::default();
        points.push(second * 1_000_000_000, 1.0, Flag::Valid.number());
        let series = self.repository.find(SeriesRef::Name(name)).await.unwrap();
        let write = SeriesWrite { series, quotation: None, edit: Edit::Put(points) };
        let outcomes = self.repository.write_all(vec![write], self.clock.now()).await.unwrap();
        outcomes.into_iter().for_each(|outcome| outcome.unwrap());
    }

    /// Serves as a node does that has the lease; one that was disturbed begins anew.
    async fn look(&self, serving: &mut Option<Serving>) {
        if serving.is_none() {
            *serving = self.begin().await.ok();
        }
        let Some(current) = serving else { return };
        let mut outcome = current.turn(true).await;
        while outcome.is_ok()
            && let Some(ended) = current.sends.join_next_with_id().await
        {
            current.settle(ended);
            outcome = current.turn(true).await;
        }
        if outcome.is_err() {
            *serving = None;
        }
    }
}

const SERIES: i64 = 6;
const POINTS: i64 = 6;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_that_serve_a_hook_pass_nothing_over() {
    for seed in store::testing::seeds(9).skip(1) {
        let clock = Clock::manual(Timestamp(SECOND));
        // Little is kept but what is kept for hooks (and to tell what became of a commit).
        let feed = FeedOptions { bytes_min: 4_000, age_min: Duration::ZERO, bytes_max: 1 << 30 };
        let store = Store::hostile(HostileOptions::new(MemoryOptions { clock: clock.clone(), feed }, seed));
        let first = Scene::on(store.clone(), clock.clone(), true).await;
        let second = Scene::on(store.beside(), clock.clone(), true).await;
        let listener = Listener::new().await;
        let (mut one, mut other) = (None, None);
        tokio::join!(first.look(&mut one), second.look(&mut other));
        first.repository.put_hook(hook_at(&listener.url)).await.unwrap();
        let mut expected = ToldOf::new();
        for turn in 0..SERIES * (POINTS + 1) {
            let (name, second_of) = (format!("series {}", turn % SERIES), turn / SERIES);
            let writer = if turn % 2 == 0 { &first } else { &second };
            let of_it = expected.entry(name.clone()).or_default();
            if second_of == 0 {
                writer.define(&name).await;
                of_it.push("Defined -".to_owned());
            } else {
                writer.put(&name, second_of).await;
                of_it.push(format!("Put 1970-01-01T00:00:{second_of:02}Z"));
            }
            if turn % 5 == 4 {
                tokio::join!(first.look(&mut one), second.look(&mut other));
                clock.pass(Duration::from_secs(60));
            }
        }
        let is_all = || {
            let told: usize = listener.told.lock().unwrap().1.values().map(Vec::len).sum();
            told == expected.values().map(Vec::len).sum::<usize>()
        };
        let mut looks = 0;
        while !is_all() {
            tokio::join!(first.look(&mut one), second.look(&mut other));
            clock.pass(Duration::from_secs(60));
            looks += 1;
            assert!(looks < 400, "seed {seed}: not everything comes");
        }
        let (calls, told) = listener.told.lock().unwrap().clone();
        let told = told.into_iter().map(|(name, mut told)| {
            // Definitions and points lie in different partitions.
            told.sort_by_key(|what| what.starts_with("Put"));
            (name, told)
        });
        assert_eq!(told.collect::<ToldOf>(), expected, "seed {seed}, {calls} calls");
        assert_eq!(first.status().await.cuts, 0, "seed {seed}");
    }
}
