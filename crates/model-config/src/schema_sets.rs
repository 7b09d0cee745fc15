//! Schema sets of a dataspace: modules that are compiled when they come, stored with what they were compiled to, and removed when no anchor
//! is of them.
//!
//! Invariant: a schema set is there as long as an anchor is of it. Who removes one first marks it as leaving, then begins new epochs of
//! all buckets of anchors, and looks for anchors; the removal demands that the mark is as it was set. Who makes an anchor reads the
//! schema set after it has seen the epoch, and takes such a mark back before.

use std::sync::Arc;

use lang_yang::{CompileOptions, Compiled, Features, Schema, YangFile, compile};
use store::retry::unless_lost;
use store::rows::Pages;
use store::{CommitWithAppends, Condition, Direction, Row, Timestamp, Write};
use xxhash_rust::xxh3::xxh3_128;

use crate::blobs::{BlobKind, Blobs, PackedBlob, named};
use crate::configs::{BACKOFF, Configs, PAGE_ROWS, Pending};
use crate::error::{Kind, damaged};
use crate::options::{check_limit, check_name};
use crate::rows::{Mode, ModuleReference, SchemaSetRow};
use crate::schemas::{Source, memory_bytes};
use crate::{Error, keys};

/// How a schema set is to be.
#[derive(Clone, Debug)]
pub struct SchemaSetOptions {
    /// What its data must keep to.
    pub mode: Mode,
    /// Which features of its modules are supported.
    pub features: Features,
}

/// A schema set.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SchemaSetInfo {
    /// Its name.
    pub name: String,
    /// When it was made.
    pub created: Timestamp,
    /// What its data must keep to.
    pub mode: Mode,
    /// Its modules, by name.
    pub modules: Vec<ModuleReference>,
}

impl Configs {
    /// Makes a schema set of modules, which are compiled. Cost: that of the compilation, in a slot for long work; one commit, and what of its
    /// texts is not stored yet goes ahead of it.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDataspace`], [`Error::AlreadyExists`], [`Error::Yang`], [`Error::Limit`], [`Error::Invalid`];
    /// [`Error::Contention`]; if the store refuses.
    pub async fn create_schema_set(
        &self,
        dataspace: &str,
        name: &str,
        files: &[YangFile],
        options: SchemaSetOptions,
    ) -> Result<SchemaSetInfo, Error> {
        check_name("schema set", name)?;
        let bytes = files.iter().map(|file| file.text.len() + file.name.len()).sum();
        let limit = ("schema_set_bytes_max", self.shared.options.schema_set_bytes_max);
        check_limit(|| format!("bytes of schema set '{name}'"), limit, bytes)?;
        // What will be refused is not compiled.
        self.dataspace_row(dataspace).await?;
        if self.row(&keys::schema_set(dataspace, name)).await?.is_some() {
            return Err(Error::AlreadyExists { kind: Kind::SchemaSet, name: name.into() });
        }
        let compile_options = CompileOptions { features: options.features.clone() };
        let packed = self.shared.lane.run(|| pack(files, &compile_options)).await?;
        let row = SchemaSetRow {
            mode: options.mode,
            created: self.shared.clock.now(),
            is_leaving: false,
            hash: packed.schema.hash,
            features: options.features,
            files: packed.files,
            modules: modules_of(&packed.schema),
        };
        self.store_schema_set((dataspace, name), &row, &packed.blobs).await?;
        self.shared.schemas.put(&self.tenant, Arc::new(packed.schema), packed.memory_bytes);
        Ok(info(name.to_owned(), row))
    }

