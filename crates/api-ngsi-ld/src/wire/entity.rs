//! Entities and their fragments (5.2.4): the members that are no attributes.

use std::collections::HashSet;

use lang_json::Kind;
use model_entities::{Attribute, Draft, TermId};

use super::fault::{Fault, Outcome};
use super::name::{check_uri, scope};
use super::parser::Parser;

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
                        true => self.past_attribute(name)?,
                        false => self.attribute(name)?,
                    };
                    seen.first(&draft.attributes, &attribute, name)?;
                    draft.attributes.push(attribute);
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
            if name == super::NULL {
                return Err(Fault::data("\"type\" cannot be removed"));
            }
            let term = parser.term(name)?;
            if !draft.types.contains(&term) {
                draft.types.push(term);
            }
            Ok(())
        })
    }

    fn scopes(&mut self, draft: &mut Draft) -> Outcome<()> {
        let mut scopes = Vec::new();
        if self.removal("scope")? {
            draft.scopes = Some(scopes);
            return Ok(());
        }
        self.texts("scope", |_, text| {
            let scope = scope(text).ok_or_else(|| {
                Fault::data(format!("\"scope\": {text:?} is not a scope such as /Madrid/Gardens"))
            })?;
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
            Ok(())
        })?;
        draft.scopes = Some(scopes);
        Ok(())
    }
}

/// Tells whether an attribute's name came before.
#[derive(Default)]
pub(super) struct Seen(HashSet<TermId>);

impl Seen {
    /// Checks that `attribute` is not among those `before` it. Cost: a few comparisons, or a hash
    /// look-up once there are many.
    pub(super) fn first(&mut self, before: &[Attribute], attribute: &Attribute, name: &str) -> Outcome<()> {
        let fresh = if before.len() < FEW {
            before.iter().all(|other| other.name != attribute.name)
        } else {
            if self.0.is_empty() {
                self.0.extend(before.iter().map(|other| other.name));
            }
            self.0.insert(attribute.name)
        };
        if fresh { Ok(()) } else { Err(Fault::data(format!("attribute {name:?} is given twice"))) }
    }
}
