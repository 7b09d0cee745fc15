//! Bodies: their media type, their text, and the context that goes with them (NGSI-LD 6.3.4, 6.3.5).

use std::sync::{Arc, LazyLock};

use api_http::Request;
use lang_ngsi_ld::{check_json, context_member};
use model_entities::TenantName;
use tenant_contexts::RequestContext;

use super::link::context_link;
use super::session::{Session, tenant};
use crate::problem::Problem;
use crate::state::Api;

/// Finds the name of the context member.
static CONTEXT: LazyLock<memchr::memmem::Finder<'static>> =
    LazyLock::new(|| memchr::memmem::Finder::new("@context"));

/// How a body carries its context.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum BodyKind {
    /// `application/json`: by `Link` header, or not at all.
    Json,
    /// `application/ld+json`: as a member.
    JsonLd,
    /// `application/merge-patch+json`: either way.
    MergePatch,
}

/// A request's body as text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body<'r> {
    pub(crate) text: &'r str,
    pub(crate) kind: BodyKind,
}

/// Reads the body of a POST, PUT or PATCH.
///
/// # Errors
///
/// 415 for another media type or none; InvalidRequest if it is empty or no UTF-8.
pub(crate) fn body(request: &Request) -> Result<Body<'_>, Problem> {
    let kind = match request.content_type() {
        Some(essence) if essence.eq_ignore_ascii_case("application/json") => BodyKind::Json,
        Some(essence) if essence.eq_ignore_ascii_case("application/ld+json") => BodyKind::JsonLd,
        Some(essence) if essence.eq_ignore_ascii_case("application/merge-patch+json") => BodyKind::MergePatch,
        other => {
            return Err(Problem::unsupported_media_type(format!(
                "Content-Type must be application/json or application/ld+json, not {}",
                other.unwrap_or("absent")
            )));
        }
    };
    let text = std::str::from_utf8(&request.body)
        .map_err(|error| Problem::invalid_request(format!("the body is no UTF-8: {error}")))?;
    if text.trim().is_empty() {
        return Err(Problem::invalid_request("the body is empty"));
    }
    Ok(Body { text, kind })
}

impl Body<'_> {
    /// The text of the context member that belongs to `object`, the body or an element of it.
    ///
    /// # Errors
    ///
    /// BadRequestData if it must be there and is not, or the other way round.
    pub(crate) fn context_of<'o>(&self, object: &'o str) -> Result<Option<&'o str>, Problem> {
        // Most bodies have none, which a search finds out faster than a walk over the members.
        let member = match CONTEXT.find(object.as_bytes()) {
            Some(_) => context_member(object)?,
            None => None,
        };
        match (self.kind, member) {
            (BodyKind::JsonLd, None) => {
                Err(Problem::bad_request("an application/ld+json body must have the member @context"))
            }
            (BodyKind::Json, Some(_)) => Err(Problem::bad_request(
                "an application/json body must not have the member @context: use application/ld+json",
            )),
            (_, member) => Ok(member),
        }
    }

    /// The URL in the request's `Link` header.
    ///
    /// # Errors
    ///
    /// BadRequestData if it is there beside an `application/ld+json` body.
    pub(crate) fn link<'r>(&self, request: &'r Request) -> Result<Option<&'r str>, Problem> {
        match (self.kind, context_link(request)?) {
            (BodyKind::JsonLd, Some(_)) => Err(Problem::bad_request(
                "an application/ld+json body takes no Link header: its @context is a member",
            )),
            (_, link) => Ok(link),
        }
    }
}

impl Api {
    /// The context of a tenant's request whose body is one object.
    pub(crate) async fn body_context(
        &self,
        tenant: &TenantName,
        request: &Request,
        body: Body<'_>,
    ) -> Result<Arc<RequestContext>, Problem> {
        let link = body.link(request)?;
        let contexts = self.shared.contexts.of(tenant);
        if body.kind == BodyKind::JsonLd {
            // A body that is not JSON is refused as such, before a context is looked for.
            check_json(body.text)?;
        }
        match (body.context_of(body.text)?, link) {
            (Some(member), _) => Ok(contexts.by_member(member).await?),
            (None, Some(url)) => Ok(contexts.by_link(url).await?),
            (None, None) => Ok(RequestContext::core()),
        }
    }

    /// A session for a write to an entity that must exist, so that its tenant must, too.
    pub(crate) async fn writing(&self, request: &Request, body: Body<'_>) -> Result<Session, Problem> {
        let tenant = tenant(request)?;
        let context = self.body_context(&tenant, request, body).await?;
        self.session(&tenant, &context).await
    }
}
