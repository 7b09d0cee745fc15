//! The schema of one graph as it is stored, and what the graph is set to: read at the cost of a cached look-up, changed in one commit.
//!
//! Invariant: the row of the state is written with each change of the schema, so that its version is that of the schema. A part
//! that is removed becomes, in the same commit, one whose elements and rows are to be removed; none of its kind gets its
//! number before that is done, and after it only in a graph that is restored.

use std::sync::Arc;

use bytes::Bytes;
use graph::schema::{Numbers, PartId, Schema, SchemaChange, SchemaPart};
use graph::{GraphMode, Malformed, ReadMode};
use parking_lot::RwLock;
use store::{Condition, ReadAttempts, Stamp, Tenant, Write};

use crate::hubs::Hubs;
use crate::records::{BACKOFF, Pending, Records, damaged};
use crate::{Error, VisibleLabels, keys};

/// What is changed, for errors.
const SCHEMA: &str = "the schema";
/// Bytes before the numbers: mode and read mode.
const HEAD: usize = 2;

/// A graph's schema and what it is set to, at one moment.
#[derive(Clone, Debug)]
pub struct GraphState {
    /// The schema.
    pub schema: Arc<Schema>,
    /// The labels whose elements are seen.
    pub visible: Arc<VisibleLabels>,
    /// How it takes writes.
    pub mode: GraphMode,
    /// Which properties it reads.
    pub read_mode: ReadMode,
    /// Vertices at which pointers are spread further, if there are any.
    pub hubs: Option<Arc<Hubs>>,
    /// Its version; `None` before the first change.
    version: Option<Stamp>,
}

impl GraphState {
    fn new(schema: Schema, (mode, read_mode): (GraphMode, ReadMode), version: Option<Stamp>) -> Self {
        let vertices = schema.vertex_labels().map(|label| label.id);
        let edges = schema.edge_labels().map(|label| label.id);
        let visible = Arc::new(VisibleLabels::new(vertices, edges));
        let schema = Arc::new(schema.reading(read_mode));
        Self { schema, visible, mode, read_mode, hubs: None, version }
    }

    /// The same where elements of these labels alone are seen.
    pub(crate) fn narrowed(&self, visible: VisibleLabels) -> Self {
        Self { visible: Arc::new(visible), ..self.clone() }
    }

    /// That it is the newest still.
    pub(crate) fn unchanged(&self) -> Condition {
        match self.version {
            None => Condition::Absent(keys::state()),
            Some(version) => Condition::Version(keys::state(), version),
        }
    }
}

/// Where the schema of one graph is stored, and its newest state as this process knows it.
#[derive(Debug)]
pub(crate) struct StateStore {
    records: Records,
    cached: RwLock<Arc<GraphState>>,
}

impl StateStore {
    pub(crate) fn new(store: store::Store, graph: &Tenant) -> Self {
        let empty = GraphState::new(Schema::default(), (GraphMode::None, ReadMode::OltpOnly), None);
        Self { records: Records::new(store, graph), cached: RwLock::new(Arc::new(empty)) }
    }

    pub(crate) fn records(&self) -> &Records {
        &self.records
    }

    /// The newest state. Cost: a cached look-up, or a round to other nodes; all parts are read where it has changed.
    pub(crate) async fn get(&self) -> Result<Arc<GraphState>, Error> {
        let version = self.records.get(&keys::state()).await?.map(|row| row.stamp);
        let cached = self.cached.read().clone();
        if cached.version == version {
            return Ok(cached);
        }
        let read = Arc::new(Box::pin(self.read()).await?);
        *self.cached.write() = read.clone();
        Ok(read)
    }

    async fn read(&self) -> Result<GraphState, Error> {
        let mut attempts = ReadAttempts::default();
        loop {
            match self.read_once().await {
                Err(Error::Store(error)) if attempts.again(&error) => {}
                outcome => return outcome,
            }
        }
    }

    async fn read_once(&self) -> Result<GraphState, Error> {
        let (records, snapshot) = (&self.records, self.records.snapshot()?);
        let Some(row) = records.get_in(&snapshot, &keys::state()).await? else {
            let modes = (GraphMode::None, ReadMode::OltpOnly);
            return Ok(GraphState::new(Schema::default(), modes, None));
        };
        let (modes, numbers) = parse(&row.value).map_err(|_| damaged("the state of a graph"))?;
        let parts = read_parts(&records.all(&snapshot, keys::parts()).await?)?;
        let removed = read_parts(&records.all(&snapshot, keys::all_removed()).await?)?;
        let schema =
            Schema::assemble(parts, removed, numbers).map_err(|_| damaged("the schema of a graph"))?;
        let hubs = records.all(&snapshot, keys::hubs()).await?.into_iter();
        let hubs = hubs
            .map(|(key, value)| Some((keys::vertex_key_of_hub(&key)?, value)))
            .collect::<Option<Vec<_>>>();
        let hubs = hubs.and_then(Hubs::of_stored).ok_or_else(|| damaged("the hubs of a graph"))?;
        let hubs = (!hubs.is_empty()).then(|| Arc::new(hubs));
        Ok(GraphState { hubs, ..GraphState::new(schema, modes, Some(row.stamp)) })
    }

