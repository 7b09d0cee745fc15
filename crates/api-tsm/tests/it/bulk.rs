//! Many series at once: more than is answered whole, in order, in every form; and bodies that come in pieces.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::time::Duration;

use api_http::{Body, Params, Request, RequestStream, StreamLimits};
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;

use crate::service::Service;

const SERIES: usize = 400;
const POINTS: usize = 100;

fn name(number: usize) -> String {
    format!("Meter {number:04}")
}

fn json() -> HeaderMap {
    HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))])
}

/// A service with [`SERIES`] series of [`POINTS`] hours each.
pub(crate) async fn filled() -> Service {
    let service = Service::new();
    define(&service).await;
    let body = written();
    let (status, text) = put(&service, HeaderMap::new(), body.as_bytes(), 10_007).await;
    assert_eq!((status, text.as_str()), (StatusCode::NO_CONTENT, ""));
    service
}

/// Defines [`SERIES`] series.
pub(crate) async fn define(service: &Service) {
    let definitions: Vec<_> = (0..SERIES)
        .map(|number| {
            format!(r#"{{"Name":"{}","Type":"Begin","Interval":{{"Value":"Hour"}}}}"#, name(number))
        })
        .collect();
    let target = "/tsm/v1/repositories/default/timeseriescollections/definition";
    let (_, response) = service.respond("POST", target, json(), format!("[{}]", definitions.join(","))).await;
    assert_eq!(response.status(), StatusCode::CREATED);
}

/// All points as a body.
pub(crate) fn written() -> String {
    let mut body = String::from("{\"TimeSeries\":[");
    for number in 0..SERIES {
        let comma = if number > 0 { "," } else { "" };
        write!(
            body,
            "{comma}{{\"Name\":\"{}\",\"Start\":\"2026-01-01T00:00:00Z\",\"Values\":[",
            name(number)
        )
        .unwrap();
        for point in 0..POINTS {
            let comma = if point > 0 { "," } else { "" };
            write!(body, "{comma}{number}.{point:03}").unwrap();
        }
        body.push_str("]}");
    }
    body.push_str("]}");
    body
}

/// A bulk write whose body comes in pieces of `size` bytes.
pub(crate) async fn put(
    service: &Service,
    headers: HeaderMap,
    body: &[u8],
    size: usize,
) -> (StatusCode, String) {
    let path = "/tsm/v1/repositories/default/timeseriescollections/data";
    let found = service.router.find(&Method::PUT, path).ok().unwrap();
    assert!(found.handler.is_streamed());
    let pieces: Vec<_> = body
        .chunks(size)
        .map(|piece| Ok::<_, Infallible>(Frame::data(Bytes::copy_from_slice(piece))))
        .collect();
    let limits = StreamLimits { bytes_max: 1 << 30, stall_max: Duration::from_secs(5) };
    let stream = RequestStream::new(&headers, StreamBody::new(stream::iter(pieces)), limits).unwrap();
    let request = Request {
        method: Method::PUT,
        path: path.to_owned(),
        captures: found.captures,
        params: Params::default(),
        headers,
        memory: service.memory(),
        ..Request::default()
    };
    let response = found.handler.answer_streamed(request, stream).unwrap().await;
    let status = response.status();
    let text = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(text.to_vec()).unwrap())
}

