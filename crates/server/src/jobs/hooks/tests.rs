use model_series::{Alignment, DefinitionDraft, Hook, SeriesOptions, StrandOptions, Timestamp};
use store::{FeedOptions, MemoryOptions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;

mod nodes;

const SECOND: i64 = 1_000_000;

/// Hooks over a store in memory, and its one repository with one hook.
struct Scene {
    hooks: Hooks,
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
            back_off: BackOff { first_us: SECOND, longest_us: 60 * SECOND },
            changes_max: 10,
        };
        let metrics = Arc::new(Metrics::new(std::iter::empty(), 1));
        let sources = (store, clock.clone());
        let hooks = Hooks::new(repositories.clone(), sources, metrics, policy).unwrap();
        let repository = repositories.get_or_create("default", clock.now()).await.unwrap();
        Self { hooks, repository, clock }
    }

    async fn define(&self, name: &str) {
        let draft = DefinitionDraft::new(name, Alignment::Spontaneous, None);
        self.repository.define(vec![draft], self.clock.now()).await.unwrap();
    }

    async fn turns(&self) -> Vec<Turn> {
        let hooks = self.hooks.shared.hooks().await.unwrap();
        self.hooks.shared.turns(hooks, &HashMap::new())
    }

    async fn state(&self) -> HookState {
        self.repository.hooks().await.unwrap().remove(0).1
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

    /// Takes one notification after `first` was done; how many changes it told.
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
async fn how_far_a_hook_was_seen_is_forgotten_with_it() {
    let scene = Scene::new(true, FeedOptions::recommended()).await;
    let mut round = Round::default();
    let key = (scene.repository.tenant().number(), "billing".into());
    round.seen.extend([(key, Vec::new()), ((u32::MAX, "billing".into()), Vec::new())]);
    round.begin(&scene.hooks.shared).await;
    assert_eq!(round.seen.len(), 1, "that of a life that is over went");
    scene.repository.remove_hook("billing").await.unwrap();
    round.begin(&scene.hooks.shared).await;
    assert!(round.seen.is_empty());
}

#[tokio::test]
async fn a_hook_that_is_changed_is_told_at_its_new_address() {
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
    let turn = scene.turns().await.remove(0);
    let (_, told) = tokio::join!(scene.hooks.shared.serve(turn), called);
    assert_eq!(told, (10, 10, 5), "what was taken is not told again");
    let state = scene.state().await;
    assert_eq!((state.delivered, state.failures), (25, 0));
}

#[tokio::test]
async fn a_hook_that_is_changed_is_told_what_it_now_chooses() {
    let scene = Scene::new(true, FeedOptions::recommended()).await;
    let called = Called::new().await;
    scene.repository.put_hook(hook_at(&called.url)).await.unwrap();
    for number in 0..25 {
        scene.define(&format!("series {number}")).await;
    }
    let narrower = Hook { series: Some("%24".into()), ..hook_at(&called.url) };
    let change = async { scene.repository.put_hook(narrower).await.unwrap() };
    let told = async { (called.take(change).await, called.take(async {}).await) };
    let turn = scene.turns().await.remove(0);
    let (_, told) = tokio::join!(scene.hooks.shared.serve(turn), told);
    assert_eq!(told, (10, 1));
}

#[tokio::test]
async fn a_hook_made_anew_is_told_what_happens_from_then_on() {
    let scene = Scene::new(true, FeedOptions::recommended()).await;
    let called = Called::new().await;
    scene.repository.put_hook(hook_at(&called.url)).await.unwrap();
    for number in 0..25 {
        scene.define(&format!("series {number}")).await;
    }
    let mut made_at = Cursor::default();
    let renewed = async {
        scene.repository.remove_hook("billing").await.unwrap();
        made_at = scene.hooks.shared.store.feed_end(0);
        scene.repository.put_hook(hook_at(&called.url)).await.unwrap();
    };
    let turn = scene.turns().await.remove(0);
    let (_, told) = tokio::join!(scene.hooks.shared.serve(turn), called.take(renewed));
    assert_eq!(told, 10);
    let fresh = HookState { cursors: vec![made_at], ..HookState::default() };
    assert_eq!(scene.state().await, fresh, "nothing of the one before is left");
    scene.hooks.shared.serve(scene.turns().await.remove(0)).await;
    assert_eq!(scene.state().await, fresh, "nothing of before is told");
}

#[tokio::test]
async fn a_hook_is_tried_again_after_a_pause() {
    let scene = Scene::new(true, FeedOptions::recommended()).await;
    scene.define("a").await;
    for (failures, pause) in [(1, 1), (2, 2), (3, 4)] {
        let turn = scene.turns().await.remove(0);
        let before = turn.standing.state.cursor(0);
        assert_eq!(scene.hooks.shared.serve(turn).await, [Seen::at(before)], "it stays where it is");
        let state = scene.state().await;
        assert_eq!((state.cursor(0), state.failures, state.delivered), (before, failures, 0));
        assert!(!state.last_error.is_empty());
        assert!(scene.turns().await.is_empty(), "it rests");
        scene.clock.set(Timestamp(scene.clock.now().0 + pause * SECOND));
    }
    assert_eq!(scene.hooks.shared.metrics.hooks.failures.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn private_addresses_are_not_called() {
    let scene = Scene::new(false, FeedOptions::recommended()).await;
    scene.define("a").await;
    scene.hooks.shared.serve(scene.turns().await.remove(0)).await;
    let state = scene.state().await;
    assert!(state.last_error.contains("127.0.0.1 is not a public address"), "{}", state.last_error);
}

#[tokio::test]
async fn a_hook_behind_the_feed_goes_on_at_its_end() {
    let nothing = FeedOptions { bytes_min: 0, age_min: Duration::ZERO, bytes_max: 1 << 20 };
    let scene = Scene::new(true, nothing).await;
    for number in 0..20 {
        scene.define(&format!("series {number}")).await;
    }
    let seen = scene.hooks.shared.serve(scene.turns().await.remove(0)).await;
    let state = scene.state().await;
    assert_eq!((state.cuts, state.failures), (1, 0));
    assert_eq!([Seen::at(state.cursor(0))], *seen);
    assert_eq!(scene.hooks.shared.metrics.hooks.cuts.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn what_hooks_were_not_told_is_kept_for_them() {
    let little = FeedOptions { bytes_min: 200, age_min: Duration::ZERO, bytes_max: 1 << 20 };
    let scene = Scene::new(false, little).await;
    let keep = async || {
        let ends = scene.hooks.shared.feed_ends();
        let hooks = scene.hooks.shared.hooks().await.unwrap();
        scene.hooks.shared.keep_feed(&hooks, &ends).await;
    };
    keep().await;
    for number in 0..20 {
        scene.define(&format!("series {number}")).await;
    }
    scene.hooks.shared.serve(scene.turns().await.remove(0)).await;
    assert_eq!((scene.state().await.cuts, scene.state().await.failures), (0, 1), "it was tried");
    scene.repository.remove_hook("billing").await.unwrap();
    keep().await;
    scene.define("another").await;
    let store = &scene.hooks.shared.store;
    assert_eq!(store.feed(0, Cursor::default(), 9).await.unwrap_err().kind(), StoreErrorKind::TooLarge);
}

#[tokio::test]
async fn changes_of_other_tenants_are_passed_over() {
    let scene = Scene::new(true, FeedOptions::recommended()).await;
    let other = scene.hooks.shared.repositories.get_or_create("other", scene.clock.now()).await.unwrap();
    let draft = DefinitionDraft::new("a", Alignment::Spontaneous, None);
    other.define(vec![draft], scene.clock.now()).await.unwrap();
    let end = scene.hooks.shared.store.feed_end(0);
    assert_eq!(scene.hooks.shared.serve(scene.turns().await.remove(0)).await[0].upto, end);
    let state = scene.state().await;
    assert_eq!((state.failures, state.delivered), (0, 0));
}
