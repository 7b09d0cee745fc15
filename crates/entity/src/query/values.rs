//! Long lists of operands, hashed: whether one of them equals a stored value is one look-up, however many they are.

use std::collections::HashSet;

use store::Timestamp;

use super::moment::parse_moment;
use super::wanted::{Wanted, parse_number};

/// Operands of which any may equal.
#[derive(Clone, Debug, Default)]
pub(super) struct ValueSet {
    /// Scalars that equal by their canonical text.
    json: HashSet<Box<str>>,
    /// Texts, as they are.
    plain: HashSet<Box<str>>,
    /// Bits of numbers.
    numbers: HashSet<u64>,
    /// Times that stored texts may denote.
    times: HashSet<Timestamp>,
    /// Times that members may be which are times: those, and what texts denote.
    moments: HashSet<Timestamp>,
}

impl ValueSet {
    /// Cost: linear in the operands.
    pub(super) fn new(operands: impl Iterator<Item = Wanted>) -> Self {
        let mut set = Self::default();
        for operand in operands {
            match operand {
                Wanted::Number(number) => _ = set.numbers.insert(bits(number)),
                Wanted::Text { plain, json, time } => {
                    set.plain.insert(plain);
                    set.json.insert(json);
                    set.moments.extend(time);
                }
                Wanted::Bool(bool) => _ = set.json.insert(if bool { "true" } else { "false" }.into()),
                Wanted::Null => _ = set.json.insert("null".into()),
                Wanted::Time(time) => {
                    set.times.insert(time);
                    set.moments.insert(time);
                }
            }
        }
        set
    }

    /// Whether a scalar, as canonical text, equals one of them.
    pub(super) fn holds_scalar(&self, scalar: &str) -> bool {
        let holds_number = || parse_number(scalar).is_some_and(|number| self.numbers.contains(&bits(number)));
        let holds_time = || {
            let text = lang_json::string_value(scalar);
            text.and_then(|text| parse_moment(&text)).is_some_and(|time| self.times.contains(&time))
        };
        self.json.contains(scalar)
            || (!self.numbers.is_empty() && holds_number())
            || (!self.times.is_empty() && holds_time())
    }

    /// Whether a time beside the value equals one of them.
    pub(super) fn holds_time(&self, found: Timestamp) -> bool {
        self.moments.contains(&found)
    }

    /// Whether a text beside the value equals one of them.
    pub(super) fn holds_text(&self, found: &str) -> bool {
        self.plain.contains(found)
    }
}

/// Equal numbers have equal bits: zero has one sign. (What is not a number equals nothing, and no stored number is.)
fn bits(number: f64) -> u64 {
    if number == 0.0 { 0 } else { number.to_bits() }
}

#[cfg(test)]
mod tests {
    use super::super::value::{Target, Test};
    use super::super::{Filter, Operand};
    use super::*;
    use crate::testing::query::filter;

    fn test(operand: &Operand) -> Test {
        let Filter::Compare(_, comparison, _) = filter("a == 1") else { panic!() };
        Test::new(comparison, operand).0
    }

    #[test]
    fn a_hashed_list_holds_what_its_operands_hold() {
        let few = "1,0.5,-0,\"x\",\"2020-01-01T00:00:00Z\",true,2021-01-01T00:00:00Z,\"a\\\"b\",null";
        let Filter::Compare(_, _, Operand::Values(few)) = filter(&format!("a == {few}")) else { panic!() };
        let many = few.iter().cloned().chain((100..200).map(|n| super::super::Scalar::Number(f64::from(n))));
        let hashed = test(&Operand::Values(many.collect()));
        assert!(matches!(hashed, Test::Among(_)));
        let each: Vec<Test> = few.iter().map(|one| test(&Operand::Values([one.clone()].into()))).collect();
        let times = ["2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z", "2022-01-01T00:00:00Z"];
        let json = [
            "1",
            "1.0",
            "1e0",
            "0.5",
            "0",
            "-0",
            "-0.0",
            "2",
            "\"x\"",
            "\"1\"",
            "true",
            "false",
            "null",
            "\"2020-01-01T00:00:00Z\"",
            "\"2021-01-01T00:00:00.000Z\"",
            "\"2021-01-01T01:00:00Z\"",
            "\"a\\\"b\"",
            "[3,0.5]",
            "[3,4]",
            "{\"@value\":1}",
            "{}",
        ];
        let targets = json
            .iter()
            .flat_map(|text| [Target::Json(text), Target::Plain(text)])
            .chain(["x", "y", "a\"b", times[0]].map(Target::Text))
            .chain(times.map(|time| Target::Time(parse_moment(time).unwrap())));
        for target in targets {
            assert_eq!(hashed.holds(target), each.iter().any(|one| one.holds(target)), "{target:?}");
        }
        assert!(hashed.holds(Target::Json("150")) && !hashed.holds(Target::Json("200")));
    }
}
