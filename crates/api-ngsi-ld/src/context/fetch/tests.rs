use super::super::testing::{Page, WebServer, policy};
use super::*;

async fn check_refused(policy: FetchPolicy, url: &str, said: &str) {
    let refused = Fetcher::new(policy).fetch(url).await.unwrap_err();
    assert!(refused.contains(said), "{url}: {refused:?} lacks {said:?}");
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
    check_refused(policy(), &server.url("/large"), "larger than 10000 bytes").await;
    check_refused(policy(), &server.url("/endless"), "larger than 10000 bytes").await;
    check_refused(policy(), &server.url("/loop"), "redirects more than 2 times").await;
    check_refused(policy(), &server.url("/ftp"), "ftp://example.org/ is neither http nor https").await;
    check_refused(policy(), &server.url("/broken"), "500").await;
    check_refused(policy(), &server.url("/none"), "404").await;
    let hasty = FetchPolicy { timeout: Duration::from_millis(50), ..policy() };
    check_refused(hasty, &server.url("/slow"), "longer than 50 ms").await;
    assert!(Fetcher::new(policy()).fetch(&server.url("/just")).await.is_ok());
    check_refused(policy(), "file:///etc/passwd", "neither http nor https").await;
}

#[tokio::test]
async fn private_addresses_are_not_asked() {
    let server = WebServer::start(&[("/", Page::Text("secret".into()))]).await;
    let public = FetchPolicy { private_addresses: false, ..policy() };
    check_refused(public.clone(), &server.url("/"), "127.0.0.1 is not a public address").await;
    let by_name = server.url("/").replace("127.0.0.1", "localhost");
    check_refused(public.clone(), &by_name, "localhost has no public address").await;
    for url in ["http://[::1]/", "http://0x7f.1/", "http://169.254.169.254/", "http://[::ffff:10.0.0.1]/"] {
        check_refused(public.clone(), url, "is not a public address").await;
    }
    let none = FetchPolicy { allowed: false, ..public };
    check_refused(none, &server.url("/"), "does not fetch remote contexts").await;
    assert_eq!(server.requests(), 0);
}

#[tokio::test]
async fn redirects_to_private_addresses_are_not_followed() {
    let server = WebServer::start(&[("/", Page::Text("secret".into()))]).await;
    let fetcher = Fetcher::new(FetchPolicy { private_addresses: false, ..policy() });
    let next = Url::parse("https://example.org/").unwrap().join(&server.url("/")).unwrap();
    assert!(fetcher.check_url(&next).is_err());
}
