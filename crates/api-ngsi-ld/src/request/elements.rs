//! The elements of a batch: each read with its context, one context in memory at a time.

use std::collections::HashSet;
use std::sync::Arc;

use api_http::Request;
use lang_ngsi_ld::{BodyError, Rules, parse_entity};
use model_entities::{Deadline, Draft, TenantName, rest};
use tenant_contexts::{Contexts, Names, RequestContext, TenantContexts};

use super::body::Body;
use super::load::deadline;
use super::session::Session;
use crate::problem::{Problem, problem, unnamed};

/// The most different contexts that the elements of a batch may carry.
const CONTEXTS_MAX: usize = 100;
/// Elements parsed before other requests may run.
const ELEMENTS_BETWEEN_RESTS: usize = 128;

/// An element, and the text of its own context.
struct Element<'b> {
    text: &'b str,
    context: Result<Option<&'b str>, Problem>,
}

/// The elements of a batch.
pub(crate) struct Elements<'b>(Vec<Element<'b>>);

/// What was read of the elements of a batch.
pub(crate) struct Parsed<'b> {
    /// Those that are entities.
    pub(crate) drafts: Vec<Draft>,
    /// The texts of the others, and what is wrong with each.
    pub(crate) refused: Vec<(&'b str, Problem)>,
}

/// Finds contexts, one after the other; the last one is cached.
pub(crate) struct Resolver<'a, 'b> {
    all: &'a Contexts,
    contexts: TenantContexts<'a>,
    /// That of elements without their own.
    linked: Arc<RequestContext>,
    last: Option<(&'b str, Result<Arc<RequestContext>, Problem>)>,
    /// The names in the context of the last element that was read.
    names: Option<(Arc<RequestContext>, Arc<Names>)>,
    deadline: Deadline,
}

impl Element<'_> {
    /// The entity, read with the names of its context; or the IRIs of names to intern first.
    fn parse(
        &self,
        names: Result<Arc<Names>, Problem>,
        rules: &Rules,
    ) -> Result<Result<Draft, Vec<String>>, Problem> {
        match parse_entity(self.text, &*names?, rules) {
            Ok(draft) => Ok(Ok(draft)),
            Err(BodyError::Unknown(iris)) => Ok(Err(iris)),
            Err(BodyError::Refused(error)) => Err(error.into()),
        }
    }
}

impl<'b> Elements<'b> {
    /// The elements with these texts. Cost: linear in the body.
    ///
    /// # Errors
    ///
    /// 413 if they have more than [`CONTEXTS_MAX`] different contexts.
    pub(crate) fn new(body: Body<'b>, texts: &[&'b str]) -> Result<Self, Problem> {
        let (mut seen, mut last) = (HashSet::new(), None);
        let mut elements = Vec::with_capacity(texts.len());
        for text in texts {
            let context = body.context_of(text);
            if let Ok(Some(member)) = &context
                && last != Some(*member)
            {
                last = Some(*member);
                seen.insert(*member);
            }
            if seen.len() > CONTEXTS_MAX {
                let detail = format!(
                    "the elements of a batch have more than {CONTEXTS_MAX} different @contexts (CONTEXTS_MAX): send \
                     several batches"
                );
                return Err(Problem::too_large(detail));
            }
            elements.push(Element { text, context });
        }
        Ok(Self(elements))
    }

    /// Whether there is anything to write; `names`: of any tenant.
    ///
    /// # Errors
    ///
    /// 504 behind the deadline.
    pub(crate) async fn any_valid(
        &self,
        names: &Names,
        rules: &Rules,
        contexts: &mut Resolver<'_, 'b>,
    ) -> Result<bool, Problem> {
        for (index, element) in self.0.iter().enumerate() {
            contexts.rest(index).await?;
            if matches!(parse_entity(element.text, names, rules), Err(BodyError::Refused(_))) {
                continue;
            }
            if contexts.of(element).await?.is_ok() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads all elements. Names that the tenant never used are interned in one go.
    ///
    /// # Errors
    ///
    /// 504 behind the deadline; if names cannot be interned.
    pub(crate) async fn parse(
        &self,
        session: &Session,
        rules: &Rules,
        contexts: &mut Resolver<'_, 'b>,
    ) -> Result<Parsed<'b>, Problem> {
        let mut refused = Vec::new();
        let mut slots: Vec<Option<Draft>> = Vec::with_capacity(self.0.len());
        let (mut unknown, mut again) = (HashSet::new(), Vec::new());
        for (index, element) in self.0.iter().enumerate() {
            contexts.rest(index).await?;
            let names = contexts.names(session, element).await?;
            slots.push(match element.parse(names, rules) {
                Ok(Ok(draft)) => Some(draft),
                Ok(Err(iris)) => {
                    unknown.extend(iris);
                    again.push((index, element));
                    None
                }
                Err(problem) => {
                    refused.push((element.text, problem));
                    None
                }
            });
        }
        if !unknown.is_empty() {
            session.intern(&unknown.into_iter().collect::<Vec<_>>()).await?;
        }
        for (index, element) in again {
            contexts.rest(index).await?;
            let names = contexts.names(session, element).await?;
            match element.parse(names, rules) {
                Ok(Ok(draft)) => *slots.get_mut(index).expect("each element has a slot") = Some(draft),
                Ok(Err(_)) => refused.push((element.text, Problem::internal())),
                Err(problem) => refused.push((element.text, problem)),
            }
        }
        Ok(Parsed { drafts: slots.into_iter().flatten().collect(), refused })
    }
}

