//! `/auth/login`, `/auth/verify` and `/auth/logout`: tokens.

use std::time::Duration;

use access::Proof;
use api_http::{Credentials, CredentialsError, Operation, Request, Response, no_content};
use serde_json::json;

use super::members;
use crate::operation::{DONE, done, json_of, operation};
use crate::problem::Problem;
use crate::routes::{ok, tenant};
use crate::state::Api;

/// POST `/auth/login`
pub(crate) const LOG_IN: Operation = operation("auth", "logIn", "Gives a token for a name and a password.")
    .sent(json_of("Login"))
    .gives(&[(200, done(json_of("Token")))])
    .refuses(&[400, 401, 415]);

/// POST `/auth/login`
pub(crate) async fn log_in(api: Api, request: Request) -> Result<Response, Problem> {
    let mut given = members("login", &request)?;
    let (name, password) = (given.text("user_name")?, given.text("user_password")?);
    let expire = given.number("token_expire")?;
    given.end()?;
    let needed = |what: &str, value: Option<String>| {
        let value = value.filter(|value| !value.is_empty());
        value.ok_or_else(|| Problem::illegal_argument(format!("The {what} of user can't be null")))
    };
    let (name, password) = (needed("name", name)?, needed("password", password)?);
    let duration = duration(expire)?;
    let token = api.shared.users.log_in(&tenant(&request)?, (&name, &password), duration).await?;
    ok(&json!({ "token": token }))
}

/// For how long a token is wanted, said in milliseconds; `None`: zero leaves it to the server.
fn duration(millis: Option<i64>) -> Result<Option<Duration>, Problem> {
    let too_short =
        || Problem::illegal_argument("The token_expire must be at least 1000 ms, or 0 for the longest");
    let Some(millis) = millis.filter(|millis| *millis != 0) else { return Ok(None) };
    let wanted = Duration::from_millis(u64::try_from(millis).map_err(|_| too_short())?);
    // The end of a token is said in seconds: a shorter one would be over at once.
    if wanted < Duration::from_secs(1) { Err(too_short()) } else { Ok(Some(wanted)) }
}

/// DELETE `/auth/logout`
pub(crate) const LOG_OUT: Operation =
    operation("auth", "logOut", "Takes back the token of the request.").gives(DONE).refuses(&[400, 401]);

/// DELETE `/auth/logout`
pub(crate) async fn log_out(api: Api, request: Request) -> Result<Response, Problem> {
    api.shared.users.log_out(&tenant(&request)?, &token(&request)?).await?;
    Ok(no_content())
}

/// The token of a request.
fn token(request: &Request) -> Result<String, Problem> {
    match Credentials::of(request) {
        Ok(Credentials::Token(token)) => Ok(token),
        Err(CredentialsError::Missing) => {
            Err(Problem::illegal_argument("Request header Authorization must not be null"))
        }
        Ok(Credentials::Password { .. }) | Err(CredentialsError::Scheme | CredentialsError::Syntax) => {
            Err(Problem::bad_body("Only HTTP Bearer authentication is supported"))
        }
    }
}

/// GET `/auth/verify`
pub(crate) const VERIFY: Operation = operation("auth", "verify", "Whose token it is.")
    .gives(&[(200, done(json_of("TokenOf")))])
    .refuses(&[400, 401]);

/// GET `/auth/verify`
pub(crate) async fn verify(api: Api, request: Request) -> Result<Response, Problem> {
    let caller = api.shared.users.identify(&tenant(&request)?, Proof::Token(&token(&request)?)).await?;
    ok(&json!({ "user_name": caller.user, "user_id": access::user_id(&caller.user) }))
}
