//! Users, groups, targets and what ties them, as one caller sees and changes them.

mod grants;
mod managers;
mod projects;
mod users;

use std::sync::Arc;

use model_graph::{OBJECTS_MAX, ObjectChange, TenantName, Timestamp};

pub use users::UserDraft;

use crate::directory::{Directory, gone, put};
use crate::records::{Origin, Record};
use crate::role::{Caller, Role};
use crate::{Action, Error, ResourceType, Users};

/// The users of one tenant, for one caller.
#[derive(Clone, Debug)]
pub struct Managed {
    users: Users,
    directory: Directory,
    caller: Arc<Caller>,
}

impl Users {
    /// The users of a tenant, to read.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn of(&self, tenant: &TenantName, caller: Arc<Caller>) -> Result<Managed, Error> {
        let directory = Directory::of(&self.shared.graphs, tenant).await?;
        Ok(Managed { users: self.clone(), directory, caller })
    }

    /// The same to change them: the tenant is made if it is not there.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn of_or_create(&self, tenant: &TenantName, caller: Arc<Caller>) -> Result<Managed, Error> {
        let directory = Directory::of_or_create(&self.shared.graphs, tenant).await?;
        Ok(Managed { users: self.clone(), directory, caller })
    }
}

impl Managed {
    /// Who asks.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    fn now(&self) -> Timestamp {
        self.users.shared.clock.now()
    }

    fn origin(&self) -> Origin {
        Origin::new(&self.caller.user, self.now())
    }

    /// Refuses what the caller may not do with something that belongs to no graph.
    fn check(&self, action: Action, kind: ResourceType, name: &str) -> Result<(), Error> {
        if self.caller.role.allows_beside(action, kind, name) {
            return Ok(());
        }
        Err(denied(action, kind, name))
    }

    /// Refuses to touch what allows more than the caller may.
    fn check_contains(
        &self,
        role: &Role,
        action: Action,
        kind: ResourceType,
        name: &str,
    ) -> Result<(), Error> {
        if self.caller.role.contains(role) { Ok(()) } else { Err(denied(action, kind, name)) }
    }

    /// Refuses all but administrators.
    fn check_admin(&self, action: Action, kind: ResourceType, name: &str) -> Result<(), Error> {
        if self.caller.role.is_admin() { Ok(()) } else { Err(denied(action, kind, name)) }
    }

    /// The record of this id.
    async fn stored<R: Record>(&self, id: &str) -> Result<R, Error> {
        let found = self.directory.get::<R>(id).await?;
        found.ok_or_else(|| Error::NotFound { kind: R::KIND, id: id.to_owned() })
    }

    /// Those of a kind that the caller may see, up to so many.
    async fn seen<R: Record>(
        &self,
        limit: Option<usize>,
        kind: ResourceType,
        name: impl Fn(&R) -> &str,
    ) -> Result<Vec<R>, Error> {
        let may_all = self.caller.role.is_admin();
        let limit = limit.unwrap_or(OBJECTS_MAX);
        let mut all = self.directory.list::<R>(if may_all { limit } else { OBJECTS_MAX }).await?;
        all.retain(|record| self.check(Action::Read, kind, name(record)).is_ok());
        all.truncate(limit);
        Ok(all)
    }

    /// Stores a new record, and what else `more` says.
    async fn create<R: Record, F>(&self, record: R, more: impl Fn() -> F) -> Result<R, Error>
    where
        F: Future<Output = Result<Vec<ObjectChange>, Error>>,
    {
        let (record, more) = (&record, &more);
        let think = || async move {
            let id = record.id();
            if self.directory.get::<R>(&id).await?.is_some() {
                return Err(Error::Exists { kind: R::KIND, id });
            }
            let mut changes = vec![put(record)];
            changes.extend(more().await?);
            Ok((record.clone(), changes))
        };
        self.directory.change(think).await
    }

    /// Changes a record that is there.
    async fn update<R: Record, F>(&self, id: &str, change: impl Fn(R) -> F) -> Result<R, Error>
    where
        F: Future<Output = Result<R, Error>>,
    {
        let change = &change;
        let think = || async move {
            let record = change(self.stored::<R>(id).await?).await?;
            let changes = vec![put(&record)];
            Ok((record, changes))
        };
        self.directory.change(think).await
    }

    /// Removes a record, and what `more` says goes with it.
    async fn delete<R: Record, F>(&self, id: &str, more: impl Fn(R) -> F) -> Result<(), Error>
    where
        F: Future<Output = Result<Vec<ObjectChange>, Error>>,
    {
        let more = &more;
        let think = || async move {
            let record = self.stored::<R>(id).await?;
            let gone = gone(&record);
            let mut changes = more(record).await?;
            changes.push(gone);
            Ok(((), changes))
        };
        self.directory.change(think).await
    }

    /// What removes all records of a kind with a value.
    async fn all_gone<R: Record>(&self, index: &str, value: &str) -> Result<Vec<ObjectChange>, Error> {
        Ok(self.directory.find::<R>(index, value).await?.iter().map(gone).collect())
    }
}

fn denied(action: Action, kind: ResourceType, name: &str) -> Error {
    Error::Forbidden(format!(
        "{} Resource{{type={},operated={name}}}",
        action.name().to_ascii_lowercase(),
        kind.name()
    ))
}

/// Refuses a name that the other one of users and groups has.
fn name_taken(name: &str, of: &str) -> Error {
    Error::Invalid(format!("The name '{name}' is that of a {of}: no user has the name of a group"))
}
