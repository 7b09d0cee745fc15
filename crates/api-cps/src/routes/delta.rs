//! `/delta`: how one tree differs from another, and making it so.

use std::sync::Arc;

use api_http::{
    Chunks, Given, Operation, Request, RequestStream, Response, chunked_response, empty_response,
};
use config::delta::{Change, ChangeError, Delta, DeltaFault, DeltaOptions, DeltaProgress, Subject, edits};
use config::query::Address;
use config::{Attempt, Edit, Label, PageCache, Pages, Place, Position, Root, Step, StepAt, Tree};
use http::StatusCode;
use lang_cps_path::CpsPath;
use lang_yang::{
    CompileOptions, Content, DataNode, Features, Leaf, NodeId, Schema, Value, ValueKind, compile,
};
use model_config::{Anchor, Deadline, Pace, Reading};

use super::created;
use super::node::{find, find_on};
use super::writing::{Refused, options, read_body, reserve};
use crate::media::{Form, answer_form, body_form};
use crate::operation::{CREATED_OR_CHECKED, data_of, done, form_of, operation};
use crate::params::{self, Descendants, WRITE, flag, required};
use crate::problem::Problem;
use crate::state::{Api, Limits};
use crate::upload::{modules, part, read_parts};
use crate::wire::delta::{ReportWriter, names_of, read_report};

/// Items of a report that are made at once, and entries that are looked at for them.
const ITEMS_AT_ONCE: usize = 1_000;
const STEPS_AT_ONCE: u64 = 10_000;

/// GET `/v2/dataspaces/{dataspace}/anchors/{anchor}/delta`
pub(crate) const BETWEEN: Operation =
    operation("delta", "getDeltaByDataspaceAndAnchors", "How another anchor differs from this one.")
        .query(&[&[params::TARGET_ANCHOR, params::XPATH, params::DESCENDANTS, params::GROUPING]])
        .gives(&[(200, done(data_of("DeltaReport")))])
        .refuses(&[400, 413]);

/// GET `/v2/dataspaces/{dataspace}/anchors/{anchor}/delta`
pub(crate) async fn between(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let target = required(&given, &params::TARGET_ANCHOR)?;
    let asked = Asked::of(&api, &request, params::descendants(&given)?)?;
    let configs = api.configs(&request).await?;
    let source = configs.anchor(request.capture(0), request.capture(1)).await?.read(None).await?;
    let target = configs.anchor(request.capture(0), target).await?.read(None).await?;
    answer(&api, asked, source, Target::Anchor(target), answer_form(&request)).await
}

/// POST `/v2/dataspaces/{dataspace}/anchors/{anchor}/delta`
pub(crate) const TO_BODY: Operation = operation(
    "delta",
    "getDeltaByDataspaceAnchorAndPayload",
    "How data that are sent differ from this anchor.",
)
.query(&[&[params::XPATH, params::GROUPING]])
.sent(form_of("TargetData"))
.gives(&[(200, done(data_of("DeltaReport")))])
.refuses(&[400, 413, 415]);

/// POST `/v2/dataspaces/{dataspace}/anchors/{anchor}/delta`
pub(crate) async fn to_body(api: Api, request: Request, body: RequestStream) -> Result<Response, Problem> {
    // Read first: a client that still sends does not come to read a refusal.
    let limits = &api.shared.limits;
    let parts = read_parts(&request, body, limits).await?;
    let asked = Asked::of(&api, &request, Descendants::All)?;
    let anchor = api.anchor(&request).await?;
    let lane = anchor.configs().lane();
    let schema = match part(&parts, "yangResourceFile") {
        Ok(file) => {
            let compiled = lane.run(|| {
                let options = CompileOptions { features: Features::All };
                compile(&modules(file, limits)?, &options).map_err(|error| Problem::invalid_yang(&error))
            });
            Arc::new(compiled.await?.schema)
        }
        Err(_) => Arc::clone(anchor.schema()),
    };
    let data = part(&parts, "targetData")?;
    let form = if data.bytes.trim_ascii_start().starts_with(b"<") { Form::Xml } else { Form::Json };
    reserve(&api, &request, (form, &data.bytes)).await?;
    let target = lane.run(|| Made::new(&api, schema, &asked.path, (form, &data.bytes))).await?;
    let form = match request.header("accept") {
        Some(_) => answer_form(&request),
        None => Form::Json,
    };
    answer(&api, asked, anchor.read(None).await?, Target::Made(target), form).await
}

/// What a report is to be about.
struct Asked {
    path: CpsPath,
    options: DeltaOptions,
    deadline: Deadline,
}

impl Asked {
    fn of(api: &Api, request: &Request, levels: Descendants) -> Result<Self, Problem> {
        let given = &Given::of(request);
        let path = lang_cps_path::parse(params::xpath(given));
        let path = path.map_err(|error| Problem::bad_path(error.detail()))?;
        let entries_max = u64::try_from(api.shared.limits.query_nodes_max).unwrap_or(u64::MAX);
        let is_grouped = flag(given, &params::GROUPING)?;
        let options = DeltaOptions { depth: levels.depth(), is_grouped, entries_max };
        Ok(Self { path, options, deadline: Deadline::at(request.deadline) })
    }

