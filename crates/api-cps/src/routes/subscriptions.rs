//! `/notification-subscription`: of which dataspaces, anchors and paths changes are sent. A tree of its own, whose nodes are named
//! by xpath as those of any anchor are.

use std::collections::HashSet;

use api_http::{Given, Operation, Request, Response, no_content};
use lang_cps_path::{Step, parse};
use model_config::{AnchorSubscription, DataspaceSubscription, Subscriptions};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::{created, ok};
use crate::operation::{CREATED, GONE, done, json_list, json_of, operation};
use crate::params::{self, required};
use crate::problem::Problem;
use crate::state::Api;
use crate::wire::subscriptions::{
    AnchorShape, AnchorsShape, DataspaceShape, DataspacesShape, MODULE, OfAnchor, OfDataspace, XpathShape,
    XpathsShape,
};

/// What dataspace and anchor of the tree of subscriptions are called in errors.
const PLACE: (&str, &str) = ("CPS-Admin", MODULE);

/// A place in the tree of subscriptions.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Place {
    /// `/dataspaces`
    All,
    /// `/dataspaces/dataspace[@name='…']`
    Dataspace(String),
    /// `…/anchors`
    Anchors(String),
    /// `…/anchors/anchor[@name='…']`
    Anchor(String, String),
    /// `…/xpaths`
    Xpaths(String, String),
    /// `…/xpaths/xpath[@path='…']`
    Xpath(String, String, String),
}

impl Place {
    /// The place of a path.
    ///
    /// # Errors
    ///
    /// 400 for a text that is no path, and for a subscribed one that names no node; the one of [`Problem::no_node`] for a path that leads nowhere.
    fn of(xpath: &str) -> Result<Self, Problem> {
        let path = parse(xpath).map_err(|error| Problem::bad_path(error.detail()))?;
        let nowhere = || Problem::no_node(xpath, PLACE);
        let mut steps = path.steps.iter();
        let keys = ["", "name", "", "name", "", "path"];
        let names = ["dataspaces", "dataspace", "anchors", "anchor", "xpaths", "xpath"];
        let mut values = Vec::new();
        let mut depth = 0;
        for ((name, key), step) in names.iter().zip(keys).zip(&mut steps) {
            if *step.name.local != **name {
                return Err(nowhere());
            }
            if !key.is_empty() {
                values.push(key_value(step, key).ok_or_else(nowhere)?);
            }
            depth += 1;
        }
        if !path.is_address() || steps.next().is_some() {
            return Err(nowhere());
        }
        let mut values = values.into_iter();
        let mut next = || values.next().ok_or_else(nowhere);
        Ok(match depth {
            1 => Self::All,
            2 => Self::Dataspace(next()?),
            3 => Self::Anchors(next()?),
            4 => Self::Anchor(next()?, next()?),
            5 => Self::Xpaths(next()?, next()?),
            6 => Self::Xpath(next()?, next()?, address(&next()?)?.into()),
            _ => return Err(nowhere()),
        })
    }
}

/// A subscribed path as it is stored: in the one spelling of CPS.
///
/// # Errors
///
/// 400 for a text that is no path, and for a path that does not name nodes by steps and keys.
fn address(xpath: &str) -> Result<Box<str>, Problem> {
    let path = parse(xpath).map_err(|error| Problem::bad_path(error.detail()))?;
    if !path.is_address() || path.steps.iter().any(|step| step.predicate.equalities().is_none()) {
        return Err(Problem::bad_path(format!(
            "{xpath} cannot be subscribed to: a path of names and keys is needed, such as /a/b[@key='value']"
        )));
    }
    Ok(path.normalized().into())
}

/// The value of the one key that a step names.
fn key_value(step: &Step, key: &str) -> Option<String> {
    match step.predicate.equalities()? {
        [condition] if *condition.leaf.local == *key => Some(condition.value.text().into_owned()),
        _ => None,
    }
}

/// GET `/v2/notification-subscription`
pub(crate) const GET: Operation =
    operation("admin", "getNotificationSubscription", "Of what changes are sent, below a path.")
        .query(&[&[params::SUBSCRIPTION_XPATH]])
        .gives(&[(200, done(json_list("Nodes")))])
        .refuses(&[400, 404]);

