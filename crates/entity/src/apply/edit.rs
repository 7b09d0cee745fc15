//! Attributes edited: existing instances copied, replaced, patched, merged or dropped, new ones added.

use std::borrow::Cow;

use lang_json::ObjectWriter;
use store::Timestamp;

use super::check::{check_attributes_count, check_instance, check_instances_count, check_new};
use super::given::Given;
use super::merge::{merged_value, settled_attribute, settled_instance};
use super::rules::{OnExisting, OnMissing, Rules};
use crate::encode::{InstanceHead, put_attribute, put_instance, put_text, put_varint, seal};
use crate::{
    Attribute, AttributeView, Change, Error, Extra, Field, Instance, InstanceView, Kind, MergeOptions,
    NotUpdated, TermId,
};

/// A stored form in the making.
pub(super) struct Editor {
    pub out: Vec<u8>,
    pub change: Change,
    now: Timestamp,
    /// Within an attribute: what happens there is reported of the attribute, not of its members.
    depth: usize,
}

impl Editor {
    pub(super) fn new(out: Vec<u8>, now: Timestamp) -> Self {
        Self { out, change: Change::default(), now, depth: 0 }
    }

    /// Appends what becomes of `existing` attributes, and those that are added.
    pub(super) fn edit_attributes<'v>(
        &mut self,
        existing: &(impl Iterator<Item = AttributeView<'v>> + Clone),
        given: &[Attribute],
        rules: Rules<'_>,
    ) -> Result<(), Error> {
        let mut given = Given::new(given, |given: &Attribute| given.name);
        let (mut count, mut added) = (0, false);
        for attribute in existing.clone() {
            let start = self.out.len();
            match given.take(&attribute.name()) {
                Some(given) => self.edit_attribute(&attribute, given, rules)?,
                None if rules.others_stay => self.out.extend_from_slice(attribute.bytes()),
                None => self.touched(attribute.name()),
            }
            count += usize::from(self.out.len() > start);
        }
        for attribute in given.left() {
            let start = self.out.len();
            self.add_attribute(attribute, rules)?;
            count += usize::from(self.out.len() > start);
            added |= self.out.len() > start;
        }
        // What was stored before there was the limit may stay.
        if added { check_attributes_count(count, self.depth) } else { Ok(()) }
    }

    fn edit_attribute(
        &mut self,
        existing: &AttributeView<'_>,
        given: &Attribute,
        rules: Rules<'_>,
    ) -> Result<(), Error> {
        let start = self.out.len();
        let changed =
            self.put_instances(given.name, |editor| editor.edit_instances(existing, given, rules))?;
        if changed {
            self.touched(given.name);
        } else {
            self.out.truncate(start);
            self.out.extend_from_slice(existing.bytes());
        }
        Ok(())
    }

    /// Appends an attribute with the instances that `put` appends, or nothing if that appends none.
    pub(super) fn put_instances<T>(
        &mut self,
        name: TermId,
        put: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let start = self.out.len();
        put_varint(&mut self.out, u64::from(name.0));
        let body = self.out.len();
        let answer = put(self)?;
        if self.out.len() == body {
            self.out.truncate(start);
        } else {
            seal(&mut self.out, body);
        }
        Ok(answer)
    }

    /// Appends what becomes of existing instances, and those that are added; answers whether anything changed.
    fn edit_instances(
        &mut self,
        existing: &AttributeView<'_>,
        given: &Attribute,
        rules: Rules<'_>,
    ) -> Result<bool, Error> {
        let mut instances = Given::new(&given.instances, |given: &Instance| given.dataset.as_deref());
        let (mut changed, mut count, mut added) = (false, 0, 0);
        for instance in existing.instances() {
            let wanted = instances.take(&instance.dataset());
            changed |= self.edit_instance(given.name, &instance, wanted, rules)?;
            count += 1;
        }
        for instance in instances.left() {
            added += usize::from(self.add_missing(given.name, instance, rules)?);
        }
        if added > 0 {
            check_instances_count(count + added)?;
        }
        Ok(changed || added > 0)
    }

