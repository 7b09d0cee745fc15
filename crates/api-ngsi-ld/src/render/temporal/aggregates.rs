//! Aggregates over periods (NGSI-LD 4.5.19).

use lang_json::write_string;
use model_entities::{AggregateHistory, AggregateMethod, AggregateValue};

use super::write_each;
use crate::render::entity::names;
use crate::render::{Object, RenderPlan, write_time};

/// Whole numbers below are written without a fraction.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// The member of a method.
fn member(method: AggregateMethod) -> &'static str {
    match method {
        AggregateMethod::TotalCount => "\"totalCount\":",
        AggregateMethod::DistinctCount => "\"distinctCount\":",
        AggregateMethod::Sum => "\"sum\":",
        AggregateMethod::Avg => "\"avg\":",
        AggregateMethod::Min => "\"min\":",
        AggregateMethod::Max => "\"max\":",
        AggregateMethod::Stddev => "\"stddev\":",
        AggregateMethod::Sumsq => "\"sumsq\":",
    }
}

/// Appends an attribute: for each datasetId and each method the values of periods, each with the period's begin and end.
/// Periods to which a method does not apply are left out.
pub(super) fn write(
    out: &mut String,
    series: &[AggregateHistory],
    methods: &[AggregateMethod],
    plan: &RenderPlan<'_>,
) {
    write_each(out, series.iter(), |out, one| {
        let mut object = Object::begin(out);
        object.literal("\"type\":").push_str(names(plan.release.kind(one.kind())).0);
        if let Some(dataset) = one.dataset() {
            write_string(object.literal("\"datasetId\":"), dataset);
        }
        for (place, method) in methods.iter().enumerate() {
            write_method(object.literal(member(*method)), one, place);
        }
        object.end();
    });
}

fn write_method(out: &mut String, series: &AggregateHistory, method: usize) {
    out.push('[');
    let mut any = false;
    for (index, (from, to)) in series.buckets().iter().enumerate() {
        let value = series.value(method, index);
        if value == AggregateValue::None {
            continue;
        }
        out.push_str(if std::mem::replace(&mut any, true) { ",[" } else { "[" });
        write_value(out, value);
        out.push(',');
        write_time(out, *from);
        out.push(',');
        write_time(out, *to);
        out.push(']');
    }
    out.push(']');
}

fn write_value(out: &mut String, value: AggregateValue<'_>) {
    match value {
        AggregateValue::Count(count) => out.push_str(itoa::Buffer::new().format(count)),
        AggregateValue::Number(number) => write_number(out, number),
        AggregateValue::Text(text) => out.push_str(text),
        AggregateValue::None => out.push_str("null"),
    }
}

/// A number as JSON has it; `null` where it went beyond all numbers.
fn write_number(out: &mut String, number: f64) {
    #[expect(clippy::cast_possible_truncation, reason = "whole, and in the range of an i64")]
    if number.fract() == 0.0 && number.abs() < WHOLE_MAX {
        out.push_str(itoa::Buffer::new().format(number as i64));
    } else if number.is_finite() {
        out.push_str(zmij::Buffer::new().format_finite(number));
    } else {
        out.push_str("null");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_json() {
        for (number, expected) in [
            (12.0, "12"),
            (-0.0, "0"),
            (0.1 + 0.2, "0.30000000000000004"),
            (-2.5, "-2.5"),
            (1e300, "1e+300"),
            (f64::INFINITY, "null"),
            (f64::NAN, "null"),
        ] {
            let mut out = String::new();
            write_number(&mut out, number);
            assert_eq!(out, expected);
        }
    }
}