    /// The path of what lies above the entries that are compared.
    fn parent_xpath(&self) -> String {
        let mut path = self.path.clone();
        path.steps.pop();
        if path.steps.is_empty() { String::new() } else { path.normalized() }
    }

    /// Where the entries are in trees of a schema; `None` if it has no such.
    fn address(&self, schema: &Schema) -> Result<Option<Address>, Problem> {
        match Address::new(schema, &self.path) {
            Ok(address) => Ok(Some(address)),
            Err(config::query::AddressError::Unknown(_)) => Ok(None),
            Err(error) => Err(Problem::bad_path(error.to_string())),
        }
    }
}

/// What is compared with an anchor.
enum Target {
    Anchor(Reading),
    Made(Made),
}

/// A tree that was made of a body.
struct Made {
    schema: Arc<Schema>,
    root: Root,
    pages: Pages,
}

impl Made {
    /// The tree of data that lie where the last step of a path leads.
    fn new(api: &Api, schema: Arc<Schema>, path: &CpsPath, data: (Form, &[u8])) -> Result<Self, Problem> {
        let mut above = path.clone();
        above.steps.pop();
        let steps = match Address::new(&schema, &above) {
            Ok(Address::Top) => Vec::new(),
            Ok(Address::Entry(steps)) => steps,
            Ok(Address::List { .. }) => {
                return Err(Problem::bad_path(format!(
                    "{above} is a whole list: name one of its entries by its keys"
                )));
            }
            Err(error) => return Err(Problem::bad_path(error.to_string())),
        };
        let content = read_body(api, data, &schema, steps.last().map(|step| step.node))?;
        let content = steps.iter().rev().fold(content, around);
        let (empty, cache) = (Root::empty(), Arc::new(PageCache::new(usize::MAX)));
        let pages = Pages::new(Arc::clone(&cache));
        let top = || Place::Label(Label::top());
        let mut edits =
            vec![Edit::Create { parent: top(), nodes: content.children.into(), at: Position::Last }];
        if !content.leaves.is_empty() {
            edits.push(Edit::SetLeaves { parent: top(), leaves: content.leaves.into() });
        }
        let tree = Tree::new(&schema, &empty, &pages);
        let applied = config::apply(&tree, &edits, Attempt { version: 1, nonce: 0 });
        let applied = applied.map_err(|error| Problem::invalid_data(error.to_string()))?;
        cache.insert_written(&applied.pages);
        Ok(Self { schema, root: applied.root, pages })
    }

    fn tree(&self) -> Tree<'_> {
        Tree::new(&self.schema, &self.root, &self.pages)
    }
}

/// What an entry holds, with the entry around it.
fn around(content: Content, step: &Step) -> Content {
    let keys: &[(NodeId, Box<str>)] = match &step.at {
        StepAt::Keys(keys) => keys,
        StepAt::Only | StepAt::Position(_) => &[],
    };
    let key = |(schema, text): &(NodeId, Box<str>)| {
        let value = Value { kind: ValueKind::Text, text: text.clone() };
        Leaf { schema: *schema, values: vec![value] }
    };
    let mut leaves: Vec<Leaf> = keys.iter().map(key).collect();
    leaves.sort_unstable_by_key(|leaf| leaf.schema);
    leaves.extend(content.leaves);
    let node = DataNode { schema: step.node, content: Content { leaves, children: content.children } };
    Content { leaves: Vec::new(), children: vec![node] }
}

impl Target {
    fn schema(&self) -> &Schema {
        match self {
            Self::Anchor(reading) => reading.anchor().schema(),
            Self::Made(made) => &made.schema,
        }
    }

    fn tree(&self) -> Tree<'_> {
        match self {
            Self::Anchor(reading) => reading.tree(),
            Self::Made(made) => made.tree(),
        }
    }

    async fn load(&self, fault: &config::Fault) -> Result<(), Problem> {
        match self {
            Self::Anchor(reading) => Ok(reading.load(fault).await?),
            // All of its pages are in memory.
            Self::Made(_) => Err(Problem::internal()),
        }
    }

    async fn labels(&self, address: &Address, deadline: Deadline) -> Result<Vec<Label>, Problem> {
        match self {
            Self::Anchor(reading) => Ok(find(reading, address, deadline).await?),
            Self::Made(made) => {
                let mut labels = Vec::new();
                // All of its pages are in memory.
                find_on(&made.tree(), address, &mut labels, || false).map_err(|_| Problem::internal())?;
                Ok(labels)
            }
        }
    }
}

