//! A plain model of entities, for tests: owned, slow, and written without looking at `apply`.

use serde_json::Value;
use store::Timestamp;

use crate::{
    Attribute, AttributeView, Draft, EntityView, Extra, Fate, Field, Instance, InstanceView, Instances, Kind,
    MergeOptions, Operation, TermId,
};

#[derive(Clone, Debug, PartialEq)]
pub struct PlainEntity {
    pub id: String,
    pub created: i64,
    pub modified: i64,
    pub expires: Option<i64>,
    pub types: Vec<u32>,
    pub scopes: Vec<String>,
    /// Since when there are any.
    pub scoped: Option<i64>,
    pub attributes: Vec<PlainAttribute>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlainAttribute {
    pub name: u32,
    pub instances: Vec<PlainInstance>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlainInstance {
    pub kind: Kind,
    pub dataset: Option<String>,
    pub value: String,
    pub created: i64,
    pub modified: i64,
    pub observed: Option<i64>,
    pub expires: Option<i64>,
    pub unit: Option<String>,
    pub extras: Vec<(Extra, String)>,
    pub members: Vec<PlainAttribute>,
}

impl PlainEntity {
    pub fn read(view: &EntityView<'_>) -> Self {
        Self {
            id: view.id().into(),
            created: view.created_at().0,
            modified: view.modified_at().0,
            expires: view.expires_at().map(|time| time.0),
            types: view.types().map(|term| term.0).collect(),
            scopes: view.scopes().map(Into::into).collect(),
            scoped: view.scoped_at().map(|time| time.0),
            attributes: view.attributes().map(|attribute| PlainAttribute::read(&attribute)).collect(),
        }
    }

    /// What is left of it at `now`.
    pub fn live(&self, now: i64) -> Option<Self> {
        let alive = |expires: Option<i64>| expires.is_none_or(|expires| expires > now);
        let mut entity = self.clone();
        for attribute in &mut entity.attributes {
            attribute.instances.retain(|instance| alive(instance.expires));
        }
        entity.attributes.retain(|attribute| !attribute.instances.is_empty());
        alive(self.expires).then_some(entity)
    }
}

impl PlainAttribute {
    fn read(view: &AttributeView<'_>) -> Self {
        let instances = view.instances().map(|instance| PlainInstance::read(&instance)).collect();
        Self { name: view.name().0, instances }
    }

    fn new(given: &Attribute, now: i64) -> Self {
        let instances = given.instances.iter().filter(|given| !given.remove);
        Self {
            name: given.name.0,
            instances: instances.map(|instance| PlainInstance::new(instance, now)).collect(),
        }
    }
}

impl PlainInstance {
    pub fn read(view: &InstanceView<'_>) -> Self {
        Self {
            kind: view.kind(),
            dataset: view.dataset().map(Into::into),
            value: view.value().into(),
            created: view.created_at().0,
            modified: view.modified_at().0,
            observed: view.observed_at().map(|time| time.0),
            expires: view.expires_at().map(|time| time.0),
            unit: view.unit_code().map(Into::into),
            extras: view.extras().map(|(tag, text)| (tag, text.into())).collect(),
            members: view.members().map(|member| PlainAttribute::read(&member)).collect(),
        }
    }

    fn new(given: &Instance, now: i64) -> Self {
        Self {
            kind: given.kind.unwrap_or(Kind::Property),
            dataset: given.dataset.as_deref().map(Into::into),
            value: given.value.as_deref().unwrap().into(),
            created: now,
            modified: now,
            observed: given.observed_at.map(|time| time.0),
            expires: given.expires_at.map(|time| time.0),
            unit: given.unit_code.as_deref().map(Into::into),
            extras: given.extras.iter().map(|(tag, text)| (*tag, text.to_string())).collect(),
            members: given.members.iter().map(|member| PlainAttribute::new(member, now)).collect(),
        }
    }

    /// `given` in its place: only createdAt of it and its members is left.
    fn replaced(&self, given: &Instance, now: i64) -> Self {
        let mut new = Self::new(given, now);
        new.kind = given.kind.unwrap_or(self.kind);
        new.created = self.created;
        new.members.clear();
        for existing in &self.members {
            if let Some(given) = given.members.iter().find(|given| given.name.0 == existing.name) {
                new.members.push(replace_attribute(existing, given, now));
            }
        }
        for given in &given.members {
            if !self.members.iter().any(|existing| existing.name == given.name.0) {
                new.members.push(PlainAttribute::new(given, now));
            }
        }
        new
    }

    fn patched(&self, given: &Instance, now: i64) -> Self {
        let mut new = self.with_fields(given, now);
        new.value = given.value.as_deref().map_or(self.value.clone(), Into::into);
        for given in &given.members {
            match new.members.iter_mut().find(|existing| existing.name == given.name.0) {
                Some(existing) => *existing = replace_attribute(existing, given, now),
                None => new.members.push(PlainAttribute::new(given, now)),
            }
        }
        new
    }

    fn merged(&self, given: &Instance, options: &MergeOptions, outer: bool, now: i64) -> Self {
        let text = given.value.as_deref().filter(|value| {
            self.kind == Kind::LanguageProperty
                && value.starts_with('"')
                && matches!(given.kind, None | Some(Kind::Property))
        });
        let text = text.zip(options.lang.as_deref()).map(|(text, lang)| format!("{{\"{lang}\":{text}}}"));
        if text.is_none() && given.kind.is_some_and(|kind| kind != self.kind) {
            return self.replaced(&settled(given), now);
        }
        let mut new = self.with_fields(given, now);
        if outer && given.observed_at.is_none() && new.observed.is_some() {
            new.observed = options.observed_at.map(|time| time.0).or(self.observed);
        }
        if let Some(value) = text.as_deref().or(given.value.as_deref()) {
            new.value = merge_texts(self.kind, &self.value, value);
        }
        merge_attributes(&mut new.members, &given.members, options, false, now);
        new
    }

    fn with_fields(&self, given: &Instance, now: i64) -> Self {
        let mut new = self.clone();
        new.modified = now;
        let kept = |field: Field| !given.remove_fields.contains(&field);
        new.observed =
            given.observed_at.map(|time| time.0).or(self.observed.filter(|_| kept(Field::ObservedAt)));
        new.expires = given.expires_at.map(|time| time.0).or(self.expires.filter(|_| kept(Field::ExpiresAt)));
        new.unit = given
            .unit_code
            .as_deref()
            .map(Into::into)
            .or(self.unit.clone().filter(|_| kept(Field::UnitCode)));
        new.extras.retain(|(tag, _)| !given.extras.iter().any(|(given, _)| given == tag));
        new.extras.retain(|(tag, _)| kept(Field::Extra(*tag)));
        new.extras.extend(given.extras.iter().map(|(tag, text)| (*tag, text.to_string())));
        new.members.retain(|member| !given.remove_members.contains(&TermId(member.name)));
        new
    }
}

fn same(existing: &PlainInstance, given: &Instance) -> bool {
    existing.dataset.as_deref() == given.dataset.as_deref()
}

fn replace_attribute(existing: &PlainAttribute, given: &Attribute, now: i64) -> PlainAttribute {
    let mut instances = Vec::new();
    for old in &existing.instances {
        if let Some(given) = given.instances.iter().find(|given| same(old, given)) {
            instances.push(old.replaced(given, now));
        }
    }
    for given in &given.instances {
        if !existing.instances.iter().any(|old| same(old, given)) {
            instances.push(PlainInstance::new(given, now));
        }
    }
    PlainAttribute { name: existing.name, instances }
}

fn merge_attributes(
    existing: &mut Vec<PlainAttribute>,
    given: &[Attribute],
    options: &MergeOptions,
    outer: bool,
    now: i64,
) {
    for given in given {
        let Some(old) = existing.iter_mut().find(|old| old.name == given.name.0) else {
            existing.push(PlainAttribute::new(&settled_attribute(given), now));
            continue;
        };
        for given in &given.instances {
            match old.instances.iter().position(|old| same(old, given)) {
                Some(at) if given.remove => drop(old.instances.remove(at)),
                Some(at) => old.instances[at] = old.instances[at].merged(given, options, outer, now),
                None if given.remove => {}
                None => old.instances.push(PlainInstance::new(&settled(given), now)),
            }
        }
    }
    existing.retain(|attribute| !attribute.instances.is_empty());
}

fn merge_texts(kind: Kind, existing: &str, given: &str) -> String {
    let values: (Value, Value) =
        (serde_json::from_str(existing).unwrap(), serde_json::from_str(given).unwrap());
    match (kind, values) {
        (
            Kind::Property | Kind::LanguageProperty | Kind::JsonProperty,
            (Value::Object(existing), Value::Object(given)),
        ) if !given.contains_key("@value") => {
            merge_values(Value::Object(existing), Value::Object(given)).to_string()
        }
        _ => settled_text(given),
    }
}

/// What is new has nothing to remove from: the removals in it go.
fn settled(given: &Instance) -> Instance {
    let mut given = given.clone();
    given.value = given.value.map(|value| settled_text(&value).into());
    for member in &mut given.members {
        *member = settled_attribute(member);
    }
    given
}

fn settled_attribute(given: &Attribute) -> Attribute {
    Attribute { name: given.name, instances: given.instances.iter().map(settled).collect() }
}

fn settled_text(text: &str) -> String {
    fn settle(value: &mut Value) {
        if let Value::Object(members) = value {
            members.retain(|_, value| *value != "urn:ngsi-ld:null");
            members.values_mut().for_each(settle);
        }
    }
    if !text.starts_with('{') {
        return text.into();
    }
    let mut value = serde_json::from_str(text).unwrap();
    settle(&mut value);
    value.to_string()
}

/// RFC 7396, with the text that NGSI-LD has for null.
fn merge_values(existing: Value, given: Value) -> Value {
    let Value::Object(given) = given else {
        return given;
    };
    let mut new = if let Value::Object(existing) = existing { existing } else { serde_json::Map::new() };
    for (key, value) in given {
        if value.is_null() || value == "urn:ngsi-ld:null" {
            new.shift_remove(&key);
        } else {
            let old = new.get(&key).cloned().unwrap_or(Value::Null);
            new.insert(key, merge_values(old, value));
        }
    }
    Value::Object(new)
}

fn created(id: &str, draft: &Draft, now: i64) -> Option<PlainEntity> {
    let unfit = |attribute: &Attribute| attribute.instances.iter().any(|instance| instance.remove);
    if draft.types.is_empty() || draft.attributes.iter().any(unfit) {
        return None;
    }
    let mut types: Vec<u32> = Vec::new();
    for of_type in &draft.types {
        if !types.contains(&of_type.0) {
            types.push(of_type.0);
        }
    }
    Some(PlainEntity {
        id: id.into(),
        created: now,
        modified: now,
        expires: draft.expires_at.map(|time| time.0),
        types,
        scopes: draft.scopes.iter().flatten().map(|scope| scope.to_string()).collect(),
        scoped: draft.scopes.iter().flatten().next().map(|_| now),
        attributes: draft.attributes.iter().map(|attribute| PlainAttribute::new(attribute, now)).collect(),
    })
}

/// What an operation makes of what is stored; `Err` where it is refused.
pub fn apply_plainly(
    stored: Option<&PlainEntity>,
    id: &str,
    operation: &Operation,
    now: Timestamp,
) -> Result<(Fate, Option<PlainEntity>), ()> {
    let now = now.0;
    let existing = stored.and_then(|stored| stored.live(now));
    let (existing, operation) = match (existing, operation) {
        (
            None,
            Operation::Create(draft) | Operation::UpsertReplace(draft) | Operation::UpsertUpdate(draft),
        ) => {
            return created(id, draft, now).map(|new| (Fate::Created, Some(new))).ok_or(());
        }
        (None, _) | (Some(_), Operation::Create(_)) => return Err(()),
        (Some(_), Operation::Delete) => return Ok((Fate::Deleted, None)),
        (Some(existing), operation) => (existing, operation),
    };
    let mut new = existing.clone();
    let touched = change(&mut new, operation, now)?;
    let header = |entity: &PlainEntity| (entity.types.clone(), entity.scopes.clone(), entity.expires);
    if !touched && header(&existing) == header(&new) {
        return Ok((Fate::Unchanged, stored.cloned()));
    }
    new.modified = now;
    new.scoped = if new.scopes.is_empty() { None } else { existing.scoped.or(Some(now)) };
    new.attributes.retain(|attribute| !attribute.instances.is_empty());
    Ok((Fate::Updated, Some(new)))
}

/// Answers whether any attribute was touched.
fn change(new: &mut PlainEntity, operation: &Operation, now: i64) -> Result<bool, ()> {
    match operation {
        Operation::Replace(draft) | Operation::UpsertReplace(draft) => replace(new, draft, now),
        Operation::Merge(draft, options) => {
            set_header(new, draft, false);
            let existing = new.attributes.clone();
            merge_attributes(&mut new.attributes, &draft.attributes, options, true, now);
            // A existing instance that is given is touched even if that leaves it as it was.
            let given = |old: &PlainAttribute| {
                let instances = |given: &Attribute| {
                    old.instances.iter().any(|old| given.instances.iter().any(|given| same(old, given)))
                };
                draft.attributes.iter().any(|given| given.name.0 == old.name && instances(given))
            };
            Ok(existing != new.attributes || existing.iter().any(given))
        }
        Operation::Append { draft, keep_existing } => {
            set_header(new, draft, *keep_existing);
            Ok(write(new, &draft.attributes, !keep_existing, now))
        }
        Operation::UpsertUpdate(draft) => {
            set_header(new, draft, false);
            Ok(write(new, &draft.attributes, true, now))
        }
        Operation::Update(draft) => {
            let scopes = new.scopes.clone();
            set_header(new, draft, false);
            if scopes.is_empty() {
                new.scopes.clear();
            }
            Ok(write(new, &draft.attributes, true, now))
        }
        Operation::PatchAttribute(given) => {
            for given_one in &given.instances {
                let existing = instance(new, given.name, given_one).ok_or(())?;
                if !given_one.remove {
                    if given_one.kind.is_some_and(|kind| kind != existing.kind) {
                        return Err(());
                    }
                    *existing = existing.patched(given_one, now);
                }
            }
            remove(new, given);
            Ok(true)
        }
        Operation::ReplaceAttribute(given) => {
            for given_one in &given.instances {
                let existing = instance(new, given.name, given_one).ok_or(())?;
                if !given_one.remove {
                    *existing = existing.replaced(given_one, now);
                }
            }
            remove(new, given);
            Ok(true)
        }
        Operation::DeleteAttribute { name, instances } => delete_attribute(new, *name, instances),
        Operation::Retain { names, keep } => {
            let before = new.attributes.len();
            new.attributes.retain(|attribute| names.contains(&TermId(attribute.name)) == *keep);
            Ok(before != new.attributes.len())
        }
        Operation::DeleteScopes => {
            let existing = !std::mem::take(&mut new.scopes).is_empty();
            if existing { Ok(true) } else { Err(()) }
        }
        Operation::Create(_) | Operation::Delete => unreachable!("handled before"),
    }
}

fn delete_attribute(new: &mut PlainEntity, name: TermId, instances: &Instances) -> Result<bool, ()> {
    let before = new.clone();
    for attribute in new.attributes.iter_mut().filter(|attribute| attribute.name == name.0) {
        attribute.instances.retain(|instance| match instances {
            Instances::All => false,
            Instances::Default => instance.dataset.is_some(),
            Instances::Dataset(dataset) => instance.dataset.as_deref() != Some(dataset),
        });
    }
    if before == *new { Err(()) } else { Ok(true) }
}

fn instance<'a>(
    entity: &'a mut PlainEntity,
    name: TermId,
    given: &Instance,
) -> Option<&'a mut PlainInstance> {
    let attribute = entity.attributes.iter_mut().find(|attribute| attribute.name == name.0)?;
    attribute.instances.iter_mut().find(|instance| same(instance, given))
}

