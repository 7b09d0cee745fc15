//! The answer to an operation on many entities: what became of each (5.2.16).

use std::borrow::Cow;
use std::collections::HashSet;

use api_http::{DataDamaged, Response, json_response, no_content};
use http::StatusCode;
use lang_json::{ArrayWriter, ObjectWriter};
use model_entities::{Change, Fate, NotUpdated, Operation};

use crate::media::JSON;
use crate::problem::Problem;
use crate::request::Session;

/// What became of the entities of a batch.
pub(crate) struct Tally {
    created: Vec<Box<str>>,
    success: Vec<Box<str>>,
    seen: HashSet<Box<str>>,
    errors: Vec<(String, Problem)>,
    bytes: usize,
}

/// What a note takes beside its id: of a success, and of an error.
const NOTE_BYTES: usize = 64;
const ERROR_BYTES: usize = 512;

impl Tally {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            created: Vec::new(),
            success: Vec::with_capacity(capacity),
            seen: HashSet::with_capacity(capacity),
            errors: Vec::new(),
            bytes: 0,
        }
    }

    /// Notes an element that could not be read.
    pub(crate) fn refuse(&mut self, element: &str, problem: Problem) {
        let id = lang_json::member(element, "id").and_then(lang_json::string_value);
        // Of an element without an id nothing else can be said.
        self.errors.push((id.map_or_else(String::new, Cow::into_owned), problem));
    }

    /// Notes an entity that was changed.
    pub(crate) fn succeed(&mut self, id: Box<str>) {
        self.bytes += id.len() + NOTE_BYTES;
        self.success.push(id);
    }

    /// Notes an entity that was not.
    pub(crate) fn fail(&mut self, id: impl Into<String>, problem: Problem) {
        let id = id.into();
        self.bytes += id.len() + ERROR_BYTES;
        self.errors.push((id, problem));
    }

    /// About what these notes take.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether nothing failed.
    pub(crate) fn is_faultless(&self) -> bool {
        self.errors.is_empty()
    }

    /// Applies operations, each to the entity of its id, and notes what was done.
    pub(crate) async fn apply(&mut self, session: &Session, operations: Vec<(Box<str>, Operation)>) {
        let ids: Vec<Box<str>> = operations.iter().map(|(id, _)| id.clone()).collect();
        let outcomes = session.entities.apply_all(operations, session.now).await;
        for (id, outcome) in ids.into_iter().zip(outcomes) {
            match outcome {
                Ok(change) => self.done(session, id, &change),
                Err(error) => self.errors.push((id.into(), session.write_problem(&error))),
            }
        }
    }

    /// Notes what was done with an entity. One of which something was left as it is counts as an error; and as a success,
    /// too, if something was changed.
    fn done(&mut self, session: &Session, id: Box<str>, change: &Change) {
        if !change.not_updated.is_empty() {
            self.errors.push((id.to_string(), left(session, change)));
            if change.fate == Fate::Unchanged {
                return;
            }
        }
        if change.fate == Fate::Created {
            self.created.push(id.clone());
        }
        if self.seen.insert(id.clone()) {
            self.success.push(id);
        }
    }

    /// The answer; `creates`: to an operation that does nothing but create.
    pub(crate) fn answer(self, creates: bool) -> Response {
        if !self.is_faultless() {
            return self.multi_status();
        }
        if creates || !self.created.is_empty() {
            let mut out = String::new();
            write_strings(&mut out, &self.created);
            return json_response(StatusCode::CREATED, JSON, out);
        }
        no_content()
    }

    /// The answer where something failed; damaged data among the reasons is counted as for one entity.
    pub(crate) fn multi_status(&self) -> Response {
        let mut response = json_response(StatusCode::MULTI_STATUS, JSON, self.result());
        if self.errors.iter().any(|(_, problem)| problem.is_damage()) {
            response.extensions_mut().insert(DataDamaged);
        }
        response
    }

    /// BatchOperationResult (5.2.16).
    fn result(&self) -> String {
        let mut out = String::new();
        let mut result = ObjectWriter::begin(&mut out);
        write_strings(result.member("success"), &self.success);
        let mut errors = ArrayWriter::begin(result.member("errors"));
        for (id, problem) in &self.errors {
            let mut error = ObjectWriter::begin(errors.item());
            error.string("entityId", id);
            problem.write(error.member("error"));
            error.end();
        }
        errors.end();
        result.end();
        out
    }
}

/// Says which attributes were left as they are, and why.
fn left(session: &Session, change: &Change) -> Problem {
    let names = change.not_updated.iter().map(|(term, NotUpdated::Exists)| session.names.compact(*term));
    let names = names.collect::<Vec<_>>().join(", ");
    Problem::already_exists(format!(
        "the entity has these attributes already, and noOverwrite was asked for: {names}"
    ))
}

fn write_strings(out: &mut String, texts: &[Box<str>]) {
    let mut array = ArrayWriter::begin(out);
    texts.iter().for_each(|text| array.string(text));
    array.end();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_of_one_entity_counts() {
        for (second, is_damage) in [(Problem::internal(), false), (Problem::damaged(), true)] {
            let mut tally = Tally::new(2);
            tally.fail("urn:a", Problem::not_found("a"));
            tally.fail("urn:b", second);
            let response = tally.answer(false);
            assert_eq!(response.status(), StatusCode::MULTI_STATUS);
            assert_eq!(response.extensions().get::<DataDamaged>().is_some(), is_damage);
        }
    }
}
