//! What a flow writes: eleven YANG modules and a sample of them. The published ones lie in a folder of the user's; without
//! it, there are modules and a sample of the same shape, made here.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value as Json, json};
use yang_samples::{Module, topology};

use crate::tree;

/// The published modules.
const PUBLISHED: [&str; 11] = [
    "iana-if-type",
    "ieee802-dot1q-types",
    "ietf-inet-types",
    "ietf-interfaces",
    "ietf-l2-topology",
    "ietf-l2-topology-state",
    "ietf-network",
    "ietf-network-state",
    "ietf-network-topology",
    "ietf-network-topology-state",
    "ietf-yang-types",
];
/// The published sample: the example of RFC 8944, appendix B.
const PUBLISHED_SAMPLE: &str = "ietf-network-sample-rfc8944.json";
/// Data nodes of the sample, as published.
pub const NODES: u64 = 52;

/// Modules, a sample, and which of its nodes is updated.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// What they are, for the report.
    pub title: String,
    /// The modules.
    pub modules: Vec<Module>,
    /// The sample as it is sent.
    pub sample: String,
    /// The path of the container that the sample is.
    pub top: String,
    /// The path of the node below which a container is replaced.
    pub updated: String,
    /// The member that replaces it, with the name of its module.
    pub member: String,
    sample_tree: Json,
}

impl Inputs {
    /// Those of `folder`, or those made here.
    ///
    /// # Errors
    ///
    /// If a file is missing in the folder, or the sample is not what was published.
    pub fn new(folder: Option<&Path>) -> Result<Self> {
        match folder {
            Some(folder) => {
                Self::published(folder).with_context(|| format!("the inputs in {}", folder.display()))
            }
            None => Self::made(),
        }
    }

    fn published(folder: &Path) -> Result<Self> {
        let modules: Result<Vec<Module>> = PUBLISHED.iter().map(|name| module(folder, name)).collect();
        let path = folder.join(PUBLISHED_SAMPLE);
        let sample = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        let title = "the published modules and the sample of RFC 8944, appendix B".to_owned();
        Self::of(title, modules?, sample, ("l2-topo-example", "D3", "ietf-l2-topology"))
    }

    fn made() -> Result<Self> {
        let title =
            "modules and a sample made for this campaign, of the shape of the published ones (no --data)";
        let sample = serde_json::to_string_pretty(&made_sample())?;
        Self::of(title.to_owned(), topology(), sample, ("ring", "C", "campaign-l2"))
    }

    fn of(
        title: String,
        modules: Vec<Module>,
        sample: String,
        (network, node, l2): (&str, &str, &str),
    ) -> Result<Self> {
        let sample_tree: Json = serde_json::from_str(&sample).context("the sample is no JSON")?;
        let nodes = tree::nodes(&sample_tree);
        ensure!(nodes == NODES, "the sample has {nodes} data nodes, it must have {NODES}");
        let updated = format!("/networks/network[@network-id='{network}']/node[@node-id='{node}']");
        let member = format!("{l2}:l2-node-attributes");
        let inputs =
            Self { title, modules, sample, top: "/networks".to_owned(), updated, member, sample_tree };
        ensure!(inputs.expected(0) != inputs.sample_tree, "the sample has no node {node:?} to update");
        Ok(inputs)
    }

    /// The body of the update numbered `mark`, which no other has.
    pub fn update(&self, mark: u64, out: &mut Vec<u8>) {
        let [one, other] = addresses(mark);
        let parts = ["{\"", &self.member, "\":{\"management-address\":[\"", &one, "\",\"", &other, "\"]}}"];
        parts.iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
    }

    /// The tree after the update numbered `mark`.
    pub fn expected(&self, mark: u64) -> Json {
        let mut expected = self.sample_tree.clone();
        let value = json!({"management-address": addresses(mark)});
        replace(&mut expected, &self.updated_node(), &self.member, &value);
        expected
    }

    fn updated_node(&self) -> String {
        let rest = self.updated.rsplit_once("='").map_or("", |(_, rest)| rest);
        rest.trim_end_matches("']").to_owned()
    }
}

/// Two addresses that no other update of the same load has, unless it has some ten million.
fn addresses(mark: u64) -> [String; 2] {
    let (low, high) = (mark % 250 + 1, mark / 250 % 65_000 + 1);
    [format!("198.51.100.{low}"), format!("2001:db8:0:3::{high:x}")]
}

/// Replaces `member` of the node of that name, wherever it is.
fn replace(json: &mut Json, node: &str, member: &str, value: &Json) {
    match json {
        Json::Object(members) => {
            if members.get("node-id").and_then(Json::as_str) == Some(node) {
                members.insert(member.to_owned(), value.clone());
            }
            members.values_mut().for_each(|inner| replace(inner, node, member, value));
        }
        Json::Array(items) => items.iter_mut().for_each(|item| replace(item, node, member, value)),
        _ => {}
    }
}

