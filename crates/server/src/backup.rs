//! `twinfold backup` and `twinfold restore`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use egress::{Client, ClientOptions, Names, Others, Policy, Redirects, Request};
use http::{HeaderMap, HeaderValue, Method, header};

use crate::cli::{Backup, Restore};

/// The longest wait for a connection to the server.
const CONNECT_DURATION_MAX: Duration = Duration::from_secs(10);
/// The longest that a server may write: it answers when all is copied.
const BACKUP_DURATION_MAX: Duration = Duration::from_hours(7 * 24);
/// The largest answer of a server.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Writes a backup, from a running server or from a folder.
///
/// # Errors
///
/// If the target exists, or whatever the server or the store says.
pub(crate) fn backup(backup: &Backup) -> anyhow::Result<()> {
    let folder = absolute(&backup.to)?;
    anyhow::ensure!(!folder.exists(), "folder {} exists already", folder.display());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    match (&backup.server, &backup.data) {
        (Some(server), _) => runtime.block_on(ask_server(server, &folder))?,
        (None, Some(data)) => runtime.block_on(copy_store(data, &folder))?,
        (None, None) => anyhow::bail!("say --server or --data"),
    }
    tell(&format!("backup written to {}", folder.display()))
}

/// Puts a backup into an empty folder.
///
/// # Errors
///
/// If the folder holds something, or what the store says of the backup.
pub(crate) fn restore(restore: &Restore) -> anyhow::Result<()> {
    crate::storage::restore(&restore.from, &restore.data)?;
    tell(&format!("restored to {}", restore.data.display()))
}

fn tell(line: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{line}").context("standard output is closed")
}

fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("folder {}", path.display()))
}

async fn copy_store(data: &Path, folder: &Path) -> anyhow::Result<()> {
    let store = crate::storage::open_existing(data).await?;
    store.backup(folder).await?;
    store.close().await.context("cannot close the store")
}

/// Asks a server on this machine to write the backup: it knows what is not on disk yet.
async fn ask_server(server: &str, folder: &Path) -> anyhow::Result<()> {
    // Whom the operator names is called, wherever that is.
    let policy = Policy::of_others(Others::Any);
    anyhow::ensure!(
        policy.check_url(server).is_ok(),
        "--server {server}: the URL of a running server is wanted, like http://127.0.0.1:1026"
    );
    // A provider can be installed once; it being there already is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let options = ClientOptions {
        policy,
        names: Names::System,
        connect_duration_max: CONNECT_DURATION_MAX,
        duration_max: BACKUP_DURATION_MAX,
        answer_bytes_max: ANSWER_BYTES_MAX,
        redirects: Redirects::Answers,
        roots: Vec::new(),
    };
    let url = format!("{}/admin/backup", server.trim_end_matches('/'));
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let body = serde_json::json!({ "folder": folder }).to_string();
    let request = Request { method: Method::POST, url: url.clone(), headers, body: body.into() };
    let client = Client::new(options).context("cannot start an HTTP client")?;
    let answer = client.call(request).await.with_context(|| format!("cannot reach {url}"))?;
    let status = answer.status();
    let text = answer.body().await.with_context(|| format!("{url} broke off"))?;
    anyhow::ensure!(
        status.is_success(),
        "{url} answered {status}: {}",
        String::from_utf8_lossy(&text).trim()
    );
    Ok(())
}
