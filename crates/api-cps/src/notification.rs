//! Change events as CPS sends them: CloudEvents 1.0 of the type `CpsDataUpdatedEvent`, structured as they wait for receivers, and in
//! the binary mode that Kafka's consumers of CPS expect.

use lang_json::ObjectWriter;
use lang_time::{Fraction, UnixTime};
use model_config::{Action, ConfigChange, Timestamp};

/// Who says so (CloudEvents, attribute `source`).
const SOURCE: &str = "CPS";
/// What it is (attribute `type`): the name that consumers of CPS know.
const TYPE: &str = "org.onap.cps.events.model.CpsDataUpdatedEvent";
/// What its data look like (attribute `dataschema`).
const DATA_SCHEMA: &str = "urn:cps:org.onap.cps.events.model.CpsDataUpdatedEvent:1.0.0";
/// The media type of a batch of events (CloudEvents HTTP binding, 3.3).
pub const EVENTS_MEDIA_TYPE: &str = "application/cloudevents-batch+json";

/// What happened at one place of an anchor.
#[derive(Clone, Copy, Debug)]
pub struct PlaceChange<'a> {
    /// What became of it.
    pub action: Action,
    /// Where.
    pub xpath: &'a str,
    /// What it was and what it is, as JSON, where that is told.
    pub data: Option<PlaceData<'a>>,
}

/// What a place was, and what it is.
#[derive(Clone, Copy, Debug)]
pub struct PlaceData<'a> {
    /// Before, unless it is new.
    pub source: Option<&'a str>,
    /// Now, unless it is gone.
    pub target: Option<&'a str>,
}

/// An event as a Kafka record has it (CloudEvents Kafka binding, 3.2).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KafkaEvent {
    /// `dataspace:anchor`: events of one anchor stay in order.
    pub key: String,
    /// Attributes of the event, each with `ce_` before its name; and the type of the value.
    pub headers: Vec<(&'static str, String)>,
    /// Its data, JSON.
    pub value: String,
}

/// The event of the place at `index` among those of a change, as JSON. The same change has the same events, whoever words them and however
/// often: consumers can tell doubles by `id`. Cost: linear.
pub fn change_event(change: &ConfigChange, index: usize, place: &PlaceChange<'_>) -> String {
    let mut out = String::with_capacity(512);
    let mut event = ObjectWriter::begin(&mut out);
    event.raw("specversion", "\"1.0\"");
    event.string("id", &id(change, index));
    event.string("source", SOURCE);
    event.string("type", TYPE);
    event.string("dataschema", DATA_SCHEMA);
    event.string("time", &lang_time::format(UnixTime::from_micros(change.at.0), Fraction::Groups));
    event.string("datacontenttype", "application/json");
    event.string("correlationid", &key(change));
    let mut data = ObjectWriter::begin(event.member("data"));
    write_payload(change, place, data.member("eventPayload"));
    data.end();
    event.end();
    out
}

/// Events, each a [`change_event`], as the body of one request. Cost: linear.
pub fn events_body<'a>(events: impl IntoIterator<Item = &'a str>) -> String {
    let mut out = String::new();
    let mut items = lang_json::ArrayWriter::begin(&mut out);
    for event in events {
        items.raw(event);
    }
    items.end();
    out
}

/// An event, worded by [`change_event`], as a Kafka record has it. `None` if it is none. Cost: linear.
pub fn kafka_event(event: &str) -> Option<KafkaEvent> {
    let text = |name: &str| lang_json::string_value(lang_json::member(event, name)?).map(String::from);
    let key = text("correlationid")?;
    let headers = vec![
        ("ce_specversion", text("specversion")?),
        ("ce_id", text("id")?),
        ("ce_source", text("source")?),
        ("ce_type", text("type")?),
        ("ce_dataschema", text("dataschema")?),
        ("ce_time", text("time")?),
        ("ce_correlationid", key.clone()),
        ("content-type", text("datacontenttype")?),
    ];
    Some(KafkaEvent { key, headers, value: lang_json::member(event, "data")?.to_owned() })
}

/// Names a place of a version for ever: versions are of one life of an anchor, and a backup that is restored goes on at another time.
fn id(change: &ConfigChange, index: usize) -> String {
    let version = change.after.map_or(change.before.0, |after| after.0);
    let kind = if change.after.is_some() { "v" } else { "r" };
    format!("{:016x}-{kind}{version}-{:x}-{index}", change.number, change.at.0)
}

fn key(change: &ConfigChange) -> String {
    format!("{}:{}", change.dataspace, change.anchor)
}

fn write_payload(change: &ConfigChange, place: &PlaceChange<'_>, out: &mut String) {
    let mut payload = ObjectWriter::begin(out);
    payload.string("observedTimestamp", &observed_text(change.observed.unwrap_or(change.at)));
    payload.string("dataspaceName", &change.dataspace);
    payload.string("schemaSetName", &change.schema_set);
    payload.string("anchorName", &change.anchor);
    payload.string("action", action_name(place.action));
    payload.string("xpath", place.xpath);
    if let Some(PlaceData { source, target }) = place.data {
        let mut data = ObjectWriter::begin(payload.member("cloudEventData"));
        for (name, text) in [("sourceData", source), ("targetData", target)] {
            if let Some(text) = text {
                data.string(name, text);
            }
        }
        data.end();
    }
    payload.end();
}

