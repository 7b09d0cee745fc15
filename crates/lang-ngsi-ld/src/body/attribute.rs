//! Attributes: one instance or an array of them, in normalized, concise or simplified form.

use std::collections::HashSet;

use lang_json::{Kind as Json, Reader};
use model_entities::{Attribute, Instance, Kind, TermId};
use smallvec::{SmallVec, smallvec};

use super::entity::{INSTANCES, check_count};
use super::fault::{Fault, Outcome};
use super::geometry::is_geometry;
use super::name::check_uri;
use super::parser::Parser;
use super::rules::{NULL, Nulls, Representation};
use super::slot::{Slot, kind_of};

/// From so many on, what must differ is compared by hash.
const FEW: usize = 16;

/// What the object of an attribute is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    /// An attribute instance with members of its own.
    Instance,
    /// The value of a Property.
    Value,
}

impl Parser<'_> {
    /// The next value as the attribute of this name.
    pub(super) fn attribute(&mut self, name: &str) -> Outcome<Attribute> {
        let term = self.attribute_term(name)?;
        self.instances(name, term).map_err(|fault| fault.within(name))
    }

    /// The whole body as the attribute of this name: its object is an instance, even without value.
    pub(super) fn whole_attribute(&mut self, name: &str) -> Outcome<Attribute> {
        let term = self.attribute_term(name)?;
        self.check_shown(name, term, |shown| shown == "scope")?;
        let simplified = self.rules.representation == Representation::Simplified;
        let instance = !simplified && self.reader.peek()? == Json::Object && !self.stands_for_value()?;
        let attribute = if instance {
            let instance = self.instance(name, true).map_err(|fault| fault.within(name))?;
            Attribute { name: term, instances: smallvec![instance] }
        } else {
            self.instances(name, term).map_err(|fault| fault.within(name))?
        };
        self.check_geometry_name(name, &attribute)?;
        Ok(attribute)
    }

    /// The next value as the attribute of this term.
    pub(super) fn instances(&mut self, name: &str, term: TermId) -> Outcome<Attribute> {
        let simplified = self.rules.representation == Representation::Simplified;
        let records = self.rules.nulls == Nulls::Records;
        let instances = match self.reader.peek()? {
            Json::Object if simplified => self.simplified_object()?,
            Json::Object if self.form()? == Form::Instance => smallvec![self.instance(name, false)?],
            Json::Array if !simplified && self.holds_instances()? => self.array(name)?,
            Json::String if records && self.is_null_text()? => {
                self.reader.skip()?;
                smallvec![Instance { kind: Some(Kind::Property), ..removed() }]
            }
            Json::String | Json::Null if self.removal("value")? => smallvec![removed()],
            _ => smallvec![self.bare()?],
        };
        Ok(Attribute { name: term, instances })
    }

    /// The core vocabulary's places of an entity are GeoProperties (5.2.4).
    pub(super) fn check_geometry_name(&self, name: &str, attribute: &Attribute) -> Outcome<()> {
        if !self.is_core(name, &["location", "observationSpace", "operationSpace"]) {
            return Ok(());
        }
        let wrong = |instance: &Instance| match instance.kind {
            Some(Kind::GeoProperty) => false,
            // A part of what is stored, or a removal, need not say its kind.
            None => instance.value.is_some(),
            Some(_) => !instance.remove,
        };
        if !attribute.instances.iter().any(wrong) {
            return Ok(());
        }
        Err(Fault::data("must be a GeoProperty: its value is a GeoJSON geometry").within(name))
    }

    /// A plain value.
    fn bare(&mut self) -> Outcome<Instance> {
        let value = self.value_text()?;
        let kind = if is_geometry(&value) { Kind::GeoProperty } else { Kind::Property };
        let value = self.checked(kind, "value", value)?;
        let mut instance = Instance::new(kind, value);
        if self.rules.partial && kind == Kind::Property {
            instance.kind = None;
        }
        Ok(instance)
    }

    /// The value alone, in the wrappers of the simplified representation (4.5.4).
    fn simplified_object(&mut self) -> Outcome<SmallVec<[Instance; 1]>> {
        let mut look = self.reader.clone();
        look.begin_object()?;
        let Some(key) = look.next_key()? else { return Ok(smallvec![self.bare()?]) };
        let slot = match &*key {
            "dataset" => None,
            "languageMap" => Some(Slot::LanguageMap),
            "json" => Some(Slot::Json),
            "vocab" => Some(Slot::Vocab),
            "valueList" => Some(Slot::ValueList),
            "objectList" => Some(Slot::ObjectList),
            _ => return Ok(smallvec![self.bare()?]),
        };
        let object_form = slot.is_some() || look.peek()? == Json::Object;
        look.skip()?;
        if !object_form || look.next_key()?.is_some() {
            return Ok(smallvec![self.bare()?]);
        }
        self.reader.begin_object()?;
        self.reader.next_key()?;
        let instances = match slot {
            None => self.datasets()?,
            Some(slot) => {
                let value = self.value_text()?;
                smallvec![Instance::new(slot.kind(), self.checked(slot.kind(), slot.member(), value)?)]
            }
        };
        self.reader.next_key()?;
        Ok(instances)
    }

    /// Simplified values by datasetId.
    fn datasets(&mut self) -> Outcome<SmallVec<[Instance; 1]>> {
        let mut instances = SmallVec::new();
        self.reader.begin_object()?;
        while let Some(key) = self.reader.next_key()? {
            let inner = match self.reader.peek()? {
                Json::Object => self.simplified_object()?,
                _ => smallvec![self.bare()?],
            };
            let [mut instance] = inner
                .into_inner()
                .map_err(|_| Fault::data("\"dataset\" must not be nested in \"dataset\""))?;
            if instance.dataset.is_some() {
                return Err(Fault::data("\"dataset\" must not be nested in \"dataset\""));
            }
            instance.dataset = dataset(&key)?;
            instances.push(instance);
            check_count(instances.len(), &INSTANCES)?;
        }
        differ(&instances)?;
        Ok(instances)
    }

    /// An array of instances.
    fn array(&mut self, name: &str) -> Outcome<SmallVec<[Instance; 1]>> {
        let mut instances = SmallVec::new();
        self.reader.begin_array()?;
        while self.reader.next_element()? {
            if self.reader.peek()? != Json::Object {
                return Err(Fault::data(
                    "an array of instances must hold nothing but objects with a type or a value",
                ));
            }
            instances.push(self.instance(name, false)?);
            // The history of a dataset has as many instances as it has.
            if !self.rules.temporal {
                check_count(instances.len(), &INSTANCES)?;
            }
        }
        if !self.rules.temporal {
            differ(&instances)?;
        }
        Ok(instances)
    }

    /// Whether the array that comes next holds instances rather than values.
    fn holds_instances(&mut self) -> Outcome<bool> {
        let mut look = self.reader.clone();
        look.begin_array()?;
        if !look.next_element()? || look.peek()? != Json::Object {
            return Ok(false);
        }
        std::mem::swap(&mut self.reader, &mut look);
        let form = self.form();
        std::mem::swap(&mut self.reader, &mut look);
        // An object with a foreign type is a value in an array of values, unless another says that it is an instance: then
        // it is refused at its position, whatever the order.
        Ok(form.is_ok_and(|form| form == Form::Instance) || names_a_kind(look)?)
    }

    /// Whether the object that comes next, where an instance is asked for, is a value nevertheless:
    /// a bare geometry or a JSON-LD typed value.
    fn stands_for_value(&self) -> Outcome<bool> {
        let mut look = self.reader.clone();
        look.begin_object()?;
        let (mut geometry, mut foreign) = (false, false);
        while let Some(key) = look.next_key()? {
            match &*key {
                "@value" => return Ok(true),
                "type" if look.peek()? == Json::String => {
                    foreign = kind_of(&look.string()?).is_none();
                    continue;
                }
                "coordinates" | "geometries" => geometry = true,
                _ => {}
            }
            look.skip()?;
        }
        Ok(geometry && foreign)
    }

    /// What the object that comes next is; it stays unread.
    fn form(&mut self) -> Outcome<Form> {
        let mut look = self.reader.clone();
        look.begin_object()?;
        let (mut foreign, mut geometry, mut members) = (None, false, false);
        while let Some(key) = look.next_key()? {
            match &*key {
                "type" | "@type" if look.peek()? == Json::String => {
                    let name = look.string()?;
                    if kind_of(&name).is_some() {
                        return Ok(Form::Instance);
                    }
                    foreign = Some(name);
                    continue;
                }
                "@value" => return Ok(Form::Value),
                "coordinates" | "geometries" => geometry = true,
                "observedAt" | "unitCode" | "datasetId" | "expiresAt" | "objectType" | "valueType" => {
                    members = true
                }
                key if Slot::of(key).is_some() => return Ok(Form::Instance),
                _ if self.rules.partial && is_attribute(&look)? => return Ok(Form::Instance),
                _ => {}
            }
            look.skip()?;
        }
        match foreign {
            Some(name) if !geometry => Err(Fault::no_kind(&name)),
            Some(_) => Ok(Form::Value),
            None if members => Ok(Form::Instance),
            None => Ok(Form::Value),
        }
    }
}

