//! Memory: the peak of live heap while points are read and written, in every form. Its own program, because it counts what
//! is allocated.

#![expect(clippy::unwrap_used, reason = "tests panic rather than return errors")]

use std::convert::Infallible;
use std::fmt::Write as _;
use std::time::Duration;

use api_http::testing::respond;
use api_http::{Params, Request, RequestStream, Router, StreamLimits};
use api_tsm::{Api, Limits, front_ends};
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use model_series::{Clock, Repositories, SeriesOptions, StrandOptions, Timestamp};
use peak_alloc::PeakAlloc;
use store::{MemoryOptions, Store};

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

const MIB: usize = 1 << 20;
/// Slots that are read: as text tens of times what may be held.
const SLOTS: usize = 2_000_000;
/// What a read may hold: a page as points and as text, the chunks that wait, and the beginning that may be all.
const READ_BYTES_MAX: usize = 16 * MIB;
/// A row group of Parquet, its columns as they are packed, and as much again.
const PARQUET_BYTES_MAX: usize = 40 * MIB;

const REPOSITORY: &str = "/tsm/v1/repositories/default";

fn limits() -> Limits {
    Limits {
        page_default: 20,
        page_max: 1000,
        request_series_max: 1000,
        answer_slots_max: 1_000_000_000,
        write_points_max: 1_000_000,
        depth_max: 64,
        item_bytes_max: 1 << 16,
        batch_bytes_max: 1 << 22,
        stall_max: Duration::from_secs(600),
        read_tasks: 2,
    }
}

fn router() -> Router {
    let clock = Clock::manual(Timestamp(1_767_225_600_000_000));
    let store =
        Store::memory(MemoryOptions { clock: clock.clone(), feed: store::FeedOptions::recommended() });
    let strands = StrandOptions::recommended();
    let options = SeriesOptions {
        strands,
        catalogue_buckets: 1,
        definitions_cached_max: 1000,
        tenants_max: 1_000,
        repositories_max: 10,
    };
    let api = Api::new(Repositories::new(store, options), clock, limits());
    Router::new(front_ends(&api))
}

async fn send(router: &Router, method: &str, path: &str, body: impl Into<Bytes>) {
    let json = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    let (_, response) = respond(router, method, &format!("{REPOSITORY}{path}"), json, body).await;
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert!(status.is_success(), "{status}: {}", String::from_utf8_lossy(&body));
}

/// What `work` answers, and the most that was allocated meanwhile beyond what was before.
async fn peak_of<T>(work: impl Future<Output = T>) -> (T, usize) {
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    let done = work.await;
    (done, HEAP.peak_usage().saturating_sub(before))
}

/// Reads an answer piece by piece, keeping none: its length, and how often `what` is in it.
async fn read(router: &Router, path: &str, what: &[u8]) -> (usize, usize) {
    let target = format!("{REPOSITORY}{path}");
    let (_, response) = respond(router, "GET", &target, HeaderMap::new(), "").await;
    assert_eq!(response.status(), StatusCode::OK, "{target}");
    let mut body = response.into_body();
    let (mut length, mut count) = (0, 0);
    while let Some(frame) = body.frame().await {
        let piece = frame.unwrap().into_data().unwrap();
        length += piece.len();
        count += piece.windows(what.len()).filter(|window| *window == what).count();
    }
    (length, count)
}

