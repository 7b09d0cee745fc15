//! Graph spaces and graphs: names inside a tenant. The store's directory of tenants names them, gives each life of one a number of its
//! own, and removes their rows. A space is an entry without a hyphen, a graph one of the form `{space}-{graph}`; names of both have none.

mod info;
mod clear;
mod spaces;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::Bytes;
use hashbrown::HashMap;
use parking_lot::RwLock;
use store::{
    ErrorKind, Store, Tenant, TenantCreation, TenantInfo, TenantName, Tenants, Timestamp, WorkQueue,
};

pub use self::info::{GraphInfo, SpaceInfo};
use self::info::{put_info, take_info};
use crate::Error;
use crate::handle::Graph;
use crate::keys::MODEL;
use crate::objects::Objects;
use crate::records::{BACKOFF, Pending, Records, damaged};

/// The space that is always there.
pub const DEFAULT_SPACE: &str = "DEFAULT";
/// The graph of that space that is always there.
pub const DEFAULT_GRAPH: &str = "hugegraph";
/// The entry of that graph, which is not counted among the others.
const DEFAULT_ENTRY: &str = "DEFAULT-hugegraph";
/// The longest name of a space or a graph.
const NAME_BYTES_MAX: usize = 48;
/// Graphs whose tasks wait to be run, as far as this process knows.
const WANTED_MAX: usize = 10_000;

/// How graphs are stored.
#[derive(Clone, Copy, Debug)]
pub struct GraphOptions {
    /// The most tenants beside the default one.
    pub tenants_max: usize,
    /// The most graph spaces and graphs of a tenant beside the default ones.
    pub graphs_max: usize,
    /// Over how many buckets the vertices of a graph are spread that is made from now on.
    pub buckets: u32,
}

/// The graphs of a tenant, and for jobs those of all tenants; clones share.
#[derive(Clone, Debug)]
pub struct Graphs {
    shared: Arc<Shared>,
    /// Whose.
    tenant: Tenant,
}

#[derive(Debug)]
struct Shared {
    store: Store,
    options: GraphOptions,
    tenants: Tenants,
    /// Those asked for so far, by the number of the tenant, the space and the name.
    known: RwLock<HashMap<u32, HashMap<Box<str>, Named>>>,
    /// Graphs that have tasks to be run.
    wanted: Arc<WorkQueue<Tenant>>,
}

/// Graphs of a space by name.
type Named = HashMap<Box<str>, Arc<Graph>>;

/// What the directory holds of a graph or a space.
#[derive(Clone, Debug)]
struct Entry {
    part: Tenant,
    info: GraphInfo,
    /// The part of it that is ours, as it is stored.
    stored: Bytes,
}

impl Graphs {
    /// The graphs in `store`, of the default tenant. One such handle for a process.
    pub fn new(store: Store, options: GraphOptions) -> Self {
        let tenants = Tenants::new(store.clone());
        let wanted = Arc::new(WorkQueue::new(WANTED_MAX));
        let shared = Arc::new(Shared { store, options, tenants, known: RwLock::default(), wanted });
        Self { shared, tenant: Tenant::default() }
    }

