//! The body of a notification: `{"Repository":"default","Hook":"billing","Changes":[{"Cursor":7,"Kind":"Put","ID":"17",
//! "Name":"…","From":"…","To":"…","Points":96}]}`. It has no values: receivers read them.

use lang_json::{ArrayWriter, ObjectWriter};
use model_series::{HookEvent, PointsChange, SeriesChange};
use serde::Serialize;

use crate::times::format_time;

/// One change.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct ChangeShape<'a> {
    /// Grows from change to change until a backup is restored; repeated if a notification is repeated.
    cursor: u64,
    kind: &'static str,
    #[serde(rename = "ID")]
    id: String,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    points: Option<u32>,
}

/// One change as it is written in a notification. Cost: linear.
pub fn change_body(event: &HookEvent) -> Vec<u8> {
    serde_json::to_vec(&change_shape(event)).expect("texts and numbers can always be written")
}

/// The body that notifies a hook of these changes, each a [`change_body`], in order. Cost: linear.
pub fn notification<'a>(
    repository: &str,
    hook: &str,
    changes: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<u8> {
    let mut body = Vec::new();
    let mut members = ObjectWriter::begin(&mut body);
    members.string("Repository", repository);
    members.string("Hook", hook);
    let mut items = ArrayWriter::begin(members.literal("\"Changes\":"));
    for change in changes {
        items.item().extend_from_slice(change);
    }
    items.end();
    members.end();
    body
}

fn change_shape(event: &HookEvent) -> ChangeShape<'_> {
    let HookEvent { number, change, series } = event;
    let (kind, points) = match change {
        SeriesChange::Put(points) => ("Put", Some(points)),
        SeriesChange::Deleted(points) => ("Deleted", Some(points)),
        SeriesChange::Replaced(points) => ("Replaced", Some(points)),
        SeriesChange::Defined(_) => ("Defined", None),
        SeriesChange::Changed(_) => ("Changed", None),
        SeriesChange::Removed(_) => ("Removed", None),
    };
    let range = points.map(|PointsChange { range, .. }| range);
    ChangeShape {
        cursor: *number,
        kind,
        id: series.number.to_string(),
        name: &series.name,
        // An open range has no `From` or no `To`.
        from: range.filter(|range| range.from > i64::MIN).map(|range| format_time(range.from)),
        to: range.filter(|range| range.to < i64::MAX).map(|range| format_time(range.to)),
        points: points.map(|change| change.points),
    }
}