fn remove(entity: &mut PlainEntity, given: &Attribute) {
    for attribute in entity.attributes.iter_mut().filter(|attribute| attribute.name == given.name.0) {
        attribute
            .instances
            .retain(|existing| !given.instances.iter().any(|given| given.remove && same(existing, given)));
    }
}

fn replace(new: &mut PlainEntity, draft: &Draft, now: i64) -> Result<bool, ()> {
    if !draft.types.is_empty() {
        new.types.clear();
        for of_type in &draft.types {
            if !new.types.contains(&of_type.0) {
                new.types.push(of_type.0);
            }
        }
    }
    new.scopes = draft.scopes.iter().flatten().map(|scope| scope.to_string()).collect();
    new.expires = draft.expires_at.map(|time| time.0);
    let touched = !new.attributes.is_empty() || !draft.attributes.is_empty();
    let mut attributes = Vec::new();
    for existing in &new.attributes {
        if let Some(given) = draft.attributes.iter().find(|given| given.name.0 == existing.name) {
            let mut given = given.clone();
            let removed: Vec<_> =
                given.instances.iter().filter(|one| one.remove).map(|one| one.dataset.clone()).collect();
            given.instances.retain(|instance| !instance.remove);
            let mut existing = existing.clone();
            existing.instances.retain(|existing| {
                !removed.iter().any(|dataset| existing.dataset.as_deref() == dataset.as_deref())
            });
            attributes.push(replace_attribute(&existing, &given, now));
        }
    }
    for given in &draft.attributes {
        if !new.attributes.iter().any(|existing| existing.name == given.name.0) {
            attributes.push(PlainAttribute::new(given, now));
        }
    }
    let added = attributes.iter().any(|attribute| !attribute.instances.is_empty());
    let touched = touched && (added || !new.attributes.is_empty());
    new.attributes = attributes;
    Ok(touched)
}

