//! Graph spaces: made, listed, changed, removed.

use store::{TenantCreation, TenantName, Timestamp};

use super::{DEFAULT_SPACE, GraphInfo, Graphs, SpaceInfo, check_name, damaged, entry_of, no_space};
use crate::Error;

impl Graphs {
    /// All graph spaces by name; the one that is always there is among them.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn spaces(&self) -> Result<Vec<SpaceInfo>, Error> {
        let mut spaces = Vec::new();
        for found in self.directory().all().await? {
            if !found.tenant.name().contains('-') {
                spaces.push(space_of(entry_of(found)?.info));
            }
        }
        if !spaces.iter().any(|space| *space.name == *DEFAULT_SPACE) {
            spaces.insert(0, default_space());
        }
        Ok(spaces)
    }

    /// A graph space.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn space(&self, name: &str) -> Result<SpaceInfo, Error> {
        let entry = space_entry(name).map_err(|_| no_space(name))?;
        match self.entry(&entry, name).await {
            Ok(entry) => Ok(space_of(entry.info)),
            Err(Error::NotFound(_)) if name == DEFAULT_SPACE => Ok(default_space()),
            Err(Error::NotFound(_)) => Err(no_space(name)),
            Err(error) => Err(error),
        }
    }

    /// Makes a graph space; `settings` is JSON text that the caller knows.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyExists`], [`Error::Invalid`] for a name that cannot be, [`Error::TooMany`]; if the store refuses.
    pub async fn create_space(&self, name: &str, settings: &str, now: Timestamp) -> Result<(), Error> {
        let entry = space_entry(name)?;
        let exists = || Error::AlreadyExists(format!("graph space '{name}'").into());
        if name == DEFAULT_SPACE {
            return Err(exists());
        }
        let info = GraphInfo { name: name.into(), settings: settings.into(), created: now, buckets: 1 };
        match self.create_entry(&entry, &info).await? {
            TenantCreation::Created(_) => Ok(()),
            TenantCreation::Exists(_) => Err(exists()),
            TenantCreation::Full => {
                Err(Error::TooMany { what: "graphs and graph spaces", max: self.shared.options.graphs_max })
            }
        }
    }

    /// Gives a graph space other settings.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; if the store refuses.
    pub async fn set_space_settings(&self, name: &str, settings: &str, now: Timestamp) -> Result<(), Error> {
        let entry = space_entry(name).map_err(|_| no_space(name))?;
        match self.change_entry(&entry, name, settings).await {
            Err(Error::NotFound(_)) if name == DEFAULT_SPACE => {
                let info = GraphInfo { name: name.into(), settings: "".into(), created: now, buckets: 1 };
                self.create_entry(&entry, &info).await?;
                self.change_entry(&entry, name, settings).await
            }
            Err(Error::NotFound(_)) => Err(no_space(name)),
            outcome => outcome,
        }
    }

    /// Removes a graph space, which is to have no graphs.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Invalid`] for the one that is always there, and for one with graphs; if the store refuses.
    pub async fn remove_space(&self, name: &str) -> Result<(), Error> {
        let entry = space_entry(name).map_err(|_| no_space(name))?;
        if name == DEFAULT_SPACE {
            return Err(Error::Invalid(format!("Can't delete default graph space '{name}'")));
        }
        if let Some(graph) = self.list(name).await?.first() {
            let graph = &graph.name;
            return Err(Error::Invalid(format!(
                "Can't delete graph space '{name}' because it has graphs: '{graph}'"
            )));
        }
        match self.remove_entry(&entry, name).await {
            Err(Error::NotFound(_)) => Err(no_space(name)),
            outcome => outcome,
        }
    }

    /// Refuses a space that is not there.
    pub(super) async fn check_space(&self, name: &str) -> Result<(), Error> {
        if name == DEFAULT_SPACE {
            return Ok(());
        }
        let entry = space_entry(name).map_err(|_| no_space(name))?;
        self.directory().get(&entry).await?.map(drop).ok_or_else(|| no_space(name))
    }
}

fn space_entry(name: &str) -> Result<TenantName, Error> {
    check_name("graph space", name)?;
    TenantName::new(name).map_err(|_| damaged("the name of a graph space"))
}

fn space_of(info: GraphInfo) -> SpaceInfo {
    let GraphInfo { name, settings, created, buckets: _ } = info;
    SpaceInfo { name, settings, created }
}

fn default_space() -> SpaceInfo {
    SpaceInfo { name: DEFAULT_SPACE.into(), settings: "".into(), created: Timestamp(0) }
}