fn action_name(action: Action) -> &'static str {
    match action {
        Action::Create => "create",
        Action::Replace => "replace",
        Action::Remove => "remove",
    }
}

/// A time as CPS writes it: `2026-05-04T10:00:00.000+0000`.
fn observed_text(time: Timestamp) -> String {
    // Digits below the millisecond are cut off, as CPS does; one of zero is written all the same.
    let seconds = UnixTime::from_micros(time.0.div_euclid(1_000_000) * 1_000_000);
    let text = lang_time::format(seconds, Fraction::Groups);
    let whole = text.strip_suffix('Z').expect("times in UTC end so");
    format!("{whole}.{:03}+0000", time.0.rem_euclid(1_000_000) / 1_000)
}

#[cfg(test)]
mod tests {
    use model_config::VersionId;

    use super::*;

    fn change() -> ConfigChange {
        ConfigChange {
            dataspace: "my \"space\"".into(),
            anchor: "a".into(),
            schema_set: "s".into(),
            number: 0xab,
            before: VersionId(6),
            after: Some(VersionId(7)),
            at: Timestamp(1_000_000),
            observed: Some(Timestamp(1_767_225_600_030_999)),
            places: Vec::new(),
            is_cut: false,
        }
    }

    #[test]
    fn an_event_has_the_members_that_consumers_of_cps_read() {
        let place = PlaceChange { action: Action::Replace, xpath: "/a[@k='1']", data: None };
        let event: serde_json::Value = serde_json::from_str(&change_event(&change(), 3, &place)).unwrap();
        let expected = serde_json::json!({
            "specversion": "1.0",
            "id": "00000000000000ab-v7-f4240-3",
            "source": "CPS",
            "type": "org.onap.cps.events.model.CpsDataUpdatedEvent",
            "dataschema": "urn:cps:org.onap.cps.events.model.CpsDataUpdatedEvent:1.0.0",
            "time": "1970-01-01T00:00:01Z",
            "datacontenttype": "application/json",
            "correlationid": "my \"space\":a",
            "data": {"eventPayload": {
                "observedTimestamp": "2026-01-01T00:00:00.030+0000",
                "dataspaceName": "my \"space\"",
                "schemaSetName": "s",
                "anchorName": "a",
                "action": "replace",
                "xpath": "/a[@k='1']",
            }},
        });
        assert_eq!(event, expected);
    }

    #[test]
    fn what_was_and_what_is_are_texts_of_json() {
        let data = PlaceData { source: None, target: Some("{\"a\":\"\\\"\"}") };
        let place = PlaceChange { action: Action::Create, xpath: "/a", data: Some(data) };
        let event: serde_json::Value = serde_json::from_str(&change_event(&change(), 0, &place)).unwrap();
        let told = &event["data"]["eventPayload"]["cloudEventData"];
        assert_eq!(*told, serde_json::json!({"targetData": "{\"a\":\"\\\"\"}"}));
    }

    #[test]
    fn events_of_two_versions_or_places_have_ids_of_their_own() {
        let removed = ConfigChange { after: None, before: VersionId(7), ..change() };
        let later = ConfigChange { after: Some(VersionId(8)), ..change() };
        let ids = [id(&change(), 0), id(&change(), 1), id(&removed, 0), id(&later, 0)];
        assert!((0..4).all(|at| !ids[..at].contains(&ids[at])), "{ids:?}");
    }

    #[test]
    fn a_kafka_record_has_attributes_as_headers_and_data_as_value() {
        let place = PlaceChange { action: Action::Remove, xpath: "/a", data: None };
        let event = change_event(&change(), 0, &place);
        let record = kafka_event(&event).unwrap();
        assert_eq!(record.key, "my \"space\":a");
        let header = |name: &str| &record.headers.iter().find(|(key, _)| *key == name).unwrap().1;
        assert_eq!(header("ce_correlationid"), "my \"space\":a");
        assert_eq!(header("ce_type"), TYPE);
        assert_eq!(header("content-type"), "application/json");
        let value: serde_json::Value = serde_json::from_str(&record.value).unwrap();
        assert_eq!(value["eventPayload"]["action"], "remove");
        assert_eq!(kafka_event("{}"), None);
    }

    #[test]
    fn a_body_of_events_is_an_array() {
        let place = PlaceChange { action: Action::Create, xpath: "/a", data: None };
        let events: Vec<String> = (0..2).map(|index| change_event(&change(), index, &place)).collect();
        let body = events_body(events.iter().map(String::as_str));
        assert_eq!(serde_json::from_str::<Vec<serde_json::Value>>(&body).unwrap().len(), 2);
    }
}
