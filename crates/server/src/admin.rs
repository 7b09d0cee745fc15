//! The server's own routes: health, metrics, version, and online backup.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use api_http::{
    Content, FrontEnd, Gives, Guard, MemoryBudget, Operation, Refusal, Request, Response, Route, handler,
    json_response,
};
use api_hugegraph::metrics::{Figures, Page, Storage};
use http::{Method, StatusCode};
use parking_lot::Mutex;
use serde_json::json;
use store::{Lane, Store};

use crate::connection::Connections;
use crate::docs::{done, json_of};
use crate::metrics::{Exposition, Metrics};
use crate::process;

const JSON: &str = "application/json";
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A probe of the store is good for so long: probes must not become a load.
const PROBE_KEEPS: Duration = Duration::from_secs(1);
/// A store that takes longer is not ready.
const PROBE_DURATION_MAX: Duration = Duration::from_secs(2);

/// What is said of a store that takes the probe, and no other writes.
const NEARLY_FULL: &str =
    "the disk is nearly full (disk_free_min): writes are refused, reads and removals go on";

/// What the routes need; clones share.
#[derive(Clone)]
pub(crate) struct Admin(Arc<Shared>);

struct Shared {
    store: Store,
    metrics: std::sync::OnceLock<Arc<Metrics>>,
    connections: Arc<Connections>,
    budget: MemoryBudget,
    lane: Lane,
    draining: AtomicBool,
    /// Set where HugeGraph's API is served: whom its page of metrics is for, if not for everybody.
    hugegraph: std::sync::OnceLock<Option<Guard>>,
    probe: Mutex<Option<(Instant, Result<(), String>)>>,
    /// Folders that backups are being written to.
    backups: Mutex<HashSet<PathBuf>>,
    started: Instant,
}

impl Admin {
    pub(crate) fn new(
        store: Store,
        connections: Arc<Connections>,
        (budget, lane): (MemoryBudget, Lane),
    ) -> Self {
        Self(Arc::new(Shared {
            store,
            metrics: std::sync::OnceLock::new(),
            connections,
            budget,
            lane,
            draining: AtomicBool::new(false),
            hugegraph: std::sync::OnceLock::new(),
            probe: Mutex::new(None),
            backups: Mutex::default(),
            started: Instant::now(),
        }))
    }

    /// Hands in the counters, which are made when all routes are known.
    pub(crate) fn set_metrics(&self, metrics: Arc<Metrics>) {
        // Set once, at the start; a second call would change nothing.
        let _ = self.0.metrics.set(metrics);
    }

    /// Has `/metrics?type=json` answered as HugeGraph's server does, behind this guard.
    pub(crate) fn serve_hugegraph(&self, guard: Option<Guard>) {
        // Set once, at the start; a second call would change nothing.
        let _ = self.0.hugegraph.set(guard);
    }

    /// What is counted, for HugeGraph's clients.
    pub(crate) fn figures(&self) -> Figures {
        let shared = &*self.0;
        let uptime = shared.started.elapsed();
        let none = || Figures { uptime, ..Figures::default() };
        let requests = shared.metrics.get().map_or_else(none, |metrics| metrics.figures(uptime));
        let statistics = shared.store.statistics();
        let connections = u64::try_from(shared.connections.count()).unwrap_or(u64::MAX);
        let waiting = u64::try_from(shared.lane.waiting()).unwrap_or(u64::MAX);
        let reserved = u64::try_from(shared.budget.reserved_bytes()).unwrap_or(u64::MAX);
        Figures {
            gauges: vec![
                ("server.connections-open", connections),
                ("server.memory-reserved-bytes", reserved),
                ("server.long-work-waiting", waiting),
                ("store.cache-bytes", statistics.cache_bytes),
                ("store.memtable-bytes", statistics.memtable_bytes),
                ("store.data-bytes", statistics.data_bytes),
                ("store.queue-requests", statistics.queue_requests),
                ("store.writable", u64::from(statistics.is_writable)),
            ],
            counters: vec![
                ("store.commits", statistics.commits),
                ("store.conflicts", statistics.conflicts),
                ("store.syncs", statistics.syncs),
                ("store.bytes-written", statistics.bytes_written),
                ("store.cache-hits", statistics.cache_hits),
                ("store.cache-misses", statistics.cache_misses),
            ],
            ..requests
        }
    }

