//! One repository as the directory knows it: drafts, changes, and its stored form.

use bytes::Bytes;
use store::wire::{Malformed, put_i64, put_text, put_varint};
use store::{Fingerprint, TenantName, Timestamp};

use crate::catalogue::check_text;
use crate::encode::{begin, read};
use crate::{CATALOGUE_BUCKETS_MAX, Error};

/// A repository to be made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RepositoryDraft {
    /// `default`, or 1 to 128 of the characters A-Z a-z 0-9 _ - . :
    pub name: Box<str>,
    /// For people.
    pub description: Box<str>,
}

impl RepositoryDraft {
    /// One without a description.
    pub fn named(name: &str) -> Self {
        Self { name: name.into(), description: "".into() }
    }

    /// Its name, if it can be.
    pub(super) fn check(&self) -> Result<TenantName, Error> {
        check_text("a description", &self.description)?;
        part_name(&self.name)
    }
}

/// What is to be different of a repository; `None` leaves it as it is.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RepositoryChange {
    /// Another text.
    pub description: Option<Box<str>>,
}

/// A repository, as the directory lists it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RepositoryInfo {
    /// Its name.
    pub name: Box<str>,
    /// For people.
    pub description: Box<str>,
    /// When it was made.
    pub created: Timestamp,
    /// Over how many buckets its definitions are spread.
    pub buckets: u32,
}

impl RepositoryInfo {
    /// Tells this state of the repository from others; what is in it does not count.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&put_info(self))
    }
}

/// The name of a repository, checked.
fn part_name(name: &str) -> Result<TenantName, Error> {
    let name = TenantName::new(name).ok().filter(|name| !name.as_str().is_empty());
    name.ok_or_else(|| Error::Invalid("the name of a repository has 1 to 128 of A-Z a-z 0-9 _ - . :".into()))
}

/// What the directory keeps of a repository for this model.
pub(super) fn put_info(info: &RepositoryInfo) -> Bytes {
    let mut out = begin();
    put_text(&mut out, &info.description);
    put_i64(&mut out, info.created.0);
    put_varint(&mut out, info.buckets.into());
    out.into()
}

pub(super) fn take_info(name: &str, bytes: &[u8]) -> Result<RepositoryInfo, Malformed> {
    let fields = &mut read(bytes)?;
    let description = fields.text()?.into();
    let created = Timestamp(fields.i64()?);
    // One that was made before there were several says nothing.
    let buckets = if fields.is_empty() { 1 } else { fields.varint_u32()? };
    if !buckets.is_power_of_two() || buckets > CATALOGUE_BUCKETS_MAX {
        return Err(Malformed);
    }
    Ok(RepositoryInfo { name: name.into(), description, created, buckets })
}
