//! Conditions on properties as bodies give them: `{"age":29,"city":"P.within(\"Beijing\",\"Hongkong\")"}`.

use graph::condition::{CallError, Condition, ConditionError, PredicateCall};
use graph::schema::{PropertyKey, Schema};
use lang_json::Reader;
use serde_json::{Map, Value};

use super::tokens::Token;
use super::values::{Scratch, one_value};
use crate::problem::Problem;

/// What a text that begins like a predicate is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Calls {
    /// A predicate.
    Predicates,
    /// A text.
    Texts,
}

/// Reads conditions: each property is equal to a value, or a text says a predicate.
///
/// # Errors
///
/// 400.
pub fn conditions(
    schema: &Schema,
    properties: &Map<String, Value>,
    depth_max: usize,
) -> Result<Vec<Condition>, Problem> {
    conditions_with(schema, properties, depth_max, Calls::Predicates)
}

/// The same where texts may be no predicates.
///
/// # Errors
///
/// 400.
pub fn conditions_with(
    schema: &Schema,
    properties: &Map<String, Value>,
    depth_max: usize,
    calls: Calls,
) -> Result<Vec<Condition>, Problem> {
    let mut scratch = Scratch::new(depth_max);
    let read = |(name, value)| condition(schema, (name, value), (depth_max, calls), &mut scratch);
    properties.iter().map(read).collect()
}

fn condition(
    schema: &Schema,
    (name, value): (&String, &Value),
    (depth_max, calls): (usize, Calls),
    scratch: &mut Scratch,
) -> Result<Condition, Problem> {
    let key = property_key(schema, name)?;
    let text = value.as_str().filter(|_| calls == Calls::Predicates);
    let call = text.and_then(PredicateCall::parse).transpose().map_err(|error| of_call(&error))?;
    let made = match (call, value) {
        (Some(call), _) => {
            let list = format!("[{}]", call.values);
            let values = several(&list, key, depth_max, scratch)?;
            Condition::of_predicate(key, call.predicate, values)
        }
        (None, Value::Array(_)) => {
            Condition::of_values(key, several(&value.to_string(), key, depth_max, scratch)?, true)
        }
        (None, value) => {
            let list = format!("[{value}]");
            Condition::of_values(key, several(&list, key, depth_max, scratch)?, false)
        }
    };
    made.map_err(|error| of_condition(&error))
}

fn several(
    list: &str,
    key: &PropertyKey,
    depth_max: usize,
    scratch: &mut Scratch,
) -> Result<Vec<graph::Scalar>, Problem> {
    let mut reader = Reader::new(list, depth_max);
    let mut values = Vec::new();
    reader.begin_array()?;
    while reader.next_element()? {
        values.push(one_value(&Token::read(&mut reader)?, key, scratch)?);
    }
    reader.end()?;
    Ok(values)
}

/// The property key of a name.
///
/// # Errors
///
/// 400.
pub fn property_key<'s>(schema: &'s Schema, name: &str) -> Result<&'s PropertyKey, Problem> {
    let key = schema.property_key_named(name);
    key.map(|key| &**key)
        .ok_or_else(|| Problem::illegal_argument(format!("Undefined property key: '{name}'")))
}

fn of_call(error: &CallError) -> Problem {
    match error {
        CallError::Form(_) | CallError::Unknown(_) => Problem::illegal_argument(error.to_string()),
    }
}

fn of_condition(error: &ConditionError) -> Problem {
    match error {
        ConditionError::Values { .. }
        | ConditionError::TooMany { .. }
        | ConditionError::NoText(_)
        | ConditionError::NoOrder(_) => Problem::illegal_argument(error.to_string()),
    }
}
