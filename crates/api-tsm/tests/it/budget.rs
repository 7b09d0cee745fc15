//! Bodies of points share room in memory: all get through a small one, and who finds none is told so.

use std::sync::Arc;
use std::time::Duration;

use api_http::MemoryBudget;
use http::{HeaderMap, StatusCode, header};
use http_body_util::BodyExt as _;

use crate::bulk::{define, put, written};
use crate::service::{Service, limits};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_bodies_at_once_all_get_through_a_small_room() {
    let largest = limits().write_bytes_max();
    let body: Arc<[u8]> = written().into_bytes().into();
    // Nothing but the reserve; then room for about three of the bodies besides.
    for more in [0, 2 << 20] {
        let room = MemoryBudget::new(largest + more, largest, Duration::from_secs(600));
        let service = Arc::new(Service::with_room(Some(room.clone())));
        define(&service).await;
        let writers: Vec<_> = (1..=24)
            .map(|writer| {
                let (service, body) = (Arc::clone(&service), Arc::clone(&body));
                tokio::spawn(async move { put(&service, HeaderMap::new(), &body, 1000 * writer).await })
            })
            .collect();
        for writer in writers {
            assert_eq!(writer.await.unwrap(), (StatusCode::NO_CONTENT, String::new()));
        }
        assert_eq!((room.reserved_bytes(), room.refused()), (0, 0));
    }
}

#[tokio::test]
async fn a_body_that_finds_no_room_is_refused_by_the_name_of_the_limit() {
    let largest = limits().write_bytes_max();
    let room = MemoryBudget::new(largest, largest, Duration::from_millis(1));
    let service = Service::with_room(Some(room.clone()));
    define(&service).await;
    let mut taken = room.reservation();
    taken.grow(largest).await.unwrap();
    let (status, text) = put(&service, HeaderMap::new(), written().as_bytes(), 10_000).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(text.contains("memory_bytes_max"), "{text}");
    let single = async |points: usize| {
        let target = "/tsm/v1/repositories/default/timeseries/Meter%200001/data";
        let values = vec!["1"; points].join(",");
        let body = format!(r#"{{"Start":"2026-01-01T00:00:00Z","Values":[{values}]}}"#);
        let (_, response) = service.respond("PUT", target, HeaderMap::new(), body).await;
        let (parts, body) = response.into_parts();
        (parts, String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap())
    };
    // 17 bytes a point.
    let (parts, text) = single(4000).await;
    assert_eq!(
        (parts.status, parts.headers[header::RETRY_AFTER].as_bytes()),
        (StatusCode::SERVICE_UNAVAILABLE, &b"1"[..])
    );
    assert!(text.contains("memory_bytes_max"), "{text}");
    assert_eq!((room.refused(), room.reserved_bytes()), (2, largest.div_ceil(1024) * 1024));
    // What is small needs none.
    assert_eq!(single(1).await.0.status, StatusCode::NO_CONTENT);
    drop(taken);
    assert_eq!(single(4000).await.0.status, StatusCode::NO_CONTENT);
    assert_eq!(room.reserved_bytes(), 0);
}
