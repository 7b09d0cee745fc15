//! One graph: its schema and what it is set to, its tasks and variables, and readers of its elements.

mod points;

use std::sync::Arc;

use graph::schema::{
    Creation, IndexKind, Outcome, PartId, PropertyKey, Schema, SchemaChange, SchemaError, SchemaKind,
    SchemaPart, SchemaStatus,
};
use graph::{Edge, GraphMode, ReadMode, Vertex, VertexId};
use store::{ErrorKind, Store, Tenant, Timestamp, WorkQueue};

use crate::records::{BACKOFF, Pending};
use crate::state::{GraphState, StateStore};
use crate::tasks::{TaskDraft, TaskId, TaskWork, Tasks};
use crate::variables::Variables;
use crate::write::{CheckVertices, EdgeOperation, Moment, Moments, VertexOperation, Writer, Written};
use crate::{Error, GraphLoad, Reader, ReaderContext, VisibleLabels, tasks};

/// What is changed, for errors.
const SCHEMA: &str = "the schema";

/// Which elements somebody sees: those of some labels of a schema.
#[derive(Clone)]
pub struct Sight(Arc<dyn Fn(&Schema) -> VisibleLabels + Send + Sync>);

impl Sight {
    /// Those that this says.
    pub fn new(visible: impl Fn(&Schema) -> VisibleLabels + Send + Sync + 'static) -> Self {
        Self(Arc::new(visible))
    }

    fn of(&self, state: &GraphState) -> Arc<GraphState> {
        Arc::new(state.narrowed((self.0)(&state.schema)))
    }
}

impl std::fmt::Debug for Sight {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Sight").finish_non_exhaustive()
    }
}

/// One graph; clones share it.
#[derive(Clone, Debug)]
pub struct Graph {
    store: Store,
    part: Tenant,
    name: Box<str>,
    buckets: u32,
    state: Arc<StateStore>,
    writer: Arc<Writer>,
    wanted: Arc<WorkQueue<Tenant>>,
    /// None: all elements are seen.
    sight: Option<Sight>,
}

/// A graph at the time of a request, for its writer.
struct GraphAt<'a> {
    graph: &'a Graph,
    now: Timestamp,
}

impl Moments for GraphAt<'_> {
    async fn moment(&self) -> Result<Moment, Error> {
        let epochs = self.graph.writer.epochs();
        let state = self.graph.state().await?;
        Ok(Moment { schema: state.schema.clone(), hubs: state.hubs.clone(), epochs, now: self.now })
    }
}

/// A part of the schema after a change.
#[derive(Clone, Debug)]
pub struct Changed<T> {
    /// As it is then.
    pub part: Arc<T>,
    /// The schema that has it so: that of the change, whatever others have made of it since.
    pub schema: Arc<Schema>,
    /// What is still to be done for it.
    pub task: Option<TaskId>,
}

impl Graph {
    pub(crate) fn new(
        (store, part): (Store, Tenant),
        name: &str,
        buckets: u32,
        wanted: Arc<WorkQueue<Tenant>>,
    ) -> Self {
        let state = Arc::new(StateStore::new(store.clone(), &part));
        let writer = Arc::new(Writer::new(store.clone(), part.clone(), buckets));
        Self { store, part, name: name.into(), buckets, state, writer, wanted, sight: None }
    }

    /// The graph as somebody sees it: what he reads is narrowed, what he writes is not.
    #[must_use]
    pub fn seen_by(&self, sight: Sight) -> Self {
        Self { sight: Some(sight), ..self.clone() }
    }

    /// Its name in its graph space.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The part of its tenant that it is.
    pub fn part(&self) -> &Tenant {
        &self.part
    }

    /// Over how many buckets its vertices are spread.
    pub fn buckets(&self) -> u32 {
        self.buckets
    }

    /// The store that it lies in.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Its tasks.
    pub fn tasks(&self) -> Tasks {
        Tasks::new(self.state.clone())
    }

    /// Its variables.
    pub fn variables(&self) -> Variables {
        Variables::new(self.state.clone())
    }

    /// The schema, and what the graph is set to. Cost: a cached look-up; on a store that may lag a round to other nodes. All is read where
    /// it has changed.
    ///
    /// # Errors
    ///
    /// If the store refuses, or what it has is damaged.
    pub async fn state(&self) -> Result<Arc<GraphState>, Error> {
        let state = self.state.get().await?;
        Ok(self.seen(state))
    }

    fn seen(&self, state: Arc<GraphState>) -> Arc<GraphState> {
        match &self.sight {
            None => state,
            Some(sight) => sight.of(&state),
        }
    }

