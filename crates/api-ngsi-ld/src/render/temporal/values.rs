//! Series of values and times (NGSI-LD 4.5.9).

use lang_json::write_string;
use model_entities::{InstanceHistory, Kind, TimeProperty};

use super::instances::null;
use super::write_each;
use crate::render::entity::names;
use crate::render::{Object, RenderPlan, write_iris, write_time};

/// The member that holds the values of a kind.
fn plural(kind: Kind) -> &'static str {
    match kind {
        Kind::Property | Kind::GeoProperty => "\"values\":",
        Kind::Relationship => "\"objects\":",
        Kind::LanguageProperty => "\"languageMaps\":",
        Kind::VocabProperty => "\"vocabs\":",
        Kind::JsonProperty => "\"jsons\":",
        Kind::ListProperty => "\"valueLists\":",
        Kind::ListRelationship => "\"objectLists\":",
    }
}

/// The member that a value of a kind is wrapped in, so that JSON-LD can tell what it is.
fn wrapper(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::LanguageProperty | Kind::VocabProperty | Kind::JsonProperty => Some(names(kind).1),
        Kind::Property
        | Kind::GeoProperty
        | Kind::Relationship
        | Kind::ListProperty
        | Kind::ListRelationship => None,
    }
}

/// Appends an attribute: a series for each datasetId, and for each kind its values were of. A series is never empty.
pub(super) fn write(out: &mut String, series: &[InstanceHistory], time: TimeProperty, plan: &RenderPlan<'_>) {
    let each = series.iter().flat_map(|one| one.kinds().into_iter().map(move |kind| (one, kind)));
    write_each(out, each, |out, (one, kind)| write_series(out, one, kind, time, plan));
}

fn write_series(
    out: &mut String,
    series: &InstanceHistory,
    kind: Kind,
    time: TimeProperty,
    plan: &RenderPlan<'_>,
) {
    let texts = plan.languages.filter(|_| kind == Kind::LanguageProperty);
    let shown = if texts.is_some() { Kind::Property } else { plan.release.kind(kind) };
    let wrapper = wrapper(shown);
    let mut object = Object::begin(out);
    object.literal("\"type\":").push_str(names(shown).0);
    if let Some(dataset) = series.dataset() {
        write_string(object.literal("\"datasetId\":"), dataset);
    }
    let out = object.literal(plural(shown));
    out.push('[');
    let (mut any, mut last, mut text) = (false, kind, String::new());
    let mut like = None;
    for instance in series.instances() {
        // A removal is among the values of its kind.
        if like != Some(instance.likeness()) {
            (like, last) = (Some(instance.likeness()), instance.kind());
        }
        let Some(at) = instance.time(time).filter(|_| last == kind) else { continue };
        out.push_str(if std::mem::replace(&mut any, true) { ",[" } else { "[" });
        if let Some(member) = wrapper {
            out.push('{');
            out.push_str(member);
        }
        if instance.is_deleted() {
            out.push_str(null(shown));
        } else if texts.is_some() || kind == Kind::VocabProperty {
            text.clear();
            instance.write_value(&mut text);
            match texts.and_then(|languages| languages.choose(&text)) {
                Some((_, text)) => out.push_str(text),
                None if kind == Kind::VocabProperty => write_iris(out, &text, plan.names),
                None => out.push_str(&text),
            }
        } else {
            instance.write_value(out);
        }
        out.push_str(if wrapper.is_some() { "}," } else { "," });
        write_time(out, at);
        out.push(']');
    }
    out.push(']');
    object.end();
}
