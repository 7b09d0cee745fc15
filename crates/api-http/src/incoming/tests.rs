use std::convert::Infallible;
use std::io::Write as _;

use futures_util::stream;
use http::{HeaderValue, header};
use http_body_util::{Full, StreamBody};
use hyper::body::Frame;

use super::*;

const LIMITS: StreamLimits = StreamLimits { bytes_max: 4_000_000, stall_max: Duration::from_secs(5) };

fn headers(coding: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(header::CONTENT_ENCODING, HeaderValue::from_static(coding))])
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn zstd(plain: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(plain, 3).unwrap()
}

/// Numbers that pack to about a half.
fn plain(count: u32) -> Vec<u8> {
    (0..count).flat_map(|number| number.wrapping_mul(2_654_435_761).to_string().into_bytes()).collect()
}

fn in_pieces(bytes: &[u8], size: usize) -> impl Body<Data = Bytes, Error = Infallible> + Send + 'static {
    let pieces: Vec<_> =
        bytes.chunks(size).map(|piece| Ok(Frame::data(Bytes::copy_from_slice(piece)))).collect();
    StreamBody::new(stream::iter(pieces))
}

/// Reads to the end; the largest piece beside it.
async fn read(mut stream: RequestStream) -> Result<(Vec<u8>, usize), Refusal> {
    let (mut all, mut largest) = (Vec::new(), 0);
    while let Some(piece) = stream.next().await? {
        assert!(!piece.is_empty());
        largest = largest.max(piece.len());
        all.extend_from_slice(&piece);
    }
    assert_eq!(stream.next().await, Ok(None), "the end stays the end");
    Ok((all, largest))
}

async fn check(coding: &'static str, sent: &[u8], size: usize, expected: &[u8]) {
    let stream = RequestStream::new(&headers(coding), in_pieces(sent, size), LIMITS).unwrap();
    let (found, largest) = read(stream).await.unwrap();
    assert!(found == expected, "{coding} in pieces of {size}");
    assert!(coding == "identity" || largest <= 640 * 1024, "{largest}");
}

async fn check_refused(coding: &'static str, sent: &[u8], expected: fn(&Refusal) -> bool) {
    for size in [7, sent.len().max(1)] {
        let stream = RequestStream::new(&headers(coding), in_pieces(sent, size), LIMITS).unwrap();
        let refusal = read(stream).await.unwrap_err();
        assert!(expected(&refusal), "{coding} in pieces of {size}: {refusal:?}");
    }
}

#[tokio::test]
async fn bodies_come_in_pieces_and_unpacked() {
    let plain = plain(200_000);
    for size in [1 << 20, 64 * 1024, 1000] {
        check("identity", &plain, size, &plain).await;
        check("gzip", &gzip(&plain), size, &plain).await;
        check("x-gzip", &gzip(&plain), size, &plain).await;
        check("zstd", &zstd(&plain), size, &plain).await;
    }
    check("gzip", &gzip(b"short"), 1, b"short").await;
    check("zstd", &zstd(b"short"), 1, b"short").await;
    for coding in ["identity", "gzip", "zstd"] {
        check(coding, b"", 1, b"").await;
    }
}

#[tokio::test]
async fn members_and_frames_follow_each_other() {
    let twice = |packed: Vec<u8>| packed.repeat(2);
    for size in [1, 5, 1000] {
        check("gzip", &twice(gzip(b"one.")), size, b"one.one.").await;
        check("zstd", &twice(zstd(b"one.")), size, b"one.one.").await;
    }
}

