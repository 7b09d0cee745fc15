//! Whether the answers were right, beyond their status: samples of what was answered, elements read back, and the
//! neighbourhoods of some people walked from both ends, against what follows from the seed. All of it after the load.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value as Json;

use campaign::draws::Draws;
use campaign::findings::Findings;

use super::requests::Sample;
use super::rows::Work;
use super::stock::{Known, Stock};
use crate::rest::{Rest, encoded, parsed};

/// Elements read back after a load that wrote.
const READ_BACK: usize = 40;
/// People whose neighbourhoods are walked.
const WALKED: usize = 12;
/// Elements of a neighbourhood that are asked for: more than anybody has.
const NEIGHBOURS_MAX: u64 = 100_000;
/// Pages of a count; with more elements than these hold, only samples are looked at.
const PAGES_MAX: usize = 200;
/// Elements of a page.
const PAGE: u64 = 1_000;

/// Looks at `samples` of a load of `work`.
pub fn answers(stock: &Stock, (work, batch): (Work, u64), samples: &[Sample], findings: &mut Findings) {
    for Sample { number, body } in samples {
        let checked = parsed(body).and_then(|json| match work {
            Work::Vertex | Work::VertexGet => vertex(stock, *number, &json),
            Work::Edge | Work::EdgeGet => edge(stock, *number, &json),
            Work::VertexBatch => {
                ids(&json, (*number, batch), |number| stock.people.id_text(&stock.label, number))
            }
            Work::EdgeBatch => ids(&json, (*number, batch), |number| stock.edge_id_text(number)),
        });
        findings.note(checked.with_context(|| format!("the answer to {} {number}", work.name())));
    }
}

/// Reads back what the last load wrote: elements by id, the neighbourhoods of some people, and how many there are.
pub fn read_back(stock: &Stock, of_edges: bool, fresh: bool, rest: &mut Rest, findings: &mut Findings) {
    let written = if of_edges { &stock.edges } else { &stock.vertices };
    let Some(last) = written.last().filter(|span| span.count() > 0) else { return };
    let mut draws = Draws::new(last.base, 0x6261_636B);
    let span = last.end() - last.base;
    for _ in 0..READ_BACK {
        let number = last.base + draws.below(span);
        let known = written.knows(number);
        if known == Known::There {
            findings.note(if of_edges {
                edge_back(stock, number, rest)
            } else {
                vertex_back(stock, number, rest)
            });
        }
    }
    if of_edges {
        let rounds = last.end().div_ceil(stock.people.count());
        for _ in 0..WALKED {
            let person = draws.below(stock.people.count());
            for out in [true, false] {
                findings.note(neighbourhood(stock, (person, out), rounds, rest));
            }
        }
    }
    // A server that was not empty has more than we know of.
    let known = written.count().filter(|count| fresh && *count <= PAGES_MAX as u64 * PAGE);
    if let Some(expected) = known {
        let (kind, label) = if of_edges { ("edges", "knows") } else { ("vertices", "person") };
        let counted = rest.count(kind, label, PAGES_MAX + 1);
        findings.note(counted.and_then(|found| {
            ensure!(found == expected, "{found} {kind} are listed, {expected} were written");
            Ok(())
        }));
    }
}

fn vertex_back(stock: &Stock, number: u64, rest: &mut Rest) -> Result<()> {
    let id = stock.people.id_text(&stock.label, number);
    let json = rest.get(&format!("/graph/vertices/{}", encoded(&format!("\"{id}\""))))?;
    vertex(stock, number, &json).with_context(|| format!("read back {id}"))
}

fn edge_back(stock: &Stock, number: u64, rest: &mut Rest) -> Result<()> {
    let id = stock.edge_id_text(number);
    let json = rest.get(&format!("/graph/edges/{}", encoded(&id)))?;
    edge(stock, number, &json).with_context(|| format!("read back {id}"))
}

/// The edges of a person in one direction are those written, none more and none less.
fn neighbourhood(stock: &Stock, (person, out): (u64, bool), rounds: u64, rest: &mut Rest) -> Result<()> {
    let id = encoded(&format!("\"{}\"", stock.people.id_text(&stock.label, person)));
    let direction = if out { "OUT" } else { "IN" };
    let path =
        format!("/graph/edges?vertex_id={id}&direction={direction}&label=knows&limit={NEIGHBOURS_MAX}");
    let answer = rest.get(&path)?;
    let edges = answer.get("edges").and_then(Json::as_array).context("no edges in the answer")?;
    let mut found = BTreeSet::new();
    for edge in edges {
        let id = edge.get("id").and_then(Json::as_str).context("an edge without an id")?;
        ensure!(found.insert(id), "{id} is answered twice, {direction} of {person}");
    }
    for number in stock.people.numbers_of(person, out, rounds) {
        let id = stock.edge_id_text(number);
        let seen = found.remove(id.as_str());
        match stock.edges.knows(number) {
            Known::There => ensure!(seen, "{id} was written and is missing {direction} of {person}"),
            Known::Missing => ensure!(!seen, "{id} was never written and is there {direction} of {person}"),
            Known::Uncertain => {}
        }
    }
    ensure!(found.is_empty(), "{found:?} {direction} of {person} was never written");
    Ok(())
}

fn ids(json: &Json, (first, batch): (u64, u64), expected: impl Fn(u64) -> String) -> Result<()> {
    let found = json.as_array().context("no list of ids")?;
    ensure!(found.len() as u64 == batch, "{} ids, {batch} elements were sent", found.len());
    for (number, id) in (first..).zip(found) {
        let expected = expected(number);
        ensure!(id.as_str() == Some(&expected), "the id {id}, it must be {expected}");
    }
    Ok(())
}

fn vertex(stock: &Stock, number: u64, json: &Json) -> Result<()> {
    let person = stock.people.person(number);
    text(json, "id", &stock.people.id_text(&stock.label, number))?;
    text(json, "label", "person")?;
    let properties = json.get("properties").context("no properties")?;
    text(properties, "name", &person.name)?;
    text(properties, "city", person.city)?;
    ensure!(properties.get("age").and_then(Json::as_u64) == Some(person.age), "age is not {}", person.age);
    Ok(())
}

fn edge(stock: &Stock, number: u64, json: &Json) -> Result<()> {
    let expected = stock.people.acquaintance(number);
    text(json, "id", &stock.edge_id_text(number))?;
    text(json, "label", "knows")?;
    text(json, "outV", &stock.people.id_text(&stock.label, expected.source))?;
    text(json, "inV", &stock.people.id_text(&stock.label, expected.target))?;
    let properties = json.get("properties").context("no properties")?;
    text(properties, "date", &expected.date())?;
    let weight = properties.get("weight").and_then(Json::as_f64);
    ensure!(weight == Some(expected.weight()), "weight is {weight:?}, it must be {}", expected.weight());
    Ok(())
}

fn text(json: &Json, name: &str, expected: &str) -> Result<()> {
    let found = json.get(name).and_then(Json::as_str);
    ensure!(found == Some(expected), "{name} is {found:?}, it must be {expected:?}");
    Ok(())
}
