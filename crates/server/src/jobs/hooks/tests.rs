use std::sync::atomic::Ordering;
use std::time::Duration;

use delivery::BackOff;
use model_series::{
    Alignment, DefinitionDraft, Hook, HookStatus, Repository, SeriesOptions, StrandOptions, Timestamp,
};
use store::{Clock, FeedOptions, MemoryOptions, Store};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use crate::jobs::follower::Follower;
use crate::metrics::Metrics;

mod nodes;

const SECOND: i64 = 1_000_000;

type Serving = Follower<Hooks>;

/// Hooks over a store in memory, and its one repository with one hook.
struct Scene {
    shared: Shared,
    notifier: Notifier,
    repositories: Repositories,
    metrics: Arc<Metrics>,
    repository: Repository,
    clock: Clock,
}

impl Scene {
    /// Nobody listens where the hook leads.
    async fn new(private_addresses: bool, feed: FeedOptions) -> Self {
        let clock = Clock::manual(Timestamp(SECOND));
        let store = Store::memory(MemoryOptions { clock: clock.clone(), feed });
        let scene = Self::on(store, clock, private_addresses).await;
        scene.repository.put_hook(hook_at("http://127.0.0.1:1/")).await.unwrap();
        scene
    }

    /// A node over a store, without a hook.
    async fn on(store: Store, clock: Clock, private_addresses: bool) -> Self {
        // It being there already is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let strands = StrandOptions { block_points_max: 64, overlays_max: 4, overlay_points_max: 64 };
        let options = SeriesOptions {
            strands,
            tenants_max: 1_000,
            repositories_max: 1_000,
            catalogue_buckets: 1,
            definitions_cached_max: 100,
        };
        let repositories = Repositories::new(store.clone(), options);
        let policy = HooksPolicy {
            private_addresses,
            duration_max: Duration::from_secs(5),
            back_off: BackOff { first: Duration::from_secs(1), longest: Duration::from_secs(60) },
            changes_max: 10,
            sends_max: 64,
            window_changes_max: 40,
            patience: Duration::from_secs(2),
            memory_bytes_max: 64 * 1024 * 1024,
            outbox_changes_max: 100_000,
            outbox_bytes_max: 64 * 1024 * 1024,
        };
        let metrics = Arc::new(Metrics::new(std::iter::empty(), 1));
        let notifier = Notifier::new(policy).unwrap();
        let shared = Shared { store, clock: clock.clone(), metrics: Arc::clone(&metrics.hooks) };
        let repository = repositories.get_or_create("default", clock.now()).await.unwrap();
        Self { shared, notifier, repositories, metrics, repository, clock }
    }

    async fn define(&self, name: &str) {
        let draft = DefinitionDraft::new(name, Alignment::Spontaneous, None);
        self.repository.define(vec![draft], self.clock.now()).await.unwrap();
    }

    async fn serving(&self) -> Serving {
        self.begin().await.unwrap()
    }

    async fn begin(&self) -> Result<Serving, Error> {
        let source = Hooks::new(self.repositories.clone(), self.notifier.clone());
        Serving::open(self.shared.clone(), source).await
    }

    async fn status(&self) -> HookStatus {
        self.repository.hooks().await.unwrap().remove(0).1
    }
}

impl Serving {
    /// Notifies until hooks have taken or refused what is there now.
    async fn notify(&mut self) {
        self.turn(true).await.unwrap();
        while let Some(ended) = self.sends.join_next_with_id().await {
            self.settle(ended);
            self.turn(true).await.unwrap();
        }
        self.turn(true).await.unwrap();
    }

    /// The same until `done` is.
    async fn notify_until<T>(&mut self, done: impl Future<Output = T>) -> T {
        let notify = Box::pin(async {
            loop {
                self.turn(false).await.unwrap();
                match self.sends.join_next_with_id().await {
                    Some(ended) => self.settle(ended),
                    None => tokio::task::yield_now().await,
                }
            }
        });
        tokio::select! {
            done = Box::pin(done) => done,
            () = notify => unreachable!("it goes on for ever"),
        }
    }
}

