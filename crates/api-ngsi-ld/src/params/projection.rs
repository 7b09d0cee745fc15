//! Which members are shown: `pick` and `omit` (the attribute projection language, 4.21) and `attrs`.

use model_entities::TermId;

use super::given::Given;
use crate::context::Names;
use crate::problem::Problem;
use crate::q::Cursor;
use crate::render::Members;
use crate::wire::check_name;

/// What is shown.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) pick: Option<Members>,
    pub(super) omit: Option<Members>,
    /// Attributes of which an entity must have one.
    pub(super) required: Vec<Option<TermId>>,
}

/// Reads `pick`, `omit` and `attrs`; projections may reach so many linked entities deep.
pub(super) fn parse(given: &Given<'_>, names: &Names, hops: usize) -> Result<Shown, Problem> {
    let projection = |name: &'static str| {
        given.get(name).map(|text| Projection { cursor: Cursor::new(name, text), names, hops }.whole())
    };
    let (pick, omit) = (projection("pick").transpose()?, projection("omit").transpose()?);
    let attributes = given.names("attrs")?;
    if attributes.is_empty() {
        return Ok(Shown { pick, omit, required: Vec::new() });
    }
    if pick.is_some() || omit.is_some() {
        return Err(Problem::bad_request("parameter attrs cannot stand beside pick or omit"));
    }
    let required: Vec<_> = attributes.into_iter().map(|name| names.term(name)).collect();
    let pick = Some(Members::attrs(required.iter().copied().flatten()));
    Ok(Shown { pick, omit, required })
}

struct Projection<'a> {
    cursor: Cursor<'a>,
    names: &'a Names,
    hops: usize,
}

impl Projection<'_> {
    fn whole(&mut self) -> Result<Members, Problem> {
        let members = self.members(0)?;
        if self.cursor.is_done() { Ok(members) } else { Err(self.cursor.expected("\",\", \"|\" or the end")) }
    }

    fn members(&mut self, depth: usize) -> Result<Members, Problem> {
        let mut members = Members::default();
        loop {
            self.member(&mut members, depth)?;
            if !self.cursor.eat(',') && !self.cursor.eat('|') {
                return Ok(members);
            }
        }
    }

    fn member(&mut self, members: &mut Members, depth: usize) -> Result<(), Problem> {
        let name = self.cursor.word();
        if name.is_empty() {
            return Err(self.cursor.expected("a member's name"));
        }
        check_name(name).map_err(|error| self.cursor.wrong(&error))?;
        match name {
            "id" => members.id = true,
            "type" => members.types = true,
            "scope" => members.scope = true,
            "createdAt" => members.created_at = true,
            "modifiedAt" => members.modified_at = true,
            "expiresAt" => members.expires_at = true,
            name => return self.attribute(members, name, depth),
        }
        Ok(())
    }

    /// An attribute, perhaps with the projection of the entities it links to.
    fn attribute(&mut self, members: &mut Members, name: &str, depth: usize) -> Result<(), Problem> {
        let mut inner = None;
        if self.cursor.eat('{') {
            if depth >= self.hops {
                let detail =
                    "a projection of linked entities needs join, and as much joinLevel as it is deep";
                return Err(self.cursor.wrong(detail));
            }
            inner = Some(Box::new(self.members(depth + 1)?));
            if !self.cursor.eat('}') {
                return Err(self.cursor.expected("\",\", \"|\" or \"}\""));
            }
        }
        if let Some(term) = self.names.term(name) {
            members.attributes.push((term, inner));
        }
        Ok(())
    }
}
