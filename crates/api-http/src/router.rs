//! Route tables of front ends, put together.

use std::pin::Pin;
use std::sync::Arc;

use http::{HeaderName, HeaderValue, Method, StatusCode, header};

use crate::params::{broken_coding, percent_decode_segment};
use crate::refusal::join_methods;
use crate::{Operation, Refusal, Request, RequestStream, Response, empty_response};

/// How whoever asks may say who he is (RFC 7617, RFC 6750).
const CHALLENGE: HeaderValue =
    HeaderValue::from_static("Basic realm=\"twinfold\", charset=\"UTF-8\", Bearer realm=\"twinfold\"");

/// The header that lists the media types of patches (RFC 5789, section 3.1).
const ACCEPT_PATCH: HeaderName = HeaderName::from_static("accept-patch");

/// An answer under way.
pub type Answer = Pin<Box<dyn Future<Output = Response> + Send>>;

/// Lets a request pass, or refuses it, before its body is read.
pub type Guard = Arc<dyn Fn(Request) -> Admission + Send + Sync>;

/// A request that may pass, with what the guard has found out ([`Request::extensions`]).
pub type Admission = Pin<Box<dyn Future<Output = Result<Request, Refusal>> + Send>>;

/// Answers one route. Made by [`handler`] or [`streamed_handler`].
#[derive(Clone)]
pub struct Handler {
    kind: Kind,
    guard: Option<Guard>,
}

#[derive(Clone)]
enum Kind {
    Whole(Arc<dyn Fn(Request) -> Answer + Send + Sync>),
    Streamed(Arc<dyn Fn(Request, RequestStream) -> Answer + Send + Sync>),
}

/// A handler that calls `function` with the front end's shared state.
pub fn handler<S, F, A>(state: &S, function: F) -> Handler
where
    S: Clone + Send + Sync + 'static,
    F: Fn(S, Request) -> A + Send + Sync + 'static,
    A: Future<Output = Response> + Send + 'static,
{
    let state = state.clone();
    let kind = Kind::Whole(Arc::new(move |request| Box::pin(function(state.clone(), request))));
    Handler { kind, guard: None }
}

/// The same for a route that reads its body piece by piece: `body` of the request is empty. Such a request
/// is bound by [`StreamLimits`](crate::StreamLimits) instead of the limits on bodies and on time.
pub fn streamed_handler<S, F, A>(state: &S, function: F) -> Handler
where
    S: Clone + Send + Sync + 'static,
    F: Fn(S, Request, RequestStream) -> A + Send + Sync + 'static,
    A: Future<Output = Response> + Send + 'static,
{
    let state = state.clone();
    let kind =
        Kind::Streamed(Arc::new(move |request, body| Box::pin(function(state.clone(), request, body))));
    Handler { kind, guard: None }
}

impl Handler {
    /// The same behind a guard.
    #[must_use]
    pub fn guarded(self, guard: Guard) -> Self {
        Self { guard: Some(guard), ..self }
    }

    /// What must let a request pass before its body is read, if anything.
    pub fn guard(&self) -> Option<&Guard> {
        self.guard.as_ref()
    }

    /// Whether it wants to read the body itself.
    pub fn is_streamed(&self) -> bool {
        matches!(self.kind, Kind::Streamed(_))
    }

    /// Answers a request that was read whole. One that wants to read by itself gets the body in one piece.
    pub fn answer(&self, mut request: Request) -> Answer {
        match &self.kind {
            Kind::Whole(function) => function(request),
            Kind::Streamed(function) => {
                let body = RequestStream::whole(std::mem::take(&mut request.body));
                function(request, body)
            }
        }
    }

    /// Answers a request whose body is on its way; `None` if the handler wants it whole.
    pub fn answer_streamed(&self, request: Request, body: RequestStream) -> Option<Answer> {
        match &self.kind {
            Kind::Whole(_) => None,
            Kind::Streamed(function) => Some(function(request, body)),
        }
    }
}

/// One line of a route table.
#[derive(Clone)]
pub struct Route {
    /// The method. `GET` answers `HEAD`, too.
    pub method: Method,
    /// The path, with `{name}` for one segment (`/ngsi-ld/v1/entities/{id}`). One trailing `/` in a
    /// request is forgiven; doubled slashes are a missing name.
    pub path: &'static str,
    /// What it does: what requests are checked against, and what the description of the API says.
    pub operation: &'static Operation,
    /// What answers.
    pub handler: Handler,
    /// Whether it is for administrators only.
    pub is_admin: bool,
}

