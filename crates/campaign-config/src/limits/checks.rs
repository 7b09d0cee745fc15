//! Whether a job did what it was answered to have done: data nodes counted in answers and read back.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use campaign::findings::Findings;
use serde_json::Value as Json;

use super::devices::{DEVICES, device_id};
use crate::rest::{Cps, Dataspace, encoded, parsed};
use crate::tree;

/// What must be true behind a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Check {
    /// Each answer has so many data nodes.
    Found(u64),
    /// Each answer has so many data nodes, over all anchors.
    FoundOverAnchors(u64),
    /// Each answer has so many values, each of them once.
    Values(u64),
    /// The anchor has so many data nodes.
    Stored { anchor: String, nodes: u64 },
    /// The query finds so many data nodes.
    Query { anchor: String, cps_path: String, nodes: u64 },
    /// There are so many anchors whose names begin so.
    Anchors { prefix: String, count: u64 },
    /// Each answer tells the difference between devices.
    Difference(Difference),
    /// There is no difference between two anchors.
    Same { source: String, target: String },
}

/// What a difference must tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Difference {
    /// Devices that changed.
    pub(super) replaced: u64,
    /// Devices that are new, from the one behind the last old one on.
    pub(super) created: (u64, u64),
    /// Data nodes told for each new one, unless they are grouped.
    pub(super) each: Option<u64>,
}

impl Check {
    /// Looks at `answers`, and at what the server has.
    pub(super) fn run(
        &self,
        cps: &mut Cps,
        dataspace: &Dataspace,
        answers: &[Vec<u8>],
        findings: &mut Findings,
    ) {
        let mut of_answers = |look: &dyn Fn(&Json) -> Result<()>| {
            if answers.is_empty() {
                findings.note(Err(anyhow::anyhow!("no answer came")));
            }
            for answer in answers {
                findings.note(parsed(answer).and_then(|answer| look(&answer)));
            }
        };
        match self {
            Self::Found(nodes) => of_answers(&|answer| counted(tree::nodes(answer), *nodes)),
            Self::FoundOverAnchors(nodes) => {
                of_answers(&|answer| counted(tree::nodes_of_anchors(answer)?, *nodes));
            }
            Self::Values(count) => of_answers(&|answer| values(answer, *count)),
            Self::Difference(difference) => of_answers(&|answer| difference.of(answer)),
            _ => findings.note(self.of_server(cps, dataspace)),
        }
    }

    fn of_server(&self, cps: &mut Cps, dataspace: &Dataspace) -> Result<()> {
        match self {
            Self::Stored { anchor, nodes } => {
                let answer = cps.get_if_there(&dataspace.read(anchor, "/", "all"))?;
                let found = answer.as_ref().map_or(0, tree::nodes);
                counted(found, *nodes).with_context(|| format!("the anchor {anchor} afterwards"))
            }
            Self::Query { anchor, cps_path, nodes } => {
                let answer = cps.get(&dataspace.query(anchor, cps_path, "none"))?;
                counted(tree::nodes(&answer), *nodes).with_context(|| format!("{cps_path} afterwards"))
            }
            Self::Anchors { prefix, count } => {
                let anchors = cps.anchors(dataspace)?;
                let found = anchors.iter().filter(|anchor| anchor.starts_with(prefix)).count() as u64;
                ensure!(found == *count, "{found} anchors, there must be {count}");
                Ok(())
            }
            Self::Same { source, target } => {
                let answer = cps.get(&delta_path(dataspace, (source, target), DEVICES, "all", false))?;
                let items = answer.as_array().context("the difference is no list")?;
                ensure!(items.is_empty(), "{} differences are left, {} first", items.len(), first(items));
                Ok(())
            }
            Self::Found(_) | Self::FoundOverAnchors(_) | Self::Values(_) | Self::Difference(_) => Ok(()),
        }
    }
}