/// GET `/v2/notification-subscription`
pub(crate) async fn get(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let xpath = required(&given, &params::SUBSCRIPTION_XPATH)?;
    let place = Place::of(xpath)?;
    let subscriptions = api.configs(&request).await?.subscriptions().await?;
    let nowhere = || Problem::no_node(xpath, PLACE);
    match place {
        Place::All => node("dataspaces", &DataspacesShape::from(&subscriptions)),
        Place::Dataspace(name) => {
            node("dataspace", &DataspaceShape::from(find(&subscriptions, &name).ok_or_else(nowhere)?))
        }
        Place::Anchors(name) => {
            let shape = DataspaceShape::from(find(&subscriptions, &name).ok_or_else(nowhere)?);
            node("anchors", &shape.anchors.ok_or_else(nowhere)?)
        }
        Place::Anchor(dataspace, anchor) => {
            let found = find(&subscriptions, &dataspace).and_then(|found| find_anchor(found, &anchor));
            node("anchor", &AnchorShape::from(found.ok_or_else(nowhere)?))
        }
        Place::Xpaths(dataspace, anchor) => {
            let found = find(&subscriptions, &dataspace).and_then(|found| find_anchor(found, &anchor));
            node("xpaths", &AnchorShape::from(found.ok_or_else(nowhere)?).xpaths.ok_or_else(nowhere)?)
        }
        Place::Xpath(dataspace, anchor, path) => {
            let found = find(&subscriptions, &dataspace).and_then(|found| find_anchor(found, &anchor));
            let found = found.filter(|found| found.xpaths.iter().any(|xpath| **xpath == *path));
            found.ok_or_else(nowhere)?;
            node("xpath", &XpathShape { path })
        }
    }
}

/// A list of one node, as CPS answers.
fn node<T: Serialize>(name: &str, shape: &T) -> Result<Response, Problem> {
    ok(&[json!({ format!("{MODULE}:{name}"): shape })])
}

fn find<'a>(subscriptions: &'a Subscriptions, name: &str) -> Option<&'a DataspaceSubscription> {
    subscriptions.dataspaces.iter().find(|dataspace| *dataspace.name == *name)
}

fn find_anchor<'a>(dataspace: &'a DataspaceSubscription, name: &str) -> Option<&'a AnchorSubscription> {
    dataspace.anchors.iter().find(|anchor| *anchor.name == *name)
}

/// POST `/v2/notification-subscription`
pub(crate) const CREATE: Operation =
    operation("admin", "createNotificationSubscription", "Adds to what changes are sent of, below a path.")
        .query(&[&[params::SUBSCRIPTION_XPATH]])
        .sent(json_of("Subscriptions"))
        .gives(CREATED)
        .refuses(&[400, 409]);

/// POST `/v2/notification-subscription`
pub(crate) async fn create(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let xpath = required(&given, &params::SUBSCRIPTION_XPATH)?;
    let added = Added::read(Place::of(xpath)?, &request.body, xpath)?;
    let configs = api.configs_or_create(&request).await?;
    configs.change_subscriptions(|subscriptions| added.put(subscriptions)).await?;
    Ok(created())
}

/// What a body adds, and where.
enum Added {
    Dataspaces(Vec<DataspaceSubscription>),
    Anchors(String, Vec<AnchorSubscription>),
    Xpaths(String, String, Vec<Box<str>>),
}

impl Added {
    fn read(place: Place, body: &[u8], xpath: &str) -> Result<Self, Problem> {
        let anchors = |shape: AnchorsShape| shape.anchor.into_iter().map(Into::into).collect();
        let xpaths = |shape: XpathsShape| shape.xpath.into_iter().map(|xpath| xpath.path.into()).collect();
        let mut added = match place {
            Place::All => {
                let shape: DataspacesShape = read(body)?;
                Self::Dataspaces(shape.dataspace.into_iter().map(Into::into).collect())
            }
            Place::Dataspace(name) => Self::Anchors(name, anchors(read::<OfDataspace>(body)?.anchors)),
            Place::Anchors(name) => Self::Anchors(name, anchors(read(body)?)),
            Place::Anchor(dataspace, anchor) => {
                Self::Xpaths(dataspace, anchor, xpaths(read::<OfAnchor>(body)?.xpaths))
            }
            Place::Xpaths(dataspace, anchor) => Self::Xpaths(dataspace, anchor, xpaths(read(body)?)),
            Place::Xpath(..) => return Err(Problem::invalid_data(format!("nothing lies below {xpath}"))),
        };
        let is_empty = match &added {
            Self::Dataspaces(added) => added.is_empty(),
            Self::Anchors(_, added) => added.is_empty(),
            Self::Xpaths(_, _, added) => added.is_empty(),
        };
        if is_empty {
            return Err(Problem::invalid_data("the body adds no subscription"));
        }
        added.spell_paths()?;
        Ok(added)
    }

