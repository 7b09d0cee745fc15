//! Managers: of the tenant, of a graph space, and members of a graph space.

use model_graph::OBJECTS_MAX;

use super::{Managed, denied};
use crate::directory::{ADMIN, gone, put};
use crate::records::{Manager, ManagerKind};
use crate::{Action, Error, ResourceType};

impl Managed {
    /// Names a manager. Who becomes a manager of a space is no member of it any more, and the other way round.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a name of nobody, [`Error::Forbidden`]; if the store refuses.
    pub async fn create_manager(&self, kind: ManagerKind, space: &str, name: &str) -> Result<(), Error> {
        self.check_may_name(kind, space)?;
        let think = || async move {
            let is_group = self.is_group(name).await?;
            let other = match kind {
                ManagerKind::Space => Some(ManagerKind::Member),
                ManagerKind::Member => Some(ManagerKind::Space),
                ManagerKind::Admin => None,
            };
            let mut changes = vec![put(&Manager::new(kind, space, name, is_group))];
            changes.extend(other.map(|other| gone(&Manager::new(other, space, name, is_group))));
            Ok(((), changes))
        };
        self.directory.change(think).await
    }

    /// Takes back what somebody manages.
    ///
    /// # Errors
    ///
    /// As [`Managed::create_manager`].
    pub async fn delete_manager(&self, kind: ManagerKind, space: &str, name: &str) -> Result<(), Error> {
        if name == ADMIN && kind == ManagerKind::Admin {
            return Err(Error::Invalid(format!("User '{ADMIN}' can't be removed from ADMIN")));
        }
        self.check_may_name(kind, space)?;
        let think = || async move {
            // Refuses a name of nobody.
            self.is_group(name).await?;
            Ok(((), [false, true].map(|is_group| gone(&Manager::new(kind, space, name, is_group))).to_vec()))
        };
        self.directory.change(think).await
    }

    /// Names of those who manage this: for managers of the space; others find themselves alone.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn list_managers(&self, kind: ManagerKind, space: &str) -> Result<Vec<String>, Error> {
        let managers = self.directory.list::<Manager>(OBJECTS_MAX).await?;
        let is_meant = |manager: &Manager| {
            manager.kind == kind && (kind == ManagerKind::Admin || manager.space == space)
        };
        let mut names: Vec<String> =
            managers.into_iter().filter(is_meant).map(|manager| manager.name).collect();
        if kind == ManagerKind::Admin
            && self.users.first_admin().is_some()
            && !names.iter().any(|name| name == ADMIN)
        {
            names.insert(0, ADMIN.to_owned());
        }
        names.retain(|name| self.knows_managers(space, name));
        Ok(names)
    }

    /// What somebody manages in a space: for managers of it, and of himself for everybody.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`]; if the store refuses.
    pub async fn roles_in(&self, space: &str, name: &str) -> Result<Vec<ManagerKind>, Error> {
        if !self.knows_managers(space, name) {
            return Err(denied(Action::Read, ResourceType::Grant, name));
        }
        let managers = self.directory.find::<Manager>("name", name).await?;
        let has = |kind: ManagerKind| {
            let is_meant = |manager: &Manager| {
                manager.kind == kind && (kind == ManagerKind::Admin || manager.space == space)
            };
            (kind == ManagerKind::Admin && name == ADMIN) || managers.iter().any(is_meant)
        };
        Ok(ManagerKind::ALL.into_iter().filter(|kind| has(*kind)).collect())
    }

    /// Whether the caller may know what somebody manages in a space.
    fn knows_managers(&self, space: &str, name: &str) -> bool {
        self.caller.role.manages(space) || *self.caller.user == *name
    }

    fn check_may_name(&self, kind: ManagerKind, space: &str) -> Result<(), Error> {
        match kind {
            ManagerKind::Admin if self.caller.role.is_admin() => Ok(()),
            ManagerKind::Admin => Err(denied(Action::Write, ResourceType::Root, "*")),
            ManagerKind::Space | ManagerKind::Member => self.check_manages(space),
        }
    }
}
