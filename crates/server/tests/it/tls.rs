//! TLS with a certificate made for the test.

use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::harness::{PATIENCE, Server, Wire, output, twinfold};

fn certificate(folder: &Path) -> (CertificateDer<'static>, String, String) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (chain, key) = (folder.join("chain.pem"), folder.join("key.pem"));
    std::fs::write(&chain, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let text = |path: std::path::PathBuf| path.to_str().unwrap().to_owned();
    (made.cert.der().clone(), text(chain), text(key))
}

#[test]
fn https_is_spoken_with_both_versions_of_http() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, chain, key) = certificate(folder.path());
    let server =
        Server::start(folder.path(), &["--store", "memory", "--tls-cert", &chain, "--tls-key", &key]);
    assert!(server.url.starts_with("https://"));
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let connect = |protocol: &str| {
        let mut config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots.clone())
            .with_no_client_auth();
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let name = ServerName::try_from("localhost").unwrap();
        let stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), stream)
    };
    let mut wire = Wire::new(connect("http/1.1"));
    for _ in 0..3 {
        assert_eq!(wire.ask("GET /version?q=a>1 HTTP/1.1\r\nhost: localhost\r\n\r\n").status, 200);
    }
    let mut second = connect("h2");
    second.conn.complete_io(&mut second.sock).unwrap();
    assert_eq!(second.conn.alpn_protocol(), Some(b"h2".as_slice()));
    assert_eq!(server.stop(), Some(0));
}

/// A connection by HTTP/1.1 to a server that has this certificate; `None` if it has another.
fn connect(
    server: &Server,
    certificate: &CertificateDer<'static>,
) -> Option<Wire<StreamOwned<ClientConnection, TcpStream>>> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut client = ClientConnection::new(Arc::new(config), name).unwrap();
    while client.is_handshaking() {
        client.complete_io(&mut stream).ok()?;
    }
    Some(Wire::new(StreamOwned::new(client, stream)))
}

#[test]
fn certificates_are_read_anew_without_dropping_connections() {
    let folder = tempfile::tempdir().unwrap();
    let (first, chain, key) = certificate(folder.path());
    let server =
        Server::start(folder.path(), &["--store", "memory", "--tls-cert", &chain, "--tls-key", &key]);
    let mut open = connect(&server, &first).unwrap();
    assert_eq!(open.ask("GET /version HTTP/1.1\r\nhost: localhost\r\n\r\n").status, 200);
    let mut until = |counter: &str| {
        let started = Instant::now();
        loop {
            let metrics = open.ask("GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n").text();
            if metrics.lines().any(|line| line == format!("{counter} 1")) {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "{counter} is not 1");
        }
    };
    let (second, _, _) = certificate(folder.path());
    assert!(connect(&server, &second).is_none(), "nobody said so yet");
    server.signal("HUP");
    until("twinfold_tls_reloads_total");
    assert!(connect(&server, &second).is_some());
    assert!(connect(&server, &first).is_none());

    std::fs::write(&chain, "no certificate").unwrap();
    server.signal("HUP");
    until("twinfold_tls_reloads_failed_total");
    assert!(connect(&server, &second).is_some(), "the one before stays");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_wrong_certificate_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (_, chain, key) = certificate(folder.path());
    let check = |chain: &str, key: &str, word: &str| {
        let flags =
            ["serve", "--store", "memory", "--listen", "127.0.0.1:0", "--tls-cert", chain, "--tls-key", key];
        let (code, _, errors) = output(&mut twinfold(&flags));
        assert_eq!(code, Some(2));
        assert!(errors.contains(word), "{word:?} is not in {errors:?}");
    };
    check("/nowhere/chain.pem", &key, "/nowhere/chain.pem");
    check(&chain, &chain, "TLS key");
    check(&key, &key, "holds no certificate");
    let other = tempfile::tempdir().unwrap();
    let (_, _, other_key) = certificate(other.path());
    check(&chain, &other_key, &other_key);
}