async fn answer(
    api: &Api,
    asked: Asked,
    source: Reading,
    target: Target,
    form: Form,
) -> Result<Response, Problem> {
    let in_source = match asked.address(source.anchor().schema())? {
        Some(address) => find(&source, &address, asked.deadline.clone()).await?,
        None => Vec::new(),
    };
    let in_target = match asked.address(target.schema())? {
        Some(address) => target.labels(&address, asked.deadline.clone()).await?,
        None => Vec::new(),
    };
    let schemas = (&**source.anchor().schema(), target.schema());
    let delta = Delta::new(schemas, &in_source, &in_target, &asked.parent_xpath(), asked.options);
    let pace = Pace::new(Deadline::at(None));
    let entries_max = asked.options.entries_max;
    let body = DeltaBody { source, target, delta, pace, form, entries_max, report: None };
    chunked_response(form.media_type(), api.shared.limits.stall_max, body.chunks()).await
}

/// The body of an answer.
struct DeltaBody {
    source: Reading,
    target: Target,
    delta: Delta,
    pace: Pace,
    form: Form,
    entries_max: u64,
    /// `None` before the first chunk.
    report: Option<ReportWriter>,
}

impl DeltaBody {
    fn chunks(self) -> Chunks<Problem> {
        Box::pin(futures_util::stream::try_unfold(Some(self), |state| async move {
            let Some(mut body) = state else { return Ok(None) };
            let mut out = Vec::new();
            let is_more = body.write(&mut out).await?;
            Ok(Some((out, is_more.then_some(body))))
        }))
    }

    /// Writes some items; answers whether more are left.
    async fn write(&mut self, out: &mut Vec<u8>) -> Result<bool, Problem> {
        let report = self.report.get_or_insert_with(|| ReportWriter::begin(out, self.form));
        let batch = loop {
            let (source, target) = (self.source.tree(), self.target.tree());
            match self.delta.run(&source, &target, ITEMS_AT_ONCE, STEPS_AT_ONCE) {
                Ok(batch) => break batch,
                Err(DeltaFault::Source(fault)) => self.source.load(&fault).await?,
                Err(DeltaFault::Target(fault)) => self.target.load(&fault).await?,
            }
        };
        let schemas = (&**self.source.anchor().schema(), self.target.schema());
        for item in &batch.items {
            report.item(out, schemas, item);
        }
        match batch.progress {
            DeltaProgress::More => {
                self.source.rest(&mut self.pace).await?;
                return Ok(true);
            }
            DeltaProgress::TooMany => {
                let most = self.entries_max;
                return Err(Problem::too_large(format!(
                    "the trees differ in more than {most} nodes (cps_query_nodes_max)"
                )));
            }
            DeltaProgress::Done => {}
        }
        report.end(out);
        Ok(false)
    }
}

/// POST `/v2/dataspaces/{dataspace}/anchors/{anchor}/applyChangesInDeltaReport`
pub(crate) const APPLY: Operation =
    operation("delta", "applyChangesInDeltaReport", "Carries out a report, whole or not at all.")
        .query(&[WRITE])
        .sent(data_of("DeltaReport"))
        .gives(CREATED_OR_CHECKED)
        .refuses(&[400, 409, 413, 415]);

/// POST `/v2/dataspaces/{dataspace}/anchors/{anchor}/applyChangesInDeltaReport`
pub(crate) async fn apply(api: Api, request: Request) -> Result<Response, Problem> {
    let form = body_form(&request)?;
    let options = options(&Given::of(&request))?;
    let anchor = api.anchor(&request).await?;
    reserve(&api, &request, (form, &request.body)).await?;
    let read = || edits_of(&api, &anchor, form, &request.body);
    let edits = anchor.configs().work_on_text(request.body.len(), read).await?;
    let place = (anchor.dataspace(), anchor.name());
    Box::pin(anchor.write_edits(&edits, options))
        .await
        .map_err(|error| Refused::from(error).worded(place))?;
    Ok(if options.dry_run { empty_response(StatusCode::OK) } else { created() })
}

/// What a report comes to.
fn edits_of(api: &Api, anchor: &Anchor, form: Form, body: &[u8]) -> Result<Vec<Edit>, Problem> {
    let schema = anchor.schema();
    let Limits { depth_max, .. } = api.shared.limits;
    let mut changes = Vec::new();
    for item in read_report(form, body, depth_max)? {
        let path = lang_cps_path::parse(&item.xpath).map_err(|error| {
            Problem::bad_request(
                format!("Error while parsing xpath expression '{}'.", item.xpath),
                error.detail(),
            )
        })?;
        let mut names = Vec::new();
        for data in [item.source, item.target].into_iter().flatten() {
            names.extend(names_of(form, data, depth_max)?);
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let subject = Subject::new(schema, &path, item.action, &names)?;
        let read = |data: Option<&str>| {
            data.map(|data| read_body(api, (form, data.as_bytes()), schema, subject.node())).transpose()
        };
        let (source, target) = (read(item.source)?, read(item.target)?);
        changes.push(Change { action: item.action, subject, source, target });
    }
    Ok(edits(schema, changes)?)
}

/// Words why an item of a report cannot be carried out.
impl From<ChangeError> for Problem {
    fn from(error: ChangeError) -> Self {
        match &error {
            ChangeError::Address(address) => Self::bad_path(address.to_string()),
            ChangeError::Misplaced { .. } | ChangeError::NoData(..) | ChangeError::NoKeys(_) => {
                Self::invalid_data(error.to_string())
            }
        }
    }
}
