//! Values merged as RFC 7396 merges documents, on canonical text.

use std::borrow::Cow;
use std::collections::HashMap;

use lang_json::ObjectWriter;

use super::given::FEW;
use crate::{Attribute, Instance, Kind};

/// What NGSI-LD writes for a member to be removed, where JSON's null is not allowed.
const REMOVED: &str = "\"urn:ngsi-ld:null\"";
/// Deeper members are replaced, not merged: stored values are no deeper.
const MERGE_DEPTH_MAX: usize = 256;

/// The value that a merge of `given` into `existing` leaves. Objects are merged, member by member, where
/// their members mean something by themselves: geometries and typed values are replaced whole.
pub(super) fn merged_value<'a>(kind: Kind, existing: &str, given: &'a str) -> Cow<'a, str> {
    let mergeable = matches!(kind, Kind::Property | Kind::LanguageProperty | Kind::JsonProperty);
    let objects = existing.starts_with('{') && given.starts_with('{');
    if !mergeable || !objects || lang_json::member(given, "@value").is_some() {
        return settled(given);
    }
    let mut out = String::with_capacity(existing.len() + given.len());
    merge(&mut out, existing, given, MERGE_DEPTH_MAX);
    Cow::Owned(out)
}

/// The members of an object, in order, and found by name. Of a name that comes twice the first member counts.
struct Members<'a> {
    all: Vec<(Cow<'a, str>, &'a str)>,
    /// Indexes by name; none are made for few.
    indexes: Option<HashMap<String, usize>>,
}

impl<'a> Members<'a> {
    fn of(object: &'a str) -> Self {
        let all: Vec<_> = lang_json::members(object).collect();
        let indexes = (all.len() > FEW).then(|| {
            let backwards = all.iter().enumerate().rev();
            backwards.map(|(index, (key, _))| (key.clone().into_owned(), index)).collect()
        });
        Self { all, indexes }
    }

    fn get(&self, key: &str) -> Option<&'a str> {
        let index = match &self.indexes {
            None => self.all.iter().position(|(existing, _)| existing == key),
            Some(indexes) => indexes.get(key).copied(),
        };
        index.and_then(|index| self.all.get(index)).map(|(_, value)| *value)
    }
}

/// Appends the object `given` merged into the object `existing`: existing members keep their order.
/// Cost: linear in both.
fn merge(out: &mut String, existing: &str, given: &str, depth_left: usize) {
    let mut object = ObjectWriter::begin(out);
    let (existing, given) = (Members::of(existing), Members::of(given));
    for (key, value) in &existing.all {
        match given.get(key) {
            None => object.raw(key, value),
            Some(removed) if is_removed(removed) => {}
            Some(given) if depth_left > 0 && value.starts_with('{') && given.starts_with('{') => {
                merge(object.member(key), value, given, depth_left - 1);
            }
            Some(given) => put_new(object.member(key), given, depth_left),
        }
    }
    for (key, value) in &given.all {
        if !is_removed(value) && existing.get(key).is_none() {
            put_new(object.member(key), value, depth_left);
        }
    }
    object.end();
}

/// Appends a value that replaces none: an object loses the members it would remove.
fn put_new(out: &mut String, value: &str, depth_left: usize) {
    if depth_left > 0 && value.starts_with('{') {
        merge(out, "{}", value, depth_left - 1);
    } else {
        out.push_str(value);
    }
}

/// A value without the members that it asks to be removed, where nothing exists that has them.
/// Cost: a search, and only in objects.
fn settled(value: &str) -> Cow<'_, str> {
    if !asks_removal(value) {
        return Cow::Borrowed(value);
    }
    let mut out = String::with_capacity(value.len());
    settle(&mut out, value, MERGE_DEPTH_MAX);
    Cow::Owned(out)
}

/// The same of all values of an attribute that is new.
pub(super) fn settled_attribute(given: &Attribute) -> Cow<'_, Attribute> {
    if !given.instances.iter().any(is_unsettled) {
        return Cow::Borrowed(given);
    }
    let instances = given.instances.iter().map(|given| settled_instance(given).into_owned()).collect();
    Cow::Owned(Attribute { name: given.name, instances })
}

/// The same of all values of an instance that is new.
pub(super) fn settled_instance(given: &Instance) -> Cow<'_, Instance> {
    if !is_unsettled(given) {
        return Cow::Borrowed(given);
    }
    let mut given = given.clone();
    given.value = given.value.take().map(|value| settled(&value).into());
    for member in &mut given.members {
        *member = settled_attribute(member).into_owned();
    }
    Cow::Owned(given)
}

fn is_unsettled(given: &Instance) -> bool {
    given.value.as_deref().is_some_and(asks_removal)
        || given.members.iter().any(|member| member.instances.iter().any(is_unsettled))
}

fn asks_removal(value: &str) -> bool {
    value.starts_with('{') && memchr::memmem::find(value.as_bytes(), REMOVED.as_bytes()).is_some()
}

fn settle(out: &mut String, value: &str, depth_left: usize) {
    if depth_left == 0 || !value.starts_with('{') {
        out.push_str(value);
        return;
    }
    let mut object = ObjectWriter::begin(out);
    for (key, value) in lang_json::members(value).filter(|(_, value)| *value != REMOVED) {
        settle(object.member(&key), value, depth_left - 1);
    }
    object.end();
}

fn is_removed(value: &str) -> bool {
    value == "null" || value == REMOVED
}
