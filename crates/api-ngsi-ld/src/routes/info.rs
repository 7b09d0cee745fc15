//! `/info/sourceIdentity`.

use api_http::{Request, Response};
use lang_json::write_string;

use crate::answer::{answer, json_media};
use crate::media::JSON_LD;
use crate::operation::{declare, done, json_of};
use crate::problem::Problem;
use crate::render::write_time;
use crate::request::tenant;
use crate::state::Api;

/// GET /info/sourceIdentity
pub(crate) const SOURCE_IDENTITY: api_http::Operation =
    declare("broker", "sourceIdentity", "Who this broker is, and since when.")
        .gives(&[(200, done(json_of("SourceIdentity")))])
        .refuses(&[400, 406]);

/// NGSI-LD 6.36.3.1, GET /info/sourceIdentity (5.15.1): who this broker is, and since when.
pub(crate) async fn source_identity(api: Api, request: Request) -> Result<Response, Problem> {
    let media = json_media(&request)?;
    let context = api.linked_context(&tenant(&request)?, &request).await?;
    let shared = &api.shared;
    let now = shared.clock.now();
    let mut out = String::from("{");
    if media == JSON_LD {
        out.push_str("\"@context\":");
        out.push_str(context.member());
        out.push(',');
    }
    out.push_str("\"id\":");
    write_string(&mut out, &format!("urn:ngsi-ld:ContextSourceIdentity:{}", shared.alias));
    out.push_str(",\"type\":\"ContextSourceIdentity\",\"contextSourceAlias\":");
    write_string(&mut out, &shared.alias);
    let seconds = now.0.saturating_sub(shared.started.0).max(0) / 1_000_000;
    out.push_str(",\"contextSourceUptime\":");
    write_string(&mut out, &format!("PT{seconds}S"));
    out.push_str(",\"contextSourceTimeAt\":");
    write_time(&mut out, now);
    out.push('}');
    Ok(answer(media, media == JSON_LD, &context, out))
}
