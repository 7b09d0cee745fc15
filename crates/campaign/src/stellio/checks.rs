//! Whether the answers were right, beyond their status: a sample of what was answered, and entities read back,
//! against what follows from the seed. All of it after the loop, outside of any time measured.

use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value as Json;

use crate::findings::Findings;

use super::evolution::{Pasts, Seen};
use super::payload::{self, Values, number};
use super::rows::Kind;
use super::sessions::{Asked, AskedPast, READINGS, Sample};
use super::sets::Set;
use super::{ENTITIES, PAGE_ENTITIES};

/// Counts an answer about history.
fn note_past(findings: &mut Findings, asked: &AskedPast, partial: bool, seen: Result<Seen>) {
    findings.pasts += 1;
    findings.parts += u64::from(partial);
    if let Ok(seen) = &seen {
        findings.past_values += seen.values;
        if asked.entity.is_none() {
            findings.pages += 1;
            findings.entities += seen.entities;
        }
    }
    findings.note(seen.map(drop));
}

/// Fetches a path: status and body.
pub type Get<'a> = dyn FnMut(&str) -> Result<(u16, Vec<u8>)> + 'a;

/// Looks at `samples`; `get` fetches an entity to read it back.
///
/// Cost: one pass over the set for queries, one GET per created or tracked entity.
pub fn check(set: &Set, samples: Vec<Sample>, get: &mut Get<'_>) -> Findings {
    let mut findings = Findings::default();
    let members = if samples.iter().any(|sample| matches!(sample, Sample::Queried(..))) {
        Members::of(set)
    } else {
        Members::default()
    };
    let mut pasts = Pasts::default();
    let mut updates: BTreeMap<usize, (Kind, Vec<Values>)> = BTreeMap::new();
    for sample in samples {
        match sample {
            Sample::Created(id) => findings.note(created(&id, get)),
            Sample::Got(index, body) => findings.note(got(set, index, &body)),
            Sample::Evolved(asked, partial, body) => {
                let seen = pasts.check(set, &asked, partial, &body);
                note_past(&mut findings, &asked, partial, seen);
            }
            Sample::Updated(index, values, kind) => {
                updates.entry(index).or_insert_with(|| (kind, Vec::new())).1.push(values);
            }
            Sample::Queried(asked, body) => match page(&body) {
                Ok(entities) => {
                    findings.pages += 1;
                    findings.entities += entities.len() as u64;
                    findings.note(members.queried(set, &asked, &entities));
                }
                Err(error) => findings.note(Err(error)),
            },
        }
    }
    for (index, (kind, last)) in updates {
        findings.note(updated(set, index, kind, &last, get));
    }
    findings
}

/// A created entity reads back as it was sent.
fn created(id: &[u8], get: &mut Get<'_>) -> Result<()> {
    let mut sent = Vec::new();
    payload::template_entity(&mut sent, id);
    let (sent, stored) = (serde_json::from_slice(&sent)?, fetch(id, get)?);
    same_members(&sent, &stored).with_context(|| format!("entity {}", String::from_utf8_lossy(id)))
}

/// Every member of `sent` is in `stored` as it was sent; the server may add some (`@context`, system attributes).
fn same_members(sent: &Json, stored: &Json) -> Result<()> {
    for (name, value) in sent.as_object().context("not an object")? {
        let found = stored.get(name).with_context(|| format!("{name} is missing"))?;
        ensure!(alike(value, found), "{name} is {found}, sent was {value}");
    }
    Ok(())
}

/// Equality, with numbers by value and instances in any order.
fn alike(sent: &Json, stored: &Json) -> bool {
    match (sent, stored) {
        (Json::Number(one), Json::Number(two)) => one.as_f64() == two.as_f64(),
        (Json::Object(one), Json::Object(two)) => {
            one.len() == two.len()
                && one.iter().all(|(name, value)| two.get(name).is_some_and(|other| alike(value, other)))
        }
        (Json::Array(one), Json::Array(two)) => {
            let numbers = one.iter().all(Json::is_number);
            one.len() == two.len()
                && if numbers {
                    one.iter().zip(two).all(|(one, two)| alike(one, two))
                } else {
                    one.iter().all(|one| two.iter().any(|two| alike(one, two)))
                }
        }
        _ => sent == stored,
    }
}