/// The file of a module, with or without its revision in the name.
fn module(folder: &Path, name: &str) -> Result<Module> {
    let plain = format!("{name}.yang");
    let begins = format!("{name}@");
    let entries = std::fs::read_dir(folder).context("reading the folder")?;
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    found.sort();
    let fits = |path: &&PathBuf| {
        let file = path.file_name().map_or_else(String::new, |file| file.to_string_lossy().into_owned());
        file == plain || (file.starts_with(&begins) && file.ends_with(".yang"))
    };
    let path = found.iter().find(fits).with_context(|| format!("no {plain}, with or without a revision"))?;
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let file = path.file_name().map_or(plain, |file| file.to_string_lossy().into_owned());
    Ok(Module { file, text })
}

/// Three nodes with ten termination points, and six links: 52 data nodes.
fn made_sample() -> Json {
    const POINTS: [(&str, usize); 3] = [("A", 5), ("B", 3), ("C", 2)];
    let node = |number: usize, (name, points): (&str, usize)| {
        let point = |point: usize| {
            let mac = format!("02:00:00:00:{number:02x}:{point:02x}");
            let mut attributes = json!({"mac-address": mac});
            if point + 3 == points {
                attributes = json!({"mac-address": mac, "lag": true,
                    "member-link-tp": [format!("{name}-{}", point + 1), format!("{name}-{}", point + 2)]});
            }
            json!({"tp-id": format!("{name}-{point}"), "campaign-l2:l2-termination-point-attributes": attributes})
        };
        let addresses = [format!("192.0.2.{}", number + 1), format!("2001:db8:0:{}::", number + 1)];
        json!({"node-id": name,
            "campaign-topology:termination-point": (0..points).map(point).collect::<Vec<_>>(),
            "campaign-l2:l2-node-attributes": {"management-address": addresses}})
    };
    let link = |(from, to): (&str, &str)| {
        json!({"link-id": format!("{from}-0,{to}-1"),
            "source": {"source-node": from, "source-tp": format!("{from}-0")},
            "destination": {"dest-node": to, "dest-tp": format!("{to}-1")},
            "campaign-l2:l2-link-attributes": {"rate": "1000"}})
    };
    let ends = [("A", "B"), ("B", "A"), ("A", "C"), ("C", "A"), ("B", "C"), ("C", "B")];
    let nodes: Vec<Json> = POINTS.into_iter().enumerate().map(|(number, of)| node(number, of)).collect();
    json!({"campaign-network:networks": {"network": [{"network-id": "ring", "node": nodes,
        "campaign-topology:link": ends.map(link)}]}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_made_sample_has_the_shape_of_the_published_one() {
        let inputs = Inputs::new(None).unwrap();
        assert_eq!((inputs.modules.len(), tree::nodes(&inputs.sample_tree)), (11, NODES));
        assert!((5_000..7_500).contains(&inputs.sample.len()), "{}", inputs.sample.len());
        let mut body = Vec::new();
        inputs.update(7, &mut body);
        let sent: Json = serde_json::from_slice(&body).unwrap();
        assert_eq!(sent["campaign-l2:l2-node-attributes"]["management-address"][0], "198.51.100.8");
        let (one, other) = (inputs.expected(7), inputs.expected(8));
        assert!(one != other && one.to_string().contains("\"198.51.100.8\",\"2001:db8:0:3::1\""));
        assert_eq!(tree::nodes(&one), NODES, "a container is replaced by another");
        assert_eq!(one.to_string().matches("management-address").count(), 3);
    }

    #[test]
    fn a_folder_must_have_all_of_it() {
        let folder = tempfile::tempdir().unwrap();
        for name in PUBLISHED {
            std::fs::write(folder.path().join(format!("{name}@2000-01-01.yang")), "module x {}").unwrap();
        }
        let missing = format!("{:#}", Inputs::new(Some(folder.path())).unwrap_err());
        assert!(missing.contains(PUBLISHED_SAMPLE), "{missing}");
        std::fs::write(folder.path().join(PUBLISHED_SAMPLE), "{\"n:networks\":{}}").unwrap();
        let wrong = format!("{:#}", Inputs::new(Some(folder.path())).unwrap_err());
        assert!(wrong.contains("has 1 data nodes, it must have 52"), "{wrong}");
        let sample = made_sample().to_string().replace("\"C\"", "\"D3\"");
        std::fs::write(folder.path().join(PUBLISHED_SAMPLE), sample).unwrap();
        let inputs = Inputs::new(Some(folder.path())).unwrap();
        assert_eq!(
            (inputs.modules.len(), inputs.modules[0].file.as_str()),
            (11, "iana-if-type@2000-01-01.yang")
        );
        std::fs::remove_file(folder.path().join("ietf-network@2000-01-01.yang")).unwrap();
        let missing = format!("{:#}", Inputs::new(Some(folder.path())).unwrap_err());
        assert!(missing.contains("no ietf-network.yang"), "{missing}");
    }
}
