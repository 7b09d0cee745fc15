//! What an algorithm says of each vertex, written to it as a property: communities to `c_label`, ranks to `r_rank`.

use graph::schema::{LabelDraft, PropertyKey, PropertyKeyDraft, VertexLabelDraft};
use graph::{DataType, Properties, PropertiesBuilder, PropertyKeyId, ScalarRef, VertexId};
use model_graph::write::{Change, VertexOperation};
use model_graph::{Clock, Error, Graph};
use traversals::whole::WholeGraph;

use super::compute::Values;
use super::watch::Watch;
use crate::wire::put_time;

/// The property that says the community of a vertex.
pub(super) const COMMUNITY: &str = "c_label";
/// The property that says the rank of a vertex.
const RANK: &str = "r_rank";
/// Vertices of one write: a few commits.
const BATCH: u32 = 1_000;

/// Writes to each vertex what an algorithm says of it; whether it came to the end, and was not stopped. Vertices that are gone meanwhile are
/// passed over.
///
/// Cost: a read of each vertex and a commit for each thousand; before them commits of the schema, if it does not have the property.
///
/// # Errors
///
/// If the graph has a property of this name and another type, or the store refuses.
pub(super) async fn write_back(
    graph: &Graph,
    whole: &WholeGraph,
    values: &Values,
    clock: &Clock,
    watch: &Watch,
) -> Result<bool, Error> {
    let (name, data_type) = match values {
        Values::None => return Ok(true),
        Values::Communities(_) | Values::CommunitiesById(_) => (COMMUNITY, DataType::Text),
        Values::Ranks(_) => (RANK, DataType::Double),
    };
    watch.begin_part();
    let key = define(graph, name, data_type, clock).await?;
    let texts = texts(whole, values);
    let vertices = whole.out().vertices();
    for first in (0..vertices).step_by(usize::try_from(BATCH).expect("a batch fits in memory")) {
        if !watch.go_on(first.into()) {
            return Ok(false);
        }
        let batch = first..vertices.min(first.saturating_add(BATCH));
        let changes =
            batch.map(|vertex| (whole.id(vertex).into_owned(), properties(key, vertex, values, &texts)));
        write(graph, changes.collect(), clock).await?;
    }
    Ok(true)
}

/// The community of each group as a text.
fn texts(whole: &WholeGraph, values: &Values) -> Vec<String> {
    match values {
        Values::None | Values::Ranks(_) => Vec::new(),
        Values::Communities(groups) => (0..groups.count()).map(|group| group.to_string()).collect(),
        Values::CommunitiesById(groups) => {
            let mut texts = Vec::new();
            // Groups are numbered in the order of their first vertices.
            for (vertex, &group) in (0..).zip(groups.by_vertex()) {
                if usize::try_from(group) == Ok(texts.len()) {
                    texts.push(whole.id(vertex).to_string());
                }
            }
            texts
        }
    }
}

fn properties(key: PropertyKeyId, vertex: u32, values: &Values, texts: &[String]) -> Properties {
    let at = |number: u32| usize::try_from(number).expect("a number of 32 bits");
    let mut properties = PropertiesBuilder::default();
    match values {
        Values::None => {}
        Values::Communities(groups) | Values::CommunitiesById(groups) => {
            let text = texts.get(at(groups.of(vertex))).expect("each group has a text");
            properties.put_one(key, ScalarRef::Text(text));
        }
        Values::Ranks(ranks) => {
            let rank = ranks.get(at(vertex)).expect("each vertex has a rank");
            properties.put_one(key, ScalarRef::Double(*rank));
        }
    }
    properties.finish()
}

async fn write(graph: &Graph, changes: Vec<(VertexId, Properties)>, clock: &Clock) -> Result<(), Error> {
    let operation = |(id, properties): &(VertexId, Properties)| {
        VertexOperation::Change(id.clone(), Change::Append(properties.clone()))
    };
    match graph.write_vertices(changes.iter().map(operation).collect(), clock.now()).await {
        Ok(_) => return Ok(()),
        Err(Error::NoSuchVertex(_)) => {}
        Err(error) => return Err(error),
    }
    for change in &changes {
        match graph.write_vertices(vec![operation(change)], clock.now()).await {
            Ok(_) | Err(Error::NoSuchVertex(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Makes the property, and gives it to all vertex labels as one that a vertex may be without.
async fn define(
    graph: &Graph,
    name: &str,
    data_type: DataType,
    clock: &Clock,
) -> Result<PropertyKeyId, Error> {
    let now = clock.now();
    let mut created = String::new();
    put_time(&mut created, now);
    let draft = PropertyKeyDraft { data_type, check_exist: false, ..PropertyKeyDraft::named(name) };
    let key: model_graph::Changed<PropertyKey> = graph
        .change_schema((&created, now), |schema, creation| schema.create_property_key(&draft, creation))
        .await?;
    let key = key.part.id;
    for label in graph.state().await?.schema.vertex_labels() {
        if label.label.has_property(key) {
            continue;
        }
        let mut draft = VertexLabelDraft::named(&label.label.name);
        let properties = vec![Box::from(name)];
        draft.label = LabelDraft { properties: properties.clone(), nullable_keys: properties, ..draft.label };
        match graph.change_schema((&created, now), |schema, _| schema.append_vertex_label(&draft)).await {
            // Its vertices are gone with it.
            Ok(_) | Err(Error::Schema(graph::schema::SchemaError::NothingToChange(_))) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(key)
}