    async fn store_schema_set(
        &self,
        (dataspace, name): (&str, &str),
        row: &SchemaSetRow,
        blobs: &[PackedBlob],
    ) -> Result<(), Error> {
        let (key, partition) = (keys::schema_set(dataspace, name), keys::catalogue(&self.tenant));
        let mut attempts = BACKOFF.attempts();
        while attempts.next().await {
            let epoch = self.shared.store.fence(&partition);
            let (mut of, condition) = self.dataspace_row(dataspace).await?;
            if self.row(&key).await?.is_some() {
                return Err(Error::AlreadyExists { kind: Kind::SchemaSet, name: name.into() });
            }
            of.schema_sets += 1;
            let limit = ("schema_sets_max", self.shared.options.schema_sets_max);
            let count = usize::try_from(of.schema_sets).unwrap_or(usize::MAX);
            check_limit(|| format!("schema sets of dataspace '{dataspace}'"), limit, count)?;
            let appends = self.blobs().appends(blobs).await?;
            // Those that are there already are not appended: nobody may have removed them meanwhile.
            let mut conditions = vec![Condition::Absent(key.clone()), condition];
            if appends.is_empty() {
                conditions.push(Condition::Fence(epoch));
            }
            let writes = vec![
                Write::PutStamped(key.clone(), row.to_bytes()),
                Write::PutStamped(keys::dataspace(dataspace), of.to_bytes()),
            ];
            let commit = self.catalogue_commit(Pending { conditions, writes, reclaims: false });
            let commit = CommitWithAppends { appends, epoch, commit, lets_go: Vec::new() };
            if self.leaves_rows(&commit) {
                // Before there are any, and in this epoch: who finds the note begins a new one, and what comes later is refused.
                let writes = vec![Write::PutStamped(keys::left_texts(), bytes::Bytes::new())];
                self.commit(Pending { writes, ..Pending::default() }).await?;
            }
            if unless_lost(self.shared.store.append_then_commit(commit).await)?.is_some() {
                return Ok(());
            }
        }
        Err(attempts.exhausted("the schema sets").into())
    }

    /// The schema sets of a dataspace, by name. Cost: a scan.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDataspace`]; if the store refuses.
    pub async fn schema_sets(&self, dataspace: &str) -> Result<Vec<SchemaSetInfo>, Error> {
        self.dataspace_row(dataspace).await?;
        let (mut infos, partition) = (Vec::new(), keys::catalogue(&self.tenant));
        let mut pages = Pages::new(&self.shared.store, &partition, keys::schema_sets(dataspace), PAGE_ROWS);
        while let Some(page) = pages.next().await? {
            for (key, value) in page.rows() {
                let name = keys::name_of_schema_set(key).ok_or_else(|| damaged("the key of a schema set"))?;
                infos.push(info(name, read_row(value)?));
            }
        }
        Ok(infos)
    }

    /// Up to so many schema sets of a dataspace by name, from behind `after` on. Cost: a scan.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDataspace`]; if the store refuses.
    pub async fn some_schema_sets(
        &self,
        dataspace: &str,
        (after, max): (Option<&str>, usize),
    ) -> Result<Vec<SchemaSetInfo>, Error> {
        self.dataspace_row(dataspace).await?;
        let range = keys::schema_sets(dataspace);
        let range = match after {
            Some(after) => range.after_key(&keys::schema_set(dataspace, after)),
            None => range,
        };
        let partition = keys::catalogue(&self.tenant);
        let page = self.shared.store.scan(&partition, &range, Direction::Forward, max).await?;
        let read = |(key, value): (&[u8], &[u8])| {
            let name = keys::name_of_schema_set(key).ok_or_else(|| damaged("the key of a schema set"))?;
            Ok(info(name, read_row(value)?))
        };
        page.rows().map(read).collect()
    }

    /// A schema set. Cost: a cached look-up.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDataspace`], [`Error::UnknownSchemaSet`]; if the store refuses.
    pub async fn schema_set(&self, dataspace: &str, name: &str) -> Result<SchemaSetInfo, Error> {
        let (_, row) = self.schema_set_row(dataspace, name).await?;
        Ok(info(name.to_owned(), row))
    }

    /// The texts of the modules of a schema set, with the names of their files. Cost: a read for each.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDataspace`], [`Error::UnknownSchemaSet`]; if the store refuses.
    pub async fn schema_set_files(&self, dataspace: &str, name: &str) -> Result<Vec<YangFile>, Error> {
        let (_, row) = self.schema_set_row(dataspace, name).await?;
        crate::schemas::files_of(&self.blobs(), &source(row)).await
    }

    /// The compiled schema of a schema set. Cost: two cached look-ups.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDataspace`], [`Error::UnknownSchemaSet`]; if the store refuses.
    pub async fn schema(&self, dataspace: &str, name: &str) -> Result<Arc<Schema>, Error> {
        let (_, row) = self.schema_set_row(dataspace, name).await?;
        let hash = row.hash;
        self.shared.schemas.get((&self.tenant, &self.blobs()), hash, async || Ok(source(row))).await
    }