fn hook_at(url: &str) -> Hook {
    Hook {
        name: "billing".into(),
        url: url.into(),
        series: None,
        attributes: Vec::new(),
        secret: None,
        is_active: true,
    }
}

/// Somebody who is called: does something when called for the first time, then takes everything.
struct Called {
    url: String,
    listener: TcpListener,
}

impl Called {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self { url: format!("http://{}/", listener.local_addr().unwrap()), listener }
    }

    /// Takes one notification after `first` was done; how many changes it had.
    async fn take(&self, first: impl Future<Output = ()>) -> usize {
        let (mut stream, _) = self.listener.accept().await.unwrap();
        let mut received = Vec::new();
        let changes = loop {
            assert!(stream.read_buf(&mut received).await.unwrap() > 0);
            let text = String::from_utf8_lossy(&received);
            let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
            if let Some(told) = body.and_then(|body| serde_json::from_str::<serde_json::Value>(&body).ok()) {
                break told["Changes"].as_array().unwrap().len();
            }
        };
        first.await;
        let answer = "HTTP/1.1 204 Taken\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        stream.write_all(answer.as_bytes()).await.unwrap();
        changes
    }
}

#[tokio::test]
async fn a_hook_that_is_changed_is_notified_at_its_new_address() {
    let scene = Scene::new(true, FeedOptions::recommended()).await;
    let (before, after) = (Called::new().await, Called::new().await);
    scene.repository.put_hook(hook_at(&before.url)).await.unwrap();
    for number in 0..25 {
        scene.define(&format!("series {number}")).await;
    }
    let change = async { scene.repository.put_hook(hook_at(&after.url)).await.unwrap() };
    let called = async {
        let first = before.take(change).await;
        (first, after.take(async {}).await, after.take(async {}).await)
    };
    let mut serving = scene.serving().await;
    assert_eq!(serving.notify_until(called).await, (10, 10, 5), "what was taken is not sent again");
    serving.notify().await;
    let status = scene.status().await;
    assert_eq!((status.delivered, status.failures, status.pending), (25, 0, 0));
}

#[tokio::test]
async fn a_hook_made_anew_is_notified_of_what_happens_from_then_on() {
    let scene = Scene::new(true, FeedOptions::recommended()).await;
    let called = Called::new().await;
    scene.repository.put_hook(hook_at(&called.url)).await.unwrap();
    for number in 0..25 {
        scene.define(&format!("series {number}")).await;
    }
    let renewed = async {
        scene.repository.remove_hook("billing").await.unwrap();
        scene.repository.put_hook(hook_at(&called.url)).await.unwrap();
    };
    let mut serving = scene.serving().await;
    assert_eq!(serving.notify_until(called.take(renewed)).await, 10);
    serving.notify().await;
    assert_eq!(scene.status().await, HookStatus::default(), "nothing of the one before is left");
    scene.define("another").await;
    assert_eq!(serving.notify_until(called.take(async {})).await, 1);
}

/// Though the follower reads the changes only after the hook was made.
#[tokio::test]
async fn a_hook_is_not_notified_of_what_was_before_it() {
    let clock = Clock::manual(Timestamp(SECOND));
    let feed = FeedOptions::recommended();
    let scene = Scene::on(Store::memory(MemoryOptions { clock: clock.clone(), feed }), clock, true).await;
    let called = Called::new().await;
    let first = Hook { name: "first".into(), series: Some("none".into()), ..hook_at(&called.url) };
    scene.repository.put_hook(first).await.unwrap();
    scene.define("before").await;
    scene.repository.put_hook(hook_at(&called.url)).await.unwrap();
    scene.define("after").await;
    let mut serving = scene.serving().await;
    assert_eq!(serving.notify_until(called.take(async {})).await, 1);
}

