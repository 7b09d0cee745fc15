//! RESTCONF over a store in memory, with a clock that moves a second with every request: a dataspace `lab` with the anchors `box` (which is the
//! default), `strict` (all rules of the modules are checked) and `data` in the dataspace `data`.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use api_http::testing::{self, Got, Sent};
use api_http::{Response, Router};
use api_restconf::{Api, DefaultAnchor, Limits, front_ends};
use http::HeaderMap;
use lang_yang::{Features, YangFile};
use model_config::{Clock, ConfigOptions, Configs, Mode, SchemaSetOptions, Timestamp};
use tokio::sync::OnceCell;

/// 2026-01-01T00:00:00Z.
const START: i64 = 1_767_225_600_000_000;
const SECOND: i64 = 1_000_000;
/// Pages and documents are shown by their beginnings, of ASCII.
const DOCS_SHOWN: usize = 60;

pub(crate) struct Service {
    pub(crate) router: Router,
    pub(crate) configs: Configs,
    clock: Clock,
    now: AtomicI64,
    filled: OnceCell<()>,
}

/// Limits as the server has them, small where a case is to reach them.
fn limits() -> Limits {
    Limits { depth_max: 16, body_nodes_max: 100_000, stall_max: Duration::from_secs(10) }
}

/// The modules of the examples.
pub(crate) fn modules() -> Vec<YangFile> {
    let file = |name: &str, text: &str| YangFile { name: name.into(), text: text.into() };
    vec![
        file("example-jukebox.yang", include_str!("example-jukebox.yang")),
        file("example-extras.yang", include_str!("example-extras.yang")),
    ]
}

impl Service {
    pub(crate) fn new() -> Self {
        let default = DefaultAnchor { dataspace: "lab".into(), anchor: "box".into() };
        Self::with_default(Some(default))
    }

    /// A service whose settings name this anchor.
    pub(crate) fn with_default(default: Option<DefaultAnchor>) -> Self {
        let clock = Clock::manual(Timestamp(START));
        let store = store::testing::memory(clock.clone());
        let configs = Configs::new(store, clock.clone(), ConfigOptions::recommended());
        let api = Api::new(configs.clone(), limits(), default);
        let router = Router::new(front_ends(&api));
        Self { router, configs, clock, now: AtomicI64::new(START), filled: OnceCell::new() }
    }

    /// Every route as `METHOD path`.
    pub(crate) fn routes(&self) -> Vec<String> {
        testing::routes(&self.router)
    }

    /// Makes the dataspaces and anchors, once.
    pub(crate) async fn fill(&self) {
        self.filled
            .get_or_init(|| async {
                for (dataspace, set, anchor, mode) in [
                    ("lab", "jukebox", "box", Mode::Lenient),
                    ("lab", "jukebox-strict", "strict", Mode::Strict),
                    ("data", "jukebox", "data", Mode::Lenient),
                ] {
                    let _ = self.configs.create_dataspace(dataspace).await;
                    let options = SchemaSetOptions { mode, features: Features::All };
                    self.configs
                        .create_schema_set(dataspace, set, &modules(), options)
                        .await
                        .expect("modules");
                    self.configs.create_anchor(dataspace, set, anchor).await.expect("an anchor");
                }
            })
            .await;
    }

    /// The response to a request, a second after the request before.
    pub(crate) async fn respond(
        &self,
        method: &str,
        target: &str,
        headers: HeaderMap,
        body: impl Into<bytes::Bytes>,
    ) -> Response {
        self.fill().await;
        self.tick();
        testing::respond(&self.router, method, target, headers, body).await.1
    }

    /// A step of a transcript, and the route that answered it.
    pub(crate) async fn answer(&self, sent: &Sent) -> (Option<String>, Got) {
        self.fill().await;
        self.tick();
        let (route, mut got) = testing::answer(&self.router, sent).await;
        if sent.target.contains("/docs") {
            got.body.truncate(DOCS_SHOWN);
        }
        (route, got)
    }

    fn tick(&self) {
        self.clock.set(Timestamp(self.now.fetch_add(SECOND, Ordering::Relaxed) + SECOND));
    }
}
