//! The history of scopes (4.18): instances of a Property that holds one scope or an array of them (4.5.6), a series of such
//! values (4.5.9), or scopes alone, which hold as long as nothing else is said.

use lang_json::Kind as Json;
use model_entities::{Attribute, Draft, Instance, Kind, TermId, scope_value, scopes_of_value};
use tenant_contexts::Names;

use super::entity::{SCOPES, check_count};
use super::fault::{BodyError, Fault, Outcome};
use super::name::scope;
use super::parser::Parser;
use super::rules::{NULL, Rules};

/// The name of the member.
const SCOPE: &str = "scope";

/// Reads one instance of scopes, or scopes alone, as a whole body.
pub(super) fn parse_instance(body: &str, names: &Names, rules: &Rules) -> Result<Attribute, BodyError> {
    let mut parser = Parser::new(body, names, rules);
    let attribute = parser.scope_instances();
    parser.finish(attribute)
}

impl Parser<'_> {
    /// The member `scope` of a history: its instances, and the scopes that were set last.
    pub(super) fn history_scopes(&mut self, draft: &mut Draft) -> Outcome<()> {
        if draft.scopes.is_some() {
            return Err(Fault::data("\"scope\" is given twice"));
        }
        if self.has_scopes_alone()? {
            return self.scopes(draft);
        }
        let attribute = self.scope_instances()?;
        // What does not say when it was observed is observed now.
        let at = |instance: &&Instance| instance.observed_at.map_or(i64::MAX, |time| time.0);
        let last = attribute.instances.iter().max_by_key(at);
        let value = last.and_then(|last| last.value.as_deref());
        draft.scopes = Some(value.map_or_else(Vec::new, scopes_of_value));
        draft.attributes.push(attribute);
        Ok(())
    }

    /// Whether a text comes next, or an array of texts.
    fn has_scopes_alone(&mut self) -> Outcome<bool> {
        let mut look = self.reader.clone();
        if look.peek()? == Json::Array {
            look.begin_array()?;
            if !look.next_element()? {
                return Ok(true);
            }
        }
        Ok(look.peek()? == Json::String)
    }

    fn scope_instances(&mut self) -> Outcome<Attribute> {
        let mut attribute = self.history_instances(TermId::SCOPE, SCOPE)?;
        for instance in &mut attribute.instances {
            check_instance(instance).map_err(|fault| fault.within(SCOPE))?;
        }
        Ok(attribute)
    }
}

/// Checks an instance of scopes, and gives each scope its leading `/`.
fn check_instance(instance: &mut Instance) -> Outcome<()> {
    let plain = instance.dataset.is_none()
        && instance.unit_code.is_none()
        && instance.expires_at.is_none()
        && instance.extras.is_empty()
        && instance.members.is_empty();
    if !plain || !matches!(instance.kind, None | Some(Kind::Property)) {
        return Err(Fault::data("must be a Property with a value, and observedAt at most"));
    }
    let Some(value) = instance.value.as_deref() else { return Ok(()) };
    let mut scopes: Vec<Box<str>> = Vec::new();
    let texts = match value.starts_with('[') {
        true => lang_json::elements(value).collect(),
        false => vec![value],
    };
    for text in texts {
        let text = lang_json::string_value(text).filter(|text| text != NULL);
        let found = text.as_deref().and_then(scope);
        scopes.push(found.ok_or_else(|| {
            Fault::data(format!("{value} holds something else than scopes such as /Madrid/Gardens"))
        })?);
        check_count(scopes.len(), &SCOPES)?;
    }
    if scopes.is_empty() {
        return Err(Fault::data("must not be an empty array"));
    }
    let mut seen = std::collections::HashSet::with_capacity(scopes.len());
    scopes.retain(|scope| seen.insert(scope.clone()));
    instance.kind = Some(Kind::Property);
    instance.value = Some(scope_value(scopes.iter().map(|scope| &**scope)).into());
    Ok(())
}
