//! Bodies whole and in pieces, compressed and not, within limits and beyond them.

use std::convert::Infallible;
use std::io::Write as _;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::stream;
use http::HeaderValue;
use http_body_util::{Full, StreamBody};
use hyper::body::{Frame, SizeHint};

use super::*;
use crate::MemoryBudget;

fn plenty() -> Share {
    crate::RequestMemory::default().share()
}

/// A body that says to be `declared` bytes, or nothing of it, and pauses for ever behind `came`.
struct Unfinished {
    declared: Option<u64>,
    came: usize,
}

impl Body for Unfinished {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.came.min(32 << 10);
        if piece == 0 {
            return Poll::Pending;
        }
        self.get_mut().came -= piece;
        Poll::Ready(Some(Ok(Frame::data(vec![b' '; piece].into()))))
    }

    fn size_hint(&self) -> SizeHint {
        self.declared.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

/// What is reserved while that much of a body has come.
fn reserved(declared: Option<u64>, came: usize) -> usize {
    let budget = MemoryBudget::new(1 << 30, 1 << 20, Duration::ZERO);
    let (headers, mut share) = (HeaderMap::new(), budget.request().share());
    let body = Unfinished { declared, came };
    let mut read = std::pin::pin!(read_body(&headers, body, 64 << 20, &mut share));
    assert!(read.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    budget.reserved_bytes()
}

#[test]
fn unfinished_bodies_hold_what_came_of_them() {
    for declared in [Some(60 << 20), None] {
        assert_eq!(reserved(declared, 0), 0);
        assert_eq!(reserved(declared, 32 << 10), 0);
        let few = reserved(declared, 1 << 20);
        assert!((2 << 20..=4 << 20).contains(&few), "{few}");
    }
    let much = reserved(Some(60 << 20), 59 << 20);
    assert!((118 << 20..=120 << 20).contains(&much), "{much}");
    let much = reserved(None, 59 << 20);
    assert!((118 << 20..=128 << 20).contains(&much), "{much}");
}

#[tokio::test(start_paused = true)]
async fn bodies_together_stay_within_the_budget() {
    let budget = MemoryBudget::new(8 << 20, 2 << 20, Duration::from_secs(5));
    let read = |came: usize| {
        let mut share = budget.request().share();
        async move {
            let body = Unfinished { declared: Some(1 << 20), came };
            read_body(&HeaderMap::new(), body, 1 << 20, &mut share).await
        }
    };
    let unfinished: Vec<_> = (0..40).map(|_| tokio::spawn(read((1 << 20) - 1))).collect();
    tokio::time::sleep(Duration::from_secs(60)).await;
    let refused = unfinished.iter().filter(|body| body.is_finished()).count();
    assert!((36..40).contains(&refused), "{refused}");
    assert!(budget.reserved_bytes() <= 8 << 20);
    for body in unfinished {
        if body.is_finished() {
            assert_eq!(body.await.unwrap(), Err(Refusal::MemoryFull));
        }
    }
}

fn headers(coding: Option<&'static str>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Some(coding) = coding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    headers
}

async fn check(coding: Option<&'static str>, bytes: Vec<u8>, max: usize, expected: Result<&[u8], Refusal>) {
    let body = Full::new(Bytes::from(bytes));
    let read = read_body(&headers(coding), body, max, &mut plenty()).await;
    assert_eq!(read.as_deref().map_err(Clone::clone), expected);
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn bodies_are_read_up_to_the_limit() {
    check(None, vec![], 0, Ok(b"")).await;
    check(None, b"abc".to_vec(), 3, Ok(b"abc")).await;
    check(None, b"abcd".to_vec(), 3, Err(Refusal::BodyTooLarge(3))).await;
    check(Some("identity"), b"abc".to_vec(), 3, Ok(b"abc")).await;
}

#[tokio::test]
async fn pieces_are_counted_and_joined() {
    let pieces = |texts: &[&'static str]| {
        let frames: Vec<_> = texts
            .iter()
            .map(|text| Ok::<_, Infallible>(Frame::data(Bytes::from_static(text.as_bytes()))))
            .collect();
        StreamBody::new(stream::iter(frames))
    };
    let read = read_body(&HeaderMap::new(), pieces(&["ab", "", "c", "def"]), 6, &mut plenty()).await;
    assert_eq!(read.as_deref(), Ok(b"abcdef".as_slice()));
    let read = read_body(&HeaderMap::new(), pieces(&["ab", "c", "def"]), 5, &mut plenty()).await;
    assert_eq!(read, Err(Refusal::BodyTooLarge(5)));
}

#[tokio::test]
async fn compressed_bodies_are_unpacked() {
    let plain = b"hello hello hello hello hello hello".repeat(4000);
    check(Some("gzip"), gzip(&plain), plain.len(), Ok(&plain)).await;
    check(Some("X-GZip"), gzip(&plain), plain.len(), Ok(&plain)).await;
    let packed = zstd::bulk::compress(&plain, 3).unwrap();
    check(Some("zstd"), packed, plain.len(), Ok(&plain)).await;
    let large: Vec<u8> =
        (0..200_000_u32).flat_map(|n| (n.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
    check(Some("gzip"), gzip(&large), 1_000_000, Ok(&large)).await;
}

#[tokio::test]
async fn bombs_are_refused() {
    let plain = vec![0; 10_000_000];
    check(Some("gzip"), gzip(&plain), 100_000, Err(Refusal::BodyTooLarge(100_000))).await;
    let packed = zstd::bulk::compress(&plain, 3).unwrap();
    check(Some("zstd"), packed, 100_000, Err(Refusal::BodyTooLarge(100_000))).await;
}

#[tokio::test]
async fn a_body_cut_off_anywhere_is_refused() {
    let plain = b"hello hello hello, and something else".repeat(30);
    for (coding, packed) in [("gzip", gzip(&plain)), ("zstd", zstd::bulk::compress(&plain, 3).unwrap())] {
        for length in 1..packed.len() {
            let cut = Full::new(Bytes::copy_from_slice(&packed[..length]));
            let read = read_body(&headers(Some(coding)), cut, 100_000, &mut plenty()).await;
            assert!(matches!(read, Err(Refusal::BrokenBody(_))), "{coding} of {length} bytes: {read:?}");
        }
    }
}

#[tokio::test(flavor = "current_thread")]
async fn others_get_their_turn_while_a_bomb_unpacks() {
    let packed = zstd::bulk::compress(&vec![0; 50_000_000], 3).unwrap();
    assert!(packed.len() < 10_000, "a few bytes");
    let turns = std::rc::Rc::new(std::cell::Cell::new(0));
    let headers = headers(Some("zstd"));
    let mut share = plenty();
    let unpack = read_body(&headers, Full::new(Bytes::from(packed)), 60_000_000, &mut share);
    let other = async {
        loop {
            turns.set(turns.get() + 1);
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        read = unpack => assert_eq!(read.unwrap().len(), 50_000_000),
        () = other => {}
    }
    assert!(turns.get() > 50, "{}", turns.get());
}

#[tokio::test]
async fn bytes_in_another_coding_are_refused() {
    let mut cut = gzip(b"hello hello hello");
    cut.truncate(cut.len() - 9);
    for (coding, bytes) in [("gzip", b"plain".to_vec()), ("zstd", b"plain".to_vec()), ("gzip", cut)] {
        let read = read_body(&headers(Some(coding)), Full::new(Bytes::from(bytes)), 100, &mut plenty()).await;
        assert!(matches!(read, Err(Refusal::BrokenBody(_))), "{read:?}");
    }
    let read = read_body(&headers(Some("br")), Full::new(Bytes::from_static(b"x")), 100, &mut plenty()).await;
    let Err(Refusal::BadEncoding(detail)) = read else { panic!("{read:?}") };
    assert!(detail.contains("br"), "{detail}");
}
