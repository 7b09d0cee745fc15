//! What the parser makes of bodies, printed tersely: one line an instance.

mod accepts;
mod prohibited;
mod random;
mod refuses;

use std::fmt::Write as _;

use model_entities::{Attribute, Draft, Instance};
use tenant_contexts::RequestContext;

use super::*;

/// Terms 0, 1, 2, … of all tests.
const NAMES: &[&str] = &[
    "T",
    "U",
    "a",
    "b",
    "c",
    "d",
    "Entity",
    "name",
    "description",
    "stationCode",
    "ammonium",
    "dissolvedOxygen",
    "sandreCode",
    "waterTemperature",
    "servesDataset",
    "location",
    "unitCode",
    "observedAt",
    "objectType",
    "store",
    "temperature",
    "humidity",
    "senttime",
    "open",
    "owner",
    "timed-entity",
];

fn names() -> Names {
    Names::of(&RequestContext::core(), NAMES)
}

fn print(draft: &Draft) -> String {
    let mut out = String::new();
    if !draft.id.is_empty() {
        writeln!(out, "id {}", draft.id).unwrap();
    }
    let types: Vec<_> = draft.types.iter().map(|term| NAMES[term.0 as usize]).collect();
    if !types.is_empty() {
        writeln!(out, "type {}", types.join(" ")).unwrap();
    }
    if let Some(scopes) = &draft.scopes {
        writeln!(out, "scope {}", scopes.join(" ")).unwrap();
    }
    if let Some(time) = draft.expires_at {
        writeln!(out, "expires {}", time.0).unwrap();
    }
    print_attributes(&mut out, &draft.attributes, "");
    out
}

fn print_attributes(out: &mut String, attributes: &[Attribute], indent: &str) {
    for attribute in attributes {
        for instance in &attribute.instances {
            write!(out, "{indent}{} ", NAMES[attribute.name.0 as usize]).unwrap();
            print_instance(out, instance, indent);
        }
    }
}

fn print_instance(out: &mut String, instance: &Instance, indent: &str) {
    match instance.kind {
        Some(kind) => write!(out, "{kind:?}").unwrap(),
        None => out.push('?'),
    }
    if let Some(dataset) = &instance.dataset {
        write!(out, " [{dataset}]").unwrap();
    }
    if let Some(value) = &instance.value {
        write!(out, " {value}").unwrap();
    }
    if let Some(time) = instance.observed_at {
        write!(out, " at {}", time.0).unwrap();
    }
    if let Some(unit) = &instance.unit_code {
        write!(out, " in {unit}").unwrap();
    }
    if let Some(time) = instance.expires_at {
        write!(out, " until {}", time.0).unwrap();
    }
    for (extra, text) in &instance.extras {
        write!(out, " {extra:?} {text}").unwrap();
    }
    if instance.remove {
        out.push_str(" removed");
    }
    for member in &instance.remove_members {
        write!(out, " -{}", NAMES[member.0 as usize]).unwrap();
    }
    for field in &instance.remove_fields {
        write!(out, " -{field:?}").unwrap();
    }
    out.push('\n');
    print_attributes(out, &instance.members, &format!("{indent}  "));
}

fn printed<T>(found: Result<T, BodyError>, print: impl Fn(&T) -> String) -> String {
    match found {
        Ok(found) => print(&found),
        Err(BodyError::Refused(problem)) => problem.shown(),
        Err(BodyError::Unknown(iris)) => format!("new: {}", iris.join(" ")),
    }
}

fn entity(body: &str, rules: &Rules) -> String {
    printed(parse_entity(body, &names(), rules), print)
}

fn check_entity(body: &str, expected: &str) {
    assert_eq!(entity(body, &Rules::create(16)).trim_end(), expected, "{body}");
}

fn check_fragment(body: &str, rules: Rules, expected: &str) {
    let found = printed(parse_fragment(body, &names(), &rules), print);
    assert_eq!(found.trim_end(), expected, "{body}");
}

/// A fragment that is appended.
fn check(body: &str, expected: &str) {
    check_fragment(body, Rules::fragment(16), expected);
}

/// A fragment that is merged.
fn check_merge(body: &str, expected: &str) {
    check_fragment(body, Rules::merge(16), expected);
}

fn check_simplified(body: &str, expected: &str) {
    check_fragment(body, Rules::fragment(16).in_representation(Representation::Simplified), expected);
}

/// One attribute, `a`, that the URL names.
fn check_attribute(body: &str, rules: Rules, expected: &str) {
    let found = printed(parse_attribute(body, "a", &names(), &rules), |attribute| {
        let mut out = String::new();
        print_attributes(&mut out, std::slice::from_ref(attribute), "");
        out
    });
    assert_eq!(found.trim_end(), expected, "{body}");
}
