//! TLS of the listener: certificate and key from files, read anew when asked to, HTTP/2 and HTTP/1.1 offered by ALPN.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use parking_lot::RwLock;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// The name of HTTP/2 in ALPN.
pub(crate) const HTTP2: &[u8] = b"h2";

/// TLS by the files of a certificate chain and its key.
pub(crate) struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    acceptor: RwLock<TlsAcceptor>,
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    ///
    /// See [`acceptor`].
    pub(crate) fn open(certificate: &Path, key: &Path) -> anyhow::Result<Self> {
        let acceptor = RwLock::new(acceptor(certificate, key)?);
        Ok(Self { certificate: certificate.to_owned(), key: key.to_owned(), acceptor })
    }

    /// What shakes hands with new connections; those that are open keep theirs.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.acceptor.read().clone()
    }

    /// Reads the files anew. Blocks while it does.
    ///
    /// # Errors
    ///
    /// See [`acceptor`]; then everything stays as it was.
    pub(crate) fn reload(&self) -> anyhow::Result<()> {
        let acceptor = acceptor(&self.certificate, &self.key)?;
        *self.acceptor.write() = acceptor;
        Ok(())
    }
}

/// Makes TLS 1.2 and 1.3 of a certificate chain and its key, both PEM.
///
/// # Errors
///
/// The file that cannot be read or does not hold what it should; a key of another certificate.
fn acceptor(certificate: &Path, key: &Path) -> anyhow::Result<TlsAcceptor> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .with_context(|| format!("TLS certificate {}", certificate.display()))?;
    anyhow::ensure!(!chain.is_empty(), "TLS certificate {}: holds no certificate", certificate.display());
    let key_file = key;
    let key =
        PrivateKeyDer::from_pem_file(key_file).with_context(|| format!("TLS key {}", key_file.display()))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .context("TLS versions")?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .with_context(|| {
            format!("TLS certificate {} with key {}", certificate.display(), key_file.display())
        })?;
    config.alpn_protocols = vec![HTTP2.to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
