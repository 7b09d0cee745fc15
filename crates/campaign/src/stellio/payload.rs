//! The bodies of the suite: the template entity and the two kinds of update. Built by joining constant pieces,
//! because a generator that formats measures itself.

/// Characters of a moment, as in `2023-04-01T12:00:00.000Z`.
pub const MOMENT_BYTES: usize = 24;
/// A moment of the suite's updates.
pub type Moment = [u8; MOMENT_BYTES];
/// A number as [`crate::draws::Draws::hundred`] writes it.
pub type Value = [u8; 17];

/// The values of an entity or of an update: ammonium (two), dissolvedOxygen, waterTemperature (two).
pub type Values = [Value; 5];

/// The target of the template's relationship.
pub const TEMPLATE_TARGET: &[u8] = b"urn:ngsi-ld:Dataset:SurfaceWaterMonitoring";

const ENTITY_TEXTS: &[u8] = br#"","name":{"type":"Property","value":"Name of my entity"},"description":{"type":"Property","value":"A short description of my entity"},"stationCode":{"type":"Property","value":"BSS002JAWM"},"#;
const AMMONIUM_1: &[u8] = br#""ammonium":[{"type":"Property","value":"#;
const OBSERVED: &[u8] = br#","observedAt":""#;
const AMMONIUM_2: &[u8] =
    br#"","unitCode":"M1","datasetId":"urn:ngsi-ld:Dataset:Bottom"},{"type":"Property","value":"#;
const OXYGEN: &[u8] = br#"","unitCode":"M1","datasetId":"urn:ngsi-ld:Dataset:Surface"}],"dissolvedOxygen":{"type":"Property","sandreCode":{"type":"Property","value":"1311"},"value":"#;
const TEMPERATURE_1: &[u8] = br#"","unitCode":"M1"},"waterTemperature":[{"type":"Property","value":"#;
const TEMPERATURE_2: &[u8] =
    br#"","unitCode":"CEL","datasetId":"urn:ngsi-ld:Dataset:Bottom"},{"type":"Property","value":"#;
const READINGS_END: &[u8] = br#"","unitCode":"CEL","datasetId":"urn:ngsi-ld:Dataset:Surface"}]"#;
const TARGET: &[u8] = br#","servesDataset":{"type":"Relationship","object":""#;
const ENTITY_END: &[u8] =
    br#""},"location":{"type":"GeoProperty","value":{"type":"Point","coordinates":[3.53452158,43.48562782]}}}"#;

const TEMPLATE_VALUES: [&[u8]; 5] = [b"0.34", b"0.41", b"8.9", b"10.9", b"12.9"];
const TEMPLATE_MOMENTS: [&[u8]; 5] = [
    b"2023-04-01T12:00:00Z",
    b"2023-04-01T13:00:00Z",
    b"2023-04-01T10:00:00Z",
    b"2022-12-09T13:40:00Z",
    b"2022-12-09T13:40:00Z",
];

/// Appends the template entity with `id`: 1151 bytes when the id is `urn:ngsi-ld:Entity:` and a UUID.
pub fn template_entity(out: &mut Vec<u8>, id: &[u8]) {
    entity(out, (id, b"Entity"), TEMPLATE_VALUES, TEMPLATE_TARGET);
}

/// Appends a template entity with another type, other values and another relationship target.
pub fn valued_entity(out: &mut Vec<u8>, name: (&[u8], &[u8]), values: &Values, target: &[u8]) {
    entity(out, name, values.each_ref().map(|value| &value[..]), target);
}