impl Difference {
    fn of(self, answer: &Json) -> Result<()> {
        let items = answer.as_array().context("the difference is no list")?;
        let action = |item: &&Json, name: &str| item.get("action").and_then(Json::as_str) == Some(name);
        let replaced: BTreeSet<&str> = items
            .iter()
            .filter(|item| action(item, "replace"))
            .filter_map(|item| item.get("xpath").and_then(Json::as_str))
            .collect();
        ensure!(
            replaced.len() as u64 == self.replaced,
            "{} devices are replaced, not {}",
            replaced.len(),
            self.replaced
        );
        let created: Vec<&Json> = items.iter().filter(|item| action(item, "create")).collect();
        ensure!(
            replaced.len() + created.len() == items.len(),
            "something else is told, too: {}",
            first(items)
        );
        let mut named = BTreeSet::new();
        for item in &created {
            tree::texts_of(item, "device-id", &mut named);
            let path = item.get("xpath").and_then(Json::as_str).unwrap_or("");
            named.extend(
                path.split("@device-id='").nth(1).and_then(|rest| rest.split('\'').next()).map(str::to_owned),
            );
        }
        let (begin, end) = self.created;
        ensure!(
            named.len() as u64 == end - begin,
            "{} devices are created, not {}",
            named.len(),
            end - begin
        );
        let missing = (begin..end).map(device_id).find(|id| !named.contains(id));
        if let Some(missing) = missing {
            anyhow::bail!("{missing} is not told as created");
        }
        if let Some(each) = self.each {
            let expected = (end - begin) * each;
            ensure!(created.len() as u64 == expected, "{} nodes are created, not {expected}", created.len());
        }
        Ok(())
    }
}

/// The path that asks for the difference of what two anchors have at `xpath`.
pub(super) fn delta_path(
    dataspace: &Dataspace,
    (source, target): (&str, &str),
    xpath: &str,
    descendants: &str,
    grouping: bool,
) -> String {
    let (anchor, xpath) = (dataspace.anchor(source), encoded(xpath));
    format!(
        "{anchor}/delta?target-anchor-name={target}&xpath={xpath}&descendants={descendants}&grouping-enabled={grouping}"
    )
}

fn first(items: &[Json]) -> String {
    items.first().map_or_else(String::new, tree::shown)
}

fn counted(found: u64, expected: u64) -> Result<()> {
    ensure!(found == expected, "{found} data nodes, there must be {expected}");
    Ok(())
}

fn values(answer: &Json, count: u64) -> Result<()> {
    let list = answer.as_array().context("the values are no list")?;
    let distinct: BTreeSet<String> = list.iter().map(Json::to_string).collect();
    ensure!(
        distinct.len() == list.len(),
        "{} of {} values are told twice",
        list.len() - distinct.len(),
        list.len()
    );
    ensure!(list.len() as u64 == count, "{} values, there must be {count}", list.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_difference_names_each_device_once() {
        let create = |number: u64| json!({"action": "create", "xpath": format!("/x[@device-id='{}']", device_id(number)), "targetData": {}});
        let replace = json!({"action": "replace", "xpath": "/x[@device-id='C201-7-1A-1']"});
        let difference = Difference { replaced: 1, created: (2, 4), each: Some(1) };
        difference.of(&json!([replace, create(2), create(3)])).unwrap();
        let grouped = json!([replace, {"action": "create", "xpath": "/x",
            "targetData": {"d": [{"device-id": device_id(2)}, {"device-id": device_id(3)}]}}]);
        Difference { each: None, ..difference }.of(&grouped).unwrap();
        let check = |items: Json, expected: &str| {
            let error = difference.of(&items).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check(json!([create(2), create(3)]), "0 devices are replaced");
        check(json!([replace, create(2), create(2)]), "1 devices are created");
        check(json!([replace, create(2), create(4)]), "C201-7-1A-3 is not told");
        check(json!([replace, create(2), create(3), create(3)]), "3 nodes are created, not 2");
        check(json!([replace, create(2), create(3), {"action": "remove"}]), "something else");
    }

    #[test]
    fn values_are_told_once() {
        values(&json!([{"a": 1}, {"a": 2}]), 2).unwrap();
        assert!(values(&json!([{"a": 1}, {"a": 1}]), 2).is_err());
        assert!(values(&json!([{"a": 1}]), 2).is_err());
    }
}