    /// Stores a change of the schema, and what else is to be in its commit; answers with the state that it made, `None` if another writer came
    /// first. Cost: one commit.
    pub(crate) async fn commit(
        &self,
        state: &GraphState,
        change: SchemaChange,
        mut pending: Pending,
    ) -> Result<Option<Arc<GraphState>>, Error> {
        let put = |part: &SchemaPart| Write::Put(keys::part(part.id()), part.to_bytes().into());
        pending.writes.extend(change.put.iter().map(put));
        for part in &change.removed {
            pending.writes.push(Write::Delete(keys::part(part.id())));
            if part.leaves_rows() {
                pending.writes.push(Write::Put(keys::removed(part.id()), part.to_bytes().into()));
            }
        }
        pending.writes.extend(change.finished.iter().map(|id| Write::Delete(keys::removed(*id))));
        let becomes = GraphState::new(change.schema, (state.mode, state.read_mode), None);
        self.put(state, GraphState { hubs: state.hubs.clone(), ..becomes }, pending).await
    }

    /// Sets how the graph takes writes.
    pub(crate) async fn set_mode(&self, mode: GraphMode) -> Result<(), Error> {
        self.set(|state| GraphState { mode, ..state }).await
    }

    /// Sets which properties the graph reads.
    pub(crate) async fn set_read_mode(&self, read_mode: ReadMode) -> Result<(), Error> {
        let reading = |schema: &Schema| Arc::new(schema.clone().reading(read_mode));
        self.set(|state| GraphState { read_mode, schema: reading(&state.schema), ..state }).await
    }

    /// Spreads pointers at a vertex over twice as many of the graph's buckets, if they are spread over `width` so far; `false` if they are not, or may not be spread
    /// further. From then on each writer and reader that asks for the state knows it.
    pub(crate) async fn widen_hub(&self, vertex_key: &[u8], width: u32, buckets: u32) -> Result<bool, Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let state = self.get().await?;
            if Hubs::width(state.hubs.as_ref(), vertex_key) != width {
                return Ok(false);
            }
            let (none, becomes) = (Hubs::default(), width.saturating_mul(2));
            let hubs = state.hubs.as_deref().unwrap_or(&none);
            let Some(hubs) = hubs.with(vertex_key, becomes, buckets) else { return Ok(false) };
            let writes = vec![Write::Put(keys::hub(vertex_key), Hubs::to_stored(becomes))];
            let pending = Pending { writes, ..Pending::default() };
            let hubs = Some(Arc::new(hubs));
            if self.put(&state, GraphState { hubs, ..GraphState::clone(&state) }, pending).await?.is_some() {
                return Ok(true);
            }
        }
        Err(attempts.exhausted(SCHEMA).into())
    }

    async fn set(&self, change: impl Fn(GraphState) -> GraphState) -> Result<(), Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let state = self.get().await?;
            if self.put(&state, change(GraphState::clone(&state)), Pending::default()).await?.is_some() {
                return Ok(());
            }
        }
        Err(attempts.exhausted(SCHEMA).into())
    }

    async fn put(
        &self,
        state: &GraphState,
        mut becomes: GraphState,
        mut pending: Pending,
    ) -> Result<Option<Arc<GraphState>>, Error> {
        pending.writes.push(Write::PutStamped(
            keys::state(),
            stored((becomes.mode, becomes.read_mode), becomes.schema.numbers()),
        ));
        pending.conditions.push(state.unchanged());
        becomes.version = self.records.commit(pending).await?;
        if becomes.version.is_none() {
            return Ok(None);
        }
        let becomes = Arc::new(becomes);
        *self.cached.write() = becomes.clone();
        Ok(Some(becomes))
    }
}

fn read_parts(rows: &[(Bytes, Bytes)]) -> Result<Vec<SchemaPart>, Error> {
    let read = |(key, value): &(Bytes, Bytes)| {
        let id: PartId = keys::part_of_key(key).ok_or_else(|| damaged("the key of a part of a schema"))?;
        SchemaPart::parse(id, value).map_err(|_| damaged("a part of a schema"))
    };
    rows.iter().map(read).collect()
}

fn stored((mode, read_mode): Modes, numbers: Numbers) -> Bytes {
    let mut out = vec![mode.code(), read_mode.code()];
    out.extend(numbers.to_bytes());
    out.into()
}

type Modes = (GraphMode, ReadMode);

fn parse(bytes: &[u8]) -> Result<(Modes, Numbers), Malformed> {
    let (head, numbers) = bytes.split_at_checked(HEAD).ok_or(Malformed)?;
    let [mode, read_mode] = *head else { return Err(Malformed) };
    let mode = GraphMode::from_code(mode).ok_or(Malformed)?;
    let read_mode = ReadMode::from_code(read_mode).ok_or(Malformed)?;
    Ok(((mode, read_mode), Numbers::parse(numbers)?))
}

/// What is written of a stored state that was read.
#[cfg(feature = "testing")]
pub(crate) fn printed_again(bytes: &[u8]) -> Result<Bytes, Malformed> {
    parse(bytes).map(|(modes, numbers)| stored(modes, numbers))
}
