//! For tests of this crate and of front ends: a web server on the loopback, and options of contexts.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use model_entities::{HistoryPolicy, IndexPolicy, Options, TenantName};
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::{ContextOptions, Contexts, FetchPolicy, TenantContexts};

/// What a page of the server does.
#[derive(Clone, Debug)]
pub enum Page {
    /// Gives this text.
    Text(String),
    /// Gives this text in chunks, without saying how long it is.
    Stream(String),
    /// Goes elsewhere.
    Redirect(String),
    /// Answers with this status.
    Status(u16),
    /// Says nothing for ever.
    Silence,
}

/// A web server with these pages; it stops with the runtime.
#[derive(Clone, Debug)]
pub struct WebServer {
    address: std::net::SocketAddr,
    requests: Arc<AtomicUsize>,
    pages: Pages,
}

type Pages = Arc<Mutex<HashMap<String, Page>>>;

impl WebServer {
    /// Serves these pages by their paths, on a free port.
    pub async fn start(pages: &[(&str, Page)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("the listener has an address");
        let pages: HashMap<String, Page> =
            pages.iter().map(|(path, page)| ((*path).into(), page.clone())).collect();
        let pages = Arc::new(Mutex::new(pages));
        let shared = Arc::clone(&pages);
        let requests = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&requests);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.expect("a connection");
                tokio::spawn(serve(stream, Arc::clone(&shared), Arc::clone(&counted)));
            }
        });
        Self { address, requests, pages }
    }

    /// Gives another page from here on.
    pub fn change(&self, path: &str, page: Page) {
        self.pages.lock().insert(path.into(), page);
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// How many requests came.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

async fn serve(mut stream: TcpStream, pages: Pages, requests: Arc<AtomicUsize>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    requests.fetch_add(1, Ordering::SeqCst);
    let head = String::from_utf8(head).expect("the head of a request is text");
    let path = head.split(' ').nth(1).expect("the second word is the path");
    let page = pages.lock().get(path).cloned();
    let answer = match page {
        None => "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".into(),
        Some(Page::Text(text)) => {
            let length = text.len();
            format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}")
        }
        Some(Page::Stream(text)) => format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{text}"),
        Some(Page::Redirect(to)) => {
            format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        }
        Some(Page::Status(status)) => {
            format!("HTTP/1.1 {status} Said So\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        }
        Some(Page::Silence) => std::future::pending().await,
    };
    // A client that has read enough hangs up.
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

/// A policy that fetches from the loopback. Chooses the process's TLS provider as the server does.
pub fn policy() -> FetchPolicy {
    // A second choice of the same provider is refused, and changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    FetchPolicy {
        allowed: true,
        timeout: Duration::from_secs(60),
        bytes_max: 10_000,
        redirects_max: 2,
        private_addresses: true,
    }
}

/// Options with that policy and no folder.
pub fn options() -> ContextOptions {
    ContextOptions { folder: None, fetch: policy(), cache_entries: 100 }
}

/// The default tenant's contexts.
pub fn of(contexts: &Contexts) -> TenantContexts<'_> {
    static TENANT: LazyLock<TenantName> = LazyLock::new(TenantName::default);
    contexts.of(&TENANT)
}

/// Options of the entities that contexts are stored beside.
pub fn entity_options() -> Options {
    Options {
        buckets: 1,
        tenants_max: 1_000,
        terms_max: 1000,
        index: IndexPolicy::ByUse,
        entity_bytes_max: 1 << 20,
        scan_entities_max: 1000,
        sort_entities_max: 1000,
        history: HistoryPolicy::default(),
    }
}