    /// What the store takes.
    pub(crate) fn storage(&self) -> Storage {
        let statistics = self.0.store.statistics();
        Storage {
            memory_bytes: statistics.cache_bytes.saturating_add(statistics.memtable_bytes),
            disk_bytes: statistics.data_bytes,
        }
    }

    /// From now on the server is not ready: load balancers send their requests elsewhere.
    pub(crate) fn set_draining(&self) {
        self.0.draining.store(true, Ordering::Release);
    }

    /// The routes.
    pub(crate) fn front_end(&self) -> FrontEnd {
        let route =
            |method, path, operation, handler| Route { method, path, operation, handler, is_admin: false };
        FrontEnd {
            name: "server",
            prefix: "/",
            routes: vec![
                route(Method::GET, "/health/live", &LIVE, handler(self, live)),
                route(Method::GET, "/health/ready", &READY, handler(self, ready)),
                route(Method::GET, "/metrics", &METRICS, handler(self, metrics)),
                route(Method::GET, "/version", &VERSION, handler(self, version)),
                Route {
                    is_admin: true,
                    ..route(Method::POST, "/admin/backup", &BACKUP, handler(self, backup))
                },
            ],
            refuse,
        }
    }
}

/// Words a refusal of a path that no front end has.
pub(crate) fn refuse(refusal: &Refusal, _: Option<&str>) -> Response {
    answer(refusal.status(), &json!({ "title": refusal.to_string(), "status": refusal.status().as_u16() }))
}

pub(crate) fn answer(status: StatusCode, body: &serde_json::Value) -> Response {
    json_response(status, JSON, format!("{body}\n"))
}

/// GET `/health/live`
const LIVE: Operation =
    Operation::new("health", "live", "Whether the process lives.").gives(&[(200, done("Health"))]);

/// The process lives: it answers.
pub(crate) async fn live(_: Admin, _: Request) -> Response {
    answer(StatusCode::OK, &json!({ "status": "UP" }))
}

/// GET `/health/ready`
const READY: Operation =
    Operation::new("health", "ready", "Whether the server takes requests; with a detail if not all of them.")
        .gives(&[(200, done("Health")), (503, Gives::new("Not now: why.", json_of("Health")))]);

/// The store is open and takes writes, and the server is not stopping.
pub(crate) async fn ready(admin: Admin, _: Request) -> Response {
    let problem = if admin.0.draining.load(Ordering::Acquire) {
        Some("the server is stopping".to_owned())
    } else {
        admin.probe().await.err()
    };
    match problem {
        None if !admin.0.store.statistics().is_writable => {
            answer(StatusCode::OK, &json!({ "status": "UP", "detail": NEARLY_FULL }))
        }
        None => answer(StatusCode::OK, &json!({ "status": "UP" })),
        Some(detail) => {
            answer(StatusCode::SERVICE_UNAVAILABLE, &json!({ "status": "DOWN", "detail": detail }))
        }
    }
}

impl Admin {
    /// Whether the store takes a write, asked at most once in [`PROBE_KEEPS`].
    async fn probe(&self) -> Result<(), String> {
        let shared = &*self.0;
        if let Some((at, outcome)) = &*shared.probe.lock()
            && at.elapsed() < PROBE_KEEPS
        {
            return outcome.clone();
        }
        // A small write. Somebody else holding the lease is a working store, too.
        let write = shared.store.lease("server/ready", Duration::ZERO);
        let outcome = match tokio::time::timeout(PROBE_DURATION_MAX, write).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(chain(&error)),
            Err(_) => Err(format!("the store did not take a write within {PROBE_DURATION_MAX:?}")),
        };
        let before = shared.probe.lock().replace((Instant::now(), outcome.clone()));
        // Said when it begins, not at every probe.
        let was_ready = before.is_none_or(|(_, before)| before.is_ok());
        match &outcome {
            Err(detail) if was_ready => tracing::error!(detail, "not ready"),
            Ok(()) if !was_ready => tracing::info!("ready again"),
            Ok(()) | Err(_) => {}
        }
        outcome
    }
}

/// An error and everything beneath it.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}