    fn spell_paths(&mut self) -> Result<(), Problem> {
        let spell = |xpaths: &mut Vec<Box<str>>| {
            xpaths.iter_mut().try_for_each(|xpath| address(xpath).map(|spelt| *xpath = spelt))
        };
        let of_anchor = |anchor: &mut AnchorSubscription| spell(&mut anchor.xpaths);
        match self {
            Self::Dataspaces(added) => {
                added.iter_mut().flat_map(|one| &mut one.anchors).try_for_each(of_anchor)
            }
            Self::Anchors(_, added) => added.iter_mut().try_for_each(of_anchor),
            Self::Xpaths(_, _, added) => spell(added),
        }
    }

    fn put(&self, subscriptions: &mut Subscriptions) -> Result<(), Problem> {
        let missing = || Problem::no_node_of_body(PLACE);
        match self {
            Self::Dataspaces(added) => add(&mut subscriptions.dataspaces, added, |one| &one.name),
            Self::Anchors(dataspace, added) => {
                let found = subscriptions.dataspaces.iter_mut().find(|one| *one.name == **dataspace);
                add(&mut found.ok_or_else(missing)?.anchors, added, |one| &one.name)
            }
            Self::Xpaths(dataspace, anchor, added) => {
                let found = subscriptions.dataspaces.iter_mut().find(|one| *one.name == **dataspace);
                let found =
                    found.and_then(|found| found.anchors.iter_mut().find(|one| *one.name == **anchor));
                add(&mut found.ok_or_else(missing)?.xpaths, added, |one| one)
            }
        }
    }
}

/// Adds entries of a list, none of which may be there, nor be given twice. Cost: O(entries).
fn add<T: Clone>(list: &mut Vec<T>, added: &[T], name: impl Fn(&T) -> &str) -> Result<(), Problem> {
    let before: HashSet<&str> = list.iter().map(&name).collect();
    let there = added.iter().filter(|one| before.contains(name(one))).count();
    let given: HashSet<&str> = added.iter().map(&name).collect();
    if there > 0 || given.len() < added.len() {
        return Err(Problem::nodes_exist(there.max(1), MODULE));
    }
    list.extend_from_slice(added);
    Ok(())
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(body)
        .map_err(|error| Problem::invalid_data(format!("Failed to parse json data. {error}")))
}

/// DELETE `/v2/notification-subscription`
pub(crate) const REMOVE: Operation =
    operation("admin", "deleteNotificationSubscription", "Ends the subscriptions below a path.")
        .query(&[&[params::SUBSCRIPTION_XPATH]])
        .gives(GONE)
        .refuses(&[400]);

/// DELETE `/v2/notification-subscription`
pub(crate) async fn remove(api: Api, request: Request) -> Result<Response, Problem> {
    let given = Given::of(&request);
    let xpath = required(&given, &params::SUBSCRIPTION_XPATH)?;
    let place = Place::of(xpath)?;
    let configs = api.configs(&request).await?;
    let change = |subscriptions: &mut Subscriptions| {
        let is_there = remove_place(subscriptions, &place);
        if is_there { Ok(()) } else { Err(Problem::no_node(xpath, PLACE)) }
    };
    configs.change_subscriptions(change).await?;
    Ok(no_content())
}

/// Removes what lies at a place; answers whether anything did. What would be left empty goes, too: a dataspace without anchors
/// would mean all of them, an anchor without paths all of it.
fn remove_place(subscriptions: &mut Subscriptions, place: &Place) -> bool {
    let (Place::Dataspace(name)
    | Place::Anchors(name)
    | Place::Anchor(name, _)
    | Place::Xpaths(name, _)
    | Place::Xpath(name, _, _)) = place
    else {
        subscriptions.dataspaces.clear();
        return true;
    };
    remove_of(
        &mut subscriptions.dataspaces,
        |dataspace| *dataspace.name == **name,
        |dataspace| match place {
            Place::Anchor(_, anchor) | Place::Xpaths(_, anchor) | Place::Xpath(_, anchor, _) => {
                let is_it = |one: &AnchorSubscription| *one.name == **anchor;
                let removed = remove_of(&mut dataspace.anchors, is_it, |anchor| match place {
                    Place::Xpath(_, _, path) => {
                        let removed = remove_of(&mut anchor.xpaths, |one| **one == **path, |_| Left::Nothing);
                        left(removed, anchor.xpaths.is_empty())
                    }
                    Place::Xpaths(..) => left(!anchor.xpaths.is_empty(), true),
                    _ => Left::Nothing,
                });
                left(removed, dataspace.anchors.is_empty())
            }
            Place::Anchors(_) => left(!dataspace.anchors.is_empty(), true),
            _ => Left::Nothing,
        },
    )
}

