//! `/info/sourceIdentity`.

use api_http::{Request, Response};
use lang_json::ObjectWriter;

use crate::answer::{answer, json_media};
use crate::media::JSON_LD;
use crate::operation::{declare, done, json_of};
use crate::problem::Problem;
use crate::render::write_time;
use crate::request::tenant;
use crate::state::Api;

/// GET /info/sourceIdentity
pub(crate) const SOURCE_IDENTITY: api_http::Operation =
    declare("broker", "sourceIdentity", "Which broker this is, and how long it has run.")
        .gives(&[(200, done(json_of("SourceIdentity")))])
        .refuses(&[400, 406]);

/// NGSI-LD 6.36.3.1, GET /info/sourceIdentity (5.15.1): who this broker is, and since when.
pub(crate) async fn source_identity(api: Api, request: Request) -> Result<Response, Problem> {
    let media = json_media(&request)?;
    let context = api.linked_context(&tenant(&request)?, &request).await?;
    let shared = &api.shared;
    let now = shared.clock.now();
    let mut out = String::new();
    let mut identity = ObjectWriter::begin(&mut out);
    if media == JSON_LD {
        identity.raw("@context", context.member());
    }
    identity.string("id", &format!("urn:ngsi-ld:ContextSourceIdentity:{}", shared.alias));
    identity.string("type", "ContextSourceIdentity");
    identity.string("contextSourceAlias", &shared.alias);
    let seconds = now.0.saturating_sub(shared.started.0).max(0) / 1_000_000;
    identity.string("contextSourceUptime", &format!("PT{seconds}S"));
    write_time(identity.member("contextSourceTimeAt"), now);
    identity.end();
    Ok(answer(media, media == JSON_LD, &context, out))
}