    /// Removes a schema set of which no anchor is. Its texts go with [`Configs::clean_dataspace`], or a job. Cost: two commits, and a
    /// new epoch of each bucket.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDataspace`], [`Error::UnknownSchemaSet`], [`Error::InUse`]; [`Error::Contention`]; if the store refuses.
    pub async fn remove_schema_set(&self, dataspace: &str, name: &str) -> Result<(), Error> {
        let (key, mut attempts) = (keys::schema_set(dataspace, name), BACKOFF.attempts());
        while attempts.next().await {
            let (stored, row) = self.schema_set_row(dataspace, name).await?;
            let used_by = self.an_anchor_of(dataspace, name).await?;
            if let Some(anchor) = used_by {
                return Err(in_use(name, &anchor));
            }
            // Whoever makes an anchor of it from here on takes the mark back, and this removal with it.
            let Some(marked) =
                self.mark(&key, &stored, SchemaSetRow { is_leaving: true, ..row.clone() }).await?
            else {
                continue;
            };
            for partition in self.partitions().await? {
                self.shared.store.bump(&partition, Vec::new()).await?;
            }
            if let Some(anchor) = self.an_anchor_of(dataspace, name).await? {
                // If it is not as it was marked, another has taken the mark back.
                self.mark(&key, &marked, SchemaSetRow { is_leaving: false, ..row }).await?;
                return Err(in_use(name, &anchor));
            }
            let (mut of, condition) = self.dataspace_row(dataspace).await?;
            of.schema_sets = of.schema_sets.saturating_sub(1);
            let conditions = vec![Condition::Version(key.clone(), marked.stamp), condition];
            let writes = vec![
                Write::Delete(key.clone()),
                Write::PutStamped(keys::dataspace(dataspace), of.to_bytes()),
                Write::PutStamped(keys::left_texts(), bytes::Bytes::new()),
            ];
            if self.commit(Pending { conditions, writes, reclaims: true }).await? {
                self.shared.wanted.note(&self.tenant, || ());
                return Ok(());
            }
        }
        Err(attempts.exhausted("the schema sets").into())
    }

