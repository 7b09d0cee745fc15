//! What somebody may do: of each graph, which action on which resources.

use std::collections::{BTreeMap, BTreeSet};

use model_graph::DEFAULT_SPACE;

use crate::resource::{ANY, Rule};
use crate::{Action, Error, Resource, ResourceType};

/// Which of the things of a type an action is allowed on.
#[derive(Clone, Debug)]
pub enum Allowed {
    /// All.
    All,
    /// Those of some labels, or names.
    Some(Labels),
    /// None.
    Nothing,
}

/// Some labels.
#[derive(Clone, Debug)]
pub struct Labels(Vec<Rule>);

impl Labels {
    /// Whether a label is among them.
    pub fn has(&self, label: &str) -> bool {
        self.0.iter().any(|rule| rule.has_label(label))
    }
}

impl Allowed {
    /// Whether it is allowed on something.
    pub fn is_something(&self) -> bool {
        !matches!(self, Self::Nothing)
    }

    /// Whether it is allowed on what has this label or name.
    pub fn has(&self, label: &str) -> bool {
        match self {
            Self::All => true,
            Self::Some(labels) => labels.has(label),
            Self::Nothing => false,
        }
    }
}

/// What somebody may do.
#[derive(Clone, Debug, Default)]
pub struct Role {
    /// Everything, in this tenant.
    is_admin: bool,
    /// More was granted than is here.
    is_cut: bool,
    /// Everything with the graphs of these spaces.
    spaces: BTreeSet<String>,
    /// By space, graph and action.
    granted: BTreeMap<(String, String), BTreeMap<Action, Vec<Rule>>>,
}

impl Role {
    /// That of an administrator.
    pub fn admin() -> Self {
        Self { is_admin: true, ..Self::default() }
    }

    /// Whether everything is allowed.
    pub fn is_admin(&self) -> bool {
        self.is_admin
    }

    /// Whether the graphs of a space may be made, cleared and dropped, and its managers named.
    pub fn manages(&self, space: &str) -> bool {
        self.is_admin || self.spaces.contains(space)
    }

    /// Says that more was granted, and allows nothing.
    pub(crate) fn cut(&mut self) {
        self.is_cut = true;
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub(crate) fn manage(&mut self, space: &str) {
        self.spaces.insert(space.to_owned());
        for action in Action::ALL {
            let rule = Rule::new(Resource::any(ResourceType::All)).expect("any label is a pattern");
            self.add((space, ANY), action, vec![rule]);
        }
    }

    pub(crate) fn add(&mut self, (space, graph): (&str, &str), action: Action, rules: Vec<Rule>) {
        // `DEFAULT-hugegraph`, as newer versions name a graph; no name has a hyphen of its own.
        let (space, graph) = graph.split_once('-').unwrap_or((space, graph));
        let of_graph = self.granted.entry((space.to_owned(), graph.to_owned())).or_default();
        of_graph.entry(action).or_default().extend(rules);
    }

    /// By graph and action, what is granted: graphs of other spaces than `DEFAULT` by both names.
    pub fn grants(&self) -> Vec<(String, Action, Vec<&Resource>)> {
        let mut grants = Vec::new();
        for ((space, graph), actions) in &self.granted {
            let name = if space == DEFAULT_SPACE { graph.clone() } else { format!("{space}-{graph}") };
            for (action, rules) in actions {
                grants.push((name.clone(), *action, rules.iter().map(|rule| &rule.resource).collect()));
            }
        }
        grants
    }

    /// On which things of a type in a graph an action is allowed. A resource that demands properties allows nothing: no thing is read here.
    /// Neither does one of some labels where things of the type have none: nobody could say which of them are meant.
    pub fn allowed(&self, (space, graph): (&str, &str), action: Action, needed: ResourceType) -> Allowed {
        if self.is_admin {
            return Allowed::All;
        }
        let mut some = Vec::new();
        for name in [graph, ANY] {
            let of_graph = self.granted.get(&(space.to_owned(), name.to_owned()));
            for rule in of_graph.and_then(|actions| actions.get(&action)).into_iter().flatten() {
                if !rule.resource.kind.covers(needed) {
                    continue;
                }
                if needed == ResourceType::None {
                    return Allowed::All;
                }
                if rule.resource.has_conditions() {
                    continue;
                }
                if rule.is_of_all_labels() {
                    return Allowed::All;
                }
                if needed.has_labels() {
                    some.push(rule.clone());
                }
            }
        }
        if some.is_empty() { Allowed::Nothing } else { Allowed::Some(Labels(some)) }
    }

    /// Whether an action is allowed on what belongs to no graph: users, groups, grants, projects; `name` is theirs. As with
    /// [`Role::allowed`], a resource that demands properties allows nothing.
    pub(crate) fn allows_beside(&self, action: Action, needed: ResourceType, name: &str) -> bool {
        let mut rules = self.granted.values().filter_map(|actions| actions.get(&action)).flatten();
        let allows = |rule: &Rule| {
            rule.resource.kind.covers(needed) && !rule.resource.has_conditions() && rule.has_label(name)
        };
        self.is_admin || rules.any(allows)
    }

    /// Whether all that the other may do is allowed, too: nobody gives what he has not. Of another that was cut short only an administrator
    /// knows.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        if self.is_admin {
            return true;
        }
        let within = |((space, graph), actions): (&(String, String), &BTreeMap<Action, Vec<Rule>>)| {
            let mine = |action: &Action, resource: &Resource| {
                [graph.as_str(), ANY].into_iter().any(|name| {
                    let of_graph = self.granted.get(&(space.clone(), name.to_owned()));
                    let rules = of_graph.and_then(|actions| actions.get(action)).into_iter().flatten();
                    rules.into_iter().any(|rule| rule.contains(resource))
                })
            };
            actions.iter().all(|(action, rules)| rules.iter().all(|rule| mine(action, &rule.resource)))
        };
        !other.is_admin
            && !other.is_cut
            && other.spaces.is_subset(&self.spaces)
            && other.granted.iter().all(within)
    }

    /// Prepares resources.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if a label is no pattern.
    pub(crate) fn rules(resources: &[Resource]) -> Result<Vec<Rule>, Error> {
        resources.iter().cloned().map(Rule::new).collect()
    }
}

/// Who asks.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The name of the user.
    pub user: Box<str>,
    /// What the user may do.
    pub role: Role,
}

#[cfg(test)]
mod tests;
