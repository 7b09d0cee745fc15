//! `/auth/users`: users.

use access::UserDraft;
use api_http::{Operation, Request, Response, no_content};

use super::{LIMIT, created, id, limit, list_answer, members, of_id};
use crate::operation::{DONE, done, json_of, operation};
use crate::problem::Problem;
use crate::routes::ok;
use crate::state::Api;
use crate::wire::users::{self as wire, Members};

/// GET `/auth/users`
pub(crate) const LIST: Operation = operation("auth", "listUsers", "Users by name.")
    .query(&[LIMIT])
    .gives(&[(200, done(json_of("Users")))])
    .refuses(&[400]);

/// GET `/auth/users`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    let users = api.users(&request).await?.list_users(limit(&request)?).await?;
    list_answer("users", &users, wire::user)
}

/// POST `/auth/users`
pub(crate) const CREATE: Operation = operation("auth", "createUser", "Makes a user.")
    .sent(json_of("User"))
    .gives(&[(201, done(json_of("User")))])
    .refuses(&[400, 415]);

/// POST `/auth/users`
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    let draft = draft(members("user", &request)?)?;
    let is_given = |given: &Option<String>| given.as_ref().is_some_and(|given| !given.is_empty());
    if !is_given(&draft.name) {
        return Err(Problem::illegal_argument("The name of user can't be null"));
    }
    if !is_given(&draft.password) {
        return Err(Problem::illegal_argument("The password of user can't be null"));
    }
    let user = api.users_to_change(&request).await?.create_user(draft).await?;
    created(&wire::user(&user))
}

fn draft(mut members: Members) -> Result<UserDraft, Problem> {
    let draft = UserDraft {
        name: members.text("user_name")?,
        password: members.text("user_password")?,
        phone: members.text("user_phone")?,
        email: members.text("user_email")?,
        avatar: members.text("user_avatar")?,
        description: members.text("user_description")?,
    };
    members.end()?;
    Ok(draft)
}

/// GET `/auth/users/{id}`
pub(crate) const GET: Operation =
    operation("auth", "getUser", "One user.").gives(&[(200, done(json_of("User")))]).refuses(&[404]);

/// GET `/auth/users/{id}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    ok(&wire::user(&api.users(&request).await?.get_user(id(&request)).await?))
}

/// PUT `/auth/users/{id}`
pub(crate) const UPDATE: Operation = operation("auth", "updateUser", "Changes a user.")
    .sent(json_of("User"))
    .gives(&[(200, done(json_of("User")))])
    .refuses(&[400, 415]);

/// PUT `/auth/users/{id}`
pub(crate) async fn update(api: Api, request: Request) -> Result<Response, Problem> {
    let mut draft = draft(members("user", &request)?)?;
    // Who sends back what he has read means no new password.
    draft.password = draft.password.filter(|given| given != wire::PASSWORD);
    let UserDraft { password, phone, email, avatar, description, .. } = &draft;
    let is_password = password.as_ref().is_some_and(|given| !given.is_empty());
    if !is_password && [phone, email, avatar, description].into_iter().all(Option::is_none) {
        return Err(Problem::illegal_argument("Expect one of user password/phone/email/avatar]"));
    }
    let users = api.users_to_change(&request).await?;
    let user = users.update_user(id(&request), draft).await.map_err(of_id("user", &request))?;
    ok(&wire::user(&user))
}

/// DELETE `/auth/users/{id}`
pub(crate) const REMOVE: Operation =
    operation("auth", "removeUser", "Removes a user.").gives(DONE).refuses(&[400]);

/// DELETE `/auth/users/{id}`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    let users = api.users_to_change(&request).await?;
    users.delete_user(id(&request)).await.map_err(of_id("user", &request))?;
    Ok(no_content())
}

/// GET `/auth/users/{id}/role`
pub(crate) const ROLE: Operation = operation("auth", "getRole", "What a user may do, by graph and action.")
    .gives(&[(200, done(json_of("Role")))])
    .refuses(&[404]);

/// GET `/auth/users/{id}/role`
pub(crate) async fn role(api: Api, request: Request) -> Result<Response, Problem> {
    ok(&wire::role(&api.users(&request).await?.role_of(id(&request)).await?))
}