/// What a removal leaves of an entry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Left {
    /// All of it: what was to be removed is not there.
    All,
    Some,
    Nothing,
}

fn left(removed: bool, is_empty: bool) -> Left {
    match (removed, is_empty) {
        (false, _) => Left::All,
        (true, false) => Left::Some,
        (true, true) => Left::Nothing,
    }
}

/// Removes something of an entry of a list, or all of it; answers whether there was something.
fn remove_of<T>(list: &mut Vec<T>, is_it: impl Fn(&T) -> bool, remove: impl Fn(&mut T) -> Left) -> bool {
    let Some((at, entry)) = list.iter_mut().enumerate().find(|(_, entry)| is_it(entry)) else { return false };
    let left = remove(entry);
    if left == Left::Nothing {
        list.remove(at);
    }
    left != Left::All
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_places() {
        let check =
            |xpath: &str, expected: Option<Place>| assert_eq!(Place::of(xpath).ok(), expected, "{xpath}");
        check("/dataspaces", Some(Place::All));
        check("/dataspaces/dataspace[@name='a/b']", Some(Place::Dataspace("a/b".into())));
        check("/dataspaces/dataspace[@name='d']/anchors", Some(Place::Anchors("d".into())));
        let anchor = "/dataspaces/dataspace[@name='d']/anchors/anchor[@name='a']";
        check(anchor, Some(Place::Anchor("d".into(), "a".into())));
        check(&format!("{anchor}/xpaths"), Some(Place::Xpaths("d".into(), "a".into())));
        let path = format!("{anchor}/xpaths/xpath[@path='/x[@k=''1'']']");
        check(&path, Some(Place::Xpath("d".into(), "a".into(), "/x[@k='1']".into())));
        let path = format!("{anchor}/xpaths/xpath[@path='/x[@k=1 and @j=\"2\"]']");
        check(&path, Some(Place::Xpath("d".into(), "a".into(), "/x[@j='2' and @k='1']".into())));
        check(&format!("{anchor}/xpaths/xpath[@path='//x']"), None);
        for wrong in
            ["/", "/other", "//dataspaces", "/dataspaces/dataspace", "/dataspaces/dataspace[@x='d']", "x"]
        {
            check(wrong, None);
        }
    }

    #[test]
    fn a_subscription_that_ends_leaves_those_beside_it() {
        let anchor =
            |name: &str| AnchorSubscription { name: name.into(), xpaths: vec!["/x".into(), "/y".into()] };
        let dataspace =
            |name: &str| DataspaceSubscription { name: name.into(), anchors: vec![anchor("a"), anchor("b")] };
        let mut all = Subscriptions { dataspaces: vec![dataspace("d"), dataspace("e")] };
        let mut remove = |place: Place| (remove_place(&mut all, &place), all.dataspaces.len());
        let (d, a, b) = (|| "d".to_owned(), || "a".to_owned(), || "b".to_owned());
        assert_eq!(remove(Place::Xpath(d(), a(), "/x".into())), (true, 2));
        assert_eq!(remove(Place::Xpath(d(), a(), "/x".into())), (false, 2));
        assert_eq!(remove(Place::Xpath(d(), a(), "/y".into())), (true, 2));
        assert_eq!(
            remove(Place::Anchor(d(), a())),
            (false, 2),
            "without paths it would want all of the anchor"
        );
        assert_eq!(
            remove(Place::Xpaths(d(), b())),
            (true, 1),
            "without anchors it would want all of the dataspace"
        );
        assert_eq!(remove(Place::Dataspace(d())), (false, 1));
        assert_eq!(all.dataspaces[0].anchors.len(), 2);
        assert!(remove_place(&mut all, &Place::Anchor("e".into(), a())) && all.dataspaces.len() == 1);
        assert!(remove_place(&mut all, &Place::Anchors("e".into())) && all.dataspaces.is_empty());
        assert!(!remove_place(&mut all, &Place::Dataspace("e".into())));
        assert!(remove_place(&mut all, &Place::All));
    }
}
