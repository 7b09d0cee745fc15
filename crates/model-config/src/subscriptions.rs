//! What notifications are wanted of: dataspaces, anchors, places in them. One row of a tenant.
//!
//! Paths are compared step by step: however they spell prefixes, quotes and the order of keys, they mean the same places.

use std::collections::HashMap;

use bytes::Bytes;
use lang_cps_path::{CpsPath, Step, parse};
use store::wire::{Malformed, Reader, put_text, put_varint};

use crate::ConfigChange;

/// The most bytes of all subscriptions of a tenant, as they are stored.
pub const SUBSCRIPTIONS_BYTES_MAX: usize = 256 * 1024;
const FORMAT: u8 = 1;

/// All that notifications are wanted of.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Subscriptions {
    /// Each name once.
    pub dataspaces: Vec<DataspaceSubscription>,
}

/// What is wanted of a dataspace.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DataspaceSubscription {
    /// Its name.
    pub name: Box<str>,
    /// Each name once; none: all anchors.
    pub anchors: Vec<AnchorSubscription>,
}

/// What is wanted of an anchor.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AnchorSubscription {
    /// Its name.
    pub name: Box<str>,
    /// Paths: what lies at, below or above them. None: all.
    pub xpaths: Vec<Box<str>>,
}

impl Subscriptions {
    /// What is wanted, ready to be asked about many changes. Cost: each path is parsed.
    pub fn interests(&self) -> Interests {
        let anchors = |dataspace: &DataspaceSubscription| {
            let anchors = dataspace.anchors.iter().map(|anchor| (anchor.name.clone(), anchor.paths()));
            (!dataspace.anchors.is_empty()).then(|| anchors.collect())
        };
        let dataspaces = self.dataspaces.iter();
        Interests(dataspaces.map(|dataspace| (dataspace.name.clone(), anchors(dataspace))).collect())
    }

    pub(crate) fn to_bytes(&self) -> Bytes {
        let mut out = vec![FORMAT];
        put_varint(&mut out, self.dataspaces.len() as u64);
        for dataspace in &self.dataspaces {
            put_text(&mut out, &dataspace.name);
            put_varint(&mut out, dataspace.anchors.len() as u64);
            for anchor in &dataspace.anchors {
                put_text(&mut out, &anchor.name);
                put_varint(&mut out, anchor.xpaths.len() as u64);
                anchor.xpaths.iter().for_each(|xpath| put_text(&mut out, xpath));
            }
        }
        out.into()
    }

    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        if reader.byte()? != FORMAT {
            return Err(Malformed);
        }
        let mut dataspaces = Vec::new();
        for _ in 0..reader.count()? {
            let (name, mut anchors) = (reader.text()?.into(), Vec::new());
            for _ in 0..reader.count()? {
                let (name, mut xpaths) = (reader.text()?.into(), Vec::new());
                for _ in 0..reader.count()? {
                    xpaths.push(reader.text()?.into());
                }
                anchors.push(AnchorSubscription { name, xpaths });
            }
            dataspaces.push(DataspaceSubscription { name, anchors });
        }
        reader.end()?;
        Ok(Self { dataspaces })
    }
}

impl AnchorSubscription {
    /// The paths; none, which means all, if one of them cannot be read: rather too much is told than too little.
    fn paths(&self) -> Vec<CpsPath> {
        self.xpaths.iter().map(|xpath| parse(xpath)).collect::<Result<_, _>>().unwrap_or_else(|_| Vec::new())
    }
}

/// What is wanted of a dataspace: the paths of each anchor by its name. `None`: all anchors.
type AnchorPaths = Option<HashMap<Box<str>, Vec<CpsPath>>>;

/// Of what anchors notifications are wanted, by dataspace.
#[derive(Clone, Debug)]
pub struct Interests(HashMap<Box<str>, AnchorPaths>);

/// What is wanted of one anchor: these paths, or all of it.
#[derive(Clone, Copy, Debug)]
pub struct Interest<'i>(&'i [CpsPath]);

impl Interests {
    /// What is wanted of the anchor of a change; `None`: nothing. Cost: two look-ups.
    pub fn of(&self, change: &ConfigChange) -> Option<Interest<'_>> {
        match self.0.get(&change.dataspace)? {
            Some(anchors) => anchors.get(&change.anchor).map(|paths| Interest(paths)),
            None => Some(Interest(&[])),
        }
    }
}

