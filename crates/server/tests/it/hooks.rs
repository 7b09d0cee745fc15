//! Hooks of a server that is killed at random moments, with receivers that fail, are slow, break off and are gone for a while: each
//! acknowledged change comes at least once, those of one series in order.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::harness::{PATIENCE, Server, await_some};

const BULK: &str = "/tsm/v1/repositories/default/timeseriescollections/data";
const SERIES: usize = 4;
/// Hooks, and the pattern of each.
const HOOKS: [(&str, &str); 3] = [("all", "%"), ("one", "Meter 1"), ("another", "%3")];
/// Small limits, so that outboxes, pauses and overdue answers come often.
const FLAGS: [&str; 12] = [
    "--hook-send",
    "any",
    "--hook-changes-max",
    "5",
    "--hook-window-notifications-max",
    "2",
    "--hook-pause-max",
    "100ms",
    "--hook-duration-max",
    "300ms",
    "--hook-patience-duration-max",
    "100ms",
];
/// How often the server is killed, if `TWINFOLD_KILL_ROUNDS` does not say.
const ROUNDS: u64 = 4;
/// The longest that a server lives, once it listens.
const LIFE_MS: u64 = 700;

/// Random numbers of a seed (xorshift).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new() -> Self {
        Self(RandomState::new().hash_one(0) | 1)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// By series, the beginning and the number of each change that was accepted, in the order of arrival.
type Accepted = BTreeMap<String, Vec<(String, u64)>>;

/// Somebody who is notified.
struct Receiver {
    address: SocketAddr,
    accepted: Arc<Mutex<Accepted>>,
    is_calm: Arc<AtomicBool>,
}

impl Receiver {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (accepted, is_calm) = (Arc::<Mutex<Accepted>>::default(), Arc::<AtomicBool>::default());
        let receiver = Self { address, accepted: Arc::clone(&accepted), is_calm: Arc::clone(&is_calm) };
        thread::spawn(move || {
            let (mut dice, mut refusals) = (Dice::new(), 0);
            for stream in listener.incoming() {
                let mood = if is_calm.load(Ordering::SeqCst) { 10 } else { dice.below(20) };
                if refusals > 0 && mood != 10 {
                    // It is dead: connections are closed at once.
                    refusals -= 1;
                    continue;
                }
                // A server that is killed leaves half a request.
                let Some((stream, body)) = body_of(stream.unwrap()) else { continue };
                match mood {
                    0..3 => answer(stream, "500 Broken"),
                    3 => drop(stream),
                    4 => refusals = dice.below(10),
                    mood => {
                        note(&mut accepted.lock().unwrap(), &body);
                        if mood < 7 {
                            // Longer than the server waits, now and then.
                            thread::sleep(Duration::from_millis(dice.below(400)));
                        }
                        answer(stream, "204 Accepted");
                    }
                }
            }
        });
        receiver
    }
}

fn body_of(mut stream: TcpStream) -> Option<(TcpStream, serde_json::Value)> {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let (mut received, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut chunk).ok().filter(|count| *count > 0)?;
        received.extend_from_slice(&chunk[..count]);
        let text = String::from_utf8_lossy(&received);
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
        if let Some(body) = body.and_then(|body| serde_json::from_str(&body).ok()) {
            return Some((stream, body));
        }
    }
}

fn answer(mut stream: TcpStream, status: &str) {
    // The server may be dead.
    let _ = write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
}

fn note(accepted: &mut Accepted, body: &serde_json::Value) {
    for change in body["Changes"].as_array().unwrap() {
        if change["Kind"] == "Put" {
            let text = |member: &str| change[member].as_str().unwrap().to_owned();
            let number = change["Cursor"].as_u64().unwrap();
            accepted.entry(text("Name")).or_default().push((text("From"), number));
        }
    }
}

/// What was written, by series: acknowledged, or not answered.
#[derive(Default)]
struct Written {
    count: usize,
    acknowledged: BTreeMap<String, Vec<String>>,
    unknown: BTreeSet<(String, String)>,
}

impl Written {
    /// Writes a point to each series in its turn until the server is gone.
    fn write_until_killed(&mut self, server: &Server) {
        loop {
            let (series, hour) = (format!("Meter {}", self.count % SERIES), self.count / SERIES);
            self.count += 1;
            let (year, month) = (2000 + hour / 8064, 1 + hour / 672 % 12);
            let at = format!("{year}-{month:02}-{:02}T{:02}:00:00Z", 1 + hour / 24 % 28, hour % 24);
            let body = format!(r#"[{{"Name":"{series}","Start":"{at}","Values":[1]}}]"#);
            match try_put(server.address, &body) {
                Some(204) => self.acknowledged.entry(series).or_default().push(at),
                Some(status) => panic!("the answer was {status}"),
                None => {
                    self.unknown.insert((series, at));
                    return;
                }
            }
        }
    }
}

/// The status of the answer; `None` if none came.
fn try_put(address: SocketAddr, body: &str) -> Option<u16> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head =
        format!("PUT {BULK} HTTP/1.1\r\nhost: t\r\nconnection: close\r\ncontent-length: {}", body.len());
    stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).ok()?;
    let mut answer = Vec::new();
    // A reset is no answer either, but for what came before it.
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer);
    text.split_once("\r\n\r\n")?.0.split(' ').nth(1)?.parse().ok()
}

