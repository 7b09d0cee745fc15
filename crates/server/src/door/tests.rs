use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use api_http::{
    FrontEnd, MemoryBudget, Request, Response, Route, Router, handler, json_response, plain_refusal,
};
use http::{Method, StatusCode};
use store::Lane;

use super::*;
use crate::connection::Connections;
use crate::metrics::Metrics;
use crate::service::{App, RequestLimits};

/// Longer than any test takes.
const PATIENCE: Duration = Duration::from_secs(300);

/// Where work that keeps its thread meets the test: when it begins, and when it may end.
#[derive(Clone)]
struct Stuck {
    begun: Arc<Barrier>,
    may_end: Arc<Barrier>,
}

impl Stuck {
    fn new() -> Self {
        Self { begun: Arc::new(Barrier::new(2)), may_end: Arc::new(Barrier::new(2)) }
    }
}

async fn ok(_: (), _: Request) -> Response {
    json_response(StatusCode::OK, "text/plain", "well\n")
}

async fn stuck(stuck: Stuck, _: Request) -> Response {
    stuck.begun.wait();
    stuck.may_end.wait();
    json_response(StatusCode::OK, "text/plain", "done\n")
}

fn limits() -> RequestLimits {
    RequestLimits {
        body_bytes_max: 1 << 20,
        stream: api_http::StreamLimits { bytes_max: 1 << 20, stall_max: PATIENCE },
        requests_max: 100,
        duration_max: PATIENCE,
        compress_bytes_min: 1 << 20,
        answer_bytes_max: 1 << 30,
        answer_duration_max: PATIENCE,
        admin_loopback: false,
    }
}

fn app(stuck_at: &Stuck) -> App {
    let operation = &api_http::Operation::UNDECLARED;
    let route = |path, handler| Route { method: Method::GET, path, operation, handler, is_admin: false };
    let routes = vec![
        route("/health/live", handler(&(), ok)),
        route("/plain", handler(&(), ok)),
        route("/stuck", handler(stuck_at, stuck)),
    ];
    let router = Router::new(vec![FrontEnd { name: "test", prefix: "/", routes, refuse: plain_refusal }]);
    let labels = router.routes().map(|(front_end, method, path)| (front_end, method.as_str(), path));
    let metrics = Arc::new(Metrics::new(labels, 1));
    let budget = MemoryBudget::new(1 << 24, 1 << 22, Duration::ZERO);
    App { router, metrics, limits: limits(), cors: settings().http.cors_origins, budget, lane: Lane::new(1) }
}

fn settings() -> crate::settings::Settings {
    let arguments = ["twinfold", "serve"].map(std::ffi::OsString::from);
    let crate::cli::Command::Serve(settings) = crate::cli::parse(&arguments).unwrap().cli.command else {
        panic!("no settings")
    };
    *settings
}

fn connect(address: SocketAddr) -> std::net::TcpStream {
    let stream = std::net::TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn send(stream: &mut std::net::TcpStream, path: &str) {
    write!(stream, "GET {path} HTTP/1.1\r\nhost: here\r\n\r\n").unwrap();
}

/// An answer up to the end of its body, which this line is.
fn read(stream: &mut std::net::TcpStream, last: &str) -> String {
    let (mut text, mut byte) = (String::new(), [0]);
    while !text.ends_with(&format!("{last}\n")) {
        assert_eq!(stream.read(&mut byte).unwrap(), 1, "it ended behind {text:?}");
        text.push(char::from(byte[0]));
    }
    text
}

fn listening(runtime: &tokio::runtime::Runtime, stuck: &Stuck) -> Arc<Listening> {
    let (app, connections) = (Arc::new(app(stuck)), Arc::new(Connections::new()));
    let (limits, handle) = (settings().http, runtime.handle().clone());
    Arc::new(Listening::new(app, connections, None, &limits, handle))
}

/// A door with its address and that for health.
fn open(runtime: &tokio::runtime::Runtime, stuck: &Stuck) -> (Door, SocketAddr, SocketAddr) {
    let listening = listening(runtime, stuck);
    runtime.block_on(async {
        let bind = || crate::listen::bind("127.0.0.1:0");
        let (main, health) = (bind().await.unwrap(), bind().await.unwrap());
        let (address, health_address) = (main.local_addr().unwrap(), health.local_addr().unwrap());
        let door = Door::open(listening, Listeners { main, health: Some(health) }).unwrap();
        (door, address, health_address)
    })
}

#[test]
fn a_connection_at_the_door_ends_with_what_is_not_vital() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (_door, address, health_address) = open(&runtime, &Stuck::new());
    let check = |to: SocketAddr, request: &str, status: u16| {
        let mut probe = connect(to);
        for _ in 0..2 {
            send(&mut probe, "/health/live");
            assert!(!read(&mut probe, "well").contains("connection: close"), "probes may stay");
        }
        probe.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        probe.read_to_string(&mut answer).expect("the connection ends");
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert!(answer.contains("connection: close\r\n"), "{answer}");
    };
    let plain = "GET /plain HTTP/1.1\r\nhost: here\r\n\r\n";
    let with_body = "GET /health/live HTTP/1.1\r\nhost: here\r\ncontent-length: 4\r\n\r\nbody";
    check(address, plain, 200);
    check(address, with_body, 413);
    check(health_address, plain, 404);
    check(health_address, with_body, 413);
    // A connection that begins with something else is served by other threads, and stays.
    let mut other = connect(address);
    for _ in 0..2 {
        send(&mut other, "/plain");
        assert!(!read(&mut other, "well").contains("connection: close"));
    }
}

#[test]
fn a_door_whose_thread_ended_is_closed() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listening = listening(&runtime, &Stuck::new());
    // What is no socket cannot be watched, so the thread has nothing to do.
    let no_socket = std::fs::File::open("/dev/null").unwrap();
    let no_listener = std::net::TcpListener::from(std::os::fd::OwnedFd::from(no_socket));
    let door = Door::start(listening, no_listener, None).unwrap();
    runtime.block_on(async {
        tokio::time::timeout(PATIENCE, door.closed()).await.expect("the end of its thread is told");
        tokio::time::timeout(PATIENCE, door.close()).await.expect("nobody waits for it");
    });
}

#[test]
fn health_is_answered_while_all_threads_that_serve_are_stuck() {
    let stuck = Stuck::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (door, address, health_address) = open(&runtime, &stuck);
    // The first asks from the main threads, the second over a connection that began with health.
    let (mut one, mut probe) = (connect(address), connect(address));
    for from_probe in [false, true] {
        let asker = if from_probe { &mut probe } else { &mut one };
        if from_probe {
            send(asker, "/health/live");
            read(asker, "well");
        }
        send(asker, "/stuck");
        stuck.begun.wait();
        for to in [address, health_address] {
            let mut probe = connect(to);
            for _ in 0..2 {
                send(&mut probe, "/health/live");
                assert!(read(&mut probe, "well").starts_with("HTTP/1.1 200"), "{from_probe}");
            }
        }
        stuck.may_end.wait();
        let asker = if from_probe { &mut probe } else { &mut one };
        assert!(read(asker, "done").starts_with("HTTP/1.1 200"));
    }
    let mut other = connect(health_address);
    send(&mut other, "/stuck");
    assert!(read(&mut other, "no such path").starts_with("HTTP/1.1 404"));
    runtime.block_on(door.close());
    assert!(std::net::TcpStream::connect(address).is_err());
}