async fn read(service: &Service, more: &str) -> (bool, Vec<u8>) {
    let names: Vec<_> = (0..SERIES).rev().map(|number| format!("\"{}\"", name(number))).collect();
    let body = format!("{{\"Names\":[{}]{more}}}", names.join(","));
    let target = "/repositories/default/timeseriescollections/data";
    let (_, response) = service.respond("POST", target, json(), body).await;
    assert_eq!(response.status(), StatusCode::OK);
    let is_stream = matches!(response.body(), Body::Stream(_));
    (is_stream, response.into_body().collect().await.unwrap().to_bytes().to_vec())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_answers_stream_in_order() {
    let service = filled().await;
    let mut expected = String::from("series,time,value,flag\n");
    for number in (0..SERIES).rev() {
        for point in 0..POINTS {
            let (day, hour) = (point / 24 + 1, point % 24);
            let value = format!("{number}.{point:03}");
            let value =
                if value.contains('.') { value.trim_end_matches('0').trim_end_matches('.') } else { &value };
            writeln!(expected, "{},2026-01-{day:02}T{hour:02}:00:00Z,{value},Valid", name(number)).unwrap();
        }
    }
    for range in ["", ",\"From\":\"2026-01-01\",\"To\":\"2026-02-01\""] {
        let (is_stream, body) = read(&service, &format!(",\"Form\":\"csv\"{range}")).await;
        assert!(is_stream, "an answer of {} bytes is not whole", body.len());
        let body = String::from_utf8(body).unwrap().replace("\r\n", "\n");
        let differs = body.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
        assert_eq!(differs, None);
        assert_eq!(body.lines().count(), expected.lines().count());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_json_form_is_one_document() {
    let service = filled().await;
    for (form, member) in [("rows", "Data"), ("compact", "Values")] {
        let range = ",\"From\":\"2026-01-01\",\"To\":\"2026-02-01\"";
        let (_, body) = read(&service, &format!(",\"Form\":\"{form}\"{range}")).await;
        let document: serde_json::Value = serde_json::from_slice(&body).unwrap();
        let series = document["TimeSeries"].as_array().unwrap();
        assert_eq!(series.len(), SERIES);
        for (place, series) in series.iter().enumerate() {
            assert_eq!(series["Name"], name(SERIES - 1 - place));
            assert_eq!(series[member].as_array().unwrap().len(), POINTS);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_read_can_be_written() {
    let service = filled().await;
    for (form, media) in
        [("rows", "application/json"), ("arrow", "application/vnd.apache.arrow.stream"), ("csv", "text/csv")]
    {
        let (_, body) = read(&service, &format!(",\"Form\":\"{form}\"")).await;
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static(media));
        let target = "/tsm/v1/repositories/default/timeseries/Meter%200007/data?from=1700-01-01";
        let (_, removed) = service.respond("DELETE", target, HeaderMap::new(), "").await;
        assert_eq!(removed.status(), StatusCode::NO_CONTENT);
        let (status, text) = put(&service, headers.clone(), &body, 65_536).await;
        assert_eq!((status, text.as_str()), (StatusCode::NO_CONTENT, ""), "{form}");
        assert!(read(&service, &format!(",\"Form\":\"{form}\"")).await.1 == body, "{form}");
        // The same, packed.
        headers.insert("content-encoding", HeaderValue::from_static("zstd"));
        let packed = zstd::bulk::compress(&body, 1).unwrap();
        let (status, text) = put(&service, headers, &packed, 4096).await;
        assert_eq!((status, text.as_str()), (StatusCode::NO_CONTENT, ""), "{form}");
    }
}

#[tokio::test]
async fn parquet_holds_all_points() {
    let service = filled().await;
    let (_, body) = read(&service, ",\"Form\":\"parquet\"").await;
    let file = parquet::file::reader::SerializedFileReader::new(Bytes::from(body)).unwrap();
    let rows = parquet::file::reader::FileReader::metadata(&file).file_metadata().num_rows();
    assert_eq!(usize::try_from(rows).unwrap(), SERIES * POINTS);
}

#[tokio::test]
async fn a_point_amiss_stores_nothing() {
    let service = filled().await;
    let target = "/tsm/v1/repositories/default/timeseriescollections/data?name=Meter%200000&form=csv";
    let held =
        |response: api_http::Response| async { response.into_body().collect().await.unwrap().to_bytes() };
    let before = held(service.respond("GET", target, HeaderMap::new(), "").await.1).await;
    let body = written().replacen("0.000", "77", 1);
    let wrong = body.replace("399.099", "oops");
    let (status, text) = put(&service, HeaderMap::new(), wrong.as_bytes(), 1000).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(text.contains("\"Series\":\"Meter 0399\",\"Position\":99"), "{text}");
    let off = body.replacen(
        "\"2026-01-01T00:00:00Z\",\"Values\":[399.000",
        "\"2026-01-01T00:00:01Z\",\"Values\":[399.000",
        1,
    );
    let (status, text) = put(&service, HeaderMap::new(), off.as_bytes(), 1000).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(text.contains("Meter 0399"), "{text}");
    let after = held(service.respond("GET", target, HeaderMap::new(), "").await.1).await;
    assert_eq!(after, before);
    let (status, _) = put(&service, HeaderMap::new(), body.as_bytes(), 1000).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let after = held(service.respond("GET", target, HeaderMap::new(), "").await.1).await;
    assert_ne!(after, before);
}
