//! Stored values of the rows on the key page: names, anchors, versions. Each begins with its format.

use bytes::Bytes;
use config::PageId;
use lang_yang::Features;
use store::Timestamp;
use store::wire::{Malformed, Reader, put_i64, put_text, put_varint};

/// The format of all values here.
const FORMAT: u8 = 1;

/// What data of a schema set must keep to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    /// Structure, types and keys.
    Lenient,
    /// All of YANG, as the whole of an anchor's data: `when`, `must`, `leafref`, `mandatory`, `unique`, counts.
    Strict,
}

/// A module of a schema set.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ModuleReference {
    /// Its name.
    pub name: Box<str>,
    /// Its XML namespace.
    pub namespace: Box<str>,
    /// Its newest revision; empty if it has none.
    pub revision: Box<str>,
}

/// What is counted of a tenant.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Counts {
    /// Over how many buckets its anchors are spread, for ever.
    pub(crate) buckets: u32,
    pub(crate) dataspaces: u64,
}

/// A dataspace.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct DataspaceRow {
    pub(crate) created: Timestamp,
    pub(crate) schema_sets: u64,
}

/// A schema set.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SchemaSetRow {
    pub(crate) mode: Mode,
    pub(crate) created: Timestamp,
    /// Somebody is about to remove it, and looks for its anchors. Who makes an anchor of it first takes this back.
    pub(crate) is_leaving: bool,
    /// Of the compiled schema.
    pub(crate) hash: u128,
    pub(crate) features: Features,
    /// Names of files, and the hashes of their texts.
    pub(crate) files: Vec<(Box<str>, u128)>,
    pub(crate) modules: Vec<ModuleReference>,
}

/// An anchor: all of it hangs on this row.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct AnchorRow {
    /// Of this life of its name.
    pub(crate) number: u64,
    pub(crate) schema_set: Box<str>,
    pub(crate) mode: Mode,
    /// Of the compiled schema.
    pub(crate) hash: u128,
    pub(crate) created: Timestamp,
    /// The newest version; 0 is the empty tree that it began with.
    pub(crate) head: u64,
    /// The oldest version that is kept, and when another took its place, if one did.
    pub(crate) oldest: u64,
    pub(crate) oldest_until: Option<Timestamp>,
    /// Whether any version may have pages.
    pub(crate) has_pages: bool,
    /// Whether there may be pages that no version has: of a write that did not come to its commit.
    pub(crate) is_untidy: bool,
}

/// A version of an anchor.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct VersionRow {
    pub(crate) at: Timestamp,
    /// What the writer said of when it was observed.
    pub(crate) observed: Option<Timestamp>,
    /// The version whose content it took up again.
    pub(crate) restored: Option<u64>,
    /// Pages that the version before has and this one does not.
    pub(crate) superseded: Vec<PageId>,
    /// The tree, as `config` writes it.
    pub(crate) root: Bytes,
}

impl Mode {
    fn code(self) -> u8 {
        match self {
            Self::Lenient => 0,
            Self::Strict => 1,
        }
    }

    fn of_code(code: u8) -> Result<Self, Malformed> {
        match code {
            0 => Ok(Self::Lenient),
            1 => Ok(Self::Strict),
            _ => Err(Malformed),
        }
    }
}

fn begin(bytes: &[u8]) -> Result<Reader<'_>, Malformed> {
    let mut reader = Reader::new(bytes);
    if reader.byte()? == FORMAT { Ok(reader) } else { Err(Malformed) }
}

fn put_u128(out: &mut Vec<u8>, number: u128) {
    out.extend_from_slice(&number.to_be_bytes());
}

fn take_u128(reader: &mut Reader<'_>) -> Result<u128, Malformed> {
    reader.array().map(u128::from_be_bytes)
}

fn take_flags(reader: &mut Reader<'_>, max: u8) -> Result<u8, Malformed> {
    let flags = reader.byte()?;
    if flags <= max { Ok(flags) } else { Err(Malformed) }
}

fn take_box(reader: &mut Reader<'_>) -> Result<Box<str>, Malformed> {
    reader.text().map(Box::from)
}

