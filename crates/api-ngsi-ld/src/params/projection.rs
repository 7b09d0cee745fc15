//! Which members are shown: `pick` and `omit` (the attribute projection language, 4.21) and `attrs`.

use api_http::Parameter;
use lang_ngsi_ld::{Cursor, Error, check_name};
use model_entities::TermId;
use tenant_contexts::Names;

use super::declared::{ATTRS, OMIT, PICK};
use super::given::Given;
use crate::problem::Problem;
use crate::render::Members;

/// The most members of a projection.
const MEMBERS_MAX: usize = 1000;

/// What is shown.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) pick: Option<Members>,
    pub(super) omit: Option<Members>,
    /// Attributes of which an entity must have one: those that are picked; empty if there are none among what is picked.
    pub(super) required: Vec<Option<TermId>>,
}

/// Reads `pick`, `omit` and `attrs`; projections may reach so many linked entities deep.
pub(super) fn parse(given: &Given<'_>, names: &Names, hops: usize) -> Result<Shown, Problem> {
    let items = |parameter: &Parameter| {
        let cursor = |text| Cursor::new(parameter.name, text);
        let whole = |text| Projection { cursor: cursor(text), names, hops, count: 0 }.whole();
        given.get(parameter).map(whole).transpose()
    };
    let (pick, omit) = (items(&PICK)?, items(&OMIT)?);
    let attributes = given.names(&ATTRS)?;
    if attributes.is_empty() {
        if let Some(name) = pick.as_deref().zip(omit.as_deref()).and_then(|(pick, omit)| in_both(pick, omit))
        {
            return Err(Problem::bad_request(format!("parameters pick and omit both name {name:?}")));
        }
        let required = pick.iter().flatten().filter(|item| !item.is_member()).map(|item| item.term).collect();
        return Ok(Shown { pick: pick.map(members), omit: omit.map(members), required });
    }
    if pick.is_some() || omit.is_some() {
        return Err(Problem::bad_request("parameter attrs cannot stand beside pick or omit"));
    }
    let required: Vec<_> = attributes.into_iter().map(|name| names.term(name)).collect();
    let pick = Some(Members::attrs(required.iter().copied().flatten()));
    Ok(Shown { pick, omit: None, required })
}

/// A member that a projection names.
struct Item {
    /// As it was written.
    name: Box<str>,
    /// Of an attribute; nothing else has one.
    iri: Option<Box<str>>,
    /// The attribute, if the name is in use.
    term: Option<TermId>,
    /// What is named of the entities that it links to.
    inner: Option<Vec<Item>>,
}

impl Item {
    /// Whether it is a member of entities that is no attribute.
    fn is_member(&self) -> bool {
        self.iri.is_none()
    }

    fn names_the_same(&self, other: &Self) -> bool {
        match (&self.iri, &other.iri) {
            (None, None) => self.name == other.name,
            (one, other) => one == other,
        }
    }
}

/// A name that is both picked and omitted. Beside a pick of `a`, `a{b}` omits something else.
fn in_both<'i>(pick: &'i [Item], omit: &[Item]) -> Option<&'i str> {
    pick.iter().find_map(|picked| {
        let omitted = omit.iter().find(|omitted| picked.names_the_same(omitted))?;
        match (&picked.inner, &omitted.inner) {
            (_, None) => Some(&*picked.name),
            (None, Some(_)) => None,
            (Some(picked), Some(omitted)) => in_both(picked, omitted),
        }
    })
}

/// The items as what renderers ask.
fn members(items: Vec<Item>) -> Members {
    let mut members = Members::default();
    for item in items {
        if !item.is_member() {
            let inner = item.inner.map(|inner| Box::new(self::members(inner)));
            members.attributes.extend(item.term.map(|term| (term, inner)));
            continue;
        }
        if let Some(flag) = flag(&mut members, &item.name) {
            *flag = true;
        }
    }
    members
}

/// The flag of a member of entities that is no attribute.
fn flag<'m>(members: &'m mut Members, name: &str) -> Option<&'m mut bool> {
    Some(match name {
        "id" => &mut members.id,
        "type" => &mut members.types,
        "scope" => &mut members.scope,
        "createdAt" => &mut members.created_at,
        "modifiedAt" => &mut members.modified_at,
        "expiresAt" => &mut members.expires_at,
        _ => return None,
    })
}

struct Projection<'a> {
    cursor: Cursor<'a>,
    names: &'a Names,
    hops: usize,
    count: usize,
}

impl Projection<'_> {
    fn whole(&mut self) -> Result<Vec<Item>, Error> {
        let items = self.items(0)?;
        if self.cursor.is_done() { Ok(items) } else { Err(self.cursor.expected("\",\", \"|\" or the end")) }
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Item>, Error> {
        let mut items = Vec::new();
        loop {
            items.push(self.item(depth)?);
            if !self.cursor.eat(',') && !self.cursor.eat('|') {
                return Ok(items);
            }
        }
    }

    /// A member; an attribute perhaps with the projection of the entities it links to.
    fn item(&mut self, depth: usize) -> Result<Item, Error> {
        self.count += 1;
        if self.count > MEMBERS_MAX {
            let detail = format!("a projection names more than {MEMBERS_MAX} members");
            return Err(Error::TooComplex(detail));
        }
        let name = self.cursor.word();
        if name.is_empty() {
            return Err(self.cursor.expected("a member's name"));
        }
        check_name(name).map_err(|error| self.cursor.wrong(&error))?;
        if flag(&mut Members::default(), name).is_some() {
            return Ok(Item { name: name.into(), iri: None, term: None, inner: None });
        }
        let mut inner = None;
        if self.cursor.eat('{') {
            if depth >= self.hops {
                let detail =
                    "a projection of linked entities needs join, and as much joinLevel as it is deep";
                return Err(self.cursor.wrong(detail));
            }
            inner = Some(self.items(depth + 1)?);
            if !self.cursor.eat('}') {
                return Err(self.cursor.expected("\",\", \"|\" or \"}\""));
            }
        }
        let iri = Some(self.names.iri(name).into());
        Ok(Item { name: name.into(), iri, term: self.names.term(name), inner })
    }
}
