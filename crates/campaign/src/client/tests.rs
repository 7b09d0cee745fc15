//! The client against a peer that sends exactly the bytes a test says, in the pieces it says.

use std::io::{Read, Write};
use std::net::TcpListener;

use super::*;

const LIMIT: Duration = Duration::from_secs(60);

/// Runs `test` on a connection whose peer waits for a request and then sends `pieces`, and closes.
fn with_peer<T>(pieces: &[&[u8]], test: impl AsyncFnOnce(&mut Connection) -> T) -> T {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let pieces: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.to_vec()).collect();
    let peer = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_nodelay(true).unwrap();
        let mut request = [0; 1024];
        let _ = stream.read(&mut request).unwrap();
        for piece in pieces {
            // A client that has seen enough may be gone already.
            let _ = stream.write_all(&piece);
            std::thread::yield_now();
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let result = runtime.block_on(async {
        let mut connection = Connection::open(address, LIMIT).await.unwrap();
        test(&mut connection).await
    });
    peer.join().unwrap();
    result
}

/// The status and body of the one answer in `pieces`, or the kind of the error.
fn answer(pieces: &[&[u8]]) -> Result<(u16, String), &'static str> {
    with_peer(pieces, async |connection| {
        let answer = connection.call(b"GET / HTTP/1.1\r\n\r\n", std::time::Instant::now()).await;
        answer
            .map(|answer| (answer.status, String::from_utf8_lossy(answer.body).into_owned()))
            .map_err(|error| error.kind())
    })
}

/// The same, with the body handed over in parts.
fn streamed(pieces: &[&[u8]]) -> Result<(u16, String), &'static str> {
    with_peer(pieces, async |connection| {
        let mut body = Vec::new();
        // In one write: the peer reads once, and a request it did not read resets its connection.
        let request = (&b"GET / HTTP/1.1\r\n\r\n"[..], &b""[..]);
        let mut sink = |part: &[u8]| body.extend_from_slice(part);
        let answer = connection.call_apart(request, std::time::Instant::now(), &|_| true, &mut sink).await;
        let (status, whole, bytes) = answer
            .map(|(answer, bytes)| (answer.status, answer.body.len(), bytes))
            .map_err(|error| error.kind())?;
        assert_eq!((whole, bytes), (0, body.len() as u64));
        Ok((status, String::from_utf8_lossy(&body).into_owned()))
    })
}

fn check(sent: &str, expected: Result<(u16, &str), &'static str>) {
    let expected = expected.map(|(status, body)| (status, body.to_owned()));
    assert_eq!(answer(&[sent.as_bytes()]), expected, "in one piece: {sent:?}");
    let bytes: Vec<&[u8]> = sent.as_bytes().chunks(1).collect();
    assert_eq!(answer(&bytes), expected, "byte by byte: {sent:?}");
    // What is handed over in parts may be of any length.
    let expected = if expected == Err("too large") { Err("truncated") } else { expected };
    assert_eq!(streamed(&[sent.as_bytes()]), expected, "streamed: {sent:?}");
    assert_eq!(streamed(&bytes), expected, "streamed, byte by byte: {sent:?}");
}

#[test]
fn bodies_end_where_their_framing_says() {
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", Ok((200, "hello")));
    check("HTTP/1.1 204 No Content\r\n\r\n", Ok((204, "")));
    check("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", Ok((304, "")));
    check(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n",
        Ok((200, "hello world")),
    );
    check(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nTrailer: x\r\n\r\n",
        Ok((200, "a")),
    );
    check("HTTP/1.1 200 OK\r\n\r\nuntil the end", Ok((200, "until the end")));
    check("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", Ok((201, "")));
}

#[test]
fn broken_answers_are_told_apart() {
    check("", Err("closed"));
    check("HTTP/1.1 200 OK\r\nContent-", Err("truncated"));
    check("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", Err("truncated"));
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", Err("truncated"));
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n", Err("malformed"));
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", Err("malformed"));
    check("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", Err("malformed"));
    check("SSH-2.0-OpenSSH_9.6\r\n\r\n", Err("malformed"));
    check("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", Err("too large"));
}

