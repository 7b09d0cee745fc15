//! Configuration under YANG schemas in a process of its own: no server, the store in a folder.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use config::query::{Answer, Query};
use config::{Depth, Edit, Label, LeafLists, MergeOptions, Place, Position};
use lang_yang::{Content, Features, ReadOptions, Style, YangFile, read_json, write_content_json};
use model_config::{
    Anchor, Clock, ConfigOptions, Configs, Deadline, Error, Mode, SchemaSetOptions, VersionId, WriteOptions,
};
use store::{EmbeddedOptions, Store};

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let folder =
        std::env::args().nth(1).ok_or("say where the store is to be: a folder that is empty or new")?;
    let store = Store::open(Path::new(&folder), EmbeddedOptions::recommended())?;
    let configs = Configs::new(store.clone(), Clock::System, ConfigOptions::recommended());

    let anchor = match configs.anchor("town", "lighting").await {
        Ok(found) => found,
        Err(Error::UnknownDataspace(_)) => make(&configs).await?,
        Err(other) => return Err(other.into()),
    };
    say(&format!("anchor '{}' is of version {}", anchor.name(), anchor.version().await?))?;

    let before = anchor.version().await?;
    let dim =
        r#"{"lighting:lighting": {"street": [{"name": "Quay", "lamp": [{"number": 2, "dimmed-to": 30}]}]}}"#;
    let changed = anchor.write_edits(&[merge(&anchor, dim)?], WriteOptions::default()).await?;
    say(&format!("dimmed a lamp: version {} became {}", changed.before, changed.version))?;

    let wrong = dim.replace("\"number\": 2", "\"number\": 3");
    if let Err(refused) = anchor.write_edits(&[merge(&anchor, &wrong)?], WriteOptions::default()).await {
        say(&format!("refused: {refused}"))?;
    }

    say(&format!("dimmed below half now: {}", dimmed(&anchor, None).await?))?;
    say(&format!("in version {before}: {}", dimmed(&anchor, Some(before)).await?))?;

    anchor.roll_back(before, WriteOptions::default()).await?;
    say(&format!("after taking up version {before} again: {}", dimmed(&anchor, None).await?))?;
    say(&String::from_utf8(street(&anchor).await?)?)?;
    store.close().await?;
    Ok(())
}

/// A dataspace, a schema set of two modules, and an anchor with data.
async fn make(configs: &Configs) -> Result<Anchor, Failure> {
    let file = |name: &str, text: &str| YangFile { name: name.into(), text: text.into() };
    let files = [
        file("lighting.yang", include_str!("lighting.yang")),
        file("lamp-types.yang", include_str!("lamp-types.yang")),
    ];
    configs.create_dataspace("town").await?;
    let options = SchemaSetOptions { mode: Mode::Strict, features: Features::All };
    configs.create_schema_set("town", "lighting", &files, options).await?;
    let anchor = configs.create_anchor("town", "lighting", "lighting").await?;
    let data = read(&anchor, include_str!("lighting.json"))?;
    let create =
        Edit::Create { parent: Place::Label(Label::top()), nodes: data.children.into(), at: Position::Last };
    anchor.write_edits(&[create], WriteOptions::default()).await?;
    Ok(anchor)
}

/// JSON as data of the anchor's schema.
fn read(anchor: &Anchor, json: &str) -> Result<Content, Failure> {
    Ok(read_json(anchor.schema(), None, json.as_bytes(), &ReadOptions::RFC7951)?)
}

/// Sets the leaves that are given, of what is there.
fn merge(anchor: &Anchor, json: &str) -> Result<Edit, Failure> {
    let nodes = read(anchor, json)?.children.into();
    let options = MergeOptions { must_exist: true, leaf_lists: LeafLists::Replace };
    Ok(Edit::Merge { parent: Place::Label(Label::top()), nodes, options })
}

/// The paths of lamps that are dimmed below half, in a version or the newest.
async fn dimmed(anchor: &Anchor, version: Option<VersionId>) -> Result<String, Failure> {
    let path = lang_cps_path::parse("//lamp[@dimmed-to<50]")?;
    let query = Arc::new(Query::new(anchor.schema(), &path)?);
    let reading = anchor.read(version).await?;
    let Answer::Entries(found) = reading.query(query, 1_000, Deadline::default()).await? else {
        return Err("the path asks for entries".into());
    };
    let paths: Vec<String> = reading.run(|tree| found.iter().map(|label| tree.path(label)).collect()).await?;
    Ok(paths.join(", "))
}

/// The first street as JSON.
async fn street(anchor: &Anchor) -> Result<Vec<u8>, Failure> {
    let schema = anchor.schema();
    let lighting = schema.child(None, None, "lighting").ok_or("the schema has a container")?;
    let list = schema.child(Some(lighting), None, "street").ok_or("the schema has a list")?;
    let steps = [config::Step::container(lighting), config::Step::position(list, 0)];
    let reading = anchor.read(None).await?;
    let content = reading
        .run(|tree| match tree.find(&steps)? {
            Some(label) => tree.content(&label, Depth::All),
            None => Ok(None),
        })
        .await?;
    let street = lang_yang::DataNode { schema: list, content: content.ok_or("there is a street")? };
    let mut json = Vec::new();
    let content = Content { leaves: Vec::new(), children: vec![street] };
    write_content_json(schema, &content, Style::RFC7951, &mut json);
    Ok(json)
}

fn say(line: &str) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{line}")
}
