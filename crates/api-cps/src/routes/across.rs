//! `/nodes/query` of a dataspace: which anchors have matches, and an answer that goes from one to the next.

use std::collections::HashMap;
use std::sync::Arc;

use api_http::{CHUNK_BYTES, Chunks, Given, Operation, Request, Response, WHOLE_BYTES_MAX, chunked_response};
use config::query::{Answer, Query};
use http::HeaderValue;
use lang_cps_path::CpsPath;
use lang_json::{Commas, write_string};
use model_config::{Anchor, Configs, Deadline, Error, Reading};

use super::answer::{NodesWriter, Shape};
use super::query::{Bounds, Found, attribute, evaluate, path, too_many};
use crate::media::{Form, JSON};
use crate::operation::{done, json_list, operation};
use crate::params::{self, Descendants};
use crate::problem::Problem;
use crate::state::Api;
use crate::wire::values::put_values;

/// So many anchors are listed at once.
const PAGE_ANCHORS: usize = 1_000;

/// GET `/v2/dataspaces/{dataspace}/nodes/query`
pub(crate) const GET: Operation = operation(
    "query",
    "getNodesByDataspaceAndCpsPath",
    "The nodes that a CPS path finds in all anchors of a dataspace, by anchor; with the header total-pages.",
)
.query(&[&[params::CPS_PATH, params::DESCENDANTS, params::PAGE_INDEX, params::PAGE_SIZE]])
.gives(&[(200, done(json_list("NodesOfAnchor")))])
.refuses(&[400, 413]);

/// GET `/v2/dataspaces/{dataspace}/nodes/query`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let path = path(&given)?;
    let levels = params::descendants(&given)?;
    let page = params::page(&given)?;
    let deadline = Deadline::at(request.deadline);
    let most = api.shared.limits.query_nodes_max;
    let search = Search { path: Arc::new(path), queries: HashMap::new(), refused: None, most, deadline };
    let mut anchors = Anchors::of(&api, &request).await?;
    let mut pages = 1;
    if let Some(page) = page {
        let matching = search.clone().matching(&mut anchors).await?;
        let size = usize::try_from(page.size).unwrap_or(usize::MAX);
        pages = matching.len().div_ceil(size).max(1);
        let before = usize::try_from(page.index - 1).unwrap_or(usize::MAX).saturating_mul(size);
        anchors = anchors.these(matching.into_iter().skip(before).take(size).collect());
    }
    let body = AcrossBody { search, anchors, levels, under_way: None, commas: None, written: 0 };
    let mut response = chunked_response(JSON, api.shared.limits.stall_max, body.chunks()).await?;
    response.headers_mut().insert("total-pages", HeaderValue::from(pages));
    Ok(response)
}

/// The anchors of a dataspace, one after the other.
struct Anchors {
    configs: Configs,
    dataspace: String,
    /// Those that are next, the first one last.
    names: Vec<String>,
    /// Behind which name more are listed; `None`: there are no more.
    after: Option<Option<String>>,
    /// How many may still be looked at.
    left: usize,
    anchors_max: usize,
}

impl Anchors {
    /// All of them.
    ///
    /// # Errors
    ///
    /// 400 if there is no such dataspace.
    async fn of(api: &Api, request: &Request) -> Result<Self, Problem> {
        let configs = api.configs(request).await?;
        let dataspace = request.capture(0).to_owned();
        configs.dataspace(&dataspace).await?;
        let anchors_max = api.shared.limits.query_anchors_max;
        Ok(Self { configs, dataspace, names: Vec::new(), after: Some(None), left: anchors_max, anchors_max })
    }

    /// These alone.
    fn these(self, mut names: Vec<String>) -> Self {
        names.reverse();
        Self { names, after: None, left: self.anchors_max, ..self }
    }

