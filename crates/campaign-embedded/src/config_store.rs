//! The configuration of a tenant in a store of this process: a dataspace with one schema set, used as a front end uses it.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use config::query::Address;
use config::{ApplyError, Depth, Edit, Label, Place, Position, Step};
use lang_yang::{
    Content, Features, NodeId, ReadOptions, Schema, Style, YangFile, read_json, write_content_json,
};
use model_config::{Anchor, Clock, ConfigOptions, Configs, Mode, SchemaSetOptions, WriteOptions};
use serde_json::Value as Json;
use store::{EmbeddedOptions, Store};
use yang_samples::Module;

/// The dataspace.
const DATASPACE: &str = "campaign";
/// Its schema set.
const SCHEMA_SET: &str = "modules";

/// A dataspace in a store of this process.
#[derive(Debug, Clone)]
pub struct ConfigStore {
    configs: Configs,
}

/// What a path names: an entry, by the steps to it.
type Steps = Vec<Step>;

impl ConfigStore {
    /// An empty dataspace in `folder`, durable, with the options that a server has, and `modules` as its schema set.
    ///
    /// # Errors
    ///
    /// If the store does not open, or the modules are refused.
    pub async fn open(folder: &Path, modules: &[Module]) -> Result<Self> {
        let store = Store::open(folder, EmbeddedOptions::recommended()).context("opening the store")?;
        let configs = Configs::new(store, Clock::System, ConfigOptions::recommended());
        configs.create_dataspace(DATASPACE).await?;
        let file = |module: &Module| YangFile {
            name: module.file.as_str().into(),
            text: module.text.as_str().into(),
        };
        let files: Vec<YangFile> = modules.iter().map(file).collect();
        let options = SchemaSetOptions { mode: Mode::Lenient, features: Features::All };
        configs
            .create_schema_set(DATASPACE, SCHEMA_SET, &files, options)
            .await
            .context("compiling the modules")?;
        Ok(Self { configs })
    }

    /// Creates an anchor.
    ///
    /// # Errors
    ///
    /// If the model refuses.
    pub async fn create_anchor(&self, name: &str) -> Result<()> {
        self.configs.create_anchor(DATASPACE, SCHEMA_SET, name).await?;
        Ok(())
    }

    /// Deletes an anchor with its tree.
    ///
    /// # Errors
    ///
    /// If the model refuses.
    pub async fn delete_anchor(&self, name: &str) -> Result<()> {
        self.configs.remove_anchor(DATASPACE, name).await?;
        Ok(())
    }

    /// An anchor by its name.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub async fn anchor(&self, name: &str) -> Result<Anchor> {
        Ok(self.configs.anchor(DATASPACE, name).await?)
    }

    /// How many anchors there are, of the first thousand.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn anchors(&self) -> Result<usize> {
        Ok(self.configs.anchors(DATASPACE, None, (None, 1_000)).await?.len())
    }

    /// Creates the nodes of `json` at the top of an anchor.
    ///
    /// # Errors
    ///
    /// If they are no data of the modules, or the model refuses.
    pub async fn create_nodes(&self, anchor: &str, json: &[u8]) -> Result<()> {
        let anchor = self.anchor(anchor).await?;
        let nodes = read_json(anchor.schema(), None, json, &ReadOptions::CPS)?.children;
        let edit =
            Edit::Create { parent: Place::Label(Label::top()), nodes: nodes.into(), at: Position::Last };
        anchor.write_edits(&[edit], WriteOptions::default()).await?;
        Ok(())
    }

    /// Replaces the nodes of `json` below the node at `path`.
    ///
    /// # Errors
    ///
    /// If there is no such node, they are no data of the modules there, or the model refuses.
    pub async fn replace_nodes(&self, anchor: &str, path: &str, json: &[u8]) -> Result<()> {
        let anchor = self.anchor(anchor).await?;
        let (steps, node) = entry(anchor.schema(), path)?;
        let nodes = read_json(anchor.schema(), Some(node), json, &ReadOptions::CPS)?.children;
        let edit = Edit::Replace { parent: Place::Steps(steps), nodes: nodes.into(), at: None };
        anchor.write_edits(&[edit], WriteOptions::default()).await?;
        Ok(())
    }

    /// The whole tree of an anchor, as JSON.
    ///
    /// # Errors
    ///
    /// If there is none, or the store refuses.
    pub async fn tree(&self, anchor: &str) -> Result<Json> {
        let anchor = self.anchor(anchor).await?;
        let reading = anchor.read(None).await?;
        let content = reading.run(|tree| tree.content(&Label::top(), Depth::All)).await?;
        let mut out = Vec::new();
        let content = content.context("the top of a tree is always there")?;
        write_content_json(anchor.schema(), &content, Style::CPS, &mut out);
        serde_json::from_slice(&out).context("what is written is JSON")
    }

    /// What lies at each of `paths`, with all below it; nothing where nothing is.
    ///
    /// # Errors
    ///
    /// If a path names nothing that could be there, or the store refuses.
    pub async fn read_many(&self, anchor: &str, paths: &[String]) -> Result<Vec<Option<Content>>> {
        let anchor = self.anchor(anchor).await?;
        let named: Result<Vec<Steps>> =
            paths.iter().map(|path| Ok(entry(anchor.schema(), path)?.0)).collect();
        let named = named?;
        let reading = anchor.read(None).await?;
        let mut found = Vec::with_capacity(named.len());
        for steps in &named {
            let content = reading
                .run(|tree| match tree.find(steps)? {
                    Some(label) => tree.content(&label, Depth::All),
                    None => Ok(None),
                })
                .await?;
            found.push(content);
        }
        Ok(found)
    }

    /// Deletes what lies at each of `paths`, all or nothing: entries, or whole lists. Whether there was something at all of them.
    ///
    /// # Errors
    ///
    /// If a path names nothing that could be there, or the model refuses.
    pub async fn delete_many(&self, anchor: &str, paths: &[String]) -> Result<bool> {
        let anchor = self.anchor(anchor).await?;
        let edit = |path: &String| match address(anchor.schema(), path)? {
            Address::Entry(steps) => Ok(Edit::Delete { entry: Place::Steps(steps) }),
            Address::List { parent, list } => Ok(Edit::DeleteList { parent: Place::Steps(parent), list }),
            Address::Top => Ok(Edit::Delete { entry: Place::Label(Label::top()) }),
        };
        let edits: Result<Vec<Edit>> = paths.iter().map(edit).collect();
        match anchor.write_edits(&edits?, WriteOptions::default()).await {
            Ok(_) => Ok(true),
            Err(model_config::Error::Edit(ApplyError::NotFound(_))) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

fn address(schema: &Schema, path: &str) -> Result<Address> {
    let path = lang_cps_path::parse(path)?;
    Ok(Address::new(schema, &path)?)
}

/// The entry that a path names, and the node of the schema that it is.
fn entry(schema: &Schema, path: &str) -> Result<(Steps, NodeId)> {
    match address(schema, path)? {
        Address::Entry(steps) => {
            let node = steps.last().map(|step| step.node).context("a path to an entry has steps")?;
            Ok((steps, node))
        }
        Address::Top | Address::List { .. } => bail!("{path} names no single entry"),
    }
}

/// Containers and list entries below what was read, itself included.
pub fn nodes(content: &Content) -> u64 {
    1 + content.children.iter().map(|child| nodes(&child.content)).sum::<u64>()
}
