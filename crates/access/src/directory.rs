//! The stored users of one tenant: read, and changed all at one moment.

use model_graph::{Generation, Graphs, OBJECT_PAGE_MAX, Object, ObjectChange, Objects, TenantName};
use store::retry::RetryBackoff;

use crate::records::{
    Access, Belong, Group, Manager, ManagerKind, Record, Target, User, group_meant, target_meant,
};
use crate::role::Role;
use crate::{Action, Error, Resource, ResourceType};

/// The name of the user who is always there and may do everything.
pub const ADMIN: &str = "admin";
/// How often a change is thought out again because others came first.
const BACKOFF: RetryBackoff = RetryBackoff::at_once(64);
/// The most resources that one group, or one user by all groups, is granted.
pub(crate) const ROLE_RESOURCES_MAX: usize = 1_000;

/// The stored users of a tenant.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    /// None: the tenant is not there, and has nobody.
    objects: Option<Objects>,
}

impl Directory {
    /// Those of a tenant. Cost: a map look-up.
    pub(crate) async fn of(graphs: &Graphs, tenant: &TenantName) -> Result<Self, Error> {
        match graphs.of(tenant).await {
            Ok(graphs) => Ok(Self { objects: Some(graphs.objects()) }),
            Err(model_graph::Error::NotFound(_)) => Ok(Self { objects: None }),
            Err(error) => Err(error.into()),
        }
    }

    /// The same to change them: the tenant is made if it is not there.
    pub(crate) async fn of_or_create(graphs: &Graphs, tenant: &TenantName) -> Result<Self, Error> {
        Ok(Self { objects: Some(graphs.of_or_create(tenant).await?.objects()) })
    }

    /// Which of them there are. Cost: one read.
    pub(crate) async fn generation(&self) -> Result<Generation, Error> {
        match &self.objects {
            Some(objects) => Ok(objects.generation().await?),
            None => Ok(Generation::default()),
        }
    }

    /// The one of this id. Cost: one read.
    pub(crate) async fn get<R: Record>(&self, id: &str) -> Result<Option<R>, Error> {
        let Some(objects) = &self.objects else { return Ok(None) };
        objects.get(R::KIND, id).await?.map(|object| read(&object)).transpose()
    }

