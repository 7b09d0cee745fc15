//! The history of attributes: many instances of one datasetId, or series of values and times (4.5.6 to 4.5.9).

use lang_json::{Kind as Json, Reader};
use model_entities::{Attribute, Instance, TermId};
use smallvec::SmallVec;
use tenant_contexts::Names;

use super::attribute::{dataset, removed};
use super::fault::{Fault, Outcome};
use super::parser::Parser;
use super::rules::asks_removal;
use super::slot::{Slot, kind_of};
use crate::error::Error;

/// The member of a series that holds values of this slot.
fn series_slot(member: &str) -> Option<Slot> {
    Some(match member {
        "values" => Slot::Value,
        "objects" => Slot::Object,
        "languageMaps" => Slot::LanguageMap,
        "vocabs" => Slot::Vocab,
        "jsons" => Slot::Json,
        "valueLists" => Slot::ValueList,
        "objectLists" => Slot::ObjectList,
        _ => return None,
    })
}

/// A value inside of an object, under the name of its kind's member, as series of some kinds have it (4.5.9); bare ones are
/// taken, too.
fn unwrapped(slot: Slot, value: Box<str>) -> Box<str> {
    if !matches!(slot, Slot::LanguageMap | Slot::Vocab | Slot::Json) {
        return value;
    }
    let mut members = lang_json::members(&value);
    let wrapped = match (members.next(), members.next()) {
        (Some((name, inner)), None) if name == slot.member() => Some(inner.into()),
        _ => None,
    };
    drop(members);
    wrapped.unwrap_or(value)
}

/// Whether an instance's patch is wrapped in a fragment of an entity: its member is the attribute, and it has no value.
pub(super) fn is_fragment(body: &str, name: &str, names: &Names) -> bool {
    let iri = names.iri(name);
    let mut reader = Reader::new(body, usize::MAX);
    let mut found = false;
    if reader.begin_object().is_err() {
        return false;
    }
    while let Ok(Some(key)) = reader.next_key() {
        if Slot::of(&key).is_some() {
            return false;
        }
        found |= names.iri(&key) == iri;
        if reader.skip().is_err() {
            return false;
        }
    }
    found
}

/// A patch of one instance names other attributes, or several instances.
pub(super) fn one_instance(name: &str) -> Error {
    Error::invalid(format!("the body must be one instance of attribute {name:?}, and nothing else"))
}

impl Parser<'_> {
    /// The next value as the history of the attribute of this name.
    pub(super) fn history_attribute(&mut self, name: &str) -> Outcome<Attribute> {
        let term = self.attribute_term(name)?;
        self.history_instances(term, name)
    }

    /// The same, of the attribute of this term.
    pub(super) fn history_instances(&mut self, term: TermId, name: &str) -> Outcome<Attribute> {
        let series = self.has_series().map_err(|fault| fault.within(name))?;
        if !series {
            let empty = self.is_empty_array()?;
            if !empty {
                return self.instances(name, term).map_err(|fault| fault.within(name));
            }
            self.reader.skip()?;
            return Ok(Attribute { name: term, instances: SmallVec::new() });
        }
        let mut instances = SmallVec::new();
        self.all_series(&mut instances).map_err(|fault| fault.within(name))?;
        Ok(Attribute { name: term, instances })
    }

    fn is_empty_array(&mut self) -> Outcome<bool> {
        if self.reader.peek()? != Json::Array {
            return Ok(false);
        }
        let mut look = self.reader.clone();
        look.begin_array()?;
        Ok(!look.next_element()?)
    }

    /// Whether a series comes next, or an array of them.
    fn has_series(&mut self) -> Outcome<bool> {
        let mut look = self.reader.clone();
        if look.peek()? == Json::Array {
            look.begin_array()?;
            if !look.next_element()? {
                return Ok(false);
            }
        }
        if look.peek()? != Json::Object {
            return Ok(false);
        }
        // What has a value is an instance, what has no type may be a value: both may have a member of such a name.
        let (mut typed, mut values) = (false, false);
        look.begin_object()?;
        while let Some(key) = look.next_key()? {
            if Slot::of(&key).is_some() {
                return Ok(false);
            }
            if matches!(&*key, "type" | "@type") && look.peek()? == Json::String {
                typed = kind_of(&look.string()?).is_some();
                continue;
            }
            values |= series_slot(&key).is_some() && look.peek()? == Json::Array;
            look.skip()?;
        }
        Ok(typed && values)
    }

    fn all_series(&mut self, out: &mut SmallVec<[Instance; 1]>) -> Outcome<()> {
        if self.reader.peek()? != Json::Array {
            return self.series(out);
        }
        self.reader.begin_array()?;
        while self.reader.next_element()? {
            if self.reader.peek()? != Json::Object {
                return Err(Fault::data("an array of series must hold nothing but series"));
            }
            self.series(out)?;
        }
        Ok(())
    }

    /// One object with values and times.
    fn series(&mut self, out: &mut SmallVec<[Instance; 1]>) -> Outcome<()> {
        let (mut kind, mut slot, mut of_dataset) = (None, None, None);
        let mut readings = Vec::new();
        self.reader.begin_object()?;
        while let Some(key) = self.reader.next_key()? {
            match &*key {
                "type" | "@type" => {
                    let name = self.text("type")?;
                    kind = Some(kind_of(&name).ok_or_else(|| Fault::no_kind(&name))?);
                }
                "datasetId" => {
                    let text = self.text("datasetId")?;
                    of_dataset = dataset(&text)?;
                }
                key => match series_slot(key) {
                    Some(found) if slot.is_none() => {
                        slot = Some(found);
                        self.readings(key, &mut readings)?;
                    }
                    _ => {
                        return Err(Fault::data(format!("a series of values and times cannot have {key:?}")));
                    }
                },
            }
        }
        let (Some(kind), Some(slot)) = (kind, slot) else {
            return Err(Fault::data("a series must have a type, and values with their times"));
        };
        if Slot::of_kind(kind) != slot {
            let member = slot.member();
            return Err(Fault::data(format!("a {kind:?} cannot have a series of {member:?}")));
        }
        out.reserve(readings.len());
        for (value, observed) in readings {
            let value = unwrapped(slot, value);
            let instance = match asks_removal(&value, self.rules.nulls) {
                Some(true) => Instance { kind: Some(kind), ..removed() },
                _ => {
                    let value = self.checked(kind, slot.member(), value)?;
                    Instance { observed_at: Some(observed), ..Instance::new(kind, value) }
                }
            };
            out.push(Instance { dataset: of_dataset.clone(), ..instance });
        }
        Ok(())
    }

    /// Pairs of a value and its time.
    fn readings(
        &mut self,
        member: &str,
        out: &mut Vec<(Box<str>, model_entities::Timestamp)>,
    ) -> Outcome<()> {
        let wrong = || Fault::data(format!("{member:?} must be an array of pairs: a value and its time"));
        if self.reader.peek()? != Json::Array {
            return Err(wrong());
        }
        self.reader.begin_array()?;
        while self.reader.next_element()? {
            if self.reader.peek()? != Json::Array {
                return Err(wrong());
            }
            self.reader.begin_array()?;
            if !self.reader.next_element()? {
                return Err(wrong());
            }
            let value = self.value_text()?;
            if !self.reader.next_element()? {
                return Err(wrong());
            }
            out.push((value, self.time(member)?));
            if self.reader.next_element()? {
                return Err(wrong());
            }
        }
        Ok(())
    }
}
