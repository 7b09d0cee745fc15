//! One attribute instance (5.2.5 to 5.2.8, 5.2.32 to 5.2.38): the members of its object.

use lang_json::Kind as Json;
use model_entities::{Extra, Field, Instance, Kind};

use super::attribute::{asks_removal, dataset, differ, kind_of, removed};
use super::entity::Seen;
use super::fault::{Fault, Outcome};
use super::name::is_made_by_brokers;
use super::parser::Parser;
use super::value::Slot;
use super::{Nulls, Rules};

/// An instance under construction.
struct Parts {
    instance: Instance,
    /// Where its value stood.
    slot: Option<Slot>,
    /// Whether the value asks for removal.
    null: bool,
    /// Whether a joined entity stands beside an object; it is not kept.
    joined: Option<&'static str>,
    seen: Seen,
}

impl Parser<'_> {
    /// The next value, an object, as an instance. `outermost`: it is the whole body, which may hold
    /// the `@context`.
    pub(super) fn instance(&mut self, outermost: bool) -> Outcome<Instance> {
        self.reader.begin_object()?;
        let instance = Instance { kind: None, value: None, ..Instance::new(Kind::Property, "") };
        let mut parts = Parts { instance, slot: None, null: false, joined: None, seen: Seen::default() };
        while let Some(key) = self.reader.next_key()? {
            match &*key {
                "type" | "@type" => self.kind(&mut parts)?,
                "@context" if outermost => self.reader.skip()?,
                "entity" => self.joined(&mut parts, "entity")?,
                "entityList" => self.joined(&mut parts, "entityList")?,
                key => match Slot::of(key) {
                    Some(slot) => self.slot(&mut parts, slot)?,
                    None => self.member(&mut parts, key)?,
                },
            }
        }
        self.assembled(parts)
    }

    fn kind(&mut self, parts: &mut Parts) -> Outcome<()> {
        let name = self.text("type")?;
        if parts.instance.kind.is_some() {
            return Err(Fault::data("\"type\" is given twice"));
        }
        parts.instance.kind = kind_of(&name);
        if parts.instance.kind.is_none() {
            return Err(Fault::data(format!(
                "\"type\": {name:?} is no kind of attribute (Property, GeoProperty, Relationship, LanguageProperty, VocabProperty, JsonProperty, ListProperty, ListRelationship)"
            )));
        }
        Ok(())
    }

    fn joined(&mut self, parts: &mut Parts, member: &'static str) -> Outcome<()> {
        parts.joined = Some(member);
        Ok(self.reader.skip()?)
    }

    fn slot(&mut self, parts: &mut Parts, slot: Slot) -> Outcome<()> {
        if let Some(other) = parts.slot {
            return Err(Fault::data(format!("has both {:?} and {:?}", other.member(), slot.member())));
        }
        let value = self.value_text()?;
        parts.slot = Some(slot);
        match asks_removal(&value, self.rules.nulls) {
            Some(null) => parts.null = null,
            None => return Err(refused_null(slot.member(), &value)),
        }
        parts.instance.value = Some(value);
        Ok(())
    }

    /// A member that holds no value.
    fn member(&mut self, parts: &mut Parts, key: &str) -> Outcome<()> {
        let instance = &mut parts.instance;
        match key {
            "observedAt" | "unitCode" | "expiresAt" => self.metadata(instance, key)?,
            "datasetId" => {
                let text = self.text("datasetId")?;
                instance.dataset = dataset(&text)?;
            }
            "objectType" => self.extra_names(instance, Extra::ObjectType, "objectType")?,
            "valueType" => self.extra_names(instance, Extra::ValueType, "valueType")?,
            "ngsildproof" => {
                let value = self.value_text()?;
                instance.extras.push((Extra::Proof, value));
            }
            key if is_made_by_brokers(key) => self.reader.skip()?,
            "lang" if self.reader.peek()? == Json::String => self.reader.skip()?,
            "id" => return Err(Fault::data("an attribute cannot have an \"id\"")),
            key if key.starts_with('@') => {
                return Err(Fault::data(format!(
                    "{key:?} is a JSON-LD keyword that an attribute cannot have"
                )));
            }
            key => self.sub_attribute(parts, key)?,
        }
        Ok(())
    }

    fn sub_attribute(&mut self, parts: &mut Parts, key: &str) -> Outcome<()> {
        let instance = &mut parts.instance;
        if self.removal(key)? {
            let term = self.attribute_term(key)?;
            instance.remove_members.push(term);
            return Ok(());
        }
        let attribute = self.attribute(key)?;
        if self.rules.temporal {
            differ(&attribute.instances).map_err(|fault| fault.within(key))?;
        }
        parts.seen.first(&instance.members, &attribute, key)?;
        instance.members.push(attribute);
        Ok(())
    }

    fn metadata(&mut self, instance: &mut Instance, key: &str) -> Outcome<()> {
        if self.removal(key)? {
            instance.remove_fields.push(match key {
                "observedAt" => Field::ObservedAt,
                "expiresAt" => Field::ExpiresAt,
                _ => Field::UnitCode,
            });
            return Ok(());
        }
        let twice = match key {
            "observedAt" => instance.observed_at.replace(self.time(key)?).is_some(),
            "expiresAt" => instance.expires_at.replace(self.time(key)?).is_some(),
            _ => instance.unit_code.replace(self.text(key)?.into()).is_some(),
        };
        if twice { Err(Fault::data(format!("{key:?} is given twice"))) } else { Ok(()) }
    }

    /// A member that holds a name or several, which are kept as IRIs.
    fn extra_names(&mut self, instance: &mut Instance, extra: Extra, member: &str) -> Outcome<()> {
        if self.removal(member)? {
            instance.remove_fields.push(Field::Extra(extra));
            return Ok(());
        }
        if !matches!(self.reader.peek()?, Json::String | Json::Array) {
            return Err(Fault::data(format!("{member:?} must be a string or an array of strings")));
        }
        let value = self.value_text()?;
        let value = self.expanded(member, &value)?;
        instance.extras.push((extra, value));
        Ok(())
    }

    /// Puts kind and value together and checks them against each other.
    fn assembled(&mut self, parts: Parts) -> Outcome<Instance> {
        let Parts { mut instance, slot, null, joined, .. } = parts;
        if null {
            return Ok(Instance { dataset: instance.dataset, kind: instance.kind, ..removed() });
        }
        let kind = match (instance.kind, slot) {
            (Some(kind), Some(slot)) if Slot::of_kind(kind) != slot => {
                let expected = Slot::of_kind(kind).member();
                let found = slot.member();
                return Err(Fault::data(format!(
                    "a {kind:?} has its value in {expected:?}, not in {found:?}"
                )));
            }
            (Some(kind), _) => Some(kind),
            (None, Some(slot)) => instance.value.as_deref().map(|value| slot.inferred(value)),
            (None, None) => None,
        };
        instance.kind = kind;
        if let (Some(kind), Some(value)) = (kind, instance.value.take()) {
            instance.value = Some(self.checked(kind, Slot::of_kind(kind).member(), value)?);
        }
        check_members(&instance, joined)?;
        check_complete(&instance, self.rules)?;
        Ok(instance)
    }
}

