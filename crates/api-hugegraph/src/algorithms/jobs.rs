//! Tasks of algorithms: queued, begun, watched while they are at work, finished. One is at work at a time: each may take much memory.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model_graph::{Clock, Error, Graph, Graphs, Task, TaskDraft, TaskId, TaskStatus, TaskWork};
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::execute::{ExecuteError, execute};
use super::watch::{AlgorithmOptions, Watch};

/// The kind of these tasks.
const KIND: &str = "algorithm";
/// Tasks that wait, as far as this process knows; others are looked for when these are done.
const WAITING_MAX: usize = 1_000;
/// How often it is noted how far a task is, and looked whether it shall end.
const WATCH: Duration = Duration::from_millis(500);
/// After an error of the store.
const REST: Duration = Duration::from_secs(1);

/// Ends an algorithm whose task nobody runs any more: it is at work on a thread of its own.
struct EndOnDrop(Arc<Watch>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Runs the tasks of algorithms; clones share.
#[derive(Clone, Debug)]
pub struct AlgorithmJobs {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    graphs: Graphs,
    clock: Clock,
    options: AlgorithmOptions,
    waiting: Mutex<VecDeque<(Arc<Graph>, TaskId)>>,
    arrived: Notify,
    /// Whether there may be tasks to be run that are not among those that wait.
    is_cut: AtomicBool,
}

impl AlgorithmJobs {
    /// Jobs over these graphs.
    pub fn new(graphs: Graphs, clock: Clock, options: AlgorithmOptions) -> Self {
        let (waiting, arrived, is_cut) = (Mutex::default(), Notify::new(), AtomicBool::new(true));
        Self { shared: Arc::new(Shared { graphs, clock, options, waiting, arrived, is_cut }) }
    }

    /// Makes a task of an algorithm, whose parameters were checked, and has it run. Cost: one commit.
    pub(crate) async fn create(
        &self,
        graph: Arc<Graph>,
        name: &str,
        parameters: &serde_json::Value,
    ) -> Result<TaskId, Error> {
        let input = serde_json::json!({ "algorithm": name, "parameters": parameters });
        let draft = TaskDraft {
            name: format!("{KIND}:{name}").into(),
            kind: KIND.into(),
            input: input.to_string().into(),
            work: TaskWork::Other,
        };
        let id = graph.tasks().create(draft, self.shared.clock.now()).await?;
        self.enqueue(graph, id);
        Ok(id)
    }

    /// Runs tasks, one after the other, first those that were left by an earlier process. Ends only when it is dropped; a task that is at
    /// work then is begun again by the next process.
    pub async fn run(self) {
        loop {
            if self.shared.is_cut.load(Ordering::Relaxed)
                && let Err(error) = self.resume().await
            {
                self.shared.is_cut.store(true, Ordering::Relaxed);
                tracing::warn!(%error, "cannot look for tasks of algorithms");
                tokio::time::sleep(REST).await;
                continue;
            }
            self.run_waiting().await;
            if !self.shared.is_cut.load(Ordering::Relaxed) {
                self.shared.arrived.notified().await;
            }
        }
    }

    /// Runs the tasks that wait now.
    pub async fn run_waiting(&self) {
        loop {
            let next = self.shared.waiting.lock().pop_front();
            let Some((graph, id)) = next else { return };
            if let Err(error) = self.run_task(&graph, id).await {
                tracing::warn!(%error, task = %id, graph = graph.name(), "cannot run a task");
                if error.is_outage() {
                    self.shared.is_cut.store(true, Ordering::Relaxed);
                    tokio::time::sleep(REST).await;
                }
            }
        }
    }

    fn enqueue(&self, graph: Arc<Graph>, id: TaskId) {
        let mut waiting = self.shared.waiting.lock();
        if waiting.len() < WAITING_MAX {
            waiting.push_back((graph, id));
        } else {
            self.shared.is_cut.store(true, Ordering::Relaxed);
        }
        drop(waiting);
        self.shared.arrived.notify_one();
    }

    /// Queues the tasks that are not finished: those that an earlier process left, or that did not fit.
    async fn resume(&self) -> Result<(), Error> {
        let parts = self.shared.graphs.all().await?;
        self.shared.is_cut.store(false, Ordering::Relaxed);
        for part in parts {
            let graph = match self.shared.graphs.open(&part).await {
                Err(Error::NotFound(_)) => continue,
                graph => graph?,
            };
            for id in graph.tasks().unfinished(|task| (*task.kind == *KIND).then_some(task.id)).await? {
                self.enqueue(graph.clone(), id);
            }
        }
        Ok(())
    }

    async fn run_task(&self, graph: &Graph, id: TaskId) -> Result<(), Error> {
        let tasks = graph.tasks();
        let begun = tasks.change(id, self.shared.clock.now(), |task| {
            task.status = match task.status {
                TaskStatus::Cancelling => TaskStatus::Cancelled,
                TaskStatus::Running => {
                    task.retries += 1;
                    TaskStatus::Running
                }
                TaskStatus::New | TaskStatus::Queued => TaskStatus::Running,
                finished => finished,
            };
            Ok(())
        });
        let task = match begun.await {
            Ok(task) if task.status == TaskStatus::Running => task,
            // Its client ended or removed it.
            Ok(_) | Err(Error::NotFound(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        let watch = Arc::new(Watch::default());
        let _end = EndOnDrop(watch.clone());
        let executed = execute(graph, &task.input, &self.shared.clock, self.shared.options, &watch);
        let result = tokio::select! {
            result = executed => result,
            error = self.watch(graph, id, &watch) => return Err(error),
        };
        self.finish(graph, &task, result, &watch).await
    }

    /// Notes how far a task is, and has its algorithm end if it shall; ends with an error.
    async fn watch(&self, graph: &Graph, id: TaskId, watch: &Watch) -> Error {
        let tasks = graph.tasks();
        loop {
            tokio::time::sleep(WATCH).await;
            let steps = watch.steps();
            let noted = tasks.change(id, self.shared.clock.now(), |task| {
                task.progress = steps;
                Ok(())
            });
            match noted.await {
                Ok(task) if task.status == TaskStatus::Running => {}
                Ok(_) | Err(Error::NotFound(_)) => watch.end(),
                Err(error) if error.is_outage() => return error,
                Err(error) => tracing::warn!(%error, task = %id, "cannot note how far a task is"),
            }
        }
    }

    async fn finish(
        &self,
        graph: &Graph,
        task: &Task,
        result: Result<String, ExecuteError>,
        watch: &Watch,
    ) -> Result<(), Error> {
        let steps = watch.steps();
        let tasks = graph.tasks();
        let finished = tasks.change(task.id, self.shared.clock.now(), |task| {
            task.progress = steps;
            (task.status, task.result) = match &result {
                Ok(result) => (TaskStatus::Success, result.as_str().into()),
                Err(ExecuteError::Stopped) => (TaskStatus::Cancelled, task.result.clone()),
                Err(error) => (TaskStatus::Failed, error.to_string().into()),
            };
            Ok(())
        });
        match finished.await {
            Ok(_) | Err(Error::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
