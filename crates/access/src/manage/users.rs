//! Users.

use model_graph::ObjectChange;

use super::{Managed, denied, name_taken};
use crate::directory::{ADMIN, put};
use crate::records::{Belong, Group, Manager, Record, User, check_name, group_meant, user_meant};
use crate::role::Role;
use crate::{Action, Error, ResourceType};

const KIND: ResourceType = ResourceType::UserGroup;

/// What is sent of a user; what is not given stays as it is.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[expect(missing_docs, reason = "they are the members of a user")]
pub struct UserDraft {
    pub name: Option<String>,
    pub password: Option<String>,
    pub phone: Option<String>,
    pub email: Option<String>,
    pub avatar: Option<String>,
    pub description: Option<String>,
}

impl UserDraft {
    fn apply(&self, user: &mut User, password: Option<&str>) {
        let set = |member: &mut Option<String>, given: &Option<String>| {
            if given.is_some() {
                member.clone_from(given);
            }
        };
        set(&mut user.phone, &self.phone);
        set(&mut user.email, &self.email);
        set(&mut user.avatar, &self.avatar);
        set(&mut user.description, &self.description);
        if let Some(password) = password {
            password.clone_into(&mut user.password);
        }
    }
}

impl Managed {
    /// Makes a user. Cost: some tenths of a second for the password, one commit.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], [`Error::Exists`], [`Error::Forbidden`], [`Error::Busy`]; if the store refuses.
    pub async fn create_user(&self, draft: UserDraft) -> Result<User, Error> {
        let name = draft.name.as_deref().unwrap_or("").to_owned();
        check_name("user", &name)?;
        self.check(Action::Write, KIND, &name)?;
        let given = draft.password.as_deref().unwrap_or("");
        if name == ADMIN && self.users.first_admin().is_some() {
            return Err(Error::Exists { kind: User::KIND, id: user_meant(&name) });
        }
        let password = self.users.shared.passwords.hash(given).await?;
        let origin = self.origin();
        let (phone, email, avatar, description) = (None, None, None, None);
        let token_epoch = 0;
        let mut user = User { name, password, token_epoch, phone, email, avatar, description, origin };
        draft.apply(&mut user, None);
        let name = &user.name.clone();
        let more = || async move {
            match self.directory.get::<Group>(&group_meant(name)).await? {
                Some(_) => Err(name_taken(name, "group")),
                None => Ok(Vec::new()),
            }
        };
        self.create(user, more).await
    }

    /// Changes a user. Everybody may change himself.
    ///
    /// # Errors
    ///
    /// As [`Managed::create_user`]; [`Error::NotFound`].
    pub async fn update_user(&self, reference: &str, draft: UserDraft) -> Result<User, Error> {
        let id = user_meant(reference);
        let first = self.found_user(&id).await?;
        self.check_touch(Action::Write, &first).await?;
        if draft.name.as_ref().is_some_and(|name| *name != first.name) {
            return Err(Error::Invalid("The name of user can't be updated".to_owned()));
        }
        // Of the administrator of the settings a password must be stored with the rest.
        let of_settings = self.users.admin_password().filter(|_| first.password.is_empty());
        let given = draft.password.as_deref().filter(|given| !given.is_empty());
        let password = match given.or(of_settings) {
            Some(password) => Some(self.users.shared.passwords.hash(password).await?),
            None => None,
        };
        let (id, draft, password, is_given) = (&id, &draft, password.as_deref(), given.is_some());
        let think = || async move {
            let mut user = self.found_user(id).await?;
            self.check_touch(Action::Write, &user).await?;
            // Another change may have set a password while that of the settings was hashed.
            let is_wanted = is_given || user.password.is_empty();
            draft.apply(&mut user, password.filter(|_| is_wanted));
            user.origin.update(self.now());
            let changes = vec![put(&user)];
            Ok((user, changes))
        };
        self.directory.change(think).await
    }

    /// Removes a user, who is in no group any more, and manages nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for the administrator, [`Error::NotFound`], [`Error::Forbidden`]; if the store refuses.
    pub async fn delete_user(&self, reference: &str) -> Result<(), Error> {
        let id = user_meant(reference);
        if id == user_meant(ADMIN) {
            return Err(Error::Invalid(format!("Can't delete user '{ADMIN}'")));
        }
        let id = &id;
        let more = |user: User| async move {
            self.check(Action::Delete, KIND, &user.name)?;
            let role = self.directory.role_of_user(&user).await?;
            self.check_contains(&role, Action::Delete, KIND, &user.name)?;
            let mut changes = self.all_gone::<Belong>("user", id).await?;
            changes.extend(self.managers_gone(&user.name, false).await?);
            Ok(changes)
        };
        self.delete(id, more).await
    }

    /// A user.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Forbidden`]; if the store refuses.
    pub async fn get_user(&self, reference: &str) -> Result<User, Error> {
        let id = user_meant(reference);
        let found = self.users.user(&self.directory, &id).await?;
        let user = found.ok_or_else(|| Error::NotFound { kind: User::KIND, id: reference.to_owned() })?;
        if *user.name != *self.caller.user {
            self.check(Action::Read, KIND, &user.name)?;
        }
        Ok(user)
    }

    /// Users by name, up to so many.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn list_users(&self, limit: Option<usize>) -> Result<Vec<User>, Error> {
        let mut users = self.seen::<User>(limit, KIND, |user| &user.name).await?;
        let may_see = self.check(Action::Read, KIND, ADMIN).is_ok();
        let first = self.users.first_admin().filter(|_| may_see);
        if let Some(admin) = first
            && self.directory.get::<User>(&admin.id()).await?.is_none()
        {
            users.insert(0, admin);
            users.truncate(limit.unwrap_or(usize::MAX));
        }
        Ok(users)
    }

    /// What a user may do.
    ///
    /// # Errors
    ///
    /// As [`Managed::get_user`].
    pub async fn role_of(&self, reference: &str) -> Result<Role, Error> {
        let user = self.get_user(reference).await?;
        self.directory.role_of_user(&user).await
    }

    async fn found_user(&self, id: &str) -> Result<User, Error> {
        let found = self.users.user(&self.directory, id).await?;
        found.ok_or_else(|| Error::NotFound { kind: User::KIND, id: id.to_owned() })
    }

    /// Refuses to change a user who may do more than the caller.
    async fn check_touch(&self, action: Action, user: &User) -> Result<(), Error> {
        if *user.name == *self.caller.user {
            return Ok(());
        }
        if user.name == ADMIN && !self.caller.role.is_admin() {
            return Err(denied(action, KIND, &user.name));
        }
        self.check(action, KIND, &user.name)?;
        let role = self.directory.role_of_user(user).await?;
        self.check_contains(&role, action, KIND, &user.name)
    }

    /// What removes all that a user, or a group, manages.
    pub(super) async fn managers_gone(&self, name: &str, is_group: bool) -> Result<Vec<ObjectChange>, Error> {
        let managers = self.directory.find::<Manager>("name", name).await?;
        Ok(managers
            .iter()
            .filter(|manager| manager.is_group == is_group)
            .map(crate::directory::gone)
            .collect())
    }
}