/// GET `/version`
const VERSION: Operation =
    Operation::new("server", "version", "Name and version of this server.").gives(&[(200, done("Version"))]);

/// Name, version and what it was built as. Clients take a broker with `orionld version` for one that speaks NGSI-LD.
pub(crate) async fn version(_: Admin, _: Request) -> Response {
    const NUMBER: &str = env!("CARGO_PKG_VERSION");
    let zones = model_series::time_zone_database();
    let body = json!({
        "name": "twinfold", "version": NUMBER, "orionld version": NUMBER, "timeZoneDatabase": zones
    });
    answer(StatusCode::OK, &body)
}

/// GET `/metrics`
const METRICS: Operation = Operation::new("server", "metrics", "Everything that is counted, for Prometheus.")
    .gives(&[(200, Gives::new("Samples as text.", Content::new("", |_| json!({ "text/plain": {} }))))]);

/// Everything that is counted, for Prometheus; for HugeGraph's clients as JSON.
async fn metrics(admin: Admin, request: Request) -> Response {
    let shared = &*admin.0;
    if let Some(guard) = shared.hugegraph.get()
        && request.params.get("type") == Some("json")
    {
        let admitted = match guard {
            Some(guard) => guard(request).await.map(drop),
            None => Ok(()),
        };
        return match admitted {
            Ok(()) => api_hugegraph::metrics::page(Page::All, &admin.figures()),
            Err(refusal) => api_hugegraph::refuse(&refusal, None),
        };
    }
    let mut out = Exposition::default();
    out.family("twinfold_build_info", "gauge", "The version as a label; always 1.");
    out.sample("twinfold_build_info", concat!("version=\"", env!("CARGO_PKG_VERSION"), "\""), 1);
    out.gauge("twinfold_uptime_seconds", "Since the start.", shared.started.elapsed().as_secs());
    if let Some(metrics) = shared.metrics.get() {
        metrics.write_requests(&mut out);
        metrics.write_totals(shared.connections.count(), &mut out);
    }
    let (budget, lane) = (&shared.budget, &shared.lane);
    out.gauge(
        "twinfold_memory_reserved_bytes",
        "Memory of large bodies and answers.",
        budget.reserved_bytes(),
    );
    out.counter(
        "twinfold_memory_refused_total",
        "Bodies and answers beyond memory_bytes_max.",
        budget.refused(),
    );
    out.gauge("twinfold_long_work_waiting", "Long work that waits for a thread.", lane.waiting());
    out.counter("twinfold_long_work_total", "Long work that was given a thread.", lane.taken());
    write_store(&shared.store.statistics(), &mut out);
    process::write(&mut out);
    json_response(StatusCode::OK, PROMETHEUS, out.text)
}

fn write_store(statistics: &store::Statistics, out: &mut Exposition) {
    let store::Statistics {
        commits,
        conflicts,
        cold_conditions,
        batches,
        syncs,
        bytes_written,
        cache_hits,
        cache_misses,
        cache_bytes,
        queue_requests,
        memtable_bytes,
        data_bytes,
        sequence,
        times_full,
        is_writable,
    } = *statistics;
    out.counter("twinfold_store_commits_total", "Commits acknowledged.", commits);
    out.counter("twinfold_store_conflicts_total", "Commits refused by a condition.", conflicts);
    let help = "Rows of conditions that were not read ahead, so that all writers waited for them.";
    out.counter("twinfold_store_cold_conditions_total", help, cold_conditions);
    out.counter("twinfold_store_batches_total", "Engine writes, each for a group of commits.", batches);
    out.counter("twinfold_store_syncs_total", "Syncs to disk.", syncs);
    out.counter("twinfold_store_bytes_written_total", "Bytes handed to the engine's log.", bytes_written);
    out.counter("twinfold_store_cache_hits_total", "Point reads from the cache of hot rows.", cache_hits);
    out.counter("twinfold_store_cache_misses_total", "Point reads from the engine.", cache_misses);
    out.gauge("twinfold_store_cache_bytes", "Bytes in the cache of hot rows.", cache_bytes);
    out.gauge("twinfold_store_queue_requests", "Requests waiting for the committer.", queue_requests);
    out.gauge("twinfold_store_memtable_bytes", "Bytes in memtables.", memtable_bytes);
    out.gauge("twinfold_store_data_bytes", "Estimated bytes of live data on disk.", data_bytes);
    out.gauge("twinfold_store_sequence", "Sequence of the newest commit.", sequence);
    out.counter("twinfold_store_full_total", "Times that the disk became full.", times_full);
    let help = "1 if the store takes writes; 0 if its disk is full or failed, or its folder is gone.";
    out.gauge("twinfold_store_writable", help, u8::from(is_writable));
}