    /// Removes schema sets of a dataspace of which no anchor is, and what of their texts nothing else needs. Cost: that of each removal, and a
    /// scan of all texts.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDataspace`]; [`Error::Contention`]; if the store refuses.
    pub async fn clean_dataspace(&self, dataspace: &str) -> Result<(), Error> {
        for schema_set in self.schema_sets(dataspace).await? {
            match self.remove_schema_set(dataspace, &schema_set.name).await {
                // Another was quicker.
                Ok(()) | Err(Error::InUse { .. } | Error::UnknownSchemaSet { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        self.sweep_blobs().await?;
        Ok(())
    }

    /// Removes texts and compiled schemas that no schema set names; answers with how many rows. Cost: a scan of all schema sets and
    /// all texts.
    ///
    /// # Errors
    ///
    /// If the store refuses.
    pub(crate) async fn sweep_blobs(&self) -> Result<usize, Error> {
        let partition = keys::catalogue(&self.tenant);
        let note = self.row(&keys::left_texts()).await?;
        // From here on no schema set comes that counts on what was there before.
        let epoch = self.shared.store.bump(&partition, Vec::new()).await?;
        let mut ids = Vec::new();
        let mut pages = Pages::new(&self.shared.store, &partition, keys::all_schema_sets(), PAGE_ROWS);
        while let Some(page) = pages.next().await? {
            for (_, value) in page.rows() {
                let row = read_row(value)?;
                ids.push((BlobKind::Schema, row.hash));
                ids.extend(row.files.iter().map(|(_, hash)| (BlobKind::Text, *hash)));
            }
        }
        let removed = self.blobs().sweep(&named(ids), epoch).await?;
        if let Some(note) = note {
            let conditions = vec![Condition::Version(keys::left_texts(), note.stamp)];
            let writes = vec![Write::Delete(keys::left_texts())];
            // If a schema set was removed meanwhile, the next run looks again.
            self.commit(Pending { conditions, writes, reclaims: true }).await?;
        }
        Ok(removed)
    }

    /// Whether a schema set was removed, or texts went ahead of one, since texts were swept.
    pub(crate) async fn has_left_texts(&self) -> Result<bool, Error> {
        Ok(self.row(&keys::left_texts()).await?.is_some())
    }

    pub(crate) fn blobs(&self) -> Blobs {
        Blobs::new(&self.shared.store, &self.tenant)
    }

    /// What a schema set is made of.
    pub(crate) async fn source(&self, dataspace: &str, name: &str) -> Result<Source, Error> {
        let (_, row) = self.schema_set_row(dataspace, name).await?;
        Ok(source(row))
    }

    /// A schema set as it is stored.
    pub(crate) async fn schema_set_row(
        &self,
        dataspace: &str,
        name: &str,
    ) -> Result<(Row, SchemaSetRow), Error> {
        let Some(row) = self.row(&keys::schema_set(dataspace, name)).await? else {
            self.dataspace_row(dataspace).await?;
            return Err(Error::UnknownSchemaSet { dataspace: dataspace.into(), name: name.into() });
        };
        let parsed = read_row(&row.value)?;
        Ok((row, parsed))
    }

    /// A schema set of which an anchor is to be made: nobody is about to remove it.
    pub(crate) async fn usable_schema_set(
        &self,
        dataspace: &str,
        name: &str,
    ) -> Result<(Row, SchemaSetRow), Error> {
        let (key, mut attempts) = (keys::schema_set(dataspace, name), BACKOFF.attempts());
        while attempts.next().await {
            let (stored, row) = self.schema_set_row(dataspace, name).await?;
            if !row.is_leaving {
                return Ok((stored, row));
            }
            self.mark(&key, &stored, SchemaSetRow { is_leaving: false, ..row }).await?;
        }
        Err(attempts.exhausted("the schema sets").into())
    }

    /// Stores a schema set anew, if it is as it was read; the row as it is then.
    async fn mark(&self, key: &bytes::Bytes, was: &Row, becomes: SchemaSetRow) -> Result<Option<Row>, Error> {
        let conditions = vec![Condition::Version(key.clone(), was.stamp)];
        let value = becomes.to_bytes();
        let writes = vec![Write::PutStamped(key.clone(), value.clone())];
        let commit = self.catalogue_commit(Pending { conditions, writes, reclaims: true });
        let write_id = commit.write_id;
        let stamp = unless_lost(self.shared.store.commit_known(commit).await)?;
        Ok(stamp.map(|stamp| Row { stamp, write_id, value }))
    }

    /// An anchor of a schema set. Cost: a scan of each bucket.
    async fn an_anchor_of(&self, dataspace: &str, schema_set: &str) -> Result<Option<String>, Error> {
        let range = keys::anchors_of_schema_set(dataspace, schema_set);
        for partition in self.partitions().await? {
            let page = self.shared.store.scan(&partition, &range, Direction::Forward, 1).await?;
            if let Some((key, _)) = page.row(0) {
                return keys::anchor_of_index(key).map(Some).ok_or_else(|| damaged("the key of an anchor"));
            }
        }
        Ok(None)
    }

    /// Whether a dataspace has anchors.
    pub(crate) async fn has_anchors(&self, dataspace: &str) -> Result<bool, Error> {
        let range = keys::anchors(dataspace);
        for partition in self.partitions().await? {
            if !self.shared.store.scan(&partition, &range, Direction::Forward, 1).await?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Modules that were compiled and packed.
struct Packed {
    schema: Schema,
    memory_bytes: usize,
    files: Vec<(Box<str>, u128)>,
    blobs: Vec<PackedBlob>,
}

fn pack(files: &[YangFile], options: &CompileOptions) -> Result<Packed, Error> {
    let Compiled { schema, .. } = compile(files, options)?;
    let encoded = schema.encode();
    let mut blobs = vec![PackedBlob::new((BlobKind::Schema, schema.hash), &encoded)?];
    let mut named = Vec::with_capacity(files.len());
    for file in files {
        let hash = xxh3_128(file.text.as_bytes());
        named.push((file.name.clone(), hash));
        let id = (BlobKind::Text, hash);
        if !blobs.iter().any(|blob| blob.id == id) {
            blobs.push(PackedBlob::new(id, file.text.as_bytes())?);
        }
    }
    let memory_bytes = memory_bytes(&schema, encoded.len());
    Ok(Packed { schema, memory_bytes, files: named, blobs })
}

fn modules_of(schema: &Schema) -> Vec<ModuleReference> {
    let reference = |module: &lang_yang::Module| ModuleReference {
        name: module.name.clone(),
        namespace: module.namespace.clone(),
        revision: module.revision.clone(),
    };
    schema.modules.iter().map(reference).collect()
}

fn in_use(name: &str, anchor: &str) -> Error {
    Error::InUse { kind: Kind::SchemaSet, name: name.into(), by: format!("anchor '{anchor}'").into() }
}

fn source(row: SchemaSetRow) -> Source {
    Source { files: row.files, features: row.features }
}

fn info(name: String, row: SchemaSetRow) -> SchemaSetInfo {
    SchemaSetInfo { name, created: row.created, mode: row.mode, modules: row.modules }
}

fn read_row(value: &[u8]) -> Result<SchemaSetRow, Error> {
    SchemaSetRow::parse(value).map_err(|_| damaged("a schema set"))
}
