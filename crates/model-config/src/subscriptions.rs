//! What notifications are wanted of: dataspaces, anchors, places in them. One row of a tenant.

use bytes::Bytes;
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
    /// Whether a change is of something that is wanted. One that does not name all its places concerns whoever wants any of its anchor.
    /// Cost: a comparison for each subscription, and for each path and place of its anchor.
    pub fn concerns(&self, change: &ConfigChange) -> bool {
        let mut dataspaces = self.dataspaces.iter().filter(|dataspace| dataspace.name == change.dataspace);
        dataspaces.any(|dataspace| {
            let mut anchors = dataspace.anchors.iter().filter(|anchor| anchor.name == change.anchor);
            dataspace.anchors.is_empty() || anchors.any(|anchor| anchor.concerns(change))
        })
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
    fn concerns(&self, change: &ConfigChange) -> bool {
        let meets = |wanted: &str| {
            change
                .places
                .iter()
                .any(|(_, place)| lies_at_or_below(place, wanted) || lies_at_or_below(wanted, place))
        };
        change.is_cut || self.xpaths.is_empty() || self.xpaths.iter().any(|xpath| meets(xpath))
    }
}

/// Whether a path is that of a place or of one below it: steps and predicates are compared as they are written.
fn lies_at_or_below(path: &str, place: &str) -> bool {
    let place = place.trim_end_matches('/');
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '[']))
}

#[cfg(test)]
mod tests {
    use store::Timestamp;

    use super::*;
    use crate::{Action, VersionId};

    fn change(places: &[&str]) -> ConfigChange {
        ConfigChange {
            dataspace: "d".into(),
            anchor: "a".into(),
            schema_set: "s".into(),
            number: 1,
            before: VersionId(1),
            after: Some(VersionId(2)),
            at: Timestamp(1),
            observed: None,
            places: places.iter().map(|place| (Action::Replace, (*place).into())).collect(),
            is_cut: false,
        }
    }

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
            assert_eq!(wanted.concerns(&change(places)), expected, "{wanted:?} {places:?}");
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
        let cut = ConfigChange { is_cut: true, ..change(&[]) };
        assert!(wanted("d", "a", &["/x"]).concerns(&cut) && !wanted("d", "b", &["/x"]).concerns(&cut));
    }
}
