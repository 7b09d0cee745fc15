//! Stored entities as the wire wants them: canonical text is copied, no JSON tree is built.

mod projection;
mod release;
mod linked;
mod plan;
mod entity;
mod geojson;
mod temporal;

pub(crate) use entity::{names as names_of_kind, targets, write_entities, write_entity};
pub(crate) use geojson::{write_feature, write_features};
pub(crate) use linked::{Ended, Linked, LinkedViews, Targets, Work};
pub(crate) use plan::{Form, Languages, RenderPlan};
pub(crate) use projection::{Members, Projection};
pub(crate) use release::{RELEASE, Release};
pub(crate) use temporal::{write_aggregates, write_history};

use lang_json::{ArrayWriter, ObjectWriter};

/// Appends a time as a JSON string.
pub(crate) fn write_time(out: &mut String, time: model_entities::Timestamp) {
    out.push('"');
    lang_ngsi_ld::time::write_time(out, time);
    out.push('"');
}

/// A JSON object under way.
type Object<'o> = ObjectWriter<'o, String>;

/// Writes IRIs (a canonical JSON string, or an array of them) as the context shortens them.
fn write_iris(out: &mut String, text: &str, names: &tenant_contexts::Names) {
    if let Some(iri) = lang_json::string_value(text) {
        lang_json::write_string(out, &names.compact_iri(&iri));
    } else if text.starts_with('[') {
        let mut array = ArrayWriter::begin(out);
        for element in lang_json::elements(text) {
            write_iris(array.item(), element, names);
        }
        array.end();
    } else {
        out.push_str(text);
    }
}
