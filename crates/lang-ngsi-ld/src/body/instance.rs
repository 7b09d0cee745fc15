//! One attribute instance (5.2.5 to 5.2.8, 5.2.32 to 5.2.38): the members of its object.

use lang_json::Kind as Json;
use model_entities::{Extra, Field, Instance, Kind};
use smallvec::SmallVec;

use super::attribute::{dataset, differ, removed};
use super::entity::{INSTANCES, SUB_ATTRIBUTES, Seen, check_count};
use super::fault::{Fault, Outcome};
use super::name::{is_attribute_member, is_stamp};
use super::parser::Parser;
use super::rules::{NULL, Nulls, Rules, asks_removal};
use super::slot::{Slot, kind_of, previous_slot};
use super::value::inferred_kind;

/// An instance under construction.
struct Parts {
    instance: Instance,
    /// The member that held its value.
    slot: Option<Slot>,
    /// Whether the value asks for removal.
    null: bool,
    /// Members that brokers alone make, of some kinds of attributes; they are not stored.
    outputs: SmallVec<[Output; 1]>,
    /// Whether it is a proof, which may seal the entity's id and type.
    is_proof: bool,
    seen: Seen,
}

/// A member that brokers alone make, and of certain kinds only: what is sent of it is passed over (5.2.5, 5.2.6), where
/// the kind is not one that can never have it (4.5.2.2, 4.5.3.2).
#[derive(Clone, Copy, PartialEq)]
enum Output {
    /// What the slot held before a change.
    Previous(Slot),
    /// The entity that a Relationship leads to.
    Entity,
    /// Those that a ListRelationship leads to.
    EntityList,
}

impl Output {
    fn of(member: &str) -> Option<Self> {
        match member {
            "entity" => Some(Self::Entity),
            "entityList" => Some(Self::EntityList),
            member => previous_slot(member).map(Self::Previous),
        }
    }

    fn belongs_to(self, kind: Kind) -> bool {
        match self {
            Self::Previous(slot) => Slot::of_kind(kind) == slot,
            Self::Entity => kind == Kind::Relationship,
            Self::EntityList => kind == Kind::ListRelationship,
        }
    }

    fn member(self) -> String {
        let slot = match self {
            Self::Entity => return "entity".to_owned(),
            Self::EntityList => return "entityList".to_owned(),
            Self::Previous(slot) => slot.member(),
        };
        let (first, rest) = slot.split_at(1);
        format!("previous{}{rest}", first.to_ascii_uppercase())
    }
}

