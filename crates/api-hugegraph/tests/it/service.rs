//! The API over a store in memory, with a clock that moves a second with every request.

use api_http::Router;
use api_http::testing::{self, Got, Sent};
use api_hugegraph::{Api, Limits, front_ends};

/// Pages and documents are shown by their beginnings, of ASCII.
const DOCS_SHOWN: usize = 60;

pub(crate) struct Service {
    router: Router,
}

/// Limits as the server has them, small where a case is to reach them.
pub(crate) fn limits() -> Limits {
    Limits { depth_max: 64 }
}

impl Service {
    pub(crate) fn new() -> Self {
        let api = Api::new(limits());
        Self { router: Router::new(front_ends(&api)) }
    }

    /// Every route as `METHOD path`.
    pub(crate) fn routes(&self) -> Vec<String> {
        testing::routes(&self.router)
    }

    /// A step of a transcript, and the route that answered it.
    pub(crate) async fn answer(&self, sent: &Sent) -> (Option<String>, Got) {
        let (route, mut got) = testing::answer(&self.router, sent).await;
        if sent.target.contains("/docs") || sent.target == "/apis" {
            got.body.truncate(DOCS_SHOWN);
        }
        (route, got)
    }
}