    /// The graphs of a tenant that is there. Cost: none for the default tenant, else one map look-up.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn of(&self, name: &TenantName) -> Result<Self, Error> {
        if name.is_default() {
            return Ok(Self { tenant: Tenant::default(), ..self.clone() });
        }
        let tenant = self.shared.tenants.get(name).await?;
        let tenant = tenant.ok_or_else(|| Error::NotFound(format!("tenant {name}").into()))?;
        Ok(Self { tenant, ..self.clone() })
    }

    /// The graphs of a tenant, which is created (durably) if it is new.
    ///
    /// # Errors
    ///
    /// [`Error::TooMany`]; if the store refuses.
    pub async fn of_or_create(&self, name: &TenantName) -> Result<Self, Error> {
        match self.of(name).await {
            Err(Error::NotFound(_)) => {}
            found => return found,
        }
        let max = self.shared.options.tenants_max;
        match Box::pin(self.shared.tenants.create(name, max, None)).await? {
            TenantCreation::Created(tenant) | TenantCreation::Exists(tenant) => {
                Ok(Self { tenant, ..self.clone() })
            }
            TenantCreation::Full => Err(Error::TooMany { what: "tenants", max }),
        }
    }

    /// The graphs of a space, by name; the one that is always there is among them.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a space; if the store refuses.
    pub async fn list(&self, space: &str) -> Result<Vec<GraphInfo>, Error> {
        let mut infos = Vec::new();
        let mut is_space = space == DEFAULT_SPACE;
        for found in self.directory().all().await? {
            match found.tenant.name().split_once('-') {
                Some((of, _)) if of == space => infos.push(entry_of(found)?.info),
                Some(_) => {}
                None => is_space |= found.tenant.name() == space,
            }
        }
        if !is_space {
            return Err(no_space(space));
        }
        let is_default = |info: &GraphInfo| *info.name == *DEFAULT_GRAPH;
        if space == DEFAULT_SPACE && !infos.iter().any(is_default) {
            infos.insert(0, GraphInfo::default_graph(self.shared.options.buckets));
        }
        Ok(infos)
    }

    /// Makes a graph; `settings` is JSON text that the caller knows.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyExists`], [`Error::Invalid`] for a name that cannot be, [`Error::NotFound`] for the space,
    /// [`Error::TooMany`]; if the store refuses.
    pub async fn create(
        &self,
        (space, name): (&str, &str),
        settings: &str,
        now: Timestamp,
    ) -> Result<Arc<Graph>, Error> {
        check_name("graph", name)?;
        self.check_space(space).await?;
        let buckets = self.shared.options.buckets;
        let info = GraphInfo { name: name.into(), settings: settings.into(), created: now, buckets };
        let entry = entry_name(space, name)?;
        match self.create_entry(&entry, &info).await? {
            TenantCreation::Created(part) => Ok(self.opened(self.graph(&part, name, buckets), space)),
            TenantCreation::Exists(_) => Err(exists(name)),
            TenantCreation::Full => {
                Err(Error::TooMany { what: "graphs and graph spaces", max: self.shared.options.graphs_max })
            }
        }
    }

    /// Makes a graph with the schema of another. Cost: two commits.
    ///
    /// # Errors
    ///
    /// Those of [`Graphs::create`] and [`Graphs::get`].
    pub async fn clone_schema(
        &self,
        (space, name): (&str, &str),
        from: &str,
        settings: &str,
        now: Timestamp,
    ) -> Result<Arc<Graph>, Error> {
        let source = self.get(space, from).await?.state().await?;
        let graph = self.create((space, name), settings, now).await?;
        let state = graph.state().await?;
        let change = source.schema.as_of_an_empty_graph();
        if graph.state_store().commit(&state, change, Pending::default()).await?.is_some() {
            return Ok(graph);
        }
        Err(Error::Contention("the schema".into()))
    }

    /// The graph of this name. Cost: three map look-ups; the one that is always there is made the first time.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn get(&self, space: &str, name: &str) -> Result<Arc<Graph>, Error> {
        match self.known(space, name).await? {
            Some(known) => Ok(known),
            // Requests whose graph is known are spared the room of what this takes.
            None => Box::pin(self.find(space, name)).await,
        }
    }

    /// A graph that was not asked for before.
    async fn find(&self, space: &str, name: &str) -> Result<Arc<Graph>, Error> {
        let entry = entry_name(space, name).map_err(|_| not_found(name))?;
        let mut found = self.directory().get(&entry).await?;
        if found.is_none() && entry.as_str() == DEFAULT_ENTRY {
            let info = GraphInfo::default_graph(self.shared.options.buckets);
            self.create_entry(&entry, &info).await?;
            found = self.directory().get(&entry).await?;
        }
        let part = found.ok_or_else(|| not_found(name))?;
        match self.open(&part).await {
            // It was cleared or removed meanwhile.
            Err(Error::NotFound(_)) => self.open(&self.entry(&entry, name).await?.part).await,
            opened => opened,
        }
    }

    /// What the directory says of a graph.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn info(&self, space: &str, name: &str) -> Result<GraphInfo, Error> {
        // It is made, if it is the one that is always there.
        self.get(space, name).await?;
        Ok(self.entry(&entry_name(space, name)?, name).await?.info)
    }

    /// Gives a graph other settings.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn set_settings(&self, space: &str, name: &str, settings: &str) -> Result<(), Error> {
        let entry = entry_name(space, name).map_err(|_| not_found(name))?;
        self.change_entry(&entry, name, settings).await
    }

    /// Removes a graph with all that is in it: it is gone at once and its name is free; its rows go with the job that removes those
    /// of tenants.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn remove(&self, space: &str, name: &str) -> Result<(), Error> {
        let entry = entry_name(space, name).map_err(|_| not_found(name))?;
        self.remove_entry(&entry, name).await
    }

    /// Objects of the tenant that belong to no graph.
    pub fn objects(&self) -> Objects {
        Objects::new(self.records())
    }

    /// The graphs of all tenants, for jobs; what of the directory is damaged is passed over.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn all(&self) -> Result<Vec<Tenant>, Error> {
        let parts = self.shared.tenants.all_within(MODEL).await?.into_iter();
        Ok(parts.flatten().filter(|part| part.name().contains('-')).collect())
    }

    /// A graph that has tasks to be run; waits for one. What another process has made, or this one before it ended, is found by
    /// [`Graphs::all`].
    pub async fn next_wanted(&self) -> Tenant {
        self.shared.wanted.next().await.0
    }

    /// Has a graph be among those with tasks to be run again.
    pub fn want(&self, part: &Tenant) {
        self.shared.wanted.note(part, || ());
    }

    /// The graph that a part of a tenant is. Cost: three map look-ups; a read of the directory for one that was not asked for before.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn open(&self, part: &Tenant) -> Result<Arc<Graph>, Error> {
        let (space, name) = part.name().split_once('-').ok_or_else(|| not_found(part.name()))?;
        let whose = part.within().cloned().unwrap_or(Tenant::default());
        let graphs = Self { tenant: whose, ..self.clone() };
        if let Some(known) = graphs.known(space, name).await?
            && known.part() == part
        {
            return Ok(known);
        }
        let buckets = match graphs.directory().info(part).await {
            Ok(found) => entry_of(found)?.info.buckets,
            Err(error) if error.kind() == ErrorKind::TenantRemoved => return Err(not_found(name)),
            Err(error) => return Err(error.into()),
        };
        let graph = graphs.graph(part, name, buckets);
        graph.look_for_cut_removals().await?;
        Ok(graphs.opened(graph, space))
    }

    fn graph(&self, part: &Tenant, name: &str, buckets: u32) -> Graph {
        let shared = &*self.shared;
        Graph::new((shared.store.clone(), part.clone()), name, buckets, shared.wanted.clone())
    }

    /// Has a graph be known, unless it is.
    fn opened(&self, graph: Graph, space: &str) -> Arc<Graph> {
        let graph = Arc::new(graph);
        let (part, name) = (graph.part(), graph.name());
        let mut known = self.shared.known.write();
        let spaces = known.entry(self.tenant.number()).or_default();
        let named = spaces.entry(space.into()).or_default();
        if let Some(known) = named.get(name).filter(|known| known.part() == part) {
            return known.clone();
        }
        named.insert(name.into(), graph.clone());
        drop(known);
        graph
    }

    /// A graph that was asked for before and goes on.
    async fn known(&self, space: &str, name: &str) -> Result<Option<Arc<Graph>>, Error> {
        let known = {
            let known = self.shared.known.read();
            let spaces = known.get(&self.tenant.number());
            spaces.and_then(|spaces| spaces.get(space)?.get(name)).cloned()
        };
        let known = known.filter(|known| !known.part().is_ended());
        if let Some(graph) = &known
            && self.shared.store.may_lag()
            && !Box::pin(self.directory().is_current(graph.part())).await?
        {
            return Ok(None);
        }
        Ok(known)
    }

    fn forget_removed(&self) {
        self.shared.known.write().retain(|_, spaces| {
            spaces.retain(|_, named| {
                named.retain(|_, graph| !graph.part().is_ended());
                !named.is_empty()
            });
            !spaces.is_empty()
        });
    }

    /// The directory of the tenant's graphs and spaces.
    fn directory(&self) -> Tenants {
        self.shared.tenants.within(&self.tenant, MODEL, DEFAULT_ENTRY)
    }

    /// Rows of the tenant that belong to no graph.
    fn records(&self) -> Records {
        Records::new(self.shared.store.clone(), &self.tenant)
    }

    async fn create_entry(&self, entry: &TenantName, info: &GraphInfo) -> Result<TenantCreation, Error> {
        let stored = Some((MODEL, put_info(info)));
        Ok(self.directory().create(entry, self.shared.options.graphs_max, stored).await?)
    }

    /// What the directory holds under a name. Cost: a linear read.
    async fn entry(&self, entry: &TenantName, name: &str) -> Result<Entry, Error> {
        let directory = self.directory();
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let part = directory.get(entry).await?.ok_or_else(|| not_found(name))?;
            match directory.info(&part).await {
                Ok(found) => return entry_of(found),
                // Another has removed it, or cleared it: then it is there, in another life.
                Err(error) if error.kind() == ErrorKind::TenantRemoved => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(attempts.exhausted("the graphs").into())
    }

    async fn change_entry(&self, entry: &TenantName, name: &str, settings: &str) -> Result<(), Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let Entry { part, mut info, stored } = self.entry(entry, name).await?;
            info.settings = settings.into();
            let becomes = put_info(&info);
            if self.directory().put(&part, MODEL, Some(&stored), &becomes).await? == Some(becomes) {
                return Ok(());
            }
        }
        Err(attempts.exhausted("the graphs").into())
    }

    async fn remove_entry(&self, entry: &TenantName, name: &str) -> Result<(), Error> {
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let Entry { part, stored, .. } = self.entry(entry, name).await?;
            match self.directory().remove_if(&part, MODEL, Some(&stored)).await {
                Ok(true) => {
                    self.forget_removed();
                    return Ok(());
                }
                Ok(false) => {}
                // Another has cleared or removed it.
                Err(error) if error.kind() == ErrorKind::TenantRemoved => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(attempts.exhausted("the graphs").into())
    }
}

