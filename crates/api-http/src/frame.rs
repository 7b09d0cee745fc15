//! What a front end does around each of its handlers.

use http::Method;

use crate::incoming::RequestStream;
use crate::router::{Route, handler, streamed_handler};
use crate::{Operation, Request, Response};

/// What a front end does around its handlers: what it checks before, and how it answers where they refuse.
///
/// ```
/// use api_http::{
///     Frame, FrontEnd, Operation, Request, Response, Router, check_parameters, json_response, plain_refusal,
/// };
/// use http::{Method, StatusCode};
///
/// struct Greetings;
///
/// impl Frame for Greetings {
///     type Problem = String;
///     type Note = ();
///
///     fn note(_: &Request) {}
///
///     fn check(request: &Request) -> Result<(), String> {
///         check_parameters(request).map_err(|error| format!("{error:?}"))
///     }
///
///     fn answer((): (), answered: Result<Response, String>) -> Response {
///         answered.unwrap_or_else(|problem| json_response(StatusCode::BAD_REQUEST, "text/plain", problem))
///     }
/// }
///
/// const GREET: Operation = Operation::new("greetings", "greet", "Greets.");
///
/// async fn greet(name: &'static str, _: Request) -> Result<Response, String> {
///     Ok(json_response(StatusCode::OK, "text/plain", format!("hello, {name}")))
/// }
///
/// let routes = vec![Greetings::route(&"world", Method::GET, "/greetings", &GREET, greet)];
/// let front_end = FrontEnd { name: "greetings", prefix: "/greetings", routes, refuse: plain_refusal };
/// assert!(Router::new(vec![front_end]).find(&Method::GET, "/greetings").is_ok());
/// ```
pub trait Frame: 'static {
    /// How the front end words a refusal.
    type Problem: Send + 'static;
    /// What the answer needs of a request that the handler takes.
    type Note: Send + 'static;

    /// Notes it.
    fn note(request: &Request) -> Self::Note;

    /// Checks what can be checked of any request before its handler sees it.
    ///
    /// # Errors
    ///
    /// What is wrong.
    fn check(request: &Request) -> Result<(), Self::Problem>;

    /// Makes the answer of what the handler, or the check, came to.
    fn answer(note: Self::Note, answered: Result<Response, Self::Problem>) -> Response;

    /// A route whose handler gets the body whole.
    fn route<S, F, A>(
        state: &S,
        method: Method,
        path: &'static str,
        operation: &'static Operation,
        function: F,
    ) -> Route
    where
        S: Clone + Send + Sync + 'static,
        F: Fn(S, Request) -> A + Clone + Send + Sync + 'static,
        A: Future<Output = Result<Response, Self::Problem>> + Send + 'static,
    {
        let answer = move |state: S, request: Request| {
            let function = function.clone();
            async move {
                let note = Self::note(&request);
                let answered = match Self::check(&request) {
                    Ok(()) => function(state, request).await,
                    Err(problem) => Err(problem),
                };
                Self::answer(note, answered)
            }
        };
        Route { method, path, operation, handler: handler(state, answer), is_admin: false }
    }

    /// A route whose handler reads the body piece by piece. Of a body that the check refuses, some is read on
    /// ([`DRAIN_BYTES_MAX`]), so that the client comes to read the answer.
    fn streamed<S, F, A>(
        state: &S,
        method: Method,
        path: &'static str,
        operation: &'static Operation,
        function: F,
    ) -> Route
    where
        S: Clone + Send + Sync + 'static,
        F: Fn(S, Request, RequestStream) -> A + Clone + Send + Sync + 'static,
        A: Future<Output = Result<Response, Self::Problem>> + Send + 'static,
    {
        let answer = move |state: S, request: Request, body: RequestStream| {
            let function = function.clone();
            async move {
                let note = Self::note(&request);
                let answered = match Self::check(&request) {
                    Ok(()) => function(state, request, body).await,
                    Err(problem) => {
                        body.drain(DRAIN_BYTES_MAX).await;
                        Err(problem)
                    }
                };
                Self::answer(note, answered)
            }
        };
        Route { method, path, operation, handler: streamed_handler(state, answer), is_admin: false }
    }
}

/// What is read on of a refused body that comes in pieces.
pub const DRAIN_BYTES_MAX: u64 = 256 * 1024 * 1024;
