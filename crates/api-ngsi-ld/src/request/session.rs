//! Whose data a request means, and how it spells names.

use std::sync::Arc;

use api_http::Request;
use lang_ngsi_ld::{BodyError, parse_types};
use model_entities::{Change, Entity, Error, Operation, Precondition, TenantEntities, TenantName, Timestamp};
use tenant_contexts::{Names, RequestContext};

use super::conditions::state_condition;
use super::link::context_link;
use crate::problem::{Problem, problem, unnamed, write_problem};
use crate::state::Api;

/// One tenant's entities and names, for the length of a request.
pub(crate) struct Session {
    pub(crate) entities: TenantEntities,
    pub(crate) names: Arc<Names>,
    pub(crate) now: Timestamp,
}

impl Session {
    /// Words a refusal of a read.
    pub(crate) fn problem(&self, error: &Error) -> Problem {
        problem(error, |term| self.names.compact(term))
    }

    /// Words a refusal of a write.
    pub(crate) fn write_problem(&self, error: &Error) -> Problem {
        write_problem(error, |term| self.names.compact(term))
    }
}

/// The tenant that a request names. Cost without the headers: two header look-ups.
pub(crate) fn tenant(request: &Request) -> Result<TenantName, Problem> {
    Ok(api_http::tenant(request, TenantName::new)?)
}

impl Api {
    /// The context of a request without a body. Cost without a `Link` header: one header look-up.
    pub(crate) async fn linked_context(
        &self,
        tenant: &TenantName,
        request: &Request,
    ) -> Result<Arc<RequestContext>, Problem> {
        match context_link(request)? {
            None => Ok(RequestContext::core()),
            Some(url) => Ok(self.shared.contexts.of(tenant).by_link(url).await?),
        }
    }

    /// A session of a tenant that exists.
    pub(crate) async fn session(
        &self,
        tenant: &TenantName,
        context: &Arc<RequestContext>,
    ) -> Result<Session, Problem> {
        let entities = self.shared.entities.tenant(tenant).await.map_err(|error| problem(&error, unnamed))?;
        Ok(self.session_over(tenant, entities, context).await)
    }

    /// Whether a tenant is none yet.
    pub(crate) async fn is_new(&self, tenant: &TenantName) -> Result<bool, Problem> {
        match self.shared.entities.tenant(tenant).await {
            Ok(_) => Ok(false),
            Err(Error::NoSuchTenant(_)) => Ok(true),
            Err(error) => Err(problem(&error, unnamed)),
        }
    }

    /// A session for a request that only reads, or removes: its context comes by `Link`.
    pub(crate) async fn reading(&self, request: &Request) -> Result<Session, Problem> {
        let tenant = tenant(request)?;
        let context = self.linked_context(&tenant, request).await?;
        self.session(&tenant, &context).await
    }

    async fn session_over(
        &self,
        tenant: &TenantName,
        entities: TenantEntities,
        context: &Arc<RequestContext>,
    ) -> Session {
        let names = self.shared.contexts.of(tenant).names(context, &entities).await;
        Session { entities, names, now: self.shared.clock.now() }
    }

    /// A session of a tenant that is created if it is new. `check` says beforehand, with the default tenant's names,
    /// whether there is anything to write: what is refused creates no tenant. Where there is nothing, the session is the
    /// default tenant's, and nothing must be written.
    pub(crate) async fn session_or_create(
        &self,
        tenant: &TenantName,
        context: &Arc<RequestContext>,
        check: impl Fn(&Names) -> Result<bool, Problem> + Send,
    ) -> Result<Session, Problem> {
        let shared = &self.shared;
        let entities = match shared.entities.tenant(tenant).await {
            Err(Error::NoSuchTenant(_)) => {
                let any = self.session(&TenantName::default(), context).await?;
                if !check(&any.names)? {
                    return Ok(any);
                }
                shared.entities.tenant_or_create(tenant).await
            }
            found => found,
        };
        let entities = entities.map_err(|error| problem(&error, unnamed))?;
        Ok(self.session_over(tenant, entities, context).await)
    }
}

impl Session {
    /// What a write to one entity requires of it: the types of the parameter `type` (4.17), and a state that the
    /// headers `If-Match` and `If-None-Match` admit.
    pub(crate) fn precondition(&self, request: &Request) -> Result<Precondition, Problem> {
        let types = request.params.get("type").map(|text| parse_types(text, &self.names));
        Ok(Precondition { types: types.transpose()?.flatten(), state: state_condition(request)? })
    }

    /// The entity with this id, or 404.
    pub(crate) async fn entity(&self, id: &str) -> Result<Entity, Problem> {
        let found = self.entities.get(id, self.now).await.map_err(|error| self.problem(&error))?;
        found.ok_or_else(|| Problem::no_such_entity(id))
    }

    /// Applies an operation to the entity with this id, if it is as required.
    pub(crate) async fn apply(
        &self,
        id: &str,
        required: &Precondition,
        operation: Operation,
    ) -> Result<Change, Problem> {
        let applied = self.entities.apply_if(id, required, operation, self.now).await;
        applied.map_err(|error| match (&error, &required.types) {
            (Error::NoSuchEntity(_), Some(_)) => Problem::not_found(format!(
                "no entity {id:?} of the types that parameter type asks for exists"
            )),
            _ => self.write_problem(&error),
        })
    }

    /// What `parse` reads; names that the tenant never used are interned on the way.
    pub(crate) async fn parse<T>(
        &self,
        parse: impl Fn(&Names) -> Result<T, BodyError> + Send,
    ) -> Result<T, Problem> {
        let unknown = match parse(&self.names) {
            Ok(parsed) => return Ok(parsed),
            Err(BodyError::Refused(error)) => return Err(error.into()),
            Err(BodyError::Unknown(iris)) => iris,
        };
        self.intern(&unknown).await?;
        match parse(&self.names) {
            Ok(parsed) => Ok(parsed),
            Err(BodyError::Refused(error)) => Err(error.into()),
            Err(BodyError::Unknown(iris)) => {
                tracing::error!(?iris, "names are unknown after they were interned");
                Err(Problem::internal())
            }
        }
    }

    /// Interns names (IRIs).
    pub(crate) async fn intern(&self, iris: &[String]) -> Result<(), Problem> {
        let iris: Vec<&str> = iris.iter().map(String::as_str).collect();
        let interned = self.entities.intern(&iris).await;
        interned.map(drop).map_err(|error| self.write_problem(&error))
    }
}
