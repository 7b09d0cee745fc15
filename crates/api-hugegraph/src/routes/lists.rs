//! Lists of elements: what they ask for, page by page, and how they are answered.

use api_http::{Given, Parameter, Request, Response, Share, json_response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use graph::Malformed;
use graph::condition::Condition;
use graph::plan::Stage;
use graph::schema::Schema;
use http::StatusCode;
use model_graph::{Deadline, Found, Matches, PAGE_TOKEN_BYTES_MAX, Reader};
use serde_json::{Map, Value};
use traversals::Lane;

use crate::params;
use crate::problem::{JSON, Problem};
use crate::state::Api;
use crate::wire::conditions::{Calls, conditions_with};
use crate::wire::{Page, put_edge_ref, put_vertex, read_json};

/// Elements of an answer where the client does not say.
const LIMIT_DEFAULT: u64 = 100;
/// So many elements are rendered before memory for the answer is asked for again.
const STEP: usize = 1_024;

/// The parameters of a list.
pub(super) const PARAMETERS: &[Parameter] =
    &[params::LABEL, params::PROPERTIES, params::KEEP_START_P, params::OFFSET, params::PAGE, params::LIMIT];

/// Which part of all matches is wanted.
#[derive(Debug)]
pub(super) struct Paging {
    offset: usize,
    limit: usize,
    /// Page by page: from where on, or from the beginning.
    page: Option<Option<Vec<u8>>>,
}

/// What properties are asked for.
///
/// # Errors
///
/// 400.
pub(super) fn conditions(api: &Api, given: &Given<'_>, schema: &Schema) -> Result<Vec<Condition>, Problem> {
    let Some(text) = given.get(&params::PROPERTIES).filter(|text| !text.is_empty()) else {
        return Ok(Vec::new());
    };
    let properties: Option<Map<String, Value>> = read_json(text.as_bytes())
        .map_err(|_| Problem::illegal_argument(format!("Invalid request with properties: {text}")))?;
    let calls = match params::flag(given, &params::KEEP_START_P, false)? {
        true => Calls::Texts,
        false => Calls::Predicates,
    };
    let properties = properties.into_iter().flatten().collect();
    conditions_with(schema, &properties, api.shared.limits.depth_max, calls)
}

impl Paging {
    /// What a request for a list of these asks for.
    ///
    /// # Errors
    ///
    /// 400.
    pub(super) fn of(given: &Given<'_>, what: &str) -> Result<Self, Problem> {
        let offset = count(given.number(&params::OFFSET, u64::MAX)?.unwrap_or(0));
        let page = given.get(&params::PAGE).map(token).transpose()?;
        if page.is_some() && offset > 0 {
            return Err(Problem::illegal_argument(format!(
                "Not support querying {what} based on paging and offset together"
            )));
        }
        let limit = count(params::limit(given, &params::LIMIT, LIMIT_DEFAULT)?);
        Ok(Self { offset, limit, page })
    }

    /// What a scan asks for.
    ///
    /// # Errors
    ///
    /// 400.
    pub(super) fn of_scan(given: &Given<'_>, (default, max): (u64, u64)) -> Result<Self, Problem> {
        let page = given.get(&params::PAGE).map(token).transpose()?;
        let limit = given.number(&params::PAGE_LIMIT, max)?.unwrap_or(default);
        let limit = if page.is_some() { count(limit) } else { usize::MAX };
        Ok(Self { offset: 0, limit, page })
    }

    /// The matches of a plan, under this name. Memory is reserved as the answer grows; once it takes long, it goes on in the lane.
    ///
    /// # Errors
    ///
    /// 400 for a page of another query; 503; 504.
    pub(super) async fn answer(
        self,
        request: &Request,
        (name, schema): (&str, &Schema),
        (reader, lane): (&Reader, &Lane),
        stages: Vec<Stage>,
    ) -> Result<Response, Problem> {
        let deadline = Deadline::at(request.deadline);
        let matches = match &self.page {
            Some(Some(token)) => reader.matches_from(stages, token, deadline)?,
            Some(None) | None => reader.matches(stages, deadline),
        };
        let mut matches = matches.in_lane(lane.clone());
        if self.offset > 0 {
            matches.skip(self.offset).await?;
        }
        let mut page = Page::begin(name);
        put_matches(&mut page, schema, &mut matches, self.limit, &mut request.memory.share()).await?;
        let out = match self.page {
            None => page.end(),
            Some(_) => page.end_with(matches.token().map(|token| BASE64.encode(token)).as_deref()),
        };
        Ok(json_response(StatusCode::OK, JSON, out))
    }
}

async fn put_matches(
    page: &mut Page,
    schema: &Schema,
    matches: &mut Matches<'_>,
    limit: usize,
    share: &mut Share,
) -> Result<(), Problem> {
    let mut left = limit;
    while left > 0 {
        let wanted = left.min(STEP);
        let mut rendered = Ok(());
        let found = matches
            .next(wanted, |found| {
                if rendered.is_ok() {
                    rendered = put_found(page.item(), schema, found);
                }
            })
            .await?;
        rendered?;
        share.grow(page.out.len()).await?;
        if found < wanted {
            break;
        }
        left -= found;
    }
    Ok(())
}

fn put_found(out: &mut String, schema: &Schema, found: Found<'_>) -> Result<(), Malformed> {
    match found {
        Found::Vertex(vertex) => put_vertex(out, schema, &vertex.id()?, &vertex.view),
        Found::Edge(edge) => put_edge_ref(out, schema, &edge),
    }
}

/// Where to go on; nothing of an empty text.
fn token(text: &str) -> Result<Option<Vec<u8>>, Problem> {
    if text.is_empty() {
        return Ok(None);
    }
    let wrong = || Problem::illegal_argument(format!("Invalid page: '{text}'"));
    if text.len() > PAGE_TOKEN_BYTES_MAX * 2 {
        return Err(wrong());
    }
    BASE64.decode(text).map(Some).map_err(|_| wrong())
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
