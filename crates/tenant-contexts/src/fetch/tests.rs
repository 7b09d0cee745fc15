use super::*;
use crate::testing::{Page, WebServer, policy};

async fn refused(policy: FetchPolicy, url: &str, said: &str) -> FetchError {
    let refused = Fetcher::new(policy).fetch(url).await.unwrap_err();
    assert!(refused.to_string().contains(said), "{url}: {refused:?} lacks {said:?}");
    refused
}

async fn check_failed(policy: FetchPolicy, url: &str, said: &str) {
    assert!(matches!(refused(policy, url, said).await, FetchError::Failed(_)), "{url}");
}

async fn check_forbidden(policy: FetchPolicy, url: &str, said: &str) {
    let refused = refused(policy, url, said).await;
    assert!(
        matches!(&refused, FetchError::Forbidden(detail) if detail.contains("--context-fetch")),
        "{refused:?}"
    );
}

#[tokio::test]
async fn documents_and_redirects_are_fetched() {
    let server = WebServer::start(&[
        ("/a", Page::Text("text".into())),
        ("/b", Page::Stream("streamed".into())),
        ("/c", Page::Redirect("/d?x".into())),
        ("/d?x", Page::Redirect("/a".into())),
    ])
    .await;
    let fetcher = Fetcher::new(policy());
    assert_eq!(fetcher.fetch(&server.url("/a")).await.as_deref(), Ok("text"));
    assert_eq!(fetcher.fetch(&server.url("/b")).await.as_deref(), Ok("streamed"));
    assert_eq!(fetcher.fetch(&server.url("/c")).await.as_deref(), Ok("text"));
}

#[tokio::test]
async fn limits_hold() {
    let server = WebServer::start(&[
        ("/large", Page::Text("x".repeat(10_001))),
        ("/endless", Page::Stream("x".repeat(10_001))),
        ("/loop", Page::Redirect("/loop".into())),
        ("/ftp", Page::Redirect("ftp://example.org/".into())),
        ("/broken", Page::Status(500)),
        ("/slow", Page::Silence),
        ("/just", Page::Stream("x".repeat(10_000))),
    ])
    .await;
    check_failed(policy(), &server.url("/large"), "larger than 10000 bytes (--context-bytes-max)").await;
    check_failed(policy(), &server.url("/endless"), "larger than 10000 bytes (--context-bytes-max)").await;
    check_failed(policy(), &server.url("/loop"), "redirects more than 2 times").await;
    check_failed(policy(), &server.url("/broken"), "500").await;
    check_failed(policy(), &server.url("/none"), "404").await;
    let hasty = FetchPolicy { timeout: Duration::from_millis(50), ..policy() };
    check_failed(hasty, &server.url("/slow"), "longer than 50 ms").await;
    assert!(Fetcher::new(policy()).fetch(&server.url("/just")).await.is_ok());
    for (url, said) in [
        ("file:///etc/passwd".to_owned(), "neither http nor https"),
        (server.url("/ftp"), "neither http nor https"),
    ] {
        assert!(matches!(refused(policy(), &url, said).await, FetchError::Invalid(_)), "{url}");
    }
}

#[tokio::test]
async fn private_addresses_are_not_asked() {
    let server = WebServer::start(&[("/", Page::Text("secret".into()))]).await;
    let public = FetchPolicy { private_addresses: false, ..policy() };
    check_forbidden(public.clone(), &server.url("/"), "127.0.0.1 is not a public address").await;
    let by_name = server.url("/").replace("127.0.0.1", "localhost");
    check_forbidden(public.clone(), &by_name, "localhost, by its name, is not a public address").await;
    for url in ["http://[::1]/", "http://0x7f.1/", "http://169.254.169.254/", "http://[::ffff:10.0.0.1]/"] {
        check_forbidden(public.clone(), url, "is not a public address").await;
    }
    let none = FetchPolicy { allowed: false, ..public };
    check_forbidden(none, &server.url("/"), "does not fetch remote contexts").await;
    assert_eq!(server.requests(), 0);
}
