//! The life of a server: open, listen, serve, drain, close.

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use api_http::{FrontEnd, Router, StreamLimits};
use store::{Clock, Lane, Store};
use tokio::runtime::Handle;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinSet;

use crate::admin::Admin;
use crate::connection::{Connections, Order};
use crate::door::{Door, Listeners};
use crate::jobs::{self, Work};
use crate::listen::{self, Listening};
use crate::metrics::Metrics;
use crate::service::{App, RequestLimits};
use crate::settings::{self, Engine, Settings};
use crate::tls::Tls;
use crate::units::Switch;
use crate::{storage, wiring};

/// File descriptors that the store and the process itself need beside connections.
const FILES_RESERVED: u64 = 1024;
/// How often a drain looks whether the last connection has gone.
const DRAIN_LOOK: Duration = Duration::from_millis(5);
/// Why a server stops without a signal.
const DEAF: &str = "the thread that accepts connections has ended";

/// Serves until a signal ends it. The settings were checked; `warnings` are said of them.
///
/// # Errors
///
/// If the server cannot start, or the store cannot be closed cleanly.
pub(crate) fn run(settings: &Settings, warnings: &[String]) -> anyhow::Result<()> {
    crate::logs::start(settings)?;
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    // Clients for hooks and contexts take the provider of the process. Another one is there only if it was chosen.
    let _ = rustls::crypto::ring::default_provider().install_default();
    raise_file_limit(settings.http.connections_max);
    let threads = threads(settings);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .thread_name("twinfold")
        .enable_all()
        .build()
        .context("cannot start threads")?;
    let served = runtime.block_on(serve(settings, threads));
    // Everything is closed by now; a thread that still reads for a client that has gone does not delay the end.
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

fn threads(settings: &Settings) -> usize {
    let cores = || std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    if settings.general.threads == 0 { cores() } else { settings.general.threads }
}

/// Each connection is a file: takes as many as the system gives, and says so if they are too few.
fn raise_file_limit(connections_max: usize) {
    let wanted = u64::try_from(connections_max).unwrap_or(u64::MAX).saturating_add(FILES_RESERVED);
    match rlimit::increase_nofile_limit(u64::MAX) {
        Ok(limit) if limit < wanted => tracing::warn!(
            limit,
            wanted,
            "open files are limited below connections_max: raise the limit (ulimit -n)"
        ),
        Ok(limit) => tracing::debug!(limit, "open files"),
        Err(error) => tracing::warn!(%error, "the limit on open files cannot be raised"),
    }
}

/// A server that is ready to listen.
struct Server {
    store: Store,
    admin: Admin,
    connections: Arc<Connections>,
    listening: Arc<Listening>,
    work: Work,
}

async fn serve(settings: &Settings, threads: usize) -> anyhow::Result<()> {
    let tls = match (&settings.tls.cert, &settings.tls.key) {
        (Some(certificate), Some(key)) => Some(
            Tls::open(certificate, key)
                .map_err(|error| crate::settings::WrongSetting(format!("{error:#}")))?,
        ),
        _ => None,
    };
    let tls = tls.map(Arc::new);
    let mut signals = Signals::new(tls.is_some())?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let main = listen::bind(&settings.general.listen).await?;
    let address = main.local_addr().context("the listener has no address")?;
    let health = match &settings.load.health_listen {
        Some(address) => Some(listen::bind(address).await?),
        None => None,
    };
    let health_address = health.as_ref().and_then(|health| health.local_addr().ok());
    let started = Instant::now();
    let clock = Clock::System;
    let store = storage::open(settings, clock.clone()).await?;
    let server = Server::new(settings, store, &clock, tls, threads)?;
    tracing::info!(
        %address,
        data = %settings.general.data.display(),
        store = ?settings.general.store,
        opened_ms = started.elapsed().as_millis(),
        threads,
        version = env!("CARGO_PKG_VERSION"),
        "ready"
    );
    warn_if_open(address.ip());
    announce(settings, &format!("{scheme}://{address}"), health_address)?;
    server.serve(Listeners { main, health }, &mut signals, settings.http.shutdown_duration_max.0).await
}

/// Says so if other machines can connect: there is no login of our own.
fn warn_if_open(address: std::net::IpAddr) {
    if !address.to_canonical().is_loopback() {
        tracing::warn!(
            %address,
            "listening beyond this machine, and there is no login: whoever reaches the address can read, change and \
             remove everything; put a proxy with a login before it (docs/operating/security.md)"
        );
    }
}

/// Tells whoever started the server that it is ready.
fn announce(settings: &Settings, url: &str, health: Option<SocketAddr>) -> anyhow::Result<()> {
    let durability = match settings.general.store {
        Engine::Embedded => settings.general.durability.to_string(),
        Engine::Memory => "none (memory only; everything is forgotten at exit)".to_owned(),
    };
    let health = health.map_or_else(String::new, |address| format!("health on http://{address}\n"));
    let mut out = std::io::stdout().lock();
    // Scripts wait for the second line.
    write!(out, "durability: {durability}\nlistening on {url}\n{health}")
        .and_then(|()| out.flush())
        .context("standard output is closed")
}

/// All that is served: the APIs, and what is the server's own.
fn front_ends(
    settings: &Settings,
    models: &wiring::Models,
    admin: &Admin,
    clock: &Clock,
    threads: usize,
) -> anyhow::Result<Vec<FrontEnd>> {
    let mut front_ends = wiring::front_ends(settings, models, clock, threads)?;
    let own = [
        crate::welcome::front_end(&wiring::apis(settings)),
        admin.front_end(),
        crate::brokers::front_end(admin, &models.entities),
    ];
    front_ends.push(crate::docs::front_end(&own, crate::admin::refuse));
    if settings.hugegraph.served == Switch::On {
        front_ends.push(crate::hugegraph::front_end(admin, &models.graphs, &models.users));
    }
    front_ends.extend(own);
    Ok(front_ends)
}

impl Server {
    fn new(
        settings: &Settings,
        store: Store,
        clock: &Clock,
        tls: Option<Arc<Tls>>,
        threads: usize,
    ) -> anyhow::Result<Self> {
        let limits = &settings.http;
        let connections = Arc::new(Connections::new());
        let lane = Lane::new(settings.load.threads(threads));
        let models = wiring::Models::new(settings, &store, (&lane, threads), clock);
        let budget = wiring::memory_budget(settings)?;
        let shared = (budget.clone(), lane.clone());
        let admin = Admin::new(store.clone(), Arc::clone(&connections), shared);
        let router = Router::new(front_ends(settings, &models, &admin, clock, threads)?);
        let routes = router.routes().map(|(front_end, method, path)| (front_end, method.as_str(), path));
        let mut metrics = Metrics::new(routes, threads);
        metrics.entity_skips = Arc::clone(models.entities.skips());
        metrics.series_skips = Arc::clone(models.repositories.strands().skips());
        let metrics = Arc::new(metrics);
        admin.set_metrics(Arc::clone(&metrics));
        let app = Arc::new(App {
            router,
            metrics: Arc::clone(&metrics),
            limits: request_limits(settings),
            cors: settings.http.cors_origins.clone(),
            budget,
            lane,
        });
        let runtime = Handle::current();
        let listening = Arc::new(Listening::new(app, Arc::clone(&connections), tls, limits, runtime));
        let wiring::Models { entities, repositories, graphs, configs, users: _, algorithms, lane: _ } =
            models;
        let work = Work {
            entities,
            repositories,
            graphs,
            configs,
            algorithms,
            store: store.clone(),
            clock: clock.clone(),
            metrics,
            settings: Arc::new(settings.clone()),
            notifier: wiring::notifier(settings)?,
            sinks: jobs::Sinks::new(settings)?.map(Arc::new),
        };
        Ok(Self { store, admin, connections, listening, work })
    }

    /// Serves until the first signal, or until connections are no longer accepted, then drains and closes.
    async fn serve(
        self,
        listeners: Listeners,
        signals: &mut Signals,
        patience: Duration,
    ) -> anyhow::Result<()> {
        let Self { store, admin, connections, listening, work } = self;
        let mut tasks = JoinSet::new();
        if let Some(hangup) = signals.reload.take() {
            tasks.spawn(Arc::clone(&listening).reload_tls(hangup));
        }
        jobs::start(&work, &mut tasks);
        let door = Door::open(listening, listeners)?;
        let signal = tokio::select! {
            name = signals.next() => Some(name),
            () = door.closed() => None,
        };
        match signal {
            Some(name) => tracing::info!(signal = name, connections = connections.count(), "stopping"),
            None => tracing::error!(connections = connections.count(), "{DEAF}: stopping"),
        }
        admin.set_draining();
        door.close().await;
        drain(&connections, signals, patience).await;
        tasks.shutdown().await;
        drop(door);
        store.close().await.context("cannot close the store")?;
        tracing::info!("stopped");
        anyhow::ensure!(signal.is_some(), DEAF);
        Ok(())
    }
}

/// Lets requests under way finish; a second signal or the end of patience cuts them off.
async fn drain(connections: &Connections, signals: &mut Signals, patience: Duration) {
    connections.tell_all(Order::Drain);
    let gone = async {
        while connections.count() > 0 {
            tokio::time::sleep(DRAIN_LOOK).await;
        }
    };
    tokio::select! {
        () = gone => return,
        name = signals.next() => tracing::warn!(signal = name, "cutting off requests under way"),
        () = tokio::time::sleep(patience) => tracing::warn!("requests took longer than shutdown_duration_max"),
    }
    tracing::warn!(connections = connections.count(), "connections cut off");
    connections.tell_all(Order::Kill);
}

fn request_limits(settings: &Settings) -> RequestLimits {
    let limits = &settings.http;
    RequestLimits {
        body_bytes_max: limits.body_bytes_max.as_usize(),
        stream: StreamLimits { bytes_max: limits.stream_bytes_max.0, stall_max: limits.stall_duration_max.0 },
        requests_max: limits.requests_max,
        duration_max: limits.request_duration_max.0,
        compress_bytes_min: limits.compress_bytes_min.0,
        answer_bytes_max: settings.load.answer_bytes_max.0,
        answer_duration_max: settings.load.answer_duration_max.0,
        admin_loopback: settings.http.admin == settings::Admin::Loopback,
    }
}

/// The signals that a server heeds.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// SIGHUP where TLS is spoken: certificate and key are read anew.
    reload: Option<Signal>,
    /// SIGHUP elsewhere: there is nothing to read anew, and a terminal that goes away ends the server.
    hangup: Option<Signal>,
}

