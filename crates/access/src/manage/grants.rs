//! Groups, targets, who is in a group, and what a group may do with a target.

use std::collections::BTreeSet;

use super::{Managed, denied, name_taken};
use crate::directory::{ADMIN, ROLE_RESOURCES_MAX};
use crate::records::{
    Access, Belong, Group, Record, Target, access_meant, belong_meant, check_name, group_meant, target_meant,
    user_meant,
};
use crate::role::Role;
use crate::{Action, Error, Resource, ResourceType};

/// The most resources of a target.
const TARGET_RESOURCES_MAX: usize = 100;

impl Managed {
    /// Makes a group.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], [`Error::Exists`], [`Error::Forbidden`]; if the store refuses.
    pub async fn create_group(&self, name: String, description: Option<String>) -> Result<Group, Error> {
        check_name("group", &name)?;
        self.check(Action::Write, ResourceType::UserGroup, &name)?;
        let group = Group { name, description, origin: self.origin() };
        let name = &group.name.clone();
        let more = || async move {
            self.check_is_no_user(name).await?;
            Ok(Vec::new())
        };
        self.create(group, more).await
    }

    /// Refuses the name of a user for a group: managers are named without saying which of both they are.
    pub(super) async fn check_is_no_user(&self, name: &str) -> Result<(), Error> {
        let is_user = name == ADMIN || self.users.user(&self.directory, &user_meant(name)).await?.is_some();
        if is_user { Err(name_taken(name, "user")) } else { Ok(()) }
    }

    /// Changes what is said of a group.
    ///
    /// # Errors
    ///
    /// As [`Managed::create_group`]; [`Error::NotFound`].
    pub async fn update_group(
        &self,
        reference: &str,
        name: Option<&str>,
        description: String,
    ) -> Result<Group, Error> {
        let description = &description;
        let change = |mut group: Group| async move {
            self.check_group(Action::Write, &group).await?;
            same("group", "name", name, &group.name)?;
            group.description = Some(description.clone());
            group.origin.update(self.now());
            Ok(group)
        };
        self.update(&group_meant(reference), change).await
    }

    /// Removes a group: nobody is in it any more, and it is granted nothing.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Forbidden`]; if the store refuses.
    pub async fn delete_group(&self, reference: &str) -> Result<(), Error> {
        let id = group_meant(reference);
        let id = &id;
        let more = |group: Group| async move {
            self.check_group(Action::Delete, &group).await?;
            let mut changes = self.all_gone::<Belong>("group", id).await?;
            changes.extend(self.all_gone::<Access>("group", id).await?);
            changes.extend(self.managers_gone(&group.name, true).await?);
            Ok(changes)
        };
        self.delete(id, more).await
    }

    /// A group.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Forbidden`]; if the store refuses.
    pub async fn get_group(&self, reference: &str) -> Result<Group, Error> {
        let group = self.stored::<Group>(&group_meant(reference)).await?;
        self.check(Action::Read, ResourceType::UserGroup, &group.name)?;
        Ok(group)
    }

