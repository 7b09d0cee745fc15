//! `/schema-sets`: modules of YANG, as one schema.

use api_http::{
    CHUNK_BYTES, Chunks, Given, Operation, Request, RequestStream, Response, chunked_response, no_content,
};
use lang_json::Commas;
use lang_yang::Features;
use model_config::{Configs, Error, Mode, SchemaSetInfo, SchemaSetOptions};
use serde::Serialize;

use super::{created, named, ok};
use crate::media::JSON;
use crate::names::check_name;
use crate::operation::{CREATED, GONE, NAMED, done, form_of, json_list, json_of, operation};
use crate::params::{self, required};
use crate::problem::Problem;
use crate::state::Api;
use crate::upload::{modules, part, read_parts};

/// Schema sets that are read at once: each may have some hundred modules.
const PAGE_SETS: usize = 16;

/// A schema set as it is answered.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SchemaSetDetails<'a> {
    dataspace_name: &'a str,
    module_references: Vec<ModuleReference<'a>>,
    name: &'a str,
}

/// A module as it is answered.
#[derive(Debug, Serialize)]
struct ModuleReference<'a> {
    namespace: &'a str,
    revision: &'a str,
}

/// POST `/v2/dataspaces/{dataspace}/schema-sets`
pub(crate) const CREATE: Operation =
    operation("admin", "createSchemaSet", "Creates a schema set of a .yang file, or of a .zip of them.")
        .query(&[&[params::SCHEMA_SET, params::VALIDATION]])
        .sent(form_of("MultipartFile"))
        .gives(CREATED)
        .refuses(&[400, 409, 413, 415]);

/// POST `/v2/dataspaces/{dataspace}/schema-sets`
pub(crate) async fn create(api: Api, request: Request, body: RequestStream) -> Result<Response, Problem> {
    make(&api, &request, body).await?;
    Ok(created())
}

/// POST `/v1/dataspaces/{dataspace}/schema-sets`
pub(crate) const CREATE_V1: Operation = operation(
    "admin",
    "createSchemaSetV1",
    "Creates a schema set of a .yang file, or of a .zip of them, and answers its name.",
)
.query(&[&[params::SCHEMA_SET, params::VALIDATION]])
.sent(form_of("MultipartFile"))
.gives(NAMED)
.refuses(&[400, 409, 413, 415]);

/// POST `/v1/dataspaces/{dataspace}/schema-sets`
pub(crate) async fn create_v1(api: Api, request: Request, body: RequestStream) -> Result<Response, Problem> {
    make(&api, &request, body).await.map(|name| named(&name))
}

async fn make(api: &Api, request: &Request, body: RequestStream) -> Result<String, Problem> {
    // Read first: a client that still sends does not come to read a refusal.
    let limits = &api.shared.limits;
    let parts = read_parts(request, body, limits).await?;
    let given = Given::of(request);
    let name = required(&given, &params::SCHEMA_SET)?;
    let mode = mode(&given)?;
    check_name(name)?;
    let files = modules(part(&parts, "file")?, limits)?;
    let options = SchemaSetOptions { mode, features: Features::All };
    let configs = api.configs(request).await?;
    let dataspace = request.capture(0);
    let created = Box::pin(configs.create_schema_set(dataspace, name, &files, options)).await;
    created.map_err(|error| match error {
        Error::AlreadyExists { .. } => Problem::schema_set_exists(name, dataspace),
        error => error.into(),
    })?;
    Ok(name.to_owned())
}

/// What data must keep to.
///
/// # Errors
///
/// 400.
pub(crate) fn mode(given: &Given<'_>) -> Result<Mode, Problem> {
    Ok(given.parse(&params::VALIDATION, parse_mode)?.unwrap_or(Mode::Lenient))
}

fn parse_mode(text: &str) -> Result<Mode, String> {
    match text {
        "lenient" => Ok(Mode::Lenient),
        "strict" => Ok(Mode::Strict),
        _ => Err(format!("{text:?} is neither lenient nor strict")),
    }
}