impl Counts {
    pub(crate) fn to_bytes(self) -> Bytes {
        let mut out = vec![FORMAT];
        put_varint(&mut out, self.buckets.into());
        put_varint(&mut out, self.dataspaces);
        out.into()
    }

    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = begin(bytes)?;
        let counts = Self { buckets: reader.varint_u32()?, dataspaces: reader.varint()? };
        reader.end()?;
        if counts.buckets.is_power_of_two() { Ok(counts) } else { Err(Malformed) }
    }
}

impl DataspaceRow {
    pub(crate) fn to_bytes(self) -> Bytes {
        let mut out = vec![FORMAT];
        put_i64(&mut out, self.created.0);
        put_varint(&mut out, self.schema_sets);
        out.into()
    }

    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = begin(bytes)?;
        let row = Self { created: Timestamp(reader.i64()?), schema_sets: reader.varint()? };
        reader.end()?;
        Ok(row)
    }
}

impl SchemaSetRow {
    pub(crate) fn to_bytes(&self) -> Bytes {
        let mut out = vec![FORMAT, self.mode.code(), u8::from(self.is_leaving)];
        put_i64(&mut out, self.created.0);
        put_u128(&mut out, self.hash);
        put_features(&mut out, &self.features);
        put_varint(&mut out, self.files.len() as u64);
        for (name, hash) in &self.files {
            put_text(&mut out, name);
            put_u128(&mut out, *hash);
        }
        put_varint(&mut out, self.modules.len() as u64);
        for module in &self.modules {
            [&module.name, &module.namespace, &module.revision]
                .iter()
                .for_each(|text| put_text(&mut out, text));
        }
        out.into()
    }

    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = begin(bytes)?;
        let mode = Mode::of_code(reader.byte()?)?;
        let is_leaving = take_flags(&mut reader, 1)? == 1;
        let (created, hash) = (Timestamp(reader.i64()?), take_u128(&mut reader)?);
        let features = take_features(&mut reader)?;
        let mut files = Vec::with_capacity(reader.clone().count()?);
        for _ in 0..reader.count()? {
            files.push((take_box(&mut reader)?, take_u128(&mut reader)?));
        }
        let mut modules = Vec::new();
        for _ in 0..reader.count()? {
            let (name, namespace) = (take_box(&mut reader)?, take_box(&mut reader)?);
            modules.push(ModuleReference { name, namespace, revision: take_box(&mut reader)? });
        }
        reader.end()?;
        Ok(Self { mode, created, is_leaving, hash, features, files, modules })
    }
}

/// None: all features; else those of modules that are named.
fn put_features(out: &mut Vec<u8>, features: &Features) {
    match features {
        Features::All => out.push(0),
        Features::Listed(listed) => {
            out.push(1);
            put_varint(out, listed.len() as u64);
            for (module, feature) in listed {
                put_text(out, module);
                put_text(out, feature);
            }
        }
    }
}

fn take_features(reader: &mut Reader<'_>) -> Result<Features, Malformed> {
    if take_flags(reader, 1)? == 0 {
        return Ok(Features::All);
    }
    let mut listed = Vec::new();
    for _ in 0..reader.count()? {
        listed.push((take_box(reader)?, take_box(reader)?));
    }
    Ok(Features::Listed(listed))
}

impl AnchorRow {
    const HAS_PAGES: u8 = 1;
    const IS_UNTIDY: u8 = 2;
    const HAS_OLDER: u8 = 4;

    pub(crate) fn to_bytes(&self) -> Bytes {
        let mut out = Vec::with_capacity(80 + self.schema_set.len());
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let flags = flag(self.has_pages, Self::HAS_PAGES)
            | flag(self.is_untidy, Self::IS_UNTIDY)
            | flag(self.oldest_until.is_some(), Self::HAS_OLDER);
        out.extend_from_slice(&[FORMAT, self.mode.code(), flags]);
        out.extend_from_slice(&self.number.to_be_bytes());
        put_u128(&mut out, self.hash);
        put_i64(&mut out, self.created.0);
        if let Some(until) = self.oldest_until {
            put_i64(&mut out, until.0);
        }
        put_varint(&mut out, self.head);
        put_varint(&mut out, self.oldest);
        put_text(&mut out, &self.schema_set);
        out.into()
    }

    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = begin(bytes)?;
        let mode = Mode::of_code(reader.byte()?)?;
        let flags = take_flags(&mut reader, Self::HAS_PAGES | Self::IS_UNTIDY | Self::HAS_OLDER)?;
        let number = reader.array().map(u64::from_be_bytes)?;
        let hash = take_u128(&mut reader)?;
        let created = Timestamp(reader.i64()?);
        let has_older = flags & Self::HAS_OLDER != 0;
        let oldest_until = if has_older { Some(Timestamp(reader.i64()?)) } else { None };
        let (head, oldest) = (reader.varint()?, reader.varint()?);
        let schema_set = take_box(&mut reader)?;
        reader.end()?;
        if oldest > head || has_older != (oldest < head) {
            return Err(Malformed);
        }
        let (has_pages, is_untidy) = (flags & Self::HAS_PAGES != 0, flags & Self::IS_UNTIDY != 0);
        Ok(Self { number, schema_set, mode, hash, created, head, oldest, oldest_until, has_pages, is_untidy })
    }
}