    /// The graph as it is now. Cost: that of [`Graph::state`] and of a snapshot.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn reader(&self, now: Timestamp) -> Result<Reader, Error> {
        self.reader_by(&*self.state().await?, now)
    }

    /// The same, where a state is known that is no older than the request. Cost: that of a snapshot.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub fn reader_by(&self, state: &GraphState, now: Timestamp) -> Result<Reader, Error> {
        let visible = state.visible.clone();
        let context = ReaderContext { graph: self.part.clone(), buckets: self.buckets, visible, now };
        loop {
            let cut = self.writer.cut_removals();
            let reader = Reader::new(&self.store, context.clone())?.without_edges_of(cut.clone());
            // Of the same moment: one that is finished meanwhile may have a vertex in its place.
            if cut == self.writer.cut_removals() {
                return Ok(reader.with_hubs(state.hubs.clone()));
            }
        }
    }

    /// The graph as it is now, and its schema of the same moment: an index that queries may use is complete, and one that is removed is not
    /// used. Cost: twice that of [`Graph::state`], and a snapshot.
    ///
    /// # Errors
    ///
    /// [`Error::Contention`]; if the store refuses.
    pub async fn reader_with_state(&self, now: Timestamp) -> Result<(Arc<GraphState>, Reader), Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let state = self.state.get().await?;
            let seen = self.seen(state.clone());
            let reader = self.reader_by(&seen, now)?;
            // Tasks that fill or empty an index begin and end with a change of the schema.
            if Arc::ptr_eq(&state, &self.state.get().await?) {
                return Ok((seen, reader));
            }
        }
        Err(attempts.exhausted(SCHEMA).into())
    }

    /// Writes vertices, each whole; answers with what became of each. Cost: one commit for some thousands; before it a read of each vertex that
    /// is indexed, aggregates or is changed.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchVertex`], [`Error::NotNullable`], [`Error::NotUnique`], [`Error::Update`]; [`Error::Contention`]; if the store
    /// refuses.
    pub async fn write_vertices(
        &self,
        operations: Vec<VertexOperation>,
        now: Timestamp,
    ) -> Result<Vec<Written<Vertex>>, Error> {
        self.writer.write_vertices(operations, &GraphAt { graph: self, now }).await
    }

    /// The same of edges; with [`CheckVertices::Yes`] only between vertices that are there.
    ///
    /// # Errors
    ///
    /// As [`Graph::write_vertices`]; [`Error::NoSuchEdge`], [`Error::OtherLabel`].
    pub async fn write_edges(
        &self,
        operations: Vec<EdgeOperation>,
        check: CheckVertices,
        now: Timestamp,
    ) -> Result<Vec<Written<Edge>>, Error> {
        self.writer.write_edges(operations, check, &GraphAt { graph: self, now }).await
    }

    /// Removes vertices with all their edges; tells of each whether it was there. Cost: two commits, shared by all; for a vertex of many
    /// edges one more for each thousand.
    ///
    /// # Errors
    ///
    /// [`Error::Contention`]; if the store refuses. What has begun is finished later.
    pub async fn remove_vertices(&self, ids: &[VertexId], now: Timestamp) -> Result<Vec<bool>, Error> {
        self.writer.remove_vertices(ids, &GraphAt { graph: self, now }).await
    }

    /// The same of those that nobody sees any more: they have expired, or their label is gone.
    pub(crate) async fn remove_unseen_vertices(&self, ids: &[VertexId], now: Timestamp) -> Result<(), Error> {
        if ids.is_empty() {
            return Ok(());
        }
        self.writer.remove_unseen_vertices(ids, &GraphAt { graph: self, now }).await
    }

    /// Looks for removals of vertices that a process that ended has cut short: their edges are not seen. To be called before anybody reads. Cost: a
    /// scan; on a store of several processes nothing.
    pub(crate) async fn look_for_cut_removals(&self) -> Result<(), Error> {
        self.writer.look_for_cut_removals().await
    }

    /// Finishes removals of vertices that a crash left; tells how many. For a job.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn finish_removals(&self, now: Timestamp) -> Result<usize, Error> {
        self.writer.finish_removals(&GraphAt { graph: self, now }).await
    }

    /// Begins a load of vertices and edges by the million. Cost: a read of the schema.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a graph over several buckets; if the store refuses.
    pub async fn load(&self) -> Result<GraphLoad, Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let epochs = self.writer.epochs();
            let schema = self.state().await?.schema.clone();
            match GraphLoad::begin(&self.writer, epochs, schema).await {
                // Somebody began an epoch, of another partition maybe.
                Err(Error::Store(error)) if error.kind() == ErrorKind::Fenced => {}
                begun => return begun,
            }
        }
        Err(attempts.exhausted(SCHEMA).into())
    }

    /// A number for a vertex whose label makes ids itself ([`VertexOperation::Create`]).
    pub fn next_number(&self, now: Timestamp) -> i64 {
        self.writer.next_number(now)
    }

    /// Makes, appends to or eliminates from a part of the schema, as `think` says of the newest one; `created` is the moment as JSON
    /// text. An index that is to be filled, and one that a new one makes superfluous, become tasks. Cost: one commit.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`]; [`Error::Contention`]; if the store refuses.
    pub async fn change_schema<T>(
        &self,
        (created, now): (&str, Timestamp),
        think: impl Fn(&Schema, &Creation<'_>) -> Result<Outcome<T>, SchemaError>,
    ) -> Result<Changed<T>, Error> {
        self.change(now, |state| {
            let creation = Creation { graph: &self.name, mode: state.mode, created };
            let Outcome { part, change } = think(&state.schema, &creation)?;
            Ok((part, change))
        })
        .await
        .map(|(part, schema, task)| Changed { part, schema, task })
    }

    /// Removes a part of the schema, as `think` says of the newest one. Its elements are hidden from then on; a task removes them, if there
    /// can be any. Cost: one commit.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`]; [`Error::Contention`]; if the store refuses.
    pub async fn remove_from_schema(
        &self,
        now: Timestamp,
        think: impl Fn(&Schema) -> Result<SchemaChange, SchemaError>,
    ) -> Result<Option<TaskId>, Error> {
        let ((), _, task) = self.change(now, |state| Ok(((), Some(think(&state.schema)?)))).await?;
        Ok(task)
    }

    /// Has an index built anew, or all of a label: queries do without them until that is done. Cost: one commit.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`]; [`Error::Limit`] if too many tasks wait; [`Error::Contention`]; if the store refuses.
    pub async fn rebuild_indexes(
        &self,
        kind: SchemaKind,
        name: &str,
        now: Timestamp,
    ) -> Result<TaskId, Error> {
        self.tasks().check_waiting().await?;
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let state = self.state().await?;
            let indexes = state.schema.indexes_to_rebuild(kind, name).map_err(Error::Schema)?;
            let draft = TaskDraft {
                name: format!("{kind}:{name}").into(),
                kind: REBUILD_INDEX.into(),
                input: "".into(),
                work: TaskWork::Build(indexes.clone()),
            };
            let change = state.schema.set_index_status(&indexes, SchemaStatus::Rebuilding);
            let Some(change) = change else {
                let id = self.tasks().create_needed(draft, now).await?;
                self.note_work();
                return Ok(id);
            };
            let mut pending = Pending::default();
            let ids = tasks::add(self.state.records(), &mut pending, &[draft], now).await?;
            if let Some(id) = ids.first()
                && self.state.commit(&state, change, pending).await?.is_some()
            {
                self.note_work();
                return Ok(*id);
            }
        }
        Err(attempts.exhausted(SCHEMA).into())
    }

    /// Has the values of a property go that computations wrote; gives its key and the task. Cost: one commit.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`]; [`Error::Invalid`] of any other property; if the store refuses.
    pub async fn clear_computed(
        &self,
        name: &str,
        now: Timestamp,
    ) -> Result<(Arc<PropertyKey>, TaskId), Error> {
        let state = self.state().await?;
        let key = state.schema.property_key_named(name).cloned().ok_or_else(|| {
            Error::Schema(SchemaError::NotFound { kind: SchemaKind::PropertyKey, name: name.into() })
        })?;
        if !key.write_type.is_olap() {
            return Err(Error::Invalid(format!(
                "Only olap property key can do action clear, but got '{name}'"
            )));
        }
        let part = SchemaPart::PropertyKey(key.clone());
        let id = self.tasks().create(draft(&part, CLEAR_OLAP, TaskWork::Clear(key.id)), now).await?;
        self.note_work();
        Ok((key, id))
    }

    /// Sets how the graph takes writes. Cost: one commit.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn set_mode(&self, mode: GraphMode) -> Result<(), Error> {
        self.state.set_mode(mode).await
    }

    /// Sets which properties the graph reads. Cost: one commit.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn set_read_mode(&self, read_mode: ReadMode) -> Result<(), Error> {
        self.state.set_read_mode(read_mode).await
    }

    pub(crate) fn writer(&self) -> &Writer {
        &self.writer
    }

    pub(crate) fn state_store(&self) -> &StateStore {
        &self.state
    }

    /// Has whoever runs tasks look here.
    pub(crate) fn note_work(&self) {
        self.wanted.note(&self.part, || ());
    }

    /// Begins new epochs of all buckets.
    async fn begin_epochs(&self) -> Result<(), Error> {
        for bucket in 0..self.buckets {
            let mut attempts = BACKOFF.attempts();
            let partition = graph::keys::partition(&self.part, bucket);
            while store::retry::unless_lost(self.store.bump(&partition, Vec::new()).await)?.is_none() {
                if !attempts.next().await {
                    return Err(attempts.exhausted(SCHEMA).into());
                }
            }
        }
        Ok(())
    }

    /// Refuses a unique index of a graph over several buckets: a value is unique in its bucket alone.
    fn check_unique(&self, change: &SchemaChange) -> Result<(), Error> {
        let is_unique = |part: &SchemaPart| match part {
            SchemaPart::IndexLabel(index) => index.index_type.kind() == IndexKind::Unique,
            SchemaPart::PropertyKey(_) | SchemaPart::VertexLabel(_) | SchemaPart::EdgeLabel(_) => false,
        };
        if self.buckets > 1 && change.put.iter().any(is_unique) {
            return Err(Error::Invalid("a graph over several buckets has no unique indexes".into()));
        }
        Ok(())
    }

    /// Changes the schema, in one commit with the tasks that follow; answers with the schema of that commit, and one of them.
    async fn change<T>(
        &self,
        now: Timestamp,
        think: impl Fn(&GraphState) -> Result<(T, Option<SchemaChange>), SchemaError>,
    ) -> Result<(T, Arc<Schema>, Option<TaskId>), Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let state = self.state().await?;
            let (answer, change) = think(&state).map_err(Error::Schema)?;
            let Some(change) = change else { return Ok((answer, state.schema.clone(), None)) };
            self.check_unique(&change)?;
            let mut pending = Pending::default();
            let reused: Vec<PartId> = reused_numbers(&state.schema, &change).collect();
            if !reused.is_empty() {
                // Work for what had them is ended, and does nothing any more (`work.rs`).
                if let Some(mut cancelled) = self.tasks().cancelled_for(&reused, now).await? {
                    cancelled.conditions.push(state.unchanged());
                    if self.state.records().commit(cancelled).await?.is_none() {
                        continue;
                    }
                }
                self.begin_epochs().await?;
            }
            let drafts = follow_ups(&state.schema, &change);
            let ids = tasks::add(self.state.records(), &mut pending, &drafts, now).await?;
            if let Some(becomes) = self.state.commit(&state, change, pending).await? {
                if becomes.schema.has_olap() && !state.schema.has_olap() {
                    // From here on who puts a vertex keeps what computations wrote.
                    self.begin_epochs().await?;
                }
                if !ids.is_empty() {
                    self.note_work();
                }
                return Ok((answer, becomes.schema.clone(), ids.last().copied()));
            }
        }
        Err(attempts.exhausted(SCHEMA).into())
    }
}