    /// Those of a kind by id, as many as are wanted. Cost: scans, and a read for each.
    pub(crate) async fn list<R: Record>(&self, limit: usize) -> Result<Vec<R>, Error> {
        let Some(objects) = &self.objects else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        let mut after: Option<String> = None;
        while all.len() < limit {
            let wanted = (limit - all.len()).min(OBJECT_PAGE_MAX);
            let page = objects.list(R::KIND, after.as_deref(), wanted).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.id.clone());
            for object in &page {
                all.push(read(object)?);
            }
        }
        Ok(all)
    }

    /// Those of a kind with a value, by id. Cost: scans, and a read for each.
    pub(crate) async fn find<R: Record>(&self, index: &str, value: &str) -> Result<Vec<R>, Error> {
        let Some(objects) = &self.objects else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let page = objects.find(R::KIND, (index, value), after.as_deref(), OBJECT_PAGE_MAX).await?;
            let Some(last) = page.last() else { return Ok(all) };
            after = Some(last.id.clone());
            for object in &page {
                all.push(read(object)?);
            }
        }
    }

    /// Changes what `think` says, in one commit, on what it has read; if others came first, it thinks again.
    ///
    /// # Errors
    ///
    /// What it refuses; [`Error::Contention`].
    pub(crate) async fn change<T, F>(&self, think: impl Fn() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<(T, Vec<ObjectChange>), Error>>,
    {
        let objects = self.objects.as_ref().expect("the tenant of a change was made");
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let since = objects.generation().await?;
            let (thought, changes) = think().await?;
            if objects.change(&since, &changes).await? {
                return Ok(thought);
            }
        }
        Err(Error::Contention)
    }

    /// What a user may do: of what the groups are granted, by their ids, the first `ROLE_RESOURCES_MAX` resources. Cost: reads of the
    /// groups, of what they are granted, and of the targets.
    pub(crate) async fn role_of_user(&self, user: &User) -> Result<Role, Error> {
        if user.name == ADMIN {
            return Ok(Role::admin());
        }
        let mut role = Role::default();
        let mut count = 0;
        self.manage(&mut role, &user.name, false).await?;
        for belong in self.find::<Belong>("user", &user.id()).await? {
            self.add_group(&mut role, &group_meant(&belong.group), &mut count).await?;
        }
        Ok(role)
    }

    /// What the users of a group may do.
    pub(crate) async fn role_of_group(&self, id: &str) -> Result<Role, Error> {
        let (mut role, mut count) = (Role::default(), 0);
        self.add_group(&mut role, id, &mut count).await?;
        Ok(role)
    }

    /// What an access allows.
    pub(crate) async fn role_of_access(&self, access: &Access) -> Result<Role, Error> {
        let mut role = Role::default();
        self.add_access(&mut role, access, &mut 0).await?;
        Ok(role)
    }

    async fn add_group(&self, role: &mut Role, id: &str, count: &mut usize) -> Result<(), Error> {
        if let Some(group) = self.get::<Group>(id).await? {
            self.manage(role, &group.name, true).await?;
        }
        if role.is_cut() {
            return Ok(());
        }
        for access in self.find::<Access>("group", id).await? {
            self.add_access(role, &access, count).await?;
        }
        Ok(())
    }

    async fn add_access(&self, role: &mut Role, access: &Access, count: &mut usize) -> Result<(), Error> {
        // Targets are removed with what is granted on them: there is one, unless it was removed this moment.
        let Some(target) = self.get::<Target>(&target_meant(&access.target)).await? else { return Ok(()) };
        let resources = target.resources();
        let room = ROLE_RESOURCES_MAX.saturating_sub(*count);
        *count += resources.len();
        let resources = match resources.get(..room) {
            Some(first) if first.len() < resources.len() => {
                role.cut();
                first
            }
            _ => resources,
        };
        role.add((&target.space, &target.graph), access.action, Role::rules(resources)?);
        Ok(())
    }

    /// How many resources a group is granted, with a target as it is to be. Cost: reads of the accesses and of the targets.
    pub(crate) async fn count_of_group(&self, id: &str, changed: Option<&Target>) -> Result<usize, Error> {
        let mut count = 0;
        for access in self.find::<Access>("group", id).await? {
            let target = target_meant(&access.target);
            count += match changed.filter(|changed| changed.id() == target) {
                Some(changed) => changed.resources().len(),
                None => self.get::<Target>(&target).await?.map_or(0, |target| target.resources().len()),
            };
        }
        Ok(count)
    }

    /// Adds what a user, or a group, manages.
    async fn manage(&self, role: &mut Role, name: &str, is_group: bool) -> Result<(), Error> {
        let managers = self.find::<Manager>("name", name).await?;
        for manager in managers.iter().filter(|manager| manager.is_group == is_group) {
            match manager.kind {
                ManagerKind::Admin => *role = Role::admin(),
                ManagerKind::Space => role.manage(&manager.space),
                ManagerKind::Member => {
                    let rules = Role::rules(&[Resource::any(ResourceType::All)])?;
                    role.add((&manager.space, "*"), Action::Read, rules);
                }
            }
        }
        Ok(())
    }
}

/// The change that stores a record.
pub(crate) fn put<R: Record>(record: &R) -> ObjectChange {
    let json = serde_json::to_string(record).expect("texts, numbers and lists of them are always JSON");
    let values = record.found_by().into_iter().map(|(index, value)| (index.to_owned(), value)).collect();
    ObjectChange::Put(R::KIND, Object { id: record.id(), json, values })
}

/// The change that removes a record.
pub(crate) fn gone<R: Record>(record: &R) -> ObjectChange {
    ObjectChange::Remove(R::KIND, record.id())
}

fn read<R: Record>(object: &Object) -> Result<R, Error> {
    serde_json::from_str(&object.json).map_err(|_| Error::Damaged { kind: R::KIND, id: object.id.clone() })
}
