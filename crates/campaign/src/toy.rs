//! A toy HTTP server for tests: one thread a connection, answers by the number of the request.

#![expect(clippy::unwrap_used, reason = "tests panic rather than return errors")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What the toy answers.
pub struct Reply {
    bytes: Vec<u8>,
    delay_ms: u64,
    stalls_all: bool,
    hangs_up: bool,
}

impl Reply {
    /// An answer of `status` with `body`.
    pub fn new(status: u16, body: &str) -> Self {
        let head = format!("HTTP/1.1 {status} Toy\r\nContent-Length: {}\r\n\r\n", body.len());
        Self { bytes: (head + body).into_bytes(), delay_ms: 0, stalls_all: false, hangs_up: false }
    }

    /// A body of any bytes, in chunks of so many.
    pub fn chunked(body: &[u8], chunk: usize) -> Self {
        let mut bytes = b"HTTP/1.1 200 Toy\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        for part in body.chunks(chunk) {
            bytes.extend_from_slice(format!("{:x}\r\n", part.len()).as_bytes());
            bytes.extend_from_slice(part);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"0\r\n\r\n");
        Self::raw(&bytes)
    }

    /// `body` with status 200.
    pub fn ok(body: &str) -> Self {
        Self::new(200, body)
    }

    /// Closes the connection without an answer.
    pub fn hang_up() -> Self {
        Self { hangs_up: true, ..Self::raw(b"") }
    }

    /// Just these bytes.
    pub fn raw(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), ..Self::ok("") }
    }

    /// Says that it closes the connection, and does.
    pub fn closing(self) -> Self {
        let text = String::from_utf8(self.bytes).unwrap();
        let bytes = text.replacen("\r\n", "\r\nConnection: close\r\n", 1).into_bytes();
        Self { bytes, hangs_up: true, ..self }
    }

    /// Stops so many bytes before its end, and hangs up.
    pub fn without_the_last(mut self, bytes: usize) -> Self {
        self.bytes.truncate(self.bytes.len().saturating_sub(bytes));
        Self { hangs_up: true, ..self }
    }

    /// Answers this one late.
    pub fn after(self, delay_ms: u64) -> Self {
        Self { delay_ms, ..self }
    }

    /// Answers nobody meanwhile.
    pub fn after_stall(self, delay_ms: u64) -> Self {
        Self { delay_ms, stalls_all: true, ..self }
    }
}

/// An address at which nobody answers, and which nobody else is given meanwhile: bound, and not listened at.
pub struct Nobody(tokio::net::TcpSocket);

impl Nobody {
    /// Takes a free port.
    pub fn anywhere() -> Self {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        Self(socket)
    }

    /// Where nobody answers.
    pub fn address(&self) -> SocketAddr {
        self.0.local_addr().unwrap()
    }
}

#[derive(Default)]
struct Seen {
    requests: AtomicU64,
    connections: AtomicU64,
    heads: Mutex<Vec<String>>,
    stall: Mutex<()>,
}

/// The server; its threads end with the process.
pub struct Toy {
    address: SocketAddr,
    seen: Arc<Seen>,
}

impl Toy {
    /// A toy that gives `reply` by the number of the request, from 1.
    pub fn start(reply: impl Fn(u64) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_with(move |nth, _, _| reply(nth))
    }

    /// A toy that also looks at the request's head and body.
    pub fn start_with(reply: impl Fn(u64, &str, &[u8]) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let (state, reply) = (Arc::clone(&seen), Arc::new(reply));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                state.connections.fetch_add(1, Ordering::SeqCst);
                let (state, reply) = (Arc::clone(&state), Arc::clone(&reply));
                thread::spawn(move || serve(stream, &state, &*reply));
            }
        });
        Self { address, seen }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Requests that came.
    pub fn requests(&self) -> u64 {
        self.seen.requests.load(Ordering::SeqCst)
    }

    /// Connections over which a request came.
    pub fn connections(&self) -> u64 {
        self.seen.connections.load(Ordering::SeqCst)
    }

    /// The heads of all requests.
    pub fn heads(&self) -> Vec<String> {
        self.seen.heads.lock().unwrap().clone()
    }
}

type Respond = dyn Fn(u64, &str, &[u8]) -> Reply + Send + Sync;

fn serve(stream: TcpStream, seen: &Seen, reply: &Respond) {
    stream.set_nodelay(true).unwrap();
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(digits) = line.strip_prefix("Content-Length: ") {
                length = digits.trim().parse().unwrap();
            }
            head.push_str(&line);
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        seen.heads.lock().unwrap().push(head.clone());
        let nth = seen.requests.fetch_add(1, Ordering::SeqCst) + 1;
        let reply = reply(nth, &head, &body);
        let stalled = seen.stall.lock().unwrap();
        if reply.stalls_all {
            thread::sleep(Duration::from_millis(reply.delay_ms));
            drop(stalled);
        } else {
            drop(stalled);
            thread::sleep(Duration::from_millis(reply.delay_ms));
        }
        if writer.write_all(&reply.bytes).is_err() || reply.hangs_up {
            return;
        }
    }
}