/// POST `/admin/backup`
const BACKUP: Operation = Operation::new(
    "administration",
    "backup",
    "Writes a copy of the store to a new folder of the server's machine while it serves.",
)
.sent(json_of("Backup"))
.gives(&[(200, done("BackupDone"))])
.refuses(&[400, 409, 507]);

/// Writes a copy of the store to a new folder of this machine while it serves.
async fn backup(admin: Admin, request: Request) -> Response {
    let folder = match backup_folder(&request) {
        Ok(folder) => folder,
        Err(detail) => return refused(StatusCode::BAD_REQUEST, &detail),
    };
    if folder.exists() {
        return refused(StatusCode::CONFLICT, &format!("folder {} exists already", folder.display()));
    }
    let Some(claim) = Claim::new(&admin, &folder) else {
        let title = format!("a backup is being written to folder {}", folder.display());
        return refused(StatusCode::CONFLICT, &title);
    };
    let started = Instant::now();
    let store = admin.0.store.clone();
    // A task of its own: a client that hangs up must not leave half a backup.
    let done = tokio::spawn(async move { store.backup(&claim.folder).await }).await;
    let (status, failed) = match done {
        Ok(Ok(())) => {
            let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            tracing::info!(folder = %folder.display(), millis, "backup written");
            return answer(StatusCode::OK, &json!({ "folder": folder, "duration_ms": millis }));
        }
        // Asked of an engine that keeps no files.
        Ok(Err(error)) if error.kind() == store::ErrorKind::Misuse => {
            return refused(StatusCode::BAD_REQUEST, &chain(&error));
        }
        Ok(Err(error)) => (backup_status(error.kind()), chain(&error)),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    };
    tracing::error!(folder = %folder.display(), error = failed, "backup failed");
    refused(status, &failed)
}

/// The right to write a backup to a folder, until it is dropped.
struct Claim {
    admin: Admin,
    folder: PathBuf,
}

impl Claim {
    /// `None` if somebody else writes there.
    fn new(admin: &Admin, folder: &Path) -> Option<Self> {
        let is_free = admin.0.backups.lock().insert(folder.to_owned());
        is_free.then(|| Self { admin: admin.clone(), folder: folder.to_owned() })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.admin.0.backups.lock().remove(&self.folder);
    }
}

/// The status of a backup that failed.
fn backup_status(kind: store::ErrorKind) -> StatusCode {
    use store::ErrorKind;
    match kind {
        ErrorKind::NoSpace => StatusCode::INSUFFICIENT_STORAGE,
        ErrorKind::FolderLost => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::Unavailable
        | ErrorKind::Conflict
        | ErrorKind::Fenced
        | ErrorKind::Changed
        | ErrorKind::OtherIncarnation
        | ErrorKind::Unknown
        | ErrorKind::TooLarge
        | ErrorKind::Corrupt
        | ErrorKind::Locked
        | ErrorKind::TenantRemoved
        | ErrorKind::Misuse => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

pub(crate) fn refused(status: StatusCode, title: &str) -> Response {
    answer(status, &json!({ "title": title, "status": status.as_u16() }))
}

/// The folder a request names. The media type is asked for because a page in a browser cannot send
/// it to another origin without leave.
fn backup_folder(request: &Request) -> Result<PathBuf, String> {
    if request.content_type() != Some(JSON) {
        return Err(format!("the body must be {JSON}"));
    }
    let body: serde_json::Value =
        serde_json::from_slice(&request.body).map_err(|error| format!("the body is not JSON: {error}"))?;
    let folder = body.get("folder").and_then(serde_json::Value::as_str);
    let folder = Path::new(folder.ok_or("the body must have a text member \"folder\"")?);
    if !folder.is_absolute() {
        return Err("\"folder\" must be an absolute path".to_owned());
    }
    Ok(folder.to_owned())
}
