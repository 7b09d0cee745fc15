//! Stored entities as the wire wants them: canonical text is copied, no JSON tree is built.

mod projection;
mod release;
mod linked;
mod plan;
mod entity;
mod geojson;
mod temporal;

pub(crate) use entity::{targets, write_entities, write_entity};
pub(crate) use geojson::{write_feature, write_features};
pub(crate) use linked::{Ended, Linked, LinkedViews, Targets, Work};
pub(crate) use plan::{Form, Languages, RenderPlan};
pub(crate) use projection::{Members, Projection};
pub(crate) use release::{RELEASE, Release};
pub(crate) use temporal::{write_aggregates, write_past};

/// Appends a time as a JSON string.
pub(crate) fn write_time(out: &mut String, time: model_entities::Timestamp) {
    out.push('"');
    lang_ngsi_ld::time::write_time(out, time);
    out.push('"');
}

/// A JSON object under way: puts the commas.
struct Object<'o> {
    out: &'o mut String,
    any: bool,
}

impl<'o> Object<'o> {
    fn open(out: &'o mut String) -> Self {
        out.push('{');
        Self { out, any: false }
    }

    /// Starts the member whose name, quotes and colon included, is `literal`.
    fn member(&mut self, literal: &str) -> &mut String {
        self.comma();
        self.out.push_str(literal);
        self.out
    }

    /// Starts the member of this name.
    fn named(&mut self, name: &str) -> &mut String {
        self.comma();
        lang_json::write_string(self.out, name);
        self.out.push(':');
        self.out
    }

    fn comma(&mut self) {
        if self.any {
            self.out.push(',');
        }
        self.any = true;
    }

    fn close(self) {
        self.out.push('}');
    }
}

/// Writes IRIs (a canonical JSON string, or an array of them) as the context shortens them.
fn write_iris(out: &mut String, text: &str, names: &tenant_contexts::Names) {
    if let Some(iri) = lang_json::string_value(text) {
        lang_json::write_string(out, &names.compact_iri(&iri));
    } else if text.starts_with('[') {
        out.push('[');
        for (index, element) in lang_json::elements(text).enumerate() {
            if index > 0 {
                out.push(',');
            }
            write_iris(out, element, names);
        }
        out.push(']');
    } else {
        out.push_str(text);
    }
}