#[cold]
fn refused_null(member: &str, value: &str) -> Box<Fault> {
    let null = if value == "null" { "null" } else { super::NULL };
    Fault::data(format!("{member:?} must not be {null} here"))
}

/// Members that only some kinds may have.
fn check_members(instance: &Instance, joined: Option<&str>) -> Outcome<()> {
    let Some(kind) = instance.kind else { return Ok(()) };
    let relation = matches!(kind, Kind::Relationship | Kind::ListRelationship);
    let numeric = matches!(kind, Kind::Property | Kind::ListProperty | Kind::GeoProperty);
    let has = |extra| instance.extras.iter().any(|(held, _)| *held == extra);
    let wrong = if instance.unit_code.is_some() && !numeric {
        Some("unitCode")
    } else if has(Extra::ObjectType) && !relation {
        Some("objectType")
    } else if has(Extra::ValueType) && relation {
        Some("valueType")
    } else {
        joined.filter(|_| !relation)
    };
    wrong.map_or(Ok(()), |member| Err(Fault::data(format!("a {kind:?} cannot have {member:?}"))))
}

/// Whether all is there that must be.
fn check_complete(instance: &Instance, rules: &Rules) -> Outcome<()> {
    if rules.partial || instance.value.is_some() {
        return Ok(());
    }
    let nulls = if rules.nulls == Nulls::Deletes { " (or urn:ngsi-ld:null)" } else { "" };
    Err(Fault::data(match instance.kind {
        Some(kind) => format!("a {kind:?} must have a {:?}{nulls}", Slot::of_kind(kind).member()),
        None => format!("must have a value{nulls}"),
    }))
}