    /// Answers whether anything changed.
    fn edit_instance(
        &mut self,
        name: TermId,
        existing: &InstanceView<'_>,
        given: Option<&Instance>,
        rules: Rules<'_>,
    ) -> Result<bool, Error> {
        match (given, rules.on_existing) {
            (None, _) if !rules.siblings_stay => return Ok(true),
            (None, _) => self.out.extend_from_slice(existing.bytes()),
            (Some(_), OnExisting::Keep) => {
                self.not_updated(name, NotUpdated::Exists);
                self.out.extend_from_slice(existing.bytes());
            }
            (Some(given), _) if given.remove => return Ok(true),
            (Some(given), on_existing) => {
                self.put_instead(existing, given, on_existing)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Adds an instance beside others; a merge leaves none of the removals in it.
    fn add_missing(&mut self, name: TermId, given: &Instance, rules: Rules<'_>) -> Result<bool, Error> {
        if !matches!(rules.on_existing, OnExisting::Merge(_)) {
            return self.add_instance(name, given, rules.on_missing);
        }
        self.add_instance(name, &settled_instance(given), rules.on_missing)
    }

    fn add_attribute(&mut self, given: &Attribute, rules: Rules<'_>) -> Result<(), Error> {
        let merging = matches!(rules.on_existing, OnExisting::Merge(_));
        let given = if merging { settled_attribute(given) } else { Cow::Borrowed(given) };
        let given = given.as_ref();
        if rules.on_missing == OnMissing::Add && !given.instances.iter().any(|instance| instance.remove) {
            check_new(std::slice::from_ref(given))?;
            put_attribute(&mut self.out, given, self.now, self.now);
            self.touched(given.name);
            return Ok(());
        }
        let start = self.out.len();
        self.put_instances(given.name, |editor| {
            given.instances.iter().try_for_each(|instance| {
                editor.add_instance(given.name, instance, rules.on_missing).map(|_| ())
            })
        })?;
        if self.out.len() > start {
            self.touched(given.name);
        }
        Ok(())
    }

    /// Answers whether it was added. Removing what does not exist does nothing, where instances may be added.
    fn add_instance(&mut self, name: TermId, given: &Instance, on_missing: OnMissing) -> Result<bool, Error> {
        match on_missing {
            OnMissing::Refuse => return Err(Error::NoSuchAttribute(name, given.dataset.clone())),
            OnMissing::Add if given.remove => {}
            OnMissing::Add => {
                check_instance(given)?;
                put_instance(&mut self.out, given, self.now, self.now);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Appends `given` instead of `existing`.
    fn put_instead(
        &mut self,
        existing: &InstanceView<'_>,
        given: &Instance,
        on_existing: OnExisting<'_>,
    ) -> Result<(), Error> {
        let text = match on_existing {
            OnExisting::Merge(options) => merge_text(existing, given, options),
            _ => None,
        };
        let other_kind = given.kind.is_some_and(|kind| kind != existing.kind()) && text.is_none();
        // What replaces an instance has nothing to remove from; a merge removes as it goes.
        let settles = other_kind && matches!(on_existing, OnExisting::Merge(_));
        let on_existing = match on_existing {
            OnExisting::Patch if other_kind => {
                return Err(Error::Invalid(format!("type of a {:?} cannot be changed", existing.kind())));
            }
            OnExisting::Merge(_) if other_kind => OnExisting::Replace,
            other => other,
        };
        let base = Some(existing).filter(|_| !matches!(on_existing, OnExisting::Replace));
        let settled = if settles { settled_instance(given) } else { Cow::Borrowed(given) };
        let given = settled.as_ref();
        let start = self.out.len();
        self.put_head(existing, base, given, on_existing);
        self.put_value(base, given, on_existing, text.as_deref())?;
        self.put_extras(base, given);
        self.put_members(existing, given, on_existing)?;
        seal(&mut self.out, start);
        Ok(())
    }

    fn put_head(
        &mut self,
        existing: &InstanceView<'_>,
        base: Option<&InstanceView<'_>>,
        given: &Instance,
        on_existing: OnExisting<'_>,
    ) {
        let default_time = |observed: Timestamp| match on_existing {
            OnExisting::Merge(options) if self.depth == 0 => options.observed_at.unwrap_or(observed),
            _ => observed,
        };
        let merged = matches!(on_existing, OnExisting::Merge(_) | OnExisting::Patch);
        let staying = |field: Field| base.filter(|_| !given.remove_fields.contains(&field));
        let head = InstanceHead {
            kind: given.kind.filter(|_| !merged).unwrap_or(existing.kind()),
            created: existing.created_at(),
            modified: self.now,
            observed: given
                .observed_at
                .or(staying(Field::ObservedAt).and_then(|base| base.observed_at()).map(default_time)),
            expires: given.expires_at.or(staying(Field::ExpiresAt).and_then(|base| base.expires_at())),
            dataset: existing.dataset(),
            unit: given.unit_code.as_deref().or(staying(Field::UnitCode).and_then(|base| base.unit_code())),
            has_extras: !given.extras.is_empty() || staying_extras(base, given).next().is_some(),
        };
        head.put(&mut self.out);
    }

    fn put_value(
        &mut self,
        base: Option<&InstanceView<'_>>,
        given: &Instance,
        on_existing: OnExisting<'_>,
        text: Option<&str>,
    ) -> Result<(), Error> {
        let value = text.or(given.value.as_deref());
        match (value, base) {
            (Some(value), Some(base)) if matches!(on_existing, OnExisting::Merge(_)) => {
                put_text(&mut self.out, &merged_value(base.kind(), base.value(), value));
            }
            (Some(value), _) => put_text(&mut self.out, value),
            (None, Some(base)) => put_text(&mut self.out, base.value()),
            (None, None) => return Err(Error::Invalid("an attribute has no value".into())),
        }
        Ok(())
    }

    fn put_extras(&mut self, base: Option<&InstanceView<'_>>, given: &Instance) {
        let staying = || staying_extras(base, given);
        let count = staying().count() + given.extras.len();
        if count == 0 {
            return;
        }
        put_varint(&mut self.out, count as u64);
        for (tag, text) in staying().chain(given.extras.iter().map(|(tag, text)| (*tag, &**text))) {
            self.out.push(tag as u8);
            put_text(&mut self.out, text);
        }
    }

    /// Members that stay keep their times; members given twice over time keep their createdAt.
    fn put_members(
        &mut self,
        existing: &InstanceView<'_>,
        given: &Instance,
        on_existing: OnExisting<'_>,
    ) -> Result<(), Error> {
        let merging = matches!(on_existing, OnExisting::Merge(_));
        let rules = Rules {
            others_stay: !matches!(on_existing, OnExisting::Replace),
            siblings_stay: merging,
            on_existing: if merging { on_existing } else { OnExisting::Replace },
            on_missing: OnMissing::Add,
        };
        let stays =
            |member: &AttributeView<'_>| !rules.others_stay || !given.remove_members.contains(&member.name());
        self.depth += 1;
        let edited = self.edit_attributes(&existing.members().filter(stays), &given.members, rules);
        self.depth -= 1;
        edited
    }

    /// Reports that an attribute was written or removed.
    pub(super) fn touched(&mut self, name: TermId) {
        // One attribute after the other: if it was reported, it was last.
        if self.depth == 0 && self.change.updated.last() != Some(&name) {
            self.change.updated.push(name);
        }
    }

    fn not_updated(&mut self, name: TermId, why: NotUpdated) {
        if self.depth == 0 && self.change.not_updated.last() != Some(&(name, why)) {
            self.change.not_updated.push((name, why));
        }
    }
}

/// The value of a plain text merged into a LanguageProperty: the text in the language of the options.
fn merge_text(existing: &InstanceView<'_>, given: &Instance, options: &MergeOptions) -> Option<String> {
    let plain =
        matches!(given.kind, None | Some(Kind::Property)) && existing.kind() == Kind::LanguageProperty;
    let value = given.value.as_deref().filter(|value| plain && value.starts_with('"'))?;
    let lang = options.lang.as_deref()?;
    let mut text = String::with_capacity(value.len() + lang.len() + 5);
    let mut object = ObjectWriter::begin(&mut text);
    object.raw(lang, value);
    object.end();
    Some(text)
}

/// Extras of the existing instance that are neither given anew nor removed.
fn staying_extras<'b>(
    base: Option<&'b InstanceView<'_>>,
    given: &Instance,
) -> impl Iterator<Item = (Extra, &'b str)> {
    let goes = move |tag: Extra| {
        given.extras.iter().any(|(given, _)| *given == tag)
            || given.remove_fields.contains(&Field::Extra(tag))
    };
    base.into_iter().flat_map(|base| base.extras()).filter(move |(tag, _)| !goes(*tag))
}
