//! What is stored of users and what they may do, as JSON among the objects of a tenant.

use model_graph::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Action, Error, Resource};

/// What is stored as an object.
pub trait Record: Clone + DeserializeOwned + Serialize {
    /// What it is called: `user`, `group`, …
    const KIND: &'static str;

    /// Its id: that of a thing begins with a number for its kind (`-69:all`), that of a relation is of the form `S…>-82>>S…`.
    fn id(&self) -> String;

    /// By what it is found.
    fn found_by(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// Who made something, and when.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Origin {
    /// The name of a user.
    pub creator: String,
    /// When it was made, in microseconds since 1970.
    created: i64,
    /// When it was last changed.
    updated: i64,
}

impl Origin {
    /// Made by somebody, now.
    pub fn new(creator: &str, now: Timestamp) -> Self {
        Self { creator: creator.to_owned(), created: now.0, updated: now.0 }
    }

    /// When it was made.
    pub fn created(&self) -> Timestamp {
        Timestamp(self.created)
    }

    /// When it was last changed.
    pub fn updated(&self) -> Timestamp {
        Timestamp(self.updated)
    }

    pub(crate) fn update(&mut self, now: Timestamp) {
        self.updated = now.0;
    }
}

/// A user.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct User {
    /// The name.
    pub name: String,
    /// The hash of the password (`passwords.rs`); empty: it is that of the settings.
    pub(crate) password: String,
    /// How often all tokens of the user were ended at once.
    #[serde(default)]
    pub(crate) token_epoch: u64,
    /// What else is said.
    pub phone: Option<String>,
    /// What else is said.
    pub email: Option<String>,
    /// What else is said.
    pub avatar: Option<String>,
    /// What else is said.
    pub description: Option<String>,
    /// By whom and when.
    pub origin: Origin,
}

/// Users that may do the same.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Group {
    /// The name.
    pub name: String,
    /// For people.
    pub description: Option<String>,
    /// By whom and when.
    pub origin: Origin,
}

/// Some of what is in a graph.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Target {
    /// The name.
    pub name: String,
    /// The graph space it was made in.
    pub space: String,
    /// The graph; `*`: all of the space.
    pub graph: String,
    /// Where the graph is served, which nobody asks.
    pub url: String,
    /// What of the graph; none was given: nothing.
    pub resources: Option<Vec<Resource>>,
    /// By whom and when.
    pub origin: Origin,
}

impl Target {
    /// What of the graph.
    pub(crate) fn resources(&self) -> &[Resource] {
        self.resources.as_deref().unwrap_or(&[])
    }
}

/// That a user is in a group.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Belong {
    /// The user, as it was sent: an id or a name.
    pub user: String,
    /// The group, as it was sent.
    pub group: String,
    /// For people.
    pub description: Option<String>,
    /// By whom and when.
    pub origin: Origin,
}

/// That a group may do something with a target.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Access {
    /// The group, as it was sent: an id or a name.
    pub group: String,
    /// The target, as it was sent.
    pub target: String,
    /// What.
    pub action: Action,
    /// For people.
    pub description: Option<String>,
    /// By whom and when.
    pub origin: Origin,
}

/// Graphs with a group of those who administer them and one of those who operate them.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Project {
    /// The name.
    pub name: String,
    /// For people.
    pub description: Option<String>,
    /// Names of graphs.
    pub graphs: std::collections::BTreeSet<String>,
    /// By whom and when.
    pub origin: Origin,
}

impl Project {
    /// The name of the group of its administrators.
    pub fn admin_group(&self) -> String {
        format!("admin_{}", self.name)
    }

    /// The name of the group of its operators.
    pub fn op_group(&self) -> String {
        format!("op_{}", self.name)
    }

    /// The name of its target.
    pub fn target(&self) -> String {
        format!("project_res_{}", self.name)
    }
}

/// What somebody manages.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum ManagerKind {
    /// A graph space.
    Space,
    /// Nothing: a member of a graph space, who may read all of it.
    Member,
    /// Everything of the tenant.
    Admin,
}

impl ManagerKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Admin, Self::Space, Self::Member];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Space => "SPACE",
            Self::Member => "SPACE_MEMBER",
            Self::Admin => "ADMIN",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// That somebody manages something.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Manager {
    /// What.
    pub kind: ManagerKind,
    /// Of which graph space; empty for administrators.
    pub space: String,
    /// The name of a user or a group.
    pub name: String,
    /// Whether it is a group's.
    pub(crate) is_group: bool,
}

