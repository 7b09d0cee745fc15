//! A graph in a store of this process: vertices that are numbers, one label of vertices and one of edges, no properties.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use campaign_graphs::graphdb::network::Network;
use graph::{Edge, EdgeDirection, EdgeId, LabelId, Properties, Vertex, VertexId, keys};
use model_graph::{Reader, ReaderContext, VisibleLabels};
use store::{EmbeddedOptions, Load, LoadRows, Store, Tenant, Timestamp};

/// Rows that are added to a load at once.
const ROWS_AT_ONCE: usize = 8_192;
/// Bytes of one of them, about.
const ROW_BYTES: usize = 40;
/// The label of all vertices, and that of all edges.
const LABEL: LabelId = LabelId(1);

/// A graph in a store of this process.
#[derive(Debug)]
pub struct Stored {
    store: Store,
    graph: Tenant,
}

impl Stored {
    /// An empty graph in `folder`, durable, with the options that a server has.
    ///
    /// # Errors
    ///
    /// If the store does not open.
    pub fn open(folder: &Path) -> Result<Self> {
        let store = Store::open(folder, EmbeddedOptions::recommended()).context("opening the store")?;
        Ok(Self { store, graph: Tenant::default() })
    }

    /// Loads all vertices and edges, with the rows that find vertices by label and edges from both ends; returns once all is durable.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn insert(&self, network: &Network) -> Result<()> {
        let load = self.begin().await?;
        let mut rows = fresh();
        for vertex in 0..network.vertices {
            let id = VertexId::Number(i64::from(vertex));
            let (key, by_label) = (keys::vertex(&id), keys::label(LABEL, &id));
            let vertex = Vertex { id, label: LABEL, expires: None, properties: Properties::default() };
            rows.put_stamped(&key, &vertex.to_stored());
            rows.put(&by_label, b"");
            rows = added(&load, rows).await?;
        }
        for (source, target) in &network.edges {
            let number = |vertex: u32| VertexId::Number(i64::from(vertex));
            let (source, target) = (number(*source), number(*target));
            let id = EdgeId { source, label: LABEL, sub_label: LABEL, sort_values: "".into(), target };
            let edge = Edge { id, expires: None, properties: Properties::default() };
            let stored = edge.to_stored();
            rows.put_stamped(&keys::edge(&edge.id, EdgeDirection::Out), &stored);
            rows.put(&keys::edge(&edge.id, EdgeDirection::In), &stored);
            rows = added(&load, rows).await?;
        }
        load.add(rows).await?;
        load.finish(None).await.context("finishing the load")
    }

    /// Loads rows of the same number and size that were made before: what the store alone takes.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn insert_bare(&self, rows: Vec<LoadRows>) -> Result<()> {
        let load = self.begin().await?;
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
    pub fn reader(&self) -> Result<Reader> {
        let visible = Arc::new(VisibleLabels::new([LABEL], [LABEL]));
        let context = ReaderContext { graph: self.graph.clone(), buckets: 1, visible, now: Timestamp(0) };
        Ok(Reader::new(&self.store, context)?)
    }

    async fn begin(&self) -> Result<Load> {
        let partition = keys::partition(&self.graph, 0);
        let epoch = self.store.fence(&partition);
        self.store.load(&partition, epoch).await.context("beginning a load")
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

/// Hands the rows over if they are enough.
async fn added(load: &Load, rows: LoadRows) -> Result<LoadRows> {
    if rows.len() < ROWS_AT_ONCE {
        return Ok(rows);
    }
    load.add(rows).await.context("adding to the load")?;
    Ok(fresh())
}