/// An entity got by id is the one asked for, whole.
fn got(set: &Set, index: usize, body: &[u8]) -> Result<()> {
    let stored: Json = serde_json::from_slice(body).context("the answer is not JSON")?;
    let mut sent = Vec::new();
    set.entity(index, &mut sent);
    let sent: Json = serde_json::from_slice(&sent)?;
    let (wanted, id) = (text_of(&sent, "id"), text_of(&stored, "id"));
    ensure!(id == wanted, "asked for {wanted}, answered was {id:?}");
    let missing = sent.as_object().and_then(|sent| sent.keys().find(|name| stored.get(*name).is_none()));
    ensure!(missing.is_none(), "{id} has no {}", missing.map_or("", String::as_str));
    // Updates leave it alone, whatever they did to the readings meanwhile.
    ensure!(stored.get("location") == sent.get("location"), "{id}: another location than was sent");
    Ok(())
}

fn text_of<'a>(entity: &'a Json, name: &str) -> &'a str {
    entity.get(name).and_then(Json::as_str).unwrap_or("")
}

/// After the loop an entity holds the last update of one of the users.
fn updated(set: &Set, index: usize, kind: Kind, last: &[Values], get: &mut Get<'_>) -> Result<()> {
    let stored = fetch(&set.id(index), get)?;
    let stored = READINGS.map(|(name, _)| readings(&stored, name)).concat();
    let matches = |values: &Values| {
        let sent = values.map(|value| number(&value));
        if kind == Kind::PartialUpdate {
            stored.get(2) == sent.get(2)
        } else {
            sorted(&stored) == sorted(&sent)
        }
    };
    ensure!(last.iter().any(matches), "entity {index} of the set has {stored:?}, which no user sent last");
    Ok(())
}

/// Brokers may answer the instances of an attribute in another order.
fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

fn fetch(id: &[u8], get: &mut Get<'_>) -> Result<Json> {
    let id = String::from_utf8_lossy(id);
    let (status, body) = get(&format!("{ENTITIES}/{id}"))?;
    ensure!(status == 200, "reading back {id}: status {status}");
    serde_json::from_slice(&body).with_context(|| format!("reading back {id}: not JSON"))
}

fn page(body: &[u8]) -> Result<Vec<Json>> {
    match serde_json::from_slice(body).context("the page is not JSON")? {
        Json::Array(entities) => Ok(entities),
        _ => bail!("the page is not an array"),
    }
}

/// The numbers of all instances of an attribute.
fn readings(entity: &Json, name: &str) -> Vec<f64> {
    let instances = match entity.get(name) {
        Some(Json::Array(instances)) => instances.iter().collect(),
        Some(instance) => vec![instance],
        None => Vec::new(),
    };
    instances.into_iter().filter_map(|instance| instance["value"].as_f64()).collect()
}

/// The whole set in numbers, to tell what a query ought to have answered.
#[derive(Debug, Default)]
struct Members {
    members: Vec<(usize, usize, [f64; 5])>,
    by_id: HashMap<Vec<u8>, usize>,
}

impl Members {
    fn of(set: &Set) -> Self {
        let mut all = Self::default();
        for index in 0..set.shape.entities {
            let member = set.member(index);
            all.members.push((member.kind, member.target, member.values.map(|value| number(&value))));
            all.by_id.insert(set.id(index).to_vec(), index);
        }
        all
    }

    fn satisfies(&self, index: usize, asked: &Asked) -> bool {
        let Some((kind, target, values)) = self.members.get(index) else { return false };
        let range = READINGS.get(asked.reading).map_or(0..0, |(_, range)| range.clone());
        *kind == asked.kind
            && asked.target.is_none_or(|wanted| wanted == *target)
            && values.get(range).is_some_and(|values| values.iter().any(|value| *value > asked.over as f64))
    }