/// By what tokens of the tenant are signed.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct TokenKey {
    /// In Base64.
    pub(crate) key: String,
}

/// A token that was given back before it had expired.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct Logout {
    pub(crate) token: String,
    /// The id of its user.
    #[serde(default)]
    pub(crate) user: String,
    /// When it would have expired, in seconds since 1970.
    pub(crate) expires: i64,
}

/// The numbers of kinds in ids; those of relations are in the middle.
const USER: &str = "-63";
const GROUP: &str = "-69";
const TARGET: &str = "-77";
const PROJECT: &str = "-98";
const BELONG: &str = "-82";
const ACCESS: &str = "-88";

/// The id of a user of this name.
pub fn user_id(name: &str) -> String {
    thing(USER, name)
}

/// The id of a group of this name.
pub fn group_id(name: &str) -> String {
    thing(GROUP, name)
}

/// The id of a target of this name.
pub fn target_id(name: &str) -> String {
    thing(TARGET, name)
}

fn thing(number: &str, name: &str) -> String {
    format!("{number}:{name}")
}

/// The id that a reference means: an id as it is, else that of a name.
fn meant(number: &str, reference: &str) -> String {
    match reference.strip_prefix(number).and_then(|rest| rest.strip_prefix(':')) {
        Some(_) => reference.to_owned(),
        None => thing(number, reference),
    }
}

/// The id of the user that a reference means: `-63:boss`, or `boss`.
pub(crate) fn user_meant(reference: &str) -> String {
    meant(USER, reference)
}

pub(crate) fn group_meant(reference: &str) -> String {
    meant(GROUP, reference)
}

pub(crate) fn target_meant(reference: &str) -> String {
    meant(TARGET, reference)
}

pub(crate) fn project_meant(reference: &str) -> String {
    meant(PROJECT, reference)
}

/// A part of the id of a relation, in which `>` is between parts.
fn escaped(part: &str) -> String {
    part.replace('`', "``").replace('>', "`>")
}

/// The parts of the id of a relation.
fn parts(id: &str) -> Vec<String> {
    let (mut parts, mut part, mut letters) = (Vec::new(), String::new(), id.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '`' => part.extend(letters.next()),
            '>' => parts.push(std::mem::take(&mut part)),
            other => part.push(other),
        }
    }
    parts.push(part);
    parts
}

fn relation([source, number, sort, target]: [&str; 4]) -> String {
    format!("S{}>{number}>{sort}>S{}", escaped(source), escaped(target))
}

/// The digits of an action in an id.
fn digits(action: Action) -> &'static str {
    match action {
        Action::Read => "11",
        Action::Write => "12",
        Action::Delete => "14",
        Action::Execute => "18",
    }
}

/// The id under which a belong is stored that is asked for by this one, whose ends may be names.
pub(crate) fn belong_meant(id: &str) -> String {
    relation_meant(id, BELONG, (USER, GROUP))
}

/// The same of an access.
pub(crate) fn access_meant(id: &str) -> String {
    relation_meant(id, ACCESS, (GROUP, TARGET))
}

fn relation_meant(id: &str, number: &str, (source_number, target_number): (&str, &str)) -> String {
    match parts(id).as_slice() {
        [source, of, sort, target] if of == number => {
            match (source.strip_prefix('S'), target.strip_prefix('S')) {
                (Some(source), Some(target)) => {
                    relation([&meant(source_number, source), number, sort, &meant(target_number, target)])
                }
                _ => id.to_owned(),
            }
        }
        _ => id.to_owned(),
    }
}

impl Record for User {
    const KIND: &'static str = "user";

    fn id(&self) -> String {
        thing(USER, &self.name)
    }
}

impl Record for Group {
    const KIND: &'static str = "group";

    fn id(&self) -> String {
        thing(GROUP, &self.name)
    }
}

impl Record for Target {
    const KIND: &'static str = "target";

    fn id(&self) -> String {
        thing(TARGET, &self.name)
    }
}

impl Record for Project {
    const KIND: &'static str = "project";

    fn id(&self) -> String {
        thing(PROJECT, &self.name)
    }
}

impl Belong {
    /// Its id with its ends as they were sent.
    pub fn shown_id(&self) -> String {
        relation([&self.user, BELONG, "", &self.group])
    }
}

impl Access {
    /// Its id with its ends as they were sent.
    pub fn shown_id(&self) -> String {
        relation([&self.group, ACCESS, digits(self.action), &self.target])
    }
}