impl VersionRow {
    const OBSERVED: u8 = 1;
    const RESTORED: u8 = 2;

    pub(crate) fn to_bytes(&self) -> Bytes {
        let mut out = Vec::with_capacity(32 + self.root.len());
        let flags = if self.observed.is_some() { Self::OBSERVED } else { 0 }
            | if self.restored.is_some() { Self::RESTORED } else { 0 };
        out.extend_from_slice(&[FORMAT, flags]);
        put_i64(&mut out, self.at.0);
        if let Some(observed) = self.observed {
            put_i64(&mut out, observed.0);
        }
        if let Some(restored) = self.restored {
            put_varint(&mut out, restored);
        }
        put_pages(&mut out, &self.superseded);
        out.extend_from_slice(&self.root);
        out.into()
    }

    /// The root shares memory with the row.
    pub(crate) fn parse(bytes: &Bytes) -> Result<Self, Malformed> {
        let mut reader = begin(bytes)?;
        let flags = take_flags(&mut reader, Self::OBSERVED | Self::RESTORED)?;
        let at = Timestamp(reader.i64()?);
        let observed = if flags & Self::OBSERVED != 0 { Some(Timestamp(reader.i64()?)) } else { None };
        let restored = if flags & Self::RESTORED != 0 { Some(reader.varint()?) } else { None };
        let superseded = take_pages(&mut reader)?;
        let root = bytes.slice_ref(reader.rest());
        Ok(Self { at, observed, restored, superseded, root })
    }
}

/// Pages as runs of numbers that follow each other, of one version and nonce: those of one write are one run.
fn put_pages(out: &mut Vec<u8>, pages: &[PageId]) {
    let mut sorted = pages.to_vec();
    sorted.sort_unstable();
    let follows = |one: &PageId, two: &PageId| {
        (one.version, one.nonce) == (two.version, two.nonce) && one.number.checked_add(1) == Some(two.number)
    };
    let runs: Vec<&[PageId]> = sorted.chunk_by(follows).collect();
    put_varint(out, runs.len() as u64);
    for run in runs {
        let [first, ..] = run else { continue };
        put_varint(out, first.version);
        out.extend_from_slice(&first.nonce.to_be_bytes());
        put_varint(out, first.number.into());
        put_varint(out, run.len() as u64);
    }
}

/// The most pages that a row may name, so that damaged bytes reserve no memory.
const SUPERSEDED_MAX: usize = 16 << 20;

fn take_pages(reader: &mut Reader<'_>) -> Result<Vec<PageId>, Malformed> {
    let mut pages = Vec::new();
    for _ in 0..reader.count()? {
        let (version, nonce) = (reader.varint()?, reader.array().map(u64::from_be_bytes)?);
        let (first, count) = (reader.varint_u32()?, reader.varint_u32()?);
        let end = first.checked_add(count).ok_or(Malformed)?;
        if pages.len().saturating_add(count as usize) > SUPERSEDED_MAX {
            return Err(Malformed);
        }
        pages.extend((first..end).map(|number| PageId { version, nonce, number }));
    }
    Ok(pages)
}

/// What an anchor that was removed leaves: the format, and whether its pages were removed once.
pub(crate) fn removal_to_bytes(is_second: bool) -> Bytes {
    Bytes::copy_from_slice(&[FORMAT, u8::from(is_second)])
}

/// Whether the pages of an anchor that was removed were removed once.
pub(crate) fn parse_removal(bytes: &[u8]) -> Result<bool, Malformed> {
    let mut reader = begin(bytes)?;
    let is_second = take_flags(&mut reader, 1)? == 1;
    reader.end()?;
    Ok(is_second)
}