#[tokio::test]
async fn bombs_hold_little_memory_and_are_refused() {
    let large = vec![b' '; 3_900_000];
    check("gzip", &gzip(&large), 1 << 20, &large).await;
    check("zstd", &zstd(&large), 1 << 20, &large).await;
    let bomb = vec![0; 40_000_000];
    check_refused("gzip", &gzip(&bomb), |refusal| *refusal == Refusal::StreamTooLarge(4_000_000)).await;
    check_refused("zstd", &zstd(&bomb), |refusal| *refusal == Refusal::StreamTooLarge(4_000_000)).await;
    check_refused("identity", &bomb, |refusal| *refusal == Refusal::StreamTooLarge(4_000_000)).await;
    let declared = RequestStream::new(&HeaderMap::new(), Full::new(Bytes::from(bomb)), LIMITS);
    assert_eq!(declared.err(), Some(Refusal::StreamTooLarge(4_000_000)));
}

#[tokio::test]
async fn what_is_not_in_its_coding_is_refused() {
    let is_bad = |refusal: &Refusal| matches!(refusal, Refusal::BrokenBody(_));
    for coding in ["gzip", "zstd"] {
        check_refused(coding, b"plain as it can be, and long enough", is_bad).await;
    }
    let plain = plain(1000);
    for (coding, packed) in [("gzip", gzip(&plain)), ("zstd", zstd(&plain))] {
        for length in (1..packed.len()).step_by(13).chain(packed.len() - 12..packed.len()) {
            check_refused(coding, &packed[..length], is_bad).await;
        }
        check_refused(coding, &[&packed[..], b"rest"].concat(), is_bad).await;
    }
    let unknown = RequestStream::new(&headers("br"), in_pieces(b"x", 1), LIMITS).err();
    assert!(matches!(unknown, Some(Refusal::BadEncoding(_))), "{unknown:?}");
}

#[tokio::test]
async fn a_body_that_breaks_off_is_refused() {
    let pieces = [Ok(Frame::data(Bytes::from_static(b"abc"))), Err("reset")];
    let mut stream =
        RequestStream::new(&HeaderMap::new(), StreamBody::new(stream::iter(pieces)), LIMITS).unwrap();
    assert_eq!(stream.next().await, Ok(Some(Bytes::from_static(b"abc"))));
    assert_eq!(stream.next().await, Err(Refusal::BrokenBody("it broke off: reset".to_owned())));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_pauses_is_refused() {
    let never = stream::pending::<Result<Frame<Bytes>, Infallible>>();
    let mut stream = RequestStream::new(&HeaderMap::new(), StreamBody::new(never), LIMITS).unwrap();
    assert_eq!(stream.next().await, Err(Refusal::Stalled(5000)));
}

#[tokio::test]
async fn a_stream_can_be_read_whole() {
    for size in [2, 100] {
        let stream = || RequestStream::new(&HeaderMap::new(), in_pieces(b"abcdef", size), LIMITS).unwrap();
        assert_eq!(stream().read_whole(6).await.as_deref(), Ok(b"abcdef".as_slice()));
        assert_eq!(stream().read_whole(5).await, Err(Refusal::BodyTooLarge(5)));
    }
    assert_eq!(RequestStream::whole(Bytes::new()).read_whole(0).await, Ok(Bytes::new()));
}

#[tokio::test]
async fn what_is_not_wanted_is_thrown_away_up_to_a_limit() {
    let left = |bytes_max| async move {
        let (sender, mut receiver) = tokio::sync::mpsc::channel(100);
        for _ in 0..10 {
            sender.send(()).await.unwrap();
        }
        drop(sender);
        let frames = stream::poll_fn(move |context| {
            receiver
                .poll_recv(context)
                .map(|told| told.map(|()| Ok::<_, Infallible>(Frame::data("ab".into()))))
        });
        let counted = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let count = std::sync::Arc::clone(&counted);
        let frames = futures_util::StreamExt::inspect(frames, move |_| {
            count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        });
        let stream = RequestStream::new(&HeaderMap::new(), StreamBody::new(frames), LIMITS).unwrap();
        stream.drain(bytes_max).await;
        counted.load(std::sync::atomic::Ordering::Relaxed)
    };
    assert_eq!(left(5).await, 3);
    assert_eq!(left(1000).await, 10);
}