impl Record for Belong {
    const KIND: &'static str = "belong";

    fn id(&self) -> String {
        relation([&user_meant(&self.user), BELONG, "", &group_meant(&self.group)])
    }

    fn found_by(&self) -> Vec<(&'static str, String)> {
        vec![("user", user_meant(&self.user)), ("group", group_meant(&self.group))]
    }
}

impl Record for Access {
    const KIND: &'static str = "access";

    fn id(&self) -> String {
        relation([&group_meant(&self.group), ACCESS, digits(self.action), &target_meant(&self.target)])
    }

    fn found_by(&self) -> Vec<(&'static str, String)> {
        vec![("group", group_meant(&self.group)), ("target", target_meant(&self.target))]
    }
}

impl Manager {
    pub(crate) fn new(kind: ManagerKind, space: &str, name: &str, is_group: bool) -> Self {
        let space = if kind == ManagerKind::Admin { "" } else { space };
        Self { kind, space: space.to_owned(), name: name.to_owned(), is_group }
    }
}

impl Record for Manager {
    const KIND: &'static str = "manager";

    fn id(&self) -> String {
        let Self { kind, space, name, is_group } = self;
        format!("{}>{space}>{}>{name}", kind.name(), if *is_group { GROUP } else { USER })
    }

    fn found_by(&self) -> Vec<(&'static str, String)> {
        vec![("name", self.name.clone())]
    }
}

impl Record for TokenKey {
    const KIND: &'static str = "token-key";

    fn id(&self) -> String {
        String::new()
    }
}

impl Record for Logout {
    const KIND: &'static str = "logout";

    /// The first to expire come first.
    fn id(&self) -> String {
        format!("{:012}-{}", self.expires, self.token)
    }

    fn found_by(&self) -> Vec<(&'static str, String)> {
        vec![("user", self.user.clone())]
    }
}

/// The most bytes of a name.
const NAME_BYTES_MAX: usize = 128;

/// Refuses names that cannot be: a colon would end a user's name where it is sent with the password, and so would any sign that no header
/// takes.
///
/// # Errors
///
/// [`Error::Invalid`].
pub(crate) fn check_name(kind: &str, name: &str) -> Result<(), Error> {
    let is_fit = |letter: char| !letter.is_control() && letter != ':';
    match name.len() {
        0 => Err(Error::Invalid(format!("The name of {kind} can't be null"))),
        1..=NAME_BYTES_MAX if name.chars().all(is_fit) && !name.trim().is_empty() => Ok(()),
        _ => Err(Error::Invalid(format!(
            "The name of {kind} must have at most {NAME_BYTES_MAX} bytes, none of them a colon or a control character, and not only spaces"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_that_clients_know() {
        let origin = Origin::new("admin", Timestamp(0));
        let belong = |user: &str, group: &str| Belong {
            user: user.into(),
            group: group.into(),
            description: None,
            origin: origin.clone(),
        };
        assert_eq!(belong("-63:boss", "-69:all").id(), "S-63:boss>-82>>S-69:all");
        assert_eq!(belong("boss", "all").id(), "S-63:boss>-82>>S-69:all");
        assert_eq!(belong("boss", "-69:all").shown_id(), "Sboss>-82>>S-69:all");
        assert_eq!(belong_meant("Sboss>-82>>S-69:all"), "S-63:boss>-82>>S-69:all");
        assert_eq!(belong_meant("nonsense"), "nonsense");
        let strange = belong("a>b`c", "all");
        assert_eq!(belong_meant(&strange.shown_id()), strange.id());
        let access = Access {
            group: "-69:all".into(),
            target: "-77:all".into(),
            action: Action::Read,
            description: None,
            origin,
        };
        assert_eq!(access.id(), "S-69:all>-88>11>S-77:all");
        assert_eq!(access_meant("Sall>-88>11>S-77:all"), access.id());
    }

    #[test]
    fn names_have_no_colon() {
        let check =
            |name: &str, is_fit: bool| assert_eq!(check_name("user", name).is_ok(), is_fit, "{name:?}");
        check("boss", true);
        check("Zoë", true);
        check("", false);
        check("a b", true);
        check("  ", false);
        check("\u{a0}", false);
        check("\u{7f}", false);
        check("a:b", false);
        check("a\nb", false);
        check(&"x".repeat(NAME_BYTES_MAX + 1), false);
    }
}
