use model_series::{Alignment, DefinitionDraft, SeriesOptions, StrandOptions, Timestamp};
use store::MemoryOptions;

use super::*;

const SECOND: i64 = 1_000_000;

/// Hooks over a store in memory, and its one repository with one hook.
struct Scene {
    hooks: Hooks,
    repository: Repository,
    clock: Clock,
}

impl Scene {
    /// Nobody listens where the hook leads.
    async fn new(private_addresses: bool, feed_records_max: u64) -> Self {
        // It being there already is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let clock = Clock::manual(Timestamp(SECOND));
        let store = Store::memory(MemoryOptions { clock: clock.clone(), feed_records_max });
        let strands = StrandOptions { block_points_max: 64, overlays_max: 4, overlay_points_max: 64 };
        let options = SeriesOptions { strands, definitions_cached_max: 100 };
        let repositories = Repositories::new(store.clone(), options);
        let policy = HooksPolicy {
            private_addresses,
            duration_max: Duration::from_secs(5),
            back_off: BackOff { first_us: SECOND, longest_us: 60 * SECOND },
            changes_max: 10,
        };
        let metrics = Arc::new(Metrics::new(std::iter::empty(), 1));
        let sources = (store, clock.clone());
        let hooks = Hooks::new(repositories.clone(), sources, metrics, "test".into(), policy).unwrap();
        let repository = repositories.get_or_create("default", clock.now()).await.unwrap();
        let hook = Hook {
            name: "billing".into(),
            url: "http://127.0.0.1:1/".into(),
            series: None,
            attributes: Vec::new(),
            secret: None,
            is_active: true,
        };
        repository.put_hook(hook).await.unwrap();
        Self { hooks, repository, clock }
    }

    async fn define(&self, name: &str) {
        let draft = DefinitionDraft::new(name, Alignment::Spontaneous, None);
        self.repository.define(vec![draft], self.clock.now()).await.unwrap();
    }

    async fn turns(&self) -> Vec<Turn> {
        self.hooks.shared.turns(&HashMap::new()).await.unwrap()
    }

    async fn state(&self) -> HookState {
        self.repository.hooks().await.unwrap().remove(0).1
    }
}

#[tokio::test]
async fn a_hook_is_tried_again_after_a_pause() {
    let scene = Scene::new(true, 1000).await;
    scene.define("a").await;
    for (failures, pause) in [(1, 1), (2, 2), (3, 4)] {
        let turn = scene.turns().await.remove(0);
        let before = turn.state.cursor;
        assert_eq!(scene.hooks.shared.serve(turn).await, before, "it stays where it is");
        let state = scene.state().await;
        assert_eq!((state.cursor, state.failures, state.delivered), (before, failures, 0));
        assert!(!state.last_error.is_empty());
        assert!(scene.turns().await.is_empty(), "it rests");
        scene.clock.set(Timestamp(scene.clock.now().0 + pause * SECOND));
    }
    assert_eq!(scene.hooks.shared.metrics.series.hook_failures.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn private_addresses_are_not_called() {
    let scene = Scene::new(false, 1000).await;
    scene.define("a").await;
    scene.hooks.shared.serve(scene.turns().await.remove(0)).await;
    let state = scene.state().await;
    assert!(state.last_error.contains("127.0.0.1 is not a public address"), "{}", state.last_error);
}

#[tokio::test]
async fn a_hook_behind_the_feed_goes_on_at_its_end() {
    let scene = Scene::new(true, 5).await;
    for number in 0..20 {
        scene.define(&format!("series {number}")).await;
    }
    let seen = scene.hooks.shared.serve(scene.turns().await.remove(0)).await;
    let state = scene.state().await;
    assert_eq!((state.cuts, state.failures), (1, 0));
    assert_eq!(state.cursor, seen);
    assert_eq!(scene.hooks.shared.metrics.series.hook_cuts.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn changes_of_other_tenants_are_passed_over() {
    let scene = Scene::new(true, 1000).await;
    let other = scene.hooks.shared.repositories.get_or_create("other", scene.clock.now()).await.unwrap();
    let draft = DefinitionDraft::new("a", Alignment::Spontaneous, None);
    other.define(vec![draft], scene.clock.now()).await.unwrap();
    let end = scene.hooks.shared.store.feed_end(0);
    assert_eq!(scene.hooks.shared.serve(scene.turns().await.remove(0)).await, end);
    let state = scene.state().await;
    assert_eq!((state.failures, state.delivered), (0, 0));
}
