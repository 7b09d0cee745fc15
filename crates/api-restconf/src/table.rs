//! The table of routes while it is made: each line of an anchor is two routes, below the anchor's own root and below `/restconf`.

use api_http::{Frame, Operation, Request, Response, Route, check_parameters, check_untagged};
use http::Method;

use crate::media::{Accepted, DEFAULT};
use crate::problem::{Problem, check_before_reuse};
use crate::routes::OfDefault;
use crate::state::Api;

/// The two paths of a resource of an anchor.
#[derive(Clone, Copy)]
pub(crate) struct Paths {
    /// Below `/restconf/{dataspace}/{anchor}`.
    pub(crate) named: &'static str,
    /// The same, as descriptions spell it.
    pub(crate) described: &'static str,
    /// Below `/restconf`, of the anchor that the settings name.
    pub(crate) default: &'static str,
}

/// The paths of a resource of an anchor.
macro_rules! of_anchor {
    ($rest:literal) => {
        of_anchor!($rest, $rest)
    };
    ($rest:literal, $described:literal) => {
        $crate::table::Paths {
            named: concat!("/restconf/{dataspace}/{anchor}", $rest),
            described: concat!("/restconf/{dataspace}/{anchor}", $described),
            default: concat!("/restconf", $rest),
        }
    };
}
pub(crate) use of_anchor;

/// Routes, of one state.
pub(crate) struct Table<'api> {
    api: &'api Api,
    pub(crate) routes: Vec<Route>,
    /// What descriptions say of them.
    pub(crate) lines: Vec<api_http::Line>,
}

impl<'api> Table<'api> {
    /// A table without lines.
    pub(crate) fn new(api: &'api Api) -> Self {
        Self { api, routes: Vec::new(), lines: Vec::new() }
    }

    /// Adds a route.
    pub(crate) fn single<F, A>(&mut self, path: &'static str, operation: &'static Operation, function: F)
    where
        F: Fn(Api, Request) -> A + Clone + Send + Sync + 'static,
        A: Future<Output = Result<Response, Problem>> + Send + 'static,
    {
        self.routes.push(Restconf::route(self.api, Method::GET, path, operation, function));
        self.lines.push((Method::GET, path, operation));
    }

    /// Adds a resource of an anchor under both of its paths.
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
        let of_named = function.clone();
        let of_default = move |api, mut request: Request| {
            request.extensions.insert(OfDefault);
            function(api, request)
        };
        self.routes.push(Restconf::route(self.api, method.clone(), paths.named, operation, of_named));
        self.routes.push(Restconf::route(self.api, method.clone(), paths.default, operation, of_default));
        self.lines.push((method, paths.described, operation));
    }
}

/// Problems are worded in the form that is accepted.
struct Restconf;

impl Frame for Restconf {
    type Problem = Problem;
    type Note = Accepted;

    fn note(request: &Request) -> Accepted {
        Accepted::of(request).unwrap_or(DEFAULT)
    }

    fn check(request: &Request) -> Result<(), Problem> {
        check_untagged(request)?;
        Ok(check_parameters(request)?)
    }

    fn answer(accepted: Accepted, answered: Result<Response, Problem>) -> Response {
        let mut answer = answered.unwrap_or_else(|problem| problem.response(accepted));
        check_before_reuse(&mut answer);
        answer
    }
}
