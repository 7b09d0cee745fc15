//! JSON-LD, as far as names go: the manifests say which documents expand to which, and we look at the names of their properties.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use lang_jsonld::{Context, Documents, parse};
use serde_json::Value;

use crate::Case;

/// Runs both manifests, as far as they are there.
pub(crate) fn run(folder: &Path) -> anyhow::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (direction, check) in
        [("expand", expand as fn(&Test<'_>) -> anyhow::Result<Option<String>>), ("compact", compact)]
    {
        let path = folder.join(format!("{direction}-manifest.jsonld"));
        if !path.is_file() {
            continue;
        }
        let manifest = read(&path)?;
        let sequence = manifest.get("sequence").and_then(Value::as_array);
        for entry in sequence.context("no sequence of tests")? {
            let id = entry["@id"].as_str().context("a test without @id")?;
            let test = Test { folder, entry };
            if test.is_of_json_ld_1_0() {
                continue;
            }
            let name = format!("{direction}{id}");
            cases.push(Case { failure: check(&test).with_context(|| name.clone())?, name });
        }
    }
    Ok(cases)
}

/// A test of a manifest.
struct Test<'a> {
    folder: &'a Path,
    entry: &'a Value,
}

impl Test<'_> {
    /// The file that a member names; `None` if it names none.
    fn file(&self, member: &str) -> anyhow::Result<Option<Value>> {
        self.entry[member].as_str().map(|name| read(&self.folder.join(name))).transpose()
    }

    fn option(&self, name: &str) -> Option<&str> {
        self.entry.get("option")?.get(name)?.as_str()
    }

    /// Whether only a processor of JSON-LD 1.0 is to pass it.
    fn is_of_json_ld_1_0(&self) -> bool {
        ["specVersion", "processingMode"].iter().any(|name| self.option(name) == Some("json-ld-1.0"))
    }

    fn is_negative(&self) -> bool {
        let types = &self.entry["@type"];
        let mut types = types.as_array().into_iter().flatten().chain([types]).filter_map(Value::as_str);
        types.any(|name| name.contains("NegativeEvaluationTest"))
    }
}

fn read(path: &Path) -> anyhow::Result<Value> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("reading {}", path.display()))
}

/// The context of a document; an empty one if it has none.
fn context(document: &Value) -> Result<Context, String> {
    let none = Value::Object(serde_json::Map::new());
    let member = document.get("@context").unwrap_or(&none);
    parse(member, &Documents::new()).map_err(|error| error.to_string())
}

/// Every property that is expected is among the names that ours make.
fn expand(test: &Test<'_>) -> anyhow::Result<Option<String>> {
    let input = test.file("input")?.context("no input")?;
    // A context that is given beside the document.
    let beside = test.option("expandContext");
    let beside = beside.map(|name| read(&test.folder.join(name))).transpose()?;
    let context = context(beside.as_ref().unwrap_or(&input));
    if test.is_negative() {
        return Ok(context.is_ok().then(|| "is taken".to_owned()));
    }
    let context = match context {
        Ok(context) => context,
        Err(error) => return Ok(Some(error)),
    };
    let (given, expected) = (names(&input), names(&test.file("expect")?.context("no expectation")?));
    let found: BTreeSet<String> = given.iter().map(|name| context.expand(name).into_owned()).collect();
    Ok(missing(&expected, &found))
}

/// Every property of the input is spelled as in what is expected.
fn compact(test: &Test<'_>) -> anyhow::Result<Option<String>> {
    let document = test.file("context")?.context("no context")?;
    let context = context(&document);
    if test.is_negative() {
        return Ok(context.is_ok().then(|| "is taken".to_owned()));
    }
    let context = match context {
        Ok(context) => context,
        Err(error) => return Ok(Some(error)),
    };
    let input = names(&test.file("input")?.context("no input")?);
    let expected = names(&test.file("expect")?.context("no expectation")?);
    let found: BTreeSet<String> = input.iter().map(|iri| context.compact(iri).into_owned()).collect();
    Ok(missing(&expected, &found))
}

fn missing(expected: &BTreeSet<String>, found: &BTreeSet<String>) -> Option<String> {
    let missing: Vec<&str> = expected.difference(found).map(String::as_str).collect();
    (!missing.is_empty()).then(|| format!("no name gives {}", missing.join(", ")))
}

/// The names of all properties of a document, keywords left out.
fn names(document: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(document, &mut found);
    found
}

fn collect(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(members) => {
            for (name, value) in members.iter().filter(|(name, _)| *name != "@context") {
                if !is_keyword_like(name) {
                    found.insert(name.clone());
                }
                collect(value, found);
            }
        }
        _ => {}
    }
}

/// Whether a name looks like a keyword: `@` and letters only.
fn is_keyword_like(name: &str) -> bool {
    name.strip_prefix('@')
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphabetic()))
}