/// Whether what comes next calls itself an attribute.
fn is_attribute(reader: &lang_json::Reader<'_>) -> Outcome<bool> {
    let mut look = reader.clone();
    if look.peek()? != Json::Object {
        return Ok(false);
    }
    look.begin_object()?;
    while let Some(key) = look.next_key()? {
        if key == "type" && look.peek()? == Json::String {
            return Ok(kind_of(&look.string()?).is_some());
        }
        look.skip()?;
    }
    Ok(false)
}

/// A datasetId as it is stored: none for the default instance.
pub(super) fn dataset(text: &str) -> Outcome<Option<Box<str>>> {
    if text == "@none" {
        return Ok(None);
    }
    if text == NULL {
        return Err(Fault::data("\"datasetId\" cannot be removed"));
    }
    check_uri(text).map_err(|error| Fault::data(format!("\"datasetId\": {error}")))?;
    Ok(Some(text.into()))
}

/// Whether an element behind the one that comes next is an object whose `type` is a kind of attribute.
fn names_a_kind(mut look: Reader<'_>) -> Outcome<bool> {
    look.skip()?;
    while look.next_element()? {
        if look.peek()? != Json::Object {
            look.skip()?;
            continue;
        }
        look.begin_object()?;
        while let Some(key) = look.next_key()? {
            if matches!(&*key, "type" | "@type") && look.peek()? == Json::String {
                if kind_of(&look.string()?).is_some() {
                    return Ok(true);
                }
            } else {
                look.skip()?;
            }
        }
    }
    Ok(false)
}

/// Checks that no two instances have the same datasetId.
pub(super) fn differ(instances: &[Instance]) -> Outcome<()> {
    let twice = if instances.len() <= FEW {
        let mut rest = instances.iter();
        instances.iter().find(|instance| {
            rest.next();
            rest.as_slice().iter().any(|other| other.dataset == instance.dataset)
        })
    } else {
        let mut seen = HashSet::with_capacity(instances.len());
        instances.iter().find(|instance| !seen.insert(instance.dataset.as_deref()))
    };
    match twice.map(|instance| instance.dataset.as_deref()) {
        None => Ok(()),
        Some(Some(dataset)) => Err(Fault::data(format!("two instances have the datasetId {dataset:?}"))),
        Some(None) => Err(Fault::data("two instances have no datasetId: all but one must have one")),
    }
}

/// An instance that a client wants removed.
pub(super) fn removed() -> Instance {
    Instance { kind: None, value: None, remove: true, ..Instance::new(Kind::Property, "") }
}
