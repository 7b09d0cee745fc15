//! A query over all anchors of a dataspace: which have matches, and an answer that goes from one to the next.

use std::collections::HashMap;
use std::sync::Arc;

use api_http::{CHUNK_BYTES, Chunks, Request};
use config::query::{Answer, Query};
use lang_cps_path::CpsPath;
use lang_json::write_string;
use model_config::{Anchor, Configs, Deadline, Error, Reading};

use super::answer::{NodesWriter, Shape};
use super::query::{Found, attribute, evaluate, too_many};
use crate::media::Form;
use crate::params::Descendants;
use crate::problem::Problem;
use crate::state::Api;
use crate::wire::values::put_values;

/// So many anchors are listed at once.
const PAGE_ANCHORS: usize = 1_000;

/// The anchors of a dataspace, one after the other.
pub(super) struct Anchors {
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
    pub(super) async fn of(api: &Api, request: &Request) -> Result<Self, Problem> {
        let configs = api.configs(request).await?;
        let dataspace = request.capture(0).to_owned();
        configs.dataspace(&dataspace).await?;
        let anchors_max = api.shared.limits.query_anchors_max;
        Ok(Self { configs, dataspace, names: Vec::new(), after: Some(None), left: anchors_max, anchors_max })
    }

    /// These alone.
    pub(super) fn these(self, mut names: Vec<String>) -> Self {
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
pub(super) struct Search {
    pub(super) path: Arc<CpsPath>,
    /// The path against each schema, by its hash.
    pub(super) queries: HashMap<u128, Arc<Query>>,
    /// The most nodes found in one anchor.
    pub(super) most: usize,
    pub(super) deadline: Deadline,
}

impl Search {
    /// The path against the schema of an anchor; `None` if nothing under it can match.
    fn query(&mut self, anchor: &Anchor) -> Result<Option<Arc<Query>>, Problem> {
        let schema = anchor.schema();
        let query = match self.queries.get(&schema.hash) {
            Some(query) => Arc::clone(query),
            None => {
                let query = Arc::new(Query::new(schema, &self.path)?);
                self.queries.insert(schema.hash, Arc::clone(&query));
                query
            }
        };
        Ok((!query.finds_nothing()).then_some(query))
    }

    /// What is found in the newest version of an anchor, up to so much; `None` if nothing is.
    async fn find(&mut self, anchor: &Anchor, most: usize) -> Result<Option<(Reading, Found)>, Problem> {
        let Some(query) = self.query(anchor)? else { return Ok(None) };
        let reading = match anchor.read(None).await {
            // It was removed meanwhile.
            Err(Error::UnknownAnchor { .. }) => return Ok(None),
            reading => reading?,
        };
        let found = evaluate(&reading, &query, most, self.deadline.clone()).await?;
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
    pub(super) async fn matching(mut self, anchors: &mut Anchors) -> Result<Vec<String>, Problem> {
        let mut names = Vec::new();
        while let Some(anchor) = anchors.next().await? {
            if self.find(&anchor, 1).await?.is_some() {
                names.push(anchor.name().to_owned());
            }
        }
        Ok(names)
    }
}

/// The body of an answer.
pub(super) struct AcrossBody {
    pub(super) search: Search,
    pub(super) anchors: Anchors,
    pub(super) levels: Descendants,
    /// The anchor whose nodes are being written.
    pub(super) under_way: Option<NodesWriter>,
    /// How many anchors are written, or begun; `None` before the first chunk.
    pub(super) written: Option<usize>,
}

impl AcrossBody {
    /// All of it, as a body.
    pub(super) fn chunks(self) -> Chunks<Problem> {
        Box::pin(futures_util::stream::try_unfold(Some(self), |state| async move {
            let Some(mut body) = state else { return Ok(None) };
            let mut out = Vec::new();
            let is_more = body.write(&mut out).await?;
            Ok(Some((out, is_more.then_some(body))))
        }))
    }

    /// Writes a part; answers whether more is left.
    async fn write(&mut self, out: &mut Vec<u8>) -> Result<bool, Problem> {
        if self.written.is_none() {
            self.written = Some(0);
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
                        let query = self.search.query(&anchor)?;
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
        let written = self.written.get_or_insert(0);
        if std::mem::replace(written, *written + 1) > 0 {
            out.push(b',');
        }
        out.extend_from_slice(b"{\"anchorName\":");
        write_string(out, anchor.name());
        out.extend_from_slice(b",\"dataNodes\":");
    }
}