#[tokio::test]
async fn a_hook_is_tried_again_after_a_pause() {
    let scene = Scene::new(true, FeedOptions::recommended()).await;
    scene.define("a").await;
    let mut serving = scene.serving().await;
    for (failures, pause) in [(1, 1), (2, 2), (3, 4)] {
        serving.notify().await;
        serving.notify().await;
        let status = scene.status().await;
        assert_eq!((status.failures, status.failed, status.delivered), (failures, failures.into(), 0));
        assert_eq!(status.pending, 1);
        assert!(!status.last_error.is_empty());
        scene.clock.set(Timestamp(scene.clock.now().0 + pause * SECOND));
    }
    assert_eq!(scene.metrics.hooks.counters.failures.load(Ordering::Relaxed), 3);
    // Another node goes on where this one was.
    let mut other = scene.serving().await;
    other.notify().await;
    assert_eq!(scene.status().await.failures, 4);
}

/// One bug does not silence a hook.
#[tokio::test]
async fn a_send_that_panics_is_tried_again() {
    let scene = Scene::new(true, FeedOptions::recommended()).await;
    let called = Called::new().await;
    scene.repository.put_hook(hook_at(&called.url)).await.unwrap();
    scene.define("a").await;
    let mut serving = scene.serving().await;
    let batch = serving.next_batches().await.unwrap().remove(0);
    serving.spawn(batch.number, async { panic!("a bug of the sender") });
    serving.notify().await;
    let status = scene.status().await;
    assert_eq!((status.failures, status.delivered, status.pending), (1, 0, 1));
    assert!(status.last_error.contains("a bug"), "{}", status.last_error);
    scene.clock.pass(Duration::from_secs(1));
    assert_eq!(serving.notify_until(called.take(async {})).await, 1);
    serving.notify().await;
    assert_eq!((scene.status().await.failures, scene.status().await.delivered), (0, 1));
    let counters = &scene.metrics.hooks.counters;
    let counted = [&counters.failures, &counters.retries].map(|counter| counter.load(Ordering::Relaxed));
    assert_eq!(counted, [1, 1]);
}

#[tokio::test]
async fn the_page_of_metrics_says_what_waits() {
    let scene = Scene::new(true, FeedOptions::recommended()).await;
    scene.define("a").await;
    let check = |lines: &[&str]| {
        let mut out = crate::metrics::Exposition::default();
        scene.metrics.hooks.write(&mut out);
        for line in lines {
            assert!(out.text.lines().any(|text| text == *line), "{line} is not in\n{}", out.text);
        }
    };
    check(&["twinfold_hook_following 0"]);
    let mut serving = scene.serving().await;
    serving.notify().await;
    // Reads the commits of the flush before, and writes nothing.
    serving.turn(true).await.unwrap();
    check(&[
        "twinfold_hook_following 1",
        "twinfold_hook_unread_commits 0",
        "twinfold_hook_waiting{state=\"failing\"} 1",
        "twinfold_hook_pending_changes{state=\"failing\"} 1",
        "twinfold_hook_pending_changes{state=\"direct\"} 0",
        "twinfold_hook_memory_bytes 0",
    ]);
    follower::end(&scene.shared, &mut Some(serving));
    check(&["twinfold_hook_following 0", "twinfold_hook_waiting{state=\"failing\"} 0"]);
}

#[tokio::test]
async fn private_addresses_are_not_called() {
    let scene = Scene::new(false, FeedOptions::recommended()).await;
    scene.define("a").await;
    scene.serving().await.notify().await;
    let status = scene.status().await;
    assert!(status.last_error.contains("127.0.0.1 is not a public address"), "{}", status.last_error);
}

#[tokio::test]
async fn hooks_behind_the_feed_go_on_at_its_end() {
    let nothing = FeedOptions { bytes_min: 0, age_min: Duration::ZERO, bytes_max: 1 << 12 };
    let scene = Scene::new(true, nothing).await;
    for number in 0..200 {
        scene.define(&format!("series {number}")).await;
    }
    scene.serving().await.notify().await;
    let status = scene.status().await;
    assert_eq!((status.cuts, status.failures), (1, 0));
    assert_eq!(scene.metrics.hooks.counters.cuts.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_hook_that_is_not_active_is_notified_of_nothing() {
    let scene = Scene::new(true, FeedOptions::recommended()).await;
    scene.repository.put_hook(Hook { is_active: false, ..hook_at("http://127.0.0.1:1/") }).await.unwrap();
    scene.define("a").await;
    scene.serving().await.notify().await;
    assert_eq!(scene.status().await, HookStatus::default());
}