impl Interest<'_> {
    /// Whether a place of a change lies at, below or above one that is wanted. Of a place that no path can name, as one by its
    /// position, it does. Cost: the place is parsed, and compared with each path.
    pub fn meets(self, place: &str) -> bool {
        self.0.is_empty()
            || parse(place).map_or(true, |place| self.0.iter().any(|wanted| meet(wanted, &place)))
    }
}

/// Whether one path leads to, below or above where the other may lead.
fn meet(one: &CpsPath, other: &CpsPath) -> bool {
    one.steps
        .iter()
        .zip(&other.steps)
        .all(|(one, other)| one.name.local == other.name.local && agree(one, other))
}

/// Whether one entry can be meant by both steps: no leaf has two values.
fn agree(one: &Step, other: &Step) -> bool {
    let (Some(one), Some(other)) = (one.predicate.equalities(), other.predicate.equalities()) else {
        return true;
    };
    one.iter().all(|condition| {
        let mut same = other.iter().filter(|other| other.leaf.local == condition.leaf.local);
        same.all(|other| other.value.text() == condition.value.text())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::change_of;

    fn wanted(dataspace: &str, anchor: &str, xpaths: &[&str]) -> Subscriptions {
        let xpaths = xpaths.iter().map(|xpath| (*xpath).into()).collect();
        let anchors = if anchor.is_empty() {
            Vec::new()
        } else {
            vec![AnchorSubscription { name: anchor.into(), xpaths }]
        };
        Subscriptions { dataspaces: vec![DataspaceSubscription { name: dataspace.into(), anchors }] }
    }

    #[test]
    fn subscriptions_are_read_as_they_are_written() {
        for subscriptions in
            [Subscriptions::default(), wanted("d", "", &[]), wanted("d", "a", &["/x", "/y[@k='1']"])]
        {
            assert_eq!(Subscriptions::parse(&subscriptions.to_bytes()), Ok(subscriptions));
        }
        assert_eq!(Subscriptions::parse(&[2]), Err(Malformed));
    }

    #[test]
    fn a_change_concerns_who_wants_its_dataspace_anchor_or_place() {
        let check = |wanted: Subscriptions, places: &[&str], expected: bool| {
            let (interests, change) = (wanted.interests(), change_of(places));
            let interest = interests.of(&change);
            let concerns = interest.is_some_and(|interest| places.iter().any(|place| interest.meets(place)));
            assert_eq!(concerns, expected, "{wanted:?} {places:?}");
        };
        check(Subscriptions::default(), &["/x"], false);
        check(wanted("d", "", &[]), &["/x"], true);
        check(wanted("other", "", &[]), &["/x"], false);
        check(wanted("d", "other", &[]), &["/x"], false);
        check(wanted("d", "a", &[]), &["/x"], true);
        check(wanted("d", "a", &["/x/y"]), &["/x/y/z"], true);
        check(wanted("d", "a", &["/x/y"]), &["/x"], true);
        check(wanted("d", "a", &["/x/y"]), &["/"], true);
        check(wanted("d", "a", &["/"]), &["/x"], true);
        check(wanted("d", "a", &["/x/y"]), &["/x/yz", "/z"], false);
        check(wanted("d", "a", &["/x"]), &["/x[@k='1']/y"], true);
        check(wanted("d", "a", &["/x[@k='1']"]), &["/x[@k='2']"], false);
        check(wanted("d", "a", &["/x[@k='1']"]), &["/x"], true);
        check(wanted("d", "a", &["/x", "/y"]), &["/y/z"], true);
        check(wanted("d", "a", &["/no path["]), &["/y"], true);
        check(wanted("d", "a", &["/x"]), &["/x[3]"], true);
    }

    #[test]
    fn paths_mean_the_same_however_they_are_spelt() {
        let check = |path: &str, place: &str, expected: bool| {
            let interests = wanted("d", "a", &[path]).interests();
            let met = interests.of(&change_of(&[place])).is_some_and(|interest| interest.meets(place));
            assert_eq!(met, expected, "{path} {place}");
        };
        let place = "/x[@a='1' and @b='it''s']/y";
        for same in [
            "/x[@b='it''s' and @a='1']",
            "/x[@b=\"it's\" and @a=1]/y",
            "/m:x[@a='1' and @b='it''s']/m:y/z",
            "/x[@a=\"1\"]",
        ] {
            assert!(parse(same).is_ok(), "{same}");
            check(same, place, true);
        }
        for other in ["/x[@b='2' and @a='1']", "/x[@a=\"2\"]", "/x[@a='1' and @b='it''s']/z", "/m:z"] {
            check(other, place, false);
        }
    }
}