impl<'a> SchemaSetDetails<'a> {
    fn of(dataspace: &'a str, info: &'a SchemaSetInfo) -> Self {
        let reference = |module: &'a model_config::ModuleReference| ModuleReference {
            namespace: &module.namespace,
            revision: &module.revision,
        };
        Self {
            dataspace_name: dataspace,
            module_references: info.modules.iter().map(reference).collect(),
            name: &info.name,
        }
    }
}

/// GET `/dataspaces/{dataspace}/schema-sets`
pub(crate) const LIST: Operation = operation("admin", "getSchemaSets", "The schema sets of a dataspace.")
    .gives(&[(200, done(json_list("SchemaSetDetails")))])
    .refuses(&[400]);

/// GET `/dataspaces/{dataspace}/schema-sets`
pub(crate) async fn list(api: Api, request: Request) -> Result<Response, Problem> {
    let configs = api.configs(&request).await?;
    let listing = Listing { configs, dataspace: request.capture(0).to_owned(), after: None, commas: None };
    let chunks: Chunks<Problem> =
        Box::pin(futures_util::stream::try_unfold(Some(listing), |state| async move {
            let Some(mut listing) = state else { return Ok(None) };
            let mut out = Vec::new();
            let is_more = listing.write(&mut out).await?;
            Ok(Some((out, is_more.then_some(listing))))
        }));
    chunked_response(JSON, api.shared.limits.stall_max, chunks).await
}

/// A list of schema sets on its way into an answer.
struct Listing {
    configs: Configs,
    dataspace: String,
    /// The one that was written last.
    after: Option<String>,
    /// `None` before the first chunk.
    commas: Option<Commas>,
}

impl Listing {
    /// Writes a part; answers whether more is left.
    async fn write(&mut self, out: &mut Vec<u8>) -> Result<bool, Problem> {
        if self.commas.is_none() {
            out.push(b'[');
        }
        let commas = self.commas.get_or_insert_default();
        while out.len() < CHUNK_BYTES {
            let page = (self.after.as_deref(), PAGE_SETS);
            let found = self.configs.some_schema_sets(&self.dataspace, page).await?;
            for info in &found {
                commas.next(out);
                serde_json::to_writer(&mut *out, &SchemaSetDetails::of(&self.dataspace, info))
                    .expect("texts are always JSON, and a vector takes them");
            }
            let Some(last) = found.into_iter().next_back() else {
                out.push(b']');
                return Ok(false);
            };
            self.after = Some(last.name);
        }
        Ok(true)
    }
}

/// GET `/dataspaces/{dataspace}/schema-sets/{schema-set}`
pub(crate) const GET: Operation = operation("admin", "getSchemaSet", "One schema set.")
    .gives(&[(200, done(json_of("SchemaSetDetails")))])
    .refuses(&[400]);

/// GET `/dataspaces/{dataspace}/schema-sets/{schema-set}`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    let dataspace = request.capture(0);
    let found = api.configs(&request).await?.schema_set(dataspace, request.capture(1)).await?;
    ok(&SchemaSetDetails::of(dataspace, &found))
}

/// DELETE `/dataspaces/{dataspace}/schema-sets/{schema-set}`
pub(crate) const REMOVE: Operation =
    operation("admin", "deleteSchemaSet", "Deletes a schema set that no anchor uses.")
        .gives(GONE)
        .refuses(&[400, 409]);

/// DELETE `/dataspaces/{dataspace}/schema-sets/{schema-set}`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    let (dataspace, name) = (request.capture(0), request.capture(1));
    let removed = api.configs(&request).await?.remove_schema_set(dataspace, name).await;
    removed.map_err(|error| match error {
        Error::InUse { .. } => Problem::schema_set_in_use(name, dataspace),
        error => error.into(),
    })?;
    Ok(no_content())
}
