//! One answer is of one moment, though its series is written while it is sent.

use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt as _;

use crate::service::Service;

const COUNT: usize = 60_000;

fn all(value: &str) -> String {
    format!(r#"{{"Start":"2026-01-01T00:00:00Z","Values":[{}]}}"#, vec![value; COUNT].join(","))
}

async fn sent(service: &Service, method: &str, path: &str, body: String) {
    let json = HeaderMap::from_iter([(
        http::header::CONTENT_TYPE,
        http::HeaderValue::from_static("application/json"),
    )]);
    let target = format!("/tsm/v1/repositories/default{path}");
    let (_, response) = service.respond(method, &target, json, body).await;
    assert!(response.status().is_success(), "{}", response.status());
}

#[tokio::test]
async fn a_write_meanwhile_is_not_in_an_answer_under_way() {
    let service = Service::new();
    for (name, formula) in [("Meter", "null"), ("Computed", "\"[Meter] * 10\"")] {
        let body = format!(
            r#"{{"Name":"{name}","Type":"Begin","Interval":{{"Value":"Second"}},"Formula":{formula}}}"#
        );
        sent(&service, "POST", "/timeseries", body).await;
    }
    let put = "/timeseries/Meter/data?from=2026-01-01&to=2026-01-02";
    for (target, was, becomes) in [
        ("/timeseries/Meter/data", "1", "2"),
        ("/timeseriescollections/data?name=Meter", "1", "2"),
        ("/timeseries/Meter/data?interval=Second&intervalMultiplier=1", "1", "2"),
        ("/timeseries/Computed/data?from=2026-01-01&to=2026-01-02", "10", "20"),
    ] {
        sent(&service, "PUT", put, all("1")).await;
        let target = format!("/tsm/v1/repositories/default{target}");
        let (_, response) = service.respond("GET", &target, HeaderMap::new(), "").await;
        assert_eq!(response.status(), StatusCode::OK);
        let mut body = response.into_body();
        let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
        sent(&service, "PUT", put, all("2")).await;
        let rest = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8([first, rest].concat()).unwrap();
        let count = |value: &str| text.matches(&format!("\"Value\":{value},")).count();
        assert_eq!((count(was), count(becomes)), (COUNT, 0), "{target}");
    }
}
