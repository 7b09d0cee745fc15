//! Doors for fuzzing: readers of stored forms, which are private. Not part of the API.

use bytes::Bytes;
use jiff::civil::date;
use store::Timestamp;
use store::wire::Malformed;

use crate::catalogue::intent;
use crate::encode::{
    put_attribute_type, put_definition, put_units, take_attribute_type, take_definition, take_units,
};
use crate::{
    Alignment, Attribute, AttributeKind, AttributeType, AttributeValue, DefinedFormula, Definition, Interval,
    IntervalUnit, Raster, Switches, Unit, UnitRule, Zone, feed,
};

/// Reads a stored value of this kind (0 definition, 1 units, 2 attribute type, 3 intent), and writes and reads again what
/// was read.
///
/// # Panics
///
/// If what is written again is refused, or means something else.
pub fn read_stored(kind: u8, bytes: &[u8]) {
    let again = |bytes: &[u8]| match kind % 4 {
        0 => take_definition(bytes).map(|definition| put_definition(&definition)),
        1 => take_units(bytes).map(|units| put_units(units.iter())),
        2 => take_attribute_type(bytes).map(|attribute_type| put_attribute_type(&attribute_type)),
        _ => intent::printed_again(&Bytes::copy_from_slice(bytes)),
    };
    let Ok(written) = again(bytes) else { return };
    assert_eq!(again(&written), Ok(written.clone()), "what is written is read");
}

/// A stored value of each kind that [`read_stored`] knows, its kind before it.
///
/// # Panics
///
/// Never: what it makes is sound.
pub fn stored_examples() -> Vec<Vec<u8>> {
    let units = [Unit {
        name: "kWh".into(),
        base: Some("Wh".into()),
        offset: 0.0,
        factor: 1_000.0,
        integral: None,
        aggregation: UnitRule::Sum,
    }];
    let attribute_type = AttributeType {
        name: "Grid".into(),
        kind: AttributeKind::Node(vec!["a/b".into(), "a/c".into()]),
        is_multiple: true,
        description: "where".into(),
    };
    // An intent that looks at one row and writes one bucket.
    let intent = vec![1, 1, 1, b'k', 0, 1, 3, 1, 2, 2, 1, b'd', 0, 1, b'a', 1, b'b', 0];
    let forms =
        [put_definition(&definition()), put_units(units.iter()), put_attribute_type(&attribute_type), intent];
    (0..).zip(forms).map(|(kind, form)| [&[kind], form.as_slice()].concat()).collect()
}

fn definition() -> Definition {
    let zone = Zone::get("Europe/Zurich").expect("a zone of the database");
    let interval = Interval::new(IntervalUnit::Minute, 15);
    let text = "[Load North] + 2 * [Load South, -PT1H]";
    let tree = lang_formula::parse(text).expect("a formula");
    Definition {
        number: 70_000,
        name: "Load".into(),
        alignment: Alignment::Begin,
        interval: Some(interval),
        day_start_seconds: 0,
        unit: Some("kWh".into()),
        description: "of all".into(),
        zone: zone.clone(),
        formula: Some(DefinedFormula { text: text.into(), tree: tree.into() }),
        switches: Switches { compression: true, audit: true, quotation: false },
        retention: lang_formula::Duration::parse("P1Y"),
        attributes: vec![Attribute {
            name: "Since".into(),
            value: AttributeValue::Date(date(2026, 5, 4)),
            from: Some(1),
            to: None,
        }],
        created: Timestamp(1),
        changed: Timestamp(2),
        raster: Raster::new(interval, zone, 0).ok(),
    }
}

/// How many changes of series a change record has, and whether it ends with one.
///
/// # Errors
///
/// If the bytes behind these changes are none.
pub fn count_changes(payload: &[u8]) -> Result<usize, Malformed> {
    feed::count(payload)
}