/// The kind of tasks that remove what a removed part of the schema left.
pub(crate) const REMOVE_SCHEMA: &str = "remove_schema";
/// The kind of tasks that fill indexes.
const REBUILD_INDEX: &str = "rebuild_index";

/// The parts that are made with numbers that were given before, as in a graph that is restored.
fn reused_numbers(old: &Schema, change: &SchemaChange) -> impl Iterator<Item = PartId> {
    let ids = change.put.iter().map(SchemaPart::id).filter(|id| old.part(*id).is_none());
    ids.filter(|PartId { kind, number }| *number < old.numbers().next(*kind))
}

/// The kind of tasks that remove what computations wrote.
const CLEAR_OLAP: &str = "clear_olap";

/// What is to be done after a change of the schema; the one that clients ask for last.
fn follow_ups(old: &Schema, change: &SchemaChange) -> Vec<TaskDraft> {
    let mut drafts = Vec::new();
    let left: Vec<&SchemaPart> = change.removed.iter().filter(|part| part.leaves_rows()).collect();
    if let Some(last) = left.last() {
        let parts = left.iter().map(|part| part.id()).collect();
        drafts.push(draft(last, REMOVE_SCHEMA, TaskWork::Remove(parts)));
    }
    for part in &change.put {
        if let SchemaPart::IndexLabel(index) = part
            && index.status == SchemaStatus::Creating
            && old.index_label(index.id).is_none()
        {
            drafts.push(draft(part, REBUILD_INDEX, TaskWork::Build(vec![index.id])));
        }
    }
    drafts
}

fn draft(part: &SchemaPart, kind: &str, work: TaskWork) -> TaskDraft {
    let (id, name) = (part.id(), part.name());
    let name = format!("{}:{}:{name}", id.kind, id.number);
    TaskDraft { name: name.into(), kind: kind.into(), input: "".into(), work }
}
