//! Projects: graphs with a group of administrators, a group of operators, and a target for both.

use std::collections::BTreeSet;

use super::Managed;
use crate::directory::{Directory, gone, put};
use crate::records::{
    Access, Belong, Group, Project, Record, Target, check_name, group_id, project_meant, target_id,
};
use crate::{Action, Error, Resource, ResourceType};

const KIND: ResourceType = ResourceType::Project;
/// The most graphs of a project.
const PROJECT_GRAPHS_MAX: usize = 1_000;

impl Managed {
    /// Makes a project with its groups, its target, and what the groups may do with it.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], [`Error::Exists`], [`Error::Forbidden`]; if the store refuses.
    pub async fn create_project(
        &self,
        (space, graph): (&str, &str),
        name: String,
        description: Option<String>,
    ) -> Result<Project, Error> {
        check_name("project", &name)?;
        self.check_admin(Action::Write, KIND, &name)?;
        let origin = self.origin();
        let project = Project { name, description, graphs: BTreeSet::new(), origin: origin.clone() };
        let group = |name: String| Group { name, description: None, origin: origin.clone() };
        let (admins, operators) = (group(project.admin_group()), group(project.op_group()));
        let resource = Resource { label: project.name.clone(), ..Resource::any(KIND) };
        let target = Target {
            name: project.target(),
            space: space.to_owned(),
            graph: graph.to_owned(),
            url: "localhost:8080".to_owned(),
            resources: Some(vec![resource]),
            origin: origin.clone(),
        };
        let access = |group: &Group, action: Action| Access {
            group: group.id(),
            target: target.id(),
            action,
            description: None,
            origin: origin.clone(),
        };
        let accesses =
            [access(&admins, Action::Write), access(&admins, Action::Read), access(&operators, Action::Read)];
        let (directory, admins, operators) = (&self.directory, &admins, &operators);
        let (target, accesses) = (&target, &accesses);
        let more = || async move {
            for group in [admins, operators] {
                is_new(directory, group).await?;
                self.check_is_no_user(&group.name).await?;
            }
            is_new(directory, target).await?;
            let mut changes = vec![put(admins), put(operators), put(target)];
            changes.extend(accesses.iter().map(put));
            Ok(changes)
        };
        self.create(project, more).await
    }

    /// Changes a project.
    ///
    /// # Errors
    ///
    /// As [`Managed::create_project`], and what `change` refuses; [`Error::NotFound`].
    pub async fn update_project(
        &self,
        reference: &str,
        change: impl Fn(&mut Project) -> Result<(), Error> + Sync,
    ) -> Result<Project, Error> {
        let change = &change;
        let change = |mut project: Project| async move {
            self.check(Action::Write, KIND, &project.name)?;
            change(&mut project)?;
            if project.graphs.len() > PROJECT_GRAPHS_MAX {
                return Err(Error::Invalid(format!(
                    "a project has at most {PROJECT_GRAPHS_MAX} graphs (PROJECT_GRAPHS_MAX)"
                )));
            }
            project.origin.update(self.now());
            Ok(project)
        };
        self.update(&project_meant(reference), change).await
    }

    /// Removes a project without graphs, with its groups and its target.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Forbidden`]; if the store refuses.
    pub async fn delete_project(&self, reference: &str) -> Result<(), Error> {
        let more = |project: Project| async move {
            self.check_admin(Action::Delete, KIND, &project.name)?;
            if !project.graphs.is_empty() {
                return Err(Error::Forbidden(format!(
                    "Can't delete project '{}' that contains any graph, there are graphs bound to it",
                    project.id()
                )));
            }
            let mut changes = Vec::new();
            for name in [project.admin_group(), project.op_group()] {
                let id = group_id(&name);
                changes.extend(self.all_gone::<Belong>("group", &id).await?);
                changes.extend(self.all_gone::<Access>("group", &id).await?);
                changes.extend(self.managers_gone(&name, true).await?);
                changes.extend(self.directory.get::<Group>(&id).await?.as_ref().map(gone));
            }
            let target = target_id(&project.target());
            let of_target = self.all_gone::<Access>("target", &target).await?;
            changes
                .extend(of_target.into_iter().filter(|change| !changes.contains(change)).collect::<Vec<_>>());
            changes.extend(self.directory.get::<Target>(&target).await?.as_ref().map(gone));
            Ok(changes)
        };
        self.delete(&project_meant(reference), more).await
    }

    /// A project.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Forbidden`]; if the store refuses.
    pub async fn get_project(&self, reference: &str) -> Result<Project, Error> {
        let project = self.stored::<Project>(&project_meant(reference)).await?;
        self.check(Action::Read, KIND, &project.name)?;
        Ok(project)
    }

    /// Projects by name, up to so many.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub async fn list_projects(&self, limit: Option<usize>) -> Result<Vec<Project>, Error> {
        self.seen::<Project>(limit, KIND, |project| &project.name).await
    }
}

/// Refuses what is there already.
async fn is_new<R: Record>(directory: &Directory, record: &R) -> Result<(), Error> {
    match directory.get::<R>(&record.id()).await? {
        Some(_) => Err(Error::Exists { kind: R::KIND, id: record.id() }),
        None => Ok(()),
    }
}
