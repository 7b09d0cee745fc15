//! Running the tasks of graphs: what removed labels left goes, indexes are filled. And removing what has expired, and finishing
//! removals of vertices that broke off.

use std::sync::atomic::Ordering;
use std::time::Duration;

use model_graph::{Error, PointerSweep, TaskRuns};
use store::Tenant;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::job::{Job, ONE, When, Work};
use super::ticker::JobLease;
use crate::admin::chain;

const LEASE: &str = "server/graph-tasks";
/// A lease that is not asked for again so long is another node's.
const TTL: Duration = Duration::from_mins(3);
/// When it is looked for what another process, or a run before this, began.
const INTERVAL: Duration = Duration::from_mins(1);
/// Of each graph so many expired elements go in a round: what is left is not seen, and goes in the next.
const EXPIRED_A_ROUND: usize = 100_000;
/// Of a graph over several buckets so many rows that point at edges are looked at in a round; and so many at one vertex are spread further. One bucket
/// has so many for each time that they were.
const POINTER_SWEEP: PointerSweep =
    PointerSweep { rows_max: 100_000, hub_rows: 100_000, hub_bytes: 8 * 1024 * 1024 };
/// After a run others have the store for as long as it took, at most so long.
const PAUSE_MAX: Duration = Duration::from_millis(200);

/// As tasks come; of several nodes, one runs them.
pub(super) const JOB: Job =
    Job { name: LEASE, when: When::Always { count: ONE, run: |work| Box::pin(run(work)) } };

/// What is broken off goes on after the next start.
async fn run(work: Work) {
    let mut lease = JobLease::new(work.store.clone(), LEASE, TTL);
    let mut ticks = interval_at(Instant::now(), INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let wanted = tokio::select! {
            _ = ticks.tick() => None,
            part = work.graphs.next_wanted() => Some(part),
        };
        let is_ours = match lease.hold().await {
            Ok(is_ours) => is_ours,
            Err(error) => {
                tracing::warn!(error = chain(&error), lease = LEASE, "no lease for a job");
                false
            }
        };
        if !is_ours {
            continue;
        }
        match wanted {
            Some(part) => run_tasks(&work, &part).await,
            None => look_at_all(&work).await,
        }
    }
}

/// Removes what has expired in any graph, finishes what broke off, and has those with tasks run.
async fn look_at_all(work: &Work) {
    let parts = match work.graphs.all().await {
        Ok(parts) => parts,
        Err(error) => {
            tracing::warn!(error = chain(&error), "cannot list the graphs");
            return;
        }
    };
    for part in parts {
        let finish = async || {
            let graph = work.graphs.open(&part).await?;
            let now = work.clock.now();
            let expired = graph.remove_expired(now, EXPIRED_A_ROUND).await?;
            work.metrics.jobs.graph_elements.fetch_add(expired as u64, Ordering::Relaxed);
            graph.finish_removals(now).await?;
            graph.sweep_pointers(POINTER_SWEEP).await
        };
        if let Err(error) = finish().await {
            note(
                &part,
                &error,
                "cannot remove what expired of a graph, finish removals of vertices, or sweep pointers",
            );
        }
        work.graphs.want(&part);
    }
}

/// Runs the tasks of a graph for a while; if some are left, it comes again after others.
async fn run_tasks(work: &Work, part: &Tenant) {
    let begun = Instant::now();
    let run = async || work.graphs.open(part).await?.run_tasks(&work.clock).await;
    match run().await {
        Ok(TaskRuns { done, is_left }) => {
            work.metrics.jobs.graph_elements.fetch_add(done, Ordering::Relaxed);
            if is_left {
                tokio::time::sleep(begun.elapsed().min(PAUSE_MAX)).await;
                work.graphs.want(part);
            }
        }
        Err(error) => note(part, &error, "cannot run the tasks of a graph"),
    }
}

/// What fails is tried again at the next tick.
fn note(part: &Tenant, error: &Error, what: &str) {
    if !part.is_ended() {
        tracing::warn!(error = chain(error), graph = part.name(), "{what}");
    }
}