/// A front end as the server mounts it.
#[derive(Clone)]
pub struct FrontEnd {
    /// For metrics and logs.
    pub name: &'static str,
    /// All its paths start with this.
    pub prefix: &'static str,
    /// Its routes.
    pub routes: Vec<Route>,
    /// How it words a refusal, for a request with this header `Accept`.
    pub refuse: fn(&Refusal, Option<&str>) -> Response,
}

/// All routes of all front ends.
#[derive(Clone, Default)]
pub struct Router {
    front_ends: Vec<FrontEnd>,
    /// One tree of paths per method: a place in `routes`.
    tables: Vec<(Method, matchit::Router<usize>)>,
    routes: Vec<Mounted>,
}

/// A route, and whose it is.
#[derive(Clone)]
struct Mounted {
    front_end: &'static str,
    route: Route,
}

/// The route of a request.
pub struct Found<'router> {
    /// Its index in [`Router::routes`].
    pub index: usize,
    /// What it does.
    pub operation: &'static Operation,
    /// What answers.
    pub handler: &'router Handler,
    /// The values of the `{name}` segments, decoded.
    pub captures: Vec<String>,
    /// Whether it is for administrators only.
    pub is_admin: bool,
}

impl Router {
    /// A router over these front ends.
    ///
    /// # Panics
    ///
    /// If two routes are the same, or a path is malformed or outside its front end's prefix: a bug.
    pub fn new(front_ends: Vec<FrontEnd>) -> Self {
        let mut router = Self { front_ends: Vec::new(), tables: Vec::new(), routes: Vec::new() };
        for front_end in &front_ends {
            for route in &front_end.routes {
                assert!(
                    is_below(route.path, front_end.prefix),
                    "route {} is outside of {}",
                    route.path,
                    front_end.prefix
                );
                router.mount(front_end.name, route);
            }
        }
        router.front_ends = front_ends;
        // The longest prefix comes first, so the first that fits decides.
        router.front_ends.sort_by_key(|front_end| std::cmp::Reverse(front_end.prefix.len()));
        router
    }

    fn mount(&mut self, front_end: &'static str, route: &Route) {
        let index = self.routes.len();
        self.routes.push(Mounted { front_end, route: route.clone() });
        let place = self.tables.iter().position(|(method, _)| *method == route.method);
        let place = place.unwrap_or_else(|| {
            self.tables.push((route.method.clone(), matchit::Router::new()));
            self.tables.len() - 1
        });
        if let Some((_, table)) = self.tables.get_mut(place) {
            let inserted = table.insert(route.path, index);
            assert!(inserted.is_ok(), "route {} {}: {inserted:?}", route.method, route.path);
        }
    }

