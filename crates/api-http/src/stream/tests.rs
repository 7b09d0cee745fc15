use std::io::Read as _;

use futures_util::FutureExt as _;
use http::{HeaderValue, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;
use crate::{Response, compress, json_response};

const STALL: Duration = Duration::from_secs(5);

fn ended(body: &mut Body) -> Arc<Mutex<Option<StreamEnd>>> {
    let told = Arc::new(Mutex::new(None));
    let Body::Stream(stream) = body else { panic!("not a stream") };
    let slot = Arc::clone(&told);
    stream.on_end(move |end| *slot.lock() = Some(end));
    told
}

async fn frame(body: &mut Body) -> Option<Result<Bytes, BrokenOff>> {
    body.frame().await.map(|frame| frame.map(|frame| frame.into_data().unwrap()))
}

#[tokio::test]
async fn a_whole_body_is_one_frame() {
    let mut body = Body::from("abc");
    assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(3), false));
    assert_eq!(frame(&mut body).await, Some(Ok(Bytes::from_static(b"abc"))));
    assert!(body.is_end_stream());
    assert_eq!(frame(&mut body).await, None);
    assert_eq!(frame(&mut Body::default()).await, None);
    // What a whole body takes is what its bytes take.
    assert_eq!(size_of::<Body>(), size_of::<Bytes>());
}

#[tokio::test]
async fn chunks_come_in_order_and_end() {
    let (sender, mut body) = stream(2, STALL);
    let told = ended(&mut body);
    let made = tokio::spawn(async move {
        for number in 0..100 {
            sender.send(format!("{number},")).await?;
            sender.send("").await?;
        }
        sender.finish().await
    });
    let expected: String = (0..100).map(|number| format!("{number},")).collect();
    let found = body.collect().await.unwrap().to_bytes();
    assert_eq!(found, expected.as_bytes());
    assert_eq!(made.await.unwrap(), Ok(()));
    let bytes = u64::try_from(expected.len()).unwrap();
    assert_eq!(*told.lock(), Some(StreamEnd { bytes, reason: EndReason::Complete }));
}

#[tokio::test]
async fn a_maker_that_fails_or_vanishes_breaks_the_body() {
    for reason in [Some("the store is gone"), None] {
        let (sender, mut body) = stream(2, STALL);
        let told = ended(&mut body);
        sender.send("abc").await.unwrap();
        match reason {
            Some(reason) => sender.fail(reason),
            None => drop(sender),
        }
        assert_eq!(frame(&mut body).await, Some(Ok(Bytes::from_static(b"abc"))));
        let broken = frame(&mut body).await.unwrap().unwrap_err();
        assert_eq!(broken.0, reason.unwrap_or("what made it stopped"));
        assert_eq!(*told.lock(), Some(StreamEnd { bytes: 3, reason: EndReason::Broken(broken.0) }));
    }
}

#[tokio::test]
async fn the_maker_waits_for_room_and_sees_the_client_go() {
    let (sender, mut body) = stream(2, STALL);
    let told = ended(&mut body);
    sender.send("a").await.unwrap();
    sender.send("b").await.unwrap();
    assert!(sender.send("c").now_or_never().is_none(), "no room");
    assert_eq!(frame(&mut body).await, Some(Ok(Bytes::from_static(b"a"))));
    sender.send("c").await.unwrap();
    drop(body);
    assert_eq!(sender.send("d").await, Err(Gone));
    assert_eq!(sender.finish().await, Err(Gone));
    assert_eq!(*told.lock(), Some(StreamEnd { bytes: 1, reason: EndReason::Dropped }));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_takes_nothing_is_given_up() {
    for finishing in [false, true] {
        let (sender, body) = stream(2, STALL);
        let Body::Stream(held) = &body else { panic!("not a stream") };
        let stalled = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stalled);
        held.on_stall(move || told.store(true, Ordering::Relaxed));
        sender.send("a").await.unwrap();
        sender.send("b").await.unwrap();
        assert!(!stalled.load(Ordering::Relaxed));
        let outcome = if finishing { sender.finish().await } else { sender.send("c").await };
        assert_eq!(outcome, Err(Gone));
        assert!(stalled.load(Ordering::Relaxed));
    }
}

async fn packed(coding: &'static str) -> (Response, Vec<u8>) {
    let (sender, body) = stream(2, STALL);
    let chunks: Vec<String> =
        (0..40_u64).map(|number| format!("{},", number.wrapping_mul(0x9E37_79B9)).repeat(3000)).collect();
    let plain = chunks.concat().into_bytes();
    tokio::spawn(async move {
        for chunk in chunks {
            sender.send(chunk).await.unwrap();
        }
        sender.finish().await.unwrap();
    });
    let response = json_response(StatusCode::OK, "application/json", body);
    (compress(Some(&HeaderValue::from_static(coding)), response, 1024).await, plain)
}

#[tokio::test]
async fn streams_are_compressed_as_they_pass() {
    let (response, plain) = packed("gzip").await;
    assert_eq!(response.headers()["content-encoding"], "gzip");
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    assert!(bytes.len() < plain.len() / 4);
    let mut found = Vec::new();
    flate2::read::GzDecoder::new(bytes.as_ref()).read_to_end(&mut found).unwrap();
    assert_eq!(found, plain);

    let (response, plain) = packed("gzip, zstd").await;
    assert_eq!(response.headers()["content-encoding"], "zstd");
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(zstd::stream::decode_all(bytes.as_ref()).unwrap(), plain);

    let (response, plain) = packed("br").await;
    assert!(!response.headers().contains_key("content-encoding"));
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), plain);
}

