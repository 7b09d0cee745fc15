//! The API over a store in memory, with a clock that moves a second with every request.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use api_http::Router;
use api_http::testing::{self, Got, Sent};
use api_hugegraph::{AccessOptions, AlgorithmJobs, AlgorithmOptions, Api, Lane, Limits, Users, front_ends};
use model_graph::{Clock, DEFAULT_GRAPH, DEFAULT_SPACE, GraphOptions, Graphs, Timestamp};

/// 2026-01-01T00:00:00Z.
const START: i64 = 1_767_225_600_000_000;
const SECOND: i64 = 1_000_000;

/// Pages and documents are shown by their beginnings, of ASCII.
const DOCS_SHOWN: usize = 60;

/// A header of a step before which the tasks of the graph run to their ends.
const RUN_TASKS: &str = "x-run-tasks";

pub(crate) struct Service {
    graphs: Graphs,
    router: Router,
    algorithms: AlgorithmJobs,
    clock: Clock,
    now: AtomicI64,
}

/// Limits as the server has them, small where a case is to reach them.
pub(crate) fn limits() -> Limits {
    Limits { depth_max: 64, batch_elements_max: 5, walk_memory_bytes_max: 1 << 30 }
}

impl Service {
    /// Nobody need say who he is.
    pub(crate) fn new() -> Self {
        Self::with_users(false, limits(), Lane::new(1))
    }

    /// Everybody must: the password of `admin` is `pa`.
    pub(crate) fn guarded() -> Self {
        Self::with_users(true, limits(), Lane::new(1))
    }

    /// Nobody need, with other limits, and a lane that is looked at.
    pub(crate) fn within(limits: Limits, lane: Lane) -> Self {
        Self::with_users(false, limits, lane)
    }

    fn with_users(is_on: bool, limits: Limits, lane: Lane) -> Self {
        let clock = Clock::manual(Timestamp(START));
        let options = GraphOptions { tenants_max: 10, graphs_max: 10, buckets: 1 };
        let graphs = Graphs::new(store::testing::memory(clock.clone()), options);
        let options = AlgorithmOptions { memory_bytes_max: 1 << 20, threads: NonZeroUsize::MIN };
        let algorithms = AlgorithmJobs::new(graphs.clone(), clock.clone(), options);
        let options = AccessOptions {
            is_on,
            admin_password: is_on.then(|| "pa".to_owned()),
            token_duration: Duration::from_secs(3_600),
            password_rounds: NonZeroU32::new(2).expect("it is not zero"),
            random: |bytes| bytes.fill(7),
        };
        let users = Users::new(graphs.clone(), clock.clone(), options);
        let api = Api::new((graphs.clone(), users), clock.clone(), limits, algorithms.clone(), lane);
        Self { graphs, router: Router::new(front_ends(&api)), algorithms, clock, now: AtomicI64::new(START) }
    }

    pub(crate) fn router(&self) -> &Router {
        &self.router
    }

    async fn run_tasks(&self) {
        let graph = self.graphs.get(DEFAULT_SPACE, DEFAULT_GRAPH).await.expect("the graph");
        while graph.run_tasks(&self.clock).await.expect("tasks run").is_left {}
    }

    /// Every route as `METHOD path`.
    pub(crate) fn routes(&self) -> Vec<String> {
        testing::routes(&self.router)
    }

    /// A step of a transcript, and the route that answered it.
    pub(crate) async fn answer(&self, sent: &Sent) -> (Option<String>, Got) {
        self.clock.set(Timestamp(self.now.fetch_add(SECOND, Ordering::Relaxed) + SECOND));
        if sent.headers.iter().any(|(name, _)| name == RUN_TASKS) {
            self.run_tasks().await;
        }
        let (route, mut got) = testing::answer(&self.router, sent).await;
        self.algorithms.run_waiting().await;
        if sent.target.contains("/docs") || sent.target == "/apis" {
            got.body.truncate(DOCS_SHOWN);
        }
        if sent.target.contains("/traversers/") {
            got.body = without_cost(&got.body);
        }
        (route, got)
    }
}

/// An answer of a walk, whose nanoseconds are never the same.
fn without_cost(body: &str) -> String {
    const COST: &str = "\"cost(ns)\":";
    let Some((before, cost)) = body.split_once(COST) else { return body.to_owned() };
    format!("{before}{COST}0{}", cost.trim_start_matches(|next: char| next.is_ascii_digit()))
}