fn exists(name: &str) -> Error {
    Error::AlreadyExists(format!("graph '{name}'").into())
}

fn not_found(name: &str) -> Error {
    Error::NotFound(format!("graph '{name}'").into())
}

fn no_space(name: &str) -> Error {
    Error::NotFound(format!("graph space '{name}'").into())
}

/// Refuses a name that no graph and no space may have.
fn check_name(what: &str, name: &str) -> Result<(), Error> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_right = name.len() <= NAME_BYTES_MAX
        && name.bytes().all(is_plain)
        && name.starts_with(|first: char| first.is_ascii_alphabetic());
    if is_right {
        return Ok(());
    }
    Err(Error::Invalid(format!(
        "Invalid {what} name '{name}': it has 1 to {NAME_BYTES_MAX} letters, digits and underscores, and begins with a letter"
    )))
}

/// The name in the directory.
fn entry_name(space: &str, name: &str) -> Result<TenantName, Error> {
    check_name("graph space", space)?;
    check_name("graph", name)?;
    TenantName::new(&format!("{space}-{name}")).map_err(|_| damaged("the name of a graph"))
}

fn entry_of(found: TenantInfo) -> Result<Entry, Error> {
    let stored = found.stored(MODEL).cloned().ok_or_else(|| damaged("a graph"))?;
    let name = found.tenant.name().rsplit('-').next().expect("a split has a part");
    let info = take_info(name, &stored).map_err(|_| damaged("a graph"))?;
    Ok(Entry { part: found.tenant, info, stored })
}

/// What is written of the stored entry of a graph that was read.
#[cfg(feature = "testing")]
pub(crate) fn printed_again(bytes: &[u8]) -> Result<Bytes, graph::Malformed> {
    take_info("name", bytes).map(|info| put_info(&info))
}