/// Seconds of which the first, and one far behind, have a point.
async fn check_sparse_reads(router: &Router) {
    send(router, "POST", "/timeseries", r#"{"Name":"Sparse","Type":"Begin","Interval":{"Value":"Second"}}"#)
        .await;
    let points =
        r#"{"Data":[{"From":"2026-01-01T00:00:00Z","Value":1},{"From":"2026-01-24T03:33:19Z","Value":2}]}"#;
    send(router, "PUT", "/timeseries/Sparse/data", points).await;
    for (form, bytes_min, bytes_max) in [
        ("rows", 60 * SLOTS, READ_BYTES_MAX),
        ("compact", 14 * SLOTS, READ_BYTES_MAX),
        ("csv", 20 * SLOTS, READ_BYTES_MAX),
        ("arrow", 19 * SLOTS, READ_BYTES_MAX),
        ("parquet", 10_000, PARQUET_BYTES_MAX),
    ] {
        for path in [
            "/timeseries/Sparse/data?gaps=Null&",
            "/timeseries/Sparse/data?gaps=Previous&",
            "/timeseriescollections/data?name=Sparse&gaps=Linear&",
        ] {
            let path = format!("{path}from=2026-01-01&to=2026-01-24T03:33:20Z&form={form}");
            let ((length, _), peak) = peak_of(read(router, &path, b"Missing")).await;
            assert!(length > bytes_min, "{form}: {length} bytes");
            assert!(peak < bytes_max, "{path}: {peak} bytes at once for an answer of {length}");
        }
    }
}

/// More changes of flags than are kept while values are written.
async fn check_motley_flags(router: &Router) {
    const COUNT: usize = 200_000;
    send(router, "POST", "/timeseries", r#"{"Name":"Motley","Type":"Begin","Interval":{"Value":"Second"}}"#)
        .await;
    let mut body = String::from(r#"{"Start":"2026-01-01T00:00:00Z","Values":["#);
    body.push_str(&vec!["1"; COUNT].join(","));
    body.push_str(r#"],"Flags":["#);
    body.push_str(&vec![r#""Valid","Estimated""#; COUNT / 2].join(","));
    body.push_str("]}");
    send(router, "PUT", "/timeseries/Motley/data", body).await;
    for path in ["/timeseries/Motley/data?", "/timeseriescollections/data?name=Motley&name=Sparse&"] {
        let path = format!("{path}to=2026-01-05&form=compact");
        let ((length, estimated), peak) = peak_of(read(router, &path, b"Estimated")).await;
        assert!(length > 11 * COUNT, "{length}");
        // Those that a cut between two pieces hides are few.
        assert!((COUNT / 2 - 100..=COUNT / 2).contains(&estimated), "{estimated}");
        assert!(peak < READ_BYTES_MAX, "{path}: {peak} bytes at once");
    }
}

/// A body of a million points comes in pieces: its columns stand in memory, its text never.
async fn check_bulk_writes(router: &Router) {
    const SERIES: usize = 100;
    const POINTS: usize = 10_000;
    let definition = |number: usize| format!(r#"{{"Name":"S{number}","Type":"Spontaneous"}}"#);
    let definitions: Vec<_> = (0..SERIES).map(definition).collect();
    send(router, "POST", "/timeseriescollections/definition", format!("[{}]", definitions.join(","))).await;
    let rows = |number: usize| {
        let mut text = String::from(if number == 0 { r#"{"TimeSeries":["# } else { "," });
        write!(text, r#"{{"Name":"S{number}","Data":["#).unwrap();
        for point in 0..POINTS {
            let (hour, minute, second) = (point / 3600, point / 60 % 60, point % 60);
            let comma = if point > 0 { "," } else { "" };
            write!(
                text,
                r#"{comma}{{"From":"2026-01-01T{hour:02}:{minute:02}:{second:02}Z","Value":{point}.5}}"#
            )
            .unwrap();
        }
        text.push_str(if number + 1 == SERIES { "]}]}" } else { "]}" });
        text
    };
    let lines = |number: usize| {
        let mut text = String::from(if number == 0 { "series,time,value,flag\n" } else { "" });
        for point in 0..POINTS {
            let (hour, minute, second) = (point / 3600, point / 60 % 60, point % 60);
            writeln!(text, "S{number},2026-01-01T{hour:02}:{minute:02}:{second:02}Z,{point}.5,Valid")
                .unwrap();
        }
        text
    };
    let forms: [(&'static str, &dyn Fn(usize) -> String); 2] =
        [("application/json", &rows), ("text/csv", &lines)];
    for (media, piece) in forms {
        let length: usize = (0..SERIES).map(|number| piece(number).len()).sum();
        let (status, peak) = peak_of(put(router, media, piece, SERIES)).await;
        assert_eq!(status, StatusCode::NO_CONTENT, "{media}");
        let most = limits().write_bytes_max() + 24 * MIB;
        assert!(length > 35 * MIB && peak < most, "{media}: {peak} bytes at once of {length}");
    }
}

/// A bulk write whose pieces are made one by one, as they are asked for.
async fn put(
    router: &Router,
    media: &'static str,
    piece: &dyn Fn(usize) -> String,
    count: usize,
) -> StatusCode {
    let path = format!("{REPOSITORY}/timeseriescollections/data");
    let found = router.find(&Method::PUT, &path).ok().unwrap();
    let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static(media))]);
    let (sender, mut receiver) = tokio::sync::mpsc::channel::<Bytes>(1);
    let source = stream::poll_fn(move |context| receiver.poll_recv(context));
    let frames = futures_util::StreamExt::map(source, |bytes| Ok::<_, Infallible>(Frame::data(bytes)));
    let limits = StreamLimits { bytes_max: 1 << 30, stall_max: Duration::from_secs(600) };
    let body = RequestStream::new(&headers, StreamBody::new(frames), limits).unwrap();
    let captures = found.captures;
    let request = Request {
        method: Method::PUT,
        path,
        captures,
        params: Params::default(),
        headers,
        ..Request::default()
    };
    let feed = async {
        for number in 0..count {
            sender.send(Bytes::from(piece(number))).await.unwrap();
        }
        drop(sender);
    };
    let (response, ()) = tokio::join!(found.handler.answer_streamed(request, body).unwrap(), feed);
    response.status()
}

#[tokio::test]
async fn no_form_holds_more_than_its_share() {
    let router = router();
    check_sparse_reads(&router).await;
    check_motley_flags(&router).await;
    check_bulk_writes(&router).await;
}