    /// The route for a method and a path as it was sent; one slash at its end changes nothing, and no other
    /// slash is passed over: `/a//b` is not `/a/b`, or a missing name would make one resource of another.
    /// Cost: one walk down a tree of paths.
    ///
    /// # Errors
    ///
    /// `NotFound`, `MethodNotAllowed`, `EmptySegment`, or `BadQuery` for a segment that cannot be decoded.
    pub fn find(&self, method: &Method, path: &str) -> Result<Found<'_>, Refusal> {
        let path = without_last_slash(path);
        if has_empty_segment(path) {
            return Err(Refusal::EmptySegment);
        }
        let wanted = if *method == Method::HEAD { &Method::GET } else { method };
        let table = self.tables.iter().find(|(method, _)| method == wanted);
        let Some(matched) = table.and_then(|(_, table)| table.at(path).ok()) else {
            return Err(self.refusal(path));
        };
        let mut captures = Vec::with_capacity(matched.params.len());
        for (_, segment) in matched.params.iter() {
            let decoded = percent_decode_segment(segment);
            captures.push(decoded.ok_or_else(|| Refusal::BadQuery(broken_coding(segment)))?.into_owned());
        }
        let mounted = self.routes.get(*matched.value).ok_or(Refusal::NotFound)?;
        let Route { handler, operation, is_admin, .. } = &mounted.route;
        Ok(Found { index: *matched.value, operation, handler, captures, is_admin: *is_admin })
    }

    /// Whether a route of the path, whatever its method, is for administrators only. Cost: a walk down a tree of paths for
    /// each method.
    pub fn is_admin(&self, path: &str) -> bool {
        let path = without_last_slash(path);
        let routes = self.tables.iter().filter_map(|(_, table)| self.routes.get(*table.at(path).ok()?.value));
        routes.into_iter().any(|mounted| mounted.route.is_admin)
    }

    /// Whether other methods have the path.
    fn refusal(&self, path: &str) -> Refusal {
        let allowed = self.allowed(path);
        if allowed.is_empty() { Refusal::NotFound } else { Refusal::MethodNotAllowed(allowed) }
    }

    /// The methods of a path; `GET` is `HEAD` too, and where there is any there is `OPTIONS`.
    fn allowed(&self, path: &str) -> Vec<Method> {
        let mut allowed = Vec::new();
        for (method, table) in &self.tables {
            if table.at(path).is_ok() {
                allowed.push(method.clone());
                if *method == Method::GET {
                    allowed.push(Method::HEAD);
                }
            }
        }
        if !allowed.is_empty() {
            allowed.push(Method::OPTIONS);
        }
        allowed
    }

    /// The answer to `OPTIONS` on a path as it was sent: which methods it has, and which patches it takes if its operation says
    /// so. `None` if it has no method.
    pub fn options(&self, path: &str) -> Option<Response> {
        let Err(Refusal::MethodNotAllowed(allowed)) = self.find(&Method::OPTIONS, path) else { return None };
        let mut response = empty_response(StatusCode::NO_CONTENT);
        let allowed = HeaderValue::from_str(&join_methods(&allowed)).ok()?;
        response.headers_mut().insert(header::ALLOW, allowed);
        let patch = self.find(&Method::PATCH, path).ok().and_then(|found| found.operation.accept_patch);
        if let Some(media) = patch {
            response.headers_mut().insert(ACCEPT_PATCH, HeaderValue::from_static(media));
        }
        Some(response)
    }

    /// The answer to a refused request, worded by the front end with the longest prefix of `path`, for a request with this header
    /// `Accept`. Outside of all front ends it is plain text. `Allow` is set for `MethodNotAllowed`.
    pub fn refuse(&self, path: &str, refusal: &Refusal, accept: Option<&str>) -> Response {
        let front_end = self.front_ends.iter().find(|front_end| is_below(path, front_end.prefix));
        let refuse = front_end.map_or(plain_refusal as fn(&_, Option<&_>) -> _, |front_end| front_end.refuse);
        let mut response = refuse(refusal, accept);
        if let Refusal::MethodNotAllowed(allowed) = refusal
            && let Ok(allowed) = HeaderValue::from_str(&join_methods(allowed))
        {
            response.headers_mut().insert(header::ALLOW, allowed);
        }
        if matches!(refusal, Refusal::Unauthorized(_)) {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, CHALLENGE);
        }
        response
    }

    /// Front end, method and path of every route; a route's place is its index in [`Found`].
    pub fn routes(&self) -> impl ExactSizeIterator<Item = (&'static str, &Method, &'static str)> {
        self.routes.iter().map(|mounted| (mounted.front_end, &mounted.route.method, mounted.route.path))
    }
}

/// A refusal for front ends without words of their own: status and one line of text.
pub fn plain_refusal(refusal: &Refusal, _: Option<&str>) -> Response {
    let mut response = empty_response(refusal.status());
    *response.body_mut() = format!("{refusal}\n").into_bytes().into();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response
}

/// Whether `path` is `prefix` or lies below it.
fn is_below(path: &str, prefix: &str) -> bool {
    let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// One slash at the end of a path changes nothing.
fn without_last_slash(path: &str) -> &str {
    path.strip_suffix('/').filter(|rest| !rest.is_empty()).unwrap_or(path)
}

/// Whether a segment of a path is empty: between two slashes, or after the last.
fn has_empty_segment(path: &str) -> bool {
    path.len() > 1 && (path.ends_with('/') || path.contains("//"))
}

#[cfg(test)]
mod tests;
