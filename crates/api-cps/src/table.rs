//! The table of routes while it is made: each line is a route, or two where versions 1 and 2 of the API are the same.

use api_http::{Frame, Operation, Request, RequestStream, Response, Route, check_parameters, check_untagged};
use http::Method;

use crate::problem::Problem;
use crate::state::Api;

/// The two paths of a resource.
#[derive(Clone, Copy)]
pub(crate) struct Paths {
    /// Of version 2.
    pub(crate) new: &'static str,
    /// Of version 1.
    pub(crate) old: &'static str,
}

/// The paths of a resource in versions 1 and 2.
macro_rules! both {
    ($rest:literal) => {
        $crate::table::Paths { new: concat!("/cps/api/v2", $rest), old: concat!("/cps/api/v1", $rest) }
    };
}
pub(crate) use both;

/// The paths of a resource of an anchor, whose dataspace is capture 0, and whose name is capture 1.
macro_rules! of_anchor {
    ($rest:literal) => {
        $crate::table::Paths {
            new: concat!("/cps/api/v2/dataspaces/{dataspace}/anchors/{anchor}", $rest),
            old: concat!("/cps/api/v1/dataspaces/{dataspace}/anchors/{anchor}", $rest),
        }
    };
}
pub(crate) use of_anchor;

/// Routes, of one state.
pub(crate) struct Table<'api> {
    api: &'api Api,
    /// Those that the description of the API lists.
    pub(crate) described: Vec<Route>,
    /// The same in version 1.
    pub(crate) older: Vec<Route>,
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
        self.described.push(Cps::route(self.api, method, path, operation, function));
    }

    /// Adds a route whose handler reads the body piece by piece.
    pub(crate) fn streamed<F, A>(
        &mut self,
        method: Method,
        path: &'static str,
        operation: &'static Operation,
        function: F,
    ) where
        F: Fn(Api, Request, RequestStream) -> A + Clone + Send + Sync + 'static,
        A: Future<Output = Result<Response, Problem>> + Send + 'static,
    {
        self.described.push(Cps::streamed(self.api, method, path, operation, function));
    }

    /// Adds a route to a resource that is the same in both versions.
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
        self.older.push(Cps::route(self.api, method.clone(), paths.old, operation, function.clone()));
        self.single(method, paths.new, operation, function);
    }
}

/// What is done around every handler. What a request to write does not find is a fault of the request: 404 is for reads.
pub(crate) struct Cps;

impl Frame for Cps {
    type Problem = Problem;
    type Note = bool;

    fn note(request: &Request) -> bool {
        matches!(request.method, Method::GET | Method::HEAD)
    }

    fn check(request: &Request) -> Result<(), Problem> {
        check_untagged(request)?;
        Ok(check_parameters(request)?)
    }

    fn answer(is_read: bool, answered: Result<Response, Problem>) -> Response {
        answered.unwrap_or_else(|problem| {
            let problem = if is_read { problem } else { problem.of_write() };
            problem.response()
        })
    }
}
