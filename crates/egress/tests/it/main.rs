//! The client against servers on the loopback: redirects, names with several addresses, limits of time and size, TLS.

#![expect(clippy::unwrap_used, reason = "tests panic")]

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use egress::{Client, ClientOptions, Error, Names, Others, Policy, Redirects, Request};
use http::{HeaderMap, HeaderValue, Method};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// What a server does with a request after its head and body were read.
#[derive(Clone)]
enum Says {
    /// Writes this, and keeps the connection.
    Text(String),
    /// Writes this, and then nothing.
    Stalls(String),
}

/// A server, how many connections it had, and the heads of its requests.
struct Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    heads: Arc<std::sync::Mutex<Vec<String>>>,
}

impl Server {
    async fn start(address: &str, pages: &[(&str, Says)]) -> Self {
        let listener = TcpListener::bind((address, 0)).await.unwrap();
        Self::on(listener, pages, None)
    }

    fn on(listener: TcpListener, pages: &[(&str, Says)], tls: Option<tokio_rustls::TlsAcceptor>) -> Self {
        let address = listener.local_addr().unwrap();
        let pages: HashMap<String, Says> =
            pages.iter().map(|(path, says)| ((*path).to_owned(), says.clone())).collect();
        let (connections, heads) =
            (Arc::<AtomicUsize>::default(), Arc::<std::sync::Mutex<Vec<_>>>::default());
        let server = Self { address, connections: Arc::clone(&connections), heads: Arc::clone(&heads) };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                let (pages, heads, tls) = (pages.clone(), Arc::clone(&heads), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(stream, &pages, &heads).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(stream, &pages, &heads).await;
                            }
                        }
                    }
                });
            }
        });
        server
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    pages: &HashMap<String, Says>,
    heads: &std::sync::Mutex<Vec<String>>,
) {
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => return,
            }
        }
        let head = String::from_utf8(head).unwrap();
        let path = head.split(' ').nth(1).unwrap().to_owned();
        heads.lock().unwrap().push(head);
        match &pages[&path] {
            Says::Text(text) => {
                let _ = stream.write_all(text.as_bytes()).await;
            }
            Says::Stalls(text) => {
                let _ = stream.write_all(text.as_bytes()).await;
                let _ = stream.flush().await;
                std::future::pending::<()>().await;
            }
        }
    }
}