fn plenty() -> crate::MemoryBudget {
    crate::MemoryBudget::new(1 << 30, 1 << 20, Duration::ZERO)
}

fn pieces(budget: &crate::MemoryBudget, bytes: usize) -> Body {
    let mut reservation = budget.reservation();
    reservation.try_grow(bytes).unwrap();
    Body::in_pieces(vec![7; bytes].into(), reservation, STALL)
}

#[tokio::test]
async fn a_large_answer_comes_in_pieces_and_has_a_length() {
    let budget = plenty();
    let mut body = pieces(&budget, 1_000_000);
    let told = ended(&mut body);
    assert_eq!((body.size_hint().exact(), body.len_known()), (Some(1_000_000), 1_000_000));
    let first = frame(&mut body).await.unwrap().unwrap();
    assert_eq!((first.len(), body.size_hint().exact()), (PIECE_BYTES, Some(1_000_000 - 131_072)));
    let rest = body.collect().await.unwrap().to_bytes();
    assert_eq!(rest.len() + first.len(), 1_000_000);
    assert_eq!(*told.lock(), Some(StreamEnd { bytes: 1_000_000, reason: EndReason::Complete }));
    // What is not yet sent is still reserved.
    assert!(budget.reserved_bytes() >= 1_000_000);
    drop(first);
    assert_eq!(budget.reserved_bytes(), 0);
}

/// Serves one large answer over a connection of HTTP/1; the client takes so many bytes of its body, and leaves.
async fn end_after(taken: usize) -> EndReason {
    const BYTES: usize = 1_000_000;
    let (mut client, server) = tokio::io::duplex(1 << 16);
    let mut body = pieces(&plenty(), BYTES);
    let told = ended(&mut body);
    let answer = Arc::new(Mutex::new(Some(Response::new(body))));
    let service = hyper::service::service_fn(move |_: http::Request<hyper::body::Incoming>| {
        let answer = answer.lock().take();
        async move { answer.ok_or("it was asked twice") }
    });
    let io = hyper_util::rt::TokioIo::new(server);
    let serving = tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(io, service));
    client.write_all(b"GET / HTTP/1.1\r\nhost: here\r\n\r\n").await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await.unwrap());
    }
    assert!(std::str::from_utf8(&head).unwrap().contains(&format!("content-length: {BYTES}")));
    client.read_exact(&mut vec![0; taken]).await.unwrap();
    drop(client);
    let _ = serving.await.unwrap();
    let end = told.lock().take();
    end.expect("it ends with its connection").reason
}

#[tokio::test]
async fn a_large_answer_that_was_taken_whole_is_complete() {
    assert_eq!(end_after(1_000_000).await, EndReason::Complete);
    assert_eq!(end_after(100_000).await, EndReason::Dropped);
}

#[tokio::test(start_paused = true)]
async fn who_takes_no_piece_is_given_up() {
    let stalled = Arc::new(AtomicBool::new(false));
    let mut body = pieces(&plenty(), 1_000_000);
    let Body::Stream(stream) = &body else { panic!("not a stream") };
    let told = Arc::clone(&stalled);
    stream.on_stall(move || told.store(true, Ordering::Relaxed));
    for _ in 0..3 {
        tokio::time::sleep(STALL * 3 / 4).await;
        frame(&mut body).await.unwrap().unwrap();
    }
    assert!(!stalled.load(Ordering::Relaxed));
    tokio::time::sleep(STALL * 3).await;
    assert!(stalled.load(Ordering::Relaxed));
}

#[tokio::test(start_paused = true)]
async fn answers_are_cut_by_bytes_and_by_time() {
    let long = Duration::from_secs(100);
    for (bytes_max, duration_max, cut) in [
        (1000, long, Some("answer_bytes_max")),
        (1 << 30, Duration::from_secs(20), Some("answer_duration_max")),
        (1 << 30, long, None),
    ] {
        for is_whole in [true, false] {
            let mut body = if is_whole {
                pieces(&plenty(), 1_000_000)
            } else {
                let (sender, body) = stream(2, long);
                tokio::spawn(async move {
                    for _ in 0..10 {
                        sender.send(vec![7; 200]).await?;
                        tokio::time::sleep(Duration::from_secs(4)).await;
                    }
                    sender.finish().await
                });
                body
            };
            let told = ended(&mut body);
            let Body::Stream(stream) = &mut body else { panic!("not a stream") };
            stream.limit(bytes_max, duration_max);
            let mut outcome = Ok(());
            while let Some(frame) = frame(&mut body).await {
                outcome = frame.map(drop);
                if outcome.is_err() {
                    break;
                }
                tokio::time::sleep(Duration::from_secs(3)).await;
            }
            let expected = cut.map_or(EndReason::Complete, EndReason::Cut);
            assert_eq!(told.lock().as_ref().map(|end| end.reason.clone()), Some(expected));
            assert_eq!(outcome.is_err(), cut.is_some());
        }
    }
}