impl Signals {
    fn new(with_tls: bool) -> anyhow::Result<Self> {
        let on = |kind| signal(kind).context("cannot listen for signals");
        let hangup = Some(on(SignalKind::hangup())?);
        let (reload, hangup) = if with_tls { (hangup, None) } else { (None, hangup) };
        let (terminate, interrupt) = (on(SignalKind::terminate())?, on(SignalKind::interrupt())?);
        Ok(Self { terminate, interrupt, reload, hangup })
    }

    async fn next(&mut self) -> &'static str {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => _ = hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            () = hangup => "SIGHUP",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is for everybody with `auth` on (docs/operating/security.md). The handler of `/metrics` has a guard for its JSON page.
    const OPEN: &[&str] = &[
        "DELETE /auth/logout",
        "DELETE /graphs/{graph}/auth/logout",
        "DELETE /graphspaces/{graphspace}/auth/logout",
        "GET /",
        "GET /actuator/health",
        "GET /actuator/health/liveness",
        "GET /actuator/health/readiness",
        "GET /actuator/info",
        "GET /apis",
        "GET /auth/verify",
        "GET /docs",
        "GET /docs/openapi.json",
        "GET /graphs/{graph}/auth/verify",
        "GET /graphspaces/{graphspace}/auth/verify",
        "GET /health/live",
        "GET /health/ready",
        "GET /hugegraph/docs",
        "GET /hugegraph/docs/openapi.json",
        "GET /metrics",
        "GET /ngsi-ld/ex/v1/ping",
        "GET /ngsi-ld/ex/v1/version",
        "GET /version",
        "GET /versions",
        "POST /auth/login",
        "POST /graphs/{graph}/auth/login",
        "POST /graphspaces/{graphspace}/auth/login",
    ];

