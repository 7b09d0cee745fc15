//! Tests of tasks: their rows, pages, ends.

use store::{Clock, FeedOptions, MemoryOptions, Store, Tenant};

use super::*;

const NOW: Timestamp = Timestamp(1_000_000);

fn tasks() -> Tasks {
    let options = MemoryOptions { clock: Clock::manual(NOW), feed: FeedOptions::recommended() };
    Tasks::new(Arc::new(StateStore::new(Store::memory(options), &Tenant::default())))
}

fn draft(work: TaskWork) -> TaskDraft {
    TaskDraft { name: "name".into(), kind: "kind".into(), input: "{}".into(), work }
}

fn set(status: TaskStatus) -> impl Fn(&mut Task) -> Result<(), Error> {
    move |task| {
        task.status = status;
        Ok(())
    }
}

fn ids(page: &TaskPage) -> Vec<u64> {
    page.tasks.iter().map(|task| task.id.0).collect()
}

#[test]
fn a_stored_task_is_read_back() {
    let part = PartId { kind: graph::schema::SchemaKind::EdgeLabel, number: 7 };
    let works = [TaskWork::Other, TaskWork::Remove(vec![part]), TaskWork::Build(vec![IndexLabelId(3)])];
    for (work, status) in works.into_iter().zip(TaskStatus::ALL) {
        let task = Task {
            id: TaskId(3),
            name: "n".into(),
            kind: "k".into(),
            input: "{}".into(),
            work,
            status: *status,
            progress: 1 << 40,
            retries: 2,
            result: "r".into(),
            created: NOW,
            updated: Timestamp(-1),
            cursor: Bytes::from_static(b"c"),
        };
        let stored = encode::put_task(&task);
        assert_eq!(encode::take_task(task.id, &stored).unwrap(), task);
        for cut in 0..stored.len() {
            assert!(encode::take_task(task.id, &stored[..cut]).is_err());
        }
    }
}

#[tokio::test]
async fn tasks_are_numbered_from_one_and_listed_in_pages() {
    let tasks = tasks();
    for number in 1..=5 {
        assert_eq!(tasks.create(draft(TaskWork::Other), NOW).await.unwrap(), TaskId(number));
    }
    let page = tasks.list(None, None, 2).await.unwrap();
    assert_eq!((ids(&page), page.next), (vec![1, 2], Some(TaskId(2))));
    let page = tasks.list(None, page.next, 9).await.unwrap();
    assert_eq!((ids(&page), page.next), (vec![3, 4, 5], None));
    tasks.change(TaskId(4), Timestamp(7), set(TaskStatus::Running)).await.unwrap();
    assert_eq!(tasks.get(TaskId(4)).await.unwrap().updated, Timestamp(7));
    assert_eq!(ids(&tasks.list(Some(TaskStatus::New), None, 9).await.unwrap()), [1, 2, 3, 5]);
    assert_eq!(ids(&tasks.list(Some(TaskStatus::New), Some(TaskId(2)), 9).await.unwrap()), [3, 5]);
    assert_eq!(ids(&tasks.list(Some(TaskStatus::Running), None, 9).await.unwrap()), [4]);
    let unfinished = tasks.unfinished(|task| Some(task.id.0)).await.unwrap();
    assert_eq!(unfinished, [4, 1, 2, 3, 5]);
    assert!(matches!(tasks.get(TaskId(6)).await, Err(Error::NotFound(_))));
}

#[tokio::test]
async fn tasks_are_cancelled_and_deleted() {
    let tasks = tasks();
    let waits = tasks.create(draft(TaskWork::Other), NOW).await.unwrap();
    assert!(matches!(tasks.delete(waits, false).await, Err(Error::Invalid(_))));
    assert!(tasks.cancel(waits, NOW).await.unwrap());
    assert_eq!(tasks.get(waits).await.unwrap().status, TaskStatus::Cancelled);
    tasks.delete(waits, false).await.unwrap();
    assert!(matches!(tasks.delete(waits, false).await, Err(Error::NotFound(_))));
    let runs = tasks.create(draft(TaskWork::Build(Vec::new())), NOW).await.unwrap();
    tasks.change(runs, NOW, set(TaskStatus::Running)).await.unwrap();
    assert!(tasks.cancel(runs, NOW).await.unwrap());
    assert_eq!(tasks.get(runs).await.unwrap().status, TaskStatus::Cancelling);
    tasks.delete(runs, true).await.unwrap();
    let done = tasks.create(draft(TaskWork::Other), NOW).await.unwrap();
    tasks.change(done, NOW, set(TaskStatus::Success)).await.unwrap();
    assert!(!tasks.cancel(done, NOW).await.unwrap());
    let removes = tasks.create(draft(TaskWork::Remove(Vec::new())), NOW).await.unwrap();
    assert!(!tasks.cancel(removes, NOW).await.unwrap());
    assert_eq!(tasks.list(None, None, 9).await.unwrap().tasks.len(), 2);
    assert!(tasks.list(Some(TaskStatus::Cancelling), None, 9).await.unwrap().tasks.is_empty());
}

#[tokio::test]
async fn so_many_tasks_may_wait_and_all_are_found() {
    let tasks = tasks();
    for _ in 0..TASKS_WAITING_MAX {
        tasks.create(draft(TaskWork::Other), NOW).await.unwrap();
    }
    let refused = tasks.create(draft(TaskWork::Other), NOW).await.unwrap_err().to_string();
    assert_eq!(refused, "tasks that wait to be begun: 1001, at most 1000 are allowed (TASKS_WAITING_MAX)");
    let needed = tasks.create_needed(draft(TaskWork::Remove(Vec::new())), NOW).await.unwrap();
    let is_work = |task: Task| (task.work != TaskWork::Other).then_some(task.id);
    assert_eq!(tasks.unfinished(is_work).await.unwrap(), [needed]);
    assert_eq!(tasks.unfinished(Some).await.unwrap().len(), TASKS_WAITING_MAX + 1);
    tasks.change(TaskId(1), NOW, set(TaskStatus::Running)).await.unwrap();
    tasks.delete(needed, true).await.unwrap();
    tasks.create(draft(TaskWork::Other), NOW).await.unwrap();
}
