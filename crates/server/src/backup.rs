//! `twinfold backup` and `twinfold restore`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::cli::{Backup, Restore};

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
    let is_url = reqwest::Url::parse(server).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    anyhow::ensure!(
        is_url,
        "--server {server}: the URL of a running server is wanted, like http://127.0.0.1:1026"
    );
    let url = format!("{}/admin/backup", server.trim_end_matches('/'));
    let body = serde_json::json!({ "folder": folder }).to_string();
    // A provider can be installed once; it being there already is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().context("cannot start an HTTP client")?;
    let request = client.post(&url).header("content-type", "application/json").body(body);
    let response = request.send().await.with_context(|| format!("cannot reach {url}"))?;
    let status = response.status();
    let text = response.text().await.with_context(|| format!("{url} broke off"))?;
    anyhow::ensure!(status.is_success(), "{url} answered {status}: {}", text.trim());
    Ok(())
}