    #[tokio::test]
    async fn every_route_but_a_few_has_a_guard_where_auth_is_on() {
        let arguments = ["twinfold", "serve", "--auth", "on", "--auth-admin-password", "pa"];
        let arguments = arguments.map(std::ffi::OsString::from);
        let crate::cli::Command::Serve(settings) = crate::cli::parse(&arguments).unwrap().cli.command else {
            panic!("no settings")
        };
        let clock = Clock::System;
        let feed = store::FeedOptions::recommended();
        let store = Store::memory(store::MemoryOptions { clock: clock.clone(), feed });
        let lane = Lane::new(1);
        let models = wiring::Models::new(&settings, &store, (&lane, 1), &clock);
        let shared = (wiring::memory_budget(&settings).unwrap(), lane);
        let admin = Admin::new(store, Arc::new(Connections::new()), shared);
        let served = front_ends(&settings, &models, &admin, &clock, 1).unwrap();
        let routes = served.iter().flat_map(|front_end| &front_end.routes);
        // What is `is_admin` is for this machine alone.
        let open = routes.filter(|route| !route.is_admin && route.handler.guard().is_none());
        let mut open: Vec<_> = open.map(|route| format!("{} {}", route.method, route.path)).collect();
        open.sort_unstable();
        assert_eq!(open, OPEN);
    }
}