impl<'a, 'b> Resolver<'a, 'b> {
    /// Contexts of the tenant, for the elements of the request.
    ///
    /// # Errors
    ///
    /// If the context of the `Link` header cannot be had.
    pub(crate) async fn new(
        all: &'a Contexts,
        tenant: &'a TenantName,
        request: &Request,
        body: Body<'_>,
    ) -> Result<Self, Problem> {
        let contexts = all.of(tenant);
        let linked = match body.link(request)? {
            Some(url) => contexts.by_link(url).await?,
            None => RequestContext::core(),
        };
        Ok(Self { all, contexts, linked, last: None, names: None, deadline: deadline(request) })
    }

    /// The context of an element. An error is one of the request; the inner one is an outcome of the element's own.
    async fn of(&mut self, element: &Element<'b>) -> Result<Result<Arc<RequestContext>, Problem>, Problem> {
        let member = match &element.context {
            Err(problem) => return Ok(Err(problem.clone())),
            Ok(None) => return Ok(Ok(Arc::clone(&self.linked))),
            Ok(Some(member)) => *member,
        };
        if let Some((last, context)) = &self.last
            && *last == member
        {
            return Ok(context.clone());
        }
        // The last one is dropped before the next one is made.
        (self.last, self.names) = (None, None);
        self.yield_to_others().await?;
        let context = self.contexts.by_member(member).await.map_err(Problem::from);
        self.last = Some((member, context.clone()));
        Ok(context)
    }

    /// The names in an element's context; errors as of [`Resolver::of`].
    async fn names(
        &mut self,
        session: &Session,
        element: &Element<'b>,
    ) -> Result<Result<Arc<Names>, Problem>, Problem> {
        let context = match self.of(element).await? {
            Ok(context) => context,
            Err(problem) => return Ok(Err(problem)),
        };
        if let Some((of, names)) = &self.names
            && Arc::ptr_eq(of, &context)
        {
            return Ok(Ok(Arc::clone(names)));
        }
        // Where no element is valid, the tenant is not created, and they are read with the default tenant's names.
        let name = session.entities.tenant().to_name();
        let names = self.all.of(&name).names(&context, &session.entities).await;
        self.names = Some((context, Arc::clone(&names)));
        Ok(Ok(names))
    }

    /// Lets other requests run after so many elements.
    async fn rest(&self, index: usize) -> Result<(), Problem> {
        if index % ELEMENTS_BETWEEN_RESTS == ELEMENTS_BETWEEN_RESTS - 1 {
            self.yield_to_others().await
        } else {
            Ok(())
        }
    }

    async fn yield_to_others(&self) -> Result<(), Problem> {
        rest().await;
        self.deadline.check().map_err(|error| problem(&error.into(), unnamed))
    }
}

#[cfg(test)]
mod tests {
    use tenant_contexts::ContextOptions;
    use tenant_contexts::testing::options;

    use super::*;
    use crate::request::body::BodyKind;

    fn elements(count: usize) -> String {
        let element = |n| format!(r#"{{"id":"urn:x:{n}","type":"T","@context":{{"x{n}":"urn:x{n}"}}}}"#);
        format!("[{}]", (0..count).map(element).collect::<Vec<_>>().join(","))
    }

    #[tokio::test]
    async fn only_the_last_context_is_in_memory() {
        let contexts = Contexts::new(ContextOptions { cache_entries: 1, ..options() }).unwrap();
        let (text, request, tenant) = (elements(3), Request::default(), TenantName::default());
        let body = Body { text: &text, kind: BodyKind::JsonLd };
        let texts = lang_ngsi_ld::split_batch(&text, 10).unwrap();
        let elements = Elements::new(body, &texts).unwrap();
        let mut resolver = Resolver::new(&contexts, &tenant, &request, body).await.unwrap();
        let mut before = std::sync::Weak::new();
        for (n, element) in elements.0.iter().enumerate() {
            let context = resolver.of(element).await.unwrap().unwrap();
            assert_eq!(context.expand(&format!("x{n}")), format!("urn:x{n}"));
            assert!(before.upgrade().is_none(), "of element {n}");
            before = Arc::downgrade(&context);
        }
    }

    #[tokio::test]
    async fn the_deadline_holds_between_contexts() {
        let contexts = Contexts::new(options()).unwrap();
        let (text, request) =
            (elements(2), Request { deadline: Some(std::time::Instant::now()), ..Request::default() });
        let (tenant, body) = (TenantName::default(), Body { text: &text, kind: BodyKind::JsonLd });
        let texts = lang_ngsi_ld::split_batch(&text, 10).unwrap();
        let elements = Elements::new(body, &texts).unwrap();
        let mut resolver = Resolver::new(&contexts, &tenant, &request, body).await.unwrap();
        let problem = resolver.of(&elements.0[0]).await.unwrap_err();
        assert_eq!(problem.status, http::StatusCode::GATEWAY_TIMEOUT);
    }

    #[test]
    fn different_contexts_have_a_limit() {
        for (count, fits) in [(CONTEXTS_MAX, true), (CONTEXTS_MAX + 1, false)] {
            let text = elements(count);
            let body = Body { text: &text, kind: BodyKind::JsonLd };
            // The same ones twice are no more.
            let texts = lang_ngsi_ld::split_batch(&text, 1000).unwrap().repeat(2);
            assert_eq!(Elements::new(body, &texts).is_ok(), fits, "{count}");
        }
    }
}