#[test]
fn pipelined_answers_are_read_one_by_one() {
    let answers = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nb\r\n0\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n";
    for piece in [1, 7, answers.len()] {
        let pieces: Vec<&[u8]> = answers.chunks(piece).collect();
        let seen = with_peer(&pieces, async |connection| {
            connection.send(b"three", std::time::Instant::now()).await.unwrap();
            let mut seen = Vec::new();
            for _ in 0..3 {
                let answer = connection.receive().await.unwrap();
                seen.push((answer.status, answer.body.to_vec()));
            }
            seen
        });
        assert_eq!(seen, [(200, b"a".to_vec()), (404, b"b".to_vec()), (204, Vec::new())]);
    }
}

#[test]
fn bytes_nobody_asked_for_are_an_error_of_the_next_call() {
    let sent = b"HTTP/1.1 204 No Content\r\n\r\nmore";
    let kind = with_peer(&[sent], async |connection| {
        let now = std::time::Instant::now();
        connection.call(b"one", now).await.unwrap();
        connection.call(b"two", now).await.unwrap_err().kind()
    });
    assert_eq!(kind, "unasked bytes");
}

#[test]
fn a_long_answer_arrives_whole() {
    let body = "0123456789".repeat(300_000);
    let sent = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    assert_eq!(answer(&[sent.as_bytes()]), Ok((200, body.clone())));
    let chunked = format!(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len()
    );
    assert_eq!(answer(&[chunked.as_bytes()]), Ok((200, body)));
}

#[test]
fn http_1_0_and_connection_close_end_the_connection() {
    for (sent, reusable) in [
        ("HTTP/1.1 204 No Content\r\n\r\n", true),
        ("HTTP/1.0 204 No Content\r\n\r\n", false),
        ("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", false),
        ("HTTP/1.0 204 No Content\r\nConnection: keep-alive\r\n\r\n", true),
    ] {
        let seen = with_peer(&[sent.as_bytes()], async |connection| {
            connection.call(b"GET", std::time::Instant::now()).await.unwrap();
            connection.is_reusable()
        });
        assert_eq!(seen, reusable, "{sent:?}");
    }
}

#[test]
fn only_the_answers_hoped_for_are_streamed() {
    let sent = "HTTP/1.1 503 Busy\r\nContent-Length: 5\r\n\r\nlater";
    with_peer(&[sent.as_bytes()], async |connection| {
        let request = (&b"GET / HTTP/1.1\r\n\r\n"[..], &b""[..]);
        let wanted = |status| status == 200;
        let mut sink = |_: &[u8]| panic!("not hoped for");
        let answer = connection.call_apart(request, std::time::Instant::now(), &wanted, &mut sink).await;
        let (answer, bytes) = answer.unwrap();
        assert_eq!((answer.status, answer.body, bytes), (503, &b"later"[..], 0));
    });
}

#[test]
fn a_long_answer_is_streamed_in_little_memory() {
    const CHUNK: usize = 1 << 20;
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    let chunk = [format!("{CHUNK:x}\r\n").into_bytes(), vec![b'x'; CHUNK], b"\r\n".to_vec()].concat();
    let mut pieces = vec![head.as_slice()];
    pieces.extend(std::iter::repeat_n(chunk.as_slice(), 16));
    pieces.push(b"0\r\n\r\n");
    with_peer(&pieces, async |connection| {
        let mut longest = 0;
        let request = (&b"GET / HTTP/1.1\r\n\r\n"[..], &b""[..]);
        let mut sink = |part: &[u8]| longest = longest.max(part.len());
        let answer = connection.call_apart(request, std::time::Instant::now(), &|_| true, &mut sink).await;
        assert_eq!(answer.unwrap().1, 16 * CHUNK as u64);
        assert!(longest <= STREAM_BYTES && connection.inbox.len() <= STREAM_BYTES, "{longest}");
    });
}
