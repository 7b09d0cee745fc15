//! The table of routes while it is made: each line is a route, or two where a resource has a path in both generations.

use api_http::{Frame, FrontEnd, Operation, Refusal, Request, Response, Route, check_untagged};
use graph::schema::SchemaKind;
use http::Method;

use model_graph::DEFAULT_SPACE;

use crate::callers::guard;
use crate::needs::need;
use crate::problem::Problem;
use crate::state::Api;

/// The two paths of a resource.
#[derive(Clone, Copy)]
pub(crate) struct Paths {
    /// Below `/graphspaces/{graphspace}`.
    pub(crate) new: &'static str,
    /// Without.
    pub(crate) old: &'static str,
}

/// The paths of a resource of a graph. Its handler finds the graph space in capture 0, the graph in capture 1.
macro_rules! of_graph {
    ($rest:literal) => {
        $crate::table::Paths {
            new: concat!("/graphspaces/{graphspace}/graphs/{graph}", $rest),
            old: concat!("/graphs/{graph}", $rest),
        }
    };
}
pub(crate) use of_graph;

/// The paths of a resource of a graph space, which its handler finds in capture 0.
macro_rules! of_space {
    ($rest:literal) => {
        $crate::table::Paths { new: concat!("/graphspaces/{graphspace}", $rest), old: $rest }
    };
}
pub(crate) use of_space;

/// The paths of a resource of users: of a graph space, of none, and of a graph, as clients before 1.7 ask.
#[derive(Clone, Copy)]
pub(crate) struct UserPaths {
    pub(crate) of_space: Paths,
    pub(crate) of_graph: &'static str,
}

/// The paths of a resource of users. Its handler finds the graph space in capture 0.
macro_rules! of_users {
    ($rest:literal) => {
        $crate::table::UserPaths {
            of_space: $crate::table::of_space!($rest),
            of_graph: concat!("/graphs/{graph}", $rest),
        }
    };
}
pub(crate) use of_users;

/// Routes, of one state.
pub(crate) struct Table<'api> {
    api: &'api Api,
    /// Those that the description of the API lists.
    pub(crate) described: Vec<Route>,
    /// The same below older paths.
    older: Vec<Route>,
}

impl<'api> Table<'api> {
    /// A table without lines.
    pub(crate) fn new(api: &'api Api) -> Self {
        Self { api, described: Vec::new(), older: Vec::new() }
    }

    /// Adds a route.
    pub(crate) fn single<F, A>(
        &mut self,
        method: Method,
        path: &'static str,
        operation: &'static Operation,
        function: F,
    ) where
        F: Fn(Api, Request) -> A + Clone + Send + Sync + 'static,
        A: Future<Output = Result<Response, Problem>> + Send + 'static,
    {
        let route = self.route(method, path, operation, function);
        self.described.push(route);
    }

    /// A route behind its guard, if it needs anything of whoever asks.
    fn route<F, A>(
        &self,
        method: Method,
        path: &'static str,
        operation: &'static Operation,
        function: F,
    ) -> Route
    where
        F: Fn(Api, Request) -> A + Clone + Send + Sync + 'static,
        A: Future<Output = Result<Response, Problem>> + Send + 'static,
    {
        let guard = guard(&self.api.shared.users, need(&method, path), path);
        let route = HugeGraph::route(self.api, method, path, operation, function);
        match guard {
            Some(guard) => Route { handler: route.handler.guarded(guard), ..route },
            None => route,
        }
    }

    /// Adds a route of users under its three paths. The captures are those of the newest one, which has the graph space: the others mean
    /// [`DEFAULT_SPACE`], and that of a graph names none that matters.
    pub(crate) fn of_users<F, A>(
        &mut self,
        method: Method,
        paths: UserPaths,
        operation: &'static Operation,
        function: F,
    ) where
        F: Fn(Api, Request) -> A + Clone + Send + Sync + 'static,
        A: Future<Output = Result<Response, Problem>> + Send + 'static,
    {
        let of_graph = function.clone();
        let of_graph = move |api, mut request: Request| {
            if let Some(graph) = request.captures.first_mut() {
                DEFAULT_SPACE.clone_into(graph);
            }
            of_graph(api, request)
        };
        let route = self.route(method.clone(), paths.of_graph, operation, of_graph);
        self.older.push(route);
        self.both(method, paths.of_space, operation, function);
    }

    /// Adds a route under both of its paths. The captures are those of the newer one: the older means [`DEFAULT_SPACE`].
    pub(crate) fn both<F, A>(
        &mut self,
        method: Method,
        paths: Paths,
        operation: &'static Operation,
        function: F,
    ) where
        F: Fn(Api, Request) -> A + Clone + Send + Sync + 'static,
        A: Future<Output = Result<Response, Problem>> + Send + 'static,
    {
        let newer = function.clone();
        let older = move |api, mut request: Request| {
            request.captures.insert(0, DEFAULT_SPACE.to_owned());
            function(api, request)
        };
        let route = self.route(method.clone(), paths.old, operation, older);
        self.older.push(route);
        self.single(method, paths.new, operation, newer);
    }

    /// The same, of a handler for several kinds of parts of a schema.
    pub(crate) fn of_kind<F, A>(
        &mut self,
        method: Method,
        paths: Paths,
        operation: &'static Operation,
        kind: SchemaKind,
        function: F,
    ) where
        F: Fn(Api, Request, SchemaKind) -> A + Clone + Send + Sync + 'static,
        A: Future<Output = Result<Response, Problem>> + Send + 'static,
    {
        self.both(method, paths, operation, move |api, request| function(api, request, kind));
    }

    /// The front ends of these beginnings of paths.
    ///
    /// # Panics
    ///
    /// If a route has none of them: a bug.
    pub(crate) fn front_ends(
        self,
        prefixes: &[&'static str],
        refuse: fn(&Refusal, Option<&str>) -> Response,
    ) -> Vec<FrontEnd> {
        let front_end =
            |prefix: &&'static str| FrontEnd { name: "hugegraph", prefix, routes: Vec::new(), refuse };
        let mut front_ends: Vec<_> = prefixes.iter().map(front_end).collect();
        for route in self.described.into_iter().chain(self.older) {
            let end =
                route.path.get(1..).and_then(|rest| rest.find('/')).map_or(route.path.len(), |at| at + 1);
            let first = route.path.get(..end).expect("a slash is one byte");
            let mut owners = front_ends.iter_mut();
            let owner = owners.find(|front_end| front_end.prefix == first);
            owner.unwrap_or_else(|| panic!("no front end has {}", route.path)).routes.push(route);
        }
        front_ends
    }
}

/// Parameters that an operation does not have are passed over, as the original does: clients of several versions send more
/// than each reads.
struct HugeGraph;

impl Frame for HugeGraph {
    type Problem = Problem;
    type Note = ();

    fn note(_: &Request) {}

    fn check(request: &Request) -> Result<(), Problem> {
        Ok(check_untagged(request)?)
    }

    fn answer((): (), answered: Result<Response, Problem>) -> Response {
        answered.unwrap_or_else(|problem| problem.response())
    }
}