fn set_header(new: &mut PlainEntity, draft: &Draft, add_scopes: bool) {
    for of_type in &draft.types {
        if !new.types.contains(&of_type.0) {
            new.types.push(of_type.0);
        }
    }
    let given = draft.scopes.iter().flatten().map(|scope| scope.to_string());
    if add_scopes {
        let existing = new.scopes.clone();
        new.scopes.extend(given.filter(|scope| !existing.contains(scope)));
    } else if draft.scopes.is_some() {
        new.scopes = given.collect();
    }
    new.expires = draft.expires_at.map(|time| time.0).or(new.expires);
}

/// Answers whether any attribute was touched.
fn write(new: &mut PlainEntity, given: &[Attribute], overwrite: bool, now: i64) -> bool {
    let mut touched = false;
    for given in given {
        for given_one in &given.instances {
            match instance(new, given.name, given_one) {
                Some(existing) if overwrite => {
                    touched = true;
                    if !given_one.remove {
                        *existing = existing.replaced(given_one, now);
                    }
                }
                Some(_) => {}
                None if !given_one.remove => {
                    touched = true;
                    let instance = PlainInstance::new(given_one, now);
                    match new.attributes.iter_mut().find(|existing| existing.name == given.name.0) {
                        Some(existing) => existing.instances.push(instance),
                        None => new
                            .attributes
                            .push(PlainAttribute { name: given.name.0, instances: vec![instance] }),
                    }
                }
                None => {}
            }
        }
        if overwrite {
            remove(new, given);
        }
    }
    touched
}