#[expect(clippy::disallowed_methods, reason = "a switch of the test run itself")]
pub(crate) fn rounds() -> u64 {
    std::env::var("TWINFOLD_KILL_ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().unwrap())
}

fn start(folder: &Path) -> Server {
    Server::start(folder, &FLAGS)
}

/// Defines the series, and a hook for each receiver.
fn furnish(server: &Server, receivers: &[Receiver]) {
    for number in 0..SERIES {
        let series = format!(r#"{{"Name":"Meter {number}","Type":"Begin","Interval":{{"Value":"Hour"}}}}"#);
        assert_eq!(server.post("/repositories/default/timeseries", &series).status, 201);
    }
    for ((name, pattern), receiver) in HOOKS.iter().zip(receivers) {
        let hook =
            format!(r#"{{"Name":"{name}","Url":"http://{}/","Series":"{pattern}"}}"#, receiver.address);
        assert_eq!(server.post("/repositories/default/hooks", &hook).status, 201);
    }
}

fn is_for(pattern: &str, series: &str) -> bool {
    pattern.strip_prefix('%').map_or(series == pattern, |end| series.ends_with(end))
}

/// What of the acknowledged changes of its series a receiver has not accepted yet.
fn missing(written: &Written, pattern: &str, accepted: &Accepted) -> usize {
    let series = written.acknowledged.iter().filter(|(series, _)| is_for(pattern, series));
    let missing_of = |(series, changes): (&String, &Vec<String>)| {
        let here: BTreeSet<&String> =
            accepted.get(series).into_iter().flatten().map(|(from, _)| from).collect();
        changes.iter().filter(|from| !here.contains(from)).count()
    };
    series.map(missing_of).sum()
}

/// In the order of their writes, each under one number, and nothing that was not written.
fn check_order(written: &Written, pattern: &str, accepted: &Accepted) {
    for (series, changes) in accepted {
        assert!(is_for(pattern, series), "{series} is not for {pattern}");
        let mut numbers: BTreeMap<&String, u64> = BTreeMap::new();
        for (from, number) in changes {
            if let Some(before) = numbers.get(from) {
                assert_eq!(before, number, "{series} {from} came again under another number");
                continue;
            }
            let newest = numbers.last_key_value();
            let is_next = newest.is_none_or(|(last, highest)| *last < from && highest < number);
            assert!(is_next, "{series}: {from} ({number}) came behind {newest:?}");
            let is_written = written.acknowledged.get(series).is_some_and(|known| known.contains(from))
                || written.unknown.contains(&(series.clone(), from.clone()));
            assert!(is_written, "{series} {from} was never written");
            numbers.insert(from, *number);
        }
    }
}

#[test]
fn nothing_is_passed_over_when_the_server_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let receivers: Vec<Receiver> = HOOKS.iter().map(|_| Receiver::start()).collect();
    let (mut dice, mut written) = (Dice::new(), Written::default());
    for round in 0..rounds() {
        let server = start(folder.path());
        if round == 0 {
            furnish(&server, &receivers);
        }
        let life = Duration::from_millis(dice.below(LIFE_MS));
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(life);
                server.signal("KILL");
            });
            written.write_until_killed(&server);
        });
    }
    receivers.iter().for_each(|receiver| receiver.is_calm.store(true, Ordering::SeqCst));
    let server = start(folder.path());
    for ((name, pattern), receiver) in HOOKS.iter().zip(&receivers) {
        await_some(&format!("all that hook {name} is to be sent"), || {
            (missing(&written, pattern, &receiver.accepted.lock().unwrap()) == 0).then_some(())
        });
        check_order(&written, pattern, &receiver.accepted.lock().unwrap());
    }
    assert_eq!(server.metric("twinfold_hook_overflowed_total"), 0.0);
    assert_eq!(server.metric("twinfold_hook_cuts_total"), 0.0);
    server.await_metric("twinfold_hook_waiting{state=\"failing\"}", |count| count == 0.0);
    assert_eq!(server.stop(), Some(0));
}

/// While hooks are not called they are stored, and nothing else: once they are called, they are sent what the feed still has.
#[test]
fn hooks_that_were_not_called_catch_up() {
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start();
    receiver.is_calm.store(true, Ordering::SeqCst);
    let server = Server::start(folder.path(), &["--hook-send", "off"]);
    furnish(&server, std::slice::from_ref(&receiver));
    let body = r#"[{"Name":"Meter 1","Start":"2026-02-01T00:00:00Z","Values":[1]}]"#;
    assert_eq!(try_put(server.address, body), Some(204));
    assert_eq!(server.metric("twinfold_hook_following"), 0.0);
    assert_eq!(server.stop(), Some(0));
    let _server = start(folder.path());
    let came =
        await_some("what happened meanwhile", || receiver.accepted.lock().unwrap().get("Meter 1").cloned());
    assert_eq!(came.len(), 1);
    assert_eq!(came[0].0, "2026-02-01T00:00:00Z");
}