fn entity(out: &mut Vec<u8>, (id, kind): (&[u8], &[u8]), values: [&[u8]; 5], target: &[u8]) {
    out.extend_from_slice(br#"{"id":""#);
    out.extend_from_slice(id);
    out.extend_from_slice(br#"","type":""#);
    out.extend_from_slice(kind);
    out.extend_from_slice(ENTITY_TEXTS);
    readings(out, values, TEMPLATE_MOMENTS);
    out.extend_from_slice(TARGET);
    out.extend_from_slice(target);
    out.extend_from_slice(ENTITY_END);
}

/// Appends the update of three attributes (five instances), all observed at `moment`: 779 bytes.
pub fn fragment(out: &mut Vec<u8>, values: &Values, moment: &Moment) {
    out.push(b'{');
    readings(out, values.each_ref().map(|value| &value[..]), [moment; 5]);
    out.push(b'}');
}

fn readings(out: &mut Vec<u8>, values: [&[u8]; 5], moments: [&[u8]; 5]) {
    let before = [AMMONIUM_1, AMMONIUM_2, OXYGEN, TEMPERATURE_1, TEMPERATURE_2];
    for ((before, value), moment) in before.into_iter().zip(values).zip(moments) {
        out.extend_from_slice(before);
        out.extend_from_slice(value);
        out.extend_from_slice(OBSERVED);
        out.extend_from_slice(moment);
    }
    out.extend_from_slice(READINGS_END);
}

/// Appends the update of one attribute: 67 bytes.
pub fn partial(out: &mut Vec<u8>, value: &Value, moment: &Moment) {
    out.extend_from_slice(br#"{"value":"#);
    out.extend_from_slice(value);
    out.extend_from_slice(OBSERVED);
    out.extend_from_slice(moment);
    out.extend_from_slice(br#""}"#);
}

/// Tells the present moment as text; the date is formatted once a second only.
#[derive(Debug)]
pub struct MomentClock {
    second: i64,
    text: Moment,
}

impl MomentClock {
    /// A clock.
    pub fn new() -> Self {
        Self { second: i64::MIN, text: *b"1970-01-01T00:00:00.000Z" }
    }

    /// Now, in UTC with milliseconds.
    pub fn now(&mut self) -> &Moment {
        self.at(jiff::Timestamp::now())
    }

    /// `moment`, in UTC with milliseconds.
    pub fn at(&mut self, moment: jiff::Timestamp) -> &Moment {
        if self.second != moment.as_second() {
            self.second = moment.as_second();
            let text = moment.strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string();
            if let Ok(text) = text.as_bytes().try_into() {
                self.text = text;
            }
        }
        let milliseconds = u32::try_from(moment.subsec_millisecond()).expect("a time behind 1970");
        for (place, divisor) in [(20, 100), (21, 10), (22, 1)] {
            if let Some(byte) = self.text.get_mut(place) {
                *byte = b'0' + u8::try_from(milliseconds / divisor % 10).expect("less than ten");
            }
        }
        &self.text
    }
}

impl Default for MomentClock {
    fn default() -> Self {
        Self::new()
    }
}

/// The number that `text` writes; what is none is equal to nothing.
pub(super) fn number(text: &[u8]) -> f64 {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    const ID: &[u8] = b"urn:ngsi-ld:Entity:00000000-0000-4000-8000-000000000000";

    fn values() -> Values {
        let mut draws = Draws::new(1, 1);
        std::array::from_fn(|_| draws.hundred())
    }

    fn parse(body: &[u8]) -> serde_json::Value {
        serde_json::from_slice(body).unwrap()
    }

    #[test]
    fn bodies_have_the_published_sizes() {
        let moment = *MomentClock::new().now();
        let mut body = Vec::new();
        template_entity(&mut body, ID);
        assert_eq!(body.len(), 1151);
        body.clear();
        partial(&mut body, &values()[0], &moment);
        assert_eq!(body.len(), 67);
        body.clear();
        fragment(&mut body, &values(), &moment);
        assert_eq!(body.len(), 779);
    }

    #[test]
    fn the_template_is_the_published_entity() {
        let mut body = Vec::new();
        template_entity(&mut body, ID);
        let entity = parse(&body);
        assert_eq!(entity.as_object().unwrap().len(), 10);
        assert_eq!(entity["ammonium"][1]["value"], serde_json::json!(0.41));
        assert_eq!(entity["dissolvedOxygen"]["sandreCode"]["value"], "1311");
        assert_eq!(entity["waterTemperature"][0]["observedAt"], "2022-12-09T13:40:00Z");
        assert_eq!(entity["servesDataset"]["object"], "urn:ngsi-ld:Dataset:SurfaceWaterMonitoring");
        assert_eq!(entity["location"]["value"]["coordinates"][1], serde_json::json!(43.48562782));
    }

    #[test]
    fn valued_entities_and_updates_carry_their_values() {
        let values = values();
        let text = |index: usize| std::str::from_utf8(&values[index]).unwrap().to_owned();
        let mut body = Vec::new();
        valued_entity(&mut body, (ID, b"Abc"), &values, b"urn:x:y");
        let entity = parse(&body);
        assert_eq!((&entity["type"], &entity["servesDataset"]["object"]), (&"Abc".into(), &"urn:x:y".into()));
        assert_eq!(entity["dissolvedOxygen"]["value"].to_string(), text(2));
        body.clear();
        fragment(&mut body, &values, b"2026-01-02T03:04:05.678Z");
        let update = parse(&body);
        assert_eq!(update["waterTemperature"][1]["value"].to_string(), text(4));
        assert_eq!(update["ammonium"][0]["observedAt"], "2026-01-02T03:04:05.678Z");
        assert_eq!(update.as_object().unwrap().len(), 3);
    }

    #[test]
    fn the_clock_tells_milliseconds() {
        let mut clock = MomentClock::new();
        for text in ["2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.009Z", "2027-12-31T23:59:59.999Z"] {
            assert_eq!(clock.at(text.parse().unwrap()), text.as_bytes());
        }
    }
}
