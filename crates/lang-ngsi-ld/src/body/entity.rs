//! Entities and their fragments (5.2.4): the members that are no attributes.

use std::collections::HashSet;

use lang_json::Kind;
use model_entities::{
    ATTRIBUTES_MAX, Attribute, Draft, INSTANCES_MAX, SCOPES_MAX, SUB_ATTRIBUTES_MAX, TYPES_MAX, TermId,
};

use super::fault::{Fault, Outcome};
use super::name::{check_uri, scope};
use super::parser::Parser;
use super::rules::NULL;

/// From so many on, what must differ is compared by hash.
const FEW: usize = 16;

impl Parser<'_> {
    /// The next value, an entity or a fragment of one.
    pub(super) fn entity(&mut self) -> Outcome<Draft> {
        if self.reader.peek()? != Kind::Object {
            return Err(Fault::data("an entity must be a JSON object"));
        }
        self.reader.begin_object()?;
        let mut draft = Draft { attributes: Vec::with_capacity(8), ..Draft::default() };
        let mut seen = Seen::default();
        while let Some(key) = self.reader.next_key()? {
            match &*key {
                "id" | "@id" => self.id(&mut draft)?,
                "type" | "@type" => self.types(&mut draft)?,
                "scope" if self.rules.temporal => self.history_scopes(&mut draft)?,
                "scope" => self.scopes(&mut draft)?,
                "expiresAt" => draft.expires_at = Some(self.time("expiresAt")?),
                "@context" | "createdAt" | "modifiedAt" | "deletedAt" => self.reader.skip()?,
                name if name.starts_with('@') => {
                    return Err(Fault::data(format!(
                        "{name:?} is a JSON-LD keyword that an entity cannot have"
                    )));
                }
                name => {
                    let attribute = match self.rules.temporal {
                        true => self.history_attribute(name)?,
                        false => self.attribute(name)?,
                    };
                    self.check_shown(name, attribute.name, |shown| shown == "scope")?;
                    self.check_geometry_name(name, &attribute)?;
                    seen.first(&draft.attributes, &attribute, name)?;
                    draft.attributes.push(attribute);
                    check_count(draft.attributes.len(), &ATTRIBUTES)?;
                }
            }
        }
        if self.rules.id_required && draft.id.is_empty() {
            return Err(Fault::data("an entity must have an \"id\""));
        }
        if self.rules.type_required && draft.types.is_empty() {
            return Err(Fault::data("an entity must have a \"type\""));
        }
        Ok(draft)
    }

    fn id(&mut self, draft: &mut Draft) -> Outcome<()> {
        let id = self.text("id")?;
        check_uri(&id).map_err(|error| Fault::data(format!("\"id\": {error}")))?;
        if id == NULL {
            return Err(Fault::data(format!("\"id\" cannot be {NULL}")));
        }
        if !draft.id.is_empty() {
            return Err(Fault::data("\"id\" is given twice"));
        }
        draft.id = id.into();
        Ok(())
    }

    fn types(&mut self, draft: &mut Draft) -> Outcome<()> {
        if !draft.types.is_empty() {
            return Err(Fault::data("\"type\" is given twice"));
        }
        self.texts("type", |parser, name| {
            if name == NULL {
                return Err(Fault::data("\"type\" cannot be removed"));
            }
            let term = parser.type_term(name)?;
            if !draft.types.contains(&term) {
                draft.types.push(term);
            }
            check_count(draft.types.len(), &TYPES)
        })
    }

    pub(super) fn scopes(&mut self, draft: &mut Draft) -> Outcome<()> {
        let (mut scopes, mut seen) = (Vec::new(), HashSet::new());
        if self.removal("scope")? {
            draft.scopes = Some(scopes);
            return Ok(());
        }
        self.texts("scope", |_, text| {
            let scope = scope(text).ok_or_else(|| {
                Fault::data(format!("\"scope\": {text:?} is not a scope such as /Madrid/Gardens"))
            })?;
            if is_new(&scopes, &mut seen, &scope) {
                scopes.push(scope);
            }
            check_count(scopes.len(), &SCOPES)
        })?;
        draft.scopes = Some(scopes);
        Ok(())
    }
}

/// Whether a scope came not before. Cost: a few comparisons, or a hash look-up once there are many.
fn is_new(before: &[Box<str>], seen: &mut HashSet<Box<str>>, scope: &str) -> bool {
    if before.len() < FEW {
        return before.iter().all(|other| **other != *scope);
    }
    if seen.is_empty() {
        seen.extend(before.iter().cloned());
    }
    seen.insert(scope.into())
}

/// A limit on how many of something a body may hold: of what, how many, and its name.
pub(super) struct Most(&'static str, usize, &'static str);

const TYPES: Most = Most("types of an entity", TYPES_MAX, "TYPES_MAX");
pub(super) const SCOPES: Most = Most("scopes of an entity", SCOPES_MAX, "SCOPES_MAX");
const ATTRIBUTES: Most = Most("attributes of an entity", ATTRIBUTES_MAX, "ATTRIBUTES_MAX");
pub(super) const SUB_ATTRIBUTES: Most =
    Most("sub-attributes of an attribute", SUB_ATTRIBUTES_MAX, "SUB_ATTRIBUTES_MAX");
pub(super) const INSTANCES: Most = Most("instances of an attribute", INSTANCES_MAX, "INSTANCES_MAX");

/// Checks a count while it grows, so that a body beyond the limit is not read to its end.
pub(super) fn check_count(count: usize, most: &Most) -> Outcome<()> {
    let Most(of, max, name) = most;
    if count <= *max {
        return Ok(());
    }
    Err(Fault::limit(format!("more than {max} {of}: at most {max} are allowed ({name})")))
}

/// Tells whether an attribute's name came before.
#[derive(Default)]
pub(super) struct Seen(HashSet<TermId>);

impl Seen {
    /// Checks that `attribute` is not among those `before` it. Cost: a few comparisons, or a hash
    /// look-up once there are many.
    pub(super) fn first(&mut self, before: &[Attribute], attribute: &Attribute, name: &str) -> Outcome<()> {
        self.first_of(before.iter().map(|other| other.name), attribute.name, name)
    }

    /// The same of terms.
    pub(super) fn first_of(
        &mut self,
        mut before: impl ExactSizeIterator<Item = TermId>,
        term: TermId,
        name: &str,
    ) -> Outcome<()> {
        let fresh = if before.len() < FEW {
            before.all(|other| other != term)
        } else {
            if self.0.is_empty() {
                self.0.extend(before);
            }
            self.0.insert(term)
        };
        if fresh { Ok(()) } else { Err(Fault::data(format!("attribute {name:?} is given twice"))) }
    }
}