    /// The next; one that was removed meanwhile is passed over.
    async fn next(&mut self) -> Result<Option<Anchor>, Problem> {
        loop {
            let Some(name) = self.next_name().await? else { return Ok(None) };
            match self.configs.anchor(&self.dataspace, &name).await {
                Ok(anchor) => return Ok(Some(anchor)),
                Err(Error::UnknownAnchor { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn next_name(&mut self) -> Result<Option<String>, Problem> {
        if let (true, Some(after)) = (self.names.is_empty(), self.after.take()) {
            let listed =
                self.configs.anchors(&self.dataspace, None, (after.as_deref(), PAGE_ANCHORS)).await?;
            self.names = listed.into_iter().rev().map(|info| info.name).collect();
            self.after = self.names.first().cloned().map(Some);
        }
        let Some(name) = self.names.pop() else { return Ok(None) };
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            let most = self.anchors_max;
            Problem::too_large(format!("the dataspace has more than {most} anchors (cps_query_anchors_max)"))
        })?;
        Ok(Some(name))
    }
}

/// A path that is looked for in many anchors.
#[derive(Clone)]
struct Search {
    path: Arc<CpsPath>,
    /// The path against each schema, by its hash; `None`: it cannot be asked there.
    queries: HashMap<u128, Option<Arc<Query>>>,
    /// Why it cannot, the first time.
    refused: Option<Problem>,
    /// The most nodes found in one anchor.
    most: usize,
    deadline: Deadline,
}

impl Search {
    /// The path against the schema of an anchor; `None` if nothing under it can match.
    fn query(&mut self, anchor: &Anchor) -> Option<Arc<Query>> {
        let schema = anchor.schema();
        let query = match self.queries.get(&schema.hash) {
            Some(query) => query.clone(),
            None => {
                let query = match Query::new(schema, &self.path) {
                    Ok(query) => Some(Arc::new(query)),
                    Err(error) => {
                        self.refused.get_or_insert_with(|| error.into());
                        None
                    }
                };
                self.queries.insert(schema.hash, query.clone());
                query
            }
        };
        query.filter(|query| !query.finds_nothing())
    }

    /// Checks that the path can be asked of some schema that was met, if any was.
    ///
    /// # Errors
    ///
    /// 400.
    fn check(&mut self) -> Result<(), Problem> {
        match self.refused.take() {
            Some(problem) if self.queries.values().all(Option::is_none) => Err(problem),
            _ => Ok(()),
        }
    }

    /// What is found in the newest version of an anchor, up to so much; `None` if nothing is.
    async fn find(&mut self, anchor: &Anchor, most: usize) -> Result<Option<(Reading, Found)>, Problem> {
        let Some(query) = self.query(anchor) else { return Ok(None) };
        let reading = match anchor.read(None).await {
            // It was removed meanwhile.
            Err(Error::UnknownAnchor { .. }) => return Ok(None),
            reading => reading?,
        };
        let bounds = Bounds { most, deadline: self.deadline.clone() };
        // One anchor's values at a time: what the request holds would only grow.
        let found = evaluate(&reading, &query, (bounds, None)).await?;
        let is_empty = match &found {
            Found::TooMany => false,
            Found::All(Answer::Entries(labels)) => labels.is_empty(),
            Found::All(Answer::Values(values)) => values.is_empty(),
        };
        Ok((!is_empty).then_some((reading, found)))
    }

    /// The names of the anchors in which something is found.
    ///
    /// # Errors
    ///
    /// 400, 413.
    async fn matching(mut self, anchors: &mut Anchors) -> Result<Vec<String>, Problem> {
        let mut names = Vec::new();
        while let Some(anchor) = anchors.next().await? {
            if self.find(&anchor, 1).await?.is_some() {
                names.push(anchor.name().to_owned());
            }
        }
        self.check()?;
        Ok(names)
    }
}

/// The body of an answer.
struct AcrossBody {
    search: Search,
    anchors: Anchors,
    levels: Descendants,
    /// The anchor whose nodes are being written.
    under_way: Option<NodesWriter>,
    /// Between the anchors; `None` before the first chunk.
    commas: Option<Commas>,
    /// Bytes of the chunks so far.
    written: usize,
}

impl AcrossBody {
    /// All of it, as a body.
    fn chunks(self) -> Chunks<Problem> {
        Box::pin(futures_util::stream::try_unfold(Some(self), |state| async move {
            let Some(mut body) = state else { return Ok(None) };
            let mut out = Vec::new();
            let is_more = body.write(&mut out).await?;
            body.written += out.len();
            // What is sent may take longer than a request: the server bounds answers under way by themselves.
            if body.written > WHOLE_BYTES_MAX {
                body.search.deadline = Deadline::at(None);
            }
            Ok(Some((out, is_more.then_some(body))))
        }))
    }

    /// Writes a part; answers whether more is left.
    async fn write(&mut self, out: &mut Vec<u8>) -> Result<bool, Problem> {
        if self.commas.is_none() {
            self.commas = Some(Commas::default());
            out.push(b'[');
        }
        while out.len() < CHUNK_BYTES {
            if let Some(writer) = &mut self.under_way {
                if !writer.write(out).await? {
                    self.under_way = None;
                    out.push(b'}');
                }
                continue;
            }
            let Some(anchor) = self.anchors.next().await? else {
                self.search.check()?;
                out.push(b']');
                return Ok(false);
            };
            let most = self.search.most;
            if let Some((reading, found)) = self.search.find(&anchor, most).await? {
                self.begin(out, &anchor);
                match found {
                    Found::TooMany => return Err(too_many(most)),
                    Found::All(Answer::Entries(labels)) => {
                        let shape = (Shape::List, Form::Json);
                        self.under_way = Some(NodesWriter::new(reading, labels, self.levels, shape));
                    }
                    Found::All(Answer::Values(values)) => {
                        let query = self.search.query(&anchor);
                        let name = query.as_deref().map_or("", attribute);
                        put_values(out, (name, Form::Json), &values);
                        out.push(b'}');
                    }
                }
            }
        }
        Ok(true)
    }

    fn begin(&mut self, out: &mut Vec<u8>, anchor: &Anchor) {
        self.commas.get_or_insert_default().next(out);
        out.extend_from_slice(b"{\"anchorName\":");
        write_string(out, anchor.name());
        out.extend_from_slice(b",\"dataNodes\":");
    }
}