    /// Each entity of the page is of the set, satisfies what was asked, carries its values, comes once; and the
    /// page is as full as it can be.
    fn queried(&self, set: &Set, asked: &Asked, entities: &[Json]) -> Result<()> {
        let mut seen = HashSet::new();
        for entity in entities {
            let id = entity["id"].as_str().context("an entity without id")?;
            let index = self.by_id.get(id.as_bytes()).copied();
            let index = index.with_context(|| format!("{id} is not of the set"))?;
            ensure!(seen.insert(index), "{id} comes twice in a page");
            ensure!(self.satisfies(index, asked), "{id} does not satisfy {asked:?}");
            let mut sent = Vec::new();
            set.entity(index, &mut sent);
            same_members(&serde_json::from_slice(&sent)?, entity).with_context(|| format!("entity {id}"))?;
        }
        let matching = (0..self.members.len()).filter(|index| self.satisfies(*index, asked));
        let expected = matching.take(PAGE_ENTITIES).count();
        ensure!(seen.len() == expected, "{} entities for {asked:?}, expected {expected}", seen.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::sets::SetShape;
    use super::*;

    fn set() -> Set {
        Set::new(SetShape { entities: 200, types: 2, instances: 0 }, 42)
    }

    const ASKED: Asked = Asked { kind: 1, reading: 1, over: 80, target: None };

    /// The right answer to [`ASKED`].
    fn answer(set: &Set) -> Vec<Json> {
        let members = Members::of(set);
        let matching = (0..200).filter(|index| members.satisfies(*index, &ASKED)).take(PAGE_ENTITIES);
        matching.map(|index| entity(set, index)).collect()
    }

    fn entity(set: &Set, index: usize) -> Json {
        let mut bytes = Vec::new();
        set.entity(index, &mut bytes);
        serde_json::from_slice(&bytes).unwrap()
    }

    fn wrong(sample: Sample, held: &Json) -> u64 {
        let mut get = |_: &str| Ok((200, held.to_string().into_bytes()));
        check(&set(), vec![sample], &mut get).wrong
    }

    fn check_page(change: impl FnOnce(&mut Vec<Json>), expected: u64) {
        let mut page = answer(&set());
        assert!(page.len() > 5 && page.len() < PAGE_ENTITIES);
        change(&mut page);
        let body = Json::Array(page).to_string().into_bytes();
        assert_eq!(wrong(Sample::Queried(ASKED, body), &Json::Null), expected);
    }

    #[test]
    fn a_right_page_passes_and_every_kind_of_wrong_page_does_not() {
        check_page(|_| {}, 0);
        check_page(|page| page.reverse(), 0);
        check_page(|page| drop(page.pop()), 1);
        check_page(|page| page[0] = page[1].clone(), 1);
        check_page(|page| page[0]["dissolvedOxygen"]["value"] = 99.into(), 1);
        check_page(|page| page[0]["id"] = "urn:x:y".into(), 1);
        let members = Members::of(&set());
        let other = (0..200).find(|index| !members.satisfies(*index, &ASKED)).unwrap();
        check_page(|page| page[0] = entity(&set(), other), 1);
        assert_eq!(wrong(Sample::Queried(ASKED, b"{}".to_vec()), &Json::Null), 1);
    }

    #[test]
    fn created_entities_read_back_as_sent() {
        let id = set().id(0);
        let mut sent = Vec::new();
        payload::template_entity(&mut sent, &id);
        let mut held: Json = serde_json::from_slice(&sent).unwrap();
        held["@context"] = "https://example.org".into();
        held["ammonium"].as_array_mut().unwrap().reverse();
        assert_eq!(wrong(Sample::Created(id), &held), 0);
        held["ammonium"][0]["value"] = 0.42.into();
        assert_eq!(wrong(Sample::Created(id), &held), 1);
        held.as_object_mut().unwrap().remove("ammonium");
        assert_eq!(wrong(Sample::Created(id), &held), 1);
    }

    #[test]
    fn updates_read_back_as_somebody_last_sent_them() {
        let set = set();
        let member = set.member(3);
        let other = set.member(4).values;
        let held = entity(&set, 3);
        for kind in [Kind::Update, Kind::PartialUpdate] {
            assert_eq!(wrong(Sample::Updated(3, member.values, kind), &held), 0);
            assert_eq!(wrong(Sample::Updated(3, other, kind), &held), 1);
        }
    }

    #[test]
    fn an_entity_got_is_the_one_asked_for() {
        let set = set();
        let body = |index| entity(&set, index).to_string().into_bytes();
        assert_eq!(wrong(Sample::Got(3, body(3)), &Json::Null), 0);
        assert_eq!(wrong(Sample::Got(3, body(4)), &Json::Null), 1);
        assert_eq!(wrong(Sample::Got(3, b"{}".to_vec()), &Json::Null), 1);
    }
}
