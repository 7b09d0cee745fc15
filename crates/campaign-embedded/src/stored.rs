//! A graph in a store of this process: vertices that are numbers, one label of vertices and one of edges, no properties.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use campaign_graphs::graphdb::network::Network;
use graph::schema::{EdgeLabelDraft, IdStrategy, VertexLabelDraft};
use graph::{Edge, EdgeId, LabelId, Properties, Vertex, VertexId, keys};
use model_graph::{DEFAULT_GRAPH, DEFAULT_SPACE, Graph, GraphOptions, Graphs, Reader, Timestamp};
use store::{EmbeddedOptions, LoadRows, Store};

/// Rows that are added to a bare load at once.
const ROWS_AT_ONCE: usize = 8_192;
/// Bytes of one of them, about.
const ROW_BYTES: usize = 40;
/// When everything happens.
const NOW: (&str, Timestamp) = ("\"2026-01-01 00:00:00.000\"", Timestamp(0));

/// A graph in a store of this process.
#[derive(Debug)]
pub struct Stored {
    graph: Arc<Graph>,
    node: LabelId,
    link: LabelId,
}

impl Stored {
    /// An empty graph in `folder`, durable, with the options that a server has, and its schema.
    ///
    /// # Errors
    ///
    /// If the store does not open, or refuses.
    pub async fn open(folder: &Path) -> Result<Self> {
        let store = Store::open(folder, EmbeddedOptions::recommended()).context("opening the store")?;
        let options = GraphOptions { tenants_max: 1, graphs_max: 1, buckets: 1 };
        let graph = Graphs::new(store, options).get(DEFAULT_SPACE, DEFAULT_GRAPH).await?;
        let node =
            VertexLabelDraft { id_strategy: IdStrategy::CustomizeNumber, ..VertexLabelDraft::named("node") };
        let node = graph.change_schema(NOW, |schema, new| schema.create_vertex_label(&node, new)).await?;
        let links = vec![("node".into(), "node".into())];
        let link = EdgeLabelDraft { links, ..EdgeLabelDraft::named("link") };
        let link = graph.change_schema(NOW, |schema, new| schema.create_edge_label(&link, new)).await?;
        Ok(Self { graph, node: node.part.id, link: link.part.id })
    }

    /// Loads all vertices and edges; returns once all is durable and seen.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn insert(&self, network: &Network) -> Result<()> {
        let number = |vertex: u32| VertexId::Number(i64::from(vertex));
        let mut load = self.graph.load().await?;
        for vertex in 0..network.vertices {
            let (id, properties) = (number(vertex), Properties::default());
            load.add_vertex(&Vertex { id, label: self.node, expires: None, properties }).await?;
        }
        for (source, target) in &network.edges {
            let (source, target) = (number(*source), number(*target));
            let (label, sub_label, sort_values) = (self.link, self.link, "".into());
            let id = EdgeId { source, label, sub_label, sort_values, target };
            load.add_edge(&Edge { id, expires: None, properties: Properties::default() }).await?;
        }
        load.finish().await.context("finishing the load")
    }

    /// Loads rows of the same number and size that were made before: what the store alone takes.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn insert_bare(&self, rows: Vec<LoadRows>) -> Result<()> {
        let partition = keys::partition(self.graph.part(), 0);
        let store = self.graph.store();
        let load = store.load(&partition, store.fence(&partition)).await.context("beginning a load")?;
        for rows in rows {
            load.add(rows).await?;
        }
        load.finish(None).await.context("finishing the load")
    }

    /// The graph as it is now.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn reader(&self) -> Result<Reader> {
        Ok(self.graph.reader(NOW.1).await?)
    }
}

/// Rows as [`Stored::insert`] adds them, in the same order, with keys of the same length.
pub fn bare_rows(network: &Network) -> Vec<LoadRows> {
    let mut all = Vec::new();
    let mut rows = fresh();
    let mut put = |kind: u8, one: u32, other: u32| {
        let mut key = vec![kind];
        key.extend_from_slice(&u64::from(one).to_be_bytes());
        key.extend_from_slice(&[0; 10]);
        key.extend_from_slice(&u64::from(other).to_be_bytes());
        rows.put(&key, &[1]);
        if rows.len() >= ROWS_AT_ONCE {
            all.push(std::mem::replace(&mut rows, fresh()));
        }
    };
    for vertex in 0..network.vertices {
        put(b'v', vertex, 0);
        put(b'L', vertex, 0);
    }
    for (source, target) in &network.edges {
        put(b'e', *source, *target);
        put(b'E', *target, *source);
    }
    all.push(rows);
    all
}

fn fresh() -> LoadRows {
    LoadRows::with_capacity(ROWS_AT_ONCE * ROW_BYTES, ROWS_AT_ONCE + 2)
}