    /// Groups by name, up to so many.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn list_groups(&self, limit: Option<usize>) -> Result<Vec<Group>, Error> {
        self.seen::<Group>(limit, ResourceType::UserGroup, |group| &group.name).await
    }

    async fn check_group(&self, action: Action, group: &Group) -> Result<(), Error> {
        self.check(action, ResourceType::UserGroup, &group.name)?;
        let role = self.directory.role_of_group(&group.id()).await?;
        self.check_contains(&role, action, ResourceType::UserGroup, &group.name)
    }

    /// Makes a target. For administrators: whoever makes one says what others may do.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], [`Error::Exists`], [`Error::Forbidden`]; if the store refuses.
    pub async fn create_target(
        &self,
        (space, graph): (&str, String),
        (name, url): (String, String),
        resources: Option<Vec<Resource>>,
    ) -> Result<Target, Error> {
        check_name("target", &name)?;
        self.check_admin(Action::Write, ResourceType::Target, &name)?;
        check_resources(resources.as_deref())?;
        let target = Target { name, space: space.to_owned(), graph, url, resources, origin: self.origin() };
        self.create(target, || std::future::ready(Ok(Vec::new()))).await
    }

    /// Changes a target.
    ///
    /// # Errors
    ///
    /// As [`Managed::create_target`]; [`Error::NotFound`].
    pub async fn update_target(
        &self,
        reference: &str,
        (name, graph): (Option<&str>, Option<&str>),
        url: Option<String>,
        resources: Option<Vec<Resource>>,
    ) -> Result<Target, Error> {
        check_resources(resources.as_deref())?;
        let (url, resources) = (&url, &resources);
        let change = |mut target: Target| async move {
            self.check_admin(Action::Write, ResourceType::Target, &target.name)?;
            same("target", "name", name, &target.name)?;
            same("target", "graph", graph, &target.graph)?;
            if let Some(url) = url {
                target.url.clone_from(url);
            }
            if let Some(resources) = resources {
                let has_grown = resources.len() > target.resources().len();
                target.resources = Some(resources.clone());
                if has_grown {
                    self.check_room_of_target(&target).await?;
                }
            }
            target.origin.update(self.now());
            Ok(target)
        };
        self.update(&target_meant(reference), change).await
    }

    /// Removes a target: nothing is granted on it any more.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Forbidden`]; if the store refuses.
    pub async fn delete_target(&self, reference: &str) -> Result<(), Error> {
        let id = target_meant(reference);
        let id = &id;
        let more = |target: Target| async move {
            self.check_admin(Action::Delete, ResourceType::Target, &target.name)?;
            self.all_gone::<Access>("target", id).await
        };
        self.delete(id, more).await
    }

    /// A target.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Forbidden`]; if the store refuses.
    pub async fn get_target(&self, reference: &str) -> Result<Target, Error> {
        let target = self.stored::<Target>(&target_meant(reference)).await?;
        self.check(Action::Read, ResourceType::Target, &target.name)?;
        Ok(target)
    }

    /// Targets by name, up to so many.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn list_targets(&self, limit: Option<usize>) -> Result<Vec<Target>, Error> {
        self.seen::<Target>(limit, ResourceType::Target, |target| &target.name).await
    }

    /// Puts a user into a group. Nobody gives what he has not.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], [`Error::Exists`], [`Error::Forbidden`]; if the store refuses.
    pub async fn create_belong(
        &self,
        user: String,
        group: String,
        description: Option<String>,
    ) -> Result<Belong, Error> {
        let belong = Belong { user, group, description, origin: self.origin() };
        let id = belong.shown_id();
        self.check(Action::Write, ResourceType::Grant, &id)?;
        let (user, group) = (user_meant(&belong.user), group_meant(&belong.group));
        let (directory, id, user, group) = (&self.directory, &id, &user, &group);
        let more = || async move {
            if self.users.user(directory, user).await?.is_none() {
                return Err(Error::Invalid(format!("Not exists user '{user}'")));
            }
            exists::<Group>(directory, group).await?;
            let role = directory.role_of_group(group).await?;
            self.check_contains(&role, Action::Write, ResourceType::Grant, id)?;
            Ok(Vec::new())
        };
        self.create(belong.clone(), more).await
    }

    /// Changes what is said of a belong.
    ///
    /// # Errors
    ///
    /// As [`Managed::create_belong`]; [`Error::NotFound`].
    pub async fn update_belong(
        &self,
        id: &str,
        (user, group): (Option<&str>, Option<&str>),
        description: String,
    ) -> Result<Belong, Error> {
        let description = &description;
        let change = |mut belong: Belong| async move {
            self.check(Action::Write, ResourceType::Grant, &belong.shown_id())?;
            same("belong", "user", user.map(user_meant).as_deref(), &user_meant(&belong.user))?;
            same("belong", "group", group.map(group_meant).as_deref(), &group_meant(&belong.group))?;
            belong.description = Some(description.clone());
            belong.origin.update(self.now());
            Ok(belong)
        };
        self.update(&belong_meant(id), change).await
    }

    /// Takes a user out of a group.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Forbidden`]; if the store refuses.
    pub async fn delete_belong(&self, id: &str) -> Result<(), Error> {
        let more = |belong: Belong| async move {
            self.check(Action::Delete, ResourceType::Grant, &belong.shown_id())?;
            let role = self.directory.role_of_group(&group_meant(&belong.group)).await?;
            self.check_contains(&role, Action::Delete, ResourceType::Grant, &belong.shown_id())?;
            Ok(Vec::new())
        };
        self.delete(&belong_meant(id), more).await
    }

    /// Who is in which group.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Forbidden`]; if the store refuses.
    pub async fn get_belong(&self, id: &str) -> Result<Belong, Error> {
        let belong = self.stored::<Belong>(&belong_meant(id)).await?;
        self.check(Action::Read, ResourceType::Grant, &belong.shown_id())?;
        Ok(belong)
    }

    /// Those of a user, or of a group, or all, up to so many.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn list_belongs(
        &self,
        (user, group): (Option<&str>, Option<&str>),
        limit: Option<usize>,
    ) -> Result<Vec<Belong>, Error> {
        let mut found = match (user, group) {
            (Some(user), _) => self.directory.find::<Belong>("user", &user_meant(user)).await?,
            (None, Some(group)) => self.directory.find::<Belong>("group", &group_meant(group)).await?,
            (None, None) => return self.seen::<Belong>(limit, ResourceType::Grant, |_| "").await,
        };
        found.retain(|_| self.check(Action::Read, ResourceType::Grant, "").is_ok());
        found.truncate(limit.unwrap_or(usize::MAX));
        Ok(found)
    }

    /// Lets a group do something with a target. Nobody gives what he has not.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], [`Error::Exists`], [`Error::Forbidden`]; if the store refuses.
    pub async fn create_access(
        &self,
        (group, target): (String, String),
        action: Action,
        description: Option<String>,
    ) -> Result<Access, Error> {
        let access = Access { group, target, action, description, origin: self.origin() };
        let id = access.shown_id();
        self.check(Action::Write, ResourceType::Grant, &id)?;
        let (group, target) = (group_meant(&access.group), target_meant(&access.target));
        let (directory, id, group, target, new) = (&self.directory, &id, &group, &target, &access);
        let more = || async move {
            exists::<Group>(directory, group).await?;
            exists::<Target>(directory, target).await?;
            let role = directory.role_of_access(new).await?;
            self.check_contains(&role, Action::Write, ResourceType::Grant, id)?;
            let added = self.stored::<Target>(target).await?.resources().len();
            if added > 0 {
                self.check_room(group, None, added).await?;
            }
            Ok(Vec::new())
        };
        self.create(access.clone(), more).await
    }

    /// Changes what is said of an access.
    ///
    /// # Errors
    ///
    /// As [`Managed::create_access`]; [`Error::NotFound`].
    pub async fn update_access(
        &self,
        id: &str,
        (group, target, action): (Option<&str>, Option<&str>, Option<Action>),
        description: String,
    ) -> Result<Access, Error> {
        let description = &description;
        let change = |mut access: Access| async move {
            self.check(Action::Write, ResourceType::Grant, &access.shown_id())?;
            same("access", "group", group.map(group_meant).as_deref(), &group_meant(&access.group))?;
            same("access", "target", target.map(target_meant).as_deref(), &target_meant(&access.target))?;
            same("access", "permission", action.map(Action::name), access.action.name())?;
            access.description = Some(description.clone());
            access.origin.update(self.now());
            Ok(access)
        };
        self.update(&access_meant(id), change).await
    }

    /// Takes back what a group may do.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Forbidden`]; if the store refuses.
    pub async fn delete_access(&self, id: &str) -> Result<(), Error> {
        let more = |access: Access| async move {
            let shown = access.shown_id();
            self.check(Action::Delete, ResourceType::Grant, &shown)?;
            let role: Role = self.directory.role_of_access(&access).await?;
            self.check_contains(&role, Action::Delete, ResourceType::Grant, &shown)?;
            Ok(Vec::new())
        };
        self.delete(&access_meant(id), more).await
    }

    /// What a group may do with a target.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Forbidden`]; if the store refuses.
    pub async fn get_access(&self, id: &str) -> Result<Access, Error> {
        let access = self.stored::<Access>(&access_meant(id)).await?;
        self.check(Action::Read, ResourceType::Grant, &access.shown_id())?;
        Ok(access)
    }

    /// Those of a group, or of a target, or all, up to so many.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn list_accesses(
        &self,
        (group, target): (Option<&str>, Option<&str>),
        limit: Option<usize>,
    ) -> Result<Vec<Access>, Error> {
        let mut found = match (group, target) {
            (Some(group), _) => self.directory.find::<Access>("group", &group_meant(group)).await?,
            (None, Some(target)) => self.directory.find::<Access>("target", &target_meant(target)).await?,
            (None, None) => return self.seen::<Access>(limit, ResourceType::Grant, |_| "").await,
        };
        found.retain(|_| self.check(Action::Read, ResourceType::Grant, "").is_ok());
        found.truncate(limit.unwrap_or(usize::MAX));
        Ok(found)
    }

    /// Refuses what would grant a group more resources than one role has: `added`, beside what it is granted with a target as it is to be.
    async fn check_room(&self, group: &str, changed: Option<&Target>, added: usize) -> Result<(), Error> {
        if self.directory.count_of_group(group, changed).await? + added <= ROLE_RESOURCES_MAX {
            return Ok(());
        }
        Err(Error::Invalid(format!(
            "The group '{group}' may be granted at most {ROLE_RESOURCES_MAX} resources (ROLE_RESOURCES_MAX)"
        )))
    }

    /// The same for all groups that are granted something on a target, which is to have more resources.
    async fn check_room_of_target(&self, target: &Target) -> Result<(), Error> {
        let accesses = self.directory.find::<Access>("target", &target.id()).await?;
        let groups: BTreeSet<String> = accesses.iter().map(|access| group_meant(&access.group)).collect();
        for group in &groups {
            self.check_room(group, Some(target), 0).await?;
        }
        Ok(())
    }

    /// Whether there is a user of this name, and else whether there is a group.
    pub(super) async fn is_group(&self, name: &str) -> Result<bool, Error> {
        if self.users.user(&self.directory, &user_meant(name)).await?.is_some() {
            return Ok(false);
        }
        match self.directory.get::<Group>(&group_meant(name)).await? {
            Some(_) => Ok(true),
            None => Err(Error::Invalid("The user or group is not exist".to_owned())),
        }
    }

    /// Refuses all but those who manage a graph space.
    pub(super) fn check_manages(&self, space: &str) -> Result<(), Error> {
        if self.caller.role.manages(space) {
            return Ok(());
        }
        Err(denied(Action::Write, ResourceType::Grant, space))
    }
}

/// Refuses to change what makes an id.
fn same(kind: &str, member: &str, given: Option<&str>, stored: &str) -> Result<(), Error> {
    match given {
        Some(given) if given != stored => {
            Err(Error::Invalid(format!("The {member} of {kind} can't be updated")))
        }
        _ => Ok(()),
    }
}

async fn exists<R: Record>(directory: &crate::directory::Directory, id: &str) -> Result<(), Error> {
    match directory.get::<R>(id).await? {
        Some(_) => Ok(()),
        None => Err(Error::Invalid(format!("Not exists {} '{id}'", R::KIND))),
    }
}

fn check_resources(resources: Option<&[Resource]>) -> Result<(), Error> {
    let resources = resources.unwrap_or(&[]);
    if resources.len() > TARGET_RESOURCES_MAX {
        return Err(Error::Invalid(format!(
            "Invalid format of resources: a target has at most {TARGET_RESOURCES_MAX} (TARGET_RESOURCES_MAX)"
        )));
    }
    Role::rules(resources).map(drop)
}
