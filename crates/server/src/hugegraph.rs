//! `/metrics/…` as HugeGraph's clients ask for it. What is counted is the server's; the words are `api-hugegraph`'s.

use api_http::{FrontEnd, Request, Response, Route, handler};
use api_hugegraph::Users;
use api_hugegraph::metrics::{self, PAGES, Page};
use http::Method;
use model_graph::{Error, Graphs, TenantName};

use crate::admin::Admin;
use crate::process;

/// What the routes need; clones share.
#[derive(Clone)]
struct Pages {
    admin: Admin,
    graphs: Graphs,
    page: Page,
}

/// The routes; `/metrics?type=json` is that of [`Admin`]. Where users log in they are for administrators, as in HugeGraph.
pub(crate) fn front_end(admin: &Admin, graphs: &Graphs, users: &Users) -> FrontEnd {
    let guard = users.is_on().then(|| api_hugegraph::administrators_only(users));
    admin.serve_hugegraph(guard.clone());
    let route = |(path, operation, page)| {
        let pages = Pages { admin: admin.clone(), graphs: graphs.clone(), page };
        let handler = handler(&pages, answer);
        let handler = match &guard {
            Some(guard) => handler.guarded(guard.clone()),
            None => handler,
        };
        Route { method: Method::GET, path, operation, handler, is_admin: false }
    };
    FrontEnd {
        name: "hugegraph",
        prefix: "/metrics",
        routes: PAGES.into_iter().map(route).collect(),
        refuse: api_hugegraph::refuse,
    }
}

async fn answer(pages: Pages, request: Request) -> Response {
    let figures = pages.admin.figures();
    match pages.page {
        Page::System => metrics::system(&process::figures(), &figures),
        Page::Backend => pages.backend(&request).await,
        Page::Statistics => metrics::statistics(&figures, request.params.get("type") == Some("json")),
        page => metrics::page(page, &figures),
    }
}

impl Pages {
    /// Of the graphs of the tenant that the request names; a tenant that is not there has none.
    async fn backend(&self, request: &Request) -> Response {
        let names = async {
            let graphs = match api_http::tenant(request, TenantName::new) {
                Ok(tenant) => self.graphs.of(&tenant).await?,
                Err(error) => return Err(Error::Invalid(error.to_string())),
            };
            let mut names = Vec::new();
            for space in graphs.spaces().await? {
                let of_space = graphs.list(&space.name).await?;
                names.extend(of_space.iter().map(|graph| format!("{}-{}", space.name, graph.name)));
            }
            Ok(names)
        };
        match names.await {
            Ok(names) => metrics::backend(&self.admin.storage(), names.into_iter()),
            Err(error) => api_hugegraph::refusal(error),
        }
    }
}
