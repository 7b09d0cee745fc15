//! Starts servers, speaks HTTP/1.1 to them byte by byte, and ends them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long a test waits for what must come. Nothing is measured with it: a busy machine may be slow.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// The command `twinfold`, deaf to the environment of whoever runs the tests.
pub(crate) fn twinfold(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_twinfold"));
    command.env_clear().args(arguments).stdin(Stdio::null());
    command
}

/// What a finished command said: exit code, standard output, standard error.
pub(crate) fn output(command: &mut Command) -> (Option<i32>, String, String) {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Asks again and again until there is an answer, which must come.
pub(crate) fn await_some<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(started.elapsed() < PATIENCE, "{what} does not come");
        std::thread::yield_now();
    }
}

/// A running server; killed when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) announced: Vec<String>,
    pub(crate) url: String,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// A server on a free port with its data in `folder`.
    pub(crate) fn start(folder: &Path, more: &[&str]) -> Self {
        Self::start_with(folder, more, &[])
    }

    pub(crate) fn start_with(folder: &Path, more: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = twinfold(&["serve", "--listen", "127.0.0.1:0", "--data"]);
        command.arg(folder).args(more).envs(variables.iter().copied());
        Self::spawn(command)
    }

    /// The same, with its log in a file.
    pub(crate) fn start_logging(folder: &Path, more: &[&str], log: &Path) -> Self {
        let mut command = twinfold(&["serve", "--listen", "127.0.0.1:0", "--data"]);
        command.arg(folder).args(more).stderr(std::fs::File::create(log).unwrap());
        Self::spawn(command)
    }

    fn spawn(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut announced = Vec::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = loop {
            let line = lines.next().expect("the server ended before it listened").unwrap();
            announced.push(line.clone());
            if let Some(url) = line.strip_prefix("listening on ") {
                break url.to_owned();
            }
        };
        if command.get_args().any(|argument| argument == "--health-listen") {
            announced.push(lines.next().expect("the server ended before it told where health is").unwrap());
        }
        let address = url.split_once("://").unwrap().1.parse().unwrap();
        Self { child, announced, url, address }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by name, as `kill` knows it.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// Waits for the end.
    pub(crate) fn wait(mut self) -> ExitStatus {
        await_some("the server's end", || self.child.try_wait().unwrap())
    }

    /// SIGTERM, and the exit code.
    pub(crate) fn stop(self) -> Option<i32> {
        self.signal("TERM");
        self.wait().code()
    }

    pub(crate) fn connect(&self) -> Wire<TcpStream> {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Wire::new(stream)
    }

    /// One request on a connection of its own.
    pub(crate) fn ask(&self, request: &str) -> Answer {
        self.connect().ask(request)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask(&format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n"))
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> Answer {
        self.ask(&format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ))
    }

    /// One sample of /metrics.
    pub(crate) fn metric(&self, name: &str) -> f64 {
        let text = self.get("/metrics").text();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{name} is not in\n{text}")).parse().unwrap()
    }

    /// Asks until a sample of /metrics is what it is to become.
    pub(crate) fn await_metric(&self, name: &str, is_it: impl Fn(f64) -> bool) {
        await_some(name, || is_it(self.metric(name)).then_some(()));
    }

    /// Asks until a request beside the asking one is under way.
    pub(crate) fn await_request_under_way(&self) {
        self.await_metric("twinfold_requests_under_way", |count| count >= 2.0);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer of HTTP/1.1.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// One connection.
pub(crate) struct Wire<S> {
    pub(crate) stream: S,
    buffer: Vec<u8>,
}

impl<S: Read + Write> Wire<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, buffer: Vec::new() }
    }

    pub(crate) fn ask(&mut self, request: &str) -> Answer {
        self.send(request.as_bytes());
        let has_body = !request.starts_with("HEAD ");
        self.answer(has_body).expect("the connection was closed")
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
        self.stream.flush().unwrap();
    }

    /// The next answer; `None` if the connection ends before it is whole.
    pub(crate) fn answer(&mut self, has_body: bool) -> Option<Answer> {
        let head_end = loop {
            if let Some(end) = self.buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end;
            }
            self.fill()?;
        };
        let head = String::from_utf8(self.buffer.drain(..head_end + 4).collect()).unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<_> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let mut answer = Answer { status, headers, body: Vec::new() };
        let length = answer.header("content-length").map_or(0, |length| length.parse().unwrap());
        while has_body && self.buffer.len() < length {
            self.fill()?;
        }
        answer.body = self.buffer.drain(..if has_body { length } else { 0 }).collect();
        Some(answer)
    }

    fn fill(&mut self) -> Option<()> {
        let mut chunk = [0; 64 * 1024];
        match self.stream.read(&mut chunk) {
            Ok(0) => None,
            Ok(read) => {
                self.buffer.extend_from_slice(&chunk[..read]);
                Some(())
            }
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("{error}"),
        }
    }
}