fn ok(text: &str) -> Says {
    Says::Text(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{text}", text.len()))
}

fn redirect(to: &str) -> Says {
    Says::Text(format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n"))
}

fn options(policy: Policy) -> ClientOptions {
    let _ = rustls::crypto::ring::default_provider().install_default();
    ClientOptions {
        policy,
        names: Names::System,
        connect_duration_max: Duration::from_secs(10),
        duration_max: Duration::from_secs(30),
        answer_bytes_max: 1000,
        redirects: Redirects::Followed(2),
        roots: Vec::new(),
    }
}

fn client(others: Others) -> Client {
    Client::new(options(Policy::of_others(others))).unwrap()
}

fn get(url: &str) -> Request {
    Request { method: Method::GET, url: url.to_owned(), headers: HeaderMap::new(), body: Bytes::new() }
}

async fn read(client: &Client, url: &str) -> Result<String, Error> {
    let body = client.call(get(url)).await?.body().await?;
    Ok(String::from_utf8(body).unwrap())
}

/// Names with these addresses.
fn names(of: &[(&str, &[&str])]) -> Names {
    let entry = |(name, addresses): &(&str, &[&str])| {
        ((*name).into(), addresses.iter().map(|address| address.parse::<IpAddr>().unwrap()).collect())
    };
    Names::Fixed(Arc::new(of.iter().map(entry).collect()))
}

#[tokio::test]
async fn connections_are_used_again() {
    let server = Server::start("127.0.0.1", &[("/", ok("text"))]).await;
    let client = client(Others::Any);
    for _ in 0..5 {
        assert_eq!(read(&client, &server.url("/")).await.as_deref(), Ok("text"));
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn redirects_are_checked_one_by_one() {
    let forbidden = Server::start("127.0.0.2", &[("/", ok("secret"))]).await;
    let inner = redirect(&forbidden.url("/"));
    let pages = [("/out", inner), ("/a", redirect("/b")), ("/b", ok("b")), ("/loop", redirect("/loop"))];
    let server = Server::start("127.0.0.1", &pages).await;
    let lists =
        Policy { allowed: vec!["127.0.0.1".parse().unwrap()], denied: Vec::new(), others: Others::Public };
    let client = Client::new(options(lists.clone())).unwrap();
    assert_eq!(read(&client, &server.url("/a")).await.as_deref(), Ok("b"));
    assert_eq!(read(&client, &server.url("/loop")).await, Err(Error::Redirects(2)));
    let refused = read(&client, &server.url("/out")).await;
    assert_eq!(refused, Err(Error::AddressForbidden("127.0.0.2".into())));
    assert_eq!(forbidden.connections(), 0);
    let answers = ClientOptions { redirects: Redirects::Answers, ..options(lists) };
    let answer = Client::new(answers).unwrap().call(get(&server.url("/a"))).await.unwrap();
    assert_eq!(answer.status(), 302);
}

#[tokio::test]
async fn what_is_for_the_first_host_does_not_go_to_the_next() {
    let server = Server::start("127.0.0.1", &[("/a", redirect("/b")), ("/b", ok("b"))]).await;
    let mut request = get(&server.url("/a"));
    request.headers.insert("authorization", HeaderValue::from_static("Bearer secret"));
    request.headers.insert("accept", HeaderValue::from_static("text/plain"));
    client(Others::Any).call(request).await.unwrap();
    let heads = server.heads();
    assert!(heads[0].contains("secret") && !heads[1].contains("secret"), "{heads:?}");
    assert!(heads[1].contains("text/plain") && heads[1].contains("user-agent: twinfold/"), "{heads:?}");
}

#[tokio::test]
async fn of_a_name_only_addresses_that_may_be_called_are() {
    let allowed = Server::start("127.0.0.3", &[("/", ok("text"))]).await;
    let port = allowed.address.port();
    // Somebody else listens on the other address of the name, at the same port.
    let other = TcpListener::bind(("127.0.0.2", port)).await.unwrap();
    let other = Server::on(other, &[("/", ok("secret"))], None);
    let policy =
        Policy { allowed: vec!["127.0.0.3".parse().unwrap()], denied: Vec::new(), others: Others::Public };
    let fixed = names(&[("two.example", &["127.0.0.2", "127.0.0.3"]), ("rebound.example", &["127.0.0.2"])]);
    let client = Client::new(ClientOptions { names: fixed, ..options(policy) }).unwrap();
    assert_eq!(read(&client, &format!("http://two.example:{port}/")).await.as_deref(), Ok("text"));
    let refused = read(&client, &format!("http://rebound.example:{port}/")).await;
    assert_eq!(refused, Err(Error::NameForbidden("rebound.example".into())));
    assert!(matches!(read(&client, "http://none.example/").await, Err(Error::Failed(_))));
    assert_eq!(other.connections(), 0);
    let public = self::client(Others::Public);
    let refused = read(&public, &format!("http://localhost:{port}/")).await;
    assert_eq!(refused, Err(Error::NameForbidden("localhost".into())));
}

#[tokio::test]
async fn answers_have_limits_of_size_and_time() {
    let head = "HTTP/1.1 200 OK\r\n";
    let fields: String = (0..150).map(|number| format!("x-{number}: y\r\n")).collect();
    let pages = [
        ("/large", ok(&"x".repeat(1001))),
        ("/just", ok(&"x".repeat(1000))),
        ("/endless", Says::Stalls(format!("{head}\r\n{}", "x".repeat(1001)))),
        ("/slow", Says::Stalls(format!("{head}content-length: 10\r\n\r\nxxx"))),
        ("/silent", Says::Stalls(String::new())),
        ("/fields", Says::Text(format!("{head}{fields}content-length: 0\r\n\r\n"))),
        ("/huge", Says::Stalls(format!("{head}x: {}\r\n", "y".repeat(1 << 20)))),
    ];
    let server = Server::start("127.0.0.1", &pages).await;
    let any = client(Others::Any);
    assert!(read(&any, &server.url("/just")).await.is_ok());
    assert_eq!(read(&any, &server.url("/large")).await, Err(Error::TooLarge(1000)));
    assert_eq!(read(&any, &server.url("/endless")).await, Err(Error::TooLarge(1000)));
    for path in ["/fields", "/huge"] {
        assert!(matches!(read(&any, &server.url(path)).await, Err(Error::Failed(_))), "{path}");
    }
    let hasty = Duration::from_millis(100);
    let short = ClientOptions { duration_max: hasty, ..options(Policy::of_others(Others::Any)) };
    let short = Client::new(short).unwrap();
    assert_eq!(read(&short, &server.url("/slow")).await, Err(Error::TimedOut(hasty)));
    assert_eq!(read(&short, &server.url("/silent")).await, Err(Error::TimedOut(hasty)));
}

/// Neither does a server that accepts connections and says nothing keep a caller for longer than connecting may take.
#[tokio::test]
async fn connecting_has_a_limit_of_its_own() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let hasty = ClientOptions {
        connect_duration_max: Duration::from_millis(100),
        ..options(Policy::of_others(Others::Any))
    };
    let refused = read(&Client::new(hasty).unwrap(), &format!("https://127.0.0.1:{port}/")).await;
    assert!(matches!(refused, Err(Error::Failed(_))), "the TLS handshake counts: {refused:?}");
}

/// A URL may hold a secret: no error repeats it.
#[tokio::test]
async fn errors_do_not_repeat_secrets() {
    let nowhere = Says::Text("HTTP/1.1 302 Found\r\ncontent-length: 0\r\n\r\n".to_owned());
    let pages = [("/secret", nowhere), ("/secret/wrong", redirect("http://[secret"))];
    let server = Server::start("127.0.0.1", &pages).await;
    let any = client(Others::Any);
    let urls =
        ["http://u:secret@127.0.0.1:1/secret", "ftp://u:secret@x.example/", "secret"].map(str::to_owned);
    for url in urls.into_iter().chain(["/secret", "/secret/wrong"].map(|path| server.url(path))) {
        let error = read(&any, &url).await.unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn certificates_are_checked_and_own_roots_count() {
    let made = rcgen::generate_simple_self_signed(vec!["tls.example".to_owned()]).unwrap();
    let key = rustls_pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let tls = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let server = Server::on(listener, &[("/", ok("text"))], Some(tls));
    let port = server.address.port();
    let names = names(&[("tls.example", &["127.0.0.1"]), ("other.example", &["127.0.0.1"])]);
    let base = ClientOptions { names, ..options(Policy::of_others(Others::Any)) };
    let trusting = ClientOptions { roots: vec![made.cert.pem().into()], ..base.clone() };
    let trusting = Client::new(trusting).unwrap();
    assert_eq!(read(&trusting, &format!("https://tls.example:{port}/")).await.as_deref(), Ok("text"));
    let refused = read(&trusting, &format!("https://other.example:{port}/")).await;
    assert!(matches!(refused, Err(Error::Failed(_))), "of another name: {refused:?}");
    let refused = read(&Client::new(base).unwrap(), &format!("https://tls.example:{port}/")).await;
    assert!(matches!(refused, Err(Error::Failed(_))), "signed by nobody we know: {refused:?}");
}