impl Parser<'_> {
    /// The next value, an object, as an instance of the attribute of this name. `outermost`: it is the whole body, which
    /// may hold the `@context`.
    pub(super) fn instance(&mut self, name: &str, outermost: bool) -> Outcome<Instance> {
        self.reader.begin_object()?;
        let instance = Instance { kind: None, value: None, ..Instance::new(Kind::Property, "") };
        let is_proof = self.is_core(name, &["ngsildproof"]);
        let (outputs, seen) = (SmallVec::new(), Seen::default());
        let mut parts = Parts { instance, slot: None, null: false, outputs, is_proof, seen };
        while let Some(key) = self.reader.next_key()? {
            match &*key {
                "type" | "@type" => self.kind(&mut parts)?,
                "@context" if outermost => self.reader.skip()?,
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
            return Err(Fault::no_kind(&name));
        }
        Ok(())
    }

    fn output(&mut self, parts: &mut Parts, output: Output) -> Outcome<()> {
        if !parts.outputs.contains(&output) {
            parts.outputs.push(output);
        }
        Ok(self.reader.skip()?)
    }

    fn slot(&mut self, parts: &mut Parts, slot: Slot) -> Outcome<()> {
        if let Some(other) = parts.slot {
            return Err(Fault::data(format!(
                "must have its value in one member, not in both {:?} and {:?}",
                other.member(),
                slot.member()
            )));
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
                put_extra(instance, Extra::Proof, key, value)?;
            }
            "entityIdSealed" | "entityTypeSealed" if !parts.is_proof => {
                return Err(Fault::data(format!("{key:?} belongs to \"ngsildproof\" alone")));
            }
            key if is_stamp(key) => self.reader.skip()?,
            "lang" if self.reader.peek()? == Json::String => self.reader.skip()?,
            "id" => return Err(Fault::data("an attribute cannot have an \"id\"")),
            key if key.starts_with('@') => {
                return Err(Fault::data(format!(
                    "{key:?} is a JSON-LD keyword that an attribute cannot have"
                )));
            }
            key => match Output::of(key) {
                Some(output) => self.output(parts, output)?,
                None => self.sub_attribute(parts, key)?,
            },
        }
        Ok(())
    }

    fn sub_attribute(&mut self, parts: &mut Parts, key: &str) -> Outcome<()> {
        let instance = &mut parts.instance;
        if self.removal(key)? {
            let term = self.attribute_term(key)?;
            self.check_shown(key, term, is_attribute_member)?;
            instance.remove_members.push(term);
            return check_count(instance.remove_members.len(), &SUB_ATTRIBUTES);
        }
        let attribute = self.attribute(key)?;
        self.check_shown(key, attribute.name, is_attribute_member)?;
        if self.rules.temporal {
            differ(&attribute.instances).map_err(|fault| fault.within(key))?;
            check_count(attribute.instances.len(), &INSTANCES).map_err(|fault| fault.within(key))?;
        }
        parts.seen.first(&instance.members, &attribute, key)?;
        instance.members.push(attribute);
        check_count(instance.members.len(), &SUB_ATTRIBUTES)
    }

    fn metadata(&mut self, instance: &mut Instance, key: &str) -> Outcome<()> {
        if self.removal(key)? {
            remove_field(
                instance,
                match key {
                    "observedAt" => Field::ObservedAt,
                    "expiresAt" => Field::ExpiresAt,
                    _ => Field::UnitCode,
                },
            );
            return Ok(());
        }
        let twice = match key {
            "observedAt" => instance.observed_at.replace(self.time(key)?).is_some(),
            "expiresAt" => instance.expires_at.replace(self.time(key)?).is_some(),
            _ => instance.unit_code.replace(self.text(key)?.into()).is_some(),
        };
        if twice { Err(Fault::data(format!("{key:?} is given twice"))) } else { Ok(()) }
    }

    /// A member that holds a name or several, which are stored as IRIs.
    fn extra_names(&mut self, instance: &mut Instance, extra: Extra, member: &str) -> Outcome<()> {
        if self.removal(member)? {
            remove_field(instance, Field::Extra(extra));
            return Ok(());
        }
        if !matches!(self.reader.peek()?, Json::String | Json::Array) {
            return Err(self.expected(member, "a string or an array of strings"));
        }
        let value = self.value_text()?;
        let value = self.expanded(member, &value)?;
        put_extra(instance, extra, member, value)
    }

    /// Puts kind and value together and checks them against each other.
    fn assembled(&mut self, parts: Parts) -> Outcome<Instance> {
        let Parts { mut instance, slot, null, outputs, .. } = parts;
        if null {
            // What is recorded as removed has a kind; what is to be removed has that of what is stored.
            let recorded = slot.filter(|_| self.rules.nulls == Nulls::Records).map(Slot::kind);
            return Ok(Instance { dataset: instance.dataset, kind: instance.kind.or(recorded), ..removed() });
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
            (None, Some(slot)) => instance.value.as_deref().map(|value| inferred_kind(slot, value)),
            (None, None) => None,
        };
        instance.kind = kind;
        if let (Some(kind), Some(value)) = (kind, instance.value.take()) {
            instance.value = Some(self.checked(kind, Slot::of_kind(kind).member(), value)?);
        }
        check_members(&instance, &outputs)?;
        check_complete(&instance, self.rules)?;
        Ok(instance)
    }
}

#[cold]
fn refused_null(member: &str, value: &str) -> Box<Fault> {
    let null = if value == "null" { "null" } else { NULL };
    Fault::data(format!("{member:?} must not be {null} here"))
}

/// Stores a member that may come once.
fn put_extra(instance: &mut Instance, extra: Extra, member: &str, value: Box<str>) -> Outcome<()> {
    if instance.extras.iter().any(|(other, _)| *other == extra) {
        return Err(Fault::data(format!("{member:?} is given twice")));
    }
    instance.extras.push((extra, value));
    Ok(())
}

fn remove_field(instance: &mut Instance, field: Field) {
    if !instance.remove_fields.contains(&field) {
        instance.remove_fields.push(field);
    }
}

/// Members that only some kinds may have.
fn check_members(instance: &Instance, outputs: &[Output]) -> Outcome<()> {
    let Some(kind) = instance.kind else { return Ok(()) };
    let relation = matches!(kind, Kind::Relationship | Kind::ListRelationship);
    let numeric = matches!(kind, Kind::Property | Kind::ListProperty | Kind::GeoProperty);
    let has = |extra| instance.extras.iter().any(|(other, _)| *other == extra);
    let wrong = if instance.unit_code.is_some() && !numeric {
        Some("unitCode".to_owned())
    } else if has(Extra::ObjectType) && !relation {
        Some("objectType".to_owned())
    } else if has(Extra::ValueType) && relation {
        Some("valueType".to_owned())
    } else {
        outputs.iter().find(|output| !output.belongs_to(kind)).map(|output| output.member())
    };
    wrong.map_or(Ok(()), |member| Err(Fault::data(format!("a {kind:?} cannot have {member:?}"))))
}

/// Whether all is there that must be.
fn check_complete(instance: &Instance, rules: &Rules) -> Outcome<()> {
    if rules.partial || instance.value.is_some() {
        return Ok(());
    }
    let nulls = if rules.nulls.remove() { " (or urn:ngsi-ld:null)" } else { "" };
    Err(Fault::data(match instance.kind {
        Some(kind) => format!("a {kind:?} must have a {:?}{nulls}", Slot::of_kind(kind).member()),
        None => format!("must have a value{nulls}"),
    }))
}
